/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Bibliographic records: each field's sources and their order, values as templates write them,
 * pages built as the large platforms build theirs, and pages made to hurt.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "common/base/utf8.h"
#include "view_helper.h"
#include "worker/model/limits.h"
#include "worker/scrape/biblio/biblio.h"

#define M(name, content) "<meta name=\"" name "\" content=\"" content "\">\n"
#define P(name, content) "<meta property=\"" name "\" content=\"" content "\">\n"
#define I(name, content) "<meta itemprop=\"" name "\" content=\"" content "\">\n"

static struct view_helper helper;

struct page_case {
	const char *name;
	const char *page;
	const char *want; /* JSON object: keys that must be so; ' for " */
};

static const struct page_case fields[] = {
	{"nothing", "<p>words", "{'title': null, 'contribs': null, 'release_year': null}"},

	/* order of sources, and what counts as a value */
	{"title, first source", M("dc.title", "D") M("citation_title", "C"), "{'title': 'C'}"},
	{"title, empty passes on", M("citation_title", " ") M("DC.Title", "D"), "{'title': 'D'}"},
	{"title, second element", M("citation_title", "") M("citation_title", "B"),
		"{'title': 'B'}"},
	{"title, Open Graph as property", P("og:title", "O"), "{'title': 'O'}"},
	{"title, Open Graph as name", M("og:title", "O"), "{'title': 'O'}"},
	{"title, Open Graph before DC", P("og:title", "O") M("dcterms.title", "D"),
		"{'title': 'O'}"},
	{"title, case and colon", M("DC:TITLE", "D"), "{'title': 'D'}"},
	{"title in the body", "<body><div>" M("citation_title", "C"), "{'title': 'C'}"},
	{"subtitle", M("prism.subtitle", "S"), "{'subtitle': 'S'}"},
	{"abstract", P("og:description", "O") M("dc.description", "D"), "{'abstract': 'D'}"},
	{"journal", M("prism.publicationName", "P") P("og:site_name", "O"),
		"{'container_name': 'P', 'container_abbrev': null}"},
	{"conference", M("citation_conference_title", "Proc. X"),
		"{'container_name': 'Proc. X', 'release_type': 'paper-conference'}"},
	{"bepress",
		M("bepress_citation_journal_title", "J") M("bepress_citation_firstpage", "3") M(
			"bepress_citation_doi", "doi:10.1/b") M("bepress_citation_author", "A, B"),
		"{'container_name': 'J', 'first_page': '3', 'doi': '10.1/b',"
		" 'contrib_names': ['A, B']}"},
	{"pages", M("prism.startingPage", "12") M("dc.citation.epage", "19"),
		"{'first_page': '12', 'last_page': '19'}"},
	{"volume and issue", M("citation_volume", "5") M("prism.issueIdentifier", "2"),
		"{'volume': '5', 'issue': '2'}"},
	{"number", M("citation_technical_report_number", "TR-7"),
		"{'number': 'TR-7', 'release_type': 'report'}"},
	{"publisher", M("citation_publisher", "Pub &amp; Co"), "{'publisher': 'Pub & Co'}"},
	{"language", P("og:locale", "en_US"), "{'lang': 'en_US'}"},

	/* identifiers */
	{"doi", M("citation_doi", "10.1/x"), "{'doi': '10.1/x'}"},
	{"doi with a resolver", M("citation_doi", "https://dx.doi.org/10.1/x"),
		"{'doi': '10.1/x'}"},
	{"doi, prefix and blank", M("citation_doi", "doi: 10.1/x "), "{'doi': '10.1/x'}"},
	{"doi, bad one passed over", M("citation_doi", "none") M("prism.doi", "doi:10.1/p"),
		"{'doi': '10.1/p'}"},
	{"doi by name", M("DOI", "10.1045/may2017-x"), "{'doi': '10.1045/may2017-x'}"},
	{"doi by id", "<meta id=DOI content=10.1/i>", "{'doi': '10.1/i'}"},
	{"doi by scheme",
		M("dc.identifier", "x") "<meta name=dc.identifier scheme=DOI content=10.1/s>",
		"{'doi': '10.1/s', 'raw_identifiers': ['x', '10.1/s']}"},
	{"doi among identifiers",
		M("dc.identifier", "http://x.example/1") M("dc.identifier", "doi:10.1/r"),
		"{'doi': '10.1/r', 'raw_identifiers': ['http://x.example/1', 'doi:10.1/r']}"},
	{"isbn", M("citation_isbn", "978-3-16-148410-0"),
		"{'isbn': '978-3-16-148410-0', 'isbn13': '9783161484100'}"},
	{"isbn among identifiers", M("DCTERMS.identifier", "urn:isbn:9783161484100"),
		"{'isbn': '9783161484100', 'isbn13': '9783161484100'}"},
	{"isbn that is none", M("prism.isbn", "123"), "{'isbn': '123', 'isbn13': null}"},
	{"issn", M("citation_issn", "ISSN 19326203"), "{'container_issn': '1932-6203'}"},
	{"issn that is none", M("citation_issn", "1234-5678"), "{'container_issn': '1234-5678'}"},
	{"pmid, pmcid", M("citation_pmid", " 30995449 ") M("citation_pmcid", "PMC6474656"),
		"{'pmid': '30995449', 'pmcid': 'PMC6474656'}"},
	{"pmid that is none", M("citation_pmid", "abc"), "{'pmid': null}"},

	/* dates */
	{"date", M("citation_publication_date", "2020/09/10"),
		"{'release_date': '2020-09-10', 'release_year': 2020, 'raw_date': '2020/09/10'}"},
	{"month first", M("citation_date", "10/11/2012"), "{'release_date': '2012-10-11'}"},
	{"day first where it must", M("citation_date", "13/11/2012"),
		"{'release_date': '2012-11-13'}"},
	{"year only", M("citation_publication_date", "2003"),
		"{'release_date': null, 'release_year': 2003, 'raw_date': '2003'}"},
	{"year and month", M("citation_publication_date", "2003-05"),
		"{'release_date': null, 'release_year': 2003}"},
	{"year completed by a date that agrees",
		M("citation_publication_date", "2018") M("citation_online_date", "2018/02/13"),
		"{'release_date': '2018-02-13', 'raw_date': '2018'}"},
	{"year not completed by another",
		M("citation_publication_date", "2018/03") M("citation_online_date", "2018/02/13"),
		"{'release_date': null, 'release_year': 2018}"},
	{"no date passed over", M("citation_date", "in press") M("dc.date", "2011-01-02"),
		"{'release_date': '2011-01-02', 'raw_date': '2011-01-02'}"},
	{"no date at all", M("citation_date", "in press"),
		"{'release_date': null, 'release_year': null, 'raw_date': 'in press'}"},
	{"published as property", P("article:published_time", "2019-04-22T10:00:00Z"),
		"{'release_date': '2019-04-22'}"},
	{"published as item", I("datePublished", "2019-04-22"), "{'release_date': '2019-04-22'}"},
	{"year as item", I("citation_year", "2015"), "{'release_year': 2015}"},
	{"copyright year as item", I("prism:copyrightYear", "2016"), "{'release_year': 2016}"},
	{"bad year loses nothing", I("citation_year", "soon") M("citation_title", "T"),
		"{'release_year': null, 'title': 'T'}"},

	/* types */
	{"type", M("citation_article_type", "Research Article"),
		"{'release_type': 'article-journal', 'raw_release_type': 'Research Article'}"},
	{"type of OJS", M("DC.Type", "Text.Serial.Journal"), "{'release_type': 'article-journal'}"},
	{"type of repositories", M("DC.type", "info:eu-repo/semantics/doctoralThesis"),
		"{'release_type': 'thesis'}"},
	{"unknown type kept raw", M("dc.type", "Oddity"),
		"{'release_type': null, 'raw_release_type': 'Oddity'}"},
	{"second type known", M("citation_article_type", "Oddity") M("dc.type", "Dataset"),
		"{'release_type': 'dataset', 'raw_release_type': 'Dataset'}"},
	{"type by what there is", M("citation_dissertation_institution", "U"),
		"{'release_type': 'thesis', 'publisher': 'U'}"},

	/* values */
	{"markup of formatting",
		M("citation_title", "On &lt;i&gt;E. coli&lt;/i&gt; CO&lt;sub&gt;2&lt;/sub&gt;"),
		"{'title': 'On E. coli CO2'}"},
	{"markup escaped twice", M("citation_title", "On &amp;lt;em&amp;gt;x&amp;lt;/em&amp;gt;"),
		"{'title': 'On x'}"},
	{"paragraphs of JATS", M("citation_abstract", "<jats:p>One.</jats:p><jats:p>Two.</jats:p>"),
		"{'abstract': 'One. Two.'}"},
	{"a less-than sign", M("citation_title", "p < 0.05 and a <b and c> d"),
		"{'title': 'p < 0.05 and a <b and c> d'}"},
	{"escaped too often",
		M("citation_journal_title", "A &amp;amp; B &amp;#8211; C &amp;eacute;"),
		"{'container_name': 'A & B \xe2\x80\x93 C \xc3\xa9'}"},
	{"no reference", M("citation_title", "AT&amp;T &amp;nosuch; &amp;#xD800; &amp;"),
		"{'title': 'AT&T &nosuch; &#xD800; &'}"},
	{"white space",
		M("citation_title", " a\n\t b\xc2\xa0 c\xe2\x80\x8b"
				    "d \xe3\x80\x80"),
		"{'title': 'a b cd'}"},
	{"control characters", M("citation_title", "a&#1;b&#x85;c"),
		"{'title': 'a b\xe2\x80\xa6"
		"c'}"},

	/* lists */
	{"authors in order", M("citation_author", "B, C") M("x", "y") M("citation_author", "A"),
		"{'contrib_names': ['B, C', 'A']}"},
	{"authors with their details",
		M("citation_author_institution", "nobody's") M("citation_author", "Roe, Jane") M(
			"citation_author_institution", "U 1") M("citation_author_institution",
			"U 2") M("citation_author_orcid", "https://orcid.org/0000-0002-1825-0097")
			M("citation_author", "Max Muster")
				M("citation_author_email", "m@x.example"),
		"{'contribs': [{'name': 'Roe, Jane', 'given_name': 'Jane', 'surname': 'Roe',"
		" 'orcid': '0000-0002-1825-0097', 'affiliations': ['U 1', 'U 2'], 'email': null},"
		" {'name': 'Max Muster', 'given_name': null, 'surname': null, 'orcid': null,"
		" 'affiliations': [], 'email': 'm@x.example'}]}"},
	{"authors as one list", M("citation_authors", "Roe, Jane; Muster, Max"),
		"{'contrib_names': ['Roe, Jane', 'Muster, Max']}"},
	{"profiles are no names", P("article:author", "https://f.example/x") M("dc.creator", "A"),
		"{'contrib_names': ['A']}"},
	{"personal names", M("DC.Creator.PersonalName", "A") M("DC.Contributor", "B"),
		"{'contrib_names': ['A']}"},
	{"keywords", M("citation_keywords", "b; a, c;b") M("citation_keywords", "d"),
		"{'keywords': ['b', 'a, c', 'd']}"},
	{"keywords by comma", M("keywords", "x, y ,,z"), "{'keywords': ['x', 'y', 'z']}"},
	{"references",
		M("citation_reference", "One &amp;amp; two")
			M("citation_reference", "citation_title=T;citation_author=A"),
		"{'raw_references': ['One & two', 'citation_title=T;citation_author=A']}"},
	{"licence, an address first",
		M("DC.Rights", "Copyright 2020 X")
			M("DC.Rights", "https://creativecommons.org/licenses/by/4.0"),
		"{'license': 'https://creativecommons.org/licenses/by/4.0'}"},
	{"licence in words", M("DC.Rights", "Copyright 2020 X"), "{'license': 'Copyright 2020 X'}"},
};

