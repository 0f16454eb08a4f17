/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * <meta> elements: where they may stand, how they are named and found, and that a hundred thousand
 * of them cost no more than their number.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "view_helper.h"
#include "worker/scrape/biblio/meta.h"

static struct view_helper helper;

static const struct ing_view *read_page(const char *page)
{
	return view_helper_read(&helper, page, strlen(page), "https://journal.example/1");
}

static int set_up(void **state)
{
	(void)state;
	view_helper_init(&helper);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	view_helper_done(&helper);
	return 0;
}

static void test_anywhere(void **state)
{
	const struct ing_view *v = read_page("<head><meta name=a content=1><div>stray</div>"
					     "<meta name=a content=2></head><body><p>"
					     "<meta name=a content=3><noscript>"
					     "<meta name=a content=4></noscript>");
	char got[8] = "";
	(void)state;
	for (const struct ing_meta *m = ing_metas_find(v, NULL, ING_META_NAME, "a"); m != NULL;
		m = ing_metas_find(v, m, ING_META_NAME, "a"))
		strncat(got, m->content, 1);
	assert_string_equal(got, "1234");
	assert_string_equal(ing_metas_first(v)->next->content, "2");
}

static void test_keys(void **state)
{
	const struct ing_view *v = read_page(
		"<meta NAME=' DC.Title\n' SCHEME=DCTERMS content=' as  written '>"
		"<meta property=OG:Title content=p><meta itemprop=datePublished content=i>"
		"<meta id=DOI content=d><meta http-equiv=Refresh content='0'>"
		"<meta name content=x><meta name=empty content><meta name=none>");
	const struct ing_meta *m = ing_metas_find(v, NULL, ING_META_NAME, "dc.title");
	(void)state;
	assert_non_null(m);
	assert_string_equal(m->content, " as  written ");
	assert_int_equal(m->content_bytes, strlen(m->content));
	assert_string_equal(m->name, "dc.title");
	assert_string_equal(m->scheme, "dcterms");
	assert_null(ing_metas_find(v, m, ING_META_NAME, "dc.title"));
	assert_null(ing_metas_find(v, NULL, ING_META_NAME, "dc:title"));
	assert_null(ing_metas_find(v, NULL, ING_META_PROPERTY, "dc.title"));
	assert_non_null(ing_metas_find(v, NULL, ING_META_PROPERTY, "og:title"));
	assert_non_null(ing_metas_find(v, NULL, ING_META_ITEMPROP, "datepublished"));
	assert_non_null(ing_metas_find(v, NULL, ING_META_ID, "doi"));
	assert_non_null(ing_metas_find(v, NULL, ING_META_HTTP_EQUIV, "refresh"));
	assert_string_equal(ing_metas_find(v, NULL, ING_META_NAME, "empty")->content, "");
	assert_null(ing_metas_find(v, NULL, ING_META_NAME, "none")->content);
	assert_null(ing_metas_find(v, NULL, ING_META_NAME, ""));
}

static void test_dotted(void **state)
{
	const struct ing_view *v = read_page("<meta name=dc:title content=1>"
					     "<meta property=DC.Title content=2>"
					     "<meta name=dc.title property=dc:title content=3>"
					     "<meta itemprop=dc.title content=no>"
					     "<meta name=dc:title.x content=no>"
					     "<meta name=dc.title content=4>");
	char got[8] = "";
	(void)state;
	for (const struct ing_meta *m = ing_metas_find_dotted(v, NULL, "dc.title"); m != NULL;
		m = ing_metas_find_dotted(v, m, "dc.title"))
		strncat(got, m->content, 1);
	assert_string_equal(got, "1234");
	assert_null(ing_metas_find_dotted(v, NULL, "dc:title:x"));
	/* behind one of another name */
	const struct ing_meta *second = ing_metas_find(v, NULL, ING_META_PROPERTY, "dc.title");
	assert_string_equal(ing_metas_find(v, second, ING_META_NAME, "dc.title")->content, "3");
}

static void test_none(void **state)
{
	const struct ing_view *v = read_page("");
	(void)state;
	assert_null(ing_metas_first(v));
	assert_null(ing_metas_find(v, NULL, ING_META_NAME, "a"));
	assert_null(ing_metas_find_dotted(v, NULL, "a"));
}

/* Walks over a hundred thousand elements: of one name, and each of its own. Quadratic, either would
 * take minutes. */
static void test_many(void **state)
{
	const size_t count = 100000;
	(void)state;
	for (int distinct = 0; distinct < 2; distinct++) {
		struct ing_buf page;
		ing_buf_init(&page, (size_t)32 << 20);
		for (size_t i = 0; i < count; i++) {
			char tag[64];
			const char *name = distinct == 0 ? "citation_author" : "n";
			int n = snprintf(tag, sizeof(tag), "<meta name=%s%.*zu>", name,
				distinct * 6, i * (size_t)distinct);
			ing_buf_add(&page, tag, (size_t)n);
		}
		const struct ing_view *v =
			view_helper_read(&helper, ing_buf_str(&page), page.len, NULL);
		clock_t start = clock();
		size_t elements = 0, followed = 0;
		for (const struct ing_meta *m = ing_metas_first(v); m != NULL; m = m->next) {
			elements++;
			followed += ing_metas_find(v, m, ING_META_NAME, m->name) == m->next;
		}
		assert_int_equal(elements, count);
		assert_int_equal(followed, distinct == 0 ? count : 1);
		assert_true((clock() - start) / CLOCKS_PER_SEC < 5);
		ing_buf_done(&page);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_anywhere),
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_dotted),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_many),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
