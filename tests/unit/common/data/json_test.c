/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * JSON values: what is parsed within which limits, what any bytes become, what is written.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "common/base/error.h"
#include "common/data/json.h"

static const struct parse_case {
	const char *json;
	/* clang-format off */
	struct ing_json_limits limits;
	enum ing_fail want_fail;
	const char *want; /* as it is written again */
} parse_cases[] = {
	{.json = "{}", .limits = {0}, .want_fail = ING_FAIL_NONE, .want = "{}"},
	{.json = " [1, 2] ", .limits = {0}, .want_fail = ING_FAIL_NONE, .want = "[1,2]"},
	{.json = "1", .limits = {0}, .want_fail = ING_FAIL_SYNTAX, .want = NULL},
	{.json = "1", .limits = {.flags = ING_JSON_SCALAR}, .want_fail = ING_FAIL_NONE,
		.want = "1"},
	{.json = "[1] ;", .limits = {0}, .want_fail = ING_FAIL_SYNTAX, .want = NULL},
	{.json = "[1] ;", .limits = {.flags = ING_JSON_TAIL}, .want_fail = ING_FAIL_NONE,
		.want = "[1]"},
	{.json = "[\"a\\u0000b\"]", .limits = {0}, .want_fail = ING_FAIL_SYNTAX, .want = NULL},
	{.json = "[\"a\\u0000b\"]", .limits = {.flags = ING_JSON_NUL}, .want_fail = ING_FAIL_NONE,
		.want = "[\"a\\u0000b\"]"},
	{.json = "{\"a\":1,\"a\":2}", .limits = {0}, .want_fail = ING_FAIL_SYNTAX, .want = NULL},
	{.json = "{\"a\":1,\"a\":2}", .limits = {.flags = ING_JSON_REPEATED_KEYS},
		.want_fail = ING_FAIL_NONE, .want = "{\"a\":2}"},
	{.json = "[[1]]", .limits = {.depth = 2}, .want_fail = ING_FAIL_NONE, .want = "[[1]]"},
	{.json = "[[[1]]]", .limits = {.depth = 2}, .want_fail = ING_FAIL_TOO_DEEP, .want = NULL},
	{.json = "[\"[[[\"]", .limits = {.depth = 1}, .want_fail = ING_FAIL_NONE,
		.want = "[\"[[[\"]"},
	{.json = "[1,2,3]", .limits = {.values = 4}, .want_fail = ING_FAIL_NONE, .want = "[1,2,3]"},
	{.json = "[1,2,3,4]", .limits = {.values = 4}, .want_fail = ING_FAIL_TOO_BIG, .want = NULL},
	{.json = "[\"\xff\"]", .limits = {0}, .want_fail = ING_FAIL_SYNTAX, .want = NULL},
	{.json = "", .limits = {0}, .want_fail = ING_FAIL_SYNTAX, .want = NULL},
};
/* clang-format on */

static void parses_within_the_limits_given(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(parse_cases); i++) {
		const struct parse_case *c = &parse_cases[i];
		struct ing_error err = {0};
		json_t *v = ing_json_parse(c->json, strlen(c->json), &c->limits, &err);
		assert_int_equal(err.code, c->want_fail);
		assert_int_equal(v == NULL, c->want == NULL);
		if (v != NULL) {
			size_t bytes;
			char *text = ing_json_dump(v, &bytes);
			assert_string_equal(text, c->want);
			assert_int_equal(bytes, strlen(c->want));
			free(text);
		}
		json_decref(v);
	}
}

static void a_syntax_error_has_its_line_and_column(void **state)
{
	(void)state;
	struct ing_error err = {0};
	assert_null(ing_json_parse("{\n \"a\": x}", 10, &(struct ing_json_limits){0}, &err));
	assert_int_equal(err.line, 2);
	assert_int_equal(err.column, 7);
	assert_true(err.msg[0] != '\0');
}

static void depth_is_checked_before_the_parser_recurses(void **state)
{
	(void)state;
	enum { BYTES = 1 << 20 };
	char *deep = malloc(BYTES);
	memset(deep, '[', BYTES);
	struct ing_error err = {0};
	assert_null(ing_json_parse(deep, BYTES, &(struct ing_json_limits){.depth = 32}, &err));
	assert_int_equal(err.code, ING_FAIL_TOO_DEEP);
	free(deep);
}

