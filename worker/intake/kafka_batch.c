/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Commits by emit, in the transaction of the messages that answer. Loop thread, but for check().
 *
 * From begin() on the tokens count as finished in the positions and maps, and wait in their trackers for
 * the outcome: settled, or unfinished again. A revocation, or a log that has changed, may end an epoch
 * meanwhile; its tokens are then gone with it, whatever the outcome. Partitions without a token take
 * part when they have something else to commit: messages passed over, or finished without a message.
 */
#include <stdlib.h>
#include <string.h>

#include "common/kafka/wake.h"
#include "worker/intake/kafka_priv.h"

struct kafka_batch {
	struct ing_positions base;
	struct kafka_intake *in;
	rd_kafka_t *rk;
	struct kafka_group *group;
	struct ing_token *tokens;
	size_t token_count;
	/* For each position: its partition, epoch, and the changes that are in it. */
	struct {
		struct ing_partition *part;
		uint32_t epoch;
		uint64_t changes;
	} * parts;
};

/* Emit's thread: uses nothing of the intake but the consumer. */
static enum ing_positions_check check_positions(const struct ing_positions *p, int timeout_ms)
{
	/* base is the first member */
	const struct kafka_batch *b = (const struct kafka_batch *)(const void *)p;
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int)p->count);
	for (size_t i = 0; i < p->count; i++)
		rd_kafka_topic_partition_list_add(list, p->all[i].topic, p->all[i].partition);
	struct ing_broker_offsets *reported = ing_alloc(p->count * sizeof(*reported));
	ing_offset_query_committed_now(b->rk, list, reported, timeout_ms);
	enum ing_positions_check result = ING_POSITIONS_VALID;
	for (size_t i = 0; i < p->count; i++) {
		if (!reported[i].has_committed)
			result = ING_POSITIONS_NO_ANSWER;
		else if (reported[i].committed < 0 && result == ING_POSITIONS_VALID)
			result = ING_POSITIONS_TOPIC_RECREATED;
	}
	ing_broker_offsets_free(reported, (int)p->count);
	free(reported);
	rd_kafka_topic_partition_list_destroy(list);
	return result;
}

static void free_batch(struct kafka_batch *b)
{
	for (size_t i = 0; i < b->base.count; i++)
		free((char *)(uintptr_t)b->base.all[i].metadata);
	free(b->base.all);
	free(b->parts);
	free(b->tokens);
	ing_kafka_group_unref(b->group);
	free(b);
}

static void mark_tokens(struct kafka_intake *in, const struct ing_token *tokens, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct ing_partition *part = ing_partitions_of_token(&in->partitions, &tokens[i]);
		/* Of a current epoch, and taken once. */
		ing_must(part != NULL &&
			 ing_offset_tracker_to_commit(&part->offsets, tokens[i].offset));
		part->in_batch = true;
	}
}

/* The partition's position, its map as metadata, into the batch. */
static void add_partition(struct kafka_batch *b, struct ing_partition *part)
{
	char *metadata;
	size_t i = b->base.count++;
	part->in_batch = true;
	b->base.all[i] = ing_kafka_position_of(b->in, part, &metadata);
	b->parts[i].part = part;
	b->parts[i].epoch = part->epoch;
	b->parts[i].changes = part->changes;
}

static void settle_tokens(struct kafka_batch *b, bool committed)
{
	for (size_t i = 0; i < b->token_count; i++) {
		const struct ing_token *t = &b->tokens[i];
		struct ing_partition *part = ing_partitions_of_token(&b->in->partitions, t);
		if (part == NULL)
			continue;
		bool moved = committed ? ing_offset_tracker_settle(&part->offsets, t->offset)
				       : ing_offset_tracker_reopen(&part->offsets, t->offset);
		ing_must(moved);
	}
}

static void settle_partitions(struct kafka_batch *b, bool committed)
{
	for (size_t i = 0; i < b->base.count; i++) {
		struct ing_partition *part = b->parts[i].part;
		part->in_batch = false;
		if (!committed || part->epoch != b->parts[i].epoch ||
			!ing_partition_is_assigned(part))
			continue;
		part->committed = b->base.all[i].offset;
		part->committed_changes = b->parts[i].changes;
	}
}

/* -------------------------------------------------------------------------------------------- */

struct ing_positions *ing_kafka_begin_batch(
	void *base, const struct ing_token *tokens, size_t count)
{
	struct kafka_intake *in = ing_kafka_intake_of(base);
	ing_must(in->batch == NULL);
	if (in->phase != KAFKA_ASSIGNED || in->fatal || in->group->metadata == NULL)
		return NULL;
	mark_tokens(in, tokens, count);
	struct kafka_batch *b = ing_alloc(sizeof(*b));
	*b = (struct kafka_batch){.in = in, .rk = in->rk, .group = in->group};
	in->group->refs++;
	b->tokens = ing_alloc(count * sizeof(*tokens));
	memcpy(b->tokens, tokens, count * sizeof(*tokens));
	b->token_count = count;
	b->base.all = ing_alloc(in->partitions.count * sizeof(*b->base.all));
	b->parts = ing_alloc(in->partitions.count * sizeof(*b->parts));
	for (size_t i = 0; i < in->partitions.count; i++) {
		struct ing_partition *part = in->partitions.all[i];
		if (part->in_batch ||
			(part->stage == ING_PARTITION_READY && ing_partition_is_commit_due(part)))
			add_partition(b, part);
	}
	b->base.group_metadata = in->group->metadata;
	b->base.check = check_positions;
	in->batch = b;
	return &b->base;
}

void ing_kafka_end_batch(void *base, struct ing_positions *p, bool committed)
{
	struct kafka_intake *in = ing_kafka_intake_of(base);
	struct kafka_batch *b = ING_CONTAINER(p, struct kafka_batch, base);
	ing_must(in->batch == b);
	in->batch = NULL;
	settle_tokens(b, committed);
	settle_partitions(b, committed);
	if (committed && in->claims.ctx != NULL)
		in->claims.committed(in->claims.ctx, p);
	if (!committed) /* perhaps because check() found a topic gone: look at once */
		in->commit_due_ms = in->idle_check_due_ms = 0;
	free_batch(b);
	ing_kafka_wake_kick(in->wake); /* a revocation may wait for it */
}
