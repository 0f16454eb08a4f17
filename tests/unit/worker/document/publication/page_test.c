/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Pages as an examiner reads them for a publication and as web pages: by the rules of their site and
 * without, with walls, with records of somebody else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/base/macros.h"
#include "found_helper.h"
#include "worker/document/document.h"
#include "worker/model/findings.h"
#include "worker/rules/rule_files.h"

#define META(name, value) "<meta name='" name "' content='" value "'>"

static const char journals[] = "journal\\.example/: journal\n"
			       "service\\.example/: pubmed\n"
			       "service\\.example/pmc/: pmc\n"
			       "---\n"
			       "journal:\n"
			       "  title: h1\n"
			       "  keywords: .kwd\n"
			       "  abstract: .abstract\n"
			       "  fulltext: .body\n"
			       "  fulltext_a: a.full\n"
			       "  pdf_a: a.pdf\n"
			       "  corresp_author_names: .corresp\n"
			       "  corresp_author_emails: .corresp + a\n"
			       "pubmed:\n"
			       "  pmid: .pmid\n"
			       "  title: h1\n"
			       "  mesh: button\n"
			       "pmc:\n"
			       "  pmcid: .pmcid\n"
			       "  title: h1\n"
			       "  pdf_a: a.pdf\n"
			       "--- []\n";
static const char webpages[] = "tool\\.example/:\n"
			       "  title: h1\n"
			       "  content: .doc\n"
			       "  license: .licence\n"
			       "  language: ''\n";
static const char links[] = "pdf:\n  - {technique: doc, selector: a.doc}\n"
			    "xml:\n  - {technique: xml, selector: a.xml}\n"
			    "html:\n  - {technique: html, selector: a.html}\n";
static const char sites[] =
	"- {name: hub, page: {host: hub.example}, take: [{url: '/pii/(?<pii>[^/?#]+)'}],\n"
	"   next_url: 'https://article.example/pii/{pii}'}\n"
	"- {name: made, page: {host: made.example}, take: [{url: '/abs/(?<id>[0-9]+)'}],\n"
	"   pdf_url: 'https://made.example/pdf/{id}'}\n";
static const char walls[] = "- {name: robot, title: '^Robot', verdict: captcha, why: a captcha}\n";

static struct ing_document_body body;
static struct ing_findings got;

static void look(
	unsigned want, const struct ing_publication_ask *ask, const char *url, const char *page)
{
	const struct ing_exam_request q = {.url = url,
		.content_type = "text/html; charset=utf-8",
		.want = want,
		.max_body_bytes = 1 << 20,
		.max_scrape_bytes = 1 << 16,
		.publication = ask};
	ing_findings_init(&got);
	ing_document_examine(&q, page, strlen(page), &body, &got);
}

static void done(void)
{
	ing_document_body_done(&body);
	ing_findings_done(&got);
}

#define ARTICLE                                                                                    \
	"<!doctype html><title>Page</title>" META("citation_title", "Meta title")                  \
		META("citation_author", "Byron, Ada") META("citation_author_orcid",                \
			"0000-0002-1825-0097") META("citation_author", "Lee, Bo")                  \
			META("citation_keywords", "m1; m2") META("citation_doi", "10.1/x")

#define LD                                                                                         \
	"<script type=application/ld+json>{\"@type\":\"ScholarlyArticle\","                        \
	"\"headline\":\"LD title\",\"description\":\"LD abstract\",\"keywords\":\"l1, l2\","       \
	"\"sameAs\":\"https://doi.org/10.5555/ld\",\"isPartOf\":{\"@type\":\"Periodical\","        \
	"\"name\":\"J. of LD\",\"issn\":\"0000-0019\"}}</script>"

