/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Addresses out of links, and names and addresses brought together.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/macros.h"
#include "worker/scrape/publication/corresponding_authors.h"

static struct ing_arena arena;

static int set_up(void **state)
{
	(void)state;
	ing_arena_init(&arena);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	ing_arena_done(&arena);
	return 0;
}

#define HIDDEN "https://x.example/cdn-cgi/l/email-protection#"

static const struct {
	const char *link, *want;
} email_cases[] = {
	{"mailto:a@b.org", "a@b.org"},
	{"MAILTO:a@b.org", "a@b.org"},
	{"mailto:a@b.org?subject=Your%20paper&cc=c@d", "a@b.org"},
	{"mailto:a%40b.org", "a@b.org"},
	{"mailto:%20a@b.org%0A", "a@b.org"},
	{"mailto:j%C3%B6rg@b.org", "j\xc3\xb6rg@b.org"},
	{"mailto:a@b.org#x", "a@b.org"},
	{"mailto:50%x@b.org", "50%x@b.org"}, /* not an escape */
	{"mailto:a%2", NULL},
	{"mailto:a%FF@b.org", NULL}, /* not UTF-8 */
	{"mailto:a%00@b.org", NULL},
	{"mailto:a%0Dx@b.org", NULL},
	{"mailto:", NULL},
	{"mailto:?to=a@b.org", NULL},
	{"mailto:nobody", NULL},
	{"mailto:@b.org", NULL},
	{"mailto:a@", NULL},
	{"a@b.org", "a@b.org"}, /* an attribute's value */
	{" a@b.org\n", "a@b.org"},
	{"", NULL},
	{"https://x.example/people/@ada", NULL},
	{"/people/@ada", NULL},
	{"tel:+1", NULL},
	/* key 0x42, then a@b.org XOR it */
	{HIDDEN "42230220"
		"6c2d3025",
		"a@b.org"},
	{HIDDEN "4223022", NULL},
	{HIDDEN, NULL},
	{HIDDEN "zz", NULL},
	{HIDDEN "4223zz", NULL},
};

static void test_emails(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(email_cases); i++) {
		size_t bytes = strlen(email_cases[i].link);
		char *copy = ing_strndup(email_cases[i].link, bytes);
		const char *got = ing_author_email(&arena, copy, bytes);
		const char *want = email_cases[i].want;
		if ((got == NULL) != (want == NULL) || (got != NULL && strcmp(got, want) != 0))
			fail_msg("%s: %s", copy, got == NULL ? "none" : got);
		free(copy);
	}
	char *longest = ing_alloc(1 << 20);
	memset(longest, 'a', 1 << 20);
	memcpy(longest, "mailto:a@", 9);
	assert_null(ing_author_email(&arena, longest, 1 << 20));
	free(longest);
}

/* Names and addresses as letters; want as "name=email" pairs. */
/* clang-format off */
static const struct {
	const char *name, *names, *emails, *want;
} pair_cases[] = {
	{.name = "nothing", .names = "", .emails = "", .want = ""},
	{.name = "one and one", .names = "A", .emails = "a", .want = "A=a"},
	{.name = "two and two", .names = "AB", .emails = "ab", .want = "A=a B=b"},
	{.name = "names alone", .names = "AB", .emails = "", .want = "A= B="},
	{.name = "addresses alone", .names = "", .emails = "ab", .want = "=a =b"},
	{.name = "numbers differ", .names = "AB", .emails = "abc", .want = "=a =b =c"},
	{.name = "fewer addresses", .names = "ABC", .emails = "ab", .want = "=a =b"},
	{.name = "one name, its address again and again", .names = "A", .emails = "aaa",
		.want = "A=a"},
	{.name = "one name, two addresses", .names = "A", .emails = "ab", .want = "=a =b"},
	{.name = "two names, each with all addresses", .names = "AB", .emails = "abab",
		.want = "A=a B=b"},
	{.name = "two names, four addresses without a period", .names = "AB", .emails = "abba",
		.want = "=a =b =b =a"},
	{.name = "three names, nine addresses", .names = "ABC", .emails = "abcabcabc",
		.want = "A=a B=b C=c"},
	{.name = "three names, six addresses", .names = "ABC", .emails = "abcabc",
		.want = "=a =b =c =a =b =c"},
	{.name = "equal addresses without names", .names = "", .emails = "aaa", .want = "=a"},
	{.name = "equal addresses, names differ", .names = "AB", .emails = "aa", .want = "=a"},
	{.name = "equal addresses, equal names", .names = "AA", .emails = "aa", .want = "A=a A=a"},
	{.name = "equal addresses, more names", .names = "ABC", .emails = "aa", .want = "=a"},
};
/* clang-format on */

static struct ing_extracted letters(const char *s)
{
	size_t n = strlen(s);
	struct ing_text_value *items = ing_arena_alloc(&arena, (n + 1) * sizeof(*items));
	for (size_t i = 0; i < n; i++)
		items[i] = (struct ing_text_value){ing_arena_strndup(&arena, s + i, 1), 1};
	return (struct ing_extracted){.items = items, .count = n};
}

static void test_pairs(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(pair_cases); i++) {
		struct ing_authors got = ing_authors_pair(
			&arena, letters(pair_cases[i].names), letters(pair_cases[i].emails));
		struct ing_buf b;
		ing_buf_init(&b, 1000);
		for (size_t j = 0; j < got.count; j++)
			ing_buf_printf(&b, "%s%s=%s", j > 0 ? " " : "",
				got.items[j].name == NULL ? "" : got.items[j].name,
				got.items[j].email == NULL ? "" : got.items[j].email);
		if (strcmp(ing_buf_str(&b), pair_cases[i].want) != 0)
			fail_msg("%s: %s", pair_cases[i].name, ing_buf_str(&b));
		ing_buf_done(&b);
	}
}

static void test_many(void **state)
{
	enum { COUNT = 50000 };
	struct ing_text_value *items = ing_alloc(COUNT * sizeof(*items));
	(void)state;
	for (size_t i = 0; i < COUNT; i++)
		items[i] = (struct ing_text_value){"x@y", 3};
	struct ing_extracted many = {.items = items, .count = COUNT};
	assert_int_equal(ing_authors_pair(&arena, many, many).count, ING_MAX_CORRESPONDING_AUTHORS);
	assert_int_equal(ing_authors_pair(&arena, letters("A"), many).count, 1);
	free(items);
}

static void test_json(void **state)
{
	const struct ing_author author = {
		.name = "Ada", .email = "a@b", .orcid = "0000-0002-1825-0097"};
	json_t *j = ing_authors_json((struct ing_authors){.items = &author, .count = 1});
	char *text = json_dumps(j, JSON_COMPACT);
	(void)state;
	assert_string_equal(text, "[{\"name\":\"Ada\",\"orcid\":\"0000-0002-1825-0097\","
				  "\"email\":\"a@b\",\"phone\":null,\"uri\":null}]");
	free(text);
	json_decref(j);
	j = ing_authors_json((struct ing_authors){0});
	assert_true(json_is_null(j));
	json_decref(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_emails),
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_json),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
