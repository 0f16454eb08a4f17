/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * URL rules: what matches, what does not, the place and words of every error of the two files, and
 * the files that come with the programs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/base/report.h"
#include "common/net/url_match.h"
#include "worker/rules/url_rules.h"
#include "worker/rules/rule_reader.h"
#include "worker/rules/rule_files.h"

static char folder[] = "/tmp/url_rules_test.XXXXXX";

/* In the working folder, which is the temporary one; NULL: no such file. */
static void write_file(const char *name, const char *text)
{
	unlink(name);
	if (text == NULL)
		return;
	FILE *f = fopen(name, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* A folder's rules, with what is wrong in them as an error. */
static int load_dir(const char *dir, struct ing_url_rules **ret, struct ing_error *err)
{
	struct ing_rule_files files;
	struct ing_report report;
	ing_rule_files_init(&files);
	ing_report_init(&report);
	assert_int_equal(ing_rule_files_read_dir(&files, dir, err), 0);
	int rc = ing_url_rules_load_files(&files, ret, &report);
	if (rc != 0)
		assert_int_equal(ing_report_to_error(&report, err), rc);
	ing_report_done(&report);
	ing_rule_files_done(&files);
	return rc;
}

static struct ing_url_rules *load_good(const char *listed, const char *walled)
{
	struct ing_url_rules *r = NULL;
	struct ing_error err = {0};
	write_file("blocklist.yaml", listed);
	write_file("walls.yaml", walled);
	if (load_dir(".", &r, &err) != 0)
		fail_msg("%s", err.msg);
	return r;
}

static const char blocklist[] = "- {host: Exact.Example, why: exact}\n"
				"- {host: .below.example, why: below}\n"
				"- {host: www.bare.example, why: bare}\n"
				"- {host: .doi.example, path: /10.2307/, why: doi}\n";

static const char walls[] =
	"- {path_contains: /cookieAbsent, verdict: cookie, why: absent}\n"
	"- {query: cookieSet=1, verdict: cookie, only_at_end: true, why: set}\n"
	"- {query: SAMLRequest, verdict: wall, why: saml}\n"
	"- {host: all.example, path: /a, path_contains: login, query: t=x y, verdict: wall, why: all}\n"
	"- {host: sso.example, verdict: wall, only_at_end: true, why: passing}\n"
	"- {host: sso.example, path: /stop, verdict: wall, why: stopping}\n"
	"- {host: exact.example, verdict: cookie, why: less than the blocklist}\n"
	"- {path: \"/caf\xc3\xa9/\", verdict: wall, why: accent}\n"
	"- {host: ends.example, path_ends: .PDF, verdict: login, why: end}\n"
	"- {contains: 'example/a?b%3Dc', verdict: captcha, why: whole}\n"
	"- {path: /cdn-cgi/, verdict: challenge, why: challenge}\n"
	"- {path: /cdn-cgi/, name: a signature, title: x, verdict: cookie, why: not ours}\n";

/* clang-format off */
static const struct {
	const char *url;
	enum ing_url_rule_kind rule;
	const char *why;
} matches[] = {
	{.url = "https://exact.example/", .rule = ING_URL_RULE_BLOCKLIST, .why = "exact"},
	{.url = "http://EXACT.example.:8080/x?y#z", .rule = ING_URL_RULE_BLOCKLIST, .why = "exact"},
	{.url = "https://www.exact.example/", .rule = ING_URL_RULE_BLOCKLIST, .why = "exact"},
	{.url = "https://user@exact.example", .rule = ING_URL_RULE_BLOCKLIST, .why = "exact"},
	{.url = "https://a.exact.example/", .rule = ING_URL_RULE_NONE},
	{.url = "https://notexact.example/", .rule = ING_URL_RULE_NONE},
	{.url = "https://exact.example.org/", .rule = ING_URL_RULE_NONE},
	{.url = "https://other.example/?u=https://exact.example/", .rule = ING_URL_RULE_NONE},
	{.url = "https://other.example/exact.example/", .rule = ING_URL_RULE_NONE},
	{.url = "https://below.example/", .rule = ING_URL_RULE_BLOCKLIST, .why = "below"},
	{.url = "https://a.b.c.below.example/", .rule = ING_URL_RULE_BLOCKLIST, .why = "below"},
	{.url = "https://www.a.below.example/", .rule = ING_URL_RULE_BLOCKLIST, .why = "below"},
	{.url = "https://notbelow.example/", .rule = ING_URL_RULE_NONE},
	{.url = "https://bare.example/", .rule = ING_URL_RULE_BLOCKLIST, .why = "bare"},
	{.url = "https://doi.example/10.2307/1", .rule = ING_URL_RULE_BLOCKLIST, .why = "doi"},
	{.url = "https://dx.doi.example/10.2307%2F1", .rule = ING_URL_RULE_BLOCKLIST, .why = "doi"},
	{.url = "https://dx.doi.example/10.23070/1", .rule = ING_URL_RULE_NONE},
	{.url = "https://dx.doi.example/x/10.2307/1", .rule = ING_URL_RULE_NONE},
	{.url = "https://example.com/?doi=/10.2307/1", .rule = ING_URL_RULE_NONE},
	{.url = "https://any.example/action/cookieAbsent", .rule = ING_URL_RULE_COOKIE,
		.why = "absent"},
	{.url = "https://any.example/action/COOKIEabsent?x", .rule = ING_URL_RULE_COOKIE,
		.why = "absent"},
	{.url = "https://any.example/?p=/cookieAbsent", .rule = ING_URL_RULE_NONE},
	{.url = "https://any.example/#/cookieAbsent", .rule = ING_URL_RULE_NONE},
	{.url = "https://any.example/?cookieSet=1", .rule = ING_URL_RULE_COOKIE, .why = "set"},
	{.url = "https://any.example/?a=b&&cookieset=%31&", .rule = ING_URL_RULE_COOKIE,
		.why = "set"},
	{.url = "https://any.example/?cookieSet=10", .rule = ING_URL_RULE_NONE},
	{.url = "https://any.example/?cookieSet", .rule = ING_URL_RULE_NONE},
	{.url = "https://any.example/?xcookieSet=1", .rule = ING_URL_RULE_NONE},
	{.url = "https://any.example/?a=b%26cookieSet=1", .rule = ING_URL_RULE_NONE},
	{.url = "https://any.example/?SAMLRequest=fZ%2B", .rule = ING_URL_RULE_WALL, .why = "saml"},
	{.url = "https://any.example/?SAMLRequest", .rule = ING_URL_RULE_WALL, .why = "saml"},
	{.url = "https://any.example/?SAMLRequested=1", .rule = ING_URL_RULE_NONE},
	{.url = "https://any.example/?%00&SAMLRequest=1", .rule = ING_URL_RULE_WALL, .why = "saml"},
	{.url = "https://any.example/?%", .rule = ING_URL_RULE_NONE},
	{.url = "https://any.example/?cookieSet=1&SAMLRequest=1", .rule = ING_URL_RULE_WALL,
		.why = "saml"},
	{.url = "https://all.example/a/login?t=x+y", .rule = ING_URL_RULE_WALL, .why = "all"},
	{.url = "https://all.example/a/login?t=x%20y", .rule = ING_URL_RULE_WALL, .why = "all"},
	{.url = "https://all.example/b/login?t=x+y", .rule = ING_URL_RULE_NONE},
	{.url = "https://all.example/a/logout?t=x+y", .rule = ING_URL_RULE_NONE},
	{.url = "https://all.example/a/login?t=x", .rule = ING_URL_RULE_NONE},
	{.url = "https://other.example/a/login?t=x+y", .rule = ING_URL_RULE_NONE},
	{.url = "https://sso.example/", .rule = ING_URL_RULE_WALL, .why = "passing"},
	{.url = "https://sso.example/stop", .rule = ING_URL_RULE_WALL, .why = "stopping"},
	{.url = "https://any.example/caf%C3%A9/1", .rule = ING_URL_RULE_WALL, .why = "accent"},
	{.url = "https://any.example/caf\xc3\xa9/1", .rule = ING_URL_RULE_WALL, .why = "accent"},
	{.url = "https://ends.example/a%2Epdf?b", .rule = ING_URL_RULE_LOGIN, .why = "end"},
	{.url = "https://ends.example/a.pdf/", .rule = ING_URL_RULE_NONE},
	{.url = "https://ends.example/pdf", .rule = ING_URL_RULE_NONE},
	{.url = "https://any.EXAMPLE/a?B=c", .rule = ING_URL_RULE_CAPTCHA, .why = "whole"},
	{.url = "https://any.example/a?bc", .rule = ING_URL_RULE_NONE},
	{.url = "https://any.example/cdn-cgi/l/chk", .rule = ING_URL_RULE_CHALLENGE,
		.why = "challenge"},
	{.url = "https://[::1]/", .rule = ING_URL_RULE_NONE},
	{.url = "https://a..example/", .rule = ING_URL_RULE_NONE},
	{.url = "mailto:a@exact.example", .rule = ING_URL_RULE_NONE},
	{.url = "exact.example", .rule = ING_URL_RULE_NONE},
	{.url = "", .rule = ING_URL_RULE_NONE},
};
/* clang-format on */

static void what_matches(void **state)
{
	(void)state;
	struct ing_url_rules *r = load_good(blocklist, walls);
	assert_int_equal(ing_url_rules_count(r), 15);
	for (size_t i = 0; i < sizeof(matches) / sizeof(matches[0]); i++) {
		struct ing_url_decision f = ing_url_rules_decide(r, matches[i].url);
		const char *why = f.detail != NULL ? f.detail : "-";
		if (f.rule != matches[i].rule ||
			strcmp(why, matches[i].why != NULL ? matches[i].why : "-") != 0)
			fail_msg("%s: %d, %s", matches[i].url, f.rule, why);
	}
	assert_true(ing_url_rules_decide(r, "https://sso.example/").only_at_end);
	assert_false(ing_url_rules_decide(r, "https://sso.example/stop").only_at_end);
	ing_url_rules_free(r);
}

static void hosts_are_read_as_urls_have_them(void **state)
{
	(void)state;
	struct ing_url_rules *r = load_good("- {host: b\xc3\xbc"
					    "cher.example, why: w}\n"
					    "- {host: .www.com, why: w}\n",
		NULL);
	static const struct {
		const char *url;
		enum ing_url_rule_kind rule;
	} cases[] = {
		{"https://xn--bcher-kva.example/", ING_URL_RULE_BLOCKLIST},
		{"https://B\xc3\x9c"
		 "CHER.example/",
			ING_URL_RULE_BLOCKLIST},
		{"https://www.com/", ING_URL_RULE_BLOCKLIST},
		{"https://other.com/", ING_URL_RULE_NONE},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(ing_url_rules_decide(r, cases[i].url).rule, cases[i].rule);
	ing_url_rules_free(r);
}

static void absent_and_empty_files_hold_no_rules(void **state)
{
	(void)state;
	static const char *const texts[] = {NULL, "", "# nothing\n", "[]\n", "~\n"};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct ing_url_rules *r = load_good(texts[i], texts[i]);
		assert_int_equal(ing_url_rules_count(r), 0);
		assert_int_equal(
			ing_url_rules_decide(r, "https://a.example/").rule, ING_URL_RULE_NONE);
		ing_url_rules_free(r);
	}
	assert_int_equal(ing_url_rules_decide(NULL, "https://a.example/").rule, ING_URL_RULE_NONE);
	ing_url_rules_free(NULL);
}

#define KEYS "host, path, path_contains, path_ends, query, contains, why, source, tests"
#define HOST_WORDS "host must be a host name, or .NAME for it and all names below"

/* clang-format off */
static const struct {
	const char *blocklist, *walls, *message;
} errors[] = {
	{.blocklist = "host: a\n",
		.message = "./blocklist.yaml:1:1: the file must be a list of entries, not a map"},
	{.blocklist = "- a\n",
		.message = "./blocklist.yaml:1:3: an entry must be a map, not a text"},
	{.blocklist = "- {host: a}\n", .message = "./blocklist.yaml:1:3: an entry needs a why"},
	{.blocklist = "- {why: w}\n",
		.message = "./blocklist.yaml:1:3: an entry needs one of host, path, path_contains, path_ends, query, contains"},
	{.blocklist = "- {host: a, why: w}\n- {hots: a, host: b, why: w}\n",
		.message = "./blocklist.yaml:2:4: there is no key \"hots\"; did you mean \"host\"?"},
	{.blocklist = "- {host: a, why: w, verdict: wall}\n",
		.message = "./blocklist.yaml:1:21: there is no key \"verdict\"; there are " KEYS},
	{.blocklist = "- {host: 'http://a/', why: w}\n",
		.message = "./blocklist.yaml:1:10: " HOST_WORDS},
	{.blocklist = "- {host: '*.a', why: w}\n", .message = "./blocklist.yaml:1:10: " HOST_WORDS},
	{.blocklist = "- {host: 'a:80', why: w}\n",
		.message = "./blocklist.yaml:1:10: " HOST_WORDS},
	{.blocklist = "- {host: ., why: w}\n", .message = "./blocklist.yaml:1:10: " HOST_WORDS},
	{.blocklist = "- {host: ..a, why: w}\n", .message = "./blocklist.yaml:1:10: " HOST_WORDS},
	{.blocklist = "- {host: 'a<b', why: w}\n", .message = "./blocklist.yaml:1:10: " HOST_WORDS},
	{.blocklist = "- {host: , why: w}\n",
		.message = "./blocklist.yaml:1:10: host must not be empty or contain NUL"},
	{.blocklist = "- {host: [a], why: w}\n",
		.message = "./blocklist.yaml:1:10: host must be a text, not a list"},
	{.blocklist = "- {host: \"a\\0b\", why: w}\n",
		.message = "./blocklist.yaml:1:10: host must not be empty or contain NUL"},
	{.blocklist = "- {path: a, why: w}\n",
		.message = "./blocklist.yaml:1:10: path must begin with a slash"},
	{.blocklist = "- {query: 'a&b', why: w}\n",
		.message = "./blocklist.yaml:1:11: query must be one parameter, NAME or NAME=VALUE"},
	{.blocklist = "- {query: =b, why: w}\n",
		.message = "./blocklist.yaml:1:11: query must be one parameter, NAME or NAME=VALUE"},
	{.blocklist = "- {query: '?b', why: w}\n",
		.message = "./blocklist.yaml:1:11: query must be one parameter, NAME or NAME=VALUE"},
	{.walls = "- {host: a, why: w}\n",
		.message = "./walls.yaml:1:3: an entry needs a verdict: wall, cookie, captcha, login or challenge"},
	{.walls = "- {host: a, why: w, verdict: fence}\n",
		.message = "./walls.yaml:1:30: there is no verdict \"fence\"; there are wall, captcha, login, challenge, cookie"},
	{.walls = "- {host: a, why: w, verdict: wall, only_at_end: yes}\n",
		.message = "./walls.yaml:1:49: only_at_end must be true or false"},
	{.blocklist = "- {host: a, why: w, tests: [{url: u, page: p}]}\n",
		.message = "./blocklist.yaml:1:38: there is no key \"page\"; there are url, matches"},
	{.blocklist = "- {host: a, why: w, tests: [{matches: true}]}\n",
		.message = "./blocklist.yaml:1:29: a test needs a url"},
	{.blocklist = "- {host: a, why: w\n", .message = "./blocklist.yaml:2:1: "},
	{.blocklist = "- {host: a, host: b, why: w}\n",
		.message = "./blocklist.yaml:1:13: key \"host\" was given before, at 1:4"},
	{.blocklist = "- {host: a}\n- {path: b, why: w}\n", .walls = "- {host: a, why: w}\n",
		.message = "./blocklist.yaml:1:3: an entry needs a why\n"
			"./blocklist.yaml:2:10: path must begin with a slash\n"
			"./walls.yaml:1:3: an entry needs a verdict: wall, cookie, captcha, login or challenge"},
};
/* clang-format on */

static void errors_carry_their_place_and_come_together(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		struct ing_url_rules *r = NULL;
		struct ing_error err = {0};
		write_file("blocklist.yaml", errors[i].blocklist);
		write_file("walls.yaml", errors[i].walls);
		assert_int_equal(load_dir(".", &r, &err), -ING_FAIL_CONFIG);
		assert_null(r);
		assert_int_equal(err.code, ING_FAIL_CONFIG);
		/* libyaml's own words are its own. */
		size_t bytes = strlen(errors[i].message);
		if (strncmp(err.msg, errors[i].message, bytes) != 0 ||
			(err.msg[bytes] != '\0' && errors[i].message[bytes - 1] != ' '))
			fail_msg("%zu: %s", i, err.msg);
		char position[64];
		snprintf(position, sizeof(position), ".yaml:%d:%d: ", err.line, err.column);
		assert_non_null(strstr(err.msg, position));
	}
}

static void a_long_report_says_what_it_leaves_out(void **state)
{
	(void)state;
	char text[2048] = "";
	for (int i = 0; i < 100; i++)
		strncat(text, "- {host: a}\n", sizeof(text) - strlen(text) - 1);
	struct ing_url_rules *r = NULL;
	struct ing_error err = {0};
	write_file("blocklist.yaml", text);
	write_file("walls.yaml", NULL);
	assert_int_equal(load_dir(".", &r, &err), -ING_FAIL_CONFIG);
	unsigned lines = 0;
	for (const char *p = err.msg; (p = strchr(p, '\n')) != NULL; p++)
		lines++;
	char tail[40];
	snprintf(tail, sizeof(tail), "\n(%u more errors)", 100 - lines);
	assert_string_equal(err.msg + strlen(err.msg) - strlen(tail), tail);
}

/* One URL for each entry's kind, and the neighbours that must stay free. */
static void the_files_that_come_along(void **state)
{
	(void)state;
	/* clang-format off */
	static const struct {
		const char *url;
		enum ing_url_rule_kind rule;
		bool only_at_end;
	} cases[] = {
		{.url = "https://web.archive.org/web/2020/http://a.example/",
			.rule = ING_URL_RULE_BLOCKLIST},
		{.url = "https://www.archive.org/details/x", .rule = ING_URL_RULE_BLOCKLIST},
		{.url = "https://doi.org/10.2307/3312345", .rule = ING_URL_RULE_BLOCKLIST},
		{.url = "http://dx.doi.org/10.48550%2FarXiv.2101.1",
			.rule = ING_URL_RULE_BLOCKLIST},
		{.url = "https://doi.org/10.25642/IPK/GBIS/1", .rule = ING_URL_RULE_BLOCKLIST},
		{.url = "https://doi.org/10.25642/other/1", .rule = ING_URL_RULE_NONE},
		{.url = "https://www.fao.org/glis/doi/1", .rule = ING_URL_RULE_BLOCKLIST},
		{.url = "https://www.fao.org/3/a1.pdf", .rule = ING_URL_RULE_NONE},
		{.url = "https://hkvalidate.perfdrive.com/?ssa=1", .rule = ING_URL_RULE_BLOCKLIST},
		{.url = "https://ieeexplore.ieee.org/document/1", .rule = ING_URL_RULE_NONE},
		{.url = "http://127.0.0.1/", .rule = ING_URL_RULE_NONE},
		{.url = "http://localhost/", .rule = ING_URL_RULE_NONE},
		{.url = "https://idp.example/sso?SAMLRequest=x", .rule = ING_URL_RULE_WALL},
		{.url = "https://a.example/login?TARGET=x", .rule = ING_URL_RULE_WALL},
		{.url = "https://a.example/login", .rule = ING_URL_RULE_NONE},
		{.url = "https://www.osapublishing.org/captcha/?guid=1",
			.rule = ING_URL_RULE_CAPTCHA},
		{.url = "https://www.jstage.jst.go.jp/sblogin/x", .rule = ING_URL_RULE_WALL},
		{.url = "https://acw.elsevier.com/SSOCore/update", .rule = ING_URL_RULE_WALL,
			.only_at_end = true},
		{.url = "https://utpjournals.press/action/cookieAbsent",
			.rule = ING_URL_RULE_COOKIE},
		{.url = "https://a.example/doi/1?cookieSet=1", .rule = ING_URL_RULE_COOKIE,
			.only_at_end = true},
		{.url = "https://link.example/a?error=cookies_not_supported&code=1",
			.rule = ING_URL_RULE_COOKIE},
		{.url = "https://secure.jbs.elsevierhealth.com/action/x",
			.rule = ING_URL_RULE_COOKIE, .only_at_end = true},
	};
	/* clang-format on */
	struct ing_url_rules *r = NULL;
	struct ing_error err = {0};
	if (load_dir(ING_SOURCE_DIR "/rules", &r, &err) != 0)
		fail_msg("%s", err.msg);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ing_url_decision f = ing_url_rules_decide(r, cases[i].url);
		if (f.rule != cases[i].rule || f.only_at_end != cases[i].only_at_end)
			fail_msg("%s: %d", cases[i].url, f.rule);
	}
	ing_url_rules_free(r);
}

