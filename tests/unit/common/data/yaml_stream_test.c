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

static const struct {
	const char *text;
	const char *tree;   /* documents with | between them; NULL: refused */
	const char *report; /* lines "LINE:COLUMN: text" */
} cases[] = {
	{"", "", ""},
	{"# nothing\n", "", ""},
	{"---\n", "", ""},
	{"a: b\n---\n- c\n---\n---\nd\n", "{a:b}|[c]||d", ""},
	{"%YAML 1.1\n---\na: 1\n...\n---\nb: yes\n", "{a:1}|{b:yes}", ""},
	{"a: 1\nb: 2\na: 3\n", "{b:2,a:3}", "1:1: key \"a\" comes again at 3:1, which counts\n"},
	{"a: 1\na: 2\na: 3\n", "{a:3}",
		"1:1: key \"a\" comes again at 2:1, which counts\n"
		"2:1: key \"a\" comes again at 3:1, which counts\n"},
	{"x: {a: 1, a: {b: 1, b: 2}}\n", "{x:{a:{b:2}}}",
		"1:15: key \"b\" comes again at 1:21, which counts\n"
		"1:5: key \"a\" comes again at 1:11, which counts\n"},
	{"a: &n {k: v}\nb: *n\n", "{a:{k:v},b:{k:v}}", ""},
	{"a: &n v\nb: [*n, *n]\n", "{a:v,b:[v,v]}", ""},
	{"- &n v\n- &n w\n- *n\n", "[v,w,w]", ""},
	{"- &k key\n- {*k : v}\n", "[key,{key:v}]", ""},
	{"a: &n {k: v, l: w}\nb:\n  <<: *n\n  l: x\n  m: y\n", "{a:{k:v,l:w},b:{k:v,l:x,m:y}}", ""},
	{"a: &n {k: 1}\nb: &m {k: 2, l: 2}\nc: {<<: [*n, *m], z: 3}\n",
		"{a:{k:1},b:{k:2,l:2},c:{k:1,l:2,z:3}}", ""},
	{"a: {'<<': 1}\n", "{a:{<<:1}}", ""},
	{"a: {<<: 1}\n", NULL, "1:9: << needs a map, or a list of maps\n"},
	{"a: {<<: [1]}\n", NULL, "1:10: << needs a map, or a list of maps\n"},
	{"a: *n\n", NULL, "1:4: an alias (\"*\") of something that was not named before\n"},
	{"a: &n v\n---\nb: *n\n", NULL,
		"3:4: an alias (\"*\") of something that was not named before\n"},
	{"a: &n [*n]\n", NULL, "1:8: an alias (\"*\") inside what it stands for\n"},
	{"a: &n {b: &n [c, *n]}\n", NULL, "1:18: an alias (\"*\") inside what it stands for\n"},
	{"a: !!int 1\n", NULL, "1:4: tags (\"!\") are not supported here\n"},
	{"a: [\n", NULL, "2:1: "},
};

/* Entries with a key that is no text are left out, whatever it or the value is. */
static const struct {
	const char *text, *tree, *report;
} part_cases[] = {
	{"? [a]\n: b\n", "{}", "1:3: a key must be a text\n"},
	{"a: 1\n[b]: {c: d, e: [f]}\ng: 2\na: 3\n", "{g:2,a:3}",
		"2:1: a key must be a text\n1:1: key \"a\" comes again at 4:1, which counts\n"},
	{"{a: b}: c\n---\n- x: {[y]: z, v: w}\n", "{}|[{x:{v:w}}]",
		"1:1: a key must be a text\n3:7: a key must be a text\n"},
	{"- &n [a]\n- {*n : b, c: d}\n- ? [e]\n- {? [f, {}] , h: i}\n", "[[a],{c:d},{},{h:i}]",
		"1:3: a key must be a text\n3:5: a key must be a text\n4:6: a key must be a text\n"},
	{"[a]: &n {[b]: c, d: e}\nf: {<<: *n}\n", "{f:{d:e}}",
		"1:1: a key must be a text\n1:10: a key must be a text\n"},
	{"[a]: b\nc: !t d\n", NULL,
		"1:1: a key must be a text\n2:4: tags (\"!\") are not supported here\n"},
};

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

static const struct {
	const char *text; /* with the scalar as the value of the one key */
	int character, line, column;
} positions[] = {
	{"k: abcdef\n", 1, 1, 4},
	{"k: abcdef\n", 4, 1, 7},
	{"k: abcdef\n", 7, 1, 10}, /* just behind */
	{"k: abcdef\n", 99, 1, 10},
	{"k: abcdef\n", 0, 1, 4},
	{"k: '\xc3\xa4"
	 "bc'\n",
		3, 1, 7},
	{"k: 'abc'\n", 1, 1, 5},
	{"k: 'a''bc'\n", 2, 1, 6}, /* the quote itself: its first half */
	{"k: 'a''bc'\n", 3, 1, 8},
	{"k: \"abc\"\n", 3, 1, 7},
	{"k: \"a\\\\bc\"\n", 3, 1, 4}, /* escapes: the scalar's own place */
	{"k: abc\n  def\n", 6, 1, 4},
	{"k: |\n  abc\n", 2, 1, 4},
};

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
