/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rebalances of the Kafka intake. Loop thread.
 *
 * Assignment (eager, strategy "range"). The consumer first gets an empty assignment; partitions are
 * added when they are ready (kafka_claim.c, kafka_validate.c), always with an explicit offset.
 * librdkafka's own reset could use a cached log start offset of a topic that has since been deleted.
 * auto.offset.reset is "error", so that an offset out of range is reported to us; librdkafka stops such
 * a partition, and under the eager protocol only a new assignment of all partitions starts it again.
 * The group's metadata (generation, member) is taken once for an assignment: with that of a later one
 * a transaction could commit positions of partitions that are not ours any more.
 *
 * Revocation. Jobs are cancelled at once, but rd_kafka_assign(NULL) is called only when the last
 * positions are committed and no commit of emit is under way, or after REVOCATION_WAIT_MS. librdkafka
 * allows that: it keeps the session alive and delivers no messages meanwhile. Nothing is committed for
 * an assignment that was lost.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/kafka/wake.h"
#include "worker/intake/kafka_priv.h"

/* A revocation waits this long for the coordinator. Messages whose offsets are not committed by then
 * are processed again. */
#define REVOCATION_WAIT_MS 5000

static struct kafka_group *new_group(rd_kafka_t *rk)
{
	struct kafka_group *g = ing_alloc(sizeof(*g));
	*g = (struct kafka_group){.refs = 1, .metadata = rd_kafka_consumer_group_metadata(rk)};
	return g;
}

/* The receiver of on_revoked() cancels the jobs of the epoch. */
static void end_epoch(struct kafka_intake *in, struct ing_partition *part)
{
	ing_kafka_cancel_claim(in, part);
	ing_kafka_close_queue(part);
	ing_partition_end_epoch(part);
	if (!in->closing)
		in->ev.on_revoked(in->ev.ctx, part->index, part->epoch);
}

/* Counts by topic, when there is more than the topic of requests. */
static void log_assigned(struct kafka_intake *in, const unsigned *counts, int all)
{
	struct ing_buf text;
	ing_buf_init(&text, 4096);
	for (unsigned i = 0; i < ING_INTAKE_TOPICS; i++)
		if (counts[i] > 0 && (unsigned)all != counts[ING_LANE_REQUESTS])
			ing_buf_printf(&text, "%s %s %u", text.len == 0 ? ":" : ",",
				in->topics[i].name, counts[i]);
	ing_log(ING_LOG_INFO, "%s: %d partitions assigned%s", in->name, all, ing_buf_str(&text));
	ing_buf_done(&text);
}

static void assign(struct kafka_intake *in, const rd_kafka_topic_partition_list_t *parts)
{
	unsigned counts[ING_INTAKE_TOPICS] = {0};
	in->phase = KAFKA_ASSIGNED;
	in->lag_soon = false;
	in->group = new_group(in->rk);
	for (int i = 0; i < parts->cnt; i++) {
		unsigned topic = ing_kafka_topic_of(in, parts->elems[i].topic);
		if (topic == ING_INTAKE_TOPICS)
			continue;
		struct ing_partition *part =
			ing_partitions_add(&in->partitions, topic, parts->elems[i].partition);
		if (part == NULL)
			continue;
		ing_partition_begin_epoch(part, ++in->last_epoch, ING_PARTITION_CLAIMING);
		ing_kafka_claim(in, part, 0);
		counts[topic]++;
		in->topics[topic].missing = false;
		in->topics[topic].denied = false;
	}
	rd_kafka_topic_partition_list_t *none = rd_kafka_topic_partition_list_new(0);
	rd_kafka_assign(in->rk, none);
	rd_kafka_topic_partition_list_destroy(none);
	log_assigned(in, counts, parts->cnt);
	ing_kafka_set_brokers_up(in);
	in->had_assignment = true;
	in->stats.assignments++;
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
	ing_kafka_group_unref(ING_TAKE(in->group));
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
		if (ing_partition_is_assigned(in->partitions.all[i]))
			end_epoch(in, in->partitions.all[i]);
	in->fetch_wanted = false;
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

void ing_kafka_renew_epoch(struct kafka_intake *in, struct ing_partition *part)
{
	int64_t fence = part->fence;
	end_epoch(in, part);
	ing_partition_begin_epoch(part, ++in->last_epoch, ING_PARTITION_VALIDATING);
	part->fence = fence;
}

void ing_kafka_restart_partition(struct kafka_intake *in, struct ing_partition *part)
{
	in->stats.restarts++;
	ing_kafka_renew_epoch(in, part);
	ing_kafka_request_validation(in, part);
}

void ing_kafka_serve_fenced(struct kafka_intake *in)
{
	if (in->phase != KAFKA_ASSIGNED)
		return;
	for (size_t i = 0; i < in->partitions.count; i++) {
		struct ing_partition *part = in->partitions.all[i];
		if (!part->fenced)
			continue;
		ing_log(ING_LOG_WARNING,
			"%s: partition %" PRId32
			": another worker has claimed it, its requests are cancelled",
			in->topics[part->topic].name, part->number);
		ing_kafka_restart_claim(in, part);
	}
}

void ing_kafka_continue_revocation(struct kafka_intake *in)
{
	if (in->phase != KAFKA_REVOKING)
		return;
	bool busy = in->revoked_offsets != NULL || in->commit_pending || in->batch != NULL;
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

void ing_kafka_group_unref(struct kafka_group *g)
{
	if (g == NULL || --g->refs > 0)
		return;
	if (g->metadata != NULL)
		rd_kafka_consumer_group_metadata_destroy(g->metadata);
	free(g);
}
