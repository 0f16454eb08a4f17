/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Members by their order there.
 */
#include "worker/ctl/publication/pubfetcher_json.h"

#include <string.h>

#include "common/base/buf.h"
#include "worker/model/part_type.h"
#include "worker/publication/identifiers.h"
#include "worker/publication/kept.h"

#define NO_DAY "1969-12-31"
#define NO_TIME "1969-12-31T23:59:59.999Z"

static const char *const author_members[] = {"name", "orcid", "email", "phone", "uri"};
static const char *const part_members[] = {
	"type", "url", "timestamp", "timestampHuman", "size", "empty", "usable", "final"};
static const char *const states[] = {"empty", "usable", "final", "totallyFinal"};

static bool is_null(const json_t *value)
{
	return value == NULL || json_is_null(value);
}

static const char *text_of(const json_t *o, const char *key)
{
	const char *s = ing_json_get_text(o, key);
	return s != NULL ? s : "";
}

/* --- there --- */

static void copy_text(json_t *to, const json_t *from, const char *key)
{
	ing_json_set_text(to, key, text_of(from, key));
}

static void copy_truth(json_t *to, const json_t *from, const char *key)
{
	ing_json_set_bool(to, key, ing_json_get_true(from, key));
}

static void copy_number(json_t *to, const json_t *from, const char *key, int64_t none)
{
	const json_t *value = json_object_get(from, key);
	ing_json_set_number(to, key, json_is_integer(value) ? json_integer_value(value) : none);
}

static void copy_text_or(json_t *to, const json_t *from, const char *key, const char *none)
{
	const char *s = ing_json_get_text(from, key);
	ing_json_set_text(to, key, s != NULL ? s : none);
}

static json_t *no_part(const json_t *record)
{
	json_t *o = json_object();
	ing_json_set_text(o, "type", ing_part_type_name(ING_PART_TYPE_NA));
	ing_json_set_text(o, "url", "");
	copy_number(o, record, "fetchTime", 0);
	ing_json_set(o, "timestamp", ing_json_ref(json_object_get(o, "fetchTime")));
	json_object_del(o, "fetchTime");
	copy_text(o, record, "fetchTimeHuman");
	ing_json_set(o, "timestampHuman", ing_json_ref(json_object_get(o, "fetchTimeHuman")));
	json_object_del(o, "fetchTimeHuman");
	ing_json_set_number(o, "size", 0);
	ing_json_set_bool(o, "empty", true);
	ing_json_set_bool(o, "usable", false);
	ing_json_set_bool(o, "final", false);
	return o;
}

static json_t *list_there(enum ing_part_key key, const json_t *list)
{
	size_t i;
	json_t *term;
	json_t *there = json_array();
	json_array_foreach (list, i, term) {
		json_t *o = NULL;
		if (key == ING_PART_KEYWORDS) {
			o = ing_json_ref(term);
		} else if (key == ING_PART_MESH) {
			o = json_object();
			copy_text(o, term, "term");
			copy_truth(o, term, "majorTopic");
			copy_text(o, term, "uniqueId");
		} else {
			o = json_object();
			copy_text(o, term, "term");
			copy_number(o, term, "count", 1);
			copy_text(o, term, "uri");
		}
		ing_json_append(there, o);
	}
	return there;
}

static json_t *part_there(const json_t *record, enum ing_part_key key)
{
	const json_t *part = json_object_get(record, ing_part_name(key));
	json_t *none = is_null(part) ? no_part(record) : NULL;
	const json_t *from = none != NULL ? none : part;
	json_t *o = json_object();
	if (ing_part_is_list(key))
		ing_json_set(o, "list", list_there(key, json_object_get(part, "list")));
	else
		copy_text(o, part, "content");
	for (size_t i = 0; i < ING_ARRAY_LEN(part_members); i++) {
		const json_t *value = json_object_get(from, part_members[i]);
		ing_json_set(
			o, part_members[i], is_null(value) ? json_string("") : ing_json_ref(value));
	}
	json_decref(none);
	return o;
}

static json_t *people_there(const json_t *people)
{
	size_t i;
	json_t *who;
	json_t *there = json_array();
	json_array_foreach (people, i, who) {
		json_t *o = json_object();
		for (size_t k = 0; k < ING_ARRAY_LEN(author_members); k++)
			copy_text(o, who, author_members[k]);
		ing_json_append(there, o);
	}
	return there;
}

