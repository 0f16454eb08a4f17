/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Positions: validated against the brokers' logs, and committed. Loop thread.
 *
 * A position is validated at each assignment, when the log has no message at it, and when a message
 * below it arrives. Messages that retention deleted before they were read are counted and logged. A
 * log that ends before the position (truncated, or the topic was recreated) is read from its start
 * under a new epoch: some work is repeated, nothing is lost.
 *
 * A topic that was deleted and created again may have a log longer than the position, which then looks
 * unchanged. But Kafka deletes a group's committed offsets with the topic. So the committed offset
 * is queried before each commit; when it is missing, nothing is committed, because that would skip
 * messages of the new topic, and the log is read from its start. Where the group has no committed
 * offset yet, the starting position is committed before any message is taken, so that its absence can
 * be noticed; and partitions with nothing to commit are checked every IDLE_CHECK_EVERY_MS, because
 * the new log may end at our position, or the coordinator may delete offsets later than we commit.
 *
 * Not detected: a topic deleted and created again between the answer and the commit (milliseconds);
 * a log truncated below the position that has grown past it again before the next fetch (unclean
 * leader election). Messages of a new topic that were taken before the change was noticed are
 * processed twice. Kafka before 2.1 also expired the offsets of active groups.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "common/base/clock.h"
#include "common/kafka/wake.h"
#include "worker/intake/kafka_priv.h"

/* How often offsets are committed. */
#define COMMIT_EVERY_MS 1000
/* How often the committed offsets of partitions that have nothing to commit are queried. */
#define IDLE_CHECK_EVERY_MS 5000
/* Between two validation queries for partitions whose brokers did not answer. */
#define VALIDATION_RETRY_MS 1000

static struct ing_partition *partition_of(
	const struct kafka_intake *in, const rd_kafka_topic_partition_t *part)
{
	enum ing_lane lane = ing_kafka_lane_of(in, part->topic);
	ing_must(lane != ING_LANES_); /* the list was made from our lanes */
	struct ing_partition *s = ing_partitions_find(&in->partitions, lane, part->partition);
	ing_must(s != NULL);
	return s;
}

/* ---- Validation ---- */

static void log_position_check(const struct kafka_intake *in, const struct ing_partition *s,
	const struct ing_position_check *v, int64_t position)
{
	const char *topic = in->lanes[s->lane].topic;
	switch (v->state) {
	case ING_POSITION_TOPIC_RECREATED:
		ing_log(ING_LOG_ERROR,
			"%s: partition %" PRId32
			": the group's committed offset is gone, so the topic was deleted and created "
			"again: reading from its start, offset %" PRId64,
			topic, s->number, v->start);
		break;
	case ING_POSITION_BEYOND_END:
		ing_log(ING_LOG_ERROR,
			"%s: partition %" PRId32 ": the log ends before the position %" PRId64
			": it was truncated or recreated, reading from its start, offset %" PRId64,
			topic, s->number, position, v->start);
		break;
	case ING_POSITION_DELETED:
		ing_log(ING_LOG_ERROR,
			"%s: partition %" PRId32 ": %" PRId64 " messages are lost: offsets %" PRId64
			" to %" PRId64 " were deleted before they were read",
			topic, s->number, v->lost, position, v->start - 1);
		break;
	default:
		break;
	}
}

static struct ing_position_check check_position(
	const struct ing_partition *s, const struct ing_broker_offsets *reported)
{
	struct ing_position_check v =
		ing_position_check(s->offsets.position, s->group_has_offset, reported);
	if (!s->reset_to_start || v.state == ING_POSITION_UNKNOWN)
		return v;
	return (struct ing_position_check){.state = ING_POSITION_VALID, .start = reported->low};
}

