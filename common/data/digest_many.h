/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * digest_many.h - digests of many streams at once, each a lane of the CPU's wide registers: eight
 * times as fast as one after the other where there is AVX-512 and streams are many.
 *
 * Owns: nothing; a call's memory ends with it. Any thread. The result is that of digest.h, which does
 * what the CPU has no instructions for. A stream on its own takes half of its time if all three digests
 * are wanted and the CPU has the SHA instructions.
 */
#pragma once
#include <sys/uio.h>
#include "common/data/digest.h"

struct ing_digest_job {
	unsigned which;            /* of ing_digest_which */
	const struct iovec *parts; /* the stream, in pieces of any length */
	size_t count;
	struct ing_digests ret;
};

/* Sets `ret` of all of them. Bytes are read once for each algorithm, so keep a call's streams small
 * enough for the CPU's cache where that is possible. */
void ing_digest_many(struct ing_digest_job *jobs, size_t count);
/* Of one stream at hand: ing_digest(), in half of the time where that is possible. */
void ing_digest_one(unsigned which, const void *data, size_t bytes, struct ing_digests *ret);
/* By which instructions, for a log: "AVX-512, SHA instructions", "OpenSSL". */
const char *ing_digest_many_how(void);

#define ING_DIGEST_TAIL_BYTES 128
/* The padding of all three (FIPS 180-4 5.1.1): `tail` holds the `filled` bytes behind the last whole
 * block of a stream of `bytes`. Returns how many blocks there are in it now, 1 or 2. */
size_t ing_digest_pad(
	unsigned char tail[ING_DIGEST_TAIL_BYTES], size_t filled, uint64_t bytes, bool big_endian);
