/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fulltext_html.h - the full text of a publication as HTML. It is kept as one plain text whose blocks are
 * divided by blank lines, section titles being blocks of their own; here they are found again. Pure.
 */
#pragma once
#include <stdbool.h>

struct ing_buf;

/* Append the text as paragraphs and headings (h3, h4). A title and an abstract (or NULL) with which it
 * begins are left out; returns whether they were. */
bool ing_fulltext_html(
	struct ing_buf *out, const char *text, const char *title, const char *abstract);
/* The text of a PDF, whose lines are those of the layout, with paragraphs as its lines and blank lines between
 * them: words that were divided at the end of a line are whole again. Heap. */
char *ing_fulltext_reflowed(const char *text);
/* Append a text's blocks as paragraphs, its lines as lines. */
void ing_paragraphs_html(struct ing_buf *out, const char *text);
