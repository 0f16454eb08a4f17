/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * GROBID's facts, with the names that importers of the replaced system know.
 */
#include "worker/artifact/grobid.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/arena.h"
#include "common/base/buf.h"
#include "common/base/macros.h"
#include "common/base/utf8.h"
#include "common/data/json_text.h"
#include "worker/artifact/findings_json.h"
#include "worker/model/limits.h"
#include "worker/model/mask.h"
#include "worker/model/rows.h"

#define MAX_ROW_ERROR_CHARS 500

static bool is_success(const struct ing_grobid_facts *g)
{
	return strcmp(g->status, "success") == 0;
}

/* NULL: there are none, or more than GROBID has. */
static json_t *metadata_json(const char *text)
{
	static const struct ing_json_limits limits = {.depth = ING_MAX_GROBID_METADATA_DEPTH,
		.values = ING_MAX_GROBID_METADATA_VALUES,
		.flags = ING_JSON_REPEATED_KEYS};
	json_t *o = text != NULL ? ing_json_parse(text, strlen(text), &limits, NULL) : NULL;
	json_t *masked = o != NULL ? ing_mask_json(o) : NULL;
	json_decref(o);
	return masked;
}

/* A row may be another program's, or older than a status: what does not tell a version is no success, and
 * what is none that results have is an error. */
static const char *status_of_row(const struct ing_row_grobid *r)
{
	static const char *const failures[] = {
		"bad-grobid-xml", "error-connect", "error-timeout", "blob-too-large"};
	bool may_be_success = r->status == NULL || strcmp(r->status, "success") == 0;
	if (may_be_success && r->status_code == 200 && r->grobid_version != NULL)
		return "success";
	for (size_t i = 0; i < ING_ARRAY_LEN(failures) && r->status != NULL; i++)
		if (strcmp(r->status, failures[i]) == 0)
			return failures[i];
	return "error";
}

static json_t *words_of_row(const json_t *metadata)
{
	const char *words = ing_json_get_text(metadata, "error_msg");
	return ing_json_text(words != NULL ? words : "");
}

static json_t *error_json(const char *words, size_t max_chars)
{
	json_t *o = json_object();
	size_t bytes = 0;
	for (size_t chars = 0; words[bytes] != '\0' && chars < max_chars; chars++)
		bytes += ing_utf8_sequence(words + bytes, strlen(words + bytes));
	ing_json_set(o, "error_msg", ing_json_textn(words, bytes));
	json_t *masked = ing_mask_json(o);
	json_decref(o);
	return masked;
}

static json_t *facts_json(const struct ing_grobid_facts *g)
{
	json_t *o = json_object();
	ing_json_set_text(o, "status", g->status);
	ing_json_set_number(o, "status_code", g->status_code);
	if (g->error_msg != NULL)
		ing_json_set(o, "error_msg", ing_findings_text(g->error_msg));
	if (g->version != NULL)
		ing_json_set_text(o, "grobid_version", g->version);
	return o;
}

/* -------------------------------------------------------------------------------------------- */

void ing_artifact_grobid_add_to_result(const struct ing_artifact *a, json_t *result)
{
	const struct ing_grobid_facts *g = &a->grobid;
	if (g->status == NULL)
		return;
	json_t *o = facts_json(g);
	ing_json_set_text(o, "fatcat_release", g->fatcat_release);
	json_t *metadata = metadata_json(g->metadata_json);
	if (metadata != NULL)
		ing_json_set(o, "metadata", metadata);
	else if (strcmp(g->status, "bad-grobid-xml") == 0)
		ing_json_set(o, "metadata", error_json(g->error_msg, SIZE_MAX));
	ing_json_set(result, "grobid", o);
}

bool ing_artifact_grobid_shrink(json_t *result)
{
	return json_object_del(json_object_get(result, "grobid"), "metadata") == 0;
}

void ing_artifact_grobid_fill_row(
	const struct ing_artifact *a, struct ing_arena *ar, struct ing_rows *rows)
{
	const struct ing_grobid_facts *g = &a->grobid;
	if (g->status == NULL || g->reused)
		return;
	json_t *metadata = is_success(g) ? metadata_json(g->metadata_json)
					 : error_json(g->error_msg, MAX_ROW_ERROR_CHARS);
	char *text = metadata != NULL ? ing_json_dump(metadata, NULL) : NULL;
	json_decref(metadata);
	rows->grobid = (struct ing_row_grobid){
		.present = true,
		.sha1hex = a->file.sha1hex,
		.grobid_version = g->version,
		.status_code = g->status_code,
		.status = g->status,
		.fatcat_release = g->fatcat_release,
		.metadata_json = text != NULL ? ing_arena_strdup(ar, text) : NULL,
	};
	free(text);
}

void ing_artifact_grobid_add_earlier(const struct ing_rows *rows, json_t *result)
{
	const struct ing_row_grobid *r = &rows->grobid;
	if (!r->present)
		return;
	json_t *o = json_object();
	json_t *metadata = metadata_json(r->metadata_json);
	const char *status = status_of_row(r);
	ing_json_set_text(o, "status", status);
	ing_json_set_number(o, "status_code", r->status_code);
	if (strcmp(status, "success") != 0)
		ing_json_set(o, "error_msg", words_of_row(metadata));
	if (r->grobid_version != NULL)
		ing_json_set_text(o, "grobid_version", r->grobid_version);
	ing_json_set_text(o, "fatcat_release", r->fatcat_release);
	if (json_is_object(metadata))
		ing_json_set(o, "metadata", ing_json_ref(metadata));
	json_decref(metadata);
	ing_json_set(result, "grobid", o);
}

char *ing_artifact_grobid_message(
	struct ing_artifact *a, json_t *source, size_t max_bytes, size_t *ret_bytes)
{
	const struct ing_grobid_facts *g = &a->grobid;
	const struct ing_derived *tei = &a->derived[ING_DERIVED_GROBID_TEI];
	if (g->status == NULL || g->reused)
		return NULL;
	json_t *o = facts_json(g);
	ing_json_set_text(o, "key", a->file.sha1hex);
	ing_json_set(o, "file_meta", ing_file_meta_json(&a->file));
	ing_json_set(o, "source", ing_json_ref(source));
	struct ing_buf out;
	size_t bytes;
	char *facts = ing_json_dump(o, &bytes);
	json_decref(o);
	ing_buf_init(&out, max_bytes);
	ing_buf_add(&out, facts, bytes - 1); /* without the closing brace */
	free(facts);
	if (tei->data != NULL) {
		ing_buf_add_str(&out, ",\"tei_xml\":");
		ing_json_add_text(&out, tei->data, tei->bytes); /* valid UTF-8, from an examiner */
	}
	if (ing_buf_add_char(&out, '}')) {
		*ret_bytes = out.len;
		return ing_buf_steal(&out);
	}
	ing_buf_done(&out);
	return NULL;
}
