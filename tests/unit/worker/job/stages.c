/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Made-up stages. What the contract of a stage says is asked for here: one callback for each put,
 * none after a cancellation, none from inside the put.
 */
#include "stages.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/data/decode.h"
#include "common/data/digest.h"
#include "common/net/robots.h"
#include "worker/archive/archive.h"
#include "worker/deliver/deliver.h"
#include "worker/grobid/grobid.h"
#include "worker/grobid/read.h"
#include "worker/emit/emit.h"
#include "worker/examine/pool.h"
#include "worker/model/exchange.h"
#include "worker/model/grobid_facts.h"
#include "worker/model/tier.h"
#include "worker/store/lookup/lookup.h"
#include "worker/store/store.h"

struct fake fake;
fake_shorten_f *fake_shorten;

struct ing_exam_task {
	const struct ing_pool_user *user;
	void *ctx;
	size_t body_bytes;
	bool coded;
};

/* A side message, or a record. */
struct put {
	const struct ing_emit_user *user;
	void *ctx;
	struct ing_emit_record *record; /* or NULL */
	bool dropped;
};

void fake_list_add(struct fake_list *l, void *item)
{
	ing_must(l->count < FAKE_PENDING);
	l->items[l->count++] = item;
}

void *fake_list_take_at(struct fake_list *l, size_t at)
{
	ing_must(at < l->count);
	void *item = l->items[at];
	l->count--;
	memmove(l->items + at, l->items + at + 1, (l->count - at) * sizeof(l->items[0]));
	return item;
}

void fake_list_take(struct fake_list *l, const void *item)
{
	size_t at = 0;
	while (at < l->count && l->items[at] != item)
		at++;
	fake_list_take_at(
		l, at); /* fails when it is not there: cancelled twice, or after its callback */
}

void fake_reset(void)
{
	ing_must(fake.fetches.count + fake.exams.count + fake.archived.count + fake.stored.count +
			 fake.emitted.count + fake.robots_waiters.count + fake.questions.count +
			 fake.readings.count ==
		 0);
	free(fake.last_result);
	fake = (struct fake){0};
}

/* --- GROBID --- */

struct ing_grobid_reading {
	ing_grobid_read_f *done;
	void *ctx;
};

struct ing_grobid_reading *ing_grobid_read(struct ing_grobid *g,
	const struct ing_grobid_document *document, ing_grobid_read_f *done, void *ctx)
{
	(void)g;
	ing_must(strlen(document->sha1hex) == 40 && document->body_bytes > 0 &&
		 fcntl(document->body_fd, F_GETFD) >= 0);
	struct ing_grobid_reading *r = ing_alloc(sizeof(*r));
	*r = (struct ing_grobid_reading){.done = done, .ctx = ctx};
	fake_list_add(&fake.readings, r);
	return r;
}

void ing_grobid_read_cancel(struct ing_grobid_reading *r)
{
	if (r == NULL)
		return;
	fake_list_take(&fake.readings, r);
	free(r);
}

bool ing_grobid_is_full(const struct ing_grobid *g)
{
	(void)g;
	return fake.grobid_full;
}

bool ing_grobid_blocks(const struct ing_grobid *g)
{
	(void)g;
	return fake.grobid_blocks;
}

void fake_grobid_done(const char *status, int status_code, const char *tei)
{
	struct ing_grobid_reading *r = fake_list_take_at(&fake.readings, 0);
	struct ing_grobid_facts facts = {.status = ing_strdup(status),
		.status_code = status_code,
		.error_msg = tei == NULL ? ing_strdup("words") : NULL,
		.version = tei != NULL ? ing_strdup("0.7.2") : NULL,
		.metadata_json = tei != NULL ? ing_strdup("{\"biblio\":{\"title\":\"T\"}}") : NULL};
	char *text = tei != NULL ? ing_strdup(tei) : NULL;
	r->done(r->ctx, &facts, &text, text != NULL ? strlen(text) : 0);
	ing_grobid_facts_done(&facts);
	free(text);
	free(r);
}

/* --- examine --- */

