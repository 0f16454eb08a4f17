/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Positions of the Kafka intake: where its partitions are read, and what is committed. Loop thread.
 *
 * Before a commit the group's position is asked for. A topic that is deleted takes the group's
 * positions with it; if ours has gone, the log is another one, the offsets at hand mean nothing in
 * it, and to commit them would pass over messages that nobody has read. Where the group has no
 * position, the one where we begin is committed before anything is read, so that there is one that
 * can go; and it is asked for from time to time when there is nothing to commit, because the new
 * log may end where we are, or the coordinator be slower to forget than we to commit. What remains
 * is a topic that is deleted and made in the milliseconds between the answer and the commit.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "common/base/clock.h"
#include "common/kafka/wake.h"
#include "worker/intake/kafka_priv.h"

/* How often finished work is committed. */
#define COMMIT_EVERY_MS 1000
/* How often the positions of partitions that have nothing to commit are looked at. */
#define LOOK_EVERY_MS 5000
/* Between two questions about partitions whose brokers do not answer. */
#define ASK_AGAIN_MS 1000

static struct ing_slot *slot_of(
	const struct kafka_intake *in, const rd_kafka_topic_partition_t *part)
{
	enum ing_lane lane = ing_kafka_lane_of(in, part->topic);
	ing_must(lane != ING_LANES_); /* one of ours: we asked for it */
	struct ing_slot *s = ing_slots_find(&in->slots, lane, part->partition);
	ing_must(s != NULL);
	return s;
}

/* ---- Where to read ---- */

static void say_verdict(const struct kafka_intake *in, const struct ing_slot *s,
	const struct ing_log_verdict *v, int64_t position)
{
	const char *topic = in->lanes[s->lane].topic;
	switch (v->state) {
	case ING_LOG_ANEW:
		ing_log(ING_LOG_ERROR,
			"%s: partition %" PRId32
			": the group's position has gone, and with it the topic that was read: "
			"what there is now is read from its start, offset %" PRId64,
			topic, s->partition, v->start);
		break;
	case ING_LOG_SHORTER:
		ing_log(ING_LOG_ERROR,
			"%s: partition %" PRId32 ": the log ends before our position, %" PRId64
			": it was truncated or made anew; it is read from its start, offset "
			"%" PRId64,
			topic, s->partition, position, v->start);
		break;
	case ING_LOG_CUT:
		ing_log(ING_LOG_ERROR,
			"%s: partition %" PRId32 ": %" PRId64 " messages are lost: offsets %" PRId64
			" to %" PRId64 " were deleted before they were read",
			topic, s->partition, v->lost, position, v->start - 1);
		break;
	default:
		break;
	}
}

static struct ing_log_verdict judge(const struct ing_slot *s, const struct ing_log_view *view)
{
	struct ing_log_verdict v = ing_log_judge(s->mark.position, s->staked, view);
	if (!s->went_back || v.state == ING_LOG_UNKNOWN)
		return v;
	return (struct ing_log_verdict){.state = ING_LOG_GOES_ON, .start = view->low};
}

/* True when it is known now where the slot is to be read. */
static bool place(struct kafka_intake *in, struct ing_slot *s, const struct ing_log_view *view)
{
	struct ing_log_verdict v = judge(s, view);
	if (v.state == ING_LOG_UNKNOWN)
		return false;
	int64_t position = s->mark.position >= 0 ? s->mark.position : view->committed;
	say_verdict(in, s, &v, position);
	if (v.state == ING_LOG_ANEW || v.state == ING_LOG_SHORTER)
		ing_kafka_begin_anew(in, s);
	in->stats.lost += (uint64_t)v.lost;
	if (s->mark.position < 0)
		ing_mark_init(&s->mark, v.start);
	else
		ing_mark_skip(&s->mark, v.start);
	/* A position that is there need not be committed once more. */
	s->staked = view->committed >= 0;
	s->committed = view->committed;
	s->adrift = s->went_back = false;
	return true;
}

/* ---- Commits ---- */

void ing_kafka_note_commit_error(struct kafka_intake *in, rd_kafka_resp_err_t err)
{
	unsigned more;
	if (ing_log_gate_pass(&in->commit_gate, ING_KAFKA_LOG_EVERY_MS, &more))
		ing_log(ING_LOG_WARNING, "%s: offsets are not committed yet: %s (%u more such)",
			in->name, rd_kafka_err2str(err), more);
}

/* A commit has been answered, perhaps in a later epoch than it was asked in. What was refused is
 * due again at the next tick. */
