/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Everything is read in one transaction that only reads, so that its numbers are of one moment, by the server's clock.
 */
#include "worker/ctl/stats/ask.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/data/pg.h"
#include "worker/conf/conf.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/stats/sample.h"
#include "worker/database/schema.h"

#define ANSWER_MS 300000
/* Each statement is short of memory at the default 4 MB: 300,000 hosts are grouped. */
#define SETTINGS                                                                                   \
	"SET TimeZone = 'UTC'; SET DateStyle = 'ISO'; SET jit = off; SET work_mem = '128MB';"      \
	" SET statement_timeout = '290s'; SET lock_timeout = '10s'"
#define FOLD "SET statement_timeout = '2s'; SET lock_timeout = '100ms'; SELECT fold_counts(50000);"
#define READ "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
/* By the server's own estimate, in which a page that is read in order costs 1; with its rows. */
#define COST_OF_A_PAGE 2

static int server_error(enum ing_pg_rc rc, const struct ing_error *err)
{
	return ing_ctl_fail(rc == ING_PG_REFUSED ? ING_CTL_USAGE : ING_CTL_ENVIRONMENT,
		ING_STATS_VERB, "%s", err->msg);
}

/* --- the database --- */

/* What is not allowed, a standby or somebody else's turn: then the differences are read as they are. */
static int fold(struct ing_stats_command *st)
{
	struct ing_error err = {0};
	enum ing_pg_rc rc = ing_pg_exec(st->pg, FOLD, &err);
	if (rc == ING_PG_LOST || rc == ING_PG_SILENT)
		return server_error(rc, &err);
	return ING_CTL_OK;
}

static int connect(struct ing_stats_command *st, const struct ing_ctl *ctl)
{
	struct ing_conf *conf = NULL;
	struct ing_error err = {0};
	int code = ing_ctl_conf(ctl, &conf);
	if (code != ING_CTL_OK)
		return code;
	if (conf->postgres.dsn == NULL || conf->postgres.dsn[0] == '\0')
		code = ing_ctl_fail(ING_CTL_USAGE, ING_STATS_VERB, "postgres.dsn is not set");
	else if (ing_pg_open(conf->postgres.dsn, -1, ANSWER_MS, &st->pg, &err) != 0 ||
		 ing_schema_prepare(st->pg, NULL, &err) != 0)
		code = ing_ctl_fail(ing_ctl_exit_of(&err), ING_STATS_VERB, "%s", err.msg);
	ing_conf_free(conf);
	if (code == ING_CTL_OK)
		code = fold(st);
	if (code != ING_CTL_OK)
		return code;
	enum ing_pg_rc rc = ing_pg_exec(st->pg, SETTINGS, &err);
	if (rc == ING_PG_OK)
		rc = ing_pg_exec(st->pg, READ, &err);
	return rc == ING_PG_OK ? ING_CTL_OK : server_error(rc, &err);
}

static void take_number(void *ctx, const char *const *values, int count)
{
	int64_t *ret = ctx;
	(void)count;
	*ret = ing_pg_int64(values[0]);
}

/* They are counted when they are filled. */
static int warn_of_unfilled(struct ing_stats_command *st)
{
	struct ing_error err = {0};
	int64_t found = 0;
	enum ing_pg_rc rc = ing_pg_number(st->pg,
		"SELECT 1 FROM ingest_request WHERE request_id IS NULL LIMIT 1", &found, &err);
	if (rc != ING_PG_OK)
		return server_error(rc, &err);
	if (found > 0)
		(void)ing_ctl_fail(ING_CTL_OK, ING_STATS_VERB,
			"requests that are older than the schema's version 9 are not counted: ingestctl db fill");
	return ING_CTL_OK;
}

static int find_list(struct ing_stats_command *st)
{
	const struct ing_stats_words *names = &st->where.words[ING_STATS_BY_LIST];
	struct ing_error err = {0};
	int64_t id = -1;
	if (names->count == 0)
		return ING_CTL_OK;
	enum ing_pg_rc rc =
		ing_pg_query(st->pg, NULL, "SELECT list_id FROM request_list WHERE name = $1",
			names->words, 1, take_number, &id, &err);
	if (rc != ING_PG_OK)
		return server_error(rc, &err);
	if (id < 0) {
		fputs("ingestctl " ING_STATS_VERB ": there is no list ", stderr);
		ing_ctl_print_harmless(names->words[0]);
		fputc('\n', stderr);
		return ING_CTL_NEGATIVE;
	}
	st->where.list_id = id;
	return ING_CTL_OK;
}

