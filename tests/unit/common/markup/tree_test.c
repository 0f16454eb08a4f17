/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The flat tree: built by hand, and from pages.
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
#include "common/markup/html.h"

#define MAX_OUT ((size_t)1 << 20)

static const struct ing_html_limits limits = {
	.open_elements = 512,
	.tag_attributes = 256,
	.names = 10000,
	.tree_bytes = (size_t)8 << 20,
	.cpu_ms = 20000,
};

static struct ing_html *html; /* one for all: what a page leaves behind, the next would see */
static struct ing_tree *tree;

static void read_page(const char *page)
{
	ing_html_parse(html, page, strlen(page), NULL, &limits);
	ing_html_fill(html, tree);
}

static void write_open(const struct ing_tree *t, ing_node n, struct ing_buf *out)
{
	const struct ing_tree_node *node = &t->nodes[n];
	static const char *const marks[] = {[ING_NODE_TEXT] = "'",
		[ING_NODE_CDATA] = "[",
		[ING_NODE_DATA] = "{",
		[ING_NODE_COMMENT] = "!",
		[ING_NODE_OTHER] = "?"};
	if (node->kind != ING_NODE_ELEMENT) {
		ing_buf_add_str(out, marks[node->kind]);
		ing_buf_add(out, node->text.data, node->text.bytes);
		assert_int_equal(node->text.data[node->text.bytes], '\0');
		return;
	}
	ing_buf_printf(out, "(%s", ing_tree_name(t, n));
	for (unsigned i = 0; i < node->attr_count; i++) {
		const struct ing_tree_attr *a = &t->attrs[node->el.attrs + i];
		ing_buf_printf(out, " %s=%s", t->names[a->name].text, a->value);
	}
	ing_buf_add_char(out, ' ');
}

/* The tree in brackets; every invariant of tree.h is looked at on the way. */
static void write_tree(const struct ing_tree *t, struct ing_buf *out)
{
	uint32_t elements = 0;
	for (ing_node n = 0; n < t->count; n++) {
		const struct ing_tree_node *node = &t->nodes[n];
		write_open(t, n, out);
		if (node->kind == ING_NODE_ELEMENT)
			assert_int_equal(node->el.ordinal, elements++);
		if (n != ING_NODE_DOCUMENT) {
			assert_true(ing_tree_contains(t, node->parent, n));
			assert_true(node->end <= t->nodes[node->parent].end);
			if (node->prev == ING_NODE_NONE)
				assert_int_equal(ing_tree_first_child(t, node->parent), n);
			else
				assert_int_equal(ing_tree_next_sibling(t, node->prev), n);
		}
		for (ing_node at = n; at != ING_NODE_NONE && t->nodes[at].end == n + 1;
			at = t->nodes[at].parent) {
			if (t->nodes[at].kind == ING_NODE_ELEMENT)
				ing_buf_add_char(out, ')');
		}
	}
	assert_int_equal(elements, t->element_count);
	assert_int_equal(t->nodes[ING_NODE_DOCUMENT].end, t->count);
}

static void assert_tree(const char *want)
{
	struct ing_buf out;
	ing_buf_init(&out, MAX_OUT);
	write_tree(tree, &out);
	assert_string_equal(ing_buf_str(&out), want);
	ing_buf_done(&out);
}

#define PAGE(body) "(#root (html (head )(body " body ")))"

static void test_pages(void **state)
{
	static const struct {
		const char *page, *want;
	} cases[] = {
		{"", PAGE("")},
		{"<!doctype html><p id=a CLASS='b c'>x<b>y</b>z",
			"(#root ?(html (head )(body (p id=a class=b c 'x(b 'y)'z))))"},
		{"<!--c--><title>t</title>", "(#root !c(html (head (title 't))(body )))"},
		{"<script>a<b</script><style>s</style>",
			"(#root (html (head (script {a<b)(style {s))(body )))"},
		{"<body><template><p>a</p><template>b</template>c</template><i>d",
			PAGE("(template (p 'a)(template 'b)'c)(i 'd)")},
		{"<body><template></template>x", PAGE("(template )'x")},
		{"<svg viewBox=1 xlink:href='#a'><foreignObject><p>q</foreignObject></svg>",
			PAGE("(svg viewbox=1 xlink:href=#a (foreignobject (p 'q)))")},
		{"<table><tr><td>1", PAGE("(table (tbody (tr (td '1))))")},
		{"<o:p x:Y=1 data-Z=2 data-z=3>a</o:p>", PAGE("(o:p x:y=1 data-z=2 'a)")},
		{"<input disabled value=''>", PAGE("(input disabled= value= )")},
		{"a\0b", PAGE("'a")},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		read_page(cases[i].page);
		assert_tree(cases[i].want);
	}
}

