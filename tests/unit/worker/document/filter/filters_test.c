/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What lists leave out, by a table after the documented semantics of the syntax; and how lists are read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "worker/document/filter/filters.h"

#define PAGE "https://www.page.example/a"

static struct ing_filters *read_list(const char *list)
{
	struct ing_filters *f = ing_filters_new();
	ing_filters_add(f, list, strlen(list));
	ing_filters_seal(f);
	return f;
}

static bool blocks(const char *list, const char *page, const char *url, enum ing_resource_type type)
{
	struct ing_filters *f = read_list(list);
	struct ing_filter_page *p = ing_filter_page_new(f, page);
	bool blocked = ing_filters_block(p, url, type);
	ing_filter_page_free(p);
	ing_filters_free(f);
	return blocked;
}

static const struct filter_case {
	const char *list;
	const char *page; /* NULL: PAGE */
	const char *url;
	enum ing_resource_type type;
	bool blocked;
} cases[] = {
	/* parts of addresses */
	{"/banner/*", NULL, "https://a.example/banner/x.gif", ING_RESOURCE_IMAGE, true},
	{"/banner/*", NULL, "https://a.example/banners/x.gif", ING_RESOURCE_IMAGE, false},
	{"/BANNER/*", NULL, "https://a.example/Banner/x.gif", ING_RESOURCE_IMAGE, true},
	{"banner", NULL, "https://a.example/xbannery", ING_RESOURCE_IMAGE, true},
	{"/banner/*/img^", NULL, "https://a.example/banner/foo/img", ING_RESOURCE_IMAGE, true},
	{"/banner/*/img^", NULL, "https://a.example/banner/foo/bar/img?p", ING_RESOURCE_IMAGE,
		true},
	{"/banner/*/img^", NULL, "https://a.example/banner//img/foo", ING_RESOURCE_IMAGE, true},
	{"/banner/*/img^", NULL, "https://a.example/banner/img", ING_RESOURCE_IMAGE, false},
	{"/banner/*/img^", NULL, "https://a.example/banner/foo/imgraph", ING_RESOURCE_IMAGE, false},
	{"/banner/*/img^", NULL, "https://a.example/banner/foo/img.gif", ING_RESOURCE_IMAGE, false},
	{"a*b*c.gif|", NULL, "https://x.example/a-b-b-c.gif", ING_RESOURCE_IMAGE, true},
	{"a*b*c.gif|", NULL, "https://x.example/a-b-c.gif?d", ING_RESOURCE_IMAGE, false},
	{"/ban", NULL, "https://a.example/img/banner", ING_RESOURCE_IMAGE, true},
	{"/ba*r^", NULL, "https://a.example/img/banner/", ING_RESOURCE_IMAGE, true},
	{"ner^", NULL, "https://a.example/img/banner/", ING_RESOURCE_IMAGE, true},
	{"/img/ban", NULL, "https://a.example/img/banner", ING_RESOURCE_IMAGE, true},
	{"/img/ba*r^", NULL, "https://a.example/img/banner/", ING_RESOURCE_IMAGE, true},
	{"/img*ner^", NULL, "https://a.example/img/banner/", ING_RESOURCE_IMAGE, true},
	{"||ads.exam", NULL, "https://ads.example/", ING_RESOURCE_IMAGE, true},
	/* the host */
	{"||ads.example^", NULL, "http://ads.example/foo.gif", ING_RESOURCE_IMAGE, true},
	{"||ads.example^", NULL, "https://server1.ads.example/foo.gif", ING_RESOURCE_IMAGE, true},
	{"||ads.example^", NULL, "https://ads.example:8000/", ING_RESOURCE_IMAGE, true},
	{"||ads.example^", NULL, "https://ads.example", ING_RESOURCE_IMAGE, true},
	{"||ads.example^", NULL, "https://u@ads.example/", ING_RESOURCE_IMAGE, true},
	{"||ads.example^", NULL, "https://ads.example.ua/", ING_RESOURCE_IMAGE, false},
	{"||ads.example^", NULL, "https://myads.example/", ING_RESOURCE_IMAGE, false},
	{"||ads.example^", NULL, "https://x.example/?u=http://ads.example/", ING_RESOURCE_IMAGE,
		false},
	{"||ads.", NULL, "https://x.ads.example/", ING_RESOURCE_IMAGE, true},
	{"||example/x", NULL, "https://ads.example/x", ING_RESOURCE_IMAGE, true},
	{"||ads.example/*/x|", NULL, "https://ads.example/1/x", ING_RESOURCE_IMAGE, true},
	{"||ads.example/*/x|", NULL, "https://ads.example/1/xy", ING_RESOURCE_IMAGE, false},
	/* both ends */
	{"|https://a.example/|", NULL, "https://a.example/", ING_RESOURCE_IMAGE, true},
	{"|https://a.example/|", NULL, "https://a.example/x", ING_RESOURCE_IMAGE, false},
	{"|http://a", NULL, "https://b.example/http://a", ING_RESOURCE_IMAGE, false},
	{"swf|", NULL, "https://a.example/annoyingflash.swf", ING_RESOURCE_MEDIA, true},
	{"swf|", NULL, "https://a.example/swf/index.html", ING_RESOURCE_MEDIA, false},
	{"/x^|", NULL, "https://a.example/x", ING_RESOURCE_MEDIA, true},
	{"/x^|", NULL, "https://a.example/x/", ING_RESOURCE_MEDIA, true},
	/* the separator */
	{"^foo.bar^", NULL, "http://a.example:8000/foo.bar?a=12", ING_RESOURCE_OTHER, true},
	{"^a.example^", NULL, "http://a.example:8000/foo.bar?a=12", ING_RESOURCE_OTHER, true},
	{"^%D1%82^", NULL, "http://a.example/%d1%82?a=12", ING_RESOURCE_OTHER, true},
	{"^bar^", NULL, "http://a.example:8000/foo.bar?a=12", ING_RESOURCE_OTHER, false},
	{"x^^y", NULL, "http://a.example/x/?y", ING_RESOURCE_OTHER, true},
	/* types */
	{"||ads.example^$script", NULL, "https://ads.example/x", ING_RESOURCE_SCRIPT, true},
	{"||ads.example^$script", NULL, "https://ads.example/x", ING_RESOURCE_IMAGE, false},
	{"||ads.example^$script,image", NULL, "https://ads.example/x", ING_RESOURCE_IMAGE, true},
	{"||ads.example^$~script", NULL, "https://ads.example/x", ING_RESOURCE_IMAGE, true},
	{"||ads.example^$~script", NULL, "https://ads.example/x", ING_RESOURCE_SCRIPT, false},
	{"||ads.example^$~script,~image", NULL, "https://ads.example/x", ING_RESOURCE_FONT, true},
	{"||ads.example^$css,frame", NULL, "https://ads.example/x", ING_RESOURCE_STYLESHEET, true},
	{"||ads.example^$css,frame", NULL, "https://ads.example/x", ING_RESOURCE_SUBDOCUMENT, true},
	{"||ads.example^$popup", NULL, "https://ads.example/x", ING_RESOURCE_SUBDOCUMENT, false},
	{"||ads.example^$document", NULL, "https://ads.example/x", ING_RESOURCE_SUBDOCUMENT, false},
	{"||ads.example^$all", NULL, "https://ads.example/x", ING_RESOURCE_IMAGE, true},
	{"||ads.example^$xhr", NULL, "https://ads.example/x", ING_RESOURCE_OTHER, false},
	/* whose request it is */
	{"||ads.example^$third-party", NULL, "https://ads.example/x", ING_RESOURCE_IMAGE, true},
	{"||page.example^$third-party", NULL, "https://img.page.example/x", ING_RESOURCE_IMAGE,
		false},
	{"||page.example^$~third-party", NULL, "https://img.page.example/x", ING_RESOURCE_IMAGE,
		true},
	{"||page.example^$1p", NULL, "https://img.page.example/x", ING_RESOURCE_IMAGE, true},
	{"||page.example^$strict1p", NULL, "https://img.page.example/x", ING_RESOURCE_IMAGE, false},
	{"||page.example^$strict3p", NULL, "https://img.page.example/x", ING_RESOURCE_IMAGE, true},
	{"/x$third-party", "https://a.co.uk/", "https://b.co.uk/x", ING_RESOURCE_IMAGE, true},
	{"/x$third-party", "https://192.0.2.1/", "https://192.0.2.1/x", ING_RESOURCE_IMAGE, false},
	{"/x$third-party", "https://192.0.2.1/", "https://192.0.3.1/x", ING_RESOURCE_IMAGE, true},
	/* the page's host */
	{"/x$domain=page.example", NULL, "https://b.example/x", ING_RESOURCE_IMAGE, true},
	{"/x$domain=other.example|page.example", NULL, "https://b.example/x", ING_RESOURCE_IMAGE,
		true},
	{"/x$domain=other.example", NULL, "https://b.example/x", ING_RESOURCE_IMAGE, false},
	{"/x$domain=age.example", NULL, "https://b.example/x", ING_RESOURCE_IMAGE, false},
	{"/x$domain=~page.example", NULL, "https://b.example/x", ING_RESOURCE_IMAGE, false},
	{"/x$domain=~other.example", NULL, "https://b.example/x", ING_RESOURCE_IMAGE, true},
	{"/x$domain=page.example|~www.page.example", NULL, "https://b.example/x",
		ING_RESOURCE_IMAGE, false},
	{"/x$domain=~page.example|www.page.example", NULL, "https://b.example/x",
		ING_RESOURCE_IMAGE, true},
	{"/x$from=Page.Example", NULL, "https://b.example/x", ING_RESOURCE_IMAGE, true},
	{"/x$domain=shop.*", "https://www.shop.co.uk/", "https://b.example/x", ING_RESOURCE_IMAGE,
		true},
	{"/x$domain=shop.*", "https://shop.b.co.uk/", "https://b.example/x", ING_RESOURCE_IMAGE,
		false},
	{"*$script,domain=page.example", NULL, "https://b.example/y", ING_RESOURCE_SCRIPT, true},
	{"*$script,domain=other.example", NULL, "https://b.example/y", ING_RESOURCE_SCRIPT, false},
	{"$script,domain=page.example", NULL, "https://b.example/y", ING_RESOURCE_SCRIPT, true},
	/* the request's host */
	{"/x$to=b.example", NULL, "https://c.b.example/x", ING_RESOURCE_IMAGE, true},
	{"/x$to=c.example|~d.b.example", NULL, "https://b.example/x", ING_RESOURCE_IMAGE, false},
	{"*$3p,script,domain=page.example,denyallow=good.example", NULL, "https://b.example/x",
		ING_RESOURCE_SCRIPT, true},
	{"*$3p,script,domain=page.example,denyallow=good.example", NULL, "https://x.good.example/x",
		ING_RESOURCE_SCRIPT, false},
	/* case */
	{"/X$match-case", NULL, "https://b.example/x", ING_RESOURCE_IMAGE, false},
	{"/X$match-case", NULL, "https://b.example/X", ING_RESOURCE_IMAGE, true},
	/* exceptions */
	{"/x\n@@||b.example^", NULL, "https://b.example/x", ING_RESOURCE_IMAGE, false},
	{"/x\n@@||b.example^$script", NULL, "https://b.example/x", ING_RESOURCE_IMAGE, true},
	{"/x$important\n@@||b.example^", NULL, "https://b.example/x", ING_RESOURCE_IMAGE, true},
	{"/x\n/x$important\n@@||b.example^", NULL, "https://b.example/x", ING_RESOURCE_IMAGE, true},
	{"/x\n@@||page.example^$document", NULL, "https://b.example/x", ING_RESOURCE_IMAGE, false},
	{"/x\n@@||other.example^$document", NULL, "https://b.example/x", ING_RESOURCE_IMAGE, true},
	{"/x\n@@||page.example^$generichide", NULL, "https://b.example/x", ING_RESOURCE_IMAGE,
		true},
	{"@@||b.example^", NULL, "https://b.example/x", ING_RESOURCE_IMAGE, false},
	/* badfilter */
	{"/x$script\n/x$script,badfilter", NULL, "https://b.example/x", ING_RESOURCE_SCRIPT, false},
	{"/x$badfilter,script\n/x$script", NULL, "https://b.example/x", ING_RESOURCE_SCRIPT, false},
	{"/x$3p\n/x$third-party,badfilter", NULL, "https://b.example/x", ING_RESOURCE_SCRIPT,
		false},
	{"/x\n/x$script,badfilter", NULL, "https://b.example/x", ING_RESOURCE_SCRIPT, true},
	{"/x\n@@/x\n@@/x$badfilter", NULL, "https://b.example/x", ING_RESOURCE_SCRIPT, true},
	/* regular expressions */
	{"/ban+er[0-9]\\.gif/", NULL, "https://b.example/bannner7.gif", ING_RESOURCE_IMAGE, true},
	{"/ban+er[0-9]\\.gif/", NULL, "https://b.example/banner.gif", ING_RESOURCE_IMAGE, false},
	{"/BANNER\\d/$image", NULL, "https://b.example/banner7", ING_RESOURCE_IMAGE, true},
	{"/BANNER\\d/$image,match-case", NULL, "https://b.example/banner7", ING_RESOURCE_IMAGE,
		false},
	{"/^https:\\/\\/b\\.example\\/x$/", NULL, "https://b.example/x", ING_RESOURCE_IMAGE, true},
	{"/^https:\\/\\/b\\.example\\/x$/", NULL, "https://b.example/xy", ING_RESOURCE_IMAGE,
		false},
	{"/\\/(?:ad|track)-[a-f0-9]{8}\\.js$/$script", NULL, "https://b.example/ad-0123abcd.js",
		ING_RESOURCE_SCRIPT, true},
	{"/foo\\/bar|baz/", NULL, "https://b.example/baz", ING_RESOURCE_IMAGE, true},
	{"/a\\/word\\/?x/", NULL, "https://b.example/a/wordx", ING_RESOURCE_IMAGE, true},
	{"/a\\/(word\\/)?x/", NULL, "https://b.example/a/x", ING_RESOURCE_IMAGE, true},
	{"/a$/", NULL, "https://b.example/a", ING_RESOURCE_IMAGE, true},
	/* what is replaced is not fetched */
	{"||b.example/x.js$script,redirect=noop.js", NULL, "https://b.example/x.js",
		ING_RESOURCE_SCRIPT, true},
	{"||b.example/x.js$script,redirect-rule=noop.js", NULL, "https://b.example/x.js",
		ING_RESOURCE_SCRIPT, false},
	/* hosts files and lists of hosts */
	{"127.0.0.1 b.example", NULL, "https://b.example/x", ING_RESOURCE_IMAGE, true},
	{"0.0.0.0 c.example b.example # both", NULL, "https://x.b.example/x", ING_RESOURCE_IMAGE,
		true},
	{"0.0.0.0 c.example # b.example", NULL, "https://b.example/x", ING_RESOURCE_IMAGE, false},
	{"127.0.0.1\tlocalhost", NULL, "https://b.example/localhost", ING_RESOURCE_IMAGE, false},
	{"::1 b.example", NULL, "https://b.example/x", ING_RESOURCE_IMAGE, true},
	{"b.example", NULL, "https://b.example/x", ING_RESOURCE_IMAGE, true},
	{"b.example", NULL, "https://c.example/b.example", ING_RESOURCE_IMAGE, false},
	{"192.0.2.1", NULL, "http://192.0.2.1/x", ING_RESOURCE_IMAGE, true},
	{"-ad.js", NULL, "http://b.example/x-ad.js", ING_RESOURCE_SCRIPT, true},
	/* what is no rule about requests */
	{"! /x", NULL, "https://b.example/x", ING_RESOURCE_IMAGE, false},
	{"[Adblock Plus 2.0]", NULL, "https://b.example/Adblock", ING_RESOURCE_IMAGE, false},
	{"##.x", NULL, "https://b.example/##.x", ING_RESOURCE_IMAGE, false},
	{"b.example#@#.x", NULL, "https://b.example/x", ING_RESOURCE_IMAGE, false},
	{"b.example##^script", NULL, "https://b.example/x", ING_RESOURCE_IMAGE, false},
	{"# /x", NULL, "https://b.example/x", ING_RESOURCE_IMAGE, false},
	/* what is not known */
	{"/x$unheard", NULL, "https://b.example/x", ING_RESOURCE_IMAGE, false},
	{"/x$csp=script-src", NULL, "https://b.example/x", ING_RESOURCE_IMAGE, false},
	{"/x$removeparam=y", NULL, "https://b.example/x", ING_RESOURCE_IMAGE, false},
	{"/x$domain=/b.*/", NULL, "https://b.example/x", ING_RESOURCE_IMAGE, false},
	{"/x$domain=", NULL, "https://b.example/x", ING_RESOURCE_IMAGE, false},
	{"/(x/", NULL, "https://b.example/(x/", ING_RESOURCE_IMAGE, false},
	{"*", NULL, "https://b.example/x", ING_RESOURCE_IMAGE, false},
	{"|", NULL, "https://b.example/x", ING_RESOURCE_IMAGE, false},
	/* "$" in a pattern */
	{"/x$y/z", NULL, "https://b.example/x$y/z", ING_RESOURCE_IMAGE, true},
	{"/x$y/z$image", NULL, "https://b.example/x$y/z", ING_RESOURCE_IMAGE, true},
	/* conditions */
	{"!#if env_mobile\n/x\n!#endif", NULL, "https://b.example/x", ING_RESOURCE_IMAGE, false},
	{"!#if !env_mobile\n/x\n!#endif", NULL, "https://b.example/x", ING_RESOURCE_IMAGE, true},
	{"!#if ext_ublock\r\n/x\r\n!#endif", NULL, "https://b.example/x", ING_RESOURCE_IMAGE, true},
	{"!#if env_mobile\n!#if ext_ublock\n/x\n!#endif\n/x\n!#endif", NULL, "https://b.example/x",
		ING_RESOURCE_IMAGE, false},
	{"!#if env_mobile\n/y\n!#else\n/x\n!#endif", NULL, "https://b.example/x",
		ING_RESOURCE_IMAGE, true},
	{"!#if env_mobile\n/y\n!#endif\n/x", NULL, "https://b.example/x", ING_RESOURCE_IMAGE, true},
	{"!#endif\n!#else\n/x", NULL, "https://b.example/x", ING_RESOURCE_IMAGE, true},
	/* no URL */
	{"/x", NULL, "/x", ING_RESOURCE_IMAGE, false},
};

