/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What selectors find: elements named by their ids, pseudo elements by their text. Every part of
 * the grammar, and what :matchText leaves behind.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "common/markup/html.h"
#include "worker/scrape/jsoup/selector.h"
#include "worker/scrape/jsoup/text.h"
#include "common/markup/xml.h"

struct page {
	struct ing_html *html;
	struct ing_tree *t;
	struct ing_matcher *m;
};

static void open_page(struct page *p, const char *markup, bool xml)
{
	static const struct ing_html_limits limits = {512, 256, 10000, 1 << 26, 10000};
	static const struct ing_xml_limits xml_limits = {512, 1 << 26, 10000};
	struct ing_error err = {0};
	p->html = ing_html_new();
	p->t = ing_tree_new();
	p->m = ing_matcher_new();
	if (xml) {
		assert_int_equal(
			ing_xml_parse(p->t, markup, strlen(markup), NULL, &xml_limits, &err), 0);
	} else {
		ing_html_parse(p->html, markup, strlen(markup), NULL, &limits);
		ing_html_fill(p->html, p->t);
	}
	ing_tree_set_url(p->t, "https://h.example/d/p");
	ing_matcher_bind(p->m, p->t, 0);
}

static void close_page(struct page *p)
{
	ing_matcher_free(p->m);
	ing_tree_free(p->t);
	ing_html_free(p->html);
}

static struct ing_selector *compile(const char *text)
{
	struct ing_selector *s = NULL;
	struct ing_error err = {0};
	if (ing_selector_compile(text, strlen(text), &s, &err) < 0)
		fail_msg("%s: %d: %s", text, err.column, err.msg);
	return s;
}

/* "id id "text"": an element without an id by its name in <>. */
static void name_node(const struct ing_tree *t, ing_node n, struct ing_buf *out)
{
	if (out->len > 0)
		ing_buf_add_char(out, ' ');
	const char *id = ing_tree_attr(t, n, "id", NULL);
	if (t->nodes[n].pseudo) {
		ing_buf_add_char(out, '"');
		ing_text(t, n, out);
		ing_buf_add_char(out, '"');
	} else if (id != NULL) {
		ing_buf_add_str(out, id);
	} else {
		ing_buf_printf(out, "<%s>", ing_tree_name(t, n));
	}
}

static void check_in(struct page *p, const char *selector, ing_node root, const char *want)
{
	struct ing_selector *s = compile(selector);
	struct ing_error err = {0};
	struct ing_matches found;
	struct ing_buf got;
	ing_node first;
	ing_buf_init(&got, 1 << 20);
	if (ing_select(p->m, s, root, &found, &err) < 0)
		fail_msg("%s: %s", selector, err.msg);
	ing_node expected = found.count > 0 ? found.nodes[0] : ING_NODE_NONE;
	for (size_t i = 0; i < found.count; i++)
		name_node(p->t, found.nodes[i], &got);
	if (strcmp(ing_buf_str(&got), want) != 0)
		fail_msg("%s: found %s, not %s", selector, ing_buf_str(&got), want);
	if (strstr(selector, "matchText") == NULL) { /* whose second search is another one */
		assert_int_equal(ing_select_first(p->m, s, root, &first, &err), 0);
		assert_int_equal(first, expected);
	}
	ing_buf_done(&got);
	ing_selector_free(s);
}

static ing_node node_of(struct page *p, const char *id)
{
	for (ing_node n = 0; n < p->t->count; n++) {
		const char *value = ing_tree_attr(p->t, n, "id", NULL);
		if (p->t->nodes[n].kind == ING_NODE_ELEMENT && value != NULL &&
			strcmp(value, id) == 0)
			return n;
	}
	fail_msg("no #%s", id);
	return ING_NODE_NONE;
}

struct one {
	const char *selector, *want;
};

