/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Tables of verbs: what getopt takes of them, --help, and texts as lines and as mdoc.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <getopt.h>

#include "common/base/buf.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/usage.h"
#include "worker/ctl/usage_text.h"

/* --- a verb with verbs below it --- */

static void add_steps(struct ing_buf *to)
{
	ing_buf_add_str(to, "left, right");
}

static const struct ing_option dance_options[] = {
	{"count", "N", "so many steps", .code = 0x201, .letter = 'n'},
	{"json", NULL, "print JSON lines", .code = 'j'},
	{"step", "STEP", "which", .code = 's', .of = "alone", .add_words = add_steps},
	{"partner", "A-NAME-THAT-IS-RATHER-LONG", "with whom", .code = 'p', .of = "tango waltz"},
	{"secret", NULL, NULL, .code = 'x'},
	{0},
};
static const struct ing_option hall_options[] = {
	{"hall", "DIR", "where", .code = 0x301, .words = ING_WORDS_DIR},
	{0},
};
static const struct ing_options hall = {
	.title = "Of halls:", .rows = hall_options, .notes = "A hall has a floor."};
static const struct ing_options *const shared[] = {&hall, NULL};

static const struct ing_usage dance;
static const struct ing_usage alone = {
	.name = "dance alone", .synopsis = "", .summary = "nobody else", .parent = &dance};
static const struct ing_usage tango = {.name = "dance tango",
	.synopsis = "--partner NAME",
	.summary = "two",
	.text = "Needs\n\ntwo.",
	.exits = {ING_EXIT_OK},
	.parent = &dance};
static const struct ing_usage *const dances[] = {&alone, &tango, NULL};
static const struct ing_usage dance = {
	.name = "dance",
	.summary = "move to music",
	.text = "Moves.\n\n  one\tfirst\n  two\tsecond",
	.details = "Details are for the manual.",
	.options = dance_options,
	.shared = shared,
	.exits = {ING_EXIT_OK, "nobody danced", ING_EXIT_USAGE},
	.below = dances,
};

#define MAX_WORDS 8

struct taken {
	int codes[MAX_WORDS];
	char *values[MAX_WORDS];
	size_t count;
};

static int take(void *ctx, int option)
{
	struct taken *t = ctx;
	t->codes[t->count] = option;
	t->values[t->count++] = optarg;
	return option == 'x' ? ING_CTL_NEGATIVE : -1;
}

static int parse(struct taken *t, const char *const *words)
{
	char *argv[MAX_WORDS + 2] = {(char[]){"ingestctl dance"}};
	int argc = 1;
	for (; words[argc - 1] != NULL; argc++)
		argv[argc] = strdup(words[argc - 1]);
	*t = (struct taken){0};
	optind = 0; /* getopt begins anew */
	int code = ing_usage_take(&dance, argc, argv, take, t);
	for (size_t i = 0; i < t->count; i++)
		t->values[i] = t->values[i] != NULL ? strdup(t->values[i]) : NULL;
	for (int i = 1; i < argc; i++)
		free(argv[i]);
	return code;
}

#define PARSE(t, ...) parse(t, (const char *const[]){__VA_ARGS__, NULL})

static void expect(struct taken *t, size_t i, int code, const char *value)
{
	assert_int_equal(t->codes[i], code);
	if (value == NULL)
		assert_null(t->values[i]);
	else
		assert_string_equal(t->values[i], value);
	free(t->values[i]);
}

static void options_come_with_their_codes_and_values(void **state)
{
	(void)state;
	struct taken t;
	assert_int_equal(PARSE(&t, "--count", "3", "-n4", "--json", "word", "--hall=x"), -1);
	assert_int_equal(t.count, 4);
	expect(&t, 0, 0x201, "3");
	expect(&t, 1, 0x201, "4"); /* the short form has the code of the long one */
	expect(&t, 2, 'j', NULL);
	expect(&t, 3, 0x301, "x");
	assert_int_equal(optind, 6); /* where the operands begin */
}

static void what_is_no_option_is_a_usage_error(void **state)
{
	(void)state;
	struct taken t;
	assert_int_equal(PARSE(&t, "--jason"), ING_CTL_USAGE);
	assert_int_equal(PARSE(&t, "--count"), ING_CTL_USAGE);
	assert_int_equal(PARSE(&t, "--json=1"), ING_CTL_USAGE);
	assert_int_equal(PARSE(&t, "-j"), ING_CTL_USAGE); /* a code is no short form */
	assert_int_equal(t.count, 0);
	assert_int_equal(PARSE(&t, "--secret"), ING_CTL_NEGATIVE); /* what take() says */
}

static void a_verb_below_has_the_options_that_name_it(void **state)
{
	(void)state;
	struct ing_buf names;
	const struct ing_option *o;
	ing_buf_init(&names, 1000);
	for (size_t i = 0; (o = ing_usage_option(&alone, i, NULL)) != NULL; i++)
		ing_buf_printf(&names, "%s ", o->name);
	assert_string_equal(ing_buf_str(&names), "count json step secret hall ");
	ing_buf_clear(&names);
	const struct ing_options *group = NULL;
	for (size_t i = 0; (o = ing_usage_option(&tango, i, &group)) != NULL; i++)
		ing_buf_printf(&names, "%s%s ", group != NULL ? group->title : "", o->name);
	assert_string_equal(ing_buf_str(&names), "count json partner secret Of halls:hall ");
	ing_buf_done(&names);
}

/* --- help --- */

static char *help_of(const struct ing_usage *u, bool whole)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *f = open_memstream(&text, &bytes);
	ing_usage_print_help(u, whole, f);
	fclose(f);
	return text;
}

