/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An item's way: waiting -> reading (a thread of libuv) -> examining (the pool) -> delivering -> finished.
 * Everything but the reading is the loop's.
 */
#include "worker/ctl/reexamine_work.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#include "common/base/clock.h"
#include "common/data/base32.h"
#include "common/data/decode.h"
#include "worker/artifact/artifact.h"
#include "worker/conf/conf.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/reexamine_deliver.h"
#include "worker/ctl/reexamine_read.h"
#include "worker/deliver/deliver.h"
#include "worker/examine/pool.h"
#include "worker/job/body_check.h"

#define ITEM_MAGIC 0x5245584du
#define TICK_MS 100
/* Rows known ahead: more are asked for when fewer wait. */
#define AHEAD 200
/* Not yet written, at most: enough for the batches of the store. */
#define MAX_DELIVERIES 500
#define MAX_DELIVERY_BYTES ((size_t)64 << 20)
/* Read while the examiners are busy. */
#define READ_AHEAD 2

struct ing_reexamine_item {
	unsigned magic;
	struct ing_reexamine_item *prev, *next;
	struct ing_reexamine_work *work;
	char key[41];
	struct ing_reexamine_document *document; /* NULL: finished */
	size_t capture;                          /* of document->captures: the one that is read */
	uv_work_t reading;
	struct ing_reexamine_body body;
	size_t body_bytes; /* as counted */
	int rc;            /* of reading */
	struct ing_error err;
};

static void pump(struct ing_reexamine_work *w);
static void begin_reading(struct ing_reexamine_item *item);
static void examine(struct ing_reexamine_item *item);

static const struct ing_row_cdx *capture_of(const struct ing_reexamine_item *item)
{
	return &item->document->captures[item->capture];
}

/* --- the end of an item --- */

/* What is finished without a gap is forgotten. */
static void advance(struct ing_reexamine_work *w)
{
	while (w->items != NULL && w->items->document == NULL) {
		struct ing_reexamine_item *item = w->items;
		memcpy(w->done_upto, item->key, sizeof(w->done_upto));
		DL_DELETE(w->items, item);
		w->item_count--;
		item->magic = 0;
		free(item);
	}
	if (w->items == NULL)
		memcpy(w->done_upto, w->scanned_upto, sizeof(w->done_upto));
}

static void release_body(struct ing_reexamine_item *item)
{
	ing_reexamine_body_done(&item->body);
	item->work->bodies_bytes -= item->body_bytes;
	item->body_bytes = 0;
}

static void finish_item(struct ing_reexamine_item *item)
{
	struct ing_reexamine_work *w = item->work;
	release_body(item);
	ing_reexamine_document_free(ING_TAKE(item->document));
	w->running--;
	advance(w);
	pump(w);
}

static void report(const struct ing_reexamine_item *item, const char *name, const char *words,
	bool read_elsewhere)
{
	const struct ing_reexamine_work *w = item->work;
	const struct ing_reexamine_problem problem = {name, words,
		item->capture < item->document->capture_count ? capture_of(item) : NULL,
		read_elsewhere};
	w->on_problem(w->ctx, item->document, &problem);
}

static void skip(struct ing_reexamine_item *item, const char *name, const char *words)
{
	item->work->counts.skipped++;
	report(item, name, words, false);
	finish_item(item);
}

/* --- writing --- */

static void on_delivered(void *ctx, const struct ing_delivery *delivery)
{
	struct ing_reexamine_item *item;
	ING_CAST_OBJ(item, ctx, ITEM_MAGIC);
	(void)delivery;
	finish_item(item);
}

static void write_document(struct ing_reexamine_item *item, struct ing_artifact *a)
{
	struct ing_reexamine_work *w = item->work;
	w->counts.examined++;
	w->counts.bytes += item->body.bytes;
	release_body(item);
	if (w->stages.deliver == NULL) {
		finish_item(item);
		return;
	}
	struct ing_delivery *delivery = ing_reexamine_delivery(
		w->stages.deliver, w->task->what, item->document, capture_of(item), a);
	delivery->done = on_delivered;
	delivery->ctx = item;
	if (!ing_deliver_put(w->stages.deliver, &delivery))
		finish_item(item);
}

/* --- looking into it --- */

/* What the examiner says about the file is compared with what the body is known to be. */
static bool is_contradicted(const struct ing_reexamine_item *item, const struct ing_findings *f)
{
	const struct ing_reexamine_body *b = &item->body;
	if (f->exam != ING_EXAM_OK)
		return false;
	if (f->file.decoded)
		return f->file.size_bytes > item->work->conf->fetch.max_body_bytes ||
		       (!ing_decode_needed(b->content_encoding) && !b->gzip);
	return ing_decode_needed(b->content_encoding) || f->file.size_bytes != b->bytes;
}

/* The digests of a body as sent are ours. */
static void settle(const struct ing_reexamine_body *b, struct ing_file_meta *file)
{
	if (file->decoded)
		return;
	ing_hex_encode(b->digests.md5, sizeof(b->digests.md5), file->md5hex);
	ing_hex_encode(b->digests.sha1, sizeof(b->digests.sha1), file->sha1hex);
	ing_hex_encode(b->digests.sha256, sizeof(b->digests.sha256), file->sha256hex);
}