static void check_all(const char *markup, bool xml, const struct one *cases, size_t count)
{
	struct page p;
	open_page(&p, markup, xml);
	for (size_t i = 0; i < count; i++)
		check_in(&p, cases[i].selector, ING_NODE_DOCUMENT, cases[i].want);
	close_page(&p);
}

#define CHECK_ALL(markup, xml, cases) check_all(markup, xml, cases, ING_ARRAY_LEN(cases))

static void test_simple(void **state)
{
	static const struct one cases[] = {
		{"P", "p1 p2"},
		{"#p1", "p1"},
		{"#P1", ""},
		{".x", "p1 a1"},
		{".X.y", "p1"},
		{".\xc3\x89t\xc3\xa9", "p2"},
		{".\xc3\xa9t\xc3\x89", "p2"},
		{".nb", ""}, /* a no-break space does not divide */
		{"p.x", "p1"},
		{"*.x", "p1 a1"},
		{"[id]p", "p1 p2"},
		{"p, #p1, .x", "p1 p2 a1"},
		{"ns|el", "e1"},
		{"*|el", "e1 e2"},
		{"el", "e2"},
		{"ns|*", "e1"},
		{"#a\\:b", "a:b"},
		{"#\\61 \\3a b", "a:b"},
		{"*|*:not(p)", "<#root> <html> <head> <title> <body> a1 e1 e2 a:b"},
		{"title, #a1", "<title> a1"},
		{".zz, #zz, zz", ""},
		{"zz .x, p", "p1 p2"},
	};
	(void)state;
	CHECK_ALL(
		"<title>t</title><p id=p1 class=' x Y\tx'></p><p id=p2 class='\xc3\x89t\xc3\xa9 n\xc2\xa0nb'></p>"
		"<a id=a1 class=x></a><ns:el id=e1></ns:el><el id=e2></el><i id='a:b'></i>",
		false, cases);
}

static void test_attributes(void **state)
{
	static const struct one cases[] = {
		{"[title]", "a b c d"},
		{"[TITLE]", "a b c d"},
		{"[ title ]", "a b c d"},
		{"[title=alpha]", "a b"},
		{"[title=\"ALPHA\"]", "a b"},
		{"[title='alpha']", "a b"},
		{"[title = alpha ]", "a b"},
		{"i[title!=alpha]", "b c d e f"}, /* b: its own spaces count there */
		{"[title=one two]", "c"},
		{"[title^=one]", "c"},
		{"[title^= one]", "c"},
		{"[title^=' one']", ""},
		{"[title$=TWO]", "c"},
		{"[title*='e t']", "c"},
		{"[title*=E T]", "c"},
		{"[title=]", "d"},
		{"[title='']", "d"},
		{"[title~=^[A-Z]]", "a"},
		{"[title~=(?i)^ALPHA$]", "a"},
		{"[title~=o.*o]", "c"},
		{"[^ti]", "a b c d"},
		{"[^DATA-]", "e"},
		{"i[*]", "a b c d e f"},
		{"i[^]", "a b c d e f"},
		{"[data-u=\xc3\x84\xc3\x96]", "e"},
		{"[href^=x]", "f"},
		{"[abs:href=https://h.example/d/x?1#y]", "f"},
		{"[abs:href]", "f"},
		{"[abs:href~=^https://h]", "f"},
		{"[abs:title^=https://h.example/d/one]", "c"},
		{"[nothing]", ""},
		{"[nothing!=x]:not([id])", "<#root> <html> <head> <body>"},
	};
	(void)state;
	CHECK_ALL(
		"<i id=a title=Alpha></i><i id=b title=' alpha '></i><i id=c title='one two'></i><i id=d title></i>"
		"<i id=e data-u='\xc3\xa4\xc3\xb6'></i><i id=f href='x?1#y'></i>",
		false, cases);
}

#define LISTS                                                                                          \
	"<ul id=u><li id=l1>1</li><li id=l2 class=k>2</li>text<li id=l3>3</li><b id=b1></b><li id=l4 " \
	"class=k>4</li></ul><p id=p><b id=b2></b></p><p id=q></p>"

