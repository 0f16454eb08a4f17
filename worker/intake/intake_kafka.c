/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Requests from a Kafka consumer group, of up to four topics, each a lane. Everything here runs on
 * the loop thread; librdkafka's own threads only write to an eventfd.
 *
 * Queues. The consumer queue carries rebalances, errors and commit results, and is polled always:
 * that is what keeps the membership. The messages of all partitions of a lane are forwarded to a
 * queue of the lane, which is polled only while messages are wanted. Backpressure is leaving that
 * queue alone: librdkafka stops fetching for it when it holds queued.max.messages.kbytes, and goes
 * on with the others. rd_kafka_pause_partitions() is not used, for it throws away what was fetched
 * and repeats messages when its bookkeeping slips.
 *
 * Offsets are committed by us alone, every second and at a revocation, up to each partition's
 * low-water mark (kafka_positions.c). The assignment is eager: a rebalance takes all partitions
 * away and gives the new set, under new epochs (kafka_assign.c). Membership is static: a restart
 * within session.timeout.ms gets the same partitions back and disturbs nobody, and for that the
 * consumer does not leave the group when it closes.
 */
#include <inttypes.h>
#include <librdkafka/rdkafka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/kafka/settings.h"
#include "common/kafka/wake.h"
#include "worker/intake/kafka_priv.h"
#include "worker/intake/lane_topic.h"

/* The consumer is polled at least so often. */
#define TICK_MS 1000
/* Bound of ing_intake_free(), the last commit included. */
#define CLOSE_WAIT_MS 5000
/* Messages of one lane handed out before the next lane has its turn; after the last lane the loop
 * sees to its other handles. */
#define MESSAGES_PER_TURN 64
/* … and no more than this time of a lane's turn, but for one message: a request of a mebibyte can
 * take 70 ms to read, and asking a robots.txt of the worst kind 3 ms. */
#define TURN_MS 10

static struct kafka_intake *kafka_of(struct ing_intake *base)
{
	return ING_CONTAINER(base, struct kafka_intake, base);
}

static void on_error(rd_kafka_t *rk, int err, const char *reason, void *ctx)
{
	(void)rk;
	ing_kafka_note_error(ctx, NULL, (rd_kafka_resp_err_t)err, reason);
}

/* ---- Messages ---- */

/* The log is not the one that was read: what lies below our position is in it and has not been
 * taken. It is read from its start. */
static void note_going_back(struct kafka_intake *in, struct ing_slot *s, int64_t offset)
{
	unsigned more;
	if (ing_log_gate_pass(&in->back_gate, ING_KAFKA_LOG_EVERY_MS, &more))
		ing_log(ING_LOG_ERROR,
			"%s: partition %" PRId32 ": offset %" PRId64
			" came below our position %" PRId64
			": the log is another one and is read from its start (%u more such)",
			in->lanes[s->lane].topic, s->partition, offset, s->mark.position, more);
	ing_kafka_begin_anew(in, s);
	s->went_back = true;
}

static void note_consumer_error(
	struct kafka_intake *in, enum ing_lane lane, const char *topic, const rd_kafka_message_t *m)
{
	struct ing_slot *s = NULL;
	if (lane != ING_LANES_)
		s = ing_slots_find(&in->slots, lane, m->partition);
	if (m->err != RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET)
		ing_kafka_note_error(in, topic, m->err, rd_kafka_message_errstr(m));
	else if (s != NULL && s->assigned)
		ing_kafka_set_adrift(in, s); /* there is no message at our position any more */
}

static void hand_out(struct kafka_intake *in, struct ing_slot *s, const rd_kafka_message_t *m)
{
	struct ing_message out = {
		.token = {ing_slots_index(&in->slots, s), s->epoch, m->offset},
		.value = m->len > 0 ? m->payload : "",
		.value_bytes = m->len,
		.key = m->key_len > 0 ? m->key : NULL,
		.key_bytes = m->key_len,
		.topic = in->lanes[s->lane].topic,
		.lane = s->lane,
		.partition = m->partition,
	};
	in->stats.taken++;
	in->ev.on_message(in->ev.ctx, &out);
}

