/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which names are one author's; and what comparing hostile ones costs: the lengths of their keys.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/macros.h"
#include "worker/publication/authors.h"

#define KEY_BYTES 400u

static struct ing_publication_author named(const char *name)
{
	return (struct ing_publication_author){.name = ing_strdup(name)};
}

static void names_are_compared_by_their_words(void **state)
{
	static const struct {
		const char *one, *other;
		bool same;
	} cases[] = {
		{"Ada Lovelace", "Lovelace, Ada", true}, {"Müller, A. B.", "A B Muller", true},
		{"MULLER A", "müller a", true}, {"ﬁsher a", "Fisher A", true},
		{"王 小明", "小明 王", true}, {"Ada Lovelace", "Ada Lovelac", false},
		{"Ada", "Adam", false}, {"王 小明", "王 小红", false},
		{"The Consortium Of All That Study One Thing Or",
			"consortium of all that study one the thing",
			true}, /* by its first eight words */
	};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_publication_author two[2] = {named(cases[i].one), named(cases[i].other)};
		char **keys = ing_author_keys(two, 2);
		if ((strcmp(keys[0], keys[1]) == 0) != cases[i].same)
			fail_msg("%s / %s", keys[0], keys[1]);
		ing_author_keys_free(keys, 2);
		free(two[0].name);
		free(two[1].name);
	}
}

static void a_name_of_whatever_length_is_compared_by_its_beginning(void **state)
{
	static const char *const units[] = {
		"a", "a ", "é ", "\xef\xb7\xba", "\xef\xb7\xba ", " ", ". ", "1 ", "\xcc\x88"};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(units); i++) {
		struct ing_buf name;
		ing_buf_init(&name, 8192);
		while (name.len < 8000)
			ing_buf_add_str(&name, units[i]);
		struct ing_publication_author a = {.name = (char *)(uintptr_t)ing_buf_str(&name)};
		char **keys = ing_author_keys(&a, 1);
		bool has_letters = i < 5;
		if (strlen(keys[0]) > KEY_BYTES || (*keys[0] != '\0') != has_letters)
			fail_msg("%s: %zu", units[i], strlen(keys[0]));
		ing_author_keys_free(keys, 1);
		ing_buf_done(&name);
	}
}

static void merge(struct ing_author_list *list, const struct ing_publication_author *others,
	uint32_t count, enum ing_author_append append)
{
	char **keys = ing_author_keys(others, count);
	assert_true(ing_author_list_merge(list, others, keys, count, append, 1000));
	ing_author_keys_free(keys, count);
}

static void of_a_later_source_only_those_asked_for_are_appended(void **state)
{
	char ada[] = "Ada B", bob[] = "Bob C", cyd[] = "Cyd D", mail[] = "b@x.example";
	struct ing_publication_author first[] = {{.name = ada}, {.name = ada}},
				      later[] = {{.name = ada, .email = mail}, {.name = bob},
					      {.name = cyd, .corresponding = true}};
	struct ing_author_list list = {0};
	(void)state;
	merge(&list, first, 2, ING_APPEND_NONE);
	assert_int_equal(list.count, 0);
	merge(&list, first, 2, ING_APPEND_ALL);
	assert_int_equal(list.count, 2); /* two of one name in one list are two people */
	merge(&list, later, 3, ING_APPEND_CORRESPONDING);
	assert_int_equal(list.count, 3);
	assert_string_equal(list.items[0].email, "b@x.example");
	assert_null(list.items[1].email);
	assert_string_equal(list.items[2].name, "Cyd D");
	ing_author_list_done(&list);
}

/* What is known of those that it has counts, too. */
static void a_list_has_at_most_so_many_bytes(void **state)
{
	char ada[] = "Ada B", bob[] = "Bob C", cyd[] = "Cyd Dee", eve[] = "Eve",
	     mail[] = "b@x.example";
	struct ing_publication_author first[] = {{.name = ada}, {.name = bob}, {.name = cyd},
		{.name = eve}},
				      later[] = {{.name = bob, .email = mail, .orcid = mail}};
	struct ing_author_list list = {0};
	(void)state;
	char **keys = ing_author_keys(first, 4), **later_keys = ing_author_keys(later, 1);
	assert_false(ing_author_list_merge(&list, first, keys, 4, ING_APPEND_ALL, 14));
	assert_int_equal(list.count, 2); /* and not the fourth, which would fit */
	assert_int_equal(list.bytes, 10);
	assert_false(ing_author_list_merge(&list, later, later_keys, 1, ING_APPEND_NONE, 22));
	assert_string_equal(list.items[1].orcid, mail);
	assert_null(list.items[1].email);
	assert_int_equal(list.bytes, 21);
	assert_true(ing_author_list_merge(&list, later, later_keys, 1, ING_APPEND_NONE, 32));
	assert_string_equal(list.items[1].email, mail);
	assert_false(ing_author_list_merge(&list, &first[2], &keys[2], 1, ING_APPEND_ALL, 5));
	assert_int_equal(list.count, 2);
	ing_author_keys_free(keys, 4);
	ing_author_keys_free(later_keys, 1);
	ing_author_list_done(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_compared_by_their_words),
		cmocka_unit_test(a_name_of_whatever_length_is_compared_by_its_beginning),
		cmocka_unit_test(of_a_later_source_only_those_asked_for_are_appended),
		cmocka_unit_test(a_list_has_at_most_so_many_bytes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
