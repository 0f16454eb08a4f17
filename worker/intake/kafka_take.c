/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Messages: from the partitions' queues to the receiver. Loop thread.
 *
 * Topics are served in their order (topics.h), the partitions of each in turn, for MESSAGES_PER_TURN or
 * TURN_MS. The front of a queue is kept until it may be taken: when it is due (a parked message), its
 * lane is not paused, and the position map has room, which for the last quarter of it is so only once
 * in SLOW_EVERY_MS. What the map says is finished is passed over.
 */
#include <inttypes.h>

#include "common/base/clock.h"
#include "common/data/digest.h"
#include "common/kafka/wake.h"
#include "worker/intake/kafka_priv.h"
#include "worker/model/parked.h"

/* Messages of one topic passed on before the next is served; after the last one the loop serves its
 * other handles. */
#define MESSAGES_PER_TURN 64
/* … and for no longer than this, except for the first message: a request of 1 MiB can take 70 ms to
 * parse, and matching against a worst-case robots.txt 3 ms. */
#define TURN_MS 10
#define SLOW_PERCENT 75
#define SLOW_EVERY_MS 100

enum outcome { TAKEN, EMPTY, WAITS };

static const char *topic_name(const struct kafka_intake *in, const struct ing_partition *part)
{
	return in->topics[part->topic].name;
}

/* ---- The front of a queue ---- */

static void drop_next(struct ing_partition *part)
{
	if (part->next != NULL)
		rd_kafka_message_destroy(ING_TAKE(part->next));
}

static size_t read_headers(
	const rd_kafka_message_t *m, struct ing_header ret[static ING_INTAKE_MAX_HEADERS])
{
	rd_kafka_headers_t *headers;
	size_t n = 0;
	if (rd_kafka_message_headers(m, &headers) != 0)
		return 0;
	for (size_t i = 0; n < ING_INTAKE_MAX_HEADERS; i++) {
		const char *name;
		const void *value;
		size_t bytes;
		if (rd_kafka_header_get_all(headers, i, &name, &value, &bytes) != 0)
			break;
		if (value != NULL) /* ended by a NUL that is not counted */
			ret[n++] = (struct ing_header){name, value};
	}
	return n;
}

/* When the message is due, and its lane. A message never holds its partition for longer than its tier
 * lasts, whatever its headers say. */
static void read_parked(
	struct kafka_intake *in, struct ing_partition *part, const rd_kafka_message_t *m)
{
	struct ing_header headers[ING_INTAKE_MAX_HEADERS];
	struct ing_parked parked;
	ing_parked_parse(headers, read_headers(m, headers), &parked);
	unsigned origin = ING_INTAKE_TOPICS;
	if (parked.origin != NULL)
		origin = ing_kafka_topic_of(in, parked.origin);
	part->lane = origin < ING_LANES_ ? (enum ing_lane)origin : ING_LANE_REQUESTS;
	struct timespec now = ing_wall_now();
	int64_t wait_ms = parked.not_before_ms - (int64_t)now.tv_sec * 1000 - now.tv_nsec / 1000000;
	wait_ms = ING_MIN(wait_ms, in->topics[part->topic].max_wait_ms);
	part->due_ms = wait_ms > 0 ? ing_now_ms() + (uint64_t)wait_ms : 0;
}

/* NULL: none has been fetched. */
static rd_kafka_message_t *peek(struct kafka_intake *in, struct ing_partition *part)
{
	if (part->next != NULL || part->queue == NULL)
		return part->next;
	part->next = rd_kafka_consume_queue(part->queue, 0);
	part->due_ms = 0;
	part->lane = part->topic < ING_LANES_ ? (enum ing_lane)part->topic : ING_LANE_REQUESTS;
	if (part->next != NULL && part->next->err == 0 && part->topic >= ING_LANES_)
		read_parked(in, part, part->next);
	return part->next;
}

/* ---- What need not be taken ---- */

/* The log has changed, and is read from its start. */
static void restart_from_start(
	struct kafka_intake *in, struct ing_partition *part, int64_t offset, const char *why)
{
	ing_log_throttled(&in->restart_throttle, ING_KAFKA_LOG_EVERY_MS, ING_LOG_ERROR,
		"%s: partition %" PRId32 ": offset %" PRId64
		" %s: the log has changed, reading from its start",
		topic_name(in, part), part->number, offset, why);
	ing_kafka_restart_partition(in, part);
	part->reset_to_start = true;
}

/* The log has no messages from next_offset up to `offset`: those that the map has as unfinished have
 * been deleted. */