/* Pages built as platforms build them. */
static const struct page_case platforms[] = {
	{"PLOS",
		M("citation_abstract", "Bees &lt;i&gt;do&lt;/i&gt; it.") M(
			"keywords", "Bees,Birds") M("citation_doi",
			"10.1371/journal.pone.0999999") M("citation_author",
			"Ada Ant") M("citation_author_institution",
			"Inst A, Rome") M("citation_author",
			"Bob Bee") M("citation_author_institution",
			"Inst B, Oslo") M("citation_author_institution",
			"Inst A, Rome") M("citation_title",
			"Bees in cities") M("citation_journal_title",
			"PLOS ONE") M("citation_journal_abbrev", "PLOS ONE") M("citation_date",
			"Apr 22, 2019") M("citation_firstpage", "e0999999") M("citation_issue",
			"4") M("citation_volume", "14") M("citation_issn", "1932-6203")
			M("citation_publisher", "Public Library of Science") M(
				"citation_article_type", "Research Article") M("citation_reference",
				"citation_title=Hives;citation_author=Q Queen;"
				"citation_publication_date=2001;")
				P("og:title", "Bees in cities | PLOS ONE") P("og:type", "article"),
		"{'title': 'Bees in cities', 'doi': '10.1371/journal.pone.0999999',"
		" 'abstract': 'Bees do it.', 'container_name': 'PLOS ONE',"
		" 'container_abbrev': 'PLOS ONE', 'container_issn': '1932-6203', 'volume': '14',"
		" 'issue': '4', 'first_page': 'e0999999', 'last_page': null,"
		" 'publisher': 'Public Library of Science', 'release_type': 'article-journal',"
		" 'release_date': '2019-04-22', 'release_year': 2019, 'raw_date': 'Apr 22, 2019',"
		" 'contrib_names': ['Ada Ant', 'Bob Bee'], 'keywords': ['Bees', 'Birds'],"
		" 'raw_references': ['citation_title=Hives;citation_author=Q Queen;"
		"citation_publication_date=2001;']}"},
	{"eLife",
		M("dc.title", "A study of mice") M("dc.identifier", "doi:10.7554/eLife.99999") M(
			"dc.date", "2019-04-18") M("dc.language", "en") M("dc.rights",
			"\xc2\xa9 2019 Ant et al. CC BY") M("dc.description", "Mice run.")
			M("dc.contributor", "Ada Ant") M("dc.contributor", "Bob Bee") P(
				"og:site_name", "eLife") M("citation_title", "A study of mice")
				M("citation_doi", "10.7554/eLife.99999") M("citation_journal_title",
					"eLife") M("citation_publication_date", "2019/04/18")
					M("citation_author", "Ada Ant") M("citation_author_orcid",
						"http://orcid.org/0000-0002-1825-0097")
						M("citation_author", "Bob Bee"),
		"{'title': 'A study of mice', 'doi': '10.7554/eLife.99999', 'lang': 'en',"
		" 'release_date': '2019-04-18', 'contrib_names': ['Ada Ant', 'Bob Bee'],"
		" 'container_name': 'eLife', 'raw_identifiers': ['doi:10.7554/eLife.99999']}"},
	{"PeerJ",
		M("citation_title", "Open access") M("citation_date", "2018-02-13") M(
			"citation_doi", "10.7717/peerj.99999") M("citation_language", "en")
			M("citation_firstpage", "e99999") M("citation_volume", "6") M(
				"citation_authors", "Ada Ant; Bob Bee; Cy Cat") M("citation_author",
				"Ada Ant") M("citation_author_institution", "U")
				M("citation_author", "Bob Bee") M("citation_author", "Cy Cat")
					M("citation_publisher", "PeerJ Inc.")
						M("citation_issn", "2167-8359"),
		"{'volume': '6', 'first_page': 'e99999', 'release_date': '2018-02-13',"
		" 'contrib_names': ['Ada Ant', 'Bob Bee', 'Cy Cat'],"
		" 'container_issn': '2167-8359', 'lang': 'en'}"},
	{"a magazine of Springer Nature",
		M("dc.title", "News of the day") M("dc.date", "2020-09-10")
			M("dc.description", "It was good. It was good.") M("dc.creator", "Di Dog")
				M("prism.publicationDate", "2020-09-10") M("prism.publicationName",
					"Nature") M("citation_online_date", "2020/09/10")
					M("citation_article_type", "News") M("DOI",
						"10.1038/d41586-020-99999-z") P("og:title", "News"),
		"{'title': 'News', 'doi': '10.1038/d41586-020-99999-z',"
		" 'release_date': '2020-09-10', 'abstract': 'It was good. It was good.',"
		" 'contrib_names': ['Di Dog'], 'release_type': 'article-newspaper'}"},
	{"OJS 3",
		"<link rel=schema.DC href=http://purl.org/dc/elements/1.1/>" M(
			"DC.Creator.PersonalName", "Ada Ant") M("DC.Creator.PersonalName",
			"Bob Bee") M("DC.Date.created", "2020-09-10") M("DC.Date.issued",
			"2020-09-10") "<meta name=DC.Description xml:lang=en content='Of the net.'>" M("DC.Identifier",
			"10999") M("DC.Identifier.DOI",
			"10.5210/fm.v25i10.99999") "<meta name=DC.Language scheme=ISO639-1 content=en>" M("DC.Rights",
			"Copyright (c) 2020 Monday") M("DC.Rights",
			"http://creativecommons.org/licenses/by/4.0") M("DC.Source",
			"Monday") M("DC.Source.ISSN", "1396-0466") M("DC.Title", "The net")
			M("DC.Type", "Text.Serial.Journal") M("citation_journal_title", "Monday") M(
				"citation_journal_abbrev", "1") M("citation_issn", "1396-0466")
				M("citation_author", "Ada Ant") M("citation_author_institution",
					"Institute of Nets") M("citation_author", "Bob Bee")
					M("citation_title", "The net")
						M("citation_date", "2020/09/10")
							M("citation_doi", "10.5210/fm.v25i10.99999")
								M("citation_language", "en"),
		"{'container_abbrev': '1', 'container_issn': '1396-0466',"
		" 'release_date': '2020-09-10', 'doi': '10.5210/fm.v25i10.99999',"
		" 'release_type': 'article-journal', 'raw_identifiers': ['10999'],"
		" 'license': 'http://creativecommons.org/licenses/by/4.0',"
		" 'contrib_names': ['Ada Ant', 'Bob Bee'], 'abstract': 'Of the net.'}"},
	{"EPrints",
		M("eprints.creators_name", "Ant, Ada") M("eprints.title", "Deep seas")
			M("eprints.type", "thesis") M("eprints.date", "2010-05")
				M("eprints.publication", "U") M("eprints.id_number", "10.1234/ep.5")
					M("eprints.abstract", "Seas."),
		"{'title': 'Deep seas', 'doi': '10.1234/ep.5', 'release_type': 'thesis',"
		" 'release_year': 2010, 'release_date': null, 'contrib_names': ['Ant, Ada']}"},
	{"DSpace",
		M("DC.title", "Data of rain") M("DCTERMS.issued", "2017-03-02") M(
			"DC.type", "Dataset") M("DC.identifier", "http://hdl.handle.net/10999/8888")
			M("DC.creator", "Ant, Ada") M("DC.identifier",
				"https://doi.org/10.5061/dryad.9") M("DC.subject", "rain"),
		"{'doi': '10.5061/dryad.9', 'release_type': 'dataset', 'keywords': ['rain'],"
		" 'release_date': '2017-03-02', 'contribs': [{'name': 'Ant, Ada',"
		" 'given_name': 'Ada', 'surname': 'Ant', 'orcid': null, 'affiliations': [],"
		" 'email': null}]}"},
};

