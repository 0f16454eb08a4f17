/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The parts that are the same for all ingest types; the others come from worker/artifact.
 */
#include "worker/job/result.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/utf8.h"
#include "common/data/json.h"
#include "worker/artifact/artifact.h"
#include "worker/artifact/findings_json.h"
#include "worker/artifact/match.h"
#include "worker/job/existing.h"
#include "worker/job/publication.h"
#include "worker/job/result_capture.h"
#include "worker/job/result_resources.h"
#include "worker/job/result_short.h"
#include "worker/model/limits.h"
#include "worker/model/mask.h"
#include "worker/model/request_facts.h"
#include "worker/model/request_row.h"
#include "worker/store/lookup/lookup.h"
#include "worker/visit/capture.h"

/* A text of which parts may be URLs that nobody has cleaned: with their passwords masked. URLs that
 * were requested have no passwords (worker/visit/target.h), and must stay the archive's key. */
static void set_masked(json_t *object, const char *key, const char *text)
{
	json_t *value = ing_json_text(text);
	ing_json_set(object, key, ing_mask_json(value));
	json_decref(value);
}

/* Every URL that was requested; further tries are left out. */
static json_t *hops_json(const struct ing_work *w)
{
	json_t *list = json_array();
	for (const struct ing_visit_step *s = w->steps.first; s != NULL; s = s->next) {
		if (s->via != ING_VIA_AGAIN)
			ing_json_append(list, ing_json_text(s->url));
	}
	return list;
}

static json_t *terminal_json(const struct ing_work *w)
{
	const struct ing_visit_step *end = w->terminal;
	json_t *o = json_object();
	ing_json_set_text(o, "terminal_url", end->url);
	ing_json_set_text(o, "terminal_dt", end->answered ? end->capture.datetime : NULL);
	ing_json_set(o, "terminal_status_code",
		end->answered ? json_integer(end->capture.http_status) : NULL);
	if (w->document_found)
		ing_json_set_text(o, "terminal_sha1hex", w->artifact.file.sha1hex);
	ing_json_set(o, "wayback",
		ing_wayback_json(end->url, end->answered ? end->capture.datetime : NULL));
	return o;
}

/* It has no document, and its resources are told in it. */
static void add_publication(const struct ing_work *w, json_t *result)
{
	json_t *publication = ing_job_publication_json(w->job);
	if (w->unverified)
		ing_json_set_bool(result, "tls_unverified", true);
	if (w->needs_browser)
		ing_json_set_bool(result, "needs_browser", true);
	if (publication != NULL)
		ing_json_set(result, "publication", publication);
}

static json_t *result_object(const struct ing_work *w)
{
	json_t *o = json_object();
	ing_json_set(o, "request", ing_json_ref(w->request->json));
	ing_json_set_bool(o, "hit",
		w->existing != NULL ? w->existing->rows.result.hit
				    : w->status == ING_STATUS_SUCCESS);
	ing_json_set_text(o, "status", ing_status_slug(w->status));
	if (w->error_message != NULL)
		set_masked(o, "error_message", w->error_message);
	if (w->retry_after_s > 0)
		ing_json_set_number(o, "retry_after", w->retry_after_s);
	if (w->dropped_userinfo)
		ing_json_set_bool(o, "userinfo_dropped", true);
	if (w->existing != NULL)
		ing_existing_add(w->existing, ing_artifact_type(w->request->type), o);
	if (w->job->publication != NULL) {
		add_publication(w, o);
		return o;
	}
	if (w->steps.first == NULL)
		return o;
	ing_json_set(o, "hops", hops_json(w));
	if (w->unverified)
		ing_json_set_bool(o, "tls_unverified", true);
	if (w->needs_browser)
		ing_json_set_bool(o, "needs_browser", true);
	ing_json_set(o, "terminal", terminal_json(w));
	const struct ing_artifact_type *type = ing_artifact_type(w->request->type);
	ing_artifact_add_pages(&w->artifact, type, o);
	if (!w->document_found)
		return o;
	ing_json_set(o, "file_meta", ing_file_meta_json(&w->artifact.file));
	ing_json_set(o, "cdx", ing_capture_cdx_json(&w->terminal->capture));
	if (w->terminal->capture.original != NULL)
		ing_json_set(o, "revisit_cdx", ing_capture_revisit_cdx_json(&w->terminal->capture));
	ing_artifact_add_facts(&w->artifact, type, o);
	json_t *match = ing_artifact_match_json(&w->artifact, w->request->json);
	if (match != NULL)
		ing_json_set(o, "match", match);
	if (w->resources != NULL)
		ing_resources_add(w->resources, o);
	return o;
}

