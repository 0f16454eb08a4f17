/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the store's database thread does: takes items, writes them in batches, hands them back. The
 * connection and its troubles are common/data/pg_thread.h's; here is what a batch is, how many
 * items it has, and what becomes of rows that PostgreSQL refuses. Whatever fails, an item comes
 * back either written, or without the rows that were refused, or, when the store is freed, not at
 * all.
 */
#include "worker/store/store.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/data/pg_paced.h"
#include "common/data/pg_thread.h"
#include "worker/store/claim.h"
#include "worker/store/fold.h"
#include "worker/store/table.h"
#include "worker/store/upkeep.h"
#include "worker/store/upsert.h"

#define REMIND_MS 60000 /* a slow database is logged again after this long */
#define ALL_TABLES (((1u << ING_TABLES) - 1) | 1u << ING_STORE_RECORDS)
#define OUTBOX (1u << ING_STORE_OUTBOX)

struct ing_store {
	unsigned batch_rows, batch_ms, max_attempts;
	struct ing_pg_thread *thread;
	struct ing_claims *claims;
	struct ing_upkeep *upkeep;
	/* Queued to wake the thread when there is upkeep and nothing else. */
	struct ing_node nudge;
	atomic_bool nudged;
	atomic_ullong items, answered, fenced, pruned, batches, refused, skipped, rows, cpu_ns;
	_Atomic uint64_t batch_us[ING_METRIC_COUNT_DURATION + 1];

	/* database thread only */
	struct ing_upsert *upsert;
	struct ing_fold fold;
	struct ing_pace pace;
	bool slow; /* has been logged */
	struct ing_log_throttle refused_gate, slow_gate;
	struct ing_store_item **pending;
	size_t pending_count, pending_cap;
	size_t unwritten; /* of the pending ones */
	size_t urgent;    /* pending ones, which stand first */
};

/* @locality database thread, down to the callbacks */

static size_t count_waiting(const struct ing_store *s)
{
	return s->unwritten + ing_pg_thread_queued(s->thread);
}

static void count_cpu(struct ing_store *s)
{
	atomic_store(&s->cpu_ns, ing_thread_cpu_ns());
}

static void hand_back(struct ing_store *s, struct ing_store_item **items, size_t count)
{
	atomic_fetch_add(&s->items, count);
	count_cpu(s);
	s->unwritten -= count;
	for (size_t i = 0; i < count; i++) {
		if (items[i]->end == ING_STORE_ANSWERED)
			atomic_fetch_add(&s->answered, 1);
		else if (items[i]->end == ING_STORE_FENCED)
			atomic_fetch_add(&s->fenced, 1);
		ing_pg_thread_hand_back(s->thread, &items[i]->node);
	}
}

/* One item, one table: PostgreSQL will never take these rows. Leave them out, keep the others.
 * without: what is left out already. Returns the tables' bits; what is refused at COMMIT has no
 * table: then all rows, and at last the answer. */
static unsigned give_up_rows(
	struct ing_store *s, int table, unsigned without, const struct ing_error *err)
{
	const char *name = table < 0                    ? "all tables"
			   : table == ING_STORE_OUTBOX  ? "result_outbox"
			   : table == ING_STORE_RECORDS ? "publication, webpage"
							: ing_tables[table].name;
	atomic_fetch_add(&s->refused, 1);
	ing_log_throttled(&s->refused_gate, 1000, ING_LOG_ERROR,
		"%s: rows of a request left out, PostgreSQL refused them: %s", name, err->msg);
	if (table >= 0)
		return 1u << table;
	return (without & ALL_TABLES) == ALL_TABLES ? OUTBOX : ALL_TABLES;
}

/* Batches stay small, or get so, for the time they take. what: of so many requests, in so long. */
static void log_slow(struct ing_store *s, const char *what)
{
	s->slow = true;
	ing_log_throttled(&s->slow_gate, REMIND_MS, ING_LOG_WARNING,
		"database: slow: %s; %u are written at a time, %zu waiting", what, s->pace.rows,
		count_waiting(s));
}

