/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Full text XML as an answer: which article it is, who wrote it, what becomes of a large one. Its parts have tests
 * of their own (document/xml).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "common/base/macros.h"
#include "found_helper.h"

#define SET(s)                                                                                     \
	"<?xml version='1.0'?><!DOCTYPE pmc-articleset><pmc-articleset>" s "</pmc-articleset>"
#define META(s) "<article><front><article-meta>" s "</article-meta></front></article>"
#define ID(type, s) "<article-id pub-id-type='" type "'>" s "</article-id>"
#define CONTRIB(attrs, given, surname, more)                                                       \
	"<contrib " attrs "><name><surname>" surname "</surname><given-names>" given               \
	"</given-names></name>" more "</contrib>"

static const struct reading_case cases[] = {
	{"a whole article, in a set",
		SET("<article article-type='research-article'><front><journal-meta><journal-title-group>"
		    "<journal-title>J</journal-title></journal-title-group><publisher><publisher-name>P"
		    "</publisher-name></publisher></journal-meta><article-meta>" ID("pmid", "5") ID(
			    "pmc", "7") ID("doi", "10.1/a") ID("manuscript",
			    "NIHMS1") "<title-group><article-title>T</article-title></title-group><contrib-group>" CONTRIB("contrib-type='author'",
			    "A.", "Bee",
			    "<contrib-id contrib-id-type='orcid'>"
			    "https://orcid.org/0000-0002-1825-0097</contrib-id>") CONTRIB("contrib-type='author' corresp='yes'",
			    "C.", "Dee", "") CONTRIB("contrib-type='editor'", "E.", "Eff",
			    "") "<contrib contrib-type='author'><collab>The Group</collab></contrib></contrib-group>"
				"<author-notes><corresp>Mail: d@x.example, phone 012 345</corresp></author-notes>"
				"<pub-date><year>2020</year><month>2</month><day>3</day></pub-date><permissions>"
				"<license xlink:href='https://creativecommons.org/licenses/by/4.0/'><license-p>x"
				"</license-p></license></permissions><abstract><p>A</p></abstract><kwd-group><kwd>k"
				"</kwd></kwd-group></article-meta></front><body><p>B</p></body><back><ref-list><ref>"
				"<pub-id pub-id-type='pmid'>9</pub-id></ref></ref-list></back></article>"),
		"pmid pmc_xml 5\npmcid pmc_xml PMC7\ndoi pmc_xml 10.1/A\ntitle pmc_xml T\n"
		"keywords pmc_xml k\nabstract pmc_xml A\nfulltext pmc_xml T\n\nA\n\nB\n"
		"author A. Bee, https://orcid.org/0000-0002-1825-0097\n"
		"author C. Dee, d@x.example, 012 345 *\nauthor The Group\n"
		"journal J\ndate 2020-02-03\nlicence https://creativecommons.org/licenses/by/4.0/\n"
		"publisher P\noa\nmanuscript\n",
		{.pmcid = "PMC7"}},
	{"the licence's reference, or its words",
		META("<permissions><license><ali:license_ref>https://l/</ali:license_ref><license-p>words"
		     "</license-p></license></permissions>"),
		"licence https://l/\n", {0}},
	{"the licence's words",
		META("<permissions><license><license-p>Free.</license-p></license>"
		     "</permissions>"),
		"licence Free.\n", {0}},
	{"open by its words",
		META("<permissions><license><license-p>Under the Creative Commons Attribution "
		     "License.</license-p></license></permissions>"),
		"licence Under the Creative Commons Attribution License.\noa\n", {0}},
	{"a preprint", "<article article-type='preprint'/>", "preprint\n", {0}},
	{"with a prefix", "<n:article xmlns:n='u'><n:body><n:p>B</n:p></n:body></n:article>",
		"fulltext pmc_xml B\n", {0}},
	{"a set without articles", SET(""), "no-record: the set has no article\n", {0}},
	{"an error of PMC", SET("<Reply Id='7' error='The following PMCID is not available: 7'/>"),
		"no-record: The following PMCID is not available: 7\n", {0}},
	{"no article", "<book/>", "bad-answer: <book> has no article\n", {0}},
	{"another article",
		META(ID("pmcid", "PMC8") "<title-group><article-title>T</article-title>"
					 "</title-group>"),
		"wrong-record: the article is not that of PMCID PMC7\n", {.pmcid = "PMC7"}},
	{"the right article with a wrong PMID", META(ID("pmcid", "PMC7") ID("pmid", "6")),
		"pmid pmc_xml 6\npmcid pmc_xml PMC7\n", {.pmid = "5", .pmcid = "PMC7"}},
	{"without a PMCID the PMID decides", META(ID("pmid", "6") ID("doi", "10.1/a")),
		"wrong-record: the article is not that of PMID 5\n",
		{.pmid = "5", .pmcid = "PMC7", .doi = "10.1/A"}},
	{"and then the DOI", META(ID("doi", "10.1/b")),
		"wrong-record: the article is not that of DOI 10.1/A\n",
		{.pmid = "5", .doi = "10.1/A"}},
	{"only what is wanted",
		META("<title-group><article-title>T</article-title></title-group>"
		     "<abstract><p>A</p></abstract>" ID("pmid", "1")),
		"pmid pmc_xml 1\ntitle pmc_xml T\n", {.parts = 1u << ING_PART_TITLE}},
};

