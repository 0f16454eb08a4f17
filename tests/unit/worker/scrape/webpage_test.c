/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Title, content, licence and language of a web page: by its rule, whose keys may be absent, empty
 * or selectors, and without one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/macros.h"
#include "view_helper.h"
#include "worker/scrape/publication/publication.h"

#define NO_KEY NULL
#define EMPTY ""

static struct view_helper helper;
static struct ing_matcher *matcher;

static int set_up(void **state)
{
	(void)state;
	view_helper_init(&helper);
	matcher = ing_matcher_new();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	ing_matcher_free(matcher);
	view_helper_done(&helper);
	return 0;
}

static void fill_rule(struct ing_webpage_rule *rule, const char *const *selectors)
{
	struct ing_error err = {0};
	*rule = (struct ing_webpage_rule){.pattern = "test", .rule = 99};
	for (size_t i = 0; i < ING_WEBPAGE_KEYS_; i++) {
		struct ing_selector *s = NULL;
		rule->keys[i].given = selectors[i] != NULL;
		if (selectors[i] == NULL || *selectors[i] == '\0')
			continue;
		if (ing_selector_compile(selectors[i], strlen(selectors[i]), &s, &err) < 0)
			fail_msg("%s: %s", selectors[i], err.msg);
		rule->keys[i].selector = s;
		rule->keys[i].rule = (uint32_t)i;
	}
}

static void empty_rule(struct ing_webpage_rule *rule)
{
	for (size_t i = 0; i < ING_WEBPAGE_KEYS_; i++) {
		struct ing_selector *s = NULL;
		memcpy(&s, &rule->keys[i].selector, sizeof(s)); /* ours, for all its const */
		ing_selector_free(s);
	}
}

static char *read_webpage(const char *page, const struct ing_webpage_rule *rule)
{
	view_helper_read(&helper, page, strlen(page), "https://tool.example/a/b");
	ing_matcher_bind(matcher, helper.view.tree, 0);
	helper.view.matcher = matcher;
	struct ing_webpage_fields fields = ing_webpage_fields_read(&helper.view, rule);
	json_t *j = ing_webpage_fields_json(&fields);
	char *text = json_dumps(j, JSON_COMPACT);
	json_decref(j);
	return text;
}

#define FULL                                                                                       \
	"<html lang=en><title> The\n tool </title><link rel=license href=/l><nav>n</nav>"          \
	"<h1>Head<br>line</h1><p class=c>one<p class=c>two <b>x</b><p id=l>MIT<p class=g>de"       \
	"<p class=g>fr"
#define ALL "The tool"
#define TEXT "Head\\nline\\n\\none\\n\\ntwo x\\n\\nMIT\\n\\nde\\n\\nfr"

