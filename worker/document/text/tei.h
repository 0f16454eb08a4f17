/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * tei.h - the main text of a page as a TEI P5 document: the kept nodes with their structure, and a
 * header made from the page's bibliographic record.
 *
 * Headings become nested <div>, lists, tables, figures, quotations, formulas, links and emphasis keep
 * their markup. The document is well-formed and valid whatever the page is. The cost is linear in
 * the nodes of the page; nothing recurses. Any thread that owns the tree.
 */
#pragma once
#include "common/base/buf.h"
#include "common/data/json.h"
#include "worker/document/text/main_text.h"

struct ing_tei_source {
	struct ing_tree *tree; /* links are resolved against its URL */
	const struct ing_main_text *main_text;
	const json_t *biblio;      /* the page's record (worker/scrape/biblio); NULL: none */
	const char *title;         /* where the record has none; or NULL */
	const char *language;      /* BCP 47 tag; or NULL */
	const char *agent;         /* program that makes the document, */
	const char *agent_version; /* and its version: digits and full stops */
};

/* Append the document to out. Returns false when it does not fit; out is of no use then. */
bool ing_tei_write(const struct ing_tei_source *source, struct ing_buf *out);