static void reads_an_article(void **state)
{
	(void)state;
	check_readings(ING_READ_JATS, ING_PART_TYPE_PMC_XML, NULL, cases, ING_ARRAY_LEN(cases));
}

/* Body of so many paragraphs of 1,000 bytes. */
static void make_article(struct ing_buf *b, size_t paragraphs)
{
	char text[1000];
	memset(text, 'x', sizeof(text));
	ing_buf_init(b, (size_t)32 << 20);
	ing_buf_add_str(b, "<article><body>");
	for (size_t i = 0; i < paragraphs; i++) {
		ing_buf_add_str(b, "<p>");
		ing_buf_add(b, text, sizeof(text));
		ing_buf_add_str(b, "</p>");
	}
	ing_buf_add_str(b, "</body></article>");
}

static size_t text_bytes(size_t paragraphs, const char *status)
{
	const struct ing_publication_ask ask = {
		.reader = ING_READ_JATS, .type = ING_PART_TYPE_EUROPEPMC_XML};
	struct ing_publication_found found = {.citations = -1};
	struct ing_buf b;
	make_article(&b, paragraphs);
	const struct ing_publication_body body = {
		.mimetype = "application/jats+xml", .data = b.data, .bytes = b.len};
	ing_publication_read(&ask, &body, &found);
	assert_string_equal(found.status, status);
	assert_int_equal(found.offer_count, 1);
	size_t bytes = strlen(found.offers[0].text);
	ing_publication_found_done(&found);
	ing_buf_done(&b);
	return bytes;
}

static void a_large_article_is_whole_or_said_to_be_cut(void **state)
{
	(void)state;
	assert_int_equal(text_bytes(5000, "success"), 5000 * 1002 - 2);
	assert_int_equal(text_bytes(9000, "too-large"), ING_MAX_PUBLICATION_TEXT_BYTES);
}

static void more_authors_than_there_may_be_are_too_large(void **state)
{
	const struct ing_publication_ask ask = {
		.reader = ING_READ_JATS, .type = ING_PART_TYPE_EUROPEPMC_XML};
	struct ing_buf b;
	(void)state;
	for (unsigned extra = 0; extra < 2; extra++) {
		struct ing_publication_found found = {.citations = -1};
		ing_buf_init(&b, (size_t)8 << 20);
		ing_buf_add_str(&b, "<article><front><article-meta>");
		for (unsigned i = 0; i < ING_MAX_PUBLICATION_AUTHORS + extra; i++)
			ing_buf_printf(&b, "<contrib><collab>%u</collab></contrib>", i);
		ing_buf_add_str(&b, "</article-meta></front></article>");
		const struct ing_publication_body body = {
			.mimetype = "application/jats+xml", .data = b.data, .bytes = b.len};
		ing_publication_read(&ask, &body, &found);
		assert_string_equal(found.status, extra > 0 ? "too-large" : "success");
		assert_int_equal(found.author_count, ING_MAX_PUBLICATION_AUTHORS);
		assert_string_equal(found.authors[5999].name, "5999");
		ing_publication_found_done(&found);
		ing_buf_done(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_an_article),
		cmocka_unit_test(a_large_article_is_whole_or_said_to_be_cut),
		cmocka_unit_test(more_authors_than_there_may_be_are_too_large),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
