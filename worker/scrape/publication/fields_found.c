/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each part of the fields is one offer: that a worse value was there before it changes nothing for
 * whoever takes the offer.
 */
#include "worker/scrape/publication/fields_found.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/macros.h"
#include "common/base/utf8.h"

static char *copy_or_null(const char *s)
{
	return s != NULL && *s != '\0' ? ing_utf8_clean(s, strlen(s), NULL) : NULL;
}

static void add_text(
	const struct ing_part *p, enum ing_part_key key, struct ing_publication_found *ret)
{
	if (ing_utf8_valid(p->content.text, p->content.bytes))
		ing_publication_offer_text(ret, key, p->type, p->content.text, p->content.bytes);
}

static void add_list(
	const struct ing_part *p, enum ing_part_key key, struct ing_publication_found *ret)
{
	size_t count = ING_MIN(p->size, (size_t)ING_MAX_PUBLICATION_TERMS);
	struct ing_publication_term *terms = ing_alloc(count * sizeof(*terms));
	uint32_t kept = 0;
	for (size_t i = 0; i < count; i++) {
		if (!ing_utf8_valid(p->list[i].text, p->list[i].bytes))
			continue;
		terms[kept++] = (struct ing_publication_term){
			.term = ing_strndup(p->list[i].text, p->list[i].bytes),
			.major = p->majors != NULL && p->majors[i]};
	}
	ing_publication_offer_list(ret, key, p->type, terms, kept);
}

static void add_author(const struct ing_author *a, struct ing_publication_found *ret)
{
	ing_publication_add_author(ret, (struct ing_publication_author){
						.name = copy_or_null(a->name),
						.orcid = copy_or_null(a->orcid),
						.email = copy_or_null(a->email),
						.phone = copy_or_null(a->phone),
						.uri = copy_or_null(a->uri),
						.corresponding = true,
					});
}

static void set_once(char **field, const char *value)
{
	if (*field == NULL)
		*field = copy_or_null(value);
}

/* -------------------------------------------------------------------------------------------- */

bool ing_publication_wants(unsigned parts, enum ing_part_key key)
{
	return parts == 0 || key <= ING_PART_DOI || (parts & (1u << key)) != 0;
}

void ing_publication_fields_add(const struct ing_publication_fields *fields, unsigned parts,
	struct ing_publication_found *ret)
{
	for (unsigned i = 0; i < ING_PARTS_; i++) {
		enum ing_part_key key = (enum ing_part_key)i;
		const struct ing_part *p = &fields->parts.items[i];
		if (p->size == 0 || !ing_publication_wants(parts, key))
			continue;
		if (p->list != NULL)
			add_list(p, key, ret);
		else
			add_text(p, key, ret);
	}
	for (size_t i = 0; i < fields->links.count; i++)
		ing_publication_add_link(
			ret, fields->links.items[i].url, fields->links.items[i].type);
	for (size_t i = 0; i < fields->authors.count; i++)
		add_author(&fields->authors.items[i], ret);
	set_once(&ret->journal_title, fields->journal_title);
	set_once(&ret->pub_date, fields->pub_date);
	if (fields->oa)
		ret->flags |= ING_PUBLICATION_OA;
}
