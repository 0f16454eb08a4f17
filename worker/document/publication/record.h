/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * record.h - one record of a service that answers in XML: its tree, and offers out of its elements.
 *
 * The tree and the arena are kept from body to body, until ing_record_clear(). One thread.
 */
#pragma once
#include "common/base/arena.h"
#include "common/markup/tree.h"
#include "worker/document/publication/readers_priv.h"

#define ING_MAX_RECORD_FIELD_BYTES ((size_t)64 << 10) /* what is no text of a part */

struct ing_record {
	const struct ing_publication_ask *ask;
	struct ing_publication_found *found;
	struct ing_tree *tree;
	struct ing_arena *arena;
};

/* Parse the body; names without the root's prefix. hollow: as in struct ing_xml_uses. Returns false when there is no
 * tree: the status of `found` says why. What is cut has a tree of its beginning and the status "too-large". */
bool ing_record_open(struct ing_record *r, const struct ing_publication_ask *ask,
	const struct ing_publication_body *body, const char *const *hollow,
	struct ing_publication_found *found);
void ing_record_clear(void);
/* Returns the root element. There is one. */
ing_node ing_record_root(const struct ing_record *r);

/* Returns the text of an element, at most ING_MAX_RECORD_FIELD_BYTES of it, plain (plain.h), in the arena; NULL when
 * there is none. n may be NONE. */
const char *ing_record_text(const struct ing_record *r, ing_node n);
/* The same of the first child of that name. */
const char *ing_record_child_text(const struct ing_record *r, ing_node n, const char *name);
/* The same as heap. */
char *ing_record_field(const struct ing_record *r, ing_node n, const char *name);
/* Whether the first child of that name says this, in any ASCII case. */
bool ing_record_child_is(
	const struct ing_record *r, ing_node n, const char *name, const char *text);

/* Offer the element's text as the ask's type: one line, or paragraphs (plain.h). */
void ing_record_offer(const struct ing_record *r, enum ing_part_key part, ing_node n);
void ing_record_offer_blocks(const struct ing_record *r, enum ing_part_key part, ing_node n);
/* Offer the texts of all elements of that name below n as a list; none twice. n may be NONE. */
void ing_record_offer_list(
	const struct ing_record *r, enum ing_part_key part, ing_node n, const char *name);

/* Add an author: "given family", the first e-mail address in the texts of elements named `affiliation` below n, and
 * with that a corresponding one. family NULL: known by `other` alone, and not corresponding. */
void ing_record_add_author(const struct ing_record *r, ing_node n, const char *given,
	const char *family, const char *other, const char *orcid);
