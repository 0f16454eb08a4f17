/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The word that was probably meant: slips of the fingers, and what is none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/macros.h"
#include "common/base/nearest.h"

static const char *const known[] = {"config", "set", "out", "resume", "max-wait", "help", "batch"};

static const struct {
	const char *word, *want; /* NULL: none */
} cases[] = {
	{"config", "config"},
	{"conifg", "config"}, /* neighbours changed places */
	{"conf", "config"},
	{"confg", "config"},
	{"cnofgi", "config"},
	{"configure", "config"},
	{"ot", "out"},
	{"uot", "out"},
	{"maxwait", "max-wait"},
	{"max_wait", "max-wait"},
	{"resmue", "resume"},
	{"sett", "set"},
	{"hlep", "help"},
	{"", NULL},
	{"x", NULL},
	{"quiet", NULL},
	{"colour", NULL},
	{"gifnoc", NULL},
};

static void slips_are_understood(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_nearest n = ing_nearest_of(cases[i].word, strlen(cases[i].word));
		for (size_t k = 0; k < ING_ARRAY_LEN(known); k++)
			ing_nearest_try(&n, known[k]);
		if ((n.best == NULL) != (cases[i].want == NULL) ||
			(n.best != NULL && strcmp(n.best, cases[i].want) != 0))
			fail_msg("%s: %s", cases[i].word, n.best != NULL ? n.best : "none");
	}
}

static void what_is_long_is_like_nothing(void **state)
{
	(void)state;
	char word[ING_NEAREST_MAX_BYTES + 2];
	memset(word, 'a', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	struct ing_nearest n = ing_nearest_of(word, strlen(word));
	ing_nearest_try(&n, word);
	assert_null(n.best);
	n = ing_nearest_of(word + 1, strlen(word + 1));
	ing_nearest_try(&n, word + 1);
	assert_non_null(n.best);
}

static void only_the_word_counts_not_what_stands_behind_it(void **state)
{
	(void)state;
	struct ing_nearest n = ing_nearest_of("conifg=/etc/x.yaml", 6);
	ing_nearest_try(&n, "config");
	assert_string_equal(n.best, "config");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slips_are_understood),
		cmocka_unit_test(what_is_long_is_like_nothing),
		cmocka_unit_test(only_the_word_counts_not_what_stands_behind_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
