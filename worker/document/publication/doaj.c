/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * DOAJ's articles that a search for a DOI gives (doaj.org, /api/search/articles/doi:DOI).
 */
#include <string.h>
#include <strings.h>

#include "worker/document/publication/service_json.h"

static const char *identifier(const json_t *bibjson, const char *type)
{
	const json_t *one = NULL;
	size_t i;
	json_array_foreach (json_object_get(bibjson, "identifier"), i, one) {
		const char *t = ing_json_get_text(one, "type");
		if (t != NULL && strcasecmp(t, type) == 0)
			return ing_json_get_text(one, "id");
	}
	return NULL;
}

/* The article with the DOI; else the first. NULL: there is none. */
static const json_t *choose(const json_t *results, const char *doi)
{
	const json_t *one = NULL;
	size_t i;
	json_array_foreach (results, i, one) {
		const json_t *bibjson = json_object_get(one, "bibjson");
		const char *own = identifier(bibjson, "doi");
		if (own != NULL && ing_service_same_doi(own, doi))
			return bibjson;
	}
	return json_object_get(json_array_get(results, 0), "bibjson");
}

static void read_links(const json_t *b, struct ing_publication_found *ret)
{
	const json_t *one = NULL;
	size_t i;
	json_array_foreach (json_object_get(b, "link"), i, one) {
		const char *url = ing_json_get_text(one, "url");
		const char *kind = ing_json_get_text(one, "type");
		const char *content = ing_json_get_text(one, "content_type");
		bool pdf = (content != NULL && strcasestr(content, "pdf") != NULL) ||
			   ing_service_is_pdf_url(url);
		if (kind == NULL || strcasecmp(kind, "fulltext") == 0)
			ing_service_add_link(
				ret, url, pdf ? ING_PART_TYPE_PDF_DOAJ : ING_PART_TYPE_LINK_DOAJ);
	}
}

static void read_article(
	const json_t *b, enum ing_part_type type, struct ing_publication_found *ret)
{
	const json_t *journal = json_object_get(b, "journal"), *author = NULL;
	size_t i;
	ing_service_offer_id(ret, ING_PART_DOI, type, identifier(b, "doi"));
	ing_service_offer_title(ret, type, ing_json_get_text(b, "title"), NULL);
	ing_service_offer_keywords(ret, type, json_object_get(b, "keywords"), NULL);
	ing_service_offer(ret, ING_PART_ABSTRACT, type, ing_json_get_text(b, "abstract"));
	ing_service_set(&ret->journal_title, ing_json_get_text(journal, "title"));
	ing_service_set(&ret->publisher, ing_json_get_text(journal, "publisher"));
	ret->flags |= ING_PUBLICATION_OA;
	read_links(b, ret);
	json_array_foreach (json_object_get(b, "author"), i, author)
		ing_service_add_author(ret, ing_json_get_text(author, "name"), NULL, NULL,
			ing_json_get_text(author, "orcid_id"), false);
}

/* -------------------------------------------------------------------------------------------- */

void ing_publication_read_doaj(const struct ing_publication_ask *ask,
	const struct ing_publication_body *body, struct ing_publication_found *ret)
{
	json_t *o = ing_service_parse(body, ret);
	const json_t *results = json_object_get(o, "results");
	const json_t *article = choose(results, ask->doi);
	if (o == NULL)
		return;
	if (!json_is_array(results))
		ing_publication_fail(ret, "bad-answer", "there are no \"results\"");
	else if (article == NULL)
		ing_publication_fail(ret, "no-record", "no article");
	else if (ing_service_is_asked(ask, identifier(article, "doi"), ret))
		read_article(article, ask->type, ret);
	json_decref(o);
}
