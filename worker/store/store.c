/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The store thread: takes what is queued, writes it in batches, hands it back to the loop. It owns
 * the session; the loop sees it only through two queues, a flag and counters. Whatever fails, an
 * item leaves this thread either written, or refused by PostgreSQL for good, or, when the store is
 * freed, not at all.
 */
#include "worker/store/store.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <uv.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "worker/store/session.h"
#include "worker/store/table.h"

#define BACKOFF_MIN_MS 100
#define BACKOFF_MAX_MS 5000
#define CONFLICT_MAX_MS 1000
#define REMIND_MS 60000 /* a trouble that lasts is logged again after this long */
#define ALL_TABLES ((1u << ING_TABLES) - 1)
#define STORE_MAGIC 0x53544f31u

struct ing_store {
	unsigned magic;
	char *dsn;
	unsigned batch_rows, batch_ms;
	struct ing_queue in, out;
	uv_async_t async; /* loop: something is in `out` */
	pthread_t thread;
	int stop_fd; /* readable: give up at once */
	atomic_bool stopping, blocked;
	atomic_ullong items, batches, refused, skipped, cpu_ns;

	/* store thread only */
	struct ing_session *ses;
	struct ing_pace pace;
	bool slow;         /* has been said */
	unsigned failures; /* in a row */
	unsigned seed;
	struct ing_log_gate trouble_gate, refused_gate, slow_gate;
	struct ing_store_item **pending;
	size_t pending_count, pending_cap;
	size_t unwritten; /* of the pending ones */
};

/* @locality store thread, all of the static ones down to the ruler but those marked loop */

static void sleep_ms(struct ing_store *s, unsigned ms)
{
	/* Spread by a quarter, so that the workers of a fleet do not come back all at once. */
	unsigned spread = (unsigned)rand_r(&s->seed) % (ms / 4 + 1);
	struct pollfd fd = {.fd = s->stop_fd, .events = POLLIN};
	int rc;
	do {
		rc = poll(&fd, 1, (int)(ms - spread));
	} while (rc < 0 && errno == EINTR);
}

static unsigned backoff_ms(unsigned failures, unsigned max_ms)
{
	unsigned ms = BACKOFF_MIN_MS << ING_MIN(failures, 10u);
	return ING_MIN(ms, max_ms);
}

/* The environment's fault: say so once, wait, and the caller tries again, on the same session if it
 * still has it. */
static void wait_out(struct ing_store *s, const struct ing_error *err)
{
	if (atomic_load(&s->stopping))
		return;
	if (!atomic_exchange(&s->blocked, true))
		s->trouble_gate = (struct ing_log_gate){0};
	if (ing_log_gate_pass(&s->trouble_gate, REMIND_MS, NULL))
		ing_log(ING_LOG_WARNING, "%s; %zu items wait, trying again", err->msg,
			s->unwritten + ing_queue_count(&s->in));
	sleep_ms(s, backoff_ms(s->failures, BACKOFF_MAX_MS));
	s->failures++;
}

static void note_success(struct ing_store *s)
{
	s->failures = 0;
	if (atomic_exchange(&s->blocked, false))
		ing_log(ING_LOG_INFO, "database: writing again");
}

static void count_cpu(struct ing_store *s)
{
	atomic_store(&s->cpu_ns, ing_thread_cpu_ns());
}

static void hand_back(struct ing_store *s, struct ing_store_item **items, size_t count)
{
	atomic_fetch_add(&s->items, count);
	count_cpu(s);
	bool wake = false;
	for (size_t i = 0; i < count; i++)
		wake |= ing_queue_push(&s->out, &items[i]->node);
	s->unwritten -= count;
	if (wake)
		uv_async_send(&s->async);
}

/* One item, one table: PostgreSQL will never take these rows. Leave them out, keep the others. */
static unsigned give_up_rows(struct ing_store *s, int table, const struct ing_error *err)
{
	const char *name = table < 0 ? "all tables" : ing_tables[table].name;
	unsigned swallowed = 0;
	atomic_fetch_add(&s->refused, 1);
	if (ing_log_gate_pass(&s->refused_gate, 1000, &swallowed))
		ing_log(ING_LOG_ERROR,
			"%s: rows of a request refused and left out: %s (%u more such)", name,
			err->msg, swallowed);
	return table < 0 ? ALL_TABLES : 1u << table;
}

/* Batches stay small, or get so, for the time they take. what: of so many requests, in so long. */
static void say_slow(struct ing_store *s, const char *what)
{
	s->slow = true;
	if (ing_log_gate_pass(&s->slow_gate, REMIND_MS, NULL))
		ing_log(ING_LOG_WARNING, "database: slow: %s; %u are written at a time, %zu wait",
			what, s->pace.rows, s->unwritten + ing_queue_count(&s->in));
}

