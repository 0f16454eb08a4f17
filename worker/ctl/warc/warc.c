/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl warc verify | index | cat: the command line.
 */
#include "worker/ctl/warc/warc.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/arena.h"
#include "common/net/url_match.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/usage.h"

#define VERB ING_CTL_WARC
#define ING_CTL_WARC_MAX_HOSTS 64

static const struct ing_option options[] = {
	{"cdxj", NULL, "lines of key, time and JSON", .code = 'j', .of = "index"},
	{"raw", NULL, "the whole record, with its header and that of HTTP", .code = 'r',
		.of = "cat"},
	{"host", "HOST", "of whose URLs, .HOST with those below it; may be repeated", .code = 'o',
		.of = "erase"},
	{"why", "TEXT", "stands in the blank records", .code = 'w', .of = "erase"},
	{"dry-run", NULL, "only count", .code = 'n', .of = "erase"},
	{0},
};

static const struct ing_usage verify_usage = {
	.name = "warc verify",
	.synopsis = "FILE...",
	.summary = "check that WARC files are whole and right",
	.text = "Reads .warc.gz files: every gzip member must be one record with the length and the SHA-1 "
		"digests that its header gives, and belong to the warcinfo record before it. Prints a line "
		"for each fault, with file and offset, and one for each file. A damaged gzip member ends the "
		"reading of its file.",
	.exits = {ING_EXIT_OK, "there is a fault", "usage", "a file cannot be read"},
	.operands = ING_WORDS_FILE,
	.parent = &ing_ctl_warc_usage,
};

static const struct ing_usage index_usage = {
	.name = "warc index",
	.synopsis = "[--cdxj] FILE...",
	.summary = "print a sorted index",
	.text = "Prints an index of all captures in these files, in byte order: CDX of eleven fields, or CDXJ.",
	.operands = ING_WORDS_FILE,
	.parent = &ing_ctl_warc_usage,
};

static const struct ing_usage cat_usage = {
	.name = "warc cat",
	.synopsis = "[--raw] FILE OFFSET",
	.summary = "write what is in one record",
	.text = "Writes the payload of the record at this offset: of an HTTP message its body, as it was sent.",
	.operands = ING_WORDS_FILE,
	.parent = &ing_ctl_warc_usage,
};

static const struct ing_usage erase_usage = {
	.name = "warc erase",
	.synopsis = "--host HOST... --why TEXT [--dry-run] FILE...",
	.summary = "overwrite all records of a host",
	.text = "Overwrites all records of URLs of a host, and of all hosts below it when it is written .HOST, "
		"with blank records of the same size, so that all others stay where indexes say they are. A "
		"file is copied, synced and replaced as a whole, or left as it is.",
	.exits = {ING_EXIT_OK, "a file is damaged or still written to, and left as it is", "usage",
		"a file cannot be read or written"},
	.operands = ING_WORDS_FILE,
	.parent = &ing_ctl_warc_usage,
};

static const struct ing_usage *const verbs_below[] = {
	&verify_usage, &index_usage, &cat_usage, &erase_usage, NULL};

static int run_cat(char **arguments, int count, bool raw)
{
	char *end;
	if (count != 2)
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "cat takes a file and an offset");
	errno = 0;
	unsigned long long offset = strtoull(arguments[1], &end, 10);
	if (errno != 0 || *end != '\0' || arguments[1][0] < '0' || arguments[1][0] > '9')
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "%s is no offset", arguments[1]);
	return ing_ctl_warc_cat(arguments[0], offset, raw);
}

struct given {
	bool cdxj, raw, dry_run;
	const char *why;
	struct ing_arena ar;
	struct ing_url_pattern hosts[ING_CTL_WARC_MAX_HOSTS];
	size_t host_count;
};

static int take_host(struct given *g, const char *host)
{
	struct ing_error err = {0};
	if (g->host_count == ING_CTL_WARC_MAX_HOSTS)
		return ing_ctl_fail(
			ING_CTL_USAGE, VERB, "at most %d hosts", ING_CTL_WARC_MAX_HOSTS);
	if (ing_url_pattern_set_host(&g->hosts[g->host_count], &g->ar, host, &err) != 0)
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "%s: %s", host, err.msg);
	g->host_count++;
	return ING_CTL_OK;
}

static int run_erase(const struct given *g, char **arguments, int count)
{
	if (g->host_count == 0 || g->why == NULL || count < 1)
		return ing_ctl_fail(
			ING_CTL_USAGE, VERB, "erase takes --host, --why and files; see --help");
	struct ing_ctl_warc_erase what = {.hosts = g->hosts,
		.host_count = g->host_count,
		.why = g->why,
		.dry_run = g->dry_run};
	return ing_ctl_warc_erase(&what, arguments, count);
}

static int run_subcommand(const struct given *g, char **arguments, int count)
{
	const char *what = count > 0 ? arguments[0] : "";
	if (strcmp(what, "cat") == 0)
		return run_cat(arguments + 1, count - 1, g->raw);
	if (strcmp(what, "erase") == 0)
		return run_erase(g, arguments + 1, count - 1);
	if (strcmp(what, "verify") != 0 && strcmp(what, "index") != 0)
		return ing_usage_refuse_below(&ing_ctl_warc_usage, count > 0 ? what : NULL);
	if (count < 2)
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "no file given; see --help");
	return what[0] == 'v' ? ing_ctl_warc_verify(arguments + 1, count - 1)
			      : ing_ctl_warc_index(arguments + 1, count - 1, g->cdxj);
}

/* -------------------------------------------------------------------------------------------- */

/* -1: go on; else the exit code. */
static int take_option(void *ctx, int c)
{
	struct given *g = ctx;
	switch (c) {
	case 'j':
		g->cdxj = true;
		return -1;
	case 'r':
		g->raw = true;
		return -1;
	case 'n':
		g->dry_run = true;
		return -1;
	case 'w':
		g->why = optarg;
		return -1;
	case 'o':
		return take_host(g, optarg) == ING_CTL_OK ? -1 : ING_CTL_USAGE;
	default:
		return ING_CTL_USAGE;
	}
}

const struct ing_usage ing_ctl_warc_usage = {
	.name = "warc",
	.summary = "verify or index WARC files, print one record, or erase those of a host",
	.text = "Reads .warc.gz files as the worker writes them.",
	.options = options,
	.exits = {ING_EXIT_OK, "there is no such record, or its digests are wrong", "usage",
		"a file cannot be read or written"},
	.below = verbs_below,
};

int ing_ctl_warc(int argc, char **argv, const struct ing_ctl *ctl)
{
	struct given g = {0};
	(void)ctl;
	ing_arena_init(&g.ar);
	optind = 1;
	int code = ing_usage_take(&ing_ctl_warc_usage, argc, argv, take_option, &g);
	if (code < 0)
		code = run_subcommand(&g, argv + optind, argc - optind);
	ing_arena_done(&g.ar);
	return ing_ctl_flush_stdout(VERB) ? code : ING_CTL_ENVIRONMENT;
}
