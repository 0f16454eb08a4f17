/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Requests from a Kafka consumer group. Everything here runs on the loop thread; librdkafka's own
 * threads only write to an eventfd.
 *
 * Two queues. The consumer queue carries rebalances, errors and commit results, and is polled
 * always: that is what keeps the membership. The messages of all partitions are forwarded to a
 * queue of our own, which is polled only while messages are wanted. Backpressure is leaving that
 * queue alone: librdkafka stops fetching when it holds queued.max.messages.kbytes.
 * rd_kafka_pause_partitions() is not used, for it throws away what was fetched and repeats messages
 * when its bookkeeping slips.
 *
 * Offsets are committed by us alone, every second and at a revocation, up to each partition's
 * low-water mark. The assignment is eager: a rebalance takes all partitions away and gives the new
 * set, under new epochs. Membership is static: a restart within session.timeout.ms gets the same
 * partitions back and disturbs nobody, and for that the consumer does not leave the group when it
 * closes.
 */
#include <inttypes.h>
#include <librdkafka/rdkafka.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/kafka/settings.h"
#include "common/kafka/wake.h"
#include "worker/intake/intake_priv.h"
#include "worker/intake/mark.h"

/* How often finished work is committed; also the tick that keeps polling. */
#define COMMIT_EVERY_MS 1000
/* A revocation or the end waits so long for the coordinator; what is then not committed is done
 * again. */
#define COMMIT_WAIT_MS 3000
/* Bound of ing_intake_free(), the last commit included. */
#define CLOSE_WAIT_MS 5000
/* Messages handed out before the loop sees to its other handles. */
#define MESSAGES_PER_TURN 128
/* Partition numbers come from outside and size a table. Kafka clusters do not go near it for one
 * topic. */
#define MAX_PARTITIONS 100000
#define LOG_EVERY_MS 30000

struct slot { /* one partition; its index is the partition's number */
	struct ing_mark mark;
	uint32_t epoch; /* of the present or last assignment; 0 = never assigned */
	bool assigned;
	int64_t committed; /* as acknowledged by the coordinator; at first where we began, -1 before
			    */
};

struct kafka_intake {
	struct ing_intake base;
	struct ing_intake_events ev;
	char *topic;
	rd_kafka_t *rk;
	rd_kafka_queue_t *control;  /* rebalances, errors */
	rd_kafka_queue_t *answers;  /* to commits */
	rd_kafka_queue_t *messages; /* of all partitions */
	struct ing_kafka_wake *wake;

	struct slot *slots;
	size_t slot_count;
	uint32_t last_epoch;
	size_t full_marks; /* assigned slots whose mark can take no more */

	bool started, paused, stopped, closing;
	bool had_assignment; /* on_assigned() has been called */
	bool committing;     /* a commit is not answered yet */
	bool fatal, fatal_said;
	bool topic_missing; /* said */
	bool trouble;       /* brokers away: said */
	uint64_t commit_due_ms;
	uint64_t close_by_ms; /* once closing */
	struct ing_log_gate trouble_gate, error_gate, commit_gate;
};

static struct kafka_intake *kafka_of(struct ing_intake *base)
{
	return ING_CONTAINER(base, struct kafka_intake, base);
}

static void note_contact(struct kafka_intake *in)
{
	if (in->trouble)
		ing_log(ING_LOG_INFO, "%s: the brokers answer again", in->topic);
	in->trouble = false;
}

/* ---- Positions ---- */

static bool commit_is_due(const struct slot *s)
{
	return s->assigned && ing_mark_position(&s->mark) > s->committed;
}

/* Positions that have moved since they were committed. NULL when none has. Caller destroys. */
static rd_kafka_topic_partition_list_t *take_positions(struct kafka_intake *in)
{
	rd_kafka_topic_partition_list_t *list = NULL;
	for (size_t i = 0; i < in->slot_count; i++) {
		struct slot *s = &in->slots[i];
		if (!commit_is_due(s))
			continue;
		if (list == NULL)
			list = rd_kafka_topic_partition_list_new(8);
		rd_kafka_topic_partition_list_add(list, in->topic, (int32_t)i)->offset =
			ing_mark_position(&s->mark);
	}
	return list;
}

