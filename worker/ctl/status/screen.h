/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * screen.h - lines for a terminal, or for a file: texts in tones, cut at the width of the terminal and, when it is drawn
 * again and again, at its height.
 *
 * What comes from outside cannot do anything to a terminal: control characters, and those that turn the direction of
 * writing, become '?'. Owns nothing; the buffer is the caller's. Pure, but for ing_screen_measure(). One thread.
 */
#pragma once
#include <stdbool.h>
#include "common/base/macros.h"

struct ing_buf;

enum ing_tone {
	ING_TONE_PLAIN,
	ING_TONE_SOFT,
	ING_TONE_BOLD,
	ING_TONE_GOOD,
	ING_TONE_WARN,
	ING_TONE_BAD,
	ING_TONES_
};

struct ing_screen {
	struct ing_buf *out;
	bool color;
	bool redrawn;     /* the rest of each line is cleared */
	unsigned columns; /* 0: any number */
	unsigned rows;    /* 0: any number; what is beyond is dropped */
	/* Its own: */
	unsigned column, row;
	bool cut; /* the line is full */
};

/* columns and rows of the terminal that stdout is; 0 and 0 when it is none. */
void ing_screen_measure(struct ing_screen *s);

void ing_screen_add(struct ing_screen *s, enum ing_tone tone, const char *text);
void ing_screen_printf(struct ing_screen *s, enum ing_tone tone, const char *fmt, ...)
	ING_PRINTF(3, 4);
/* A cell of a table: text cut to `width` columns, with blanks up to that, and two more behind. */
void ing_screen_cell(struct ing_screen *s, enum ing_tone tone, unsigned width, const char *text);
/* The same, text at the right. */
void ing_screen_number(struct ing_screen *s, enum ing_tone tone, unsigned width, const char *text);
/* Blanks up to a column, at least one. */
void ing_screen_tab(struct ing_screen *s, unsigned column);
void ing_screen_end_line(struct ing_screen *s);
/* Columns that a text takes, as it is shown. */
unsigned ing_screen_width(const char *text);
