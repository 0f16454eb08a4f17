/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * jats_priv.h - reading the tree of a JATS document; for the files jats*.c only.
 */
#pragma once
#include "common/base/arena.h"
#include "common/base/buf.h"
#include "common/markup/tree.h"
#include "worker/document/xml/elements.h"
#include "worker/document/xml/jats.h"

/* Make formulas that are written twice have one text, and TeX no preamble (jats_math.c). */
void ing_jats_tidy_math(struct ing_tree *t, ing_node article, struct ing_arena *ar);
/* The authors that the front names (jats_authors.c): all of them, into ret->authors. Returns the corresponding
 * ones. */
struct ing_authors ing_jats_authors(const struct ing_tree *t, ing_node article_meta,
	struct ing_arena *ar, struct ing_jats *ret);
