/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Requests from a Kafka consumer group that subscribes to up to four topics, one for each lane.
 * Everything here runs on the loop thread; librdkafka's own threads only write to an eventfd.
 *
 * Queues. The consumer queue carries rebalances and errors. It is always polled, at least every
 * second, which keeps the group membership. The messages of all partitions of a lane are forwarded to
 * a queue of the lane, which is polled only while the lane is not paused. A queue that is not polled
 * is the backpressure: librdkafka stops fetching for it at queued.max.messages.kbytes (16 MiB, and a
 * response of 4 MiB under way) and goes on with the others. rd_kafka_pause_partitions() is not used:
 * it discards fetched messages, and can deliver some twice. The lane of the highest priority is served
 * first, each for MESSAGES_PER_TURN or TURN_MS a turn.
 *
 * Offsets are committed by us only, every second and at a revocation, up to each partition's
 * low-water mark (kafka_positions.c). Assignment is eager: a rebalance revokes all partitions and
 * assigns the new set, under new epochs (kafka_assign.c). Membership is static: a restart within
 * session.timeout.ms gets the same partitions back without a rebalance, and for that the consumer
 * does not leave the group when it is closed.
 *
 * Messages that arrive and are not taken are counted: left_over, of an assignment that has ended;
 * reread, of a partition that awaits validation.
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
#include "worker/intake/lane_names.h"

/* The consumer is polled at least this often. */
#define TICK_MS 1000
/* Bound of ing_intake_free(), the last commit included. */
#define CLOSE_WAIT_MS 5000
/* Messages of one lane passed on before the next lane is served; after the last lane the loop serves
 * its other handles. */
#define MESSAGES_PER_TURN 64
/* … and for no longer than this, except for the first message: a request of 1 MiB can take 70 ms to
 * parse, and matching against a worst-case robots.txt 3 ms. */
#define TURN_MS 10

static struct kafka_intake *kafka_of(struct ing_intake *base)
{
	return ING_CONTAINER(base, struct kafka_intake, base);
}

static void on_error(rd_kafka_t *rk, int err, const char *reason, void *ctx)
{
	(void)rk;
	ing_kafka_handle_error(ctx, NULL, (rd_kafka_resp_err_t)err, reason);
}

/* ---- Messages ---- */

/* A message below the position: the log has changed, and is read from its start. */
static void restart_from_start(struct kafka_intake *in, struct ing_partition *s, int64_t offset)
{
	unsigned more;
	if (ing_log_throttle_pass(&in->restart_throttle, ING_KAFKA_LOG_EVERY_MS, &more))
		ing_log(ING_LOG_ERROR,
			"%s: partition %" PRId32 ": offset %" PRId64
			" is below the position %" PRId64
			": the log has changed, reading from its start (%u more suppressed)",
			in->lanes[s->lane].topic, s->number, offset, s->offsets.position, more);
	ing_kafka_restart_partition(in, s);
	s->reset_to_start = true;
}

static void handle_consumer_error(
	struct kafka_intake *in, enum ing_lane lane, const char *topic, const rd_kafka_message_t *m)
{
	struct ing_partition *s = NULL;
	if (lane != ING_LANES_)
		s = ing_partitions_find(&in->partitions, lane, m->partition);
	if (m->err != RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET)
		ing_kafka_handle_error(in, topic, m->err, rd_kafka_message_errstr(m));
	else if (s != NULL && s->assigned)
		ing_kafka_request_validation(in, s); /* the log has no message at the position */
}

