/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * jats.h - the parts of a publication that its JATS document has.
 *
 * Reads a tree that xml.h made of the document, leaving out the elements of ing_jats_hollow. Pure;
 * any thread that owns the tree.
 */
#pragma once
#include "common/base/arena.h"
#include "common/data/json.h"
#include "common/markup/tree.h"
#include "worker/scrape/publication/corresponding_authors.h"
#include "worker/scrape/publication/publication.h"

/* Elements whose contents are no part of any text: a list of names for struct ing_xml_uses. */
extern const char *const ing_jats_hollow[];

struct ing_jats_author {
	struct ing_author is;
	bool corresponding;
};

/* What a document says of its publication; in the arena and the tree. */
struct ing_jats {
	const struct ing_publication_fields *fields; /* its authors are the corresponding ones */
	const struct ing_jats_author *authors;       /* all of them, in their order */
	size_t author_count;
	const char *licence;   /* a URL, or words; NULL */
	const char *publisher; /* NULL */
	bool is_manuscript;    /* an author's, as PMC has it */
	bool is_preprint;
};

/* Read the first <article> of the document: all parts of this type. Returns false when there is none. Formulas of
 * the tree that are written twice keep one of their forms, headings and notes that are no text have none: the
 * tree is no longer what was written. */
bool ing_jats_read(
	struct ing_tree *t, enum ing_part_type type, struct ing_arena *ar, struct ing_jats *ret);
/* Returns the parts of the first <article> of the document, in the form that ing_publication_json()
 * gives, all of this type; NULL when there is none. A new reference. */
json_t *ing_jats_publication(struct ing_tree *t, enum ing_part_type type, struct ing_arena *ar);
