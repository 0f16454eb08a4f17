/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Full text XML of Europe PMC and PMC: JATS, perhaps in a set.
 */
#include <string.h>

#include "common/base/macros.h"
#include "worker/document/publication/ids.h"
#include "worker/document/publication/record.h"
#include "worker/document/xml/elements.h"
#include "worker/document/xml/jats.h"
#include "worker/scrape/publication/fields_found.h"

static char *copy_or_null(const char *s)
{
	return s != NULL ? ing_strdup(s) : NULL;
}

static const char *id_of(const struct ing_publication_fields *fields, enum ing_part_key key)
{
	const struct ing_part *p = &fields->parts.items[key];
	return p->size > 0 ? p->content.text : NULL;
}

/* Articles are kept by PMCID, and some have a wrong PMID or DOI in their front: the first identifier that both have
 * decides whether it is the one that is meant. */
static const char *contradiction_of(
	const struct ing_record *r, const struct ing_publication_fields *fields)
{
	struct ing_publication_ask known = *r->ask;
	const struct ing_publication_ids ids = {.pmid = id_of(fields, ING_PART_PMID),
		.pmcid = id_of(fields, ING_PART_PMCID),
		.doi = id_of(fields, ING_PART_DOI)};
	if (known.pmcid != NULL && ids.pmcid != NULL)
		known.pmid = known.doi = NULL;
	else if (known.pmid != NULL && ids.pmid != NULL)
		known.doi = NULL;
	return ing_publication_contradiction(r->arena, &known, &ids);
}

static void add_authors(const struct ing_record *r, const struct ing_jats *jats)
{
	for (size_t i = 0; i < jats->author_count; i++) {
		const struct ing_author *a = &jats->authors[i].is;
		ing_publication_add_author(
			r->found, (struct ing_publication_author){
					  .name = copy_or_null(a->name),
					  .orcid = copy_or_null(a->orcid),
					  .email = copy_or_null(a->email),
					  .phone = copy_or_null(a->phone),
					  .uri = copy_or_null(a->uri),
					  .corresponding = jats->authors[i].corresponding,
				  });
	}
}

/* Why there is no article: PMC says it in an attribute. */
static void fail_without_article(const struct ing_record *r)
{
	ing_node root = ing_record_root(r);
	ing_node reply = ing_element_below(r->tree, ING_NODE_DOCUMENT, "reply");
	const char *error =
		reply != ING_NODE_NONE ? ing_tree_attr(r->tree, reply, "error", NULL) : NULL;
	if (ing_tree_is(r->tree, root, "pmc-articleset"))
		ing_publication_fail(r->found, "no-record", "%.200s",
			error != NULL ? error : "the set has no article");
	else
		ing_publication_fail(r->found, "bad-answer", "<%.100s> has no article",
			ing_tree_name(r->tree, root));
}

/* -------------------------------------------------------------------------------------------- */

void ing_publication_read_jats(const struct ing_publication_ask *ask,
	const struct ing_publication_body *body, struct ing_publication_found *ret)
{
	struct ing_record r;
	struct ing_jats jats;
	if (!ing_record_open(&r, ask, body, ing_jats_hollow, ret))
		return;
	if (!ing_jats_read(r.tree, ask->type, r.arena, &jats)) {
		fail_without_article(&r);
		return;
	}
	const char *other = contradiction_of(&r, jats.fields);
	if (other != NULL) {
		ing_publication_fail(ret, "wrong-record", "the article is not that of %s", other);
		return;
	}
	struct ing_publication_fields fields = *jats.fields;
	fields.authors = (struct ing_authors){0};
	ing_publication_fields_add(&fields, ask->parts, ret);
	add_authors(&r, &jats);
	ret->licence = copy_or_null(jats.licence);
	ret->publisher = copy_or_null(jats.publisher);
	ret->flags |= (jats.is_manuscript ? ING_PUBLICATION_MANUSCRIPT : 0u) |
		      (jats.is_preprint ? ING_PUBLICATION_PREPRINT : 0u);
}
