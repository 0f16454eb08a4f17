/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where reading begins: the group's position and its map, checked against the brokers' logs. Loop
 * thread.
 *
 * A position is validated at each assignment, when the log has no message at it, and when a message
 * below it arrives. Messages that retention deleted before they were read are counted and logged. A
 * log that ends before the position or before what its map has (truncated, or the topic was recreated)
 * is read from its start under a new epoch: some work is repeated, nothing is lost.
 *
 * A topic that was deleted and created again may have a log longer than the position, which then looks
 * unchanged. But Kafka deletes a group's committed offsets with the topic, so that they are asked for
 * before each commit (kafka_commit.c, kafka_batch.c); when one is missing, nothing is committed,
 * because that would skip messages of the new topic, and the log is read from its start. While nobody
 * looks the committed offset may expire, too (offsets.retention.minutes): then the database has the
 * last owner's position, and the timestamp of a message below it tells whether the log is the same.
 *
 * A map that cannot be read holds its partition until an operator decides (ingestctl positions
 * forget): without it, what it says is finished would be done again. The brokers are asked again every
 * few seconds, so that the decision is noticed.
 *
 * Not detected: a topic deleted and created again between the answer and the commit (milliseconds);
 * a log truncated below the position that has grown past it again before the next fetch (unclean
 * leader election), unless the map has a message that is another one now. Messages of a new topic that
 * were taken before the change was noticed are processed twice.
 */
#include <inttypes.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/kafka/wake.h"
#include "worker/intake/kafka_priv.h"

/* Between two queries for partitions whose brokers did not answer. */
#define RETRY_MS 1000
/* … and for a partition that is held. */
#define HELD_RETRY_MS 5000

static const char *topic_name(const struct kafka_intake *in, const struct ing_partition *part)
{
	return in->topics[part->topic].name;
}

/* ---- Positions ---- */

static void log_position_check(const struct kafka_intake *in, const struct ing_partition *part,
	const struct ing_position_check *v, int64_t position)
{
	const char *topic = topic_name(in, part);
	switch (v->state) {
	case ING_POSITION_TOPIC_RECREATED:
		ing_log(ING_LOG_ERROR,
			"%s: partition %" PRId32
			": the group's committed offset is gone, so the topic was deleted and created "
			"again: reading from its start, offset %" PRId64,
			topic, part->number, v->start);
		break;
	case ING_POSITION_NEW_LOG:
		ing_log(ING_LOG_ERROR,
			"%s: partition %" PRId32
			": the group has no committed offset, and the log is not the one whose position "
			"is in the database: reading from its start, offset %" PRId64,
			topic, part->number, v->start);
		break;
	case ING_POSITION_EXPIRED:
		ing_log(ING_LOG_WARNING,
			"%s: partition %" PRId32
			": the group's committed offset has expired: reading from the position in the "
			"database, offset %" PRId64,
			topic, part->number, v->position);
		break;
	case ING_POSITION_BEYOND_END:
		ing_log(ING_LOG_ERROR,
			"%s: partition %" PRId32 ": the log ends before the position %" PRId64
			": it was truncated or recreated, reading from its start, offset %" PRId64,
			topic, part->number, position, v->start);
		break;
	default:
		break;
	}
}

static struct ing_known_position known_position(const struct ing_partition *part)
{
	struct ing_known_position known = {
		.next = part->next_offset,
		.group_has_offset = part->group_has_offset,
		.last_low_water = -1,
		.mark = {-1, -1},
	};
	const struct ing_claim *last = ing_kafka_last_owner(part);
	if (last != NULL) {
		known.last_low_water = last->low_water;
		known.mark = (struct ing_log_mark){last->mark_offset, last->mark_timestamp_ms};
	}
	return known;
}

static struct ing_position_check check_position(
	const struct ing_partition *part, const struct ing_broker_offsets *reported)
{
	const struct ing_known_position known = known_position(part);
	struct ing_position_check v = ing_position_check(&known, reported);
	if (!part->reset_to_start || v.state == ING_POSITION_UNKNOWN)
		return v;
	return (struct ing_position_check){ING_POSITION_VALID, reported->low, reported->low};
}

/* ---- Maps ---- */

