/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl fleet: the workers of a database, and the orders in force.
 */
#include "worker/ctl/fleet/fleet.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "worker/conf/conf.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/hosts/words.h"
#include "worker/ctl/json_line.h"
#include "worker/ctl/usage.h"
#include "worker/database/schema.h"

#define VERB "fleet"
#define LINE_BYTES ((size_t)16 << 10)
#define MOST_ORDERS 30 /* of a list for people */
#define MOST_KINDS 64  /* versions, digests of rules */

/* How many workers that are alive have the same of something. */
struct tally {
	struct {
		char text[64];
		unsigned count;
	} kinds[MOST_KINDS];
	unsigned have;
};

struct listing {
	bool json;
	unsigned workers, silent, alive;
	uint64_t partitions, lag, jobs;
	double rate;
	struct tally versions, rules;
	unsigned orders;
};

/* --- workers --- */

static void count_kind(struct tally *t, const char *text)
{
	unsigned i = 0;
	text = text != NULL ? text : "none";
	while (i < t->have && strcmp(t->kinds[i].text, text) != 0)
		i++;
	if (i == MOST_KINDS)
		return;
	if (i == t->have)
		snprintf(t->kinds[t->have++].text, sizeof(t->kinds[i].text), "%s", text);
	t->kinds[i].count++;
}

static bool is_gone(const struct ing_worker_row *row)
{
	return strcmp(row->state, "stopped") == 0;
}

static bool is_silent(const struct ing_worker_row *row)
{
	return !is_gone(row) && row->age_ms > ING_WORKER_SILENT_MS;
}

static void count_worker(struct listing *l, const struct ing_worker_row *row)
{
	l->workers++;
	l->silent += is_silent(row);
	if (is_gone(row) || is_silent(row))
		return;
	l->alive++;
	l->partitions += row->partitions;
	l->lag += (uint64_t)ING_MAX(row->lag, (int64_t)0);
	l->jobs += row->jobs;
	l->rate += row->rate;
	count_kind(&l->versions, row->version);
	count_kind(&l->rules, row->rules);
}

static void add_column(struct ing_buf *out, const char *text, size_t width)
{
	size_t start = out->len;
	ing_words_add_shown(out, text);
	while (out->len - start < width)
		ing_buf_add_str(out, " ");
	ing_buf_add_str(out, " ");
}

static void add_age(struct ing_buf *out, int64_t ms, size_t width)
{
	struct ing_buf words;
	ing_buf_init(&words, ING_WORDS_BYTES);
	ing_words_add_time(&words, ms);
	add_column(out, ing_buf_str(&words), width);
	ing_buf_done(&words);
}

static void add_number(struct ing_buf *out, int64_t n, int width)
{
	if (n < 0)
		ing_buf_printf(out, "%*s ", width, "-");
	else
		ing_buf_printf(out, "%*" PRId64 " ", width, n);
}

static void print_heading(void)
{
	printf("%-20s %-9s %-12s %-9s %-17s %5s %9s %7s %8s %9s %s\n", "INSTANCE", "STATE",
		"LAST SEEN", "VERSION", "RULES", "PARTS", "LAG", "JOBS", "RATE/s", "RESULTS",
		"HELD BY");
}

static void print_worker(const struct ing_worker_row *row)
{
	struct ing_buf line;
	ing_buf_init(&line, LINE_BYTES);
	add_column(&line, row->instance, 20);
	add_column(&line, ing_worker_condition(row), 9);
	add_age(&line, row->age_ms, 12);
	add_column(&line, row->version, 9);
	add_column(&line, row->rules != NULL ? row->rules : "-", 17);
	add_number(&line, row->partitions, 5);
	add_number(&line, row->lag, 9);
	add_number(&line, (int64_t)row->jobs, 7);
	ing_buf_printf(&line, "%8.1f ", row->rate);
	add_number(&line, (int64_t)row->results, 9);
	ing_words_add_shown(&line, row->held_by != NULL ? row->held_by : "-");
	puts(ing_buf_str(&line));
	ing_buf_done(&line);
}

static void take_worker(void *ctx, const struct ing_worker_row *row)
{
	struct listing *l = ctx;
	if (l->workers == 0 && !l->json)
		print_heading();
	count_worker(l, row);
	if (l->json)
		ing_ctl_json_print(ing_ctl_worker_json(row));
	else
		print_worker(row);
}

/* --- orders --- */

