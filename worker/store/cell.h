/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * cell.h - one value on its way into a COPY stream: made fit for its column, then escaped.
 *
 * Whatever the outside world put into a value, the outcome is one that PostgreSQL accepts: text
 * becomes valid UTF-8 without NUL, a malformed optional value becomes NULL, a malformed key drops
 * its row. Pure, any thread.
 */
#pragma once
#include <stdbool.h>
#include "common/base/buf.h"

enum ing_cell_kind {
	ING_CELL_TEXT,          /* cleaned; empty is NULL */
	ING_CELL_TEXT_OR_EMPTY, /* cleaned; NULL is none */
	ING_CELL_HEX,           /* exactly max_bytes hex digits, written in lower case */
	ING_CELL_WORD,          /* exactly max_bytes letters and digits, written in lower case */
	ING_CELL_DOI,           /* text with its ASCII letters in lower case; at least 4 bytes */
	ING_CELL_DT14,          /* 14 decimal digits */
	ING_CELL_TIME,          /* RFC 3339, as far as timestamptz takes it */
	ING_CELL_JSON,          /* made fit for jsonb: ing_json_fit() */
	ING_CELL_INT,
	ING_CELL_SIGNED, /* 32 bits */
	ING_CELL_REAL,   /* IEEE single precision */
	ING_CELL_BOOL,
};

enum ing_cell_over {   /* text longer than max_bytes */
	ING_OVER_NULL, /* is left out */
	ING_OVER_CUT,  /* is cut at a character's edge */
};

struct ing_column {
	const char *name;
	enum ing_cell_kind kind;
	bool key; /* what would be NULL drops the row, and nothing is ever cut */
	enum ing_cell_over over;
	unsigned max_bytes; /* TEXT, HEX, WORD, DOI; 0: no limit, of TEXT */
	int64_t max;        /* INT: greater values are NULL; negative ones always are */
};

struct ing_cell {
	const char *text; /* all but the others; NULL is SQL NULL */
	int64_t number;   /* INT, SIGNED, BOOL */
	double real;      /* REAL: NULL unless positive */
};

/* Append the cell to a line of COPY's text format. False: the row cannot be stored without it. */
bool ing_cell_write(const struct ing_column *col, const struct ing_cell *cell, struct ing_buf *out);

/* Copy JSON text so that jsonb takes it: U+0000 and lone surrogates become U+FFFD, raw control
 * characters are escaped, numbers far outside numeric's range become strings of the same
 * characters. Grammar is not checked. */
void ing_json_fit(const char *json, size_t bytes, struct ing_buf *out);

/* RFC 3339 date-time that timestamptz takes: years 1 to 9999, a real day, an offset of less than 16
 * hours. */
bool ing_time_fits(const char *s);
