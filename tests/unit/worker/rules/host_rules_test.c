/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rules about hosts and blocks: which entry counts for a name, the place and words of every error,
 * and the file that comes with the programs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/report.h"
#include "common/net/url_match.h"
#include "worker/rules/host_rules.h"
#include "worker/rules/rule_reader.h"
#include "worker/rules/rule_files.h"

static int load(const char *text, struct ing_host_rules **ret, struct ing_report *report)
{
	struct ing_rule_files files;
	ing_rule_files_init(&files);
	ing_report_init(report);
	files.items[0] = (struct ing_rule_file){.kind = ING_RULES_HOSTS,
		.path = ing_strdup("hosts.yaml"),
		.text = ing_strdup(text),
		.bytes = strlen(text)};
	files.items[1] = (struct ing_rule_file){.kind = ING_RULES_WALLS,
		.path = ing_strdup("walls.yaml"),
		.text = ing_strdup("not: ours"),
		.bytes = 9};
	files.count = 2;
	int rc = ing_host_rules_load_files(&files, ret, report);
	ing_rule_files_done(&files);
	return rc;
}

static struct ing_host_rules *load_good(const char *text)
{
	struct ing_host_rules *r = NULL;
	struct ing_report report;
	int rc = load(text, &r, &report);
	if (rc != 0)
		ing_report_print(&report, true, stderr);
	assert_int_equal(rc, 0);
	ing_report_done(&report);
	return r;
}

static const char entries[] = "- {host: Example.ORG, delay_ms: 3600000, why: a}\n"
			      "- {host: .example.org, delay_ms: 0, concurrency: 1000, why: b}\n"
			      "- {host: .deep.example.org, robots: ignore, why: c, source: seen}\n"
			      "- {host: www.bare.example, robots: obey, why: d}\n"
			      "- {host: .www.com, tls_fallback: true, why: e}\n"
			      "- {host: b\xc3\xbc"
			      "cher.example, tls_fallback: false, why: f}\n"
			      "- {host: 192.0.2.1, concurrency: 2, why: g}\n"
			      "- {host: .example, delay_ms: 5, why: h}\n";

static const struct {
	const char *host, *why;
} finds[] = {
	{"example.org", "a"},
	{"www.example.org", "a"},
	{"example.org.", "a"},
	{"www.example.org.", "a"},
	{"x.example.org", "b"},
	{"www.x.example.org", "b"},
	{"y.x.example.org", "b"},
	{"deep.example.org", "c"},
	{"a.b.deep.example.org", "c"},
	{"notexample.org", NULL},
	{"example.org.com", NULL},
	{"org", NULL},
	{"bare.example", "d"},
	{"a.bare.example", "h"},
	{"example", "h"},
	{"other.example", "h"},
	{"www.com", "e"},
	{"a.www.com", "e"},
	{"com", NULL},
	{"other.com", NULL},
	{"xn--bcher-kva.example", "f"},
	{"192.0.2.1", "g"},
	{"192.0.2.11", NULL},
	{"[2001:db8::1]", NULL},
	{"www.", NULL},
	{"www", NULL},
	{".", NULL},
	{"..", NULL},
	{"", NULL},
};

