/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rebalances of the Kafka intake. Loop thread.
 *
 * Assignment (eager, strategy "range"). The consumer first gets an empty assignment; partitions are
 * added when their positions have been validated (kafka_positions.c), always with an explicit
 * offset. librdkafka's own reset could use a cached log start offset of a topic that has since been
 * deleted. auto.offset.reset is "error", so that an offset out of range is reported to us; librdkafka
 * stops such a partition, and under the eager protocol only a new assignment of all partitions starts
 * it again.
 *
 * Revocation. Jobs are cancelled at once, but rd_kafka_assign(NULL) is called only when the last
 * offsets are committed, or after REVOCATION_WAIT_MS. librdkafka allows that: it keeps the session
 * alive and delivers no messages meanwhile. Nothing is committed for an assignment that was lost.
 */
#include <inttypes.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/kafka/wake.h"
#include "worker/intake/kafka_priv.h"

/* A revocation waits this long for the coordinator. Messages whose offsets are not committed by then
 * are processed again. */
#define REVOCATION_WAIT_MS 5000

static void forward_messages(struct kafka_intake *in, const struct ing_partition *part)
{
	const struct kafka_lane *lane = &in->lanes[part->lane];
	rd_kafka_queue_t *q = rd_kafka_queue_get_partition(in->rk, lane->topic, part->number);
	if (q == NULL)
		return;
	rd_kafka_queue_forward(q, lane->messages);
	rd_kafka_queue_destroy(q);
}

static void forward_all(struct kafka_intake *in)
{
	for (size_t i = 0; i < in->partitions.count; i++)
		if (in->partitions.all[i].assigned)
			forward_messages(in, &in->partitions.all[i]);
}

/* The receiver of on_revoked() cancels the jobs of the epoch. */
static void end_epoch(struct kafka_intake *in, struct ing_partition *part)
{
	if (ing_offset_tracker_is_full(&part->offsets))
		in->lanes[part->lane].full_partitions--;
	ing_partition_end_epoch(part);
	if (!in->closing)
		in->ev.on_revoked(
			in->ev.ctx, ing_partitions_index(&in->partitions, part), part->epoch);
}

static void begin_epoch(struct kafka_intake *in, struct ing_partition *part)
{
	ing_partition_begin_epoch(part, ++in->last_epoch);
	ing_kafka_request_validation(in, part);
}

static void log_assigned(struct kafka_intake *in, const unsigned *counts, int all)
{
	struct ing_buf text;
	ing_buf_init(&text, 4096);
	for (size_t i = 0; i < ING_LANES_; i++)
		if (counts[i] > 0 && (unsigned)all != counts[ING_LANE_REQUESTS])
			ing_buf_printf(&text, "%s %s %u", text.len == 0 ? ":" : ",",
				in->lanes[i].topic, counts[i]);
	ing_log(ING_LOG_INFO, "%s: %d partitions assigned%s", in->name, all, ing_buf_str(&text));
	ing_buf_done(&text);
}

static void assign(struct kafka_intake *in, const rd_kafka_topic_partition_list_t *parts)
{
	unsigned counts[ING_LANES_] = {0};
	for (int i = 0; i < parts->cnt; i++) {
		enum ing_lane lane = ing_kafka_lane_of(in, parts->elems[i].topic);
		if (lane == ING_LANES_)
			continue;
		struct ing_partition *s =
			ing_partitions_add(&in->partitions, lane, parts->elems[i].partition);
		if (s == NULL)
			continue;
		begin_epoch(in, s);
		counts[lane]++;
		in->lanes[lane].missing = false;
		in->lanes[lane].denied = false;
	}
	rd_kafka_topic_partition_list_t *none = rd_kafka_topic_partition_list_new(0);
	rd_kafka_assign(in->rk, none);
	rd_kafka_topic_partition_list_destroy(none);
	in->phase = KAFKA_ASSIGNED;
	log_assigned(in, counts, parts->cnt);
	ing_kafka_set_brokers_up(in);
	in->had_assignment = true;
	if (!in->closing)
		in->ev.on_assigned(in->ev.ctx, (unsigned)parts->cnt);
}

