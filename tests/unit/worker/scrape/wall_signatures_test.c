/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Signatures of walls: each test that an entry may make, their conjunction and order, and what is
 * wrong with entries. The signatures that come along are tested on their pages in
 * rule_pages_test.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "rules_helper.h"
#include "worker/scrape/rules/wall_signatures.h"

#define PAGE "https://journal.example/article/7"

static struct rules_helper helper;

static const char signatures[] =
	"- {host: login.example, verdict: wall, why: known by its URL}\n"
	"- {name: by-selector, selector: '#px', verdict: challenge, why: a}\n"
	"- {name: by-title, title: '^Just a', verdict: challenge, why: b}\n"
	"- {name: by-bytes, source_matches: 'x-\\xff', verdict: challenge, why: c}\n"
	"- {name: by-words, selector: form, max_words: 3, verdict: login, why: d}\n"
	"- {name: by-page, path: /captcha/, selector: img, verdict: captcha, why: e}\n"
	"- {name: by-all, selector: i, title: t, source_matches: s, max_words: 2, verdict: cookie, "
	"why: f}\n"
	"- {name: nothing-there, title: '^Empty$', max_words: 0, verdict: challenge, why: g}\n";

/* clang-format off */
static const struct {
	const char *name;
	const char *page;
	const char *url; /* NULL: PAGE; "": unknown */
	const char *want;
	enum ing_wall wall;
} cases[] = {
	{.name = "nothing", .page = "<title>An article</title><p>words", .want = NULL,
		.wall = ING_WALL_NONE},
	{.name = "an empty page", .page = "", .want = NULL, .wall = ING_WALL_NONE},
	{.name = "known by its URL: not ours", .page = "<p>", .url = "http://login.example/",
		.want = NULL, .wall = ING_WALL_NONE},
	{.name = "selector", .page = "<p id=px>", .want = "by-selector",
		.wall = ING_WALL_CHALLENGE},
	{.name = "title", .page = "<title>\n Just a\nmoment</title>", .want = "by-title",
		.wall = ING_WALL_CHALLENGE},
	{.name = "another title", .page = "<title>It is Just a title</title>", .want = NULL,
		.wall = ING_WALL_NONE},
	{.name = "bytes", .page = "<p>x-\xff</p>", .want = "by-bytes", .wall = ING_WALL_CHALLENGE},
	{.name = "as many words as may be", .page = "<form>one two three", .want = "by-words",
		.wall = ING_WALL_LOGIN},
	{.name = "too many words", .page = "<form>one two three four", .want = NULL,
		.wall = ING_WALL_NONE},
	{.name = "URL too", .page = "<img>", .url = "https://www.osa.example/captcha/?g=1",
		.want = "by-page", .wall = ING_WALL_CAPTCHA},
	{.name = "another URL", .page = "<img>", .want = NULL, .wall = ING_WALL_NONE},
	{.name = "URL unknown", .page = "<img>", .url = "", .want = NULL, .wall = ING_WALL_NONE},
	{.name = "all of it", .page = "<title>t</title><i>s</i>", .want = "by-all",
		.wall = ING_WALL_COOKIE},
	{.name = "all but the title", .page = "<i>s</i>", .want = NULL, .wall = ING_WALL_NONE},
	{.name = "all but the bytes", .page = "<title>t</title><i>r</i>", .want = NULL,
		.wall = ING_WALL_NONE},
	{.name = "all but the element", .page = "<title>t</title><b>s</b>", .want = NULL,
		.wall = ING_WALL_NONE},
	{.name = "all but the words", .page = "<title>t</title><i>s s s</i>", .want = NULL,
		.wall = ING_WALL_NONE},
	{.name = "no words at all", .page = "<title>Empty</title>", .want = "nothing-there",
		.wall = ING_WALL_CHALLENGE},
	{.name = "two: the first", .page = "<title>Just a</title><p id=px>", .want = "by-selector",
		.wall = ING_WALL_CHALLENGE},
};
/* clang-format on */

static struct ing_wall_match find(const char *page, size_t bytes, const char *url)
{
	const char *address = url == NULL ? PAGE : url[0] == '\0' ? NULL : url;
	return ing_wall_signatures_find(
		helper.rules->wall_signatures, rules_helper_read(&helper, page, bytes, address));
}

static void finds_signatures(void **state)
{
	(void)state;
	assert_true(rules_helper_load(&helper, ING_RULES_WALLS, signatures));
	assert_int_equal(ing_wall_signatures_count(helper.rules->wall_signatures), 7);
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		print_message("%s\n", cases[i].name);
		struct ing_wall_match got =
			find(cases[i].page, strlen(cases[i].page), cases[i].url);
		assert_int_equal(got.wall, cases[i].wall);
		assert_int_equal(got.name != NULL, cases[i].want != NULL);
		if (cases[i].want != NULL)
			assert_string_equal(got.name, cases[i].want);
	}
}