static const struct page {
	const char *name;
	enum ing_publication_reader reader;
	enum ing_part_type type;
	const char *url, *page, *want;
	unsigned parts;
	const char *pmid, *pmcid;
} pages[] = {
	{.name = "by the rules of its site, then by its metas",
		.type = ING_PART_TYPE_DOI,
		.url = "https://journal.example/1",
		.page = ARTICLE
		"<h1>T &amp;amp; x</h1><p class=abstract>A<p class=body>B</p>"
		"<b class=corresp>Ada Byron</b><a href='mailto:ada@x.org?subject=1'>m</a>"
		"<a class=full href=/1/full>f</a><a class=pdf href=/1.pdf>p</a>" META(
			"citation_pdf_url", "https://journal.example/2.pdf") META("dc.publisher",
			"A Press") META("citation_journal_title",
			"J. of X") META("citation_online_date",
			"2020/05/17") "<link rel=license href='https://creativecommons.org/licenses/by/4.0/'>",
		.want = "doi citation 10.1/X\ntitle doi T &amp; x\nkeywords citation m1; m2\n"
			"abstract doi A\nfulltext doi T &amp; x\n\nA\n\nB\n"
			"link doi https://journal.example/1/full\nlink pdf_doi https://journal.example/1.pdf\n"
			"link pdf_citation https://journal.example/2.pdf\n"
			"author Ada Byron, https://orcid.org/0000-0002-1825-0097, ada@x.org *\n"
			"author Bo Lee\njournal J. of X\ndate 2020-05-17\n"
			"licence https://creativecommons.org/licenses/by/4.0/\npublisher A Press\n"},
	{.name = "its type limits those of metas",
		.type = ING_PART_TYPE_LINK_EPRINTS,
		.url = "https://journal.example/1",
		.page = META("citation_keywords", "a,b") META("dc.title", "D"),
		.want = "title dc D\nkeywords link_eprints a; b\n"},
	{.name = "without rules",
		.type = ING_PART_TYPE_LINK,
		.url = "https://other.example/1",
		.page = "<title>The page</title><nav>n</nav><p>text &amp;lt; 5",
		.want = "title webpage The page\nfulltext webpage text &lt; 5\n"},
	{.name = "what is not wanted is left out",
		.type = ING_PART_TYPE_DOI,
		.url = "https://journal.example/1",
		.page = META("citation_doi", "10.1/x") "<h1>T</h1><p class=abstract>A",
		.parts = 1u << ING_PART_ABSTRACT,
		.want = "doi citation 10.1/X\nabstract doi A\n"},
	{.name = "a heading makes no wall",
		.type = ING_PART_TYPE_DOI,
		.url = "https://journal.example/1",
		.page = ARTICLE "<title>Robot?</title><h1>Robot?</h1>",
		.want = "doi citation 10.1/X\ntitle doi Robot?\nkeywords citation m1; m2\n"
			"author Ada Byron, https://orcid.org/0000-0002-1825-0097\nauthor Bo Lee\n"},
	{.name = "a wall",
		.type = ING_PART_TYPE_DOI,
		.url = "https://other.example/1",
		.page = "<title>Robot?</title><p>Are you one?<a class=doc href=/8.pdf>PDF</a>" META(
			"citation_author", "Lee, Bo"),
		.want = "bad-answer: a wall: a captcha\n"},
	{.name = "a page like a wall that has an article",
		.type = ING_PART_TYPE_DOI,
		.url = "https://other.example/1",
		.page = "<title>Robot?</title><p>text<a class=doc href=/8.pdf>PDF</a>" META(
			"citation_doi", "10.1/x"),
		.want = "doi citation 10.1/X\n"},
	{.name = "JSON-LD of a page without rules",
		.type = ING_PART_TYPE_DOI,
		.url = "https://other.example/1",
		.page = "<title>Page</title>" LD META("og:site_name", "A site"),
		.want = "title webpage Page\ndoi meta 10.5555/LD\ntitle meta LD title\n"
			"abstract meta LD abstract\nkeywords meta l1; l2\njournal J. of LD\n"},
	{.name = "of one that Unpaywall names, which has a title",
		.type = ING_PART_TYPE_LINK_OADOI,
		.url = "https://other.example/1",
		.page = META("dc.title", "D") LD,
		.want = "title dc D\ndoi meta 10.5555/LD\nabstract meta LD abstract\n"
			"journal J. of LD\n"},
	{.name = "of one with rules only the identifier counts",
		.type = ING_PART_TYPE_DOI,
		.url = "https://journal.example/1",
		.page = "<h1>T</h1>" LD,
		.want = "title doi T\ndoi meta 10.5555/LD\njournal J. of LD\n"},
	{.name = "a site's name is no journal",
		.type = ING_PART_TYPE_DOI,
		.url = "https://other.example/1",
		.page = META("og:site_name", "A site") META("og:title", "T"),
		.want = "title og T\n"},
	{.name = "links that links.yaml knows",
		.type = ING_PART_TYPE_LINK_OADOI,
		.url = "https://other.example/1",
		.page = "<title>Page</title><a class=doc href=/8.pdf>PDF</a><a class=xml href=/8.xml>X</a>"
			"<a class=html href=/1>H</a>",
		.want = "title webpage Page\nfulltext webpage PDFXH\n"
			"link link_oadoi https://other.example/8.xml\n"
			"link pdf_oadoi https://other.example/8.pdf\n"},
	{.name = "a PDF that the page names itself needs no more",
		.type = ING_PART_TYPE_DOI,
		.url = "https://other.example/1",
		.page = META("citation_pdf_url", "/7.pdf") "<a class=doc href=/8.pdf>PDF</a>",
		.want = "fulltext webpage PDF\nlink pdf_citation https://other.example/7.pdf\n"},
	{.name = "the next page on the way",
		.type = ING_PART_TYPE_DOI,
		.url = "https://hub.example/retrieve/pii/S1",
		.page = "<title>Redirecting</title>",
		.want = "title webpage Redirecting\nlink doi https://article.example/pii/S1\n"},
	{.name = "the document's address that a site makes",
		.type = ING_PART_TYPE_DOI,
		.url = "https://made.example/abs/5",
		.page = "<title>T</title>",
		.want = "title webpage T\nlink pdf_doi https://made.example/pdf/5\n"},
	{.name = "PubMed's rules wherever the page stands, only identifiers of its metas",
		.reader = ING_READ_PUBMED_HTML,
		.type = ING_PART_TYPE_PUBMED_HTML,
		.url = "http://127.0.0.1:8080/pubmed/12",
		.page = META("keywords", "pmid:12, junk") META("citation_doi",
			"10.1/x") "<b class=pmid>12</b><h1>T</h1><button>Mice*</button><button>Rats / x</button>",
		.pmid = "12",
		.want = "pmid pubmed_html 12\ndoi citation 10.1/X\ntitle pubmed_html T\n"
			"mesh pubmed_html Mice*; Rats\n"},
	{.name = "a list of results is no record",
		.reader = ING_READ_PUBMED_HTML,
		.type = ING_PART_TYPE_PUBMED_HTML,
		.url = "http://127.0.0.1:8080/pubmed/?term=12",
		.page = "<title>12 - Search Results</title><p>No documents match",
		.pmid = "12",
		.want = "no-record: the page has no article\n"},
	{.name = "the record of somebody else",
		.reader = ING_READ_PUBMED_HTML,
		.type = ING_PART_TYPE_PUBMED_HTML,
		.url = "http://127.0.0.1:8080/pubmed/12",
		.page = "<b class=pmid>13</b><h1>T</h1>",
		.pmid = "12",
		.want = "wrong-record: the page is about another identifier\n"},
	{.name = "a manuscript's own PDF at PMC is a link",
		.reader = ING_READ_PMC_HTML,
		.type = ING_PART_TYPE_PMC_HTML,
		.url = "https://pmc.ncbi.nlm.nih.gov/articles/PMC5/",
		.page = "<b class=pmcid>PMC5</b><h1>T</h1><a class=pdf href=pdf/n.pdf>PDF</a>",
		.pmcid = "PMC5",
		.want = "pmcid pmc_html PMC5\ntitle pmc_html T\n"
			"link pdf_pmc https://pmc.ncbi.nlm.nih.gov/articles/PMC5/pdf/n.pdf\n"},
	{.name = "its PDF stands below the page that names none",
		.reader = ING_READ_PMC_HTML,
		.type = ING_PART_TYPE_PMC_HTML,
		.url = "http://127.0.0.1:8080/pmc/articles/PMC5?x#y",
		.page = "<b class=pmcid>PMC5</b><h1>T</h1>",
		.pmcid = "PMC5",
		.want = "pmcid pmc_html PMC5\ntitle pmc_html T\n"
			"link pdf_pmc http://127.0.0.1:8080/pmc/articles/PMC5/pdf/\n"},
};