static void add_fetch(json_t *to, const json_t *from)
{
	copy_number(to, from, "fetchTime", 0);
	copy_text_or(to, from, "fetchTimeHuman", "1970-01-01T00:00:00Z");
	copy_number(to, from, "retryCounter", 0);
	copy_truth(to, from, "fetchException");
}

/* --- and back --- */

static json_t *text_or_null(const json_t *o, const char *key)
{
	const char *s = text_of(o, key);
	return s[0] != '\0' ? ing_json_text(s) : NULL;
}

static json_t *true_or_null(const json_t *o, const char *key)
{
	return ing_json_get_true(o, key) ? json_true() : NULL;
}

/* NULL: it is no identifier. */
static json_t *id_back(const json_t *part, enum ing_part_key key)
{
	struct ing_buf normal;
	const char *s = text_of(part, "content");
	json_t *id = NULL;
	ing_buf_init(&normal, ING_MAX_PUBLICATION_ID_BYTES);
	if (ing_identifier_normal(key, s, strlen(s), &normal))
		id = ing_json_text(ing_buf_str(&normal));
	ing_buf_done(&normal);
	return id;
}

static json_t *part_back(const json_t *o, enum ing_part_key key)
{
	const json_t *part = json_object_get(o, ing_part_name(key));
	json_t *what = NULL;
	if (ing_json_get_number(part, "size") <= 0)
		return NULL;
	if (key <= ING_PART_DOI)
		what = id_back(part, key);
	else if (ing_part_is_list(key))
		what = ing_json_ref(json_object_get(part, "list"));
	else
		what = text_or_null(part, "content");
	if (what == NULL)
		return NULL;
	json_t *back = json_object();
	ing_json_set(back, ing_part_is_list(key) ? "list" : "content", what);
	for (size_t i = 0; i < ING_ARRAY_LEN(part_members); i++)
		ing_json_set(back, part_members[i],
			ing_json_ref(json_object_get(part, part_members[i])));
	if (text_of(part, "url")[0] == '\0')
		ing_json_set(back, "url", NULL);
	return back;
}

static json_t *people_back(const json_t *people)
{
	size_t i;
	json_t *who;
	json_t *back = json_array();
	json_array_foreach (people, i, who) {
		json_t *o = json_object();
		for (size_t k = 0; k < ING_ARRAY_LEN(author_members); k++)
			ing_json_set(o, author_members[k], text_or_null(who, author_members[k]));
		ing_json_append(back, o);
	}
	if (json_array_size(back) > 0)
		return back;
	json_decref(back);
	return NULL;
}

static void add_fetch_back(json_t *to, const json_t *o, int64_t now_ms)
{
	int64_t time = ing_json_get_number(o, "fetchTime");
	ing_json_set_number(to, "fetchTime", ING_MIN(ING_MAX(time, 0), now_ms));
	ing_json_set_number(to, "retryCounter", ing_json_get_number(o, "retryCounter"));
	ing_json_set_bool(to, "fetchException", ing_json_get_true(o, "fetchException"));
}

static void add_date_back(json_t *to, const json_t *o)
{
	int64_t ms = ing_json_get_number(o, "pubDate");
	bool is_known = json_is_integer(json_object_get(o, "pubDate")) && ms != -1;
	json_t *day = is_known ? text_or_null(o, "pubDateHuman") : NULL;
	ing_json_set(to, "pub_date", ing_json_ref(day));
	ing_json_set(to, "pubDateHuman", day);
	ing_json_set(to, "pubDate", is_known ? json_integer(ms) : NULL);
}

static void add_citations_back(json_t *to, const json_t *o)
{
	static const char *const keys[] = {
		"citationsCount", "citationsTimestamp", "citationsTimestampHuman"};
	bool is_known = json_is_integer(json_object_get(o, keys[0])) &&
			ing_json_get_number(o, keys[0]) >= 0;
	for (size_t i = 0; i < ING_ARRAY_LEN(keys); i++)
		ing_json_set(
			to, keys[i], is_known ? ing_json_ref(json_object_get(o, keys[i])) : NULL);
}

