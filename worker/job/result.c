/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The one place where results are written. Every string that came from outside is cleaned to valid
 * UTF-8 on the way in.
 */
#include "worker/job/result.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/utf8.h"
#include "common/data/json_text.h"
#include "common/net/surt.h"
#include "common/record/cdx.h"
#include "worker/visit/capture.h"
#include "worker/job/html_biblio.h"
#include "worker/job/mask.h"
#include "worker/model/limits.h"

/* Reals keep the 17 digits that bring each double back: a request's own must come out as they
 * came. */
#define DUMP_FLAGS JSON_COMPACT
/* Of a PDF's Info dictionary; the standard has nine, and we ask for those. */
#define MAX_INFO_VALUES 100u

/* A JSON string of any bytes; null for NULL. */
static json_t *text_or_null(const char *s)
{
	if (s == NULL)
		return json_null();
	size_t bytes = strlen(s);
	if (ing_utf8_valid(s, bytes))
		return json_stringn_nocheck(s, bytes);
	char *clean = ing_utf8_clean(s, bytes, &bytes);
	json_t *v = clean != NULL ? json_stringn_nocheck(clean, bytes) : json_null();
	free(clean);
	return v;
}

/* The same of words that may hold URLs, or a URL that was not asked for: without passwords. What
 * was asked for has none (hop.c), and is the archive's key to the letter. */
static json_t *masked_or_null(const char *s)
{
	json_t *text = text_or_null(s);
	json_t *masked = ing_mask_json(text);
	json_decref(text);
	return masked;
}

static void set(json_t *obj, const char *name, json_t *value)
{
	ing_must(json_object_set_new(obj, name, value) == 0);
}

/* Where the chain ended: the last URL asked for. NULL: none was. */
static const struct ing_hop *terminal_hop(const struct ing_work *w)
{
	return w->hop;
}

/* The way that was gone: further tries of a URL are no step of it. */
static json_t *hops_json(const struct ing_work *w)
{
	json_t *list = json_array();
	for (const struct ing_hop *h = w->hops; h != NULL; h = h->next) {
		if (h->via != ING_VIA_AGAIN)
			json_array_append_new(list, text_or_null(h->url));
	}
	return list;
}

static json_t *wayback_json(const struct ing_hop *hop)
{
	json_t *o = json_object();
	if (!hop->answered) {
		set(o, "datetime", json_null());
		set(o, "archive_url", json_null());
		return o;
	}
	struct ing_buf url;
	ing_buf_init(&url, 2 * ING_MAX_URL_BYTES);
	ing_buf_printf(&url, "https://web.archive.org/web/%s/%s", hop->capture.datetime, hop->url);
	set(o, "datetime", text_or_null(hop->capture.datetime));
	set(o, "archive_url", text_or_null(ing_buf_str(&url)));
	ing_buf_done(&url);
	return o;
}

static json_t *terminal_json(const struct ing_work *w)
{
	const struct ing_hop *hop = terminal_hop(w);
	json_t *o = json_object();
	set(o, "terminal_url", text_or_null(hop->url));
	set(o, "terminal_dt", hop->answered ? text_or_null(hop->capture.datetime) : json_null());
	set(o, "terminal_status_code",
		hop->answered ? json_integer(hop->capture.http_status) : json_null());
	if (w->loop_ended_normally)
		set(o, "terminal_sha1hex", text_or_null(w->file.sha1hex));
	set(o, "wayback", wayback_json(hop));
	return o;
}

static json_t *file_meta_json(const struct ing_file_meta *f)
{
	json_t *o = json_object();
	set(o, "size_bytes", json_integer((json_int_t)f->size_bytes));
	set(o, "md5hex", text_or_null(f->md5hex));
	set(o, "sha1hex", text_or_null(f->sha1hex));
	set(o, "sha256hex", text_or_null(f->sha256hex));
	set(o, "mimetype", text_or_null(f->mimetype));
	return o;
}

static json_t *cdx_json(const struct ing_hop *hop)
{
	struct ing_buf surt;
	ing_buf_init(&surt, 4 * ING_MAX_URL_BYTES);
	if (!ing_surt(hop->url, &surt))
		ing_buf_clear(&surt);
	char hex[ING_SHA1_HEX_BYTES];
	const struct ing_capture *capture = &hop->capture;
	json_t *o = json_object();
	set(o, "surt", text_or_null(ing_buf_str(&surt)));
	set(o, "datetime", text_or_null(hop->capture.datetime));
	set(o, "url", text_or_null(hop->url));
	set(o, "mimetype", text_or_null(hop->capture.mimetype));
	set(o, "status_code", json_integer(hop->capture.http_status));
	if (ing_capture_sha1b32(capture) != NULL) {
		set(o, "sha1b32", text_or_null(ing_capture_sha1b32(capture)));
		set(o, "sha1hex", text_or_null(ing_capture_sha1hex(capture, hex) ? hex : NULL));
	}
	if (hop->capture.archive.warc_name[0] != '\0') {
		set(o, "warc_csize", json_integer((json_int_t)hop->capture.archive.csize));
		set(o, "warc_offset", json_integer((json_int_t)hop->capture.archive.offset));
		set(o, "warc_path", text_or_null(hop->capture.archive.warc_name));
	}
	ing_buf_done(&surt);
	return o;
}

