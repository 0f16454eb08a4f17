/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What becomes of a page's elements in TEI, what TEI has no place for, the header, and pages without
 * end. What is kept is decided here: all text but that inside elements with
 * the attribute "drop". tests/scenario/test_tei.py validates documents by TEI's schema.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/markup/html.h"
#include "common/markup/xml.h"
#include "worker/document/text/tei.h"
#include "worker/document/text/tei_header.h"
#include "worker/model/found_text.h"
#include "worker/model/limits.h"

/* Takes the place of main_text.c. */
struct ing_main_text {
	const struct ing_tree *tree;
};

bool ing_main_text_keeps(const struct ing_main_text *m, ing_node text)
{
	const struct ing_tree *t = m->tree;
	for (ing_node n = t->nodes[text].parent; n != ING_NODE_DOCUMENT; n = t->nodes[n].parent)
		if (ing_tree_attr(t, n, "drop", NULL) != NULL)
			return false;
	return true;
}

ing_node ing_main_text_top(const struct ing_main_text *m)
{
	return ing_tree_body(m->tree);
}

static const char *article; /* that takes the place of the page, or NULL */

const char *ing_main_text_article(const struct ing_main_text *m, size_t *ret_bytes)
{
	(void)m;
	*ret_bytes = article != NULL ? strlen(article) : 0;
	return article;
}

static struct ing_html *html;
static struct ing_tree *tree;

static int set_up(void **state)
{
	(void)state;
	html = ing_html_new();
	tree = ing_tree_new();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	ing_tree_free(tree);
	ing_html_free(html);
	return 0;
}

static const struct ing_html_limits html_limits = {
	.open_elements = ING_MAX_OPEN_ELEMENTS,
	.tag_attributes = ING_MAX_TAG_ATTRIBUTES,
	.names = ING_MAX_MARKUP_NAMES,
	.tree_bytes = (size_t)1 << 30,
	.cpu_ms = 60000,
};

/* The document of a page. The caller frees it. */
static bool write(const char *page, size_t bytes, const char *biblio_json, struct ing_buf *out)
{
	ing_html_parse(html, page, bytes, "text/html; charset=utf-8", &html_limits);
	ing_html_fill(html, tree);
	ing_tree_set_url(tree, "https://journal.example/a/1");
	const struct ing_main_text kept = {.tree = tree};
	json_t *biblio = NULL;
	if (biblio_json != NULL)
		biblio = ing_json_parse(biblio_json, strlen(biblio_json), &ing_json_own, NULL);
	const struct ing_tei_source source = {.tree = tree,
		.main_text = &kept,
		.biblio = biblio,
		.title = "Page",
		.language = "en_GB",
		.agent = "ingest-worker",
		.agent_version = "1.2.3"};
	ing_buf_init(out, ING_MAX_TEI_BYTES);
	bool whole = ing_tei_write(&source, out);
	json_decref(biblio);
	return whole;
}

static void assert_well_formed(const struct ing_buf *xml)
{
	static const struct ing_xml_limits limits = {
		.open_elements = 600, .tree_bytes = (size_t)1 << 30, .cpu_ms = 60000};
	struct ing_tree *t = ing_tree_new();
	struct ing_error err = {0};
	if (ing_xml_parse(t, xml->data, xml->len, NULL, &limits, &err) != 0)
		fail_msg("%s in:\n%.2000s", err.msg, xml->data);
	ing_tree_free(t);
}

/* What is between <body> and </body>, without line feeds between elements. */
static char *body_of(const struct ing_buf *xml)
{
	char *from = strstr(xml->data, "<body>");
	char *to = strstr(xml->data, "</body>");
	assert_non_null(from);
	assert_non_null(to);
	char *body = ing_strndup(from + 6, (size_t)(to - from) - 6), *end = body;
	for (const char *s = body; *s != '\0'; s++)
		if (*s != '\n' || (end > body && end[-1] != '>'))
			*end++ = *s;
	*end = '\0';
	return body;
}

#define P(text) "<p><ref target=\"https://journal.example/b\">" text "</ref></p>"