struct ing_exam_task *ing_pool_submit(struct ing_pool *p, const struct ing_exam_request *q,
	int body_fd, size_t body_bytes, const struct ing_pool_user *user, void *ctx)
{
	(void)p;
	(void)body_fd;
	ing_must(q->url != NULL && body_bytes > 0);
	ing_must((q->publication != NULL) == ((q->want & ING_WANT_PUBLICATION) != 0));
	struct ing_exam_task *t = ing_alloc(sizeof(*t));
	*t = (struct ing_exam_task){.user = user,
		.ctx = ctx,
		.body_bytes = body_bytes,
		.coded = ing_decode_needed(q->content_encoding)};
	fake_list_add(&fake.exams, t);
	fake.last_want = q->want;
	fake.last_body_cut = q->body_cut;
	snprintf(fake.last_agent, sizeof(fake.last_agent), "%s", q->agent != NULL ? q->agent : "");
	snprintf(fake.last_encoding, sizeof(fake.last_encoding), "%s",
		q->content_encoding != NULL ? q->content_encoding : "");
	if (!fake.examiners_busy && user->running != NULL)
		user->running(ctx, true);
	return t;
}

void ing_pool_cancel(struct ing_exam_task *t)
{
	fake_list_take(&fake.exams, t);
	free(t);
}

void ing_pool_count_false_reply(struct ing_pool *p)
{
	(void)p;
	fake.false_findings++;
}

bool ing_pool_is_full(const struct ing_pool *p)
{
	(void)p;
	return fake.exam_places > 0 && fake.exams.count > fake.exam_places;
}

void fake_exam_taken(bool taken)
{
	const struct ing_exam_task *t = fake.exams.items[0];
	ing_must(fake.exams.count > 0);
	t->user->running(t->ctx, taken);
}

static void finish_exam(struct ing_exam_task *t, struct ing_findings *f)
{
	const struct ing_pool_user *user = t->user;
	void *ctx = t->ctx;
	free(t);
	user->done(ctx, f);
}

void fake_exam_done(struct ing_findings *f, const char *mimetype)
{
	struct ing_exam_task *t = fake_list_take_at(&fake.exams, 0);
	memcpy(f->file.mimetype, mimetype, strlen(mimetype) + 1);
	f->file.size_bytes = t->body_bytes;
	if (t->coded) {
		f->file.decoded = true;
		memset(f->file.md5hex, 'a', sizeof(f->file.md5hex) - 1);
		memset(f->file.sha1hex, 'b', sizeof(f->file.sha1hex) - 1);
		memset(f->file.sha256hex, 'c', sizeof(f->file.sha256hex) - 1);
	}
	finish_exam(t, f);
}

void fake_exam_says(struct ing_findings *f)
{
	finish_exam(fake_list_take_at(&fake.exams, 0), f);
}

void fake_exam_done_page(const char *next_url)
{
	struct ing_findings f;
	ing_findings_init(&f);
	f.page.status = ING_PAGE_PARSED;
	f.page.title = ing_strdup("A page");
	if (next_url != NULL) {
		f.page.links[ING_LINK_PDF] = (struct ing_page_link){.url = ing_strdup(next_url),
			.technique = ing_strdup("citation_pdf_url"),
			.rule = 1};
	}
	fake_exam_done(&f, "text/html");
}

void fake_exam_done_pdf(const char *text)
{
	struct ing_findings f;
	ing_findings_init(&f);
	f.pdf.status = ing_strdup("success");
	f.pdf.text = ing_strdup(text);
	fake_exam_done(&f, "application/pdf");
}

void fake_exam_done_robots(const char *file)
{
	struct ing_findings f;
	ing_findings_init(&f);
	f.robots.txt = ing_robots_txt_parse(file, strlen(file), "tester");
	f.robots.cut = fake.last_body_cut;
	fake_exam_done(&f, "text/plain");
}

void fake_exam_done_badly(enum ing_exam exam, const char *detail)
{
	struct ing_exam_task *t = fake_list_take_at(&fake.exams, 0);
	struct ing_findings f;
	ing_findings_init(&f);
	f.exam = exam;
	f.detail = ing_strdup(detail);
	finish_exam(t, &f);
}

/* --- archive --- */

void ing_archive_put(struct ing_archive *a, struct ing_archive_item *item, size_t coming)
{
	(void)a;
	(void)coming;
	ing_must(item->exchange->refs > 0);
	fake_list_add(&fake.archived, item);
}

bool ing_archive_blocked(const struct ing_archive *a)
{
	(void)a;
	return false;
}

