/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * report.h - collects the errors and warnings in some files: a loader goes on after an error, so that
 * its user can correct all of them at once.
 *
 * Owns copies of its lines; identical lines are kept once. Warnings take half of the ceiling at
 * most. One thread at a time.
 */
#pragma once
#include <stdbool.h>
#include <stdio.h>
#include "common/base/error.h"

struct ing_report_line {
	bool warning;
	const char *file; /* name as given; owned */
	int line, column; /* 1-based; 0: about the whole file */
	const char *text; /* begins with what it is about */
};

struct ing_report {
	struct ing_report_line *lines;
	size_t count, cap;
	size_t errors, warnings; /* counted also past the ceiling of lines kept */
};

#define ING_REPORT_MAX_LINES 1000

void ing_report_init(struct ing_report *r);
void ing_report_done(struct ing_report *r); /* zero-initialised or done before is fine */
void ing_report_error(struct ing_report *r, const char *file, int line, int column, const char *fmt,
	...) ING_PRINTF(5, 6);
void ing_report_warning(struct ing_report *r, const char *file, int line, int column,
	const char *fmt, ...) ING_PRINTF(5, 6);
/* By file (in the order of first mention), line and column. */
void ing_report_sort(struct ing_report *r);
/* "FILE:LINE:COLUMN: TEXT", or "FILE: TEXT" without a position. Returns what snprintf() does. */
int ing_report_format_line(const struct ing_report_line *line, char *to, size_t bytes);
/* Every error as ing_report_format_line() has it, and how many were not kept. */
void ing_report_print_errors(const struct ing_report *r, FILE *to);
/* Every line, "FILE:LINE:COLUMN: error: TEXT" or "…: warning: TEXT", and how many were not kept. */
void ing_report_print(const struct ing_report *r, bool warnings, FILE *to);
/* -CONFIG, with every error as a line FILE:LINE:COLUMN: TEXT of err->msg as far as they fit and a
 * count of the rest, the position being the first's; 0 when there is no error. */
int ing_report_to_error(const struct ing_report *r, struct ing_error *err);
