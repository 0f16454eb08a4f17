/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Cleaning: what class names are made of, which words mean navigation, what the main content
 * protects, what the cleaned text is, and that large and deep pages cost what they are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "view_helper.h"
#include "worker/scrape/publication/clean.h"
#include "worker/scrape/publication/tokens.h"

static struct view_helper helper;

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

static const struct ing_view *read_page(const char *page)
{
	return view_helper_read(&helper, page, strlen(page), "https://journal.example/1");
}

/* --- words of names --- */

static const struct {
	const char *value, *want; /* words, each in brackets */
} token_cases[] = {
	{"", ""}, {" \t\n", ""}, {"-_-", ""}, {"mainNav", "[main][Nav]"}, {"_foo", "[foo]"},
	{"iOSApp2x", "[i][OSApp][2][x]"}, {"XMLHttp", "[XMLHttp]"},
	{"main-nav left_bar", "[main][nav][left][bar]"}, {"a__b--c", "[a][b][c]"},
	{"a.b:c", "[a.b:c]"}, {"col12Nav", "[col][12][Nav]"},
	{"\xc3\xa9Nav", "[\xc3\xa9][Nav]"}, /* e acute is a lower case letter */
	{"\xc3\x89Nav", "[\xc3\x89Nav]"},   /* E acute is not */
	{"nav\xd0\x9c\xd0\xb5\xd0\xbd\xd1\x8e", "[nav][\xd0\x9c\xd0\xb5\xd0\xbd\xd1\x8e]"},
	{"a\xc2\xa0"
	 "b\xc2\xad"
	 "c\xe2\x80\x8b"
	 "d",
		"[a][b][c][d]"},            /* Z and Cf divide */
	{"x\xd9\xa3y", "[x][\xd9\xa3][y]"}, /* an Arabic digit */
	{"\xe4\xb8\xbb"
	 "Nav",
		"[\xe4\xb8\xbbNav]"}, /* a letter without case */
	{"a\xf0\x9d\x9f\x98"
	 "b",
		"[a][\xf0\x9d\x9f\x98][b]"}, /* a mathematical digit */
};

static void test_tokens(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(token_cases); i++) {
		const char *value = token_cases[i].value, *token = NULL;
		struct ing_tokens ts = {.s = value, .end = value + strlen(value)};
		char got[200] = "";
		size_t bytes = 0;
		while (ing_tokens_next(&ts, &token, &bytes))
			snprintf(got + strlen(got), sizeof(got) - strlen(got), "[%.*s]", (int)bytes,
				token);
		assert_string_equal(got, token_cases[i].want);
	}
}

#define MENU ING_TOKEN_MENU
#define MAYBE ING_TOKEN_MAYBE
#define REFS ING_TOKEN_REFERENCES

static const struct {
	const char *token;
	unsigned want;
} name_cases[] = {
	{"nav", MENU},
	{"NAVIGATION", MENU},
	{"menuBar", MENU},
	{"breadcrumbs", MENU},
	{"navigationbar", MENU},
	{"footer", MENU},
	{"Footer", MENU},
	/* with one word in front or behind */
	{"topnav", MENU},
	{"navtop", MENU},
	{"mainmenu", MENU},
	{"menulinks", MENU},
	{"navmenu", MENU},
	{"sidenavigationbar", MENU},
	{"breadcrumbpath", MENU},
	/* perhaps */
	{"sidebar", MAYBE},
	{"bar", MAYBE},
	{"tabs", MAYBE},
	{"search", MAYBE},
	{"searchtab", MAYBE},
	{"barleft", MAYBE},
	{"socialmediabar", MAYBE},
	{"related", MAYBE | REFS},
	{"hidden", MAYBE},
	{"navigate", MAYBE},
	{"menus", MAYBE},
	{"topnavigate", MAYBE},
	{"leftmenuitems", MAYBE},
	{"breadcrumbed", MAYBE},
	{"xnav", MAYBE},
	{"supermenu", MAYBE},
	{"mynavx", MAYBE},
	{"supermenuleft", MAYBE},
	{"xbreadcrumbsbar", MAYBE},
	{"canoenav", MAYBE},
	/* not */
	{"", 0},
	{"a", 0},
	{"my", 0},
	{"main", 0},
	{"top", 0},
	{"mainpage", 0},
	{"footers", 0},
	{"pagefooter", 0},
	{"xmenuy", 0},
	{"supernavx", 0},
	{"content", 0},
	{"barn", 0},
	{"tablet", 0},
	{"research", 0},
	{"path2", 0},
	{"xfooter", 0},
	{"skipx", 0},
	{"snavely", 0},
	{"n\xc3\xa4v", 0},
	{"complementarycomplementary", MAYBE},
	{"navigationbarcomplementary", MENU},
	{"navigationbarnavigationbarx", MAYBE},
	/* reference lists: at the beginning or end */
	{"ref", REFS},
	{"refs", REFS},
	{"reflist", REFS},
	{"REFERENCES", REFS},
	{"refresh", REFS},
	{"href", REFS},
	{"xref", REFS},
	{"crossreference", REFS},
	{"relatedarticles", REFS},
	{"unrelated", REFS},
	{"preface", 0},
	{"prefix", 0},
	{"xrefx", 0},
	{"unrelatedx", 0},
	{"re", 0},
};

