/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl requests count: how many requests are selected, in all or by what they have in common.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>

#include "common/base/buf.h"
#include "worker/conf/conf.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/json_line.h"
#include "worker/ctl/requests/requests.h"
#include "worker/ctl/requests/selection_options.h"
#include "worker/ctl/usage.h"

#define VERB "requests count"
#define MAX_TOP 1000000000

struct counting {
	struct ing_selection_options options;
	const char *by; /* NULL: in all */
	uint64_t top;   /* 0: all */
	bool json;
	uint64_t printed;
};

static void print_object(const struct counting *c, const char *value, uint64_t requests)
{
	json_t *o = json_object();
	if (c->by != NULL)
		ing_json_set_text(o, c->by, value[0] != '\0' ? value : NULL);
	ing_json_set_number(o, "requests", (int64_t)requests);
	ing_ctl_json_print(o);
}

/* What controls a terminal becomes '?'. */
static void print_row(const char *value, uint64_t requests)
{
	printf("%12" PRIu64 "  ", requests);
	for (const char *c = value[0] != '\0' ? value : "-"; *c != '\0'; c++)
		putchar((unsigned char)*c < 0x20 || *c == 0x7f ? '?' : *c);
	putchar('\n');
}

static bool print_count(void *ctx, const char *value, uint64_t requests)
{
	struct counting *c = ctx;
	if (c->json)
		print_object(c, value, requests);
	else if (c->by != NULL)
		print_row(value, requests);
	else
		printf("%" PRIu64 "\n", requests);
	c->printed++;
	return (c->top == 0 || c->printed < c->top) && !ferror(stdout);
}

static int count(struct counting *c, const struct ing_conf *conf)
{
	struct ing_error err = {0};
	int rc = ing_selection_count(
		conf->postgres.dsn, &c->options.selection, c->by, print_count, c, &err);
	if (rc != 0)
		return ing_selection_fail(VERB, &err);
	if (c->by == NULL && c->printed == 0)
		print_count(c, "", 0);
	return ing_ctl_flush_stdout(VERB) ? ING_CTL_OK : ING_CTL_ENVIRONMENT;
}

static const struct ing_option options[] = {
	{"by", "NAME", "a line for each value, the most first", .code = 'b',
		.add_words = ing_selection_list_counted},
	{"top", "N", "of these lines the first N", .code = 't'},
	{"json", NULL, "print JSON lines", .code = 'j'},
	{0},
};

/* -1: go on; else the exit code. */
static int take_option(void *ctx, int option)
{
	struct counting *c = ctx;
	int code;
	if (ing_selection_take_option(&c->options, VERB, option, &code))
		return code;
	switch (option) {
	case 'b':
		c->by = optarg;
		return -1;
	case 't':
		if (ing_ctl_number(optarg, MAX_TOP, &c->top))
			return -1;
		return ing_ctl_fail(
			ING_CTL_USAGE, VERB, "--top: no number from 1 to %d: %s", MAX_TOP, optarg);
	case 'j':
		c->json = true;
		return -1;
	default:
		return ING_CTL_USAGE;
	}
}

static int run(struct counting *c, int argc, char **argv, const struct ing_ctl *ctl)
{
	struct ing_conf *conf;
	int code = ing_usage_take_all(&ing_ctl_requests_count_usage, argc, argv, take_option, c);
	if (code >= 0)
		return code;
	code = ing_ctl_conf_with_database(ctl, VERB, &conf);
	if (code != ING_CTL_OK)
		return code;
	code = count(c, conf);
	ing_conf_free(conf);
	return code;
}

/* -------------------------------------------------------------------------------------------- */

const struct ing_usage ing_ctl_requests_count_usage = {
	.name = "requests count",
	.synopsis = "[--by NAME [--top N]] [--json] [SELECTION]",
	.summary = "print how many requests are selected",
	.text = "Prints how many requests \"requests dump\" with the same options would print, in all or by "
		"what they have in common.",
	.details =
		"The rows themselves are counted, which on large tables takes as long as it takes to read "
		"them; \"stats\" answers from counts that are kept.",
	.options = options,
	.shared = ing_selection_shared,
	.exits = {ING_EXIT_OK, NULL, ING_EXIT_USAGE, "the database cannot be reached"},
};

int ing_ctl_requests_count(int argc, char **argv, const struct ing_ctl *ctl)
{
	struct counting c = {0};
	ing_selection_options_init(&c.options);
	int code = run(&c, argc, argv, ctl);
	ing_selection_options_done(&c.options);
	return code;
}