static void end_revocation(struct kafka_intake *in)
{
	if (in->revoked_offsets != NULL)
		rd_kafka_topic_partition_list_destroy(ING_TAKE(in->revoked_offsets));
	in->commit_query_stale = in->commit_query != NULL;
	in->validation_query_stale = in->validation_query != NULL;
	in->phase = KAFKA_UNASSIGNED;
	rd_kafka_assign(in->rk, NULL);
}

/* A lost assignment may already belong to another consumer: nothing is committed for it. */
static void revoke(struct kafka_intake *in)
{
	bool lost = rd_kafka_assignment_lost(in->rk) != 0;
	if (!lost && !in->closing)
		in->revoked_offsets = ing_kafka_list_due_commits(in);
	ing_log(lost ? ING_LOG_WARNING : ING_LOG_INFO, "%s: the assignment was %s", in->name,
		lost ? "lost" : "revoked");
	for (size_t i = 0; i < in->partitions.count; i++)
		if (in->partitions.all[i].assigned)
			end_epoch(in, &in->partitions.all[i]);
	in->phase = KAFKA_REVOKING;
	in->revocation_deadline_ms = ing_now_ms() + REVOCATION_WAIT_MS;
	if (in->closing)
		end_revocation(in);
	else
		ing_kafka_continue_revocation(in);
}

/* -------------------------------------------------------------------------------------------- */

void ing_kafka_on_rebalance(rd_kafka_t *rk, rd_kafka_resp_err_t err,
	rd_kafka_topic_partition_list_t *parts, void *intake)
{
	(void)rk;
	struct kafka_intake *in = intake;
	if (err == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS)
		assign(in, parts);
	else
		revoke(in);
	ing_kafka_wake_kick(in->wake);
}

/* Messages are forwarded twice. Before the assignment for partitions that are new in it: their first
 * messages would otherwise go to the consumer queue. After it for the others: librdkafka's main thread
 * stops them first, which undoes the forwarding, and rd_kafka_assignment() returns after that.
 * Messages that were fetched and not taken are fetched again. */
void ing_kafka_start_fetching(struct kafka_intake *in)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(16);
	for (size_t i = 0; i < in->partitions.count; i++) {
		const struct ing_partition *s = &in->partitions.all[i];
		if (ing_partition_is_fetched(s))
			rd_kafka_topic_partition_list_add(list, in->lanes[s->lane].topic, s->number)
				->offset = s->offsets.position;
	}
	forward_all(in);
	rd_kafka_assign(in->rk, list);
	rd_kafka_topic_partition_list_destroy(list);
	list = NULL;
	if (rd_kafka_assignment(in->rk, &list) == 0)
		rd_kafka_topic_partition_list_destroy(list);
	forward_all(in);
	ing_kafka_wake_kick(in->wake);
}

void ing_kafka_restart_partition(struct kafka_intake *in, struct ing_partition *part)
{
	in->stats.restarts++;
	end_epoch(in, part);
	begin_epoch(in, part);
}

void ing_kafka_request_validation(struct kafka_intake *in, struct ing_partition *part)
{
	part->awaits_validation = true;
	if (!in->validation_wanted)
		in->validation_due_ms = 0;
	in->validation_wanted = true;
	ing_kafka_wake_kick(in->wake);
}

void ing_kafka_continue_revocation(struct kafka_intake *in)
{
	if (in->phase != KAFKA_REVOKING)
		return;
	bool busy = in->revoked_offsets != NULL || in->commit_pending;
	bool late = ing_now_ms() >= in->revocation_deadline_ms;
	bool lost = in->fatal || rd_kafka_assignment_lost(in->rk) != 0;
	if (busy && !late && !lost)
		return;
	if (busy && !lost)
		ing_kafka_log_commit_error(in, RD_KAFKA_RESP_ERR__TIMED_OUT);
	end_revocation(in);
}

void ing_kafka_commit_on_close(struct kafka_intake *in)
{
	if (in->phase == KAFKA_UNASSIGNED)
		return;
	if (in->phase == KAFKA_ASSIGNED)
		in->revoked_offsets = ing_kafka_list_due_commits(in);
	if (!in->fatal && rd_kafka_assignment_lost(in->rk) == 0)
		ing_kafka_commit_revoked_now(in);
	if (in->phase == KAFKA_REVOKING)
		end_revocation(in);
	else if (in->revoked_offsets != NULL)
		rd_kafka_topic_partition_list_destroy(ING_TAKE(in->revoked_offsets));
}
