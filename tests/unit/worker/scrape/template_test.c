/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Texts with places in them: what they become, what is wrong with them and at which character.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "worker/scrape/rules/template.h"

static const char *const names[] = {"pii", "pid", "missing"};
static const char *const values[] = {"S1", "a b&\xc3\xa9", NULL};

static const struct {
	const char *text;
	const char *want; /* NULL: an error at `column` */
	int column;
} cases[] = {
	{.text = "", .want = ""},
	{.text = "plain", .want = "plain"},
	{.text = "{pii}", .want = "S1"},
	{.text = "/{pii}/{pii}?x", .want = "/S1/S1?x"},
	{.text = "{pid}", .want = "a b&\xc3\xa9"},
	{.text = "{pid|encode}", .want = "a%20b%26%C3%A9"},
	{.text = "{missing}|{missing|encode}", .want = "|"},
	{.text = "{url}", .want = "http://h.example/p"},
	{.text = "{host}", .want = "h.example"},
	{.text = "{url|encode}", .want = "http%3A%2F%2Fh.example%2Fp"},
	{.text = "{{pii}}", .want = "{pii}"},
	{.text = "{{{pii}}}", .want = "{S1}"},
	{.text = "a{{b}}c{{{{", .want = "a{b}c{{"},
	{.text = "{", .want = NULL, .column = 1},
	{.text = "a}", .want = NULL, .column = 2},
	{.text = "\xc3\xa9{pii", .want = NULL, .column = 2},
	{.text = "{}", .want = NULL, .column = 1},
	{.text = "ab{pit}", .want = NULL, .column = 3},
	{.text = "{pi}", .want = NULL, .column = 1},
	{.text = "{piis}", .want = NULL, .column = 1},
	{.text = "{pii|encode|encode}", .want = NULL, .column = 1},
	{.text = "{pii|decode}", .want = NULL, .column = 1},
	{.text = "{|encode}", .want = NULL, .column = 1},
	{.text = "{pii}}", .want = NULL, .column = 6},
};

static void texts_become_what_they_say(void **state)
{
	(void)state;
	struct ing_arena ar;
	struct ing_buf out;
	ing_arena_init(&ar);
	ing_buf_init(&out, 1000);
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_template t;
		struct ing_error err = {0};
		print_message("%s\n", cases[i].text);
		int rc = ing_template_compile(
			cases[i].text, names, ING_ARRAY_LEN(names), &ar, &t, &err);
		assert_int_equal(rc == 0, cases[i].want != NULL);
		assert_int_equal(err.column, cases[i].column);
		if (rc != 0)
			continue;
		ing_buf_clear(&out);
		assert_true(
			ing_template_expand(&t, values, "http://h.example/p", "h.example", &out));
		assert_string_equal(ing_buf_str(&out), cases[i].want);
	}
	ing_buf_done(&out);
	ing_arena_done(&ar);
}

static void the_ceiling_is_said(void **state)
{
	(void)state;
	struct ing_arena ar;
	struct ing_buf out;
	struct ing_template t;
	struct ing_error err = {0};
	ing_arena_init(&ar);
	ing_buf_init(&out, 10);
	assert_int_equal(ing_template_compile("{url}", names, 0, &ar, &t, &err), 0);
	assert_false(ing_template_expand(&t, values, "http://h.example/", "", &out));
	ing_buf_done(&out);
	ing_arena_done(&ar);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_become_what_they_say),
		cmocka_unit_test(the_ceiling_is_said),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
