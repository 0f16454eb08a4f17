/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl requests load: a list of requests into the database. The loop of the main thread waits for the streams, for signals, and
 * draws; a thread reads and cuts the input into blocks (requests_load_read), some parse them (requests_load_blocks), and each stream has
 * one that writes (requests_load_stream).
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "common/base/clock.h"
#include "common/base/utf8.h"
#include "worker/conf/conf.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/json_line.h"
#include "worker/ctl/topics/kafka.h"
#include "worker/ctl/requests/requests.h"
#include "worker/ctl/usage.h"
#include "worker/ctl/requests/load_blocks.h"
#include "worker/ctl/requests/load_fold.h"
#include "worker/ctl/requests/load_progress.h"
#include "worker/ctl/requests/load_read.h"
#include "worker/ctl/requests/load_send.h"
#include "worker/ctl/requests/load_stream.h"
#include "worker/ctl/requests/seed_source.h"
#include "worker/seeds/convert.h"
#include "worker/store/cell.h"
#include "worker/store/requests/load_plan.h"

#define VERB "requests load"
#define TICK_MS 500
#define STREAMS 4
#define MAX_NAME_BYTES 100 /* of a list */
#define MAX_SETTINGS 32    /* of a source */

struct load {
	/* As given: */
	struct ing_load_list list;
	const char *created, *bad_path, *path;
	const char *settings[MAX_SETTINGS + 1]; /* of the source */
	size_t setting_count;
	const char *lane, *topic, *brokers;
	uint64_t max_lag; /* 0: no limit */
	bool json, enqueue;
	/* At work: */
	struct ing_seed_source *source; /* NULL: lines of requests */
	uv_loop_t loop;
	uv_timer_t tick;
	uv_signal_t on_int, on_term;
	int fd;
	struct ing_load_progress progress;
	struct ing_load_blocks *blocks;
	struct ing_load_reader *reader;
	struct ing_load_streams *streams;
	struct ing_load_plan plan;
	struct ing_load_sender *sender; /* NULL: nothing is sent */
	struct ing_load_folder *folder;
	bool interrupted, finished;
	bool sent;   /* the sender has ended */
	bool folded; /* counts have been added up */
	bool left;   /* the reader waits for input, or the sender for Kafka */
	struct ing_error error;
};

/* --- the loop --- */

static void read_state(const struct load *l, struct ing_load_state *ret)
{
	*ret = (struct ing_load_state){.blocked = ing_load_streams_blocked(l->streams),
		.folding = l->finished && !l->folded};
	ing_load_reader_progress(l->reader, &ret->bytes, &ret->lines);
	ing_load_streams_counts(l->streams, &ret->counts);
}

static void on_tick(uv_timer_t *timer)
{
	struct load *l = timer->data;
	struct ing_load_state state;
	read_state(l, &state);
	ing_load_progress_draw(&l->progress, &state);
}

static void on_signal(uv_signal_t *s, int signum)
{
	struct load *l = s->data;
	(void)signum;
	l->interrupted = !l->finished || (l->sender != NULL && !l->sent);
	uv_stop(&l->loop);
}

static void on_bad_lines(void *ctx, const char *words, size_t bytes)
{
	struct load *l = ctx;
	ing_load_progress_bad(&l->progress, words, bytes);
}

static void on_trouble(void *ctx, const struct ing_error *err)
{
	struct load *l = ctx;
	char words[700];
	if (err != NULL)
		snprintf(words, sizeof(words), "%s; retrying", err->msg);
	ing_load_progress_words(&l->progress, err != NULL ? words : "the database answers again");
}

static void on_finished(void *ctx, const struct ing_error *err)
{
	struct load *l = ctx;
	if (err != NULL)
		l->error = *err;
	else
		l->finished = !ing_load_reader_failed(l->reader, &l->error);
	if (!l->finished) {
		uv_stop(&l->loop);
		return;
	}
	ing_load_folder_finish(l->folder);
	if (l->sender != NULL)
		ing_load_sender_finish(l->sender);
}

