/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whose file is it? Names of one instance must never be taken for another's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "worker/archive/name.h"

static const struct {
	const char *text;
	const char *want;
} parts[] = {
	{"ING", "ING"},
	{"host-1.example.org", "host-1.example.org"},
	{"a b/c\\d:e@f", "a_b_c_d_e_f"},
	{"../../etc", "_._.._etc"},
	{".hidden", "_hidden"},
	{"w\xc3\xb6rker\n", "w__rker_"},
	{"", ""},
};

static void parts_are_made_safe(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(parts); i++) {
		char *got = ing_warc_name_part(parts[i].text);
		assert_string_equal(got, parts[i].want);
		free(got);
	}
}

/* clang-format off */
static const struct {
	const char *file;
	const char *prefix;
	const char *host;
	bool want;
} owners[] = {
	{.file = "ING-20260102030405678-00000-h.warc.gz.open", .prefix = "ING", .host = "h",
		.want = true},
	{.file = "ING-20260102030405678-99999-h.warc.gz.open", .prefix = "ING", .host = "h",
		.want = true},
	{.file = "ING-20260102030405678-100000-h.warc.gz.open", .prefix = "ING", .host = "h",
		.want = true},
	{.file = "A-B-20260102030405678-00000-h-2.warc.gz.open", .prefix = "A-B", .host = "h-2",
		.want = true},
	{.file = "ING-20260102030405678-00000-h.warc.gz", .prefix = "ING", .host = "h",
		.want = false},
	{.file = "ING-20260102030405678-00000-h2.warc.gz.open", .prefix = "ING", .host = "h",
		.want = false},
	{.file = "ING-20260102030405678-00000-x-h.warc.gz.open", .prefix = "ING", .host = "h",
		.want = false},
	{.file = "ING-20260102030405678-00000-h.warc.gz.open", .prefix = "ING", .host = "h2",
		.want = false},
	{.file = "ING2-20260102030405678-00000-h.warc.gz.open", .prefix = "ING", .host = "h",
		.want = false},
	{.file = "X-ING-20260102030405678-00000-h.warc.gz.open", .prefix = "ING", .host = "h",
		.want = false},
	{.file = "ING-2026010203040567-00000-h.warc.gz.open", .prefix = "ING", .host = "h",
		.want = false},
	{.file = "ING-202601020304056789-00000-h.warc.gz.open", .prefix = "ING", .host = "h",
		.want = false},
	{.file = "ING-20260102030405678-0000-h.warc.gz.open", .prefix = "ING", .host = "h",
		.want = false},
	{.file = "ING-20260102030405678-00000000000-h.warc.gz.open", .prefix = "ING", .host = "h",
		.want = false},
	{.file = "ING-20260102030405678-00000-h.warc.gz.open.bak", .prefix = "ING", .host = "h",
		.want = false},
	{.file = "ING-20260102030405678-00000-h.warc.open", .prefix = "ING", .host = "h",
		.want = false},
	{.file = "ING-20260102030405678-00000-h", .prefix = "ING", .host = "h", .want = false},
	{.file = "", .prefix = "ING", .host = "h", .want = false},
};
/* clang-format on */

static void names_are_told_apart(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(owners); i++) {
		char name[ING_WARC_NAME_BYTES];
		bool got = ing_warc_name_is_open(
			owners[i].file, owners[i].prefix, owners[i].host, name);
		if (got != owners[i].want)
			fail_msg("%s of %s, %s: %d", owners[i].file, owners[i].prefix,
				owners[i].host, got);
		if (!got)
			continue;
		assert_int_equal(strlen(name) + 5, strlen(owners[i].file));
		assert_memory_equal(name, owners[i].file, strlen(name));
	}
}

static void made_names_are_recognised(void **state)
{
	(void)state;
	char name[ING_WARC_NAME_BYTES];
	char again[ING_WARC_NAME_BYTES];
	char open_name[ING_WARC_NAME_BYTES + 8];
	const struct timespec t = {.tv_sec = 1767322984, .tv_nsec = 7999999};
	ing_warc_name_make("A-1", "h", t, 0, name);
	assert_string_equal(name, "A-1-20260102030304007-00000-h.warc.gz");
	ing_warc_name_make("A-1", "h", t, UINT32_MAX, name);
	assert_string_equal(name, "A-1-20260102030304007-4294967295-h.warc.gz");
	memcpy(open_name, name, strlen(name));
	memcpy(open_name + strlen(name), ".open", 6);
	assert_true(ing_warc_name_is_open(open_name, "A-1", "h", again));
	assert_string_equal(again, name);
}

static void names_that_do_not_fit_are_refused(void **state)
{
	(void)state;
	struct ing_error err = {0};
	char longest[ING_WARC_NAME_BYTES];
	memset(longest, 'p', sizeof(longest));
	/* "-17-10-h.warc.gz.open" */
	longest[255 - 44] = '\0';
	assert_int_equal(ing_warc_name_check(longest, "h", &err), 0);
	char name[ING_WARC_NAME_BYTES];
	ing_warc_name_make(longest, "h", (struct timespec){0}, UINT32_MAX, name);
	assert_int_equal(strlen(name) + 5, 255);
	assert_int_equal(ing_warc_name_check(longest, "hh", &err), -ING_FAIL_CONFIG);
	assert_int_equal(ing_warc_name_check("", "h", &err), -ING_FAIL_CONFIG);
	assert_int_equal(ing_warc_name_check("p", "", &err), -ING_FAIL_CONFIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_are_made_safe),
		cmocka_unit_test(names_are_told_apart),
		cmocka_unit_test(made_names_are_recognised),
		cmocka_unit_test(names_that_do_not_fit_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
