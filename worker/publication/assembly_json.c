/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The publication as JSON: the form of README.md, which has the names that PubFetcher's readers know.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "worker/publication/assembly_priv.h"
#include "worker/publication/identifiers.h"
#include "worker/publication/match.h"

#define MS_PER_S 1000
#define MAX_MATCHED_AUTHORS 50u

/* RFC 3339; NULL for 0. New reference. */
static json_t *human_time(int64_t ms)
{
	char text[ING_ISO8601_BYTES];
	struct timespec t = {.tv_sec = ms / MS_PER_S, .tv_nsec = ms % MS_PER_S * 1000000};
	if (ms <= 0)
		return json_null();
	ing_format_iso8601(t, t.tv_nsec != 0 ? 3 : 0, text);
	return ing_json_text(text);
}

static void set_time(json_t *o, const char *name, const char *human_name, int64_t ms)
{
	ing_json_set(o, name, ms > 0 ? json_integer(ms) : NULL);
	ing_json_set(o, human_name, human_time(ms));
}

static void set_origin(json_t *o, const struct ing_known_origin *from)
{
	ing_json_set_text(o, "type", ing_part_type_name(from->type));
	ing_json_set_text(o, "url", from->url);
	set_time(o, "timestamp", "timestampHuman", from->time_ms);
}

static json_t *make_terms(enum ing_part_key key, const struct ing_known_part *p)
{
	json_t *list = json_array();
	for (uint32_t i = 0; i < p->term_count; i++) {
		const struct ing_publication_term *t = &p->terms[i];
		if (key == ING_PART_KEYWORDS) {
			ing_json_append(list, ing_json_text(t->term));
			continue;
		}
		json_t *one = json_object();
		ing_json_set_text(one, "term", t->term);
		if (key == ING_PART_MESH) {
			ing_json_set_bool(one, "majorTopic", t->major);
			ing_json_set_text(one, "uniqueId", t->uri);
		} else {
			ing_json_set_number(one, "count", t->count);
			ing_json_set_text(one, "uri", t->uri);
		}
		ing_json_append(list, one);
	}
	return list;
}

static json_t *make_part(const struct ing_known *r, enum ing_part_key key)
{
	const struct ing_known_part *p = &r->parts[key];
	if (p->size == 0)
		return NULL;
	json_t *o = json_object();
	if (ing_part_is_list(key))
		ing_json_set(o, "list", make_terms(key, p));
	else
		ing_json_set_text(o, "content", p->text);
	set_origin(o, &p->from);
	ing_json_set_count(o, "size", p->size);
	ing_json_set_bool(o, "empty", false);
	ing_json_set_bool(o, "usable", ing_known_usable(r, key));
	ing_json_set_bool(o, "final", ing_known_final(r, key));
	return o;
}

static json_t *make_authors(const struct ing_author_list *authors)
{
	if (authors->count == 0)
		return NULL;
	json_t *list = json_array();
	for (uint32_t i = 0; i < authors->count; i++) {
		json_t *o = json_object();
		ing_json_set_text(o, "name", authors->items[i].name);
		ing_json_set_text(o, "orcid", authors->items[i].orcid);
		ing_json_set_bool(o, "corresponding", authors->items[i].corresponding);
		ing_json_append(list, o);
	}
	return list;
}

static json_t *make_corresponding(const struct ing_author_list *authors)
{
	if (authors->count == 0)
		return NULL;
	json_t *list = json_array();
	for (uint32_t i = 0; i < authors->count; i++)
		ing_json_append(list, ing_author_json(&authors->items[i]));
	return list;
}

static const char *field(const struct ing_known *r, enum ing_known_field_key key)
{
	return r->fields[key].text;
}

/* true, false, or NULL for null. */
static json_t *make_flag(const struct ing_known *r, enum ing_known_field_key key)
{
	const char *s = field(r, key);
	return s == NULL ? NULL : json_boolean(strcmp(s, "true") == 0);
}

