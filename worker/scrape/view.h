/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * view.h - the page as every part of the scraping sees it.
 *
 * Made by scrape.c for one page and gone after it. Findings that point into `arena` or the tree
 * live as long. Pure: nothing is fetched or kept. One thread.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/base/arena.h"
#include "worker/scrape/jsoup/selector.h"
#include "common/markup/tree.h"

struct ing_metas;
struct ing_rule_hits;
struct ing_url_target;

struct ing_view {
	struct ing_tree *tree;
	struct ing_matcher *matcher;         /* bound to tree */
	struct ing_metas *metas;             /* meta.h: read once a page */
	const char *url;                     /* the page's own, without fragment; NULL: unknown */
	const struct ing_url_target *target; /* the same, ready for url_match.h; NULL: unknown */
	const char *data; /* the page's bytes, content codings off, charset as it came */
	size_t bytes;
	struct ing_arena *arena;
	struct ing_rule_hits *rule_hits; /* what each rule did; rule_hits.h */
	uint32_t word_count;             /* words of the body's text */
	const char *title; /* text of the first HTML <title>, white space folded; NULL: none */
};

/* Text of a node (text.h), trimmed, in the arena; "" when there is none. At most max_bytes, cut
 * between characters. */
const char *ing_view_text(const struct ing_view *v, ing_node n, size_t max_bytes);
/* The page's bytes, as they came, hold `needle` (bytes, case heeded). */
bool ing_view_source_has(const struct ing_view *v, const char *needle, size_t bytes);