/* JSON with ' for " */
static json_t *parse_want(const char *s)
{
	char *copy = strdup(s);
	assert_non_null(copy);
	for (char *p = copy; *p != '\0'; p++) {
		if (*p == '\'')
			*p = '"';
	}
	json_error_t err;
	json_t *want = json_loads(copy, 0, &err);
	if (want == NULL)
		fail_msg("%s: %s", copy, err.text);
	free(copy);
	return want;
}

static void check_page(const struct page_case *c)
{
	bool any;
	const struct ing_view *v = view_helper_read(
		&helper, c->page, strlen(c->page), "https://journal.example/article/1");
	json_t *got = ing_biblio_json(v, &any), *want = parse_want(c->want), *value;
	const char *key;
	json_object_foreach (want, key, value) {
		const json_t *there = json_object_get(got, key);
		if (there != NULL && json_equal(there, value))
			continue;
		char *text = json_dumps(there, JSON_ENCODE_ANY);
		fail_msg("%s, %s: %s", c->name, key, text == NULL ? "missing" : text);
	}
	bool filled = false;
	json_object_foreach (got, key, value)
		filled = filled || !json_is_null(value);
	assert_int_equal(any, filled);
	json_decref(got);
	json_decref(want);
}

static void test_fields(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		check_page(&fields[i]);
}

