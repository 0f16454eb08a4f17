/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Parts of publications: of one article with something of everything, and of small documents that
 * show one thing each.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "common/markup/xml.h"
#include "worker/document/xml/jats.h"

static const struct ing_xml_limits limits = {
	.open_elements = 512,
	.tree_bytes = (size_t)64 << 20,
	.cpu_ms = 20000,
};

static json_t *publication_of(const char *data, size_t bytes)
{
	struct ing_tree *t = ing_tree_new();
	struct ing_arena ar;
	struct ing_error err = {0};
	const struct ing_xml_uses uses = {.hollow = ing_jats_hollow, .no_root_prefix = true};
	ing_arena_init(&ar);
	assert_int_equal(ing_xml_parse_for(t, data, bytes, NULL, &limits, &uses, &err), 0);
	json_t *p = ing_jats_publication(t, ING_PART_TYPE_PMC_XML, &ar);
	ing_arena_done(&ar);
	ing_tree_free(t);
	return p;
}

/* The part's text, its list in "a; b", the first author in "name, orcid, email, phone, uri; …", or
 * "" when there is none. */
static const char *part(json_t *p, const char *key)
{
	static struct ing_buf out;
	if (out.max == 0)
		ing_buf_init(&out, 1 << 20);
	ing_buf_clear(&out);
	json_t *v = json_object_get(p, key), *list = json_object_get(v, "list"), *one;
	size_t i;
	assert_non_null(v);
	if (json_is_object(v))
		assert_string_equal(json_string_value(json_object_get(v, "type")), "pmc_xml");
	if (json_is_string(v) || json_object_get(v, "content") != NULL)
		ing_buf_add_str(&out,
			json_string_value(json_is_string(v) ? v : json_object_get(v, "content")));
	json_array_foreach (list, i, one)
		ing_buf_printf(&out, "%s%s", i > 0 ? "; " : "", json_string_value(one));
	json_array_foreach (v, i, one) {
		static const char *const keys[] = {"name", "orcid", "email", "phone", "uri"};
		const char *between = i > 0 ? "; " : "";
		for (size_t k = 0; k < 5; k++) {
			const char *s = json_string_value(json_object_get(one, keys[k]));
			if (s == NULL)
				continue;
			ing_buf_printf(&out, "%s%s", between, s);
			between = ", ";
		}
	}
	return ing_buf_str(&out);
}

static void assert_part(json_t *p, const char *key, const char *want)
{
	assert_string_equal(part(p, key), want);
}

static void reads_an_article(void **state)
{
	char data[16384];
	FILE *f = fopen(ING_TEST_DATA "/jats/article.xml", "rb");
	(void)state;
	assert_non_null(f);
	size_t bytes = fread(data, 1, sizeof(data), f);
	fclose(f);
	json_t *p = publication_of(data, bytes);
	assert_part(p, "pmid", "12345678");
	assert_part(p, "pmcid", "PMC7654321");
	assert_part(p, "doi", "10.1234/ABC.5");
	assert_part(p, "title", "On things & others : a study");
	assert_part(p, "keywords", "one; two");
	assert_part(
		p, "abstract", "Background\n\nWe looked at it.\n\nResults\n\nIt was \xce\xb1 < 5.");
	assert_part(p, "fulltext",
		"On things & others : a study\n\nBackground\n\nWe looked at it.\n\nResults\n\nIt was "
		"\xce\xb1 < 5.\n\nOpening.\n\nIntro\n\nSee [1]. x2 and $y$\n\nDeep\n\nDeeper a b\n\nBox"
		"\n\nIn the box.\n\nAB\n\na bee\n\nFigure 1 T C");
	assert_part(p, "corresp_author",
		"Anna B. M\xc3\xbcller, https://orcid.org/0000-0002-1825-0097, "
		"mueller.anna@example.com; Chidi Okoro, c.okoro@example.org, +49 30 1234567");
	assert_part(p, "journal_title", "Revue d'\xc3\xa9tudes");
	assert_part(p, "pub_date", "2020-02-03");
	assert_true(json_is_true(json_object_get(p, "oa")));
	assert_true(json_is_null(json_object_get(p, "preprint")));
	json_decref(p);
}

#define META(s) "<article><front><article-meta>" s "</article-meta></front></article>"
#define BODY(s) "<article><front/><body>" s "</body></article>"
#define BACK(s) "<article><body><p>B</p></body><back>" s "</back></article>"
#define CONTRIB(attrs, given, surname, more)                                                       \
	"<contrib " attrs "><name><surname>" surname "</surname><given-names>" given               \
	"</given-names></name>" more "</contrib>"
#define NOTES(s) "<author-notes><corresp id='c1'>" s "</corresp></author-notes>"
#define TEX(s) "\\documentclass{minimal}\\begin{document}" s "\\end{document}"

