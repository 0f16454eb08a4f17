/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What an answer changes: identifiers first, because one that turns out to be another makes the rest
 * of what is known worthless; then parts, fields, authors, links.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "worker/publication/assembly_priv.h"
#include "worker/publication/identifiers.h"

static bool gives(const struct ing_asked *k, unsigned what)
{
	return (ing_call_gives(&k->what) & what) != 0;
}

/* Resources that contradict one another could go on for ever if each run began without what the one
 * before has found: later runs keep it, and identifiers only get better types then. */
#define MAX_DROPPING_RUNS 2

/* Drops identifiers that came from where the former value of `changed` led. */
static void drop_derived(
	struct ing_assembly *a, enum ing_part_key changed, const struct ing_asked *now)
{
	if (a->run >= MAX_DROPPING_RUNS)
		return;
	for (unsigned key = ING_PART_PMID; key <= ING_PART_DOI; key++) {
		const struct ing_known_origin *from = &a->known.parts[key].from;
		if (key == (unsigned)changed || from->ask == 0)
			continue;
		const struct ing_asked *by = &a->asked[from->ask - 1];
		if (by != now && (by->what.key == changed || by->call == ING_CALL_LINK))
			ing_known_drop_id(&a->known, (enum ing_part_key)key);
	}
}

/* Returns whether it replaced another one. */
static bool take_id(struct ing_assembly *a, const struct ing_asked *k, enum ing_part_key key,
	const char *s, enum ing_part_type type, const struct ing_known_source *source)
{
	struct ing_buf id;
	ing_buf_init(&id, ING_MAX_PUBLICATION_ID_BYTES);
	enum ing_known_change change = ING_KNOWN_KEPT;
	if (ing_identifier_normal(key, s, strlen(s), &id)) {
		struct ing_known_source of_id = *source;
		of_id.type = ing_part_type_better(type, source->type) ? source->type : type;
		change = ing_known_offer_id(&a->known, key, ing_buf_str(&id), &of_id);
	}
	ing_buf_done(&id);
	if (change == ING_KNOWN_CHANGED)
		drop_derived(a, key, k);
	return change == ING_KNOWN_CHANGED;
}

static bool take_ids(
	struct ing_assembly *a, const struct ing_asked *k, const struct ing_known_source *source)
{
	bool changed = false;
	for (uint32_t i = 0; i < k->found->offer_count; i++) {
		const struct ing_publication_offer *o = &k->found->offers[i];
		enum ing_part_key key = (enum ing_part_key)o->part;
		if (ing_identifier_is(key) && o->text != NULL && gives(k, 1u << key) &&
			take_id(a, k, key, o->text, (enum ing_part_type)o->type, source))
			changed = true;
	}
	return changed;
}

static void take_parts(
	struct ing_assembly *a, const struct ing_asked *k, const struct ing_known_source *source)
{
	for (uint32_t i = 0; i < k->found->offer_count; i++) {
		const struct ing_publication_offer *o = &k->found->offers[i];
		bool wanted = (a->parts >> o->part & 1) != 0 && gives(k, 1u << o->part);
		/* Keywords of <meta> elements of a repository are about its collection as often as
		 * about the work. */
		bool doubtful = o->part == ING_PART_KEYWORDS &&
				k->type == ING_PART_TYPE_LINK_OADOI && o->type != k->type;
		if (wanted && !doubtful && !ing_identifier_is((enum ing_part_key)o->part))
			ing_known_offer(&a->known, o, source);
	}
}

static void take_fields(
	struct ing_assembly *a, const struct ing_asked *k, const struct ing_known_source *source)
{
	const struct ing_publication_found *f = k->found;
	struct ing_known *r = &a->known;
	ing_known_set_field(r, ING_KNOWN_JOURNAL_TITLE, f->journal_title, source);
	ing_known_set_field(r, ING_KNOWN_PUB_DATE, f->pub_date, source);
	ing_known_set_field(r, ING_KNOWN_LICENCE, f->licence, source);
	ing_known_set_field(r, ING_KNOWN_PUBLISHER, f->publisher, source);
	if (gives(k, ING_GIVES_OPENALEX))
		ing_known_set_field(r, ING_KNOWN_OPENALEX_ID, f->openalex_id, source);
	if (gives(k, ING_GIVES_OA) &&
		(f->flags & (ING_PUBLICATION_OA | ING_PUBLICATION_NOT_OA)) != 0)
		ing_known_set_flag(r, ING_KNOWN_OA, (f->flags & ING_PUBLICATION_OA) != 0, source);
	bool is_preprint = (f->flags & ING_PUBLICATION_PREPRINT) != 0;
	if (is_preprint || k->what.resource == ING_PUBLICATION_RESOURCE_EUROPEPMC)
		ing_known_set_flag(r, ING_KNOWN_PREPRINT, is_preprint, source);
	char number[24];
	snprintf(number, sizeof(number), "%" PRId64, f->citations);
	ing_known_set_field(r, ING_KNOWN_CITATIONS, f->citations >= 0 ? number : NULL, source);
}