static void test_platforms(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(platforms) / sizeof(platforms[0]); i++)
		check_page(&platforms[i]);
}

/* Every key of the contract, in its order, also of an empty page. */
static void test_keys(void **state)
{
	static const char want[] =
		"title subtitle doi pmid pmcid abstract container_name container_abbrev "
		"container_issn isbn isbn13 volume issue number first_page last_page publisher "
		"lang license contrib_names contribs raw_references raw_identifiers keywords "
		"release_type release_date release_year raw_release_type raw_date ";
	struct ing_buf got;
	bool any = true;
	const char *key;
	json_t *value, *o = ing_biblio_json(view_helper_read(&helper, "", 0, NULL), &any);
	(void)state;
	ing_buf_init(&got, 4096);
	assert_false(any);
	json_object_foreach (o, key, value) {
		assert_true(json_is_null(value));
		ing_buf_printf(&got, "%s ", key);
	}
	assert_string_equal(ing_buf_str(&got), want);
	ing_buf_done(&got);
	json_decref(o);
}

static void check_strings(const json_t *value)
{
	const char *key;
	json_t *item;
	size_t i;
	if (json_is_string(value)) {
		assert_true(json_string_length(value) <= ING_MAX_BIBLIO_VALUE);
		assert_true(json_string_length(value) == strlen(json_string_value(value)));
		assert_true(ing_utf8_valid(json_string_value(value), json_string_length(value)));
	}
	json_array_foreach (value, i, item)
		check_strings(item);
	json_object_foreach ((json_t *)(uintptr_t)value, key, item)
		check_strings(item);
}

