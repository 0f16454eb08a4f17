/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How a publication is asked for, and what an answer says of it. Encoder and decoder field by field in the
 * same order. What does not fit is left out whole and makes a success too-large: first what comes last.
 */
#include <string.h>

#include "worker/examine/proto.h"
#include "worker/examine/proto_parts.h"
#include "worker/model/found_publication.h"
#include "worker/model/limits.h"

/* Ceilings of single fields, in bytes, and of what has no other ceiling together. */
#define MAX_ID_BYTES ((size_t)2048) /* DOIs have no length; longer ones are no URL */
#define MAX_TERM_BYTES ((size_t)2000)
#define MAX_NAME_BYTES ((size_t)1000)
#define MAX_CONTACT_BYTES ((size_t)320) /* RFC 3696 */
#define MAX_WORDS_BYTES ((size_t)4000)
#define MAX_OPENALEX_BYTES ((size_t)64)
#define MAX_ERROR_BYTES ((size_t)500)
#define MAX_AUTHORS_BYTES ((size_t)2 << 20)
#define MAX_OFFERS_BYTES ((size_t)16 << 20)

#define ALL_PARTS ((1u << ING_PARTS_) - 1)
#define ALL_FLAGS (2u * ING_PUBLICATION_MANUSCRIPT - 1)

static bool is_status(const char *s)
{
	static const char *const known[] = {ING_PUBLICATION_STATUSES};
	for (size_t i = 0; i < ING_ARRAY_LEN(known); i++)
		if (strcmp(s, known[i]) == 0)
			return true;
	return false;
}

static size_t bytes_of(const char *s)
{
	return s != NULL ? strlen(s) : 0;
}

/* --- what is asked --- */

void ing_proto_put_publication_ask(struct ing_buf *b, const struct ing_publication_ask *ask)
{
	ing_wire_put_u8(b, ask != NULL);
	if (ask == NULL)
		return;
	ing_wire_put_u8(b, (uint8_t)ask->reader);
	ing_wire_put_u8(b, (uint8_t)ask->type);
	ing_wire_put_whole(b, ask->pmid, MAX_ID_BYTES);
	ing_wire_put_whole(b, ask->pmcid, MAX_ID_BYTES);
	ing_wire_put_whole(b, ask->doi, MAX_ID_BYTES);
	ing_wire_put_u32(b, ask->parts & ALL_PARTS);
}

bool ing_proto_get_publication_ask(struct ing_wire *w, struct ing_proto_publication_ask *ret)
{
	uint8_t there = ing_wire_u8(w);
	w->failed |= there > 1;
	if (w->failed || there == 0)
		return false;
	uint8_t reader = ing_wire_u8(w), type = ing_wire_u8(w);
	w->failed |= reader >= ING_PUBLICATION_READERS_ || type >= ING_PART_TYPES_;
	ret->pmid = ing_wire_text(w, MAX_ID_BYTES);
	ret->pmcid = ing_wire_text(w, MAX_ID_BYTES);
	ret->doi = ing_wire_text(w, MAX_ID_BYTES);
	ret->ask = (struct ing_publication_ask){
		.reader = (enum ing_publication_reader)reader,
		.type = (enum ing_part_type)type,
		.pmid = ret->pmid,
		.pmcid = ret->pmcid,
		.doi = ret->doi,
		.parts = ing_wire_range(w, ALL_PARTS),
	};
	return !w->failed;
}

/* --- offers --- */

static size_t term_bytes(const struct ing_publication_term *term)
{
	return 16 + bytes_of(term->term) + bytes_of(term->uri);
}

static bool is_sendable_term(const struct ing_publication_term *term)
{
	return term->term != NULL && term->term[0] != '\0' &&
	       strlen(term->term) <= MAX_TERM_BYTES && bytes_of(term->uri) <= MAX_TERM_BYTES;
}

/* What the offer takes in the message; 0: it cannot be sent. */
static size_t offer_bytes(const struct ing_publication_offer *offer)
{
	if (offer->part >= ING_PARTS_ || offer->type >= ING_PART_TYPES_ ||
		ing_part_is_list((enum ing_part_key)offer->part) != (offer->text == NULL))
		return 0;
	if (offer->text != NULL) {
		size_t bytes = strlen(offer->text);
		return bytes > 0 && bytes <= ING_MAX_PUBLICATION_TEXT_BYTES ? 16 + bytes : 0;
	}
	size_t bytes = 0;
	for (uint32_t i = 0; i < offer->term_count && i < ING_MAX_PUBLICATION_TERMS; i++)
		if (is_sendable_term(&offer->terms[i]))
			bytes += term_bytes(&offer->terms[i]);
	return bytes > 0 ? 16 + bytes : 0;
}

