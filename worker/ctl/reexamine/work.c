/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which documents are begun when, and when all of it ends. Their way is reexamine_item.c's.
 */
#include "worker/ctl/reexamine/work.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#include "common/base/clock.h"
#include "worker/conf/conf.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/reexamine/compare.h"
#include "worker/ctl/reexamine/priv.h"
#include "worker/deliver/deliver.h"

#define TICK_MS 100
#define WAKE_MS 1000
/* Rows known ahead: more are asked for when fewer wait. */
#define AHEAD 200
/* Not yet written, at most: enough for the batches of the store. */
#define MAX_DELIVERIES 500
#define MAX_DELIVERY_BYTES ((size_t)64 << 20)
/* Read while the examiners are busy. */
#define READ_AHEAD 2

static void pump(struct ing_reexamine_work *w);

/* What is finished without a gap is forgotten. */
static void advance(struct ing_reexamine_work *w)
{
	while (w->items != NULL && w->items->document == NULL) {
		struct ing_reexamine_item *item = w->items;
		DL_DELETE(w->items, item);
		/* A page is there once for each type of request. */
		if (w->items == NULL || strcmp(w->items->key, item->key) != 0)
			memcpy(w->done_upto, item->key, sizeof(w->done_upto));
		w->item_count--;
		ing_reexamine_item_free(item);
	}
	if (w->items == NULL)
		memcpy(w->done_upto, w->scanned_upto, sizeof(w->done_upto));
}

/* --- what is begun when --- */

static bool stops(const struct ing_reexamine_work *w)
{
	return w->interrupted || w->failed;
}

static bool has_room(const struct ing_reexamine_work *w)
{
	const struct ing_reexamine_stages *s = &w->stages;
	const struct ing_deliver_load *load =
		s->deliver != NULL ? ing_deliver_load(s->deliver) : NULL;
	size_t delivering = load != NULL ? load->documents : 0;
	if (load != NULL &&
		(delivering >= MAX_DELIVERIES || load->side_bytes >= MAX_DELIVERY_BYTES))
		return false;
	unsigned at_work = s->grobid != NULL ? w->conf->grobid.concurrency : s->examiners;
	return w->running - delivering < at_work + READ_AHEAD &&
	       w->bodies_bytes < w->conf->fetch.memory_bytes &&
	       ing_reexamine_stages_blocked_by(s) == NULL;
}

static bool is_limited(const struct ing_reexamine_work *w)
{
	return w->task->limit > 0 && w->begun >= w->task->limit;
}

static void ask_for_more(struct ing_reexamine_work *w)
{
	if (w->asked || w->scanned_all || is_limited(w) || w->item_count >= AHEAD)
		return;
	w->asked = true;
	ing_reexamine_rows_ask(w->rows, w->scanned_upto);
}

static void end_loop(struct ing_reexamine_work *w)
{
	w->finished = w->scanned_all && w->items == NULL;
	uv_stop(&w->stages.loop);
}

/* Called from within itself, through what it begins, it does nothing: the loop goes on. */
static void pump(struct ing_reexamine_work *w)
{
	if (w->pumping)
		return;
	w->pumping = true;
	while (w->next != NULL && !stops(w) && !is_limited(w) && has_room(w)) {
		struct ing_reexamine_item *item = w->next;
		w->next = item->next;
		w->running++;
		w->begun++;
		ing_reexamine_item_begin(item);
	}
	w->pumping = false;
	if (!stops(w))
		ask_for_more(w);
	bool nothing_to_begin = stops(w) || is_limited(w) || (w->next == NULL && w->scanned_all);
	if (w->running == 0 && nothing_to_begin)
		end_loop(w);
}

static void add_item(struct ing_reexamine_work *w, struct ing_reexamine_document *d)
{
	struct ing_reexamine_item *item = ing_reexamine_item_new(w, d);
	DL_APPEND(w->items, item);
	w->item_count++;
	if (w->next == NULL)
		w->next = item;
}

static void fail(struct ing_reexamine_work *w, const struct ing_error *err)
{
	if (w->failed)
		return;
	w->error = *err;
	w->failed = true;
	w->stop_by_ms = ing_now_ms() + w->conf->drain_ms;
	pump(w);
}

static void on_page(void *ctx, const char *upto, struct ing_reexamine_document *documents,
	const struct ing_error *err)
{
	struct ing_reexamine_work *w = ctx;
	struct ing_reexamine_document *d;
	struct ing_reexamine_document *next;
	w->asked = false;
	if (err != NULL) {
		fail(w, err);
		return;
	}
	DL_FOREACH_SAFE (documents, d, next) {
		DL_DELETE(documents, d);
		add_item(w, d);
	}
	if (upto != NULL)
		snprintf(w->scanned_upto, sizeof(w->scanned_upto), "%s", upto);
	w->scanned_all = upto == NULL;
	advance(w);
	pump(w);
}