static void which_entry_counts(void **state)
{
	(void)state;
	struct ing_host_rules *r = load_good(entries);
	assert_int_equal(ing_host_rules_count(r), 8);
	for (size_t i = 0; i < ING_ARRAY_LEN(finds); i++) {
		const struct ing_host_rule *rule = ing_host_rules_find(r, finds[i].host);
		const char *why = rule != NULL ? rule->why : "-";
		if (strcmp(why, finds[i].why != NULL ? finds[i].why : "-") != 0)
			fail_msg("%s: %s", finds[i].host, why);
	}
	char longest[400];
	memset(longest, 'a', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	assert_null(ing_host_rules_find(r, longest));
	assert_null(ing_host_rules_find(NULL, "example.org"));
	assert_int_equal(ing_host_rules_count(NULL), 0);
	assert_null(ing_host_rules_entries(NULL));
	ing_host_rules_free(r);
	ing_host_rules_free(NULL);
}

static void what_an_entry_says(void **state)
{
	(void)state;
	struct ing_host_rules *r = load_good(entries);
	const struct ing_host_rule *a = ing_host_rules_entries(r);
	assert_string_equal(a->host, "example.org");
	assert_string_equal(a->file, "hosts.yaml");
	assert_int_equal(a->line, 1);
	assert_true(a->has_delay);
	assert_int_equal(a->delay_ms, 3600000);
	assert_false(a->has_concurrency);
	assert_int_equal(a->obey_robots, ING_CHOICE_UNSET);
	assert_int_equal(a->tls_fallback, ING_CHOICE_UNSET);
	assert_null(a->source);
	const struct ing_host_rule *b = a->next;
	assert_string_equal(b->host, ".example.org");
	assert_true(b->has_delay && b->delay_ms == 0);
	assert_true(b->has_concurrency && b->concurrency == 1000);
	const struct ing_host_rule *c = b->next;
	assert_int_equal(c->obey_robots, ING_CHOICE_NO);
	assert_string_equal(c->source, "seen");
	const struct ing_host_rule *d = c->next;
	assert_string_equal(d->host, "bare.example");
	assert_int_equal(d->obey_robots, ING_CHOICE_YES);
	assert_int_equal(d->next->tls_fallback, ING_CHOICE_YES);
	assert_int_equal(d->next->next->tls_fallback, ING_CHOICE_NO);
	ing_host_rules_free(r);
}

static void absent_and_empty_files_hold_no_rules(void **state)
{
	(void)state;
	static const char *const texts[] = {"", "# nothing\n", "[]\n", "~\n"};
	for (size_t i = 0; i < ING_ARRAY_LEN(texts); i++) {
		struct ing_host_rules *r = load_good(texts[i]);
		assert_int_equal(ing_host_rules_count(r), 0);
		assert_null(ing_host_rules_find(r, "example.org"));
		ing_host_rules_free(r);
	}
}

static void a_resolver_has_a_pace_of_its_own(void **state)
{
	(void)state;
	struct ing_host_rules *r = load_good(
		"- {host: doi.example, resolver: true, why: a}\n"
		"- {host: ark.example, resolver: true, delay_ms: 7, concurrency: 9, why: b}\n"
		"- {host: none.example, resolver: false, why: c}\n");
	const struct ing_host_rule *doi = ing_host_rules_find(r, "doi.example");
	assert_true(doi->resolver);
	assert_true(doi->has_delay && doi->delay_ms == 100);
	assert_true(doi->has_concurrency && doi->concurrency == 4);
	const struct ing_host_rule *ark = ing_host_rules_find(r, "ark.example");
	assert_true(ark->resolver && ark->delay_ms == 7 && ark->concurrency == 9);
	const struct ing_host_rule *none = ing_host_rules_find(r, "none.example");
	assert_false(none->resolver || none->has_delay || none->has_concurrency);
	ing_host_rules_free(r);
}

#define KEYS "host, delay_ms, concurrency, robots, tls_fallback, resolver, why, source, tests"
#define HOST_WORDS "host must be a host name, or .NAME for it and all names below"

/* clang-format off */
static const struct {
	const char *text;
	int line, column;
	const char *words;
} errors[] = {
	{.text = "host: a\n", .line = 1, .column = 1,
		.words = "the file must be a list of entries, not a map"},
	{.text = "- a\n", .line = 1, .column = 3, .words = "an entry must be a map, not a text"},
	{.text = "- {delay_ms: 1, why: w}\n", .line = 1, .column = 3,
		.words = "an entry needs a host"},
	{.text = "- {host: a, delay_ms: 1}\n", .line = 1, .column = 3,
		.words = "an entry needs a why"},
	{.text = "- {host: a, why: w}\n", .line = 1, .column = 3,
		.words = "an entry needs one of delay_ms, concurrency, robots, tls_fallback, resolver"},
	{.text = "- {host: a, delay: 1, robots: obey, why: w}\n", .line = 1, .column = 13,
		.words = "there is no key \"delay\"; there are " KEYS},
	{.text = "- {host: a, dealy_ms: 1, robots: obey, why: w}\n", .line = 1, .column = 13,
		.words = "there is no key \"dealy_ms\"; did you mean \"delay_ms\"?"},
	{.text = "- {host: 'http://a/', delay_ms: 1, why: w}\n", .line = 1, .column = 10,
		.words = HOST_WORDS},
	{.text = "- {host: '*.a', delay_ms: 1, why: w}\n", .line = 1, .column = 10,
		.words = HOST_WORDS},
	{.text = "- {host: 'a:80', delay_ms: 1, why: w}\n", .line = 1, .column = 10,
		.words = HOST_WORDS},
	{.text = "- {host: ., delay_ms: 1, why: w}\n", .line = 1, .column = 10,
		.words = HOST_WORDS},
	{.text = "- {host: [a], delay_ms: 1, why: w}\n", .line = 1, .column = 10,
		.words = "host must be a text, not a list"},
	{.text = "- {host: a, delay_ms: 3600001, why: w}\n", .line = 1, .column = 23,
		.words = "delay_ms must be a number, 0 to 3600000"},
	{.text = "- {host: a, delay_ms: -1, why: w}\n", .line = 1, .column = 23,
		.words = "delay_ms must be a number, 0 to 3600000"},
	{.text = "- {host: a, delay_ms: 1.5, why: w}\n", .line = 1, .column = 23,
		.words = "delay_ms must be a number, 0 to 3600000"},
	{.text = "- {host: a, delay_ms: , why: w}\n", .line = 1, .column = 23,
		.words = "delay_ms must be a number, 0 to 3600000"},
	{.text = "- {host: a, concurrency: 0, why: w}\n", .line = 1, .column = 26,
		.words = "concurrency must be a number, 1 to 1000"},
	{.text = "- {host: a, concurrency: 1001, why: w}\n", .line = 1, .column = 26,
		.words = "concurrency must be a number, 1 to 1000"},
	{.text = "- {host: a, robots: allow, why: w}\n", .line = 1, .column = 21,
		.words = "there is no robots \"allow\"; there are obey, ignore"},
	{.text = "- {host: a, resolver: 1, why: w}\n", .line = 1, .column = 23,
		.words = "resolver must be true or false"},
	{.text = "- {host: a, tls_fallback: yes, why: w}\n", .line = 1, .column = 27,
		.words = "tls_fallback must be true or false"},
	{.text = "- {host: a.b, delay_ms: 1, why: w}\n\n- {host: www.A.b, robots: obey, why: w}\n",
		.line = 3, .column = 10, .words = "host a.b was given before, in line 1"},
	{.text = "- {host: a, delay_ms: 1, why: w, tests: a}\n", .line = 1, .column = 41,
		.words = "tests must be a list, not a text"},
	{.text = "- {host: a, delay_ms: 1, why: w, tests: [{matches: false}]}\n", .line = 1,
		.column = 42, .words = "a test needs either a host or a url"},
	{.text = "- {host: a, delay_ms: 1, why: w, tests: [{host: a, url: 'http://a/'}]}\n",
		.line = 1, .column = 42, .words = "a test needs either a host or a url"},
	{.text = "- {host: a, delay_ms: 1, why: w, tests: [{host: .a}]}\n", .line = 1,
		.column = 49, .words = "the host of a test must be a host name"},
	{.text = "- {host: a, delay_ms: 1, why: w, tests: [{page: a}]}\n", .line = 1, .column = 43,
		.words = "there is no key \"page\"; there are url, matches, host"},
};
/* clang-format on */

static void errors_carry_their_place(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(errors); i++) {
		struct ing_host_rules *r = NULL;
		struct ing_report report;
		int rc = load(errors[i].text, &r, &report);
		assert_int_equal(rc, -ING_FAIL_CONFIG);
		assert_null(r);
		bool found = false;
		for (size_t n = 0; n < report.count; n++)
			found = found ||
				(report.lines[n].line == errors[i].line &&
					report.lines[n].column == errors[i].column &&
					strcmp(report.lines[n].text, errors[i].words) == 0);
		if (!found) {
			ing_report_print(&report, true, stderr);
			fail_msg("%zu: %d:%d: %s", i, errors[i].line, errors[i].column,
				errors[i].words);
		}
		ing_report_done(&report);
	}
}