/* Returns NULL for what is longer. */
static char *write_within(const json_t *o, size_t max_bytes, size_t *ret_bytes)
{
	struct ing_buf out;
	ing_buf_init(&out, max_bytes);
	if (ing_json_write(&out, o)) {
		*ret_bytes = out.len;
		return ing_buf_steal(&out);
	}
	ing_buf_done(&out);
	return NULL;
}

/* With the member of which its row has the JSON already: that is copied. Returns NULL for what is longer. */
static char *write_with_record(
	json_t *o, const char *member, const char *record, size_t max_bytes, size_t *ret_bytes)
{
	struct ing_buf out;
	size_t record_bytes = strlen(record);
	json_t *value = ing_json_ref(json_object_get(o, member));
	json_object_del(o, member);
	ing_buf_init(&out, max_bytes);
	ing_buf_reserve(&out, record_bytes); /* also: whether it fits at all */
	if (ing_json_write(&out, o)) {
		out.len--; /* what closes it; it has other members */
		ing_buf_printf(&out, ",\"%s\":", member);
		ing_buf_add(&out, record, record_bytes);
		ing_buf_add_char(&out, '}');
	}
	ing_json_set(o, member, value);
	if (!out.failed) {
		*ret_bytes = out.len;
		return ing_buf_steal(&out);
	}
	ing_buf_done(&out);
	return NULL;
}

static char *write_whole(
	json_t *o, const struct ing_rows *kept, size_t max_bytes, size_t *ret_bytes)
{
	if (kept->publication.present && json_object_get(o, "publication") != NULL)
		return write_with_record(
			o, "publication", kept->publication.record_json, max_bytes, ret_bytes);
	if (kept->webpage.present && json_object_get(o, "webpage") != NULL)
		return write_with_record(
			o, "webpage", kept->webpage.record_json, max_bytes, ret_bytes);
	return write_within(o, max_bytes, ret_bytes);
}

/* --- rows --- */

/* Takes o. */
static char *dump_into(struct ing_arena *ar, json_t *o)
{
	size_t bytes;
	char *s = ing_json_dump(o, &bytes);
	char *copy = ing_arena_strndup(ar, s, bytes);
	free(s);
	json_decref(o);
	return copy;
}

static const char *host_of(struct ing_arena *ar, const char *terminal, const char *base)
{
	char host[ING_URL_HOST_BYTES] = "";
	if (terminal != NULL)
		ing_fact_host(terminal, host);
	if (host[0] == '\0')
		ing_fact_host(base, host);
	return host[0] != '\0' ? ing_arena_strdup(ar, host) : NULL;
}

static const char *document_of(struct ing_arena *ar, const struct ing_request *r)
{
	unsigned char id[ING_FACT_ID_BYTES];
	char *text = ing_arena_alloc(ar, ING_FACT_ID_TEXT_BYTES);
	ing_document_id(r->ingest_type, r->base_url, id);
	ing_fact_id_text(id, text);
	return text;
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
		.error_message = ing_mask_text(&w->ar, w->error_message),
		.retry_after_s = ing_status_retry_after_s(w->status),
		.host = host_of(&w->ar, end != NULL ? end->url : NULL, w->request->base_url),
		.document = rows->answers,
	};
}

static size_t count_steps(const struct ing_work *w)
{
	struct ing_step_walk walk;
	size_t count = 0;
	ing_step_walk_init(&walk, w);
	while (ing_step_walk_next(&walk) != NULL)
		count++;
	return count;
}

