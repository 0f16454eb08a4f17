/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl publication stats, webpage stats: which types the parts have, how many are in which state, and the
 * hosts on which they were found most often, which are those worth writing rules for.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/hash.h"
#include "common/markup/html_page.h"
#include "worker/ctl/json_line.h"
#include "worker/ctl/publication/kept_select.h"
#include "worker/ctl/publication/kept.h"
#include "worker/ctl/usage.h"
#include "worker/ctl/rules/rules.h"
#include "worker/model/part_type.h"
#include "worker/model/rule_hits.h"
#include "worker/scrape/rules/journals.h"
#include "worker/scrape/rules/rules.h"
#include "worker/scrape/rules/webpages.h"

#define MAX_PAGE_BYTES ((size_t)64 << 20)

enum what { PARTS, COUNTS, TOP_HOSTS };
enum rule_filter { ANY, HAS_RULE, NO_RULE };

struct stats {
	enum ing_kept_table table;
	enum what what;
	enum rule_filter filter;
	bool json, html;
	uint64_t top; /* hosts; 0: all */
};

/* --- the table of parts --- */

struct part_counts {
	int64_t n[ING_PART_TYPES_ + 1][ING_PARTS_]; /* the last row: of unknown types */
};

static bool count_part(void *ctx, const char *const *values)
{
	struct part_counts *counts = ctx;
	enum ing_part_type type = ing_part_type_of_name(values[0] != NULL ? values[0] : "na");
	int64_t key = ing_pg_int64(values[1]);
	if (key >= 0 && key < ING_PARTS_)
		counts->n[type][key] += ing_pg_int64(values[2]);
	return true;
}

static void print_parts_row(const char *name, const int64_t *n)
{
	int64_t total = 0;
	fputs(name, stdout);
	for (unsigned k = 0; k < ING_PARTS_; k++) {
		printf(",%" PRId64, n[k]);
		total += n[k];
	}
	printf(",%" PRId64 "\n", total);
}

static int print_parts(struct ing_kept_select *s, const struct ing_ctl *ctl)
{
	struct part_counts *counts = ing_alloc(sizeof(*counts));
	struct ing_buf from;
	*counts = (struct part_counts){0};
	ing_buf_init(&from, 4096);
	ing_buf_add_str(&from, "CROSS JOIN LATERAL (VALUES ");
	for (unsigned k = 0; k < ING_PARTS_; k++)
		ing_buf_printf(&from, "%s(%u, %s_type)", k > 0 ? ", " : "", k,
			ing_part_name((enum ing_part_key)k));
	ing_buf_add_str(&from, ") AS part (key, type) GROUP BY part.type, part.key");
	int code = ing_kept_sum(
		s, ctl, "part.type, part.key, count(*)", ing_buf_str(&from), count_part, counts);
	ing_buf_done(&from);
	if (code == ING_CTL_OK) {
		fputs("type", stdout);
		for (unsigned k = 0; k < ING_PARTS_; k++)
			printf(",%s", ing_part_name((enum ing_part_key)k));
		puts(",total");
		for (unsigned t = 0; t < ING_PART_TYPES_; t++)
			print_parts_row(ing_part_type_name((enum ing_part_type)t), counts->n[t]);
	}
	free(counts);
	return code;
}

/* --- counts --- */

#define COUNT_IF(condition) "count(*) FILTER (WHERE " condition ")"

static const char *const publication_counts[] = {"count", "empty", "usable", "final",
	"totally_final", "fetch_exception", "oa", "preprint", NULL};
static const char *const webpage_counts[] = {
	"count", "empty", "usable", "final", "broken", "fetch_exception", NULL};

static bool print_counts_row(void *ctx, const char *const *values)
{
	const char *const *names = ctx;
	json_t *o = json_object();
	for (size_t i = 0; names[i] != NULL; i++)
		ing_json_set_number(o, names[i], ing_pg_int64(values[i]));
	ing_ctl_json_print(o);
	return true;
}

static int print_counts(
	const struct stats *st, struct ing_kept_select *s, const struct ing_ctl *ctl)
{
	bool is_webpage = st->table == ING_TABLE_WEBPAGE;
	const char *columns =
		is_webpage
			? "count(*), " COUNT_IF("empty") ", " COUNT_IF("usable") ", " COUNT_IF(
				  "final") ", " COUNT_IF("broken") ", " COUNT_IF("fetch_exception")
			: "count(*), " COUNT_IF("empty") ", " COUNT_IF("usable") ", " COUNT_IF("final") ", " COUNT_IF(
				  "totally_final") ", " COUNT_IF("fetch_exception") ", " COUNT_IF("oa") ", " COUNT_IF("preprint");
	const char *const *names = is_webpage ? webpage_counts : publication_counts;
	return ing_kept_sum(s, ctl, columns, "", print_counts_row, (void *)(uintptr_t)names);
}

