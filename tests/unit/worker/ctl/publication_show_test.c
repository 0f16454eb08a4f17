/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A publication as HTML and as text: what is shown of a whole one, what stays text whatever it holds, and
 * which blocks of a full text are headings.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "common/data/json.h"
#include "worker/ctl/publication/fulltext_html.h"
#include "common/markup/html_page.h"
#include "worker/ctl/publication/html.h"
#include "worker/ctl/publication/text.h"
#include "worker/ctl/publication/words.h"

#define MAX_PAGE ((size_t)16 << 20)

static json_t *paper(void)
{
	json_t *p = json_load_file(ING_TEST_DATA "/publication/paper.json", 0, NULL);
	assert_non_null(p);
	return p;
}

static void expect(const struct ing_buf *page, const char *what)
{
	if (strstr(ing_buf_str(page), what) == NULL)
		fail_msg("without \"%s\"", what);
}

static void expect_none(const struct ing_buf *page, const char *what)
{
	if (strstr(ing_buf_str(page), what) != NULL)
		fail_msg("with \"%s\"", what);
}

static void show(
	json_t *o, void (*as)(json_t *const[], size_t, struct ing_buf *), struct ing_buf *page)
{
	ing_buf_init(page, MAX_PAGE);
	as(&o, 1, page);
	assert_false(page->failed);
}

static void a_page_has_all_that_is_known(void **state)
{
	(void)state;
	static const char *const has[] = {
		"<title>Tidal rhythms of gene expression",
		"<em dir=\"auto\">Journal of Littoral Genomics</em>",
		"<span dir=\"auto\">2016-04-18</span>",
		"Mareike Sørensen</span><abbr title=\"corresponding author\">*</abbr>"
		"<a class=\"orcid\" title=\"ORCID\" href=\"https://orcid.org/0000-0002-1825-0000\">",
		"<summary>and 8 more</summary>",
		"<li class=\"good\">Open access</li>",
		"<a href=\"https://creativecommons.org/licenses/by-nc/4.0/\">CC BY-NC 4.0</a>",
		"<li>Cited 1,287 times</li>",
		"<li class=\"bad\">A source failed",
		"<a href=\"https://pubmed.ncbi.nlm.nih.gov/31415926\">31415926</a>",
		"<a href=\"https://doi.org/10.5555/TIDES.2016(04)%3C12:CRAB%3E2.0.CO%3B2\">",
		"<p dir=\"auto\"><strong>Background:</strong> Animals of the shore",
		"<li dir=\"auto\">circatidal clock</li>",
		"<li class=\"major\" title=\"major topic\"><a href=\"https://meshb.nlm.nih.gov/"
		"record/ui?ui=D003386\">Brachyura</a>",
		"circadian rhythm</a> <small>31×</small>",
		"<a href=\"mailto:rosalind.hale@estuary.example\">",
		"<h3 dir=\"auto\">2 Methods</h3>\n<h4 dir=\"auto\">2.1 Sampling</h4>",
		"<h4 dir=\"auto\">2.3 Statistics</h4>",
		"<h4 dir=\"auto\">Tidal genes keep their phase all year</h4>",
		"Title and abstract, with which it begins, stand above",
		"<td class=\"n\">5,053 chars</td><td><span class=\"dot good\"></span>Reliable</td>",
		"Europe PMC full text XML</a>",
		"<summary>All that was asked (3)</summary>",
		"<td class=\"t b\">http-status (503)</td>",
		"p &lt; 0.05 &amp; q &lt; 0.01",
	};
	struct ing_buf page;
	json_t *p = paper();
	show(p, ing_publication_html, &page);
	for (size_t i = 0; i < ING_ARRAY_LEN(has); i++)
		expect(&page, has[i]);
	expect_none(&page, "<script");
	expect_none(&page, " src=");
	ing_buf_done(&page);
	json_decref(p);
}

static void a_text_of_another_work_is_said_to_be_one(void **state)
{
	(void)state;
	struct ing_buf page;
	json_t *p = paper();
	ing_json_set(p, "match", json_pack("{s:f,s:[s]}", "score", 0.25, "reasons", "other-<doi>"));
	show(p, ing_publication_html, &page);
	expect(&page, "This may be the text of another work: other-&lt;doi&gt;.");
	ing_buf_done(&page);
	ing_json_set(p, "match", json_pack("{s:f,s:[s]}", "score", 0.5, "reasons", "doi"));
	show(p, ing_publication_html, &page);
	expect_none(&page, "another work");
	ing_buf_done(&page);
	json_decref(p);
}