/* What is not taken is counted: it is another owner's, or read again. */
static void take_message(struct kafka_intake *in, enum ing_lane lane, const rd_kafka_message_t *m)
{
	if (m->err != 0) {
		const char *topic = m->rkt != NULL ? rd_kafka_topic_name(m->rkt) : NULL;
		if (lane == ING_LANES_ && topic != NULL)
			lane = ing_kafka_lane_of(in, topic);
		note_consumer_error(in, lane, topic, m);
		return;
	}
	ing_kafka_note_contact(in);
	struct ing_slot *s = NULL;
	if (lane != ING_LANES_)
		s = ing_slots_find(&in->slots, lane, m->partition);
	if (s == NULL || !s->assigned) {
		in->stats.left_over++;
		return;
	}
	if (ing_slot_is_read(s) && m->offset < s->mark.position)
		note_going_back(in, s, m->offset);
	if (ing_slot_is_read(s) && !ing_mark_begin(&s->mark, m->offset))
		ing_kafka_set_adrift(in, s); /* no room: it must come again */
	if (!ing_slot_is_read(s)) {
		in->stats.reread++;
		return;
	}
	if (ing_mark_full(&s->mark)) {
		in->lanes[lane].full_marks++;
		ing_log(ING_LOG_WARNING,
			"%s: partition %" PRId32 ": %zu requests behind an unfinished one; waiting",
			in->lanes[lane].topic, m->partition, ING_MARK_MAX);
	}
	hand_out(in, s, m);
}

static bool wants_messages(const struct kafka_intake *in, const struct kafka_lane *lane)
{
	return in->started && in->phase == KAFKA_OURS && !in->stopped && !in->fatal &&
	       lane->topic != NULL && !lane->paused && lane->full_marks == 0;
}

/* Empties the consumer queue. A message can be there only if its partition was not diverted; to
 * drop it would be to lose it, so it is taken even when none are wanted. */
static void serve_control(struct kafka_intake *in)
{
	for (;;) {
		rd_kafka_message_t *m = rd_kafka_consumer_poll(in->rk, 0);
		if (m == NULL)
			break;
		enum ing_lane lane = ING_LANES_;
		if (m->err == 0)
			lane = ing_kafka_lane_of(in, rd_kafka_topic_name(m->rkt));
		take_message(in, lane, m);
		rd_kafka_message_destroy(m);
	}
}

