/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which resources are asked, in which order, and what a publication ends with: one resource at a time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/macros.h"
#include "script.h"

#define SEARCH "pmid=1 pmcid=PMC1 doi=10.1/x title*40 keywords*3 mesh*2 abstract*300 author=A_B "
#define ALL_IDS "pmid:europepmc/1 pmcid:europepmc/PMC1 doi:europepmc/10.1/X "
#define SAID ALL_IDS "title:europepmc/40 keywords:europepmc/3 mesh:europepmc/2 "

static const struct {
	const char *name;
	struct ing_assembly_request request;
	struct script_answer answers[12];
	const char *want_asked, *want_parts;
} cases[] = {
	{"Europe PMC has everything", {.pmid = "1"},
		{{"epmc.test/rest/search", SEARCH "+oa +xml +mined"},
			{"fullTextXML", "fulltext*3000"}, {"Experimental", "efo*2"},
			{"Gene", "go*1"}},
		"europepmc europepmc-xml europepmc-efo europepmc-go ",
		SAID "efo:europepmc/2 go:europepmc/1 abstract:europepmc/300 "
		     "fulltext:europepmc_xml/3000 "},
	{"mined terms are asked by PMID when the PMCID has none", {.pmcid = "PMC1"},
		{{"epmc.test/rest/search", SEARCH "+oa +xml +mined"},
			{"fullTextXML", "fulltext*3000"}, {"PMC%3APMC1&type=Exp", "!no-record"},
			{"MED%3A1&type=Exp", "efo*2"}, {"PMC%3APMC1&type=Gene", "!fail"},
			{"MED%3A1&type=Gene", "go*1"}},
		"europepmc europepmc-xml europepmc-efo europepmc-efo europepmc-go europepmc-go ",
		SAID "efo:europepmc/2 go:europepmc/1 abstract:europepmc/300 "
		     "fulltext:europepmc_xml/3000 "},
	{"no XML and no mined terms, and the publisher's page has the text", {.doi = "10.1/x"},
		{{"epmc.test/rest/search", SEARCH "+oa"}, {"doi.test", "fulltext*3000"}},
		"europepmc pmc-xml doi ", SAID "abstract:europepmc/300 fulltext:doi/3000 "},
	{"the three identifiers are tried in turn", {.pmid = "1", .pmcid = "PMC1", .doi = "10.1/X"},
		{{"ext_id", "!no-record"}, {"pmcid%3APMC1", "!wrong-record"},
			{"doi%3A%2210.1%2FX%22", SEARCH "+oa +xml"},
			{"fullTextXML", "fulltext*3000"}},
		"europepmc europepmc europepmc europepmc-xml ",
		SAID "abstract:europepmc/300 fulltext:europepmc_xml/3000 "},
	{"PubMed gives what Europe PMC has not, and its page only when the XML fails",
		{.pmid = "1", .parts = 1 << ING_PART_TITLE | 1 << ING_PART_MESH},
		{{"efetch.fcgi?retmode=xml&db=pubmed", "!fail"},
			{"pubmed.test", "title*30 mesh*4"}},
		"europepmc pubmed-xml pubmed-html ",
		"pmid:external/1 title:pubmed_html/30 mesh:pubmed_html/4 "},
	{"a further identifier is another round", {.pmid = "1"},
		{{"ext_id", "!no-record"}, {"db=pubmed", "pmid=1 doi=10.1/x title*30 author=A_B"},
			{"search?resulttype=core&format=xml&query=doi", SEARCH "+oa +xml"},
			{"fullTextXML", "fulltext*3000"}},
		"europepmc pubmed-xml pubmed-html doi oadoi crossref datacite europepmc "
		"europepmc-xml ",
		NULL},
	{"a page to begin with", {.url = "https://press.test/a"},
		{{"press.test/a", "doi=10.1/x title*30 author=A_B author=C_D"},
			{"doi%3A%22", SEARCH "+oa +xml"}, {"fullTextXML", "fulltext*3000"}},
		"page europepmc europepmc-xml ", NULL},
};

/* Runs a case; parts: at least 4096 bytes. */
static void run_case(size_t i, enum script_order order, struct script_run *run, char *parts)
{
	struct ing_assembly_request request = cases[i].request;
	request.only = ING_PUBLICATION_RESOURCES_;
	size_t count = 0;
	while (count < ING_ARRAY_LEN(cases[i].answers) && cases[i].answers[count].url != NULL)
		count++;
	script_run(run, &script_settings, &request, cases[i].answers, count, order);
	script_parts(run->assembly, parts, 4096);
	ing_assembly_free(run->assembly);
}

static void the_right_resources_are_asked(void **state)
{
	(void)state;
	bool failed = false;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct script_run run;
		char parts[4096];
		run_case(i, SCRIPT_IN_TURN, &run, parts);
		const char *want_parts = cases[i].want_parts;
		if (strcmp(run.asked, cases[i].want_asked) == 0 &&
			(want_parts == NULL || strcmp(parts, want_parts) == 0))
			continue;
		failed = true;
		print_error("%s:\n  asked %s\n  want  %s\n  parts %s\n  want  %s\n%s",
			cases[i].name, run.asked, cases[i].want_asked, parts,
			want_parts != NULL ? want_parts : "any", run.urls);
	}
	assert_false(failed);
}

/* Side by side the same resources are asked, and the same comes out, whichever answers first. */
static void the_order_of_answers_changes_nothing(void **state)
{
	(void)state;
	unsigned most = 0;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct script_run in_turn, together, reversed;
		char parts[3][4096];
		run_case(i, SCRIPT_IN_TURN, &in_turn, parts[0]);
		run_case(i, SCRIPT_TOGETHER, &together, parts[1]);
		run_case(i, SCRIPT_REVERSED, &reversed, parts[2]);
		assert_string_equal(parts[0], parts[1]);
		assert_string_equal(parts[0], parts[2]);
		if (strlen(in_turn.asked) != strlen(together.asked) ||
			strlen(in_turn.asked) != strlen(reversed.asked))
			fail_msg("%s: %s/ %s/ %s", cases[i].name, in_turn.asked, together.asked,
				reversed.asked);
		most = ING_MAX(most, reversed.most_at_once);
	}
	assert_true(most >= 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_right_resources_are_asked),
		cmocka_unit_test(the_order_of_answers_changes_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
