/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl explain request ID: the life of one request, from the tables, the topics, the workers of this
 * machine and the WARC files. A source that cannot be asked is named, and the others answer.
 */
#include "worker/ctl/explain/explain.h"

#include <ctype.h>
#include <getopt.h>
#include <string.h>

#include "common/base/clock.h"
#include "worker/conf/conf.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/json_line.h"
#include "worker/ctl/usage.h"

#define VERB ING_EXPLAIN_VERB
#define DEFAULT_WAIT_S 15
#define MAX_WAIT_S 86400
#define MAX_DIRS 32

struct options {
	bool json, all, no_topics;
	uint64_t wait_s;
	const char *brokers;
	char *dirs[MAX_DIRS + 1];
	size_t dir_count;
};

static const struct ing_option options[] = {
	{"json", NULL, "print all that is known as one line of JSON", .code = 'j'},
	{"all", NULL,
		"read the topic of results from its beginning, and look into the other topics also "
		"when there is a result",
		.code = 'a'},
	{"wait", "S",
		"look into the topics for at most S seconds (" ING_USAGE_NUMBER(DEFAULT_WAIT_S) ")",
		.code = 'w'},
	{"no-topics", NULL, "do not look into the topics", .code = 'n'},
	{"brokers", "LIST", "instead of kafka.brokers", .code = 'b'},
	{"warc-dir", "DIR", "look for WARC files here, too; may be repeated", .code = 'd',
		.words = ING_WORDS_DIR},
	{0},
};

const struct ing_usage ing_ctl_explain_usage = {
	.name = "explain",
	.synopsis = "[OPTION]... request ID",
	.summary = "the life of a request: when it came, what it waited for, where its bytes are",
	.text = "Tells what became of the request with this ID, which is the key of its result (40\n"
		"hexadecimal digits; \"job\" in the log): the list and plan that brought it, when it was\n"
		"read and by whom, each URL with what it waited for, its status and attempts, the WARC\n"
		"records and objects of its bytes, and what to do next.\n"
		"\n"
		"It asks the database (postgres.dsn), the topics of results, parked requests, requests and\n"
		"dead letters, the workers on this machine by their sockets, and reads the WARC records that\n"
		"are on this machine (warc.dir, and folders of the service's instances).\n"
		"\n"
		"Requests in topics are found by reading them: those that were not read yet, from the\n"
		"group's committed position on. A long topic may take longer than --wait.",
	.options = options,
	.exits = {ING_EXIT_OK, "nobody knows it", ING_EXIT_USAGE, "no source could be asked"},
	.examples = "  ingestctl explain request 3f2a...\twhat became of it\n"
		    "  ingestctl explain --json request 3f2a... | jq .next\twhat to do",
	.operands = "request",
};

static int take_option(void *ctx, int c)
{
	struct options *o = ctx;
	switch (c) {
	case 'j':
		o->json = true;
		return -1;
	case 'a':
		o->all = true;
		return -1;
	case 'n':
		o->no_topics = true;
		return -1;
	case 'b':
		o->brokers = optarg;
		return -1;
	case 'w':
		return ing_ctl_number(optarg, MAX_WAIT_S, &o->wait_s)
			       ? -1
			       : ing_ctl_fail(ING_CTL_USAGE, VERB,
					 "--wait must be a number from 1 to %d", MAX_WAIT_S);
	default:
		if (o->dir_count == MAX_DIRS)
			return ing_ctl_fail(
				ING_CTL_USAGE, VERB, "--warc-dir: no more than %d times", MAX_DIRS);
		o->dirs[o->dir_count++] = optarg;
		return -1;
	}
}

/* 40 digits; or 32, which is what the tables have (request_id), perhaps as a UUID. */
static bool read_id(const char *text, char ret[ING_EXPLAIN_ID_CHARS + 1])
{
	size_t n = 0;
	for (; *text != '\0'; text++) {
		if (*text == '-')
			continue;
		if (!isxdigit((unsigned char)*text) || n == ING_EXPLAIN_ID_CHARS)
			return false;
		ret[n++] = (char)tolower((unsigned char)*text);
	}
	ret[n] = '\0';
	return n == ING_EXPLAIN_ID_CHARS || n == 32;
}

static void look(struct ing_explain *e, const struct options *o)
{
	json_decref(e->life);
	e->life = json_object();
	e->without_database = e->without_brokers = false;
	e->deadline_ms = ing_now_ms() + o->wait_s * 1000;
	ing_json_set_text(e->life, "id", e->id);
	ing_json_set(e->life, "missing", json_array());
	ing_explain_tables(e, ING_EXPLAIN_FIRST);
	if (!o->no_topics)
		ing_explain_topics(e);
	ing_explain_tables(e, ING_EXPLAIN_AFTER_TOPICS);
	ing_explain_workers(e);
}

static int explain(const struct ing_conf *conf, struct options *o, struct ing_explain *e)
{
	e->conf = conf;
	e->brokers = o->brokers != NULL ? o->brokers : conf->kafka.brokers;
	e->warc_dirs = o->dirs;
	e->all = o->all;
	look(e, o);
	/* One that went from a topic to a worker, or from one topic to another, between the looks at them was seen in neither. */
	if (!e->found && e->answered)
		look(e, o);
	ing_explain_bytes(e);
	ing_json_set(e->life, "next", ing_explain_next(e->id, e->life));
	if (o->json)
		ing_ctl_json_print(json_incref(e->life));
	else
		ing_explain_print(e->id, e->life);
	if (!e->answered)
		return ING_CTL_ENVIRONMENT;
	return e->found ? ING_CTL_OK : ING_CTL_NEGATIVE;
}

/* -------------------------------------------------------------------------------------------- */

void ing_explain_miss(struct ing_explain *e, const char *source, const char *why)
{
	json_t *o = json_object();
	ing_json_set_text(o, "source", source);
	ing_json_set_text(o, "why", why);
	ing_json_append(json_object_get(e->life, "missing"), o);
}

json_t *ing_explain_get(const struct ing_explain *e, const char *name)
{
	json_t *value = json_object_get(e->life, name);
	return json_is_null(value) ? NULL : value;
}

int ing_ctl_explain(int argc, char **argv, const struct ing_ctl *ctl)
{
	struct options o = {.wait_s = DEFAULT_WAIT_S};
	struct ing_explain e = {0};
	struct ing_conf *conf = NULL;
	int code = ing_usage_take(&ing_ctl_explain_usage, argc, argv, take_option, &o);
	if (code >= 0)
		return code;
	if (argc - optind != 2 || strcmp(argv[optind], "request") != 0)
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "expected: request ID");
	if (!read_id(argv[optind + 1], e.id))
		return ing_ctl_fail(ING_CTL_USAGE, VERB,
			"%s: not the ID of a request (40 hexadecimal digits)", argv[optind + 1]);
	code = ing_ctl_conf(ctl, &conf);
	if (code != ING_CTL_OK)
		return code;
	code = explain(conf, &o, &e);
	json_decref(e.life);
	ing_conf_free(conf);
	return ing_ctl_flush_stdout(VERB) ? code : ING_CTL_ENVIRONMENT;
}
