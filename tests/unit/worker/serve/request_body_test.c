/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "common/data/json.h"
#include "worker/model/request.h"
#include "worker/serve/request_body.h"

#define A "{\"ingest_type\":\"pdf\",\"base_url\":\"http://a.example/\"}"
#define B "{\"ingest_type\":\"html\",\"base_url\":\"http://b.example/\"}"

static const struct ing_body_limits limits = {3, "tests"};

static const struct {
	const char *name, *body;
	bool lines;
	size_t count; /* 0: refused */
	bool many;
	const char *member, *reason; /* of the first error */
	int index, line;
} cases[] = {
	{"an object", A, false, 1, false, NULL, NULL, 0, 0},
	{"white space around it", "\n  " A " \r\n", false, 1, false, NULL, NULL, 0, 0},
	{"over several lines", "{\"ingest_type\":\"pdf\",\n\"base_url\":\"http://a.example/\"}",
		false, 1, false, NULL, NULL, 0, 0},
	{"an array", "[" A "," B "]", false, 2, true, NULL, NULL, 0, 0},
	{"an array of one", "[" A "]", false, 1, true, NULL, NULL, 0, 0},
	{"an array over lines", "[\n" A ",\n" B "\n]\n", false, 2, true, NULL, NULL, 0, 0},
	{"lines", A "\n" B "\n", false, 2, true, NULL, NULL, 0, 0},
	{"lines with CR, blanks and no end", A "\r\n\n  \n" B, false, 2, true, NULL, NULL, 0, 0},
	{"a line that is said to be one", A, true, 1, true, NULL, NULL, 0, 0},
	{"as many as may be", "[" A "," A "," A "]", false, 3, true, NULL, NULL, 0, 0},
	{"one more", "[" A "," A "," A "," A "]", false, 0, false, NULL, "more than are taken", 3,
		0},
	{"one line more", A "\n" A "\n" A "\n" A "\n", false, 0, false, NULL, "more than are taken",
		3, 4},
	{"nothing", "", false, 0, false, NULL, "", 0, 0},
	{"no lines", "\n \n", true, 0, false, NULL, "there is none", 0, 2},
	{"an empty array", "[]", false, 0, false, NULL, "empty", 0, 0},
	{"a second value", A " " B, false, 0, false, NULL, "end of file expected", 0, 0},
	{"a bad second line", A "\n{\"ingest_type\":\n", false, 0, false, NULL, "", 1, 2},
	{"a member of the wrong type", "[" A ",{\"ingest_type\":\"pdf\",\"base_url\":7}]", false, 0,
		false, "base_url", "not a string", 1, 0},
	{"a list in the list", "[[" A "]]", false, 0, false, NULL, "not a JSON object", 0, 0},
	{"a NUL in a URL", "{\"ingest_type\":\"pdf\",\"base_url\":\"http://a.example/\\u0000\"}",
		false, 0, false, "base_url", "U+0000", 0, 0},
	{"a lone surrogate", "{\"ingest_type\":\"pdf\",\"base_url\":\"\\ud800\"}", false, 0, false,
		NULL, "", 0, 0},
	{"bytes that are no UTF-8", "{\"ingest_type\":\"pdf\",\"base_url\":\"\xff\"}", false, 0,
		false, NULL, "UTF-8", 0, 0},
};

static void test_bodies(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ing_body body;
		json_t *errors = NULL;
		print_message("%s\n", cases[i].name);
		int rc = ing_body_parse(cases[i].body, strlen(cases[i].body), cases[i].lines,
			&limits, &body, &errors);
		assert_int_equal(body.count, cases[i].count);
		if (cases[i].count > 0) {
			assert_int_equal(rc, 0);
			assert_int_equal(body.many, cases[i].many);
			ing_body_done(&body);
			continue;
		}
		assert_int_not_equal(rc, 0);
		const json_t *first = json_array_get(errors, 0);
		const char *member = ing_json_get_text(first, "member");
		if (cases[i].member != NULL)
			assert_string_equal(member, cases[i].member);
		else
			assert_null(member);
		assert_non_null(strstr(ing_json_get_text(first, "reason"), cases[i].reason));
		assert_int_equal(ing_json_get_number(first, "index"), cases[i].index);
		assert_int_equal(ing_json_get_number(first, "line"), cases[i].line);
		json_decref(errors);
	}
}

static void test_the_message_is_the_request_and_who_asked(void **state)
{
	(void)state;
	static const char text[] =
		"{\"ingest_type\":\"file\",\"ext_ids\":{\"doi\":\"10.5555/1\"},\"rel\":\"x\"}";
	struct ing_body body;
	json_t *errors;
	assert_int_equal(ing_body_parse(text, strlen(text), false, &limits, &body, &errors), 0);
	assert_string_equal(body.requests[0].message,
		"{\"ingest_type\":\"file\",\"ext_ids\":{\"doi\":\"10.5555/1\"},\"rel\":\"x\","
		"\"ingest_request_source\":\"tests\",\"base_url\":\"https://doi.org/10.5555/1\"}");
	assert_string_equal(body.requests[0].request->base_url, "https://doi.org/10.5555/1");
	assert_false(body.requests[0].request->derived);
	ing_body_done(&body);
	static const char said[] =
		"{\"ingest_type\":\"pdf\",\"base_url\":\"http://a.example/\",\"ingest_request_source\":\"mine\"}";
	assert_int_equal(ing_body_parse(said, strlen(said), false, &limits, &body, &errors), 0);
	assert_string_equal(body.requests[0].message, said);
	ing_body_done(&body);
}

static void test_errors_are_bounded(void **state)
{
	(void)state;
	struct ing_buf text;
	struct ing_body body;
	json_t *errors;
	const struct ing_body_limits many = {1000, NULL};
	ing_buf_init(&text, 1 << 20);
	for (int i = 0; i < 500; i++)
		ing_buf_add_str(&text, "{\"ingest_type\":\"pdf\"}\n");
	assert_int_not_equal(ing_body_parse(text.data, text.len, false, &many, &body, &errors), 0);
	assert_int_equal(json_array_size(errors), 20);
	json_decref(errors);
	ing_buf_done(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bodies),
		cmocka_unit_test(test_the_message_is_the_request_and_who_asked),
		cmocka_unit_test(test_errors_are_bounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
