/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * stats_sample.h - how much of a table is read when its rows have to be counted one by one. One thread.
 */
#pragma once
#include "common/data/pg.h"

/* Unless the command says otherwise, at most so many pages of 8 KiB of one table: a few seconds of a disk's time. */
#define ING_STATS_MAX_PAGES 50000

/* *ret: percent of its pages that are max_pages, 100 at most. table: a constant. */
enum ing_pg_rc ing_stats_percent(struct ing_pg *pg, const char *table, double max_pages,
	double *ret, struct ing_error *err) ING_MUST_CHECK;

/* Later joins of this transaction look each row up by index: few rows meet tables of millions, which the planner would
 * rather read whole, as it does not know how few they are. */
#define ING_STATS_LOOK_UP "SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off"

struct ing_buf;
/* " TABLESAMPLE …", the same pages each time; nothing for 100. */
void ing_stats_add_sample(struct ing_buf *sql, double percent);
