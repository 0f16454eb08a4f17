/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The YAML tree: structure, positions and styles; every kind of refusal with its position.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "common/data/yaml.h"

static int parse(const char *text, struct ing_yaml **ret, struct ing_error *err)
{
	struct ing_yaml_limits limits = ING_YAML_LIMITS_DEFAULT;
	*err = (struct ing_error){0};
	*ret = NULL;
	return ing_yaml_parse(text, strlen(text), &limits, ret, err);
}

static void check_node(const struct ing_yaml_node *n, enum ing_yaml_kind kind, const char *text,
	int line, int column)
{
	assert_non_null(n);
	assert_int_equal(n->kind, kind);
	if (text != NULL)
		assert_string_equal(n->text, text);
	assert_int_equal(n->line, line);
	assert_int_equal(n->column, column);
}

static void tree_has_positions_and_styles(void **state)
{
	(void)state;
	struct ing_yaml *doc;
	struct ing_error err;
	assert_int_equal(parse("# top\n"
			       "a: 5\n"
			       "b: \"5\"\n"
			       "c:\n"
			       "  - x\n"
			       "  - {y: 'z', \u00e9: [1, 2]}\n"
			       "d: |\n"
			       "  line\n"
			       "e:\n"
			       "f: ~\n",
				 &doc, &err),
		0);
	const struct ing_yaml_node *root = ing_yaml_root(doc);
	check_node(root, ING_YAML_MAP, NULL, 2, 1);
	assert_int_equal(root->count, 6);
	check_node(ing_yaml_get(root, "a"), ING_YAML_SCALAR, "5", 2, 4);
	assert_true(ing_yaml_get(root, "a")->plain);
	check_node(ing_yaml_get(root, "b"), ING_YAML_SCALAR, "5", 3, 4);
	assert_false(ing_yaml_get(root, "b")->plain);
	const struct ing_yaml_node *c = ing_yaml_get(root, "c");
	check_node(c, ING_YAML_LIST, NULL, 5, 3);
	assert_int_equal(c->count, 2);
	check_node(c->first, ING_YAML_SCALAR, "x", 5, 5);
	const struct ing_yaml_node *map = c->first->next;
	check_node(map, ING_YAML_MAP, NULL, 6, 5);
	assert_null(map->next);
	check_node(map->first, ING_YAML_SCALAR, "y", 6, 6);
	check_node(map->first->value, ING_YAML_SCALAR, "z", 6, 9);
	check_node(map->first->next, ING_YAML_SCALAR, "\u00e9", 6, 14);
	check_node(map->first->next->value, ING_YAML_LIST, NULL, 6, 17);
	assert_int_equal(map->first->next->value->count, 2);
	check_node(ing_yaml_get(root, "d"), ING_YAML_SCALAR, "line\n", 7, 4);
	assert_false(ing_yaml_get(root, "d")->plain);
	assert_true(ing_yaml_is_null(ing_yaml_get(root, "e")));
	assert_true(ing_yaml_is_null(ing_yaml_get(root, "f")));
	assert_false(ing_yaml_is_null(ing_yaml_get(root, "a")));
	assert_null(ing_yaml_get(root, "g"));
	assert_null(ing_yaml_get(c, "g"));
	ing_yaml_free(doc);
}

static void empty_documents_are_null(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"", "\n", "# only\n", "---\n", "---\n...\n", "~", "null"};
	for (size_t i = 0; i < ING_ARRAY_LEN(texts); i++) {
		struct ing_yaml *doc;
		struct ing_error err;
		assert_int_equal(parse(texts[i], &doc, &err), 0);
		assert_true(ing_yaml_is_null(ing_yaml_root(doc)));
		ing_yaml_free(doc);
	}
}