/* As the archive thread does. */
static void digest_item(struct ing_archive_item *item)
{
	const struct ing_exchange *ex = item->exchange;
	struct ing_digester *d = ing_digester_new(ING_DIGEST_ALL);
	unsigned char magic[3] = {0};
	size_t bytes = ex->body_fd >= 0 ? ex->body_bytes : 0;
	item->digested =
		!fake.unreadable && ing_digester_add_file(d, ex->body_fd, bytes, NULL) == 0;
	ing_digester_finish(d, &item->body);
	ing_digester_free(d);
	item->gzip = bytes >= 3 && pread(ex->body_fd, magic, 3, 0) == 3 &&
		     memcmp(magic, "\x1f\x8b\x08", 3) == 0;
}

void fake_archive_done(void)
{
	struct ing_archive_item *item = fake_list_take_at(&fake.archived, 0);
	ing_must(item->exchange->magic == ING_EXCHANGE_MAGIC);
	memcpy(item->warc_name, "T-1.warc.gz", sizeof("T-1.warc.gz"));
	digest_item(item);
	/* SHA-1 of nothing, in base 32 */
	memcpy(item->payload_sha1b32, "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", 33);
	memcpy(item->record_id, "01234567-89ab-4def-8123-456789abcdef", 37);
	item->csize = 100;
	for (size_t i = 0; i < item->original_count; i++)
		if (memcmp(item->originals[i]->payload_sha1, item->body.sha1, 20) == 0)
			item->refers_to = item->originals[i];
	item->done(item);
}

void fake_archive_lose(void)
{
	struct ing_archive_item *item = fake_list_take_at(&fake.archived, 0);
	item->lost = true;
	item->done(item);
}

/* --- store --- */

static void keep(const struct ing_row_kept *row)
{
	if (!row->present)
		return;
	fake.kept_rows++;
	fake.last_keep = (int)row->how;
	snprintf(fake.last_kept, sizeof(fake.last_kept), "%s", row->record_json);
	snprintf(fake.last_kept_url, sizeof(fake.last_kept_url), "%s",
		row->url != NULL ? row->url : "");
}

void ing_store_put(struct ing_store *s, struct ing_store_item *item)
{
	(void)s;
	const struct ing_rows *rows = item->rows;
	ing_must(ing_rows_any(rows));
	fake.result_rows += rows->result.present;
	fake.request_rows += rows->request.present;
	fake.teixml_rows += rows->html_meta.has_teixml;
	fake.rows += (unsigned)rows->cdx_count;
	keep(&rows->publication);
	keep(&rows->webpage);
	if (rows->cdx_count > 0) {
		const struct ing_row_cdx *row = &rows->cdx[0];
		snprintf(fake.last_row_sha1hex, sizeof(fake.last_row_sha1hex), "%s", row->sha1hex);
		snprintf(fake.last_row_cdx_sha1hex, sizeof(fake.last_row_cdx_sha1hex), "%s",
			row->cdx_sha1hex != NULL ? row->cdx_sha1hex : "");
	}
	fake_list_add(&fake.stored, item);
}

bool ing_store_blocked(const struct ing_store *s)
{
	(void)s;
	return fake.blocked;
}

void ing_store_prune(struct ing_store *s, const struct ing_source *source)
{
	(void)s;
	ing_must(source->offset == fake.last_finished.offset);
	fake.pruned++;
}

void fake_store_done(void)
{
	struct ing_store_item *item = fake_list_take_at(&fake.stored, 0);
	item->done(item);
}

/* --- look-up --- */

struct ing_lookup_question {
	ing_lookup_result_f *done;
	ing_lookup_captures_f *captures_done;
	void *ctx;
};

struct ing_lookup_question *ing_lookup_result(struct ing_lookup *l, const char *ingest_type,
	const char *base_url, ing_lookup_result_f *done, void *ctx)
{
	(void)l;
	struct ing_lookup_question *q = ing_alloc(sizeof(*q));
	*q = (struct ing_lookup_question){.done = done, .ctx = ctx};
	snprintf(fake.last_asked, sizeof(fake.last_asked), "%s %s", ingest_type, base_url);
	fake_list_add(&fake.questions, q);
	return q;
}

