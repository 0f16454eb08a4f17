/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The thread sleeps in one of three places, and free wakes it in each: on the queue of work (which
 * it closes), in a pause and inside libpq's calls (both poll the stop descriptor).
 */
#include "common/data/pg_thread.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <uv.h>

#include "common/base/clock.h"
#include "common/base/note.h"

#define PG_THREAD_MAGIC 0x50475431u
/* Deadline of each call while a connection is prepared; then the attempts' limits hold. */
#define CONNECT_ANSWER_MS 20000
#define BACKOFF_MIN_MS 100
#define BACKOFF_MAX_MS 5000
#define CONFLICT_MIN_MS 2
#define CONFLICT_MAX_MS 1000
#define REMIND_MS 60000 /* between two calls of trouble() */
#define REASON_BYTES 200

struct ing_pg_thread {
	unsigned magic;
	struct ing_pg_thread_conf conf;
	char *dsn;
	struct ing_queue in, out;
	uv_async_t async; /* loop: `out` or `blocked` has changed */
	pthread_t thread;
	bool started;
	int stop_fd; /* readable: stop */
	atomic_bool stopping, blocked;
	struct ing_note words; /* of the last failure */
	bool told_blocked;     /* loop: what blocked() was last called with */

	/* the thread's own, once it has started */
	struct ing_pg *pg;
	unsigned failures;                /* in a row */
	uint64_t remind_ms;               /* when to call trouble() again */
	char no_connection[REASON_BYTES]; /* why, as told last; "": not told since there was one */
	unsigned seed;
};

static int open_connection(struct ing_pg_thread *t, struct ing_error *err)
{
	struct ing_pg *pg = NULL;
	int rc = ing_pg_open(t->dsn, t->stop_fd, CONNECT_ANSWER_MS, &pg, err);
	if (rc == 0)
		rc = t->conf.prepare(t->conf.ctx, pg, err);
	if (rc != 0) {
		ing_pg_close(pg);
		return rc;
	}
	t->pg = pg;
	return 0;
}

static void pause_ms(struct ing_pg_thread *t, unsigned ms)
{
	unsigned spread = (unsigned)rand_r(&t->seed) % (ms / 4 + 1);
	struct pollfd fd = {.fd = t->stop_fd, .events = POLLIN};
	int rc;
	do {
		rc = poll(&fd, 1, (int)(ms - spread));
	} while (rc < 0 && errno == EINTR);
}

static unsigned doubled_ms(unsigned min_ms, unsigned times, unsigned max_ms)
{
	return ING_MIN(min_ms << ING_MIN(times, 10u), max_ms);
}

static void set_blocked(struct ing_pg_thread *t, bool blocked)
{
	if (atomic_exchange(&t->blocked, blocked) != blocked)
		uv_async_send(&t->async);
}

/* Why there is no connection: whether it is another reason than the one that was told last. Keeps it. */
static bool is_news(struct ing_pg_thread *t, const struct ing_error *err)
{
	if (strncmp(t->no_connection, err->msg, REASON_BYTES - 1) == 0)
		return false;
	snprintf(t->no_connection, sizeof(t->no_connection), "%.*s", REASON_BYTES - 1, err->msg);
	return true;
}

static void back_off(struct ing_pg_thread *t, const struct ing_error *err, bool news)
{
	if (atomic_load(&t->stopping))
		return;
	uint64_t now = ing_now_ms();
	bool first = !atomic_load(&t->blocked);
	ing_note_set(&t->words, err->msg);
	set_blocked(t, true);
	if (first || news || now >= t->remind_ms) {
		t->remind_ms = now + REMIND_MS;
		t->conf.trouble(t->conf.ctx, err);
	}
	pause_ms(t, doubled_ms(BACKOFF_MIN_MS, t->failures, BACKOFF_MAX_MS));
	t->failures++;
}

static void record_success(struct ing_pg_thread *t)
{
	t->failures = 0;
	t->no_connection[0] = '\0';
	if (atomic_load(&t->blocked))
		t->conf.trouble(t->conf.ctx, NULL);
	set_blocked(t, false);
}

static void *thread_main(void *arg)
{
	struct ing_pg_thread *t;
	ING_CAST_OBJ(t, arg, PG_THREAD_MAGIC);
	while (!atomic_load(&t->stopping))
		t->conf.work(t->conf.ctx);
	return NULL;
}

static void on_async(uv_async_t *async)
{
	struct ing_pg_thread *t;
	ING_CAST_OBJ(t, async->data, PG_THREAD_MAGIC);
	bool blocked = atomic_load(&t->blocked);
	if (blocked != t->told_blocked) {
		t->told_blocked = blocked;
		if (t->conf.blocked != NULL)
			t->conf.blocked(t->conf.ctx, blocked);
	}
	struct ing_node *items = ing_queue_take_all(&t->out);
	if (items != NULL)
		t->conf.finished(t->conf.ctx, items);
}

static void drop_queued(struct ing_pg_thread *t, struct ing_queue *q)
{
	struct ing_node *item = ing_queue_take_all(q);
	while (item != NULL) {
		struct ing_node *next = item->next;
		if (t->conf.drop != NULL)
			t->conf.drop(t->conf.ctx, item);
		item = next;
	}
	ing_queue_done(q);
}

