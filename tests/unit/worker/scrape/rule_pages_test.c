/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The pages of links.yaml, sites.yaml and walls.yaml: every test that stands in these files, run as
 * `ingestctl rules test` runs it but for what is not theirs; and that each entry has a page that it
 * matches and one that it must not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "common/data/yaml.h"
#include "view_helper.h"
#include "worker/scrape/rules/links.h"
#include "worker/scrape/rules/rules.h"
#include "worker/scrape/rules/wall_signatures.h"
#include "worker/scrape/rules/sites.h"

#define RULES ING_SOURCE_DIR "/rules/"
#define MAX_PAGE_BYTES ((size_t)1 << 20)

static struct view_helper helper;
static struct ing_matcher *matcher;
static struct ing_rules *rules;
static struct ing_rule_files files;
static struct ing_report report;
static struct ing_buf page;

static const char *const kinds[ING_LINK_KINDS_] = {"pdf", "html", "xml", "component"};

/* What the three files say of a page. */
struct said {
	struct ing_link links[ING_LINK_KINDS_];
	struct ing_site_next next;
	struct ing_wall_match wall;
};

static int load(void **state)
{
	static const struct {
		enum ing_rule_kind kind;
		const char *path;
	} sources[] = {
		{ING_RULES_LINKS, RULES "links.yaml"},
		{ING_RULES_SITES, RULES "sites.yaml"},
		{ING_RULES_WALLS, RULES "walls.yaml"},
	};
	(void)state;
	struct ing_error err = {0};
	ing_rule_files_init(&files);
	ing_report_init(&report);
	ing_buf_init(&page, MAX_PAGE_BYTES);
	for (size_t i = 0; i < ING_ARRAY_LEN(sources); i++) {
		if (ing_rule_files_read(&files, sources[i].kind, sources[i].path, &err) != 0) {
			print_error("%s\n", err.msg);
			return -1;
		}
	}
	rules = ing_rules_load(&files, &report);
	for (size_t i = 0; i < report.count; i++)
		print_error("%s:%d:%d: %s\n", report.lines[i].file, report.lines[i].line,
			report.lines[i].column, report.lines[i].text);
	view_helper_init(&helper);
	matcher = ing_matcher_new();
	return rules != NULL ? 0 : -1;
}

static int unload(void **state)
{
	(void)state;
	ing_matcher_free(matcher);
	view_helper_done(&helper);
	ing_rules_free(rules);
	ing_buf_done(&page);
	ing_report_done(&report);
	ing_rule_files_done(&files);
	return 0;
}

static bool read_page(const struct ing_rule_test *test)
{
	char path[1024];
	ing_buf_clear(&page);
	if (test->inline_page.text != NULL)
		return ing_buf_add(&page, test->inline_page.text, test->inline_page.bytes);
	snprintf(path, sizeof(path), RULES "%s", test->page);
	FILE *f = fopen(path, "r");
	if (f == NULL)
		return false;
	void *to = ing_buf_reserve(&page, MAX_PAGE_BYTES);
	ing_buf_commit(&page, fread(to, 1, MAX_PAGE_BYTES, f));
	fclose(f);
	return page.len > 0;
}

static void read_what_is_said(const char *url, struct said *ret)
{
	struct ing_view v = *view_helper_read(&helper, page.data, page.len, url);
	v.matcher = matcher;
	ing_matcher_bind(matcher, v.tree, 0);
	for (unsigned kind = 0; kind < ING_LINK_KINDS_; kind++)
		ret->links[kind] = ing_links_find(rules->links, &v, (enum ing_link_kind)kind);
	ret->next = ing_sites_find(rules->sites, &v);
	ret->wall = ing_wall_signatures_find(rules->wall_signatures, &v);
}

static unsigned kinds_of(uint32_t rule)
{
	for (size_t i = 0; i < helper.rule_hits.count; i++) {
		if (helper.rule_hits.items[i].rule == rule)
			return helper.rule_hits.items[i].flags;
	}
	return 0;
}