static void record_pace(struct ing_store *s, const struct ing_pg_paced_run *run)
{
	char what[96];
	if (!run->quick && s->pace.rows < s->batch_rows) {
		snprintf(what, sizeof(what), "%u requests took %.1f s (%.1f a second)", run->rows,
			run->slowest_ms / 1000.0, run->rows * 1000.0 / run->slowest_ms);
		log_slow(s, what);
	} else if (s->slow && s->pace.rows >= s->batch_rows / 4) {
		s->slow = false;
		ing_log(ING_LOG_INFO, "database: no longer slow, %u requests are written at a time",
			s->pace.rows);
	}
}

struct batch {
	struct ing_store *s;
	struct ing_store_item **items;
	size_t most;  /* may be written */
	size_t count; /* as many as the database could take when it was last tried */
	unsigned without;
	bool upkeep_only; /* there are no items */
	struct ing_upsert_report report;
};

static void log_too_many(void *ctx, unsigned rows, unsigned limit_ms)
{
	const struct batch *b = ctx;
	char what[96];
	snprintf(what, sizeof(what), "%u requests were not written within %.1f s", rows,
		limit_ms / 1000.0);
	log_slow(b->s, what);
}

static enum ing_pg_rc write_rows(struct ing_pg *pg, void *ctx, unsigned rows,
	unsigned *ret_slowest_ms, struct ing_error *err)
{
	struct batch *b = ctx;
	enum ing_pg_rc rc = ing_upsert_write(
		b->s->upsert, pg, b->items, b->upkeep_only ? 0 : rows, b->without, &b->report, err);
	*ret_slowest_ms = b->report.slowest_ms;
	return rc;
}

static enum ing_pg_rc write_batch(struct ing_pg *pg, void *ctx, struct ing_error *err)
{
	struct batch *b = ctx;
	struct ing_store *s = b->s;
	struct ing_pg_paced_run run;
	const struct ing_pg_paced paced = {.write = write_rows, .too_many = log_too_many, .ctx = b};
	uint64_t begun_us = ing_now_us();
	enum ing_pg_rc rc = ing_pg_write_paced(pg, &s->pace, b->most, &paced, &run, err);
	b->count = run.rows;
	if (rc != ING_PG_OK)
		return rc;
	ing_histogram_add_shared(s->batch_us, ING_METRIC_DURATION, ing_now_us() - begun_us);
	record_pace(s, &run);
	atomic_fetch_add(&s->batches, 1);
	atomic_fetch_add(&s->skipped, b->report.skipped);
	atomic_fetch_add(&s->rows, b->report.rows);
	atomic_fetch_add(&s->pruned, b->report.pruned);
	return rc;
}

/* An item of which PostgreSQL has refused rows: write it without the rows of that table, and of
 * each further table that is refused. The fence is checked even if nothing is left; should that be
 * refused, nothing is written, and that is said. */
static bool write_rest(
	struct ing_store *s, struct ing_store_item **item, int table, struct ing_error *err)
{
	struct batch b = {.s = s, .items = item, .most = 1, .report = {.table = table}};
	enum ing_pg_rc rc;
	do {
		if (b.without == (ALL_TABLES | OUTBOX)) {
			(*item)->end = ING_STORE_FENCED;
			break;
		}
		b.without |= give_up_rows(s, b.report.table, b.without, err);
		rc = ing_pg_thread_run(s->thread, write_batch, &b, err);
		if (rc == ING_PG_STOPPED)
			return false;
	} while (rc == ING_PG_REFUSED);
	hand_back(s, item, 1);
	return true;
}

/* In batches of as many as the database can take at the time. Halving finds one bad row among n in
 * about 2 log2(n) transactions. Depth: log2(batch_rows). False: stopped. */
static bool write_items(struct ing_store *s, struct ing_store_item **items, size_t count)
{
	while (count > 0) {
		struct ing_error err = {0};
		struct batch b = {.s = s, .items = items, .most = count};
		enum ing_pg_rc rc = ing_pg_thread_run(s->thread, write_batch, &b, &err);
		size_t n = b.count;
		bool going = rc != ING_PG_STOPPED;
		if (rc == ING_PG_OK)
			hand_back(s, items, n);
		else if (rc == ING_PG_REFUSED && n == 1)
			going = write_rest(s, items, b.report.table, &err);
		else if (rc == ING_PG_REFUSED)
			going = write_items(s, items, n / 2) &&
				write_items(s, items + n / 2, n - n / 2);
		if (!going)
			return false;
		items += n;
		count -= n;
	}
	return true;
}

