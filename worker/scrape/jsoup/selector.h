/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * selector.h - jsoup's selectors: compiled once, never changed, run over a tree (tree.h).
 *
 * Grammar and meaning are jsoup 1.16.1's, with what later versions added where it does not
 * contradict; SELECTORS.md lists each decision. A compiled selector is immutable and may be used by
 * any number of threads; what a run needs belongs to a struct ing_matcher, one a thread, which
 * keeps indexes and memos of the page being searched and is bound to one tree at a time.
 *
 * Cost: the search starts from an index by id, class or name where the selector allows, and every
 * sub-selector's answer for an element is kept, so that a search is linear in the page times the
 * length of the selector. Regular expressions (regex.h) have a match limit. Whatever is left
 * to be costly ends at the matcher's budget: the search fails, with what it is that was too costly.
 *
 * :matchText changes the tree: text nodes become pseudo elements, and stay so (tree.h).
 */
#pragma once
#include "common/base/error.h"
#include "common/markup/tree.h"

struct ing_selector;
struct ing_matcher;

/* Compile. On failure -SYNTAX or -UNSUPPORTED, err->column is the character (1-based) of the text
 * at which it went wrong, the message does not repeat it. text may hold any bytes. Free with
 * ing_selector_free(). */
int ing_selector_compile(const char *text, size_t bytes, struct ing_selector **ret,
	struct ing_error *err) ING_MUST_CHECK;
void ing_selector_free(struct ing_selector *s); /* NULL is fine */
const char *ing_selector_text(const struct ing_selector *s);

struct ing_matcher *ing_matcher_new(void);
void ing_matcher_free(struct ing_matcher *m); /* NULL is fine */
/* Turn to a page just read: forgets indexes and memos of the last, keeps memory (a few megabytes at
 * most). `cpu_ms` is what all searches of this page may cost together; 0: no bound. The tree
 * must not be parsed into again before the next bind. */
void ing_matcher_bind(struct ing_matcher *m, struct ing_tree *t, unsigned cpu_ms);

/* Elements that match, in document order, each once; borrowed until the next search. */
struct ing_matches {
	const ing_node *nodes;
	size_t count;
};

/* All matches at or below root (ING_NODE_DOCUMENT: of the page, the document itself included).
 * Ancestors of root are not looked at. -TIMEOUT when the budget is used up, -TOO_BIG when a regular
 * expression met its limit; then there are no matches. */
int ing_select(struct ing_matcher *m, const struct ing_selector *s, ing_node root,
	struct ing_matches *ret, struct ing_error *err) ING_MUST_CHECK;
/* The first match, or NONE; may stop searching there. */
int ing_select_first(struct ing_matcher *m, const struct ing_selector *s, ing_node root,
	ing_node *ret, struct ing_error *err) ING_MUST_CHECK;
