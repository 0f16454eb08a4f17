/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Two things can prove that a link is the page's own document: identity or, on a page that bears the
 * record of an article, words like "Download PDF". Without either nothing is taken, and neither is
 * the better of two that are nearly equal: a journal's contents have a "PDF" for every article.
 */
#include "worker/scrape/rules/links_guess.h"

#include <stdlib.h>
#include <string.h>

#include "common/markup/link.h"
#include "common/net/url.h"
#include "worker/model/limits.h"
#include "worker/scrape/rules/link_judge.h"
#include "worker/scrape/rules/link_names.h"

#define MAX_ANCHORS 2000  /* looked at */
#define MAX_CANDIDATES 64 /* of them, that look like links to a PDF; with more, none is taken */

enum {                /* points */
	ONLY_ONE = 1, /* on its page */
	ENOUGH = 5,
	LEAD = 2, /* over the next best */
};

/* Whether a link may lead to a PDF, by its URL, its declared type or its words. */
static bool looks_like_pdf(const struct ing_link_judge *j, ing_node n, const char *url)
{
	static const char *const other_files[] = {".html", ".htm", ".xml", ".epub", ".ris", ".bib",
		".enw", ".jpg", ".jpeg", ".png", ".gif", ".svg", ".zip", ".gz", ".doc", ".docx",
		".ppt", ".pptx", ".xls", ".xlsx", ".csv", ".txt", ".mp3", ".mp4", ".tex", ".ps"};
	struct ing_span file = ing_link_file(url);
	if (ing_link_ends_with(file, ".pdf"))
		return true;
	for (size_t i = 0; i < ING_ARRAY_LEN(other_files); i++)
		if (ing_link_ends_with(file, other_files[i]))
			return false;
	const char *type = ing_tree_attr(j->v->tree, n, "type", NULL);
	if (type != NULL && strcasecmp(type, "application/pdf") == 0)
		return true;
	return ing_link_words_label(ing_link_label(j, n)) == ING_LINK_LABEL_PDF;
}

struct candidate {
	const char *url;
	struct ing_link_judgement by;
};

/* Add a link, or what it says of a URL that is there already: a document that is called another one
 * anywhere is, and of several places the best counts. */
static void add_candidate(struct candidate *items, size_t *count, const struct candidate *c)
{
	size_t i = 0;
	while (i < *count && strcmp(items[i].url, c->url) != 0)
		i++;
	if (i == *count) {
		if (*count < MAX_CANDIDATES)
			items[*count] = *c;
		(*count)++;
	} else if (!items[i].by.another && (c->by.another || c->by.score > items[i].by.score)) {
		items[i] = *c;
	}
}

/* Returns how many candidates there are, MAX_CANDIDATES + 1 for more. */
static size_t find_candidates(const struct ing_link_judge *j, struct candidate *items)
{
	const struct ing_tree *t = j->v->tree;
	size_t count = 0;
	ing_node n = ing_tree_next_named(t, ING_NODE_DOCUMENT, ING_NODE_DOCUMENT, "a");
	for (size_t i = 0; i < MAX_ANCHORS && n != ING_NODE_NONE && count <= MAX_CANDIDATES; i++) {
		char *url = ing_link_of_attr(j->v->tree, n, "href");
		char *bare =
			url != NULL && ing_url_is_web(url) ? ing_url_without_fragment(url) : NULL;
		if (bare != NULL && strlen(bare) <= ING_MAX_URL_BYTES &&
			!ing_link_is_ignored(bare) && !ing_link_is_self(j->v, bare) &&
			looks_like_pdf(j, n, bare)) {
			struct candidate c = {.url = ing_arena_strdup(j->v->arena, bare)};
			c.by = ing_link_judge(j, n, c.url);
			if (c.by.doubtful)
				c.by.score = ING_LINK_NEVER;
			add_candidate(items, &count, &c);
		}
		free(bare);
		free(url);
		n = ing_tree_next_named(t, n, ING_NODE_DOCUMENT, "a");
	}
	return count;
}

static bool is_proved(const struct ing_link_judge *j, const struct candidate *c)
{
	return c->by.identity || (j->has_record && c->by.label != ING_LINK_LABEL_OTHER);
}

/* The best candidate, if it is good enough; NULL otherwise. */
static const struct candidate *choose(
	const struct ing_link_judge *j, const struct candidate *items, size_t count)
{
	const struct candidate *best = NULL;
	int next = ING_LINK_NEVER;
	size_t possible = 0;
	for (size_t i = 0; i < count; i++) {
		possible += items[i].by.score != ING_LINK_NEVER;
		if (best == NULL || items[i].by.score > best->by.score) {
			next = best != NULL ? best->by.score : next;
			best = &items[i];
		} else if (items[i].by.score > next) {
			next = items[i].by.score;
		}
	}
	if (possible == 0 || !is_proved(j, best))
		return NULL;
	if (best->by.score + (possible == 1 ? ONLY_ONE : 0) < ENOUGH)
		return NULL;
	return next == ING_LINK_NEVER || best->by.score - next >= LEAD ? best : NULL;
}

/* -------------------------------------------------------------------------------------------- */

struct ing_link ing_links_guess(const struct ing_view *v)
{
	struct ing_link link = {.rule = UINT32_MAX};
	struct candidate items[MAX_CANDIDATES];
	const struct ing_link_judge *j = ing_link_judge_new(v);
	size_t count = j->is_contents ? 0 : find_candidates(j, items);
	if (count == 0 || count > MAX_CANDIDATES)
		return link;
	const struct candidate *best = choose(j, items, count);
	if (best != NULL) {
		link.url = best->url;
		link.technique = "guess";
	}
	return link;
}