struct ing_lookup_question *ing_lookup_kept(struct ing_lookup *l,
	const struct ing_lookup_kept *what, ing_lookup_result_f *done, void *ctx)
{
	(void)l;
	const char *const keys[] = {what->pmid, what->pmcid, what->doi, what->url};
	struct ing_lookup_question *q = ing_alloc(sizeof(*q));
	*q = (struct ing_lookup_question){.done = done, .ctx = ctx};
	snprintf(fake.last_asked, sizeof(fake.last_asked), "%s",
		what->is_webpage ? "kept webpage" : "kept publication");
	for (size_t i = 0; i < ING_ARRAY_LEN(keys); i++) {
		size_t n = strlen(fake.last_asked);
		snprintf(fake.last_asked + n, sizeof(fake.last_asked) - n, " %s",
			keys[i] != NULL ? keys[i] : "-");
	}
	fake_list_add(&fake.questions, q);
	return q;
}

struct ing_lookup_question *ing_lookup_captures(
	struct ing_lookup *l, const char *url, ing_lookup_captures_f *done, void *ctx)
{
	(void)l;
	if (fake.lookup_blocked)
		return NULL;
	struct ing_lookup_question *q = ing_alloc(sizeof(*q));
	*q = (struct ing_lookup_question){.captures_done = done, .ctx = ctx};
	snprintf(fake.last_asked, sizeof(fake.last_asked), "captures %s", url);
	fake_list_add(&fake.questions, q);
	return q;
}

void fake_lookup_captures_done(const struct ing_row_cdx *rows, size_t count)
{
	struct ing_lookup_question *q = fake_list_take_at(&fake.questions, 0);
	ing_lookup_captures_f *done = q->captures_done;
	void *ctx = q->ctx;
	free(q);
	done(ctx, rows, count);
}

void ing_lookup_cancel(struct ing_lookup_question *q)
{
	if (q == NULL)
		return;
	fake_list_take(&fake.questions, q);
	free(q);
}

bool ing_lookup_blocked(const struct ing_lookup *l)
{
	(void)l;
	return fake.lookup_blocked;
}

bool ing_lookup_is_full(const struct ing_lookup *l)
{
	(void)l;
	return fake.lookup_full;
}

void fake_lookup_done(const struct ing_earlier_result *r)
{
	struct ing_lookup_question *q = fake_list_take_at(&fake.questions, 0);
	ing_lookup_result_f *done = q->done;
	void *ctx = q->ctx;
	free(q);
	done(ctx, r);
}

/* --- emit --- */

size_t ing_emit_max_value_bytes(const struct ing_emit *e, enum ing_output output)
{
	(void)e;
	(void)output;
	return 100000;
}

bool ing_emit_has(const struct ing_emit *e, enum ing_output output)
{
	(void)e;
	int tier = ing_tier_of_output(output);
	return tier < 0 || (fake.tiers & (1u << tier)) != 0;
}

static void keep_parked(const struct ing_output_message *m)
{
	fake.parked++;
	fake.last_tier = ing_tier_of_output(m->output);
	snprintf(fake.last_parked, sizeof(fake.last_parked), "%.*s", (int)m->value_bytes, m->value);
	snprintf(fake.last_parked_key, sizeof(fake.last_parked_key), "%.*s", (int)m->key_bytes,
		m->key != NULL ? (const char *)m->key : "");
	ing_parked_parse(m->headers, m->header_count, &fake.last_headers);
	snprintf(fake.last_host, sizeof(fake.last_host), "%s", fake.last_headers.host);
	snprintf(fake.last_origin, sizeof(fake.last_origin), "%s", fake.last_headers.origin);
}

void ing_emit_put(struct ing_emit *e, const struct ing_output_message *m,
	const struct ing_emit_user *user, void *ctx)
{
	(void)e;
	struct put *p = ing_alloc(sizeof(*p));
	*p = (struct put){.user = user, .ctx = ctx};
	free(m->value);
	fake_list_add(&fake.emitted, p);
}

void ing_emit_commit(struct ing_emit *e, struct ing_emit_record *r)
{
	(void)e;
	struct put *p = ing_alloc(sizeof(*p));
	p->record = r;
	if (r->message != NULL && ing_tier_of_output(r->message->output) >= 0)
		keep_parked(r->message);
	if (r->message != NULL && r->message->output == ING_OUTPUT_RESULTS) {
		free(fake.last_result);
		fake.last_result = ing_strndup(r->message->value, r->message->value_bytes);
	}
	fake_list_add(&fake.emitted, p);
}

