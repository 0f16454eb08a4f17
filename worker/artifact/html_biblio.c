/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The table of members that a record may have, with their types.
 */
#include "worker/artifact/html_biblio.h"

#include <string.h>

#include "common/base/macros.h"
#include "worker/model/limits.h"

#define RECORD_DEPTH 4 /* record, contribs, one of them, affiliations */
/* A thousand authors of ten fields, a thousand references. A megabyte of tiny values would keep the
 * loop busy for 130 ms. */
#define RECORD_VALUES 20000u

enum type { TEXT, DATE, NUMBER, TEXTS, PERSONS };

static const struct {
	const char *key;
	enum type type;
} keys[] = {
	{"title", TEXT},
	{"subtitle", TEXT},
	{"doi", TEXT},
	{"pmid", TEXT},
	{"pmcid", TEXT},
	{"abstract", TEXT},
	{"container_name", TEXT},
	{"container_abbrev", TEXT},
	{"container_issn", TEXT},
	{"isbn", TEXT},
	{"isbn13", TEXT},
	{"volume", TEXT},
	{"issue", TEXT},
	{"number", TEXT},
	{"first_page", TEXT},
	{"last_page", TEXT},
	{"publisher", TEXT},
	{"lang", TEXT},
	{"license", TEXT},
	{"contrib_names", TEXTS},
	{"contribs", PERSONS},
	{"raw_references", TEXTS},
	{"raw_identifiers", TEXTS},
	{"keywords", TEXTS},
	{"release_type", TEXT},
	{"release_date", DATE},
	{"release_year", NUMBER},
	{"raw_release_type", TEXT},
	{"raw_date", TEXT},
};

static bool is_text(const json_t *v)
{
	return json_is_string(v) && json_string_length(v) > 0;
}

/* 2021-02-03 */
static bool is_date(const json_t *v)
{
	const char *s = json_string_value(v);
	if (s == NULL || json_string_length(v) != 10 || s[4] != '-' || s[7] != '-')
		return false;
	return strspn(s, "0123456789-") == 10 && strspn(s, "0123456789") == 4 &&
	       strspn(s + 5, "0123456789") == 2 && strspn(s + 8, "0123456789") == 2;
}

static bool are_texts(const json_t *v)
{
	for (size_t i = 0; i < json_array_size(v); i++)
		if (!is_text(json_array_get(v, i)))
			return false;
	return json_array_size(v) > 0;
}

static bool is_person(json_t *v)
{
	static const char *const known[] = {"name", "given_name", "surname", "orcid", "email"};
	const char *key;
	json_t *value;
	if (json_object_size(v) == 0)
		return false;
	json_object_foreach (v, key, value) {
		bool good = strcmp(key, "affiliations") == 0 &&
			    (json_is_null(value) || json_is_array(value)) &&
			    (json_array_size(value) == 0 || are_texts(value));
		for (size_t i = 0; i < ING_ARRAY_LEN(known) && !good; i++)
			good = strcmp(key, known[i]) == 0 &&
			       (json_is_string(value) || json_is_null(value));
		if (!good)
			return false;
	}
	return true;
}

static bool are_persons(const json_t *v)
{
	for (size_t i = 0; i < json_array_size(v); i++)
		if (!is_person(json_array_get(v, i)))
			return false;
	return json_array_size(v) > 0;
}

static bool is_good(const json_t *v, enum type type)
{
	switch (type) {
	case TEXT:
		return is_text(v);
	case DATE:
		return is_date(v);
	case NUMBER:
		return json_is_integer(v);
	case TEXTS:
		return are_texts(v);
	case PERSONS:
		return are_persons(v);
	}
	return false;
}

static json_t *load(const char *json)
{
	static const struct ing_json_limits limits = {
		.depth = RECORD_DEPTH, .values = RECORD_VALUES};
	size_t bytes = json != NULL ? strlen(json) : 0;
	if (bytes > ING_MAX_BIBLIO_BYTES)
		return NULL;
	return bytes > 0 ? ing_json_parse(json, bytes, &limits, NULL) : NULL;
}

/* -------------------------------------------------------------------------------------------- */

json_t *ing_html_biblio_new(const char *json, const char *page_title, bool *ret_own_title)
{
	json_t *record = load(json);
	json_t *biblio = json_object();
	for (size_t i = 0; i < ING_ARRAY_LEN(keys); i++) {
		json_t *v = json_object_get(record, keys[i].key);
		if (is_good(v, keys[i].type))
			json_object_set(biblio, keys[i].key, v);
		else if (i == 0 && page_title != NULL && page_title[0] != '\0')
			ing_json_set_text(biblio, "title", page_title);
	}
	*ret_own_title = is_text(json_object_get(record, "title"));
	json_decref(record);
	if (json_object_get(biblio, "title") == NULL) {
		json_decref(biblio);
		return NULL;
	}
	return biblio;
}

bool ing_html_biblio_shrink(json_t *biblio)
{
	return json_object_del(biblio, "raw_references") == 0 ||
	       json_object_del(biblio, "abstract") == 0;
}
