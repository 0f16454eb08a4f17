/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Doubling growth up to the ceiling; memory short is treated as the ceiling, because the size is
 * the input's.
 */
#include "common/base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ing_buf_init(struct ing_buf *b, size_t max_bytes)
{
	ing_must(max_bytes < SIZE_MAX / 4);
	*b = (struct ing_buf){.max = max_bytes};
}

void ing_buf_done(struct ing_buf *b)
{
	free(b->data);
	*b = (struct ing_buf){.max = b->max};
}

void ing_buf_clear(struct ing_buf *b)
{
	b->len = 0;
	b->failed = false;
	if (b->data != NULL)
		b->data[0] = '\0';
}

void *ing_buf_reserve(struct ing_buf *b, size_t bytes)
{
	if (b->failed || bytes > b->max - b->len) {
		b->failed = true;
		return NULL;
	}
	if (b->cap - b->len <= bytes) {
		size_t cap = b->cap ? b->cap : 64;
		while (cap - b->len <= bytes)
			cap *= 2;
		char *data = realloc(b->data, cap);
		if (data == NULL) {
			b->failed = true;
			return NULL;
		}
		b->data = data;
		b->cap = cap;
	}
	return b->data + b->len;
}

void ing_buf_commit(struct ing_buf *b, size_t bytes)
{
	ing_must(bytes < b->cap - b->len);
	b->len += bytes;
	b->data[b->len] = '\0';
}

bool ing_buf_add(struct ing_buf *b, const void *data, size_t bytes)
{
	void *to = ing_buf_reserve(b, bytes);
	if (to == NULL)
		return false;
	if (bytes > 0)
		memcpy(to, data, bytes);
	ing_buf_commit(b, bytes);
	return true;
}

bool ing_buf_add_first_char(struct ing_buf *b, char c)
{
	char *to = ing_buf_reserve(b, 1);
	if (to == NULL)
		return false;
	*to = c;
	ing_buf_commit(b, 1);
	return true;
}

bool ing_buf_add_str(struct ing_buf *b, const char *s)
{
	return ing_buf_add(b, s, strlen(s));
}

bool ing_buf_printf(struct ing_buf *b, const char *fmt, ...)
{
	va_list ap;
	va_list again;
	va_start(ap, fmt);
	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	ing_must(n >= 0);
	char *to = ing_buf_reserve(b, (size_t)n);
	if (to != NULL) {
		vsnprintf(to, (size_t)n + 1, fmt, again);
		ing_buf_commit(b, (size_t)n);
	}
	va_end(again);
	return to != NULL;
}

const char *ing_buf_str(const struct ing_buf *b)
{
	return b->data != NULL ? b->data : "";
}

char *ing_buf_steal(struct ing_buf *b)
{
	char *data = b->data != NULL ? b->data : ing_strdup("");
	*b = (struct ing_buf){.max = b->max};
	return data;
}