/* A part of a value at every place of it, in any case, and what is like it but for a letter. */
static void test_part_of_value_everywhere(void **state)
{
	static const struct {
		const char *selector, *part;
		bool found;
	} cases[] = {{"p[x*=/download/xml/]", "/Download/XML/", true},
		{"p[x*=/download/xml/]", "/Download/XMk/", false}, {"p[x*=zed]", "ZeD", true},
		{"p[x*=zed]", "[ed", false}, {"p[x*=aa]", "aA", true}, {"p[x*=@]", "@", true},
		{"p[x*=@]", "`", false}, {"p[x*=\xc3\xa9t]", "\xc3\x89T", true},
		{"p[x*=\xc3\xa9t]", "et", false}};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		for (size_t n = 0; n < 20 * 20; n++) {
			struct ing_buf page;
			struct page p;
			ing_buf_init(&page, 1000);
			ing_buf_printf(&page, "<p id=p x='%.*s%s%.*s'>", (int)(n % 20),
				"....................", cases[i].part, (int)(n / 20),
				"/...................");
			open_page(&p, page.data, false);
			check_in(&p, cases[i].selector, ING_NODE_DOCUMENT,
				cases[i].found ? "p" : "");
			close_page(&p);
			ing_buf_done(&page);
		}
	}
}

static void test_places(void **state)
{
	static const struct one cases[] = {
		{"li:eq(0)", "l1"},
		{"li:eq( 1 )", "l2"},
		{"li:lt(2)", "l1 l2"},
		{"li:gt(2)", "l4"},
		{":eq(0)", "<#root> <html> <head> u l1 b2"},
		{":lt(1)", "<html> <head> u l1 b2"},
		{"li:first-child", "l1"},
		{"li:last-child", "l4"},
		{"b:only-child", "b2"},
		{"html:first-child", ""},
		{"b:first-of-type", "b1 b2"},
		{"p:last-of-type", "q"},
		{"ul:only-of-type", "u"},
		{"li:nth-child(odd)", "l1 l3 l4"},
		{"li:nth-child(even)", "l2"},
		{"li:nth-child(2n+1)", "l1 l3 l4"},
		{"li:nth-child(2N + 1)", "l1 l3 l4"},
		{"li:nth-child(-n+2)", "l1 l2"},
		{"li:nth-child(n+3)", "l3 l4"},
		{"li:nth-child(3)", "l3"},
		{"li:nth-child(0)", ""},
		{"li:nth-child(-3)", ""},
		{"li:nth-last-child(1)", "l4"},
		{"li:nth-last-child(-n+3)", "l3 l4"},
		{"li:nth-of-type(4)", "l4"},
		{"li:nth-last-of-type(2n)", "l1 l3"},
		{":root", "<html>"},
		{":root > body > p", "p q"},
		{"p:empty", "q"},
		{"> html", "<html>"},
		{"> body", ""},
		{"+ body", ""},
	};
	(void)state;
	CHECK_ALL(LISTS, false, cases);
}

static void test_empty(void **state)
{
	static const struct one cases[] = {
		{"p:empty", "a b c"},
		{"p:blank", "a b c d f"},
	};
	(void)state;
	CHECK_ALL(
		"<p id=a></p><p id=b> \n </p><p id=c> <!-- c --></p><p id=d><b></b></p><p id=e>\xc2\xa0</p>"
		"<p id=f><br></p><p id=g>x</p>",
		false, cases);
}

