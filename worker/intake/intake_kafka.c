/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Requests from a Kafka consumer group that subscribes to a topic for each lane and for each tier of
 * parked requests. Everything here runs on the loop thread; librdkafka's own threads only write to an
 * eventfd. Which file does what is said in kafka_priv.h.
 *
 * Assignment is eager: a rebalance revokes all partitions and assigns the new set, under new epochs.
 * Membership is static: a restart within session.timeout.ms gets the same partitions back without a
 * rebalance, and for that the consumer does not leave the group when it is closed. Neither is for an
 * operator to change: workers of one group must not mix assignors, not even during an upgrade, and
 * cooperative ones lose assignments in librdkafka before 2.10.
 *
 * Messages that arrive and are not taken are counted: left_over, of an assignment that has ended;
 * reread, fetched in a way that they have to be fetched again.
 */
#include <inttypes.h>
#include <librdkafka/rdkafka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/data/digest.h"
#include "common/kafka/settings.h"
#include "common/kafka/wake.h"
#include "worker/intake/kafka_priv.h"
#include "worker/intake/lane_names.h"

/* The consumer is polled at least this often. */
#define TICK_MS 1000
/* Bound of ing_intake_free(), the last commit included. */
#define CLOSE_WAIT_MS 5000

static void on_error(rd_kafka_t *rk, int err, const char *reason, void *ctx)
{
	(void)rk;
	ing_kafka_handle_error(ctx, NULL, (rd_kafka_resp_err_t)err, reason);
}

static bool serve(void *ctx)
{
	struct kafka_intake *in = ctx;
	if (!in->started)
		return false;
	ing_kafka_serve_consumer_queue(in);
	ing_kafka_take_commit_reply(in, 0);
	bool more = ing_kafka_take_messages(in);
	ing_kafka_continue_revocation(in);
	ing_kafka_serve_fenced(in);
	ing_kafka_serve_claims(in);
	ing_kafka_serve_validation(in);
	ing_kafka_serve_commits(in);
	ing_kafka_serve_fetching(in);
	ing_kafka_serve_lag(in);
	ing_kafka_report(in);
	return more;
}

static void on_timer(uv_timer_t *timer)
{
	struct kafka_intake *in = timer->data;
	ing_kafka_wake_kick(in->wake);
}

/* ---- Start and stop ---- */

static void subscribe(struct kafka_intake *in)
{
	rd_kafka_topic_partition_list_t *topics = rd_kafka_topic_partition_list_new(16);
	for (size_t i = 0; i < ING_INTAKE_TOPICS; i++)
		if (in->topics[i].name != NULL)
			rd_kafka_topic_partition_list_add(
				topics, in->topics[i].name, RD_KAFKA_PARTITION_UA);
	rd_kafka_resp_err_t err = rd_kafka_subscribe(in->rk, topics);
	rd_kafka_topic_partition_list_destroy(topics);
	if (err == RD_KAFKA_RESP_ERR__FATAL)
		in->fatal = true;
	else
		ing_must(err == 0); /* other errors come only from wrong arguments */
	ing_kafka_wake_kick(in->wake);
}

static void start_kafka(struct ing_intake *base)
{
	struct kafka_intake *in = ing_kafka_intake_of(base);
	in->started = true;
	if (!in->away)
		subscribe(in);
}

/* A static member that unsubscribes does leave its group, unlike one that is closed: its partitions are the others'
 * as soon as they have been told. The revocation is an ordinary one. */
static void set_away(struct ing_intake *base, bool away)
{
	struct kafka_intake *in = ing_kafka_intake_of(base);
	if (in->away == away)
		return;
	in->away = away;
	if (!in->started || in->stopped || in->fatal)
		return;
	ing_log(ING_LOG_INFO,
		away ? "%s: leaving the group: its partitions are the others'"
		     : "%s: joining the group again",
		in->name);
	if (!away)
		subscribe(in);
	else if (rd_kafka_unsubscribe(in->rk) == RD_KAFKA_RESP_ERR__FATAL)
		in->fatal = true;
	ing_kafka_wake_kick(in->wake);
}

