/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * json_values.h - splits bytes into JSON values: values one after the other, the elements of a list,
 * or those of a list that is a member of an object, such as {"items": [...]}.
 *
 * Nothing is parsed but where a value ends: memory is that of one value, however long the list is.
 * Feed a chunk, take values with ing_json_values_next() until it returns false, feed the next chunk;
 * ing_json_values_end() when there is no more, and take the rest. Values may be malformed inside. Pure;
 * one thread.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "common/base/buf.h"

struct ing_json_value {
	const char *text; /* borrowed until the next call; not NUL-terminated */
	size_t bytes;
	int64_t number, line; /* 1-based: which value, and where it begins */
	/* NULL, or what is wrong, in static words: a value longer than the limit, of which text has the
	 * beginning; or the end of all, without a text. */
	const char *fault;
};

struct ing_json_values {
	struct ing_buf held; /* the part of a value that came with earlier chunks */
	const char *member;  /* borrowed */
	const char *at, *end;
	const char *start; /* of the value in the chunk; NULL: none is being read */
	int64_t number, line, value_line;
	unsigned depth; /* of what is open in the value, or in what is skipped */
	unsigned char place, before;
	bool in_string, escaped, scalar, too_long, ended, over;
	bool key_next, key_matches; /* of an object that may have the member */
	size_t key_bytes;
};

/* Elements of lists at the top are values, and so are those of the list `member` (NULL: none) of
 * objects at the top, which are not values themselves then. */
void ing_json_values_init(struct ing_json_values *v, const char *member, size_t max_bytes);
void ing_json_values_done(struct ing_json_values *v);
/* The chunk is borrowed until ing_json_values_next() returns false, which must have happened before
 * the next one. */
void ing_json_values_feed(struct ing_json_values *v, const char *chunk, size_t bytes);
void ing_json_values_end(struct ing_json_values *v);
/* Returns false when the chunk has no further value. A fault without a text is the last of all. */
bool ing_json_values_next(struct ing_json_values *v, struct ing_json_value *ret);

/* Whether a file that begins so is to be split like this, and not into lines: it begins with a list,
 * with an object that has the list `member`, or with one that is written over several lines. */
bool ing_json_values_is(const char *front, size_t bytes, const char *member);