static void expect_help(const struct ing_usage *u, bool whole, const char *want)
{
	char *text = help_of(u, whole);
	assert_string_equal(text, want);
	free(text);
}

#define OPTIONS_OF_HALLS                                                                           \
	"Of halls:\n\n"                                                                            \
	"  --hall DIR     where\n\n"                                                               \
	"A hall has a floor.\n\n"                                                                  \
	"--config FILE, --set KEY=VALUE and --help are options of every verb.\n\n"

static void help_is_made_of_the_tables(void **state)
{
	(void)state;
	expect_help(&dance, true,
		"usage: ingestctl dance alone\n"
		"       ingestctl dance tango --partner NAME\n\n"
		"Moves.\n\n"
		"  one  first\n"
		"  two  second\n\n"
		"Details are for the manual.\n\n"
		"  alone  nobody else\n"
		"  tango  Needs two.\n\n"
		"  -n, --count N  so many steps\n"
		"  --json         print JSON lines\n"
		"  --step STEP    which: left, right\n"
		"  --partner A-NAME-THAT-IS-RATHER-LONG\n"
		"                 with whom\n\n" OPTIONS_OF_HALLS
		"Exit status: 0 success, 1 nobody danced, 2 usage or configuration.\n");
	expect_help(&tango, false,
		"usage: ingestctl dance tango --partner NAME\n\n"
		"Needs\n\n"
		"two.\n\n"
		"  -n, --count N  so many steps\n"
		"  --json         print JSON lines\n"
		"  --partner A-NAME-THAT-IS-RATHER-LONG\n"
		"                 with whom\n\n" OPTIONS_OF_HALLS "Exit status: 0 success.\n");
}

static void a_long_synopsis_is_broken_between_options(void **state)
{
	(void)state;
	static const struct ing_usage u = {.name = "long",
		.synopsis =
			"[--first-of-them WITH A VALUE] [--second-of-them | --another ONE] [--third [--fourth]] [--fifth]... FILE\nOTHER"};
	expect_help(&u, false,
		"usage: ingestctl long [--first-of-them WITH A VALUE] [--second-of-them | --another ONE]\n"
		"                      [--third [--fourth]] [--fifth]... FILE\n"
		"       ingestctl long OTHER\n\n"
		"--config FILE, --set KEY=VALUE and --help are options of every verb.\n");
}

/* --- texts --- */

static void lines_are_filled_to_the_width(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		size_t indent, width;
		const char *want;
	} cases[] = {
		{"one two three", 0, 8, "one two\nthree\n"},
		{"one two\nthree\n\nfour", 2, 20, "  one two three\n\n  four\n"},
		{"äöü äöü äöü", 0, 7, "äöü äöü\näöü\n"}, /* columns, not bytes */
		{"unbreakable words", 0, 5, "unbreakable\nwords\n"},
		{"as it is:\n  a   b\n  c", 0, 9, "as it is:\n  a   b\n  c\n"},
		{"  a\tone two three four\n  long\tx", 0, 18,
			"  a     one two\n        three four\n  long  x\n"},
		{"  a-term-that-has-more-columns\tx\n  b\ty", 0, 40,
			"  a-term-that-has-more-columns\n     x\n  b  y\n"},
		{"", 0, 80, ""},
		{"a\n\n\n\nb\n\n", 0, 80, "a\n\nb\n"},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_buf out;
		ing_buf_init(&out, 10000);
		ing_usage_add_lines(&out, cases[i].text, cases[i].indent, cases[i].width);
		assert_string_equal(ing_buf_str(&out), cases[i].want);
		ing_buf_done(&out);
	}
}

static void mdoc_has_no_text_that_roff_takes_for_its_own(void **state)
{
	(void)state;
	static const struct {
		const char *text, *want;
	} cases[] = {
		{"One two. Three\nfour.\n\nFive", "One two.\nThree four.\n.Pp\nFive\n"},
		{"with --json, or (--max-lag) only",
			"with \\fB\\-\\-json\\fP, or (\\fB\\-\\-max\\-lag\\fP) only\n"},
		{".hidden and\n\n'quoted", "\\&.hidden and\n.Pp\n\\&'quoted\n"},
		{"well-known, but 2026-11-21 and a\\b",
			"well-known, but 2026\\-11\\-21 and a\\eb\n"},
		{"by gate.max_wait_ms, at most", "by \\%gate.max_wait_ms, at most\n"},
		{"e.g. this ... and that", "e.g. this ... and that\n"},
		{"  Op\tthe macro", ".Bl -tag -width Ds -compact\n.It \\&Op \nthe macro\n.El\n"},
		{"so:\n\n  .a -b \"c\"\n  d",
			"so:\n.Bd -literal -offset indent\n\\&.a \\-b \\(dqc\\(dq\nd\n.Ed\n"},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_buf out;
		ing_buf_init(&out, 10000);
		ing_usage_add_mdoc(&out, cases[i].text);
		assert_string_equal(ing_buf_str(&out), cases[i].want);
		ing_buf_done(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_come_with_their_codes_and_values),
		cmocka_unit_test(what_is_no_option_is_a_usage_error),
		cmocka_unit_test(a_verb_below_has_the_options_that_name_it),
		cmocka_unit_test(help_is_made_of_the_tables),
		cmocka_unit_test(a_long_synopsis_is_broken_between_options),
		cmocka_unit_test(lines_are_filled_to_the_width),
		cmocka_unit_test(mdoc_has_no_text_that_roff_takes_for_its_own),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
