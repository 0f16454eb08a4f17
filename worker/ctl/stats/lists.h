/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * stats_lists.h - how far each list is: by the counts, which are exact, and for what these do not tell apart
 * (queued or never asked, due again or ended) by looking at requests.
 *
 * A list of over some ten thousand requests is looked at by a sample of them; what is found is a share of the
 * exact count. One thread.
 */
#pragma once
#include "common/data/pg.h"
#include "worker/ctl/stats/cube.h"

extern const struct ing_stats_column ing_stats_list_columns[]; /* ended by a key of NULL */
extern const char *const ing_stats_list_filters[ING_STATS_FILTERS_];

/* Rows are added to *t, one for each list, by name. */
enum ing_pg_rc ing_stats_lists(struct ing_pg *pg, const struct ing_stats_where *where,
	struct ing_stats_table *t, struct ing_error *err) ING_MUST_CHECK;
