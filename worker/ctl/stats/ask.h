/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * stats_ask.h - one question of `ingestctl stats`: asks the database and prints the answer. Calls block; one thread.
 */
#pragma once
#include "common/net/url.h"
#include "worker/ctl/stats/queries.h"

#define ING_STATS_VERB "stats"
#define ING_STATS_MAX_TOP 1000000000

struct ing_ctl;
struct ing_pg;

struct ing_stats_command {
	const struct ing_stats_query *query;
	struct ing_stats_where where;
	char hosts[ING_STATS_WORDS][ING_URL_HOST_BYTES]; /* what where has of them */
	const char *by;                                  /* NULL: as the query has it */
	bool has_top, has_min;
	uint64_t top, min;
	enum ing_stats_format format;
	struct ing_pg *pg; /* ing_stats_ask()'s */
};

/* What the query is asked of: another cube with --since, perhaps; NULL: it is none. */
const struct ing_stats_cube *ing_stats_cube_of(const struct ing_stats_command *st);
/* An exit code, after a message unless it is OK. */
int ing_stats_ask(struct ing_stats_command *st, const struct ing_ctl *ctl);
