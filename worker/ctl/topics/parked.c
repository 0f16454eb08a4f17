/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl parked: how many requests wait in the topics of parked requests, for which hosts, until
 * when.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "worker/conf/conf.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/usage.h"
#include "worker/ctl/json_line.h"
#include "worker/ctl/topics/parked_read.h"

#define VERB "parked"
#define BROKER_WAIT_S 15
#define SHOWN_HOSTS 50

struct options {
	struct ing_parked_query query;
	size_t limit;
	bool json;
};

/* --- printing --- */

/* RFC 3339, or nothing for a time that is not known. */
static void format_time(int64_t ms, char ret[ING_ISO8601_BYTES])
{
	ret[0] = '\0';
	if (ms > 0)
		ing_format_iso8601((struct timespec){.tv_sec = ms / 1000}, 0, ret);
}

static void set_time(json_t *o, const char *key, int64_t ms)
{
	char text[ING_ISO8601_BYTES];
	format_time(ms, text);
	ing_json_set_text(o, key, text[0] != '\0' ? text : NULL);
}

static void print_json(const struct ing_parked_host *h)
{
	json_t *line = json_object();
	json_t *due = json_object();
	ing_json_set_text(line, "host", h->host);
	ing_json_set_count(line, "requests", h->count);
	for (int i = 0; i < ING_PARKED_WHENS_; i++)
		ing_json_set_count(
			due, ing_parked_when_name((enum ing_parked_when)i), h->by_when[i]);
	ing_json_set(line, "due", due);
	set_time(line, "next", h->next_due_ms);
	set_time(line, "last", h->last_due_ms);
	ing_json_set_count(line, "tried", h->tried);
	set_time(line, "oldest", h->oldest_ms);
	ing_ctl_json_print(line);
}

static int longest_host(const struct ing_parked_hosts *hosts, size_t shown)
{
	size_t longest = strlen("host");
	for (size_t i = 0; i < shown; i++)
		longest = ING_MAX(longest, strlen(hosts->all[i].host));
	return (int)longest;
}

static void print_table(const struct ing_parked_hosts *hosts, size_t shown)
{
	int width = longest_host(hosts, shown);
	printf("%" PRIu64 " request%s parked, for %zu host%s\n", hosts->requests,
		hosts->requests == 1 ? " is" : "s are", hosts->count, ING_PLURAL_S(hosts->count));
	if (shown == 0)
		return;
	printf("%-*s %10s", width, "host", "requests");
	for (int i = 0; i < ING_PARKED_WHENS_; i++)
		printf(" %8s", ing_parked_when_name((enum ing_parked_when)i));
	printf("  next\n");
	for (size_t k = 0; k < shown; k++) {
		const struct ing_parked_host *h = &hosts->all[k];
		char next[ING_ISO8601_BYTES];
		format_time(h->next_due_ms, next);
		printf("%-*s %10" PRIu64, width, h->host, h->count);
		for (int i = 0; i < ING_PARKED_WHENS_; i++)
			printf(" %8" PRIu64, h->by_when[i]);
		printf("  %s\n", next);
	}
	if (shown < hosts->count)
		printf("and %zu more hosts\n", hosts->count - shown);
}

static int print_hosts(const struct options *o, const struct ing_parked_hosts *hosts)
{
	size_t shown = o->limit > 0 ? ING_MIN(o->limit, hosts->count) : hosts->count;
	if (o->json) {
		for (size_t i = 0; i < shown; i++)
			print_json(&hosts->all[i]);
	} else {
		print_table(hosts, shown);
	}
	if (!ing_ctl_flush_stdout(VERB))
		return ING_CTL_ENVIRONMENT;
	return o->query.host != NULL && hosts->count == 0 ? ING_CTL_NEGATIVE : ING_CTL_OK;
}