/* --- events of the process --- */

static void on_signal(uv_signal_t *s, int signum)
{
	struct ing_reexamine_work *w = s->data;
	(void)signum;
	if (w->interrupted)
		_exit(ING_CTL_INTERRUPTED);
	w->interrupted = true;
	w->stop_by_ms = ing_now_ms() + w->conf->drain_ms;
	fprintf(stderr,
		"\ningestctl " ING_REEXAMINE
		": stopping; documents that were begun are finished (a second signal exits at "
		"once)\n");
	pump(w);
}

/* Those that rest are given to GROBID again, now and then; or given up, for the next run. */
static void wake_items(struct ing_reexamine_work *w)
{
	uint64_t now_ms = ing_now_ms();
	struct ing_reexamine_item *item;
	if (now_ms < w->wake_ms)
		return;
	w->wake_ms = now_ms + WAKE_MS;
	DL_FOREACH (w->items, item) {
		if (!item->rests)
			continue;
		if (stops(w)) {
			item->rests = false;
			w->running--;
		} else {
			ing_reexamine_item_again(item);
		}
	}
}

/* Stores, brokers and GROBID do not say that they have come back. */
static void on_tick(uv_timer_t *timer)
{
	struct ing_reexamine_work *w = timer->data;
	wake_items(w);
	pump(w);
	w->on_tick(w->ctx);
	if (stops(w) && ing_now_ms() >= w->stop_by_ms)
		uv_stop(timer->loop); /* what a server holds back is left */
}

static void on_fatal(void *ctx, const struct ing_error *err)
{
	fail(ctx, err);
}

static void start_handles(struct ing_reexamine_work *w)
{
	uv_loop_t *loop = &w->stages.loop;
	uv_timer_init(loop, &w->tick);
	uv_signal_init(loop, &w->on_term);
	uv_signal_init(loop, &w->on_int);
	w->tick.data = w->on_term.data = w->on_int.data = w;
	uv_timer_start(&w->tick, on_tick, 0, TICK_MS);
	uv_signal_start(&w->on_term, on_signal, SIGTERM);
	uv_signal_start(&w->on_int, on_signal, SIGINT);
}

static void drop_items(struct ing_reexamine_work *w)
{
	while (w->items != NULL) {
		struct ing_reexamine_item *item = w->items;
		DL_DELETE(w->items, item);
		ing_reexamine_item_free(item);
	}
	w->next = NULL;
}

/* ------------------------------------------------------------------------------------------ */

void ing_reexamine_item_finished(struct ing_reexamine_work *w)
{
	w->running--;
	advance(w);
	pump(w);
}

int ing_reexamine_work_open(struct ing_reexamine_work *w, struct ing_error *err)
{
	const struct ing_reexamine_task *task = w->task;
	memcpy(w->done_upto, task->after, sizeof(w->done_upto));
	memcpy(w->scanned_upto, task->after, sizeof(w->scanned_upto));
	const struct ing_reexamine_parts parts = {
		.writes = !task->dry_run && !task->what->pages, .grobid = task->what->grobid};
	int rc = ing_reexamine_stages_open(&w->stages, w->conf, &parts, on_fatal, w, err);
	if (rc != 0)
		return rc;
	if (task->what->pages)
		w->compare = ing_reexamine_compare_new(&w->stages.rules);
	const struct ing_reexamine_rows_conf rows = {
		.postgres = w->conf->postgres,
		.pages = task->what->pages,
		.types = task->what->types,
		.type_count = task->what->type_count,
		.mimetype = task->what->mimetype,
		.where = task->where,
		.to = task->to,
	};
	return ing_reexamine_rows_new(&w->stages.loop, &rows, on_page, w, &w->rows, err);
}

void ing_reexamine_work_do(struct ing_reexamine_work *w)
{
	start_handles(w);
	uv_run(&w->stages.loop, UV_RUN_DEFAULT);
	uv_close((uv_handle_t *)&w->tick, NULL);
	uv_close((uv_handle_t *)&w->on_term, NULL);
	uv_close((uv_handle_t *)&w->on_int, NULL);
}

void ing_reexamine_work_close(struct ing_reexamine_work *w)
{
	ing_reexamine_rows_free(ING_TAKE(w->rows));
	drop_items(w);
	ing_reexamine_compare_free(ING_TAKE(w->compare));
	ing_reexamine_stages_close(&w->stages);
}

const char *ing_reexamine_work_blocked_by(const struct ing_reexamine_work *w)
{
	if (w->rows != NULL && ing_reexamine_rows_blocked(w->rows))
		return "database";
	if (w->grobid_away)
		return "GROBID";
	return ing_reexamine_stages_blocked_by(&w->stages);
}
