/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is the same for all types, and the table of them.
 */
#include "worker/artifact/artifact.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/macros.h"
#include "common/data/json.h"
#include "worker/artifact/findings_json.h"
#include "worker/artifact/html_biblio.h"
#include "worker/model/mask.h"
#include "worker/model/rows.h"

static const struct ing_artifact_type later = {
	.not_handled = "not among the ingest types of this version:"
#define INGEST_TYPE(id, name, row) " " name
#include "worker/model/ingest_type.def"
	,
	.mimetypes = (const char *const[]){NULL},
	.link = ING_ARTIFACT_NO_LINK,
};

static const struct ing_artifact_type *const types[ING_INGEST_TYPES_] = {
#define INGEST_TYPE(id, name, row) [ING_INGEST_##id] = &ing_artifact_##row,
#define INGEST_TYPE_LATER(id, name) [ING_INGEST_##id] = &later,
#include "worker/model/ingest_type.def"
};

static char *copy_or_null(const char *s)
{
	return s != NULL ? ing_strdup(s) : NULL;
}

static void set_text(char **field, const char *s)
{
	free(*field);
	*field = copy_or_null(s);
}

static void keep_link(struct ing_artifact *a, const struct ing_page_link *link)
{
	static const struct ing_page_link none = {.rule = ING_NO_RULE};
	if (link == NULL)
		link = &none;
	set_text(&a->link.url, link->url);
	set_text(&a->link.technique, link->technique);
	set_text(&a->link.stage, link->stage);
	a->link.self = link->self;
	a->link.rule = link->rule;
}

/* Of several landing pages the first with a title of its own describes the work best; where the
 * document is a page itself, the last one does. */
static void keep_biblio(
	struct ing_artifact *a, const struct ing_artifact_type *type, const struct ing_page *page)
{
	bool own;
	json_t *biblio = ing_html_biblio_new(page->biblio_json, page->title, &own);
	bool is_document = ing_artifact_accepts(type, "text/html");
	bool better = a->biblio == NULL || (own && !a->biblio_has_own_title) ||
		      (is_document && (own || !a->biblio_has_own_title));
	if (biblio == NULL || !better) {
		json_decref(biblio);
		return;
	}
	json_decref(a->biblio);
	a->biblio = biblio;
	a->biblio_has_own_title = own;
}

static void keep_page(
	struct ing_artifact *a, const struct ing_artifact_type *type, const struct ing_page *page)
{
	a->saw_page = true;
	keep_link(a, ing_artifact_link(type, page));
	set_text(&a->platform, page->platform);
	set_text(&a->scope, page->scope);
	keep_biblio(a, type, page);
}

/* ---------------------------------------------------------------------------------------------- */

const struct ing_artifact_type *ing_artifact_type(enum ing_ingest_type type)
{
	ing_must((unsigned)type < ING_INGEST_TYPES_);
	return types[type];
}

bool ing_artifact_accepts(const struct ing_artifact_type *type, const char *mimetype)
{
	for (const char *const *m = type->mimetypes; *m != NULL; m++)
		if (strcmp(*m, mimetype) == 0)
			return true;
	return false;
}

bool ing_artifact_is_page(const char *mimetype)
{
	return strstr(mimetype, "html") != NULL || strcmp(mimetype, "application/xml") == 0 ||
	       strcmp(mimetype, "text/xml") == 0;
}

const struct ing_page_link *ing_artifact_link(
	const struct ing_artifact_type *type, const struct ing_page *page)
{
	if (type->link == ING_ARTIFACT_NO_LINK)
		return NULL;
	const struct ing_page_link *link = &page->links[type->link];
	bool better = link->url != NULL && !link->self;
	if (!better && type->use_site_rules && page->next.url != NULL)
		return &page->next;
	return link->url != NULL ? link : NULL;
}

