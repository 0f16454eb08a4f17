/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl dead list | show | replay: the dead-letter topic.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "worker/conf/conf.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/usage.h"
#include "worker/ctl/topics/dead.h"

#define MAX_REPLAYS 3
#define MAX_TOPIC_BYTES 249 /* of Kafka */

struct options {
	struct ing_dead_filter filter;
	struct ing_dead_replay replay; /* its reader and flags serve the others, too */
	uint64_t count;                /* 0: no limit */
	char source[MAX_TOPIC_BYTES + 1];
	int32_t partition; /* of the letter to show */
	int64_t offset;
};

struct list {
	const struct options *o;
	uint64_t printed;
};

static bool list_letter(void *ctx, const struct ing_dead_letter *l)
{
	struct list *list = ctx;
	ing_dead_print_line(l, list->o->replay.json);
	list->printed++;
	return list->o->count == 0 || list->printed < list->o->count;
}

static int list(const struct options *o)
{
	struct list all = {.o = o};
	int code = ing_dead_read(&o->replay.reader, &o->filter, list_letter, &all);
	return ing_ctl_flush_stdout(ING_DEAD_VERB) ? code : ING_CTL_ENVIRONMENT;
}

static bool show_letter(void *ctx, const struct ing_dead_letter *l)
{
	struct list *one = ctx;
	if (l->partition != one->o->partition || l->offset != one->o->offset)
		return true;
	ing_dead_print_whole(l, one->o->replay.json);
	one->printed++;
	return false;
}

static int show(const struct options *o)
{
	struct list one = {.o = o};
	int code = ing_dead_read(&o->replay.reader, NULL, show_letter, &one);
	if (code == ING_CTL_OK && one.printed == 0)
		return ing_ctl_fail(ING_CTL_NEGATIVE, ING_DEAD_VERB,
			"%s: there is no such dead letter", o->replay.reader.topic);
	return ing_ctl_flush_stdout(ING_DEAD_VERB) ? code : ING_CTL_ENVIRONMENT;
}

static int replay(const struct options *o)
{
	int code = ing_dead_replay(&o->replay);
	return ing_ctl_flush_stdout(ING_DEAD_VERB) ? code : ING_CTL_ENVIRONMENT;
}

#define FILTERS "list replay"
static const struct ing_option options[] = {
	{"reason", "REASON", "those with this reason: syntax, invalid, poison, ...", .code = 'r',
		.of = FILTERS},
	{"stage", "STAGE", "those that died in this stage", .code = 'S', .of = FILTERS},
	{"source", "TOPIC[/PARTITION]", "those that came from there", .code = 'o', .of = FILTERS},
	{"since", "TIME",
		"those that died then or later: 2026-11-21, 2026-11-21T11:00 (UTC), or so long ago: 30m, "
		"12h, 7d",
		.code = 'a', .of = FILTERS},
	{"until", "TIME", "those that died before", .code = 'u', .of = FILTERS},
	{"count", "N", "list at most N", .code = 'n', .letter = 'n', .of = "list"},
	{"max-replays", "N",
		"leave out what has been replayed N times (" ING_USAGE_NUMBER(MAX_REPLAYS) ")",
		.code = 'm', .of = "replay"},
	{"topic", "TOPIC", "replay to this topic", .code = 't', .of = "replay"},
	{"again", NULL, "also those that were replayed before", .code = 'A', .of = "replay"},
	{"dry-run", NULL, "only print what would be replayed", .code = 'D', .of = "replay"},
	{"json", NULL, "print JSON lines", .code = 'j'},
	{"brokers", "LIST", "instead of kafka.brokers", .code = 'b', .letter = 'b'},
	{0},
};

static const struct ing_usage list_usage = {
	.name = "dead list",
	.synopsis = "[FILTER]... [--count N]",
	.summary = "list dead letters",
	.text = "Prints a line for each dead letter: where it is (partition and offset), when, why and in "
		"which stage it died, where it came from, and what was wrong.",
	.parent = &ing_ctl_dead_usage,
};

static const struct ing_usage show_usage = {
	.name = "dead show",
	.synopsis = "[PARTITION:]OFFSET",
	.summary = "print one dead letter",
	.text = "Prints the headers of a dead letter, an empty line, and its value.",
	.parent = &ing_ctl_dead_usage,
};

static const struct ing_usage replay_usage = {
	.name = "dead replay",
	.synopsis = "[FILTER]... [--max-replays N] [--topic TOPIC] [--again] [--dry-run]",
	.summary = "produce dead letters again, to the topics that they came from",
	.text = "Produces dead letters again, with their key, value and headers, to the partition that they "
		"came from, or to another topic. A letter is replayed once: repeating the command is "
		"harmless.",
	.details =
		"The header ingest.replays counts how often; what has been replayed N times is left out, "
		"and so is a letter whose value was cut. In the same transaction a note is written to the "
		"dead-letter topic, and a letter that has one is left out, unless --again is given: the "
		"command may be repeated, also after it was interrupted. Every letter that is replayed is "
		"printed as by \"dead list\"; --dry-run does nothing else. The exit status is 1 when some "
		"were left out because they are not whole, have no source, or were replayed too often.",
	.parent = &ing_ctl_dead_usage,
};

