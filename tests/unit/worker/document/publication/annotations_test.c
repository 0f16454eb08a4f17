/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Mined terms: how annotations become terms, and which are of the paper.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "common/base/macros.h"
#include "found_helper.h"

#define OF(article, annotations)                                                                   \
	"<item>" article "<annotations>" annotations "</annotations></item>"
#define ANSWER(annotations)                                                                        \
	"<?xml version='1.0'?><List>" OF(                                                          \
		"<source>PMC</source><extId>77</extId><pmcid>PMC1</pmcid>", annotations) "</List>"
#define TERM(exact, uri, more)                                                                     \
	"<annotation><prefix>p</prefix><exact>" exact                                              \
	"</exact><postfix>q</postfix><tags><tag><name>n"                                           \
	"</name><uri>" uri "</uri></tag><tag><uri>other</uri></tag></tags>" more "</annotation>"
#define FREQUENCY(s) "<frequency>" s "</frequency>"

static const struct reading_case cases[] = {
	{"a term", ANSWER(TERM("PCR", "http://e/1", "")), "efo europepmc PCR =1 <http://e/1>\n",
		{.pmcid = "PMC1"}},
	{"places of one concept are summed up, the most frequent spelling names it",
		ANSWER(TERM("pcr", "u1", FREQUENCY("2")) TERM("ELISA", "u2", FREQUENCY("3"))
				TERM("PCR", "u1", FREQUENCY("3")) TERM("PCR ", "u1", "")),
		"efo europepmc PCR =6 <u1>; ELISA =3 <u2>\n", {0}},
	{"spellings as frequent as each other: the first",
		ANSWER(TERM("zeta", "u", "") TERM("alpha", "u", "") TERM("mid", "v", "")),
		"efo europepmc zeta =2 <u>; mid =1 <v>\n", {0}},
	{"as frequent as each other in their order",
		ANSWER(TERM("b", "u2", "") TERM("a", "u1", "") TERM("c", "u0", "")),
		"efo europepmc b =1 <u2>; a =1 <u1>; c =1 <u0>\n", {0}},
	{"a frequency that is no number is one", ANSWER(TERM("a", "u", FREQUENCY("often"))),
		"efo europepmc a =1 <u>\n", {0}},
	{"a frequency of nothing drops the term",
		ANSWER(TERM("a", "u", FREQUENCY("0")) TERM("b", "v", "")),
		"efo europepmc b =1 <v>\n", {0}},
	{"nothing but dropped terms", ANSWER(TERM("a", "u", FREQUENCY("0"))),
		"no-record: no annotations\n", {0}},
	{"without a URI each spelling is a term",
		ANSWER("<annotation><exact>a</exact></annotation><annotation><exact>b</exact></annotation>"
		       "<annotation><exact>a</exact></annotation>" TERM("c", "a", "")),
		"efo europepmc a =2; b =1; c =1 <a>\n", {0}},
	{"elements as another server names them",
		"<ArrayList><item><annotations><annotations><exact>a</exact><tags><tags><uri>u</uri></tags>"
		"</tags></annotations></annotations></item></ArrayList>",
		"efo europepmc a =1 <u>\n", {0}},
	{"no annotations", ANSWER(""), "no-record: no annotations\n", {.pmcid = "PMC1"}},
	{"an empty list", "<List/>", "no-record: no annotations\n", {0}},
	{"of another paper", ANSWER(TERM("a", "u", "")),
		"wrong-record: annotations of another paper than PMCID PMC2\n", {.pmcid = "PMC2"}},
	{"of two papers",
		"<List>" OF("<pmcid>PMC2</pmcid>", TERM("a", "u", ""))
			OF("<pmcid>PMC1</pmcid>", TERM("b", "u", "")) "</List>",
		"efo europepmc b =1 <u>\n", {.pmcid = "PMC1"}},
	{"by the PMID",
		"<List>" OF("<source>MED</source><extId>5</extId>", TERM("a", "u", "")) OF(
			"<source>MED</source><extId>6</extId>", TERM("b", "u", ""))
			OF("<source>PPR</source><extId>7</extId>", TERM("c", "v", "")) "</List>",
		"efo europepmc b =1 <u>; c =1 <v>\n", {.pmid = "6"}},
	{"not wanted", ANSWER(TERM("a", "u", "")), "", {.parts = 1u << ING_PART_GO}},
};

static void groups_annotations(void **state)
{
	(void)state;
	check_readings(ING_READ_EFO, ING_PART_TYPE_EUROPEPMC, NULL, cases, ING_ARRAY_LEN(cases));
}

static void go_terms_are_another_part(void **state)
{
	static const struct reading_case of_go[] = {
		{"go", ANSWER(TERM("apoptosis", "u", "")), "go europepmc apoptosis =1 <u>\n", {0}}};
	(void)state;
	check_readings(ING_READ_GO, ING_PART_TYPE_EUROPEPMC, NULL, of_go, 1);
}

static void more_terms_than_there_may_be_are_too_large(void **state)
{
	const struct ing_publication_ask ask = {
		.reader = ING_READ_EFO, .type = ING_PART_TYPE_EUROPEPMC};
	struct ing_buf body;
	(void)state;
	ing_buf_init(&body, 16 << 20);
	ing_buf_add_str(&body, "<List><item><annotations>");
	for (unsigned i = 0; i <= ING_MAX_PUBLICATION_TERMS; i++)
		ing_buf_printf(&body, TERM("t%u", "u%u", FREQUENCY("%u")), i, i, i + 1);
	ing_buf_add_str(&body, "</annotations></item></List>");
	const char *lines = read_lines(&ask, body.data, body.len, NULL);
	assert_memory_equal(lines, "too-large: ", 11);
	assert_non_null(strstr(lines, "t2000 =2001 <u2000>; t1999 ="));
	assert_non_null(strstr(lines, "t1 =2 <u1>"));
	assert_null(strstr(lines, "t0 ="));
	ing_buf_done(&body);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_annotations),
		cmocka_unit_test(go_terms_are_another_part),
		cmocka_unit_test(more_terms_than_there_may_be_are_too_large),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
