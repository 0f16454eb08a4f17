/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The order of things makes it exact: `begun` is committed in the database, then the batch with its number in Kafka, then the
 * database forgets the batch. Statements are repeated on a new connection when one is lost; a Kafka
 * transaction whose end is not known is settled by a new producer, after which the position says whether it was committed.
 */
#include "worker/ctl/enqueue_send.h"

#include <inttypes.h>
#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "worker/conf/conf.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/enqueue_start.h"
#include "worker/ctl/kafka.h"
#include "worker/ctl/kafka_group.h"
#include "worker/ctl/kafka_tx.h"
#include "worker/ctl/progress.h"
#include "worker/database/schema.h"
#include "worker/model/limits.h"
#include "worker/store/requests/plan_batches.h"

/* A server that is away is waited for so long. */
#define PATIENCE_MS (10 * 60 * 1000)
#define BROKER_WAIT_MS 30000
#define BACKOFF_MIN_MS 200
#define BACKOFF_MAX_MS 5000
#define NAP_MS 100
#define LAG_EVERY_MS 500
#define MORE_EVERY_MS 200
/* Batches of which only Kafka knows whether they are sent, at most; and the sent ones that the database still has. */
#define BEGUN_AHEAD 64
#define FORGET_EVERY 16
/* A batch has requests for seconds at most. */
#define MAX_BATCH_BYTES ((size_t)256 << 20)
#define RECORD_ROOM_BYTES 65536

struct sender {
	const struct ing_enqueue_send *conf;
	char *group_name;
	struct ing_pg *pg;
	struct ing_plan plan;
	struct ing_ctl_tx *tx;
	struct ing_group *group, *workers;
	rd_kafka_topic_t *topic;
	int partitions;
	struct ing_buf lines; /* of the batch */
	unsigned requests;    /* of the batch */
	int64_t next;         /* batch */
	uint64_t lag, sent;
	bool lag_known;
	bool singly;               /* sets of messages were too large for the topic */
	uint64_t failing_since_ms; /* 0: it is not */
	unsigned backoff_ms;
	struct ing_progress progress;
	int code; /* when it has failed */
};

static int fail(struct sender *s, enum ing_ctl_exit code, const char *words)
{
	ing_progress_clear(&s->progress);
	s->code = ing_ctl_fail(code, s->conf->verb, "plan %s: %s", s->conf->name, words);
	return -1;
}

static bool is_stopped(const struct sender *s)
{
	return s->conf->stop != NULL && *s->conf->stop != 0;
}

/* Waits, and shows for what. */
static void nap(struct sender *s, unsigned ms, const char *waits_for)
{
	uint64_t until_ms = ing_now_ms() + ms;
	while (ing_now_ms() < until_ms && !is_stopped(s)) {
		ing_progress_tick(&s->progress, s->sent, waits_for);
		usleep(NAP_MS * 1000);
	}
}

/* Something that may pass. False: it has not, for too long; *err says what. */
static bool may_try_again(struct sender *s, const char *waits_for, struct ing_error *err)
{
	uint64_t now_ms = ing_now_ms();
	if (s->failing_since_ms == 0)
		s->failing_since_ms = now_ms;
	if (now_ms - s->failing_since_ms > PATIENCE_MS || is_stopped(s))
		return false;
	s->backoff_ms = ING_MIN(ING_MAX(2 * s->backoff_ms, BACKOFF_MIN_MS), BACKOFF_MAX_MS);
	nap(s, s->backoff_ms, waits_for);
	ing_error_clear(err);
	return true;
}

static void goes_well(struct sender *s)
{
	s->failing_since_ms = 0;
	s->backoff_ms = 0;
}

/* ---- The database ---- */

typedef enum ing_pg_rc statement_f(struct sender *s, int64_t number, struct ing_error *err);