static void note_commit(struct kafka_intake *in, rd_kafka_resp_err_t err,
	const rd_kafka_topic_partition_list_t *list)
{
	bool begin = false;
	for (int i = 0; list != NULL && i < list->cnt; i++) {
		const rd_kafka_topic_partition_t *part = &list->elems[i];
		rd_kafka_resp_err_t part_err = err != 0 ? err : part->err;
		struct ing_slot *s = slot_of(in, part);
		if (part_err == 0) {
			bool was_read = ing_slot_is_read(s);
			ing_slot_note_committed(s, part->offset);
			begin = begin || (!was_read && ing_slot_is_read(s));
			continue;
		}
		ing_kafka_note_commit_error(in, part_err);
		if (part_err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART && s->assigned)
			ing_kafka_set_adrift(in, s); /* deleted, perhaps to be made anew */
	}
	if (err == 0)
		ing_kafka_note_contact(in);
	if (begin && !in->closing)
		ing_kafka_read(in);
}

/* Whether the log is still the one whose positions these are. */
static bool may_commit(struct kafka_intake *in, struct ing_slot *s, const struct ing_log_view *view)
{
	if (in->phase == KAFKA_OURS && (!s->assigned || s->adrift))
		return false;
	if (!view->has_committed)
		return false;
	if (view->committed >= 0 || !s->staked)
		return true;
	if (s->assigned)
		ing_kafka_set_adrift(in, s);
	else
		ing_log(ING_LOG_ERROR,
			"%s: partition %" PRId32 ": the topic was deleted or made anew: our "
			"position in the old one is not committed",
			in->lanes[s->lane].topic, s->partition);
	return false;
}

/* Takes the list. */
static void send_commit(struct kafka_intake *in, rd_kafka_topic_partition_list_t *list)
{
	if (list->cnt > 0) {
		for (int i = 0; i < list->cnt; i++) {
			struct ing_slot *s = slot_of(in, &list->elems[i]);
			s->sent_epoch = s->epoch;
		}
		rd_kafka_resp_err_t err =
			rd_kafka_commit_queue(in->rk, list, in->answers, NULL, NULL);
		in->committing = err == 0;
		if (err != 0)
			note_commit(in, err, list);
	}
	rd_kafka_topic_partition_list_destroy(list);
}

/* Of the positions in parts, those that may be committed. A part without one was only looked at.
 * Caller destroys. */
static rd_kafka_topic_partition_list_t *choose(struct kafka_intake *in,
	const rd_kafka_topic_partition_list_t *parts, const struct ing_log_view *views)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(parts->cnt);
	for (int i = 0; i < parts->cnt; i++) {
		const rd_kafka_topic_partition_t *part = &parts->elems[i];
		struct ing_slot *s = slot_of(in, part);
		if (part->offset < 0 && !s->assigned)
			continue;
		if (may_commit(in, s, &views[i]) && part->offset >= 0)
			rd_kafka_topic_partition_list_add(list, part->topic, part->partition)
				->offset = part->offset;
	}
	return list;
}

/* ---- Questions ---- */

static void note_no_answer(struct kafka_intake *in, unsigned partitions)
{
	unsigned more;
	if (partitions > 0 && ing_log_gate_pass(&in->ask_gate, ING_KAFKA_LOG_EVERY_MS, &more))
		ing_log(ING_LOG_WARNING,
			"%s: %u partitions are not read yet: the brokers do not say where (%u more "
			"such)",
			in->name, partitions, more);
}

static void on_where(
	void *ctx, const rd_kafka_topic_partition_list_t *parts, const struct ing_log_view *views)
{
	struct kafka_intake *in = ctx;
	bool read = false;
	unsigned unplaced = 0;
	in->where = NULL;
	ing_kafka_wake_kick(in->wake);
	if (in->where_stale) { /* another owner may have gone on since */
		in->where_stale = false;
		return;
	}
	for (int i = 0; i < parts->cnt; i++) {
		struct ing_slot *s = slot_of(in, &parts->elems[i]);
		if (views[i].asked)
			in->ask_from = (size_t)ing_slots_index(&in->slots, s) + 1;
		if (!s->assigned || !s->adrift)
			continue;
		if (!place(in, s, &views[i]))
			unplaced++;
		else if (s->staked)
			read = true;
		else
			in->commit_due_ms = 0; /* then it is read: note_commit() */
	}
	note_no_answer(in, unplaced);
	if (read)
		ing_kafka_read(in);
}

static void on_check(
	void *ctx, const rd_kafka_topic_partition_list_t *parts, const struct ing_log_view *views)
{
	struct kafka_intake *in = ctx;
	in->check = NULL;
	if (!in->check_stale)
		send_commit(in, choose(in, parts, views));
	in->check_stale = false;
	ing_kafka_wake_kick(in->wake);
}

/* What was asked before the revocation is answered by on_check(), and may be committed, too. */
static void on_last_check(
	void *ctx, const rd_kafka_topic_partition_list_t *parts, const struct ing_log_view *views)
{
	struct kafka_intake *in = ctx;
	if (!in->check_stale && in->last != NULL)
		rd_kafka_topic_partition_list_destroy(ING_TAKE(in->last));
	on_check(ctx, parts, views);
}

