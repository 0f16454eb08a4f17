/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * wake.h - lets librdkafka queues wake the libuv loop.
 *
 * librdkafka writes to an eventfd when a queue that was empty is no longer so; the loop then calls
 * serve(), which must empty the queue or return true. serve() is also called at every
 * tick, so that a consumer is polled often enough to stay in its group, and work that is due by
 * time is done. Loop thread only.
 */
#pragma once
#include <stdbool.h>
#include "common/base/error.h"

struct rd_kafka_queue_s;
struct uv_loop_s;
struct ing_kafka_wake;

/* true: there is more to do, call again on the next turn of the loop (which serves its other
 * handles in between). */
typedef bool ing_kafka_serve_f(void *ctx);

int ing_kafka_wake_new(struct uv_loop_s *loop, uint64_t tick_ms, ing_kafka_serve_f *serve,
	void *ctx, struct ing_kafka_wake **ret, struct ing_error *err) ING_MUST_CHECK;
/* From now on this queue wakes the loop. Before the wake is freed, every watched queue must be
 * destroyed or unwatched. */
void ing_kafka_wake_watch(struct ing_kafka_wake *w, struct rd_kafka_queue_s *queue);
void ing_kafka_wake_unwatch(struct rd_kafka_queue_s *queue);
/* Call serve() on the next turn of the loop; never from inside this call. */
void ing_kafka_wake_kick(struct ing_kafka_wake *w);
/* serve() is not called again. The memory goes when the loop has closed the handles, so it must
 * turn once more. NULL is fine. */
void ing_kafka_wake_free(struct ing_kafka_wake *w);