static int execute(struct sender *s, statement_f *statement, int64_t number)
{
	struct ing_error err = {0};
	for (;;) {
		int opened = s->pg != NULL ? 0 : ing_schema_open(s->conf->dsn, &s->pg, &err);
		if (opened == -ING_FAIL_CONFIG || opened == -ING_FAIL_INVALID)
			return fail(s, ing_ctl_exit_of(&err), err.msg);
		enum ing_pg_rc rc = opened == 0 ? statement(s, number, &err) : ING_PG_LOST;
		if (rc == ING_PG_OK)
			return 0;
		ing_pg_close(s->pg);
		s->pg = NULL;
		if (rc == ING_PG_REFUSED || !may_try_again(s, "the database", &err))
			return fail(s, ING_CTL_ENVIRONMENT, err.msg);
	}
}

static enum ing_pg_rc find_plan(struct sender *s, int64_t number, struct ing_error *err)
{
	(void)number;
	bool found = false;
	enum ing_pg_rc rc = ing_plan_find(s->pg, s->conf->name, &s->plan, &found, err);
	if (rc == ING_PG_OK && !found)
		s->plan.id[0] = '\0';
	return rc;
}

static enum ing_pg_rc read_batch(struct sender *s, int64_t number, struct ing_error *err)
{
	return ing_plan_read_batch(s->pg, &s->plan, number, &s->lines, &s->requests, err);
}

static enum ing_pg_rc note_begun(struct sender *s, int64_t number, struct ing_error *err)
{
	return ing_plan_note_begun(s->pg, &s->plan, number, err);
}

static enum ing_pg_rc note_sent(struct sender *s, int64_t number, struct ing_error *err)
{
	return ing_plan_note_sent(s->pg, &s->plan, number, err);
}

/* ---- Kafka: the clients ---- */

static void close_producer(struct sender *s)
{
	if (s->topic != NULL)
		rd_kafka_topic_destroy(s->topic);
	ing_ctl_tx_free(s->tx);
	s->topic = NULL;
	s->tx = NULL;
}

/* From here on an earlier producer can commit nothing more. */
static int open_producer(struct sender *s, struct ing_error *err)
{
	const struct ing_ctl_tx_conf conf = {.verb = s->conf->verb,
		.brokers = s->conf->brokers,
		.conf = s->conf->conf,
		.id = s->group_name,
		.message_bytes = ING_MAX_REQUEST_BYTES + RECORD_ROOM_BYTES,
		.singly = s->singly};
	int rc = ing_ctl_tx_new(&conf, &s->tx, err);
	if (rc == 0)
		rc = ing_ctl_tx_init(s->tx, BROKER_WAIT_MS, err);
	if (rc != 0)
		return rc;
	s->topic = rd_kafka_topic_new(ing_ctl_tx_client(s->tx), s->plan.topic, NULL);
	return ing_ctl_kafka_partitions(
		ing_ctl_tx_client(s->tx), s->topic, BROKER_WAIT_MS, false, &s->partitions, err);
}

static int open_group(struct sender *s, const char *name, bool stable, struct ing_group **group,
	struct ing_error *err)
{
	if (*group != NULL)
		return 0;
	return ing_group_open(
		s->conf->verb, s->conf->brokers, s->conf->conf, name, stable, group, err);
}

/* ---- Where to begin ---- */

static int commit_position(struct sender *s, int64_t number, struct ing_error *err)
{
	const struct ing_ctl_tx_position position = {.group = s->group_name,
		.topic = s->plan.topic,
		.offset = number,
		.metadata = s->plan.lineage};
	return ing_ctl_tx_commit(s->tx, &position, err);
}

static int commit_first_position(struct sender *s, struct ing_error *err)
{
	int rc = ing_ctl_tx_begin(s->tx, err);
	return rc != 0 ? rc : commit_position(s, s->next, err);
}

/* The group's position in a topic is deleted with the topic: what is in doubt then is not in the new one, if nothing is. */
static int is_topic_new(struct sender *s, bool *ret, struct ing_error *err)
{
	uint64_t ends = 0;
	int rc = ing_group_topic_ends(s->group, s->plan.topic, s->partitions, &ends, err);
	*ret = ends == 0;
	return rc;
}