static enum ing_pg_rc ask(struct ing_stats_command *st, const struct ing_stats_sql *sql,
	ing_pg_row_f *each, void *ctx, struct ing_error *err)
{
	ing_must(!sql->text.failed);
	return ing_pg_query(st->pg, NULL, ing_buf_str(&sql->text), (const char *const *)sql->params,
		sql->param_count, each, ctx, err);
}

static int print(struct ing_stats_command *st, const struct ing_stats_table *t, size_t left_out)
{
	ing_stats_print(t, st->format, isatty(STDOUT_FILENO) != 0, stdout);
	if (!ing_ctl_flush_stdout(ING_STATS_VERB))
		return ING_CTL_ENVIRONMENT;
	if (left_out > 0)
		(void)ing_ctl_fail(ING_CTL_OK, ING_STATS_VERB, "%zu more row%s: --top 0 prints all",
			left_out, ING_PLURAL_S(left_out));
	return ING_CTL_OK;
}

/* --- cubes --- */

static void sum_row(void *ctx, const char *const *values, int count)
{
	(void)count;
	ing_stats_sums_add(ctx, values);
}

/* What the server expects to read for it, in pages: from the first line of EXPLAIN, "… (cost=0.00..123.45 rows=…". */
static void take_cost(void *ctx, const char *const *values, int count)
{
	double *cost = ctx;
	const char *at = values[0] != NULL ? strstr(values[0], "cost=") : NULL;
	const char *total = at != NULL ? strstr(at, "..") : NULL;
	(void)count;
	if (*cost < 0 && total != NULL)
		*cost = strtod(total + 2, NULL);
}

/* A question that the table's indexes answer from few pages is asked of all rows, else of some of its pages. */
static int choose_sample(struct ing_stats_command *st, struct ing_stats_question *q)
{
	struct ing_error err = {0};
	struct ing_stats_sql sql;
	double cost = -1;
	if (q->cube->sampled == NULL)
		return ING_CTL_OK;
	double percent = 100;
	enum ing_pg_rc rc =
		ing_stats_percent(st->pg, q->cube->sampled, st->where.max_pages, &percent, &err);
	if (rc != ING_PG_OK)
		return server_error(rc, &err);
	if (percent >= 100)
		return ING_CTL_OK;
	ing_stats_sql_init(&sql);
	ing_buf_add_str(&sql.text, "EXPLAIN ");
	ing_stats_add_question(&sql, q);
	rc = ask(st, &sql, take_cost, &cost, &err);
	ing_stats_sql_done(&sql);
	if (rc != ING_PG_OK)
		return server_error(rc, &err);
	if (cost < 0 || cost > COST_OF_A_PAGE * st->where.max_pages)
		q->percent = percent;
	return ING_CTL_OK;
}

static int answer(struct ing_stats_command *st, const struct ing_stats_question *q)
{
	struct ing_error err = {0};
	struct ing_stats_sql sql;
	struct ing_stats_table t;
	struct ing_stats_sums *sums = ing_stats_sums_new(q);
	ing_stats_sql_init(&sql);
	ing_stats_add_question(&sql, q);
	enum ing_pg_rc rc = ask(st, &sql, sum_row, sums, &err);
	ing_stats_sql_done(&sql);
	int code = rc == ING_PG_OK ? ING_CTL_OK : server_error(rc, &err);
	if (code == ING_CTL_OK) {
		size_t left_out = ing_stats_sums_table(sums, &t);
		code = print(st, &t, left_out);
		ing_stats_table_done(&t);
	}
	if (code == ING_CTL_OK && q->percent < 100)
		(void)ing_ctl_fail(ING_CTL_OK, ING_STATS_VERB,
			"estimated from %.2f %% of the pages of %s; a shorter --since, or more --pages, are exact",
			q->percent, q->cube->sampled);
	ing_stats_sums_free(sums);
	return code;
}

static int ask_cube(struct ing_stats_command *st)
{
	const struct ing_stats_query *query = st->query;
	struct ing_error err = {0};
	struct ing_stats_question q = {
		.cube = ing_stats_cube_of(st),
		.where = query->where,
		.filter = &st->where,
		.totals = query->totals,
		.min = st->has_min ? (int64_t)st->min : ING_MAX(query->min, 1),
		.top = st->has_top ? st->top : query->top,
		.percent = 100,
	};
	if (ing_stats_by(&q, st->by != NULL ? st->by : query->by, &err) != 0)
		return ing_ctl_fail(ING_CTL_USAGE, ING_STATS_VERB, "%s", err.msg);
	int code = choose_sample(st, &q);
	return code == ING_CTL_OK ? answer(st, &q) : code;
}

