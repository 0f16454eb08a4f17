/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * tei_biblio.h - a bibliographic record in GROBID's TEI, as JSON.
 *
 * GROBID writes such records with the same elements into the header of a document (<teiHeader>) and
 * into a reference (<biblStruct>). Pure functions; runs in examiners. The time is linear in the
 * nodes, the output bounded.
 */
#pragma once
#include <stddef.h>

#include "common/data/json.h"
#include "common/markup/tree.h"

struct ing_tei_names;

/* What a record consists of, looked up in the names of one tree. Heap; free it before the tree is
 * cleared or changed. */
struct ing_tei_names *ing_tei_names_new(const struct ing_tree *t);
void ing_tei_names_free(struct ing_tei_names *names); /* NULL is fine */

/* The record of a reference or a header; absent members are left out: authors (a list, always there),
 * editors, unstructured, date, title, book_title, series_title, journal, journal_abbrev, publisher,
 * institution, issn, eissn, volume, issue, pages, first_page, last_page, note, doi, pmid, pmcid,
 * arxiv_id, pii, ark, istex_id, url. *room: bytes of JSON that it may take, less what it took; when
 * it is used up, further authors are left out. New reference. */
json_t *ing_tei_biblio(const struct ing_tei_names *names, ing_node record, size_t *room);

/* Text below an element with white space folded and trimmed; at most 8 KiB. Returns a heap string,
 * or NULL when there is none. `words`: elements separate words. */
char *ing_tei_text(const struct ing_tree *t, ing_node element, bool words);