static void lists_leave_out(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct filter_case *c = &cases[i];
		const char *page = c->page != NULL ? c->page : PAGE;
		if (blocks(c->list, page, c->url, c->type) != c->blocked)
			fail_msg("%s of %s: %s it", c->list, c->url,
				c->blocked ? "does not leave out" : "leaves out");
	}
}

static void a_page_may_be_unknown(void **state)
{
	(void)state;
	assert_true(blocks("/x$3p", NULL, "https://b.example/x", ING_RESOURCE_IMAGE));
	assert_false(
		blocks("/x$domain=b.example", NULL, "https://b.example/x", ING_RESOURCE_IMAGE));
	assert_true(
		blocks("/x$domain=~b.example", NULL, "https://b.example/x", ING_RESOURCE_IMAGE));
}

static void lines_are_counted(void **state)
{
	static const char list[] = "! a comment\n\n||a.example^\n@@||b.example^$script\n##.ad\n"
				   "c.example#?#p\n/x$popup\n/x$unheard\n/y\n/y$badfilter\n"
				   "0.0.0.0 d.example e.example\n/(/\n";
	struct ing_filters *f = read_list(list);
	const struct ing_filter_counts *n = ing_filters_counts(f);
	(void)state;
	assert_int_equal(n->blocking, 3);
	assert_int_equal(n->exceptions, 1);
	assert_int_equal(n->cosmetic, 2);
	assert_int_equal(n->inapplicable, 1);
	assert_int_equal(n->unsupported, 2);
	assert_int_equal(n->cancelled, 1);
	ing_filters_free(f);
}

