/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * arXiv's answer to a query for an identifier (export.arxiv.org, Atom). The DOI that an author gave for
 * the published version is not the preprint's and left out.
 */
#include <string.h>
#include <strings.h>

#include "common/base/buf.h"
#include "worker/document/publication/record.h"
#include "worker/document/publication/service_json.h"
#include "worker/document/xml/elements.h"

#define DOI_PREFIX "10.48550/ARXIV."
#define MAX_ID_BYTES 64 /* "cond-mat.mes-hall/9901001v12" */

/* Sets id to the identifier behind "/abs/" without its version; "" when there is none. */
static void read_arxiv_id(const char *url, char id[MAX_ID_BYTES])
{
	const char *at = url != NULL ? strstr(url, "/abs/") : NULL;
	id[0] = '\0';
	if (at == NULL || strlen(at + 5) >= MAX_ID_BYTES)
		return;
	memcpy(id, at + 5, strlen(at + 5) + 1);
	size_t n = strlen(id), digits = n;
	while (digits > 0 && id[digits - 1] >= '0' && id[digits - 1] <= '9')
		digits--;
	if (digits < n && digits > 1 && id[digits - 1] == 'v')
		id[digits - 1] = '\0';
}

/* Whether the DOI that is asked for is another paper's of arXiv. */
static bool is_other(const struct ing_publication_ask *ask, const char *id)
{
	size_t n = sizeof(DOI_PREFIX) - 1;
	if (ask->doi == NULL || strncasecmp(ask->doi, DOI_PREFIX, n) != 0)
		return false;
	const char *asked = ask->doi + n;
	size_t bytes = strlen(id);
	/* "2101.00001", or that with a version */
	return strncasecmp(asked, id, bytes) != 0 ||
	       (asked[bytes] != '\0' && asked[bytes] != 'v' && asked[bytes] != 'V');
}

static void read_links(const struct ing_record *r, ing_node entry)
{
	ing_node n = entry;
	while ((n = ing_tree_next_named(r->tree, n, entry, "link")) != ING_NODE_NONE) {
		const char *url = ing_tree_attr(r->tree, n, "href", NULL);
		if (ing_element_attr_is(r->tree, n, "type", "application/pdf") ||
			ing_element_attr_is(r->tree, n, "title", "pdf"))
			ing_service_add_link(r->found, url, ING_PART_TYPE_PDF_ARXIV);
		else if (ing_element_attr_is(r->tree, n, "rel", "alternate"))
			ing_service_add_link(r->found, url, ING_PART_TYPE_LINK_ARXIV);
	}
}

static void read_authors(const struct ing_record *r, ing_node entry)
{
	ing_node n = ing_element_child(r->tree, entry, "author");
	for (; n != ING_NODE_NONE; n = ing_element_sibling(r->tree, n, "author"))
		ing_service_add_author(
			r->found, ing_record_child_text(r, n, "name"), NULL, NULL, NULL, false);
}

static void read_entry(const struct ing_record *r, ing_node entry, const char *id)
{
	struct ing_buf doi;
	ing_buf_init(&doi, 256);
	ing_buf_printf(&doi, DOI_PREFIX "%s", id);
	ing_service_offer_id(r->found, ING_PART_DOI, r->ask->type, ing_buf_str(&doi));
	ing_buf_done(&doi);
	ing_record_offer(r, ING_PART_TITLE, ing_element_child(r->tree, entry, "title"));
	ing_record_offer_blocks(r, ING_PART_ABSTRACT, ing_element_child(r->tree, entry, "summary"));
	ing_service_set_date(r->found, ing_record_child_text(r, entry, "published"));
	ing_service_set(&r->found->publisher, "arXiv");
	r->found->flags |= ING_PUBLICATION_PREPRINT | ING_PUBLICATION_OA;
	read_links(r, entry);
	read_authors(r, entry);
}

/* -------------------------------------------------------------------------------------------- */

void ing_publication_read_arxiv(const struct ing_publication_ask *ask,
	const struct ing_publication_body *body, struct ing_publication_found *ret)
{
	struct ing_record r;
	char id[MAX_ID_BYTES];
	if (!ing_record_open(&r, ask, body, NULL, ret))
		return;
	ing_node feed = ing_record_root(&r);
	ing_node entry = ing_element_child(r.tree, feed, "entry");
	read_arxiv_id(ing_record_child_text(&r, entry, "id"), id);
	if (!ing_tree_is(r.tree, feed, "feed"))
		ing_publication_fail(ret, "bad-answer", "the root is not <feed>");
	else if (id[0] == '\0' || ing_record_child_text(&r, entry, "title") == NULL)
		ing_publication_fail(ret, "no-record", "%.300s",
			entry != ING_NODE_NONE &&
					ing_record_child_text(&r, entry, "summary") != NULL
				? ing_record_child_text(&r, entry, "summary")
				: "no entry");
	else if (is_other(ask, id))
		ing_publication_fail(ret, "wrong-record", "it is about %s", id);
	else
		read_entry(&r, entry, id);
	ing_record_clear();
}