/* Held until the group has a position without this map. */
static void hold(struct kafka_intake *in, struct ing_partition *part, const char *why)
{
	uint64_t now = ing_now_ms();
	part->held = true;
	part->validate_due_ms = now + HELD_RETRY_MS;
	if (now < part->held_log_due_ms)
		return;
	part->held_log_due_ms = now + ING_KAFKA_LOG_EVERY_MS;
	ing_log(ING_LOG_ERROR,
		"%s: partition %" PRId32
		" is held: %s: which messages beyond its position are finished is not known; to have "
		"them done again: ingestctl positions forget %s %" PRId32,
		topic_name(in, part), part->number, why, topic_name(in, part), part->number);
}

/* The map that belongs to the committed position; NULL when there is none. Returns false when it cannot
 * be read. */
static bool read_map(struct kafka_intake *in, struct ing_partition *part,
	const struct ing_broker_offsets *reported, struct ing_position_map **ret)
{
	struct ing_error err = {0};
	*ret = NULL;
	if (reported->metadata == NULL)
		return true;
	int rc = ing_position_map_decode(reported->metadata, strlen(reported->metadata), ret, &err);
	if (rc == 0 && ing_position_map_low_water(*ret) == reported->committed)
		return true;
	ing_position_map_free(ING_TAKE(*ret));
	hold(in, part, rc == 0 ? "position map: of another position" : err.msg);
	return false;
}

static void set_mark(struct ing_partition *part)
{
	const struct ing_claim *last = ing_kafka_last_owner(part);
	if (last == NULL || last->mark_offset >= part->next_offset)
		return;
	part->mark = (struct ing_log_mark){last->mark_offset, last->mark_timestamp_ms};
}

/* Nothing has been read in this epoch. */
static void set_position(struct kafka_intake *in, struct ing_partition *part,
	const struct ing_position_check *v, struct ing_position_map *map)
{
	if (v->state == ING_POSITION_TOPIC_RECREATED || v->state == ING_POSITION_BEYOND_END)
		ing_kafka_restart_partition(in, part);
	ing_partition_set_position(part, v->position, map);
	set_mark(part);
}

static bool is_another_log(const struct ing_partition *part, enum ing_position_state state)
{
	return part->reset_to_start || state == ING_POSITION_TOPIC_RECREATED ||
	       state == ING_POSITION_NEW_LOG || state == ING_POSITION_BEYOND_END;
}

/* Returns false when the brokers have not answered, or the partition is held. */
static bool validate(struct kafka_intake *in, struct ing_partition *part,
	const struct ing_broker_offsets *reported)
{
	struct ing_position_check v = check_position(part, reported);
	if (v.state == ING_POSITION_UNKNOWN)
		return false;
	int64_t position = part->next_offset >= 0 ? part->next_offset : reported->committed;
	struct ing_position_map *map = NULL;
	bool first = part->next_offset < 0 || is_another_log(part, v.state);
	if (first && !is_another_log(part, v.state) && v.position == reported->committed &&
		!read_map(in, part, reported, &map))
		return false;
	if (map != NULL && ing_position_map_end(map) > reported->high) {
		position = ing_position_map_end(map);
		ing_position_map_free(ING_TAKE(map));
		v = (struct ing_position_check){
			ING_POSITION_BEYOND_END, reported->low, reported->low};
	}
	log_position_check(in, part, &v, position);
	/* Else a crash before the next commit would leave the group where it is. */
	bool commit_first = reported->committed < 0 || is_another_log(part, v.state);
	if (first)
		set_position(in, part, &v, map);
	part->log_start = reported->low;
	part->group_has_offset = reported->committed >= 0;
	part->committed = reported->committed;
	part->commit_first = commit_first;
	part->held = part->reset_to_start = false;
	return true;
}

/* ---- Queries ---- */

static void log_unvalidated(struct kafka_intake *in, unsigned partitions)
{
	if (partitions > 0)
		ing_log_throttled(&in->validation_throttle, ING_KAFKA_LOG_EVERY_MS, ING_LOG_WARNING,
			"%s: %u partitions are not read yet: no answer about their offsets",
			in->name, partitions);
}

static void on_query(void *ctx, const rd_kafka_topic_partition_list_t *parts,
	const struct ing_broker_offsets *reported)
{
	struct kafka_intake *in = ctx;
	unsigned unanswered = 0;
	in->validation_query = NULL;
	ing_kafka_wake_kick(in->wake);
	if (in->validation_query_stale) { /* another consumer may have committed since */
		in->validation_query_stale = false;
		return;
	}
	for (int i = 0; i < parts->cnt; i++) {
		const rd_kafka_topic_partition_t *elem = &parts->elems[i];
		struct ing_partition *part = ing_partitions_find(
			&in->partitions, ing_kafka_topic_of(in, elem->topic), elem->partition);
		if (reported[i].bounds_queried)
			in->validate_from = (size_t)part->index + 1;
		if (part->stage != ING_PARTITION_VALIDATING)
			continue;
		if (validate(in, part, &reported[i]))
			ing_kafka_recover(in, part);
		else
			unanswered += !part->held;
	}
	log_unvalidated(in, unanswered);
}