/* What is no small, flat object is not what our reader of PDFs writes, and not worth the time. */
static json_t *info_json(const struct ing_pdf *pdf)
{
	const char *text = pdf->info_json;
	bool good = text != NULL && ing_json_is_small(text, strlen(text), 1, MAX_INFO_VALUES);
	json_t *info = good ? json_loads(text, JSON_ALLOW_NUL, NULL) : NULL;
	if (json_is_object(info))
		return info;
	json_decref(info);
	return json_object();
}

/* Everything but text and file_meta, which only the pdf-text message carries. */
static json_t *pdf_json(const struct ing_work *w)
{
	const struct ing_pdf *pdf = &w->pdf;
	json_t *o = json_object();
	set(o, "key", text_or_null(w->file.sha1hex));
	set(o, "sha1hex", text_or_null(w->file.sha1hex));
	set(o, "status", text_or_null(pdf->status));
	if (pdf->error_msg != NULL)
		set(o, "error_msg", text_or_null(pdf->error_msg));
	set(o, "has_page0_thumbnail", json_false());
	set(o, "text", json_null());
	set(o, "file_meta", json_null());
	if (strcmp(pdf->status, "success") != 0)
		return o;
	json_t *info = info_json(pdf);
	set(o, "meta_xml", masked_or_null(pdf->meta_xml));
	set(o, "pdf_info", ing_mask_json(info));
	json_decref(info);
	set(o, "word_count", json_integer(pdf->word_count));
	json_t *extra = json_object();
	set(extra, "page_count", json_integer(pdf->page_count));
	set(extra, "page0_height", json_real(pdf->page0_height));
	set(extra, "page0_width", json_real(pdf->page0_width));
	set(extra, "permanent_id", text_or_null(pdf->permanent_id));
	set(extra, "update_id", text_or_null(pdf->update_id));
	set(extra, "pdf_version", text_or_null(pdf->pdf_version));
	set(o, "pdf_extra", extra);
	return o;
}

static json_t *link_json(const struct ing_work *w)
{
	json_t *o = json_object();
	if (w->link.url == NULL)
		return o;
	set(o, "url", masked_or_null(w->link.url));
	set(o, "technique", text_or_null(w->link.technique));
	if (w->link.stage != NULL)
		set(o, "release_stage", text_or_null(w->link.stage));
	return o;
}

/* What the pages on the way, or the page asked for, said. */
static void add_page(json_t *o, const struct ing_work *w)
{
	if (w->saw_page && (w->request->type == ING_TYPE_PDF || w->link.url != NULL))
		set(o, "extract_next_hop", link_json(w));
	if (w->biblio != NULL)
		set(o, "html_biblio", ing_mask_json(w->biblio));
	if (w->platform != NULL)
		set(o, "platform", text_or_null(w->platform));
	if (w->scope != NULL)
		set(o, "scope", text_or_null(w->scope));
}

static json_t *result_object(const struct ing_work *w)
{
	json_t *o = json_object();
	json_object_set(o, "request", w->request->json);
	set(o, "hit", json_boolean(w->status == ING_STATUS_SUCCESS));
	set(o, "status", json_string(ing_status_slug(w->status)));
	if (w->error_message != NULL)
		set(o, "error_message", masked_or_null(w->error_message));
	if (w->retry_after_s > 0)
		set(o, "retry_after", json_integer((json_int_t)w->retry_after_s));
	if (w->dropped_userinfo)
		set(o, "userinfo_dropped", json_true());
	if (w->hops == NULL)
		return o;
	set(o, "hops", hops_json(w));
	if (w->unverified)
		set(o, "tls_unverified", json_true());
	set(o, "terminal", terminal_json(w));
	add_page(o, w);
	if (!w->loop_ended_normally)
		return o;
	set(o, "file_meta", file_meta_json(&w->file));
	set(o, "cdx", cdx_json(terminal_hop(w)));
	if (w->has_pdf)
		set(o, "pdf_meta", pdf_json(w));
	return o;
}

static char *dump(const json_t *o, size_t *ret_bytes)
{
	char *s = json_dumps(o, DUMP_FLAGS);
	ing_must(s != NULL); /* everything in it is valid UTF-8 */
	*ret_bytes = strlen(s);
	return s;
}

