/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pdf: landing pages lead to the document; facts and text are kept of it.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/arena.h"
#include "common/data/json.h"
#include "worker/artifact/artifact.h"
#include "worker/artifact/findings_json.h"
#include "worker/artifact/grobid.h"
#include "worker/model/mask.h"
#include "worker/model/rows.h"

static void keep(struct ing_artifact *a, struct ing_findings *f)
{
	if (f->pdf.status == NULL || strcmp(f->file.mimetype, "application/pdf") != 0)
		return;
	ing_pdf_done(&a->pdf);
	a->pdf = f->pdf;
	f->pdf = (struct ing_pdf){0};
	char *text = ING_TAKE(a->pdf.text);
	ing_derived_set(&a->derived[ING_DERIVED_PDF_TEXT], text, text != NULL ? strlen(text) : 0);
	struct ing_pdf_thumbnail *thumbnail = &a->pdf.thumbnail;
	size_t bytes = thumbnail->bytes;
	ing_derived_set(&a->derived[ING_DERIVED_THUMBNAIL], ING_TAKE(thumbnail->data), bytes);
}

/* text and file_meta are in the message only. */
static json_t *pdf_meta_json(const struct ing_artifact *a)
{
	json_t *o = json_object();
	ing_json_set_text(o, "key", a->file.sha1hex);
	ing_json_set_text(o, "sha1hex", a->file.sha1hex);
	json_t *facts = ing_pdf_json(&a->pdf, false);
	json_object_update(o, facts);
	json_decref(facts);
	ing_json_set(o, "text", NULL);
	ing_json_set(o, "file_meta", NULL);
	return o;
}

static void add_to_result(const struct ing_artifact *a, json_t *result)
{
	if (a->pdf.status != NULL)
		ing_json_set(result, "pdf_meta", pdf_meta_json(a));
	ing_artifact_grobid_add_to_result(a, result);
}

static bool shrink_result(json_t *result)
{
	json_t *meta = json_object_get(result, "pdf_meta");
	if (json_object_del(meta, "meta_xml") != 0)
		return ing_artifact_grobid_shrink(result);
	json_object_del(meta, "pdf_info");
	return true;
}

/* What the column `metadata` keeps of the Info dictionary, under its names there; the first key of a
 * name counts. DOIs stand there under the names that publishers give them. */
static const char *const kept_info[][2] = {{"Title", "title"}, {"Subject", "subject"},
	{"Author", "author"}, {"Creator", "creator"}, {"Producer", "producer"}, {"doi", "doi"},
	{"DOI", "doi"}, {"WPS-ARTICLEDOI", "doi"}};

/* The column `metadata`: the fields that people search for, or the error. */
static const char *metadata(const struct ing_pdf *pdf, struct ing_arena *ar)
{
	json_t *o = json_object();
	json_t *info = ing_pdf_info_json(pdf);
	if (!ing_pdf_is_read(pdf))
		ing_json_set(o, "error_msg", ing_findings_text(pdf->error_msg));
	for (size_t i = 0; i < ING_ARRAY_LEN(kept_info) && ing_pdf_is_read(pdf); i++) {
		json_t *v = json_object_get(info, kept_info[i][0]);
		if (json_is_string(v) && json_object_get(o, kept_info[i][1]) == NULL)
			ing_json_set(o, kept_info[i][1], ing_mask_json(v));
	}
	json_decref(info);
	char *text = ing_json_dump(o, NULL);
	const char *copy = ing_arena_strdup(ar, text);
	free(text);
	json_decref(o);
	return copy;
}

static void fill_rows(const struct ing_artifact *a, struct ing_arena *ar, struct ing_rows *rows)
{
	const struct ing_pdf *pdf = &a->pdf;
	ing_artifact_grobid_fill_row(a, ar, rows);
	if (pdf->status == NULL)
		return;
	rows->pdf_meta = (struct ing_row_pdf_meta){
		.present = true,
		.sha1hex = a->file.sha1hex,
		.status = pdf->status,
		.has_page0_thumbnail = pdf->has_page0_thumbnail,
		.page_count = ing_pdf_is_read(pdf) ? pdf->page_count : -1,
		.word_count = ing_pdf_is_read(pdf) ? (long)pdf->word_count : -1,
		.page0_height = pdf->page0_height,
		.page0_width = pdf->page0_width,
		.permanent_id = pdf->permanent_id,
		.update_id = pdf->update_id,
		.pdf_created = pdf->created,
		.pdf_version = pdf->pdf_version,
		.metadata_json = metadata(pdf, ar),
	};
}

/* Whether the name in the column has a better key before this one. */
static bool is_later_name(size_t i)
{
	return i > 0 && strcmp(kept_info[i][1], kept_info[i - 1][1]) == 0;
}

static json_t *earlier_info_json(const struct ing_row_pdf_meta *r, const json_t *metadata)
{
	json_t *o = json_object();
	for (size_t i = 0; i < ING_ARRAY_LEN(kept_info); i++) {
		const char *text = ing_json_get_text(metadata, kept_info[i][1]);
		if (text != NULL && !is_later_name(i))
			ing_json_set_text(o, kept_info[i][0], text);
	}
	if (r->pdf_created != NULL)
		ing_json_set_text(o, "CreationDate", r->pdf_created);
	return o;
}

