/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * article_body.h - the text of an article as the page itself states it: `articleBody` of a schema.org
 * description in <script type="application/ld+json">.
 *
 * Pure. JSON that is too large or too deep is not read; the cost is linear in the bytes of the scripts.
 */
#pragma once
#include "common/base/buf.h"
#include "common/markup/tree.h"

#define ING_MAX_ARTICLE_BODY_BYTES ((size_t)1 << 20)

/* Append the articleBody of the page to out, without tags, a paragraph a line: split at its line
 * breaks and at tags of blocks, white space folded. Of several the longest; none if another one that
 * differs is at least half as long, as on pages that list articles. Returns whether there is one. */
bool ing_article_body_read(const struct ing_tree *t, struct ing_buf *out);
