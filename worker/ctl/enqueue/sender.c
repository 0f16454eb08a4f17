/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The servers of a sender. Statements are repeated on a new connection when one is lost; a Kafka transaction whose end is not
 * known is settled by a new producer, after which the position says whether it was committed.
 */
#include "worker/ctl/enqueue/sender.h"

#include <inttypes.h>
#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "worker/conf/conf.h"
#include "worker/ctl/enqueue/start.h"
#include "worker/ctl/topics/kafka.h"
#include "worker/ctl/topics/kafka_group.h"
#include "worker/ctl/topics/kafka_tx.h"
#include "worker/database/schema.h"
#include "worker/model/limits.h"

/* A server that is away is waited for so long. */
#define PATIENCE_MS (10 * 60 * 1000)
#define BROKER_WAIT_MS 30000
#define BACKOFF_MIN_MS 200
#define BACKOFF_MAX_MS 5000
#define NAP_MS 100
/* A batch has requests for seconds at most. */
#define MAX_BATCH_BYTES ((size_t)256 << 20)
#define RECORD_ROOM_BYTES 65536

/* ---- Kafka: the clients ---- */

static void close_producer(struct ing_sender *s)
{
	if (s->topic != NULL)
		rd_kafka_topic_destroy(s->topic);
	ing_ctl_tx_free(s->tx);
	s->topic = NULL;
	s->tx = NULL;
}

/* From here on an earlier producer can commit nothing more. */
static int open_producer(struct ing_sender *s, struct ing_error *err)
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

static int open_group(struct ing_sender *s, const char *name, bool stable, struct ing_group **group,
	struct ing_error *err)
{
	if (*group != NULL)
		return 0;
	return ing_group_open(
		s->conf->verb, s->conf->brokers, s->conf->conf, name, stable, group, err);
}

/* ---- Where to begin ---- */

static int commit_first_position(struct ing_sender *s, struct ing_error *err)
{
	int rc = ing_ctl_tx_begin(s->tx, err);
	return rc != 0 ? rc : ing_sender_commit(s, s->next, err);
}

/* The group's position in a topic is deleted with the topic: what is in doubt then is not in the new one, if nothing is. */
static int is_topic_new(struct ing_sender *s, bool *ret, struct ing_error *err)
{
	uint64_t ends = 0;
	int rc = ing_group_topic_ends(s->group, s->plan.topic, s->partitions, &ends, err);
	*ret = ends == 0;
	return rc;
}

static int refuse_position(struct ing_sender *s, enum ing_enqueue_start start, int64_t offset)
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
	return ing_sender_fail(s, ING_CTL_NEGATIVE, words);
}

static int find_start(struct ing_sender *s, struct ing_error *err)
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

/* -------------------------------------------------------------------------------------------- */

int ing_sender_open(struct ing_sender *s, const struct ing_enqueue_send *conf, const char *what,
	bool *ret_found)
{
	*s = (struct ing_sender){.conf = conf, .group_name = ing_enqueue_group(conf->name)};
	ing_buf_init(&s->lines, MAX_BATCH_BYTES);
	ing_progress_start(&s->progress, conf->verb, what, 0, conf->quiet);
	int rc = ing_sender_execute(s, ing_sender_find_plan, 0);
	*ret_found = s->plan.id[0] != '\0';
	return rc;
}

void ing_sender_close(struct ing_sender *s)
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

int ing_sender_fail(struct ing_sender *s, enum ing_ctl_exit code, const char *words)
{
	ing_progress_clear(&s->progress);
	s->code = ing_ctl_fail(code, s->conf->verb, "plan %s: %s", s->conf->name, words);
	return -1;
}

bool ing_sender_is_stopped(const struct ing_sender *s)
{
	return s->conf->stop != NULL && *s->conf->stop != 0;
}