static json_t *earlier_extra_json(const struct ing_row_pdf_meta *r)
{
	json_t *o = json_object();
	if (r->page_count >= 0)
		ing_json_set_number(o, "page_count", r->page_count);
	ing_json_set(o, "page0_height", json_real(r->page0_height));
	ing_json_set(o, "page0_width", json_real(r->page0_width));
	ing_json_set_text(o, "permanent_id", r->permanent_id);
	ing_json_set_text(o, "update_id", r->update_id);
	ing_json_set_text(o, "pdf_version", r->pdf_version);
	return o;
}

static void add_earlier(const struct ing_rows *rows, json_t *result)
{
	const struct ing_row_pdf_meta *r = &rows->pdf_meta;
	ing_artifact_grobid_add_earlier(rows, result);
	if (!r->present)
		return;
	const char *text = r->metadata_json != NULL ? r->metadata_json : "{}";
	json_t *metadata = ing_json_parse(text, strlen(text), &ing_json_own, NULL);
	json_t *o = json_object();
	ing_json_set_text(o, "key", r->sha1hex);
	ing_json_set_text(o, "sha1hex", r->sha1hex);
	ing_json_set_text(o, "status", r->status);
	if (ing_json_get_text(metadata, "error_msg") != NULL)
		ing_json_set_text(o, "error_msg", ing_json_get_text(metadata, "error_msg"));
	ing_json_set_bool(o, "has_page0_thumbnail", r->has_page0_thumbnail);
	if (strcmp(r->status, "success") == 0) {
		ing_json_set(o, "pdf_info", earlier_info_json(r, metadata));
		if (r->word_count >= 0)
			ing_json_set_number(o, "word_count", r->word_count);
		ing_json_set(o, "pdf_extra", earlier_extra_json(r));
	}
	ing_json_set(o, "text", NULL);
	ing_json_set(o, "file_meta", NULL);
	ing_json_set(result, "pdf_meta", o);
	json_decref(metadata);
}

static char *text_message(
	struct ing_artifact *a, json_t *source, size_t max_bytes, size_t *ret_bytes)
{
	struct ing_pdf *pdf = &a->pdf;
	const struct ing_derived *text = &a->derived[ING_DERIVED_PDF_TEXT];
	if (text->data == NULL)
		return NULL;
	json_t *o = pdf_meta_json(a);
	ing_json_set(o, "file_meta", ing_file_meta_json(&a->file));
	ing_json_set(o, "source", ing_json_ref(source));
	json_object_del(o, "text");
	char *value = ing_findings_message(o, "text", text, max_bytes, ret_bytes);
	if (value == NULL) {
		free(pdf->status);
		pdf->status = ing_strdup("text-too-large");
		free(pdf->error_msg);
		pdf->error_msg =
			ing_strdup("the text message does not fit into kafka.max_message_bytes");
	}
	return value;
}

/* The picture itself. */
static char *thumbnail_message(const struct ing_artifact *a, size_t max_bytes, size_t *ret_bytes)
{
	const struct ing_derived *thumbnail = &a->derived[ING_DERIVED_THUMBNAIL];
	if (thumbnail->data == NULL || thumbnail->bytes > max_bytes)
		return NULL;
	*ret_bytes = thumbnail->bytes;
	return ing_strndup(thumbnail->data, thumbnail->bytes);
}

static char *message(struct ing_artifact *a, enum ing_derived_kind kind, json_t *source,
	size_t max_bytes, size_t *ret_bytes)
{
	switch (kind) {
	case ING_DERIVED_PDF_TEXT:
		return text_message(a, source, max_bytes, ret_bytes);
	case ING_DERIVED_THUMBNAIL:
		return thumbnail_message(a, max_bytes, ret_bytes);
	case ING_DERIVED_GROBID_TEI:
		return ing_artifact_grobid_message(a, source, max_bytes, ret_bytes);
	default:
		return NULL;
	}
}

/* ---------------------------------------------------------------------------------------------- */

const struct ing_artifact_facts ing_artifact_pdf_facts = {
	.keep = keep,
	.add_to_result = add_to_result,
	.shrink_result = shrink_result,
	.fill_rows = fill_rows,
	.add_earlier = add_earlier,
	.message = message,
};

static const char *const mimetypes[] = {"application/pdf", NULL};

const struct ing_artifact_type ing_artifact_pdf = {
	.mimetypes = mimetypes,
	/* Some hosts choose by it. Landing pages are fetched with it, too. */
	.accept = "application/pdf,text/html;q=0.9,application/xhtml+xml;q=0.9,*/*;q=0.8",
	.want = ING_WANT_LINKS | ING_WANT_PDF,
	.link = ING_LINK_PDF,
	.use_site_rules = true,
	.no_link_status = ING_STATUS_NO_PDF_LINK,
	.reports_no_link = true,
	.facts = &ing_artifact_pdf_facts,
};
