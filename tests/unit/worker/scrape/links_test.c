/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Pages and where they lead: each signal, their order, what links are relative to, the junk that
 * sites put where a link should be, and what patterns of links.yaml may say.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "rules_helper.h"
#include "worker/scrape/rules/links.h"

#define PAGE "https://journal.example/article/7?view=abstract"
#define META(name, value) "<meta name=\"" name "\" content=\"" value "\">"
#define PDF ING_LINK_PDF

static struct rules_helper helper;

/* Patterns of every kind; the two that hold on any site as the rules have them. */
static const char patterns[] =
	"pdf:\n"
	"  - {technique: embed, selector: 'embed[type=application/pdf]', attr: src}\n"
	"  - {technique: link-alternate, selector: 'link[rel~=(?i)\\balternate\\b][type="
	"application/pdf]'}\n"
	"  - {technique: gated, page: {path_contains: /view/}, selector: a.g}\n"
	"  - {technique: two-filters, page: [{host: one.example}, {host: .two.example}], selector: "
	"a.g}\n"
	"  - {technique: link-gated, selector: a.l, link: {path_contains: /pdf/}}\n"
	"  - {technique: refresh, selector: 'meta[http-equiv=refresh]', attr: content, refresh: "
	"true}\n"
	"  - {technique: text, selector: code, text: true}\n"
	"  - {technique: trim, selector: a.t, trim: '/+$'}\n"
	"  - {technique: trim-filter, selector: a.u, trim: '-x', link: {path_ends: /u}}\n"
	"  - {technique: in-turn, selector: [a.second, a.third], link: {path_contains: /pdf/}}\n"
	"  - {technique: judged, selector: 'a[href$=.pdf].wide', judge: true}\n"
	"html:\n"
	"  - {technique: frame, selector: 'iframe[name=htmlFrame]', attr: src}\n"
	"xml:\n"
	"  - {technique: xml, selector: 'a[target=xml]'}\n"
	"component:\n"
	"  - {technique: figure, selector: 'a[href*=/fig/]'}\n"
	"mend:\n"
	"  - {technique: slash, link: {host: slash.example, path_ends: .pdf/}, trim: '/$'}\n";