static void what_is_not_there_is_left_out(void **state)
{
	(void)state;
	struct ing_buf page;
	json_t *p = json_pack("{s:b,s:n,s:{s:s,s:i,s:s},s:[{s:s}]}", "empty", 1, "title", "pmid",
		"content", "12", "size", 2, "type", "external", "resources", "resource", "doi");
	show(p, ing_publication_html, &page);
	expect(&page, "<title>12</title>");
	expect(&page, "Without a title");
	expect(&page, "Nothing was found");
	expect(&page, "<details open><summary>All that was asked (1)</summary>");
	expect_none(&page, "Abstract</h2>");
	expect_none(&page, "Cited");
	expect_none(&page, "#p1-terms");
	ing_buf_done(&page);
	json_decref(p);
}

static const struct {
	const char *text, *html;
} hostile[] = {
	{"<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"},
	{"\"'><img src=x onerror=y>", "&quot;&#39;&gt;&lt;img src=x onerror=y&gt;"},
	{"a & b &amp;", "a &amp; b &amp;amp;"},
	{"bell\a esc\x1b[2J del\x7f nl\n", "bell esc[2J del nl\n"},
	{"שלום", "שלום"},
	{"", ""},
};

static void text_stays_text(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(hostile); i++) {
		struct ing_buf out;
		ing_buf_init(&out, 4096);
		ing_html_add(&out, hostile[i].text);
		assert_string_equal(ing_buf_str(&out), hostile[i].html);
		ing_buf_done(&out);
	}
}

static const struct {
	const char *url, *html;
} links[] = {
	{"https://a.example/?x=1&y=\"", "<a href=\"https://a.example/?x=1&amp;y=%22\">T</a>"},
	{"\r\5 https://a.example/'", "<a href=\"https://a.example/&#39;\">T</a>"},
	{"java\5script:alert(1)", "T"},
	{"http://a.example/", "<a href=\"http://a.example/\">T</a>"},
	{"javascript:alert(1)", "T"},
	{"data:text/html,x", "T"},
	{"//a.example/", "T"},
	{"file:///etc/passwd", "T"},
	{"not a URL", "T"},
	{NULL, "T"},
};

static void only_web_addresses_are_links(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(links); i++) {
		struct ing_buf out;
		ing_buf_init(&out, 4096);
		ing_html_add_link(&out, links[i].url, "T");
		assert_string_equal(ing_buf_str(&out), links[i].html);
		ing_buf_done(&out);
	}
}

static const struct {
	const char *address, *html;
} addresses[] = {
	{"a.b+c@d.example", "<a href=\"mailto:a.b+c@d.example\">a.b+c@d.example</a>"},
	{"a@b@c", "a@b@c"},
	{"a@b?bcc=c@d", "a@b?bcc=c@d"},
	{"@d", "@d"},
	{"nobody", "nobody"},
};

static void only_plain_addresses_are_written_to(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(addresses); i++) {
		struct ing_buf out;
		ing_buf_init(&out, 4096);
		ing_html_add_email(&out, addresses[i].address);
		assert_string_equal(ing_buf_str(&out), addresses[i].html);
		ing_buf_done(&out);
	}
}

#define LONG                                                                                       \
	"A paragraph that is long enough to have a heading of its own before it, as those of "     \
	"papers are, with a full stop at its end."

static const struct {
	const char *text, *html;
} blocks[] = {
	{"Introduction\n\n" LONG,
		"<h3 dir=\"auto\">Introduction</h3>\n<p dir=\"auto\">" LONG "</p>\n"},
	{"MATERIALS AND METHODS\n\nShort.",
		"<h3 dir=\"auto\">MATERIALS AND METHODS</h3>\n<p dir=\"auto\">Short.</p>\n"},
	{"2.1. Methods\n\nShort.",
		"<h4 dir=\"auto\">2.1. Methods</h4>\n<p dir=\"auto\">Short.</p>\n"},
	{"3 Sea water\n\n" LONG,
		"<h3 dir=\"auto\">3 Sea water</h3>\n<p dir=\"auto\">" LONG "</p>\n"},
	{"Sea water\n\nBrackish water\n\n" LONG,
		"<h4 dir=\"auto\">Sea water</h4>\n<h4 dir=\"auto\">"
		"Brackish water</h4>\n<p dir=\"auto\">" LONG "</p>\n"},
	{"12\n\nSalt\n\n30\n\n40", "<p dir=\"auto\">12</p>\n<p dir=\"auto\">Salt</p>\n"
				   "<p dir=\"auto\">30</p>\n<p dir=\"auto\">40</p>\n"},
	{"Not a heading.\n\n" LONG,
		"<p dir=\"auto\">Not a heading.</p>\n<p dir=\"auto\">" LONG "</p>\n"},
	{"one\ntwo <b>\n\n\n\nthree  ",
		"<p dir=\"auto\">one<br>\ntwo &lt;b&gt;</p>\n<p dir=\"auto\">three</p>\n"},
	{"Results: many", "<p dir=\"auto\"><strong>Results:</strong> many</p>\n"},
	{"T\n\nA a\n\nBody", "<p dir=\"auto\">Body</p>\n"},
	{"T.\n\nA\n a\n\nBody", "<p dir=\"auto\">Body</p>\n"},
	{"T\n\nA b\n\nBody", "<p dir=\"auto\">A b</p>\n<p dir=\"auto\">Body</p>\n"},
	{"Tt\n\nBody", "<p dir=\"auto\">Tt</p>\n<p dir=\"auto\">Body</p>\n"},
	{"T", ""},
	{"", ""},
	{"\n\n \n", ""},
	{".", "<p dir=\"auto\">.</p>\n"},
	{"1. ", "<p dir=\"auto\">1.</p>\n"},
};

