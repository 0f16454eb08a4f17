/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Identifiers: what is one, what is none, and how they stand in text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "worker/scrape/biblio/ident.h"

enum kind { DOI, DOI_UPPER, DOI_IN, PMID, PMID_IN, PMCID, PMCID_IN, ISSN, ISBN, ORCID };

#define SICI "10.1002/(SICI)1097-0142(19960401)77:7<1356::AID-CNCR20>3.0.CO;2-#"

static const struct {
	enum kind kind;
	const char *text;
	const char *want; /* NULL: none */
} cases[] = {
	{DOI, "10.1/x", "10.1/x"},
	{DOI, " 10.7554/eLife.44753\n", "10.7554/eLife.44753"},
	{DOI_UPPER, "10.7554/eLife.44753", "10.7554/ELIFE.44753"},
	{DOI_UPPER, "10.1/\xc3\xa9x", "10.1/\xc3\xa9X"},
	{DOI, "doi:10.1/x", "10.1/x"},
	{DOI, "DOI:10.1/x", "10.1/x"},
	{DOI, "doi: 10.1/x", "10.1/x"},
	{DOI, "DOI 10.1/x", "10.1/x"},
	{DOI, "info:doi/10.1/x", "10.1/x"},
	{DOI, "urn:doi:10.1/x", "10.1/x"},
	{DOI, "http://doi.org/10.1/x", "10.1/x"},
	{DOI, "https://dx.doi.org/10.1/x", "10.1/x"},
	{DOI, "HTTPS://DOI.ORG/10.1/x", "10.1/x"},
	{DOI, "https://www.doi.org/10.1/x", "10.1/x"},
	{DOI, "//doi.org/10.1/x", "10.1/x"},
	{DOI, "doi.org/10.1/x", "10.1/x"},
	{DOI, "https://doi.org/doi:10.1/x", "10.1/x"},
	{DOI, "doi:https://doi.org/10.1/x", "10.1/x"},
	{DOI, "https://doi.org/10.1016%2Fj.x.2019.04.001?via%3Dihub", "10.1016/j.x.2019.04.001"},
	{DOI, "https://doi.org/10.1016/j.x%28a%29#sec1", "10.1016/j.x(a)"},
	{DOI, "10.1016%2Fj.x", NULL},
	{DOI, SICI, SICI},
	{DOI, "10.1000.10/123", "10.1000.10/123"},
	{DOI, "10.a/x", "10.a/x"},
	{DOI, "10.1/", NULL},
	{DOI, "10./x", NULL},
	{DOI, "10.1", NULL},
	{DOI, "11.1/x", NULL},
	{DOI, "10.1/a b", NULL},
	{DOI, "10.1/a\tb", NULL},
	{DOI,
		"10.1/a\xc2\xa0"
		"b",
		NULL},
	{DOI, "10.1/a\x01", "10.1/a"},
	{DOI, "10.1/\xff", NULL},
	{DOI, "https://doi.org/10.1/%ff%00", NULL},
	{DOI, "https://example.org/10.1/x", NULL},
	{DOI, "", NULL},
	{DOI, "doi:", NULL},

	{DOI_IN, "10.1/x.", "10.1/x."},
	{DOI_IN, "See doi:10.1371/journal.pone.0213978.", "10.1371/journal.pone.0213978"},
	{DOI_IN, "(doi: 10.1/x(1)y)", "10.1/x(1)y"},
	{DOI_IN, "[DOI 10.1/x], next", "10.1/x"},
	{DOI_IN, "doi::\xc2\xa0 10.1/x; and", "10.1/x"},
	{DOI_IN, "Cite as: https://doi.org/10.1234/abc-5, 2019", "10.1234/abc-5"},
	{DOI_IN, "at <https://doi.org/10.1234/abc%20>", "10.1234/abc"},
	{DOI_IN, "<https://doi.org/10.1234/abc>", "10.1234/abc"},
	{DOI_IN, "doi:" SICI " etc.", SICI},
	{DOI_IN,
		"\xe2\x80\x9c"
		"doi:10.1/x\xe2\x80\x9d",
		"10.1/x"},
	{DOI_IN, "doi\xef\xbc\x9a", NULL},
	{DOI_IN, "doing it, doi:10.1/x", "10.1/x"},
	{DOI_IN, "Journal 12 (2019) 10.1234/jx.12 online", "10.1234/jx.12"},
	{DOI_IN, "version 10.12/3", NULL},
	{DOI_IN, "110.1234/5", NULL},
	{DOI_IN, "doi:10.1/... doi:10.2/b", "10.2/b"},
	{DOI_IN, "no identifier", NULL},
	{DOI_IN, "10.1234/a b", "10.1234/a"},

	{PMID, "30995449", "30995449"},
	{PMID, " 1 ", "1"},
	{PMID, "0123", NULL},
	{PMID, "12a", NULL},
	{PMID, "", NULL},
	{PMID, "1234567890123456789012", NULL},
	{PMID_IN, "30995449", "30995449"},
	{PMID_IN, "PMID: 30995449 [PubMed]", "30995449"},
	{PMID_IN, "pmid\xc2\xa0:: 7", "7"},
	{PMID_IN, "PMID: none, pmid:8", "8"},
	{PMID_IN, "30995449 is it", NULL},

	{PMCID, "PMC6474656", "PMC6474656"},
	{PMCID, "pmc6474656", "PMC6474656"},
	{PMCID, "PMC0", NULL},
	{PMCID, "6474656", NULL},
	{PMCID, "PMC1x", NULL},
	{PMCID_IN, "PMCID: pmc6474656.", "PMC6474656"},
	{PMCID_IN, "see PMC6474656", NULL},

	{ISSN, "1932-6203", "1932-6203"},
	{ISSN, "19326203", "1932-6203"},
	{ISSN, "ISSN: 2050-084x", "2050-084X"},
	{ISSN, "https://portal.issn.org/resource/ISSN/1396-0466", "1396-0466"},
	{ISSN,
		"1932\xe2\x80\x93"
		"6203",
		"1932-6203"},
	{ISSN, "1234-5678", NULL},
	{ISSN, "1234-5678, 1932-6203 (online)", "1932-6203"},
	{ISSN, "01932-6203", NULL},
	{ISSN, "1932-62030", NULL},

	{ISBN, "978-3-16-148410-0", "9783161484100"},
	{ISBN, "urn:isbn:9783161484100", "9783161484100"},
	{ISBN, "ISBN 0-306-40615-2 (hbk)", "9780306406157"},
	{ISBN, "0 8044 2957 X", "9780804429573"},
	{ISBN, "978-3-16-148410-1", NULL},
	{ISBN, "1234567890123", NULL},
	{ISBN, "97831614841001234567", NULL},

	{ORCID, "https://orcid.org/0000-0002-1825-0097", "0000-0002-1825-0097"},
	{ORCID, "http://www.orcid.org/0000-0001-5109-3700/", "0000-0001-5109-3700"},
	{ORCID, "0000-0002-1694-233x", "0000-0002-1694-233X"},
	{ORCID, "0000000218250097", "0000-0002-1825-0097"},
	{ORCID, "0000-0002-1825-0098", NULL},
	{ORCID, "1825-0097", NULL},
};

