/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl requests enqueue: stored requests onto a lane, each once, by a plan that has the list's name or one of its own.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "worker/conf/conf.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/enqueue/enqueue.h"
#include "worker/ctl/topics/kafka.h"
#include "worker/ctl/requests/requests.h"
#include "worker/ctl/requests/selection_options.h"
#include "worker/ctl/usage.h"
#include "worker/store/requests/plan_batches.h"

#define VERB "requests enqueue"
#define MAX_ASKED_BYTES ((size_t)1 << 20)

struct options {
	struct ing_selection_options selection;
	struct ing_buf
		asked; /* the options that say what is selected and how it is sent, in words */
	const char *name, *lane, *topic, *brokers;
	uint64_t max_lag;
	bool planned, force_recrawl, dry_run, abandon, take_over, quiet;
};

static const struct ing_option own[] = {
	{"lane", "LANE", "priority, requests (the default), daily or bulk", .code = 'l',
		.words = ING_WORDS_LANES},
	{"topic", "TOPIC", "instead of a lane's", .code = 't'},
	{"name", "NAME",
		"of the plan; without it that of the only --list. The Kafka group ingestctl-enqueue-NAME has "
		"its position. Of two commands that send for one plan the earlier ends",
		.code = 'N'},
	{"max-lag", "N",
		"wait while the workers' group (kafka.group) has more than N messages of the topic before "
		"it, those that are being sent included",
		.code = 'm'},
	{"planned", NULL, "select nothing: send what is planned", .code = 'p'},
	{"force-recrawl", NULL, "have the requests fetched whatever the tables have", .code = 'f'},
	{"dry-run", NULL, "print how many requests would be planned", .code = 'n'},
	{"abandon", NULL, "drop what is planned and not sent; its documents are not queued then",
		.code = 'A'},
	{"take-over", NULL,
		"begin with what this database has not sent, although the position that Kafka has for the "
		"plan is of another database, or lost",
		.code = 'T'},
	{"brokers", "LIST", "instead of kafka.brokers", .code = 'b', .letter = 'b'},
	{"quiet", NULL, "no progress", .code = 'q'},
	{0},
};

/* As they were written: what is meant by 7d must not change with the time of day. */
static void note_asked(struct options *o, int c)
{
	const struct ing_option *row;
	for (size_t i = 0;
		(row = ing_usage_option(&ing_ctl_requests_enqueue_usage, i, NULL)) != NULL; i++) {
		if (row->code == c && row->value == NULL)
			ing_buf_printf(&o->asked, "--%s ", row->name);
		else if (row->code == c)
			ing_buf_printf(&o->asked, "--%s=%s ", row->name, optarg);
	}
}

/* -1: go on; else the exit code. */
static int take_own(struct options *o, int c)
{
	switch (c) {
	case 'N':
		o->name = optarg;
		break;
	case 'l':
		o->lane = optarg;
		break;
	case 't':
		o->topic = optarg;
		break;
	case 'm':
		if (!ing_ctl_number(optarg, UINT64_MAX, &o->max_lag))
			return ing_ctl_fail(ING_CTL_USAGE, VERB,
				"--max-lag: not a positive number: %s", optarg);
		break;
	case 'p':
		o->planned = true;
		break;
	case 'f':
		o->force_recrawl = true;
		break;
	case 'n':
		o->dry_run = true;
		break;
	case 'A':
		o->abandon = true;
		break;
	case 'T':
		o->take_over = true;
		break;
	case 'b':
		o->brokers = optarg;
		break;
	case 'q':
		o->quiet = true;
		break;
	default:
		return ING_CTL_USAGE;
	}
	return -1;
}

static int take_option(void *ctx, int c)
{
	struct options *o = ctx;
	int code;
	bool selects = ing_selection_take_option(&o->selection, VERB, c, &code);
	if (selects || c == 'l' || c == 't' || c == 'f')
		note_asked(o, c);
	return selects ? code : take_own(o, c);
}