static void put_terms(struct ing_buf *b, const struct ing_publication_offer *offer)
{
	uint32_t seen = ING_MIN(offer->term_count, (uint32_t)ING_MAX_PUBLICATION_TERMS), count = 0;
	for (uint32_t i = 0; i < seen; i++)
		count += is_sendable_term(&offer->terms[i]);
	ing_wire_put_u32(b, count);
	for (uint32_t i = 0; i < seen; i++) {
		const struct ing_publication_term *term = &offer->terms[i];
		if (!is_sendable_term(term))
			continue;
		ing_wire_put_text(b, term->term, MAX_TERM_BYTES);
		ing_wire_put_text(b, term->uri, MAX_TERM_BYTES);
		ing_wire_put_u32(b, term->count);
		ing_wire_put_u8(b, term->major);
	}
}

/* Which offers go. Returns their number. */
static uint32_t choose_offers(
	const struct ing_publication_found *p, bool chosen[ING_MAX_PUBLICATION_OFFERS])
{
	uint32_t count = 0;
	size_t left = MAX_OFFERS_BYTES;
	for (uint32_t i = 0; i < ING_MAX_PUBLICATION_OFFERS; i++) {
		size_t bytes = i < p->offer_count ? offer_bytes(&p->offers[i]) : 0;
		chosen[i] = bytes > 0 && bytes <= left;
		left -= chosen[i] ? bytes : 0;
		count += chosen[i];
	}
	return count;
}

static void put_offers(struct ing_buf *b, const struct ing_publication_found *p,
	const bool chosen[ING_MAX_PUBLICATION_OFFERS], uint32_t count)
{
	ing_wire_put_u32(b, count);
	for (uint32_t i = 0; i < ING_MAX_PUBLICATION_OFFERS; i++) {
		if (!chosen[i])
			continue;
		ing_wire_put_u8(b, p->offers[i].part);
		ing_wire_put_u8(b, p->offers[i].type);
		if (p->offers[i].text != NULL)
			ing_wire_put_text(b, p->offers[i].text, ING_MAX_PUBLICATION_TEXT_BYTES);
		else
			put_terms(b, &p->offers[i]);
	}
}

static void get_terms(struct ing_wire *w, struct ing_publication_offer *offer)
{
	enum { MIN_TERM_BYTES = 4 + 1 + 4 + 4 + 1 };
	uint32_t count = ing_wire_range(w, ING_MAX_PUBLICATION_TERMS);
	w->failed |= count == 0 || count > w->left / MIN_TERM_BYTES;
	if (w->failed)
		return;
	offer->terms = ing_alloc(count * sizeof(*offer->terms));
	for (; offer->term_count < count && !w->failed; offer->term_count++) {
		struct ing_publication_term *term = &offer->terms[offer->term_count];
		term->term = ing_wire_text(w, MAX_TERM_BYTES);
		term->uri = ing_wire_text(w, MAX_TERM_BYTES);
		term->count = ing_wire_u32(w);
		uint8_t major = ing_wire_u8(w);
		term->major = major == 1;
		w->failed |= major > 1 || bytes_of(term->term) == 0;
	}
}

static void get_offers(struct ing_wire *w, struct ing_publication_found *p)
{
	uint32_t count = ing_wire_range(w, ING_MAX_PUBLICATION_OFFERS);
	if (count == 0)
		return;
	p->offers = ing_alloc(count * sizeof(*p->offers));
	for (; p->offer_count < count && !w->failed; p->offer_count++) {
		struct ing_publication_offer *offer = &p->offers[p->offer_count];
		offer->part = ing_wire_u8(w);
		offer->type = ing_wire_u8(w);
		w->failed |= offer->part >= ING_PARTS_ || offer->type >= ING_PART_TYPES_;
		if (w->failed)
			continue;
		if (ing_part_is_list((enum ing_part_key)offer->part)) {
			get_terms(w, offer);
		} else {
			offer->text = ing_wire_text(w, ING_MAX_PUBLICATION_TEXT_BYTES);
			w->failed |= bytes_of(offer->text) == 0;
		}
	}
}

