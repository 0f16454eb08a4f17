/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * YAML streams: several documents, keys that come twice, aliases and merge keys, bombs, and where a
 * character of a scalar stands.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "common/base/report.h"
#include "common/data/yaml.h"

/* The tree as one line: {a:b,c:[d]}. */
static void write_node(const struct ing_yaml_node *n, struct ing_buf *out)
{
	if (n->kind == ING_YAML_SCALAR) {
		ing_buf_add_str(out, n->text);
		return;
	}
	ing_buf_add_char(out, n->kind == ING_YAML_MAP ? '{' : '[');
	for (const struct ing_yaml_node *i = n->first; i != NULL; i = i->next) {
		if (i != n->first)
			ing_buf_add_char(out, ',');
		write_node(i, out);
		if (n->kind == ING_YAML_MAP) {
			ing_buf_add_char(out, ':');
			write_node(i->value, out);
		}
	}
	ing_buf_add_char(out, n->kind == ING_YAML_MAP ? '}' : ']');
}

/* clang-format off */
static const struct {
	const char *text;
	const char *tree;   /* documents with | between them; NULL: refused */
	const char *report; /* lines "LINE:COLUMN: text" */
} cases[] = {
	{.text = "", .tree = "", .report = ""},
	{.text = "# nothing\n", .tree = "", .report = ""},
	{.text = "---\n", .tree = "", .report = ""},
	{.text = "a: b\n---\n- c\n---\n---\nd\n", .tree = "{a:b}|[c]||d", .report = ""},
	{.text = "%YAML 1.1\n---\na: 1\n...\n---\nb: yes\n", .tree = "{a:1}|{b:yes}", .report = ""},
	{.text = "a: 1\nb: 2\na: 3\n", .tree = "{b:2,a:3}",
		.report = "1:1: key \"a\" comes again at 3:1, which counts\n"},
	{.text = "a: 1\na: 2\na: 3\n", .tree = "{a:3}",
		.report = "1:1: key \"a\" comes again at 2:1, which counts\n"
			"2:1: key \"a\" comes again at 3:1, which counts\n"},
	{.text = "x: {a: 1, a: {b: 1, b: 2}}\n", .tree = "{x:{a:{b:2}}}",
		.report = "1:15: key \"b\" comes again at 1:21, which counts\n"
			"1:5: key \"a\" comes again at 1:11, which counts\n"},
	{.text = "a: &n {k: v}\nb: *n\n", .tree = "{a:{k:v},b:{k:v}}", .report = ""},
	{.text = "a: &n v\nb: [*n, *n]\n", .tree = "{a:v,b:[v,v]}", .report = ""},
	{.text = "- &n v\n- &n w\n- *n\n", .tree = "[v,w,w]", .report = ""},
	{.text = "- &k key\n- {*k : v}\n", .tree = "[key,{key:v}]", .report = ""},
	{.text = "a: &n {k: v, l: w}\nb:\n  <<: *n\n  l: x\n  m: y\n",
		.tree = "{a:{k:v,l:w},b:{k:v,l:x,m:y}}", .report = ""},
	{.text = "a: &n {k: 1}\nb: &m {k: 2, l: 2}\nc: {<<: [*n, *m], z: 3}\n",
		.tree = "{a:{k:1},b:{k:2,l:2},c:{k:1,l:2,z:3}}", .report = ""},
	{.text = "a: {'<<': 1}\n", .tree = "{a:{<<:1}}", .report = ""},
	{.text = "a: {<<: 1}\n", .report = "1:9: << needs a map, or a list of maps\n"},
	{.text = "a: {<<: [1]}\n", .report = "1:10: << needs a map, or a list of maps\n"},
	{.text = "a: *n\n",
		.report = "1:4: an alias (\"*\") of something that was not named before\n"},
	{.text = "a: &n v\n---\nb: *n\n",
		.report = "3:4: an alias (\"*\") of something that was not named before\n"},
	{.text = "a: &n [*n]\n", .report = "1:8: an alias (\"*\") inside what it stands for\n"},
	{.text = "a: &n {b: &n [c, *n]}\n",
		.report = "1:18: an alias (\"*\") inside what it stands for\n"},
	{.text = "a: !!int 1\n", .report = "1:4: tags (\"!\") are not supported here\n"},
	{.text = "a: [\n", .report = "2:1: "},
};
/* clang-format on */

