/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * PubMed's records, as E-utilities give them. Identifiers are those of the article's own list: its references have
 * lists of their own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/macros.h"
#include "worker/document/publication/emails.h"
#include "worker/document/publication/ids.h"
#include "worker/document/publication/plain.h"
#include "worker/document/publication/record.h"
#include "worker/document/xml/elements.h"

#define MAX_ARTICLES 1000 /* looked at; one is asked for */
#define PREPRINT_UI "D000076942"

static ing_node below(const struct ing_record *r, ing_node n, const char *a, const char *b)
{
	return ing_element_child(r->tree, ing_element_child(r->tree, n, a), b);
}

/* The text of the child of that name with this attribute; NULL: there is none. */
static const char *text_with(const struct ing_record *r, ing_node parent, const char *name,
	const char *attr, const char *value)
{
	ing_node n = ing_element_child(r->tree, parent, name);
	while (n != ING_NODE_NONE && !ing_element_attr_is(r->tree, n, attr, value))
		n = ing_element_sibling(r->tree, n, name);
	return ing_record_text(r, n);
}

static struct ing_publication_ids ids_of(const struct ing_record *r, ing_node article)
{
	ing_node list = below(r, article, "pubmeddata", "articleidlist");
	ing_node citation = ing_element_child(r->tree, article, "medlinecitation");
	const char *pmid = text_with(r, list, "articleid", "idtype", "pubmed");
	const char *doi = text_with(r, list, "articleid", "idtype", "doi");
	if (pmid == NULL)
		pmid = ing_record_child_text(r, citation, "pmid");
	if (doi == NULL)
		doi = text_with(r, ing_element_child(r->tree, citation, "article"), "elocationid",
			"eidtype", "doi");
	return (struct ing_publication_ids){
		.pmid = ing_publication_id(r->arena, ING_PART_PMID, pmid),
		.pmcid = ing_publication_id(
			r->arena, ING_PART_PMCID, text_with(r, list, "articleid", "idtype", "pmc")),
		.doi = ing_publication_id(r->arena, ING_PART_DOI, doi),
	};
}

/* The record of the PMID that was asked for. Its other identifiers may differ from what is known: whether they are
 * the right ones is not for a reader to say. */
static ing_node find(const struct ing_record *r)
{
	const char *asked = ing_publication_id(r->arena, ING_PART_PMID, r->ask->pmid);
	unsigned seen = 0;
	for (ing_node n = ING_NODE_DOCUMENT; seen < MAX_ARTICLES; seen++) {
		n = ing_tree_next_named(r->tree, n, ING_NODE_DOCUMENT, "pubmedarticle");
		if (n == ING_NODE_NONE)
			break;
		const char *pmid = ids_of(r, n).pmid;
		if (asked == NULL || pmid == NULL || strcmp(asked, pmid) == 0)
			return n;
	}
	if (seen > 0)
		ing_publication_fail(
			r->found, "wrong-record", "none of %u records has PMID %s", seen, asked);
	else
		ing_publication_fail(r->found, "no-record", "no PubmedArticle");
	return ING_NODE_NONE;
}

static void read_mesh(const struct ing_record *r, ing_node citation)
{
	struct ing_publication_term *terms = ing_alloc(ING_MAX_PUBLICATION_TERMS * sizeof(*terms));
	uint32_t count = 0;
	ing_node list = ing_element_child(r->tree, citation, "meshheadinglist");
	ing_node n = ing_element_child(r->tree, list, "meshheading");
	for (; n != ING_NODE_NONE && count < ING_MAX_PUBLICATION_TERMS;
		n = ing_element_sibling(r->tree, n, "meshheading")) {
		ing_node descriptor = ing_element_child(r->tree, n, "descriptorname");
		const char *term = ing_record_text(r, descriptor);
		if (term == NULL)
			continue;
		const char *id = ing_tree_attr(r->tree, descriptor, "ui", NULL);
		terms[count++] = (struct ing_publication_term){.term = ing_strdup(term),
			.uri = id != NULL && *id != '\0' ? ing_strdup(id) : NULL,
			.major = ing_element_attr_is(r->tree, descriptor, "majortopicyn", "Y")};
	}
	ing_publication_offer_list(r->found, ING_PART_MESH, r->ask->type, terms, count);
}

