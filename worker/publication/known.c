/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The rules of replacing: PubFetcher's, with these differences. Of two abstracts or full texts of one
 * type that is not final the longer one is taken; a full text that is long enough to be usable is
 * better than one that is not, whatever their types; what says that it is open access wins.
 */
#include "worker/publication/known.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/hash.h"
#include "common/base/macros.h"
#include "common/base/utf8.h"
#include "common/net/url.h"
#include "worker/publication/identifiers.h"

static void origin_done(struct ing_known_origin *o)
{
	free(o->url);
	*o = (struct ing_known_origin){.type = ING_PART_TYPE_NA};
}

static void set_origin(
	struct ing_known_origin *o, const struct ing_known_source *source, enum ing_part_type type)
{
	origin_done(o);
	*o = (struct ing_known_origin){.type = type,
		.url = source->url != NULL ? ing_strdup(source->url) : NULL,
		.time_ms = source->time_ms,
		.ask = source->ask};
}

static void terms_done(struct ing_publication_term *terms, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		free(terms[i].term);
		free(terms[i].uri);
	}
	free(terms);
}

static void part_done(struct ing_known_part *p)
{
	free(p->text);
	terms_done(p->terms, p->term_count);
	origin_done(&p->from);
	*p = (struct ing_known_part){.from.type = ING_PART_TYPE_NA};
}

/* As Java's trim(): control characters and spaces at both ends. */
static void trim(const char **s, size_t *bytes)
{
	while (*bytes > 0 && (unsigned char)**s <= ' ') {
		(*s)++;
		(*bytes)--;
	}
	while (*bytes > 0 && (unsigned char)(*s)[*bytes - 1] <= ' ')
		(*bytes)--;
}

static size_t max_bytes(enum ing_part_key key)
{
	if (key == ING_PART_FULLTEXT)
		return ING_MAX_KNOWN_FULLTEXT_BYTES;
	return key == ING_PART_ABSTRACT ? ING_MAX_KNOWN_ABSTRACT_BYTES : ING_MAX_KNOWN_TITLE_BYTES;
}

/* No offer is better than what it was found by: a page's <meta> elements are not better than the link
 * that led to the page. */
static enum ing_part_type capped(enum ing_part_type type, enum ing_part_type by)
{
	return ing_part_type_better(type, by) ? by : type;
}

static bool offer_text(struct ing_known *r, enum ing_part_key key, const char *s,
	enum ing_part_type type, const struct ing_known_source *source)
{
	size_t whole = strlen(s), bytes = ing_utf8_cut(s, whole, max_bytes(key));
	trim(&s, &bytes);
	size_t size = ing_utf8_utf16_units(s, bytes);
	struct ing_known_part *p = &r->parts[key];
	if (!ing_known_would_set(r, key, type, size))
		return false;
	r->cut = r->cut || whole > max_bytes(key);
	free(p->text);
	p->text = ing_strndup(s, bytes);
	p->size = size;
	set_origin(&p->from, source, type);
	return true;
}

/* A term that is in the list already; only keywords are compared. */
struct seen_term {
	UT_hash_handle hh;
	char text[];
};

static bool see_term(struct seen_term **seen, const char *s, size_t bytes)
{
	struct seen_term *one;
	HASH_FIND(hh, *seen, s, bytes, one);
	if (one != NULL)
		return false;
	one = ing_alloc(sizeof(*one) + bytes + 1);
	memcpy(one->text, s, bytes);
	HASH_ADD_KEYPTR(hh, *seen, one->text, bytes, one);
	return true;
}

static void forget_terms(struct seen_term *seen)
{
	struct seen_term *one, *next;
	HASH_ITER (hh, seen, one, next) {
		HASH_DEL(seen, one);
		free(one);
	}
}

