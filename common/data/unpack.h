/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * unpack.h - the content of a file, a pipe or a terminal that may be compressed: gzip (any number of
 * members), zstd (frames), xz (streams), bzip2 (streams), told by its first bytes; anything else is
 * read as it is.
 *
 *	struct ing_unpack *u = ing_unpack_new(fd);
 *	while ((n = ing_unpack_read(u, buffer, sizeof(buffer), &err)) > 0)
 *		use(buffer, (size_t)n);
 *	if (n < 0)
 *		ing_error_context(&err, "%s", name);
 *	ing_unpack_free(u);
 *
 * One layer is taken off; what is compressed twice is an error that says so. Memory is that of the
 * decoder's window: at most ING_UNPACK_WINDOW_BYTES and some, however large the content becomes. The
 * descriptor is borrowed, and read in pieces of 256 KiB: its own position is nowhere in particular
 * afterwards. Blocks while it reads. One thread at a time.
 */
#pragma once
#include <stdint.h>
#include <sys/types.h>
#include "common/base/error.h"

/* What zstd and xz need at most of their usual levels; more (zstd --long=28 and above) is refused
 * with words about what to do. */
#define ING_UNPACK_WINDOW_BYTES ((size_t)128 << 20)

struct ing_unpack;

struct ing_unpack *ing_unpack_new(int fd);
void ing_unpack_free(struct ing_unpack *u); /* NULL is fine; the descriptor stays open */

/* gzip is handed on as it is, for who reads it member by member; before the first read. */
void ing_unpack_keep_gzip(struct ing_unpack *u);

/* Returns how many bytes of content were written to `to` (at most `room`, which is not 0; fewer say
 * nothing), 0 at the end, or after all content that came before it
 * -ING_FAIL_SYSTEM: the descriptor cannot be read; -ING_FAIL_SYNTAX: damage, a wrong checksum, or
 * something else behind the compressed data (zeros there are padding); -ING_FAIL_TRUNCATED: the
 * compressed data ends early; -ING_FAIL_TOO_BIG: it needs more memory than the limit;
 * -ING_FAIL_UNSUPPORTED: compressed twice, a dictionary that is not there, or a ZIP archive.
 * The message has the position; it does not name the file. A failure is returned again by every
 * further call. */
ssize_t ing_unpack_read(
	struct ing_unpack *u, void *to, size_t room, struct ing_error *err) ING_MUST_CHECK;

/* "gzip", "zstd", "xz", "bzip2", "plain"; "" before the first read. */
const char *ing_unpack_format(const struct ing_unpack *u);
/* Bytes of the file, and of its content, that are behind what was returned: for progress and for
 * positions. */
uint64_t ing_unpack_packed_bytes(const struct ing_unpack *u);
uint64_t ing_unpack_content_bytes(const struct ing_unpack *u);
