/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An eventfd under uv_poll, an idle handle for "more to do", and a timer for the tick. The idle
 * handle keeps the loop from sleeping while it runs, but lets sockets and timers have their turn
 * between two calls.
 */
#include "common/kafka/wake.h"

#include <errno.h>
#include <librdkafka/rdkafka.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <uv.h>

#define WAKE_MAGIC 0x77616b65u

struct ing_kafka_wake {
	uint32_t magic;
	int fd;
	unsigned open_handles;
	ing_kafka_serve_f *serve;
	void *ctx;
	uv_poll_t poll;
	uv_idle_t idle;
	uv_timer_t tick;
};

/* serve() may free the wake's owner and with it the wake: nothing is touched after a call that
 * did. */
static void on_idle(uv_idle_t *idle)
{
	struct ing_kafka_wake *w;
	ING_CAST_OBJ(w, idle->data, WAKE_MAGIC);
	uv_idle_stop(idle);
	if (w->serve(w->ctx) && !uv_is_closing((uv_handle_t *)idle))
		uv_idle_start(idle, on_idle);
}

static void on_tick(uv_timer_t *tick)
{
	struct ing_kafka_wake *w;
	ING_CAST_OBJ(w, tick->data, WAKE_MAGIC);
	ing_kafka_wake_kick(w);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
	(void)status;
	(void)events;
	struct ing_kafka_wake *w;
	ING_CAST_OBJ(w, poll->data, WAKE_MAGIC);
	uint64_t count;
	ssize_t n = read(w->fd, &count, sizeof(count));
	(void)n; /* EAGAIN when another turn has taken it: serving once too often does no harm */
	ing_kafka_wake_kick(w);
}

static void on_closed(uv_handle_t *handle)
{
	struct ing_kafka_wake *w;
	ING_CAST_OBJ(w, handle->data, WAKE_MAGIC);
	if (--w->open_handles > 0)
		return;
	close(w->fd);
	w->magic = 0;
	free(w);
}

/* -------------------------------------------------------------------------------------------- */

int ing_kafka_wake_new(struct uv_loop_s *loop, uint64_t tick_ms, ing_kafka_serve_f *serve,
	void *ctx, struct ing_kafka_wake **ret, struct ing_error *err)
{
	int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (fd < 0)
		return ing_error_sys(err, errno, "Kafka: eventfd");
	struct ing_kafka_wake *w = ing_alloc(sizeof(*w));
	*w = (struct ing_kafka_wake){
		.magic = WAKE_MAGIC, .fd = fd, .serve = serve, .ctx = ctx, .open_handles = 3};
	int rc = uv_poll_init(loop, &w->poll, fd);
	if (rc < 0) {
		close(fd);
		free(w);
		return ing_error_sys(err, -rc, "Kafka: watching an eventfd");
	}
	uv_idle_init(loop, &w->idle);
	uv_timer_init(loop, &w->tick);
	w->poll.data = w->idle.data = w->tick.data = w;
	uv_poll_start(&w->poll, UV_READABLE, on_readable);
	uv_timer_start(&w->tick, on_tick, tick_ms, tick_ms);
	*ret = w;
	return 0;
}

void ing_kafka_wake_watch(struct ing_kafka_wake *w, struct rd_kafka_queue_s *queue)
{
	static const uint64_t one = 1;
	rd_kafka_queue_io_event_enable(queue, w->fd, &one, sizeof(one));
	ing_kafka_wake_kick(w); /* what is there already makes no event */
}

void ing_kafka_wake_unwatch(struct rd_kafka_queue_s *queue)
{
	rd_kafka_queue_io_event_enable(queue, -1, NULL, 0);
}

void ing_kafka_wake_kick(struct ing_kafka_wake *w)
{
	uv_idle_start(&w->idle, on_idle);
}

void ing_kafka_wake_free(struct ing_kafka_wake *w)
{
	if (w == NULL)
		return;
	uv_close((uv_handle_t *)&w->poll, on_closed);
	uv_close((uv_handle_t *)&w->idle, on_closed);
	uv_close((uv_handle_t *)&w->tick, on_closed);
}
