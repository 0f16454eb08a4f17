/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * PubMed's records: of one paper with something of everything, and one thing each.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/macros.h"
#include "found_helper.h"

#define SET(articles)                                                                                 \
	"<?xml version=\"1.0\" ?><!DOCTYPE PubmedArticleSet PUBLIC \"-//NLM//DTD PubMedArticle, 1st " \
	"January 2024//EN\" \"https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_240101.dtd\">"           \
	"<PubmedArticleSet>" articles "</PubmedArticleSet>"
#define PAPER(pmid, article, more, data)                                                           \
	"<PubmedArticle><MedlineCitation Status=\"MEDLINE\"><PMID Version=\"1\">" pmid             \
	"</PMID><Article PubModel=\"Print\">" article "</Article>" more "</MedlineCitation>"       \
	"<PubmedData>" data "</PubmedData></PubmedArticle>"
#define ARTICLE(s) SET(PAPER("1", s, "", ""))
#define LIST(ids) "<ArticleIdList>" ids "</ArticleIdList>"
#define ID(type, s) "<ArticleId IdType=\"" type "\">" s "</ArticleId>"
#define DATE(name, s) "<" name ">" s "</" name ">"
#define YMD(y, m, d) "<Year>" y "</Year><Month>" m "</Month><Day>" d "</Day>"

