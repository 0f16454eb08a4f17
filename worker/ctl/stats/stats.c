/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl stats: how it stands, from the tables of counts. `stats_queries` has the questions, `stats_ask` asks them;
 * here are the options.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/nearest.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/usage.h"
#include "worker/ctl/stats/ask.h"
#include "worker/ctl/stats/sample.h"
#include "worker/model/request_facts.h"

#define VERB ING_STATS_VERB

enum {
	OPT_LIST = 0x200,
	OPT_FORMAT = OPT_LIST + ING_STATS_FILTERS_,
	OPT_BY,
	OPT_TOP,
	OPT_MIN,
	OPT_PAGES,
};

/* The filters stand first, in their order. */
static const struct ing_option options[] = {
	{"list", "NAME", "requests of one list", .code = OPT_LIST + ING_STATS_BY_LIST},
	{"source", "S", "of this ingest_request_source", .code = OPT_LIST + ING_STATS_BY_SOURCE},
	{"link-source", "S", "of this link_source", .code = OPT_LIST + ING_STATS_BY_LINK_SOURCE},
	{"type", "T", "of this type", .code = OPT_LIST + ING_STATS_BY_TYPE,
		.words = ING_WORDS_TYPES},
	{"status", "S", "with this status", .code = OPT_LIST + ING_STATS_BY_STATUS,
		.words = ING_WORDS_STATUSES},
	{"host", "H", "of this host, without www.", .code = OPT_LIST + ING_STATS_BY_HOST},
	{"domain", "D", "of this host and all below it", .code = OPT_LIST + ING_STATS_BY_DOMAIN},
	{"prefix", "P", "of this DOI prefix (10.1234)", .code = OPT_LIST + ING_STATS_BY_PREFIX},
	{"since", "TIME", "since then: 90m, 12h, 7d, 2w ago, or a date (UTC)",
		.code = OPT_LIST + ING_STATS_BY_SINCE},
	{"by", "A,B,…", "columns to count by", .code = OPT_BY,
		.words =
			",list source link_source type status host domain prefix code mimetype hour day "
			"week month"},
	{"min", "N", "leave out rows below N", .code = OPT_MIN},
	{"pages", "N",
		"where rows are counted one by one: read at most N pages of a table, which is a sample if it "
		"has more",
		.code = OPT_PAGES},
	{"top", "N", "the first N rows, 0: all", .code = OPT_TOP},
	{"format", "F", "table, csv (RFC 4180) or json (an object a line)", .code = OPT_FORMAT,
		.words = "table csv json"},
	{0},
};

static void add_queries(struct ing_buf *to)
{
	for (const struct ing_stats_query *q = ing_stats_queries; q->name != NULL; q++)
		ing_buf_printf(to, "  %s\t%s\n", q->name, q->sentence);
}

/* --- what applies to a query --- */

static bool applies(const struct ing_stats_query *q, const struct ing_stats_cube *cube, int filter)
{
	if (cube != NULL)
		return cube->filters[filter] != NULL;
	return q->filters != NULL && q->filters[filter] != NULL;
}

static int check_options(const struct ing_stats_command *st)
{
	const struct ing_stats_query *q = st->query;
	const struct ing_stats_cube *cube = ing_stats_cube_of(st);
	for (int f = 0; f < ING_STATS_FILTERS_; f++) {
		bool is_set = f == ING_STATS_BY_SINCE ? st->where.has_since
						      : st->where.words[f].count > 0;
		if (is_set && !applies(q, cube, f))
			return ing_ctl_fail(ING_CTL_USAGE, VERB, "%s: --%s does not apply%s",
				q->name, options[f].name,
				cube == q->cube ? "" : " together with --since");
	}
	if (cube == NULL && (st->has_min || (st->by != NULL && q->periods[0] == NULL)))
		return ing_ctl_fail(
			ING_CTL_USAGE, VERB, "%s: --by and --min do not apply", q->name);
	if (q->needs_source && st->where.words[ING_STATS_BY_SOURCE].count != 1)
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "%s: needs one --source", q->name);
	return ING_CTL_OK;
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

static bool is_sampled(const struct ing_stats_query *q)
{
	return q->fill != NULL || q->sampled[0] != NULL ||
	       (q->cube != NULL && q->cube->sampled != NULL) ||
	       (q->since_cube != NULL && q->since_cube->sampled != NULL);
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
			printf("  --%-12s %s\n", options[f].name, options[f].text);
	}
	if (q->cube != NULL) {
		print_columns("columns", q->cube, q->by);
		if (q->since_cube != NULL)
			print_columns("with --since", q->since_cube, q->by);
		printf("  --min N        leave out rows below N\n");
	}
	if (q->periods[0] != NULL)
		printf("  --by PERIOD    day, week or month\n");
	if (is_sampled(q))
		printf("  --pages N      read at most N pages of a table (%d)\n",
			ING_STATS_MAX_PAGES);
	printf("  --top N        the first N rows, 0: all\n"
	       "  --format F     table, csv (RFC 4180) or json (an object a line)\n");
	if (q->note != NULL)
		printf("\n%s\n", q->note);
}