/* `count` times `piece`: read within time, and the record within its size. */
static void check_flood(const char *front, const char *piece, size_t count, const char *key)
{
	struct ing_buf page;
	bool any;
	ing_buf_init(&page, (size_t)64 << 20);
	ing_buf_add_str(&page, front);
	for (size_t i = 0; i < count; i++)
		ing_buf_add_str(&page, piece);
	ing_buf_add_str(&page, "'>"); /* ends what front began */
	assert_false(page.failed);
	const struct ing_view *v = view_helper_read(&helper, page.data, page.len, NULL);
	clock_t start = clock();
	json_t *o = ing_biblio_json(v, &any);
	assert_true((clock() - start) / CLOCKS_PER_SEC < 10);
	assert_true(any);
	assert_false(json_is_null(json_object_get(o, key)));
	check_strings(o);
	char *text = json_dumps(o, JSON_COMPACT);
	assert_true(strlen(text) <= ING_MAX_BIBLIO_BYTES);
	assert_true(json_array_size(json_object_get(o, key)) <= ING_MAX_BIBLIO_LIST);
	free(text);
	json_decref(o);
	ing_buf_done(&page);
}

static void test_floods(void **state)
{
	static char long_value[1 << 18];
	(void)state;
	check_flood("", M("citation_author", "Roe, Jane"), 20000, "contribs");
	check_flood("", M("citation_reference", "A reference of some \\\"length\\\""), 20000,
		"raw_references");
	check_flood("", M("citation_keywords", "a,b,c,d,e,f,g"), 20000, "keywords");
	check_flood(M("citation_title", "T"), M("citation_title", " "), 20000, "title");
	check_flood(M("citation_author", "A"), M("citation_author_institution", "U"), 20000,
		"contribs");
	check_flood(
		"<meta name=citation_title content='", "<i <b &lt;&amp; \xc3\xa9 ", 20000, "title");
	check_flood("<meta name=citation_date content='2019 ", "\xe2\x82\xac", 30000, "raw_date");
	check_flood("<meta name=citation_title content='12", "\xe2\x82\xac", 30000, "title");
	int n = snprintf(long_value, sizeof(long_value), "<meta name=citation_reference content='");
	memset(long_value + n, '"', sizeof(long_value) - (size_t)n - 3);
	memcpy(long_value + sizeof(long_value) - 3, "'>", 3);
	check_flood("", long_value, 100, "raw_references");
}

static int set_up(void **state)
{
	(void)state;
	view_helper_init(&helper);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	view_helper_done(&helper);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_platforms),
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_floods),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