/* --- hosts --- */

struct host {
	char *name;
	uint64_t count;
	size_t seen; /* the how manieth it was */
	UT_hash_handle hh;
};

struct hosts {
	const struct stats *st;
	const struct ing_rules *rules;
	struct host *table;
};

static bool has_rule(const struct hosts *h, const char *url)
{
	struct ing_rule_hits hits = {.count = 0};
	return h->st->table == ING_TABLE_WEBPAGE
		       ? ing_webpages_find(h->rules->webpages, url, &hits) != NULL
		       : ing_journals_site(h->rules->journals, url, &hits) != NULL;
}

static bool count_host(void *ctx, const char *const *values)
{
	struct hosts *h = ctx;
	struct host *host = NULL;
	if (values[0] == NULL || values[1] == NULL)
		return true;
	if (h->st->filter != ANY && has_rule(h, values[0]) != (h->st->filter == HAS_RULE))
		return true;
	HASH_FIND_STR(h->table, values[1], host);
	if (host == NULL) {
		host = ing_alloc(sizeof(*host));
		*host = (struct host){.name = ing_strdup(values[1]), .seen = HASH_COUNT(h->table)};
		HASH_ADD_KEYPTR(hh, h->table, host->name, strlen(host->name), host);
	}
	host->count++;
	return true;
}

static int most_first(const struct host *a, const struct host *b)
{
	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return a->seen < b->seen ? -1 : 1;
}

static void print_host(const struct stats *st, const struct host *host)
{
	if (st->json) {
		json_t *o = json_object();
		ing_json_set_count(o, "count", host->count);
		ing_json_set_text(o, "host", host->name);
		ing_ctl_json_print(o);
	} else if (st->html) {
		struct ing_buf out;
		ing_buf_init(&out, MAX_PAGE_BYTES);
		ing_html_add(&out, host->name);
		printf("<li value=\"%" PRIu64 "\">%s</li>\n", host->count, ing_buf_str(&out));
		ing_buf_done(&out);
	} else {
		printf("%s\t%" PRIu64 "\n", host->name, host->count);
	}
}

static void print_frame(bool begin)
{
	struct ing_buf out;
	ing_buf_init(&out, MAX_PAGE_BYTES);
	if (begin) {
		ing_html_page_begin(&out, "Top hosts");
		ing_buf_add_str(&out, "<ol>\n");
	} else {
		ing_buf_add_str(&out, "</ol>\n");
		ing_html_page_end(&out);
	}
	fputs(ing_buf_str(&out), stdout);
	ing_buf_done(&out);
}

static void print_hosts(struct hosts *h)
{
	struct host *host;
	struct host *next;
	uint64_t printed = 0;
	HASH_SORT(h->table, most_first);
	if (h->st->html)
		print_frame(true);
	HASH_ITER (hh, h->table, host, next) {
		if (h->st->top == 0 || printed++ < h->st->top)
			print_host(h->st, host);
		HASH_DEL(h->table, host);
		free(host->name);
		free(host);
	}
	if (h->st->html)
		print_frame(false);
}

/* Each visited site of a publication counts, and the last URL of a web page. */
static int count_hosts(struct hosts *h, struct ing_kept_select *s, const struct ing_ctl *ctl)
{
	if (h->st->table == ING_TABLE_WEBPAGE)
		return ing_kept_sum(s, ctl, "coalesce(final_url, start_url), host",
			"ORDER BY start_url", count_host, h);
	return ing_kept_sum(s, ctl, "site.value ->> 'url', record_host(site.value ->> 'url')",
		"CROSS JOIN LATERAL jsonb_array_elements(CASE jsonb_typeof(visited_sites)"
		" WHEN 'array' THEN visited_sites ELSE '[]' END) WITH ORDINALITY"
		" AS site (value, n) ORDER BY kept.id, site.n",
		count_host, h);
}

static int print_top_hosts(
	const struct stats *st, struct ing_kept_select *s, const struct ing_ctl *ctl)
{
	const struct ing_ctl_rule_options none = {0};
	struct ing_ctl_rules rules = {0};
	struct hosts h = {.st = st};
	int code = ING_CTL_OK;
	if (st->filter != ANY)
		code = ing_ctl_rules_load(ctl, &none, s->verb, &rules);
	if (code == ING_CTL_OK && st->filter != ANY && rules.rules == NULL)
		code = ing_ctl_fail(ING_CTL_USAGE, s->verb,
			"the rules have errors: ingestctl rules check tells which");
	h.rules = rules.rules;
	if (code == ING_CTL_OK)
		code = count_hosts(&h, s, ctl);
	print_hosts(&h);
	if (st->filter != ANY)
		ing_ctl_rules_done(&rules);
	return code;
}

/* --- the verb --- */

