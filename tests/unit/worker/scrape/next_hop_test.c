/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Pages and where they lead, through the whole scraper: signals and rules, their order, what links
 * are relative to, and the junk that sites put where a link should be.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "common/base/utf8.h"
#include "rules_helper.h"
#include "worker/scrape/scrape.h"

#define PAGE "https://journal.example/article/7?view=abstract"
#define META(name, value) "<meta name=\"" name "\" content=\"" value "\">"

#define MAX_TITLE_BYTES 1000

static const char links_yaml[] =
	"pdf:\n"
	"  - {technique: embed, selector: 'embed[type=application/pdf]', attr: src}\n"
	"  - {technique: link-alternate, selector: 'link[rel~=(?i)\\balternate\\b]"
	"[type=application/pdf]'}\n";

static struct rules_helper rules;
static struct ing_scraper *scraper;

static const struct {
	const char *name;
	const char *page;
	const char *url; /* NULL: PAGE */
	const char *next;
	const char *technique;
} cases[] = {
	{"nothing", "<p>words <a href=x.pdf>PDF</a>", NULL, NULL, NULL},
	{"citation_pdf_url", META("citation_pdf_url", "https://journal.example/7.pdf"), NULL,
		"https://journal.example/7.pdf", "citation_pdf_url"},
	{"bepress",
		META("bepress_citation_pdf_url", "/cgi/viewcontent.cgi?article=1&amp;context=x"),
		NULL, "https://journal.example/cgi/viewcontent.cgi?article=1&context=x",
		"bepress_citation_pdf_url"},
	{"as a property", "<meta property=citation_pdf_url content=/p.pdf>", NULL,
		"https://journal.example/p.pdf", "citation_pdf_url-property"},
	{"EPrints", META("eprints.document_url", "http://eprints.example/9/1/x.pdf"), NULL,
		"http://eprints.example/9/1/x.pdf", "eprints.document_url"},
	{"embed", "<embed type=application/pdf src=../v/7.pdf>", NULL,
		"https://journal.example/v/7.pdf", "embed"},
	{"link", "<link rel='nofollow Alternate' type='Application/PDF' href=7.pdf>", NULL,
		"https://journal.example/article/7.pdf", "link-alternate"},
	{"link of another relation", "<link rel=stylesheet type=application/pdf href=7.pdf>", NULL,
		NULL, NULL},
	{"embed of another type", "<embed type=video/mp4 src=7.mp4>", NULL, NULL, NULL},
	{"meta in the body", "<body><p>x" META("citation_pdf_url", "/b.pdf"), NULL,
		"https://journal.example/b.pdf", "citation_pdf_url"},
	{"names in any case", "<META NAME='Citation_PDF_URL' CONTENT='/c.pdf'>", NULL,
		"https://journal.example/c.pdf", "citation_pdf_url"},

	{"order of signals, not of the page",
		"<link rel=alternate type=application/pdf href=/link.pdf>"
		"<embed type=application/pdf src=/embed.pdf>" META("eprints.document_url", "/e.pdf")
			META("bepress_citation_pdf_url", "/b.pdf")
				META("citation_pdf_url", "/c.pdf"),
		NULL, "https://journal.example/c.pdf", "citation_pdf_url"},
	{"the first of two", META("citation_pdf_url", "/1.pdf") META("citation_pdf_url", "/2.pdf"),
		NULL, "https://journal.example/1.pdf", "citation_pdf_url"},
	{"an empty one is passed over",
		META("citation_pdf_url", " ") META("citation_pdf_url", "/2.pdf"), NULL,
		"https://journal.example/2.pdf", "citation_pdf_url"},
	{"an empty one leaves the next signal",
		META("citation_pdf_url", "") "<embed type=application/pdf src=e.pdf>", NULL,
		"https://journal.example/article/e.pdf", "embed"},
	{"without content", "<meta name=citation_pdf_url>", NULL, NULL, NULL},

	{"white space around and inside", META("citation_pdf_url", "\n\t /a\n/b c.pdf \xc2\xa0"),
		NULL, "https://journal.example/a/b%20c.pdf", "citation_pdf_url"},
	{"without scheme", META("citation_pdf_url", "//cdn.example/7.pdf"), NULL,
		"https://cdn.example/7.pdf", "citation_pdf_url"},
	{"only a query", META("citation_pdf_url", "?format=pdf"), NULL,
		"https://journal.example/article/7?format=pdf", "citation_pdf_url"},
	{"names that are not ASCII",
		META("citation_pdf_url", "https://b\xc3\xbc"
					 "cher.example/\xc3\xbc.pdf"),
		NULL, "https://xn--bcher-kva.example/%C3%BC.pdf", "citation_pdf_url"},
	{"references are decoded once", META("citation_pdf_url", "/d?a=1&amp;amp;b=2"), NULL,
		"https://journal.example/d?a=1&amp;b=2", "citation_pdf_url"},

	{"base", "<base href=/static/><embed type=application/pdf src=7.pdf>", NULL,
		"https://journal.example/static/7.pdf", "embed"},
	{"base elsewhere",
		"<base target=x><base href='http://cdn.example/a/'>" META(
			"citation_pdf_url", "7.pdf"),
		NULL, "http://cdn.example/a/7.pdf", "citation_pdf_url"},
	{"base behind the link", META("citation_pdf_url", "7.pdf") "<base href=//o.example>", NULL,
		"https://o.example/7.pdf", "citation_pdf_url"},
	{"the first base with an address counts",
		"<base href=/1/><base href=/2/>" META("citation_pdf_url", "7.pdf"), NULL,
		"https://journal.example/1/7.pdf", "citation_pdf_url"},
	{"a base that is none", "<base href='data:text/html,x'>" META("citation_pdf_url", "7.pdf"),
		NULL, "https://journal.example/article/7.pdf", "citation_pdf_url"},

	{"the page itself, for want of better",
		META("citation_pdf_url", "http://www.journal.example/article/7/?view=abstract"),
		NULL, "http://www.journal.example/article/7/?view=abstract", "citation_pdf_url"},
	{"the page itself is passed over",
		META("citation_pdf_url",
			PAGE) "<link rel=alternate type=application/pdf href=/l.pdf>",
		NULL, "https://journal.example/l.pdf", "link-alternate"},
	{"a place on the page itself",
		META("citation_pdf_url", "#pdf") META("citation_pdf_url", "/x.pdf"), NULL,
		"https://journal.example/x.pdf", "citation_pdf_url"},
	{"the page's own fragment does not matter",
		META("citation_pdf_url", "/a") META("citation_pdf_url", "/x.pdf"),
		"https://journal.example/a#top", "https://journal.example/x.pdf",
		"citation_pdf_url"},

	{"javascript", META("citation_pdf_url", "javascript:open()"), NULL, NULL, NULL},
	{"about", META("citation_pdf_url", "about:blank"), NULL, NULL, NULL},
	{"data", META("citation_pdf_url", "data:application/pdf;base64,JVBERg=="), NULL, NULL,
		NULL},
	{"ftp", META("citation_pdf_url", "ftp://a.example/7.pdf"), NULL, NULL, NULL},
	{"no host", META("citation_pdf_url", "http://"), NULL, NULL, NULL},
	{"a resolver",
		META("citation_pdf_url", "https://DOI.org/10.1000/7")
			META("citation_pdf_url", "/7.pdf"),
		NULL, "https://journal.example/7.pdf", "citation_pdf_url"},
	{"a template not filled in", "<embed type=application/pdf src=\"{'embed': 'x'}\">", NULL,
		NULL, NULL},
	{"junk, then a link",
		META("citation_pdf_url", "javascript:void(0)")
			META("eprints.document_url", "/e.pdf"),
		NULL, "https://journal.example/e.pdf", "eprints.document_url"},

	{"page's address unknown",
		META("citation_pdf_url", "/7.pdf")
			META("citation_pdf_url", "http://a.example/7.pdf"),
		"", "http://a.example/7.pdf", "citation_pdf_url"},
	{"page's address no web address, but a base",
		"<base href=http://b.example/>" META("citation_pdf_url", "7.pdf"),
		"file:///tmp/x.html", "http://b.example/7.pdf", "citation_pdf_url"},
	{"inside a template, as in jsoup's tree",
		"<template>" META("citation_pdf_url", "/t.pdf") "</template>", NULL,
		"https://journal.example/t.pdf", "citation_pdf_url"},
	{"inside noscript", "<body><noscript>" META("citation_pdf_url", "/n.pdf") "</noscript>",
		NULL, "https://journal.example/n.pdf", "citation_pdf_url"},
};