static void entries_are_handed_out_with_their_tests(void **state)
{
	(void)state;
	struct ing_url_rules *r = load_good("- host: a.example\n"
					    "  why: first\n"
					    "  source: a page seen\n"
					    "  tests:\n"
					    "    - {url: 'https://a.example/'}\n"
					    "    - {url: 'https://b.example/', matches: false}\n",
		"- {host: b.example, why: second, verdict: wall}\n");
	const struct ing_url_entry *e = ing_url_rules_entries(r);
	assert_string_equal(e->why, "first");
	assert_string_equal(e->source, "a page seen");
	assert_int_equal(e->line, 1);
	for (const struct ing_url_test *t = e->tests; t != NULL; t = t->next) {
		struct ing_url_target *target = ing_url_target_new(t->url);
		assert_int_equal(ing_url_matches(e->pattern, target), t->matches);
		ing_url_target_free(target);
	}
	assert_int_equal(e->tests->line, 5);
	assert_int_equal(e->tests->next->line, 6);
	assert_null(e->tests->next->next);
	assert_string_equal(e->next->why, "second");
	assert_null(e->next->source);
	assert_null(e->next->tests);
	assert_null(e->next->next);
	ing_url_rules_free(r);
}

static int enter_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) != NULL ? chdir(folder) : -1;
}

static int leave_folder(void **state)
{
	(void)state;
	unlink("blocklist.yaml");
	unlink("walls.yaml");
	return chdir("/") == 0 ? rmdir(folder) : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_matches),
		cmocka_unit_test(hosts_are_read_as_urls_have_them),
		cmocka_unit_test(absent_and_empty_files_hold_no_rules),
		cmocka_unit_test(errors_carry_their_place_and_come_together),
		cmocka_unit_test(a_long_report_says_what_it_leaves_out),
		cmocka_unit_test(entries_are_handed_out_with_their_tests),
		cmocka_unit_test(the_files_that_come_along),
	};
	return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