#define HOST_OPTIONS                                                                               \
	{"has-rule", NULL, "with --top-hosts: only of URLs that have a rule", .code = 'r'},        \
		{"no-rule", NULL, "with --top-hosts: only of URLs that have no rule",              \
			.code = 'R'},                                                              \
		{"top", "N", "with --top-hosts: the first N hosts", .code = 'n'},                  \
		{"json", NULL, "with --top-hosts: JSON objects, one a line", .code = 'j'},         \
		{"html", NULL, "with --top-hosts: a page", .code = 'x'},                           \
	{                                                                                          \
		0                                                                                  \
	}

static const struct ing_option publication_options[] = {
	{"count", NULL, "a JSON object: how many there are, and in which state", .code = 'c'},
	{"top-hosts", NULL, "hosts of visited sites and how often, most first", .code = 't'},
	HOST_OPTIONS,
};

static const struct ing_option webpage_options[] = {
	{"count", NULL, "how many there are, and in which state (default)", .code = 'c'},
	{"top-hosts", NULL, "hosts of last URLs and how often, most first", .code = 't'},
	HOST_OPTIONS,
};

static bool take_option(struct stats *st, struct ing_kept_select *s, int option)
{
	switch (option) {
	case 'c':
		st->what = COUNTS;
		return true;
	case 't':
		st->what = TOP_HOSTS;
		return true;
	case 'r':
		st->filter = HAS_RULE;
		return true;
	case 'R':
		st->filter = NO_RULE;
		return true;
	case 'j':
		st->json = true;
		return true;
	case 'x':
		st->html = true;
		return true;
	case 'n':
		if (ing_ctl_number(optarg, INT64_MAX, &st->top))
			return true;
		(void)ing_ctl_fail(ING_CTL_USAGE, s->verb, "--top must be a number from 1");
		return false;
	default:
		return ing_kept_select_option(s, option, optarg);
	}
}

static bool is_about_hosts(const struct stats *st)
{
	return st->filter != ANY || st->top > 0 || st->json || st->html;
}

static int print_stats(const struct stats *st, struct ing_kept_select *s, const struct ing_ctl *ctl)
{
	int code = st->what == TOP_HOSTS ? print_top_hosts(st, s, ctl)
		   : st->what == COUNTS  ? print_counts(st, s, ctl)
					 : print_parts(s, ctl);
	return ing_ctl_flush_stdout(s->verb) ? code : ING_CTL_ENVIRONMENT;
}

/* -------------------------------------------------------------------------------------------- */

const struct ing_usage ing_ctl_publication_stats_usage = {
	.name = "publication stats",
	.synopsis = "[--count | --top-hosts] [OPTION]...",
	.summary = "count publications that are kept",
	.text = "Prints how many parts have which type, as CSV (na: there is none), or what an option says.",
	.options = publication_options,
	.shared = ing_kept_publication_shared,
	.exits = {ING_EXIT_OK, NULL, ING_EXIT_USAGE, ING_EXIT_ENVIRONMENT},
};

const struct ing_usage ing_ctl_webpage_stats_usage = {
	.name = "webpage stats",
	.synopsis = "[--top-hosts] [OPTION]...",
	.summary = "count web pages that are kept",
	.text = "Prints a JSON object: how many there are, and in which state; or hosts.",
	.options = webpage_options,
	.shared = ing_kept_webpage_shared,
	.exits = {ING_EXIT_OK, NULL, ING_EXIT_USAGE, ING_EXIT_ENVIRONMENT},
};

int ing_ctl_kept_stats(enum ing_kept_table table, int argc, char **argv, const struct ing_ctl *ctl)
{
	const struct ing_usage *usage = table == ING_TABLE_WEBPAGE
						? &ing_ctl_webpage_stats_usage
						: &ing_ctl_publication_stats_usage;
	struct stats st = {.table = table, .what = table == ING_TABLE_WEBPAGE ? COUNTS : PARTS};
	struct ing_kept_select s;
	int c;
	int code = ING_CTL_OK;
	ing_kept_select_init(&s, table, usage->name);
	while (code == ING_CTL_OK && (c = ing_usage_next(usage, argc, argv)) != -1) {
		if (c == 'h') {
			ing_kept_select_done(&s);
			return ing_usage_code(c);
		}
		if (!take_option(&st, &s, c))
			code = ING_CTL_USAGE;
	}
	if (code == ING_CTL_OK && optind < argc)
		code = ing_ctl_fail(ING_CTL_USAGE, s.verb, "unexpected argument %s", argv[optind]);
	if (code == ING_CTL_OK && st.what != TOP_HOSTS && is_about_hosts(&st))
		code = ing_ctl_fail(ING_CTL_USAGE, s.verb,
			"--has-rule, --no-rule, --top, --json and --html go with --top-hosts");
	if (code == ING_CTL_OK)
		code = print_stats(&st, &s, ctl);
	ing_kept_select_done(&s);
	return code;
}
