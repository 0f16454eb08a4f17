/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * date.h - publication dates as pages write them.
 *
 * ISO 8601 (also with time), YYYY/MM/DD, D Month YYYY and Month D, YYYY in the languages that
 * scholarly sites use, and ambiguous numerics with the month first unless it cannot be one. What
 * has no day is a year (and month) only, what has a day that there is not (30 February) a year:
 * nothing is made up. Of two whole dates (an ISO 8601 interval) the first counts; where a range
 * shares month or year, as 12-15 March 2015 does, what it shares. Pure; any thread.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct ing_date {
	int year;  /* 1000 to 2200 */
	int month; /* 1 to 12; 0: not said */
	int day;   /* 1 to 31, one that the month has; 0: not said */
};

/* False: no date. s is UTF-8 of any length. */
bool ing_date_parse(const char *s, size_t bytes, struct ing_date *ret);
