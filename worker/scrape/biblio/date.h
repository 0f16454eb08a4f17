/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * date.h - publication dates as pages write them.
 *
 * Reads ISO 8601 (also with time), YYYY/MM/DD, D Month YYYY and Month D, YYYY in the languages of
 * scholarly sites, and ambiguous numbers with the month first unless it cannot be a month. Without
 * a day, the result is a year (and month); with an impossible day (30 February) the year. Of two
 * full dates (an ISO 8601 interval) the first counts; of a range such as 12-15 March 2015, what
 * both ends share. Pure; any thread.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct ing_date {
	int year;  /* 1000 to 2200 */
	int month; /* 1 to 12; 0: unknown */
	int day;   /* 1 to 31, valid in the month; 0: unknown */
};

/* Parse UTF-8 of any length. Returns false when it is no date. */
bool ing_date_parse(const char *s, size_t bytes, struct ing_date *ret);