static void note_commit_error(struct kafka_intake *in, rd_kafka_resp_err_t err)
{
	unsigned more;
	if (ing_log_gate_pass(&in->commit_gate, LOG_EVERY_MS, &more))
		ing_log(ING_LOG_WARNING, "%s: offsets are not committed yet: %s (%u more such)",
			in->topic, rd_kafka_err2str(err), more);
}

/* A commit has been answered, perhaps in a later assignment than it was asked in: what it says is
 * true all the same. What was refused is due again at the next tick. */
static void note_commit(struct kafka_intake *in, rd_kafka_resp_err_t err,
	const rd_kafka_topic_partition_list_t *list)
{
	for (int i = 0; list != NULL && i < list->cnt; i++) {
		const rd_kafka_topic_partition_t *part = &list->elems[i];
		rd_kafka_resp_err_t part_err = err != 0 ? err : part->err;
		if (part_err != 0) {
			note_commit_error(in, part_err);
			continue;
		}
		struct slot *s = &in->slots[part->partition]; /* one of ours: we asked for it */
		s->committed = ING_MAX(s->committed, part->offset);
	}
	if (err == 0)
		note_contact(in);
}

/* False when no answer came within timeout_ms. */
static bool take_answer(struct kafka_intake *in, int timeout_ms)
{
	rd_kafka_event_t *answer = rd_kafka_queue_poll(in->answers, timeout_ms);
	if (answer == NULL)
		return false;
	note_commit(in, rd_kafka_event_error(answer), rd_kafka_event_topic_partition_list(answer));
	rd_kafka_event_destroy(answer);
	in->committing = false;
	return true;
}

/* One commit is under way at a time: librdkafka repeats one that was put off after newer ones, and
 * so would take the position back. */
static void send_positions(struct kafka_intake *in)
{
	rd_kafka_topic_partition_list_t *list = in->committing ? NULL : take_positions(in);
	if (list == NULL)
		return;
	rd_kafka_resp_err_t err = rd_kafka_commit_queue(in->rk, list, in->answers, NULL, NULL);
	if (err == 0)
		in->committing = true;
	else
		note_commit(in, err, list);
	rd_kafka_topic_partition_list_destroy(list);
}

static int commit_wait_ms(const struct kafka_intake *in)
{
	uint64_t now = ing_now_ms();
	if (!in->closing || now + COMMIT_WAIT_MS < in->close_by_ms)
		return COMMIT_WAIT_MS;
	return now < in->close_by_ms ? (int)(in->close_by_ms - now) : 0;
}

/* Commits what is finished and waits for the answer, which rd_kafka_commit() would do for ever. */
static void commit_now(struct kafka_intake *in)
{
	uint64_t start = ing_now_ms();
	int wait_ms = commit_wait_ms(in);
	if (in->committing)
		take_answer(in, wait_ms);
	wait_ms -= (int)ING_MIN(ing_now_ms() - start, (uint64_t)wait_ms);
	send_positions(in);
	if (in->committing && !take_answer(in, wait_ms))
		note_commit_error(in, RD_KAFKA_RESP_ERR__TIMED_OUT);
}

/* ---- Assignments ---- */

static struct slot *slot_for(struct kafka_intake *in, int32_t partition)
{
	if (partition < 0 || partition >= MAX_PARTITIONS)
		return NULL;
	size_t want = (size_t)partition + 1;
	if (want > in->slot_count) {
		in->slots = ing_realloc(in->slots, want * sizeof(*in->slots));
		for (size_t i = in->slot_count; i < want; i++)
			in->slots[i] = (struct slot){.committed = -1};
		in->slot_count = want;
	}
	return &in->slots[partition];
}

/* Must come before rd_kafka_assign(), which would send the messages to the consumer queue. */
static void divert_messages(struct kafka_intake *in, int32_t partition)
{
	rd_kafka_queue_t *q = rd_kafka_queue_get_partition(in->rk, in->topic, partition);
	if (q == NULL)
		return;
	rd_kafka_queue_forward(q, in->messages);
	rd_kafka_queue_destroy(q);
}