static void free_closed(uv_handle_t *handle)
{
	struct ing_pg_thread *t;
	ING_CAST_OBJ(t, handle->data, PG_THREAD_MAGIC);
	t->magic = 0;
	free(t);
}

static void stop(struct ing_pg_thread *t)
{
	atomic_store(&t->stopping, true);
	ing_must(write(t->stop_fd, &(uint64_t){1}, sizeof(uint64_t)) == sizeof(uint64_t));
	ing_queue_close(&t->in);
	pthread_join(t->thread, NULL);
}

/* ------------------------------------------------------------------------------------------ */

int ing_pg_thread_new(
	const struct ing_pg_thread_conf *conf, struct ing_pg_thread **ret, struct ing_error *err)
{
	int stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (stop_fd < 0)
		return ing_error_sys(err, errno, "database: eventfd");
	struct ing_pg_thread *t = ing_alloc(sizeof(*t));
	*t = (struct ing_pg_thread){.magic = PG_THREAD_MAGIC,
		.conf = *conf,
		.dsn = ing_strdup(conf->dsn),
		.stop_fd = stop_fd,
		.seed = (unsigned)getpid() ^ (unsigned)ing_now_ms()};
	t->conf.dsn = t->dsn;
	ing_queue_init(&t->in);
	ing_queue_init(&t->out);
	int rc = conf->connects_later ? 0 : open_connection(t, err);
	if (rc == 0)
		*ret = t;
	else
		ing_pg_thread_free(t);
	return rc;
}

struct ing_pg *ing_pg_thread_connection(struct ing_pg_thread *t)
{
	ing_must(!t->started);
	return t->pg;
}

void ing_pg_thread_start(struct ing_pg_thread *t, struct uv_loop_s *loop)
{
	ing_must(uv_async_init(loop, &t->async, on_async) == 0);
	t->async.data = t;
	t->started = true;
	ing_must(pthread_create(&t->thread, NULL, thread_main, t) == 0);
	pthread_setname_np(t->thread, t->conf.name);
}

void ing_pg_thread_free(struct ing_pg_thread *t)
{
	if (t == NULL)
		return;
	if (t->started)
		stop(t);
	drop_queued(t, &t->in);
	drop_queued(t, &t->out);
	ing_pg_close(t->pg);
	close(t->stop_fd);
	free(t->dsn);
	ing_note_done(&t->words);
	if (t->started)
		uv_close((uv_handle_t *)&t->async, free_closed);
	else
		free(t);
}

void ing_pg_thread_push(struct ing_pg_thread *t, struct ing_node *item)
{
	ing_queue_push(&t->in, item);
}

struct ing_node *ing_pg_thread_wait(struct ing_pg_thread *t, int timeout_ms)
{
	return ing_queue_wait_all(&t->out, timeout_ms);
}

bool ing_pg_thread_blocked(const struct ing_pg_thread *t)
{
	return atomic_load(&t->blocked);
}

const char *ing_pg_thread_trouble(struct ing_pg_thread *t)
{
	return atomic_load(&t->blocked) ? ing_note_get(&t->words) : NULL;
}

bool ing_pg_thread_stopping(const struct ing_pg_thread *t)
{
	return atomic_load(&t->stopping);
}

size_t ing_pg_thread_queued(struct ing_pg_thread *t)
{
	return ing_queue_count(&t->in);
}

struct ing_node *ing_pg_thread_take(struct ing_pg_thread *t, int timeout_ms)
{
	return ing_queue_wait_all(&t->in, timeout_ms);
}

void ing_pg_thread_hand_back(struct ing_pg_thread *t, struct ing_node *item)
{
	if (ing_queue_push(&t->out, item))
		uv_async_send(&t->async);
}

enum ing_pg_rc ing_pg_thread_run(
	struct ing_pg_thread *t, ing_pg_attempt_f *attempt, void *ctx, struct ing_error *err)
{
	unsigned conflicts = 0;
	while (!atomic_load(&t->stopping)) {
		ing_error_clear(err);
		if (t->pg == NULL && open_connection(t, err) != 0) {
			back_off(t, err, is_news(t, err));
			continue;
		}
		enum ing_pg_rc rc = attempt(t->pg, ctx, err);
		switch (rc) {
		case ING_PG_OK:
		case ING_PG_REFUSED: /* an answer, too: there may be no other after an outage */
			record_success(t);
			return rc;
		case ING_PG_CONFLICT:
			pause_ms(t, doubled_ms(CONFLICT_MIN_MS, conflicts++, CONFLICT_MAX_MS));
			break;
		case ING_PG_SLOW:
		case ING_PG_LOCKED:
			back_off(t, err, false);
			break;
		case ING_PG_LOST:
		case ING_PG_SILENT:
		case ING_PG_TROUBLE:
			ing_pg_close(ING_TAKE(t->pg));
			back_off(t, err, false);
			break;
		case ING_PG_STOPPED:
			return rc;
		}
	}
	return ING_PG_STOPPED;
}
