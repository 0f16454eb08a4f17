/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Identifiers and addresses as people write them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/arena.h"
#include "common/base/error.h"
#include "worker/publication/assembly.h"

static const struct {
	const char *text;
	const char *want; /* "pmid pmcid doi url", "-" for none; NULL: invalid */
} cases[] = {
	{"123", "123 - - -"},
	{" 123\n", "123 - - -"},
	{"PMID:123", "123 - - -"},
	{"pmid: 123", "123 - - -"},
	{"PMID 123", "123 - - -"},
	{"PMC123", "- PMC123 - -"},
	{"pmc123", "- PMC123 - -"},
	{"PMCID: PMC123", "- PMC123 - -"},
	{"10.1/x", "- - 10.1/X -"},
	{"DOI:10.1093/nar/gkw199", "- - 10.1093/NAR/GKW199 -"},
	{"doi: 10.1/x", "- - 10.1/X -"},
	{"https://www.doi.org/10.1/x", "- - 10.1/X -"},
	{"http://dx.doi.org/10.1/a%28b%29", "- - 10.1/A(B) -"},
	{"10.1002/(SICI)1097-0142(19960401)77:7<1356::AID-CNCR20>3.0.CO;2-#",
		"- - 10.1002/(SICI)1097-0142(19960401)77:7<1356::AID-CNCR20>3.0.CO;2-# -"},
	{"10.1/a%b&c+d;e", "- - 10.1/A%B&C+D;E -"},
	{"https://pubmed.ncbi.nlm.nih.gov/123/", "123 - - -"},
	{"https://pubmed.ncbi.nlm.nih.gov/?term=123", "123 - - -"},
	{"https://www.ncbi.nlm.nih.gov/pubmed/123", "123 - - -"},
	{"http://www.ncbi.nlm.nih.gov/pubmed/?term=123", "123 - - -"},
	{"https://www.ncbi.nlm.nih.gov/pmc/articles/PMC123/", "- PMC123 - -"},
	{"https://www.ncbi.nlm.nih.gov/pmc/articles/PMC123/pdf/x.pdf", "- PMC123 - -"},
	{"https://pmc.ncbi.nlm.nih.gov/articles/PMC123/", "- PMC123 - -"},
	{"https://pmc.ncbi.nlm.nih.gov/articles/pmid/123/", "123 - - -"},
	{"https://europepmc.org/article/MED/123", "123 - - -"},
	{"https://europepmc.org/abstract/MED/123", "123 - - -"},
	{"https://europepmc.org/article/PMC/PMC123", "- PMC123 - -"},
	{"http://europepmc.org/articles/PMC123?pdf=render", "- PMC123 - -"},
	{"https://europepmc.org/backend/ptpmcrender.fcgi?accid=PMC123&blobtype=pdf",
		"- PMC123 - -"},
	{"arXiv:2101.00001v2", "- - 10.48550/ARXIV.2101.00001 -"},
	{"https://arxiv.org/abs/2101.00001", "- - 10.48550/ARXIV.2101.00001 -"},
	{"https://arxiv.org/pdf/math/0211159v1.pdf", "- - 10.48550/ARXIV.MATH/0211159 -"},
	{"https://press.test/a?b#c", "- - - https://press.test/a?b#c"},
	{"https://www.ncbi.nlm.nih.gov/gene/1", "- - - https://www.ncbi.nlm.nih.gov/gene/1"},
	{"123\tPMC123\t10.1/x", "123 PMC123 10.1/X -"},
	{"123 10.1/x", "123 - 10.1/X -"},
	{"123 456", NULL},
	{"", NULL},
	{"0123", NULL},
	{"PMC", NULL},
	{"12a", NULL},
	{"10.1", NULL},
	{"ftp://press.test/a", NULL},
	{"words of a title", NULL},
};

static const char *shown(const char *s)
{
	return s != NULL ? s : "-";
}

static void people_write_identifiers_in_many_ways(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_arena ar;
		struct ing_error err = {0};
		struct ing_assembly_request r = {0};
		char got[1000];
		ing_arena_init(&ar);
		int rc = ing_assembly_parse_id(cases[i].text, &ar, &r, &err);
		snprintf(got, sizeof(got), "%s %s %s %s", shown(r.pmid), shown(r.pmcid),
			shown(r.doi), shown(r.url));
		ing_arena_done(&ar);
		if (cases[i].want == NULL && rc != -ING_FAIL_INVALID)
			fail_msg("\"%s\" is %s", cases[i].text, got);
		if (cases[i].want != NULL && (rc != 0 || strcmp(got, cases[i].want) != 0))
			fail_msg("\"%s\" is %s", cases[i].text, got);
		if (rc == 0)
			assert_int_equal(r.only, ING_PUBLICATION_RESOURCES_);
	}
}

static void a_url_that_nobody_asks_for_is_invalid(void **state)
{
	(void)state;
	static char url[10000] = "https://press.test/";
	struct ing_arena ar;
	struct ing_assembly_request r = {0};
	memset(url + strlen(url), 'a', sizeof(url) - strlen(url) - 1);
	ing_arena_init(&ar);
	assert_int_equal(ing_assembly_parse_id(url, &ar, &r, NULL), -ING_FAIL_INVALID);
	url[8192] = '\0';
	assert_int_equal(ing_assembly_parse_id(url, &ar, &r, NULL), 0);
	ing_arena_done(&ar);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(people_write_identifiers_in_many_ways),
		cmocka_unit_test(a_url_that_nobody_asks_for_is_invalid),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