/* Returns false when the brokers have not answered. */
static bool validate_position(
	struct kafka_intake *in, struct ing_partition *s, const struct ing_broker_offsets *reported)
{
	struct ing_position_check v = check_position(s, reported);
	if (v.state == ING_POSITION_UNKNOWN)
		return false;
	int64_t position = s->offsets.position >= 0 ? s->offsets.position : reported->committed;
	log_position_check(in, s, &v, position);
	if (v.state == ING_POSITION_TOPIC_RECREATED || v.state == ING_POSITION_BEYOND_END)
		ing_kafka_restart_partition(in, s);
	in->stats.lost += (uint64_t)v.lost;
	if (s->offsets.position < 0)
		ing_offset_tracker_init(&s->offsets, v.start);
	else
		ing_offset_tracker_skip(&s->offsets, v.start);
	/* A committed offset need not be committed again. */
	s->group_has_offset = reported->committed >= 0;
	s->committed = reported->committed;
	s->awaits_validation = s->reset_to_start = false;
	return true;
}

/* ---- Commits ---- */

void ing_kafka_log_commit_error(struct kafka_intake *in, rd_kafka_resp_err_t err)
{
	unsigned more;
	if (ing_log_throttle_pass(&in->commit_throttle, ING_KAFKA_LOG_EVERY_MS, &more))
		ing_log(ING_LOG_WARNING,
			"%s: committing offsets failed, retrying: %s (%u more suppressed)",
			in->name, rd_kafka_err2str(err), more);
}

/* The reply may come in a later epoch than the commit was sent in. Offsets that were not committed are
 * due again at the next tick. */
static void handle_commit_reply(struct kafka_intake *in, rd_kafka_resp_err_t err,
	const rd_kafka_topic_partition_list_t *list)
{
	bool begin = false;
	for (int i = 0; list != NULL && i < list->cnt; i++) {
		const rd_kafka_topic_partition_t *part = &list->elems[i];
		rd_kafka_resp_err_t part_err = err != 0 ? err : part->err;
		struct ing_partition *s = partition_of(in, part);
		if (part_err == 0) {
			bool was_read = ing_partition_is_fetched(s);
			ing_partition_set_committed(s, part->offset);
			begin = begin || (!was_read && ing_partition_is_fetched(s));
			continue;
		}
		ing_kafka_log_commit_error(in, part_err);
		if (part_err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART && s->assigned)
			ing_kafka_request_validation(
				in, s); /* deleted, perhaps to be created again */
	}
	if (err == 0)
		ing_kafka_set_brokers_up(in);
	if (begin && !in->closing)
		ing_kafka_start_fetching(in);
}

/* Returns false when the answer is missing, or shows that the topic was deleted. */
static bool may_commit(
	struct kafka_intake *in, struct ing_partition *s, const struct ing_broker_offsets *reported)
{
	if (in->phase == KAFKA_ASSIGNED && (!s->assigned || s->awaits_validation))
		return false;
	if (!reported->has_committed)
		return false;
	if (reported->committed >= 0 || !s->group_has_offset)
		return true;
	if (s->assigned)
		ing_kafka_request_validation(in, s);
	else
		ing_log(ING_LOG_ERROR,
			"%s: partition %" PRId32 ": the topic was deleted or recreated: the "
			"position in the old log is not committed",
			in->lanes[s->lane].topic, s->number);
	return false;
}

/* Takes the list. */
static void send_commit(struct kafka_intake *in, rd_kafka_topic_partition_list_t *list)
{
	if (list->cnt > 0) {
		for (int i = 0; i < list->cnt; i++) {
			struct ing_partition *s = partition_of(in, &list->elems[i]);
			s->commit_epoch = s->epoch;
		}
		rd_kafka_resp_err_t err =
			rd_kafka_commit_queue(in->rk, list, in->commit_replies, NULL, NULL);
		in->commit_pending = err == 0;
		if (err != 0)
			handle_commit_reply(in, err, list);
	}
	rd_kafka_topic_partition_list_destroy(list);
}

/* Returns the offsets in parts that may be committed; the caller destroys the list. A part without an
 * offset was only queried to notice a deleted topic. */
