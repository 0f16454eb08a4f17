/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * line_splitter.h - splits bytes into lines of bounded length.
 *
 * Feed a chunk, take lines with ing_line_splitter_next() until it returns false, feed the next
 * chunk; ing_line_splitter_end() makes a last line without a newline count. Lines end with LF or
 * CR LF; blank lines are counted and skipped. Pure; one thread.
 */
#pragma once
#include <stdbool.h>
#include "common/base/buf.h"

struct ing_line_splitter {
	struct ing_buf line; /* the part of a line that has come so far */
	const char *chunk;
	size_t chunk_bytes;
	size_t max_bytes;
	int64_t number; /* of the line being gathered, 1-based */
	bool given;     /* `line` was handed out: empty it before going on */
	bool ended;
};

struct ing_line {
	const char *text; /* borrowed until the next call; not NUL-terminated */
	/* max_bytes + 1 when the line was longer than max_bytes: the rest is dropped */
	size_t bytes;
	int64_t number;
};

void ing_line_splitter_init(struct ing_line_splitter *s, size_t max_bytes);
void ing_line_splitter_done(struct ing_line_splitter *s);
/* The chunk is borrowed until ing_line_splitter_next() returns false, which must have happened before
 * the next one. */
void ing_line_splitter_feed(struct ing_line_splitter *s, const char *chunk, size_t bytes);
void ing_line_splitter_end(struct ing_line_splitter *s);
/* Returns false when the chunk has no further line. */
bool ing_line_splitter_next(struct ing_line_splitter *s, struct ing_line *ret);