static void stop_when_all_is_done(struct load *l)
{
	if (l->finished && l->folded && (l->sender == NULL || l->sent))
		uv_stop(&l->loop);
}

/* It may end before the load, when Kafka refuses: what is planned stays so. */
static void on_sent(void *ctx)
{
	struct load *l = ctx;
	l->sent = true;
	stop_when_all_is_done(l);
}

static void on_folded(void *ctx)
{
	struct load *l = ctx;
	l->folded = true;
	stop_when_all_is_done(l);
}

static void start_handles(struct load *l)
{
	uv_timer_init(&l->loop, &l->tick);
	uv_signal_init(&l->loop, &l->on_int);
	uv_signal_init(&l->loop, &l->on_term);
	l->tick.data = l->on_int.data = l->on_term.data = l;
	uv_timer_start(&l->tick, on_tick, TICK_MS, TICK_MS);
	uv_signal_start(&l->on_int, on_signal, SIGINT);
	uv_signal_start(&l->on_term, on_signal, SIGTERM);
}

static void stop_handles(struct load *l)
{
	uv_close((uv_handle_t *)&l->tick, NULL);
	uv_close((uv_handle_t *)&l->on_int, NULL);
	uv_close((uv_handle_t *)&l->on_term, NULL);
}

static int start_sender(struct load *l, const struct ing_conf *conf)
{
	const struct ing_load_sender_conf sender = {.verb = VERB,
		.brokers = l->brokers != NULL ? l->brokers : conf->kafka.brokers,
		.conf = conf,
		.plan = l->plan.name,
		.max_lag = l->max_lag,
		.ended = on_sent,
		.ctx = l};
	return ing_load_sender_new(&sender, &l->loop, &l->sender, &l->error);
}

static int start(struct load *l, const struct ing_conf *conf)
{
	struct ing_error *err = &l->error;
	int rc = ing_load_blocks_new(&l->list, l->created, l->source != NULL, &l->blocks, err);
	if (rc == 0)
		rc = ing_load_reader_new(l->fd, l->source, &l->list, l->blocks, &l->reader, err);
	if (rc == 0)
		rc = ing_load_streams_start(l->streams, &l->loop, l->blocks, err);
	if (rc == 0 && l->enqueue)
		rc = start_sender(l, conf);
	if (rc == 0)
		rc = ing_load_folder_new(
			conf->postgres.dsn, &l->loop, on_folded, l, &l->folder, err);
	return rc;
}

static int connect_streams(struct load *l, const struct ing_conf *conf)
{
	const struct ing_load_streams_conf streams = {.dsn = conf->postgres.dsn,
		.list = &l->list,
		.plan = l->enqueue ? &l->plan : NULL,
		.bad_lines = on_bad_lines,
		.trouble = on_trouble,
		.finished = on_finished,
		.ctx = l};
	return ing_load_streams_new(&streams, &l->streams, &l->error);
}

/* --- the end --- */

static int64_t count_lines(const struct ing_load_counts *c)
{
	return c->added + c->known + c->elsewhere + c->bad;
}

/* By reason; a new reference. */
static json_t *left_out_object(const struct load *l)
{
	const struct ing_seed_counts *s = ing_load_reader_counts(l->reader);
	json_t *o = json_object();
	for (size_t i = 0; i < s->reasons; i++)
		if (s->left_out[i].count > 0)
			ing_json_set_count(o, s->left_out[i].reason, s->left_out[i].count);
	return o;
}

static void print_left_out(const struct load *l)
{
	const struct ing_seed_counts *s = ing_load_reader_counts(l->reader);
	for (size_t i = 0; i < s->reasons; i++)
		if (s->left_out[i].count > 0)
			fprintf(stderr, "  left out, %s: %" PRIu64 "\n", s->left_out[i].reason,
				s->left_out[i].count);
}