static const struct {
	const char *name, *page, *want;
} cases[] = {
	{"text without blocks", "a <b>b</b> c", "<p>a <hi rend=\"bold\">b</hi> c</p>"},
	{"nothing", "", "<p/>"},
	{"nothing kept", "<p drop>a</p>", "<p/>"},
	{"two breaks divide", "a<br>b<br><br>c", "<p>a<lb/>b</p><p>c</p>"},
	{"white space is folded", "<p> a \n b<i> c </i>d ",
		"<p>a b <hi rend=\"italic\">c</hi> d</p>"},
	{"dropped text divides words", "<p>a<span drop>[edit]</span>b", "<p>a b</p>"},
	{"escapes", "<p>a&lt;b&amp;&quot;&#x1;&#xffff;", "<p>a&lt;b&amp;\" \xef\xbf\xbd</p>"},
	{"headings nest", "<h1>A</h1>a<h3>B</h3>b<h2>C</h2>c<h1>D</h1>",
		"<div><head>A</head><p>a</p><div><head>B</head><p>b</p></div>"
		"<div><head>C</head><p>c</p></div></div><div><head>D</head></div>"},
	{"text before a heading", "a<h2>B</h2>b", "<p>a</p><div><head>B</head><p>b</p></div>"},
	{"a heading of aria", "<div role=heading aria-level=3>A</div><p>a",
		"<div><head>A</head><p>a</p></div>"},
	{"sections end", "<h1>T</h1><section><h2>A</h2><p>a</section><p>b",
		"<div><head>T</head><div><head>A</head><p>a</p></div><div><p>b</p></div></div>"},
	{"a section with a heading alone does not", "<section><h2>A</h2></section><p>a",
		"<div><head>A</head><p>a</p></div>"},
	{"blocks in a heading", "<h1><div>a</div><ul><li>b</ul></h1>",
		"<div><head>a<lb/>b</head></div>"},
	{"a heading in an item", "<ul><li><h3>A</h3>a</ul>",
		"<list rend=\"bulleted\"><item><label>A</label>a</item></list>"},
	{"lists nest", "<ol><li>a<ul><li>b</ul></li><li>c</ol>",
		"<list rend=\"numbered\"><item>a<list rend=\"bulleted\"><item>b</item></list></item>"
		"<item>c</item></list>"},
	{"a list in a list without an item", "<ul>a<li>b<li></ul>",
		"<list rend=\"bulleted\"><item>a</item><item>b</item></list>"},
	{"paragraphs in an item", "<ul><li><p>a<p>b</ul>",
		"<list rend=\"bulleted\"><item>a<lb/>b</item></list>"},
	{"an item outside of a list", "<li>a<li>b", "<p>a</p><p>b</p>"},
	{"definitions", "<dl><dt>a<dd>b<dd>c<dt>d<dt>e</dl>",
		"<list type=\"gloss\"><label>a</label><item>b</item><label/><item>c</item>"
		"<label>d</label><item/><label>e</label><item/></list>"},
	{"a table",
		"<table><caption>C</caption><thead><tr><th>a<th>b<tbody><tr><td>1<td>"
		"<tr><td colspan=2 rowspan=x>3</table>",
		"<table><head>C</head><row role=\"label\"><cell role=\"label\">a</cell>"
		"<cell role=\"label\">b</cell></row><row><cell>1</cell><cell/></row>"
		"<row><cell cols=\"2\">3</cell></row></table>"},
	{"a table with nothing but a caption",
		"<table><caption>C</caption><tr><td drop>a<td drop>b</table>",
		"<table><head>C</head><row><cell/></row></table>"},
	{"a table for layout", "<table><tr><td><h1>A</h1><td>a</table>",
		"<div><head>A</head><p>a</p></div>"},
	{"a table of one column", "<table><tr><td>a<tr><td>b</table>", "<p>a</p><p>b</p>"},
	{"a table in a table for layout",
		"<table><tr><td>x<td><table><tr><td>a<td>b</table></table>",
		"<p>x</p><table><row><cell>a</cell><cell>b</cell></row></table>"},
	{"a list in a cell", "<table><tr><td>a<ul><li>b</ul>c<td>d</table>",
		"<table><row><cell>a<list rend=\"bulleted\"><item>b</item></list>c</cell>"
		"<cell>d</cell></row></table>"},
	{"a quotation", "<blockquote>a<p>b</blockquote>c",
		"<quote><p>a</p><p>b</p></quote><p>c</p>"},
	{"a figure",
		"<figure><img src='/i.png' alt='An &quot;i&quot;'><figcaption>C <b>1</b></figcaption></figure>",
		"<figure><graphic url=\"https://journal.example/i.png\"/><figDesc>An \"i\"</figDesc>"
		"<head>C <hi rend=\"bold\">1</hi></head></figure><p/>"},
	{"a figure by class",
		"<div class='x fig'><img src=i.png><div class=caption><p>C</div></div>a",
		"<figure><graphic url=\"https://journal.example/a/i.png\"/><head>C</head></figure><p>a</p>"},
	{"a picture outside of figures", "<p>a<img src=i.png alt=x>b", "<p>ab</p>"},
	{"a figure in a paragraph ends it",
		"<p>a<span><figure><figcaption>C</figcaption></figure></span>b",
		"<p>a</p><figure><head>C</head></figure><p>b</p>"},
	{"preformatted text", "a<pre>\n b\n  c <b>d</b>\n</pre>e",
		"<p>a</p><p><code> b\n  c d\n</code></p><p>e</p>"},
	{"code", "a <code>b <i>c</i></code>", "<p>a <code>b c</code></p>"},
	{"links", "<p>a <a href='../b?x=1&amp;y#z'>b</a> <a href='javascript:x'>c</a>",
		"<p>a <ref target=\"https://journal.example/b?x=1&amp;y#z\">b</ref> c</p>"},
	{"a link around blocks", "<a href=/b><div>a</div><div>b</div></a>",
		"<p><ref target=\"https://journal.example/b\">a</ref></p>"
		"<p><ref target=\"https://journal.example/b\">b</ref></p>"},
	{"an address with characters of browsers only", "<a href='http://[::1]/[a]?{b}|^#`'>a</a>",
		"<p><ref target=\"http://[::1]/%5Ba%5D?%7Bb%7D%7C%5E#%60\">a</ref></p>"},
	{"an address without end", "<a href=/b>1<p>2<p>3<p>4<p>5<p>6<p>7<p>8<p>9",
		P("1") P("2") P("3") P("4") P("5") P("6") P("7") P("8") "<p><ref>9</ref></p>"},
	{"passwords are masked", "<a href='https://me:pw@a.example/'>a</a>",
		"<p><ref target=\"https://***@a.example/\">a</ref></p>"},
	{"the same emphasis twice", "<b><b>a</b></b>", "<p><hi rend=\"bold\">a</hi></p>"},
	{"MathML",
		"<p>a <math display=block onclick=x><semantics><mrow><mi class=x>x</mi><script>1</script>"
		"<foo>y</foo></mrow><annotation encoding='application/x-tex'>x_y</annotation>"
		"<annotation-xml><ci>x</ci></annotation-xml></semantics></math> b",
		"<p>a <formula notation=\"mathml\" rend=\"display\">"
		"<math xmlns=\"http://www.w3.org/1998/Math/MathML\" display=\"block\"><semantics><mrow>"
		"<mi>x</mi>y</mrow><annotation encoding=\"application/x-tex\">x_y</annotation>"
		"</semantics></math></formula> b</p>"},
	{"TeX", "<p>a <span class=MathJax_Preview>x</span><script type='math/tex; mode=display'>a<b</script>",
		"<p>a <formula notation=\"tex\" rend=\"display\">a&lt;b</formula></p>"},
	{"a formula by itself", "<p>a</p><div><script type='math/tex'>x</script></div><p>b",
		"<p>a</p><p><formula notation=\"tex\">x</formula></p><p>b</p>"},
	{"a formula beside dropped text is dropped",
		"<p>a</p><div>x<span drop>menu</span></div><div drop>menu <math><mi>x</mi></math></div>",
		"<p>a</p><p>x</p>"},
	{"a picture of a formula", "a <img class=tex alt='x^2'>",
		"<p>a <formula notation=\"tex\">x^2</formula></p>"},
	{"a formula in code", "<code>a<math><mi>x</mi></math></code>", "<p><code>a</code></p>"},
	{"rows outside of tables of data",
		"<table><tr><td>a<td><table role=presentation><tr><td>b<td>c</table></table>",
		"<p>a</p><p>b</p><p>c</p>"},
};

