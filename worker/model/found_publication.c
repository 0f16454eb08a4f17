/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Building and freeing struct ing_publication_found. Arrays grow by doubling.
 */
#include "worker/model/found_publication.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/macros.h"
#include "common/base/utf8.h"

/* Room for one more of `count` items of `size` bytes: arrays have powers of two. */
static void *grown(void *items, uint32_t count, size_t size)
{
	bool is_full = (count & (count - 1)) == 0;
	return is_full ? ing_realloc(items, (size_t)(count == 0 ? 1 : 2 * count) * size) : items;
}

static void author_done(struct ing_publication_author *a)
{
	free(a->name);
	free(a->orcid);
	free(a->email);
	free(a->phone);
	free(a->uri);
}

static void terms_done(struct ing_publication_term *terms, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		free(terms[i].term);
		free(terms[i].uri);
	}
	free(terms);
}

static void cut(struct ing_publication_found *p)
{
	free(p->status);
	p->status = ing_strdup("too-large");
}

static void add_offer(struct ing_publication_found *p, struct ing_publication_offer offer)
{
	p->offers = grown(p->offers, p->offer_count, sizeof(offer));
	p->offers[p->offer_count++] = offer;
}

/* A copy of s, or NULL; *bytes grows by it. */
static char *copy(const char *s, size_t *bytes)
{
	if (s == NULL)
		return NULL;
	size_t n = strlen(s);
	*bytes += n + 1;
	return ing_strndup(s, n);
}

static struct ing_publication_term *copy_terms(
	const struct ing_publication_term *terms, uint32_t count, size_t *bytes)
{
	if (count == 0)
		return NULL;
	struct ing_publication_term *to = ing_alloc(count * sizeof(*to));
	for (uint32_t i = 0; i < count; i++) {
		to[i] = terms[i];
		to[i].term = copy(terms[i].term, bytes);
		to[i].uri = copy(terms[i].uri, bytes);
	}
	*bytes += count * sizeof(*to);
	return to;
}

static struct ing_publication_author copy_author(
	const struct ing_publication_author *a, size_t *bytes)
{
	*bytes += sizeof(*a);
	return (struct ing_publication_author){.name = copy(a->name, bytes),
		.orcid = copy(a->orcid, bytes),
		.email = copy(a->email, bytes),
		.phone = copy(a->phone, bytes),
		.uri = copy(a->uri, bytes),
		.corresponding = a->corresponding};
}

/* -------------------------------------------------------------------------------------------- */

void ing_publication_found_done(struct ing_publication_found *p)
{
	for (uint32_t i = 0; i < p->offer_count; i++) {
		free(p->offers[i].text);
		terms_done(p->offers[i].terms, p->offers[i].term_count);
	}
	for (uint32_t i = 0; i < p->link_count; i++)
		free(p->links[i].url);
	for (uint32_t i = 0; i < p->author_count; i++)
		author_done(&p->authors[i]);
	free(p->offers);
	free(p->links);
	free(p->authors);
	free(p->status);
	free(p->error_msg);
	free(p->journal_title);
	free(p->pub_date);
	free(p->licence);
	free(p->publisher);
	free(p->openalex_id);
	*p = (struct ing_publication_found){.citations = -1};
}

size_t ing_publication_found_copy(
	const struct ing_publication_found *p, struct ing_publication_found *ret)
{
	size_t bytes = sizeof(*p);
	*ret = (struct ing_publication_found){.status = copy(p->status, &bytes),
		.error_msg = copy(p->error_msg, &bytes),
		.journal_title = copy(p->journal_title, &bytes),
		.pub_date = copy(p->pub_date, &bytes),
		.licence = copy(p->licence, &bytes),
		.publisher = copy(p->publisher, &bytes),
		.openalex_id = copy(p->openalex_id, &bytes),
		.flags = p->flags,
		.citations = p->citations};
	for (uint32_t i = 0; i < p->offer_count; i++) {
		struct ing_publication_offer offer = p->offers[i];
		offer.text = copy(offer.text, &bytes);
		offer.terms = copy_terms(offer.terms, offer.term_count, &bytes);
		add_offer(ret, offer);
	}
	for (uint32_t i = 0; i < p->link_count; i++) {
		bytes += sizeof(*p->links) + strlen(p->links[i].url);
		ing_publication_add_link(
			ret, p->links[i].url, (enum ing_part_type)p->links[i].type);
	}
	for (uint32_t i = 0; i < p->author_count; i++)
		ing_publication_add_author(ret, copy_author(&p->authors[i], &bytes));
	return bytes;
}

void ing_publication_offer_text(struct ing_publication_found *p, enum ing_part_key part,
	enum ing_part_type type, const char *s, size_t bytes)
{
	if (bytes == 0)
		return;
	if (bytes > ING_MAX_PUBLICATION_TEXT_BYTES || p->offer_count == ING_MAX_PUBLICATION_OFFERS)
		cut(p);
	if (p->offer_count == ING_MAX_PUBLICATION_OFFERS)
		return;
	bytes = ing_utf8_cut(s, bytes, ING_MAX_PUBLICATION_TEXT_BYTES);
	add_offer(p, (struct ing_publication_offer){.part = (uint8_t)part,
			     .type = (uint8_t)type,
			     .text = ing_strndup(s, bytes)});
}

void ing_publication_offer_list(struct ing_publication_found *p, enum ing_part_key part,
	enum ing_part_type type, struct ing_publication_term *terms, uint32_t count)
{
	if (count == 0 || p->offer_count == ING_MAX_PUBLICATION_OFFERS) {
		terms_done(terms, count);
		if (count > 0)
			cut(p);
		return;
	}
	if (count > ING_MAX_PUBLICATION_TERMS)
		cut(p);
	for (; count > ING_MAX_PUBLICATION_TERMS; count--) {
		free(terms[count - 1].term);
		free(terms[count - 1].uri);
	}
	add_offer(p, (struct ing_publication_offer){.part = (uint8_t)part,
			     .type = (uint8_t)type,
			     .terms = terms,
			     .term_count = count});
}

void ing_publication_keep_parts(struct ing_publication_found *p, unsigned parts)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < p->offer_count; i++) {
		struct ing_publication_offer offer = p->offers[i];
		if (parts == 0 || offer.part <= ING_PART_DOI || (parts & (1u << offer.part)) != 0) {
			p->offers[kept++] = offer;
			continue;
		}
		free(offer.text);
		terms_done(offer.terms, offer.term_count);
	}
	p->offer_count = kept;
}

void ing_publication_add_link(
	struct ing_publication_found *p, const char *url, enum ing_part_type type)
{
	if (p->link_count == ING_MAX_PUBLICATION_LINKS) {
		cut(p);
		return;
	}
	p->links = grown(p->links, p->link_count, sizeof(*p->links));
	p->links[p->link_count++] =
		(struct ing_publication_link){.url = ing_strdup(url), .type = (uint8_t)type};
}

void ing_publication_add_author(
	struct ing_publication_found *p, struct ing_publication_author author)
{
	if (p->author_count == ING_MAX_PUBLICATION_AUTHORS) {
		author_done(&author);
		cut(p);
		return;
	}
	p->authors = grown(p->authors, p->author_count, sizeof(author));
	p->authors[p->author_count++] = author;
}
