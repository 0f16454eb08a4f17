/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * stats_print.h - rows of statistics as a table for people, as CSV (RFC 4180) or as JSON lines.
 *
 * One thread. A table owns its texts; what it prints is decided by the kinds of its columns alone.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "common/base/arena.h"

/* What a value is, and how it is written in the rows: as text, in every case. */
enum ing_stats_kind {
	ING_FIGURE_TEXT,
	ING_FIGURE_COUNT,   /* an integer */
	ING_FIGURE_BYTES,   /* an integer; for people 1.5 GiB */
	ING_FIGURE_SECONDS, /* an integer; for people 2 d 3 h */
	ING_FIGURE_RATIO,   /* a fraction; for people 12.3 % */
	ING_FIGURE_REAL,    /* a number with a fraction */
	ING_FIGURE_TRUTH,   /* t or f, as PostgreSQL has it */
};

struct ing_stats_column {
	const char *key; /* of JSON and CSV; the heading for people has spaces for "_" */
	enum ing_stats_kind kind;
};

#define ING_STATS_MAX_COLUMNS 16

struct ing_stats_table {
	const struct ing_stats_column *columns; /* borrowed */
	size_t column_count;                    /* at most ING_STATS_MAX_COLUMNS */
	const char *const **rows; /* in the arena; a NULL is a value that is not there */
	size_t row_count, row_room;
	struct ing_arena arena;
};

enum ing_stats_format { ING_PRINTED_FOR_PEOPLE, ING_PRINTED_AS_CSV, ING_PRINTED_AS_JSON };

void ing_stats_table_init(
	struct ing_stats_table *t, const struct ing_stats_column *columns, size_t column_count);
void ing_stats_table_done(struct ing_stats_table *t);
/* A row of copies. */
void ing_stats_table_add(struct ing_stats_table *t, const char *const *values);

/* Absent values are "-" for people, an empty field of CSV, null of JSON. For people, and with `terminal` in CSV,
 * characters that control a terminal become '?'; for people long texts are cut. */
void ing_stats_print(
	const struct ing_stats_table *t, enum ing_stats_format format, bool terminal, FILE *out);