static void all_errors_come_together(void **state)
{
	(void)state;
	struct ing_host_rules *r = NULL;
	struct ing_report report;
	assert_int_equal(
		load("- {host: a}\n- {host: '*', robots: none, why: w}\n- 1\n", &r, &report),
		-ING_FAIL_CONFIG);
	assert_int_equal(report.errors, 5);
	ing_report_done(&report);
}

static void blocks(void **state)
{
	(void)state;
	struct ing_blocked_hosts *b = ing_blocked_hosts_new();
	assert_null(ing_blocked_hosts_find(b, "example.org"));
	assert_null(ing_blocked_hosts_find(NULL, "example.org"));
	assert_true(ing_blocked_hosts_add(b, "www.Example.org", "asked us"));
	assert_true(ing_blocked_hosts_add(b, ".below.example", "too"));
	assert_true(ing_blocked_hosts_add(b, "silent.example", NULL));
	assert_false(ing_blocked_hosts_add(b, "example.org", "again"));
	assert_false(ing_blocked_hosts_add(b, "http://example.org/", "no host"));
	assert_false(ing_blocked_hosts_add(b, "", "no host"));
	assert_string_equal(ing_blocked_hosts_find(b, "www.example.org"), "asked us");
	assert_null(ing_blocked_hosts_find(b, "a.example.org"));
	assert_string_equal(ing_blocked_hosts_find(b, "a.b.below.example."), "too");
	assert_string_equal(ing_blocked_hosts_find(b, "silent.example"), "");
	ing_blocked_hosts_clear(b);
	assert_null(ing_blocked_hosts_find(b, "silent.example"));
	assert_null(ing_blocked_hosts_find(b, "example.org"));
	assert_true(ing_blocked_hosts_add(b, "example.org", "anew"));
	assert_string_equal(ing_blocked_hosts_find(b, "example.org"), "anew");
	ing_blocked_hosts_free(b);
	ing_blocked_hosts_free(NULL);
}