static void end_assignment(struct kafka_intake *in, size_t i)
{
	struct slot *s = &in->slots[i];
	if (!s->assigned)
		return;
	s->assigned = false;
	if (ing_mark_full(&s->mark))
		in->full_marks--;
	ing_mark_done(&s->mark);
	if (!in->closing)
		in->ev.on_revoked(in->ev.ctx, (int32_t)i, s->epoch);
}

static void assign(struct kafka_intake *in, const rd_kafka_topic_partition_list_t *parts)
{
	for (int i = 0; i < parts->cnt; i++) {
		struct slot *s = slot_for(in, parts->elems[i].partition);
		if (s == NULL)
			continue;
		ing_mark_init(&s->mark);
		s->epoch = ++in->last_epoch;
		s->assigned = true;
		s->committed = -1;
		divert_messages(in, parts->elems[i].partition);
	}
	rd_kafka_assign(in->rk, parts);
	ing_log(ING_LOG_INFO, "%s: %d partitions assigned", in->topic, parts->cnt);
	note_contact(in);
	in->had_assignment = true;
	if (parts->cnt > 0)
		in->topic_missing = false;
	if (!in->closing)
		in->ev.on_assigned(in->ev.ctx, (unsigned)parts->cnt);
}

/* The finished part of the work is committed while the partitions are still ours. A lost assignment
 * may already be another's, so that nothing is committed for it. */
static void revoke(struct kafka_intake *in)
{
	bool lost = rd_kafka_assignment_lost(in->rk) != 0;
	if (!lost)
		commit_now(in);
	ing_log(lost ? ING_LOG_WARNING : ING_LOG_INFO, "%s: the assignment was %s", in->topic,
		lost ? "lost" : "revoked");
	for (size_t i = 0; i < in->slot_count; i++)
		end_assignment(in, i);
	rd_kafka_assign(in->rk, NULL);
}

static void on_rebalance(
	rd_kafka_t *rk, rd_kafka_resp_err_t err, rd_kafka_topic_partition_list_t *parts, void *ctx)
{
	(void)rk;
	struct kafka_intake *in = ctx;
	if (err == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS)
		assign(in, parts);
	else
		revoke(in);
}

/* ---- Errors ---- */

static void note_trouble(struct kafka_intake *in, rd_kafka_resp_err_t err, const char *reason)
{
	unsigned more;
	in->trouble = true;
	if (ing_log_gate_pass(&in->trouble_gate, LOG_EVERY_MS, &more))
		ing_log(ING_LOG_WARNING, "%s: %s: %s (%u more such)", in->topic,
			rd_kafka_err2str(err), reason, more);
}

/* The group waits for the topic to appear; that this worker is here with nothing to do is an
 * assignment, too. */
static void note_missing_topic(struct kafka_intake *in)
{
	if (!in->topic_missing)
		ing_log(ING_LOG_WARNING, "%s: there is no such topic; waiting for it", in->topic);
	in->topic_missing = true;
	if (in->had_assignment || in->closing)
		return;
	in->had_assignment = true;
	in->ev.on_assigned(in->ev.ctx, 0);
}

static void note_error(struct kafka_intake *in, rd_kafka_resp_err_t err, const char *reason)
{
	unsigned more;
	if (rd_kafka_fatal_error(in->rk, NULL, 0) != RD_KAFKA_RESP_ERR_NO_ERROR) {
		in->fatal = true; /* say_fatal() has the words */
		return;
	}
	switch ((int)err) {
	case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
	case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
		note_missing_topic(in);
		break;
	case RD_KAFKA_RESP_ERR__TRANSPORT:
	case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
	case RD_KAFKA_RESP_ERR__RESOLVE:
	case RD_KAFKA_RESP_ERR__TIMED_OUT:
		note_trouble(in, err, reason);
		break;
	default: /* among them refused credentials and permissions: librdkafka tries on, a human
		    should look */
		if (ing_log_gate_pass(&in->error_gate, LOG_EVERY_MS, &more))
			ing_log(ING_LOG_ERROR, "%s: %s: %s (%u more such)", in->topic,
				rd_kafka_err2str(err), reason, more);
	}
}

