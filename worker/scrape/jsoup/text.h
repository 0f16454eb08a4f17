/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * text.h - the text of an element, as jsoup 1.16.1 gives it and PubFetcher's rules were written
 * for.
 *
 * White space here is space, tab, LF, FF, CR; "actual" white space is that and U+00A0. U+200B and
 * U+00AD are dropped wherever white space is normalised. Results are appended to a buffer and cut
 * at its ceiling after a whole character (then buf->failed). Nothing recurses; the cost is linear
 * in the subtree. Any thread that owns the tree.
 */
#pragma once
#include "common/base/buf.h"
#include "common/markup/tree.h"

/* text(): runs of actual white space are one space (kept as they are below pre, textarea, title,
 * plaintext, and in CDATA), blocks and <br> divide, trimmed of bytes up to U+0020. Scripts, styles
 * and comments are no text. n may be a text node. */
void ing_text(const struct ing_tree *t, ing_node n, struct ing_buf *out);
/* Append the whole page's text, untrimmed, to out (empty, with a ceiling below 4 GiB), and set the
 * range of each element n in it: out[from[n]] up to out[to[n]], which trimmed is its ing_text().
 * For the texts of many nested elements. from and to have an entry for each node; only those of
 * elements are set. Returns false at the ceiling. */
bool ing_text_map(const struct ing_tree *t, struct ing_buf *out, uint32_t *from, uint32_t *to);
/* ownText(): direct text nodes only, normalised, direct <br> is a space, trimmed. */
void ing_text_own(const struct ing_tree *t, ing_node n, struct ing_buf *out);
/* wholeText(), wholeOwnText(): as written, <br> is a line feed; of the subtree, of n's own
 * nodes. */
void ing_text_whole(const struct ing_tree *t, ing_node n, struct ing_buf *out);
void ing_text_whole_own(const struct ing_tree *t, ing_node n, struct ing_buf *out);
/* data(): scripts, styles, comments and CDATA of the subtree. */
void ing_text_data(const struct ing_tree *t, ing_node n, struct ing_buf *out);
/* hasText(): whether some text node below is not blank; a no-break space is not blank. */
bool ing_text_has(const struct ing_tree *t, ing_node n);
/* Returns the number of words in the first max_bytes of n's ing_text(), which is not made for it:
 * runs of anything but white space, Unicode's included. */
uint32_t ing_text_word_count(const struct ing_tree *t, ing_node n, size_t max_bytes);
/* Whether ing_text() keeps the white space of a text node as it is. */
bool ing_text_is_preserved(const struct ing_tree *t, ing_node text);

/* Formatted text (PubFetcher's), with lines and paragraphs: a block begins and ends a line,
 * blockquote body dir dl fieldset figure form h1-h6 hr listing menu ol p plaintext pre ul xmp have
 * an empty line around them. `skip`, unless NULL, is a set of bits by node: an element whose bit is
 * set is left out with all below it. Trimmed. */
void ing_text_formatted(
	const struct ing_tree *t, ing_node n, const uint64_t *skip, struct ing_buf *out);
/* The same by two sets, of which `more` has all of `skip`; what both write in the same way is made once. */
void ing_text_formatted_twice(const struct ing_tree *t, ing_node n, const uint64_t *skip,
	const uint64_t *more, struct ing_buf *out, struct ing_buf *out_more);

/* Append s with its white space normalised; `lead`: leading white space is dropped. For attribute
 * values and the arguments of selectors. */
void ing_text_normalise(const char *s, size_t bytes, bool lead, struct ing_buf *out);
/* [*s, *s + *bytes) less bytes up to U+0020 at both ends, as Java's trim(). */
void ing_text_trim(const char **s, size_t *bytes);