static void add_item(struct ing_store *s, struct ing_store_item *item)
{
	if (s->pending_count == s->pending_cap) {
		s->pending_cap = s->pending_cap ? s->pending_cap * 2 : 256;
		s->pending =
			ing_realloc(s->pending, s->pending_cap * sizeof(struct ing_store_item *));
	}
	size_t at = s->pending_count;
	if (item->urgent) {
		at = s->urgent++;
		memmove(s->pending + at + 1, s->pending + at,
			(s->pending_count - at) * sizeof(struct ing_store_item *));
	}
	s->pending[at] = item;
	s->pending_count++;
}

static void add_pending(struct ing_store *s, struct ing_node *list)
{
	while (list != NULL) {
		struct ing_node *next = list->next;
		if (list == &s->nudge)
			atomic_store(&s->nudged, false);
		else
			add_item(s, ING_CONTAINER(list, struct ing_store_item, node));
		list = next;
	}
}

/* Until something is to be done without items; -1: nothing is. */
static int wait_ms(const struct ing_store *s)
{
	int upkeep = ing_upkeep_wait_ms(s->upkeep);
	int fold = ing_fold_wait_ms(&s->fold);
	return upkeep < 0 ? fold : fold < 0 ? upkeep : ING_MIN(upkeep, fold);
}

/* Wait for the first item, then up to batch_ms, or until one is urgent, for a batch to fill: a commit costs the same for one
 * row or a thousand. None: there is upkeep to be done, or it is to be waited for. */
static void gather(struct ing_store *s)
{
	add_pending(s, ing_pg_thread_take(s->thread, wait_ms(s)));
	if (s->pending_count == 0)
		return;
	uint64_t until = ing_now_ms() + s->batch_ms;
	while (s->urgent == 0 && s->pending_count < s->batch_rows &&
		!ing_pg_thread_stopping(s->thread)) {
		uint64_t now = ing_now_ms();
		if (now >= until)
			return;
		add_pending(s, ing_pg_thread_take(s->thread, (int)(until - now)));
	}
}

/* No items came to do it with. */
static void write_upkeep(struct ing_store *s)
{
	struct ing_error err = {0};
	struct batch b = {.s = s, .most = 1, .upkeep_only = true};
	if (ing_pg_thread_run(s->thread, write_batch, &b, &err) == ING_PG_REFUSED)
		ing_log(ING_LOG_ERROR, "result_outbox: %s", err.msg);
}

static void fold_counts(struct ing_store *s)
{
	struct ing_error err = {0};
	if (ing_pg_thread_run(s->thread, ing_fold_write, &s->fold, &err) == ING_PG_REFUSED)
		ing_log(ING_LOG_ERROR, "counts: %s", err.msg);
}

/* -- callbacks of the database thread ------------------------------------------------------- */

static int prepare(void *ctx, struct ing_pg *pg, struct ing_error *err)
{
	const struct ing_store *s = ctx;
	return ing_upsert_prepare(pg, s->max_attempts, err);
}

static void work(void *ctx)
{
	struct ing_store *s = ctx;
	gather(s);
	s->unwritten = s->pending_count;
	if (s->pending_count > 0) {
		write_items(s, s->pending, s->pending_count);
		ing_fold_want(&s->fold);
	} else if (ing_upkeep_wait_ms(s->upkeep) == 0) {
		write_upkeep(s);
	}
	if (ing_fold_wait_ms(&s->fold) == 0 && !ing_pg_thread_stopping(s->thread))
		fold_counts(s);
	s->pending_count = s->urgent = 0;
	count_cpu(s);
}

static void trouble(void *ctx, const struct ing_error *err)
{
	struct ing_store *s = ctx;
	if (err == NULL)
		ing_log(ING_LOG_INFO, "database: writing again");
	else
		ing_log(ING_LOG_WARNING, "%s; %zu items waiting, retrying", err->msg,
			count_waiting(s));
}

/* @locality loop, from here on */

static void wake(void *ctx)
{
	struct ing_store *s = ctx;
	if (!atomic_exchange(&s->nudged, true))
		ing_pg_thread_push(s->thread, &s->nudge);
}

static void claim(void *ctx, struct ing_claim *c)
{
	ing_claims_claim(((struct ing_store *)ctx)->claims, c);
}