static const struct {
	const char *name;
	const char *page;
	const char *url; /* NULL: PAGE */
	enum ing_link_kind kind;
	const char *want;
	const char *technique;
} cases[] = {
	{"nothing", "<p>words <a href=x.pdf>PDF</a>", NULL, PDF, NULL, NULL},
	{"citation_pdf_url", META("citation_pdf_url", "https://journal.example/7.pdf"), NULL, PDF,
		"https://journal.example/7.pdf", "citation_pdf_url"},
	{"bepress",
		META("bepress_citation_pdf_url", "/cgi/viewcontent.cgi?article=1&amp;context=x"),
		NULL, PDF, "https://journal.example/cgi/viewcontent.cgi?article=1&context=x",
		"bepress_citation_pdf_url"},
	{"as a property", "<meta property=citation_pdf_url content=/p.pdf>", NULL, PDF,
		"https://journal.example/p.pdf", "citation_pdf_url-property"},
	{"EPrints", META("eprints.document_url", "http://eprints.example/9/1/x.pdf"), NULL, PDF,
		"http://eprints.example/9/1/x.pdf", "eprints.document_url"},
	{"embed", "<embed type=application/pdf src=../v/7.pdf>", NULL, PDF,
		"https://journal.example/v/7.pdf", "embed"},
	{"link", "<link rel='nofollow Alternate' type='Application/PDF' href=7.pdf>", NULL, PDF,
		"https://journal.example/article/7.pdf", "link-alternate"},
	{"link of another relation", "<link rel=stylesheet type=application/pdf href=7.pdf>", NULL,
		PDF, NULL, NULL},
	{"embed of another type", "<embed type=video/mp4 src=7.mp4>", NULL, PDF, NULL, NULL},
	{"meta in the body", "<body><p>x" META("citation_pdf_url", "/b.pdf"), NULL, PDF,
		"https://journal.example/b.pdf", "citation_pdf_url"},
	{"names in any case", "<META NAME='Citation_PDF_URL' CONTENT='/c.pdf'>", NULL, PDF,
		"https://journal.example/c.pdf", "citation_pdf_url"},
	{"order of meta links, not of the page",
		"<link rel=alternate type=application/pdf href=/link.pdf>"
		"<embed type=application/pdf src=/embed.pdf>" META("eprints.document_url", "/e.pdf")
			META("bepress_citation_pdf_url", "/b.pdf")
				META("citation_pdf_url", "/c.pdf"),
		NULL, PDF, "https://journal.example/c.pdf", "citation_pdf_url"},
	{"order of patterns, not of the page",
		"<link rel=alternate type=application/pdf href=/link.pdf>"
		"<embed type=application/pdf src=/embed.pdf>",
		NULL, PDF, "https://journal.example/embed.pdf", "embed"},
	{"the first of two", META("citation_pdf_url", "/1.pdf") META("citation_pdf_url", "/2.pdf"),
		NULL, PDF, "https://journal.example/1.pdf", "citation_pdf_url"},
	{"an empty one is passed over",
		META("citation_pdf_url", " ") META("citation_pdf_url", "/2.pdf"), NULL, PDF,
		"https://journal.example/2.pdf", "citation_pdf_url"},
	{"an empty one leaves the next meta link",
		META("citation_pdf_url", "") "<embed type=application/pdf src=e.pdf>", NULL, PDF,
		"https://journal.example/article/e.pdf", "embed"},
	{"without content", "<meta name=citation_pdf_url>", NULL, PDF, NULL, NULL},

	{"white space around and inside", META("citation_pdf_url", "\n\t /a\n/b c.pdf \xc2\xa0"),
		NULL, PDF, "https://journal.example/a/b%20c.pdf", "citation_pdf_url"},
	{"without scheme", META("citation_pdf_url", "//cdn.example/7.pdf"), NULL, PDF,
		"https://cdn.example/7.pdf", "citation_pdf_url"},
	{"a scheme and no host", META("citation_pdf_url", "https:foo"), NULL, PDF,
		"https://journal.example/article/foo", "citation_pdf_url"},
	{"another scheme and no host", META("citation_pdf_url", "http:foo"), NULL, PDF,
		"http://foo/", "citation_pdf_url"},
	{"white space of other scripts", META("citation_pdf_url", "&emsp;/7.pdf&#x3000;"), NULL,
		PDF, "https://journal.example/7.pdf", "citation_pdf_url"},
	{"only a query", META("citation_pdf_url", "?format=pdf"), NULL, PDF,
		"https://journal.example/article/7?format=pdf", "citation_pdf_url"},
	{"names that are not ASCII",
		META("citation_pdf_url", "https://b\xc3\xbc"
					 "cher.example/\xc3\xbc.pdf"),
		NULL, PDF, "https://xn--bcher-kva.example/%C3%BC.pdf", "citation_pdf_url"},
	{"references are decoded once", META("citation_pdf_url", "/d?a=1&amp;amp;b=2"), NULL, PDF,
		"https://journal.example/d?a=1&amp;b=2", "citation_pdf_url"},

	{"base", "<base href=/static/><embed type=application/pdf src=7.pdf>", NULL, PDF,
		"https://journal.example/static/7.pdf", "embed"},
	{"base elsewhere",
		"<base target=x><base href='http://cdn.example/a/'>" META(
			"citation_pdf_url", "7.pdf"),
		NULL, PDF, "http://cdn.example/a/7.pdf", "citation_pdf_url"},
	{"base behind the link", META("citation_pdf_url", "7.pdf") "<base href=//o.example>", NULL,
		PDF, "https://o.example/7.pdf", "citation_pdf_url"},

	{"the page itself, for want of better",
		META("citation_pdf_url", "http://www.journal.example/article/7/?view=abstract"),
		NULL, PDF, "http://www.journal.example/article/7/?view=abstract",
		"citation_pdf_url"},
	{"the page itself is passed over",
		META("citation_pdf_url",
			PAGE) "<link rel=alternate type=application/pdf href=/l.pdf>",
		NULL, PDF, "https://journal.example/l.pdf", "link-alternate"},
	{"of links to the page itself, the first",
		"<embed type=application/pdf src=#embed>" META("citation_pdf_url", "#meta"), NULL,
		PDF, PAGE "#meta", "citation_pdf_url"},
	{"a place on the page itself",
		META("citation_pdf_url", "#pdf") META("citation_pdf_url", "/x.pdf"), NULL, PDF,
		"https://journal.example/x.pdf", "citation_pdf_url"},
	{"a pattern's link to the page itself is passed over",
		"<a class=l href=/article/pdf/7>1</a><a class=l href=/pdf/8>2</a>",
		"https://journal.example/article/pdf/7", PDF, "https://journal.example/pdf/8",
		"link-gated"},

	{"javascript", META("citation_pdf_url", "javascript:open()"), NULL, PDF, NULL, NULL},
	{"about", META("citation_pdf_url", "about:blank"), NULL, PDF, NULL, NULL},
	{"data", META("citation_pdf_url", "data:application/pdf;base64,JVBERg=="), NULL, PDF, NULL,
		NULL},
	{"ftp", META("citation_pdf_url", "ftp://a.example/7.pdf"), NULL, PDF, NULL, NULL},
	{"no host", META("citation_pdf_url", "http://"), NULL, PDF, NULL, NULL},
	{"a resolver",
		META("citation_pdf_url", "https://DOI.org/10.1000/7")
			META("citation_pdf_url", "/7.pdf"),
		NULL, PDF, "https://journal.example/7.pdf", "citation_pdf_url"},
	{"the older resolver", META("citation_pdf_url", "http://dx.doi.org/10.1000/7"), NULL, PDF,
		NULL, NULL},
	{"a frame around the PDF",
		META("citation_pdf_url", "https://onlinelibrary.wiley.com/doi/pdf/10.1000/7"), NULL,
		PDF, NULL, NULL},
	{"a template not filled in", "<embed type=application/pdf src=\"{'embed': 'x'}\">", NULL,
		PDF, NULL, NULL},
	{"junk, then a link",
		META("citation_pdf_url", "javascript:void(0)")
			META("eprints.document_url", "/e.pdf"),
		NULL, PDF, "https://journal.example/e.pdf", "eprints.document_url"},
	{"page's address unknown",
		META("citation_pdf_url", "/7.pdf")
			META("citation_pdf_url", "http://a.example/7.pdf"),
		"", PDF, "http://a.example/7.pdf", "citation_pdf_url"},

	{"page filter that does not match", "<a class=g href=/1>", NULL, PDF, NULL, NULL},
	{"page filter that matches", "<a class=g href=/1>", "https://j.example/a/view/1", PDF,
		"https://j.example/1", "gated"},
	{"page filter and no URL", "<a class=g href=http://x.example/1>", "", PDF, NULL, NULL},
	{"one of two page filters", "<a class=g href=/1>", "https://www.two.example/", PDF,
		"https://www.two.example/1", "two-filters"},
	{"link filter: the first that matches",
		"<a class=l href=/html/1>1</a><a class=l href=>2</a><a class=l href=/pdf/1>3</a>",
		NULL, PDF, "https://journal.example/pdf/1", "link-gated"},
	{"link filter, nothing matches", "<a class=l href=/html/1>1</a>", NULL, PDF, NULL, NULL},
	{"refresh", "<meta http-equiv=Refresh content='2; URL=/file/7'>", NULL, PDF,
		"https://journal.example/file/7", "refresh"},
	{"refresh in lower case, quoted", "<meta http-equiv=refresh content=\"0;url = '/f 7' x\">",
		NULL, PDF, "https://journal.example/f%207", "refresh"},
	{"refresh of the page itself", "<meta http-equiv=refresh content=300>", NULL, PDF, NULL,
		NULL},
	{"text that is a link", "<code>see it</code><code> http://d.example/f </code>", NULL, PDF,
		"http://d.example/f", "text"},
	{"text that is no link", "<code>/relative/7.pdf</code>", NULL, PDF, NULL, NULL},
	{"trim", "<a class=t href=/7.pdf//>", NULL, PDF, "https://journal.example/7.pdf", "trim"},
	{"trim comes before the link filter", "<a class=u href=/u-x>", NULL, PDF,
		"https://journal.example/u", "trim-filter"},
	{"mended, however found", META("citation_pdf_url", "http://slash.example/7.pdf/"), NULL,
		PDF, "http://slash.example/7.pdf", "citation_pdf_url"},
	{"mended only where it is meant", META("citation_pdf_url", "http://other.example/7.pdf/"),
		NULL, PDF, "http://other.example/7.pdf/", "citation_pdf_url"},

	{"HTML", META("citation_fulltext_html_url", "/7.html"), NULL, ING_LINK_HTML,
		"https://journal.example/7.html", "citation_fulltext_html_url"},
	{"HTML, the other name", META("citation_full_html_url", "/7.html"), NULL, ING_LINK_HTML,
		"https://journal.example/7.html", "citation_full_html_url"},
	{"HTML by a pattern", "<iframe name=htmlFrame src=/7?inline=1></iframe>", NULL,
		ING_LINK_HTML, "https://journal.example/7?inline=1", "frame"},
	{"HTML is not PDF", META("citation_pdf_url", "/7.pdf"), NULL, ING_LINK_HTML, NULL, NULL},
	{"XML", META("citation_xml_url", "/7.xml"), NULL, ING_LINK_XML,
		"https://journal.example/7.xml", "citation_xml_url"},
	{"XML, the other name", META("fulltext_xml", "/7.xml"), NULL, ING_LINK_XML,
		"https://journal.example/7.xml", "fulltext_xml"},
	{"XML by a pattern", "<a target=xml href=/7>XML</a>", NULL, ING_LINK_XML,
		"https://journal.example/7", "xml"},
	{"component", "<a href=/fig/1>Figure 1</a>", NULL, ING_LINK_COMPONENT,
		"https://journal.example/fig/1", "figure"},
	{"of several selectors the first counts, not the page's order",
		"<a class=third href=/pdf/3>x</a><a class=second href=/pdf/2>x</a>", NULL, PDF,
		"https://journal.example/pdf/2", "in-turn"},
	{"a selector without a valid link leaves the next one",
		"<a class=third href=/pdf/3>x</a><a class=second href=/epub/2>x</a>", NULL, PDF,
		"https://journal.example/pdf/3", "in-turn"},
	{"a wide entry takes no guide", "<a class=wide href=/1.pdf>Guide for authors</a>", NULL,
		PDF, NULL, NULL},
	{"a wide entry takes what is no guide",
		"<a class=wide href=/1.pdf>Guide for authors</a><a class=wide href=/2.pdf>x</a>",
		NULL, PDF, "https://journal.example/2.pdf", "judged"},
	{"a wide entry takes the best",
		"<h1>On the drift of boats</h1><a class=wide href=/2.pdf>x</a>"
		"<a class=wide href=/drift-boats.pdf>x</a>",
		NULL, PDF, "https://journal.example/drift-boats.pdf", "judged"},
	{"a wide entry takes what has a word of the title, whatever it means",
		"<h1>Cover crops in maize</h1><a class=wide href=/cover.pdf>x</a>", NULL, PDF,
		"https://journal.example/cover.pdf", "judged"},
	{"a wide entry takes another link first, though",
		"<h1>Cover crops in maize</h1><a class=wide href=/cover.pdf>x</a>"
		"<a class=wide href=/2.pdf>x</a>",
		NULL, PDF, "https://journal.example/2.pdf", "judged"},
	{"of equals a wide entry takes the first",
		"<a class=wide href=/2.pdf>x</a><a class=wide href=/3.pdf>x</a>", NULL, PDF,
		"https://journal.example/2.pdf", "judged"},
	{"inside noscript", "<body><noscript>" META("citation_pdf_url", "/n.pdf") "</noscript>",
		NULL, PDF, "https://journal.example/n.pdf", "citation_pdf_url"},
};

