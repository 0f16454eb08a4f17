/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * bioRxiv's and medRxiv's details of a preprint (api.biorxiv.org, /details/SERVER/DOI/na/json): all of
 * its versions, of which the last counts. The address of its XML tells that of its PDF.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "worker/document/publication/service_json.h"

#define XML_ENDING ".source.xml"
#define PDF_ENDING ".full.pdf"

static long version_of(const json_t *item)
{
	const json_t *v = json_object_get(item, "version");
	return json_is_string(v) ? strtol(json_string_value(v), NULL, 10)
				 : (long)json_integer_value(v);
}

static const json_t *last_version(const json_t *collection)
{
	const json_t *one = NULL, *best = NULL;
	size_t i;
	json_array_foreach (collection, i, one)
		if (json_is_object(one) && (best == NULL || version_of(one) >= version_of(best)))
			best = one;
	return best;
}

static bool same_name(const char *a, size_t bytes, const char *family)
{
	return family != NULL && bytes > 0 && strlen(family) >= bytes &&
	       strncmp(family + strlen(family) - bytes, a, bytes) == 0;
}

/* "Surname, G.; Other, H." The corresponding one is given by the whole name, "Grace Surname". */
static void read_authors(const json_t *item, struct ing_publication_found *ret)
{
	const char *s = ing_json_get_text(item, "authors");
	const char *corresponding = ing_json_get_text(item, "author_corresponding");
	bool named = false;
	/* One more than there may be is dropped, and said to be. */
	for (unsigned seen = 0; s != NULL && *s != '\0' && seen <= ING_MAX_PUBLICATION_AUTHORS;
		seen++) {
		s += strspn(s, " ;");
		size_t n = strcspn(s, ";"), family = strcspn(s, ",;");
		const char *given = s + family + (family < n);
		given += strspn(given, " ");
		char *last = ing_strndup(s, family);
		char *first = ing_strndup(given, given < s + n ? (size_t)(s + n - given) : 0);
		bool is = !named && same_name(s, family, corresponding);
		ing_service_add_author(ret, is ? corresponding : NULL, first, last, NULL, is);
		named = named || is;
		free(last);
		free(first);
		s += n;
	}
	if (!named)
		ing_service_add_author(ret, corresponding, NULL, NULL, NULL, true);
}

static void read_links(const json_t *item, struct ing_publication_found *ret)
{
	const char *xml = ing_json_get_text(item, "jatsxml");
	size_t n = xml == NULL ? 0 : strlen(xml), ending = sizeof(XML_ENDING) - 1;
	if (n <= ending || strcmp(xml + n - ending, XML_ENDING) != 0)
		return;
	struct ing_buf pdf;
	ing_buf_init(&pdf, n + sizeof(PDF_ENDING));
	ing_buf_printf(&pdf, "%.*s%s", (int)(n - ending), xml, PDF_ENDING);
	ing_service_add_link(ret, xml, ING_PART_TYPE_LINK_BIORXIV);
	ing_service_add_link(ret, ing_buf_str(&pdf), ING_PART_TYPE_PDF_BIORXIV);
	ing_buf_done(&pdf);
}

static void read_item(
	const json_t *item, enum ing_part_type type, struct ing_publication_found *ret)
{
	const char *server = ing_json_get_text(item, "server");
	ing_service_offer_id(ret, ING_PART_DOI, type, ing_json_get_text(item, "doi"));
	ing_service_offer_title(ret, type, ing_json_get_text(item, "title"), NULL);
	ing_service_offer(ret, ING_PART_ABSTRACT, type, ing_json_get_text(item, "abstract"));
	ing_service_set(&ret->journal_title, server);
	ing_service_set_date(ret, ing_json_get_text(item, "date"));
	ing_service_set_licence(ret, ing_json_get_text(item, "license"));
	ret->flags |= ING_PUBLICATION_PREPRINT;
	read_authors(item, ret);
	read_links(item, ret);
}

/* -------------------------------------------------------------------------------------------- */

void ing_publication_read_biorxiv(const struct ing_publication_ask *ask,
	const struct ing_publication_body *body, struct ing_publication_found *ret)
{
	json_t *o = ing_service_parse(body, ret);
	const json_t *collection = json_object_get(o, "collection");
	const json_t *item = last_version(collection);
	const char *doi = ing_json_get_text(item, "doi");
	if (o == NULL)
		return;
	if (!json_is_array(collection))
		ing_publication_fail(ret, "bad-answer", "there is no \"collection\"");
	else if (doi == NULL)
		ing_publication_fail(ret, "no-record", "no posts found");
	else if (ing_service_is_asked(ask, doi, ret))
		read_item(item, ask->type, ret);
	json_decref(o);
}