static json_t *make_pub_date(const char *date)
{
	struct tm tm = {0};
	if (date == NULL || sscanf(date, "%4d-%2d-%2d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday) != 3)
		return NULL;
	tm.tm_year -= 1900;
	tm.tm_mon--;
	return json_integer((json_int_t)timegm(&tm) * MS_PER_S);
}

static json_t *make_sources(const struct ing_known *r)
{
	static const struct {
		const char *name;
		enum ing_known_field_key key;
	} named[] = {{"journal_title", ING_KNOWN_JOURNAL_TITLE}, {"pub_date", ING_KNOWN_PUB_DATE},
		{"oa", ING_KNOWN_OA}, {"preprint", ING_KNOWN_PREPRINT},
		{"licence", ING_KNOWN_LICENCE}, {"publisher", ING_KNOWN_PUBLISHER},
		{"openalex_id", ING_KNOWN_OPENALEX_ID}, {"citationsCount", ING_KNOWN_CITATIONS}};
	json_t *all = json_object();
	for (size_t i = 0; i < ING_ARRAY_LEN(named); i++) {
		const struct ing_known_field *f = &r->fields[named[i].key];
		json_t *o = f->text != NULL ? json_object() : NULL;
		if (o != NULL)
			set_origin(o, &f->from);
		ing_json_set(all, named[i].name, o);
	}
	return all;
}

/* Whether the full text is of the work. A title that was read from the same place says nothing. */
static json_t *make_match(const struct ing_known *r)
{
	const struct ing_known_part *text = &r->parts[ING_PART_FULLTEXT];
	const struct ing_known_part *title = &r->parts[ING_PART_TITLE];
	if (text->text == NULL)
		return NULL;
	json_t *names = json_array();
	for (uint32_t i = 0; i < r->authors.count && i < MAX_MATCHED_AUTHORS; i++)
		ing_json_append(names, ing_json_text(r->authors.items[i].name));
	struct ing_match_work work = {.doi = ing_known_text(r, ING_PART_DOI),
		.pmcid = ing_known_text(r, ING_PART_PMCID),
		.title = title->from.ask != text->from.ask ? title->text : NULL,
		.authors = names};
	struct ing_match_document document = {.text = text->text, .text_bytes = strlen(text->text)};
	struct ing_match *m = ing_match_new();
	ing_match_document(m, &work, &document);
	json_t *match = ing_match_json(m);
	ing_match_free(m);
	json_decref(names);
	return match;
}

static void set_fields(json_t *o, const struct ing_known *r)
{
	const char *journal = field(r, ING_KNOWN_JOURNAL_TITLE);
	const char *date = field(r, ING_KNOWN_PUB_DATE);
	const char *citations = field(r, ING_KNOWN_CITATIONS);
	json_t *corresponding = make_corresponding(&r->corresponding);
	ing_json_set(o, "authors", make_authors(&r->authors));
	ing_json_set(o, "corresp_author", ing_json_ref(corresponding));
	ing_json_set(o, "correspAuthor", corresponding);
	ing_json_set_text(o, "journal_title", journal);
	ing_json_set_text(o, "journalTitle", journal);
	ing_json_set_text(o, "pub_date", date);
	ing_json_set(o, "pubDate", make_pub_date(date));
	ing_json_set_text(o, "pubDateHuman", date);
	ing_json_set(o, "oa", make_flag(r, ING_KNOWN_OA));
	ing_json_set(o, "preprint", make_flag(r, ING_KNOWN_PREPRINT));
	ing_json_set_text(o, "licence", field(r, ING_KNOWN_LICENCE));
	ing_json_set_text(o, "publisher", field(r, ING_KNOWN_PUBLISHER));
	ing_json_set_text(o, "openalex_id", field(r, ING_KNOWN_OPENALEX_ID));
	ing_json_set(o, "citationsCount",
		citations != NULL ? json_integer(strtoll(citations, NULL, 10)) : NULL);
	set_time(o, "citationsTimestamp", "citationsTimestampHuman",
		r->fields[ING_KNOWN_CITATIONS].from.time_ms);
	ing_json_set(o, "fields", make_sources(r));
	ing_json_set(o, "match", make_match(r));
}

static json_t *make_sites(const struct ing_known *r)
{
	json_t *list = json_array();
	for (uint32_t i = 0; i < r->site_count; i++) {
		json_t *o = json_object();
		ing_json_set_text(o, "url", r->sites[i].url);
		ing_json_set_text(o, "type", ing_part_type_name(r->sites[i].type));
		ing_json_set_text(o, "from", r->sites[i].from);
		set_time(o, "timestamp", "timestampHuman", r->sites[i].time_ms);
		ing_json_append(list, o);
	}
	return list;
}

static json_t *make_shown(const char *url)
{
	return url == NULL ? NULL : ing_json_textn(url, ing_resource_shown_bytes(url));
}

/* What an ask came to: the words of its reader, or the status of what failed. */
static const char *outcome(const struct ing_asked *k)
{
	if (k->awaited)
		return ing_status_slug(ING_STATUS_TIMEOUT);
	return *k->found_status != '\0' ? k->found_status : ing_status_slug(k->status);
}

static json_t *make_resources(const struct ing_assembly *a)
{
	json_t *list = json_array();
	for (unsigned i = 0; i < a->asked_count; i++) {
		const struct ing_asked *k = &a->asked[i];
		json_t *o = json_object();
		ing_json_set_text(o, "resource", ing_publication_resource_name(k->what.resource));
		ing_json_set(o, "url", make_shown(k->url));
		ing_json_set(o, "final_url", make_shown(k->final_url));
		ing_json_set_text(o, "status", outcome(k));
		ing_json_set(o, "http_status",
			k->http_status != 0 ? json_integer(k->http_status) : NULL);
		ing_json_set_text(o, "detail", k->detail);
		set_time(o, "timestamp", "timestampHuman", k->time_ms);
		ing_json_set_bool(o, "transient", k->transient);
		ing_json_append(list, o);
	}
	return list;
}

static void set_state(json_t *o, const struct ing_assembly *a)
{
	static const enum ing_part_key main_parts[] = {
		ING_PART_TITLE, ING_PART_ABSTRACT, ING_PART_FULLTEXT};
	const struct ing_known *r = &a->known;
	bool is_final = true, is_totally_final = true;
	for (size_t i = 0; i < ING_ARRAY_LEN(main_parts); i++)
		is_final = is_final && ing_known_final(r, main_parts[i]);
	for (size_t key = 0; key < ING_PARTS_; key++)
		is_totally_final = is_totally_final && ing_known_final(r, (enum ing_part_key)key);
	int64_t first = 0;
	for (unsigned i = 0; i < a->asked_count; i++) {
		int64_t time_ms = a->asked[i].time_ms;
		if (time_ms > 0 && (first == 0 || time_ms < first))
			first = time_ms;
	}
	set_time(o, "fetchTime", "fetchTimeHuman", first);
	ing_json_set_number(o, "retryCounter", 0);
	ing_json_set_bool(o, "fetchException", a->transient);
	ing_json_set_bool(o, "empty", ing_known_empty(r));
	ing_json_set_bool(o, "usable", ing_known_any_usable(r));
	ing_json_set_bool(o, "final", is_final);
	ing_json_set_bool(o, "totallyFinal", is_totally_final);
}

/* -------------------------------------------------------------------------------------------- */

json_t *ing_assembly_json(const struct ing_assembly *a)
{
	json_t *o = json_object();
	for (unsigned key = 0; key < ING_PARTS_; key++)
		ing_json_set(o, ing_part_name((enum ing_part_key)key),
			make_part(&a->known, (enum ing_part_key)key));
	set_fields(o, &a->known);
	ing_json_set(o, "visitedSites", make_sites(&a->known));
	set_state(o, a);
	ing_json_set(o, "resources", make_resources(a));
	return o;
}