static struct ing_link find(const char *page, const char *url, enum ing_link_kind kind)
{
	const char *address = url == NULL ? PAGE : url[0] == '\0' ? NULL : url;
	return ing_links_find(
		helper.rules->links, rules_helper_read(&helper, page, strlen(page), address), kind);
}

static void assert_same(const char *got, const char *want)
{
	if (want == NULL) {
		assert_null(got);
	} else {
		assert_non_null(got);
		assert_string_equal(got, want);
	}
}

static void finds_links(void **state)
{
	(void)state;
	assert_true(rules_helper_load(&helper, ING_RULES_LINKS, patterns));
	assert_int_equal(ing_links_count(helper.rules->links), 15);
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		print_message("%s\n", cases[i].name);
		struct ing_link got = find(cases[i].page, cases[i].url, cases[i].kind);
		assert_same(got.url, cases[i].want);
		assert_same(got.technique, cases[i].technique);
	}
}

static void notes_what_rules_did(void **state)
{
	(void)state;
	assert_true(rules_helper_load(&helper, ING_RULES_LINKS, patterns));
	struct ing_link got = find("<a class=l href=/pdf/1>", NULL, PDF);
	assert_string_equal(helper.rules->names[got.rule], "links.yaml pdf/link-gated");
	assert_int_equal(rules_helper_did(&helper, "links.yaml pdf/link-gated"),
		ING_RULE_APPLIED | ING_RULE_MATCHED);
	assert_int_equal(rules_helper_did(&helper, "links.yaml pdf/embed"), ING_RULE_APPLIED);
	assert_int_equal(rules_helper_did(&helper, "links.yaml pdf/gated"), 0);
	assert_int_equal(rules_helper_did(&helper, "links.yaml pdf/text"), 0);
	got = find(META("citation_pdf_url", "http://slash.example/7.pdf/"), NULL, PDF);
	assert_int_equal(got.rule, UINT32_MAX);
	assert_int_equal(rules_helper_did(&helper, "links.yaml mend/slash"),
		ING_RULE_APPLIED | ING_RULE_MATCHED);
}

