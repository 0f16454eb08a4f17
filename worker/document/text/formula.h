/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * formula.h - formulas of a page as TEI's <formula>: MathML as MathML, TeX as text.
 *
 * Pure; any thread that owns the tree.
 */
#pragma once
#include "common/markup/tree.h"
#include "worker/document/text/tei_xml.h"

/* Write a <math> element with what is in it: presentation MathML and its TeX, nothing else. */
void ing_formula_mathml(struct ing_tei_xml *x, const struct ing_tree *t, ing_node math);
/* Returns the TeX of a <script type="math/tex"> or of a picture of a formula (its alt), borrowed,
 * or NULL when it is none. */
const char *ing_formula_tex_of(const struct ing_tree *t, ing_node n, bool *ret_display);
void ing_formula_tex(struct ing_tei_xml *x, const char *tex, bool display);