/* What identifies a request, each value cut to max_bytes. */
static json_t *identity_json(const struct ing_request *r, size_t max_bytes)
{
	const char *const fields[][2] = {{"ingest_type", r->ingest_type}, {"base_url", r->base_url},
		{"link_source", r->link_source}, {"link_source_id", r->link_source_id}};
	json_t *o = json_object();
	for (size_t i = 0; i < ING_ARRAY_LEN(fields); i++) {
		const char *s = fields[i][1];
		if (s != NULL)
			set(o, fields[i][0],
				json_stringn(s, ing_utf8_cut(s, strlen(s), max_bytes)));
	}
	return o;
}

static void set_arena_text(struct ing_work *w, char **field, const char *text)
{
	*field = ing_arena_strdup(&w->ar, text);
}

/* --- rows --- */

static char *dump_into(struct ing_arena *ar, json_t *o)
{
	size_t bytes;
	char *s = dump(o, &bytes);
	char *copy = ing_arena_strndup(ar, s, bytes);
	free(s);
	json_decref(o);
	return copy;
}

static void fill_request_row(struct ing_work *w)
{
	const struct ing_request *r = w->request;
	/* What the table keeps of a request beside its columns: as the replaced system had it, and
	 * `rel`, which that lost. */
	static const char *const kept[] = {"ext_ids", "edit_extra", "fatcat", "rel", "oa_status"};
	json_t *o = json_object();
	for (size_t i = 0; i < ING_ARRAY_LEN(kept); i++) {
		json_t *v = json_object_get(r->json, kept[i]);
		if (v != NULL && !json_is_null(v))
			set(o, kept[i], ing_mask_json(v));
	}
	const char *ident = json_string_value(
		json_object_get(json_object_get(r->json, "fatcat"), "release_ident"));
	if (ident != NULL)
		set(o, "release_ident", masked_or_null(ident));
	w->rows.request = (struct ing_row_request){
		.present = r->link_source != NULL && r->link_source_id != NULL,
		.link_source = ing_mask_url(&w->ar, r->link_source),
		.link_source_id = ing_mask_url(&w->ar, r->link_source_id),
		.ingest_type = r->ingest_type,
		.base_url = ing_mask_url(&w->ar, r->base_url),
		.ingest_request_source = ing_mask_url(&w->ar, r->ingest_request_source),
		.release_stage = ing_mask_url(&w->ar, r->release_stage),
		.request_json = dump_into(&w->ar, o),
	};
}

static void fill_result_row(struct ing_work *w)
{
	const struct ing_hop *hop = terminal_hop(w);
	bool answered = hop != NULL && hop->answered;
	w->rows.result = (struct ing_row_result){
		.present = true,
		.ingest_type = w->request->ingest_type,
		.base_url = ing_mask_url(&w->ar, w->request->base_url),
		.status = ing_status_slug(w->status),
		.hit = w->status == ING_STATUS_SUCCESS,
		.terminal_url = hop != NULL ? hop->url : NULL,
		.terminal_dt = answered ? hop->capture.datetime : NULL,
		.terminal_sha1hex = w->loop_ended_normally ? w->file.sha1hex : NULL,
		.terminal_status_code = answered ? hop->capture.http_status : 0,
	};
}

static void fill_cdx_rows(struct ing_work *w)
{
	struct ing_row_cdx *rows = ing_arena_alloc(&w->ar, (w->hop_count + 1) * sizeof(*rows));
	char *hex = ing_arena_alloc(&w->ar, (w->hop_count + 1) * ING_SHA1_HEX_BYTES);
	size_t n = 0;
	for (const struct ing_hop *h = w->hops; h != NULL; h = h->next) {
		if (ing_capture_row(&h->capture, hex + n * ING_SHA1_HEX_BYTES, &rows[n]))
			n++;
	}
	w->rows.cdx = rows;
	w->rows.cdx_count = n;
}

/* The table's metadata: the fields people search for, or why there are none. */
static char *pdf_metadata(struct ing_work *w)
{
	static const char *const kept[][2] = {{"Title", "title"}, {"Subject", "subject"},
		{"Author", "author"}, {"Creator", "creator"}, {"Producer", "producer"},
		{"doi", "doi"}};
	json_t *o = json_object();
	if (strcmp(w->pdf.status, "success") != 0) {
		set(o, "error_msg", text_or_null(w->pdf.error_msg));
		return dump_into(&w->ar, o);
	}
	json_t *info = info_json(&w->pdf);
	for (size_t i = 0; i < ING_ARRAY_LEN(kept); i++) {
		json_t *v = json_object_get(info, kept[i][0]);
		if (json_is_string(v))
			set(o, kept[i][1], ing_mask_json(v));
	}
	json_decref(info);
	return dump_into(&w->ar, o);
}