static void says_when_there_is_only_the_page_itself(void **state)
{
	(void)state;
	assert_true(rules_helper_load(&helper, ING_RULES_LINKS, patterns));
	assert_true(find("<embed type=application/pdf src=#x>", NULL, PDF).self);
	assert_false(find("<embed type=application/pdf src=/x>", NULL, PDF).self);
}

static void holds_without_rules(void **state)
{
	(void)state;
	assert_true(rules_helper_load(&helper, ING_RULES_LINKS, ""));
	assert_same(
		find(META("citation_pdf_url", "/7.pdf"), NULL, PDF).technique, "citation_pdf_url");
	assert_null(find("<embed type=application/pdf src=/x>", NULL, PDF).url);
}

static const struct rules_mistake mistakes[] = {
	{"[]", 1, 1, "map"},
	{"pdf: {}", 1, 6, "list"},
	{"pfd: []", 1, 1, "pfd"},
	{"pdf: [a]", 1, 7, "map"},
	{"pdf:\n  - selector: a", 2, 5, "technique"},
	{"pdf:\n  - technique: t", 2, 5, "selector"},
	{"pdf:\n  - technique: t\n    selector: 'a['", 3, 17, "no ]"},
	{"pdf:\n  - {technique: t, selector: a, attr: href, text: true}", 2, 39, "not both"},
	{"pdf:\n  - {technique: t, selector: []}", 2, 30, "empty"},
	{"pdf:\n  - {technique: t, selector: [a, 'b[']}", 2, 36, "no ]"},
	{"pdf:\n  - {technique: t, selector: {a: b}}", 2, 30, "must be a text"},
	{"pdf:\n  - {technique: t, selector: a, judge: yes}", 2, 40, ""},
	{"pdf:\n  - {technique: t, selector: a, trim: '('}", 2, 41, "parenthesis"},
	{"pdf:\n  - {technique: t, selector: a, page: {}}", 2, 39, ""},
	{"pdf:\n  - {technique: t, selector: a, page: []}", 2, 39, "empty"},
	{"pdf:\n  - {technique: t, selector: a, page: [{}]}", 2, 40, "an item needs one of host"},
	{"pdf:\n  - {technique: t, selector: a, page: [{hots: x}]}", 2, 41, "hots"},
	{"pdf:\n  - {technique: t, selector: a, link: [{host: 'a b'}]}", 2, 47, "host"},
	{"pdf:\n  - {technique: t, selector: a, refresh: perhaps}", 2, 42, ""},
	{"mend:\n  - {technique: t, trim: x}", 2, 5, "needs a link and a trim"},
	{"mend:\n  - {technique: t, link: {host: a.example}, trim: x, selector: a}", 2, 54,
		"selector"},
};