static void pages_give_their_parts(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(pages); i++) {
		const struct page *p = &pages[i];
		const struct ing_publication_ask ask = {.reader = p->reader,
			.type = p->type,
			.parts = p->parts,
			.pmid = p->pmid,
			.pmcid = p->pmcid};
		look(ING_WANT_PUBLICATION, &ask, p->url, p->page);
		assert_found(p->name, &got.publication, p->want);
		assert_int_equal(got.page.status, ING_PAGE_PARSED);
		done();
	}
}

static void a_wall_is_told_beside_the_parts(void **state)
{
	(void)state;
	const struct ing_publication_ask ask = {.type = ING_PART_TYPE_DOI};
	look(ING_WANT_PUBLICATION, &ask, "https://journal.example/1",
		"<!doctype html><title>Robot?</title>");
	assert_int_equal(got.page.wall, ING_WALL_CAPTCHA);
	assert_int_equal(got.publication.offer_count, 0);
	done();
}

static void what_is_no_page_is_said(void **state)
{
	(void)state;
	const struct ing_publication_ask ask = {.type = ING_PART_TYPE_DOI};
	look(ING_WANT_PUBLICATION, &ask, "https://journal.example/1.txt", "GIF89a\1\2\3 no page");
	assert_string_equal(got.publication.status, "bad-answer");
	assert_non_null(got.publication.error_msg);
	done();
	look(ING_WANT_PUBLICATION, &ask, "https://journal.example/1.csv", "a plain text");
	assert_found("text", &got.publication, "bad-answer: text/plain is not read\n");
	done();
}