static void on_error(rd_kafka_t *rk, int err, const char *reason, void *ctx)
{
	(void)rk;
	note_error(ctx, (rd_kafka_resp_err_t)err, reason);
}

static void say_fatal(struct kafka_intake *in)
{
	if (!in->fatal || in->fatal_said || in->closing)
		return;
	in->fatal_said = true;
	char reason[256] = "";
	rd_kafka_resp_err_t code = rd_kafka_fatal_error(in->rk, reason, sizeof(reason));
	struct ing_error err = {0};
	ing_error_set(&err, ING_FAIL_UNAVAILABLE, "%s: the consumer cannot go on: %s: %s",
		in->topic, rd_kafka_err2name(code), reason);
	in->ev.on_fatal(in->ev.ctx, &err);
}

/* ---- Messages ---- */

static void take_message(struct kafka_intake *in, const rd_kafka_message_t *m)
{
	if (m->err != 0) {
		note_error(in, m->err, rd_kafka_message_errstr(m));
		return;
	}
	note_contact(in);
	struct slot *s = NULL;
	if (m->partition >= 0 && (size_t)m->partition < in->slot_count)
		s = &in->slots[m->partition];
	/* Left over from an assignment that has ended, or given once more: not ours to do. */
	if (s == NULL || !s->assigned)
		return;
	bool first = ing_mark_position(&s->mark) < 0;
	if (!ing_mark_begin(&s->mark, m->offset))
		return;
	if (first) /* nothing to say until something is finished */
		s->committed = m->offset;
	if (ing_mark_full(&s->mark)) {
		in->full_marks++;
		ing_log(ING_LOG_WARNING,
			"%s: partition %" PRId32 ": %zu requests behind an unfinished one; waiting",
			in->topic, m->partition, ING_MARK_MAX);
	}
	struct ing_message out = {
		.token = {m->partition, s->epoch, m->offset},
		.value = m->len > 0 ? m->payload : "",
		.value_bytes = m->len,
		.key = m->key_len > 0 ? m->key : NULL,
		.key_bytes = m->key_len,
		.topic = in->topic,
		.lane = ING_LANE_REQUESTS,
		.partition = m->partition,
	};
	in->ev.on_message(in->ev.ctx, &out);
}

static bool wants_messages(const struct kafka_intake *in)
{
	return in->started && !in->paused && !in->stopped && !in->fatal && in->full_marks == 0;
}

/* Empties the consumer queue. A message can be there only if its partition was not diverted; to
 * drop it would be to lose it, so it is taken even when none are wanted. */
static void serve_control(struct kafka_intake *in)
{
	for (;;) {
		rd_kafka_message_t *m = rd_kafka_consumer_poll(in->rk, 0);
		if (m == NULL)
			break;
		take_message(in, m);
		rd_kafka_message_destroy(m);
	}
}

/* True when the turn ended before the queue did. */
static bool serve_messages(struct kafka_intake *in)
{
	for (int i = 0; i < MESSAGES_PER_TURN; i++) {
		if (!wants_messages(in))
			return false;
		rd_kafka_message_t *m = rd_kafka_consume_queue(in->messages, 0);
		if (m == NULL)
			return false;
		take_message(in, m);
		rd_kafka_message_destroy(m);
	}
	return true;
}

static bool serve(void *ctx)
{
	struct kafka_intake *in = ctx;
	if (!in->started)
		return false;
	serve_control(in);
	take_answer(in, 0);
	bool more = serve_messages(in);
	uint64_t now = ing_now_ms();
	if (now >= in->commit_due_ms) {
		in->commit_due_ms = now + COMMIT_EVERY_MS;
		send_positions(in);
	}
	say_fatal(in);
	return more;
}

/* ---- Life ---- */

