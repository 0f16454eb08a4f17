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
#include "worker/ctl/enqueue.h"
#include "worker/ctl/kafka.h"
#include "worker/ctl/requests.h"
#include "worker/ctl/selection_options.h"
#include "worker/store/requests/plan_batches.h"

#define VERB "requests enqueue"
#define MAX_ASKED_BYTES ((size_t)1 << 20)

struct options {
	struct ing_selection_options selection;
	struct ing_buf
		asked; /* the options that say what is selected and how it is sent, in words */
	const char *name, *lane, *topic, *brokers;
	uint64_t max_lag;
	bool planned, force_recrawl, dry_run, abandon, take_over, quiet, help;
};

static void print_help(void)
{
	puts("usage: ingestctl [--config FILE] [--set KEY=VALUE]... requests enqueue [SELECTION]\n"
	     "                 [--lane LANE] [--name NAME] [--max-lag N] [OPTION]...\n\n"
	     "Puts stored requests onto the topic of a lane, each document once and each host spread evenly\n"
	     "over the whole. They are planned in the database first, all or none, and then sent in Kafka\n"
	     "transactions: whatever breaks, a command that is repeated ends with the messages of one that\n"
	     "was not broken off. What an earlier run has planned is sent first; if that was for the same\n"
	     "selection, nothing more is planned. Documents that are queued (by any plan, and not answered\n"
	     "since) are left out, unless --class names them.\n\n"
	     "  --lane LANE      priority, requests (the default), daily or bulk\n"
	     "  --topic TOPIC    instead of a lane's\n"
	     "  --name NAME      of the plan; without it that of the only --list. The Kafka group\n"
	     "                   ingestctl-enqueue-NAME has its position. Of two commands that send for\n"
	     "                   one plan the earlier ends\n"
	     "  --max-lag N      wait while the workers' group (kafka.group) has more than N messages of\n"
	     "                   the topic before it, those that are being sent included\n"
	     "  --planned        select nothing: send what is planned\n"
	     "  --force-recrawl  have the requests fetched whatever the tables have\n"
	     "  --dry-run        print how many requests would be planned\n"
	     "  --abandon        drop what is planned and not sent; its documents are not queued then\n"
	     "  --take-over      begin with what this database has not sent, although the position that\n"
	     "                   Kafka has for the plan is of another database, or lost\n"
	     "  --brokers LIST   instead of kafka.brokers\n"
	     "  --quiet          no progress\n\n"
	     "SELECTION, of which all must hold:");
	ing_selection_print_help();
	puts("\nExit status: 0 success, 1 another command goes on with the plan, or its position is not what\n"
	     "it should be, 2 usage or configuration, 3 a server cannot be reached, 4 interrupted.");
}

static const struct option own[] = {
	{"name", required_argument, NULL, 'N'},
	{"lane", required_argument, NULL, 'l'},
	{"topic", required_argument, NULL, 't'},
	{"max-lag", required_argument, NULL, 'm'},
	{"planned", no_argument, NULL, 'p'},
	{"force-recrawl", no_argument, NULL, 'f'},
	{"dry-run", no_argument, NULL, 'n'},
	{"abandon", no_argument, NULL, 'A'},
	{"take-over", no_argument, NULL, 'T'},
	{"brokers", required_argument, NULL, 'b'},
	{"quiet", no_argument, NULL, 'q'},
	{"help", no_argument, NULL, 'h'},
};

/* As they were written: what is meant by 7d must not change with the time of day. */
static void note_asked(struct options *o, const struct option *longs, int c)
{
	for (size_t i = 0; longs[i].name != NULL; i++) {
		if (longs[i].val == c && longs[i].has_arg == no_argument)
			ing_buf_printf(&o->asked, "--%s ", longs[i].name);
		else if (longs[i].val == c)
			ing_buf_printf(&o->asked, "--%s=%s ", longs[i].name, optarg);
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
	case 'h':
		o->help = true;
		break;
	default:
		return ING_CTL_USAGE;
	}
	return -1;
}

static int parse_options(int argc, char **argv, struct options *o)
{
	struct option longs[ING_ARRAY_LEN(own) + ING_SELECTION_OPTIONS + 1] = {{0}};
	memcpy(longs, own, sizeof(own));
	ing_selection_append_options(longs, ING_ARRAY_LEN(own));
	while (!o->help) {
		int code = -1;
		int c = ing_ctl_option(argc, argv, "b:h", longs);
		if (c == -1)
			break;
		if (ing_selection_take_option(&o->selection, VERB, c, &code) || c == 'l' ||
			c == 't' || c == 'f')
			note_asked(o, longs, c);
		if (code == -1 && c < 0x100)
			code = take_own(o, c);
		if (code != -1)
			return code;
	}
	return ING_CTL_OK;
}

static int check_options(struct options *o, int argc, char **argv)
{
	const struct ing_words *lists = &o->selection.selection.lists;
	if (optind != argc)
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "unexpected argument: %s", argv[optind]);
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
	int code = parse_options(argc, argv, o);
	if (code == ING_CTL_OK && o->help) {
		print_help();
		return ING_CTL_OK;
	}
	if (code == ING_CTL_OK)
		code = check_options(o, argc, argv);
	if (code == ING_CTL_OK)
		code = ing_ctl_conf_with_database(ctl, VERB, &conf);
	if (code != ING_CTL_OK)
		return code;
	code = enqueue(o, conf);
	ing_conf_free(conf);
	return code;
}

/* -------------------------------------------------------------------------------------------- */

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