static void note_pace(struct ing_store *s, size_t count, unsigned slowest_ms)
{
	char what[96];
	bool quick = ing_pace_written(&s->pace, (unsigned)count, slowest_ms);
	if (!quick && s->pace.rows < s->batch_rows) {
		snprintf(what, sizeof(what), "%zu requests took %.1f s (%.1f a second)", count,
			slowest_ms / 1000.0, (double)count * 1000.0 / slowest_ms);
		say_slow(s, what);
	} else if (s->slow && s->pace.rows >= s->batch_rows / 4) {
		s->slow = false;
		ing_log(ING_LOG_INFO, "database: quick again, %u requests are written at a time",
			s->pace.rows);
	}
}

/* False: it was one item, whose next try may take longer. */
static bool note_exceeded(struct ing_store *s, size_t count)
{
	char what[96];
	snprintf(what, sizeof(what), "%zu requests were not written within %.1f s", count,
		s->pace.limit_ms / 1000.0);
	if (!ing_pace_exceeded(&s->pace, (unsigned)count))
		return false;
	say_slow(s, what);
	return true;
}

enum outcome { WRITTEN, REFUSED, TOO_MANY, STOPPED };

/* Write one batch, as often as it takes. REFUSED: PostgreSQL will not have one of its rows.
 * TOO_MANY: they take longer than a statement may. */
static enum outcome write_batch(struct ing_store *s, struct ing_store_item **items, size_t count)
{
	unsigned without = 0;
	unsigned conflicts = 0;
	while (!atomic_load(&s->stopping)) {
		struct ing_error err = {0};
		struct ing_session_report report;
		if (s->ses == NULL && ing_session_open(s->dsn, s->stop_fd, &s->ses, &err) != 0) {
			wait_out(s, &err);
			continue;
		}
		switch (ing_session_write(s->ses, &s->pace, items, count, without, &report, &err)) {
		case ING_PG_OK:
			note_success(s);
			note_pace(s, count, report.slowest_ms);
			atomic_fetch_add(&s->batches, 1);
			atomic_fetch_add(&s->skipped, report.skipped);
			return WRITTEN;
		case ING_PG_CONFLICT:
			sleep_ms(s, ING_MIN(2u << ING_MIN(conflicts, 10u), CONFLICT_MAX_MS));
			conflicts++;
			break;
		case ING_PG_REFUSED:
			/* An answer is an answer: were the last items refused after an outage,
			 * nothing else would say that it is over. */
			note_success(s);
			if (count > 1)
				return REFUSED;
			without |= give_up_rows(s, report.table, &err);
			if (without == ALL_TABLES)
				return WRITTEN;
			break;
		case ING_PG_SLOW:
			if (note_exceeded(s, count))
				return TOO_MANY;
			wait_out(s, &err); /* a single one: nothing moves */
			break;
		case ING_PG_SILENT:
			/* If the server is not slow but dead, fewer rows do no harm. */
			ing_session_close(ING_TAKE(s->ses));
			wait_out(s, &err);
			if (ing_pace_exceeded(&s->pace, (unsigned)count))
				return TOO_MANY;
			break;
		case ING_PG_LOCKED:
			wait_out(s, &err);
			break;
		case ING_PG_LOST:
		case ING_PG_TROUBLE:
			ing_session_close(ING_TAKE(s->ses));
			wait_out(s, &err);
			break;
		case ING_PG_STOPPED:
			return STOPPED;
		}
	}
	return STOPPED;
}

/* In batches of as many as the database can take at the time. Halving finds one bad row among n in
 * about 2 log2(n) transactions. Depth: log2(batch_rows). False: stopped. */
static bool write_items(struct ing_store *s, struct ing_store_item **items, size_t count)
{
	while (count > 0) {
		size_t n = ING_MIN(count, (size_t)s->pace.rows);
		switch (write_batch(s, items, n)) {
		case WRITTEN:
			hand_back(s, items, n);
			break;
		case REFUSED:
			if (!write_items(s, items, n / 2) ||
				!write_items(s, items + n / 2, n - n / 2))
				return false;
			break;
		case TOO_MANY:
			continue;
		default:
			return false;
		}
		items += n;
		count -= n;
	}
	return true;
}