static void start_kafka(struct ing_intake *base)
{
	struct kafka_intake *in = kafka_of(base);
	rd_kafka_topic_partition_list_t *topics = rd_kafka_topic_partition_list_new(1);
	rd_kafka_topic_partition_list_add(topics, in->topic, RD_KAFKA_PARTITION_UA);
	rd_kafka_resp_err_t err = rd_kafka_subscribe(in->rk, topics);
	rd_kafka_topic_partition_list_destroy(topics);
	in->started = true;
	if (err == RD_KAFKA_RESP_ERR__FATAL)
		in->fatal = true;
	else
		ing_must(err == 0); /* the only others are wrong calls */
	ing_kafka_wake_kick(in->wake);
}

static void finish_token(struct ing_intake *base, struct ing_token t)
{
	struct kafka_intake *in = kafka_of(base);
	ing_must(t.partition_slot >= 0 && (size_t)t.partition_slot < in->slot_count);
	struct slot *s = &in->slots[t.partition_slot];
	if (!s->assigned || s->epoch != t.epoch)
		return;
	bool was_full = ing_mark_full(&s->mark);
	ing_must(
		ing_mark_finish(&s->mark, t.offset)); /* finished twice: some other token was not */
	if (was_full && !ing_mark_full(&s->mark)) {
		in->full_marks--;
		ing_kafka_wake_kick(in->wake);
	}
}

static void pause_kafka(struct ing_intake *base, enum ing_lane lane, bool paused)
{
	if (lane != ING_LANE_REQUESTS)
		return;
	struct kafka_intake *in = kafka_of(base);
	if (in->paused && !paused)
		ing_kafka_wake_kick(in->wake);
	in->paused = paused;
}

static void stop_kafka(struct ing_intake *base)
{
	kafka_of(base)->stopped = true;
}

/* Closes the consumer, which revokes the assignment and with that commits, within CLOSE_WAIT_MS.
 * False when it is not closed by then. */
static bool close_consumer(struct kafka_intake *in)
{
	in->close_by_ms = ing_now_ms() + CLOSE_WAIT_MS;
	rd_kafka_queue_t *q = rd_kafka_queue_new(in->rk);
	rd_kafka_error_t *error = rd_kafka_consumer_close_queue(in->rk, q);
	bool closed = error != NULL; /* a fenced consumer: nothing of it is left in the group */
	if (error != NULL)
		rd_kafka_error_destroy(error);
	while (!closed && ing_now_ms() < in->close_by_ms) {
		rd_kafka_queue_poll_callback(q, 50);
		closed = rd_kafka_consumer_closed(in->rk) != 0;
	}
	rd_kafka_queue_destroy(q);
	return closed;
}