/* --- links --- */

static uint32_t sendable_links(const struct ing_publication_found *p)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < p->link_count && i < ING_MAX_PUBLICATION_LINKS; i++)
		count += p->links[i].type < ING_PART_TYPES_ &&
			 ing_proto_is_sendable_url(p->links[i].url);
	return count;
}

static void put_links(struct ing_buf *b, const struct ing_publication_found *p)
{
	uint32_t left = sendable_links(p);
	ing_wire_put_u32(b, left);
	for (uint32_t i = 0; left > 0; i++) {
		if (p->links[i].type >= ING_PART_TYPES_ ||
			!ing_proto_is_sendable_url(p->links[i].url))
			continue;
		ing_wire_put_whole(b, p->links[i].url, ING_MAX_URL_BYTES);
		ing_wire_put_u8(b, p->links[i].type);
		left--;
	}
}

static void get_links(struct ing_wire *w, struct ing_publication_found *p)
{
	uint32_t count = ing_wire_range(w, ING_MAX_PUBLICATION_LINKS);
	if (count == 0)
		return;
	p->links = ing_alloc(count * sizeof(*p->links));
	for (; p->link_count < count && !w->failed; p->link_count++) {
		struct ing_publication_link *link = &p->links[p->link_count];
		link->url = ing_wire_word(w, ING_MAX_URL_BYTES, ing_proto_is_url_char);
		link->type = ing_wire_u8(w);
		w->failed |= !ing_proto_is_sendable_url(link->url) || link->type >= ING_PART_TYPES_;
	}
}

/* --- authors --- */

static const char *url_or_null(const char *s)
{
	return ing_proto_is_sendable_url(s) ? s : NULL;
}

/* With none of its strings cut. */
static size_t author_bytes(const struct ing_publication_author *a)
{
	return 21 + bytes_of(a->name) + bytes_of(a->orcid) + bytes_of(a->email) +
	       bytes_of(a->phone) + bytes_of(a->uri);
}

static uint32_t count_authors(const struct ing_publication_found *p)
{
	uint32_t count = 0;
	size_t left = MAX_AUTHORS_BYTES;
	for (; count < p->author_count && count < ING_MAX_PUBLICATION_AUTHORS; count++) {
		size_t bytes = author_bytes(&p->authors[count]);
		if (bytes > left)
			break;
		left -= bytes;
	}
	return count;
}

static void put_authors(
	struct ing_buf *b, const struct ing_publication_author *authors, uint32_t count)
{
	ing_wire_put_u32(b, count);
	for (uint32_t i = 0; i < count; i++) {
		const struct ing_publication_author *a = &authors[i];
		ing_wire_put_text(b, a->name, MAX_NAME_BYTES);
		ing_wire_put_whole(b, url_or_null(a->orcid), MAX_CONTACT_BYTES);
		ing_wire_put_whole(b, a->email, MAX_CONTACT_BYTES);
		ing_wire_put_whole(b, a->phone, MAX_CONTACT_BYTES);
		ing_wire_put_whole(b, url_or_null(a->uri), ING_MAX_URL_BYTES);
		ing_wire_put_u8(b, a->corresponding);
	}
}

static void get_authors(struct ing_wire *w, struct ing_publication_found *p)
{
	enum { MIN_AUTHOR_BYTES = 5 * 4 + 1 };
	uint32_t count = ing_wire_range(w, ING_MAX_PUBLICATION_AUTHORS);
	w->failed |= count > w->left / MIN_AUTHOR_BYTES;
	if (w->failed || count == 0)
		return;
	p->authors = ing_alloc(count * sizeof(*p->authors));
	for (; p->author_count < count && !w->failed; p->author_count++) {
		struct ing_publication_author *a = &p->authors[p->author_count];
		a->name = ing_wire_text(w, MAX_NAME_BYTES);
		a->orcid = ing_wire_word(w, MAX_CONTACT_BYTES, ing_proto_is_url_char);
		a->email = ing_wire_text(w, MAX_CONTACT_BYTES);
		a->phone = ing_wire_text(w, MAX_CONTACT_BYTES);
		a->uri = ing_wire_word(w, ING_MAX_URL_BYTES, ing_proto_is_url_char);
		uint8_t corresponding = ing_wire_u8(w);
		a->corresponding = corresponding == 1;
		w->failed |= corresponding > 1 ||
			     (a->orcid != NULL && !ing_proto_is_sendable_url(a->orcid)) ||
			     (a->uri != NULL && !ing_proto_is_sendable_url(a->uri));
	}
}