static void skip_missing(struct ing_partition *part, int64_t offset)
{
	struct ing_offset_tracker *t = &part->offsets;
	if (offset <= part->next_offset)
		return;
	for (;;) {
		size_t i = ing_offset_tracker_next_unfinished(
			t, ing_offset_tracker_lower_bound(t, part->next_offset));
		if (i == t->count || ing_offset_tracker_at(t, i)->offset >= offset)
			break;
		ing_offset_tracker_finish(t, ing_offset_tracker_at(t, i)->offset);
		part->changes++;
	}
	ing_offset_tracker_skip(t, offset);
	part->next_offset = offset;
}

static void pass_over(struct ing_partition *part, int64_t offset)
{
	part->next_offset = offset + 1;
	if (part->map != NULL && part->next_offset >= ing_position_map_end(part->map))
		ing_position_map_free(ING_TAKE(part->map));
}

static void take_finished(
	struct kafka_intake *in, struct ing_partition *part, const rd_kafka_message_t *m)
{
	int64_t kept_ms = ing_position_map_timestamp(part->map, m->offset);
	if (kept_ms >= 0 && kept_ms != rd_kafka_message_timestamp(m, NULL)) {
		restart_from_start(in, part, m->offset,
			"has another timestamp than the message that was finished there");
		return;
	}
	in->stats.finished_before++;
	pass_over(part, m->offset);
	drop_next(part);
}

/* ---- Handing out ---- */

/* Of a message of this lane, from this topic. */
static bool is_paused(const struct kafka_intake *in, unsigned topic, enum ing_lane lane)
{
	return in->paused[lane] || (in->held[lane] && topic < ING_LANES_);
}

static bool is_served(const struct kafka_intake *in)
{
	return in->started && in->phase == KAFKA_ASSIGNED && !in->stopped && !in->fatal;
}

static void hand_out(struct kafka_intake *in, struct ing_partition *part, struct ing_message *out,
	int64_t offset)
{
	out->token = (struct ing_token){part->index, part->epoch, offset};
	out->topic = topic_name(in, part);
	out->partition = part->number;
	in->stats.taken++;
	in->ev.on_message(in->ev.ctx, out);
}

static void set_slow(struct kafka_intake *in, struct ing_partition *part)
{
	bool slow = ing_offset_tracker_fill_percent(&part->offsets) >= SLOW_PERCENT;
	if (slow) {
		part->slow_until_ms = ing_now_ms() + SLOW_EVERY_MS;
		ing_kafka_serve_in(in, SLOW_EVERY_MS);
	}
	if (slow && !part->slow_logged)
		ing_log(ING_LOG_WARNING,
			"%s: partition %" PRId32
			": its position map is %d %% full, waiting for unfinished requests: reading "
			"slows down",
			topic_name(in, part), part->number, SLOW_PERCENT);
	part->slow_logged = slow;
}

static void log_full(const struct kafka_intake *in, struct ing_partition *part)
{
	if (!part->full_logged)
		ing_log(ING_LOG_WARNING,
			"%s: partition %" PRId32
			": its position map is full, waiting for unfinished requests: reading stops",
			topic_name(in, part), part->number);
	part->full_logged = true;
}

/* The front of the answers, whose message does not exist any more. */
static enum outcome take_expired(struct kafka_intake *in, struct ing_partition *part)
{
	struct ing_answer *a = part->answers;
	const struct ing_tracked tracked = {a->offset, a->timestamp_ms, a->digest};
	enum ing_lane lane =
		part->topic < ING_LANES_ ? (enum ing_lane)part->topic : ING_LANE_REQUESTS;
	if (!is_served(in) || is_paused(in, part->topic, lane))
		return WAITS;
	skip_missing(part, a->offset);
	bool finished = a->offset < part->offsets.position &&
			!ing_offset_tracker_identify(&part->offsets, &tracked);
	if (a->offset >= part->offsets.position &&
		!ing_offset_tracker_begin(&part->offsets, &tracked)) {
		log_full(in, part);
		return WAITS;
	}
	part->answers = a->next;
	struct ing_message out = {
		.value = "", .timestamp_ms = a->timestamp_ms, .lane = lane, .answer = a};
	if (!finished) {
		pass_over(part, a->offset);
		hand_out(in, part, &out, a->offset);
	}
	ing_answer_free(a);
	return TAKEN;
}

/* Returns the answer to the message, off the list, or NULL. One to another message, of an earlier topic
 * of that name, is dropped. */
static struct ing_answer *take_answer(struct ing_partition *part, const struct ing_tracked *m)
{
	struct ing_answer *a = part->answers;
	if (a == NULL || a->offset != m->offset)
		return NULL;
	part->answers = a->next;
	if (a->timestamp_ms == m->timestamp_ms && a->digest == m->digest)
		return a;
	ing_answer_free(a);
	return NULL;
}

