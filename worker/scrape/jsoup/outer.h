/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * outer.h - writes a subtree as markup, for people and tests.
 *
 * HTML by the HTML Standard's fragment serialisation (13.3); XML with empty elements as <a/>. What
 * the tree does not have (doctype, processing instructions) is left out. Any thread that owns the
 * tree.
 */
#pragma once
#include "common/base/buf.h"
#include "common/markup/tree.h"

/* Append the markup of n and its descendants; for the document that of its children, for a pseudo
 * element its text. Does not recurse. */
void ing_outer(const struct ing_tree *t, ing_node n, struct ing_buf *out);
