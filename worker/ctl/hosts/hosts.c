/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl hosts explain | top | block | unblock | blocks: why a host is fast, slow, waiting or
 * blocked; and the blocks that an operator lays on hosts for all workers.
 */
#include "worker/ctl/hosts/hosts.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/arena.h"
#include "common/base/buf.h"
#include "common/base/utf8.h"
#include "common/net/addr.h"
#include "common/net/url_match.h"
#include "worker/conf/conf.h"
#include "worker/ctl/fleet/fleet.h"
#include "worker/ctl/json_line.h"
#include "worker/ctl/usage.h"
#include "worker/gate/fleet/host_table.h"

#define VERB "hosts"
#define MAX_TOP 1000
#define HONOURED_WITHIN_S 20 /* workers look every 10 s (worker/gate/fleet/lease.h) */

struct options {
	bool json;
	unsigned count;
	const char *why;
	const char *dir; /* of a run; NULL: state.dir */
};

struct action {
	const char *name;
	bool takes_host, wants_database;
	int (*run)(const struct ing_conf *conf, const struct options *o, const char *arg);
};

/* As rules write it; unlike a name of its own, a URL's host may be an IPv6 address. */
static bool take_host(const char *url, char ret[ING_CTL_HOST_BYTES])
{
	char host[ING_URL_HOST_BYTES];
	if (!ing_url_host(url, host, sizeof(host)))
		return false;
	snprintf(ret, ING_CTL_HOST_BYTES, "%s", ing_url_bare_host(host));
	return true;
}

/* --- the table of blocks --- */

static int refuse_host(const char *verb, const char *text)
{
	return ing_ctl_fail(ING_CTL_USAGE, verb, "%s: not a host name or a URL with one", text);
}

/* A host as rules write it, or a URL, of which the host counts. */
static bool read_blocked(const char *arg, char ret[ING_CTL_HOST_BYTES])
{
	char of_url[ING_CTL_HOST_BYTES];
	if (strstr(arg, "://") == NULL)
		return ing_ctl_host_name(arg, true, ret);
	return ing_ctl_host_of(arg, of_url) && ing_ctl_host_name(of_url, false, ret);
}

static int block(const struct ing_conf *conf, const struct options *o, const char *arg)
{
	struct ing_error err = {0};
	char host[ING_CTL_HOST_BYTES];
	const char *by = ing_ctl_operator();
	if (!read_blocked(arg, host))
		return refuse_host(VERB " block", arg);
	if (o->why == NULL || o->why[0] == '\0')
		return ing_ctl_fail(ING_CTL_USAGE, VERB " block", "--why is required");
	if (ing_host_table_block(conf->postgres.dsn, host, o->why, by, &err) != 0)
		return ing_ctl_fail(ing_ctl_exit_of(&err), VERB " block", "%s", err.msg);
	if (o->json)
		ing_ctl_json_print(json_pack("{s:s,s:b,s:i}", "host", host, "blocked", 1,
			"honoured_within_s", HONOURED_WITHIN_S));
	else
		printf("%s is blocked: every worker with this database honours it within %d s\n",
			host, HONOURED_WITHIN_S);
	return ING_CTL_OK;
}

static int unblock(const struct ing_conf *conf, const struct options *o, const char *arg)
{
	struct ing_error err = {0};
	char host[ING_CTL_HOST_BYTES];
	bool was = false;
	if (!read_blocked(arg, host))
		return refuse_host(VERB " unblock", arg);
	if (ing_host_table_unblock(conf->postgres.dsn, host, &was, &err) != 0)
		return ing_ctl_fail(ing_ctl_exit_of(&err), VERB " unblock", "%s", err.msg);
	if (o->json)
		ing_ctl_json_print(
			json_pack("{s:s,s:b,s:b}", "host", host, "blocked", 0, "was", was));
	if (!was)
		return ing_ctl_fail(ING_CTL_NEGATIVE, VERB " unblock",
			"%s: was not blocked (ingestctl hosts blocks lists the blocks)", host);
	if (!o->json)
		printf("%s is no longer blocked: all workers of this database know it within %d s\n",
			host, HONOURED_WITHIN_S);
	return ING_CTL_OK;
}

static void print_block(void *ctx, const struct ing_host_block *b)
{
	const struct options *o = ctx;
	json_t *json = ing_ctl_host_block_json(b);
	if (o->json) {
		ing_ctl_json_print(json);
		return;
	}
	ing_ctl_print_block(json);
	json_decref(json);
}

static int blocks(const struct ing_conf *conf, const struct options *o, const char *arg)
{
	struct ing_error err = {0};
	struct options copy = *o;
	(void)arg;
	if (ing_host_table_blocks(conf->postgres.dsn, print_block, &copy, &err) != 0)
		return ing_ctl_fail(ing_ctl_exit_of(&err), VERB " blocks", "%s", err.msg);
	return ING_CTL_OK;
}

