/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is compared of a request's end: what the request says of the work, else the record of the landing
 * page, with the document.
 */
#include "worker/artifact/match.h"

#include <stdlib.h>
#include <string.h>

#include "worker/artifact/artifact.h"
#include "worker/artifact/findings_json.h"
#include "worker/publication/match.h"

static const char *text_of(const json_t *o, const char *key)
{
	const char *s = ing_json_get_text(o, key);
	return s != NULL && *s != '\0' ? s : NULL;
}

/* Pages of a printed article, or 0. */
static int count_pages(const json_t *record)
{
	const char *first = text_of(record, "first_page"), *last = text_of(record, "last_page");
	if (first == NULL || last == NULL)
		return 0;
	char *first_end, *last_end;
	long from = strtol(first, &first_end, 10), to = strtol(last, &last_end, 10);
	bool good = *first_end == '\0' && *last_end == '\0' && from > 0 && to >= from &&
		    to - from < 2000;
	return good ? (int)(to - from) + 1 : 0;
}

/* What the request says. */
static struct ing_match_work of_request(const json_t *request)
{
	const json_t *ids = json_object_get(request, "ext_ids");
	const json_t *authors = json_object_get(request, "authors");
	return (struct ing_match_work){.doi = text_of(ids, "doi"),
		.arxiv = text_of(ids, "arxiv"),
		.pmcid = text_of(ids, "pmcid"),
		.title = text_of(request, "title"),
		.authors = json_is_array(authors) ? authors : NULL};
}

/* What it does not say, by the page that led to the document. */
static void fill_from_page(struct ing_match_work *w, const json_t *record)
{
	if (w->doi == NULL)
		w->doi = text_of(record, "doi");
	if (w->title == NULL)
		w->title = text_of(record, "title");
	if (w->authors == NULL)
		w->authors = json_object_get(record, "contrib_names");
	w->page_count = count_pages(record);
}

static void set_text(struct ing_match_document *d, const struct ing_derived *text, bool is_markup)
{
	d->text = text->data;
	d->text_bytes = text->bytes;
	d->is_markup = is_markup;
}

/* The Info dictionary's names for a DOI. */
static const char *info_doi(const json_t *info)
{
	static const char *const names[] = {"doi", "DOI", "WPS-ARTICLEDOI"};
	for (size_t i = 0; i < ING_ARRAY_LEN(names); i++)
		if (text_of(info, names[i]) != NULL)
			return text_of(info, names[i]);
	return NULL;
}

/* -------------------------------------------------------------------------------------------- */

json_t *ing_artifact_match_json(const struct ing_artifact *a, const json_t *request)
{
	struct ing_match_work work = of_request(request);
	struct ing_match_document d = {0};
	json_t *info = NULL;
	bool is_page = a->text.status != NULL;
	if (is_page) {
		set_text(&d, &a->derived[ING_DERIVED_HTML_TEI], true);
		d.doi = text_of(a->biblio, "doi");
		d.title = text_of(a->biblio, "title");
	} else if (a->pdf.status != NULL) {
		set_text(&d, &a->derived[ING_DERIVED_PDF_TEXT], false);
		info = ing_pdf_info_json(&a->pdf);
		d.doi = info_doi(info);
		d.title = text_of(info, "Title");
		d.page_count = a->pdf.page_count;
	} else if (a->xml.status != NULL) {
		set_text(&d, &a->derived[ING_DERIVED_JATS], true);
	} else {
		return NULL;
	}
	struct ing_match *m = ing_match_new();
	if (!is_page && a->biblio != NULL) {
		ing_match_page(m, &work, a->biblio);
		fill_from_page(&work, a->biblio);
	}
	ing_match_document(m, &work, &d);
	json_t *match = ing_match_json(m);
	ing_match_free(m);
	json_decref(info);
	return match;
}
