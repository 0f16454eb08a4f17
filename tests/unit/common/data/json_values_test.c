/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where values begin and end, in files of every kind, cut into chunks of every length.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "common/data/json_values.h"

#define LIMIT 40

/* want: "NUMBER:LINE TEXT|" for each value, "NUMBER:LINE TEXT!FAULT|" with a fault. */
/* clang-format off */
static const struct {
	const char *name, *member, *input, *want;
} cases[] = {
	{"nothing", NULL, "", ""},
	{"blanks", NULL, " \r\n\t\n", ""},
	{"an object", NULL, "{\"a\":1}", "1:1 {\"a\":1}|"},
	{"lines", NULL, "{\"a\":1}\n{\"a\":2}\n", "1:1 {\"a\":1}|2:2 {\"a\":2}|"},
	{"without anything between", NULL, "{}{}[]{}", "1:1 {}|2:1 {}|3:1 {}|"},
	{"over lines", NULL, "{\n\"a\":\n1}\n\n{\n}", "1:1 {\n\"a\":\n1}|2:5 {\n}|"},
	{"a sequence of RFC 7464", NULL, "\x1e{}\n\x1e{}\n", "1:1 {}|2:2 {}|"},
	{"a byte order mark", NULL, "\xef\xbb\xbf[1]", "1:1 1|"},
	{"a list", NULL, "[{\"a\":[1,{}]},{\"b\":2}]", "1:1 {\"a\":[1,{}]}|2:1 {\"b\":2}|"},
	{"a list over lines", NULL, "[\n  {\"a\": 1},\n  {\"b\": 2}\n]\n",
		"1:2 {\"a\": 1}|2:3 {\"b\": 2}|"},
	{"lists one after the other", NULL, "[1]\n[2,\n3]", "1:1 1|2:2 2|3:3 3|"},
	{"an empty list", NULL, "[]", ""},
	{"a list in a list is a value", NULL, "[[1,2],[]]", "1:1 [1,2]|2:1 []|"},
	{"scalars", NULL, "[1,-2.5e3,true,null,\"s\"]", "1:1 1|2:1 -2.5e3|3:1 true|4:1 null|5:1 \"s\"|"},
	{"scalars at the top", NULL, "1 true \"s\" x", "1:1 1|2:1 true|3:1 \"s\"|4:1 x|"},
	{"brackets, quotes and escapes in strings", NULL, "[{\"}]\":\"\\\"}\\\\\"},\"]\\\\\",2]",
		"1:1 {\"}]\":\"\\\"}\\\\\"}|2:1 \"]\\\\\"|3:1 2|"},
	{"the list of a member", "items", "{\"items\":[{\"a\":1},{\"b\":[2]}]}",
		"1:1 {\"a\":1}|2:1 {\"b\":[2]}|"},
	{"a member among others", "items",
		"{\"n\":[{\"items\":[0]}],\"s\":\"items\",\n \"items\" : [\n1,\n2], \"x\":{\"y\":\"}\"}}\n{\"items\":[3]}",
		"1:3 1|2:4 2|3:5 3|"},
	{"a member of another name", "items", "{\"item\":[1],\"itemss\":[2],\"i\\u0074ems\":[3]}",
		"1:1 {\"item\":[1],\"itemss\":[2],\"i\\u0074ems\":[3!longer than the limit|"},
	{"a member that is no list", "items", "{\"items\":{\"a\":[1]}}", "1:1 {\"items\":{\"a\":[1]}}|"},
	{"no member of elements", "items", "[{\"items\":[1]}]", "1:1 {\"items\":[1]}|"},
	{"an empty member", "items", "{\"items\":[]}", ""},
	{"too long", NULL, "[{\"a\":\"0123456789012345678901234567890123456789\"},7]",
		"1:1 {\"a\":\"0123456789012345678901234567890123!longer than the limit|2:1 7|"},
	{"cut in a value", NULL, "[{},{\"a\":", "1:1 {}|2:1 !the last value ends early|"},
	{"cut in a string", NULL, "{\"a\":\"x", "1:1 !the last value ends early|"},
	{"cut in a list", NULL, "[{},", "1:1 {}|2:1 !the list ends early|"},
	{"cut behind a member", "m", "{\"m\":[1],\"", "1:1 1|2:1 !the object around the list ends early|"},
	{"too many ends", NULL, "[1]]\n[2]", "1:1 1|2:1 !a bracket that closes nothing|"},
	{"another bracket", NULL, "[1}", "1:1 1|2:1 !a bracket that closes nothing|"},
	{"no JSON", NULL, "http://a.example/ x", "1:1 http://a.example/|2:1 x|"},
};

static const struct {
	const char *name, *member, *front;
	bool want;
} fronts[] = {
	{"nothing", NULL, "", false},
	{"lines", NULL, "{\"a\":1}\n{", false},
	{"a line that goes on", NULL, "{\"a\":1", false},
	{"a list", NULL, " \n[", true},
	{"a list behind a byte order mark", NULL, "\xef\xbb\xbf[", true},
	{"over lines", NULL, "{ \r\n  \"a\":1", true},
	{"URLs", NULL, "http://", false},
	{"a member", "items", "{\"items\":[", true},
	{"a member and its values", "items", "{\"items\":[{\"a\":1},{\"b", true},
	{"a member behind another", "items", "{\"n\":3,\"items\":[{\"a", true},
	{"no member", "items", "{\"itens\":[", false},
	{"a member deeper", "items", "{\"a\":{\"items\":[", false},
};
/* clang-format on */

static char *split(const char *member, const char *input, size_t step)
{
	struct ing_json_values v;
	struct ing_json_value value;
	struct ing_buf out;
	size_t bytes = strlen(input);
	ing_buf_init(&out, 10000);
	ing_json_values_init(&v, member, LIMIT);
	for (size_t at = 0; at <= bytes; at += step) {
		size_t n = ING_MIN(step, bytes - at);
		char *chunk = malloc(n + 1); /* so that nobody reads behind it */
		assert_non_null(chunk);
		memcpy(chunk, input + at, n);
		if (at + step <= bytes || n > 0)
			ing_json_values_feed(&v, chunk, n);
		if (at + step > bytes)
			ing_json_values_end(&v);
		while (ing_json_values_next(&v, &value)) {
			ing_buf_printf(&out, "%d:%d ", (int)value.number, (int)value.line);
			ing_buf_add(&out, value.text, value.bytes);
			if (value.fault != NULL)
				ing_buf_printf(&out, "!%s", value.fault);
			ing_buf_add_char(&out, '|');
		}
		free(chunk);
	}
	ing_json_values_done(&v);
	return ing_buf_steal(&out);
}

static void values_are_those_of_the_file_however_it_is_cut(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		for (size_t step = 1; step <= strlen(cases[i].input) + 1; step++) {
			char *got = split(cases[i].member, cases[i].input, step);
			if (strcmp(got, cases[i].want) != 0)
				print_message("%s, in steps of %zu\n", cases[i].name, step);
			assert_string_equal(got, cases[i].want);
			free(got);
		}
	}
}

static void the_front_says_whether_there_are_lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(fronts); i++) {
		bool got = ing_json_values_is(
			fronts[i].front, strlen(fronts[i].front), fronts[i].member);
		if (got != fronts[i].want)
			print_message("%s\n", fronts[i].name);
		assert_int_equal(got, fronts[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_those_of_the_file_however_it_is_cut),
		cmocka_unit_test(the_front_says_whether_there_are_lines),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