/* clang-format off */
static const struct {
	const char *text;
	int fail;
	int line, column;
	const char *msg; /* begins so */
} bad_cases[] = {
	{.text = "a: 1\nb: 2\na: 3\n", .fail = -ING_FAIL_INVALID, .line = 3, .column = 1,
		.msg = "key \"a\" was given before, at 1:1"},
	{.text = "x:\n  k: 1\n  \"k\": 2\n", .fail = -ING_FAIL_INVALID, .line = 3, .column = 3,
		.msg = "key \"k\" was given before, at 2:3"},
	{.text = "{a: 1, b: {c: 1, d: 2, c: 3}}", .fail = -ING_FAIL_INVALID, .line = 1,
		.column = 24, .msg = "key \"c\" was given before, at 1:12"},
	{.text = "a: &x 1\nb: *x\n", .fail = -ING_FAIL_UNSUPPORTED, .line = 2, .column = 4,
		.msg = "aliases"},
	{.text = "a: !!int 5\n", .fail = -ING_FAIL_UNSUPPORTED, .line = 1, .column = 4,
		.msg = "tags"},
	{.text = "a: !x [1]\n", .fail = -ING_FAIL_UNSUPPORTED, .line = 1, .column = 4,
		.msg = "tags"},
	{.text = "a: !x {b: 1}\n", .fail = -ING_FAIL_UNSUPPORTED, .line = 1, .column = 4,
		.msg = "tags"},
	{.text = "a\n---\nb\n", .fail = -ING_FAIL_UNSUPPORTED, .line = 2, .column = 1,
		.msg = "a second document"},
	{.text = "? [a, b]\n: c\n", .fail = -ING_FAIL_INVALID, .line = 1, .column = 3,
		.msg = "a key must be a text"},
	{.text = "? {a: b}\n: c\n", .fail = -ING_FAIL_INVALID, .line = 1, .column = 3,
		.msg = "a key must be a text"},
	{.text = "a: [1, 2\nb: 3\n", .fail = -ING_FAIL_SYNTAX, .line = 2, .column = 2,
		.msg = "did not find"},
	{.text = "a:\n\t- b\n", .fail = -ING_FAIL_SYNTAX, .line = 2, .column = 1,
		.msg = "found character that cannot start"},
	{.text = "a: 'b\n", .fail = -ING_FAIL_SYNTAX, .line = 2, .column = 1,
		.msg = "found unexpected end of stream"},
	{.text = "a: b: c\n", .fail = -ING_FAIL_SYNTAX, .line = 1, .column = 5,
		.msg = "mapping values are not allowed"},
	{.text = "ok: 1\nab: \xff\n", .fail = -ING_FAIL_ENCODING, .line = 2, .column = 5,
		.msg = ""},
	{.text = "a: \x01\n", .fail = -ING_FAIL_ENCODING, .line = 1, .column = 4, .msg = ""},
};
/* clang-format on */

static void refusals_say_where(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(bad_cases); i++) {
		struct ing_yaml *doc;
		struct ing_error err;
		int rc = parse(bad_cases[i].text, &doc, &err);
		if (rc != bad_cases[i].fail || err.line != bad_cases[i].line ||
			err.column != bad_cases[i].column ||
			strncmp(err.msg, bad_cases[i].msg, strlen(bad_cases[i].msg)) != 0)
			fail_msg("%s: %d %d:%d %s", bad_cases[i].text, rc, err.line, err.column,
				err.msg);
		assert_null(doc);
	}
}

static void limits_hold(void **state)
{
	(void)state;
	struct ing_yaml_limits limits = {64, 10, 3};
	struct ing_yaml *doc = NULL;
	struct ing_error err = {0};
	assert_int_equal(ing_yaml_parse("[[[1]]]", 7, &limits, &doc, &err), 0);
	ing_yaml_free(doc);
	assert_int_equal(ing_yaml_parse("[[[[]]]]", 8, &limits, &doc, &err), -ING_FAIL_TOO_DEEP);
	assert_string_equal(err.msg, "nested too deep");
	ing_error_clear(&err);
	const char *nine = "[1,2,3,4,5,6,7,8,9]";
	assert_int_equal(ing_yaml_parse(nine, strlen(nine), &limits, &doc, &err), 0);
	ing_yaml_free(doc);
	const char *ten = "[1,2,3,4,5,6,7,8,9,10]";
	assert_int_equal(ing_yaml_parse(ten, strlen(ten), &limits, &doc, &err), -ING_FAIL_TOO_BIG);
	assert_string_equal(err.msg, "too many values");
	assert_int_equal(err.column, 20);
	ing_error_clear(&err);
	char big[66];
	memset(big, 'a', sizeof(big));
	assert_int_equal(ing_yaml_parse(big, 64, &limits, &doc, &err), 0);
	ing_yaml_free(doc);
	assert_int_equal(ing_yaml_parse(big, 65, &limits, &doc, &err), -ING_FAIL_TOO_BIG);
	assert_string_equal(err.msg, "larger than 64 bytes");
}