static void test_combinators(void **state)
{
	static const struct one cases[] = {
		{"ul li", "l1 l2 l3 l4"},
		{"ul>li", "l1 l2 l3 l4"},
		{"body > li", ""},
		{"li + li", "l2 l3"},
		{"li + b + li", "l4"},
		{"li ~ li.k", "l2 l4"},
		{"b ~ li", "l4"},
		{"ul ~ p b", "b2"},
		{"ul + p + p", "q"},
		{"li:not(.k)", "l1 l3"},
		{"li:not(.k, :eq(0))", "l3"},
		{"li:not(li + li)", "l1 l4"},
		{"li:not(b ~ *)", "l1 l2 l3"},
		{"li:is(.k, #l1)", "l1 l2 l4"},
		{":is(p, ul) > b", "b1 b2"},
		{"ul:has(b)", "u"},
		{"body :has(b)", "u p"},
		{"body :has(> b)", "u p"},
		{":has(> b)", "u p"},
		{"body:has(ul b)", "<body>"},
		{"ul:has(ul b)", "u"}, /* an inner chain may begin at the element itself */
		{"ul:has(body b)", ""},
		{"ul:has(li + b)", "u"},
		{"p:has(li + b)", ""},
		{"p:has(~ p)", "p"},
		{":has(+ p)", "u p"},
		{"li:has(+ b)", "l3"},
		{"li:has(~ b)", "l1 l2 l3"},
		{"li:has(+ li.k, + b)", "l1 l3"},
		{"ul:has(> li ~ b)", "u"},
		{"body:has(> p > b)", "<body>"},
		{"body:has(> b)", ""},
		{"body > :not(:has(*))", "q"},
		{"ul:has(:root > li)", "u"},
		{"body:has(:root > li)", ""},
		{"body:has(:not(body li, ul, b, p))", ""},
		{"ul:has(:not(body li):not(b))", "u"},
		{"ul:has(:not(ul > li):not(b))", ""},
		{"body:has(ul:has(li:has(b)))", ""},
		{"body:has(ul:has(li))", "<body>"},
	};
	(void)state;
	CHECK_ALL(LISTS, false, cases);
}

static void test_texts(void **state)
{
	static const struct one cases[] = {
		{"p:contains(ONE two)", "a"},
		{"p:contains(one  two)", "a"},
		{"p:containsOwn(one two)", ""},
		{"p:containsOwn(one)", "a"},
		{"p:containsOwn( three)", "a"},
		{"p:contains(\xc3\xa4)", "b"},
		{"p:contains(\xc3\x84 (x))", "b"},
		{"p:contains(don\\'t)", "b"},
		{"p:contains('x')", ""},
		{"p:containsWholeText(a\nb)", "c"},
		{"p:containsWholeText(A)", ""},
		{"p:containsWholeOwnText(a\nb)", "c"},
		{"p:containsData(VAR Q)", "d"},
		{"p:containsData(note)", "d"},
		{"p:contains(var)", ""},
		{"p:matches(^One two)", "a"},
		{"p:matches(^one)", ""},
		{"p:matches((?i)^one)", "a"},
		{"p:matchesOwn(^One three$)", "a"},
		{"p:matches([\\(]x\\) don\\'t$)", "b"},
		{"p:matches(\\Q(x)\\E)", "b"},
		{"p:matchesWholeText(a\\nb)", "c"},
		{"p:matchesWholeOwnText(^\\s+$)", ""},
		{"p:matches(^$)", "d"},
		{"body:contains(one):has(b:contains(two))", "<body>"},
	};
	(void)state;
	CHECK_ALL(
		"<p id=a>One<b> two </b> three</p><p id=b>\xc3\x84 (x) don't</p><p id=c> a<br>b </p>"
		"<p id=d><script>var q</script><!--Note--></p>",
		false, cases);
}