static void test_modes(void **state)
{
	(void)state;
	read_page("<!doctype html><p>");
	assert_false(tree->xml);
	assert_string_equal(tree->encoding, "UTF-8");
	assert_null(tree->url);
	ing_tree_set_url(tree, "https://a.example/");
	assert_string_equal(tree->url, "https://a.example/");
	read_page("<meta charset=latin1><p>\xe9");
	assert_string_equal(tree->encoding, "windows-1252");
	assert_null(tree->url);
	/* Quirks change what <table> does to an open <p>; those of one page are not the next
	 * one's. */
	read_page("<!doctype html><p>1<table></table>");
	assert_tree("(#root ?(html (head )(body (p '1)(table ))))");
	read_page("<p>1<table></table>");
	assert_tree(PAGE("(p '1(table ))"));
}

static void test_attributes(void **state)
{
	(void)state;
	read_page("<a href=x class='one\tTwo' hidden>l</a>");
	ing_node a = ing_tree_next_named(tree, ING_NODE_DOCUMENT, ING_NODE_DOCUMENT, "a");
	assert_int_not_equal(a, ING_NODE_NONE);
	size_t bytes = 99;
	assert_string_equal(ing_tree_attr(tree, a, "href", &bytes), "x");
	assert_int_equal(bytes, 1);
	assert_string_equal(ing_tree_attr(tree, a, "hidden", &bytes), "");
	assert_int_equal(bytes, 0);
	assert_null(ing_tree_attr(tree, a, "id", NULL));
	assert_null(ing_tree_attr(tree, a + 1, "href", NULL));
	assert_true(ing_tree_attr_has_word(tree, a, "class", "two"));
	assert_true(ing_tree_attr_has_word(tree, a, "class", "one"));
	assert_false(ing_tree_attr_has_word(tree, a, "class", "on"));
	assert_false(ing_tree_attr_has_word(tree, a, "class", ""));
	assert_false(ing_tree_attr_has_word(tree, a, "id", "one"));
	assert_true(ing_tree_is(tree, a, "a"));
	assert_false(ing_tree_is(tree, a + 1, "a"));
	assert_string_equal(ing_tree_name(tree, a + 1), "");
	assert_string_equal(ing_tree_name(tree, ING_NODE_DOCUMENT), "#root");
	assert_int_equal(ing_tree_find_name(tree, "nosuch", 6), UINT32_MAX);
}

static void test_next_named(void **state)
{
	(void)state;
	read_page("<i>1</i><div><i>2</i><p><i>3</i></p></div><i>4</i>");
	ing_node div = ing_tree_next_named(tree, ING_NODE_DOCUMENT, ING_NODE_DOCUMENT, "div");
	char found[8] = "";
	for (ing_node n = ing_tree_next_named(tree, div, div, "i"); n != ING_NODE_NONE;
		n = ing_tree_next_named(tree, n, div, "i"))
		strncat(found, tree->nodes[n + 1].text.data, 1);
	assert_string_equal(found, "23");
	found[0] = '\0';
	for (ing_node n = ing_tree_next_named(tree, 0, 0, "i"); n != ING_NODE_NONE;
		n = ing_tree_next_named(tree, n, 0, "i"))
		strncat(found, tree->nodes[n + 1].text.data, 1);
	assert_string_equal(found, "1234");
	assert_int_equal(ing_tree_next_named(tree, div, div, "u"), ING_NODE_NONE);
	assert_string_equal(ing_tree_name(tree, ing_tree_body(tree)), "body");
	/* The index is the page's. */
	read_page("<u>1</u>");
	assert_int_equal(ing_tree_next_named(tree, 0, 0, "i"), ING_NODE_NONE);
	assert_int_not_equal(ing_tree_next_named(tree, 0, 0, "u"), ING_NODE_NONE);
	ing_tree_clear(tree);
	assert_int_equal(ing_tree_body(tree), ING_NODE_DOCUMENT);
}

