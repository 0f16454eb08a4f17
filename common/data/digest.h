/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * digest.h - MD5, SHA-1 and SHA-256 of one stream in one pass.
 *
 * Owns: OpenSSL's contexts, which are made once and reused for every stream. One thread at a time.
 * MD5 and SHA-1 are names under which archives file a body, not protection against anyone.
 */
#pragma once
#include "common/base/error.h"

enum ing_digest_which {
	ING_DIGEST_MD5 = 1,
	ING_DIGEST_SHA1 = 2,
	ING_DIGEST_SHA256 = 4,
	ING_DIGEST_ALL = 7,
};

/* Only the digests that were asked for are set. */
struct ing_digests {
	uint64_t bytes; /* length of the stream */
	unsigned char md5[16];
	unsigned char sha1[20];
	unsigned char sha256[32];
};

#define ING_SHA1_HEX_BYTES 41
#define ING_SHA256_HEX_BYTES 65

struct ing_digester *ing_digester_new(
	unsigned which); /* of ing_digest_which; ready for the first stream */
void ing_digester_free(struct ing_digester *d); /* NULL is fine */
void ing_digester_add(struct ing_digester *d, const void *data, size_t bytes);
/* The first `bytes` of a file, whose offset does not move. 0; -ING_FAIL_TRUNCATED when they cannot
 * be read: finish anyhow before the next stream. */
int ing_digester_add_file(
	struct ing_digester *d, int fd, uint64_t bytes, struct ing_error *err) ING_MUST_CHECK;
/* The result, and ready for the next stream. */
void ing_digester_finish(struct ing_digester *d, struct ing_digests *ret);

/* All of the above for bytes at hand. */
void ing_digest(unsigned which, const void *data, size_t bytes, struct ing_digests *ret);