static const struct reading_case cases[] = {
	{"a whole record",
		SET(PAPER("27095192",
			"<Journal><ISSN>1</ISSN><JournalIssue><PubDate><Year>2016</Year><Month>Jul</Month>"
			"</PubDate></JournalIssue><Title>Nucleic acids research</Title></Journal><ArticleTitle>"
			"On <i>E. coli</i> things.</ArticleTitle><ELocationID EIdType=\"doi\">10.1/other"
			"</ELocationID><Abstract><AbstractText Label=\"BACKGROUND\">We <b>did</b>.</AbstractText>"
			"<AbstractText Label=\"RESULTS\">It &lt; that.</AbstractText><CopyrightInformation>C"
			"</CopyrightInformation></Abstract><AuthorList><Author><LastName>Bee</LastName><ForeName>"
			"Anna B</ForeName><Initials>AB</Initials><Identifier Source=\"ORCID\">"
			"http://orcid.org/0000-0002-1825-0097</Identifier><AffiliationInfo><Affiliation>Inst."
			"</Affiliation></AffiliationInfo><AffiliationInfo><Affiliation>Town. a@x.example."
			"</Affiliation></AffiliationInfo></Author><Author><CollectiveName>The Group"
			"</CollectiveName></Author></AuthorList><ArticleDate DateType=\"Electronic\">" YMD(
				"2016", "4", "9") "</ArticleDate>",
			"<MeshHeadingList><MeshHeading><DescriptorName UI=\"D006801\" MajorTopicYN=\"N\">Humans"
			"</DescriptorName></MeshHeading><MeshHeading><DescriptorName UI=\"D012984\" "
			"MajorTopicYN=\"Y\">Software</DescriptorName><QualifierName MajorTopicYN=\"N\">x"
			"</QualifierName></MeshHeading></MeshHeadingList><OtherAbstract><AbstractText>Autre"
			"</AbstractText></OtherAbstract><KeywordList><Keyword>one</Keyword><Keyword>two"
			"</Keyword></KeywordList>",
			LIST(ID("pubmed", "27095192") ID("doi", "10.1093/nar/gkw199")
					ID("pmc", "PMC4987867") ID("pii", "gkw199")))),
		"pmid pubmed_xml 27095192\npmcid pubmed_xml PMC4987867\ndoi pubmed_xml 10.1093/NAR/GKW199\n"
		"title pubmed_xml On E. coli things.\nkeywords pubmed_xml one; two\n"
		"mesh pubmed_xml Humans <D006801>; Software* <D012984>\n"
		"abstract pubmed_xml We did.\n\nIt < that.\n"
		"author Anna B Bee, https://orcid.org/0000-0002-1825-0097, a@x.example *\nauthor The Group\n"
		"journal Nucleic acids research\ndate 2016-04-09\n",
		{.pmid = "27095192"}},
	{"identifiers of references are none of its own",
		SET(PAPER("1", "", "",
			"<ReferenceList><Reference>" LIST(ID("pubmed", "9") ID("doi", "10.9/r") ID(
				"pmc", "PMC9")) "</Reference></ReferenceList>" LIST(ID("pubmed",
				"1")) "<ReferenceList><Reference>" LIST(ID("doi",
				"10.9/s")) "</Reference></ReferenceList>")),
		"pmid pubmed_xml 1\n", {.pmid = "1"}},
	{"without a list the citation's PMID and the article's DOI",
		ARTICLE("<ELocationID EIdType=\"pii\">x</ELocationID><ELocationID EIdType=\"doi\">10.1/a"
			"</ELocationID>"),
		"pmid pubmed_xml 1\ndoi pubmed_xml 10.1/A\n", {0}},
	{"a PMCID without its prefix", SET(PAPER("1", "", "", LIST(ID("pmc", "12")))),
		"pmid pubmed_xml 1\npmcid pubmed_xml PMC12\n", {0}},
	{"the record that was asked for",
		SET(PAPER("1", "<ArticleTitle>A</ArticleTitle>", "", "")
				PAPER("2", "<ArticleTitle>B</ArticleTitle>", "", "")),
		"pmid pubmed_xml 2\ntitle pubmed_xml B\n", {.pmid = "2"}},
	{"another record", SET(PAPER("1", "", "", "")),
		"wrong-record: none of 1 records has PMID 2\n", {.pmid = "2"}},
	{"another DOI is for others to judge", SET(PAPER("1", "", "", LIST(ID("doi", "10.1/b")))),
		"pmid pubmed_xml 1\ndoi pubmed_xml 10.1/B\n", {.pmid = "1", .doi = "10.1/A"}},
	{"no record", SET(""), "no-record: no PubmedArticle\n", {.pmid = "2"}},
	{"a book", SET("<PubmedBookArticle/>"), "no-record: no PubmedArticle\n", {0}},
	{"an error", "<eFetchResult><ERROR>ID list is empty!</ERROR></eFetchResult>",
		"bad-answer: <efetchresult> is no set of articles\n", {0}},
	{"an abstract in another language only",
		SET(PAPER("1", "",
			"<OtherAbstract Language=\"fre\"><AbstractText>Autre</AbstractText>"
			"</OtherAbstract>",
			"")),
		"pmid pubmed_xml 1\nabstract pubmed_xml Autre\n", {0}},
	{"a date without month and day", ARTICLE(DATE("ArticleDate", "<Year>2001</Year>")),
		"pmid pubmed_xml 1\ndate 2001-01-01\n", {0}},
	{"a date that is none", ARTICLE(DATE("ArticleDate", "<Year>01</Year>")),
		"pmid pubmed_xml 1\n", {0}},
	{"the date of the issue, if it has a day",
		ARTICLE("<Journal><JournalIssue>" DATE(
			"PubDate", YMD("1999", "Dec", "31")) "</JournalIssue></Journal>"),
		"pmid pubmed_xml 1\ndate 1999-12-31\n", {0}},
	{"and none, if it has not",
		ARTICLE("<Journal><JournalIssue>" DATE("PubDate",
			"<Year>1999</Year><Month>Dec</Month>") "</JournalIssue></Journal>"),
		"pmid pubmed_xml 1\n", {0}},
	{"a preprint",
		ARTICLE("<PublicationTypeList><PublicationType UI=\"D016428\">Journal Article"
			"</PublicationType><PublicationType UI=\"D000076942\">Preprint</PublicationType>"
			"</PublicationTypeList>"),
		"pmid pubmed_xml 1\npreprint\n", {0}},
	{"an author's family name is needed for an address",
		ARTICLE("<AuthorList><Author><ForeName>A</ForeName><AffiliationInfo><Affiliation>a@x.example"
			"</Affiliation></AffiliationInfo></Author></AuthorList>"),
		"pmid pubmed_xml 1\n", {0}},
	{"only what is wanted",
		ARTICLE("<ArticleTitle>T</ArticleTitle><Abstract><AbstractText>A"
			"</AbstractText></Abstract>"),
		"pmid pubmed_xml 1\ntitle pubmed_xml T\n", {.parts = 1u << ING_PART_TITLE}},
};

static void reads_a_record(void **state)
{
	(void)state;
	check_readings(
		ING_READ_PUBMED_XML, ING_PART_TYPE_PUBMED_XML, NULL, cases, ING_ARRAY_LEN(cases));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_a_record),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
