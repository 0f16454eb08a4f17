/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * plain.h - plain text out of the values of records: titles, names and abstracts in which markup is written as
 * text, or escaped once more than the format asks for.
 *
 * Results are in the arena; NULL when there is nothing. s may be NULL. Linear in bytes. Pure; any thread.
 */
#pragma once
#include "common/base/arena.h"

/* One line: tags of formatting removed, character references decoded once (common/markup/strip_markup.h). */
const char *ing_publication_plain(struct ing_arena *ar, const char *s, size_t bytes);
/* Paragraphs divided by an empty line: headings, paragraphs, sections and line breaks that tags written as text
 * (<h4>, <p>, <jats:title> …) or empty lines divide. A first heading that says no more than "Abstract" is left
 * out. */
const char *ing_publication_plain_blocks(struct ing_arena *ar, const char *s, size_t bytes);
