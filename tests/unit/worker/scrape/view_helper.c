/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The steps of scrape.c in front of the findings, with limits that tests do not meet by accident.
 */
#include "view_helper.h"

#include <string.h>

#include "common/base/buf.h"
#include "common/markup/html.h"
#include "worker/scrape/jsoup/text.h"
#include "common/net/url_match.h"
#include "worker/scrape/biblio/meta.h"

static const struct ing_html_limits limits = {
	.open_elements = 512,
	.tag_attributes = 256,
	.names = 10000,
	.tree_bytes = (size_t)8 << 20,
	.cpu_ms = 20000,
};

void view_helper_init(struct view_helper *h)
{
	*h = (struct view_helper){0};
	h->html = ing_html_new();
	h->view.tree = ing_tree_new();
	ing_arena_init(&h->arena);
}

static void drop_page(struct view_helper *h)
{
	ing_url_target_free(ING_TAKE(h->target));
	ing_arena_done(&h->arena);
	ing_arena_init(&h->arena);
	ing_freep(&h->copy);
}

void view_helper_done(struct view_helper *h)
{
	drop_page(h);
	ing_arena_done(&h->arena);
	ing_tree_free(h->view.tree);
	ing_html_free(h->html);
}

/* Byte by byte: the sanitizer reads a string to its end for every call of strspn(). */
static uint32_t count_words(const char *s)
{
	uint32_t n = 0;
	for (bool inside = false; *s != '\0'; s++) {
		bool space = *s == ' ' || (*s >= '\t' && *s <= '\r' && *s != '\v');
		n += !space && !inside;
		inside = !space;
	}
	return n;
}

const struct ing_view *view_helper_read(
	struct view_helper *h, const char *page, size_t bytes, const char *url)
{
	struct ing_tree *t = h->view.tree;
	drop_page(h);
	h->rule_hits.count = 0;
	h->copy = ing_alloc(bytes + (bytes == 0)); /* no NUL behind: overruns are seen */
	if (bytes > 0)
		memcpy(h->copy, page, bytes);
	ing_html_parse(h->html, h->copy, bytes, NULL, &limits);
	ing_html_fill(h->html, t);
	ing_tree_set_url(t, url);
	h->target = url == NULL ? NULL : ing_url_target_new(url);
	h->view = (struct ing_view){.tree = t,
		.url = t->url,
		.target = h->target,
		.data = h->copy,
		.bytes = bytes,
		.arena = &h->arena,
		.rule_hits = &h->rule_hits};
	ing_metas_read(&h->view);
	ing_node title = ing_tree_next_named(t, ING_NODE_DOCUMENT, ING_NODE_DOCUMENT, "title");
	if (title != ING_NODE_NONE)
		h->view.title = ing_view_text(&h->view, title, 1000);
	h->view.word_count =
		count_words(ing_view_text(&h->view, ing_tree_body(t), (size_t)1 << 20));
	return &h->view;
}
