/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * stats_cube.h - questions to a table of counts: which sums, by which columns, of which rows. A cube says what can
 * be asked, a question what is; here it becomes SQL with parameters, and the rows that come back become a table.
 *
 * Registered domains are not known to the server: it is asked for hosts, whose sums are added up here. One thread.
 */
#pragma once
#include "common/base/buf.h"
#include "common/base/error.h"
#include "worker/ctl/since.h"
#include "worker/ctl/stats/print.h"

/* What rows may be restricted to. */
enum ing_stats_filter {
	ING_STATS_BY_LIST, /* one: a request may be in several */
	ING_STATS_BY_SOURCE,
	ING_STATS_BY_LINK_SOURCE,
	ING_STATS_BY_TYPE,
	ING_STATS_BY_STATUS,
	ING_STATS_BY_HOST,
	ING_STATS_BY_DOMAIN,
	ING_STATS_BY_PREFIX,
	ING_STATS_BY_SINCE,
	ING_STATS_FILTERS_,
};

#define ING_STATS_WORDS 64

/* Words of a filter: any of them. Borrowed. */
struct ing_stats_words {
	const char *words[ING_STATS_WORDS];
	size_t count;
};

struct ing_stats_where {
	struct ing_stats_words words[ING_STATS_FILTERS_]; /* but for since */
	int64_t list_id;                                  /* with a list: its */
	bool has_since;
	struct ing_since since;
	double max_pages; /* of a table whose rows are counted one by one: more are sampled */
};

struct ing_stats_dim {
	const char *name; /* of --by, and of its column */
	const char *sql;  /* a text; '' is none */
	bool is_domain;   /* sql gives hosts */
	bool is_time;     /* the latest first */
};

struct ing_stats_measure {
	struct ing_stats_column column;
	const char *sql;     /* an integer; NULL: the ratio of two others */
	unsigned part, rest; /* their indexes: part / (part + rest) */
	bool with_status;    /* makes sense by status, too */
};

#define ING_STATS_DIMS 4
#define ING_STATS_MEASURES 6

struct ing_stats_cube {
	const char *from;
	const char *always; /* condition; NULL: none */
	const char
		*no_list; /* condition unless a list is asked for, or it is by list; NULL: none */
	/* Conditions with $ for the parameter, an array but for list and since; NULL: it cannot be asked. */
	const char *filters[ING_STATS_FILTERS_];
	const struct ing_stats_dim *dims; /* ended by a name of NULL */
	const struct ing_stats_measure *measures;
	/* The table whose rows are counted one by one, by a sample of its pages if it is large; NULL: it is a table of counts. */
	const char *sampled;
};

struct ing_stats_question {
	const struct ing_stats_cube *cube;
	const struct ing_stats_dim *by[ING_STATS_DIMS];
	size_t by_count;
	const char *where; /* further condition, or NULL */
	const struct ing_stats_where *filter;
	bool totals;    /* also of all values of a column, "*" ("CUBE") */
	int64_t min;    /* rows of less are left out */
	uint64_t top;   /* 0: all rows */
	double percent; /* of the pages of a table that is sampled; 100: all */
};

/* Reads "host,status". Error: there is no such column, or there are too many. */
int ing_stats_by(
	struct ing_stats_question *q, const char *list, struct ing_error *err) ING_MUST_CHECK;

#define ING_STATS_PARAMS 16
struct ing_stats_sql {
	struct ing_buf text;
	char *params[ING_STATS_PARAMS];
	int param_count;
};
void ing_stats_sql_init(struct ing_stats_sql *sql);
void ing_stats_sql_done(struct ing_stats_sql *sql);
/* Appends " AND …" for each filter that is set. conditions: as in a cube. */
void ing_stats_add_filters(struct ing_stats_sql *sql,
	const char *const conditions[ING_STATS_FILTERS_], const struct ing_stats_where *where);

/* A statement with "{filters}" where " AND …" of the filters goes, "{top}" and "{period}"; and for each of two tables that are
 * sampled (0, 1) "{sample0}" behind its name, "{times0}" for what counts are multiplied with, and "{exact0}". */
struct ing_stats_template {
	const char *sql;
	const char *const *filters;
	const struct ing_stats_where *where;
	uint64_t top;
	const char *period;
	double percents[2];
};
void ing_stats_add_template(struct ing_stats_sql *sql, const struct ing_stats_template *t);
/* The statement. Its rows have the dimensions, then the measures that have SQL. */
void ing_stats_add_question(struct ing_stats_sql *sql, const struct ing_stats_question *q);

/* Whether the measure is asked for; how many the cube has. */
bool ing_stats_is_asked(const struct ing_stats_question *q, const struct ing_stats_measure *m);
size_t ing_stats_count_measures(const struct ing_stats_cube *cube);

/* Sums of the rows that came (stats_sums.c). */
struct ing_stats_sums;
struct ing_stats_sums *ing_stats_sums_new(const struct ing_stats_question *q); /* q is borrowed */
void ing_stats_sums_free(struct ing_stats_sums *s);
void ing_stats_sums_add(struct ing_stats_sums *s, const char *const *values);
/* Makes *t (initialised here, the caller's, columns borrowed from s). Returns how many rows `top` has left out. */
size_t ing_stats_sums_table(struct ing_stats_sums *s, struct ing_stats_table *t);