static bool find(enum kind kind, const char *s, size_t n, struct ing_buf *b)
{
	switch (kind) {
	case DOI:
		return ing_ident_doi(s, n, false, b);
	case DOI_UPPER:
		return ing_ident_doi(s, n, true, b);
	case DOI_IN:
		return ing_ident_doi_in(s, n, b);
	case PMID:
		return ing_ident_pmid(s, n, b);
	case PMID_IN:
		return ing_ident_pmid_in(s, n, b);
	case PMCID:
		return ing_ident_pmcid(s, n, b);
	case PMCID_IN:
		return ing_ident_pmcid_in(s, n, b);
	case ISSN:
		return ing_ident_issn(s, n, b);
	case ISBN:
		return ing_ident_isbn13(s, n, b);
	case ORCID:
		return ing_ident_orcid(s, n, b);
	}
	return false;
}

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ing_buf b;
		ing_buf_init(&b, 4096);
		size_t n = strlen(cases[i].text);
		char *exact = malloc(n + 1); /* a copy without slack, so that overruns are seen */
		assert_non_null(exact);
		memcpy(exact, cases[i].text, n);
		char *shrunk = realloc(exact, n == 0 ? 1 : n);
		assert_non_null(shrunk);
		bool found = find(cases[i].kind, shrunk, n, &b);
		const char *want = cases[i].want == NULL ? "" : cases[i].want;
		if (found != (cases[i].want != NULL) || strcmp(ing_buf_str(&b), want) != 0)
			fail_msg("kind %d \"%s\": \"%s\", not \"%s\"", (int)cases[i].kind,
				cases[i].text, ing_buf_str(&b), want);
		free(shrunk);
		ing_buf_done(&b);
	}
}

/* Texts made of the beginnings of identifiers: each kind ends soon, and finds nothing. */
static void test_hostile(void **state)
{
	static const char *const pieces[] = {"doi:", "doi:10.1/", "doi 10.", "10.1234/", "10.",
		"pmid: ", "PMCID:PMC", "1", "1-", "0000-", "doi.org/10.1/%20", "((((", "x"};
	static char text[1 << 18];
	(void)state;
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		size_t piece = strlen(pieces[i]), n = 0;
		for (; n + piece <= sizeof(text); n += piece)
			memcpy(text + n, pieces[i], piece);
		for (enum kind kind = DOI; kind <= ORCID; kind++) {
			struct ing_buf b;
			ing_buf_init(&b, 4096);
			bool found = find(kind, text, n, &b);
			assert_true(found || b.len == 0);
			ing_buf_done(&b);
		}
	}
}

/* A buffer that is too small leaves nothing behind. */
static void test_small_buffer(void **state)
{
	struct ing_buf b;
	(void)state;
	ing_buf_init(&b, 4);
	assert_false(ing_ident_doi("10.1234/x", 9, false, &b));
	assert_int_equal(b.len, 0);
	ing_buf_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_small_buffer),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