static void take_order(void *ctx, const struct ing_order *order)
{
	struct listing *l = ctx;
	struct ing_buf line;
	l->orders++;
	if (l->json) {
		ing_ctl_json_print(ing_ctl_order_json(order));
		return;
	}
	if (l->orders == 1)
		puts("\norders in force:");
	if (l->orders > MOST_ORDERS)
		return;
	ing_buf_init(&line, LINE_BYTES);
	ing_ctl_add_order(order, &line);
	printf("  %s\n", ing_buf_str(&line));
	ing_buf_done(&line);
}

/* --- all of it --- */

/* Workers of one fleet should not differ for long. */
static void print_kinds(const struct tally *t, const char *what)
{
	if (t->have < 2)
		return;
	printf("workers differ in %s:", what);
	for (unsigned i = 0; i < t->have; i++) {
		char *text = ing_ctl_shown(t->kinds[i].text);
		printf("%s %s (%u)", i > 0 ? "," : "", text, t->kinds[i].count);
		free(text);
	}
	putchar('\n');
}

static void print_sum(const struct listing *l)
{
	printf("%u worker%s alive, %u silent or dead; %" PRIu64 " partitions, lag %" PRIu64
	       ", %" PRIu64 " requests under way, %.1f results/s\n",
		l->alive, ING_PLURAL_S(l->alive), l->silent, l->partitions, l->lag, l->jobs,
		l->rate);
	print_kinds(&l->versions, "version");
	print_kinds(&l->rules, "rules");
}

static int list(const struct ing_conf *conf, struct listing *l)
{
	struct ing_error err = {0};
	struct ing_pg *pg = NULL;
	int rc = ing_schema_open(conf->postgres.dsn, &pg, &err);
	if (rc == 0)
		rc = ing_fleet_table_workers(pg, NULL, take_worker, l, &err);
	if (rc == 0 && l->workers > 0 && !l->json)
		print_sum(l);
	if (rc == 0)
		rc = ing_fleet_table_orders(pg, take_order, l, &err);
	ing_pg_close(pg);
	if (rc != 0)
		return ing_ctl_fail(ing_ctl_exit_of(&err), VERB, "%s", err.msg);
	if (l->orders > MOST_ORDERS && !l->json)
		printf("  and %u more (--json lists them)\n", l->orders - MOST_ORDERS);
	if (l->workers == 0)
		return ing_ctl_fail(ING_CTL_NEGATIVE, VERB,
			"no worker has written to this database within the last days");
	return l->silent > 0 ? ING_CTL_NEGATIVE : ING_CTL_OK;
}

static const struct ing_option options[] = {
	{"json", NULL, "print JSON lines: workers, then orders", .code = 'j'},
	{0},
};

/* -------------------------------------------------------------------------------------------- */

const struct ing_usage ing_ctl_fleet_usage = {
	.name = VERB,
	.synopsis = "[--json]",
	.summary = "list the workers of this database, and the orders in force",
	.text = "Lists the workers of this database (postgres.dsn): whether they are alive, their version and the "
		"digest of their rules, partitions and lag, requests under way, results per second and since "
		"the start, and what holds them. Each writes its row every 5 seconds; one that has not for 30 "
		"seconds is silent, for 5 minutes dead, unless it has stopped. Then it lists the orders in "
		"force (pause, drain).",
	.options = options,
	.exits = {"all workers are well, or have stopped",
		"a worker is silent or dead, or there is none", ING_EXIT_USAGE,
		ING_EXIT_ENVIRONMENT},
	.examples = "The lag of all workers together:\n\n"
		    "  ingestctl fleet --json | jq -s 'map(.lag // 0) | add'",
};

int ing_ctl_fleet(int argc, char **argv, const struct ing_ctl *ctl)
{
	struct ing_conf *conf = NULL;
	struct listing l = {0};
	optind = 1;
	for (int c; (c = ing_usage_next(&ing_ctl_fleet_usage, argc, argv)) != -1;) {
		if (c != 'j')
			return ing_usage_code(c);
		l.json = true;
	}
	if (optind != argc)
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "unexpected operand: %s", argv[optind]);
	int code = ing_ctl_conf_with_database(ctl, VERB, &conf);
	if (code != ING_CTL_OK)
		return code;
	code = list(conf, &l);
	ing_conf_free(conf);
	return ing_ctl_flush_stdout(VERB) ? code : ING_CTL_ENVIRONMENT;
}
