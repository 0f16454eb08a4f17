/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Questions on their way to the database thread and back. The connection and its troubles are
 * common/data/pg_thread.h's.
 *
 * What surprises: a question that was taken back stays on its way, as the thread may be reading it;
 * it is freed when it comes back.
 */
#include "worker/store/lookup/lookup.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <utlist.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/data/pg_paced.h"
#include "common/data/pg_thread.h"
#include "worker/database/schema.h"
#include "worker/model/limits.h"
#include "worker/store/lookup/lookup_priv.h"

/* At most so many questions are asked with one statement: enough that the way to the server and back no
 * longer counts, and a fraction of a millisecond each. */
#define BATCH_QUESTIONS 500
/* A few batches; intake waits beyond that. */
#define MAX_QUESTIONS 4096

struct ing_lookup {
	struct ing_pg_thread *thread;
	atomic_ullong found, batches, cpu_ns;
	_Atomic uint64_t batch_us[ING_METRIC_COUNT_DURATION + 1];
	/* loop only */
	struct ing_lookup_question *questions; /* list: not answered */
	size_t question_count;
	uint64_t asked;
	/* database thread only */
	struct ing_pace pace;
	struct ing_log_throttle refused;
};

/* --- database thread --- */

struct batch {
	struct ing_lookup *l;
	struct ing_lookup_question *questions[BATCH_QUESTIONS];
	size_t count;
	size_t done; /* asked by the last try */
};

static enum ing_pg_rc ask(struct ing_pg *pg, void *ctx, unsigned rows, unsigned *ret_slowest_ms,
	struct ing_error *err)
{
	struct batch *b = ctx;
	uint64_t start_us = ing_now_us();
	enum ing_pg_rc rc = ing_lookup_ask(pg, b->questions, rows, err);
	uint64_t took_us = ing_now_us() - start_us;
	if (rc == ING_PG_OK)
		ing_histogram_add_shared(b->l->batch_us, ING_METRIC_DURATION, took_us);
	*ret_slowest_ms = (unsigned)(took_us / 1000);
	return rc;
}

static enum ing_pg_rc ask_paced(struct ing_pg *pg, void *ctx, struct ing_error *err)
{
	struct batch *b = ctx;
	struct ing_pg_paced_run run;
	const struct ing_pg_paced paced = {.write = ask, .ctx = b};
	enum ing_pg_rc rc = ing_pg_write_paced(pg, &b->l->pace, b->count, &paced, &run, err);
	b->done = run.rows;
	return rc;
}

/* What PostgreSQL refuses to look for is not in its tables. */
static void log_refused(struct ing_lookup *l, const struct ing_error *err)
{
	ing_log_throttled(&l->refused, 1000, ING_LOG_ERROR,
		"database: a question was refused, its URLs are fetched: %s", err->msg);
}

static void hand_back(struct batch *b)
{
	struct ing_lookup *l = b->l;
	for (size_t i = 0; i < b->done; i++) {
		atomic_fetch_add(&l->found, b->questions[i]->found);
		ing_pg_thread_hand_back(l->thread, &b->questions[i]->node);
	}
	b->count -= b->done;
	for (size_t i = 0; i < b->count; i++)
		b->questions[i] = b->questions[i + b->done];
	atomic_fetch_add(&l->batches, 1);
	atomic_store(&l->cpu_ns, ing_thread_cpu_ns());
}

/* False: stopped. */
static bool answer(struct batch *b)
{
	while (b->count > 0) {
		struct ing_error err = {0};
		enum ing_pg_rc rc = ing_pg_thread_run(b->l->thread, ask_paced, b, &err);
		if (rc == ING_PG_STOPPED)
			return false;
		if (rc == ING_PG_REFUSED)
			log_refused(b->l, &err);
		hand_back(b);
	}
	return true;
}

