/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Commits by intake itself: at least once, what is finished; in both modes the position at which a new
 * group begins, or one that has to go back (another log). Loop thread.
 *
 * The map goes with each commit as its metadata: a commit without it would erase it. Before a commit
 * the committed offset is queried, because a topic that was deleted and created again shows by its
 * absence; partitions with nothing to commit are checked every IDLE_CHECK_EVERY_MS, because the new log
 * may end at our position, or the coordinator may delete offsets later than we commit. Not even
 * a position that goes back is committed while emit has a commit of that partition under way, which
 * could come after it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/kafka/wake.h"
#include "worker/intake/kafka_priv.h"

/* How often offsets are committed. */
#define COMMIT_EVERY_MS 1000
/* How often the committed offsets of partitions that have nothing to commit are queried. */
#define IDLE_CHECK_EVERY_MS 5000

static struct ing_partition *partition_of(
	const struct kafka_intake *in, const rd_kafka_topic_partition_t *elem)
{
	/* The list was made from our partitions. */
	struct ing_partition *part = ing_partitions_find(
		&in->partitions, ing_kafka_topic_of(in, elem->topic), elem->partition);
	ing_must(part != NULL);
	return part;
}

/* ---- Replies ---- */

void ing_kafka_log_commit_error(struct kafka_intake *in, rd_kafka_resp_err_t err)
{
	ing_log_throttled(&in->commit_throttle, ING_KAFKA_LOG_EVERY_MS, ING_LOG_WARNING,
		"%s: committing offsets failed, retrying: %s", in->name, rd_kafka_err2str(err));
}

/* For the store's notes on where this owner is. */
static void note_committed(struct kafka_intake *in, const struct ing_partition *part)
{
	if (in->claims.ctx == NULL || part->commit_epoch != part->epoch ||
		!ing_partition_is_assigned(part))
		return;
	struct ing_position position = {
		.topic = in->topics[part->topic].name,
		.partition = part->number,
		.offset = part->committed,
		.metadata = "",
		.mark_offset = part->sent_mark.offset,
		.mark_timestamp_ms = part->sent_mark.timestamp_ms,
		.fence = part->fence,
	};
	const struct ing_positions p = {.all = &position, .count = 1};
	in->claims.committed(in->claims.ctx, &p);
}

/* The reply may come in a later epoch than the commit was sent in. Offsets that were not committed are
 * due again at the next tick. */
static void handle_commit_reply(struct kafka_intake *in, rd_kafka_resp_err_t err,
	const rd_kafka_topic_partition_list_t *list)
{
	for (int i = 0; list != NULL && i < list->cnt; i++) {
		const rd_kafka_topic_partition_t *elem = &list->elems[i];
		rd_kafka_resp_err_t elem_err = err != 0 ? err : elem->err;
		struct ing_partition *part = partition_of(in, elem);
		bool starting =
			part->stage == ING_PARTITION_STARTING && part->commit_epoch == part->epoch;
		if (elem_err == 0) {
			ing_partition_set_committed(part, elem->offset);
			note_committed(in, part);
		} else {
			ing_kafka_log_commit_error(in, elem_err);
		}
		if (elem_err == 0 && starting && !in->closing) {
			part->stage = ING_PARTITION_READY;
			ing_kafka_want_fetching(in);
		}
		if (elem_err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART &&
			ing_partition_is_checked(part))
			ing_kafka_request_validation(
				in, part); /* deleted, perhaps to be created again */
	}
	if (err == 0)
		ing_kafka_set_brokers_up(in);
}

/* ---- Commits ---- */

/* Returns false when the answer is missing, or shows that the topic was deleted. */
static bool may_commit(struct kafka_intake *in, struct ing_partition *part,
	const struct ing_broker_offsets *reported)
{
	if (in->phase == KAFKA_ASSIGNED && !ing_partition_is_checked(part))
		return false;
	if (!reported->has_committed)
		return false;
	if (reported->committed >= 0 || !part->group_has_offset)
		return true;
	if (ing_partition_is_checked(part))
		ing_kafka_request_validation(in, part);
	else
		ing_log(ING_LOG_ERROR,
			"%s: partition %" PRId32 ": the topic was deleted or recreated: the "
			"position in the old log is not committed",
			in->topics[part->topic].name, part->number);
	return false;
}

/* Takes the list. */
static void send_commit(struct kafka_intake *in, rd_kafka_topic_partition_list_t *list)
{
	if (list->cnt > 0) {
		for (int i = 0; i < list->cnt; i++) {
			struct ing_partition *part = partition_of(in, &list->elems[i]);
			part->commit_epoch = part->epoch;
		}
		rd_kafka_resp_err_t err =
			rd_kafka_commit_queue(in->rk, list, in->commit_replies, NULL, NULL);
		in->commit_pending = err == 0;
		if (err != 0)
			handle_commit_reply(in, err, list);
	}
	rd_kafka_topic_partition_list_destroy(list);
}

/* The coordinator must answer for a position to be committed. */
static void log_silence(struct kafka_intake *in, int unanswered)
{
	if (unanswered > 0)
		ing_log_throttled(&in->silence_throttle, ING_KAFKA_LOG_EVERY_MS, ING_LOG_WARNING,
			"%s: positions of %d partitions are not committed: no answer from the group's "
			"coordinator about their committed offsets",
			in->name, unanswered);
}