static void notes_what_rules_did(void **state)
{
	(void)state;
	assert_true(rules_helper_load(&helper, ING_RULES_WALLS, signatures));
	struct ing_wall_match got = find("<title>Just a</title>", 21, NULL);
	assert_string_equal(helper.rules->names[got.rule], "walls.yaml by-title");
	assert_string_equal(got.detail, "b");
	assert_int_equal(rules_helper_did(&helper, "walls.yaml by-selector"), ING_RULE_APPLIED);
	assert_int_equal(rules_helper_did(&helper, "walls.yaml by-title"),
		ING_RULE_APPLIED | ING_RULE_MATCHED);
	assert_int_equal(rules_helper_did(&helper, "walls.yaml by-bytes"), 0);
	got = find("<p>", 3, NULL);
	assert_int_equal(got.rule, UINT32_MAX);
	assert_int_equal(rules_helper_did(&helper, "walls.yaml by-page"), 0);
}

static const struct rules_mistake mistakes[] = {
	{"{}", 1, 1, "list"},
	{"- {selector: a, verdict: login, why: x}", 1, 3, "name"},
	{"- {name: a, selector: a, verdict: login}", 1, 3, "why"},
	{"- {name: a, selector: a, why: x}", 1, 3, "verdict"},
	{"- {name: a, selector: a, verdict: wall, why: x}", 1, 35, "verdict"},
	{"- {name: a, verdict: login, why: x}", 1, 3, "one of selector, title, source_matches"},
	{"- {name: a, max_words: 3, verdict: login, why: x}", 1, 3, "one of selector, title"},
	{"- {name: a, selector: a, max_words: few, verdict: login, why: x}", 1, 37, "max_words"},
	{"- {name: a, selector: '', verdict: login, why: x}", 1, 23, "selector"},
	{"- {name: a, title: '(', verdict: login, why: x}", 1, 22, "parenthesis"},
	{"- {name: a, selector: a, host: 'a b', verdict: login, why: x}", 1, 32, "host"},
	{"- {name: a, selector: a, only_at_end: true, verdict: login, why: x}", 1, 26,
		"only_at_end"},
};

static void says_what_is_wrong_and_where(void **state)
{
	(void)state;
	assert_int_equal(
		rules_helper_unsaid(&helper, ING_RULES_WALLS, mistakes, ING_ARRAY_LEN(mistakes)),
		0);
}

/* A signature is looked for at the front of the page, and an expression ends by its limit. */
static void large_pages_cost_little(void **state)
{
	(void)state;
	struct ing_buf page;
	assert_true(rules_helper_load(&helper, ING_RULES_WALLS,
		"- {name: slow, source_matches: '(?:a|aa)+!z', verdict: challenge, why: x}\n"
		"- {name: deep, source_matches: 'needle', verdict: challenge, why: x}\n"));
	ing_buf_init(&page, (size_t)16 << 20);
	for (unsigned i = 0; i < 1000000; i++)
		ing_buf_add_str(&page, "aaaaaaa\n");
	ing_buf_add_str(&page, "needle");
	assert_null(find(page.data, page.len, NULL).name);
	assert_true(rules_helper_did(&helper, "walls.yaml deep") == ING_RULE_APPLIED);
	ing_buf_done(&page);
	static const char explodes[] =
		"<p>aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!y zz !z";
	assert_null(find(explodes, sizeof(explodes) - 1, NULL).name);
	assert_int_equal(
		rules_helper_did(&helper, "walls.yaml slow"), ING_RULE_APPLIED | ING_RULE_FAILED);
}

static void walls_have_names(void **state)
{
	(void)state;
	assert_null(ing_wall_name(ING_WALL_NONE));
	assert_string_equal(ing_wall_name(ING_WALL_COOKIE), "cookie");
	assert_string_equal(ing_wall_name(ING_WALL_CAPTCHA), "captcha");
	assert_string_equal(ing_wall_name(ING_WALL_LOGIN), "login");
	assert_string_equal(ing_wall_name(ING_WALL_CHALLENGE), "challenge");
}

static int set_up(void **state)
{
	(void)state;
	rules_helper_init(&helper);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	rules_helper_done(&helper);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_signatures),
		cmocka_unit_test(notes_what_rules_did),
		cmocka_unit_test(says_what_is_wrong_and_where),
		cmocka_unit_test(large_pages_cost_little),
		cmocka_unit_test(walls_have_names),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
