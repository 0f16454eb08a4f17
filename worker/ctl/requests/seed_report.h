/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * seed_report.h - what verbs that convert seed lists say on stderr: records that cannot be read, up to a number of them,
 * and at the end what has become of all.
 */
#pragma once
#include <stdint.h>
#include "worker/seeds/convert.h"

struct ing_seed_bad_records {
	const char *verb, *file;
	uint64_t count;
};

/* "FILE:NUMBER: why"; the last one that is printed says so. */
void ing_seed_print_bad(struct ing_seed_bad_records *bad, int64_t number, const char *why);
/* A line of numbers, and one for each reason for which something was left out. */
void ing_seed_print_counts(const char *verb, const struct ing_seed_counts *counts);
