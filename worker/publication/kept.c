/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Identifiers decide what is one publication; types and sizes of parts decide what stays.
 */
#include "worker/publication/kept.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/utf8.h"
#include "worker/model/part_type.h"
#include "worker/publication/identifiers.h"

/* Of an identifier: it is a key of an index. */
#define MAX_ID_BYTES 1000
/* Of the title and content of a web page together, to be usable. */
#define MIN_WEBPAGE_CHARS 50
/* Of a publication: those of the newest fetches. Addresses may have a session in them, and be new each time. */
#define MAX_SITES 64u
#define MAX_TIME_MS INT64_C(253402300799999) /* the year 9999 */

enum member {
	PART,    /* the better one */
	LIST,    /* the fresh one if it has any */
	FIELD,   /* the fresh one unless it is null */
	SITES,   /* both, each once */
	MATCH,   /* that of the record whose full text it is */
	SOURCES, /* of the fields: of each that of the record whose field it is */
	COUNTER,
	FLAG,
};

/* In this order in every record. */
static const struct {
	const char *name;
	enum member kind;
} members[] = {{"pmid", PART}, {"pmcid", PART}, {"doi", PART}, {"title", PART}, {"keywords", PART},
	{"mesh", PART}, {"efo", PART}, {"go", PART}, {"abstract", PART}, {"fulltext", PART},
	{"corresp_author", LIST}, {"journal_title", FIELD}, {"pub_date", FIELD}, {"oa", FIELD},
	{"preprint", FIELD}, {"authors", LIST}, {"licence", FIELD}, {"publisher", FIELD},
	{"openalex_id", FIELD}, {"correspAuthor", LIST}, {"journalTitle", FIELD},
	{"pubDate", FIELD}, {"pubDateHuman", FIELD}, {"citationsCount", FIELD},
	{"citationsTimestamp", FIELD}, {"citationsTimestampHuman", FIELD}, {"visitedSites", SITES},
	{"fetchTime", COUNTER}, {"fetchTimeHuman", COUNTER}, {"retryCounter", COUNTER},
	{"fetchException", COUNTER}, {"empty", FLAG}, {"usable", FLAG}, {"final", FLAG},
	{"totallyFinal", FLAG}, {"fields", SOURCES}, {"match", MATCH}, {"resources", LIST}};

static const char *const webpage_members[] = {"startUrl", "finalUrl", "contentType", "statusCode",
	"contentTime", "contentTimeHuman", "license", "language", "titleLength", "contentLength",
	"title", "content", "fetchTime", "fetchTimeHuman", "retryCounter", "fetchException",
	"empty", "usable", "final", "broken"};

static const char *const ids[] = {"pmid", "pmcid", "doi"};

/* --- parts --- */

static enum ing_part_type type_of(const json_t *part)
{
	const char *name = ing_json_get_text(part, "type");
	enum ing_part_type type = name != NULL ? ing_part_type_of_name(name) : ING_PART_TYPE_NA;
	return type != ING_PART_TYPES_ ? type : ING_PART_TYPE_NA;
}

static int64_t size_of(const json_t *part)
{
	int64_t size = ing_json_get_number(part, "size");
	return json_is_object(part) && size > 0 ? size : 0;
}

static bool is_usable(enum ing_part_key key, const json_t *part)
{
	int64_t size = size_of(part);
	return size > 0 && ing_part_size_usable(key, type_of(part), (unsigned long)size);
}

static bool is_final(enum ing_part_key key, const json_t *part)
{
	return ing_part_type_final(type_of(part)) && is_usable(key, part);
}

/* Whether the fresh part takes the place of the kept one. */
static bool is_taken(enum ing_part_key key, const json_t *kept, const json_t *fresh)
{
	enum ing_part_type a = type_of(kept);
	enum ing_part_type b = type_of(fresh);
	if (size_of(kept) == 0 || size_of(fresh) == 0)
		return size_of(fresh) > 0 || size_of(kept) == 0;
	if (is_usable(key, kept) != is_usable(key, fresh))
		return is_usable(key, fresh);
	if (ing_part_type_better(a, b) || ing_part_type_better(b, a))
		return ing_part_type_better(b, a);
	return key <= ING_PART_DOI || (a == b && is_usable(key, fresh)) ||
	       size_of(fresh) >= size_of(kept);
}

