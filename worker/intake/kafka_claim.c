/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The store's part of an assignment: the partition is claimed, so that no earlier owner writes any
 * more, and when its position is known, the answers that are in the database but not committed are
 * read. Loop thread; the store's thread has a claim from claim() or recover() to done().
 *
 * Without a database both steps are left out. While the database is away nothing is read: the store
 * tries again until it has answered.
 *
 * A claim can be late: sent for an assignment that was over when it came. Then the partition's owner
 * finds itself fenced or superseded, and claims it again after RECLAIM_MS. Two workers that both
 * believe to be the owner do so for no longer than the session of the one that is not.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "common/base/clock.h"
#include "common/kafka/wake.h"
#include "worker/intake/kafka_priv.h"

/* Longer than a rebalance that is already on its way. */
#define RECLAIM_MS 5000

struct kafka_claim {
	struct ing_claim base;
	struct kafka_intake *in;
	struct ing_partition *part;
	bool busy;      /* the store has it */
	bool claimed;   /* in this assignment: last owner's values are set */
	bool recovered; /* likewise */
	uint64_t due_ms;
	uint64_t since_ms; /* the store has it since, for the log */
};

static bool has_store(const struct kafka_intake *in)
{
	return in->claims.ctx != NULL;
}

static struct kafka_claim *claim_of(struct kafka_intake *in, struct ing_partition *part)
{
	if (part->claim == NULL) {
		part->claim = ing_alloc(sizeof(*part->claim));
		*part->claim = (struct kafka_claim){.in = in, .part = part};
	}
	return part->claim;
}

/* The answers are the partition's from now on. */
static void take_answers(struct kafka_claim *c)
{
	struct ing_partition *part = c->part;
	unsigned count = 0;
	part->answers = ING_TAKE(c->base.answers);
	for (const struct ing_answer *a = part->answers; a != NULL; a = a->next)
		count++;
	if (count > 0)
		ing_log(ING_LOG_INFO,
			"%s: partition %" PRId32
			": %u requests are answered in the database, their results are not committed",
			c->base.topic, part->number, count);
}

static void on_recovered(struct kafka_claim *c)
{
	if (c->base.superseded) {
		ing_log_throttled(&c->in->claim_throttle, ING_KAFKA_LOG_EVERY_MS, ING_LOG_WARNING,
			"%s: partition %" PRId32
			": another worker has claimed it, claiming it again",
			c->base.topic, c->part->number);
		ing_kafka_restart_claim(c->in, c->part);
		return;
	}
	c->recovered = true;
	take_answers(c);
	ing_kafka_start_partition(c->in, c->part);
}

/* After claim(), and again after recover(). */
static void on_done(struct ing_claim *base)
{
	struct kafka_claim *c = ING_CONTAINER(base, struct kafka_claim, base);
	c->busy = false;
	ing_kafka_wake_kick(c->in->wake);
	if (c->part->stage == ING_PARTITION_RECOVERING) {
		on_recovered(c);
		return;
	}
	ing_must(c->part->stage == ING_PARTITION_CLAIMING && base->fence > 0);
	c->claimed = true;
	c->part->fence = base->fence;
	ing_kafka_request_validation(c->in, c->part);
}

static bool is_finished(const void *map, int64_t offset)
{
	return map != NULL && ing_position_map_has(map, offset);
}

static void start_claim(struct kafka_intake *in, struct kafka_claim *c)
{
	c->busy = true;
	c->since_ms = ing_now_ms();
	c->base = (struct ing_claim){
		.group = in->group_id,
		.topic = in->topics[c->part->topic].name,
		.instance = in->instance,
		.partition = c->part->number,
		.low_water = -1,
		.mark_offset = -1,
		.mark_timestamp_ms = -1,
		.done = on_done,
	};
	in->claims.claim(in->claims.ctx, &c->base);
}

static void log_waiting(struct kafka_intake *in, unsigned waiting)
{
	if (waiting > 0)
		ing_log_throttled(&in->claim_throttle, ING_KAFKA_LOG_EVERY_MS, ING_LOG_WARNING,
			"%s: %u partitions are not read yet: no answer from the database", in->name,
			waiting);
}

/* -------------------------------------------------------------------------------------------- */

void ing_kafka_claim(struct kafka_intake *in, struct ing_partition *part, uint64_t delay_ms)
{
	part->fence = 0;
	if (!has_store(in)) {
		ing_kafka_request_validation(in, part);
		return;
	}
	struct kafka_claim *c = claim_of(in, part);
	ing_must(!c->busy);
	part->stage = ING_PARTITION_CLAIMING;
	c->claimed = c->recovered = false;
	c->due_ms = ing_now_ms() + delay_ms;
	if (delay_ms == 0)
		start_claim(in, c);
}

void ing_kafka_restart_claim(struct kafka_intake *in, struct ing_partition *part)
{
	ing_kafka_renew_epoch(in, part);
	ing_kafka_claim(in, part, RECLAIM_MS);
}

void ing_kafka_recover(struct kafka_intake *in, struct ing_partition *part)
{
	if (!has_store(in) || part->claim->recovered) {
		ing_kafka_start_partition(in, part);
		return;
	}
	struct kafka_claim *c = part->claim;
	part->stage = ING_PARTITION_RECOVERING;
	c->busy = true;
	c->since_ms = ing_now_ms();
	c->base.position = part->next_offset;
	c->base.is_finished = is_finished;
	c->base.finished_ctx = part->map;
	in->claims.recover(in->claims.ctx, &c->base);
}

void ing_kafka_cancel_claim(struct kafka_intake *in, struct ing_partition *part)
{
	struct kafka_claim *c = part->claim;
	if (c == NULL || !c->busy)
		return;
	in->claims.cancel(in->claims.ctx, &c->base);
	c->busy = false;
	while (c->base.answers != NULL) {
		struct ing_answer *a = c->base.answers;
		c->base.answers = a->next;
		ing_answer_free(a);
	}
}

void ing_kafka_free_claim(struct ing_partition *part)
{
	free(ING_TAKE(part->claim));
}

const struct ing_claim *ing_kafka_last_owner(const struct ing_partition *part)
{
	const struct kafka_claim *c = part->claim;
	return c != NULL && c->claimed && c->base.low_water >= 0 ? &c->base : NULL;
}

void ing_kafka_serve_claims(struct kafka_intake *in)
{
	if (!has_store(in) || in->phase != KAFKA_ASSIGNED)
		return;
	const uint64_t now = ing_now_ms();
	unsigned waiting = 0;
	for (size_t i = 0; i < in->partitions.count; i++) {
		struct kafka_claim *c = in->partitions.all[i]->claim;
		if (c == NULL)
			continue;
		if (!c->busy && c->part->stage == ING_PARTITION_CLAIMING && now >= c->due_ms)
			start_claim(in, c);
		waiting += c->busy && now >= c->since_ms + ING_KAFKA_LOG_EVERY_MS / 3;
	}
	log_waiting(in, waiting);
}