static void test_names(void **state)
{
	static const struct {
		const char *name;
		uint32_t flags;
	} cases[] = {
		{"p", ING_NAME_BLOCK | ING_NAME_INLINE | ING_NAME_MARGIN},
		{"title", ING_NAME_BLOCK | ING_NAME_INLINE | ING_NAME_PRESERVE},
		{"pre", ING_NAME_BLOCK | ING_NAME_INLINE | ING_NAME_PRESERVE | ING_NAME_MARGIN |
				ING_NAME_VERBATIM},
		{"plaintext",
			ING_NAME_BLOCK | ING_NAME_PRESERVE | ING_NAME_MARGIN | ING_NAME_VERBATIM},
		{"textarea", ING_NAME_INLINE | ING_NAME_PRESERVE | ING_NAME_VERBATIM},
		{"div", ING_NAME_BLOCK},
		{"SPAN", ING_NAME_INLINE},
		{"a", ING_NAME_INLINE},
		{"Tbody", ING_NAME_BLOCK},
		{"wbr", ING_NAME_INLINE},
		{"address", ING_NAME_BLOCK | ING_NAME_INLINE},
		{"br", ING_NAME_INLINE | ING_NAME_BREAK},
		{"xmp", ING_NAME_MARGIN},
		{"foo", 0},
		{"blockquotes", 0},
		{"dialog", 0},
	};
	(void)state;
	ing_tree_clear(tree);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t id = ing_tree_intern(tree, cases[i].name, strlen(cases[i].name));
		assert_int_equal(tree->names[id].flags, cases[i].flags);
		assert_int_equal(ing_tree_intern(tree, cases[i].name, strlen(cases[i].name)), id);
	}
	uint32_t id = ing_tree_intern(tree, "Xlink:\xc3\x89tude", 12);
	assert_string_equal(tree->names[tree->names[id].lower].text, "xlink:\xc3\xa9tude");
	assert_int_equal(ing_tree_find_name(tree, "xlink:\xc3\xa9tude", 12), tree->names[id].lower);
}

static void test_many_names(void **state)
{
	(void)state;
	ing_tree_clear(tree);
	char name[32];
	for (unsigned i = 0; i < 20000; i++) {
		int n = snprintf(name, sizeof(name), "name-%u", i);
		assert_int_equal(ing_tree_intern(tree, name, (size_t)n), i + 1);
	}
	for (unsigned i = 0; i < 20000; i++) {
		int n = snprintf(name, sizeof(name), "name-%u", i);
		assert_int_equal(ing_tree_find_name(tree, name, (size_t)n), i + 1);
	}
	ing_tree_clear(tree);
	assert_int_equal(tree->name_count, 1);
}

/* By hand, strings copied: the copy is the tree's, and what is not closed is closed. */
static void test_build(void **state)
{
	(void)state;
	ing_tree_clear(tree);
	char copy[] = "value";
	assert_true(ing_tree_open(tree, ing_tree_intern(tree, "Article", 7)));
	assert_true(ing_tree_add_attr(tree, ing_tree_intern(tree, "ID", 2), copy, 5, false));
	assert_true(ing_tree_add_text(tree, ING_NODE_CDATA, copy, 3, false));
	assert_true(ing_tree_open(tree, ing_tree_intern(tree, "p", 1)));
	memset(copy, 'x', 5);
	ing_tree_finish(tree);
	assert_tree("(#root (article id=value [val(p )))");
	assert_string_equal(tree->names[tree->nodes[1].el.written].text, "Article");
	/* A finished tree takes nothing more. */
	assert_false(ing_tree_open(tree, 0));
	assert_false(ing_tree_add_text(tree, ING_NODE_TEXT, "a", 1, false));
	assert_false(ing_tree_open(tree, 12345));
}

static void test_memory_between_pages(void **state)
{
	(void)state;
	ing_tree_clear(tree);
	uint32_t p = ing_tree_intern(tree, "p", 1);
	char *text = calloc(1, 100000);
	assert_non_null(text);
	for (unsigned i = 0; i < 300000; i++) {
		assert_true(ing_tree_open(tree, p));
		assert_true(ing_tree_add_attr(tree, p, "v", 1, true));
		ing_tree_close(tree);
	}
	for (unsigned i = 0; i < 100; i++)
		assert_true(ing_tree_add_text(tree, ING_NODE_TEXT, text, 99999, false));
	ing_tree_finish(tree);
	assert_int_not_equal(ing_tree_next_named(tree, 0, 0, "p"), ING_NODE_NONE);
	assert_true(ing_tree_bytes(tree) > (size_t)20 << 20);
	ing_tree_clear(tree);
	assert_true(ing_tree_bytes(tree) < (size_t)4 << 20);
	free(text);
}

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
	ing_tree_free(NULL);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pages),
		cmocka_unit_test(test_modes),
		cmocka_unit_test(test_attributes),
		cmocka_unit_test(test_next_named),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_many_names),
		cmocka_unit_test(test_build),
		cmocka_unit_test(test_memory_between_pages),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