static int check_options(struct options *o)
{
	const struct ing_words *lists = &o->selection.selection.lists;
	if (o->topic != NULL && o->lane != NULL)
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "--topic and --lane exclude each other");
	if (o->dry_run + o->abandon + o->planned > 1)
		return ing_ctl_fail(ING_CTL_USAGE, VERB,
			"--dry-run, --abandon and --planned exclude each other");
	if (o->name == NULL && lists->count == 1)
		o->name = lists->words[0];
	if (o->name == NULL)
		return ing_ctl_fail(ING_CTL_USAGE, VERB,
			"give the plan a --name, as the selection is not one --list");
	if (strlen(o->name) >= ING_PLAN_NAME_BYTES || o->name[0] == '\0')
		return ing_ctl_fail(
			ING_CTL_USAGE, VERB, "--name: 1 to %d bytes", ING_PLAN_NAME_BYTES - 1);
	if (o->asked.failed)
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "the selection is too long");
	return ING_CTL_OK;
}

static int enqueue(struct options *o, const struct ing_conf *conf)
{
	struct ing_selection *s = &o->selection.selection;
	s->not_queued = (s->classes & ING_CLASS_QUEUED) == 0;
	char *topic =
		o->topic != NULL ? ing_strdup(o->topic) : ing_ctl_lane_topic(VERB, o->lane, conf);
	if (topic == NULL)
		return ING_CTL_USAGE;
	const struct ing_enqueue e = {.verb = VERB,
		.brokers = o->brokers != NULL ? o->brokers : conf->kafka.brokers,
		.conf = conf,
		.name = o->name,
		.topic = topic,
		.selection = o->planned ? NULL : s,
		.asked = ing_buf_str(&o->asked),
		.max_lag = o->max_lag,
		.force_recrawl = o->force_recrawl,
		.dry_run = o->dry_run,
		.take_over = o->take_over,
		.quiet = o->quiet};
	int code = o->abandon ? ing_enqueue_drop(&e) : ing_enqueue_run(&e);
	free(topic);
	return code;
}

static int run(struct options *o, int argc, char **argv, const struct ing_ctl *ctl)
{
	struct ing_conf *conf;
	int code = ing_usage_take_all(&ing_ctl_requests_enqueue_usage, argc, argv, take_option, o);
	if (code >= 0)
		return code;
	code = check_options(o);
	if (code == ING_CTL_OK)
		code = ing_ctl_conf_with_database(ctl, VERB, &conf);
	if (code != ING_CTL_OK)
		return code;
	code = enqueue(o, conf);
	ing_conf_free(conf);
	return code;
}

/* -------------------------------------------------------------------------------------------- */

const struct ing_usage ing_ctl_requests_enqueue_usage = {
	.name = "requests enqueue",
	.synopsis = "[--lane LANE] [--name NAME] [--max-lag N] [OPTION]... [SELECTION]",
	.summary = "put requests onto the topic of a lane, each once",
	.text = "Puts stored requests onto the topic of a lane, each document once and each host spread evenly "
		"over the whole. They are planned in the database first, all or none, and then sent in Kafka "
		"transactions: whatever breaks, a command that is repeated ends with the messages of one that "
		"was not broken off. What an earlier run has planned is sent first; if that was for the same "
		"selection, nothing more is planned. Documents that are queued (by any plan, and not answered "
		"since) are left out, unless --class names them.",
	.options = own,
	.shared = ing_selection_shared,
	.exits = {ING_EXIT_OK,
		"another command goes on with the plan, or its position is not what it should be",
		ING_EXIT_USAGE, "a server cannot be reached", ING_EXIT_INTERRUPTED},
};

int ing_ctl_requests_enqueue(int argc, char **argv, const struct ing_ctl *ctl)
{
	struct options o = {0};
	ing_selection_options_init(&o.selection);
	ing_buf_init(&o.asked, MAX_ASKED_BYTES);
	int code = run(&o, argc, argv, ctl);
	ing_buf_done(&o.asked);
	ing_selection_options_done(&o.selection);
	return code;
}