static void blocks_are_paragraphs_or_headings(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(blocks); i++) {
		struct ing_buf out;
		ing_buf_init(&out, 4096);
		ing_fulltext_html(&out, blocks[i].text, "T", "A a");
		assert_string_equal(ing_buf_str(&out), blocks[i].html);
		ing_buf_done(&out);
	}
}

#define LINE "A line that is as wide as the column of the page in which it"

static const struct {
	const char *text, *want;
} layouts[] = {
	{LINE "\n" LINE "\nends here.\n" LINE "\n", LINE " " LINE " ends here.\n\n" LINE},
	{"The trans-\nport of sedi-\nment, A-\nB and 3-\nfold",
		"The transport of sediment, A- B and 3- fold"},
	{LINE "\n\n" LINE, LINE "\n\n" LINE},
	{LINE "\n\f" LINE "\n", LINE " " LINE},
	{LINE ".\n2. Methods\n" LINE "\n", LINE ".\n\n2. Methods\n\n" LINE},
	{"  indented  \n\n\n\n", "indented\n\n"},
	{"\f\f\n", ""},
	{"", ""},
};

static void lines_of_a_layout_become_paragraphs(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(layouts); i++) {
		char *got = ing_fulltext_reflowed(layouts[i].text);
		assert_string_equal(got, layouts[i].want);
		free(got);
	}
}

static const struct {
	const char *licence, *words;
} licences[] = {
	{"https://creativecommons.org/licenses/by/4.0/", "CC BY 4.0"},
	{"http://creativecommons.org/licenses/by-nc-nd/3.0/igo/", "CC BY-NC-ND 3.0"},
	{"https://creativecommons.org/licenses/by", "CC BY"},
	{"https://creativecommons.org/publicdomain/zero/1.0/", "CC0"},
	{"https://creativecommons.org/licenses/", "https://creativecommons.org/licenses/"},
	{"cc by", "CC BY"},
	{"CC à la carte", "CC à la carte"},
	{"cc by and a text that is so long that it can be no name of any licence at all",
		"cc by and a text that is so long that it can be no name of any licence at all"},
	{"cc-by-nc", "CC BY-NC"},
	{"All rights reserved", "All rights reserved"},
};

static void licences_have_short_names(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(licences); i++) {
		char words[64];
		assert_string_equal(ing_licence_words(licences[i].licence, words, sizeof(words)),
			licences[i].words);
	}
}

static const struct {
	enum ing_part_key key;
	const char *type;
	int size;
	enum ing_part_quality want;
} qualities[] = {
	{ING_PART_ABSTRACT, "europepmc", 200, ING_QUALITY_FINAL},
	{ING_PART_ABSTRACT, "europepmc", 199, ING_QUALITY_POOR},
	{ING_PART_ABSTRACT, "citation", 200, ING_QUALITY_USABLE},
	{ING_PART_ABSTRACT, "europepmc", 0, ING_QUALITY_NONE},
	{ING_PART_FULLTEXT, "pdf_doi", 2000, ING_QUALITY_USABLE},
	{ING_PART_FULLTEXT, "webpage", 90000, ING_QUALITY_POOR},
	{ING_PART_DOI, "external", 9, ING_QUALITY_FINAL},
	{ING_PART_TITLE, "of the future", 90, ING_QUALITY_POOR},
};

static void quality_follows_type_and_size(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(qualities); i++) {
		json_t *part = json_pack(
			"{s:s,s:i}", "type", qualities[i].type, "size", qualities[i].size);
		assert_int_equal(ing_part_quality(qualities[i].key, part), qualities[i].want);
		json_decref(part);
	}
	assert_int_equal(ing_part_quality(ING_PART_TITLE, NULL), ING_QUALITY_NONE);
}