/* --- what is known --- */

static int explain(const struct ing_conf *conf, const struct options *o, const char *arg)
{
	char host[ING_CTL_HOST_BYTES];
	struct ing_ctl_known known;
	if (!ing_ctl_host_of(arg, host))
		return ing_ctl_fail(
			ING_CTL_USAGE, VERB " explain", "%s: not a host name or URL", arg);
	ing_ctl_known_host(conf, host, &known);
	if (o->json)
		ing_ctl_print_json(&known);
	else
		ing_ctl_print_explain(host, &known);
	int code = known.missing != NULL       ? ing_ctl_fail(ING_CTL_ENVIRONMENT, VERB " explain",
							 "no source available: %s", known.missing)
		   : ing_ctl_known_any(&known) ? ING_CTL_OK
					       : ING_CTL_NEGATIVE;
	ing_ctl_known_done(&known);
	return code;
}

static int top(const struct ing_conf *conf, const struct options *o, const char *arg)
{
	struct ing_ctl_known known;
	(void)arg;
	ing_ctl_known_top(conf, o->count, &known);
	int code = ING_CTL_OK;
	if (known.missing != NULL)
		code = ing_ctl_fail(
			ING_CTL_ENVIRONMENT, VERB " top", "no source available: %s", known.missing);
	else if (o->json)
		ing_ctl_print_json(&known);
	else
		ing_ctl_print_top(&known);
	ing_ctl_known_done(&known);
	return code;
}

/* --- the command line --- */

static const struct ing_option options[] = {
	{"json", NULL, "print JSON lines", .code = 'j'},
	{"count", "N", "number of hosts of each list (10)", .code = 'c', .of = "top"},
	{"dir", "DIR", "query the ingestctl run with this --out DIR", .code = 'd',
		.of = "explain top", .words = ING_WORDS_DIR},
	{"why", "TEXT", "the reason, shown by explain and blocks", .code = 'w', .of = "block"},
	{0},
};

static const struct ing_usage explain_usage = {
	.name = "hosts explain",
	.synopsis = "[--json] [--dir DIR] HOST|URL",
	.summary = "explain why a host is fast, slow, waiting or blocked",
	.text = "Explains why a host is fast, slow, waiting or blocked: the reason in the first line, "
		"then its queue, pause, last response, circuit breaker, robots.txt, address, lease and "
		"rules. All workers on this machine are queried over their control sockets, and the database, "
		"if configured, for the state shared by all workers. With --dir, only that run is "
		"queried.",
	.parent = &ing_ctl_hosts_usage,
};

static const struct ing_usage top_usage = {
	.name = "hosts top",
	.synopsis = "[--json] [--dir DIR] [--count N]",
	.summary = "list the hosts with the most waiting requests, and those held longest",
	.text = "Lists the hosts with the most waiting requests, those held longest, and those that need "
		"attention according to the database.",
	.parent = &ing_ctl_hosts_usage,
};

static const struct ing_usage block_usage = {
	.name = "hosts block",
	.synopsis = "[--json] HOST|URL --why TEXT",
	.summary = "block a host for all workers of this database",
	.text = "Blocks a host for all workers of this database. .HOST includes its subdomains; of a "
		"URL, the host is used.",
	.parent = &ing_ctl_hosts_usage,
	.examples =
		"Block a host for all workers:\n\n"
		"  ingestctl --config ingest-worker.yaml hosts block example.org --why \"mail of 21 November\"",
};

static const struct ing_usage unblock_usage = {
	.name = "hosts unblock",
	.synopsis = "[--json] HOST|URL",
	.summary = "remove a block",
	.text = "Removes a block. The exit status is 1 if there was none.",
	.parent = &ing_ctl_hosts_usage,
};

static const struct ing_usage blocks_usage = {
	.name = "hosts blocks",
	.synopsis = "[--json]",
	.summary = "list the blocks",
	.text = "Lists the blocks: host, why, by whom and since when.",
	.parent = &ing_ctl_hosts_usage,
};

static const struct ing_usage *const verbs_below[] = {
	&explain_usage, &top_usage, &block_usage, &unblock_usage, &blocks_usage, NULL};

static bool read_count(const char *text, unsigned *ret)
{
	char *end;
	errno = 0;
	long n = strtol(text, &end, 10);
	if (errno != 0 || end == text || *end != '\0' || n < 1 || n > MAX_TOP)
		return false;
	*ret = (unsigned)n;
	return true;
}