static void test_name_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(name_cases); i++) {
		const char *token = name_cases[i].token;
		unsigned got = ing_token_classify_name(token, strlen(token));
		if (got & MENU)
			got &= ~(unsigned)MAYBE; /* says no more */
		if (got != name_cases[i].want)
			fail_msg("%s: %u, not %u", token, got, name_cases[i].want);
	}
}

static void test_frames(void **state)
{
	static const struct {
		const char *value;
		enum ing_content_mark want;
	} cases[] = {{"main", ING_CONTENT_MAIN}, {"Content", ING_CONTENT_MAIN},
		{" --content_2 ", ING_CONTENT_MAIN}, {"maincontents", ING_CONTENT_MAIN},
		{"main-content", ING_CONTENT_NONE}, {"main content", ING_CONTENT_NONE},
		{"title", ING_CONTENT_TITLE}, {"12 heading", ING_CONTENT_TITLE},
		{"contentx", ING_CONTENT_NONE}, {"", ING_CONTENT_NONE}, {"12", ING_CONTENT_NONE},
		{"\xc2\xa7"
		 "article\xe2\x80\x94",
			ING_CONTENT_MAIN},
		{"article\xc3\xa9", ING_CONTENT_NONE}, {"\xe4\xb8\xbbmain", ING_CONTENT_NONE}};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++)
		assert_int_equal(ing_token_content_mark(cases[i].value, strlen(cases[i].value)),
			cases[i].want);
}

/* --- pages --- */