void ing_sender_nap(struct ing_sender *s, unsigned ms, const char *waits_for)
{
	uint64_t until_ms = ing_now_ms() + ms;
	while (ing_now_ms() < until_ms && !ing_sender_is_stopped(s)) {
		ing_progress_tick(&s->progress, s->sent, waits_for);
		usleep(NAP_MS * 1000);
	}
}

bool ing_sender_may_try_again(struct ing_sender *s, const char *waits_for, struct ing_error *err)
{
	uint64_t now_ms = ing_now_ms();
	if (s->failing_since_ms == 0)
		s->failing_since_ms = now_ms;
	if (now_ms - s->failing_since_ms > PATIENCE_MS || ing_sender_is_stopped(s))
		return false;
	s->backoff_ms = ING_MIN(ING_MAX(2 * s->backoff_ms, BACKOFF_MIN_MS), BACKOFF_MAX_MS);
	char words[sizeof(err->msg) + 100];
	snprintf(words, sizeof(words), "%s (%s)", waits_for, err->msg);
	ing_sender_nap(s, s->backoff_ms, words);
	ing_error_clear(err);
	return true;
}

void ing_sender_goes_well(struct ing_sender *s)
{
	s->failing_since_ms = 0;
	s->backoff_ms = 0;
}

int ing_sender_execute(struct ing_sender *s, ing_sender_statement_f *statement, int64_t number)
{
	struct ing_error err = {0};
	for (;;) {
		int opened = s->pg != NULL ? 0 : ing_schema_open(s->conf->dsn, &s->pg, &err);
		if (opened == -ING_FAIL_CONFIG || opened == -ING_FAIL_INVALID)
			return ing_sender_fail(s, ing_ctl_exit_of(&err), err.msg);
		enum ing_pg_rc rc = opened == 0 ? statement(s, number, &err) : ING_PG_LOST;
		if (rc == ING_PG_OK)
			return 0;
		ing_pg_close(s->pg);
		s->pg = NULL;
		if (rc == ING_PG_REFUSED || !ing_sender_may_try_again(s, "the database", &err))
			return ing_sender_fail(s, ING_CTL_ENVIRONMENT, err.msg);
	}
}

enum ing_pg_rc ing_sender_find_plan(struct ing_sender *s, int64_t number, struct ing_error *err)
{
	(void)number;
	bool found = false;
	enum ing_pg_rc rc = ing_plan_find(s->pg, s->conf->name, &s->plan, &found, err);
	if (rc == ING_PG_OK && !found)
		s->plan.id[0] = '\0';
	return rc;
}

enum ing_pg_rc ing_sender_note_sent(struct ing_sender *s, int64_t number, struct ing_error *err)
{
	return ing_plan_note_sent(s->pg, &s->plan, number, err);
}

int ing_sender_begin(struct ing_sender *s)
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
		if (rc == 0 && ing_sender_execute(s, ing_sender_find_plan, 0) != 0)
			return -1;
		if (rc == 0)
			rc = find_start(s, &err);
		if (s->code != ING_CTL_OK)
			return -1;
		if (rc == 0)
			return ing_sender_execute(s, ing_sender_note_sent, s->next);
		if (rc == -ING_FAIL_CONFIG)
			return ing_sender_fail(s, ING_CTL_USAGE, err.msg);
		if (rc == -ING_FAIL_NOT_FOUND || rc == -ING_FAIL_LOCKED)
			return ing_sender_fail(s, ING_CTL_ENVIRONMENT, err.msg);
		if (!ing_sender_may_try_again(s, "Kafka", &err))
			return ing_sender_fail(s, ING_CTL_ENVIRONMENT, err.msg);
	}
}

int ing_sender_commit(struct ing_sender *s, int64_t number, struct ing_error *err)
{
	const struct ing_ctl_tx_position position = {.group = s->group_name,
		.topic = s->plan.topic,
		.offset = number,
		.metadata = s->plan.lineage};
	return ing_ctl_tx_commit(s->tx, &position, err);
}
