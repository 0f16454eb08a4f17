/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Positions of the Kafka intake: what is finished is committed, one commit at a time. Loop thread.
 */
#include "common/base/clock.h"
#include "worker/intake/kafka_priv.h"

/* A revocation or the end waits so long for the coordinator; what is then not committed is done
 * again. */
#define COMMIT_WAIT_MS 3000

static bool commit_is_due(const struct ing_slot *s)
{
	return s->assigned && ing_mark_position(&s->mark) > s->committed;
}

/* Positions that have moved since they were committed. NULL when none has. Caller destroys. */
static rd_kafka_topic_partition_list_t *take_positions(struct kafka_intake *in)
{
	rd_kafka_topic_partition_list_t *list = NULL;
	for (size_t i = 0; i < in->slots.count; i++) {
		const struct ing_slot *s = &in->slots.all[i];
		if (!commit_is_due(s))
			continue;
		if (list == NULL)
			list = rd_kafka_topic_partition_list_new(8);
		rd_kafka_topic_partition_list_add(list, in->lanes[s->lane].topic, s->partition)
			->offset = ing_mark_position(&s->mark);
	}
	return list;
}

static void note_commit_error(struct kafka_intake *in, rd_kafka_resp_err_t err)
{
	unsigned more;
	if (ing_log_gate_pass(&in->commit_gate, ING_KAFKA_LOG_EVERY_MS, &more))
		ing_log(ING_LOG_WARNING, "%s: offsets are not committed yet: %s (%u more such)",
			in->name, rd_kafka_err2str(err), more);
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
		enum ing_lane lane = ing_kafka_lane_of(in, part->topic);
		ing_must(lane != ING_LANES_); /* one of ours: we asked for it */
		struct ing_slot *s = ing_slots_find(&in->slots, lane, part->partition);
		ing_must(s != NULL);
		s->committed = ING_MAX(s->committed, part->offset);
	}
	if (err == 0)
		ing_kafka_note_contact(in);
}

static int commit_wait_ms(const struct kafka_intake *in)
{
	uint64_t now = ing_now_ms();
	if (!in->closing || now + COMMIT_WAIT_MS < in->close_by_ms)
		return COMMIT_WAIT_MS;
	return now < in->close_by_ms ? (int)(in->close_by_ms - now) : 0;
}

/* ----------------------------------------------------------------------------------------------------------
 */

/* False when no answer came within timeout_ms. */
bool ing_kafka_take_answer(struct kafka_intake *in, int timeout_ms)
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
void ing_kafka_send_positions(struct kafka_intake *in)
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

/* rd_kafka_commit() would wait for ever. */
void ing_kafka_commit_now(struct kafka_intake *in)
{
	uint64_t start = ing_now_ms();
	int wait_ms = commit_wait_ms(in);
	if (in->committing)
		ing_kafka_take_answer(in, wait_ms);
	wait_ms -= (int)ING_MIN(ing_now_ms() - start, (uint64_t)wait_ms);
	ing_kafka_send_positions(in);
	if (in->committing && !ing_kafka_take_answer(in, wait_ms))
		note_commit_error(in, RD_KAFKA_RESP_ERR__TIMED_OUT);
}
