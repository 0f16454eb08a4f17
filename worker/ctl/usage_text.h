/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * usage_text.h - the texts of tables (worker/ctl/usage.h) as lines for a terminal, and as mdoc. Pure.
 */
#pragma once
#include <stddef.h>

struct ing_buf;

/* As lines of at most width columns, each begun with `indent` blanks and ended; paragraphs with an empty line between. A
 * word that is longer than a line stands alone. */
void ing_usage_add_lines(struct ing_buf *to, const char *text, size_t indent, size_t width);
/* As mdoc: paragraphs, lists, displays. The first paragraph begins without .Pp. Options (--name) are set in bold. */
void ing_usage_add_mdoc(struct ing_buf *to, const char *text);
/* One line of running text without what roff would take for its own. */
void ing_usage_add_escaped(struct ing_buf *to, const char *text);
/* Columns of UTF-8 text in which each character has one. */
size_t ing_usage_columns(const char *text, size_t bytes);