static void a_page_that_is_too_large_is_said(void **state)
{
	(void)state;
	const struct ing_publication_ask ask = {.type = ING_PART_TYPE_DOI};
	size_t bytes = (1 << 16) + 1;
	char *page = malloc(bytes + 1);
	assert_non_null(page);
	memset(page, ' ', bytes);
	memcpy(page, "<!doctype html>", 15);
	page[bytes] = '\0';
	look(ING_WANT_PUBLICATION | ING_WANT_WEBPAGE, &ask, "https://journal.example/1", page);
	assert_int_equal(got.page.status, ING_PAGE_TOO_LARGE);
	assert_string_equal(got.publication.status, "too-large");
	assert_false(got.webpage.read);
	done();
	free(page);
}

static void a_web_page_is_read_by_its_rule(void **state)
{
	(void)state;
	look(ING_WANT_WEBPAGE, NULL, "https://tool.example/a",
		"<!doctype html><html lang=en><title>t</title><h1>The tool</h1><p class=doc>one<p "
		"class=doc>two<i class=licence>MIT</i>");
	assert_true(got.webpage.read);
	assert_string_equal(got.webpage.rule, "tool\\.example/");
	assert_string_equal(got.webpage.title, "The tool");
	assert_string_equal(got.webpage.content, "one\n\ntwoMIT");
	assert_string_equal(got.webpage.license, "MIT");
	assert_string_equal(got.webpage.language, "");
	assert_null(got.publication.status);
	done();
}

static void a_web_page_without_rule_is_cleaned(void **state)
{
	(void)state;
	look(ING_WANT_WEBPAGE, NULL, "https://other.example/a",
		"<!doctype html><html lang=de><title>T</title><nav>n</nav><p>text</p>"
		"<link rel=license href=/l>");
	assert_true(got.webpage.read);
	assert_null(got.webpage.rule);
	assert_string_equal(got.webpage.title, "T");
	assert_string_equal(got.webpage.content, "text");
	assert_string_equal(got.webpage.license, "https://other.example/l");
	assert_string_equal(got.webpage.language, "de");
	done();
}