static void scrape(const char *page, const char *url, struct ing_scraped *ret)
{
	const struct ing_scrape_input in = {.url = url,
		.data = page,
		.bytes = strlen(page),
		.want = ING_SCRAPE_ALL,
		.page_type = ING_PART_TYPE_DOI};
	ing_scrape(scraper, &in, ret);
}

static void assert_same(const char *got, const char *want)
{
	if (want == NULL)
		assert_null(got);
	else
		assert_non_null(got);
	if (want != NULL)
		assert_string_equal(got, want);
}

static void finds_the_next_hop(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_scraped got;
		print_message("%s\n", cases[i].name);
		scrape(cases[i].page, cases[i].url != NULL ? cases[i].url : PAGE, &got);
		assert_same(got.links[ING_LINK_PDF].url, cases[i].next);
		assert_same(got.links[ING_LINK_PDF].technique, cases[i].technique);
	}
}

static void works_without_an_address(void **state)
{
	(void)state;
	struct ing_scraped got;
	scrape(META("citation_pdf_url", "/7.pdf")
			META("citation_pdf_url", "http://a.example/7.pdf"),
		NULL, &got);
	assert_string_equal(got.links[ING_LINK_PDF].url, "http://a.example/7.pdf");
}

static const struct {
	const char *page, *title;
} titles[] = {
	{"<title>Tides</title>", "Tides"},
	{"<title>\n  A &amp; B\t \r\n of\n</title>", "A & B of"},
	{"<title>first</title><title>second</title>", "first"},
	{"<svg><title>drawn</title></svg><title>written</title>", "written"},
	{"<title> \n </title>", NULL},
	{"<p>none", NULL},
	{"<title>never closed", "never closed"},
};

