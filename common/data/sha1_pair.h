/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * sha1_pair.h - SHA-1 of two streams that share most of their bytes: a WARC record's block and the
 * payload behind the block's head.
 *
 * One SHA-1 leaves half of a processor's SHA unit waiting for its own results; two at once take
 * little longer than one. Owns: both states. One thread at a time. Names for archives, not
 * protection against anyone.
 */
#pragma once
#include "common/base/macros.h"

#define ING_SHA1_BYTES 20

struct ing_sha1_pair;

struct ing_sha1_pair *ing_sha1_pair_new(void); /* ready for the first two streams */
/* The way of processors without SHA instructions, for tests of it elsewhere. */
struct ing_sha1_pair *ing_sha1_pair_new_portable(void);
void ing_sha1_pair_free(struct ing_sha1_pair *p); /* NULL is fine */
/* To the first stream only. */
void ing_sha1_pair_add_first(struct ing_sha1_pair *p, const void *data, size_t bytes);
void ing_sha1_pair_add_both(struct ing_sha1_pair *p, const void *data, size_t bytes);
/* The results, and ready for the next two streams. */
void ing_sha1_pair_finish(struct ing_sha1_pair *p, unsigned char ret_first[ING_SHA1_BYTES],
	unsigned char ret_second[ING_SHA1_BYTES]);