static void elements_become_tei(void **state)
{
	(void)state;
	int failed = 0;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_buf xml;
		assert_true(write(cases[i].page, strlen(cases[i].page), NULL, &xml));
		assert_well_formed(&xml);
		char *body = body_of(&xml);
		if (strcmp(body, cases[i].want) != 0) {
			print_error(
				"%s:\n  got  %s\n  want %s\n", cases[i].name, body, cases[i].want);
			failed++;
		}
		free(body);
		ing_buf_done(&xml);
	}
	assert_int_equal(failed, 0);
}

static void a_stated_text_is_paragraphs(void **state)
{
	(void)state;
	struct ing_buf out;
	article = "a <b & c\n\xc3\xa9t\xc3\xa9\n";
	assert_true(write("<p>page", 7, NULL, &out));
	article = NULL;
	assert_well_formed(&out);
	char *body = body_of(&out);
	assert_string_equal(body, "<p>a &lt;b &amp; c</p><p>\xc3\xa9t\xc3\xa9</p>");
	free(body);
	ing_buf_done(&out);
}

static void header_has_the_record(void **state)
{
	(void)state;
	static const char record[] =
		"{\"title\":\"A < B\",\"doi\":\"10.1/x\",\"abstract\":\"Short.\",\"publisher\":\"P\","
		"\"contribs\":[{\"name\":\"Ann Lee\",\"given_name\":\"Ann\",\"surname\":\"Lee\","
		"\"orcid\":\"0000\",\"affiliations\":[\"U\"]},{\"name\":\"B\"}],"
		"\"container_name\":\"J\",\"container_issn\":\"1234-5678\",\"volume\":\"3\","
		"\"first_page\":\"4\",\"last_page\":\"9\",\"release_date\":\"2020-02-03\","
		"\"keywords\":[\"k\"],\"license\":\"CC BY\"}";
	static const char *const wants[] = {"<title level=\"a\" type=\"main\">A &lt; B</title>",
		"<author><persName><forename>Ann</forename> <surname>Lee</surname></persName>"
		"<idno type=\"ORCID\">0000</idno><affiliation>U</affiliation></author>",
		"<author><persName>B</persName></author>", "<idno type=\"DOI\">10.1/x</idno>",
		"<title level=\"j\">J</title>", "<idno type=\"ISSN\">1234-5678</idno>",
		"<date when=\"2020-02-03\">2020-02-03</date>",
		"<biblScope unit=\"volume\">3</biblScope>",
		"<biblScope unit=\"page\">4-9</biblScope>", "<term>k</term>",
		"<abstract><p>Short.</p></abstract>", "<language ident=\"en-GB\"/>",
		"<licence>CC BY</licence>", "<text xml:lang=\"en-GB\">",
		"<application ident=\"ingest-worker\" version=\"1.2.3\">"};
	struct ing_buf xml;
	assert_true(write("a", 1, record, &xml));
	assert_well_formed(&xml);
	for (size_t i = 0; i < ING_ARRAY_LEN(wants); i++)
		if (strstr(xml.data, wants[i]) == NULL)
			fail_msg("no %s in %s", wants[i], xml.data);
	ing_buf_done(&xml);
	assert_true(write("a", 1, NULL, &xml));
	assert_non_null(strstr(xml.data, "<title level=\"a\" type=\"main\">Page</title>"));
	ing_buf_done(&xml);
}