static int refuse_position(struct sender *s, enum ing_enqueue_start start, int64_t offset)
{
	char words[400];
	switch (start) {
	case ING_START_LOST:
		snprintf(words, sizeof(words),
			"group %s has no committed position any more, and batches %" PRId64
			" to %" PRId64 " may have been sent: --take-over sends them, perhaps again",
			s->group_name, s->plan.sent, s->plan.begun - 1);
		break;
	case ING_START_OTHER:
		snprintf(words, sizeof(words),
			"the position that group %s has committed is of another database's plan of "
			"this name: --take-over begins with what this database has not sent",
			s->group_name);
		break;
	case ING_START_BEYOND:
	case ING_START_AT:
	case ING_START_FIRST:
		snprintf(words, sizeof(words),
			"group %s has committed batch %" PRId64
			", and this database has begun only %" PRId64
			": it is an older state. --take-over begins with what it has not sent",
			s->group_name, offset, s->plan.begun);
		break;
	}
	return fail(s, ING_CTL_NEGATIVE, words);
}

static int find_start(struct sender *s, struct ing_error *err)
{
	struct ing_group_position at;
	int rc = ing_group_position(s->group, s->plan.topic, 0, &at, err);
	if (rc != 0)
		return rc;
	bool topic_is_new = false;
	enum ing_enqueue_start start =
		ing_enqueue_start(&s->plan, at.offset, at.metadata, &s->next);
	if (start == ING_START_LOST)
		rc = is_topic_new(s, &topic_is_new, err);
	if (rc != 0 || start == ING_START_AT)
		return rc;
	if (start != ING_START_FIRST && !topic_is_new && !s->conf->take_over)
		return refuse_position(s, start, at.offset);
	return commit_first_position(s, err);
}

/* New clients, and the first batch that is not committed. */
static int begin_anew(struct sender *s)
{
	for (;;) {
		struct ing_error err = {0};
		close_producer(s);
		int rc = open_producer(s, &err);
		if (rc == 0)
			rc = open_group(s, s->group_name, true, &s->group, &err);
		if (rc == 0 && s->conf->max_lag > 0)
			rc = open_group(s, s->conf->conf->kafka.group, false, &s->workers, &err);
		/* After that of the producer: now nobody else commits. */
		if (rc == 0 && execute(s, find_plan, 0) != 0)
			return -1;
		if (rc == 0)
			rc = find_start(s, &err);
		if (s->code != ING_CTL_OK)
			return -1;
		if (rc == 0)
			return execute(s, note_sent, s->next);
		if (rc == -ING_FAIL_CONFIG)
			return fail(s, ING_CTL_USAGE, err.msg);
		if (rc == -ING_FAIL_NOT_FOUND || rc == -ING_FAIL_LOCKED)
			return fail(s, ING_CTL_ENVIRONMENT, err.msg);
		if (!may_try_again(s, "Kafka", &err))
			return fail(s, ING_CTL_ENVIRONMENT, err.msg);
	}
}

/* ---- Sending ---- */

/* Each block of as many lines as there are partitions fills every one of them, turned by a number that looks random: hosts stand
 * at regular distances, and would otherwise meet in the same partitions. */
static int32_t partition_of(int64_t batch, unsigned line, unsigned partitions)
{
	uint64_t z = (uint64_t)batch * ING_MAX_REQUEST_BYTES + line / partitions;
	z = (z + 0x9e3779b97f4a7c15U) * 0xbf58476d1ce4e5b9U;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
	return (int32_t)((line + (z >> 33)) % partitions);
}

static int produce_lines(struct sender *s, struct ing_error *err)
{
	const char *line = ing_buf_str(&s->lines);
	int rc = 0;
	for (unsigned i = 0; rc == 0 && *line != '\0'; i++) {
		const char *end = strchr(line, '\n');
		const struct ing_ctl_tx_message m = {.topic = s->topic,
			.partition = partition_of(s->next, i, (unsigned)s->partitions),
			.value = line,
			.value_bytes = (size_t)(end - line)};
		rc = ing_ctl_tx_produce(s->tx, &m, err);
		line = end + 1;
	}
	return rc;
}

