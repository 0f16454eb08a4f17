/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * splitter.h - bytes to lines, with a ceiling on what one line may cost.
 *
 * Give a chunk with ing_splitter_feed(), take lines with ing_splitter_next() until it has no more,
 * give the next chunk; ing_splitter_end() makes a last line without a newline count. LF and CR LF
 * end lines; lines of nothing but blanks are counted and skipped. Pure; one thread.
 */
#pragma once
#include <stdbool.h>
#include "common/base/buf.h"

struct ing_splitter {
	struct ing_buf line; /* begin of a line whose end has not come */
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

void ing_splitter_init(struct ing_splitter *s, size_t max_bytes);
void ing_splitter_done(struct ing_splitter *s);
/* The chunk is borrowed until ing_splitter_next() returns false, which must have happened before
 * the next one. */
void ing_splitter_feed(struct ing_splitter *s, const char *chunk, size_t bytes);
void ing_splitter_end(struct ing_splitter *s);
bool ing_splitter_next(struct ing_splitter *s, struct ing_line *ret);
