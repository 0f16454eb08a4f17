/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Lag: the messages of a partition that are not finished. The ends of the logs are asked of the brokers every
 * LAG_EVERY_MS, since librdkafka knows them only of partitions that it fetches, which it does not of a lane
 * that is paused. Loop thread.
 */
#include "common/base/clock.h"
#include "worker/intake/kafka_priv.h"

#define LAG_EVERY_MS 10000
/* After the first partition is ready: the others of an assignment get ready, too. */
#define LAG_SOON_MS 500

static rd_kafka_topic_partition_list_t *list_ready(
	struct kafka_intake *in, struct ing_log_mark **ret_marks)
{
	rd_kafka_topic_partition_list_t *list = NULL;
	for (size_t i = 0; i < in->partitions.count; i++) {
		const struct ing_partition *part = in->partitions.all[i];
		if (part->stage != ING_PARTITION_READY)
			continue;
		if (list == NULL)
			list = rd_kafka_topic_partition_list_new(16);
		/* The offset is the index: topics are created again under the same name. */
		rd_kafka_topic_partition_list_add(list, in->topics[part->topic].name, part->number)
			->offset = part->index;
	}
	if (list == NULL)
		return NULL;
	*ret_marks = ing_alloc((size_t)list->cnt * sizeof(**ret_marks));
	for (int i = 0; i < list->cnt; i++)
		(*ret_marks)[i].offset = -1;
	return list;
}

static void on_ends(void *ctx, const rd_kafka_topic_partition_list_t *parts,
	const struct ing_broker_offsets *reported)
{
	struct kafka_intake *in = ctx;
	in->lag_query = NULL;
	for (int i = 0; i < parts->cnt; i++) {
		struct ing_partition *part = in->partitions.all[parts->elems[i].offset];
		if (reported[i].has_bounds && part->stage == ING_PARTITION_READY)
			part->log_end = reported[i].high;
	}
}

static bool any_unknown(const struct kafka_intake *in)
{
	for (size_t i = 0; i < in->partitions.count; i++) {
		const struct ing_partition *part = in->partitions.all[i];
		if (part->stage == ING_PARTITION_READY && part->log_end < 0)
			return true;
	}
	return false;
}

/* -------------------------------------------------------------------------------------------- */

void ing_kafka_serve_lag(struct kafka_intake *in)
{
	uint64_t now = ing_now_ms();
	if (in->phase != KAFKA_ASSIGNED || in->lag_query != NULL)
		return;
	if (in->lag_due_ms > now + LAG_SOON_MS && !in->lag_soon && any_unknown(in)) {
		in->lag_soon = true; /* once for each assignment, whatever the brokers answer */
		in->lag_due_ms = now + LAG_SOON_MS;
		ing_kafka_serve_in(in, LAG_SOON_MS);
	}
	if (now < in->lag_due_ms)
		return;
	struct ing_log_mark *marks = NULL;
	rd_kafka_topic_partition_list_t *list = list_ready(in, &marks);
	if (list == NULL)
		return;
	in->lag_due_ms = now + LAG_EVERY_MS;
	in->lag_query = ing_offset_query_start(in->loop, in->rk, list, marks, on_ends, in);
}

void ing_kafka_count_lag(const struct ing_partition *part, struct ing_intake_stats *to)
{
	if (part->stage != ING_PARTITION_READY || part->log_end < 0)
		return;
	/* What the map says is finished is passed over in a moment. */
	uint64_t behind = part->map == NULL ? part->offsets.open : 0;
	if (part->log_end > part->next_offset)
		behind += (uint64_t)(part->log_end - part->next_offset);
	to->partitions_measured++;
	switch (part->topic) {
	case ING_LANE_PRIORITY:
		to->lag_priority += behind;
		break;
	case ING_LANE_REQUESTS:
		to->lag_requests += behind;
		break;
	case ING_LANE_DAILY:
		to->lag_daily += behind;
		break;
	case ING_LANE_BULK:
		to->lag_bulk += behind;
		break;
	default: /* a tier's */
		to->lag_parked += behind;
	}
}