/* Pages may name their corresponding authors alone: then that is not the list of authors. */
static void take_authors(struct ing_assembly *a, const struct ing_asked *k)
{
	const struct ing_publication_found *f = k->found;
	if (f->author_count == 0 || !gives(k, ING_GIVES_AUTHORS))
		return;
	uint32_t corresponding = 0;
	for (uint32_t i = 0; i < f->author_count; i++)
		corresponding += f->authors[i].corresponding;
	bool is_page = ing_publication_resource_reader(k->what.resource) == ING_READ_PAGE;
	bool is_whole = !is_page || corresponding < f->author_count;
	bool is_first = is_whole && a->known.authors.count == 0;
	char **keys = ing_author_keys(f->authors, f->author_count);
	bool fits = ing_author_list_merge(&a->known.authors, f->authors, keys, f->author_count,
		is_first ? ING_APPEND_ALL : ING_APPEND_NONE, ING_MAX_AUTHOR_LIST_BYTES);
	fits = ing_author_list_merge(&a->known.corresponding, f->authors, keys, f->author_count,
		       ING_APPEND_CORRESPONDING, ING_MAX_CORRESPONDING_BYTES) &&
	       fits;
	a->known.cut = a->known.cut || !fits;
	ing_author_keys_free(keys, f->author_count);
}

/* Returns whether an identifier in a link replaced another one. */
static bool take_link(struct ing_assembly *a, const struct ing_asked *k,
	const struct ing_publication_link *link, const struct ing_known_source *source)
{
	enum ing_part_type type = (enum ing_part_type)link->type;
	if (ing_identifier_is_resolver(link->url))
		return false;
	struct ing_buf id;
	enum ing_part_key key;
	bool changed = false;
	ing_buf_init(&id, ING_MAX_PUBLICATION_ID_BYTES);
	bool is_service = ing_identifier_of_url(link->url, &key, &id);
	bool is_own_pdf =
		k->what.resource == ING_PUBLICATION_RESOURCE_PMC_HTML && ing_part_type_is_pdf(type);
	if (!is_service || is_own_pdf) {
		ing_links_add(&a->links, link->url, type, source->url);
	} else if (key != ING_PARTS_ && a->known.parts[key].from.type != ING_PART_TYPE_EXTERNAL) {
		struct ing_known_source by_link = *source;
		by_link.type = type;
		changed = take_id(a, k, key, ing_buf_str(&id), type, &by_link);
	}
	ing_buf_done(&id);
	return changed;
}

/* A page that was read, or a link that was followed. */
static void take_visit(struct ing_assembly *a, const struct ing_asked *k, const char *url)
{
	if (ing_publication_resource_reader(k->what.resource) != ING_READ_PAGE)
		return;
	ing_links_tried(&a->links, k->url);
	ing_links_tried(&a->links, url);
	if (k->found == NULL)
		return;
	const char *from = k->from;
	if (k->what.resource == ING_PUBLICATION_RESOURCE_DOI)
		from = k->url;
	if (!ing_part_type_is_pdf(k->type))
		ing_known_add_site(&a->known, url, from, k->type, k->time_ms);
}

static bool is_status(const struct ing_asked *k, const char *status)
{
	return strcmp(k->found_status, status) == 0;
}

static void count_outcome(struct ing_assembly *a, const struct ing_asked *k)
{
	unsigned bit = 1u << k->what.resource;
	a->transient = a->transient || k->transient;
	if (is_status(k, "success") || is_status(k, "too-large"))
		a->succeeded |= bit;
	if (is_status(k, "no-record") || ing_asked_has_none(k))
		a->lacking |= bit;
	if (k->found == NULL)
		return;
	unsigned of_search = ING_PUBLICATION_HAS_XML | ING_PUBLICATION_HAS_MINED;
	if (gives(k, ING_GIVES_RESULT))
		a->flags |= k->found->flags & of_search;
	if (gives(k, ING_GIVES_MANUSCRIPT))
		a->flags |= k->found->flags & (unsigned)ING_PUBLICATION_MANUSCRIPT;
}

/* -------------------------------------------------------------------------------------------- */

bool ing_asked_has_none(const struct ing_asked *k)
{
	return k->http_status == 404 || k->http_status == 410;
}

bool ing_take_answer(struct ing_assembly *a, unsigned asked)
{
	struct ing_asked *k = &a->asked[asked];
	const char *url = k->final_url != NULL ? k->final_url : k->url;
	char *shown = ing_strndup(url, ing_resource_shown_bytes(url));
	struct ing_known_source source = {
		.type = k->type, .url = shown, .time_ms = k->time_ms, .ask = asked + 1};
	count_outcome(a, k);
	bool changed = k->found != NULL && take_ids(a, k, &source);
	if (!changed) {
		take_visit(a, k, shown);
		if (k->found != NULL) {
			a->known.cut = false;
			take_parts(a, k, &source);
			take_fields(a, k, &source);
			take_authors(a, k);
			if (a->known.cut)
				memcpy(k->found_status, "too-large", sizeof("too-large"));
			for (uint32_t i = 0; i < k->found->link_count; i++)
				if (take_link(a, k, &k->found->links[i], &source))
					changed = true;
		}
	}
	free(shown);
	return changed;
}
