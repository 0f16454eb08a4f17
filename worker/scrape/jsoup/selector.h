/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * selector.h - jsoup's selectors: compiled once, run on a tree (common/markup/tree.h).
 *
 * Grammar and meaning are those of jsoup 1.16.1, with additions of later versions that do not
 * contradict it; SELECTORS.md lists each decision. A compiled selector is immutable and may be used
 * by any number of threads. A search needs a struct ing_matcher, one for each thread, which keeps
 * indexes and memos of the page and is bound to one tree at a time.
 *
 * Cost: a search starts from an index by id, class or name where the selector has one, and the
 * answer of every sub-selector for an element is kept, so that it is linear in the page times the
 * length of the selector. Regular expressions (regex.h) have a step limit. Beyond that a search
 * ends at the matcher's budget: it fails, with the reason in its message.
 *
 * :matchText changes the tree: text nodes become pseudo elements and stay so (tree.h).
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "common/base/error.h"
#include "common/markup/tree.h"

struct ing_selector;
struct ing_matcher;

/* Compile a text of any bytes. Returns 0, -SYNTAX or -UNSUPPORTED; err->column is the character,
 * counted from 1, at which the error is. Free with ing_selector_free(). */
int ing_selector_compile(const char *text, size_t bytes, struct ing_selector **ret,
	struct ing_error *err) ING_MUST_CHECK;
void ing_selector_free(struct ing_selector *s); /* NULL is fine */
const char *ing_selector_text(const struct ing_selector *s);
/* Returns the i-th of its regular expressions, in any order; NULL when there are no more. in_text:
 * it is looked for in the text of elements, not in an attribute. */
const char *ing_selector_regex(const struct ing_selector *s, size_t i, bool *ret_in_text);

struct ing_matcher *ing_matcher_new(void);
void ing_matcher_free(struct ing_matcher *m); /* NULL is fine */
/* Bind to a page: drops indexes and memos of the last one, keeps a few megabytes of memory at most.
 * `cpu_ms` is the budget of CPU time of all searches of this page together; 0: none. The tree must
 * not be filled again before the next bind. */
void ing_matcher_bind(struct ing_matcher *m, struct ing_tree *t, unsigned cpu_ms);

/* Matching elements in document order, each once; borrowed until the next search. */
struct ing_matches {
	const ing_node *nodes;
	size_t count;
};

/* Find all matches at or below root (ING_NODE_DOCUMENT: in the whole page, the document included).
 * Ancestors of root are not considered. Returns 0; without matches -TIMEOUT when the budget is used
 * up, -TOO_BIG when a regular expression met its limit. */
int ing_select(struct ing_matcher *m, const struct ing_selector *s, ing_node root,
	struct ing_matches *ret, struct ing_error *err) ING_MUST_CHECK;
/* Find the first match; *ret is ING_NODE_NONE when there is none. */
int ing_select_first(struct ing_matcher *m, const struct ing_selector *s, ing_node root,
	ing_node *ret, struct ing_error *err) ING_MUST_CHECK;