static void print_object(const struct load *l, const struct ing_load_counts *c)
{
	json_t *o = json_object();
	ing_json_set_text(o, "list", l->list.name);
	ing_json_set(o, "finished", json_boolean(l->finished));
	ing_json_set_number(o, "lines", count_lines(c));
	ing_json_set_number(o, "new", c->added);
	ing_json_set_number(o, "known", c->known);
	ing_json_set_number(o, "elsewhere", c->elsewhere);
	ing_json_set_number(o, "bad", c->bad);
	if (l->source != NULL && !l->left)
		ing_json_set(o, "left_out", left_out_object(l));
	ing_ctl_json_print(o);
}

static void print_counts(const struct load *l, const struct ing_load_counts *c)
{
	uint64_t seconds = (ing_now_ms() - l->progress.started_ms) / 1000;
	fprintf(stderr,
		"ingestctl " VERB ": %" PRId64 " line%s: %" PRId64 " new, %" PRId64 " known",
		count_lines(c), ING_PLURAL_S(count_lines(c)), c->added, c->known);
	if (l->list.name != NULL)
		fprintf(stderr, ", %" PRId64 " elsewhere", c->elsewhere);
	fprintf(stderr, ", %" PRId64 " bad; %" PRIu64 " s\n", c->bad, seconds);
	if (l->source != NULL && !l->left)
		print_left_out(l);
}

static int summarize(struct load *l)
{
	struct ing_load_counts c;
	ing_load_progress_clear(&l->progress);
	ing_load_streams_counts(l->streams, &c);
	if (l->interrupted)
		fprintf(stderr, "ingestctl " VERB ": stopped; the same command %s\n",
			l->list.name != NULL ? "goes on"
					     : "begins again: what is stored counts as known then");
	if (l->json)
		print_object(l, &c);
	else
		print_counts(l, &c);
	if (!ing_ctl_flush_stdout(VERB))
		return ING_CTL_ENVIRONMENT;
	if (l->interrupted)
		return ING_CTL_INTERRUPTED;
	if (l->progress.bad_failed)
		return ing_ctl_fail(
			ING_CTL_ENVIRONMENT, VERB, "%s: cannot be written", l->bad_path);
	return c.bad > 0 ? ING_CTL_NEGATIVE : ING_CTL_OK;
}

/* Nothing of it is lost: the reader has only read, and may not be waiting for anything that ever comes. */
static void leave_reader(int code)
{
	fflush(NULL);
	_exit(code);
}

/* Threads that are not the streams'. */
static void stop_threads(struct load *l)
{
	if (l->blocks != NULL)
		ing_load_blocks_stop(l->blocks);
	if (l->reader != NULL && !ing_load_reader_join(l->reader))
		l->left = true;
	if (l->sender != NULL && !ing_load_sender_stop(l->sender))
		l->left = true;
}

/* The exit code with what the sender has to say. */
static int summarize_sent(const struct load *l, int code)
{
	uint64_t sent;
	if (l->sender == NULL || l->left)
		return code;
	int failed = ing_load_sender_code(l->sender, &sent);
	fprintf(stderr, "ingestctl " VERB ": %" PRIu64 " request%s sent to %s\n", sent,
		ING_PLURAL_S(sent), l->plan.topic);
	return failed == ING_CTL_OK || code == ING_CTL_INTERRUPTED ? code : failed;
}

static int work(struct load *l, const struct ing_conf *conf)
{
	if (l->list.resumed)
		ing_load_progress_words(&l->progress,
			!l->enqueue
				? "going on with the load that was broken off"
				: "going on with the load that was broken off; what it has stored without --enqueue"
				  " is for requests enqueue --new");
	start_handles(l);
	int rc = start(l, conf);
	if (rc == 0)
		uv_run(&l->loop, UV_RUN_DEFAULT);
	ing_load_progress_clear(&l->progress);
	stop_threads(l);
	int code;
	if (rc != 0 || l->error.code != ING_FAIL_NONE)
		code = ing_ctl_fail(ing_ctl_exit_of(&l->error), VERB, "%s: %s", l->progress.input,
			l->error.msg);
	else
		code = summarize_sent(l, summarize(l));
	if (l->left)
		leave_reader(code);
	stop_handles(l);
	return code;
}

