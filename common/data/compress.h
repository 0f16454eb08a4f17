/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * compress.h - gzip (RFC 1952), a member at a time.
 *
 * Writing is ISA-L's level 1: a WARC is written once for every page fetched and level 1 takes a
 * twelfth of the usual time for a fifth more bytes. What does not compress (images, most of a PDF, bodies
 * with a content coding) is found by a sample and stored. Reading is zlib's. Both keep their memory
 * from member to member. One thread at a time.
 */
#pragma once
#include <stdbool.h>
#include "common/base/macros.h"

/* Takes compressed bytes; 0, or a negative value, which then is the result of the whole member. */
typedef int ing_gzip_sink(void *ctx, const void *data, size_t bytes);

struct ing_gzip *ing_gzip_new(ing_gzip_sink *sink, void *ctx);
void ing_gzip_free(struct ing_gzip *z); /* NULL is fine */
/* A new member; one that was not ended is dropped. */
void ing_gzip_begin(struct ing_gzip *z);
/* Returns 0, or the sink's failure, after which the member is unusable until the next begin. Add
 * large pieces: whether to compress is decided for each 32 KiB of a call, and calls of less than
 * 8 KiB are treated as the data before them. */
int ing_gzip_add(struct ing_gzip *z, const void *data, size_t bytes) ING_MUST_CHECK;
int ing_gzip_end(struct ing_gzip *z) ING_MUST_CHECK; /* everything has gone to the sink */

/* The first bytes of every member that ing_gzip writes: no name, no time, no extra field. */
#define ING_GZIP_HEAD_BYTES 4
extern const unsigned char ing_gzip_head[ING_GZIP_HEAD_BYTES];

struct ing_gunzip *ing_gunzip_new(void);
void ing_gunzip_free(struct ing_gunzip *z);  /* NULL is fine */
void ing_gunzip_begin(struct ing_gunzip *z); /* expect the front of a member */
/* Inflate from *in (moved on, *in_bytes lessened) into out, *ret_bytes of it. Returns 0 when it
 * wants more input or more room, 1 when the member ended and its length and checksum agree (*in is
 * then behind it), or -ING_FAIL_SYNTAX when it is damaged. `bytes` may be anything; memory stays
 * that of zlib's window. */
int ing_gunzip_step(struct ing_gunzip *z, const unsigned char **in, size_t *in_bytes, void *out,
	size_t room, size_t *ret_bytes) ING_MUST_CHECK;

/* CRC-32 as gzip uses it (RFC 1952 section 8). Pure. */
uint32_t ing_crc32(const void *data, size_t bytes);