/* Entries with a key that is no text are left out, whatever it or the value is. */
/* clang-format off */
static const struct {
	const char *text, *tree, *report;
} part_cases[] = {
	{.text = "? [a]\n: b\n", .tree = "{}", .report = "1:3: a key must be a text\n"},
	{.text = "a: 1\n[b]: {c: d, e: [f]}\ng: 2\na: 3\n", .tree = "{g:2,a:3}",
		.report = "2:1: a key must be a text\n1:1: key \"a\" comes again at 4:1, which counts\n"},
	{.text = "{a: b}: c\n---\n- x: {[y]: z, v: w}\n", .tree = "{}|[{x:{v:w}}]",
		.report = "1:1: a key must be a text\n3:7: a key must be a text\n"},
	{.text = "- &n [a]\n- {*n : b, c: d}\n- ? [e]\n- {? [f, {}] , h: i}\n",
		.tree = "[[a],{c:d},{},{h:i}]",
		.report = "1:3: a key must be a text\n3:5: a key must be a text\n4:6: a key must be a text\n"},
	{.text = "[a]: &n {[b]: c, d: e}\nf: {<<: *n}\n", .tree = "{f:{d:e}}",
		.report = "1:1: a key must be a text\n1:10: a key must be a text\n"},
	{.text = "[a]: b\nc: !t d\n",
		.report = "1:1: a key must be a text\n2:4: tags (\"!\") are not supported here\n"},
};
/* clang-format on */

static void check_report(const struct ing_report *r, const char *want, size_t number)
{
	struct ing_buf said;
	ing_buf_init(&said, 10000);
	for (size_t i = 0; i < r->count; i++) {
		assert_string_equal(r->lines[i].file, "t.yaml");
		ing_buf_printf(&said, "%d:%d: %s\n", r->lines[i].line, r->lines[i].column,
			r->lines[i].text);
	}
	/* libyaml's own words are its own. */
	size_t bytes = strlen(want);
	bool begins = bytes > 0 && want[bytes - 1] == ' ';
	if (begins ? strncmp(ing_buf_str(&said), want, bytes) != 0
		   : strcmp(ing_buf_str(&said), want) != 0)
		fail_msg("%zu: %s", number, ing_buf_str(&said));
	ing_buf_done(&said);
}

static void check_stream(
	const char *text, const char *want, const char *want_report, bool whole, size_t number)
{
	const struct ing_yaml_limits limits = ING_YAML_LIMITS_DEFAULT;
	struct ing_report report;
	struct ing_buf tree;
	ing_report_init(&report);
	ing_buf_init(&tree, 10000);
	struct ing_yaml *doc =
		ing_yaml_stream_parse("t.yaml", text, strlen(text), &limits, &report);
	assert_int_equal(doc != NULL, want != NULL);
	assert_int_equal(doc == NULL || !whole, report.errors > 0);
	if (doc != NULL)
		assert_int_equal(ing_yaml_stream_is_whole(doc), whole);
	for (size_t d = 0; doc != NULL && d < ing_yaml_stream_count(doc); d++) {
		if (d > 0)
			ing_buf_add_char(&tree, '|');
		write_node(ing_yaml_stream_get(doc, d), &tree);
	}
	if (doc != NULL && strcmp(ing_buf_str(&tree), want) != 0)
		fail_msg("%zu: %s", number, ing_buf_str(&tree));
	check_report(&report, want_report, number);
	ing_yaml_free(doc);
	ing_buf_done(&tree);
	ing_report_done(&report);
}

static void streams_are_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++)
		check_stream(cases[i].text, cases[i].tree, cases[i].report, true, i);
}

static void streams_go_on_after_a_key_that_is_no_text(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(part_cases); i++)
		check_stream(
			part_cases[i].text, part_cases[i].tree, part_cases[i].report, false, i);
}

static void refused_as(const char *text, const struct ing_yaml_limits *limits, const char *words)
{
	struct ing_report report;
	ing_report_init(&report);
	assert_null(ing_yaml_stream_parse("t.yaml", text, strlen(text), limits, &report));
	assert_int_equal(report.errors, 1);
	if (strstr(report.lines[0].text, words) == NULL)
		fail_msg("%s", report.lines[0].text);
	ing_report_done(&report);
}