static void blocks_have_a_ceiling(void **state)
{
	(void)state;
	struct ing_blocked_hosts *b = ing_blocked_hosts_new();
	char host[40];
	for (int i = 0; i < ING_MAX_BLOCKED_HOSTS; i++) {
		snprintf(host, sizeof(host), "h%d.example", i);
		assert_true(ing_blocked_hosts_add(b, host, "w"));
	}
	assert_false(ing_blocked_hosts_add(b, "one.more.example", "w"));
	assert_non_null(ing_blocked_hosts_find(b, "h99999.example"));
	ing_blocked_hosts_free(b);
}

/* As ingestctl rules test does it. */
static void the_file_that_comes_along(void **state)
{
	(void)state;
	struct ing_rule_files files;
	struct ing_report report;
	struct ing_error err = {0};
	struct ing_host_rules *r = NULL;
	ing_rule_files_init(&files);
	ing_report_init(&report);
	assert_int_equal(ing_rule_files_read_dir(&files, ING_SOURCE_DIR "/rules", &err), 0);
	assert_int_equal(ing_host_rules_load_files(&files, &r, &report), 0);
	ing_rule_files_done(&files);
	assert_true(ing_host_rules_count(r) >= 4);
	for (const struct ing_host_rule *h = ing_host_rules_entries(r); h != NULL; h = h->next) {
		bool sides[2] = {false, false};
		assert_non_null(h->source);
		for (const struct ing_url_test *t = h->tests; t != NULL; t = t->next) {
			struct ing_url_target *target = ing_url_target_new(t->url);
			assert_non_null(target);
			assert_int_equal(ing_url_matches(h->pattern, target), t->matches);
			assert_int_equal(ing_host_rules_find(r, ing_url_target_host(target)) == h,
				t->matches);
			sides[t->matches] = true;
			ing_url_target_free(target);
		}
		if (!sides[0] || !sides[1])
			fail_msg("%s lacks a test", h->host);
	}
	assert_int_equal(ing_host_rules_find(r, "export.arxiv.org")->delay_ms, 3000);
	ing_host_rules_free(r);
	ing_report_done(&report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(which_entry_counts),
		cmocka_unit_test(what_an_entry_says),
		cmocka_unit_test(a_resolver_has_a_pace_of_its_own),
		cmocka_unit_test(absent_and_empty_files_hold_no_rules),
		cmocka_unit_test(errors_carry_their_place),
		cmocka_unit_test(all_errors_come_together),
		cmocka_unit_test(blocks),
		cmocka_unit_test(blocks_have_a_ceiling),
		cmocka_unit_test(the_file_that_comes_along),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