static int query(const struct options *o)
{
	struct ing_parked_hosts hosts = {0};
	struct ing_error err = {0};
	int code;
	if (ing_parked_read(&o->query, &hosts, &err) != 0)
		return ing_ctl_fail(
			ing_ctl_exit_of(&err), VERB, "%s: %s", o->query.brokers, err.msg);
	if (hosts.topics == 0)
		code = ing_ctl_fail(ING_CTL_ENVIRONMENT, VERB,
			"there are no topics for parked requests (kafka.topics.parked_*)");
	else
		code = print_hosts(o, &hosts);
	ing_parked_hosts_done(&hosts);
	return code;
}

/* --- options --- */

static const struct ing_option options[] = {
	{"host", "HOST", "this host only (as in \"ingestctl hosts top\")", .code = 'H'},
	{"limit", "N",
		"show the N hosts with most requests (" ING_USAGE_NUMBER(SHOWN_HOSTS) "); 0: all",
		.code = 'l'},
	{"brokers", "LIST", "instead of kafka.brokers", .code = 'b', .letter = 'b'},
	{"timeout", "S", "seconds to wait for the brokers (" ING_USAGE_NUMBER(BROKER_WAIT_S) ")",
		.code = 's'},
	{"json", NULL, "print JSON lines, a line for each host", .code = 'j'},
	{0},
};

/* Returns -1 when it is none from min to max. */
static long number_of(const char *text, long min, long max)
{
	char *end;
	errno = 0;
	long n = strtol(text, &end, 10);
	return *text < '0' || *text > '9' || *end != '\0' || errno != 0 || n < min || n > max ? -1
											      : n;
}

static int refuse(const char *option)
{
	return ing_ctl_fail(ING_CTL_USAGE, VERB, "%s: not a number: %s", option, optarg);
}

/* -1: go on; else the exit code. */
static int take_option(void *ctx, int c)
{
	struct options *o = ctx;
	long n;
	switch (c) {
	case 'H':
		o->query.host = optarg;
		return -1;
	case 'l':
		n = number_of(optarg, 0, INT32_MAX);
		o->limit = n > 0 ? (size_t)n : 0;
		return n >= 0 ? -1 : refuse("--limit");
	case 'b':
		o->query.brokers = optarg;
		return -1;
	case 's':
		n = number_of(optarg, 1, 86400);
		o->query.timeout_ms = (int)n * 1000;
		return n > 0 ? -1 : refuse("--timeout");
	case 'j':
		o->json = true;
		return -1;
	default:
		return ING_CTL_USAGE;
	}
}

/* -------------------------------------------------------------------------------------------- */

const struct ing_usage ing_ctl_parked_usage = {
	.name = "parked",
	.synopsis = "[--host HOST] [--limit N] [OPTION]...",
	.summary = "count parked requests by host and by when they are due",
	.text = "Counts the requests that wait in the topics kafka.topics.parked_*, by host and by the time "
		"within which they are due: what is there between the group's committed positions and the "
		"ends of the topics. Workers are not disturbed.",
	.details =
		"The times are now, within a minute, 10 minutes, an hour, 6 hours, a day, or later. With "
		"--json each line has also the number of requests that were tried before and the time at "
		"which the oldest was first read.",
	.options = options,
	.exits = {ING_EXIT_OK, "nothing is parked for this host", ING_EXIT_USAGE,
		"no broker answers, or there are no such topics"},
};

int ing_ctl_parked(int argc, char **argv, const struct ing_ctl *ctl)
{
	struct options o = {
		.query = {.verb = VERB, .timeout_ms = BROKER_WAIT_S * 1000}, .limit = SHOWN_HOSTS};
	int code = ing_usage_take_all(&ing_ctl_parked_usage, argc, argv, take_option, &o);
	if (code >= 0)
		return code;
	struct ing_conf *conf;
	code = ing_ctl_conf(ctl, &conf);
	if (code != ING_CTL_OK)
		return code;
	o.query.conf = conf;
	if (o.query.brokers == NULL)
		o.query.brokers = conf->kafka.brokers;
	code = query(&o);
	ing_conf_free(conf);
	return code;
}