static bool is_away(const struct ing_intake *base)
{
	const struct kafka_intake *in = (const struct kafka_intake *)(const void *)base;
	return in->away && in->phase == KAFKA_UNASSIGNED;
}

static void finish_token(struct ing_intake *base, struct ing_token t)
{
	struct kafka_intake *in = ing_kafka_intake_of(base);
	struct ing_partition *part = ing_partitions_of_token(&in->partitions, &t);
	if (part == NULL)
		return;
	bool was_full = ing_offset_tracker_is_full(&part->offsets);
	ing_must(ing_offset_tracker_finish(
		&part->offsets, t.offset)); /* else it was finished twice, or never taken */
	part->changes++;
	if (was_full)
		ing_kafka_wake_kick(in->wake);
}

static bool find_source(const struct ing_intake *base, struct ing_token t, struct ing_source *ret)
{
	const struct kafka_intake *in = (const struct kafka_intake *)(const void *)base;
	const struct ing_partition *part = ing_partitions_of_token(&in->partitions, &t);
	if (part == NULL)
		return false;
	const struct ing_tracked *m = ing_offset_tracker_find(&part->offsets, t.offset);
	ing_must(m != NULL); /* else it is finished, or was never taken */
	*ret = (struct ing_source){
		.group = in->group_id,
		.topic = in->topics[part->topic].name,
		.partition = part->number,
		.offset = t.offset,
		.timestamp_ms = m->timestamp_ms,
		.digest = m->digest,
		.fence = part->fence,
	};
	return true;
}

/* Done by the next serve(): the caller is in the middle of that token's delivery, which on_revoked()
 * cancels. */
static void fence_token(struct ing_intake *base, struct ing_token t)
{
	struct kafka_intake *in = ing_kafka_intake_of(base);
	struct ing_partition *part = ing_partitions_of_token(&in->partitions, &t);
	if (part == NULL)
		return;
	part->fenced = true;
	ing_kafka_wake_kick(in->wake);
}

static void pause_kafka(struct ing_intake *base, enum ing_lane lane, bool paused)
{
	struct kafka_intake *in = ing_kafka_intake_of(base);
	if (in->paused[lane] && !paused)
		ing_kafka_wake_kick(in->wake);
	in->paused[lane] = paused;
}

static void hold_lane_of_kafka(struct ing_intake *base, enum ing_lane lane, bool held)
{
	struct kafka_intake *in = ing_kafka_intake_of(base);
	if (in->held[lane] && !held)
		ing_kafka_wake_kick(in->wake);
	in->held[lane] = held;
}

static void stop_kafka(struct ing_intake *base)
{
	ing_kafka_intake_of(base)->stopped = true;
}