static void free_kafka(struct ing_intake *base)
{
	struct kafka_intake *in = kafka_of(base);
	in->closing = true;
	ing_kafka_wake_unwatch(in->control);
	ing_kafka_wake_unwatch(in->answers);
	ing_kafka_wake_unwatch(in->messages);
	/* With a commit under way and no coordinator, librdkafka's destructor waits for the length
	 * of a session. Its threads then end with the process; nobody polls, so no callback comes
	 * any more. */
	bool closed = !in->started || close_consumer(in);
	rd_kafka_queue_destroy(in->messages);
	rd_kafka_queue_destroy(in->answers);
	rd_kafka_queue_destroy(in->control);
	/* With a commit under way and no coordinator, librdkafka's destructor waits for the length
	 * of a session. Its threads then end with the process; nobody polls, so no callback comes
	 * any more. */
	if (closed)
		rd_kafka_destroy_flags(in->rk, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
	else
		ing_log(ING_LOG_WARNING,
			"%s: the brokers do not answer: leaving without a last commit", in->topic);
	ing_kafka_wake_free(in->wake);
	for (size_t i = 0; i < in->slot_count; i++)
		ing_mark_done(&in->slots[i].mark);
	free(in->slots);
	free(in->topic);
	in->base.magic = 0;
	free(in);
}

static const struct ing_intake_ops kafka_ops = {
	.start = start_kafka,
	.finish = finish_token,
	.pause = pause_kafka,
	.stop = stop_kafka,
	.free = free_kafka,
};

/* A response is refused past receive.message.max.bytes, and its partition with it for ever: leave
 * ample room. Brokers send a message that is larger than the fetch limits alone (KIP-74), so these
 * only bound the prefetch. */
static int make_settings(
	const struct ing_intake_kafka_conf *conf, rd_kafka_conf_t **ret, struct ing_error *err)
{
	char receive_bytes[24];
	char client_id[300];
	size_t room = ING_MIN(conf->max_message_bytes, (size_t)400000000) * 4;
	snprintf(receive_bytes, sizeof(receive_bytes), "%zu", ING_MAX(room, (size_t)100000000));
	snprintf(client_id, sizeof(client_id), "ingest-worker-%s", conf->instance);
	const struct ing_kafka_setting settings[] = {
		{"group.id", conf->group, true},
		{"group.instance.id", conf->instance, true},
		{"partition.assignment.strategy", "range", true},
		{"enable.auto.commit", "false", true},
		{"enable.auto.offset.store", "false", true},
		{"enable.partition.eof", "false", true},
		{"isolation.level", "read_committed", false},
		{"auto.offset.reset", "earliest", false},
		/* A topic that is missing is looked for at this interval. */
		{"topic.metadata.refresh.interval.ms", "10000", false},
		/* A full queue makes this version wait a second before it fetches again: hold more
		   than a second's work. */
		{"queued.min.messages", "10000", false},
		{"queued.max.messages.kbytes", "16384", false},
		{"fetch.message.max.bytes", "1048576", false},
		{"fetch.max.bytes", "4194304", false},
		{"receive.message.max.bytes", receive_bytes, false},
		/* Back soon after a broker's restart; the default waits for up to 10 s. */
		{"reconnect.backoff.max.ms", "2000", false},
		{"socket.keepalive.enable", "true", false},
		{NULL, NULL, false},
	};
	return ing_kafka_settings_new(
		ING_KAFKA_CONSUMER, conf->brokers, client_id, settings, conf->properties, ret, err);
}

/* ----------------------------------------------------------------------------------------------------------
 */

int ing_intake_kafka_new(struct uv_loop_s *loop, const struct ing_intake_kafka_conf *conf,
	const struct ing_intake_events *ev, struct ing_intake **ret, struct ing_error *err)
{
	rd_kafka_conf_t *settings;
	int rc = make_settings(conf, &settings, err);
	if (rc < 0)
		return rc;
	struct kafka_intake *in = ing_alloc(sizeof(*in));
	in->base = (struct ing_intake){ING_INTAKE_MAGIC, &kafka_ops};
	in->ev = *ev;
	rd_kafka_conf_set_opaque(settings, in);
	rd_kafka_conf_set_rebalance_cb(settings, on_rebalance);
	rd_kafka_conf_set_error_cb(settings, on_error);
	rc = ing_kafka_wake_new(loop, COMMIT_EVERY_MS, serve, in, &in->wake, err);
	char reason[256];
	if (rc == 0)
		in->rk = rd_kafka_new(RD_KAFKA_CONSUMER, settings, reason, sizeof(reason));
	if (in->rk == NULL) {
		rd_kafka_conf_destroy(settings);
		ing_kafka_wake_free(in->wake);
		free(in);
		return rc < 0 ? rc
			      : ing_error_set(err, ING_FAIL_CONFIG, "Kafka consumer: %s", reason);
	}
	in->topic = ing_strdup(conf->topics[ING_LANE_REQUESTS]);
	rd_kafka_poll_set_consumer(in->rk);
	in->control = rd_kafka_queue_get_consumer(in->rk);
	in->answers = rd_kafka_queue_new(in->rk);
	in->messages = rd_kafka_queue_new(in->rk);
	ing_kafka_wake_watch(in->wake, in->control);
	ing_kafka_wake_watch(in->wake, in->answers);
	ing_kafka_wake_watch(in->wake, in->messages);
	*ret = &in->base;
	return 0;
}