/* As the tables have it, if it is one at all. */
static const char *host_of(struct ing_stats_command *st, const char *word)
{
	char url[ING_URL_HOST_BYTES + 16];
	char *host = st->hosts[st->where.words[ING_STATS_BY_HOST].count];
	int n = snprintf(url, sizeof(url), "http://%s/", word);
	ing_fact_host(n < (int)sizeof(url) ? url : "", host);
	return host[0] != '\0' ? host : word;
}

static bool add_word(struct ing_stats_command *st, int filter, const char *word)
{
	struct ing_stats_words *words = &st->where.words[filter];
	if (words->count == ING_STATS_WORDS || (filter == ING_STATS_BY_LIST && words->count > 0)) {
		(void)ing_ctl_fail(ING_CTL_USAGE, VERB, "--%s: given more than %zu time%s",
			options[filter].name, words->count, ING_PLURAL_S(words->count));
		return false;
	}
	words->words[words->count++] = filter == ING_STATS_BY_HOST ? host_of(st, word) : word;
	return true;
}

static bool take_since(struct ing_stats_command *st, const char *text)
{
	st->where.has_since = ing_since_parse(text, &st->where.since);
	if (!st->where.has_since)
		(void)ing_ctl_fail(ING_CTL_USAGE, VERB,
			"--since: neither a time (90m, 12h, 7d) nor a date (2026-11-23): %s", text);
	return st->where.has_since;
}

static bool take_format(struct ing_stats_command *st, const char *name)
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
	if (strcmp(text, "0") == 0 || ing_ctl_number(text, ING_STATS_MAX_TOP, ret))
		return true;
	(void)ing_ctl_fail(ING_CTL_USAGE, VERB, "--%s must be a number from 0 to %d", option,
		ING_STATS_MAX_TOP);
	return false;
}

static bool take_pages(struct ing_stats_command *st, const char *text)
{
	uint64_t pages;
	bool is_number = ing_ctl_number(text, ING_STATS_MAX_TOP, &pages);
	if (is_number)
		st->where.max_pages = (double)pages;
	else
		(void)ing_ctl_fail(ING_CTL_USAGE, VERB, "--pages must be a number from 1 to %d",
			ING_STATS_MAX_TOP);
	return is_number;
}

static bool take_option(struct ing_stats_command *st, int option)
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
	case OPT_PAGES:
		return take_pages(st, optarg);
	case OPT_LIST + ING_STATS_BY_SINCE:
		return take_since(st, optarg);
	default:
		return option >= OPT_LIST && option < OPT_FORMAT &&
		       add_word(st, option - OPT_LIST, optarg);
	}
}

static int find_query(struct ing_stats_command *st, const char *name)
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
static int read_command(struct ing_stats_command *st, int argc, char **argv)
{
	bool help = false;
	int c;
	while ((c = ing_usage_next(&ing_ctl_stats_usage, argc, argv)) != -1) {
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
		ing_usage_print_help(&ing_ctl_stats_usage, false, stdout);
	else
		print_queries();
	return ing_ctl_flush_stdout(VERB) ? ING_CTL_OK : ING_CTL_ENVIRONMENT;
}

/* -------------------------------------------------------------------------------------------- */

const struct ing_usage ing_ctl_stats_usage = {
	.name = "stats",
	.synopsis = "[QUERY [OPTION]...]",
	.summary = "how it stands: counts of requests, results and files",
	.text = "Says how it stands, from the database's counts. Queries (stats QUERY --help: its options):\n\n",
	.add_text = add_queries,
	.details =
		"A request without a result has the empty status. hit_ratio is the share of hits among the "
		"requests that have a result. What is not counted ahead is counted in the rows themselves; of "
		"a table of more than 50,000 pages (--pages) in a sample of them. The column exact says whether "
		"the numbers are exact. --since goes by the database server's clock. A user who may only read "
		"gets the same numbers.",
	.options = options,
	.notes =
		"Options of rows but --list and --since may be repeated: any of them; the empty text matches "
		"what has none. Not every option applies to every query. Requests of several lists count once, "
		"but for --list and --by list.",
	.exits = {ING_EXIT_OK, "there is no such list", ING_EXIT_USAGE, ING_EXIT_ENVIRONMENT},
	.operands = "!stats",
	.own_help = true,
};

int ing_ctl_stats(int argc, char **argv, const struct ing_ctl *ctl)
{
	static struct ing_stats_command st;
	st = (struct ing_stats_command){
		.format = ING_PRINTED_FOR_PEOPLE, .where.max_pages = ING_STATS_MAX_PAGES};
	optind = 1;
	int code = read_command(&st, argc, argv);
	if (code >= 0)
		return code;
	code = check_options(&st);
	if (code == ING_CTL_OK)
		code = ing_stats_ask(&st, ctl);
	return code;
}