static void fill_cdx_rows(struct ing_work *w, struct ing_rows *ret)
{
	struct ing_step_walk walk;
	size_t most = ING_CAPTURE_ROWS * (count_steps(w) + 1);
	struct ing_row_cdx *rows = ing_arena_alloc(&w->ar, most * sizeof(*rows));
	char *hex = ing_arena_alloc(&w->ar, most * ING_SHA1_HEX_BYTES);
	size_t n = 0;
	ing_step_walk_init(&walk, w);
	for (const struct ing_visit_step *s = ing_step_walk_next(&walk); s != NULL;
		s = ing_step_walk_next(&walk))
		ing_capture_add_rows(&s->capture, hex + n * ING_SHA1_HEX_BYTES, rows, &n);
	ret->cdx = rows;
	ret->cdx_count = n;
}

/* -------------------------------------------------------------------------------------------- */

json_t *ing_result_source(const struct ing_work *w)
{
	const struct ing_artifact_facts *facts = ing_artifact_type(w->request->type)->facts;
	if (!w->document_found || facts == NULL || facts->message == NULL)
		return NULL;
	return ing_capture_cdx_json(&w->terminal->capture);
}

char *ing_result_side_message(struct ing_job *job, enum ing_derived_kind kind, json_t *source,
	size_t max_bytes, size_t *ret_bytes)
{
	struct ing_work *w = job->work;
	const struct ing_artifact_facts *facts = ing_artifact_type(w->request->type)->facts;
	return facts->message(&w->artifact, kind, source, max_bytes, ret_bytes);
}

char *ing_result_json(
	struct ing_job *job, const struct ing_rows *kept, size_t max_bytes, size_t *ret_bytes)
{
	const struct ing_artifact_type *type = ing_artifact_type(job->work->request->type);
	json_t *o = result_object(job->work);
	char *s = write_whole(o, kept, max_bytes, ret_bytes);
	while (s == NULL && (ing_artifact_shrink_result(type, o) || ing_resources_shrink(o)))
		s = write_within(o, max_bytes, ret_bytes);
	json_decref(o);
	if (s != NULL)
		return s;
	job->work->status = ING_STATUS_RESULT_TOO_LARGE;
	job->work->error_message = NULL;
	return ing_result_shortest(job->work->request->json, max_bytes, ret_bytes);
}

void ing_result_rows(struct ing_job *job, struct ing_rows *ret)
{
	struct ing_work *w = job->work;
	ret->answers = document_of(&w->ar, w->request);
	ing_request_row(w->request, &w->ar, &ret->request);
	if (w->existing != NULL)
		return;
	fill_result_row(w, ret);
	fill_cdx_rows(w, ret);
	if (w->document_found)
		ing_artifact_fill_rows(
			&w->artifact, ing_artifact_type(w->request->type), &w->ar, ret);
	if (ret->html_meta.present && w->resources != NULL)
		ret->html_meta.resources_json = dump_into(&w->ar, ing_resources_json(w->resources));
}

json_t *ing_result_webpage(const struct ing_work *w)
{
	json_t *o = result_object(w);
	json_t *page = ing_json_ref(json_object_get(o, "webpage"));
	json_decref(o);
	return page;
}

void ing_result_capture_rows(struct ing_job *job, struct ing_rows *ret)
{
	fill_cdx_rows(job->work, ret);
}

void ing_result_answer_parked(void *ctx, struct ing_arena *ar,
	const struct ing_output_message *parked, size_t max_value_bytes,
	struct ing_output_message *ret)
{
	(void)ctx;
	struct ing_request *r = NULL;
	struct ing_error err = {0};
	int rc = ing_request_parse(parked->value, parked->value_bytes, &r, &err);
	ing_must(rc == 0); /* or it would not have been parked */
	json_t *o = json_object();
	ing_json_set(o, "request", ing_json_ref(r->json));
	ing_json_set_bool(o, "hit", false);
	ing_json_set_text(o, "status", ing_status_slug(ING_STATUS_HOST_BACKOFF));
	ing_json_set_text(o, "error_message",
		"the host cannot be asked soon, and the request cannot be parked: its topic is gone");
	ret->value = ing_json_dump(o, &ret->value_bytes);
	if (ret->value_bytes > max_value_bytes) {
		free(ret->value);
		ret->value = ing_result_shortest(r->json, max_value_bytes, &ret->value_bytes);
	}
	ret->key = ing_arena_strdup(ar, r->key);
	ret->key_bytes = strlen(r->key);
	json_decref(o);
	ing_request_free(r);
}
