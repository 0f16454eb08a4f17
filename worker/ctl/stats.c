/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl stats: how it stands, from the tables of counts. `stats_queries` has the questions, `stats_cube` makes
 * statements of them and adds up what comes, `stats_print` prints it; here are options and the connection.
 *
 * Everything is read in one transaction that only reads, so that its numbers are of one moment, by the server's clock.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/nearest.h"
#include "common/data/pg.h"
#include "worker/conf/conf.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/stats_queries.h"
#include "worker/ctl/stats_sample.h"
#include "worker/database/schema.h"

#define VERB "stats"
#define ANSWER_MS 300000
/* Each statement is short of memory at the default 4 MB: 300,000 hosts are grouped. */
#define SETTINGS                                                                                   \
	"SET TimeZone = 'UTC'; SET DateStyle = 'ISO'; SET jit = off; SET work_mem = '128MB';"      \
	" SET statement_timeout = '290s'"
#define FOLD "SET statement_timeout = '2s'; SET lock_timeout = '100ms'; SELECT fold_counts();"
#define READ "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
/* By the server's own estimate, in which a page that is read in order costs 1. */
#define MAX_COST (2.0 * ING_STATS_MAX_PAGES)
#define MAX_TOP 1000000000

enum {
	OPT_LIST = 0x200,
	OPT_FORMAT = OPT_LIST + ING_STATS_FILTERS_,
	OPT_BY,
	OPT_TOP,
	OPT_MIN,
};

struct stats {
	const struct ing_stats_query *query;
	struct ing_stats_where where;
	const char *by;
	bool has_top, has_min;
	uint64_t top, min;
	enum ing_stats_format format;
	struct ing_pg *pg;
};

static const struct {
	const char *option, *value, *sentence;
} filters[ING_STATS_FILTERS_] = {
	[ING_STATS_BY_LIST] = {"list", "NAME", "requests of one list"},
	[ING_STATS_BY_SOURCE] = {"source", "S", "of this ingest_request_source"},
	[ING_STATS_BY_LINK_SOURCE] = {"link-source", "S", "of this link_source"},
	[ING_STATS_BY_TYPE] = {"type", "T", "of this type"},
	[ING_STATS_BY_STATUS] = {"status", "S", "with this status"},
	[ING_STATS_BY_HOST] = {"host", "H", "of this host, without www."},
	[ING_STATS_BY_DOMAIN] = {"domain", "D", "of this host and all below it"},
	[ING_STATS_BY_PREFIX] = {"prefix", "P", "of this DOI prefix (10.1234)"},
	[ING_STATS_BY_SINCE] = {"since", "TIME",
		"since then: 90m, 12h, 7d, 2w ago, or a date (UTC)"},
};

static int server_error(enum ing_pg_rc rc, const struct ing_error *err)
{
	return ing_ctl_fail(
		rc == ING_PG_REFUSED ? ING_CTL_USAGE : ING_CTL_ENVIRONMENT, VERB, "%s", err->msg);
}

/* --- what applies to a query --- */

static const struct ing_stats_cube *cube_of(const struct stats *st)
{
	const struct ing_stats_query *q = st->query;
	return st->where.has_since && q->since_cube != NULL ? q->since_cube : q->cube;
}

static bool applies(const struct ing_stats_query *q, const struct ing_stats_cube *cube, int filter)
{
	if (cube != NULL)
		return cube->filters[filter] != NULL;
	return q->filters != NULL && q->filters[filter] != NULL;
}

static int check_options(const struct stats *st)
{
	const struct ing_stats_query *q = st->query;
	const struct ing_stats_cube *cube = cube_of(st);
	for (int f = 0; f < ING_STATS_FILTERS_; f++) {
		bool is_set = f == ING_STATS_BY_SINCE ? st->where.has_since
						      : st->where.words[f].count > 0;
		if (is_set && !applies(q, cube, f))
			return ing_ctl_fail(ING_CTL_USAGE, VERB, "%s: --%s does not apply%s",
				q->name, filters[f].option,
				cube == q->cube ? "" : " together with --since");
	}
	if (cube == NULL && (st->has_min || (st->by != NULL && q->periods[0] == NULL)))
		return ing_ctl_fail(
			ING_CTL_USAGE, VERB, "%s: --by and --min do not apply", q->name);
	if (q->needs_source && st->where.words[ING_STATS_BY_SOURCE].count != 1)
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "%s: needs one --source", q->name);
	return ING_CTL_OK;
}

