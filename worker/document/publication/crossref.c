/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Crossref's record of a work (api.crossref.org, /works/DOI). Its `subject` is the journal's, and no
 * keyword. Links that publishers give for the comparison of texts only ("similarity-checking") are not
 * followed.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "worker/document/publication/service_json.h"

/* The first of the dates that is known to the day, as text. */
static void read_date(const json_t *m, struct ing_publication_found *ret)
{
	static const char *const keys[] = {
		"published-online", "published-print", "published", "issued", "posted"};
	char best[40] = "";
	for (size_t i = 0; i < ING_ARRAY_LEN(keys); i++) {
		const json_t *parts = json_array_get(
			json_object_get(json_object_get(m, keys[i]), "date-parts"), 0);
		char date[40];
		if (json_array_size(parts) != 3)
			continue;
		json_int_t n[3];
		bool good = true;
		for (size_t j = 0; j < 3; j++) {
			n[j] = json_integer_value(json_array_get(parts, j));
			good = good && n[j] > 0 && n[j] < 10000;
		}
		if (!good)
			continue;
		snprintf(date, sizeof(date), "%04d-%02d-%02d", (int)n[0], (int)n[1], (int)n[2]);
		if (best[0] == '\0' || strcmp(date, best) < 0)
			memcpy(best, date, sizeof(best));
	}
	if (best[0] != '\0')
		ing_service_set_date(ret, best);
}

/* The licence of the published version, if it is in force at once; else the first. */
static void read_licence(const json_t *m, struct ing_publication_found *ret)
{
	const json_t *licences = json_object_get(m, "license"), *one = NULL, *best = NULL;
	size_t i;
	json_array_foreach (licences, i, one) {
		const char *version = ing_json_get_text(one, "content-version");
		bool now = ing_json_get_number(one, "delay-in-days") <= 0;
		if (best == NULL && now && version != NULL && strcmp(version, "tdm") != 0)
			best = one;
	}
	if (best != NULL)
		ing_service_set_licence(ret, ing_json_get_text(best, "URL"));
	else
		ing_service_set(
			&ret->licence, ing_json_get_text(json_array_get(licences, 0), "URL"));
}

/* Publishers' services for the mining of texts, which want a key. */
static bool needs_key(const char *url)
{
	static const char *const hosts[] = {"://api.elsevier.com/", "://api.wiley.com/"};
	for (size_t i = 0; i < ING_ARRAY_LEN(hosts) && url != NULL; i++)
		if (strcasestr(url, hosts[i]) != NULL)
			return true;
	return false;
}

static void read_links(const json_t *m, struct ing_publication_found *ret)
{
	const json_t *one = NULL;
	size_t i;
	json_array_foreach (json_object_get(m, "link"), i, one) {
		const char *url = ing_json_get_text(one, "URL");
		const char *type = ing_json_get_text(one, "content-type");
		const char *use = ing_json_get_text(one, "intended-application");
		if ((use != NULL && strcmp(use, "similarity-checking") == 0) || needs_key(url))
			continue;
		if (type == NULL || strcmp(type, "unspecified") == 0)
			type = ing_service_is_pdf_url(url) ? "application/pdf" : "text/html";
		if (strcasecmp(type, "application/pdf") == 0)
			ing_service_add_link(ret, url, ING_PART_TYPE_PDF_CROSSREF);
		else if (strcasestr(type, "html") != NULL || strcasestr(type, "xml") != NULL)
			ing_service_add_link(ret, url, ING_PART_TYPE_LINK_CROSSREF);
	}
}

static bool is_preprint(const json_t *m)
{
	const char *type = ing_json_get_text(m, "type"), *subtype = ing_json_get_text(m, "subtype");
	return type != NULL && strcmp(type, "posted-content") == 0 &&
	       (subtype == NULL || strcmp(subtype, "preprint") == 0);
}

static void read_message(
	const json_t *m, enum ing_part_type type, struct ing_publication_found *ret)
{
	const json_t *cited = json_object_get(m, "is-referenced-by-count"), *author = NULL;
	size_t i;
	ing_service_offer_id(ret, ING_PART_DOI, type, ing_json_get_text(m, "DOI"));
	ing_service_offer_title(
		ret, type, ing_service_first(m, "title"), ing_service_first(m, "subtitle"));
	ing_service_offer(ret, ING_PART_ABSTRACT, type, ing_json_get_text(m, "abstract"));
	ing_service_set(&ret->journal_title, ing_service_first(m, "container-title"));
	ing_service_set(&ret->publisher, ing_json_get_text(m, "publisher"));
	read_date(m, ret);
	read_licence(m, ret);
	read_links(m, ret);
	if (json_is_integer(cited) && json_integer_value(cited) >= 0)
		ret->citations = json_integer_value(cited);
	if (is_preprint(m))
		ret->flags |= ING_PUBLICATION_PREPRINT;
	json_array_foreach (json_object_get(m, "author"), i, author)
		ing_service_add_author(ret, ing_json_get_text(author, "name"),
			ing_json_get_text(author, "given"), ing_json_get_text(author, "family"),
			ing_json_get_text(author, "ORCID"), false);
}

/* -------------------------------------------------------------------------------------------- */

void ing_publication_read_crossref(const struct ing_publication_ask *ask,
	const struct ing_publication_body *body, struct ing_publication_found *ret)
{
	json_t *o = ing_service_parse(body, ret);
	const json_t *message = json_object_get(o, "message");
	const char *doi = ing_json_get_text(message, "DOI");
	if (o == NULL)
		return;
	if (doi == NULL)
		ing_publication_fail(ret, "bad-answer", "there is no \"message\" with a \"DOI\"");
	else if (ing_service_is_asked(ask, doi, ret))
		read_message(message, ask->type, ret);
	json_decref(o);
}