static void badfilter_cancels_rules_of_other_lists(void **state)
{
	static const char first[] = "/x\n";
	static const char second[] = "/x$badfilter";
	struct ing_filters *f = ing_filters_new();
	(void)state;
	ing_filters_add(f, first, sizeof(first) - 1);
	ing_filters_add(f, second, sizeof(second) - 1);
	ing_filters_seal(f);
	assert_int_equal(ing_filters_counts(f)->blocking, 0);
	ing_filters_free(f);
}

/* Patterns of stars, and URLs that almost match. */
static void hostile_patterns_end(void **state)
{
	struct ing_buf url;
	struct ing_buf list;
	(void)state;
	ing_buf_init(&url, 10000);
	ing_buf_init(&list, 1 << 20);
	ing_buf_add_str(&url, "https://b.example/");
	while (url.len < 8000)
		ing_buf_add_char(&url, 'a');
	for (int i = 0; i < 200; i++)
		ing_buf_add_str(&list, "a*");
	ing_buf_add_str(&list, "b\n/(a+)+b/\n||a*a*a*a*a*b^\n");
	assert_false(blocks(list.data, PAGE, url.data, ING_RESOURCE_IMAGE));
	ing_buf_done(&url);
	ing_buf_done(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_leave_out),
		cmocka_unit_test(a_page_may_be_unknown),
		cmocka_unit_test(lines_are_counted),
		cmocka_unit_test(badfilter_cancels_rules_of_other_lists),
		cmocka_unit_test(hostile_patterns_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