static void finds_the_title(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(titles); i++) {
		struct ing_scraped got;
		scrape(titles[i].page, PAGE, &got);
		assert_same(got.title, titles[i].title);
	}
}

static void long_values_are_cut_or_refused(void **state)
{
	(void)state;
	struct ing_scraped got;
	struct ing_buf page;
	ing_buf_init(&page, 1 << 20);
	ing_buf_add_str(&page, "<title>");
	for (int i = 0; i < 1000; i++)
		ing_buf_add_str(&page, i % 10 == 9 ? " " : "\u20ac");
	ing_buf_add_str(&page, "</title><meta name=citation_pdf_url content=/");
	for (int i = 0; i < 9000; i++)
		ing_buf_add_char(&page, 'a');
	ing_buf_add_str(&page, ">");
	scrape(ing_buf_str(&page), PAGE, &got);
	assert_true(strlen(got.title) <= MAX_TITLE_BYTES);
	assert_true(strlen(got.title) > MAX_TITLE_BYTES - 4);
	assert_true(ing_utf8_valid(got.title, strlen(got.title)));
	assert_null(got.links[ING_LINK_PDF].url);
	ing_buf_done(&page);
}

/* However many useless links a page has, the work is bounded, and other signals are still seen. */
static void many_useless_links_end(void **state)
{
	(void)state;
	struct ing_scraped got;
	struct ing_buf page;
	ing_buf_init(&page, 16 << 20);
	for (int i = 0; i < 50000; i++)
		ing_buf_add_str(&page, META("citation_pdf_url", "javascript:x"));
	ing_buf_add_str(&page, "<embed type=application/pdf src=/e.pdf>");
	scrape(ing_buf_str(&page), PAGE, &got);
	assert_string_equal(got.links[ING_LINK_PDF].url, "https://journal.example/e.pdf");
	ing_buf_done(&page);
}

static int make(void **state)
{
	(void)state;
	rules_helper_init(&rules);
	if (!rules_helper_load(&rules, ING_RULES_LINKS, links_yaml))
		return -1;
	scraper = ing_scraper_new(rules.rules);
	return 0;
}

static int drop(void **state)
{
	(void)state;
	ing_scraper_free(scraper);
	rules_helper_done(&rules);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_the_next_hop),
		cmocka_unit_test(works_without_an_address),
		cmocka_unit_test(finds_the_title),
		cmocka_unit_test(long_values_are_cut_or_refused),
		cmocka_unit_test(many_useless_links_end),
	};
	return cmocka_run_group_tests(tests, make, drop);
}
