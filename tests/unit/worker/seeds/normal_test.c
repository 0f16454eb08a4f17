/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Normal forms of texts in lists.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "worker/seeds/normal.h"

static const struct {
	enum ing_seed_normal as;
	const char *text, *want; /* want NULL: none */
} cases[] = {
	{ING_SEED_AS_LOWER, "OAI:ArXiv.org:Ä", "oai:arxiv.org:Ä"},
	{ING_SEED_AS_UPPER, "pmc12ä", "PMC12ä"},
	{ING_SEED_AS_DOI, "10.1234/ABC", "10.1234/abc"},
	{ING_SEED_AS_DOI, "https://doi.org/10.1234/ABC%3C1%3E", "10.1234/abc<1>"},
	{ING_SEED_AS_DOI, "http://dx.doi.org/10.1234/a", "10.1234/a"},
	{ING_SEED_AS_DOI, "doi: 10.1234/a", "10.1234/a"},
	{ING_SEED_AS_DOI, "11.1234/a", NULL},
	{ING_SEED_AS_DOI, "10.1234", NULL},
	{ING_SEED_AS_DOI, "10.1234/a b", NULL},
	{ING_SEED_AS_DOI, "", NULL},
	{ING_SEED_AS_ARXIV, "arXiv:0704.0001", "0704.0001"},
	{ING_SEED_AS_ARXIV, "http://arxiv.org/abs/1501.00001v3", "1501.00001v3"},
	{ING_SEED_AS_ARXIV, "https://arxiv.org/pdf/1501.00001.pdf", "1501.00001"},
	{ING_SEED_AS_ARXIV, "oai:arXiv.org:math/0309136", "math/0309136"},
	{ING_SEED_AS_ARXIV, "math.GT/0309136V2", "math.GT/0309136v2"},
	{ING_SEED_AS_ARXIV, "hep-th/9901001", "hep-th/9901001"},
	{ING_SEED_AS_ARXIV, "0704.1", NULL},
	{ING_SEED_AS_ARXIV, "0704.0001v", NULL},
	{ING_SEED_AS_ARXIV, "/0309136", NULL},
	{ING_SEED_AS_ARXIV, "math/030913", NULL},
	{ING_SEED_AS_ARXIV, "0704.000123", NULL},
	{ING_SEED_AS_PMID, "PMID: 12345", "12345"},
	{ING_SEED_AS_PMID, "https://pubmed.ncbi.nlm.nih.gov/12345/", "12345"},
	{ING_SEED_AS_PMID, "012", NULL},
	{ING_SEED_AS_PMID, "12x", NULL},
	{ING_SEED_AS_PMCID, "12345", "PMC12345"},
	{ING_SEED_AS_PMCID, "pmc12345", "PMC12345"},
	{ING_SEED_AS_PMCID, "PMC12345.2", "PMC12345"},
	{ING_SEED_AS_PMCID, "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC12345/", "PMC12345"},
	{ING_SEED_AS_PMCID, "PMC", NULL},
	{ING_SEED_AS_PMCID, "PMC0", NULL},
	{ING_SEED_AS_PMCID, "PMC1.", "PMC1"},
	{ING_SEED_AS_PMCID, "PMC1.x", NULL},
	{ING_SEED_AS_URL, " HTTP://Example.org:80/a b ", "http://example.org/a%20b"},
	{ING_SEED_AS_URL, "example.org", NULL},
	{ING_SEED_AS_DATE, "2020-02-03", "2020-02-03"},
	{ING_SEED_AS_DATE, "2020-02-03T04:05:06.789Z", "2020-02-03T04:05:06Z"},
	{ING_SEED_AS_DATE, "2020-02-03 04:05:06", "2020-02-03T04:05:06Z"},
	{ING_SEED_AS_DATE, "2020-02-03T04:05:06+00:00", "2020-02-03T04:05:06Z"},
	{ING_SEED_AS_DATE, "2020-02-03T04:05:06+02:00", "2020-02-03"},
	{ING_SEED_AS_DATE, "2020-13-03", NULL},
	{ING_SEED_AS_DATE, "2020-02", NULL},
	{ING_SEED_AS_DATE, "03/02/2020", NULL},
	{ING_SEED_AS_TIME, "2020-02-03", "2020-02-03T00:00:00Z"},
	{ING_SEED_AS_TIME, "2020-02-03 04:05:06", "2020-02-03T04:05:06Z"},
	{ING_SEED_AS_TIME, "2020", NULL},
	{ING_SEED_AS_SHA1, "DA39A3EE5E6B4B0D3255BFEF95601890AFD80709",
		"da39a3ee5e6b4b0d3255bfef95601890afd80709"},
	{ING_SEED_AS_SHA1, "da39", NULL},
	{ING_SEED_AS_SHA1, "ga39a3ee5e6b4b0d3255bfef95601890afd80709", NULL},
	{ING_SEED_AS_SLUG, " Journal Article, (new) ", "journal-article-new"},
	{ING_SEED_AS_SLUG, "!?", NULL},
	{ING_SEED_AS_ID, "doi:10.1234/A", "10.1234/a"},
	{ING_SEED_AS_ID, "pmc12", "PMC12"},
	{ING_SEED_AS_ID, "PMCx", "PMCx"},
	{ING_SEED_AS_ID, "OAI:A:1", "oai:a:1"},
	{ING_SEED_AS_ID, "Other", "Other"},
	{ING_SEED_AS_TEXT, "Any Text", "Any Text"},
};

static void texts_get_their_normal_form(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_buf got;
		ing_buf_init(&got, 10000);
		bool has =
			ing_seed_normalise(cases[i].as, cases[i].text, strlen(cases[i].text), &got);
		if (has != (cases[i].want != NULL) ||
			(has && strcmp(ing_buf_str(&got), cases[i].want) != 0))
			fail_msg("%s of \"%s\": %s, wanted %s", ing_seed_normal_names[cases[i].as],
				cases[i].text, has ? ing_buf_str(&got) : "none",
				cases[i].want != NULL ? cases[i].want : "none");
		ing_buf_done(&got);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_get_their_normal_form),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
