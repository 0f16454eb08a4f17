/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl dead list | show | replay: the dead-letter topic.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "worker/conf/conf.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/dead.h"

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

static void print_help(void)
{
	printf("usage: ingestctl [--config FILE] [--set KEY=VALUE]... dead list [FILTER]... [--count N]\n"
	       "       ingestctl ... dead show [PARTITION:]OFFSET\n"
	       "       ingestctl ... dead replay [FILTER]... [--max-replays N] [--topic TOPIC]\n"
	       "                 [--again] [--dry-run]\n\n"
	       "Lists the dead letters (kafka.topics.dead), prints one, or produces them again to the topics\n"
	       "that they came from. A letter is replayed once: repeating the command is harmless.\n\n"
	       "  --reason REASON   those with this reason: syntax, invalid, poison, ...\n"
	       "  --stage STAGE     those that died in this stage\n"
	       "  --source TOPIC[/PARTITION]\n"
	       "                    those that came from there\n"
	       "  --since TIME      those that died then or later: 2026-11-21, 2026-11-21T11:00 (UTC), or so\n"
	       "                    long ago: 30m, 12h, 7d\n"
	       "  --until TIME      those that died before\n"
	       "  --count N         list at most N\n"
	       "  --max-replays N   leave out what has been replayed N times (3)\n"
	       "  --topic TOPIC     replay to this topic\n"
	       "  --again           also those that were replayed before\n"
	       "  --dry-run         only print what would be replayed\n"
	       "  --json            JSON lines\n"
	       "  --brokers LIST    instead of kafka.brokers\n\n"
	       "Exit status: 0 success, 1 there is no such letter, or some cannot be replayed, 2 usage or\n"
	       "configuration, 3 no broker answers, or a topic does not exist.\n");
}

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
static int take_option(struct options *o, int c)
{
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
	case 'h':
		print_help();
		return ING_CTL_OK;
	default:
		return ING_CTL_USAGE;
	}
}

static int parse_options(int argc, char **argv, struct options *o)
{
	static const struct option options[] = {
		{"reason", required_argument, NULL, 'r'},
		{"stage", required_argument, NULL, 'S'},
		{"source", required_argument, NULL, 'o'},
		{"since", required_argument, NULL, 'a'},
		{"until", required_argument, NULL, 'u'},
		{"count", required_argument, NULL, 'n'},
		{"max-replays", required_argument, NULL, 'm'},
		{"topic", required_argument, NULL, 't'},
		{"again", no_argument, NULL, 'A'},
		{"dry-run", no_argument, NULL, 'D'},
		{"json", no_argument, NULL, 'j'},
		{"brokers", required_argument, NULL, 'b'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	optind = 1;
	for (;;) {
		int c = ing_ctl_option(argc, argv, "n:b:h", options);
		if (c == -1)
			return -1;
		int code = take_option(o, c);
		if (code >= 0)
			return code;
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
	ing_ctl_fail(ING_CTL_USAGE, ING_DEAD_VERB, "expected list, show OFFSET or replay");
	return NULL;
}

/* -------------------------------------------------------------------------------------------- */

int ing_ctl_dead(int argc, char **argv, const struct ing_ctl *ctl)
{
	struct options o = {.filter.partition = -1,
		.replay = {.reader.verb = ING_DEAD_VERB, .max_replays = MAX_REPLAYS}};
	int code = parse_options(argc, argv, &o);
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
