/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which results are wanted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "worker/ctl/topics/results_filter.h"

#define ID_A "00112233445566778899aabbccddeeff00112233"
#define ID_B "ffffffffffffffffffffffffffffffffffffffff"

#define RESULT(status, url, terminal)                                                              \
	"{\"status\":\"" status "\",\"request\":{\"base_url\":\"" url                              \
	"\",\"note\":\"timeout\"},\"terminal\":" terminal "}"
#define ENDED(url) "{\"terminal_url\":\"" url "\"}"

static const struct {
	const char *status, *host, *id; /* NULL: none */
	const char *key, *value;        /* NULL: none */
	bool wanted;
} cases[] = {
	{NULL, NULL, NULL, NULL, NULL, true},
	{NULL, NULL, NULL, ID_A, "no JSON", true},
	/* by key alone */
	{NULL, NULL, ID_A, ID_A, "no JSON", true},
	{NULL, NULL, "00112233445566778899AABBCCDDEEFF00112233", ID_A, NULL, true},
	{NULL, NULL, ID_A, ID_B, "{}", false},
	{NULL, NULL, ID_A, NULL, "{}", false},
	{NULL, NULL, ID_A, "0011", "{}", false},
	{NULL, NULL, ID_A, ID_A "0", "{}", false},
	/* by status: the word alone is not enough */
	{"success", NULL, NULL, NULL, RESULT("success", "http://a.org/", "null"), true},
	{"success", NULL, NULL, NULL, RESULT("timeout", "http://a.org/", "null"), false},
	{"timeout", NULL, NULL, NULL, RESULT("success", "http://a.org/", "null"), false},
	{"timeout", NULL, NULL, NULL, RESULT("read-timeout", "http://a.org/", "null"), false},
	{"timeout", NULL, NULL, NULL, "[\"timeout\"]", false},
	{"timeout", NULL, NULL, NULL, "\"timeout\"", false},
	{"timeout", NULL, NULL, NULL, "{\"status\":[\"timeout\"]}", false},
	{"timeout", NULL, NULL, NULL, "{\"status\":\"timeout\"", false},
	{"timeout", NULL, NULL, NULL, NULL, false},
	{"timeout", NULL, NULL, NULL, "", false},
	/* by host: where it began, or ended */
	{NULL, "a.org", NULL, NULL, RESULT("success", "http://www.A.org:80/x", "null"), true},
	{NULL, "WWW.a.org", NULL, NULL, RESULT("success", "http://a.org/", "null"), true},
	{NULL, "b.org", NULL, NULL, RESULT("success", "http://a.org/", ENDED("https://b.org/x")),
		true},
	{NULL, "b.org", NULL, NULL, RESULT("success", "http://a.org/?b.org", "null"), false},
	{NULL, "a.org", NULL, NULL, RESULT("success", "http://b.a.org/", "null"), false},
	{NULL, "a.org", NULL, NULL, "{\"request\":\"http://a.org/\",\"terminal\":7}", false},
	/* all of them */
	{"success", "a.org", ID_A, ID_A, RESULT("success", "http://a.org/", "null"), true},
	{"success", "b.org", ID_A, ID_A, RESULT("success", "http://a.org/", "null"), false},
	{"timeout", "a.org", ID_A, ID_A, RESULT("success", "http://a.org/", "null"), false},
};

static void results_are_chosen_by_key_status_and_host(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ing_results_filter f = {.id_count = 0};
		struct ing_error err = {0};
		print_message("case %zu\n", i);
		if (cases[i].status != NULL)
			assert_int_equal(ing_results_want_status(&f, cases[i].status, &err), 0);
		if (cases[i].host != NULL)
			assert_int_equal(ing_results_want_host(&f, cases[i].host, &err), 0);
		if (cases[i].id != NULL)
			assert_int_equal(ing_results_want_id(&f, cases[i].id, &err), 0);
		const char *key = cases[i].key;
		const char *value = cases[i].value;
		assert_int_equal(ing_results_wants(&f, key, key != NULL ? strlen(key) : 0, value,
					 value != NULL ? strlen(value) : 0),
			cases[i].wanted);
	}
}

static void any_of_several_is_enough(void **state)
{
	static const char result[] = RESULT("timeout", "http://a.org/", "null");
	struct ing_results_filter f = {.id_count = 0};
	struct ing_error err = {0};
	(void)state;
	assert_int_equal(ing_results_want_status(&f, "success", &err), 0);
	assert_int_equal(ing_results_want_status(&f, "timeout", &err), 0);
	assert_int_equal(ing_results_want_host(&f, "b.org", &err), 0);
	assert_int_equal(ing_results_want_host(&f, "a.org", &err), 0);
	assert_int_equal(ing_results_want_id(&f, ID_B, &err), 0);
	assert_int_equal(ing_results_want_id(&f, ID_A, &err), 0);
	assert_true(ing_results_wants(&f, ID_A, 40, result, sizeof(result) - 1));
}

static void what_cannot_be_is_refused(void **state)
{
	static const char *const ids[] = {
		"", "12", ID_A "0", "00112233445566778899aabbccddeeff0011223g", " " ID_A};
	struct ing_results_filter f = {.id_count = 0};
	struct ing_error err = {0};
	(void)state;
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		assert_int_equal(ing_results_want_id(&f, ids[i], &err), -ING_FAIL_USAGE);
	err = (struct ing_error){0}; /* the first one stays */
	assert_int_equal(ing_results_want_status(&f, "succes", &err), -ING_FAIL_USAGE);
	assert_non_null(strstr(err.msg, "did you mean 'success'"));
	assert_int_equal(ing_results_want_status(&f, "", &err), -ING_FAIL_USAGE);
	assert_int_equal(ing_results_want_host(&f, "", &err), -ING_FAIL_USAGE);
	assert_int_equal(ing_results_want_host(&f, "a b", &err), -ING_FAIL_USAGE);
	for (size_t i = 0; i < ING_RESULTS_WORDS; i++)
		assert_int_equal(ing_results_want_id(&f, ID_A, &err), 0);
	assert_int_equal(ing_results_want_id(&f, ID_A, &err), -ING_FAIL_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(results_are_chosen_by_key_status_and_host),
		cmocka_unit_test(any_of_several_is_enough),
		cmocka_unit_test(what_cannot_be_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