/* clang-format off */
static const struct {
	const char *name, *page;
	const char *want;     /* cleaned text as of a web page */
	const char *want_pub; /* as of a publication; NULL: the same */
} cases[] = {
	{.name = "nothing", .page = "", .want = "", .want_pub = NULL},
	{.name = "elements by name",
		.page = "<nav>n</nav><p>a<aside>s</aside><menu>m</menu><footer>f</footer><p>b",
		.want = "a\n\nb", .want_pub = NULL},
	{.name = "sure words", .page = "<div class=top-menu>x</div><div id=breadcrumb>y</div><p>a",
		.want = "a", .want_pub = NULL},
	{.name = "sure words within the main content",
		.page = "<main><p>a<div class=breadcrumb>x</div></main>", .want = "a",
		.want_pub = NULL},
	{.name = "doubtful words", .page = "<div id=sidebar>x</div><p>a", .want = "a",
		.want_pub = NULL},
	{.name = "doubtful, with the main content in it",
		.page = "<div id=sidebar2><main>m</main></div><p>a", .want = "m\n\na",
		.want_pub = NULL},
	{.name = "doubtful, with the main content deep in it",
		.page = "<div class=tabs><div><div><span id=content>m</span></div></div></div>",
		.want = "m", .want_pub = NULL},
	{.name = "doubtful, beside the main content",
		.page = "<main>m</main><div class=tabs>x</div>", .want = "m", .want_pub = NULL},
	{.name = "a title in it does not protect", .page = "<div class=tab><h1>H</h1></div><p>a",
		.want = "a", .want_pub = NULL},
	{.name = "nor does a class of titles", .page = "<div class=tab><p class=title>H</div><p>a",
		.want = "a", .want_pub = NULL},
	{.name = "a title around it does", .page = "<h1>H <span class=tab>x</span></h1><p>a",
		.want = "H x\n\na", .want_pub = NULL},
	{.name = "or being it", .page = "<h1 class=tab>H</h1><p>a", .want = "H\n\na",
		.want_pub = NULL},
	{.name = "within the content",
		.page = "<div class=content><div class=search>s</div></div>", .want = "s",
		.want_pub = NULL},
	{.name = "behind the content",
		.page = "<div class=content>c</div><div class=search>s</div>", .want = "c",
		.want_pub = NULL},
	{.name = "a body of content", .page = "<body class=article><div class=sidebar>s</div>",
		.want = "s", .want_pub = NULL},
	{.name = "an html of content", .page = "<html id=main><body><div class=sidebar>s</div>",
		.want = "s", .want_pub = NULL},
	{.name = "footers",
		.page = "<div class=footerText>x</div><div class=page-footer>y</div><p>a",
		.want = "a", .want_pub = NULL},
	{.name = "a footer's word only", .page = "<div class=pagefooter>x</div>", .want = "x",
		.want_pub = NULL},
	{.name = "roles",
		.page = "<div role=navigation>x</div><div role='x contentinfo'>y</div><p>a",
		.want = "a", .want_pub = NULL},
	{.name = "labels",
		.page = "<div aria-label='Article menu'>x</div><div aria-label=Search>y</div><p>a",
		.want = "a", .want_pub = NULL},
	{.name = "a doubtful role in the main content",
		.page = "<div role=main><p role=search>s</div>", .want = "s", .want_pub = NULL},
	{.name = "a label that says main",
		.page = "<div class=tab aria-label='the article'>s</div>", .want = "s",
		.want_pub = NULL},
	{.name = "noscript",
		.page = "<p>a</p><noscript>Turn JavaScript on</noscript><noscript>n</noscript>",
		.want = "a\n\nn", .want_pub = NULL},
	{.name = "noscript with markup",
		.page = "<div><noscript>Turn <b>JAVASCRIPT</b></noscript></div><p>a", .want = "a",
		.want_pub = NULL},
	{.name = "references", .page = "<p>a<div class=refList>r</div><p id=references>s",
		.want = "a\n\nr\n\ns", .want_pub = "a"},
	{.name = "related articles", .page = "<p>a<div class=article-related>r</div>", .want = "a",
		.want_pub = NULL},
	{.name = "a word with ref in it", .page = "<p>a<p class=preface>b", .want = "a\n\nb",
		.want_pub = NULL},
	{.name = "class of another element's word", .page = "<p class=snapshots>a<p class=barn>b",
		.want = "a\n\nb", .want_pub = NULL},
	{.name = "the head is not read", .page = "<title>t</title><p>a", .want = "a",
		.want_pub = NULL},

	{.name = "description", .page = "<meta name=description content=' d  e '><p>a",
		.want = "d e\n\na", .want_pub = NULL},
	{.name = "the longest of them",
		.page = "<meta name=description content=dd><meta property=og:description content=long>"
			"<meta name=twitter:description content=long><p>a", .want = "long\n\na",
		.want_pub = NULL},
	{.name = "the first of as long ones",
		.page = "<meta property=og:description content=bbb><meta name=description content=aaa><p>x",
		.want = "bbb\n\nx", .want_pub = NULL},
	{.name = "length is that of UTF-16",
		.page = "<meta name=description content='\xe4\xb8\x80\xe4\xb8\x80'>"
			"<meta property=description content=abc><p>x", .want = "abc\n\nx",
		.want_pub = NULL},
	{.name = "every name of them", .page = "<meta property=DC.Description content=d><p>x",
		.want = "d\n\nx", .want_pub = NULL},
	{.name = "meta.description", .page = "<meta name=meta:description content=d><p>x",
		.want = "d\n\nx", .want_pub = NULL},
	{.name = "no text but a description", .page = "<meta name=description content=d>",
		.want = "d", .want_pub = NULL},
	{.name = "an empty description", .page = "<meta name=description content='&nbsp; '><p>x",
		.want = "x", .want_pub = NULL},
	{.name = "lines",
		.page = "<h1>T</h1><p>a <b>b</b>\n c</p><p>d</p>tail<ul><li>1</li><li>2</li></ul>",
		.want = "T\n\na b c\n\nd\n\ntail\n\n1\n2", .want_pub = NULL},
};
/* clang-format on */

static void assert_cleaned(const char *name, bool publication, const char *want)
{
	struct ing_buf got;
	ing_buf_init(&got, ING_CLEAN_MAX_TEXT_BYTES);
	ing_clean_text(&helper.view, publication, &got);
	if (strcmp(ing_buf_str(&got), want) != 0)
		fail_msg("%s: \"%s\", not \"%s\"", name, ing_buf_str(&got), want);
	ing_buf_done(&got);
}

static void test_pages(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		read_page(cases[i].page);
		assert_cleaned(cases[i].name, false, cases[i].want);
		assert_cleaned(cases[i].name, true,
			cases[i].want_pub != NULL ? cases[i].want_pub : cases[i].want);
	}
}

/* Both ways of one page, in any order, as when nothing is kept. */
static void test_pages_cleaned_twice(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		const char *want_pub =
			cases[i].want_pub != NULL ? cases[i].want_pub : cases[i].want;
		read_page(cases[i].page);
		for (unsigned k = 0; k < 4; k++) {
			helper.view.cleaned = ing_clean_page_new(helper.view.arena, k >= 2);
			bool first = k % 2 == 0;
			assert_cleaned(cases[i].name, first, first ? want_pub : cases[i].want);
			assert_cleaned(cases[i].name, !first, first ? cases[i].want : want_pub);
			assert_cleaned(cases[i].name, first, first ? want_pub : cases[i].want);
		}
	}
}

