/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The order of things makes it exact: `begun` is committed in the database, then the batch with its number in Kafka, then the
 * database forgets the batch.
 */
#include "worker/ctl/enqueue/send.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "worker/ctl/enqueue/sender.h"
#include "worker/ctl/topics/kafka_group.h"
#include "worker/ctl/topics/kafka_tx.h"
#include "worker/model/limits.h"

#define LAG_EVERY_MS 500
#define MORE_EVERY_MS 200
/* Batches of which only Kafka knows whether they are sent, at most; and the sent ones that the database still has. */
#define BEGUN_AHEAD 64
#define FORGET_EVERY 16

static enum ing_pg_rc read_batch(struct ing_sender *s, int64_t number, struct ing_error *err)
{
	return ing_plan_read_batch(s->pg, &s->plan, number, &s->lines, &s->requests, err);
}

static enum ing_pg_rc note_begun(struct ing_sender *s, int64_t number, struct ing_error *err)
{
	return ing_plan_note_begun(s->pg, &s->plan, number, err);
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

static int produce_lines(struct ing_sender *s, struct ing_error *err)
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

static int send_batch(struct ing_sender *s, struct ing_error *err)
{
	int rc = ing_ctl_tx_begin(s->tx, err);
	if (rc == 0)
		rc = produce_lines(s, err);
	if (rc == 0)
		rc = ing_sender_commit(s, s->next + 1, err);
	return rc;
}

static int give_way(struct ing_sender *s)
{
	return ing_sender_fail(s, ING_CTL_NEGATIVE,
		"another sender of it has begun, and goes on with it; this one ends");
}

/* All is looked at anew, as the topic may be gone, or made anew with other partitions. */
static int begin_again(struct ing_sender *s, struct ing_error *err)
{
	s->lag_known = false;
	if (ing_sender_may_try_again(s, "Kafka", err))
		return ing_sender_begin(s);
	return ing_sender_is_stopped(s) ? 0 : ing_sender_fail(s, ING_CTL_ENVIRONMENT, err->msg);
}

/* 1: committed; 0: to be looked at again, as the next batch may be another; negative: it has been said. */
static int try_batch(struct ing_sender *s)
{
	struct ing_error err = {0};
	int rc = send_batch(s, &err);
	if (rc == 0)
		return 1;
	if (rc == -ING_FAIL_LOCKED)
		return give_way(s);
	if (rc == -ING_FAIL_TOO_BIG && s->singly)
		return ing_sender_fail(s, ING_CTL_ENVIRONMENT, err.msg);
	if (rc == -ING_FAIL_TOO_BIG) {
		s->singly = true;
		return ing_sender_begin(s);
	}
	return begin_again(s, &err);
}

/* While nothing is sent nobody is told that they are fenced. */
static int look_for_others(struct ing_sender *s)
{
	if (ing_sender_execute(s, ing_sender_find_plan, 0) != 0)
		return -1;
	return s->plan.sent > s->next ? give_way(s) : 0;
}

/* The lag as it is at most: what was sent since it was last asked for counts as unread. Returns as try_batch(). */
static int wait_for_room(struct ing_sender *s)
{
	char waits_for[100];
	while (s->conf->max_lag > 0 && !ing_sender_is_stopped(s)) {
		struct ing_error err = {0};
		if (s->lag_known && s->lag + s->requests <= s->conf->max_lag)
			break;
		if (ing_group_lag(s->workers, s->plan.topic, s->partitions, &s->lag, &err) != 0)
			return begin_again(s, &err);
		ing_sender_goes_well(s);
		s->lag_known = true;
		/* A batch is sent whole. */
		if (s->lag == 0 || s->lag + s->requests <= s->conf->max_lag)
			break;
		snprintf(waits_for, sizeof(waits_for), "workers: lag %" PRIu64, s->lag);
		ing_sender_nap(s, LAG_EVERY_MS, waits_for);
		if (look_for_others(s) != 0)
			return -1;
	}
	return ing_sender_is_stopped(s) ? 0 : 1;
}

/* The next batch into memory, and the database knows that it is begun. */
static int prepare_batch(struct ing_sender *s)
{
	char words[100];
	if (ing_sender_execute(s, read_batch, s->next) != 0)
		return -1;
	if (s->requests == 0) {
		snprintf(words, sizeof(words), "batch %" PRId64 " is missing in the database",
			s->next);
		return ing_sender_fail(s, ING_CTL_ENVIRONMENT, words);
	}
	if (s->next < s->plan.begun)
		return 0;
	return ing_sender_execute(s, note_begun, ING_MIN(s->plan.planned, s->next + BEGUN_AHEAD));
}

static int send_next(struct ing_sender *s)
{
	if (prepare_batch(s) != 0)
		return -1;
	int rc = wait_for_room(s);
	if (rc > 0)
		rc = try_batch(s);
	if (rc <= 0)
		return rc;
	ing_sender_goes_well(s);
	s->next++;
	s->sent += s->requests;
	s->lag += s->requests;
	ing_progress_tick(&s->progress, s->sent, NULL);
	return s->next - s->plan.sent >= FORGET_EVERY
		       ? ing_sender_execute(s, ing_sender_note_sent, s->next)
		       : 0;
}

/* False: there is nothing more to send. */
static bool look_for_more(struct ing_sender *s)
{
	bool more = s->conf->more != NULL && s->conf->more(s->conf->ctx);
	if (ing_sender_execute(s, ing_sender_note_sent, s->next) != 0 ||
		ing_sender_execute(s, ing_sender_find_plan, 0) != 0)
		return false;
	s->progress.total = s->sent + (uint64_t)(s->plan.requests - s->plan.requests_sent);
	if (s->next < s->plan.planned)
		return true;
	if (more)
		ing_sender_nap(s, MORE_EVERY_MS, NULL);
	return more;
}

static void send_all(struct ing_sender *s)
{
	bool going = true;
	while (going && s->code == ING_CTL_OK && !ing_sender_is_stopped(s)) {
		if (s->next < s->plan.planned)
			going = send_next(s) == 0;
		else
			going = look_for_more(s);
	}
	if (s->code == ING_CTL_OK && s->plan.sent < s->next)
		ing_sender_execute(s, ing_sender_note_sent, s->next);
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
	struct ing_sender s;
	bool found = false;
	int rc = ing_sender_open(&s, conf, "requests sent", &found);
	*ret_sent = 0;
	if (rc == 0 && !found && conf->more == NULL)
		rc = ing_sender_fail(&s, ING_CTL_NEGATIVE, "there is no such plan");
	/* A load makes it with its first requests. */
	while (rc == 0 && s.plan.id[0] == '\0' && conf->more(conf->ctx) &&
		!ing_sender_is_stopped(&s)) {
		ing_sender_nap(&s, MORE_EVERY_MS, NULL);
		rc = ing_sender_execute(&s, ing_sender_find_plan, 0);
	}
	if (rc == 0 && s.plan.id[0] != '\0' && ing_sender_begin(&s) == 0) {
		send_all(&s);
		*ret_sent = s.sent;
	}
	bool left = s.next < s.plan.planned;
	ing_sender_close(&s);
	if (s.code == ING_CTL_OK && left)
		return ING_CTL_INTERRUPTED;
	return s.code;
}

int ing_enqueue_abandon(const struct ing_enqueue_send *conf, uint64_t *ret_requests)
{
	struct ing_sender s;
	struct ing_error err = {0};
	bool found = false;
	int rc = ing_sender_open(&s, conf, "", &found);
	*ret_requests = 0;
	if (rc == 0 && !found)
		rc = ing_sender_fail(&s, ING_CTL_NEGATIVE, "there is no such plan");
	/* What Kafka has committed is sent, and not to be forgotten. */
	if (rc == 0)
		rc = ing_sender_begin(&s);
	ing_pg_close(s.pg);
	s.pg = NULL;
	/* Without a limit on the answer: there may be millions. */
	if (rc == 0 && ing_pg_open(conf->dsn, -1, -1, &s.pg, &err) != 0)
		rc = ing_sender_fail(&s, ING_CTL_ENVIRONMENT, err.msg);
	if (rc == 0 && ing_plan_abandon(s.pg, &s.plan, ret_requests, &err) != ING_PG_OK)
		ing_sender_fail(&s, ING_CTL_ENVIRONMENT, err.msg);
	ing_sender_close(&s);
	return s.code;
}