static void says_what_is_wrong_and_where(void **state)
{
	(void)state;
	assert_int_equal(
		rules_helper_unsaid(&helper, ING_RULES_LINKS, mistakes, ING_ARRAY_LEN(mistakes)),
		0);
}

/* A page of nothing but links that are no good costs a bounded number of attempts. */
static void gives_up_on_junk(void **state)
{
	(void)state;
	assert_true(rules_helper_load(&helper, ING_RULES_LINKS, patterns));
	struct ing_buf page;
	ing_buf_init(&page, (size_t)8 << 20);
	for (unsigned i = 0; i < 20000; i++)
		ing_buf_add_str(&page, "<embed type=application/pdf src=javascript:0>"
				       "<meta name=citation_pdf_url content='about:x'>");
	ing_buf_add_str(&page, "<embed type=application/pdf src=/late.pdf>");
	assert_null(find(ing_buf_str(&page), NULL, PDF).url);
	ing_buf_done(&page);
}

static void refuses_a_link_that_is_too_long(void **state)
{
	(void)state;
	assert_true(rules_helper_load(&helper, ING_RULES_LINKS, patterns));
	struct ing_buf page;
	ing_buf_init(&page, (size_t)1 << 20);
	ing_buf_add_str(&page, "<meta name=citation_pdf_url content=/");
	for (unsigned i = 0; i < 9000; i++)
		ing_buf_add_char(&page, 'x');
	ing_buf_add_str(&page, "><meta name=citation_pdf_url content=/short.pdf>");
	assert_same(find(ing_buf_str(&page), NULL, PDF).url, "https://journal.example/short.pdf");
	ing_buf_done(&page);
}

/* An expression that explodes ends by its limit, and is that rule's failure alone. */
static void a_costly_trim_fails_by_itself(void **state)
{
	(void)state;
	assert_true(rules_helper_load(&helper, ING_RULES_LINKS,
		"pdf:\n"
		"  - {technique: slow, selector: a, trim: '(?:a|aa)+$'}\n"));
	struct ing_link got = find(
		"<a href=/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!>",
		NULL, PDF);
	assert_non_null(got.url);
	assert_int_equal(rules_helper_did(&helper, "links.yaml pdf/slow"),
		ING_RULE_APPLIED | ING_RULE_MATCHED | ING_RULE_FAILED);
}

static int set_up(void **state)
{
	(void)state;
	rules_helper_init(&helper);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	rules_helper_done(&helper);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_links),
		cmocka_unit_test(notes_what_rules_did),
		cmocka_unit_test(says_when_there_is_only_the_page_itself),
		cmocka_unit_test(holds_without_rules),
		cmocka_unit_test(says_what_is_wrong_and_where),
		cmocka_unit_test(gives_up_on_junk),
		cmocka_unit_test(refuses_a_link_that_is_too_long),
		cmocka_unit_test(a_costly_trim_fails_by_itself),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
