/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * offset_query.h - asks the brokers for committed offsets with their metadata and for log bounds, on
 * libuv's thread pool.
 *
 * librdkafka 2.0 has only blocking calls for them. A query is started and completed on the loop
 * thread; in between the pool's thread owns it. It uses the consumer, which must not be destroyed
 * before ing_offset_query_is_done() returns true.
 */
#pragma once
#include <librdkafka/rdkafka.h>
#include <stdbool.h>
#include "worker/intake/position_check.h"

struct uv_loop_s;
struct ing_offset_query;

/* Called once, on the loop. parts: as given; reported: one for each of them. Both are the query's
 * and are freed after the call. */
typedef void ing_offset_query_done_f(void *ctx, const rd_kafka_topic_partition_list_t *parts,
	const struct ing_broker_offsets *reported);

/* Queries the group's committed offsets. With marks, one for each part (heap, taken; NULL: none), also
 * the log bounds, and the message of a mark where the group has no offset. Takes parts, whose offset
 * fields are the caller's and stay as they are. When some brokers do not answer, there may not be time
 * to query all; the first parts are queried. */
struct ing_offset_query *ing_offset_query_start(struct uv_loop_s *loop, rd_kafka_t *rk,
	rd_kafka_topic_partition_list_t *parts, struct ing_log_mark *marks,
	ing_offset_query_done_f *done, void *ctx);
/* The pool's thread does not use the consumer any more. Cancels a query that has not begun. */
bool ing_offset_query_is_done(struct ing_offset_query *q);
/* done() will not be called. The memory is freed when the loop has turned once more. NULL is fine.
 */
void ing_offset_query_cancel(struct ing_offset_query *q);
/* Queries the group's committed offsets in the calling thread, for timeout_ms at most: for shutdown,
 * when the loop does not turn, and for other threads. reported: as many as parts, zero-initialised;
 * free with ing_broker_offsets_free(). */
void ing_offset_query_committed_now(rd_kafka_t *rk, const rd_kafka_topic_partition_list_t *parts,
	struct ing_broker_offsets *reported, int timeout_ms);
void ing_broker_offsets_free(struct ing_broker_offsets *reported, int count);
