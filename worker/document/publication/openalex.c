/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * OpenAlex's record of a work (api.openalex.org, /works/doi:DOI). Its abstract is a list of words with
 * their places; its keywords are a program's guess and left out.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "worker/document/publication/service_json.h"

#define MAX_PLACES 20000u /* words of an abstract; long ones have 1,000 */
#define MAX_MESH 1000u

/* The words in their order. */
static void read_abstract(
	const json_t *index, enum ing_part_type type, struct ing_publication_found *ret)
{
	const char **words = ing_alloc(MAX_PLACES * sizeof(*words));
	const char *word = NULL;
	const json_t *places = NULL, *place = NULL;
	size_t i, count = 0;
	struct ing_buf text;
	json_object_foreach ((json_t *)(uintptr_t)index, word, places)
		json_array_foreach (places, i, place) {
			json_int_t at = json_integer_value(place);
			if (!json_is_integer(place) || at < 0 || at >= (json_int_t)MAX_PLACES)
				continue;
			words[at] = word;
			count = ING_MAX(count, (size_t)at + 1);
		}
	ing_buf_init(&text, ING_MAX_PUBLICATION_TEXT_BYTES);
	for (i = 0; i < count; i++)
		if (words[i] != NULL)
			ing_buf_printf(&text, "%s%s", text.len > 0 ? " " : "", words[i]);
	ing_service_offer(ret, ING_PART_ABSTRACT, type, ing_buf_str(&text));
	ing_buf_done(&text);
	free(words);
}

/* A term stands there once for each of its qualifiers; it is a major topic itself only without one. */
static void read_mesh(
	const json_t *list, enum ing_part_type type, struct ing_publication_found *ret)
{
	size_t room = ING_MIN(json_array_size(list), (size_t)MAX_MESH);
	if (room == 0)
		return;
	struct ing_publication_term *terms = ing_alloc(room * sizeof(*terms));
	uint32_t count = 0;
	for (size_t i = 0; i < room; i++) {
		const json_t *one = json_array_get(list, i);
		char *term = ing_service_plain(ing_json_get_text(one, "descriptor_name"));
		const char *qualifier = ing_json_get_text(one, "qualifier_ui");
		bool major = ing_json_get_true(one, "is_major_topic") &&
			     (qualifier == NULL || *qualifier == '\0');
		uint32_t j = 0;
		while (term != NULL && j < count && strcmp(terms[j].term, term) != 0)
			j++;
		if (term != NULL && j == count)
			terms[count++] = (struct ing_publication_term){.term = ING_TAKE(term),
				.uri = ing_service_plain(ing_json_get_text(one, "descriptor_ui"))};
		if (count > 0 && j < count)
			terms[j].major = terms[j].major || major;
		free(term);
	}
	ing_publication_offer_list(ret, ING_PART_MESH, type, terms, count);
}

static void add_author(const json_t *authorship, struct ing_publication_found *ret)
{
	const json_t *author = json_object_get(authorship, "author");
	const char *raw = ing_json_get_text(authorship, "raw_author_name");
	ing_service_add_author(ret, raw != NULL ? raw : ing_json_get_text(author, "display_name"),
		NULL, NULL, ing_json_get_text(author, "orcid"),
		ing_json_get_true(authorship, "is_corresponding"));
}

/* "W1" of "https://openalex.org/W1". */
static const char *short_id(const char *id)
{
	const char *slash = id != NULL ? strrchr(id, '/') : NULL;
	return slash != NULL ? slash + 1 : id;
}

static void read_work(const json_t *o, enum ing_part_type type, struct ing_publication_found *ret)
{
	const json_t *ids = json_object_get(o, "ids");
	const json_t *place = json_object_get(o, "primary_location");
	const json_t *source = json_object_get(place, "source");
	const json_t *open = json_object_get(json_object_get(o, "open_access"), "is_oa");
	const json_t *cited = json_object_get(o, "cited_by_count"), *authorship = NULL;
	const char *kind = ing_json_get_text(o, "type"), *title = ing_json_get_text(o, "title");
	const char *date = ing_json_get_text(o, "publication_date");
	size_t i;
	ing_service_set(&ret->openalex_id, short_id(ing_json_get_text(o, "id")));
	ing_service_offer_id(ret, ING_PART_PMID, type, ing_json_get_text(ids, "pmid"));
	ing_service_offer_id(ret, ING_PART_PMCID, type, ing_json_get_text(ids, "pmcid"));
	ing_service_offer_id(ret, ING_PART_DOI, type, ing_json_get_text(o, "doi"));
	ing_service_offer_title(
		ret, type, title != NULL ? title : ing_json_get_text(o, "display_name"), NULL);
	read_mesh(json_object_get(o, "mesh"), type, ret);
	read_abstract(json_object_get(o, "abstract_inverted_index"), type, ret);
	ing_service_set(&ret->journal_title, ing_json_get_text(source, "display_name"));
	ing_service_set(&ret->publisher, ing_json_get_text(source, "host_organization_name"));
	ing_service_set(&ret->licence, ing_json_get_text(place, "license"));
	if (!ing_service_is_year_only(date))
		ing_service_set_date(ret, date);
	if (json_is_boolean(open))
		ret->flags |= json_is_true(open) ? ING_PUBLICATION_OA : ING_PUBLICATION_NOT_OA;
	if (kind != NULL && strcmp(kind, "preprint") == 0)
		ret->flags |= ING_PUBLICATION_PREPRINT;
	if (json_is_integer(cited) && json_integer_value(cited) >= 0)
		ret->citations = json_integer_value(cited);
	json_array_foreach (json_object_get(o, "authorships"), i, authorship)
		add_author(authorship, ret);
}

/* -------------------------------------------------------------------------------------------- */

void ing_publication_read_openalex(const struct ing_publication_ask *ask,
	const struct ing_publication_body *body, struct ing_publication_found *ret)
{
	json_t *o = ing_service_parse(body, ret);
	const char *error = ing_json_get_text(o, "error");
	if (o == NULL)
		return;
	if (error != NULL)
		ing_publication_fail(ret, "no-record", "%.300s", error);
	else if (ing_json_get_text(o, "id") == NULL)
		ing_publication_fail(ret, "bad-answer", "the work has no \"id\"");
	else if (ing_service_is_asked(ask, ing_json_get_text(o, "doi"), ret))
		read_work(o, ask->type, ret);
	json_decref(o);
}