void ing_artifact_keep(
	struct ing_artifact *a, const struct ing_artifact_type *type, struct ing_findings *f)
{
	ing_must(f->exam == ING_EXAM_OK);
	a->file = f->file;
	/* Of an XML document nothing is read as of a page: the page before it counts. */
	bool is_xml = strstr(f->file.mimetype, "html") == NULL;
	if (ing_artifact_is_page(f->file.mimetype) &&
		!(is_xml && ing_artifact_accepts(type, f->file.mimetype)))
		keep_page(a, type, &f->page);
	if (type->facts != NULL)
		type->facts->keep(a, f);
}

void ing_artifact_add_pages(
	const struct ing_artifact *a, const struct ing_artifact_type *type, json_t *result)
{
	if (a->saw_page && (type->reports_no_link || a->link.url != NULL))
		ing_json_set(result, "extract_next_hop", ing_page_link_json(&a->link));
	if (a->biblio != NULL)
		ing_json_set(result, "html_biblio", ing_mask_json(a->biblio));
	if (a->platform != NULL)
		ing_json_set(result, "platform", ing_findings_text(a->platform));
	if (a->scope != NULL)
		ing_json_set(result, "scope", ing_findings_text(a->scope));
}

void ing_artifact_add_facts(
	const struct ing_artifact *a, const struct ing_artifact_type *type, json_t *result)
{
	if (type->facts != NULL)
		type->facts->add_to_result(a, result);
}

bool ing_artifact_shrink_result(const struct ing_artifact_type *type, json_t *result)
{
	if (type->facts != NULL && type->facts->shrink_result != NULL &&
		type->facts->shrink_result(result))
		return true;
	json_t *biblio = json_object_get(result, "html_biblio");
	return (biblio != NULL && ing_html_biblio_shrink(biblio)) ||
	       json_object_del(result, "html_biblio") == 0;
}

void ing_artifact_fill_rows(const struct ing_artifact *a, const struct ing_artifact_type *type,
	struct ing_arena *ar, struct ing_rows *rows)
{
	rows->file_meta = (struct ing_row_file_meta){
		.present = true,
		.sha1hex = a->file.sha1hex,
		.sha256hex = a->file.sha256hex,
		.md5hex = a->file.md5hex,
		.mimetype = a->file.mimetype,
		.size_bytes = a->file.size_bytes,
		.contains = a->file.contains[0] != '\0' ? a->file.contains : NULL,
	};
	if (type->facts != NULL && type->facts->fill_rows != NULL)
		type->facts->fill_rows(a, ar, rows);
}

bool ing_artifact_is_for_grobid(const struct ing_artifact *a, const struct ing_artifact_type *type)
{
	return type->facts == &ing_artifact_pdf_facts &&
	       strcmp(a->file.mimetype, "application/pdf") == 0;
}

void ing_artifact_keep_grobid(
	struct ing_artifact *a, struct ing_grobid_facts *facts, char **text, size_t bytes)
{
	ing_grobid_facts_done(&a->grobid);
	a->grobid = *facts;
	*facts = (struct ing_grobid_facts){0};
	ing_derived_set(&a->derived[ING_DERIVED_GROBID_TEI], ING_TAKE(*text), bytes);
}

size_t ing_artifact_derived_bytes(const struct ing_artifact *a)
{
	size_t bytes = 0;
	for (int i = 0; i < ING_DERIVED_; i++)
		bytes += a->derived[i].bytes;
	return bytes;
}

void ing_artifact_forget_document(struct ing_artifact *a)
{
	ing_pdf_done(&a->pdf);
	ing_xml_found_done(&a->xml);
	ing_grobid_facts_done(&a->grobid);
	ing_text_found_done(&a->text);
	ing_webpage_found_done(&a->webpage);
	for (int i = 0; i < ING_DERIVED_; i++)
		ing_derived_done(&a->derived[i]);
	a->file = (struct ing_file_meta){0};
}

void ing_artifact_done(struct ing_artifact *a)
{
	ing_artifact_forget_document(a);
	keep_link(a, NULL);
	free(a->platform);
	free(a->scope);
	json_decref(a->biblio);
	*a = (struct ing_artifact){0};
}