static void text_has_parts_with_their_sources(void **state)
{
	(void)state;
	static const char *const has[] = {
		"PMID: 31415926\n    type: given\n    url: \n"
		"    timestamp: 2026-11-20T09:41:07Z (1795167667000)\n    size: 8\nPMCID: PMC2718281\n",
		"KEYWORDS: [shore crab; tidal rhythm; circatidal clock;",
		"MESH TERMS: [Brachyura* (D003386); Animals (D000818);",
		"\n    type: Europe PMC full text XML\n",
		"FETCH TIME: 2026-11-20T09:41:07Z (1795167667000)\nRETRY COUNTER: 0\n"
		"FETCH EXCEPTION: true\n\nOPEN ACCESS: true\nPREPRINT: \nJOURNAL TITLE: Journal of",
		"CITATIONS: 1287 (2026-11-20T09:41:07Z)\n",
		"CORRESP. AUTHOR: Mareike Sørensen, https://orcid.org/0000-0002-1825-0000, "
		"m.sorensen@tides.example, +45 33 00 00 00; Rosalind Hale, ",
		"VISITED SITES:\nhttps://doi.org/10.5555/tides.2016\n    type: publisher's page\n",
	};
	struct ing_buf text;
	json_t *p = paper();
	show(p, ing_publication_text, &text);
	for (size_t i = 0; i < ING_ARRAY_LEN(has); i++)
		expect(&text, has[i]);
	ing_buf_done(&text);
	json_decref(p);
}

static void terminals_are_not_told_anything(void **state)
{
	(void)state;
	struct ing_buf text;
	json_t *p = json_pack("{s:{s:s,s:s,s:i}}", "title", "content",
		"a\x1b]0;b\a c\xc2\x9b"
		"d\r\ne",
		"type", "doi", "size", 9);
	show(p, ing_publication_text, &text);
	expect(&text, "TITLE: a?]0;b? c?d?\ne\n");
	ing_buf_done(&text);
	json_decref(p);
}

static void a_web_page_is_shown(void **state)
{
	(void)state;
	struct ing_buf out;
	json_t *p = json_pack("{s:s,s:s,s:s,s:s,s:s,s:i,s:b}", "startUrl", "https://tool.example/",
		"finalUrl", "https://tool.example/en/", "title", "A <tool>", "content",
		"Methods\n\nUse it.", "license", "MIT", "statusCode", 404, "broken", 1);
	show(p, ing_webpage_html, &out);
	expect(&out, "<h1 dir=\"auto\">A &lt;tool&gt;</h1>");
	expect(&out, "<a href=\"https://tool.example/en/\">https://tool.example/en/</a>");
	expect(&out, "<li class=\"bad\">Not reached (404)</li>");
	expect(&out, "<h3 dir=\"auto\">Methods</h3>\n<p dir=\"auto\">Use it.</p>");
	ing_buf_done(&out);
	show(p, ing_webpage_text, &out);
	expect(&out, "START URL: https://tool.example/\nFINAL URL: https://tool.example/en/\n");
	expect(&out, "TITLE: A <tool>\n\nCONTENT: Methods\n\nUse it.\n");
	ing_buf_done(&out);
	json_decref(p);
}

static void several_begin_with_their_titles(void **state)
{
	(void)state;
	struct ing_buf page;
	json_t *two[] = {paper(), json_pack("{s:{s:s}}", "doi", "content", "10.1/X")};
	ing_buf_init(&page, MAX_PAGE);
	ing_publication_html(two, 2, &page);
	expect(&page, "<title>2 publications</title>");
	expect(&page, "<li><a href=\"#p1\" dir=\"auto\">Tidal rhythms");
	expect(&page, "<li><a href=\"#p2\" dir=\"auto\">10.1/X</a>");
	expect(&page, "<article id=\"p2\">");
	ing_buf_done(&page);
	json_decref(two[0]);
	json_decref(two[1]);
}

static void a_page_that_is_too_long_fails(void **state)
{
	(void)state;
	struct ing_buf page;
	json_t *p = paper();
	ing_buf_init(&page, 20000);
	ing_publication_html(&p, 1, &page);
	assert_true(page.failed);
	ing_buf_done(&page);
	json_decref(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_page_has_all_that_is_known),
		cmocka_unit_test(a_text_of_another_work_is_said_to_be_one),
		cmocka_unit_test(what_is_not_there_is_left_out),
		cmocka_unit_test(text_stays_text),
		cmocka_unit_test(only_web_addresses_are_links),
		cmocka_unit_test(only_plain_addresses_are_written_to),
		cmocka_unit_test(blocks_are_paragraphs_or_headings),
		cmocka_unit_test(lines_of_a_layout_become_paragraphs),
		cmocka_unit_test(licences_have_short_names),
		cmocka_unit_test(quality_follows_type_and_size),
		cmocka_unit_test(text_has_parts_with_their_sources),
		cmocka_unit_test(terminals_are_not_told_anything),
		cmocka_unit_test(a_web_page_is_shown),
		cmocka_unit_test(several_begin_with_their_titles),
		cmocka_unit_test(a_page_that_is_too_long_fails),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