static void judge(struct ing_reexamine_item *item, struct ing_findings *f)
{
	const struct ing_reexamine_document *d = item->document;
	const struct ing_artifact_type *type = ing_artifact_type(d->type);
	struct ing_artifact a = {0};
	if (is_contradicted(item, f)) {
		ing_pool_count_false_reply(item->work->stages.pool);
		skip(item, "parse-crash", ing_body_check_detail);
		return;
	}
	if (f->exam != ING_EXAM_OK) {
		skip(item, ing_status_slug(ing_exam_status(f->exam)), f->detail);
		return;
	}
	settle(&item->body, &f->file);
	if (strcmp(f->file.sha1hex, d->sha1hex) != 0) {
		skip(item, "digest-differs", f->file.sha1hex);
		return;
	}
	if (!ing_artifact_accepts(type, f->file.mimetype)) {
		skip(item, "wrong-mimetype", f->file.mimetype);
		return;
	}
	ing_artifact_keep(&a, type, f);
	write_document(item, &a);
	ing_artifact_done(&a);
}

static void on_examined(void *ctx, struct ing_findings *f)
{
	struct ing_reexamine_item *item;
	ING_CAST_OBJ(item, ctx, ITEM_MAGIC);
	if (f->exam == ING_EXAM_NOT_STARTED)
		examine(item);
	else
		judge(item, f);
	ing_findings_done(f);
}

static void examine(struct ing_reexamine_item *item)
{
	static const struct ing_pool_user user = {.done = on_examined};
	struct ing_reexamine_work *w = item->work;
	const struct ing_conf *conf = w->conf;
	const struct ing_reexamine_body *b = &item->body;
	const struct ing_exam_request q = {
		.url = item->document->url,
		.content_type = b->content_type,
		.content_encoding = b->content_encoding,
		.want = ing_artifact_type(item->document->type)->want,
		.max_body_bytes = conf->fetch.max_body_bytes,
		.max_ratio = conf->job.max_ratio,
		.max_scrape_bytes = conf->job.max_scrape_bytes,
	};
	ing_pool_submit(w->stages.pool, &q, b->fd, b->bytes, &user, item);
}

/* --- reading --- */

/* On a thread of libuv. */
static void read_body(uv_work_t *work)
{
	struct ing_reexamine_item *item = work->data;
	const struct ing_reexamine_work *w = item->work;
	const struct ing_reexamine_folders folders = {
		.dirs = w->task->warc_dirs, .max_body_bytes = w->conf->fetch.max_body_bytes};
	item->rc = ing_reexamine_read(&folders, capture_of(item), &item->body, &item->err);
}

static const char *problem_of(int rc)
{
	switch (-rc) {
	case ING_FAIL_NOT_FOUND:
		return "warc-missing";
	case ING_FAIL_INVALID:
		return "warc-damaged";
	case ING_FAIL_TOO_BIG:
		return "body-too-large";
	case ING_FAIL_UNSUPPORTED:
		return "transfer-coding";
	default:
		return "warc-unreadable";
	}
}

static void on_read(uv_work_t *work, int status)
{
	struct ing_reexamine_item *item = work->data;
	(void)status;
	if (item->rc == 0) {
		item->body_bytes = item->body.bytes;
		item->work->bodies_bytes += item->body_bytes;
		examine(item);
	} else if (item->capture + 1 < item->document->capture_count) {
		report(item, problem_of(item->rc), item->err.msg, true);
		item->capture++;
		begin_reading(item);
	} else {
		skip(item, problem_of(item->rc), item->err.msg);
	}
}

static void begin_reading(struct ing_reexamine_item *item)
{
	ing_error_clear(&item->err);
	item->reading.data = item;
	int rc = uv_queue_work(&item->work->stages.loop, &item->reading, read_body, on_read);
	ing_must(rc == 0);
}

static void begin_item(struct ing_reexamine_item *item)
{
	item->work->running++;
	item->work->begun++;
	if (item->document->capture_count == 0)
		skip(item, "no-capture", "the table cdx has no record with these bytes");
	else
		begin_reading(item);
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
	return w->running - delivering < s->examiners + READ_AHEAD &&
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
		begin_item(item);
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
	struct ing_reexamine_item *item = ing_alloc(sizeof(*item));
	item->magic = ITEM_MAGIC;
	item->work = w;
	item->document = d;
	item->body.fd = -1;
	snprintf(item->key, sizeof(item->key), "%s", d->sha1hex);
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

/* Stores and brokers that have come back do not say so. */
static void on_tick(uv_timer_t *timer)
{
	struct ing_reexamine_work *w = timer->data;
	pump(w);
	w->on_tick(w->ctx);
	if (w->interrupted && ing_now_ms() >= w->stop_by_ms)
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
		ing_reexamine_document_free(item->document);
		free(item);
	}
	w->next = NULL;
}

/* ------------------------------------------------------------------------------------------ */

int ing_reexamine_work_open(struct ing_reexamine_work *w, struct ing_error *err)
{
	const struct ing_reexamine_task *task = w->task;
	memcpy(w->done_upto, task->after, sizeof(w->done_upto));
	memcpy(w->scanned_upto, task->after, sizeof(w->scanned_upto));
	int rc = ing_reexamine_stages_open(&w->stages, w->conf, !task->dry_run, on_fatal, w, err);
	if (rc != 0)
		return rc;
	const struct ing_reexamine_rows_conf rows = {
		.postgres = w->conf->postgres,
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
	ing_reexamine_stages_close(&w->stages);
}

const char *ing_reexamine_work_blocked_by(const struct ing_reexamine_work *w)
{
	if (w->rows != NULL && ing_reexamine_rows_blocked(w->rows))
		return "database";
	return ing_reexamine_stages_blocked_by(&w->stages);
}