/* Thousands of classes, a few of which say something, many with the same length, beginning and end. */
static void test_many_classes(void **state)
{
	(void)state;
	struct ing_buf page, want;
	ing_buf_init(&page, (size_t)2 << 20);
	ing_buf_init(&want, (size_t)1 << 20);
	for (unsigned i = 0; i < 20000; i++) {
		bool menu = i % 7 == 0;
		ing_buf_printf(&page, "<p class='wrapper1 %s%05u wrapper2'>%u</p>",
			menu ? "menu " : "shoe ", i % 3000, i);
		if (!menu)
			ing_buf_printf(&want, "%s%u", want.len > 0 ? "\n\n" : "", i);
	}
	view_helper_read(&helper, ing_buf_str(&page), page.len, NULL);
	assert_cleaned("many classes", false, ing_buf_str(&want));
	ing_buf_done(&page);
	ing_buf_done(&want);
}

static void test_words(void **state)
{
	static const struct {
		const char *page;
		uint32_t want;
	} counts[] = {{"", 0}, {"<p>one", 1}, {"<p>one two<p>three", 3},
		{"<title>no</title><nav>a b</nav><script>c d</script>", 2},
		{"a&nbsp;b&emsp;c\xe3\x80\x80"
		 "d\xe2\x80\xa8"
		 "e",
			5},
		{"a\xe2\x80\x94"
		 "b caf\xc3\xa9 \xe4\xb8\x80",
			3},
		{"a<b> b</b>c<br>d", 3}, {"<pre>a\n\n  b\tc</pre>", 3}};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(counts); i++)
		assert_int_equal(ing_clean_word_count(read_page(counts[i].page)), counts[i].want);
}

static double now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Elements that all ask whether the main content is around or in them, nested and side by side. */
static void test_linear(void **state)
{
	/* clang-format off */
	static const struct {
		const char *name, *opening, *closing;
		size_t depth, count;
	} pages[] = {
		{.name = "doubtful, nested", .opening = "<div class=sidebar>", .closing = "</div>",
			.depth = 400, .count = 100},
		{.name = "doubtful, side by side", .opening = "<div class=sidebar>",
			.closing = "</div>", .depth = 1, .count = 100000},
		{.name = "noscripts, nested", .opening = "<noscript>x<i>y</i>",
			.closing = "</noscript>", .depth = 200, .count = 200},
		{.name = "a class of many words",
			.opening = "<p class='bar bar bar bar bar bar bar bar bar'>",
			.closing = "</p>", .depth = 1, .count = 50000},
	};
	/* clang-format on */
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(pages); i++) {
		struct ing_buf page;
		ing_buf_init(&page, (size_t)32 << 20);
		for (size_t j = 0; j < pages[i].count; j++) {
			for (size_t k = 0; k < pages[i].depth; k++)
				ing_buf_add_str(&page, pages[i].opening);
			for (size_t k = 0; k < pages[i].depth; k++)
				ing_buf_add_str(&page, pages[i].closing);
		}
		ing_buf_add_str(&page, "<p>end");
		view_helper_read(&helper, ing_buf_str(&page), page.len, NULL);
		double start = now_ms();
		ing_clean_mark(&helper.view, true);
		double ms = now_ms() - start;
		/* Sanitizers make it ten times as slow; a quadratic walk takes minutes. */
		if (ms > 2000)
			fail_msg("%s: %.0f ms", pages[i].name, ms);
		ing_buf_done(&page);
	}
}

/* A value of a megabyte, and one word of it. */
static void test_long_values(void **state)
{
	static const char *const units[] = {
		"nav", "menux", "a ", "aB", "-", "x1", "\xc3\xa9", "breadcrum"};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(units); i++) {
		struct ing_buf page;
		ing_buf_init(&page, (size_t)2 << 20);
		ing_buf_add_str(&page, "<p>a<p class='");
		while (page.len < (size_t)1 << 20)
			ing_buf_add_str(&page, units[i]);
		ing_buf_add_str(&page, "'>b");
		view_helper_read(&helper, ing_buf_str(&page), page.len, NULL);
		double start = now_ms();
		const uint64_t *skip = ing_clean_mark(&helper.view, true);
		assert_true(now_ms() - start < 2000);
		assert_non_null(skip);
		ing_buf_done(&page);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tokens),
		cmocka_unit_test(test_name_words),
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_pages),
		cmocka_unit_test(test_pages_cleaned_twice),
		cmocka_unit_test(test_many_classes),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_linear),
		cmocka_unit_test(test_long_values),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