/* --- identifiers --- */

static bool contradict(const char *a, const char *b)
{
	return a != NULL && b != NULL && strcmp(a, b) != 0 && !ing_identifier_same_work(a, b, NULL);
}

static bool has_final_id(const json_t *record, const char *name)
{
	return ing_part_type_final(type_of(json_object_get(record, name)));
}

/* Of two publications: whose are the identifiers that they share? */
static enum ing_kept_relation owner(const json_t *kept, const json_t *fresh)
{
	for (size_t i = 0; i < ING_ARRAY_LEN(ids); i++) {
		const char *a = ing_kept_id(kept, ids[i]);
		const char *b = ing_kept_id(fresh, ids[i]);
		if (a != NULL && b != NULL && strcmp(a, b) == 0 &&
			ing_part_type_better(type_of(json_object_get(kept, ids[i])),
				type_of(json_object_get(fresh, ids[i]))))
			return ING_KEPT_OTHER_STAYS;
	}
	return ING_KEPT_OTHER_LOSES;
}

/* --- both in one --- */

/* Members of another object that this one does not have. */
static void add_missing(json_t *to, const json_t *from)
{
	json_t *borrowed = ing_json_ref(from);
	if (borrowed != NULL)
		ing_must(json_object_update_missing(to, borrowed) == 0);
	json_decref(borrowed);
}

static const json_t *either(const json_t *kept, const json_t *fresh)
{
	return fresh != NULL && !json_is_null(fresh) ? fresh : kept;
}

static bool has_site(const json_t *sites, const char *url)
{
	size_t i;
	json_t *site;
	json_array_foreach (sites, i, site) {
		const char *s = ing_json_get_text(site, "url");
		if (s != NULL && strcmp(s, url) == 0)
			return true;
	}
	return false;
}

static json_t *all_sites(const json_t *kept, const json_t *fresh)
{
	const json_t *lists[] = {kept, fresh};
	if (!json_is_array(kept) && !json_is_array(fresh))
		return NULL;
	json_t *all = json_array();
	for (size_t k = 0; k < ING_ARRAY_LEN(lists); k++) {
		size_t count = json_array_size(lists[k]);
		for (size_t i = count > MAX_SITES ? count - MAX_SITES : 0; i < count; i++) {
			const json_t *site = json_array_get(lists[k], i);
			const char *url = ing_json_get_text(site, "url");
			if (url != NULL && !has_site(all, url))
				ing_json_append(all, ing_json_ref(site));
		}
	}
	for (size_t i = 0; json_array_size(all) > MAX_SITES;) {
		bool stays = i < MAX_SITES &&
			     has_site(fresh, ing_json_get_text(json_array_get(all, i), "url"));
		if (stays)
			i++;
		else
			json_array_remove(all, i);
	}
	return all;
}

static json_t *both_sources(const json_t *kept, const json_t *fresh)
{
	const char *key;
	json_t *source;
	if (!json_is_object(json_object_get(kept, "fields")) &&
		!json_is_object(json_object_get(fresh, "fields")))
		return NULL;
	json_t *both = json_object();
	json_t *of_kept = ing_json_ref(json_object_get(kept, "fields"));
	if (json_is_object(json_object_get(fresh, "fields")))
		add_missing(both, json_object_get(fresh, "fields"));
	json_object_foreach (of_kept, key, source) {
		const json_t *field = json_object_get(fresh, key);
		if (field == NULL || json_is_null(field))
			ing_json_set(both, key, ing_json_ref(source));
	}
	json_decref(of_kept);
	return both;
}

