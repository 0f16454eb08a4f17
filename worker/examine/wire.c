/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * See wire.h. A string is a 32-bit length and its bytes; the length of all ones stands for NULL.
 */
#include "worker/examine/wire.h"

#include <math.h>
#include <string.h>

#include "common/base/utf8.h"

#define NULL_LENGTH UINT32_MAX

void ing_wire_init(struct ing_wire *w, const void *data, size_t bytes)
{
	*w = (struct ing_wire){.at = data, .left = bytes};
}

/* The next bytes, or NULL and the fault. */
static const uint8_t *take_bytes(struct ing_wire *w, size_t bytes)
{
	if (w->failed || bytes > w->left) {
		w->failed = true;
		return NULL;
	}
	const uint8_t *from = w->at;
	w->at += bytes;
	w->left -= bytes;
	return from;
}

static uint64_t take_number(struct ing_wire *w, size_t bytes)
{
	const uint8_t *from = take_bytes(w, bytes);
	uint64_t v = 0;
	for (size_t i = 0; from != NULL && i < bytes; i++)
		v |= (uint64_t)from[i] << (8 * i);
	return v;
}

uint8_t ing_wire_u8(struct ing_wire *w)
{
	return (uint8_t)take_number(w, 1);
}

uint32_t ing_wire_u32(struct ing_wire *w)
{
	return (uint32_t)take_number(w, 4);
}

uint64_t ing_wire_u64(struct ing_wire *w)
{
	return take_number(w, 8);
}

double ing_wire_f64(struct ing_wire *w, double max)
{
	uint64_t bits = take_number(w, 8);
	double v;
	memcpy(&v, &bits, sizeof(v));
	if (isfinite(v) && v >= 0 && v <= max)
		return v;
	w->failed = true;
	return 0;
}

uint32_t ing_wire_range(struct ing_wire *w, uint32_t max)
{
	uint32_t v = ing_wire_u32(w);
	if (v <= max)
		return v;
	w->failed = true;
	return 0;
}

const char *ing_wire_bytes(struct ing_wire *w, size_t max_bytes, size_t *ret_bytes)
{
	uint32_t bytes = ing_wire_u32(w);
	*ret_bytes = 0;
	if (w->failed || bytes == NULL_LENGTH)
		return NULL;
	if (bytes > max_bytes) {
		w->failed = true;
		return NULL;
	}
	const uint8_t *from = take_bytes(w, bytes);
	if (from != NULL)
		*ret_bytes = bytes;
	return (const char *)from;
}

/* Input-sized copy; memory short is a fault like any other, because the size is not ours. */
static char *copy_string(struct ing_wire *w, const char *from, size_t bytes)
{
	char *to = ing_try_alloc(bytes + 1);
	if (to == NULL) {
		w->failed = true;
		return NULL;
	}
	if (bytes > 0)
		memcpy(to, from, bytes);
	to[bytes] = '\0';
	return to;
}

char *ing_wire_text(struct ing_wire *w, size_t max_bytes)
{
	size_t bytes;
	const char *from = ing_wire_bytes(w, max_bytes, &bytes);
	if (from == NULL)
		return NULL;
	if (memchr(from, '\0', bytes) == NULL && ing_utf8_valid(from, bytes))
		return copy_string(w, from, bytes);
	char *clean = ing_utf8_clean(from, bytes, &bytes);
	if (clean == NULL)
		w->failed = true;
	else
		clean[ing_utf8_cut(clean, bytes, max_bytes)] = '\0';
	return clean;
}

static bool all_allowed(const char *s, size_t bytes, bool (*allowed)(unsigned char c))
{
	for (size_t i = 0; i < bytes; i++)
		if (!allowed((unsigned char)s[i]))
			return false;
	return true;
}

char *ing_wire_word(struct ing_wire *w, size_t max_bytes, bool (*allowed)(unsigned char c))
{
	size_t bytes;
	const char *from = ing_wire_bytes(w, max_bytes, &bytes);
	if (from == NULL)
		return NULL;
	if (bytes == 0 || !all_allowed(from, bytes, allowed)) {
		w->failed = true;
		return NULL;
	}
	return copy_string(w, from, bytes);
}

void ing_wire_field(struct ing_wire *w, char *to, size_t room, bool (*allowed)(unsigned char c))
{
	size_t bytes;
	const char *from = ing_wire_bytes(w, room - 1, &bytes);
	memset(to, 0, room);
	if (from == NULL || !all_allowed(from, bytes, allowed)) {
		w->failed = true;
		return;
	}
	memcpy(to, from, bytes);
}

bool ing_wire_end(const struct ing_wire *w)
{
	return !w->failed && w->left == 0;
}

static void put_number(struct ing_buf *b, uint64_t v, size_t bytes)
{
	uint8_t raw[8];
	for (size_t i = 0; i < bytes; i++)
		raw[i] = (uint8_t)(v >> (8 * i));
	ing_buf_add(b, raw, bytes);
}

void ing_wire_put_u8(struct ing_buf *b, uint8_t v)
{
	put_number(b, v, 1);
}

void ing_wire_put_u32(struct ing_buf *b, uint32_t v)
{
	put_number(b, v, 4);
}

void ing_wire_put_u64(struct ing_buf *b, uint64_t v)
{
	put_number(b, v, 8);
}

void ing_wire_put_f64(struct ing_buf *b, double v, double max)
{
	if (!isfinite(v) || v < 0 || v > max)
		v = 0;
	uint64_t bits;
	memcpy(&bits, &v, sizeof(bits));
	put_number(b, bits, 8);
}

void ing_wire_put_bytes(struct ing_buf *b, const char *s, size_t bytes)
{
	put_number(b, bytes, 4);
	ing_buf_add(b, s, bytes);
}

void ing_wire_put_text(struct ing_buf *b, const char *s, size_t max_bytes)
{
	if (s == NULL)
		put_number(b, NULL_LENGTH, 4);
	else
		ing_wire_put_bytes(b, s, ing_utf8_cut(s, strlen(s), max_bytes));
}

void ing_wire_put_whole(struct ing_buf *b, const char *s, size_t max_bytes)
{
	ing_wire_put_text(b, s != NULL && strlen(s) > max_bytes ? NULL : s, max_bytes);
}

void ing_wire_put_word(
	struct ing_buf *b, const char *s, size_t max_bytes, bool (*allowed)(unsigned char c))
{
	bool good = s != NULL && s[0] != '\0' && all_allowed(s, strlen(s), allowed);
	ing_wire_put_whole(b, good ? s : NULL, max_bytes);
}
