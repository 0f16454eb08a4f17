/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Unpaywall's record of a DOI (api.unpaywall.org, v2): whether a work is open access, and where its
 * copies are. Of a DOI that it does not know it has an object with `error`.
 */
#include <string.h>

#include "worker/document/publication/service_json.h"

/* A copy is named by up to three addresses; that of its page and `url` may be the PDF's, too. */
static void add_location(const json_t *location, struct ing_publication_found *ret)
{
	static const char *const pages[] = {"url", "url_for_landing_page"};
	const char *pdf = ing_json_get_text(location, "url_for_pdf");
	const char *before = NULL;
	for (size_t i = 0; i < ING_ARRAY_LEN(pages); i++) {
		const char *url = ing_json_get_text(location, pages[i]);
		if (url == NULL || (pdf != NULL && strcmp(url, pdf) == 0) ||
			(before != NULL && strcmp(url, before) == 0))
			continue;
		ing_service_add_link(ret, url, ING_PART_TYPE_LINK_OADOI);
		before = url;
	}
	ing_service_add_link(ret, pdf, ING_PART_TYPE_PDF_OADOI);
}

static void read_record(const json_t *o, enum ing_part_type type, struct ing_publication_found *ret)
{
	const json_t *open = json_object_get(o, "is_oa");
	const char *journal = ing_json_get_text(o, "journal_name");
	const char *date = ing_json_get_text(o, "published_date");
	const json_t *location = NULL, *author = NULL;
	size_t i;
	if (json_is_boolean(open))
		ret->flags |= json_is_true(open) ? ING_PUBLICATION_OA : ING_PUBLICATION_NOT_OA;
	ing_service_offer_title(ret, type, ing_json_get_text(o, "title"), NULL);
	if (journal != NULL && strcmp(journal, "null") != 0)
		ing_service_set(&ret->journal_title, journal);
	ing_service_set(&ret->publisher, ing_json_get_text(o, "publisher"));
	if (!ing_service_is_year_only(date))
		ing_service_set_date(ret, date);
	ing_service_set(&ret->licence,
		ing_json_get_text(json_object_get(o, "best_oa_location"), "license"));
	json_array_foreach (json_object_get(o, "oa_locations"), i, location)
		add_location(location, ret);
	json_array_foreach (json_object_get(o, "z_authors"), i, author)
		ing_service_add_author(ret, ing_json_get_text(author, "raw_author_name"),
			ing_json_get_text(author, "given"), ing_json_get_text(author, "family"),
			ing_json_get_text(author, "ORCID"),
			ing_json_get_true(author, "is_corresponding"));
}

/* -------------------------------------------------------------------------------------------- */

void ing_publication_read_unpaywall(const struct ing_publication_ask *ask,
	const struct ing_publication_body *body, struct ing_publication_found *ret)
{
	json_t *o = ing_service_parse(body, ret);
	const char *doi = ing_json_get_text(o, "doi");
	if (o == NULL)
		return;
	if (json_is_true(json_object_get(o, "error")))
		ing_publication_fail(ret, "no-record", "%.300s",
			ing_json_get_text(o, "message") != NULL ? ing_json_get_text(o, "message")
								: "error");
	else if (doi == NULL)
		ing_publication_fail(ret, "bad-answer", "the record has no \"doi\"");
	else if (ing_service_is_asked(ask, doi, ret))
		read_record(o, ask->type, ret);
	json_decref(o);
}