/* True when the turn ended before the lane's queue did. */
static bool serve_lane(struct kafka_intake *in, enum ing_lane lane)
{
	const uint64_t until_ms = ing_now_ms() + TURN_MS;
	for (int i = 0; i < MESSAGES_PER_TURN && (i == 0 || ing_now_ms() < until_ms); i++) {
		if (!wants_messages(in, &in->lanes[lane]))
			return false;
		rd_kafka_message_t *m = rd_kafka_consume_queue(in->lanes[lane].messages, 0);
		if (m == NULL)
			return false;
		take_message(in, lane, m);
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
	ing_kafka_take_answer(in, 0);
	bool more = false;
	for (int lane = 0; lane < ING_LANES_; lane++)
		more = serve_lane(in, (enum ing_lane)lane) || more;
	ing_kafka_go_on_leaving(in);
	ing_kafka_see_to_positions(in);
	ing_kafka_say(in);
	return more;
}

/* ---- Life ---- */

static void start_kafka(struct ing_intake *base)
{
	struct kafka_intake *in = kafka_of(base);
	rd_kafka_topic_partition_list_t *topics = rd_kafka_topic_partition_list_new(ING_LANES_);
	for (size_t i = 0; i < ING_LANES_; i++)
		if (in->lanes[i].topic != NULL)
			rd_kafka_topic_partition_list_add(
				topics, in->lanes[i].topic, RD_KAFKA_PARTITION_UA);
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
	ing_must(t.partition_slot >= 0 && (size_t)t.partition_slot < in->slots.count);
	struct ing_slot *s = &in->slots.all[t.partition_slot];
	if (!s->assigned || s->epoch != t.epoch)
		return;
	bool was_full = ing_mark_full(&s->mark);
	ing_must(
		ing_mark_finish(&s->mark, t.offset)); /* finished twice: some other token was not */
	if (was_full && !ing_mark_full(&s->mark)) {
		in->lanes[s->lane].full_marks--;
		ing_kafka_wake_kick(in->wake);
	}
}

static void pause_kafka(struct ing_intake *base, enum ing_lane lane, bool paused)
{
	struct kafka_intake *in = kafka_of(base);
	if (in->lanes[lane].paused && !paused)
		ing_kafka_wake_kick(in->wake);
	in->lanes[lane].paused = paused;
}

static void stop_kafka(struct ing_intake *base)
{
	kafka_of(base)->stopped = true;
}

static void stats_of_kafka(const struct ing_intake *base, struct ing_intake_stats *ret)
{
	*ret = ((const struct kafka_intake *)(const void *)base)
		       ->stats; /* base is the first member */
}

/* The pool's threads have the consumer until their questions are answered. False when one still has
 * it. */
static bool end_question(struct kafka_intake *in, struct ing_kafka_question *q)
{
	if (q == NULL)
		return true;
	while (!ing_kafka_question_is_over(q) && ing_now_ms() < in->close_by_ms)
		usleep(5000);
	ing_kafka_question_drop(q);
	return ing_kafka_question_is_over(q);
}

/* Closes the consumer, which revokes the assignment and with that commits, within CLOSE_WAIT_MS.
 * False when it is not closed by then. */
static bool close_consumer(struct kafka_intake *in)
{
	bool over = end_question(in, ING_TAKE(in->check));
	if (!end_question(in, ING_TAKE(in->where)) || !over)
		return false;
	ing_kafka_commit_at_end(in);
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

static void unwatch_queues(struct kafka_intake *in)
{
	ing_kafka_wake_unwatch(in->control);
	ing_kafka_wake_unwatch(in->answers);
	for (size_t i = 0; i < ING_LANES_; i++)
		if (in->lanes[i].messages != NULL)
			ing_kafka_wake_unwatch(in->lanes[i].messages);
}

static void destroy_queues(struct kafka_intake *in)
{
	for (size_t i = 0; i < ING_LANES_; i++)
		if (in->lanes[i].messages != NULL)
			rd_kafka_queue_destroy(in->lanes[i].messages);
	rd_kafka_queue_destroy(in->answers);
	rd_kafka_queue_destroy(in->control);
}

static void free_memory(struct kafka_intake *in)
{
	ing_kafka_wake_free(in->wake);
	ing_slots_done(&in->slots);
	if (in->last != NULL)
		rd_kafka_topic_partition_list_destroy(in->last);
	for (size_t i = 0; i < ING_LANES_; i++)
		free(in->lanes[i].topic);
	in->base.magic = 0;
	free(in);
}

static void free_kafka(struct ing_intake *base)
{
	struct kafka_intake *in = kafka_of(base);
	in->closing = true;
	in->close_by_ms = ing_now_ms() + CLOSE_WAIT_MS;
	unwatch_queues(in);
	bool closed = !in->started || close_consumer(in);
	destroy_queues(in);
	/* With a commit under way and no coordinator, librdkafka's destructor waits for the length
	 * of a session. Its threads then end with the process; nobody polls, so no callback comes
	 * any more. */
	if (closed)
		rd_kafka_destroy_flags(in->rk, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
	else
		ing_log(ING_LOG_WARNING,
			"%s: the brokers do not answer: leaving without a last commit", in->name);
	free_memory(in);
}

static const struct ing_intake_ops kafka_ops = {
	.start = start_kafka,
	.finish = finish_token,
	.pause = pause_kafka,
	.stop = stop_kafka,
	.stats = stats_of_kafka,
	.free = free_kafka,
};

/* A response is refused past receive.message.max.bytes, and its partition with it for ever: leave
 * ample room. Brokers send a message that is larger than the fetch limits alone (KIP-74), so these
 * only bound the prefetch. */
static int make_conf(const struct ing_kafka_settings *own, const char *instance,
	rd_kafka_conf_t **ret, struct ing_error *err)
{
	char receive_bytes[24];
	char client_id[300];
	size_t room = ING_MIN(own->max_message_bytes, (size_t)400000000) * 4;
	snprintf(receive_bytes, sizeof(receive_bytes), "%zu", ING_MAX(room, (size_t)100000000));
	snprintf(client_id, sizeof(client_id), "ingest-worker-%s", instance);
	const struct ing_kafka_setting settings[] = {
		{"group.id", own->group, true},
		{"group.instance.id", instance, true},
		{"partition.assignment.strategy", "range", true},
		{"enable.auto.commit", "false", true},
		{"enable.auto.offset.store", "false", true},
		{"enable.partition.eof", "false", true},
		{"isolation.level", "read_committed", false},
		/* Where to read is decided here (kafka_assign.c). */
		{"auto.offset.reset", "error", true},
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
		ING_KAFKA_CONSUMER, own->brokers, client_id, settings, own->properties, ret, err);
}

/* librdkafka refuses a subscription that names a topic twice. */
static int check_topics(const struct kafka_intake *in, struct ing_error *err)
{
	for (size_t i = 0; i < ING_LANES_; i++) {
		const char *topic = in->lanes[i].topic;
		for (size_t k = 0; topic != NULL && k < i; k++)
			if (in->lanes[k].topic != NULL && strcmp(topic, in->lanes[k].topic) == 0)
				return ing_error_set(err, ING_FAIL_CONFIG,
					"kafka.topics: %s is the topic of two lanes", topic);
	}
	return 0;
}

static void name_topics(struct kafka_intake *in, const char *const topics[ING_LANES_])
{
	for (int i = 0; i < ING_LANES_; i++)
		in->lanes[i].topic = ing_lane_topic((enum ing_lane)i, topics);
	in->name = in->lanes[ING_LANE_REQUESTS].topic;
}

static void open_queues(struct kafka_intake *in)
{
	in->control = rd_kafka_queue_get_consumer(in->rk);
	in->answers = rd_kafka_queue_new(in->rk);
	ing_kafka_wake_watch(in->wake, in->control);
	ing_kafka_wake_watch(in->wake, in->answers);
	for (size_t i = 0; i < ING_LANES_; i++) {
		struct kafka_lane *lane = &in->lanes[i];
		if (lane->topic == NULL)
			continue;
		lane->messages = rd_kafka_queue_new(in->rk);
		ing_kafka_wake_watch(in->wake, lane->messages);
	}
}

static int open_consumer(struct kafka_intake *in, rd_kafka_conf_t *conf, struct ing_error *err)
{
	char reason[256];
	rd_kafka_conf_set_opaque(conf, in);
	rd_kafka_conf_set_rebalance_cb(conf, ing_kafka_on_rebalance);
	rd_kafka_conf_set_error_cb(conf, on_error);
	int rc = ing_kafka_wake_new(in->loop, TICK_MS, serve, in, &in->wake, err);
	if (rc == 0)
		in->rk = rd_kafka_new(RD_KAFKA_CONSUMER, conf, reason, sizeof(reason));
	if (in->rk != NULL)
		return 0;
	rd_kafka_conf_destroy(conf);
	return rc < 0 ? rc : ing_error_set(err, ING_FAIL_CONFIG, "Kafka consumer: %s", reason);
}

/* -------------------------------------------------------------------------------------------- */

enum ing_lane ing_kafka_lane_of(const struct kafka_intake *in, const char *topic)
{
	for (int i = 0; i < ING_LANES_; i++)
		if (in->lanes[i].topic != NULL && strcmp(in->lanes[i].topic, topic) == 0)
			return (enum ing_lane)i;
	return ING_LANES_;
}

int ing_intake_kafka_new(struct uv_loop_s *loop, const struct ing_kafka_settings *settings,
	const char *instance, const struct ing_intake_events *ev, struct ing_intake **ret,
	struct ing_error *err)
{
	rd_kafka_conf_t *conf;
	struct kafka_intake *in = ing_alloc(sizeof(*in));
	in->base = (struct ing_intake){ING_INTAKE_MAGIC, &kafka_ops};
	in->ev = *ev;
	in->loop = loop;
	name_topics(in, settings->lane_topics);
	int rc = check_topics(in, err);
	if (rc == 0)
		rc = make_conf(settings, instance, &conf, err);
	if (rc == 0)
		rc = open_consumer(in, conf, err);
	if (rc < 0) {
		free_memory(in);
		return rc;
	}
	rd_kafka_poll_set_consumer(in->rk);
	open_queues(in);
	*ret = &in->base;
	return 0;
}
