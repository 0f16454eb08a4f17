/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * literals.h - looks for any of a few short texts in a long one, in one pass that skips most of its
 * bytes (Wu and Manber's algorithm).
 *
 * Immutable once made, any thread.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ING_LITERAL_BYTES 47 /* of one text at most */
#define ING_LITERAL_LEAST 3
#define ING_LITERALS_MAX 32

struct ing_literal {
	uint8_t bytes;
	char text[ING_LITERAL_BYTES];
};

struct ing_literals;

/* 1 to ING_LITERALS_MAX texts of ING_LITERAL_LEAST bytes or more, copied. fold: the case of ASCII
 * letters does not count, and the texts are in lower case. */
struct ing_literals *ing_literals_new(const struct ing_literal *items, size_t count, bool fold);
void ing_literals_free(struct ing_literals *l); /* NULL is fine */

/* Whether one of them stands anywhere in the text. */
bool ing_literals_in(const struct ing_literals *l, const char *text, size_t bytes);
