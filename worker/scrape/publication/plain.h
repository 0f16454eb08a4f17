/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * plain.h - text that was meant to be plain and still has markup in it: titles and abstracts in
 * <meta> elements, which sites fill with what stands in their data bases.
 *
 * Tags are taken out (those of blocks leave a space), character references read once more, white
 * space folded, the ends trimmed. "x < y" and "p<0.05" are no tags. Pure; any thread; linear.
 */
#pragma once
#include "common/base/buf.h"

void ing_plain(const char *s, size_t bytes, struct ing_buf *out);
