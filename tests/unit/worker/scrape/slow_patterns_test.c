/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which regular expressions are called slow: none of the shipped rules.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "worker/scrape/jsoup/regex.h"
#include "worker/scrape/jsoup/regex_steps.h"
#include "worker/scrape/rules/rules.h"
#include "worker/scrape/rules/slow_patterns.h"

enum want { GOOD, OFTEN, REPEATED };

static void test_slow_expressions_are_told_from_others(void **state)
{
	/* clang-format off */
	static const struct {
		enum ing_pattern_scope scope;
		const char *pattern;
		enum want want;
	} cases[] = {
		{ING_PATTERN_PAGE, "captcha-delivery\\.com/", GOOD},
		{ING_PATTERN_PAGE, "_cf_chl_opt|/cdn-cgi/platform/[^\"'\\s]*/orchestrate/", GOOD},
		{ING_PATTERN_PAGE, "(?i)enable java ?script|java ?script (?:is|must be) (?:required|off)|without java ?script", GOOD},
		{ING_PATTERN_PAGE, "\"url\":\\s*\"(?<pdf>https?:[^\"]+\\.pdf)\"", GOOD},
		{ING_PATTERN_PAGE, "^Abstract", GOOD},
		{ING_PATTERN_PAGE, "^(?:a|b|c)", GOOD},
		/* Nothing to look for first. */
		{ING_PATTERN_PAGE, "[a-z]+[0-9]+!", OFTEN},
		{ING_PATTERN_PAGE, "[eatoi][QZ]", OFTEN},
		{ING_PATTERN_PAGE, "\\d{4}-\\d{5}|\\w+@", OFTEN},
		{ING_PATTERN_PAGE, "(a|e|i|o|u)\\1?[XYZ]Q", OFTEN},
		{ING_PATTERN_PAGE, "<[^<]*\\bzz\\b", OFTEN},
		{ING_PATTERN_PAGE, "[^\"]*+#[QZ]", OFTEN},         /* far below PCRE2's own limit */
		{ING_PATTERN_PAGE, "(a|aa)+$", OFTEN},
		/* Fast on ordinary pages. */
		{ING_PATTERN_PAGE, "pdfPath.*endOfPath", REPEATED},
		{ING_PATTERN_PAGE, "var pdfPath\\s*=[^;]*;\\s*var endOfPath", REPEATED},
		{ING_PATTERN_PAGE, "(?:window\\.x)+#", REPEATED},
		{ING_PATTERN_PAGE, "(?s)^(?>.*?pdfPath).*endOfPath", GOOD},
		/* In URLs the first kind costs nothing to speak of. */
		{ING_PATTERN_SHORT, "[a-z]+[0-9]+!", GOOD},
		{ING_PATTERN_SHORT, "(?i)^https?://(www\\.)?[a-z]+\\.example\\.org/", GOOD},
		{ING_PATTERN_SHORT, "(/content/[^?#]+?)(\\.(abstract|short))?/*([?#].*)?$", GOOD},
		{ING_PATTERN_SHORT, "(?i)/bitstream/.*\\.pdf(?:$|[?;])", GOOD},
		{ING_PATTERN_PAGE, "(?i)/bitstream/.*\\.pdf(?:$|[?;])", REPEATED},
		{ING_PATTERN_PAGE, "(?is)^(?>.*?/bitstream/).*\\.pdf(?:$|[?;])", GOOD},
		{ING_PATTERN_SHORT, "/*[^/?#]*/*[?#]", GOOD},
		{ING_PATTERN_SHORT, "/*/*[^?#]*[?#]!", REPEATED},
		{ING_PATTERN_SHORT, "(x+x+)+y", REPEATED},
		{ING_PATTERN_SHORT, "", GOOD},
	};
	/* clang-format on */
	struct ing_slow_patterns *s = ing_slow_patterns_new();
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		const char *p = cases[i].pattern;
		for (unsigned flags = 0; flags < 2; flags++) {
			const char *why =
				ing_slow_patterns_judge(s, cases[i].scope, p, strlen(p), flags);
			enum want got = why == NULL                       ? GOOD
					: strstr(why, "ordinary") != NULL ? OFTEN
									  : REPEATED;
			if (got != cases[i].want)
				fail_msg("%s: %s", p, why != NULL ? why : "not slow");
		}
	}
	ing_slow_patterns_free(s);
}