static void recover(void *ctx, struct ing_claim *c)
{
	ing_claims_recover(((struct ing_store *)ctx)->claims, c);
}

static void cancel(void *ctx, struct ing_claim *c)
{
	ing_claims_cancel(((struct ing_store *)ctx)->claims, c);
}

static void committed(void *ctx, const struct ing_positions *p)
{
	ing_upkeep_committed(((struct ing_store *)ctx)->upkeep, p);
}

static void finished(void *ctx, struct ing_node *items)
{
	(void)ctx;
	while (items != NULL) {
		struct ing_node *next = items->next; /* done() may free the item */
		struct ing_store_item *item = ING_CONTAINER(items, struct ing_store_item, node);
		item->done(item);
		items = next;
	}
}

/* The store is freed before it has called back. */
static void drop(void *ctx, struct ing_node *node)
{
	const struct ing_store *s = ctx;
	if (node != &s->nudge)
		ing_answer_free(ING_CONTAINER(node, struct ing_store_item, node)->answer);
}

/* ------------------------------------------------------------------------------------------ */

int ing_store_new(struct uv_loop_s *loop, const struct ing_postgres_settings *conf,
	struct ing_store **ret, struct ing_error *err)
{
	struct ing_store *s = ing_alloc(sizeof(*s));
	*s = (struct ing_store){.batch_rows = ING_MAX(conf->batch_rows, 1u),
		.batch_ms = conf->batch_ms,
		.max_attempts = conf->max_attempts > 0 ? conf->max_attempts : INT_MAX};
	ing_pace_init(&s->pace, s->batch_rows, conf->statement_ms);
	ing_fold_init(&s->fold);
	const struct ing_pg_thread_conf thread = {.name = "ing-store",
		.dsn = conf->dsn,
		.ctx = s,
		.prepare = prepare,
		.work = work,
		.trouble = trouble,
		.finished = finished,
		.drop = drop};
	s->upkeep = ing_upkeep_new(wake, s);
	s->upsert = ing_upsert_new(s->upkeep);
	int rc = ing_pg_thread_new(&thread, &s->thread, err);
	if (rc == 0)
		rc = ing_claims_new(loop, conf->dsn, s->upkeep, &s->claims, err);
	if (rc != 0) {
		ing_store_free(s);
		return rc;
	}
	ing_pg_thread_start(s->thread, loop);
	*ret = s;
	return 0;
}

void ing_store_free(struct ing_store *s)
{
	if (s == NULL)
		return;
	ing_claims_free(s->claims);
	ing_pg_thread_free(s->thread);
	ing_upsert_free(s->upsert);
	ing_upkeep_free(s->upkeep);
	free(s->pending);
	free(s);
}

void ing_store_put(struct ing_store *s, struct ing_store_item *item)
{
	ing_pg_thread_push(s->thread, &item->node);
}

void ing_store_prune(struct ing_store *s, const struct ing_source *source)
{
	ing_upkeep_prune(s->upkeep, source);
}

struct ing_claim_ops ing_store_claim_ops(struct ing_store *s)
{
	return (struct ing_claim_ops){.ctx = s,
		.claim = claim,
		.recover = recover,
		.cancel = cancel,
		.committed = committed};
}

const char *ing_store_trouble(const struct ing_store *s)
{
	const char *words = ing_pg_thread_trouble(s->thread);
	return words != NULL ? words : ing_claims_trouble(s->claims);
}

bool ing_store_blocked(const struct ing_store *s)
{
	return ing_pg_thread_blocked(s->thread);
}

void ing_store_stats(const struct ing_store *s, struct ing_store_stats *ret)
{
	*ret = (struct ing_store_stats){
		.items = atomic_load(&s->items),
		.answered = atomic_load(&s->answered),
		.fenced = atomic_load(&s->fenced),
		.pruned = atomic_load(&s->pruned),
		.batches = atomic_load(&s->batches),
		.refused = atomic_load(&s->refused),
		.skipped = atomic_load(&s->skipped),
		.rows = atomic_load(&s->rows),
		.cpu_ns = atomic_load(&s->cpu_ns),
	};
	ing_histogram_read_shared(ret->batch_us, s->batch_us, ING_METRIC_DURATION);
}