/* -------------------------------------------------------------------------------------------- */

json_t *ing_pubfetcher_publication(const json_t *record)
{
	json_t *o = json_object();
	const json_t *sites = json_object_get(record, "visitedSites");
	add_fetch(o, record);
	copy_truth(o, record, "oa");
	copy_truth(o, record, "preprint");
	copy_text(o, record, "journalTitle");
	copy_number(o, record, "pubDate", -1);
	copy_text_or(o, record, "pubDateHuman", NO_DAY);
	copy_number(o, record, "citationsCount", -1);
	copy_number(o, record, "citationsTimestamp", -1);
	copy_text_or(o, record, "citationsTimestampHuman", NO_TIME);
	ing_json_set(o, "correspAuthor", people_there(json_object_get(record, "corresp_author")));
	ing_json_set(o, "visitedSites", is_null(sites) ? json_array() : ing_json_ref(sites));
	for (size_t i = 0; i < ING_ARRAY_LEN(states); i++)
		copy_truth(o, record, states[i]);
	for (unsigned k = 0; k < ING_PARTS_; k++)
		ing_json_set(o, ing_part_name((enum ing_part_key)k),
			part_there(record, (enum ing_part_key)k));
	return o;
}

json_t *ing_pubfetcher_webpage(const json_t *record)
{
	static const char *const texts[] = {"startUrl", "finalUrl", "contentType"};
	json_t *o = json_object();
	add_fetch(o, record);
	for (size_t i = 0; i < ING_ARRAY_LEN(texts); i++)
		copy_text(o, record, texts[i]);
	copy_number(o, record, "statusCode", 0);
	copy_number(o, record, "contentTime", ing_json_get_number(record, "fetchTime"));
	copy_text_or(o, record, "contentTimeHuman", text_of(record, "fetchTimeHuman"));
	copy_text(o, record, "license");
	copy_text(o, record, "language");
	copy_number(o, record, "titleLength", 0);
	copy_number(o, record, "contentLength", 0);
	copy_text(o, record, "title");
	for (size_t i = 0; i < 3; i++)
		copy_truth(o, record, states[i]);
	copy_truth(o, record, "broken");
	copy_text(o, record, "content");
	return o;
}

json_t *ing_publication_of_pubfetcher(const json_t *o, int64_t now_ms)
{
	json_t *record = json_object();
	for (unsigned k = 0; k < ING_PARTS_; k++)
		ing_json_set(record, ing_part_name((enum ing_part_key)k),
			part_back(o, (enum ing_part_key)k));
	add_fetch_back(record, o, now_ms);
	add_date_back(record, o);
	add_citations_back(record, o);
	json_t *people = people_back(json_object_get(o, "correspAuthor"));
	ing_json_set(record, "corresp_author", ing_json_ref(people));
	ing_json_set(record, "correspAuthor", people);
	ing_json_set(record, "journal_title", text_or_null(o, "journalTitle"));
	ing_json_set(record, "journalTitle", text_or_null(o, "journalTitle"));
	ing_json_set(record, "oa", true_or_null(o, "oa"));
	ing_json_set(record, "preprint", true_or_null(o, "preprint"));
	ing_json_set(record, "visitedSites", ing_json_ref(json_object_get(o, "visitedSites")));
	json_t *settled = ing_publication_settled(record);
	json_decref(record);
	return settled;
}

json_t *ing_webpage_of_pubfetcher(const json_t *o, int64_t now_ms)
{
	static const char *const texts[] = {"startUrl", "finalUrl", "contentType",
		"contentTimeHuman", "license", "language", "title", "content"};
	static const char *const numbers[] = {"statusCode", "contentTime"};
	json_t *record = json_object();
	for (size_t i = 0; i < ING_ARRAY_LEN(texts); i++)
		ing_json_set(record, texts[i], text_or_null(o, texts[i]));
	for (size_t i = 0; i < ING_ARRAY_LEN(numbers); i++)
		ing_json_set(record, numbers[i], ing_json_ref(json_object_get(o, numbers[i])));
	add_fetch_back(record, o, now_ms);
	json_t *settled = ing_webpage_settled(record);
	json_decref(record);
	return settled;
}