static void a_plain_text_is_its_own_content(void **state)
{
	(void)state;
	look(ING_WANT_WEBPAGE, NULL, "https://other.example/README", "A tool\n\nfor x < y\n");
	assert_true(got.webpage.read);
	assert_string_equal(got.webpage.content, "A tool\n\nfor x < y\n");
	assert_null(got.webpage.title);
	done();
}

/* As an examiner does it: identified here, read by another process, then its parts. */
static void a_pdfs_text_is_there_once(void **state)
{
	(void)state;
	char *pdf = calloc(1, 1 << 18);
	FILE *f = fopen(ING_TEST_DATA "/pdf/article.pdf", "rb");
	assert_non_null(pdf);
	assert_non_null(f);
	size_t bytes = fread(pdf, 1, 1 << 18, f);
	fclose(f);
	const struct ing_publication_ask ask = {
		.type = ING_PART_TYPE_DOI, .parts = 1u << ING_PART_FULLTEXT};
	const struct ing_exam_request q = {.url = "https://journal.example/1.pdf",
		.want = ING_WANT_PUBLICATION | ING_WANT_WEBPAGE | ING_WANT_PDF,
		.max_body_bytes = 1 << 20,
		.max_scrape_bytes = 1 << 16,
		.publication = &ask};
	ing_findings_init(&got);
	assert_true(ing_document_identify(&q, pdf, bytes, &body, &got));
	ing_document_read(&q, &body, &got);
	assert_null(got.publication.status);
	ing_document_pdf(body.data, body.bytes, NULL, NULL, &got.pdf);
	ing_document_read_pdf(&q, &body, &got);
	assert_string_equal(got.publication.status, "success");
	assert_int_equal(got.publication.offer_count, 1);
	assert_int_equal(got.publication.offers[0].type, ING_PART_TYPE_PDF_DOI);
	assert_non_null(strstr(got.publication.offers[0].text, "carries a buoy seven miles."));
	assert_true(got.webpage.read);
	assert_string_equal(got.webpage.content, got.publication.offers[0].text);
	assert_null(got.pdf.text);
	assert_int_equal(got.pdf.page_count, 2);
	done();
	free(pdf);
}

static void add_rules(struct ing_rule_files *files, enum ing_rule_kind kind, const char *text)
{
	char path[] = "/tmp/page-rules-XXXXXX";
	struct ing_error err = {0};
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	assert_int_equal(ing_rule_files_read(files, kind, path, &err), 0);
	unlink(path);
}

static int load_rules(void **state)
{
	struct ing_rule_files files;
	struct ing_error err = {0};
	int fd = -1;
	(void)state;
	ing_rule_files_init(&files);
	add_rules(&files, ING_RULES_JOURNALS, journals);
	add_rules(&files, ING_RULES_WEBPAGES, webpages);
	add_rules(&files, ING_RULES_LINKS, links);
	add_rules(&files, ING_RULES_SITES, sites);
	add_rules(&files, ING_RULES_WALLS, walls);
	int rc = ing_rule_files_to_fd(&files, &fd, &err);
	if (rc == 0)
		rc = ing_document_load_rules(fd, &err);
	if (rc != 0)
		print_error("%s\n", err.msg);
	if (fd >= 0)
		close(fd);
	ing_rule_files_done(&files);
	return rc;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_give_their_parts),
		cmocka_unit_test(a_wall_is_told_beside_the_parts),
		cmocka_unit_test(what_is_no_page_is_said),
		cmocka_unit_test(a_page_that_is_too_large_is_said),
		cmocka_unit_test(a_web_page_is_read_by_its_rule),
		cmocka_unit_test(a_web_page_without_rule_is_cleaned),
		cmocka_unit_test(a_plain_text_is_its_own_content),
		cmocka_unit_test(a_pdfs_text_is_there_once),
	};
	return cmocka_run_group_tests(tests, load_rules, NULL);
}