static void stats_of_kafka(const struct ing_intake *base, struct ing_intake_stats *ret)
{
	/* base is the first member */
	const struct kafka_intake *in = (const struct kafka_intake *)(const void *)base;
	*ret = in->stats;
	ret->brokers_down = in->brokers_down;
	for (size_t i = 0; i < in->partitions.count; i++) {
		const struct ing_partition *part = in->partitions.all[i];
		if (!ing_partition_is_assigned(part))
			continue;
		ret->partitions++;
		ret->queue += part->queue != NULL ? rd_kafka_queue_length(part->queue) : 0;
		ret->partitions_held += part->held;
		ret->partitions_starting += part->stage != ING_PARTITION_READY && !part->held;
		ret->partitions_slow += part->slow_logged && !part->full_logged;
		ret->partitions_full += part->full_logged;
		ing_kafka_count_lag(part, ret);
	}
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

/* Commits, then closes the consumer. Returns false when it is not closed within CLOSE_WAIT_MS. Queries
 * that are under way do not delay the commit: what they were for is part of it. */
static bool close_consumer(struct kafka_intake *in)
{
	ing_offset_query_cancel(in->commit_query);
	ing_offset_query_cancel(in->validation_query);
	ing_offset_query_cancel(in->lag_query);
	ing_kafka_commit_on_close(in);
	bool ended = end_query(in, ING_TAKE(in->commit_query));
	ended = end_query(in, ING_TAKE(in->validation_query)) && ended;
	ended = end_query(in, ING_TAKE(in->lag_query)) && ended;
	if (!ended)
		return false;
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

static void close_partitions(struct kafka_intake *in)
{
	for (size_t i = 0; i < in->partitions.count; i++) {
		struct ing_partition *part = in->partitions.all[i];
		ing_kafka_cancel_claim(in, part);
		ing_kafka_free_claim(part);
		ing_kafka_close_queue(part);
	}
}

static void close_queues(struct kafka_intake *in)
{
	rd_kafka_queue_destroy(in->commit_replies);
	rd_kafka_queue_destroy(in->consumer_queue);
}

static void free_memory(struct kafka_intake *in)
{
	ing_kafka_wake_free(in->wake);
	ing_partitions_done(&in->partitions);
	ing_kafka_group_unref(in->group);
	ing_digester_free(in->digester);
	if (in->revoked_offsets != NULL)
		rd_kafka_topic_partition_list_destroy(in->revoked_offsets);
	for (size_t i = 0; i < ING_INTAKE_TOPICS; i++)
		free(in->topics[i].name);
	free(in->group_id);
	free(in->instance);
	in->base.magic = 0;
	free(in);
}

static void on_timer_closed(uv_handle_t *timer)
{
	free(timer);
}

static void free_kafka(struct ing_intake *base)
{
	struct kafka_intake *in = ing_kafka_intake_of(base);
	ing_must(in->batch == NULL);
	in->closing = true;
	in->close_deadline_ms = ing_now_ms() + CLOSE_WAIT_MS;
	uv_close((uv_handle_t *)in->timer, on_timer_closed);
	ing_kafka_wake_unwatch(in->consumer_queue);
	ing_kafka_wake_unwatch(in->commit_replies);
	close_partitions(in);
	bool closed = !in->started || close_consumer(in);
	close_queues(in);
	/* While a commit is pending and the coordinator is away, rd_kafka_destroy() would wait for
	 * session.timeout.ms. The consumer is leaked instead: its threads end with the process, and
	 * no callback runs because nobody polls. */
	if (closed)
		rd_kafka_destroy_flags(in->rk, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
	else
		ing_log(ING_LOG_WARNING,
			"%s: no answer from the brokers: the consumer is not closed", in->name);
	free_memory(in);
}

static const char *trouble_of_kafka(const struct ing_intake *base)
{
	const struct kafka_intake *in = (const struct kafka_intake *)(const void *)base;
	if (in->all_brokers_down)
		return in->brokers_error;
	return in->silent ? "no broker has answered the last query for the group's positions"
			  : NULL;
}

static const struct ing_intake_ops kafka_ops = {
	.start = start_kafka,
	.finish = finish_token,
	.begin_commit = ing_kafka_begin_batch,
	.end_commit = ing_kafka_end_batch,
	.source = find_source,
	.fenced = fence_token,
	.pause = pause_kafka,
	.hold_lane = hold_lane_of_kafka,
	.set_away = set_away,
	.is_away = is_away,
	.stop = stop_kafka,
	.trouble = trouble_of_kafka,
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
		/* Requests of aborted transactions do not exist; and a position that another
		   worker's transaction is about to commit is waited for. */
		{"isolation.level", "read_committed", true},
		/* Positions are decided in kafka_validate.c. */
		{"auto.offset.reset", "error", true},
		/* Missing topics are looked up at this interval. */
		{"topic.metadata.refresh.interval.ms", "10000", false},
		/* Of each partition. librdkafka waits a second after its queue was full: hold a
		   second's work, but remember that 100 partitions may be assigned. */
		{"queued.min.messages", "4000", false},
		{"queued.max.messages.kbytes", "2048", false},
		{"fetch.message.max.bytes", "524288", false},
		{"fetch.max.bytes", "4194304", false},
		{"receive.message.max.bytes", receive_bytes, false},
		/* A committed offset that a transaction of ours has just set is asked for again
		   after this. */
		{"retry.backoff.ms", "20", false},
		/* Back soon after a broker's restart; the default waits for up to 10 s. */
		{"reconnect.backoff.max.ms", "2000", false},
		{"socket.keepalive.enable", "true", false},
		{NULL, NULL, false},
	};
	return ing_kafka_settings_new(
		ING_KAFKA_CONSUMER, own->brokers, client_id, settings, &own->properties, ret, err);
}

/* rd_kafka_subscribe() fails when a topic is named twice. */
static int check_topics(const struct kafka_intake *in, struct ing_error *err)
{
	for (size_t i = 0; i < ING_INTAKE_TOPICS; i++) {
		const char *name = in->topics[i].name;
		for (size_t k = 0; name != NULL && k < i; k++)
			if (in->topics[k].name != NULL && strcmp(name, in->topics[k].name) == 0)
				return ing_error_set(err, ING_FAIL_CONFIG,
					"kafka.topics: %s is the topic of two lanes, or of a lane and "
					"a tier of parked requests",
					name);
	}
	return 0;
}

static void name_topics(struct kafka_intake *in, const struct ing_kafka_settings *settings)
{
	for (int i = 0; i < ING_LANES_; i++)
		in->topics[i].name = ing_lane_topic_name((enum ing_lane)i, settings->lane_topics);
	in->name = in->topics[ING_LANE_REQUESTS].name;
	for (int i = 0; i < ING_TIERS_; i++) {
		struct kafka_topic *t = &in->topics[ING_LANES_ + i];
		t->name = ing_tier_topic_name(
			(enum ing_tier)i, settings->output_topics[ING_OUTPUT_OF_TIER(i)], in->name);
		t->max_wait_ms = (int64_t)ing_tier_delay_ms((enum ing_tier)i);
	}
}

static void open_queues(struct kafka_intake *in)
{
	in->consumer_queue = rd_kafka_queue_get_consumer(in->rk);
	in->commit_replies = rd_kafka_queue_new(in->rk);
	ing_kafka_wake_watch(in->wake, in->consumer_queue);
	ing_kafka_wake_watch(in->wake, in->commit_replies);
	in->timer = ing_alloc(sizeof(*in->timer));
	uv_timer_init(in->loop, in->timer);
	in->timer->data = in;
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

struct kafka_intake *ing_kafka_intake_of(struct ing_intake *base)
{
	return ING_CONTAINER(base, struct kafka_intake, base);
}

unsigned ing_kafka_topic_of(const struct kafka_intake *in, const char *name)
{
	for (unsigned i = 0; i < ING_INTAKE_TOPICS; i++)
		if (in->topics[i].name != NULL && strcmp(in->topics[i].name, name) == 0)
			return i;
	return ING_INTAKE_TOPICS;
}

void ing_kafka_serve_in(struct kafka_intake *in, uint64_t ms)
{
	if (!uv_is_active((uv_handle_t *)in->timer) || uv_timer_get_due_in(in->timer) > ms)
		uv_timer_start(in->timer, on_timer, ms, 0);
}

int ing_intake_kafka_new(struct uv_loop_s *loop, const struct ing_kafka_settings *settings,
	const char *instance, const struct ing_claim_ops *claims,
	const struct ing_intake_events *ev, struct ing_intake **ret, struct ing_error *err)
{
	rd_kafka_conf_t *conf;
	struct kafka_intake *in = ing_alloc(sizeof(*in));
	in->base = (struct ing_intake){ING_INTAKE_MAGIC, &kafka_ops};
	in->ev = *ev;
	in->loop = loop;
	if (claims != NULL)
		in->claims = *claims;
	in->exactly_once = settings->delivery == ING_GUARANTEE_EXACTLY_ONCE;
	in->group_id = ing_strdup(settings->group);
	in->instance = ing_strdup(instance);
	in->digester = ing_digester_new(ING_DIGEST_SHA1);
	name_topics(in, settings);
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