/* Copies the terms that count, as many as a list may have. Returns how many. */
static uint32_t copy_terms(
	const struct ing_publication_offer *offer, struct ing_publication_term *to, bool *ret_cut)
{
	struct seen_term *seen = NULL;
	uint32_t count = 0;
	size_t left = ING_MAX_KNOWN_LIST_BYTES;
	for (uint32_t i = 0; i < offer->term_count; i++) {
		const struct ing_publication_term *t = &offer->terms[i];
		const char *s = t->term != NULL ? t->term : "";
		size_t bytes = ing_utf8_cut(s, strlen(s), ING_MAX_KNOWN_TERM_BYTES);
		trim(&s, &bytes);
		bool has_uri = t->uri != NULL && strlen(t->uri) <= ING_MAX_KNOWN_TERM_BYTES;
		bool is_keyword = offer->part == ING_PART_KEYWORDS;
		if (bytes == 0 || (is_keyword && !see_term(&seen, s, bytes)))
			continue;
		size_t taken = bytes + (has_uri ? strlen(t->uri) : 0);
		*ret_cut = taken > left;
		if (*ret_cut)
			break;
		left -= taken;
		to[count++] = (struct ing_publication_term){.term = ing_strndup(s, bytes),
			.uri = has_uri ? ing_strdup(t->uri) : NULL,
			.count = t->count,
			.major = t->major};
	}
	forget_terms(seen);
	return count;
}

static bool offer_list(struct ing_known *r, const struct ing_publication_offer *offer,
	enum ing_part_type type, const struct ing_known_source *source)
{
	struct ing_known_part *p = &r->parts[offer->part];
	if (offer->term_count == 0 || ing_known_final(r, (enum ing_part_key)offer->part))
		return false;
	struct ing_publication_term *terms = ing_alloc(offer->term_count * sizeof(*terms));
	bool cut = false;
	uint32_t count = copy_terms(offer, terms, &cut);
	if (!ing_known_would_set(r, (enum ing_part_key)offer->part, type, count)) {
		terms_done(terms, count);
		return false;
	}
	r->cut = r->cut || cut;
	terms_done(p->terms, p->term_count);
	p->terms = terms;
	p->term_count = count;
	p->size = count;
	set_origin(&p->from, source, type);
	return true;
}

static bool same_host(const char *a, const char *b)
{
	char host_a[ING_URL_HOST_BYTES], host_b[ING_URL_HOST_BYTES];
	return ing_url_host(a, host_a, sizeof(host_a)) && ing_url_host(b, host_b, sizeof(host_b)) &&
	       strcmp(host_a, host_b) == 0;
}

/* -------------------------------------------------------------------------------------------- */

void ing_known_init(struct ing_known *r)
{
	*r = (struct ing_known){0};
	for (size_t i = 0; i < ING_PARTS_; i++)
		r->parts[i].from.type = ING_PART_TYPE_NA;
	for (size_t i = 0; i < ING_KNOWN_FIELDS_; i++)
		r->fields[i].from.type = ING_PART_TYPE_NA;
}

void ing_known_clear(struct ing_known *r)
{
	for (size_t i = 0; i < ING_PARTS_; i++)
		if (!ing_identifier_is((enum ing_part_key)i))
			part_done(&r->parts[i]);
	for (size_t i = 0; i < ING_KNOWN_FIELDS_; i++) {
		free(r->fields[i].text);
		r->fields[i].text = NULL;
		origin_done(&r->fields[i].from);
	}
	ing_author_list_done(&r->authors);
	ing_author_list_done(&r->corresponding);
	for (uint32_t i = 0; i < r->site_count; i++) {
		free(r->sites[i].url);
		free(r->sites[i].from);
	}
	free(r->sites);
	r->sites = NULL;
	r->site_count = 0;
}

void ing_known_done(struct ing_known *r)
{
	ing_known_clear(r);
	for (size_t i = 0; i < ING_PARTS_; i++)
		part_done(&r->parts[i]);
}

bool ing_known_has(const struct ing_known *r, enum ing_part_key key)
{
	return r->parts[key].size > 0;
}

bool ing_known_usable(const struct ing_known *r, enum ing_part_key key)
{
	const struct ing_known_part *p = &r->parts[key];
	return ing_part_size_usable(key, p->from.type, p->size);
}

bool ing_known_final(const struct ing_known *r, enum ing_part_key key)
{
	return ing_part_type_final(r->parts[key].from.type) && ing_known_usable(r, key);
}

bool ing_known_empty(const struct ing_known *r)
{
	for (size_t i = 0; i < ING_PARTS_; i++)
		if (!ing_identifier_is((enum ing_part_key)i) && r->parts[i].size > 0)
			return false;
	return true;
}

bool ing_known_any_usable(const struct ing_known *r)
{
	for (size_t i = 0; i < ING_PARTS_; i++)
		if (!ing_identifier_is((enum ing_part_key)i) &&
			ing_known_usable(r, (enum ing_part_key)i))
			return true;
	return false;
}

const char *ing_known_text(const struct ing_known *r, enum ing_part_key key)
{
	return r->parts[key].text;
}

