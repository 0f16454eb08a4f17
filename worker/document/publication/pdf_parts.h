/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pdf_parts.h - what a PDF says of a publication: its text, its Info dictionary, its XMP. For the files
 * of this room only.
 */
#pragma once
#include "worker/document/publication/readers_priv.h"

/* Read a PDF that poppler has read. Offers have the type of a PDF that is named by a page of ask->type. */
void ing_read_pdf_parts(const struct ing_publication_ask *ask, const struct ing_pdf *pdf,
	struct ing_publication_found *ret);
/* Returns its text on the heap, pages divided by line feeds; NULL when there is none. */
char *ing_pdf_parts_text(const struct ing_pdf *pdf);
/* Returns its title by the Info dictionary, or else by XMP, on the heap; NULL when it has none, or one
 * that a program made of a file's name. */
char *ing_pdf_parts_title(const struct ing_pdf *pdf);
