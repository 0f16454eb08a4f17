/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Europe PMC's search: records of all papers that have an identifier, which may be several, and other papers' than the
 * one that is meant. A record is taken only if none of its identifiers differs from a known one.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/macros.h"
#include "worker/document/publication/emails.h"
#include "worker/document/publication/ids.h"
#include "worker/document/publication/record.h"
#include "worker/document/xml/elements.h"

#define MAX_RESULTS 1000 /* looked at; an answer has 25 */

static struct ing_publication_ids ids_of(const struct ing_record *r, ing_node result)
{
	struct ing_arena *ar = r->arena;
	return (struct ing_publication_ids){
		.pmid = ing_publication_id(
			ar, ING_PART_PMID, ing_record_child_text(r, result, "pmid")),
		.pmcid = ing_publication_id(
			ar, ING_PART_PMCID, ing_record_child_text(r, result, "pmcid")),
		.doi = ing_publication_id(
			ar, ING_PART_DOI, ing_record_child_text(r, result, "doi")),
	};
}

/* Lower is better: MEDLINE, PMC, preprints, anything else. */
static unsigned rank_of_source(const struct ing_record *r, ing_node result)
{
	static const char *const sources[] = {"MED", "PMC", "PPR"};
	unsigned rank = 0;
	while (rank < ING_ARRAY_LEN(sources) &&
		!ing_record_child_is(r, result, "source", sources[rank]))
		rank++;
	return rank;
}

/* Returns the best record of those that contradict nothing, or NONE with a status. */
static ing_node choose(const struct ing_record *r, ing_node list)
{
	ing_node best = ING_NODE_NONE, n = ing_element_child(r->tree, list, "result");
	unsigned best_rank = UINT32_MAX, seen = 0;
	const char *contradiction = NULL;
	for (; n != ING_NODE_NONE && seen < MAX_RESULTS;
		n = ing_element_sibling(r->tree, n, "result"), seen++) {
		struct ing_publication_ids ids = ids_of(r, n);
		const char *other = ing_publication_contradiction(r->arena, r->ask, &ids);
		unsigned rank = rank_of_source(r, n);
		if (other != NULL) {
			contradiction = other;
		} else if (rank < best_rank) {
			best = n;
			best_rank = rank;
		}
	}
	if (best == ING_NODE_NONE && contradiction != NULL)
		ing_publication_fail(
			r->found, "wrong-record", "none of %u records has %s", seen, contradiction);
	else if (best == ING_NODE_NONE)
		ing_publication_fail(r->found, "no-record", "no results");
	return best;
}

static void read_mesh(const struct ing_record *r, ing_node result)
{
	struct ing_publication_term *terms = ing_alloc(ING_MAX_PUBLICATION_TERMS * sizeof(*terms));
	uint32_t count = 0;
	ing_node n = result;
	while (count < ING_MAX_PUBLICATION_TERMS &&
		(n = ing_tree_next_named(r->tree, n, result, "meshheading")) != ING_NODE_NONE) {
		const char *term = ing_record_child_text(r, n, "descriptorname");
		if (term != NULL)
			terms[count++] = (struct ing_publication_term){.term = ing_strdup(term),
				.major = ing_record_child_is(r, n, "majortopic_yn", "Y")};
	}
	ing_publication_offer_list(r->found, ING_PART_MESH, r->ask->type, terms, count);
}

static const char *orcid_of(const struct ing_record *r, ing_node author)
{
	ing_node n = author;
	while ((n = ing_tree_next_named(r->tree, n, author, "authorid")) != ING_NODE_NONE)
		if (ing_element_attr_is(r->tree, n, "type", "ORCID"))
			return ing_record_text(r, n);
	return NULL;
}

static void read_authors(const struct ing_record *r, ing_node result)
{
	ing_node list = ing_element_child(r->tree, result, "authorlist");
	ing_node n = ing_element_child(r->tree, list, "author");
	/* One more than there may be is dropped, and said to be. */
	for (unsigned seen = 0; n != ING_NODE_NONE && seen <= ING_MAX_PUBLICATION_AUTHORS;
		n = ing_element_sibling(r->tree, n, "author"), seen++) {
		const char *full = ing_record_child_text(r, n, "fullname");
		if (full == NULL)
			full = ing_record_child_text(r, n, "collectivename");
		ing_record_add_author(r, n, ing_record_child_text(r, n, "firstname"),
			ing_record_child_text(r, n, "lastname"), full, orcid_of(r, n));
	}
}

static unsigned flags_of(const struct ing_record *r, ing_node result)
{
	static const struct {
		const char *name, *value;
		unsigned flags;
	} said[] = {
		/* "N" says only that it is not among what may be had here. */
		{"isopenaccess", "Y", ING_PUBLICATION_OA | ING_PUBLICATION_HAS_XML},
		{"source", "PPR", ING_PUBLICATION_PREPRINT},
		{"inepmc", "Y", ING_PUBLICATION_IN_EPMC},
		{"haspdf", "Y", ING_PUBLICATION_HAS_PDF},
		{"hastextminedterms", "Y", ING_PUBLICATION_HAS_MINED},
	};
	unsigned flags = 0;
	for (size_t i = 0; i < ING_ARRAY_LEN(said); i++)
		if (ing_record_child_is(r, result, said[i].name, said[i].value))
			flags |= said[i].flags;
	return flags;
}

static void read_fields(const struct ing_record *r, ing_node result)
{
	struct ing_publication_found *found = r->found;
	ing_node journal = ing_element_child(
		r->tree, ing_element_child(r->tree, result, "journalinfo"), "journal");
	found->journal_title = ing_record_field(r, journal, "title");
	found->pub_date = ing_record_field(r, result, "firstpublicationdate");
	found->licence = ing_record_field(r, result, "license");
	found->flags = flags_of(r, result);
	const char *cited = ing_record_child_text(r, result, "citedbycount");
	char *end = NULL;
	long count = cited != NULL ? strtol(cited, &end, 10) : -1;
	if (count >= 0 && *end == '\0')
		found->citations = count;
}

/* -------------------------------------------------------------------------------------------- */

void ing_publication_read_europepmc(const struct ing_publication_ask *ask,
	const struct ing_publication_body *body, struct ing_publication_found *ret)
{
	struct ing_record r;
	if (!ing_record_open(&r, ask, body, NULL, ret))
		return;
	ing_node root = ing_record_root(&r);
	ing_node list = ing_element_child(r.tree, root, "resultlist");
	if (!ing_tree_is(r.tree, root, "responsewrapper")) {
		ing_publication_fail(ret, "bad-answer", "<%.100s> is no list of results",
			ing_tree_name(r.tree, root));
		return;
	}
	ing_node result = choose(&r, list);
	if (result == ING_NODE_NONE)
		return;
	struct ing_publication_ids ids = ids_of(&r, result);
	ing_publication_offer_ids(ask, &ids, ret);
	ing_record_offer(&r, ING_PART_TITLE, ing_element_child(r.tree, result, "title"));
	ing_record_offer_list(
		&r, ING_PART_KEYWORDS, ing_element_child(r.tree, result, "keywordlist"), "keyword");
	read_mesh(&r, result);
	ing_record_offer_blocks(
		&r, ING_PART_ABSTRACT, ing_element_child(r.tree, result, "abstracttext"));
	read_authors(&r, result);
	ing_publication_settle_emails(ret);
	read_fields(&r, result);
}