static bool is_text(const struct ing_yaml_node *map, const char *key, const char *got)
{
	const struct ing_yaml_node *want = map != NULL ? ing_yaml_get(map, key) : NULL;
	if (want == NULL || (got != NULL && strcmp(want->text, got) == 0))
		return true;
	print_error("  %s is %s, not %s\n", key, got != NULL ? got : "absent", want->text);
	return false;
}

static bool is_expected(const struct ing_yaml_node *expect, const struct said *s)
{
	bool good = true;
	const struct ing_yaml_node *links = ing_yaml_get(expect, "links");
	for (unsigned kind = 0; kind < ING_LINK_KINDS_; kind++) {
		const struct ing_yaml_node *link =
			links != NULL ? ing_yaml_get(links, kinds[kind]) : NULL;
		good = is_text(link, "url", s->links[kind].url) &&
		       is_text(link, "technique", s->links[kind].technique) && good;
	}
	const struct ing_yaml_node *next = ing_yaml_get(expect, "next");
	good = is_text(next, "pdf_url", s->next.is_pdf ? s->next.url : NULL) && good;
	good = is_text(next, "next_url", s->next.is_pdf ? NULL : s->next.url) && good;
	good = is_text(next, "technique", s->next.technique) && good;
	const struct ing_yaml_node *blocked = ing_yaml_get(expect, "blocked");
	good = is_text(blocked, "wall", ing_wall_name(s->wall.wall)) && good;
	return is_text(blocked, "technique", s->wall.name) && good;
}

static void pages_are_read_as_the_rules_say(void **state)
{
	(void)state;
	unsigned wrong = 0;
	for (const struct ing_rule_test *t = rules->tests; t != NULL; t = t->next) {
		struct said said = {0};
		bool good = read_page(t);
		if (good) {
			read_what_is_said(t->url, &said);
			unsigned did = kinds_of(t->rule);
			good = ((did & ING_RULE_MATCHED) != 0) == t->matches &&
			       (did & ING_RULE_FAILED) == 0;
		}
		if (t->expect != NULL)
			good = is_expected(t->expect, &said) && good;
		if (good)
			continue;
		print_error("%s:%d: %s, page %s: pdf %s (%s), wall %s\n", t->file, t->line,
			rules->names[t->rule], t->page != NULL ? t->page : "inline",
			said.links[ING_LINK_PDF].url != NULL ? said.links[ING_LINK_PDF].url
							     : "none",
			said.links[ING_LINK_PDF].technique != NULL
				? said.links[ING_LINK_PDF].technique
				: "",
			said.wall.name != NULL ? said.wall.name : "none");
		wrong++;
	}
	assert_int_equal(wrong, 0);
}

static void every_entry_has_a_page_and_a_counterexample(void **state)
{
	(void)state;
	for (uint32_t rule = 0; rule < rules->count; rule++) {
		bool yes = false;
		bool no = false;
		for (const struct ing_rule_test *t = rules->tests; t != NULL; t = t->next) {
			yes = yes || (t->rule == rule && t->matches);
			no = no || (t->rule == rule && !t->matches);
		}
		if (!yes || !no || rules->sources[rule] == NULL)
			print_error("%s lacks a page, a counterexample or its source\n",
				rules->names[rule]);
		assert_true(yes && no && rules->sources[rule] != NULL);
	}
}

static void the_lists_are_whole(void **state)
{
	(void)state;
	assert_true(ing_links_count(rules->links) >= 75 + 6 + 4 + 2 + 1);
	assert_true(ing_sites_count(rules->sites) >= 29);
	assert_true(ing_wall_signatures_count(rules->wall_signatures) >= 37);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_are_read_as_the_rules_say),
		cmocka_unit_test(every_entry_has_a_page_and_a_counterexample),
		cmocka_unit_test(the_lists_are_whole),
	};
	return cmocka_run_group_tests(tests, load, unload);
}