static const struct ing_usage *const verbs_below[] = {
	&list_usage, &show_usage, &replay_usage, NULL};

static int refuse(const char *option, const char *what)
{
	return ing_ctl_fail(ING_CTL_USAGE, ING_DEAD_VERB, "%s: %s: %s", option, what, optarg);
}

/* TOPIC or TOPIC/PARTITION; the names of topics have no slash. */
static bool read_source(const char *text, struct options *o)
{
	const char *slash = strchr(text, '/');
	size_t n = slash != NULL ? (size_t)(slash - text) : strlen(text);
	int64_t partition = -1;
	int32_t none;
	if (n == 0 || n >= sizeof(o->source))
		return false;
	if (slash != NULL && (strchr(slash, ':') != NULL ||
				     !ing_letter_read_place(slash + 1, &none, &partition) ||
				     partition > INT32_MAX))
		return false;
	memcpy(o->source, text, n);
	o->source[n] = '\0';
	o->filter.topic = o->source;
	o->filter.partition = (int32_t)partition;
	return true;
}

/* -1: go on; else the exit code. */
static int take_option(void *ctx, int c)
{
	struct options *o = ctx;
	uint64_t n = 0;
	switch (c) {
	case 'r':
		o->filter.reason = optarg;
		return -1;
	case 'S':
		o->filter.stage = optarg;
		return -1;
	case 'o':
		return read_source(optarg, o) ? -1 : refuse("--source", "not TOPIC[/PARTITION]");
	case 'a':
		return ing_dead_read_time(optarg, o->filter.since)
			       ? -1
			       : refuse("--since", "not a time");
	case 'u':
		return ing_dead_read_time(optarg, o->filter.until)
			       ? -1
			       : refuse("--until", "not a time");
	case 'n':
		return ing_ctl_number(optarg, UINT64_MAX / 2, &o->count)
			       ? -1
			       : refuse("--count", "not a positive number");
	case 'm':
		if (!ing_ctl_number(optarg, ING_LETTER_MAX_REPLAYS, &n))
			return refuse("--max-replays", "not a positive number");
		o->replay.max_replays = (unsigned)n;
		return -1;
	case 't':
		o->replay.to = optarg;
		return -1;
	case 'A':
		o->replay.again = true;
		return -1;
	case 'D':
		o->replay.dry_run = true;
		return -1;
	case 'j':
		o->replay.json = true;
		return -1;
	case 'b':
		o->replay.reader.brokers = optarg;
		return -1;
	default:
		return ING_CTL_USAGE;
	}
}

/* NULL after a message: the words are none of the verb's. */
static int (*find_action(char *const *words, int count, struct options *o))(const struct options *)
{
	bool one = count == 1;
	if (one && strcmp(words[0], "list") == 0)
		return list;
	if (one && strcmp(words[0], "replay") == 0)
		return replay;
	if (count == 2 && strcmp(words[0], "show") == 0) {
		if (ing_letter_read_place(words[1], &o->partition, &o->offset))
			return show;
		ing_ctl_fail(ING_CTL_USAGE, ING_DEAD_VERB, "not [PARTITION:]OFFSET: %s", words[1]);
		return NULL;
	}
	ing_usage_refuse_below(&ing_ctl_dead_usage, count > 0 ? words[0] : NULL);
	return NULL;
}

/* -------------------------------------------------------------------------------------------- */

const struct ing_usage ing_ctl_dead_usage = {
	.name = "dead",
	.summary = "list dead letters, print one, or replay them",
	.text = "Lists the dead letters (kafka.topics.dead), prints one, or produces them again to the topics "
		"that they came from. A letter is replayed once: repeating the command is harmless.",
	.options = options,
	.exits = {ING_EXIT_OK, "there is no such letter, or some cannot be replayed",
		ING_EXIT_USAGE, "no broker answers, or a topic does not exist"},
	.below = verbs_below,
};

int ing_ctl_dead(int argc, char **argv, const struct ing_ctl *ctl)
{
	struct options o = {.filter.partition = -1,
		.replay = {.reader.verb = ING_DEAD_VERB, .max_replays = MAX_REPLAYS}};
	optind = 1;
	int code = ing_usage_take(&ing_ctl_dead_usage, argc, argv, take_option, &o);
	if (code >= 0)
		return code;
	int (*run)(const struct options *) = find_action(argv + optind, argc - optind, &o);
	if (run == NULL)
		return ING_CTL_USAGE;
	struct ing_conf *conf;
	code = ing_ctl_conf(ctl, &conf);
	if (code != ING_CTL_OK)
		return code;
	struct ing_topic_reader_conf *reader = &o.replay.reader;
	reader->conf = conf;
	reader->topic = conf->kafka.output_topics[ING_OUTPUT_DEAD];
	if (reader->brokers == NULL)
		reader->brokers = conf->kafka.brokers;
	o.replay.filter = &o.filter;
	if (reader->topic == NULL || reader->topic[0] == '\0')
		code = ing_ctl_fail(ING_CTL_USAGE, ING_DEAD_VERB, "kafka.topics.dead is not set");
	else
		code = run(&o);
	ing_conf_free(conf);
	return code;
}