static int send_batch(struct sender *s, struct ing_error *err)
{
	int rc = ing_ctl_tx_begin(s->tx, err);
	if (rc == 0)
		rc = produce_lines(s, err);
	if (rc == 0)
		rc = commit_position(s, s->next + 1, err);
	return rc;
}

static int give_way(struct sender *s)
{
	return fail(s, ING_CTL_NEGATIVE,
		"another sender of it has begun, and goes on with it; this one ends");
}

/* 1: committed; 0: to be looked at again, as the next batch may be another; negative: it has been said. */
static int try_batch(struct sender *s)
{
	struct ing_error err = {0};
	int rc = send_batch(s, &err);
	if (rc == 0)
		return 1;
	if (rc == -ING_FAIL_LOCKED)
		return give_way(s);
	if (rc == -ING_FAIL_TOO_BIG && s->singly)
		return fail(s, ING_CTL_ENVIRONMENT, err.msg);
	if (rc == -ING_FAIL_TOO_BIG) {
		s->singly = true;
		return begin_anew(s);
	}
	if (!may_try_again(s, "Kafka", &err))
		return is_stopped(s) ? 0 : fail(s, ING_CTL_ENVIRONMENT, err.msg);
	return begin_anew(s);
}

/* While nothing is sent nobody is told that they are fenced. */
static int look_for_others(struct sender *s)
{
	if (execute(s, find_plan, 0) != 0)
		return -1;
	return s->plan.sent > s->next ? give_way(s) : 0;
}

/* The lag as it is at most: what was sent since it was last asked for counts as unread. */
static int wait_for_room(struct sender *s)
{
	char waits_for[100];
	while (s->conf->max_lag > 0 && !is_stopped(s)) {
		struct ing_error err = {0};
		if (s->lag_known && s->lag + s->requests <= s->conf->max_lag)
			return 0;
		if (ing_group_lag(s->workers, s->plan.topic, s->partitions, &s->lag, &err) != 0) {
			if (!may_try_again(s, "Kafka", &err))
				return is_stopped(s) ? 0 : fail(s, ING_CTL_ENVIRONMENT, err.msg);
			continue;
		}
		goes_well(s);
		s->lag_known = true;
		/* A batch is sent whole. */
		if (s->lag == 0 || s->lag + s->requests <= s->conf->max_lag)
			return 0;
		snprintf(waits_for, sizeof(waits_for), "workers: lag %" PRIu64, s->lag);
		nap(s, LAG_EVERY_MS, waits_for);
		if (look_for_others(s) != 0)
			return -1;
	}
	return 0;
}

/* The next batch into memory, and the database knows that it is begun. */
static int prepare_batch(struct sender *s)
{
	char words[100];
	if (execute(s, read_batch, s->next) != 0)
		return -1;
	if (s->requests == 0) {
		snprintf(words, sizeof(words), "batch %" PRId64 " is missing in the database",
			s->next);
		return fail(s, ING_CTL_ENVIRONMENT, words);
	}
	if (s->next < s->plan.begun)
		return 0;
	return execute(s, note_begun, ING_MIN(s->plan.planned, s->next + BEGUN_AHEAD));
}

static int send_next(struct sender *s)
{
	if (prepare_batch(s) != 0 || wait_for_room(s) != 0)
		return -1;
	if (is_stopped(s))
		return 0;
	int rc = try_batch(s);
	if (rc <= 0)
		return rc;
	goes_well(s);
	s->next++;
	s->sent += s->requests;
	s->lag += s->requests;
	ing_progress_tick(&s->progress, s->sent, NULL);
	return s->next - s->plan.sent >= FORGET_EVERY ? execute(s, note_sent, s->next) : 0;
}