static void close_all(struct load *l)
{
	ing_load_folder_free(l->folder);
	ing_load_sender_free(l->sender);
	ing_load_streams_free(l->streams);
	ing_load_reader_free(l->reader);
	ing_load_blocks_free(l->blocks);
	uv_run(&l->loop, UV_RUN_DEFAULT);
	uv_loop_close(&l->loop);
}

static int open_files(struct load *l)
{
	const char *name = strcmp(l->path, "-") == 0 ? "stdin" : l->path;
	l->fd = strcmp(l->path, "-") == 0 ? STDIN_FILENO : open(l->path, O_RDONLY | O_CLOEXEC);
	if (l->fd < 0)
		return ing_ctl_fail(ING_CTL_ENVIRONMENT, VERB, "%s: %s", l->path, strerror(errno));
	ing_load_progress_init(&l->progress, name, l->fd);
	if (l->bad_path == NULL)
		return ING_CTL_OK;
	l->progress.bad = fopen(l->bad_path, "ae");
	if (l->progress.bad != NULL)
		return ING_CTL_OK;
	return ing_ctl_fail(ING_CTL_ENVIRONMENT, VERB, "%s: %s", l->bad_path, strerror(errno));
}

static void close_files(struct load *l)
{
	if (l->progress.bad != NULL)
		fclose(l->progress.bad);
	if (l->fd > STDERR_FILENO)
		close(l->fd);
	ing_load_progress_done(&l->progress);
}

/* *ret_topic: heap. */
static int find_topic(struct load *l, const struct ing_conf *conf, char **ret_topic)
{
	*ret_topic = NULL;
	if (!l->enqueue)
		return ING_CTL_OK;
	*ret_topic =
		l->topic != NULL ? ing_strdup(l->topic) : ing_ctl_lane_topic(VERB, l->lane, conf);
	l->plan = (struct ing_load_plan){l->list.name, *ret_topic};
	return *ret_topic != NULL ? ING_CTL_OK : ING_CTL_USAGE;
}

static int run_all(struct load *l, const struct ing_conf *conf)
{
	int code = ING_CTL_OK;
	if (l->list.source != NULL)
		code = ing_ctl_seed_source(
			VERB, conf->seedlists_dir, l->list.source, l->settings, &l->source);
	if (code == ING_CTL_OK)
		code = open_files(l);
	if (code != ING_CTL_OK)
		return code;
	uv_loop_init(&l->loop);
	if (connect_streams(l, conf) != 0)
		code = ing_ctl_fail(ing_ctl_exit_of(&l->error), VERB, "%s", l->error.msg);
	else
		code = work(l, conf);
	close_all(l);
	close_files(l);
	return code;
}

static int run(struct load *l, const struct ing_conf *conf)
{
	char *topic;
	int code = find_topic(l, conf, &topic);
	if (code == ING_CTL_OK)
		code = run_all(l, conf);
	free(topic);
	return code;
}

/* --- options --- */