static void work(void *ctx)
{
	struct ing_lookup *l = ctx;
	struct batch batches[] = {[ING_LOOKUP_RESULT] = {.l = l},
		[ING_LOOKUP_CAPTURE] = {.l = l},
		[ING_LOOKUP_GROBID_ROW] = {.l = l},
		[ING_LOOKUP_PUBLICATION] = {.l = l},
		[ING_LOOKUP_WEBPAGE] = {.l = l}};
	struct ing_node *node = ing_pg_thread_take(l->thread, -1);
	while (node != NULL) {
		struct ing_lookup_question *q =
			ING_CONTAINER(node, struct ing_lookup_question, node);
		struct batch *b = &batches[q->kind];
		node = node->next; /* q may be handed back, and gone, afterwards */
		b->questions[b->count++] = q;
		if (b->count == BATCH_QUESTIONS && !answer(b))
			return; /* free() knows all questions */
	}
	for (size_t i = 0; i < ING_ARRAY_LEN(batches); i++)
		if (!answer(&batches[i]))
			return;
}

static int prepare(void *ctx, struct ing_pg *pg, struct ing_error *err)
{
	(void)ctx;
	return ing_schema_prepare(pg,
		"SET default_transaction_read_only = on; SET client_min_messages = 'error'", err);
}

static void trouble(void *ctx, const struct ing_error *err)
{
	const struct ing_lookup *l = ctx;
	if (err == NULL)
		ing_log(ING_LOG_INFO, "database: reading again");
	else
		ing_log(ING_LOG_WARNING, "%s; %zu questions waiting, retrying", err->msg,
			ing_pg_thread_queued(l->thread));
}

/* --- loop --- */

static struct ing_lookup_question *new_question(
	struct ing_lookup *l, enum ing_lookup_kind kind, const char *key, void *ctx)
{
	struct ing_lookup_question *q = ing_alloc(sizeof(*q));
	ing_arena_init(&q->ar);
	q->kind = kind;
	q->key = ing_arena_strdup(&q->ar, key);
	q->lookup = l;
	q->ctx = ctx;
	DL_APPEND(l->questions, q);
	l->question_count++;
	l->asked++;
	return q;
}

static void free_question(struct ing_lookup_question *q)
{
	DL_DELETE(q->lookup->questions, q);
	q->lookup->question_count--;
	ing_arena_done(&q->ar);
	free(q);
}

/* Answered by the outcome of an earlier request, which is worth waiting for. */
static bool is_waited_for(const struct ing_lookup_question *q)
{
	return q->kind != ING_LOOKUP_CAPTURE && q->kind != ING_LOOKUP_GROBID_ROW;
}

static void tell(const struct ing_lookup_question *q)
{
	switch (q->kind) {
	case ING_LOOKUP_RESULT:
	case ING_LOOKUP_PUBLICATION:
	case ING_LOOKUP_WEBPAGE:
		q->on_result(q->ctx, q->found ? &q->result : NULL);
		break;
	case ING_LOOKUP_CAPTURE:
		q->on_captures(q->ctx, q->captures, q->capture_count);
		break;
	case ING_LOOKUP_GROBID_ROW:
		q->on_grobid(q->ctx, q->found ? &q->result.rows.grobid : NULL, q->result.age_ms);
		break;
	}
}

static void finished(void *ctx, struct ing_node *node)
{
	(void)ctx;
	while (node != NULL) {
		struct ing_lookup_question *q =
			ING_CONTAINER(node, struct ing_lookup_question, node);
		node = node->next;
		if (!q->dropped)
			tell(q);
		free_question(q);
	}
}

static void tell_nothing(const struct ing_lookup_question *q)
{
	if (q->kind == ING_LOOKUP_CAPTURE)
		q->on_captures(q->ctx, NULL, 0);
	else
		q->on_grobid(q->ctx, NULL, 0);
}

/* The others have found nothing yet: what a
 * thread has filled in of them is not looked at. */
static void blocked(void *ctx, bool is_blocked)
{
	struct ing_lookup *l = ctx;
	struct ing_lookup_question *q;
	if (!is_blocked)
		return;
	DL_FOREACH (l->questions, q) {
		if (is_waited_for(q) || q->dropped)
			continue;
		q->dropped = true;
		tell_nothing(q);
	}
}

/* -------------------------------------------------------------------------------------------- */

