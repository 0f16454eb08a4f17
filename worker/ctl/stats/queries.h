/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * stats_queries.h - the questions that `ingestctl stats` answers, as data: a cube with a preset, or a statement.
 */
#pragma once
#include "common/data/pg.h"
#include "worker/ctl/stats/cube.h"

struct ing_stats_query {
	const char *name, *sentence;
	/* A cube, and what is asked of it unless options say otherwise. */
	const struct ing_stats_cube *cube;
	const struct ing_stats_cube *since_cube; /* in its place with --since; or NULL */
	const char *by;                          /* "domain,status" */
	const char *where;                       /* or NULL */
	bool totals;
	int64_t min;
	uint64_t top;
	/* Or a statement (struct ing_stats_template). */
	const char *sql;
	const char *const *filters;
	const struct ing_stats_column *columns; /* ended by a key of NULL */
	const char *sampled[2];                 /* tables of its samples; NULL: none */
	double pages_less[2];   /* so many times fewer pages; 0: as many as others */
	bool looks_up;          /* ING_STATS_LOOK_UP */
	const char *periods[4]; /* for --by; the first unless it is given */
	/* Or a function that adds the rows. */
	enum ing_pg_rc (*fill)(struct ing_pg *pg, const struct ing_stats_where *where,
		struct ing_stats_table *t, struct ing_error *err);
	bool needs_source;
	const char *note; /* for --help; or NULL */
};

/* Ended by a name of NULL. */
extern const struct ing_stats_query ing_stats_queries[];