/* --- fields --- */

static bool is_date_char(unsigned char c)
{
	return (c >= '0' && c <= '9') || c == '-';
}

/* YYYY-MM-DD, of a month and a day that there may be. */
static bool is_date(const char *s)
{
	static const char form[] = "0000-00-00";
	if (s == NULL || strlen(s) != sizeof(form) - 1)
		return false;
	for (size_t i = 0; form[i] != '\0'; i++)
		if (!is_date_char((unsigned char)s[i]) || (s[i] == '-') != (form[i] == '-'))
			return false;
	int month = (s[5] - '0') * 10 + s[6] - '0', day = (s[8] - '0') * 10 + s[9] - '0';
	return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

static void put_fields(struct ing_buf *b, const struct ing_publication_found *p)
{
	ing_wire_put_text(b, p->journal_title, MAX_WORDS_BYTES);
	ing_wire_put_whole(b, is_date(p->pub_date) ? p->pub_date : NULL, ING_PROTO_SLUG_BYTES);
	ing_wire_put_text(b, p->licence, MAX_WORDS_BYTES);
	ing_wire_put_text(b, p->publisher, MAX_WORDS_BYTES);
	ing_wire_put_word(b, p->openalex_id, MAX_OPENALEX_BYTES, ing_proto_is_slug_char);
	ing_wire_put_u32(b, p->flags & ALL_FLAGS);
	bool said = p->citations >= 0 && p->citations < INT32_MAX;
	ing_wire_put_u64(b, said ? (uint64_t)p->citations + 1 : 0);
}

static void get_fields(struct ing_wire *w, struct ing_publication_found *p)
{
	p->journal_title = ing_wire_text(w, MAX_WORDS_BYTES);
	p->pub_date = ing_wire_word(w, ING_PROTO_SLUG_BYTES, is_date_char);
	p->licence = ing_wire_text(w, MAX_WORDS_BYTES);
	p->publisher = ing_wire_text(w, MAX_WORDS_BYTES);
	p->openalex_id = ing_wire_word(w, MAX_OPENALEX_BYTES, ing_proto_is_slug_char);
	p->flags = ing_wire_range(w, ALL_FLAGS);
	uint64_t citations = ing_wire_u64(w);
	/* A number that JSON and PostgreSQL take without a thought. */
	w->failed |= citations > INT32_MAX || (p->pub_date != NULL && !is_date(p->pub_date));
	p->citations = w->failed ? -1 : (int64_t)citations - 1;
}

/* -------------------------------------------------------------------------------------------- */

void ing_proto_put_publication(struct ing_buf *b, const struct ing_publication_found *p)
{
	bool chosen[ING_MAX_PUBLICATION_OFFERS];
	ing_wire_put_u8(b, p->status != NULL);
	if (p->status == NULL)
		return;
	ing_must(is_status(p->status));
	uint32_t offers = choose_offers(p, chosen), authors = count_authors(p);
	bool cut = offers < p->offer_count || authors < p->author_count;
	ing_wire_put_text(b, cut && strcmp(p->status, "success") == 0 ? "too-large" : p->status,
		ING_PROTO_SLUG_BYTES);
	ing_wire_put_text(b, p->error_msg, MAX_ERROR_BYTES);
	put_fields(b, p);
	put_links(b, p);
	put_authors(b, p->authors, authors);
	put_offers(b, p, chosen, offers);
}

void ing_proto_get_publication(struct ing_wire *w, struct ing_publication_found *p)
{
	uint8_t there = ing_wire_u8(w);
	w->failed |= there > 1;
	if (w->failed || there == 0)
		return;
	p->status = ing_wire_word(w, ING_PROTO_SLUG_BYTES, ing_proto_is_slug_char);
	p->error_msg = ing_wire_text(w, MAX_ERROR_BYTES);
	w->failed |= p->status == NULL || !is_status(p->status);
	get_fields(w, p);
	get_links(w, p);
	get_authors(w, p);
	get_offers(w, p);
}