/* Of a map's unfinished message it is known since the start that there is room. */
static bool may_take(
	struct kafka_intake *in, struct ing_partition *part, const rd_kafka_message_t *m)
{
	if (!is_served(in) || is_paused(in, part->topic, part->lane) || ing_now_ms() < part->due_ms)
		return false;
	if (m->offset < part->offsets.position)
		return true;
	if (!ing_offset_tracker_fits(&part->offsets, m->offset)) {
		log_full(in, part);
		return false;
	}
	return ing_now_ms() >= part->slow_until_ms;
}

static void take_message(struct kafka_intake *in, struct ing_partition *part)
{
	rd_kafka_message_t *m = ING_TAKE(part->next);
	struct ing_tracked tracked = {m->offset, rd_kafka_message_timestamp(m, NULL), 0};
	struct ing_header headers[ING_INTAKE_MAX_HEADERS];
	struct ing_digests digests;
	ing_digester_add(in->digester, m->payload, m->len);
	ing_digester_finish(in->digester, &digests);
	for (int i = 0; i < 8; i++)
		tracked.digest = tracked.digest << 8 | digests.sha1[i];
	/* The map has it as unfinished, or may_take() has found room. */
	ing_must(m->offset < part->offsets.position
			 ? ing_offset_tracker_identify(&part->offsets, &tracked)
			 : ing_offset_tracker_begin(&part->offsets, &tracked));
	struct ing_answer *answer = take_answer(part, &tracked);
	struct ing_message out = {
		.value = m->len > 0 ? m->payload : "",
		.value_bytes = m->len,
		.key = m->key_len > 0 ? m->key : NULL,
		.key_bytes = m->key_len,
		.lane = part->lane,
		.timestamp_ms = tracked.timestamp_ms,
		.headers = headers,
		.header_count = read_headers(m, headers),
		.answer = answer,
	};
	pass_over(part, m->offset);
	part->full_logged = false;
	set_slow(in, part);
	hand_out(in, part, &out, m->offset);
	ing_answer_free(answer);
	rd_kafka_message_destroy(m);
}

static enum outcome take_next(struct kafka_intake *in, struct ing_partition *part)
{
	if (part->stage != ING_PARTITION_READY)
		return WAITS;
	if (part->answers != NULL && part->answers->offset < part->log_start)
		return take_expired(in, part);
	if (part->next_offset < part->log_start)
		skip_missing(part, part->log_start);
	const rd_kafka_message_t *m = peek(in, part);
	if (m == NULL)
		return EMPTY;
	if (m->err != 0) {
		rd_kafka_message_t *error = ING_TAKE(part->next);
		ing_kafka_handle_partition_error(in, part, error);
		rd_kafka_message_destroy(error);
		return TAKEN;
	}
	ing_kafka_set_brokers_up(in);
	if (m->offset < part->next_offset) {
		restart_from_start(in, part, m->offset, "is below the position");
		return TAKEN;
	}
	if (part->answers != NULL && part->answers->offset < m->offset)
		return take_expired(in, part);
	skip_missing(part, m->offset);
	if (part->map != NULL && ing_position_map_has(part->map, m->offset)) {
		take_finished(in, part, m);
		return TAKEN;
	}
	if (!may_take(in, part, m))
		return WAITS;
	take_message(in, part);
	return TAKEN;
}

/* Returns true when there may be more to take now. */
static bool serve_topic(struct kafka_intake *in, unsigned topic)
{
	struct kafka_topic *t = &in->topics[topic];
	const size_t count = in->partitions.topics[topic].count;
	const uint64_t until_ms = ing_now_ms() + TURN_MS;
	size_t quiet = 0; /* partitions in a row that have given nothing */
	for (unsigned taken = 0; quiet < count;) {
		struct ing_partition *part =
			ing_partitions_find(&in->partitions, topic, (int32_t)t->first);
		bool served = part != NULL && part->quiet_turn != in->turn;
		if (served &&
			(taken == MESSAGES_PER_TURN || (taken > 0 && ing_now_ms() >= until_ms)))
			return true;
		t->first = (t->first + 1) % count;
		quiet++;
		if (!served)
			continue;
		if (take_next(in, part) != TAKEN) {
			part->quiet_turn = in->turn;
			continue;
		}
		taken++;
		quiet = 0;
	}
	return false;
}

/* -------------------------------------------------------------------------------------------- */

bool ing_kafka_take_messages(struct kafka_intake *in)
{
	bool more = false;
	in->turn++;
	for (unsigned topic = 0; topic < ING_INTAKE_TOPICS; topic++)
		more = serve_topic(in, topic) || more;
	return more;
}
