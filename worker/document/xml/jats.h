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
#include "worker/scrape/publication/publication.h"

/* Elements whose contents are no part of any text: a list of names for struct ing_xml_uses. */
extern const char *const ing_jats_hollow[];

/* Returns the parts of the first <article> of the document, in the form that ing_publication_json()
 * gives, all of this type; NULL when there is none. A new reference. Formulas of the tree that are
 * written twice keep one of their forms: the tree is no longer what was written. */
json_t *ing_jats_publication(struct ing_tree *t, enum ing_part_type type, struct ing_arena *ar);