/* Returns the partitions that await validation, first those for which the last query had no time left,
 * with the marks of their logs (heap); or NULL when there are none. The caller destroys the list. */
static rd_kafka_topic_partition_list_t *list_validating(
	const struct kafka_intake *in, uint64_t now, struct ing_log_mark **ret_marks)
{
	rd_kafka_topic_partition_list_t *list = NULL;
	struct ing_log_mark *marks = NULL;
	size_t all = in->partitions.count;
	for (size_t i = 0; i < all; i++) {
		const struct ing_partition *part =
			in->partitions.all[(in->validate_from + i) % all];
		if (part->stage != ING_PARTITION_VALIDATING || now < part->validate_due_ms)
			continue;
		if (list == NULL) {
			list = rd_kafka_topic_partition_list_new(8);
			marks = ing_alloc(all * sizeof(*marks));
		}
		marks[list->cnt] = known_position(part).mark;
		rd_kafka_topic_partition_list_add(list, topic_name(in, part), part->number);
	}
	*ret_marks = marks;
	return list;
}

static bool any_validating(const struct kafka_intake *in)
{
	for (size_t i = 0; i < in->partitions.count; i++)
		if (in->partitions.all[i]->stage == ING_PARTITION_VALIDATING)
			return true;
	return false;
}

/* Below the log start there are only answers whose messages have expired. What is neither finished nor
 * answered there is lost. */
static void count_lost(struct kafka_intake *in, struct ing_partition *part)
{
	const struct ing_offset_tracker *t = &part->offsets;
	uint64_t lost = (uint64_t)(ING_MAX(part->log_start, t->position) - t->position);
	for (size_t i = ing_offset_tracker_next_unfinished(
		     t, ing_offset_tracker_lower_bound(t, part->next_offset));
		i < t->count && ing_offset_tracker_at(t, i)->offset < part->log_start;
		i = ing_offset_tracker_next_unfinished(t, i + 1))
		lost++;
	for (const struct ing_answer *a = part->answers;
		lost > 0 && a != NULL && a->offset < part->log_start; a = a->next)
		lost--;
	if (lost == 0)
		return;
	in->stats.lost += lost;
	ing_log(ING_LOG_ERROR,
		"%s: partition %" PRId32 ": %" PRIu64 " messages are lost: offsets %" PRId64
		" to %" PRId64 " were deleted before they were read",
		topic_name(in, part), part->number, lost, part->next_offset, part->log_start - 1);
}

/* -------------------------------------------------------------------------------------------- */

void ing_kafka_request_validation(struct kafka_intake *in, struct ing_partition *part)
{
	ing_must(ing_partition_is_assigned(part));
	ing_kafka_close_queue(part);
	part->stage = ING_PARTITION_VALIDATING;
	part->validate_due_ms = 0;
	in->validation_due_ms = 0; /* others that were not answered are asked again with it */
	in->validation_wanted = true;
	ing_kafka_wake_kick(in->wake);
}

void ing_kafka_start_partition(struct kafka_intake *in, struct ing_partition *part)
{
	count_lost(in, part);
	part->stage = part->commit_first ? ING_PARTITION_STARTING : ING_PARTITION_READY;
	if (part->stage == ING_PARTITION_READY)
		ing_kafka_want_fetching(in);
	else
		in->commit_due_ms = 0;
	ing_kafka_wake_kick(in->wake);
}

void ing_kafka_serve_validation(struct kafka_intake *in)
{
	uint64_t now = ing_now_ms();
	if (!in->validation_wanted || in->validation_query != NULL || now < in->validation_due_ms)
		return;
	struct ing_log_mark *marks;
	rd_kafka_topic_partition_list_t *list = list_validating(in, now, &marks);
	in->validation_wanted = list != NULL || any_validating(in);
	in->validation_due_ms = now + RETRY_MS;
	if (list != NULL)
		in->validation_query =
			ing_offset_query_start(in->loop, in->rk, list, marks, on_query, in);
}