static void add_position(rd_kafka_topic_partition_list_t *list, const char *topic,
	int32_t partition, int64_t offset, const char *metadata)
{
	rd_kafka_topic_partition_t *elem =
		rd_kafka_topic_partition_list_add(list, topic, partition);
	elem->offset = offset;
	if (metadata == NULL || *metadata == '\0')
		return;
	elem->metadata = ing_strdup(metadata);
	elem->metadata_size = strlen(metadata);
}

/* Returns the positions in parts that may be committed; the caller destroys the list. A part without an
 * offset was only queried to notice a deleted topic. */
static rd_kafka_topic_partition_list_t *select_committable(struct kafka_intake *in,
	const rd_kafka_topic_partition_list_t *parts, const struct ing_broker_offsets *reported)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(parts->cnt);
	int unanswered = 0;
	for (int i = 0; i < parts->cnt; i++) {
		const rd_kafka_topic_partition_t *elem = &parts->elems[i];
		struct ing_partition *part = partition_of(in, elem);
		unanswered += !reported[i].has_committed;
		if (elem->offset < 0 && !ing_partition_is_assigned(part))
			continue;
		if (may_commit(in, part, &reported[i]) && elem->offset >= 0 && !part->in_batch)
			add_position(
				list, elem->topic, elem->partition, elem->offset, elem->metadata);
	}
	log_silence(in, unanswered);
	in->silent = unanswered == parts->cnt;
	if (!in->silent)
		ing_kafka_set_brokers_up(in);
	return list;
}

/* ---- Queries ---- */

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

static bool is_due(const struct kafka_intake *in, const struct ing_partition *part)
{
	bool ours = !in->exactly_once || part->stage == ING_PARTITION_STARTING;
	return ours && !part->in_batch && ing_partition_is_commit_due(part);
}

static void add_due(const struct kafka_intake *in, struct ing_partition *part,
	rd_kafka_topic_partition_list_t *list)
{
	char *metadata;
	struct ing_position p = ing_kafka_position_of(in, part, &metadata);
	add_position(list, p.topic, p.partition, p.offset, metadata);
	part->sent_changes = part->changes;
	part->sent_mark = (struct ing_log_mark){p.mark_offset, p.mark_timestamp_ms};
	free(metadata);
}

/* Returns the partitions with a position due to be committed; with `all` also the other ones that are
 * read, without an offset. NULL when there are none. The caller destroys the list. */
static rd_kafka_topic_partition_list_t *list_positions(const struct kafka_intake *in, bool all)
{
	rd_kafka_topic_partition_list_t *list = NULL;
	for (size_t i = 0; i < in->partitions.count; i++) {
		struct ing_partition *part = in->partitions.all[i];
		bool due = is_due(in, part);
		if (!due && !(all && part->stage == ING_PARTITION_READY))
			continue;
		if (list == NULL)
			list = rd_kafka_topic_partition_list_new(8);
		if (due)
			add_due(in, part, list);
		else
			add_position(list, in->topics[part->topic].name, part->number,
				RD_KAFKA_OFFSET_INVALID, NULL);
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
			ing_offset_query_start(in->loop, in->rk, list, NULL, on_commit_query, in);
}

static void query_before_revoked_commit(struct kafka_intake *in)
{
	if (in->commit_query == NULL && !in->commit_pending && in->revoked_offsets != NULL)
		in->commit_query = ing_offset_query_start(in->loop, in->rk,
			rd_kafka_topic_partition_list_copy(in->revoked_offsets), NULL,
			on_revoked_commit_query, in);
}

/* -------------------------------------------------------------------------------------------- */

rd_kafka_topic_partition_list_t *ing_kafka_list_due_commits(struct kafka_intake *in)
{
	return list_positions(in, false);
}

/* Only one commit is pending at a time: librdkafka would retry an older one after a newer one, which
 * would set the committed offset back. */
void ing_kafka_serve_commits(struct kafka_intake *in)
{
	if (in->fatal || in->phase == KAFKA_UNASSIGNED)
		return;
	if (in->phase == KAFKA_REVOKING)
		query_before_revoked_commit(in);
	else
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
	size_t count = (size_t)in->revoked_offsets->cnt;
	struct ing_broker_offsets *reported = ing_alloc(count * sizeof(*reported));
	ing_offset_query_committed_now(in->rk, in->revoked_offsets, reported, time_left_ms(in));
	send_commit(in, select_committable(in, in->revoked_offsets, reported));
	ing_broker_offsets_free(reported, (int)count);
	free(reported);
	if (in->commit_pending && !ing_kafka_take_commit_reply(in, time_left_ms(in)))
		ing_kafka_log_commit_error(in, RD_KAFKA_RESP_ERR__TIMED_OUT);
}

struct ing_position ing_kafka_position_of(
	const struct kafka_intake *in, const struct ing_partition *part, char **ret_metadata)
{
	struct ing_buf map;
	ing_buf_init(&map, ING_POSITION_MAP_MAX_CHARS + 1);
	ing_position_map_encode(&part->offsets, &map);
	*ret_metadata = ing_strdup(map.len > 0 ? ing_buf_str(&map) : "");
	ing_buf_done(&map);
	const struct ing_tracked *mark = ing_offset_tracker_mark(&part->offsets);
	bool seen = mark != NULL && mark->timestamp_ms >= 0;
	return (struct ing_position){
		.topic = in->topics[part->topic].name,
		.partition = part->number,
		.offset = ing_offset_tracker_committable(&part->offsets),
		.metadata = *ret_metadata,
		.mark_offset = seen ? mark->offset : part->mark.offset,
		.mark_timestamp_ms = seen ? mark->timestamp_ms : part->mark.timestamp_ms,
		.fence = part->fence,
	};
}