static json_t *both_members(size_t i, const json_t *kept, const json_t *fresh)
{
	const char *name = members[i].name;
	const char *text = ing_part_name(ING_PART_FULLTEXT);
	const json_t *a = json_object_get(kept, name);
	const json_t *b = json_object_get(fresh, name);
	switch (members[i].kind) {
	case PART:
		return ing_json_ref(is_taken(ing_part_of_name(name), a, b) ? b : a);
	case LIST:
		return ing_json_ref(json_array_size(b) > 0 ? b : either(b, a));
	case SITES:
		return all_sites(a, b);
	case SOURCES:
		return both_sources(kept, fresh);
	case MATCH:
		return ing_json_ref(is_taken(ING_PART_FULLTEXT, json_object_get(kept, text),
					    json_object_get(fresh, text))
					    ? b
					    : a);
	default:
		return ing_json_ref(either(a, b));
	}
}

static void set_time(json_t *record, const char *key, const char *human, int64_t ms)
{
	char text[ING_ISO8601_BYTES];
	struct timespec t = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000};
	ing_format_iso8601(t, t.tv_nsec != 0 ? 3 : 0, text);
	ing_json_set_number(record, key, ms);
	ing_json_set_text(record, human, ms > 0 ? text : NULL);
}

static void set_counters(json_t *record, const struct ing_freshness_state *state)
{
	set_time(record, "fetchTime", "fetchTimeHuman", state->fetch_time_ms);
	ing_json_set_number(record, "retryCounter", state->retry_counter);
	ing_json_set_bool(record, "fetchException", state->exception);
}

/* Counters of what kept and fresh become. */
static void count_fetch(json_t *record, const json_t *kept, const json_t *fresh, enum ing_keep how,
	const struct ing_refetch_rules *rules)
{
	struct ing_freshness_state state = ing_kept_state(kept);
	const struct ing_freshness_state now = ing_kept_state(fresh);
	if (how == ING_KEEP_IMPORTED && now.fetch_time_ms > state.fetch_time_ms)
		state = now;
	if (how == ING_KEEP_WHOLE) {
		ing_freshness_fetched(rules, &state, now.fetch_time_ms);
		state.exception = now.exception;
	}
	set_counters(record, &state);
}

static int rank_webpage(const json_t *page)
{
	return ing_json_get_true(page, "final") ? 2 : ing_json_get_true(page, "empty") ? 0 : 1;
}

static int64_t units_of(const char *s)
{
	return s != NULL ? (int64_t)ing_utf8_utf16_units(s, strlen(s)) : 0;
}

/* -------------------------------------------------------------------------------------------- */

json_t *ing_publication_settled(const json_t *record)
{
	json_t *settled = json_object();
	bool empty = true;
	bool usable = false;
	bool final[ING_PARTS_] = {false};
	bool totally = true;
	for (size_t i = 0; i < ING_ARRAY_LEN(members); i++) {
		const json_t *member = json_object_get(record, members[i].name);
		enum ing_part_key part = ing_part_of_name(members[i].name);
		const char *id = ing_json_get_text(member, "content");
		bool is_bad = part <= ING_PART_DOI && id != NULL && strlen(id) > MAX_ID_BYTES;
		if (part != ING_PARTS_ && (size_of(member) == 0 || is_bad))
			member = NULL;
		ing_json_set(
			settled, members[i].name, member != NULL ? ing_json_ref(member) : NULL);
		if (part == ING_PARTS_)
			continue;
		final[part] = is_final(part, member);
		totally &= final[part];
		empty &= part <= ING_PART_DOI || member == NULL;
		usable |= part > ING_PART_DOI && is_usable(part, member);
	}
	add_missing(settled, record);
	ing_json_set_bool(settled, "empty", empty);
	ing_json_set_bool(settled, "usable", usable);
	ing_json_set_bool(settled, "final",
		final[ING_PART_TITLE] && final[ING_PART_ABSTRACT] && final[ING_PART_FULLTEXT]);
	ing_json_set_bool(settled, "totallyFinal", totally);
	return settled;
}