/* What a loop within one part moves over counts, also where PCRE2 counts one step. */
static void test_steps_count_bytes_moved_over(void **state)
{
	char text[4096];
	(void)state;
	memset(text, 'a', sizeof(text));
	uint64_t once = ing_regex_steps("^a*+[bc]", 8, ING_REGEX_BYTES, text, 2048, 1 << 30);
	assert_in_range(once, 2048, 2060);
	uint64_t quadratic = ing_regex_steps("a*+[bc]", 7, ING_REGEX_BYTES, text, 2048, 1 << 30);
	assert_in_range(quadratic, 2048 * 1000, 2048 * 1100);
	assert_int_equal(ing_regex_steps("a*+[bc]", 7, ING_REGEX_BYTES, text, 2048, 1000), 1001);
	assert_int_equal(ing_regex_steps("bbb", 3, ING_REGEX_BYTES, text, sizeof(text), 1000), 0);
	/* PCRE2's own limit ends it, too. */
	assert_int_equal(ing_regex_steps("(a|aa)+[cd]", 11, 0, text, sizeof(text), UINT32_MAX),
		(uint64_t)UINT32_MAX + 1);
}

static struct ing_rules *load(const char *yaml, enum ing_rule_kind kind, struct ing_report *report)
{
	struct ing_rule_files files;
	ing_rule_files_init(&files);
	ing_report_init(report);
	files.items[0] = (struct ing_rule_file){.kind = kind,
		.path = ing_strdup("x.yaml"),
		.text = ing_strdup(yaml),
		.bytes = strlen(yaml)};
	files.count = 1;
	struct ing_rules *rules = ing_rules_load_thoroughly(&files, report);
	ing_rule_files_done(&files);
	return rules;
}

static void expect_warning(const char *yaml, enum ing_rule_kind kind, int line)
{
	struct ing_report report;
	struct ing_rules *rules = load(yaml, kind, &report);
	assert_non_null(rules);
	if (report.warnings != 1 || report.lines[0].line != line ||
		strstr(report.lines[0].text, "slow regular expression \"") == NULL)
		fail_msg("%s: %zu warnings, line %d: %s", yaml, report.warnings,
			report.count > 0 ? report.lines[0].line : 0,
			report.count > 0 ? report.lines[0].text : "");
	ing_rules_free(rules);
	ing_report_done(&report);
}

static void test_warns_wherever_an_expression_can_stand(void **state)
{
	(void)state;
	expect_warning(
		"- name: x\n  why: y\n  verdict: cookie\n  source_matches: '[a-z]+[0-9]+!'\n",
		ING_RULES_WALLS, 4);
	expect_warning("- name: x\n  why: y\n  verdict: cookie\n  title: '(x+x+)+y'\n",
		ING_RULES_WALLS, 4);
	expect_warning(
		"- name: x\n  why: y\n  verdict: cookie\n  selector: 'p:matches([a-z]+[0-9]+!)'\n",
		ING_RULES_WALLS, 4);
	expect_warning("pdf:\n- technique: x\n  selector: 'a:not(b, [href~=(x+x+)+y])'\n",
		ING_RULES_LINKS, 3);
	expect_warning(
		"pdf:\n- technique: x\n  selector: a\n  trim: '(x+x+)+y'\n", ING_RULES_LINKS, 4);
	expect_warning("- name: x\n  page: {host: a.org}\n  take:\n"
		       "  - script: '[a-z]+(?<id>[0-9]+)!'\n  pdf_url: 'https://a.org/{id}'\n",
		ING_RULES_SITES, 4);
	expect_warning("(x+x+)+y: {title: h1}\n", ING_RULES_WEBPAGES, 1);
	expect_warning("a\\.org: x\n---\nx:\n  pdf_src: (x+x+)+y\n  pdf_dst: /\n---\n---\n",
		ING_RULES_JOURNALS, 4);
}

static void test_shipped_rules_are_not_slow(void **state)
{
	struct ing_rule_files files;
	struct ing_report report;
	struct ing_error err = {0};
	(void)state;
	ing_rule_files_init(&files);
	ing_report_init(&report);
	assert_int_equal(ing_rule_files_read_dir(&files, ING_SOURCE_DIR "/rules", &err), 0);
	struct ing_rules *rules = ing_rules_load_thoroughly(&files, &report);
	assert_non_null(rules);
	for (size_t i = 0; i < report.count; i++)
		fail_msg("%s:%d: %s", report.lines[i].file, report.lines[i].line,
			report.lines[i].text);
	ing_rules_free(rules);
	ing_report_done(&report);
	ing_rule_files_done(&files);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slow_expressions_are_told_from_others),
		cmocka_unit_test(test_steps_count_bytes_moved_over),
		cmocka_unit_test(test_warns_wherever_an_expression_can_stand),
		cmocka_unit_test(test_shipped_rules_are_not_slow),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
