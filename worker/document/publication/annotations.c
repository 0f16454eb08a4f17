/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Terms that Europe PMC has mined: an annotation for each place in the text. Those of one concept (URI) are one term,
 * by its most frequent spelling. They are sorted to be grouped, so that a million of them cost little.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/macros.h"
#include "worker/document/publication/ids.h"
#include "worker/document/publication/record.h"
#include "worker/document/xml/elements.h"

#define MAX_ANNOTATIONS 200000u /* the longest papers have thousands */
#define MAX_COUNT 1000000000u

struct mention {
	const char *uri; /* NULL: none */
	const char *exact;
	uint32_t count;
	uint32_t place; /* in the answer */
};

struct concept {
	const struct mention *name; /* of the most frequent spelling */
	uint64_t count;
	uint32_t place; /* of the first mention */
};

/* "" before others, as it is of none. */
static const char *group_of(const struct mention *m)
{
	return m->uri != NULL ? m->uri : m->exact;
}

static int by_concept(const void *a, const void *b)
{
	const struct mention *x = a, *y = b;
	int c = strcmp(group_of(x), group_of(y));
	if (c == 0)
		c = strcmp(x->exact, y->exact);
	if (c == 0)
		c = x->place < y->place ? -1 : x->place > y->place;
	return c;
}

static int by_count(const void *a, const void *b)
{
	const struct concept *x = a, *y = b;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

/* How often: 1 where it is not said, or is no number. */
static uint32_t frequency_of(const struct ing_record *r, ing_node annotation)
{
	const char *text = ing_record_child_text(r, annotation, "frequency");
	char *end = NULL;
	long n = text != NULL ? strtol(text, &end, 10) : 1;
	if (text != NULL && *end != '\0')
		return 1;
	return n <= 0 ? 0 : (uint32_t)ING_MIN(n, (long)MAX_COUNT);
}

/* Whether the article that the annotations are of is another one. */
static const char *contradiction_of(const struct ing_record *r, ing_node annotation)
{
	const struct ing_tree *t = r->tree;
	ing_node list = t->nodes[annotation].parent;
	ing_node item = list != ING_NODE_NONE ? t->nodes[list].parent : ING_NODE_NONE;
	if (item == ING_NODE_NONE)
		return NULL;
	bool medline = ing_record_child_is(r, item, "source", "MED");
	struct ing_publication_ids ids = {
		.pmid = medline ? ing_publication_id(r->arena, ING_PART_PMID,
					  ing_record_child_text(r, item, "extid"))
				: NULL,
		.pmcid = ing_publication_id(
			r->arena, ING_PART_PMCID, ing_record_child_text(r, item, "pmcid")),
	};
	return ing_publication_contradiction(r->arena, r->ask, &ids);
}

/* All of them that are of the article. Returns their number; *ret_other: some are of another article. */
static uint32_t read_mentions(
	const struct ing_record *r, struct mention *mentions, const char **ret_other)
{
	uint32_t count = 0;
	ing_node list = ING_NODE_NONE; /* of the last one, which was looked at */
	const char *other = NULL;
	ing_node n = ING_NODE_DOCUMENT;
	while (count < MAX_ANNOTATIONS && (n = ing_tree_next_named(r->tree, n, ING_NODE_DOCUMENT,
						   "exact")) != ING_NODE_NONE) {
		ing_node annotation = r->tree->nodes[n].parent;
		if (list != r->tree->nodes[annotation].parent) {
			list = r->tree->nodes[annotation].parent;
			other = contradiction_of(r, annotation);
			*ret_other = other != NULL ? other : *ret_other;
		}
		const char *exact = ing_record_text(r, n);
		uint32_t times = frequency_of(r, annotation);
		if (other != NULL || exact == NULL || times == 0)
			continue;
		ing_node tags = ing_element_child(r->tree, annotation, "tags");
		mentions[count] = (struct mention){
			.uri = ing_record_text(r, ing_element_below(r->tree, tags, "uri")),
			.exact = exact,
			.count = times,
			.place = count};
		count++;
	}
	return count;
}

/* Sums up mentions[0 … n), all of one concept and sorted by spelling. */
static struct concept sum_up(const struct mention *mentions, uint32_t n)
{
	struct concept c = {.name = mentions, .place = UINT32_MAX};
	uint64_t best = 0;
	for (uint32_t i = 0; i < n;) {
		const struct mention *first = &mentions[i];
		uint64_t times = 0;
		for (; i < n && strcmp(mentions[i].exact, first->exact) == 0; i++)
			times += mentions[i].count;
		c.count += times;
		c.place = ING_MIN(c.place, first->place);
		if (times > best || (times == best && first->place < c.name->place)) {
			best = times;
			c.name = first;
		}
	}
	return c;
}

static uint32_t group(struct mention *mentions, uint32_t count, struct concept *concepts)
{
	uint32_t groups = 0;
	qsort(mentions, count, sizeof(*mentions), by_concept);
	for (uint32_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count &&
				  strcmp(group_of(&mentions[i]), group_of(&mentions[end])) == 0 &&
				  (mentions[i].uri == NULL) == (mentions[end].uri == NULL);
			end++)
			;
		concepts[groups++] = sum_up(&mentions[i], end - i);
	}
	qsort(concepts, groups, sizeof(*concepts), by_count);
	return groups;
}

static void offer(const struct ing_record *r, enum ing_part_key part,
	const struct concept *concepts, uint32_t count)
{
	/* One more than there may be: it is dropped, and said to be. */
	uint32_t kept = ING_MIN(count, ING_MAX_PUBLICATION_TERMS + 1);
	struct ing_publication_term *terms = ing_alloc((kept + 1) * sizeof(*terms));
	for (uint32_t i = 0; i < kept; i++) {
		const struct mention *name = concepts[i].name;
		terms[i] = (struct ing_publication_term){.term = ing_strdup(name->exact),
			.uri = name->uri != NULL ? ing_strdup(name->uri) : NULL,
			.count = (uint32_t)ING_MIN(concepts[i].count, (uint64_t)MAX_COUNT)};
	}
	ing_publication_offer_list(r->found, part, r->ask->type, terms, kept);
}

static void read_terms(enum ing_part_key part, const struct ing_publication_ask *ask,
	const struct ing_publication_body *body, struct ing_publication_found *ret)
{
	struct ing_record r;
	if (!ing_record_open(&r, ask, body, NULL, ret))
		return;
	uint32_t places = 0;
	ing_tree_named(r.tree, ing_tree_find_name(r.tree, "exact", 5), &places);
	places = ING_MIN(places, MAX_ANNOTATIONS);
	struct mention *mentions = ing_alloc((places + 1) * sizeof(*mentions));
	struct concept *concepts = ing_alloc((places + 1) * sizeof(*concepts));
	const char *other = NULL;
	uint32_t count = read_mentions(&r, mentions, &other);
	if (count > 0)
		offer(&r, part, concepts, group(mentions, count, concepts));
	else if (other != NULL)
		ing_publication_fail(
			ret, "wrong-record", "annotations of another paper than %s", other);
	else
		ing_publication_fail(ret, "no-record", "no annotations");
	free(mentions);
	free(concepts);
}

/* -------------------------------------------------------------------------------------------- */

void ing_publication_read_efo(const struct ing_publication_ask *ask,
	const struct ing_publication_body *body, struct ing_publication_found *ret)
{
	read_terms(ING_PART_EFO, ask, body, ret);
}

void ing_publication_read_go(const struct ing_publication_ask *ask,
	const struct ing_publication_body *body, struct ing_publication_found *ret)
{
	read_terms(ING_PART_GO, ask, body, ret);
}
