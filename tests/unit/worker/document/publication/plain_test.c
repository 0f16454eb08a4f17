/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Plain text of records' values, and identifiers in normal form.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/macros.h"
#include "worker/document/publication/ids.h"
#include "worker/document/publication/plain.h"

static struct ing_arena arena;

static void divides_paragraphs(void **state)
{
	static const struct {
		const char *text, *want; /* NULL: nothing */
	} cases[] = {
		{"", NULL},
		{" \n ", NULL},
		{"<p></p>", NULL},
		{"one", "one"},
		{"one\ntwo", "one two"},
		{"one\n\n\ntwo", "one\n\ntwo"},
		{"<p>one</p><p>two</p>", "one\n\ntwo"},
		{"<jats:title>Aims</jats:title><jats:p>We <jats:italic>do</jats:italic>.</jats:p>",
			"Aims\n\nWe do."},
		{"<h4>Abstract</h4><p>x</p>", "x"},
		{"<h4>ABSTRACT:</h4>", NULL},
		{"<p>x</p><h4>Abstract</h4>", "x\n\nAbstract"},
		{"Abstract art", "Abstract art"},
		{"&lt;h4&gt;A&lt;/h4&gt;b &lt; c", "A\n\nb < c"},
		{"a<br/>b<br />c", "a\n\nb\n\nc"},
		{"a <p and q> b", "a <p and q> b"},
		{"a <p < b", "a <p < b"},
		{"p<0.05", "p<0.05"},
		{"a <P class='x'>b", "a\n\nb"},
		{"a&lt;", "a<"},
		{"a<", "a<"},
		{"<x:", "<x:"},
	};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		size_t bytes = strlen(cases[i].text);
		char *copy = ing_strndup(cases[i].text, bytes);
		const char *got = ing_publication_plain_blocks(&arena, copy, bytes);
		free(copy);
		if (got == NULL ? cases[i].want != NULL
				: cases[i].want == NULL || strcmp(got, cases[i].want) != 0)
			fail_msg("%s: %s", cases[i].text, got != NULL ? got : "NULL");
	}
}

static void identifiers_are_in_normal_form(void **state)
{
	static const struct {
		enum ing_part_key key;
		const char *text, *want;
	} cases[] = {
		{ING_PART_PMID, "123", "123"},
		{ING_PART_PMID, " PMID: 123 ", "123"},
		{ING_PART_PMID, "0123", NULL},
		{ING_PART_PMID, "x", NULL},
		{ING_PART_PMCID, "PMC12", "PMC12"},
		{ING_PART_PMCID, " pmc12\n", "PMC12"},
		{ING_PART_PMCID, "12", "PMC12"},
		{ING_PART_PMCID, "PMC", NULL},
		{ING_PART_PMCID, "PMCPMC1", NULL},
		{ING_PART_PMCID, "12.1", NULL},
		{ING_PART_PMCID, "", NULL},
		{ING_PART_DOI, "10.1/aB(c)<d>%;&", "10.1/AB(C)<D>%;&"},
		{ING_PART_DOI, "DOI:10.1/a", "10.1/A"},
		{ING_PART_DOI, "https://www.doi.org/10.1/a", "10.1/A"},
		{ING_PART_DOI, "11.1/a", NULL},
		{ING_PART_DOI, NULL, NULL},
	};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		const char *got = ing_publication_id(&arena, cases[i].key, cases[i].text);
		if (got == NULL ? cases[i].want != NULL
				: cases[i].want == NULL || strcmp(got, cases[i].want) != 0)
			fail_msg("%s: %s", cases[i].text, got != NULL ? got : "NULL");
	}
}

static void versions_of_a_doi_are_one_work(void **state)
{
	static const struct {
		const char *a, *b;
		bool same;
	} cases[] = {
		{"10.1/A", "10.1/A", true},
		{"10.1/a", "10.1/A", true},
		{"10.1/A", "10.1/B", false},
		{"10.1/A", "10.1/A.1", true},
		{"10.1/A_v12", "10.1/A", true},
		{"10.1/A-2", "10.1/A", true},
		{"10.1/A.123", "10.1/A", false}, /* no version but a paper of an issue */
		{"10.1/A1", "10.1/A", false},
		{"10.1/A.1", "10.1/A.2", false},
		{"10.12688/X.5.1", "10.12688/x.5.2", true},
		{"10.12688/X.5.1", "10.12688/X.6.1", false},
		{"10.1/A", NULL, false},
		{"", "", true},
		{"1", "", false},
	};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++)
		if (ing_publication_same_doi(cases[i].a, cases[i].b) != cases[i].same ||
			ing_publication_same_doi(cases[i].b, cases[i].a) != cases[i].same)
			fail_msg("%s, %s", cases[i].a, cases[i].b);
}

static int make_arena(void **state)
{
	(void)state;
	ing_arena_init(&arena);
	return 0;
}

static int free_arena(void **state)
{
	(void)state;
	ing_arena_done(&arena);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(divides_paragraphs),
		cmocka_unit_test(identifiers_are_in_normal_form),
		cmocka_unit_test(versions_of_a_doi_are_one_work),
	};
	return cmocka_run_group_tests(tests, make_arena, free_arena);
}
