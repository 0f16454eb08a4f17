/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * buf.h - a growable byte string with a ceiling.
 *
 * Past the ceiling nothing more is added and `failed` stays set: write straight-line code and check
 * once at the end. The data is always followed by a NUL, which len does not count. Owned by one thread at
 * a time.
 */
#pragma once
#include <stdarg.h>
#include <stdbool.h>
#include "common/base/macros.h"

struct ing_buf {
	char *data; /* NULL until something is added */
	size_t len;
	size_t cap;
	size_t max; /* ceiling of len */
	bool failed;
};

void ing_buf_init(struct ing_buf *b, size_t max_bytes);
void ing_buf_done(struct ing_buf *b);  /* frees; zero-initialised is fine */
void ing_buf_clear(struct ing_buf *b); /* empties and keeps the memory */
/* All adders return false when the ceiling was (or had been) hit. */
bool ing_buf_add(struct ing_buf *b, const void *data, size_t bytes);
bool ing_buf_add_str(struct ing_buf *b, const char *s);
bool ing_buf_printf(struct ing_buf *b, const char *fmt, ...) ING_PRINTF(2, 3);
/* Room for `bytes` more after the data (NULL past the ceiling); ing_buf_commit() after writing. */
void *ing_buf_reserve(struct ing_buf *b, size_t bytes);
void ing_buf_commit(struct ing_buf *b, size_t bytes);
const char *ing_buf_str(const struct ing_buf *b); /* NUL-terminated, "" when empty; borrowed */
char *ing_buf_steal(struct ing_buf *b); /* heap string, caller frees; the buffer is empty again */

/* Where there may be no room yet: ing_buf_add_char() calls this. */
bool ing_buf_add_first_char(struct ing_buf *b, char c);

static inline bool ing_buf_add_char(struct ing_buf *b, char c)
{
	if (b->failed || b->cap - b->len < 2 || b->len >= b->max)
		return ing_buf_add_first_char(b, c);
	b->data[b->len++] = c;
	b->data[b->len] = '\0';
	return true;
}