static const struct {
	const char *name, *key, *xml, *want;
} cases[] = {
	{"number of PMC without its prefix", "pmcid",
		META("<article-id pub-id-type='pmc'>123</article-id>"), "PMC123"},
	{"its newer name", "pmcid", META("<article-id pub-id-type='pmcid'>PMC9</article-id>"),
		"PMC9"},
	{"elements with a prefix", "pmcid",
		"<j:article xmlns:j='x'><j:front><j:article-meta><j:article-id pub-id-type='pmc'>9"
		"</j:article-id></j:article-meta></j:front></j:article>",
		"PMC9"},
	{"no number", "pmcid", META("<article-id pub-id-type='pmc'>PMCx</article-id>"), ""},
	{"a number of another article", "pmid",
		META("<related-article><article-id pub-id-type='pmid'>5</article-id></related-article>"
		     "<article-id pub-id-type='publisher-id'>6</article-id>"),
		""},
	{"DOI with white space", "doi",
		META("<article-id pub-id-type='doi'>\n doi:10.1/x\n</article-id>"), "10.1/X"},
	{"title alone", "title",
		META("<title-group><article-title>\n A <sub>2</sub>\n B<fn><p>note</p></fn>"
		     "</article-title></title-group>"),
		"A 2 B"},
	{"title with marks of notes and a reference", "title",
		META("<title-group><article-title>On x<xref ref-type='corresp'>*</xref> by <xref "
		     "ref-type='bibr'>Bee</xref><xref ref-type='bibr'>12</xref></article-title><subtitle>"
		     "y<xref ref-type='fn'>a</xref></subtitle></title-group>"),
		"On x by Bee : y"},
	{"a heading that says abstract", "abstract",
		META("<abstract><title>Abstract</title><p>A</p></abstract><abstract><title>ABSTRACT:"
		     "</title><sec><title>Abstract</title><p>B</p></sec></abstract>"),
		"A\n\nAbstract\n\nB"},
	{"and one that says more", "abstract",
		META("<abstract><title>Abstract words</title><p>A</p></abstract>"),
		"Abstract words\n\nA"},
	{"keywords of two groups", "keywords",
		META("<kwd-group><kwd> a </kwd></kwd-group><kwd-group><kwd>b</kwd><kwd/></kwd-group>"),
		"a; b"},
	{"two abstracts, none of them graphical", "abstract",
		META("<abstract><p>A</p></abstract><abstract abstract-type='graphical'><p>G</p>"
		     "</abstract><abstract abstract-type='summary'><title>T</title><p>S</p></abstract>"
		     "<trans-abstract><p>X</p></trans-abstract>"),
		"A\n\nT\n\nS"},
	{"an abstract in another language only", "abstract",
		META("<trans-abstract><p>X</p></trans-abstract>"), "X"},
	{"date without a day", "pub_date",
		META("<pub-date><year>2001</year><month>2</month></pub-date>"), ""},
	{"date that is none", "pub_date",
		META("<pub-date><year>2001</year><month>13</month><day>1</day></pub-date>"), ""},

	{"sections in sections, once each", "fulltext",
		BODY("<p>a</p><sec><title>T</title><p>b</p><sec><p>c</p><sec><p>d</p></sec></sec>"
		     "<p>e</p></sec>"),
		"a\n\nT\n\nb\n\nc\n\nd\n\ne"},
	{"sections in a box, once", "fulltext",
		BODY("<sec><boxed-text><sec><title>T</title><p>a</p></sec></boxed-text></sec>"),
		"T\n\na"},
	{"a box without sections", "fulltext", BODY("<boxed-text><p>a</p><p>b</p></boxed-text>"),
		"a b"},
	{"text between elements", "fulltext", BODY("<sec>loose<p>a</p></sec>"), "loose\n\na"},
	{"signatures and lists of references", "fulltext",
		BODY("<sec><p>a</p><ref-list><title>R</title><ref>x</ref></ref-list></sec>"
		     "<sig-block>S</sig-block>"),
		"a"},
	{"a table", "fulltext",
		BODY("<table-wrap><label>1</label><table><tr><th>a</th><td>b</td></tr><tr><td>c</td>"
		     "</tr></table></table-wrap>"),
		"1 a b c"},
	{"what is set apart does not stick to what is beside it", "fulltext",
		BODY("<p>One<break/>two <disp-formula><graphic/></disp-formula>in which <inline-formula>x"
		     "</inline-formula>y</p><fig><object-id>10.1/f1</object-id><label>Figure 1</label>"
		     "<caption>Text</caption></fig>"),
		"One two in which xy\n\nFigure 1 Text"},
	{"no text, no title either", "fulltext",
		META("<title-group><article-title>Title</article-title></title-group>"), ""},
	{"back matter", "fulltext",
		BACK("<ack><p>no</p></ack><notes><p>N</p></notes><sec><title>S</title><sec><p>s</p>"
		     "</sec></sec><fn-group><fn><p>no</p></fn></fn-group><app-group><app><p>no</p>"
		     "</app></app-group><notes><ref-list><ref>no</ref></ref-list></notes>"),
		"B\n\nN\n\nS\n\ns"},
	{"glossary", "fulltext",
		BACK("<glossary><title>G</title><def-list><term-head>H</term-head><def-item><term>t"
		     "</term><def><p>d</p></def></def-item></def-list><table><tr><td>x</td></tr>"
		     "</table></glossary>"),
		"B\n\nH\n\nt\n\nd\n\nx"},
	{"the first article of a set", "fulltext",
		"<pmc-articleset>" BODY("<p>one</p>") BODY("<p>two</p>") "</pmc-articleset>",
		"one"},
	{"a reply to the article", "fulltext",
		"<article><front/><body><p>a</p></body><response><front-stub/><body><p>r</p></body>"
		"</response></article>",
		"a"},

	{"TeX beside MathML", "fulltext",
		BODY("<p>a<disp-formula><alternatives><tex-math>T</tex-math><mml:math><mml:mi>x"
		     "</mml:mi><mml:annotation encoding='TeX'>no</mml:annotation></mml:math>"
		     "</alternatives></disp-formula></p>"),
		"a x"},
	{"TeX alone", "fulltext",
		BODY("<p>a <inline-formula><tex-math><![CDATA[" TEX(
			"$x<1$") "]]></tex-math>"
				 "</inline-formula></p>"),
		"a $x<1$"},
	{"TeX of one formula, MathML of another", "fulltext",
		BODY("<p><inline-formula><tex-math>T</tex-math></inline-formula>, <inline-formula>"
		     "<mml:math><mml:mi>x</mml:mi></mml:math></inline-formula></p>"),
		"T, x"},
	{"TeX without an end", "fulltext", BODY("<p><tex-math>\\begin{document}T</tex-math></p>"),
		"T"},

	{"an author with an address", "corresp_author",
		META(CONTRIB("corresp='yes'", "A.", "Bee", "<email>a@b.example</email>")
				CONTRIB("", "C.", "Dee", "<email>c@d.example</email>")),
		"A. Bee, a@b.example"},
	{"marked by a reference", "corresp_author",
		META(CONTRIB("", "A.", "Bee", "<xref ref-type='corresp' rid='c1'/>")
				CONTRIB("", "C.", "Dee", "") NOTES("To: x.y@z.example.")),
		"A. Bee, x.y@z.example"},
	{"marked by a footnote", "corresp_author",
		META(CONTRIB("", "A.", "Bee", "<xref ref-type='author-notes' rid='fn1'/>") CONTRIB(
			"", "C.", "Dee",
			"<xref ref-type='author-notes' rid='q'/>") "<author-notes><fn id='fn1'><p>Phone 0123 4567, x@z.example</p></fn>"
								   "</author-notes>"),
		"A. Bee, x@z.example, 0123 4567"},
	{"named in the note", "corresp_author",
		META(CONTRIB("", "A.", "Bee", "") CONTRIB("", "C.", "Dee", "")
				NOTES("Prof. Dee, q@z.example")),
		"C. Dee, q@z.example"},
	{"two addresses in one note, by name", "corresp_author",
		META(CONTRIB("corresp='yes'", "Jos\xc3\xa9",
			"Nu\xc3\xb1"
			"ez",
			"") CONTRIB("corresp='yes'", "Wei-Ling", "Chen",
			"") NOTES("<email>wlc@z.example</email> <email>nunez7@z.example</email>")),
		"Jos\xc3\xa9 Nu\xc3\xb1"
		"ez, nunez7@z.example; Wei-Ling Chen, wlc@z.example"},
	{"an address in a link", "corresp_author",
		META(CONTRIB("corresp='yes'", "A.", "Bee",
			"<email xlink:href='mailto:a%2Bb@c.example?subject=x'>write</email>")),
		"A. Bee, a+b@c.example"},
	{"a telephone number with a dash of typesetters", "corresp_author",
		META(CONTRIB("corresp='yes'", "A.", "Bee", "")
				NOTES("a@z.example Telephone: (910) 962\xe2\x80\x93"
				      "2514. Fax: 1")),
		"A. Bee, a@z.example, (910) 962\xe2\x80\x93"
		"2514"},
	{"not an address", "corresp_author",
		META(CONTRIB("corresp='yes'", "A.", "Bee", "") NOTES("@home, a@b, x@1.2 @@")),
		"A. Bee"},
	{"a group's members are not its authors", "corresp_author",
		META("<contrib><collab>G</collab><contrib-group>" CONTRIB(
			"corresp='yes'", "A.", "Bee", "") "</contrib-group></contrib>"),
		""},
	{"nobody corresponds", "corresp_author", META(CONTRIB("", "A.", "Bee", "")), ""},
};

static void reads_parts(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("%s\n", cases[i].name);
		json_t *p = publication_of(cases[i].xml, strlen(cases[i].xml));
		assert_non_null(p);
		assert_part(p, cases[i].key, cases[i].want);
		json_decref(p);
	}
}

static void other_documents_are_no_publication(void **state)
{
	(void)state;
	assert_null(publication_of("<TEI/>", 6));
	json_t *p = publication_of("<article/>", 10);
	assert_part(p, "fulltext", "");
	json_decref(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_an_article),
		cmocka_unit_test(reads_parts),
		cmocka_unit_test(other_documents_are_no_publication),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