static void hand_out(struct kafka_intake *in, struct ing_partition *s, const rd_kafka_message_t *m)
{
	struct ing_message out = {
		.token = {ing_partitions_index(&in->partitions, s), s->epoch, m->offset},
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

/* Messages that are not taken are counted: another consumer reads them, or we read them again. */
static void take_message(struct kafka_intake *in, enum ing_lane lane, const rd_kafka_message_t *m)
{
	if (m->err != 0) {
		const char *topic = m->rkt != NULL ? rd_kafka_topic_name(m->rkt) : NULL;
		if (lane == ING_LANES_ && topic != NULL)
			lane = ing_kafka_lane_of(in, topic);
		handle_consumer_error(in, lane, topic, m);
		return;
	}
	ing_kafka_set_brokers_up(in);
	struct ing_partition *s = NULL;
	if (lane != ING_LANES_)
		s = ing_partitions_find(&in->partitions, lane, m->partition);
	if (s == NULL || !s->assigned) {
		in->stats.left_over++;
		return;
	}
	if (ing_partition_is_fetched(s) && m->offset < s->offsets.position)
		restart_from_start(in, s, m->offset);
	const struct ing_tracked taken = {.offset = m->offset, .timestamp_ms = -1};
	if (ing_partition_is_fetched(s) && !ing_offset_tracker_begin(&s->offsets, &taken))
		ing_kafka_request_validation(in, s); /* the tracker is full: read it again later */
	if (!ing_partition_is_fetched(s)) {
		in->stats.reread++;
		return;
	}
	if (ing_offset_tracker_is_full(&s->offsets)) {
		in->lanes[lane].full_partitions++;
		ing_log(ING_LOG_WARNING,
			"%s: partition %" PRId32
			": %zu requests are or wait for unfinished ones, reading stops",
			in->lanes[lane].topic, m->partition, s->offsets.count);
	}
	hand_out(in, s, m);
}

static bool is_served(const struct kafka_intake *in, const struct kafka_lane *lane)
{
	return in->started && in->phase == KAFKA_ASSIGNED && !in->stopped && !in->fatal &&
	       lane->topic != NULL && !lane->paused && lane->full_partitions == 0;
}

/* Empties the consumer queue. It has messages only of partitions that were not forwarded in time.
 * Dropping them would lose them, so they are taken even when the lane is paused. */
static void serve_consumer_queue(struct kafka_intake *in)
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

/* Returns true when the lane's queue may have more messages. */
static bool serve_lane(struct kafka_intake *in, enum ing_lane lane)
{
	const uint64_t until_ms = ing_now_ms() + TURN_MS;
	for (int i = 0; i < MESSAGES_PER_TURN && (i == 0 || ing_now_ms() < until_ms); i++) {
		if (!is_served(in, &in->lanes[lane]))
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
	serve_consumer_queue(in);
	ing_kafka_take_commit_reply(in, 0);
	bool more = false;
	for (int lane = 0; lane < ING_LANES_; lane++)
		more = serve_lane(in, (enum ing_lane)lane) || more;
	ing_kafka_continue_revocation(in);
	ing_kafka_serve_positions(in);
	ing_kafka_report(in);
	return more;
}

/* ---- Start and stop ---- */

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
		ing_must(err == 0); /* other errors come only from wrong arguments */
	ing_kafka_wake_kick(in->wake);
}

static void finish_token(struct ing_intake *base, struct ing_token t)
{
	struct kafka_intake *in = kafka_of(base);
	ing_must(t.partition_index >= 0 && (size_t)t.partition_index < in->partitions.count);
	struct ing_partition *s = &in->partitions.all[t.partition_index];
	if (!s->assigned || s->epoch != t.epoch)
		return;
	bool was_full = ing_offset_tracker_is_full(&s->offsets);
	ing_must(ing_offset_tracker_finish(
		&s->offsets, t.offset)); /* else it was finished twice, or never taken */
	if (was_full && !ing_offset_tracker_is_full(&s->offsets)) {
		in->lanes[s->lane].full_partitions--;
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

/* Waits until the query does not use the consumer any more, until close_deadline_ms at most. Returns
 * false when it still does. */
static bool end_query(struct kafka_intake *in, struct ing_offset_query *q)
{
	if (q == NULL)
		return true;
	while (!ing_offset_query_is_done(q) && ing_now_ms() < in->close_deadline_ms)
		usleep(5000);
	ing_offset_query_cancel(q);
	return ing_offset_query_is_done(q);
}

/* Commits, then closes the consumer. Returns false when it is not closed within CLOSE_WAIT_MS. */
static bool close_consumer(struct kafka_intake *in)
{
	bool ended = end_query(in, ING_TAKE(in->commit_query));
	if (!end_query(in, ING_TAKE(in->validation_query)) || !ended)
		return false;
	ing_kafka_commit_on_close(in);
	rd_kafka_queue_t *q = rd_kafka_queue_new(in->rk);
	rd_kafka_error_t *error = rd_kafka_consumer_close_queue(in->rk, q);
	bool closed = error != NULL; /* the consumer is fenced: it has left the group */
	if (error != NULL)
		rd_kafka_error_destroy(error);
	while (!closed && ing_now_ms() < in->close_deadline_ms) {
		rd_kafka_queue_poll_callback(q, 50);
		closed = rd_kafka_consumer_closed(in->rk) != 0;
	}
	rd_kafka_queue_destroy(q);
	return closed;
}

static void unwatch_queues(struct kafka_intake *in)
{
	ing_kafka_wake_unwatch(in->consumer_queue);
	ing_kafka_wake_unwatch(in->commit_replies);
	for (size_t i = 0; i < ING_LANES_; i++)
		if (in->lanes[i].messages != NULL)
			ing_kafka_wake_unwatch(in->lanes[i].messages);
}

static void destroy_queues(struct kafka_intake *in)
{
	for (size_t i = 0; i < ING_LANES_; i++)
		if (in->lanes[i].messages != NULL)
			rd_kafka_queue_destroy(in->lanes[i].messages);
	rd_kafka_queue_destroy(in->commit_replies);
	rd_kafka_queue_destroy(in->consumer_queue);
}

static void free_memory(struct kafka_intake *in)
{
	ing_kafka_wake_free(in->wake);
	ing_partitions_done(&in->partitions);
	if (in->revoked_offsets != NULL)
		rd_kafka_topic_partition_list_destroy(in->revoked_offsets);
	for (size_t i = 0; i < ING_LANES_; i++)
		free(in->lanes[i].topic);
	in->base.magic = 0;
	free(in);
}

static void free_kafka(struct ing_intake *base)
{
	struct kafka_intake *in = kafka_of(base);
	in->closing = true;
	in->close_deadline_ms = ing_now_ms() + CLOSE_WAIT_MS;
	unwatch_queues(in);
	bool closed = !in->started || close_consumer(in);
	destroy_queues(in);
	/* While a commit is pending and the coordinator is away, rd_kafka_destroy() would wait for
	 * session.timeout.ms. The consumer is leaked instead: its threads end with the process, and
	 * no callback runs because nobody polls. */
	if (closed)
		rd_kafka_destroy_flags(in->rk, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
	else
		ing_log(ING_LOG_WARNING,
			"%s: no answer from the brokers: closing without the last commit",
			in->name);
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

/* A response over receive.message.max.bytes fails, and would fail at each retry: leave ample room. The
 * fetch limits only bound the prefetch, because brokers send a message that is larger than them on its
 * own (KIP-74). */
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
		/* Positions are decided in kafka_positions.c. */
		{"auto.offset.reset", "error", true},
		/* Missing topics are looked up at this interval. */
		{"topic.metadata.refresh.interval.ms", "10000", false},
		/* librdkafka waits a second after its queue was full: hold more than a
		   second's work. */
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

/* rd_kafka_subscribe() fails when a topic is named twice. */
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
		in->lanes[i].topic = ing_lane_topic_name((enum ing_lane)i, topics);
	in->name = in->lanes[ING_LANE_REQUESTS].topic;
}

static void open_queues(struct kafka_intake *in)
{
	in->consumer_queue = rd_kafka_queue_get_consumer(in->rk);
	in->commit_replies = rd_kafka_queue_new(in->rk);
	ing_kafka_wake_watch(in->wake, in->consumer_queue);
	ing_kafka_wake_watch(in->wake, in->commit_replies);
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
