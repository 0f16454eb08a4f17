/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A document's way: reading (a thread of libuv) -> examining (the pool) -> read by GROBID, or not ->
 * delivering -> finished. All but the reading is the loop's.
 *
 * What surprises: a GROBID that cannot be reached is waited for, unlike in a worker, where a request waits
 * for its answer: a document without GROBID's facts would be left to the next run.
 */
#include <stdlib.h>
#include <string.h>

#include "common/data/base32.h"
#include "common/data/decode.h"
#include "worker/conf/conf.h"
#include "worker/ctl/reexamine/compare.h"
#include "worker/ctl/reexamine/deliver.h"
#include "worker/ctl/reexamine/priv.h"
#include "worker/deliver/deliver.h"
#include "worker/grobid/grobid.h"
#include "worker/grobid/read.h"
#include "worker/examine/pool.h"
#include "worker/job/body_check.h"

/* Each after two tries of the client. */
#define MOST_LOST 3

static void begin_reading(struct ing_reexamine_item *item);
static void examine(struct ing_reexamine_item *item);

static const struct ing_row_cdx *capture_of(const struct ing_reexamine_item *item)
{
	return &item->document->captures[item->capture];
}

/* --- the end of an item --- */

static void release_body(struct ing_reexamine_item *item)
{
	ing_reexamine_body_done(&item->body);
	item->work->bodies_bytes -= item->body_bytes;
	item->body_bytes = 0;
}

static void finish_item(struct ing_reexamine_item *item)
{
	release_body(item);
	ing_artifact_done(&item->artifact);
	ing_reexamine_document_free(ING_TAKE(item->document));
	ing_reexamine_item_finished(item->work);
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

static void write_document(struct ing_reexamine_item *item)
{
	struct ing_reexamine_work *w = item->work;
	w->counts.examined++;
	w->counts.bytes += item->body.bytes;
	release_body(item);
	if (w->stages.deliver == NULL) {
		finish_item(item);
		return;
	}
	struct ing_delivery *delivery = ing_reexamine_delivery(w->stages.deliver, w->task->what,
		item->document, capture_of(item), &item->artifact);
	delivery->done = on_delivered;
	delivery->ctx = item;
	if (!ing_deliver_put(w->stages.deliver, &delivery))
		finish_item(item);
}

/* --- GROBID --- */

/* Nobody is to wait for ever for a document that GROBID dies of each time. */
static bool is_worth_waiting(struct ing_reexamine_item *item, const struct ing_grobid_facts *facts)
{
	if (facts->status_code == ING_GROBID_LOST && ++item->lost == MOST_LOST)
		return false;
	return strcmp(facts->status, "error-connect") == 0;
}

static void on_read_by_grobid(void *ctx, struct ing_grobid_facts *facts, char **text, size_t bytes)
{
	struct ing_reexamine_item *item;
	ING_CAST_OBJ(item, ctx, ITEM_MAGIC);
	item->reading_by_grobid = NULL;
	if (is_worth_waiting(item, facts)) {
		item->work->grobid_away = true;
		item->rests = true;
		return;
	}
	item->work->grobid_away = false;
	ing_artifact_keep_grobid(&item->artifact, facts, text, bytes);
	write_document(item);
}

static void give_to_grobid(struct ing_reexamine_item *item)
{
	const struct ing_reexamine_document *d = item->document;
	const struct ing_conf *conf = item->work->conf;
	const struct ing_grobid_document document = {.sha1hex = d->sha1hex,
		.url = d->url,
		.body_fd = item->body.fd,
		.body_bytes = item->body.bytes,
		.coded = item->artifact.file.decoded,
		.content_type = item->body.content_type,
		.content_encoding = item->body.content_encoding,
		.max_body_bytes = conf->fetch.max_body_bytes,
		.max_ratio = conf->job.max_ratio,
		.again = true};
	item->reading_by_grobid =
		ing_grobid_read(item->work->stages.grobid, &document, on_read_by_grobid, item);
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
	struct ing_reexamine_work *w = item->work;
	if (is_contradicted(item, f)) {
		ing_pool_count_false_reply(w->stages.pool);
		skip(item, "parse-crash", ing_body_check_detail);
		return;
	}
	if (f->exam != ING_EXAM_OK) {
		skip(item, ing_status_slug(ing_exam_status(f->exam)), f->detail);
		return;
	}
	settle(&item->body, &f->file);
	if (w->compare != NULL) {
		w->counts.examined++;
		w->counts.bytes += item->body.bytes;
		ing_reexamine_compare(w->compare, d, f);
		finish_item(item);
		return;
	}
	if (strcmp(f->file.sha1hex, d->sha1hex) != 0) {
		skip(item, "digest-differs", f->file.sha1hex);
		return;
	}
	if (!ing_artifact_accepts(type, f->file.mimetype)) {
		skip(item, "wrong-mimetype", f->file.mimetype);
		return;
	}
	ing_artifact_keep(&item->artifact, type, f);
	if (!w->task->what->grobid)
		write_document(item);
	else
		give_to_grobid(item);
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
		.want = w->task->what->grobid ? 0 : ing_artifact_type(item->document->type)->want,
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

/* ------------------------------------------------------------------------------------------ */

struct ing_reexamine_item *ing_reexamine_item_new(
	struct ing_reexamine_work *w, struct ing_reexamine_document *d)
{
	struct ing_reexamine_item *item = ing_alloc(sizeof(*item));
	item->magic = ITEM_MAGIC;
	item->work = w;
	item->document = d;
	item->body.fd = -1;
	memcpy(item->key, d->sha1hex, ING_MIN(strlen(d->sha1hex) + 1, sizeof(item->key)));
	return item;
}

void ing_reexamine_item_free(struct ing_reexamine_item *item)
{
	if (item == NULL)
		return;
	ing_grobid_read_cancel(ING_TAKE(item->reading_by_grobid));
	ing_reexamine_body_done(&item->body);
	ing_artifact_done(&item->artifact);
	ing_reexamine_document_free(item->document);
	item->magic = 0;
	free(item);
}

void ing_reexamine_item_begin(struct ing_reexamine_item *item)
{
	if (item->document->capture_count == 0)
		skip(item, "no-capture", "the table cdx has no record with these bytes");
	else
		begin_reading(item);
}

void ing_reexamine_item_again(struct ing_reexamine_item *item)
{
	item->rests = false;
	give_to_grobid(item);
}