/* The slots that are adrift, first those for whose logs there was no time in the last question.
 * NULL when none is. Caller destroys. */
static rd_kafka_topic_partition_list_t *list_adrift(const struct kafka_intake *in)
{
	rd_kafka_topic_partition_list_t *list = NULL;
	for (size_t i = 0; i < in->slots.count; i++) {
		const struct ing_slot *s = &in->slots.all[(in->ask_from + i) % in->slots.count];
		if (!s->assigned || !s->adrift)
			continue;
		if (list == NULL)
			list = rd_kafka_topic_partition_list_new(8);
		rd_kafka_topic_partition_list_add(list, in->lanes[s->lane].topic, s->partition);
	}
	return list;
}

static void ask_where(struct kafka_intake *in)
{
	uint64_t now = ing_now_ms();
	if (!in->adrift || in->where != NULL || now < in->ask_due_ms)
		return;
	rd_kafka_topic_partition_list_t *list = list_adrift(in);
	in->adrift = list != NULL;
	in->ask_due_ms = now + ASK_AGAIN_MS;
	if (list != NULL)
		in->where = ing_kafka_ask(in->loop, in->rk, list, true, on_where, in);
}

/* What is to be committed, with its position, and with `all` also what is read and is not due,
 * without one. NULL when there is none. Caller destroys. */
static rd_kafka_topic_partition_list_t *list_positions(const struct kafka_intake *in, bool all)
{
	rd_kafka_topic_partition_list_t *list = NULL;
	for (size_t i = 0; i < in->slots.count; i++) {
		const struct ing_slot *s = &in->slots.all[i];
		bool due = ing_slot_is_due(s);
		if (!due && !(all && ing_slot_is_read(s)))
			continue;
		if (list == NULL)
			list = rd_kafka_topic_partition_list_new(8);
		rd_kafka_topic_partition_list_add(list, in->lanes[s->lane].topic, s->partition)
			->offset = due ? ing_mark_position(&s->mark) : RD_KAFKA_OFFSET_INVALID;
	}
	return list;
}

static void check_due(struct kafka_intake *in)
{
	uint64_t now = ing_now_ms();
	if (in->check != NULL || in->committing || now < in->commit_due_ms)
		return;
	in->commit_due_ms = now + COMMIT_EVERY_MS;
	bool all = now >= in->look_due_ms;
	if (all)
		in->look_due_ms = now + LOOK_EVERY_MS;
	rd_kafka_topic_partition_list_t *list = list_positions(in, all);
	if (list != NULL)
		in->check = ing_kafka_ask(in->loop, in->rk, list, false, on_check, in);
}

static void check_last(struct kafka_intake *in)
{
	if (in->check == NULL && !in->committing && in->last != NULL)
		in->check = ing_kafka_ask(in->loop, in->rk,
			rd_kafka_topic_partition_list_copy(in->last), false, on_last_check, in);
}

/* -------------------------------------------------------------------------------------------- */

rd_kafka_topic_partition_list_t *ing_kafka_due_positions(struct kafka_intake *in)
{
	return list_positions(in, false);
}

/* One commit is under way at a time: librdkafka repeats one that was put off after newer ones, and
 * so would take the position back. */
void ing_kafka_see_to_positions(struct kafka_intake *in)
{
	if (in->fatal || in->phase == KAFKA_AWAY)
		return;
	if (in->phase == KAFKA_LEAVING) {
		check_last(in);
		return;
	}
	ask_where(in);
	check_due(in);
}

bool ing_kafka_take_answer(struct kafka_intake *in, int timeout_ms)
{
	rd_kafka_event_t *answer = rd_kafka_queue_poll(in->answers, timeout_ms);
	if (answer == NULL)
		return false;
	in->committing = false;
	note_commit(in, rd_kafka_event_error(answer), rd_kafka_event_topic_partition_list(answer));
	rd_kafka_event_destroy(answer);
	return true;
}

static int time_left_ms(const struct kafka_intake *in)
{
	uint64_t now = ing_now_ms();
	return now < in->close_by_ms ? (int)(in->close_by_ms - now) : 0;
}

void ing_kafka_commit_last_now(struct kafka_intake *in)
{
	if (in->committing)
		ing_kafka_take_answer(in, time_left_ms(in));
	if (in->last == NULL || in->committing)
		return;
	struct ing_log_view *views = ing_alloc((size_t)in->last->cnt * sizeof(*views));
	ing_kafka_ask_now(in->rk, in->last, views, time_left_ms(in));
	send_commit(in, choose(in, in->last, views));
	free(views);
	if (in->committing && !ing_kafka_take_answer(in, time_left_ms(in)))
		ing_kafka_note_commit_error(in, RD_KAFKA_RESP_ERR__TIMED_OUT);
}
