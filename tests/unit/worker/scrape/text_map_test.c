/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The text of a whole page holds the text of each element, at the place that its map says: for
 * pages put together by chance from all that text functions tell apart.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "worker/scrape/jsoup/text.h"

#define PAGES 3000

static uint32_t next_random(uint32_t *state, uint32_t below)
{
	*state = *state * 1664525u + 1013904223u;
	return (*state >> 8) % below;
}

static void make_page(struct ing_tree *t, uint32_t *state)
{
	static const char *const names[] = {"p", "div", "span", "b", "pre", "textarea", "br", "foo",
		"td", "li", "ul", "a", "title"};
	static const char *const texts[] = {"", " ", "\n", "x", " y", "z ", " w  v ", "\xc2\xa0",
		"\xc2\xa0u\xc2\xa0", "\xe2\x80\x8b", " \xe2\x80\x8bt", "\t\ts\t", "\x01", "\x01r"};
	int depth = 0;
	ing_tree_clear(t);
	for (uint32_t steps = 5 + next_random(state, 60); steps > 0; steps--) {
		uint32_t what = next_random(state, 10);
		if (what < 3) {
			const char *name = names[next_random(state, ING_ARRAY_LEN(names))];
			ing_tree_open(t, ing_tree_intern(t, name, strlen(name)));
			depth++;
		} else if (what < 5 && depth > 0) {
			ing_tree_close(t);
			depth--;
		} else {
			const char *text = texts[next_random(state, ING_ARRAY_LEN(texts))];
			enum ing_node_kind kind = what == 9 ? ING_NODE_CDATA : ING_NODE_TEXT;
			ing_tree_add_text(t, kind, text, strlen(text), false);
		}
	}
	ing_tree_finish(t);
	/* Some text as :matchText leaves it. */
	for (ing_node n = 1; n < t->count && next_random(state, 3) == 0; n++) {
		if (t->nodes[n].kind == ING_NODE_TEXT) {
			t->nodes[n].pseudo = 1;
			t->has_pseudo = true;
		}
	}
}

static void check_page(const struct ing_tree *t, uint32_t page)
{
	struct ing_buf whole, one;
	uint32_t *from = ing_alloc(t->count * sizeof(*from)),
		 *to = ing_alloc(t->count * sizeof(*to));
	ing_buf_init(&whole, 1 << 20);
	ing_buf_init(&one, 1 << 20);
	assert_true(ing_text_map(t, &whole, from, to));
	for (ing_node n = 0; n < t->count; n++) {
		if (!ing_tree_is_element(t, n))
			continue;
		ing_buf_clear(&one);
		ing_text(t, n, &one);
		assert_true(from[n] <= to[n] && to[n] <= whole.len);
		const char *s = ing_buf_str(&whole) + from[n];
		size_t bytes = to[n] - from[n];
		ing_text_trim(&s, &bytes);
		if (bytes != one.len || memcmp(s, ing_buf_str(&one), bytes) != 0)
			fail_msg("page %u, node %u: '%.*s', not '%s'", page, n, (int)bytes, s,
				ing_buf_str(&one));
	}
	ing_buf_done(&whole);
	ing_buf_done(&one);
	free(from);
	free(to);
}

static void test_map_is_each_text(void **state)
{
	uint32_t random = 7;
	struct ing_tree *t = ing_tree_new();
	(void)state;
	for (uint32_t page = 0; page < PAGES; page++) {
		make_page(t, &random);
		check_page(t, page);
	}
	ing_tree_free(t);
}

static void test_map_ends_at_ceiling(void **state)
{
	struct ing_tree *t = ing_tree_new();
	struct ing_buf small;
	uint32_t from[2], to[2];
	(void)state;
	ing_tree_add_text(t, ING_NODE_TEXT, "more than that", 14, false);
	ing_tree_finish(t);
	ing_buf_init(&small, 4);
	assert_false(ing_text_map(t, &small, from, to));
	ing_buf_done(&small);
	ing_tree_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_map_is_each_text),
		cmocka_unit_test(test_map_ends_at_ceiling),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