static void bombs_are_refused(void **state)
{
	(void)state;
	struct ing_buf text;
	const struct ing_yaml_limits limits = ING_YAML_LIMITS_DEFAULT;
	ing_buf_init(&text, 1 << 20);
	ing_buf_add_str(&text, "- &a0 [lol, lol]\n");
	for (int i = 1; i < 30; i++)
		ing_buf_printf(&text, "- &a%d [*a%d, *a%d]\n", i, i - 1, i - 1);
	refused_as(ing_buf_str(&text), &limits, "once the aliases are written out");
	ing_buf_clear(&text);
	ing_buf_add_str(&text, "- &a0 [x]\n");
	for (int i = 1; i < 40; i++)
		ing_buf_printf(&text, "- &a%d [*a%d]\n", i, i - 1);
	refused_as(ing_buf_str(&text), &limits, "nested too deep");
	ing_buf_clear(&text);
	ing_buf_add_str(&text, "- &a0 {k0: v}\n");
	for (int i = 1; i < 30; i++)
		ing_buf_printf(&text, "- &a%d {<<: [*a%d, *a%d], k%d: v}\n", i, i - 1, i - 1, i);
	refused_as(ing_buf_str(&text), &limits, "once the aliases are written out");
	ing_buf_clear(&text);
	for (int i = 0; i < 11; i++)
		ing_buf_add_str(&text, "---\n");
	refused_as(ing_buf_str(&text), &(struct ing_yaml_limits){1000, 20, 4}, "too many");
	refused_as("a: [b]\n", &(struct ing_yaml_limits){5, 20, 4}, "larger than 5 bytes");
	ing_buf_done(&text);
}

/* clang-format off */
static const struct {
	const char *text; /* with the scalar as the value of the one key */
	int character, line, column;
} positions[] = {
	{.text = "k: abcdef\n", .character = 1, .line = 1, .column = 4},
	{.text = "k: abcdef\n", .character = 4, .line = 1, .column = 7},
	{.text = "k: abcdef\n", .character = 7, .line = 1, .column = 10}, /* just behind */
	{.text = "k: abcdef\n", .character = 99, .line = 1, .column = 10},
	{.text = "k: abcdef\n", .line = 1, .column = 4},
	{.text = "k: '\xc3\xa4" "bc'\n", .character = 3, .line = 1, .column = 7},
	{.text = "k: 'abc'\n", .character = 1, .line = 1, .column = 5},
	{.text = "k: 'a''bc'\n", .character = 2, .line = 1, .column = 6}, /* the quote itself: its first half */
	{.text = "k: 'a''bc'\n", .character = 3, .line = 1, .column = 8},
	{.text = "k: \"abc\"\n", .character = 3, .line = 1, .column = 7},
	{.text = "k: \"a\\\\bc\"\n", .character = 3, .line = 1, .column = 4}, /* escapes: the scalar's own place */
	{.text = "k: abc\n  def\n", .character = 6, .line = 1, .column = 4},
	{.text = "k: |\n  abc\n", .character = 2, .line = 1, .column = 4},
};
/* clang-format on */

static void characters_have_places(void **state)
{
	(void)state;
	const struct ing_yaml_limits limits = ING_YAML_LIMITS_DEFAULT;
	for (size_t i = 0; i < ING_ARRAY_LEN(positions); i++) {
		struct ing_report report;
		int line = 0;
		int column = 0;
		ing_report_init(&report);
		struct ing_yaml *doc = ing_yaml_stream_parse(
			"t", positions[i].text, strlen(positions[i].text), &limits, &report);
		ing_yaml_position(ing_yaml_get(ing_yaml_root(doc), "k"), positions[i].character,
			&line, &column);
		if (line != positions[i].line || column != positions[i].column)
			fail_msg("%zu: %d:%d", i, line, column);
		ing_yaml_free(doc);
		ing_report_done(&report);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(streams_are_read),
		cmocka_unit_test(streams_go_on_after_a_key_that_is_no_text),
		cmocka_unit_test(bombs_are_refused),
		cmocka_unit_test(characters_have_places),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