static rd_kafka_topic_partition_list_t *select_committable(struct kafka_intake *in,
	const rd_kafka_topic_partition_list_t *parts, const struct ing_broker_offsets *reported)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(parts->cnt);
	for (int i = 0; i < parts->cnt; i++) {
		const rd_kafka_topic_partition_t *part = &parts->elems[i];
		struct ing_partition *s = partition_of(in, part);
		if (part->offset < 0 && !s->assigned)
			continue;
		if (may_commit(in, s, &reported[i]) && part->offset >= 0)
			rd_kafka_topic_partition_list_add(list, part->topic, part->partition)
				->offset = part->offset;
	}
	return list;
}

/* ---- Queries ---- */

static void log_unvalidated(struct kafka_intake *in, unsigned partitions)
{
	unsigned more;
	if (partitions > 0 &&
		ing_log_throttle_pass(&in->validation_throttle, ING_KAFKA_LOG_EVERY_MS, &more))
		ing_log(ING_LOG_WARNING,
			"%s: %u partitions are not read yet: no answer about their offsets (%u more "
			"suppressed)",
			in->name, partitions, more);
}

static void on_validation_query(void *ctx, const rd_kafka_topic_partition_list_t *parts,
	const struct ing_broker_offsets *reported)
{
	struct kafka_intake *in = ctx;
	bool read = false;
	unsigned unanswered = 0;
	in->validation_query = NULL;
	ing_kafka_wake_kick(in->wake);
	if (in->validation_query_stale) { /* another consumer may have committed since */
		in->validation_query_stale = false;
		return;
	}
	for (int i = 0; i < parts->cnt; i++) {
		struct ing_partition *s = partition_of(in, &parts->elems[i]);
		if (reported[i].bounds_queried)
			in->validate_from = (size_t)ing_partitions_index(&in->partitions, s) + 1;
		if (!s->assigned || !s->awaits_validation)
			continue;
		if (!validate_position(in, s, &reported[i]))
			unanswered++;
		else if (s->group_has_offset)
			read = true;
		else
			in->commit_due_ms = 0; /* fetching starts after it: handle_commit_reply() */
	}
	log_unvalidated(in, unanswered);
	if (read)
		ing_kafka_start_fetching(in);
}

static void on_commit_query(void *ctx, const rd_kafka_topic_partition_list_t *parts,
	const struct ing_broker_offsets *reported)
{
	struct kafka_intake *in = ctx;
	in->commit_query = NULL;
	if (!in->commit_query_stale)
		send_commit(in, select_committable(in, parts, reported));
	in->commit_query_stale = false;
	ing_kafka_wake_kick(in->wake);
}

/* A query from before the revocation goes to on_commit_query() and may be committed too. */
static void on_revoked_commit_query(void *ctx, const rd_kafka_topic_partition_list_t *parts,
	const struct ing_broker_offsets *reported)
{
	struct kafka_intake *in = ctx;
	if (!in->commit_query_stale && in->revoked_offsets != NULL)
		rd_kafka_topic_partition_list_destroy(ING_TAKE(in->revoked_offsets));
	on_commit_query(ctx, parts, reported);
}

/* Returns the partitions that await validation, first those for which the last query had no time left,
 * or NULL when there are none. The caller destroys the list. */
static rd_kafka_topic_partition_list_t *list_awaiting_validation(const struct kafka_intake *in)
{
	rd_kafka_topic_partition_list_t *list = NULL;
	for (size_t i = 0; i < in->partitions.count; i++) {
		const struct ing_partition *s =
			&in->partitions.all[(in->validate_from + i) % in->partitions.count];
		if (!s->assigned || !s->awaits_validation)
			continue;
		if (list == NULL)
			list = rd_kafka_topic_partition_list_new(8);
		rd_kafka_topic_partition_list_add(list, in->lanes[s->lane].topic, s->number);
	}
	return list;
}

static void query_for_validation(struct kafka_intake *in)
{
	uint64_t now = ing_now_ms();
	if (!in->validation_wanted || in->validation_query != NULL || now < in->validation_due_ms)
		return;
	rd_kafka_topic_partition_list_t *list = list_awaiting_validation(in);
	in->validation_wanted = list != NULL;
	in->validation_due_ms = now + VALIDATION_RETRY_MS;
	if (list != NULL)
		in->validation_query = ing_offset_query_start(
			in->loop, in->rk, list, true, on_validation_query, in);
}