static void test_match_text(void **state)
{
	/* Each line is searched after those before it, in the same page. */
	static const struct one cases[] = {
		{"h1:contains(Raw d text)", "h"},
		{"h1:containsOwn(text)", "h"},
		{"h1.t:matchText, h1.t > :not(.d)", "\"Raw\" \"text\""},
		{"h1:containsOwn(text)", "\"text\""}, /* its text is its children's now */
		{"h1:contains(Raw d text)", "h"},
		{"h1 > *", "\"Raw\" e \"text\""},
		{".t", "h \"Raw\" \"text\""},
		{"#h", "h \"Raw\" \"text\""},
		{"h1 + *", "e p"},
		{"h1:first-child", "h \"Raw\""},
		{"h1:has(h1)", "h"},
		{"h1:has(> em + h1)", "h"},
		{"em:nth-child(2)", "e"},
		{"em:eq(1)", "e"},
		{"h1:nth-of-type(2)", "\"text\""},
		{"h1:last-of-type", "h \"text\""},
		{"p > :matchText", "\"x\" \"y\" \"z\""},
		{"p :matchText + b", "b"},
		{"p:empty", ""},
		{"b ~ p", "\"y\" \"z\""},
	};
	(void)state;
	CHECK_ALL(
		"<h1 id=h class=t>Raw <em id=e class=d>d</em> text</h1><p id=p>x<b id=b>k</b>y<i></i>z</p>",
		false, cases);
}

/* An alternative that matched before :matchText is asked spares the text. */
static void test_match_text_is_lazy(void **state)
{
	static const struct one cases[] = {
		{"p, :matchText", "<p> <p>"},
		{"p > :matchText", "\"a\" \"b\""},
	};
	static const struct one visited[] = {
		{"table:has(th:matchesOwn(k)) td:matchText", "\"v\""},
		{"table:has(th:matchesOwn(k))", "<table>"},
	};
	(void)state;
	CHECK_ALL("<p>a</p><p>b</p>", false, cases);
	CHECK_ALL("<table><tr><th>k</th><td>v</td></tr></table>", false, visited);
}

static void test_roots(void **state)
{
	struct page p;
	(void)state;
	open_page(&p, LISTS, false);
	ing_node u = node_of(&p, "u");
	check_in(&p, "*", u, "u l1 l2 l3 b1 l4");
	check_in(&p, "body li", u, ""); /* what is above the root is not seen */
	check_in(&p, "ul li.k", u, "l2 l4");
	check_in(&p, "> li.k", u, "l2 l4");
	check_in(&p, ":root", u, "u");
	check_in(&p, ":lt(1)", u, "l1");
	check_in(&p, "ul + p, p", u, "");
	check_in(&p, "body > ul", u, "");
	check_in(&p, "ul:first-child", u, "u"); /* its place is its true one */
	check_in(&p, ":has(+ p)", u, "u");
	check_in(&p, "li:matchText", u, "\"1\" \"2\" \"3\" \"4\"");
	check_in(&p, "li", u, "l1 \"1\" l2 \"2\" l3 \"3\" l4 \"4\"");
	close_page(&p);
}

static void test_xml(void **state)
{
	static const struct one cases[] = {
		{"article-title", "t"},
		{"Article-Title", "t"},
		{"[contrib-type=AUTHOR]", "c"},
		{"x|ref", "r"},
		{"*|ref", "r s"},
		{"[X:href]", "r"},
		{"contrib > x|ref", "r"},
		{"p:contains(one xtwo)", "p"},
		{"data:containsOwn(raw <b>)", "d"},
		{":root", "<article>"},
	};
	(void)state;
	CHECK_ALL(
		"<Article xmlns:x='u'><Article-Title id='t'>T</Article-Title><contrib id='c' "
		"contrib-type='author'><x:ref id='r' x:href='/'/><ref id='s'/></contrib><p id='p'>One<list>"
		"<p id='i'>x</p></list>two</p><data id='d'><![CDATA[ raw <b> ]]></data></Article>",
		true, cases);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_simple),
		cmocka_unit_test(test_attributes),
		cmocka_unit_test(test_part_of_value_everywhere),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_combinators),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_match_text),
		cmocka_unit_test(test_match_text_is_lazy),
		cmocka_unit_test(test_roots),
		cmocka_unit_test(test_xml),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
