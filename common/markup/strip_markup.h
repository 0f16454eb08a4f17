/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * strip_markup.h - plain text from values that should be plain but contain markup: titles, names
 * and abstracts in <meta> elements and JSON-LD, with tags of formatting, escaped once too often,
 * wrapped over lines.
 *
 * One level of character references is decoded (HTML 4's names and apos), then tags of formatting
 * (HTML, JATS, MathML, with any prefix) and comments are removed; those of blocks leave a space.
 * White space and control characters become single spaces, the ends are trimmed, zero-width spaces
 * and soft hyphens are dropped. A '<' that starts no such tag is kept: "x < y", "p<0.05", "a <b and
 * c> d", "vector<int>".
 *
 * Valid UTF-8 gives valid UTF-8; other bytes do no harm. The result is never longer than the input.
 * Linear in bytes. Pure; any thread.
 */
#pragma once
#include "common/base/buf.h"

/* Write to `out`, which has room for `bytes` and does not overlap s. Returns the bytes written,
 * without a NUL. */
size_t ing_strip_markup_into(const char *s, size_t bytes, char *out);
/* Append to out; when `bytes` do not fit, nothing is added and out fails. */
void ing_strip_markup(const char *s, size_t bytes, struct ing_buf *out);
