/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The queues of the partitions, and what the consumer fetches into them. Loop thread.
 *
 * Each partition has a queue of its own, which is polled only while something may be taken from it
 * (kafka_take.c). A queue that is not polled is the backpressure: librdkafka stops fetching for it at
 * queued.max.messages.kbytes and goes on with the others. rd_kafka_pause_partitions() is not used: it
 * discards fetched messages, and can deliver some twice. The consumer queue carries rebalances and
 * errors; it is always polled, at least every second, which keeps the group membership.
 *
 * Fetching is started for all partitions at once, and anew for all when one joins them: librdkafka knows
 * no other way under the eager protocol. Messages that were fetched and not taken are fetched again.
 */
#include "common/base/clock.h"
#include "common/kafka/wake.h"
#include "worker/intake/kafka_priv.h"

/* Fetching starts when no partition is about to get ready, or after this. */
#define FETCH_WAIT_MS 250

static const char *topic_name(const struct kafka_intake *in, const struct ing_partition *part)
{
	return in->topics[part->topic].name;
}

/* The queue's forwarding is taken off before the partition is assigned, else its first messages would
 * go to the consumer queue. */
static void open_queue(struct kafka_intake *in, struct ing_partition *part)
{
	ing_kafka_close_queue(part);
	part->queue = rd_kafka_queue_get_partition(in->rk, topic_name(in, part), part->number);
	if (part->queue == NULL)
		return;
	rd_kafka_queue_forward(part->queue, NULL);
	ing_kafka_wake_watch(in->wake, part->queue);
}

static void start_fetching(struct kafka_intake *in)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(16);
	for (size_t i = 0; i < in->partitions.count; i++) {
		struct ing_partition *part = in->partitions.all[i];
		if (part->stage != ING_PARTITION_READY)
			continue;
		open_queue(in, part);
		rd_kafka_topic_partition_list_add(list, topic_name(in, part), part->number)
			->offset = ING_MAX(part->next_offset, part->log_start);
	}
	rd_kafka_assign(in->rk, list);
	rd_kafka_topic_partition_list_destroy(list);
	ing_kafka_wake_kick(in->wake);
}

static bool others_get_ready(const struct kafka_intake *in)
{
	for (size_t i = 0; i < in->partitions.count; i++) {
		const struct ing_partition *part = in->partitions.all[i];
		if (ing_partition_is_assigned(part) && part->stage != ING_PARTITION_READY &&
			!part->held)
			return true;
	}
	return false;
}

/* -------------------------------------------------------------------------------------------- */

void ing_kafka_handle_partition_error(
	struct kafka_intake *in, struct ing_partition *part, const rd_kafka_message_t *m)
{
	if (m->err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET)
		ing_kafka_request_validation(in, part); /* the log has no message at the position */
	else
		ing_kafka_handle_error(
			in, topic_name(in, part), m->err, rd_kafka_message_errstr(m));
}

/* It has messages only of partitions whose forwarding came back: they are fetched again. */
void ing_kafka_serve_consumer_queue(struct kafka_intake *in)
{
	for (;;) {
		rd_kafka_message_t *m = rd_kafka_consumer_poll(in->rk, 0);
		if (m == NULL)
			break;
		const char *topic = m->rkt != NULL ? rd_kafka_topic_name(m->rkt) : NULL;
		unsigned number = topic != NULL ? ing_kafka_topic_of(in, topic) : ING_INTAKE_TOPICS;
		struct ing_partition *part = NULL;
		if (number < ING_INTAKE_TOPICS)
			part = ing_partitions_find(&in->partitions, number, m->partition);
		bool ready = part != NULL && part->stage == ING_PARTITION_READY;
		if (m->err != 0 && ready) {
			ing_kafka_handle_partition_error(in, part, m);
		} else if (m->err != 0) {
			ing_kafka_handle_error(in, topic, m->err, rd_kafka_message_errstr(m));
		} else if (ready) {
			in->stats.reread++;
			ing_kafka_want_fetching(in);
		} else {
			in->stats.left_over++;
		}
		rd_kafka_message_destroy(m);
	}
}

void ing_kafka_want_fetching(struct kafka_intake *in)
{
	if (!in->fetch_wanted)
		in->fetch_due_ms = ing_now_ms() + FETCH_WAIT_MS;
	in->fetch_wanted = true;
	ing_kafka_wake_kick(in->wake);
}

void ing_kafka_serve_fetching(struct kafka_intake *in)
{
	if (!in->fetch_wanted || in->phase != KAFKA_ASSIGNED)
		return;
	uint64_t now = ing_now_ms();
	if (now < in->fetch_due_ms && others_get_ready(in)) {
		ing_kafka_serve_in(in, in->fetch_due_ms - now);
		return;
	}
	in->fetch_wanted = false;
	start_fetching(in);
}

void ing_kafka_close_queue(struct ing_partition *part)
{
	if (part->next != NULL)
		rd_kafka_message_destroy(ING_TAKE(part->next));
	if (part->queue == NULL)
		return;
	ing_kafka_wake_unwatch(part->queue);
	rd_kafka_queue_destroy(ING_TAKE(part->queue));
}
