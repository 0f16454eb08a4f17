/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * plain.h - the main text of a page as plain text.
 *
 * A block is a line; white space in it is folded, but for preformatted text. Inline markup adds
 * no blanks, cells of a table are divided by a tab. Any thread that owns the tree.
 */
#pragma once
#include "common/base/buf.h"
#include "worker/document/text/main_text.h"

/* Append the text of the kept nodes to out, whole characters up to its ceiling. */
void ing_main_text_plain(
	const struct ing_main_text *m, const struct ing_tree *t, struct ing_buf *out);