/* False: there is nothing more to send. */
static bool look_for_more(struct sender *s)
{
	bool more = s->conf->more != NULL && s->conf->more(s->conf->ctx);
	if (execute(s, note_sent, s->next) != 0 || execute(s, find_plan, 0) != 0)
		return false;
	s->progress.total = s->sent + (uint64_t)(s->plan.requests - s->plan.requests_sent);
	if (s->next < s->plan.planned)
		return true;
	if (more)
		nap(s, MORE_EVERY_MS, NULL);
	return more;
}

static void send_all(struct sender *s)
{
	bool going = true;
	while (going && s->code == ING_CTL_OK && !is_stopped(s)) {
		if (s->next < s->plan.planned)
			going = send_next(s) == 0;
		else
			going = look_for_more(s);
	}
	if (s->code == ING_CTL_OK && s->plan.sent < s->next)
		execute(s, note_sent, s->next);
}

static int open_sender(struct sender *s, const struct ing_enqueue_send *conf, const char *what)
{
	*s = (struct sender){.conf = conf, .group_name = ing_enqueue_group(conf->name)};
	ing_buf_init(&s->lines, MAX_BATCH_BYTES);
	ing_progress_start(&s->progress, conf->verb, what, 0, conf->quiet);
	return execute(s, find_plan, 0);
}

static void close_sender(struct sender *s)
{
	ing_progress_clear(&s->progress);
	close_producer(s);
	ing_group_close(s->group);
	ing_group_close(s->workers);
	ing_pg_close(s->pg);
	ing_plan_done(&s->plan);
	ing_buf_done(&s->lines);
	free(s->group_name);
}

/* -------------------------------------------------------------------------------------------- */

char *ing_enqueue_group(const char *name)
{
	char group[300];
	snprintf(group, sizeof(group), "ingestctl-enqueue-%s", name);
	return ing_strdup(group);
}

int ing_enqueue_send(const struct ing_enqueue_send *conf, uint64_t *ret_sent)
{
	struct sender s;
	int rc = open_sender(&s, conf, "requests sent");
	*ret_sent = 0;
	if (rc == 0 && s.plan.id[0] == '\0' && conf->more == NULL)
		rc = fail(&s, ING_CTL_NEGATIVE, "there is no such plan");
	/* A load makes it with its first requests. */
	while (rc == 0 && s.plan.id[0] == '\0' && conf->more(conf->ctx) && !is_stopped(&s)) {
		nap(&s, MORE_EVERY_MS, NULL);
		rc = execute(&s, find_plan, 0);
	}
	if (rc == 0 && s.plan.id[0] != '\0' && begin_anew(&s) == 0) {
		send_all(&s);
		*ret_sent = s.sent;
	}
	bool left = s.next < s.plan.planned;
	close_sender(&s);
	if (s.code == ING_CTL_OK && left)
		return ING_CTL_INTERRUPTED;
	return s.code;
}

int ing_enqueue_abandon(const struct ing_enqueue_send *conf, uint64_t *ret_requests)
{
	struct sender s;
	struct ing_error err = {0};
	int rc = open_sender(&s, conf, "");
	*ret_requests = 0;
	if (rc == 0 && s.plan.id[0] == '\0')
		rc = fail(&s, ING_CTL_NEGATIVE, "there is no such plan");
	/* What Kafka has committed is sent, and not to be forgotten. */
	if (rc == 0)
		rc = begin_anew(&s);
	ing_pg_close(s.pg);
	s.pg = NULL;
	/* Without a limit on the answer: there may be millions. */
	if (rc == 0 && ing_pg_open(conf->dsn, -1, -1, &s.pg, &err) != 0)
		rc = fail(&s, ING_CTL_ENVIRONMENT, err.msg);
	if (rc == 0 && ing_plan_abandon(s.pg, &s.plan, ret_requests, &err) != ING_PG_OK)
		fail(&s, ING_CTL_ENVIRONMENT, err.msg);
	close_sender(&s);
	return s.code;
}