static void any_bytes_become_a_string(void **state)
{
	(void)state;
	json_t *o = json_object();
	ing_json_set_text(o, "good", "\xc3\xa9");
	ing_json_set_text(o, "bad", "a\xff\xc3");
	ing_json_set_text(o, "none", NULL);
	ing_json_set(o, "nul", ing_json_textn("a\0b", 3));
	ing_json_set(o, "bad nul", ing_json_textn("\0\xff", 2));
	ing_json_set(o, "null", NULL);
	char *text = ing_json_dump(o, NULL);
	assert_string_equal(text, "{\"good\":\"\xc3\xa9\",\"bad\":\"a\xef\xbf\xbd\xef\xbf\xbd\","
				  "\"none\":null,\"nul\":\"a\\u0000b\","
				  "\"bad nul\":\"\xef\xbf\xbd\xef\xbf\xbd\",\"null\":null}");
	free(text);
	json_decref(o);
}

static void members_are_set_and_read(void **state)
{
	(void)state;
	json_t *o = json_object();
	ing_json_set_number(o, "n", -7);
	ing_json_set_count(o, "most", UINT64_MAX);
	ing_json_set_bool(o, "yes", true);
	ing_json_set_bool(o, "no", false);
	ing_json_set_text(o, "s", "text");
	assert_int_equal(ing_json_get_number(o, "n"), -7);
	assert_true(ing_json_get_number(o, "most") == INT64_MAX);
	assert_int_equal(ing_json_get_number(o, "s"), 0);
	assert_true(ing_json_get_true(o, "yes"));
	assert_false(ing_json_get_true(o, "no"));
	assert_false(ing_json_get_true(o, "n"));
	assert_string_equal(ing_json_get_text(o, "s"), "text");
	assert_null(ing_json_get_text(o, "n"));
	assert_null(ing_json_get_text(NULL, "s"));
	json_t *list = json_array();
	ing_json_append(list, ing_json_ref(o));
	ing_json_append(list, NULL);
	assert_ptr_equal(json_array_get(list, 0), o);
	assert_true(json_is_null(json_array_get(list, 1)));
	assert_null(ing_json_ref(NULL));
	json_decref(list);
	json_decref(o);
}

static void reals_come_back_as_they_were(void **state)
{
	(void)state;
	json_t *v = json_real(0.1);
	char *exact = ing_json_dump(v, NULL);
	char *rounded = ing_json_dump_rounded(v, 9);
	assert_true(strtod(exact, NULL) == 0.1);
	assert_string_equal(rounded, "0.1");
	free(exact);
	free(rounded);
	json_decref(v);
}

static void writing_stops_at_the_ceiling(void **state)
{
	(void)state;
	struct ing_buf b;
	json_t *o = json_pack("{s:s}", "key", "value");
	ing_buf_init(&b, 15);
	assert_true(ing_json_add(&b, o));
	assert_string_equal(ing_buf_str(&b), "{\"key\":\"value\"}");
	assert_false(ing_json_add(&b, o));
	assert_true(b.failed);
	ing_buf_done(&b);
	json_decref(o);
}

static void long_texts_are_written_as_jansson_writes_them(void **state)
{
	static const char *const cases[] = {"{}", "[]", "null", "[true,false,null,-5,1.5,1e300]",
		"[9223372036854775807,-9223372036854775808,0,0.1,-0.0]",
		"{\"a\":{\"b\":[[],{},\"\"]},\"c\":\"d\"}",
		"\"a\\\"b\\\\c/d\\n\\t\\r\\b\\f\\u0000\\u0001\\u001f \u00e9\U0001f9ec\x7f\"",
		"{\"k\\\"\\n\":1}"};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		json_t *v = ing_json_parse(cases[i], strlen(cases[i]), &ing_json_own, NULL);
		assert_non_null(v);
		char *want = json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY);
		assert_non_null(want);
		struct ing_buf out;
		ing_buf_init(&out, strlen(want));
		assert_true(ing_json_write(&out, v));
		/* Hexadecimal digits may be of either case. */
		assert_int_equal(strcasecmp(ing_buf_str(&out), want), 0);
		size_t bytes;
		char *dumped = ing_json_dump(v, &bytes);
		assert_int_equal(bytes, out.len);
		assert_string_equal(dumped, ing_buf_str(&out));
		free(dumped);
		ing_buf_done(&out);
		ing_buf_init(&out, strlen(want) - 1);
		assert_false(ing_json_write(&out, v));
		ing_buf_done(&out);
		free(want);
		json_decref(v);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses_within_the_limits_given),
		cmocka_unit_test(long_texts_are_written_as_jansson_writes_them),
		cmocka_unit_test(a_syntax_error_has_its_line_and_column),
		cmocka_unit_test(depth_is_checked_before_the_parser_recurses),
		cmocka_unit_test(any_bytes_become_a_string),
		cmocka_unit_test(members_are_set_and_read),
		cmocka_unit_test(reals_come_back_as_they_were),
		cmocka_unit_test(writing_stops_at_the_ceiling),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