int ing_lookup_new(struct uv_loop_s *loop, const struct ing_postgres_settings *conf,
	struct ing_lookup **ret, struct ing_error *err)
{
	struct ing_lookup *l = ing_alloc(sizeof(*l));
	ing_pace_init(&l->pace, BATCH_QUESTIONS, conf->statement_ms);
	const struct ing_pg_thread_conf thread = {.name = "ing-lookup",
		.dsn = conf->dsn,
		.ctx = l,
		.prepare = prepare,
		.work = work,
		.trouble = trouble,
		.finished = finished,
		.blocked = blocked};
	int rc = ing_pg_thread_new(&thread, &l->thread, err);
	if (rc != 0) {
		free(l);
		return rc;
	}
	ing_pg_thread_start(l->thread, loop);
	*ret = l;
	return 0;
}

void ing_lookup_free(struct ing_lookup *l)
{
	if (l == NULL)
		return;
	ing_pg_thread_free(l->thread);
	while (l->questions != NULL)
		free_question(l->questions);
	free(l);
}

struct ing_lookup_question *ing_lookup_result(struct ing_lookup *l, const char *ingest_type,
	const char *base_url, ing_lookup_result_f *done, void *ctx)
{
	struct ing_lookup_question *q = new_question(l, ING_LOOKUP_RESULT, base_url, ctx);
	q->ingest_type = ing_arena_strdup(&q->ar, ingest_type);
	q->on_result = done;
	ing_pg_thread_push(l->thread, &q->node);
	return q;
}

struct ing_lookup_question *ing_lookup_kept(struct ing_lookup *l,
	const struct ing_lookup_kept *what, ing_lookup_result_f *done, void *ctx)
{
	enum ing_lookup_kind kind = what->is_webpage ? ING_LOOKUP_WEBPAGE : ING_LOOKUP_PUBLICATION;
	struct ing_lookup_question *q = new_question(l, kind, what->url, ctx);
	q->kept = *what;
	q->kept.pmid = ing_arena_strdup(&q->ar, what->pmid);
	q->kept.pmcid = ing_arena_strdup(&q->ar, what->pmcid);
	q->kept.doi = ing_arena_strdup(&q->ar, what->doi);
	q->kept.url = q->key;
	q->on_result = done;
	ing_pg_thread_push(l->thread, &q->node);
	return q;
}

struct ing_lookup_question *ing_lookup_captures(
	struct ing_lookup *l, const char *url, ing_lookup_captures_f *done, void *ctx)
{
	if (ing_lookup_blocked(l) || ing_lookup_is_full(l))
		return NULL;
	struct ing_lookup_question *q = new_question(l, ING_LOOKUP_CAPTURE, url, ctx);
	q->on_captures = done;
	ing_pg_thread_push(l->thread, &q->node);
	return q;
}

struct ing_lookup_question *ing_lookup_grobid(
	struct ing_lookup *l, const char *sha1hex, ing_lookup_grobid_f *done, void *ctx)
{
	if (ing_lookup_blocked(l) || ing_lookup_is_full(l))
		return NULL;
	struct ing_lookup_question *q = new_question(l, ING_LOOKUP_GROBID_ROW, sha1hex, ctx);
	q->on_grobid = done;
	ing_pg_thread_push(l->thread, &q->node);
	return q;
}

void ing_lookup_cancel(struct ing_lookup_question *q)
{
	if (q != NULL)
		q->dropped = true;
}

const char *ing_lookup_trouble(const struct ing_lookup *l)
{
	return ing_pg_thread_trouble(l->thread);
}

bool ing_lookup_blocked(const struct ing_lookup *l)
{
	return ing_pg_thread_blocked(l->thread);
}

bool ing_lookup_is_full(const struct ing_lookup *l)
{
	return l->question_count >= MAX_QUESTIONS;
}

void ing_lookup_stats(const struct ing_lookup *l, struct ing_lookup_stats *ret)
{
	*ret = (struct ing_lookup_stats){
		.asked = l->asked,
		.found = atomic_load(&l->found),
		.batches = atomic_load(&l->batches),
		.cpu_ns = atomic_load(&l->cpu_ns),
	};
	ing_histogram_read_shared(ret->batch_us, l->batch_us, ING_METRIC_DURATION);
}