static void add_pending(struct ing_store *s, struct ing_node *list)
{
	while (list != NULL) {
		struct ing_node *next = list->next;
		if (s->pending_count == s->pending_cap) {
			s->pending_cap = s->pending_cap ? s->pending_cap * 2 : 256;
			s->pending = ing_realloc(
				s->pending, s->pending_cap * sizeof(struct ing_store_item *));
		}
		s->pending[s->pending_count++] = ING_CONTAINER(list, struct ing_store_item, node);
		list = next;
	}
}

/* Wait for the first item, then up to batch_ms for a batch to fill: a commit costs the same for one
 * row or a thousand. */
static void gather(struct ing_store *s)
{
	add_pending(s, ing_queue_wait_all(&s->in, -1));
	uint64_t until = ing_now_ms() + s->batch_ms;
	while (s->pending_count < s->batch_rows && !ing_queue_closed(&s->in)) {
		uint64_t now = ing_now_ms();
		if (now >= until)
			return;
		add_pending(s, ing_queue_wait_all(&s->in, (int)(until - now)));
	}
}

static void *run(void *ctx)
{
	struct ing_store *s;
	ING_CAST_OBJ(s, ctx, STORE_MAGIC);
	while (!atomic_load(&s->stopping)) {
		gather(s);
		s->unwritten = s->pending_count;
		write_items(s, s->pending, s->pending_count);
		s->pending_count = 0;
		count_cpu(s);
	}
	return NULL;
}

/* @locality loop */
static void deliver(uv_async_t *async)
{
	struct ing_store *s;
	ING_CAST_OBJ(s, async->data, STORE_MAGIC);
	struct ing_node *list = ing_queue_take_all(&s->out);
	while (list != NULL) {
		struct ing_node *next = list->next; /* done() may free the item */
		struct ing_store_item *item = ING_CONTAINER(list, struct ing_store_item, node);
		item->done(item);
		list = next;
	}
}

static void free_closed(uv_handle_t *handle)
{
	struct ing_store *s;
	ING_CAST_OBJ(s, handle->data, STORE_MAGIC);
	ing_queue_take_all(&s->in);
	ing_queue_take_all(&s->out);
	ing_queue_done(&s->in);
	ing_queue_done(&s->out);
	close(s->stop_fd);
	free(s->pending);
	free(s->dsn);
	s->magic = 0;
	free(s);
}

/* -------------------------------------------------------------------------------------------- */

int ing_store_new(struct uv_loop_s *loop, const struct ing_postgres_settings *conf,
	struct ing_store **ret, struct ing_error *err)
{
	struct ing_session *ses = NULL;
	int stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (stop_fd < 0)
		return ing_error_sys(err, errno, "database: eventfd");
	int rc = ing_session_open(conf->dsn, stop_fd, &ses, err);
	if (rc != 0) {
		close(stop_fd);
		return rc;
	}
	struct ing_store *s = ing_alloc(sizeof(*s));
	*s = (struct ing_store){.magic = STORE_MAGIC,
		.dsn = ing_strdup(conf->dsn),
		.batch_rows = ING_MAX(conf->batch_rows, 1u),
		.batch_ms = conf->batch_ms,
		.stop_fd = stop_fd,
		.ses = ses,
		.seed = (unsigned)getpid()};
	ing_pace_init(&s->pace, s->batch_rows, conf->statement_ms);
	ing_queue_init(&s->in);
	ing_queue_init(&s->out);
	ing_must(uv_async_init(loop, &s->async, deliver) == 0);
	s->async.data = s;
	ing_must(pthread_create(&s->thread, NULL, run, s) == 0);
	pthread_setname_np(s->thread, "ing-store");
	*ret = s;
	return 0;
}

void ing_store_free(struct ing_store *s)
{
	if (s == NULL)
		return;
	atomic_store(&s->stopping, true);
	ing_must(write(s->stop_fd, &(uint64_t){1}, sizeof(uint64_t)) == sizeof(uint64_t));
	ing_queue_close(&s->in);
	pthread_join(s->thread, NULL);
	ing_session_close(ING_TAKE(s->ses));
	uv_close((uv_handle_t *)&s->async, free_closed);
}

void ing_store_put(struct ing_store *s, struct ing_store_item *item)
{
	ing_queue_push(&s->in, &item->node);
}

bool ing_store_blocked(const struct ing_store *s)
{
	return atomic_load(&s->blocked);
}

void ing_store_stats(const struct ing_store *s, struct ing_store_stats *ret)
{
	*ret = (struct ing_store_stats){
		.items = atomic_load(&s->items),
		.batches = atomic_load(&s->batches),
		.refused = atomic_load(&s->refused),
		.skipped = atomic_load(&s->skipped),
		.cpu_ns = atomic_load(&s->cpu_ns),
	};
}