/* -1: go on. */
static int read_options(int argc, char **argv, struct options *o)
{
	optind = 1;
	for (;;) {
		int c = ing_usage_next(&ing_ctl_hosts_usage, argc, argv);
		switch (c) {
		case -1:
			return -1;
		case 'j':
			o->json = true;
			break;
		case 'c':
			if (!read_count(optarg, &o->count))
				return ing_ctl_fail(ING_CTL_USAGE, VERB,
					"--count must be a number from 1 to %d", MAX_TOP);
			break;
		case 'w':
			o->why = optarg;
			break;
		case 'd':
			o->dir = optarg;
			break;
		default:
			return ing_usage_code(c);
		}
	}
}

/* A run stands alone: its folder is asked, and no database. */
static int load_conf_of_run(const struct ing_ctl *ctl, const char *dir, struct ing_conf **ret)
{
	char no_database[] = "postgres.dsn=";
	if (!ing_utf8_valid(dir, strlen(dir)))
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "--dir: the name is not valid UTF-8");
	char *first[] = {ing_ctl_quoted_set("state.dir", dir), no_database, NULL};
	int code = ing_ctl_conf_over(ctl, first, ret);
	free(first[0]);
	return code;
}

static int run_action(
	const struct action *a, const struct ing_ctl *ctl, const struct options *o, const char *arg)
{
	struct ing_conf *conf = NULL;
	if (o->dir != NULL && a->wants_database)
		return ing_ctl_fail(
			ING_CTL_USAGE, VERB, "--dir is for explain and top, not for %s", a->name);
	int code = o->dir != NULL ? load_conf_of_run(ctl, o->dir, &conf) : ing_ctl_conf(ctl, &conf);
	if (code != ING_CTL_OK)
		return code;
	if (a->wants_database && conf->postgres.dsn[0] == '\0')
		code = ing_ctl_fail(ING_CTL_USAGE, VERB, "%s needs postgres.dsn", a->name);
	else
		code = a->run(conf, o, arg);
	ing_conf_free(conf);
	return ing_ctl_flush_stdout(VERB) ? code : ING_CTL_ENVIRONMENT;
}

/* -------------------------------------------------------------------------------------------- */

bool ing_ctl_host_name(const char *text, bool below, char ret[ING_CTL_HOST_BYTES])
{
	struct ing_arena arena = {0};
	struct ing_url_pattern p = {0};
	bool good =
		(below || text[0] != '.') && ing_url_pattern_set_host(&p, &arena, text, NULL) == 0;
	if (good)
		snprintf(ret, ING_CTL_HOST_BYTES, "%s%s", p.below ? "." : "", p.host);
	ing_arena_done(&arena);
	return good;
}

bool ing_ctl_host_of(const char *text, char ret[ING_CTL_HOST_BYTES])
{
	char url[sizeof("http://[]/") + ING_ADDR_TEXT_BYTES];
	if (strstr(text, "://") != NULL)
		return ing_url_is_web(text) && take_host(text, ret);
	if (text[0] == '[') { /* an IPv6 address, as in a URL */
		int n = snprintf(url, sizeof(url), "http://%s/", text);
		return (size_t)n < sizeof(url) && take_host(url, ret);
	}
	return ing_ctl_host_name(text, false, ret);
}

const struct ing_usage ing_ctl_hosts_usage = {
	.name = "hosts",
	.summary = "explain why a host is fast, slow, waiting or blocked; block it",
	.text = "explain and top query the workers on this machine, by their sockets in state.dir or "
		"folders directly below it, and the database (postgres.dsn); or, with --dir, an "
		"ingestctl run. The others need the database.",
	.options = options,
	.exits = {ING_EXIT_OK, "the host is unknown, or was not blocked", ING_EXIT_USAGE,
		"neither a worker nor a database answers"},
	.below = verbs_below,
};

int ing_ctl_hosts(int argc, char **argv, const struct ing_ctl *ctl)
{
	static const struct action actions[] = {
		{"explain", true, false, explain},
		{"top", false, false, top},
		{"block", true, true, block},
		{"unblock", true, true, unblock},
		{"blocks", false, true, blocks},
	};
	struct options o = {.count = 10};
	int code = read_options(argc, argv, &o);
	if (code >= 0)
		return code;
	for (size_t i = 0; optind < argc && i < ING_ARRAY_LEN(actions); i++) {
		if (strcmp(argv[optind], actions[i].name) != 0)
			continue;
		if (argc - optind - 1 != (actions[i].takes_host ? 1 : 0))
			return ing_ctl_fail(ING_CTL_USAGE, VERB, "%s takes %s", actions[i].name,
				actions[i].takes_host ? "one host" : "no host");
		return run_action(&actions[i], ctl, &o, argv[argc - 1]);
	}
	return ing_usage_refuse_below(&ing_ctl_hosts_usage, optind < argc ? argv[optind] : NULL);
}