static void languages_are_tags(void **state)
{
	(void)state;
	static const struct {
		const char *tag, *want;
	} tags[] = {{"en", "en"}, {"pt_BR", "pt-BR"}, {"zh-Hans-CN", "zh-Hans-CN"}, {"", NULL},
		{NULL, NULL}, {"e n", NULL}, {"en-", NULL}, {"-en", NULL}, {"1a", NULL},
		{"abcdefghi", NULL}, {"de-1996", "de-1996"}};
	char out[ING_TEI_LANGUAGE_BYTES];
	for (size_t i = 0; i < ING_ARRAY_LEN(tags); i++) {
		const char *got = ing_tei_language(tags[i].tag, out);
		if (tags[i].want == NULL)
			assert_null(got);
		else
			assert_string_equal(got, tags[i].want);
	}
}

/* Repeats `part` to at least `bytes`. */
static char *repeat(const char *part, size_t bytes, size_t *ret_bytes)
{
	size_t n = strlen(part), count = bytes / n + 1;
	char *s = ing_alloc(n * count + 1);
	for (size_t i = 0; i < count; i++)
		memcpy(s + i * n, part, n);
	*ret_bytes = n * count;
	return s;
}

static void deep_and_long_pages_are_well_formed(void **state)
{
	(void)state;
	static const char *const parts[] = {"<p>a", "<div>a", "<ul><li>a", "<b>a<i>b", "<h1>a<h6>b",
		"<table><tr><td>a<td>", "<table><tr><td>a<td>b</table>", "<blockquote>a", "a<br>",
		"<dl><dt>a<dt>", "<figure>a", "<section><h2>a</h2>b", "<a href=x>a</a>",
		"<math><mi>a", "<pre>a", "<div><img class=tex alt=x></div>a", "<td>a",
		"<div drop>a</div>", "<table><tr><td><math><mi>x</math><td>a"};
	for (size_t i = 0; i < ING_ARRAY_LEN(parts); i++) {
		size_t bytes;
		struct ing_buf xml;
		char *page = repeat(parts[i], 100000, &bytes);
		assert_true(write(page, bytes, NULL, &xml));
		assert_well_formed(&xml);
		ing_buf_done(&xml);
		free(page);
	}
}

static void a_document_has_a_ceiling(void **state)
{
	(void)state;
	size_t bytes;
	struct ing_buf xml;
	char *page = repeat("<p>0123456789<b>0123456789</b>", ING_MAX_TEI_BYTES, &bytes);
	assert_false(write(page, bytes, NULL, &xml));
	assert_true(xml.len <= ING_MAX_TEI_BYTES);
	ing_buf_done(&xml);
	free(page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(elements_become_tei),
		cmocka_unit_test(a_stated_text_is_paragraphs),
		cmocka_unit_test(header_has_the_record),
		cmocka_unit_test(languages_are_tags),
		cmocka_unit_test(deep_and_long_pages_are_well_formed),
		cmocka_unit_test(a_document_has_a_ceiling),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