void ing_emit_drop(struct ing_emit *e, int32_t partition_index, uint32_t epoch)
{
	(void)e;
	for (size_t i = 0; i < fake.emitted.count; i++) {
		struct put *p = fake.emitted.items[i];
		if (p->record != NULL && p->record->token.partition_index == partition_index &&
			p->record->token.epoch == epoch)
			p->dropped = true;
	}
}

void ing_emit_drop_all(struct ing_emit *e)
{
	(void)e;
	for (size_t i = 0; i < fake.emitted.count; i++)
		((struct put *)fake.emitted.items[i])->dropped = true;
}

bool ing_emit_blocked(const struct ing_emit *e)
{
	(void)e;
	return false;
}

bool fake_emit_is_wanted(void)
{
	const struct put *p = fake.emitted.items[0];
	ing_must(fake.emitted.count > 0);
	if (p->record != NULL)
		return !p->dropped;
	return p->user->wanted == NULL || p->user->wanted(p->ctx);
}

void fake_emit_done(bool ok)
{
	struct put *taken = fake_list_take_at(&fake.emitted, 0);
	struct put p = *taken;
	free(taken);
	if (p.record == NULL) {
		p.user->done(p.ctx, ok);
		return;
	}
	if (ok && !p.dropped) {
		fake.finished++;
		fake.last_finished = p.record->token;
	}
	p.record->done(p.record, p.dropped ? ING_EMIT_DROPPED
				 : ok      ? ING_EMIT_COMMITTED
					   : ING_EMIT_REFUSED);
}

/* --- intake --- */

bool ing_intake_source(const struct ing_intake *in, struct ing_token t, struct ing_source *ret)
{
	(void)in;
	*ret = (struct ing_source){
		.group = "g", .topic = "t", .partition = t.partition_index, .offset = t.offset};
	return true;
}

void ing_intake_fenced(struct ing_intake *in, struct ing_token t)
{
	(void)in;
	(void)t;
	ing_must(false); /* nobody else has the partition */
}

void ing_intake_hold_lane(struct ing_intake *in, enum ing_lane lane, bool held)
{
	(void)in;
	fake.held[lane] = held;
}

void ing_intake_pause(struct ing_intake *in, enum ing_lane lane, bool paused)
{
	(void)in;
	fake.paused[lane] = paused;
}

void ing_objects_put(struct ing_objects *s, struct ing_object *o)
{
	(void)s;
	fake_list_add(&fake.objects, o);
}

void ing_objects_cancel(struct ing_object *o)
{
	(void)o;
}

bool ing_objects_blocked(const struct ing_objects *s)
{
	(void)s;
	return false;
}

void fake_object_done(void)
{
	struct ing_object *o = fake_list_take_at(&fake.objects, 0);
	o->done(o, ING_OBJECT_STORED);
}

bool fake_with_objects;

struct ing_deliver *fake_deliver_new(
	bool with_store, void (*on_cdx)(void *ctx, const struct ing_cdx *line))
{
	struct ing_deliver *d = ing_deliver_new(100000);
	ing_deliver_wire(d, &(struct ing_deliver_stages){
				    .intake = FAKE_STAGE,
				    .store = with_store ? FAKE_STAGE : NULL,
				    .emit = FAKE_STAGE,
				    .objects = fake_with_objects ? FAKE_STAGE : NULL,
				    .on_cdx = on_cdx,
				    .shorten = fake_shorten,
				    .answer_parked = fake.answer_parked,
			    });
	return d;
}

void fake_settle(void)
{
	while (fake.archived.count + fake.objects.count + fake.stored.count + fake.emitted.count >
		0) {
		while (fake.archived.count > 0)
			fake_archive_done();
		while (fake.objects.count > 0)
			fake_object_done();
		while (fake.stored.count > 0)
			fake_store_done();
		while (fake.emitted.count > 0)
			fake_emit_done(true);
	}
}

static void stop_loop(uv_timer_t *t)
{
	uv_stop(t->loop);
}

void fake_turn(uv_loop_t *loop, uint64_t ms)
{
	uv_timer_t t;
	uv_timer_init(loop, &t);
	/* A timer counts from the loop's time, which is as old as its last turn. */
	uv_update_time(loop);
	uv_timer_start(&t, stop_loop, ms, 0);
	uv_run(loop, UV_RUN_DEFAULT);
	uv_close((uv_handle_t *)&t, NULL);
	uv_run(loop, UV_RUN_NOWAIT);
}