json_t *ing_webpage_settled(const json_t *record)
{
	json_t *settled = json_object();
	for (size_t i = 0; i < ING_ARRAY_LEN(webpage_members); i++) {
		const json_t *member = json_object_get(record, webpage_members[i]);
		ing_json_set(
			settled, webpage_members[i], member != NULL ? ing_json_ref(member) : NULL);
	}
	add_missing(settled, record);
	int64_t title = units_of(ing_json_get_text(record, "title"));
	int64_t content = units_of(ing_json_get_text(record, "content"));
	int64_t status = ing_json_get_number(record, "statusCode");
	const char *final_url = ing_json_get_text(record, "finalUrl");
	bool broken = status == 0 ? final_url == NULL || final_url[0] == '\0'
				  : status < 200 || status > 299;
	bool usable = title + content >= MIN_WEBPAGE_CHARS;
	ing_json_set_number(settled, "titleLength", title);
	ing_json_set_number(settled, "contentLength", content);
	ing_json_set_bool(settled, "empty", title == 0 && content == 0);
	ing_json_set_bool(settled, "usable", usable);
	ing_json_set_bool(settled, "final", !broken && usable && content > 0);
	ing_json_set_bool(settled, "broken", broken);
	return settled;
}

const char *ing_kept_id(const json_t *record, const char *name)
{
	const char *id = ing_json_get_text(json_object_get(record, name), "content");
	return id != NULL && id[0] != '\0' ? id : NULL;
}

bool ing_kept_has_id(const json_t *record)
{
	bool has = false;
	for (size_t i = 0; i < ING_ARRAY_LEN(ids); i++)
		has |= ing_kept_id(record, ids[i]) != NULL;
	return has;
}

enum ing_kept_relation ing_kept_relation(const json_t *kept, const json_t *fresh)
{
	bool is_same = true;
	bool is_stale = true;
	for (size_t i = 0; i < ING_ARRAY_LEN(ids); i++) {
		if (!contradict(ing_kept_id(kept, ids[i]), ing_kept_id(fresh, ids[i])))
			continue;
		is_same = false;
		is_stale &= !has_final_id(kept, ids[i]) && has_final_id(fresh, ids[i]);
	}
	return is_same ? ING_KEPT_SAME : is_stale ? ING_KEPT_STALE : owner(kept, fresh);
}

void ing_kept_take_ids(json_t *record, const json_t *from)
{
	for (size_t i = 0; i < ING_ARRAY_LEN(ids); i++) {
		const char *a = ing_kept_id(record, ids[i]);
		const char *b = ing_kept_id(from, ids[i]);
		if (a != NULL && b != NULL && strcmp(a, b) == 0)
			ing_json_set(record, ids[i], NULL);
	}
}

json_t *ing_publication_merged(const json_t *kept, const json_t *fresh, enum ing_keep how,
	const struct ing_refetch_rules *rules)
{
	json_t *both = json_object();
	for (size_t i = 0; i < ING_ARRAY_LEN(members); i++) {
		const char *name = members[i].name;
		json_t *member = both_members(i, kept, fresh);
		ing_json_set(both, name, member);
	}
	add_missing(both, fresh);
	count_fetch(both, kept, fresh, how, rules);
	json_t *settled = ing_publication_settled(both);
	json_decref(both);
	return settled;
}

json_t *ing_webpage_merged(const json_t *kept, const json_t *fresh, enum ing_keep how,
	const struct ing_refetch_rules *rules)
{
	int a = rank_webpage(kept);
	int b = rank_webpage(fresh);
	json_t *record = ing_webpage_settled(b >= a ? fresh : kept);
	count_fetch(record, kept, fresh, how, rules);
	return record;
}

void ing_kept_first(json_t *record, enum ing_keep how)
{
	struct ing_freshness_state state = ing_kept_state(record);
	if (how == ING_KEEP_PARTIAL)
		state.fetch_time_ms = 0;
	if (how != ING_KEEP_IMPORTED)
		state.retry_counter = 0;
	set_counters(record, &state);
}

struct ing_freshness_state ing_kept_state(const json_t *record)
{
	int64_t fetch_time_ms = ing_json_get_number(record, "fetchTime");
	return (struct ing_freshness_state){
		.fetch_time_ms = ING_MIN(ING_MAX(fetch_time_ms, 0), MAX_TIME_MS),
		.retry_counter = ing_json_get_number(record, "retryCounter"),
		.empty = ing_json_get_true(record, "empty"),
		.final = ing_json_get_true(record, "final"),
		.exception = ing_json_get_true(record, "fetchException"),
	};
}
