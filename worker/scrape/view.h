/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * view.h - a page as all parts of the scraping see it: its tree, bytes and URL, and where results
 * go.
 *
 * Made by scrape.c for one page. Results that point into `arena` or the tree live as long as the
 * view. One thread.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/base/arena.h"
#include "worker/scrape/jsoup/selector.h"
#include "common/markup/tree.h"

struct ing_clean_page;
struct ing_metas;
struct ing_rule_hits;
struct ing_url_target;

struct ing_view {
	struct ing_tree *tree;
	struct ing_matcher *matcher;         /* bound to tree */
	struct ing_metas *metas;             /* meta.h: read once a page */
	struct ing_clean_page *cleaned;      /* publication/clean.h; NULL: nothing is kept */
	const char *url;                     /* of the page, without fragment; NULL: unknown */
	const struct ing_url_target *target; /* the same, parsed for url_match.h; NULL: unknown */
	const char *data; /* the page's bytes, content codings removed, in their charset */
	size_t bytes;
	struct ing_arena *arena;
	struct ing_rule_hits *rule_hits; /* of the page; rule_hits.h */
	uint32_t word_count;             /* of the body's text */
	const char *title; /* text of the first HTML <title>, white space folded; NULL: none */
};

/* Returns the text of a node (text.h), trimmed, in the arena, cut at max_bytes between characters;
 * "" when there is none. */
const char *ing_view_text(const struct ing_view *v, ing_node n, size_t max_bytes);
/* Whether the page's bytes contain `needle`, case-sensitive. */
bool ing_view_source_has(const struct ing_view *v, const char *needle, size_t bytes);