/* --- the database --- */

/* What is not allowed, a standby or somebody else's turn: then the differences are read as they are. */
static int fold(struct stats *st)
{
	struct ing_error err = {0};
	enum ing_pg_rc rc = ing_pg_exec(st->pg, FOLD, &err);
	if (rc == ING_PG_LOST || rc == ING_PG_SILENT)
		return server_error(rc, &err);
	return ING_CTL_OK;
}

static int connect(struct stats *st, const struct ing_ctl *ctl)
{
	struct ing_conf *conf = NULL;
	struct ing_error err = {0};
	int code = ing_ctl_conf(ctl, &conf);
	if (code != ING_CTL_OK)
		return code;
	if (conf->postgres.dsn == NULL || conf->postgres.dsn[0] == '\0')
		code = ing_ctl_fail(ING_CTL_USAGE, VERB, "postgres.dsn is not set");
	else if (ing_pg_open(conf->postgres.dsn, -1, ANSWER_MS, &st->pg, &err) != 0 ||
		 ing_schema_prepare(st->pg, NULL, &err) != 0)
		code = ing_ctl_fail(ing_ctl_exit_of(&err), VERB, "%s", err.msg);
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

static int find_list(struct stats *st)
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
		fputs("ingestctl " VERB ": there is no list ", stderr);
		ing_ctl_print_harmless(names->words[0]);
		fputc('\n', stderr);
		return ING_CTL_NEGATIVE;
	}
	st->where.list_id = id;
	return ING_CTL_OK;
}

static enum ing_pg_rc ask(struct stats *st, const struct ing_stats_sql *sql, ing_pg_row_f *each,
	void *ctx, struct ing_error *err)
{
	ing_must(!sql->text.failed);
	return ing_pg_query(st->pg, NULL, ing_buf_str(&sql->text), (const char *const *)sql->params,
		sql->param_count, each, ctx, err);
}

static int print(struct stats *st, const struct ing_stats_table *t, size_t left_out)
{
	ing_stats_print(t, st->format, isatty(STDOUT_FILENO) != 0, stdout);
	if (!ing_ctl_flush_stdout(VERB))
		return ING_CTL_ENVIRONMENT;
	if (left_out > 0)
		(void)ing_ctl_fail(ING_CTL_OK, VERB, "%zu more row%s: --top 0 prints all", left_out,
			ING_PLURAL_S(left_out));
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
static int choose_sample(struct stats *st, struct ing_stats_question *q)
{
	struct ing_error err = {0};
	struct ing_stats_sql sql;
	double cost = -1;
	if (q->cube->sampled == NULL)
		return ING_CTL_OK;
	double percent = 100;
	enum ing_pg_rc rc =
		ing_stats_percent(st->pg, q->cube->sampled, ING_STATS_MAX_PAGES, &percent, &err);
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
	if (cost < 0 || cost > MAX_COST)
		q->percent = percent;
	return ING_CTL_OK;
}

static int answer(struct stats *st, const struct ing_stats_question *q)
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
		(void)ing_ctl_fail(ING_CTL_OK, VERB,
			"estimated from %.2f %% of the pages of %s; a shorter --since is exact",
			q->percent, q->cube->sampled);
	ing_stats_sums_free(sums);
	return code;
}

static int ask_cube(struct stats *st)
{
	const struct ing_stats_query *query = st->query;
	struct ing_error err = {0};
	struct ing_stats_question q = {
		.cube = cube_of(st),
		.where = query->where,
		.filter = &st->where,
		.totals = query->totals,
		.min = st->has_min ? (int64_t)st->min : ING_MAX(query->min, 1),
		.top = st->has_top ? st->top : query->top,
		.percent = 100,
	};
	if (ing_stats_by(&q, st->by != NULL ? st->by : query->by, &err) != 0)
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "%s", err.msg);
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
static const char *period_of(const struct stats *st)
{
	const char *const *periods = st->query->periods;
	if (st->by == NULL || periods[0] == NULL)
		return periods[0];
	for (size_t i = 0; periods[i] != NULL; i++) {
		if (strcmp(periods[i], st->by) == 0)
			return periods[i];
	}
	(void)ing_ctl_fail(ING_CTL_USAGE, VERB, "--by %s: it can be by day, week or month", st->by);
	return NULL;
}