static void hostile_nesting_is_quick(void **state)
{
	(void)state;
	struct ing_yaml_limits limits = ING_YAML_LIMITS_DEFAULT;
	static const char *const pieces[] = {
		"[", "{", "- ", "? ", "a: {", "&a [", "'", "x: ", "#\n"};
	char *text = ing_alloc(1 << 18);
	for (size_t i = 0; i < ING_ARRAY_LEN(pieces); i++) {
		size_t len = 0;
		size_t n = strlen(pieces[i]);
		for (; len + n < 1 << 18; len += n)
			memcpy(text + len, pieces[i], n);
		struct ing_yaml *doc = NULL;
		struct ing_error err = {0};
		if (ing_yaml_parse(text, len, &limits, &doc, &err) == 0)
			assert_string_equal(pieces[i], "#\n");
		ing_yaml_free(doc);
	}
	free(text);
}

static void written_text_reads_back(void **state)
{
	(void)state;
	static const char *const texts[] = {"", "plain", "a/b.c@d+e=f_g-h", "null", "True", "no",
		"~", "5", "-1", "5x", "0x1f", "1e3", ".5", "a b", " a", "a: b", "a #b", "'",
		"\"\\\n\t\x01\x7f", "[x]", "{}", "*a", "&a", "!t", "%p", "@x", "`", "- a", "---",
		"\u00e9\U0001f600", "\xc2\x85\u2028\u2029", "http://u:p@h:1/", "a\r\nb", "|", ">",
		"?", "<<", "=", "/var"};
	for (size_t i = 0; i < ING_ARRAY_LEN(texts); i++) {
		struct ing_buf out;
		ing_buf_init(&out, 4096);
		ing_buf_add_str(&out, "k: ");
		ing_yaml_add_text(&out, texts[i]);
		struct ing_yaml *doc;
		struct ing_error err;
		if (parse(ing_buf_str(&out), &doc, &err) != 0)
			fail_msg("%s: %s", ing_buf_str(&out), err.msg);
		const struct ing_yaml_node *n = ing_yaml_get(ing_yaml_root(doc), "k");
		check_node(n, ING_YAML_SCALAR, texts[i], 1, 4);
		assert_false(ing_yaml_is_null(n));
		ing_yaml_free(doc);
		ing_buf_done(&out);
	}
	struct ing_buf out;
	ing_buf_init(&out, 100);
	ing_yaml_add_text(&out, "a\xff\ufeff");
	assert_string_equal(ing_buf_str(&out), "\"a\\uFFFD\\uFFFD\"");
	ing_buf_done(&out);
}

static void files_that_cannot_be_read_are_errors(void **state)
{
	(void)state;
	struct ing_yaml_limits limits = ING_YAML_LIMITS_DEFAULT;
	struct ing_yaml *doc = NULL;
	struct ing_error err = {0};
	assert_int_equal(
		ing_yaml_load("/nonexistent/x.yaml", &limits, &doc, &err), -ING_FAIL_NOT_FOUND);
	assert_string_equal(err.msg, "there is no such file");
	ing_error_clear(&err);
	assert_int_equal(ing_yaml_load("/", &limits, &doc, &err), -ING_FAIL_SYSTEM);
	assert_string_equal(err.msg, "cannot be read: Is a directory");
	ing_error_clear(&err);
	char path[] = "/tmp/yaml_test.XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	FILE *f = fdopen(fd, "w");
	fputs("a: [1]\n", f);
	fclose(f);
	assert_int_equal(ing_yaml_load(path, &limits, &doc, &err), 0);
	check_node(ing_yaml_get(ing_yaml_root(doc), "a"), ING_YAML_LIST, NULL, 1, 4);
	ing_yaml_free(doc);
	limits.bytes = 6;
	assert_int_equal(ing_yaml_load(path, &limits, &doc, &err), -ING_FAIL_TOO_BIG);
	assert_string_equal(err.msg, "larger than 6 bytes");
	remove(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tree_has_positions_and_styles),
		cmocka_unit_test(empty_documents_are_null),
		cmocka_unit_test(refusals_say_where),
		cmocka_unit_test(limits_hold),
		cmocka_unit_test(hostile_nesting_is_quick),
		cmocka_unit_test(written_text_reads_back),
		cmocka_unit_test(files_that_cannot_be_read_are_errors),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