static void fill_pdf_row(struct ing_work *w)
{
	const struct ing_pdf *pdf = &w->pdf;
	bool success = strcmp(pdf->status, "success") == 0;
	w->rows.pdf_meta = (struct ing_row_pdf_meta){
		.present = true,
		.sha1hex = w->file.sha1hex,
		.status = pdf->status,
		.page_count = success ? pdf->page_count : -1,
		.word_count = success ? (long)pdf->word_count : -1,
		.page0_height = pdf->page0_height,
		.page0_width = pdf->page0_width,
		.permanent_id = pdf->permanent_id,
		.pdf_created = pdf->created,
		.pdf_version = pdf->pdf_version,
		.metadata_json = pdf_metadata(w),
	};
}

/* -------------------------------------------------------------------------------------------- */

char *ing_result_pdf_text(struct ing_job *job, size_t max_bytes, size_t *ret_bytes)
{
	struct ing_work *w = job->work;
	if (!w->has_pdf || w->pdf.text == NULL || !w->loop_ended_normally)
		return NULL;
	json_t *o = pdf_json(w);
	set(o, "file_meta", file_meta_json(&w->file));
	set(o, "source", cdx_json(terminal_hop(w)));
	json_object_del(o, "text");
	size_t bytes;
	char *facts = dump(o, &bytes);
	json_decref(o);
	/* The text itself, which is most of the message, goes in as the last member. It is valid
	 * UTF-8, as all strings of an examiner's reply. */
	struct ing_buf message;
	ing_buf_init(&message, max_bytes);
	ing_buf_add(&message, facts, bytes - 1);
	ing_buf_add_str(&message, ",\"text\":");
	ing_json_add_text(&message, w->pdf.text, strlen(w->pdf.text));
	ing_buf_add_char(&message, '}');
	free(facts);
	*ret_bytes = message.len;
	if (!message.failed)
		return ing_buf_steal(&message);
	ing_buf_done(&message);
	free(w->pdf.status);
	w->pdf.status = ing_strdup("text-too-large");
	free(w->pdf.error_msg);
	w->pdf.error_msg = ing_strdup("the text message does not fit into kafka.max_message_bytes");
	free(ING_TAKE(w->pdf.text));
	return NULL;
}

/* Leave out the next thing that a result can do without; false when there is none. */
static bool shrink(json_t *o)
{
	json_t *pdf = json_object_get(o, "pdf_meta");
	json_t *biblio = json_object_get(o, "html_biblio");
	if (json_object_del(pdf, "meta_xml") == 0) {
		json_object_del(pdf, "pdf_info");
		return true;
	}
	return (biblio != NULL && ing_html_biblio_shrink(biblio)) ||
	       json_object_del(o, "html_biblio") == 0;
}

char *ing_result_json(struct ing_job *job, size_t max_bytes, size_t *ret_bytes)
{
	json_t *o = result_object(job->work);
	char *s = dump(o, ret_bytes);
	while (*ret_bytes > max_bytes && shrink(o)) {
		free(s);
		s = dump(o, ret_bytes);
	}
	json_decref(o);
	if (*ret_bytes <= max_bytes)
		return s;
	free(s);
	return ing_result_too_large(job, max_bytes, ret_bytes);
}

char *ing_result_too_large(struct ing_job *job, size_t max_bytes, size_t *ret_bytes)
{
	struct ing_work *w = job->work;
	w->status = ING_STATUS_RESULT_TOO_LARGE;
	set_arena_text(w, &w->error_message, ing_status_meaning(w->status));
	for (size_t cut = ING_MAX_TERMINAL_URL_BYTES;; cut /= 2) {
		json_t *o = json_object();
		set(o, "request", identity_json(w->request, cut));
		set(o, "hit", json_false());
		set(o, "status", json_string(ing_status_slug(w->status)));
		set(o, "error_message", masked_or_null(w->error_message));
		char *s = dump(o, ret_bytes);
		json_decref(o);
		if (*ret_bytes <= max_bytes || cut == 0)
			return s;
		free(s);
	}
}

void ing_result_rows(struct ing_job *job)
{
	struct ing_work *w = job->work;
	fill_request_row(w);
	fill_result_row(w);
	fill_cdx_rows(w);
	if (!w->loop_ended_normally)
		return;
	w->rows.file_meta = (struct ing_row_file_meta){
		.present = true,
		.sha1hex = w->file.sha1hex,
		.sha256hex = w->file.sha256hex,
		.md5hex = w->file.md5hex,
		.mimetype = w->file.mimetype,
		.size_bytes = w->file.size_bytes,
	};
	if (w->has_pdf)
		fill_pdf_row(w);
}

bool ing_result_cdx(const struct ing_hop *hop, struct ing_buf *surt, struct ing_cdx *ret)
{
	return ing_capture_line(&hop->capture, surt, ret);
}