static enum ing_pg_rc fill(struct stats *st, const char *period, struct ing_stats_table *t,
	double *ret_percent, struct ing_error *err)
{
	const struct ing_stats_query *q = st->query;
	struct ing_stats_sql sql;
	struct ing_stats_template filled = {
		.sql = q->sql,
		.filters = q->filters,
		.where = &st->where,
		.top = !st->has_top   ? q->top
		       : st->top == 0 ? MAX_TOP
				      : st->top,
		.period = period,
		.percents = {100, 100},
	};
	enum ing_pg_rc rc = ING_PG_OK;
	if (filled.top == 0)
		filled.top = MAX_TOP;
	for (size_t i = 0; i < 2 && q->sampled[i] != NULL && rc == ING_PG_OK; i++) {
		double pages = q->pages[i] > 0 ? q->pages[i] : ING_STATS_MAX_PAGES;
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

static int ask_statement(struct stats *st)
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
		(void)ing_ctl_fail(ING_CTL_OK, VERB,
			"estimated from %.2f %% of a table's pages where exact says no", percent);
	ing_stats_table_done(&t);
	return code;
}

/* --- the command --- */

static void print_queries(void)
{
	for (const struct ing_stats_query *q = ing_stats_queries; q->name != NULL; q++)
		printf("  %-15s %s\n", q->name, q->sentence);
}

static void print_columns(const char *label, const struct ing_stats_cube *cube, const char *preset)
{
	printf("  --by A,B,…     %s:", label);
	for (const struct ing_stats_dim *d = cube->dims; d->name != NULL; d++)
		printf(" %s", d->name);
	printf(" (%s)\n", preset);
}

static void print_query_help(const struct ing_stats_query *q)
{
	printf("usage: ingestctl [--config FILE] [--set KEY=VALUE]... stats %s [OPTION]...\n\n"
	       "Prints %s.\n\n",
		q->name, q->sentence);
	for (int f = 0; f < ING_STATS_FILTERS_; f++) {
		bool given = applies(q, q->cube, f) ||
			     (q->since_cube != NULL && applies(q, q->since_cube, f));
		if (given)
			printf("  --%-12s %s\n", filters[f].option, filters[f].sentence);
	}
	if (q->cube != NULL) {
		print_columns("columns", q->cube, q->by);
		if (q->since_cube != NULL)
			print_columns("with --since", q->since_cube, q->by);
		printf("  --min N        leave out rows below N\n");
	}
	if (q->periods[0] != NULL)
		printf("  --by PERIOD    day, week or month\n");
	printf("  --top N        the first N rows, 0: all\n"
	       "  --format F     table, csv (RFC 4180) or json (an object a line)\n");
	if (q->note != NULL)
		printf("\n%s\n", q->note);
}

static void print_help(void)
{
	printf("usage: ingestctl [--config FILE] [--set KEY=VALUE]... stats [QUERY [OPTION]...]\n\n"
	       "Says how it stands, from the database's counts. Queries (stats QUERY --help: its options):\n\n");
	print_queries();
	printf("\n");
	for (int f = 0; f < ING_STATS_FILTERS_; f++)
		printf("  --%s %-*s %s\n", filters[f].option, 13 - (int)strlen(filters[f].option),
			filters[f].value, filters[f].sentence);
	printf("  --by A,B,…      columns to count by\n"
	       "  --min N         leave out rows below N\n"
	       "  --top N         the first N rows, 0: all\n"
	       "  --format F      table, csv (RFC 4180) or json (an object a line)\n\n"
	       "Options of rows but --list and --since may be repeated: any of them. Not every option applies to\n"
	       "every query. Requests of several lists count once, but for --list and --by list.\n\n"
	       "Exit status: 0 success, 1 there is no such list, 2 usage or configuration, 3 environment.\n");
}

static bool add_word(struct stats *st, int filter, const char *word)
{
	struct ing_stats_words *words = &st->where.words[filter];
	if (words->count == ING_STATS_WORDS || (filter == ING_STATS_BY_LIST && words->count > 0)) {
		(void)ing_ctl_fail(ING_CTL_USAGE, VERB, "--%s: given more than %zu time%s",
			filters[filter].option, words->count, ING_PLURAL_S(words->count));
		return false;
	}
	words->words[words->count++] = word;
	return true;
}

static bool take_since(struct stats *st, const char *text)
{
	st->where.has_since = ing_since_parse(text, &st->where.since);
	if (!st->where.has_since)
		(void)ing_ctl_fail(ING_CTL_USAGE, VERB,
			"--since: neither a time (90m, 12h, 7d) nor a date (2026-11-23): %s", text);
	return st->where.has_since;
}

static bool take_format(struct stats *st, const char *name)
{
	static const char *const names[] = {"table", "csv", "json"};
	for (size_t i = 0; i < ING_ARRAY_LEN(names); i++) {
		if (strcmp(name, names[i]) == 0) {
			st->format = (enum ing_stats_format)i;
			return true;
		}
	}
	(void)ing_ctl_fail(ING_CTL_USAGE, VERB, "--format must be table, csv or json");
	return false;
}

static bool take_count(const char *option, const char *text, uint64_t *ret, bool *ret_given)
{
	*ret_given = true;
	*ret = 0;
	if (strcmp(text, "0") == 0 || ing_ctl_number(text, MAX_TOP, ret))
		return true;
	(void)ing_ctl_fail(
		ING_CTL_USAGE, VERB, "--%s must be a number from 0 to %d", option, MAX_TOP);
	return false;
}

static bool take_option(struct stats *st, int option)
{
	switch (option) {
	case OPT_FORMAT:
		return take_format(st, optarg);
	case OPT_BY:
		st->by = optarg;
		return true;
	case OPT_TOP:
		return take_count("top", optarg, &st->top, &st->has_top);
	case OPT_MIN:
		return take_count("min", optarg, &st->min, &st->has_min);
	case OPT_LIST + ING_STATS_BY_SINCE:
		return take_since(st, optarg);
	default:
		return option >= OPT_LIST && option < OPT_FORMAT &&
		       add_word(st, option - OPT_LIST, optarg);
	}
}

static int find_query(struct stats *st, const char *name)
{
	struct ing_nearest n = ing_nearest_of(name, strlen(name));
	for (const struct ing_stats_query *q = ing_stats_queries; q->name != NULL; q++) {
		if (strcmp(q->name, name) == 0)
			st->query = q;
		ing_nearest_try(&n, q->name);
	}
	if (st->query != NULL)
		return ING_CTL_OK;
	if (n.best != NULL)
		return ing_ctl_fail(
			ING_CTL_USAGE, VERB, "%s: no such query; did you mean '%s'?", name, n.best);
	return ing_ctl_fail(
		ING_CTL_USAGE, VERB, "%s: no such query; ingestctl stats lists them", name);
}

/* -1: go on. */
static int read_command(struct stats *st, int argc, char **argv)
{
	struct option options[ING_STATS_FILTERS_ + 6] = {{0}};
	bool help = false;
	size_t n = 0;
	int c;
	for (; n < ING_STATS_FILTERS_; n++)
		options[n] = (struct option){
			filters[n].option, required_argument, NULL, OPT_LIST + (int)n};
	options[n++] = (struct option){"by", required_argument, NULL, OPT_BY};
	options[n++] = (struct option){"top", required_argument, NULL, OPT_TOP};
	options[n++] = (struct option){"min", required_argument, NULL, OPT_MIN};
	options[n++] = (struct option){"format", required_argument, NULL, OPT_FORMAT};
	options[n++] = (struct option){"help", no_argument, NULL, 'h'};
	while ((c = ing_ctl_option(argc, argv, "h", options)) != -1) {
		if (c == 'h')
			help = true;
		else if (!take_option(st, c))
			return ING_CTL_USAGE;
	}
	if (argc - optind > 1)
		return ing_ctl_fail(
			ING_CTL_USAGE, VERB, "unexpected argument %s", argv[optind + 1]);
	if (optind < argc && find_query(st, argv[optind]) != ING_CTL_OK)
		return ING_CTL_USAGE;
	if (!help && st->query != NULL)
		return -1;
	if (help && st->query != NULL)
		print_query_help(st->query);
	else if (help)
		print_help();
	else
		print_queries();
	return ing_ctl_flush_stdout(VERB) ? ING_CTL_OK : ING_CTL_ENVIRONMENT;
}

/* -------------------------------------------------------------------------------------------- */

int ing_ctl_stats(int argc, char **argv, const struct ing_ctl *ctl)
{
	struct stats st = {.format = ING_PRINTED_FOR_PEOPLE};
	optind = 1;
	int code = read_command(&st, argc, argv);
	if (code >= 0)
		return code;
	code = check_options(&st);
	if (code == ING_CTL_OK)
		code = connect(&st, ctl);
	if (code == ING_CTL_OK)
		code = find_list(&st);
	if (code == ING_CTL_OK)
		code = st.query->cube != NULL ? ask_cube(&st) : ask_statement(&st);
	ing_pg_close(st.pg);
	return code;
}