/* Returns the partitions with an offset due to be committed; with `all` also the other fetched ones,
 * without an offset. NULL when there are none. The caller destroys the list. */
static rd_kafka_topic_partition_list_t *list_positions(const struct kafka_intake *in, bool all)
{
	rd_kafka_topic_partition_list_t *list = NULL;
	for (size_t i = 0; i < in->partitions.count; i++) {
		const struct ing_partition *s = &in->partitions.all[i];
		bool due = ing_partition_is_commit_due(s);
		if (!due && !(all && ing_partition_is_fetched(s)))
			continue;
		if (list == NULL)
			list = rd_kafka_topic_partition_list_new(8);
		rd_kafka_topic_partition_list_add(list, in->lanes[s->lane].topic, s->number)
			->offset =
			due ? ing_offset_tracker_committable(&s->offsets) : RD_KAFKA_OFFSET_INVALID;
	}
	return list;
}

static void query_before_commit(struct kafka_intake *in)
{
	uint64_t now = ing_now_ms();
	if (in->commit_query != NULL || in->commit_pending || now < in->commit_due_ms)
		return;
	in->commit_due_ms = now + COMMIT_EVERY_MS;
	bool all = now >= in->idle_check_due_ms;
	if (all)
		in->idle_check_due_ms = now + IDLE_CHECK_EVERY_MS;
	rd_kafka_topic_partition_list_t *list = list_positions(in, all);
	if (list != NULL)
		in->commit_query =
			ing_offset_query_start(in->loop, in->rk, list, false, on_commit_query, in);
}

static void query_before_revoked_commit(struct kafka_intake *in)
{
	if (in->commit_query == NULL && !in->commit_pending && in->revoked_offsets != NULL)
		in->commit_query = ing_offset_query_start(in->loop, in->rk,
			rd_kafka_topic_partition_list_copy(in->revoked_offsets), false,
			on_revoked_commit_query, in);
}

/* -------------------------------------------------------------------------------------------- */

rd_kafka_topic_partition_list_t *ing_kafka_list_due_commits(struct kafka_intake *in)
{
	return list_positions(in, false);
}

/* Only one commit is pending at a time: librdkafka would retry an older one after a newer one, which
 * would set the committed offset back. */
void ing_kafka_serve_positions(struct kafka_intake *in)
{
	if (in->fatal || in->phase == KAFKA_UNASSIGNED)
		return;
	if (in->phase == KAFKA_REVOKING) {
		query_before_revoked_commit(in);
		return;
	}
	query_for_validation(in);
	query_before_commit(in);
}

bool ing_kafka_take_commit_reply(struct kafka_intake *in, int timeout_ms)
{
	rd_kafka_event_t *answer = rd_kafka_queue_poll(in->commit_replies, timeout_ms);
	if (answer == NULL)
		return false;
	in->commit_pending = false;
	handle_commit_reply(
		in, rd_kafka_event_error(answer), rd_kafka_event_topic_partition_list(answer));
	rd_kafka_event_destroy(answer);
	return true;
}

static int time_left_ms(const struct kafka_intake *in)
{
	uint64_t now = ing_now_ms();
	return now < in->close_deadline_ms ? (int)(in->close_deadline_ms - now) : 0;
}

void ing_kafka_commit_revoked_now(struct kafka_intake *in)
{
	if (in->commit_pending)
		ing_kafka_take_commit_reply(in, time_left_ms(in));
	if (in->revoked_offsets == NULL || in->commit_pending)
		return;
	struct ing_broker_offsets *reported =
		ing_alloc((size_t)in->revoked_offsets->cnt * sizeof(*reported));
	ing_offset_query_committed_now(in->rk, in->revoked_offsets, reported, time_left_ms(in));
	send_commit(in, select_committable(in, in->revoked_offsets, reported));
	free(reported);
	if (in->commit_pending && !ing_kafka_take_commit_reply(in, time_left_ms(in)))
		ing_kafka_log_commit_error(in, RD_KAFKA_RESP_ERR__TIMED_OUT);
}