enum ing_known_change ing_known_offer_id(struct ing_known *r, enum ing_part_key key, const char *s,
	const struct ing_known_source *source)
{
	struct ing_known_part *p = &r->parts[key];
	if (ing_known_final(r, key) || !ing_part_type_better(source->type, p->from.type))
		return ING_KNOWN_KEPT;
	enum ing_known_change change = ING_KNOWN_SET;
	bool differs = p->text != NULL && strcmp(p->text, s) != 0;
	if (differs && ing_identifier_same_work(p->text, s, source->url))
		differs = false;
	else if (differs)
		change = ING_KNOWN_CHANGED;
	if (p->text == NULL || differs) {
		free(p->text);
		p->text = ing_strdup(s);
		p->size = ing_utf8_utf16_units(s, strlen(s));
	}
	set_origin(&p->from, source, source->type);
	return change;
}

void ing_known_drop_id(struct ing_known *r, enum ing_part_key key)
{
	part_done(&r->parts[key]);
}

bool ing_known_would_set(
	const struct ing_known *r, enum ing_part_key key, enum ing_part_type type, size_t size)
{
	const struct ing_known_part *p = &r->parts[key];
	if (size == 0 || ing_known_final(r, key))
		return false;
	if (p->size == 0)
		return true;
	bool is_usable = ing_part_size_usable(key, type, size);
	if (key == ING_PART_FULLTEXT && is_usable != ing_known_usable(r, key))
		return is_usable;
	if (ing_part_type_better(type, p->from.type))
		return true;
	bool is_long_text = key == ING_PART_FULLTEXT || key == ING_PART_ABSTRACT;
	return size > p->size &&
	       (ing_part_type_final(type) || (is_long_text && type == p->from.type));
}

bool ing_known_offer(struct ing_known *r, const struct ing_publication_offer *offer,
	const struct ing_known_source *source)
{
	enum ing_part_type type = capped((enum ing_part_type)offer->type, source->type);
	bool is_list = ing_part_is_list((enum ing_part_key)offer->part);
	if (is_list)
		return offer_list(r, offer, type, source);
	return offer->text != NULL &&
	       offer_text(r, (enum ing_part_key)offer->part, offer->text, type, source);
}

void ing_known_set_field(struct ing_known *r, enum ing_known_field_key key, const char *text,
	const struct ing_known_source *source)
{
	struct ing_known_field *f = &r->fields[key];
	if (text == NULL || f->text != NULL)
		return;
	size_t bytes = ing_utf8_cut(text, strlen(text), ING_MAX_KNOWN_FIELD_BYTES);
	trim(&text, &bytes);
	if (bytes == 0)
		return;
	f->text = ing_strndup(text, bytes);
	set_origin(&f->from, source, source->type);
}

void ing_known_set_flag(struct ing_known *r, enum ing_known_field_key key, bool is_so,
	const struct ing_known_source *source)
{
	struct ing_known_field *f = &r->fields[key];
	if (is_so && f->text != NULL && strcmp(f->text, "false") == 0) {
		free(f->text);
		f->text = NULL;
	}
	ing_known_set_field(r, key, is_so ? "true" : "false", source);
}

bool ing_known_is_oa(const struct ing_known *r)
{
	const char *s = r->fields[ING_KNOWN_OA].text;
	return s != NULL && strcmp(s, "true") == 0;
}

void ing_known_add_site(struct ing_known *r, const char *url, const char *from,
	enum ing_part_type type, int64_t time_ms)
{
	for (uint32_t i = 0; i < r->site_count; i++)
		if (strcmp(r->sites[i].url, url) == 0)
			return;
	if (r->site_count == ING_MAX_KNOWN_SITES)
		return;
	bool is_full = (r->site_count & (r->site_count - 1)) == 0; /* room in powers of two */
	if (is_full)
		r->sites = ing_realloc(r->sites,
			(r->site_count == 0 ? 1 : (size_t)r->site_count * 2) * sizeof(*r->sites));
	r->sites[r->site_count++] = (struct ing_known_site){.url = ing_strdup(url),
		.from = from != NULL ? ing_strdup(from) : NULL,
		.type = type,
		.time_ms = time_ms};
}

bool ing_known_visited(const struct ing_known *r, const char *url)
{
	for (uint32_t i = 0; i < r->site_count; i++)
		if (same_host(r->sites[i].url, url))
			return true;
	return false;
}
