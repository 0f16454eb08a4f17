/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * wire.h - the cursor under the examiners' messages: little-endian numbers and length-prefixed
 * strings.
 *
 * Reading is straight-line code: after the first fault every getter returns zero or NULL, `failed`
 * stays set, and the caller checks once at the end (ing_wire_end()). Every length is compared with
 * what is left and with the field's ceiling before it is used. Plain data, any thread.
 */
#pragma once
#include <stdbool.h>
#include "common/base/buf.h"

struct ing_wire {
	const uint8_t *at;
	size_t left;
	bool failed;
};

void ing_wire_init(struct ing_wire *w, const void *data, size_t bytes);
uint8_t ing_wire_u8(struct ing_wire *w);
uint32_t ing_wire_u32(struct ing_wire *w);
uint64_t ing_wire_u64(struct ing_wire *w);
/* A finite number in 0 … max; anything else is a fault. */
double ing_wire_f64(struct ing_wire *w, double max);
/* A number in 0 … max; anything else is a fault. */
uint32_t ing_wire_range(struct ing_wire *w, uint32_t max);
/* Heap string (caller frees) or NULL as sent: valid UTF-8 without NUL, for which ill-formed bytes
 * are replaced by U+FFFD; at most max_bytes. Longer on the wire is a fault. */
char *ing_wire_text(struct ing_wire *w, size_t max_bytes);
/* The same for a field of which `allowed` accepts every byte; an empty string or any other byte is
 * a fault. */
char *ing_wire_word(struct ing_wire *w, size_t max_bytes, bool (*allowed)(unsigned char c));
/* A word of that kind into a field of `room` bytes, NUL included; empty when sent empty. */
void ing_wire_field(struct ing_wire *w, char *to, size_t room, bool (*allowed)(unsigned char c));
/* The bytes of a string in place, of whatever kind; NULL when it was sent as NULL, or on a fault.
 * At most max_bytes; longer on the wire is a fault. */
const char *ing_wire_bytes(struct ing_wire *w, size_t max_bytes, size_t *ret_bytes);
/* Returns true when there was no fault and nothing is left over. */
bool ing_wire_end(const struct ing_wire *w);

void ing_wire_put_u8(struct ing_buf *b, uint8_t v);
void ing_wire_put_u32(struct ing_buf *b, uint32_t v);
void ing_wire_put_u64(struct ing_buf *b, uint64_t v);
void ing_wire_put_f64(
	struct ing_buf *b, double v, double max); /* outside 0 … max, or not a number: 0 */
void ing_wire_put_bytes(struct ing_buf *b, const char *s, size_t bytes); /* for ing_wire_bytes() */
/* NULL stays NULL; what is longer than max_bytes is cut between characters. */
void ing_wire_put_text(struct ing_buf *b, const char *s, size_t max_bytes);
/* The same for strings that a cut would spoil: longer than max_bytes is sent as NULL. */
void ing_wire_put_whole(struct ing_buf *b, const char *s, size_t max_bytes);
/* The same for what ing_wire_word() will read: what it would refuse is sent as NULL. */
void ing_wire_put_word(
	struct ing_buf *b, const char *s, size_t max_bytes, bool (*allowed)(unsigned char c));
