/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Assignments of the Kafka intake: how they begin, how reading starts, how they end. Loop thread.
 *
 * An assignment is accepted empty, and its partitions are read once the brokers have said where
 * (kafka_positions.c). We name every offset ourselves: librdkafka would begin at a log start that
 * it remembers, be it that of a topic which has been deleted since. auto.offset.reset is "error",
 * so that an offset which does not exist is told to us; librdkafka then has stopped that partition,
 * and under the eager protocol only a whole assignment starts it again.
 *
 * A revocation is answered later: jobs are cancelled at once, but rd_kafka_assign(NULL) is called
 * when the last positions are committed. librdkafka allows that; it keeps the session alive, holds
 * back messages and asks again for nothing meanwhile.
 */
#include <inttypes.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/kafka/wake.h"
#include "worker/intake/kafka_priv.h"

/* A revocation waits so long for the coordinator; what is then not committed is done again. */
#define LEAVE_WAIT_MS 5000

static void divert_messages(struct kafka_intake *in, const struct ing_slot *slot)
{
	const struct kafka_lane *lane = &in->lanes[slot->lane];
	rd_kafka_queue_t *q = rd_kafka_queue_get_partition(in->rk, lane->topic, slot->partition);
	if (q == NULL)
		return;
	rd_kafka_queue_forward(q, lane->messages);
	rd_kafka_queue_destroy(q);
}

static void divert_all(struct kafka_intake *in)
{
	for (size_t i = 0; i < in->slots.count; i++)
		if (in->slots.all[i].assigned)
			divert_messages(in, &in->slots.all[i]);
}

/* The receiver cancels the jobs of the slot's epoch. */
static void end_epoch(struct kafka_intake *in, struct ing_slot *slot)
{
	if (ing_mark_full(&slot->mark))
		in->lanes[slot->lane].full_marks--;
	ing_slot_end(slot);
	if (!in->closing)
		in->ev.on_revoked(in->ev.ctx, ing_slots_index(&in->slots, slot), slot->epoch);
}

static void begin_epoch(struct kafka_intake *in, struct ing_slot *slot)
{
	ing_slot_begin(slot, ++in->last_epoch);
	ing_kafka_set_adrift(in, slot);
}

static void say_assigned(struct kafka_intake *in, const unsigned *counts, int all)
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
		struct ing_slot *s = ing_slots_make(&in->slots, lane, parts->elems[i].partition);
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
	in->phase = KAFKA_OURS;
	say_assigned(in, counts, parts->cnt);
	ing_kafka_note_contact(in);
	in->had_assignment = true;
	if (!in->closing)
		in->ev.on_assigned(in->ev.ctx, (unsigned)parts->cnt);
}

static void give_back(struct kafka_intake *in)
{
	if (in->last != NULL)
		rd_kafka_topic_partition_list_destroy(ING_TAKE(in->last));
	in->check_stale = in->check != NULL;
	in->where_stale = in->where != NULL;
	in->phase = KAFKA_AWAY;
	rd_kafka_assign(in->rk, NULL);
}

/* A lost assignment may already be another's, so that nothing is committed for it. */
static void revoke(struct kafka_intake *in)
{
	bool lost = rd_kafka_assignment_lost(in->rk) != 0;
	if (!lost && !in->closing)
		in->last = ing_kafka_due_positions(in);
	ing_log(lost ? ING_LOG_WARNING : ING_LOG_INFO, "%s: the assignment was %s", in->name,
		lost ? "lost" : "revoked");
	for (size_t i = 0; i < in->slots.count; i++)
		if (in->slots.all[i].assigned)
			end_epoch(in, &in->slots.all[i]);
	in->phase = KAFKA_LEAVING;
	in->leave_by_ms = ing_now_ms() + LEAVE_WAIT_MS;
	if (in->closing)
		give_back(in);
	else
		ing_kafka_go_on_leaving(in);
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

/* Partitions that were read before are stopped by librdkafka's own thread, which undoes the
 * diversion of their messages; so they are diverted again behind a call that this thread answers
 * after that. Those that are read for the first time must be diverted before, or their messages
 * would go to the consumer queue. What was fetched already and not taken is fetched again. */
void ing_kafka_read(struct kafka_intake *in)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(16);
	for (size_t i = 0; i < in->slots.count; i++) {
		const struct ing_slot *s = &in->slots.all[i];
		if (ing_slot_is_read(s))
			rd_kafka_topic_partition_list_add(
				list, in->lanes[s->lane].topic, s->partition)
				->offset = s->mark.position;
	}
	divert_all(in);
	rd_kafka_assign(in->rk, list);
	rd_kafka_topic_partition_list_destroy(list);
	list = NULL;
	if (rd_kafka_assignment(in->rk, &list) == 0)
		rd_kafka_topic_partition_list_destroy(list);
	divert_all(in);
	ing_kafka_wake_kick(in->wake);
}

void ing_kafka_begin_anew(struct kafka_intake *in, struct ing_slot *slot)
{
	in->stats.restarts++;
	end_epoch(in, slot);
	begin_epoch(in, slot);
}

void ing_kafka_set_adrift(struct kafka_intake *in, struct ing_slot *slot)
{
	slot->adrift = true;
	if (!in->adrift)
		in->ask_due_ms = 0;
	in->adrift = true;
	ing_kafka_wake_kick(in->wake);
}

void ing_kafka_go_on_leaving(struct kafka_intake *in)
{
	if (in->phase != KAFKA_LEAVING)
		return;
	bool busy = in->last != NULL || in->committing;
	bool late = ing_now_ms() >= in->leave_by_ms;
	bool lost = in->fatal || rd_kafka_assignment_lost(in->rk) != 0;
	if (busy && !late && !lost)
		return;
	if (busy && !lost)
		ing_kafka_note_commit_error(in, RD_KAFKA_RESP_ERR__TIMED_OUT);
	give_back(in);
}

void ing_kafka_commit_at_end(struct kafka_intake *in)
{
	if (in->phase == KAFKA_AWAY)
		return;
	if (in->phase == KAFKA_OURS)
		in->last = ing_kafka_due_positions(in);
	if (!in->fatal && rd_kafka_assignment_lost(in->rk) == 0)
		ing_kafka_commit_last_now(in);
	if (in->phase == KAFKA_LEAVING)
		give_back(in);
	else if (in->last != NULL)
		rd_kafka_topic_partition_list_destroy(ING_TAKE(in->last));
}
