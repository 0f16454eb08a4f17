/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * link_names.h - a link's URL as names: its path, file and query, and texts in forms that can be
 * compared. For the judge of links (link_judge.h). Results are in the view's arena. One thread.
 */
#pragma once
#include "worker/scrape/view.h"

struct ing_span { /* of a text, not terminated */
	const char *s;
	size_t bytes;
};

/* From behind the host to the query. */
struct ing_span ing_link_path(const char *url);
/* The last part of the path that is not empty. */
struct ing_span ing_link_file(const char *url);
/* With its question mark; empty without one. */
struct ing_span ing_link_query(const char *url);
/* A file name without what follows its last dot, if that is short enough to be an ending. */
struct ing_span ing_link_stem(struct ing_span file);
bool ing_link_ends_with(struct ing_span s, const char *lower);

#define ING_LINK_MAX_WORDS_BYTES 400 /* of a link, a title or a heading; what is more is not read */

/* The folded form of link_words.h. */
const char *ing_link_fold(const struct ing_view *v, const char *s, size_t bytes);
/* Of an element's text, of which only the beginning is read: elements may hold one another. */
const char *ing_link_fold_node(const struct ing_view *v, ing_node n);
/* ASCII letters in lower case and digits of s. */
const char *ing_link_squeeze(const struct ing_view *v, const char *s, size_t bytes);
const char *ing_link_without_spaces(const struct ing_view *v, const char *folded);
/* Percent-escapes decoded. */
const char *ing_link_unescape(const struct ing_view *v, struct ing_span s);
