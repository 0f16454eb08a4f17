/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * outer.h - a subtree written out as markup again, for people and tests to look at.
 *
 * HTML as the HTML Standard's fragment serialisation (13.3) has it; XML with empty elements as
 * <a/>. What the tree does not keep (doctype, processing instructions) is left out. Any thread that
 * owns the tree.
 */
#pragma once
#include "common/base/buf.h"
#include "common/markup/tree.h"

/* Append n's markup with all below it; of the document its children's, of a pseudo element its
 * text. Does not recurse. */
void ing_outer(const struct ing_tree *t, ing_node n, struct ing_buf *out);
