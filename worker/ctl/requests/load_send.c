/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "worker/ctl/requests/load_send.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <uv.h>

#include "common/base/signals.h"
#include "worker/conf/conf.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/enqueue/send.h"

#define JOIN_S 10 /* a Kafka transaction that is under way */

struct ing_load_sender {
	struct ing_load_sender_conf conf;
	pthread_t thread;
	uv_async_t async;
	volatile sig_atomic_t stop;
	atomic_bool finished;
	bool joined;
	int code;
	uint64_t sent;
};

static bool is_loading(void *ctx)
{
	const struct ing_load_sender *s = ctx;
	return !atomic_load(&s->finished);
}

static void *send_planned(void *arg)
{
	struct ing_load_sender *s = arg;
	const struct ing_enqueue_send conf = {.verb = s->conf.verb,
		.brokers = s->conf.brokers,
		.dsn = s->conf.conf->postgres.dsn,
		.conf = s->conf.conf,
		.name = s->conf.plan,
		.max_lag = s->conf.max_lag,
		.quiet = true,
		.stop = &s->stop,
		.more = is_loading,
		.ctx = s};
	s->code = ing_enqueue_send(&conf, &s->sent);
	uv_async_send(&s->async);
	return NULL;
}

static void on_ended(uv_async_t *async)
{
	struct ing_load_sender *s = async->data;
	if (s->joined)
		return;
	pthread_join(s->thread, NULL);
	s->joined = true;
	s->conf.ended(s->conf.ctx);
}

static void free_closed(uv_handle_t *handle)
{
	free(handle->data);
}

/* -------------------------------------------------------------------------------------------- */

int ing_load_sender_new(const struct ing_load_sender_conf *conf, struct uv_loop_s *loop,
	struct ing_load_sender **ret, struct ing_error *err)
{
	struct ing_load_sender *s = ing_alloc(sizeof(*s));
	s->conf = *conf;
	ing_must(uv_async_init(loop, &s->async, on_ended) == 0);
	s->async.data = s;
	int rc = ing_thread_create(&s->thread, send_planned, s);
	if (rc != 0) {
		uv_close((uv_handle_t *)&s->async, free_closed);
		return ing_error_sys(err, rc, "threads");
	}
	*ret = s;
	return 0;
}

void ing_load_sender_finish(struct ing_load_sender *s)
{
	atomic_store(&s->finished, true);
}

bool ing_load_sender_stop(struct ing_load_sender *s)
{
	struct timespec until;
	s->stop = 1;
	ing_load_sender_finish(s);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += JOIN_S;
	if (!s->joined)
		s->joined = pthread_timedjoin_np(s->thread, NULL, &until) == 0;
	return s->joined;
}

int ing_load_sender_code(const struct ing_load_sender *s, uint64_t *ret_sent)
{
	*ret_sent = s->sent;
	return s->code;
}

void ing_load_sender_free(struct ing_load_sender *s)
{
	if (s == NULL)
		return;
	ing_must(s->joined);
	uv_close((uv_handle_t *)&s->async, free_closed);
}
