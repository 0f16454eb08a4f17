/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * strip_markup.h - text that was meant to be plain and is not: titles, names and abstracts in <meta>
 * elements and JSON-LD, which templates fill with what stands in their data bases, tags of its
 * formatting in it, escaped once too often, wrapped over lines.
 *
 * One round of character references is undone (HTML 4's names and apos), then tags of formatting
 * (HTML, JATS, MathML, under any prefix) and comments are taken out, those of blocks leaving a
 * space. White space and control characters are folded to single spaces, the ends trimmed,
 * zero-width spaces and soft hyphens dropped. A '<' that begins no such tag stays: "x < y",
 * "p<0.05", "a <b and c> d", "vector<int>".
 *
 * Valid UTF-8 gives valid UTF-8; other bytes do no harm. Never longer than it came. Linear in
 * bytes. Pure; any thread.
 */
#pragma once
#include "common/base/buf.h"

/* To `out`, which has room for `bytes` and does not overlap with s. Returns the bytes written; no
 * NUL behind. */
size_t ing_strip_markup_into(const char *s, size_t bytes, char *out);
/* Append it. Where `bytes` do not fit below out's ceiling nothing is added and out fails. */
void ing_strip_markup(const char *s, size_t bytes, struct ing_buf *out);