/* Sections as paragraphs. An abstract in another language is taken only where there is none in English. */
static void read_abstract(const struct ing_record *r, ing_node citation, ing_node article)
{
	struct ing_buf all;
	ing_buf_init(&all, ING_MAX_PUBLICATION_TEXT_BYTES);
	ing_node abstract = ing_element_child(r->tree, article, "abstract");
	if (abstract == ING_NODE_NONE)
		abstract = ing_element_child(r->tree, citation, "otherabstract");
	ing_node n = ing_element_child(r->tree, abstract, "abstracttext");
	for (; n != ING_NODE_NONE; n = ing_element_sibling(r->tree, n, "abstracttext")) {
		const char *text =
			ing_element_text_dup(r->tree, n, r->arena, ING_MAX_PUBLICATION_TEXT_BYTES);
		if (text != NULL)
			text = ing_publication_plain_blocks(r->arena, text, strlen(text));
		if (text != NULL)
			ing_buf_printf(&all, "%s%s", all.len > 0 ? "\n\n" : "", text);
	}
	ing_publication_offer_text(
		r->found, ING_PART_ABSTRACT, r->ask->type, ing_buf_str(&all), all.len);
	ing_buf_done(&all);
}

static void read_authors(const struct ing_record *r, ing_node article)
{
	ing_node list = ing_element_child(r->tree, article, "authorlist");
	ing_node n = ing_element_child(r->tree, list, "author");
	/* One more than there may be is dropped, and said to be. */
	for (unsigned seen = 0; n != ING_NODE_NONE && seen <= ING_MAX_PUBLICATION_AUTHORS;
		n = ing_element_sibling(r->tree, n, "author"), seen++)
		ing_record_add_author(r, n, ing_record_child_text(r, n, "forename"),
			ing_record_child_text(r, n, "lastname"),
			ing_record_child_text(r, n, "collectivename"),
			text_with(r, n, "identifier", "source", "ORCID"));
}

static int number_of(const char *text, int min, int max)
{
	char *end = NULL;
	long n = text != NULL ? strtol(text, &end, 10) : -1;
	return text != NULL && *end == '\0' && n >= min && n <= max ? (int)n : -1;
}

/* "07" and "Jul" are 7. */
static int month_of(const char *text)
{
	static const char *const names[] = {
		"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"};
	for (int i = 0; text != NULL && i < (int)ING_ARRAY_LEN(names); i++)
		if (strcasecmp(text, names[i]) == 0)
			return i + 1;
	return number_of(text, 1, 12);
}

/* Returns the date on heap, or NULL. whole: without a month or a day it is none; else they are the first. */
static char *date_of(const struct ing_record *r, ing_node n, bool whole)
{
	char date[48];
	int year = number_of(ing_record_child_text(r, n, "year"), 1000, 9999);
	int month = month_of(ing_record_child_text(r, n, "month"));
	int day = number_of(ing_record_child_text(r, n, "day"), 1, 31);
	if (year < 0 || (whole && (month < 0 || day < 0)))
		return NULL;
	snprintf(date, sizeof(date), "%04d-%02d-%02d", year, ING_MAX(month, 1), ING_MAX(day, 1));
	return ing_strdup(date);
}

static void read_fields(const struct ing_record *r, ing_node article)
{
	const struct ing_tree *t = r->tree;
	ing_node journal = ing_element_child(t, article, "journal");
	r->found->journal_title = ing_record_field(r, journal, "title");
	r->found->pub_date = date_of(r, ing_element_child(t, article, "articledate"), false);
	if (r->found->pub_date == NULL)
		r->found->pub_date = date_of(r, below(r, journal, "journalissue", "pubdate"), true);
	ing_node types = ing_element_child(t, article, "publicationtypelist");
	if (text_with(r, types, "publicationtype", "ui", PREPRINT_UI) != NULL)
		r->found->flags |= ING_PUBLICATION_PREPRINT;
}

/* -------------------------------------------------------------------------------------------- */

void ing_publication_read_pubmed_xml(const struct ing_publication_ask *ask,
	const struct ing_publication_body *body, struct ing_publication_found *ret)
{
	struct ing_record r;
	if (!ing_record_open(&r, ask, body, NULL, ret))
		return;
	ing_node root = ing_record_root(&r);
	if (!ing_tree_is(r.tree, root, "pubmedarticleset")) {
		ing_publication_fail(ret, "bad-answer", "<%.100s> is no set of articles",
			ing_tree_name(r.tree, root));
		return;
	}
	ing_node record = find(&r);
	if (record == ING_NODE_NONE)
		return;
	ing_node citation = ing_element_child(r.tree, record, "medlinecitation");
	ing_node article = ing_element_child(r.tree, citation, "article");
	struct ing_publication_ids ids = ids_of(&r, record);
	ing_publication_offer_ids(ask, &ids, ret);
	ing_record_offer(&r, ING_PART_TITLE, ing_element_child(r.tree, article, "articletitle"));
	ing_record_offer_list(&r, ING_PART_KEYWORDS, citation, "keyword");
	read_mesh(&r, citation);
	read_abstract(&r, citation, article);
	read_authors(&r, article);
	ing_publication_settle_emails(ret);
	read_fields(&r, article);
}
