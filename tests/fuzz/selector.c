/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A selector (first line) on a page (the rest; XML when its first byte is X). What compiles must
 * run within its budget; what it finds must be elements, in document order, each once.
 */
#include "tests/fuzz/target.h"

#include <string.h>

#include "common/markup/html.h"
#include "worker/scrape/jsoup/outer.h"
#include "worker/scrape/jsoup/selector.h"
#include "common/markup/xml.h"

FUZZ_BUDGET(.cpu_us = 1000, .cpu_byte_ns = 1000, .heap_kb = 2000, .heap_byte = 500);

#define BUDGET_MS 100

static bool parse(struct ing_html *h, struct ing_tree *t, const char *page, size_t bytes)
{
	static const struct ing_html_limits limits = {200, 64, 1000, 1 << 24, 200};
	static const struct ing_xml_limits xml_limits = {200, 1 << 24, 200};
	if (bytes > 0 && *page == 'X')
		return ing_xml_parse(t, page + 1, bytes - 1, NULL, &xml_limits, NULL) == 0;
	ing_html_parse(h, page, bytes, NULL, &limits);
	ing_html_fill(h, t);
	return true;
}

static void check(const struct ing_tree *t, const struct ing_matches *found)
{
	struct ing_buf b;
	ing_buf_init(&b, (size_t)1 << 20);
	for (size_t i = 0; i < found->count; i++) {
		ing_must(found->nodes[i] < t->count && ing_tree_is_element(t, found->nodes[i]));
		ing_must(i == 0 || found->nodes[i - 1] < found->nodes[i]);
	}
	if (found->count > 0)
		ing_outer(t, found->nodes[0], &b);
	ing_buf_done(&b);
}

void fuzz_target(const uint8_t *data, size_t size)
{
	static struct ing_html *html; /* reused, as examiners do */
	static struct ing_tree *t;
	static struct ing_matcher *m;
	if (html == NULL) {
		html = ing_html_new();
		t = ing_tree_new();
		m = ing_matcher_new();
	}
	const uint8_t *lf = size > 0 ? memchr(data, '\n', size) : NULL;
	size_t line = lf != NULL ? (size_t)(lf - data) : size;
	size_t rest = lf != NULL ? line + 1 : size;
	struct ing_selector *s = NULL;
	struct ing_error err = {0};
	if (ing_selector_compile(size > 0 ? (const char *)data : "", line, &s, &err) < 0) {
		ing_must(err.msg[0] != '\0' && err.column > 0);
		return;
	}
	struct ing_matches found;
	ing_node first;
	if (parse(html, t, (const char *)data + rest, size - rest)) {
		ing_tree_set_url(t, "https://a.example/b");
		ing_matcher_bind(m, t, BUDGET_MS);
		/* The second search sees what :matchText left behind by the first. */
		for (int i = 0; i < 2; i++) {
			if (ing_select(m, s, ING_NODE_DOCUMENT, &found, NULL) == 0)
				check(t, &found);
		}
		if (ing_select_first(m, s, t->count / 2, &first, NULL) == 0)
			ing_must(first == ING_NODE_NONE || first >= t->count / 2);
	}
	ing_selector_free(s);
}
