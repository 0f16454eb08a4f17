/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The one place where results are written. Every string that came from outside is cleaned to valid
 * UTF-8 on the way in.
 */
#include "worker/job/result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/utf8.h"
#include "common/data/json.h"
#include "common/net/surt.h"
#include "common/record/cdx.h"
#include "worker/artifact/artifact.h"
#include "worker/artifact/findings_json.h"
#include "worker/model/mask.h"
#include "worker/visit/capture.h"
#include "worker/model/limits.h"

/* Reals keep the 17 digits that bring each double back: a request's own must come out as they
 * came. */
#define DUMP_FLAGS JSON_COMPACT

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

/* The way that was gone: further tries of a URL are no step of it. */
static json_t *hops_json(const struct ing_work *w)
{
	json_t *list = json_array();
	for (const struct ing_visit_step *s = w->steps.first; s != NULL; s = s->next) {
		if (s->via != ING_VIA_AGAIN)
			json_array_append_new(list, text_or_null(s->url));
	}
	return list;
}

static json_t *wayback_json(const struct ing_visit_step *step)
{
	json_t *o = json_object();
	if (!step->answered) {
		set(o, "datetime", json_null());
		set(o, "archive_url", json_null());
		return o;
	}
	struct ing_buf url;
	ing_buf_init(&url, 2 * ING_MAX_URL_BYTES);
	ing_buf_printf(
		&url, "https://web.archive.org/web/%s/%s", step->capture.datetime, step->url);
	set(o, "datetime", text_or_null(step->capture.datetime));
	set(o, "archive_url", text_or_null(ing_buf_str(&url)));
	ing_buf_done(&url);
	return o;
}

static json_t *terminal_json(const struct ing_work *w)
{
	const struct ing_visit_step *end = w->terminal;
	json_t *o = json_object();
	set(o, "terminal_url", text_or_null(end->url));
	set(o, "terminal_dt", end->answered ? text_or_null(end->capture.datetime) : json_null());
	set(o, "terminal_status_code",
		end->answered ? json_integer(end->capture.http_status) : json_null());
	if (w->document_found)
		set(o, "terminal_sha1hex", text_or_null(w->artifact.file.sha1hex));
	set(o, "wayback", wayback_json(end));
	return o;
}

