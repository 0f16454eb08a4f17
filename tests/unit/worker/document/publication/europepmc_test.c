/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Europe PMC's search: which of its records is taken, and what is read of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/macros.h"
#include "found_helper.h"

#define ANSWER(results)                                                                              \
	"<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?><responseWrapper><version>6.9" \
	"</version><hitCount>1</hitCount><request><queryString>x</queryString><resultType>core"      \
	"</resultType></request><resultList>" results "</resultList></responseWrapper>"
#define RESULT(source, more) "<result><id>1</id><source>" source "</source>" more "</result>"
#define IDS(pmid, pmcid, doi) "<pmid>" pmid "</pmid><pmcid>" pmcid "</pmcid><doi>" doi "</doi>"
#define TITLE(s) "<title>" s "</title>"
#define ABSTRACT(s) "<abstractText>" s "</abstractText>"

static const struct reading_case cases[] = {
	{"a whole record",
		ANSWER(RESULT("MED",
			IDS("27095192", "PMC4987867", "10.1093/nar/gkw199") TITLE(
				"On "
				"things.") "<authorString>Bee A, Dee C.</authorString><authorList><author>"
					   "<fullName>Bee A</fullName><firstName>Anna B</firstName><lastName>Bee</lastName>"
					   "<initials>AB</initials><authorId type=\"ORCID\">0000-0002-1825-0097</authorId>"
					   "<authorAffiliationDetailsList><authorAffiliation><affiliation>Inst, Town. Electronic "
					   "address: a.bee@x.example.</affiliation></authorAffiliation></authorAffiliationDetailsList>"
					   "</author><author><fullName>Dee C</fullName><firstName>C</firstName><lastName>Dee"
					   "</lastName><affiliation>Town</affiliation></author><author><collectiveName>The Group"
					   "</collectiveName></author></authorList><journalInfo><issue>1</issue><journal><title>"
					   "Nucleic acids research</title><ISOAbbreviation>NAR</ISOAbbreviation></journal>"
					   "</journalInfo><pubYear>2016</pubYear>" ABSTRACT(
						   "Text.") "<keywordList><keyword>One"
							    "</keyword><keyword> two </keyword><keyword>One</keyword><keyword/></keywordList>"
							    "<meshHeadingList><meshHeading><majorTopic_YN>N</majorTopic_YN><descriptorName>Humans"
							    "</descriptorName></meshHeading><meshHeading><majorTopic_YN>Y</majorTopic_YN>"
							    "<descriptorName>Software</descriptorName><meshQualifierList><meshQualifier>"
							    "<abbreviation>ST</abbreviation><qualifierName>standards</qualifierName><majorTopic_YN>"
							    "N</majorTopic_YN></meshQualifier></meshQualifierList></meshHeading></meshHeadingList>"
							    "<commentCorrectionList><commentCorrection><id>99</id><source>MED</source>"
							    "</commentCorrection></commentCorrectionList>"
							    "<isOpenAccess>Y</isOpenAccess><inEPMC>Y</inEPMC><hasPDF>Y</hasPDF><license>cc by"
							    "</license><citedByCount>12</citedByCount><hasTextMinedTerms>Y</hasTextMinedTerms>"
							    "<firstPublicationDate>2016-04-19</firstPublicationDate>")),
		"pmid europepmc 27095192\npmcid europepmc PMC4987867\ndoi europepmc 10.1093/NAR/GKW199\n"
		"title europepmc On things.\nkeywords europepmc One; two\n"
		"mesh europepmc Humans; Software*\nabstract europepmc Text.\n"
		"author Anna B Bee, https://orcid.org/0000-0002-1825-0097, a.bee@x.example *\n"
		"author C Dee\nauthor The Group\njournal Nucleic acids research\ndate 2016-04-19\n"
		"licence cc by\ncited 12\noa\nhas-xml\nhas-mined\nhas-pdf\nin-epmc\n",
		{.pmid = "27095192"}},
	{"a preprint that nobody may have here",
		ANSWER(RESULT("PPR",
			"<doi>10.1101/X</doi><isOpenAccess>N</isOpenAccess><inEPMC>N</inEPMC>"
			"<citedByCount>0</citedByCount>")),
		"doi europepmc 10.1101/X\ncited 0\npreprint\n", {.doi = "10.1101/X"}},
	{"tags in the title",
		ANSWER(RESULT("MED", "<pmid>1</pmid>" TITLE(
					     "&lt;i&gt;E. coli&lt;/i&gt; K&lt;sub&gt;2"
					     "&lt;/sub&gt;O, p &lt; 0.05 &amp;amp; <i>more</i>."))),
		"pmid europepmc 1\ntitle europepmc E. coli K2O, p < 0.05 & more.\n", {0}},
	{"headings in the abstract are paragraphs",
		ANSWER(RESULT("MED",
			ABSTRACT("&lt;h4&gt;Background&lt;/h4&gt;We &lt;i&gt;did&lt;/i&gt; a &lt; "
				 "b. &lt;h4&gt;Results&lt;/h4&gt;Good."))),
		"abstract europepmc Background\n\nWe did a < b.\n\nResults\n\nGood.\n", {0}},
	{"and so are those that are elements",
		ANSWER(RESULT("MED",
			ABSTRACT(
				"<h4>Background</h4>We <i>did</i>\n it.<h4>Results</h4><p>Good.</p>"))),
		"abstract europepmc Background\n\nWe did it.\n\nResults\n\nGood.\n", {0}},
	{"a heading that says abstract is none",
		ANSWER(RESULT("MED", ABSTRACT("&lt;h4&gt;Abstract&lt;/h4&gt;Good."))),
		"abstract europepmc Good.\n", {0}},
	{"no results", ANSWER(""), "no-record: no results\n", {.doi = "10.1/X"}},
	{"something else", "<errors><e/></errors>", "bad-answer: <errors> is no list of results\n",
		{0}},

	{"one record, of another paper",
		ANSWER(RESULT("MED", IDS("2", "PMC2", "10.1/B") TITLE("No"))),
		"wrong-record: none of 1 records has PMID 1\n", {.pmid = "1"}},
	{"one record that agrees in one identifier and not in another",
		ANSWER(RESULT("MED", IDS("1", "PMC2", "10.1/B"))),
		"wrong-record: none of 1 records has DOI 10.1/A\n", {.pmid = "1", .doi = "10.1/A"}},
	{"the record that agrees, though it comes last",
		ANSWER(RESULT("MED", IDS("2", "PMC1", "10.1/A"))
				RESULT("MED", IDS("3", "PMC1", "10.1/A"))
					RESULT("PPR", IDS("1", "PMC1", "10.1/A") TITLE("This"))),
		"pmid europepmc 1\npmcid europepmc PMC1\ndoi europepmc 10.1/A\ntitle europepmc This\n"
		"preprint\n",
		{.pmid = "1", .doi = "10.1/A"}},
	{"of several that agree the one of MEDLINE",
		ANSWER(RESULT("AGR", TITLE("agr")) RESULT("PPR", TITLE("ppr")) RESULT("MED",
			TITLE("med")) RESULT("MED", TITLE("med 2")) RESULT("PMC", TITLE("pmc"))),
		"title europepmc med\n", {.doi = "10.1/A"}},
	{"else that of PMC",
		ANSWER(RESULT("AGR", TITLE("agr")) RESULT("PPR", TITLE("ppr"))
				RESULT("PMC", TITLE("pmc"))),
		"title europepmc pmc\n", {0}},
	{"else the first", ANSWER(RESULT("AGR", TITLE("a")) RESULT("PAT", TITLE("b"))),
		"title europepmc a\n", {0}},
	{"several that all contradict what is known",
		ANSWER(RESULT("MED", "<doi>10.1/B</doi>") RESULT("PMC", "<doi>10.1/C</doi>")),
		"wrong-record: none of 2 records has DOI 10.1/A\n", {.doi = "10.1/A"}},

	{"a PMCID without its prefix", ANSWER(RESULT("PMC", "<pmcid>12</pmcid>")),
		"pmcid europepmc PMC12\n", {.pmcid = "PMC12"}},
	{"a DOI in another case and with a resolver",
		ANSWER(RESULT("MED", "<doi>https://doi.org/10.1/aB</doi>")),
		"doi europepmc 10.1/AB\n", {.doi = "10.1/Ab"}},
	{"another version of an F1000 paper",
		ANSWER(RESULT("MED", "<doi>10.12688/f1000research.5.1</doi>")),
		"doi europepmc 10.12688/F1000RESEARCH.5.1\n",
		{.doi = "10.12688/F1000RESEARCH.5.2"}},
	{"another F1000 paper", ANSWER(RESULT("MED", "<doi>10.12688/f1000research.6.1</doi>")),
		"wrong-record: none of 1 records has DOI 10.12688/F1000RESEARCH.5.2\n",
		{.doi = "10.12688/F1000RESEARCH.5.2"}},
	{"a version at the end", ANSWER(RESULT("PPR", "<doi>10.1/A.v2</doi>")),
		"doi europepmc 10.1/A.V2\npreprint\n", {.doi = "10.1/A"}},
	{"two versions of what need not have any", ANSWER(RESULT("MED", "<doi>10.1/a.1</doi>")),
		"wrong-record: none of 1 records has DOI 10.1/A.2\n", {.doi = "10.1/A.2"}},
	{"identifiers that are none", ANSWER(RESULT("MED", IDS("x", "PMCx", "11.1/a") TITLE("T"))),
		"title europepmc T\n", {.pmid = "1"}},

	{"only what is wanted, and identifiers",
		ANSWER(RESULT("MED", "<pmid>1</pmid>" TITLE("T") ABSTRACT("A"))),
		"pmid europepmc 1\nabstract europepmc A\n", {.parts = 1u << ING_PART_ABSTRACT}},
	{"a count that is no number",
		ANSWER(RESULT("MED", TITLE("T") "<citedByCount>many</citedByCount>")),
		"title europepmc T\n", {0}},
	{"names",
		ANSWER(RESULT("MED",
			"<authorList><author><lastName>Bee</lastName></author><author>"
			"<fullName>Dee C</fullName><affiliation>c@x.example</affiliation></author><author>"
			"<lastName>Eff</lastName><affiliation>Here</affiliation><affiliation>e@x.example, "
			"e2@x.example</affiliation></author><author/></authorList>")),
		"author Bee\nauthor Dee C\nauthor Eff, e@x.example *\n", {0}},
	{"an ORCID iD with a wrong check digit",
		ANSWER(RESULT("MED",
			"<authorList><author><lastName>Bee</lastName><authorId type='ORCID'>"
			"0000-0002-1825-0098</authorId></author></authorList>")),
		"author Bee\n", {0}},
};

static void reads_a_record(void **state)
{
	(void)state;
	check_readings(
		ING_READ_EUROPEPMC, ING_PART_TYPE_EUROPEPMC, NULL, cases, ING_ARRAY_LEN(cases));
}

static void what_is_no_xml_is_a_bad_answer(void **state)
{
	(void)state;
	const struct ing_publication_ask ask = {
		.reader = ING_READ_EUROPEPMC, .type = ING_PART_TYPE_EUROPEPMC};
	static const char *const bodies[] = {"", "{}", "<html><p>Busy</html>", ANSWER("<result>")};
	for (size_t i = 0; i < ING_ARRAY_LEN(bodies); i++)
		assert_memory_equal(
			read_lines(&ask, bodies[i], strlen(bodies[i]), NULL), "bad-answer: ", 12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_a_record),
		cmocka_unit_test(what_is_no_xml_is_a_bad_answer),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