static const struct ing_option options[] = {
	{"list", "NAME", "put the requests on this list, which is made if there is none",
		.code = 'l'},
	{"source", "SOURCE",
		"FILE is such a list (see ingestctl seedlist), not JSON lines of requests",
		.code = 'S', .words = ING_WORDS_SOURCES},
	{"option", "NAME=VALUE", "an option of the source; may be repeated", .code = 'o'},
	{"priority", "N", "of lists that are enqueued together the higher goes first (0)",
		.code = 'p'},
	{"created", "DATETIME",
		"when the requests were made (RFC 3339), where a line has no \"created\"; without both it "
		"is when they are stored",
		.code = 'c'},
	{"bad", "FILE",
		"append the names of bad lines to FILE; stderr has the first " ING_USAGE_NUMBER(
			ING_LOAD_BAD_SHOWN),
		.code = 'b', .words = ING_WORDS_FILE},
	{"streams", "N", "connections to the database (" ING_USAGE_NUMBER(STREAMS) ")",
		.code = 's'},
	{"enqueue", NULL,
		"put what was never asked onto a lane meanwhile, in the order of the list: hosts are spread "
		"over some thousand lines. A list that is sorted by host is better enqueued when it is "
		"loaded (requests enqueue)",
		.code = 'e'},
	{"lane", "LANE", "priority, requests (the default), daily or bulk", .code = 'L',
		.words = ING_WORDS_LANES},
	{"topic", "TOPIC", "instead of a lane's", .code = 't'},
	{"max-lag", "N",
		"wait with sending while the workers' group has more than N messages of the topic before it",
		.code = 'm'},
	{"brokers", "LIST", "instead of kafka.brokers", .code = 'B'},
	{"anew", NULL, "forget how far a load has come that was broken off", .code = 'a'},
	{"json", NULL, "print the counts as JSON on standard output", .code = 'j'},
	{0},
};

static int take_name(struct load *l)
{
	size_t bytes = strlen(optarg);
	if (bytes < 1 || bytes > MAX_NAME_BYTES || !ing_utf8_valid(optarg, bytes))
		return ing_ctl_fail(ING_CTL_USAGE, VERB,
			"--list: a name has 1 to %d bytes of UTF-8", MAX_NAME_BYTES);
	l->list.name = optarg;
	return -1;
}

static int take_priority(struct load *l)
{
	uint64_t n = 0;
	if (strcmp(optarg, "0") != 0 && !ing_ctl_number(optarg, INT32_MAX, &n))
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "--priority: not a number: %s", optarg);
	l->list.priority = (int64_t)n;
	return -1;
}

static int take_streams(struct load *l)
{
	uint64_t n;
	if (!ing_ctl_number(optarg, ING_LOAD_MAX_STREAMS, &n))
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "--streams: a number from 1 to %d",
			ING_LOAD_MAX_STREAMS);
	l->list.streams = (unsigned)n;
	return -1;
}

/* -1: go on; else the exit code. */
static int take_option(void *ctx, int c)
{
	struct load *l = ctx;
	switch (c) {
	case 'l':
		return take_name(l);
	case 'p':
		return take_priority(l);
	case 's':
		return take_streams(l);
	case 'c':
		l->created = optarg;
		if (ing_time_fits(optarg))
			return -1;
		return ing_ctl_fail(ING_CTL_USAGE, VERB,
			"--created: no date and time like 2026-03-01T00:00:00Z: %s", optarg);
	case 'S':
		l->list.source = optarg;
		return -1;
	case 'o':
		if (l->setting_count == MAX_SETTINGS)
			return ing_ctl_fail(
				ING_CTL_USAGE, VERB, "more than %d options", MAX_SETTINGS);
		l->settings[l->setting_count++] = optarg;
		return -1;
	case 'b':
		l->bad_path = optarg;
		return -1;
	case 'e':
		l->enqueue = true;
		return -1;
	case 'L':
		l->lane = optarg;
		return -1;
	case 't':
		l->topic = optarg;
		return -1;
	case 'B':
		l->brokers = optarg;
		return -1;
	case 'm':
		if (ing_ctl_number(optarg, UINT64_MAX, &l->max_lag))
			return -1;
		return ing_ctl_fail(
			ING_CTL_USAGE, VERB, "--max-lag: not a positive number: %s", optarg);
	case 'a':
		l->list.anew = true;
		return -1;
	case 'j':
		l->json = true;
		return -1;
	default:
		return ING_CTL_USAGE;
	}
}