static json_t *cdx_json(const struct ing_visit_step *step)
{
	struct ing_buf surt;
	ing_buf_init(&surt, 4 * ING_MAX_URL_BYTES);
	if (!ing_surt(step->url, &surt))
		ing_buf_clear(&surt);
	char hex[ING_SHA1_HEX_BYTES];
	const struct ing_capture *capture = &step->capture;
	json_t *o = json_object();
	set(o, "surt", text_or_null(ing_buf_str(&surt)));
	set(o, "datetime", text_or_null(step->capture.datetime));
	set(o, "url", text_or_null(step->url));
	set(o, "mimetype", text_or_null(step->capture.mimetype));
	set(o, "status_code", json_integer(step->capture.http_status));
	if (ing_capture_sha1b32(capture) != NULL) {
		set(o, "sha1b32", text_or_null(ing_capture_sha1b32(capture)));
		set(o, "sha1hex", text_or_null(ing_capture_sha1hex(capture, hex) ? hex : NULL));
	}
	if (step->capture.archive.warc_name[0] != '\0') {
		set(o, "warc_csize", json_integer((json_int_t)step->capture.archive.csize));
		set(o, "warc_offset", json_integer((json_int_t)step->capture.archive.offset));
		set(o, "warc_path", text_or_null(step->capture.archive.warc_name));
	}
	ing_buf_done(&surt);
	return o;
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
	if (w->steps.first == NULL)
		return o;
	set(o, "hops", hops_json(w));
	if (w->unverified)
		set(o, "tls_unverified", json_true());
	set(o, "terminal", terminal_json(w));
	const struct ing_artifact_type *type = ing_artifact_type(w->request->type);
	ing_artifact_add_pages(&w->artifact, type, o);
	if (!w->document_found)
		return o;
	set(o, "file_meta", ing_file_meta_json(&w->artifact.file));
	set(o, "cdx", cdx_json(w->terminal));
	ing_artifact_add_facts(&w->artifact, type, o);
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

static void fill_request_row(struct ing_work *w, struct ing_rows *rows)
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
	rows->request = (struct ing_row_request){
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

static void fill_result_row(struct ing_work *w, struct ing_rows *rows)
{
	const struct ing_visit_step *end = w->terminal;
	bool answered = end != NULL && end->answered;
	rows->result = (struct ing_row_result){
		.present = true,
		.ingest_type = w->request->ingest_type,
		.base_url = ing_mask_url(&w->ar, w->request->base_url),
		.status = ing_status_slug(w->status),
		.hit = w->status == ING_STATUS_SUCCESS,
		.terminal_url = end != NULL ? end->url : NULL,
		.terminal_dt = answered ? end->capture.datetime : NULL,
		.terminal_sha1hex = w->document_found ? w->artifact.file.sha1hex : NULL,
		.terminal_status_code = answered ? end->capture.http_status : 0,
	};
}

static void fill_cdx_rows(struct ing_work *w, struct ing_rows *ret)
{
	struct ing_row_cdx *rows = ing_arena_alloc(&w->ar, (w->steps.count + 1) * sizeof(*rows));
	char *hex = ing_arena_alloc(&w->ar, (w->steps.count + 1) * ING_SHA1_HEX_BYTES);
	size_t n = 0;
	for (const struct ing_visit_step *s = w->steps.first; s != NULL; s = s->next) {
		if (ing_capture_row(&s->capture, hex + n * ING_SHA1_HEX_BYTES, &rows[n]))
			n++;
	}
	ret->cdx = rows;
	ret->cdx_count = n;
}

/* -------------------------------------------------------------------------------------------- */

char *ing_result_side_message(struct ing_job *job, size_t max_bytes, size_t *ret_bytes)
{
	struct ing_work *w = job->work;
	if (!w->document_found) {
		ing_artifact_forget_document(&w->artifact);
		return NULL;
	}
	const struct ing_artifact_facts *facts = ing_artifact_type(w->request->type)->facts;
	json_t *source = cdx_json(w->terminal);
	char *message = facts->message(&w->artifact, source, max_bytes, ret_bytes);
	json_decref(source);
	return message;
}

char *ing_result_json(struct ing_job *job, size_t max_bytes, size_t *ret_bytes)
{
	const struct ing_artifact_type *type = ing_artifact_type(job->work->request->type);
	json_t *o = result_object(job->work);
	char *s = dump(o, ret_bytes);
	while (*ret_bytes > max_bytes && ing_artifact_shrink_result(type, o)) {
		free(s);
		s = dump(o, ret_bytes);
	}
	json_decref(o);
	if (*ret_bytes <= max_bytes)
		return s;
	free(s);
	job->work->status = ING_STATUS_RESULT_TOO_LARGE;
	job->work->error_message = NULL;
	return ing_result_shortest(job, max_bytes, ret_bytes);
}

char *ing_result_shortest(const struct ing_job *job, size_t max_bytes, size_t *ret_bytes)
{
	const enum ing_status status = ING_STATUS_RESULT_TOO_LARGE;
	for (size_t cut = ING_MAX_TERMINAL_URL_BYTES;; cut /= 2) {
		json_t *o = json_object();
		set(o, "request", identity_json(job->work->request, cut));
		set(o, "hit", json_false());
		set(o, "status", json_string(ing_status_slug(status)));
		set(o, "error_message", masked_or_null(ing_status_meaning(status)));
		char *s = dump(o, ret_bytes);
		json_decref(o);
		if (*ret_bytes <= max_bytes || cut == 0)
			return s;
		free(s);
	}
}

void ing_result_rows(struct ing_job *job, struct ing_rows *ret)
{
	struct ing_work *w = job->work;
	fill_request_row(w, ret);
	fill_result_row(w, ret);
	fill_cdx_rows(w, ret);
	if (w->document_found)
		ing_artifact_fill_rows(
			&w->artifact, ing_artifact_type(w->request->type), &w->ar, ret);
}