/* clang-format off */
static const struct {
	const char *name, *page;
	const char *selectors[ING_WEBPAGE_KEYS_]; /* title, content, license, language */
	bool no_rule;
	const char *want;
} cases[] = {
	{.name = "without a rule", .page = FULL, .selectors = {NULL}, .no_rule = true,
		.want = "{\"title\":\"" ALL "\",\"content\":\"" TEXT "\","
			"\"license\":\"https://tool.example/l\",\"language\":\"en\"}"},
	{.name = "a rule without keys", .page = FULL,
		.selectors = {NO_KEY, NO_KEY, NO_KEY, NO_KEY},
		.want = "{\"title\":\"" ALL "\",\"content\":\"" TEXT "\","
			"\"license\":\"https://tool.example/l\",\"language\":\"en\"}"},
	{.name = "empty keys", .page = FULL, .selectors = {EMPTY, EMPTY, EMPTY, EMPTY},
		.want = "{\"title\":\"\",\"content\":\"\",\"license\":\"\",\"language\":\"\"}"},
	{.name = "selectors", .page = FULL, .selectors = {"h1", ".c", "#l", ".g"},
		.want = "{\"title\":\"Head\\nline\",\"content\":\"one\\n\\ntwo x\",\"license\":\"MIT\","
			"\"language\":\"de, fr\"}"},
	{.name = "selectors that find nothing", .page = FULL,
		.selectors = {"h6", ".none", "#none", "q"},
		.want = "{\"title\":null,\"content\":null,\"license\":null,\"language\":null}"},
	{.name = "what a rule picks is not cleaned", .page = "<nav>a</nav>",
		.selectors = {NO_KEY, "nav", NO_KEY, NO_KEY},
		.want = "{\"title\":null,\"content\":\"a\",\"license\":null,\"language\":null}"},
	{.name = "reference lists are kept", .page = "<p>a<p class=refs>b", .selectors = {NULL},
		.no_rule = true,
		.want = "{\"title\":null,\"content\":\"a\\n\\nb\",\"license\":null,\"language\":null}"},
	{.name = "nothing", .page = "", .selectors = {NULL}, .no_rule = true,
		.want = "{\"title\":null,\"content\":null,\"license\":null,\"language\":null}"},
	{.name = "licence by a link in the text",
		.page = "<a rel='nofollow License' href=https://creativecommons.org/licenses/by/4.0/></a>",
		.selectors = {NULL}, .no_rule = true,
		.want = "{\"title\":null,\"content\":null,"
			"\"license\":\"https://creativecommons.org/licenses/by/4.0/\",\"language\":null}"},
	{.name = "licence by a link of the page before one in the text",
		.page = "<a rel=license>none</a><a rel=license href=/2></a><a rel=licenses href=/3></a>"
			"<p><link rel='x license' href=/1>",
		.selectors = {NULL}, .no_rule = true,
		.want = "{\"title\":null,\"content\":\"none\","
			"\"license\":\"https://tool.example/1\",\"language\":null}"},
	{.name = "licence by the first link with an address",
		.page = "<a rel=license></a><a rel=licenses href=/3></a><a rel=license href=/2></a>"
			"<meta name=dcterms:license content=CC0>",
		.selectors = {NULL}, .no_rule = true,
		.want = "{\"title\":null,\"content\":null,"
			"\"license\":\"https://tool.example/2\",\"language\":null}"},
	{.name = "licence by a meta", .page = "<meta name=dcterms:license content=' CC0 '>",
		.selectors = {NULL}, .no_rule = true,
		.want = "{\"title\":null,\"content\":null,\"license\":\"CC0\",\"language\":null}"},
	{.name = "rights that name a licence",
		.page = "<meta name=DC.Rights content='(c) 2020 A. Writer'><meta name=DC.Rights content='See "
			"(http://creativecommons.org/licenses/by-nc/2.0), please.'>",
		.selectors = {NULL}, .no_rule = true,
		.want = "{\"title\":null,\"content\":null,"
			"\"license\":\"http://creativecommons.org/licenses/by-nc/2.0\",\"language\":null}"},
	{.name = "rights that name none",
		.page = "<meta name=copyright content='creativecommons.org/ all rights reserved'>",
		.selectors = {NULL}, .no_rule = true,
		.want = "{\"title\":null,\"content\":null,\"license\":null,\"language\":null}"},
	{.name = "language of the root, not of a part", .page = "<html><body lang=fr><p lang=de>x",
		.selectors = {NULL}, .no_rule = true,
		.want = "{\"title\":null,\"content\":\"x\",\"license\":null,\"language\":null}"},
	{.name = "xml:lang", .page = "<!-- c --><html xml:lang=pt-BR>", .selectors = {NULL},
		.no_rule = true,
		.want = "{\"title\":null,\"content\":null,\"license\":null,\"language\":\"pt-BR\"}"},
	{.name = "language by a header's meta",
		.page = "<html lang=''><meta http-equiv=Content-Language content=en_GB>",
		.selectors = {NULL}, .no_rule = true,
		.want = "{\"title\":null,\"content\":null,\"license\":null,\"language\":\"en_GB\"}"},
	{.name = "language by metas", .page = "<meta name=dc.language content=es>",
		.selectors = {NULL}, .no_rule = true,
		.want = "{\"title\":null,\"content\":null,\"license\":null,\"language\":\"es\"}"},
	{.name = "a language that is none",
		.page = "<html lang='en, de'><meta name=dc.language content='{{l}}'>",
		.selectors = {NULL}, .no_rule = true,
		.want = "{\"title\":null,\"content\":null,\"license\":null,\"language\":null}"},
};
/* clang-format on */

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_webpage_rule rule;
		fill_rule(&rule, cases[i].selectors);
		char *got = read_webpage(cases[i].page, cases[i].no_rule ? NULL : &rule);
		if (strcmp(got, cases[i].want) != 0)
			fail_msg("%s: %s", cases[i].name, got);
		free(got);
		empty_rule(&rule);
	}
}

static void test_superset(void **state)
{
	static const char *const selectors[] = {"i", "i", "a", NULL};
	struct ing_webpage_rule rule;
	(void)state;
	fill_rule(&rule, selectors);
	rule.keys[ING_WEBPAGE_TITLE].attr = "title";
	rule.keys[ING_WEBPAGE_CONTENT].parents = 1;
	rule.keys[ING_WEBPAGE_LICENSE].attr = "data-license";
	char *got = read_webpage(
		"<div>x<i title=' a  b '></i><i></i></div><a data-license=MIT>l", &rule);
	assert_string_equal(got, "{\"title\":\"a b\",\"content\":\"x\",\"license\":\"MIT\","
				 "\"language\":null}");
	free(got);
	/* Which rules were of use is noted, and the entry as a whole; the language had none. */
	assert_int_equal(helper.rule_hits.count, 4);
	assert_int_equal(helper.rule_hits.items[3].rule, 99);
	assert_int_equal(helper.rule_hits.items[3].flags, ING_RULE_APPLIED | ING_RULE_MATCHED);
	empty_rule(&rule);
}

static unsigned what_the_entry_did(const char *const *selectors)
{
	struct ing_webpage_rule rule;
	fill_rule(&rule, selectors);
	free(read_webpage("<title>t</title><p>text", &rule));
	empty_rule(&rule);
	unsigned flags = 0;
	for (size_t i = 0; i < helper.rule_hits.count; i++)
		if (helper.rule_hits.items[i].rule == 99)
			flags = helper.rule_hits.items[i].flags;
	return flags;
}

/* Only an entry that has something to find can stop to find it. */
static void an_entry_that_selects_nothing_matches(void **state)
{
	static const char *const nothing[] = {"", "", NULL, NULL};
	static const char *const absent[] = {NULL, NULL, NULL, NULL};
	static const char *const outdated[] = {"", "b.gone", NULL, NULL};
	(void)state;
	assert_int_equal(what_the_entry_did(nothing), ING_RULE_APPLIED | ING_RULE_MATCHED);
	assert_int_equal(what_the_entry_did(absent), ING_RULE_APPLIED | ING_RULE_MATCHED);
	assert_int_equal(what_the_entry_did(outdated), ING_RULE_APPLIED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_superset),
		cmocka_unit_test(an_entry_that_selects_nothing_matches),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