/* --- statements --- */

static void keep_row(void *ctx, const char *const *values, int count)
{
	(void)count;
	ing_stats_table_add(ctx, values);
}

/* NULL after a message. */
static const char *period_of(const struct ing_stats_command *st)
{
	const char *const *periods = st->query->periods;
	if (st->by == NULL || periods[0] == NULL)
		return periods[0];
	for (size_t i = 0; periods[i] != NULL; i++) {
		if (strcmp(periods[i], st->by) == 0)
			return periods[i];
	}
	(void)ing_ctl_fail(
		ING_CTL_USAGE, ING_STATS_VERB, "--by %s: it can be by day, week or month", st->by);
	return NULL;
}

static enum ing_pg_rc fill(struct ing_stats_command *st, const char *period,
	struct ing_stats_table *t, double *ret_percent, struct ing_error *err)
{
	const struct ing_stats_query *q = st->query;
	struct ing_stats_sql sql;
	struct ing_stats_template filled = {
		.sql = q->sql,
		.filters = q->filters,
		.where = &st->where,
		.top = !st->has_top   ? q->top
		       : st->top == 0 ? ING_STATS_MAX_TOP
				      : st->top,
		.period = period,
		.percents = {100, 100},
	};
	enum ing_pg_rc rc = ING_PG_OK;
	if (filled.top == 0)
		filled.top = ING_STATS_MAX_TOP;
	for (size_t i = 0; i < 2 && q->sampled[i] != NULL && rc == ING_PG_OK; i++) {
		double pages = st->where.max_pages / (q->pages_less[i] > 0 ? q->pages_less[i] : 1);
		rc = ing_stats_percent(st->pg, q->sampled[i], pages, &filled.percents[i], err);
		*ret_percent = ING_MIN(*ret_percent, filled.percents[i]);
	}
	if (rc == ING_PG_OK && q->looks_up)
		rc = ing_pg_exec(st->pg, ING_STATS_LOOK_UP, err);
	if (rc != ING_PG_OK)
		return rc;
	ing_stats_sql_init(&sql);
	ing_stats_add_template(&sql, &filled);
	rc = ask(st, &sql, keep_row, t, err);
	ing_stats_sql_done(&sql);
	return rc;
}

static int ask_statement(struct ing_stats_command *st)
{
	const struct ing_stats_query *q = st->query;
	struct ing_error err = {0};
	struct ing_stats_table t;
	size_t columns = 0;
	double percent = 100;
	const char *period = period_of(st);
	if (q->periods[0] != NULL && period == NULL)
		return ING_CTL_USAGE;
	while (q->columns[columns].key != NULL)
		columns++;
	ing_stats_table_init(&t, q->columns, columns);
	enum ing_pg_rc rc = q->fill != NULL ? q->fill(st->pg, &st->where, &t, &err)
					    : fill(st, period, &t, &percent, &err);
	int code = rc == ING_PG_OK ? print(st, &t, 0) : server_error(rc, &err);
	if (code == ING_CTL_OK && percent < 100)
		(void)ing_ctl_fail(ING_CTL_OK, ING_STATS_VERB,
			"estimated from %.2f %% of a table's pages where exact says no; more --pages are more exact",
			percent);
	ing_stats_table_done(&t);
	return code;
}

/* -------------------------------------------------------------------------------------------- */

const struct ing_stats_cube *ing_stats_cube_of(const struct ing_stats_command *st)
{
	const struct ing_stats_query *q = st->query;
	return st->where.has_since && q->since_cube != NULL ? q->since_cube : q->cube;
}

int ing_stats_ask(struct ing_stats_command *st, const struct ing_ctl *ctl)
{
	int code = connect(st, ctl);
	if (code == ING_CTL_OK)
		code = warn_of_unfilled(st);
	if (code == ING_CTL_OK)
		code = find_list(st);
	if (code == ING_CTL_OK)
		code = st->query->cube != NULL ? ask_cube(st) : ask_statement(st);
	ing_pg_close(ING_TAKE(st->pg));
	return code;
}
