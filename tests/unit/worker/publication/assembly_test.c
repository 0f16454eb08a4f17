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
			{"doi%3A10.1%2FX", SEARCH "+oa +xml"}, {"fullTextXML", "fulltext*3000"}},
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
			{"query=doi", SEARCH "+oa +xml"}, {"fullTextXML", "fulltext*3000"}},
		"page europepmc europepmc-xml ", NULL},
	{"of two texts without rules the longer one stays", {.doi = "10.1/x"},
		{{"doi.test", "title*30 fulltext*2500@webpage link=https://a.test/1@link_citation"},
			{"a.test/1", "fulltext*2600@webpage link=https://b.test/2@link_citation"},
			{"b.test/2", "fulltext*100@webpage"}, {"unpaywall", "+oa"},
			{"crossref", "author=A_B"}},
		"europepmc doi oadoi crossref doaj link link ",
		"doi:external/10.1/X title:doi/30 fulltext:webpage/2600 "},
	{"a PDF beats a text without rules, however short, and a page's rules any of them",
		{.doi = "10.1/x", .parts = 1 << ING_PART_FULLTEXT},
		{{"doi.test", "fulltext*5000@webpage link=https://a.test/1@pdf_doi"},
			{"a.test/1", "fulltext*30"}, {"unpaywall", "+oa"}},
		"europepmc doi oadoi crossref datacite doaj link ",
		"doi:external/10.1/X fulltext:pdf_doi/30 "},
	{"a full text that is too short does not keep PDFs away", {.pmid = "1"},
		{{"search", SEARCH "+oa +xml"}, {"fullTextXML", "fulltext*1000"},
			{"doi.test", "fulltext*500 link=https://a.test/1@pdf_doi"},
			{"a.test/1", "fulltext*9000"}},
		"europepmc europepmc-xml pmc-xml doi oadoi crossref datacite doaj link ",
		SAID "abstract:europepmc/300 fulltext:pdf_doi/9000 "},
	{"a PDF is not fetched for keywords, and no page of a host that was visited",
		{.pmid = "1",
			.parts = ~(1u << ING_PART_MESH | 1u << ING_PART_EFO | 1u << ING_PART_GO) &
				 ((1u << ING_PARTS_) - 1)},
		{{"search",
			 "pmid=1 pmcid=PMC1 doi=10.1/x title*40 abstract*300 author=A_B +oa +xml"},
			{"fullTextXML", "fulltext*3000"},
			{"doi.test", "final=https://a.test/0 link=https://a.test/1@pdf_doi "
				     "link=https://a.test/2@link_citation "
				     "link=https://b.test/3@link_citation"}},
		"europepmc europepmc-xml pmc-xml doi link ", NULL},
	{"an identifier in Unpaywall's addresses stays with its type, one of a <meta> element is "
	 "upgraded",
		{.doi = "10.1/x", .parts = (1u << ING_PART_MESH) - 1},
		{{"ext_id", "!no-record"}, {"query=doi", "!no-record"},
			{"query=pmcid", "pmid=7 pmcid=PMC5 doi=10.1/X title*40 author=A_B"},
			{"unpaywall",
				"+oa link=https://www.ncbi.nlm.nih.gov/pmc/articles/PMC5/@link_oadoi"},
			{"doi.test", "link=https://pubmed.ncbi.nlm.nih.gov/7/@link_citation"}},
		"europepmc doi oadoi crossref datacite europepmc europepmc pmc-xml ",
		"pmid:europepmc/7 pmcid:link_oadoi/PMC5 doi:europepmc/10.1/X title:europepmc/40 "},
	{"an identifier that was given is not replaced by one in a link",
		{.pmid = "1", .doi = "10.1/x", .parts = 1 << ING_PART_TITLE},
		{{"doi.test", "title*30 link=https://europepmc.org/article/MED/2@link"}},
		"europepmc europepmc pubmed-xml pubmed-html doi crossref datacite ",
		"pmid:external/1 doi:external/10.1/X title:doi/30 "},
	{"PMC and Europe PMC are not followed as links",
		{.doi = "10.1/x", .parts = 1 << ING_PART_FULLTEXT},
		{{"doi.test", "link=https://pmc.ncbi.nlm.nih.gov/articles/PMC1/pdf/a.pdf@pdf_doi "
			      "link=https://www.europepmc.org/articles/PMC1?pdf=render@pdf_doi "
			      "link=https://doi.org/10.1/Y@link_doi"},
			{"unpaywall", "+oa"}},
		"europepmc doi oadoi crossref datacite doaj europepmc pmc-xml ", NULL},
	{"the publisher is not asked for an identifier alone", {.pmcid = "PMC1"},
		{{"search",
			 "pmcid=PMC1 doi=10.1/x title*40 keywords*3 mesh*2 efo*1 go*1 abstract*300 "
			 "author=A_B +oa +xml"},
			{"fullTextXML", "fulltext*3000"}},
		"europepmc europepmc-xml pmc-xml ", NULL},
	{"unless nothing else is wanted", {.doi = "10.1/x", .parts = 1 << ING_PART_PMID},
		{{"doi.test", "pmid=9@citation"}, {"ext_id%3A9", "!no-record"}},
		"europepmc doi europepmc pubmed-xml pubmed-html ",
		"pmid:citation/9 doi:external/10.1/X "},
	{"Unpaywall's title is better than that of a page without rules",
		{.doi = "10.1/x", .parts = 1 << ING_PART_TITLE},
		{{"doi.test", "title*50@webpage"}, {"unpaywall", "title*20 +oa"},
			{"crossref", "author=A_B"}},
		"europepmc doi oadoi crossref ", "doi:external/10.1/X title:oadoi/20 "},
	{"and worse than that of a <meta> element", {.doi = "10.1/x", .parts = 1 << ING_PART_TITLE},
		{{"doi.test", "title*50@og"}, {"unpaywall", "title*20 +oa"}},
		"europepmc doi oadoi crossref datacite ", "doi:external/10.1/X title:og/50 "},
	{"<meta> elements are no better than the link, and give no keywords behind Unpaywall's",
		{.doi = "10.1/x", .parts = 1 << ING_PART_TITLE | 1 << ING_PART_KEYWORDS},
		{{"unpaywall", "+oa link=https://a.test/1@link_oadoi"},
			{"doi.test", "link=https://b.test/1@link_eprints"},
			{"b.test/1", "title*50@citation keywords*4@citation"},
			{"a.test/1", "title*60@og keywords*6@citation"}},
		"europepmc doi oadoi crossref datacite link link ",
		"doi:external/10.1/X title:link_eprints/50 keywords:link_eprints/4 "},
	{"an author's manuscript is read from PMC's page, and its own PDF",
		{.pmcid = "PMC1", .parts = 1 << ING_PART_FULLTEXT},
		{{"db=pmc", "+manuscript"},
			{"pmc.test",
				"fulltext*900 "
				"link=https://pmc.ncbi.nlm.nih.gov/articles/PMC1/pdf/a.pdf@pdf_pmc"},
			{"articles/PMC1/pdf", "fulltext*5000"}},
		"europepmc pmc-xml pmc-html link ", "pmcid:external/PMC1 fulltext:pdf_pmc/5000 "},
	{"DataCite is asked for DOIs that Crossref has not",
		{.doi = "10.1/x", .parts = 1 << ING_PART_TITLE},
		{{"crossref", "!no-record"}, {"datacite", "title*20"}},
		"europepmc doi oadoi crossref datacite ", "doi:external/10.1/X title:datacite/20 "},
	{"and not because Crossref is away", {.doi = "10.1/x", .parts = 1 << ING_PART_TITLE},
		{{"crossref", "!fail"}}, "europepmc doi oadoi crossref ", "doi:external/10.1/X "},
	{"arXiv is asked for its own, and Crossref is not",
		{.doi = "10.48550/arXiv.2101.00001", .parts = 1 << ING_PART_TITLE},
		{{"arxiv.test/api/query?id_list=2101.00001", "title*20 author=A_B"}},
		"europepmc doi oadoi datacite arxiv ",
		"doi:external/10.48550/ARXIV.2101.00001 title:arxiv/20 "},
	{"medRxiv is asked for what bioRxiv has not",
		{.doi = "10.1101/2020.01.01.20000001", .parts = 1 << ING_PART_TITLE},
		{{"biorxiv.test/details/biorxiv", "!no-record"},
			{"biorxiv.test/details/medrxiv/10.1101/2020.01.01.20000001",
				"title*20 +preprint author=A_B"}},
		"europepmc doi oadoi crossref datacite biorxiv biorxiv ",
		"doi:external/10.1101/2020.01.01.20000001 title:biorxiv/20 "},
	{"a journal of the same publisher is no preprint",
		{.doi = "10.1101/gr.1", .parts = 1 << ING_PART_TITLE}, {{"crossref", "title*20"}},
		"europepmc doi oadoi crossref ", "doi:external/10.1101/GR.1 title:crossref/20 "},
	{"a version of an identifier is no other one",
		{.doi = "10.1/x", .parts = 1 << ING_PART_TITLE},
		{{"doi.test", "doi=10.1/X.2 title*30"}}, "europepmc doi crossref datacite ",
		"doi:doi/10.1/X title:doi/30 "},
	{"an identifier that turns out to be another empties everything at once", {.doi = "10.1/x"},
		{{"search?resulttype=core&format=xml&query=doi%3A10.1%2FX", "!no-record"},
			{"doi.test/10.1/X",
				"pmid=3@citation doi=10.1/y title*30 keywords*9 abstract*250 "
				"cited=99 journal=Wrong link=https://a.test/wrong@link"},
			{"ext_id%3A3", "pmid=3 pmcid=PMC3 doi=10.1/y title*44 keywords*3 mesh*2 "
				       "abstract*300 author=A_B +oa +xml"},
			{"PMC3/fullTextXML", "fulltext*3000"}},
		"europepmc doi europepmc europepmc-xml ",
		"pmid:europepmc/3 pmcid:europepmc/PMC3 doi:doi/10.1/Y title:europepmc/44 "
		"keywords:europepmc/3 mesh:europepmc/2 abstract:europepmc/300 "
		"fulltext:europepmc_xml/3000 "},
	{"what contradicted the former identifiers is asked for again, what did not is used again",
		{.pmid = "1", .doi = "10.1/x", .parts = 1 << ING_PART_TITLE | 1 << ING_PART_MESH},
		{{"query=doi", "!no-record"}, {"db=pubmed", "pmid=1 doi=10.1/y title*20 mesh*3"},
			{"ext_id", "!wrong-record"}},
		"europepmc europepmc pubmed-xml europepmc europepmc crossref datacite ",
		"pmid:pubmed_xml/1 doi:pubmed_xml/10.1/Y title:pubmed_xml/20 mesh:pubmed_xml/3 "},
	{"DOAJ is asked for what is open access and has no text",
		{.doi = "10.1/x", .parts = 1 << ING_PART_FULLTEXT},
		{{"unpaywall", "+oa"}, {"doaj", "link=https://a.test/1@pdf_doaj"},
			{"a.test/1", "fulltext*2000"}},
		"europepmc doi oadoi crossref datacite doaj link ",
		"doi:external/10.1/X fulltext:pdf_doaj/2000 "},
	{"and not for what is not", {.doi = "10.1/x", .parts = 1 << ING_PART_FULLTEXT},
		{{"unpaywall", "+not-oa"}}, "europepmc doi oadoi crossref datacite ",
		"doi:external/10.1/X "},
	{"parts that nobody wants are not asked for",
		{.pmid = "1", .parts = 1 << ING_PART_ABSTRACT},
		{{"search", SEARCH "+oa +xml +mined"}}, "europepmc ",
		ALL_IDS "abstract:europepmc/300 "},
	{"a page with rules is not visited again for keywords at a host that was",
		{.doi = "10.1/x", .parts = 1 << ING_PART_KEYWORDS},
		{{"doi.test", "final=https://a.test/0 link=https://a.test/1@link "
			      "link=https://b.test/2@link_oadoi"}},
		"europepmc doi ", "doi:external/10.1/X "},
	{"the best link is first, those of one type in their order",
		{.doi = "10.1/x", .parts = 1 << ING_PART_FULLTEXT},
		{{"doi.test", "link=https://a.test/1@pdf_citation link=https://a.test/2@pdf_doi "
			      "link=http://a.test/3#x@pdf_doi link=https://a.test/3@link_citation"},
			{"a.test/3", "fulltext*2500@link_citation"}},
		"europepmc doi oadoi crossref datacite link ",
		"doi:external/10.1/X fulltext:link_citation/2500 "},
	{"one resource alone, whatever its conditions",
		{.pmid = "1", .pmcid = "PMC1", .only = ING_PUBLICATION_RESOURCE_GO},
		{{"MED%3A1", "go*2"}}, "europepmc-go europepmc-go ",
		"pmid:external/1 pmcid:external/PMC1 go:europepmc/2 "},
	{"one resource that has no identifier to go by",
		{.pmid = "1", .only = ING_PUBLICATION_RESOURCE_DOI}, {{"", ""}}, "",
		"pmid:external/1 "},
};

/* Runs a case; parts: at least 4096 bytes. */
static void run_case(size_t i, enum script_order order, struct script_run *run, char *parts)
{
	struct ing_assembly_request request = cases[i].request;
	if (request.only == 0) /* the table's default, and no case's */
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
		/* What is under way when an identifier changes was asked for in vain. */
		bool changed = strstr(cases[i].name, "turns out to be another") != NULL;
		if (!changed && (strlen(in_turn.asked) != strlen(together.asked) ||
					strlen(in_turn.asked) != strlen(reversed.asked)))
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