static int check_options(const struct load *l)
{
	const char *wrong = NULL;
	if (l->list.name == NULL && (l->list.anew || l->list.priority >= 0 || l->enqueue))
		wrong = "--anew, --priority and --enqueue are for a --list";
	else if (l->list.source == NULL && l->setting_count > 0)
		wrong = "--option is for a --source";
	else if (!l->enqueue &&
		 (l->lane != NULL || l->topic != NULL || l->max_lag != 0 || l->brokers != NULL))
		wrong = "--lane, --topic, --max-lag and --brokers are for --enqueue";
	else if (l->lane != NULL && l->topic != NULL)
		wrong = "--topic and --lane exclude each other";
	return wrong != NULL ? ing_ctl_fail(ING_CTL_USAGE, VERB, "%s", wrong) : -1;
}

static int read_options(struct load *l, int argc, char **argv)
{
	int code = ing_usage_take(&ing_ctl_requests_load_usage, argc, argv, take_option, l);
	if (code >= 0)
		return code;
	if (optind != argc - 1)
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "give one FILE, or - for standard input");
	l->path = argv[optind];
	return check_options(l);
}

/* -------------------------------------------------------------------------------------------- */

const struct ing_usage ing_ctl_requests_load_usage = {
	.name = "requests load",
	.synopsis = "[--list NAME] [--source SOURCE [--option NAME=VALUE]...] [OPTION]... FILE|-",
	.summary = "store the requests of a list",
	.text = "Stores the requests of a list (JSON lines; gzip, zstd, xz and bzip2 are unpacked) in the "
		"database, each once. Bad lines are named on stderr and skipped. At the end it prints how "
		"many were\n\n"
		"  new\tstored for the first time\n"
		"  known\tin the list already, or (without --list) stored already\n"
		"  elsewhere\tstored already by another list or by a worker: in this list, too, now\n"
		"  bad\tno requests, or ones that cannot be stored as they are: with a user name or password "
		"in the URL, or a URL of more than 1500 bytes\n\n"
		"A load of a list that was broken off, by whatever, goes on when the same command is given "
		"again with the same input. Loading a file twice adds nothing.",
	.details =
		"A line is bad, too, whose link source or its identifier has a user name or password, or is "
		"longer than the database's keys can be (100 and 1,000 bytes), or whose \"created\" is no "
		"date. With --source, bad lines are named by the number that seedlist gives them, and what "
		"was left out is counted by reason.\n\n"
		"The database may be restarted or be away meanwhile: the load waits for it. A load that was "
		"broken off by SIGINT (exit status 4) or a crash goes on also from a pipe, and ends with the "
		"same rows and counts; bad lines may be named twice. Another input is refused; with --anew "
		"the load that was broken off is forgotten. Only one load of a list can run at a time.\n\n"
		"With --enqueue those requests of the list whose documents were never put onto a topic and "
		"have no result are planned as they are stored, each host spread evenly over every few "
		"thousand of them, and sent meanwhile to the topic of the lane, by the plan that \"requests "
		"enqueue\" has for the list: the first can be fetched while most of the input is still to be "
		"read. Each is sent once, whatever breaks the load off. What a load that was broken off has "
		"stored without --enqueue is left to \"requests enqueue --new\".",
	.options = options,
	.exits = {ING_EXIT_OK, "some lines were bad", ING_EXIT_USAGE,
		"the input or the database is missing", "stopped by a signal"},
	.operands = ING_WORDS_FILE,
};

int ing_ctl_requests_load(int argc, char **argv, const struct ing_ctl *ctl)
{
	struct load *l = ing_alloc(sizeof(*l));
	l->list.priority = -1;
	l->list.streams = STREAMS;
	struct ing_conf *conf = NULL;
	int code = read_options(l, argc, argv);
	if (code < 0)
		code = ing_ctl_conf_with_database(ctl, VERB, &conf);
	if (conf != NULL)
		code = run(l, conf);
	ing_seed_source_free(l->source);
	ing_conf_free(conf);
	free(l);
	return code;
}
