/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * DataCite's record of a DOI (api.datacite.org, /dois/DOI). `url` is where the DOI leads anyway, and is
 * no link here; `contentUrl` is.
 */
#include <string.h>
#include <strings.h>

#include "common/base/buf.h"
#include "worker/document/publication/service_json.h"

static bool is_kind(const json_t *o, const char *key, const char *value)
{
	const char *s = ing_json_get_text(o, key);
	return s != NULL && strcasecmp(s, value) == 0;
}

static void read_titles(const json_t *a, enum ing_part_type type, struct ing_publication_found *ret)
{
	const json_t *one = NULL, *title = NULL, *subtitle = NULL;
	size_t i;
	json_array_foreach (json_object_get(a, "titles"), i, one) {
		if (is_kind(one, "titleType", "Subtitle"))
			subtitle = subtitle != NULL ? subtitle : one;
		else if (!json_is_string(json_object_get(one, "titleType")))
			title = title != NULL ? title : one;
	}
	ing_service_offer_title(
		ret, type, ing_json_get_text(title, "title"), ing_json_get_text(subtitle, "title"));
}

static void read_abstract(
	const json_t *a, enum ing_part_type type, struct ing_publication_found *ret)
{
	const json_t *one = NULL;
	struct ing_buf all;
	size_t i;
	ing_buf_init(&all, ING_MAX_PUBLICATION_TEXT_BYTES);
	json_array_foreach (json_object_get(a, "descriptions"), i, one) {
		char *plain = is_kind(one, "descriptionType", "Abstract")
				      ? ing_service_plain(ing_json_get_text(one, "description"))
				      : NULL;
		if (plain != NULL)
			ing_buf_printf(&all, "%s%s", all.len > 0 ? "\n\n" : "", plain);
		ing_freep(&plain);
	}
	ing_publication_offer_text(ret, ING_PART_ABSTRACT, type, ing_buf_str(&all), all.len);
	ing_buf_done(&all);
}

/* A person, "Surname, Given"; an organisation has no givenName. */
static void add_creator(const json_t *creator, struct ing_publication_found *ret)
{
	const char *given = ing_json_get_text(creator, "givenName");
	const char *family = ing_json_get_text(creator, "familyName");
	const char *orcid = NULL;
	const json_t *id = NULL;
	size_t i;
	json_array_foreach (json_object_get(creator, "nameIdentifiers"), i, id)
		if (is_kind(id, "nameIdentifierScheme", "ORCID"))
			orcid = ing_json_get_text(id, "nameIdentifier");
	ing_service_add_author(ret,
		given != NULL && family != NULL ? NULL : ing_json_get_text(creator, "name"), given,
		family, orcid, false);
}

static void read_rights(const json_t *a, struct ing_publication_found *ret)
{
	const json_t *rights = json_array_get(json_object_get(a, "rightsList"), 0);
	const char *uri = ing_json_get_text(rights, "rightsUri");
	const char *words = ing_json_get_text(rights, "rightsIdentifier");
	ing_service_set_licence(ret, uri != NULL     ? uri
				     : words != NULL ? words
						     : ing_json_get_text(rights, "rights"));
}

static void read_links(const json_t *a, struct ing_publication_found *ret)
{
	const json_t *urls = json_object_get(a, "contentUrl");
	size_t count = json_is_string(urls) ? 1 : json_array_size(urls);
	for (size_t i = 0; i < count; i++) {
		const char *url =
			json_string_value(json_is_string(urls) ? urls : json_array_get(urls, i));
		ing_service_add_link(ret, url,
			ing_service_is_pdf_url(url) ? ING_PART_TYPE_PDF_DATACITE
						    : ING_PART_TYPE_LINK_DATACITE);
	}
}

static void read_date(const json_t *a, struct ing_publication_found *ret)
{
	static const char *const kinds[] = {"Issued", "Available", "Submitted"};
	for (size_t k = 0; k < ING_ARRAY_LEN(kinds); k++) {
		const json_t *one = NULL;
		size_t i;
		json_array_foreach (json_object_get(a, "dates"), i, one)
			if (is_kind(one, "dateType", kinds[k]))
				ing_service_set_date(ret, ing_json_get_text(one, "date"));
	}
}

static void read_attributes(
	const json_t *a, enum ing_part_type type, struct ing_publication_found *ret)
{
	const json_t *publisher = json_object_get(a, "publisher"), *creator = NULL;
	const json_t *cited = json_object_get(a, "citationCount");
	size_t i;
	ing_service_offer_id(ret, ING_PART_DOI, type, ing_json_get_text(a, "doi"));
	read_titles(a, type, ret);
	ing_service_offer_keywords(ret, type, json_object_get(a, "subjects"), "subject");
	read_abstract(a, type, ret);
	ing_service_set(
		&ret->journal_title, ing_json_get_text(json_object_get(a, "container"), "title"));
	ing_service_set(&ret->publisher, json_is_string(publisher)
						 ? json_string_value(publisher)
						 : ing_json_get_text(publisher, "name"));
	read_date(a, ret);
	read_rights(a, ret);
	read_links(a, ret);
	if (json_is_integer(cited) && json_integer_value(cited) >= 0)
		ret->citations = json_integer_value(cited);
	if (is_kind(json_object_get(a, "types"), "resourceTypeGeneral", "Preprint"))
		ret->flags |= ING_PUBLICATION_PREPRINT;
	json_array_foreach (json_object_get(a, "creators"), i, creator)
		add_creator(creator, ret);
}

/* -------------------------------------------------------------------------------------------- */

void ing_publication_read_datacite(const struct ing_publication_ask *ask,
	const struct ing_publication_body *body, struct ing_publication_found *ret)
{
	json_t *o = ing_service_parse(body, ret);
	const json_t *a = json_object_get(json_object_get(o, "data"), "attributes");
	const json_t *error = json_array_get(json_object_get(o, "errors"), 0);
	const char *doi = ing_json_get_text(a, "doi");
	if (o == NULL)
		return;
	if (error != NULL && doi == NULL)
		ing_publication_fail(ret, "no-record", "%.300s",
			ing_json_get_text(error, "title") != NULL
				? ing_json_get_text(error, "title")
				: "error");
	else if (doi == NULL)
		ing_publication_fail(
			ret, "bad-answer", "there are no \"attributes\" with a \"doi\"");
	else if (ing_service_is_asked(ask, doi, ret))
		read_attributes(a, ask->type, ret);
	json_decref(o);
}
