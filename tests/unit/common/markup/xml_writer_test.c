/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Documents written anew: what they become, that they say the same, and what cannot be written.
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

#define HEAD "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
#define BYTES(s) s, sizeof(s) - 1
#define JATS "<!DOCTYPE article PUBLIC \"-//NLM//DTD JATS (Z39.96) v1.2//EN\" \"x.dtd\">"

static const struct ing_xml_limits limits = {
	.open_elements = 512,
	.tree_bytes = (size_t)64 << 20,
	.cpu_ms = 20000,
};

static struct ing_tree *tree;
static struct ing_error error;

static int rewrite(const void *data, size_t bytes, size_t max_bytes, struct ing_buf *ret)
{
	ing_buf_init(ret, max_bytes);
	const struct ing_xml_uses uses = {.rewritten = ret};
	ing_error_clear(&error);
	return ing_xml_parse_for(tree, data, bytes, NULL, &limits, &uses, &error);
}

static void test_documents(void **state)
{
	static const struct {
		const char *xml;
		size_t bytes;
		const char *want; /* behind the declaration; a line feed follows */
	} cases[] = {
		{BYTES("<a/>"), "<a/>"},
		{BYTES("<a></a>"), "<a/>"},
		{BYTES("<A b='1' C=\"2\"><d/>x<e>y</e> </A>"),
			"<A b=\"1\" C=\"2\"><d/>x<e>y</e> </A>"},
		{BYTES("<a viewBox='0 0' t='&quot;&lt;&amp;&gt;&#9;&#10;&#13;'/>"),
			"<a viewBox=\"0 0\" t=\"&quot;&lt;&amp;&gt;&#9;&#10;&#13;\"/>"},
		{BYTES("<a>\"&lt;&amp;&gt;\t\n&#13;]]&gt;</a>"),
			"<a>\"&lt;&amp;&gt;\t\n&#13;]]&gt;</a>"},
		{BYTES("<a>x<![CDATA[<b>&amp;]]>y</a>"), "<a>x&lt;b&gt;&amp;amp;y</a>"},
		{BYTES("<?xml version='1.0'?><!--c--><?p i?>" JATS
		       "\n<a>x<!--c-->y<?p i?></a>\n<!--c-->"),
			"<a>xy</a>"},
		{BYTES(JATS "<a t='&eacute;'>&alpha;&nosuch;</a>"),
			"<a t=\"\xc3\xa9\">\xce\xb1\xef\xbf\xbd</a>"},
		{BYTES("<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&b;</a>"),
			"<a>\xef\xbf\xbd</a>"},
		{BYTES("<?xml version='1.0' encoding='iso-8859-1'?><a t='\xe9'>\xfc</a>"),
			"<a t=\"\xc3\xa9\">\xc3\xbc</a>"},
		{BYTES("\xff\xfe<\0a\0>\0\xe9\0<\0/\0a\0>\0"), "<a>\xc3\xa9</a>"},
		/* Prefixes that only a DTD declares are declared in the root. */
		{BYTES("<a x='1'><b xlink:href='u'/><mml:math/></a>"),
			"<a xmlns:xlink=\"http://www.w3.org/1999/xlink\" "
			"xmlns:mml=\"http://www.w3.org/1998/Math/MathML\" x=\"1\">"
			"<b xlink:href=\"u\"/><mml:math/></a>"},
		{BYTES("<a xmlns:xlink='u' xml:lang='en' xlink:b='1'/>"),
			"<a xmlns:xlink=\"u\" xml:lang=\"en\" xlink:b=\"1\"/>"},
		{BYTES("<a><b xmlns:q='u' q:c='1'><q:d/></b><q:e/><q:e/></a>"),
			"<a xmlns:q=\"urn:x-undeclared:q\"><b xmlns:q=\"u\" q:c=\"1\"><q:d/></b>"
			"<q:e/><q:e/></a>"},
		{BYTES("<p:a xmlns:p=''/>"), "<p:a xmlns:p=\"urn:x-undeclared:p\"/>"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ing_buf out;
		char want[1024];
		print_message("%.60s\n", cases[i].xml);
		assert_int_equal(rewrite(cases[i].xml, cases[i].bytes, 4096, &out), 0);
		snprintf(want, sizeof(want), HEAD "%s\n", cases[i].want);
		assert_string_equal(ing_buf_str(&out), want);
		/* What was written is read and written alike. */
		struct ing_buf again;
		assert_int_equal(rewrite(out.data, out.len, 4096, &again), 0);
		assert_string_equal(ing_buf_str(&again), want);
		ing_buf_done(&again);
		ing_buf_done(&out);
	}
}

static void test_what_cannot_be_written(void **state)
{
	char many[8192];
	size_t n = (size_t)snprintf(many, sizeof(many), "<a>");
	for (int i = 0; i < 65; i++)
		n += (size_t)snprintf(many + n, sizeof(many) - n, "<p%d:b/>", i);
	snprintf(many + n, sizeof(many) - n, "</a>");
	char deep[16384];
	n = (size_t)snprintf(deep, sizeof(deep), "<a>");
	for (int i = 0; i < 300; i++)
		n += (size_t)snprintf(deep + n, sizeof(deep) - n, "<b xmlns:p%d='u'>", i);
	for (int i = 0; i < 300; i++)
		n += (size_t)snprintf(deep + n, sizeof(deep) - n, "</b>");
	snprintf(deep + n, sizeof(deep) - n, "</a>");
	const struct {
		const char *xml;
		int fail;
	} cases[] = {
		{"<a", -ING_FAIL_SYNTAX}, {"<a:b:c xmlns:a='u'/>", -ING_FAIL_SYNTAX},
		{"<a b:='1'/>", -ING_FAIL_SYNTAX}, {"<:a/>", -ING_FAIL_SYNTAX},
		{"<a xmlns:a-prefix-that-is-longer-than-anybody-would-ever-write-in-a-document='u'/>",
			-ING_FAIL_SYNTAX},
		{many, -ING_FAIL_SYNTAX}, {deep, -ING_FAIL_SYNTAX},
		{"<a>1234567890123456789012345678901234567890</a>", -ING_FAIL_TOO_BIG},
		{"<a xlink:b=''/>", -ING_FAIL_TOO_BIG}, /* by its declaration alone */
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ing_buf out;
		print_message("%.60s\n", cases[i].xml);
		size_t max = cases[i].fail == -ING_FAIL_TOO_BIG ? 80 : 1 << 20;
		assert_int_equal(
			rewrite(cases[i].xml, strlen(cases[i].xml), max, &out), cases[i].fail);
		assert_int_equal(error.code, -cases[i].fail);
		assert_true(error.msg[0] != '\0');
		assert_null(out.data);
	}
}

static void hollow_elements_stay_out_of_the_tree(void **state)
{
	static const char xml[] =
		"<a>x<r i='1'>y<b>z</b><r><![CDATA[c]]></r><!--d--></r>w<r/><b/></a>";
	static const char *const names[] = {"r", NULL};
	struct ing_buf out;
	(void)state;
	ing_buf_init(&out, 4096);
	const struct ing_xml_uses uses = {.rewritten = &out, .hollow = names};
	assert_int_equal(
		ing_xml_parse_for(tree, xml, sizeof(xml) - 1, NULL, &limits, &uses, &error), 0);
	assert_string_equal(
		ing_buf_str(&out), HEAD "<a>x<r i=\"1\">y<b>z</b><r>c</r></r>w<r/><b/></a>\n");
	ing_buf_done(&out);
	/* #root a 'x r 'w r b */
	assert_int_equal(tree->count, 7);
	assert_true(ing_tree_is(tree, 3, "r"));
	assert_string_equal(ing_tree_attr(tree, 3, "i", NULL), "1");
	assert_int_equal(tree->nodes[3].end, 4);
	assert_string_equal(tree->nodes[4].text.data, "w");
	assert_true(ing_tree_is(tree, 6, "b") && tree->nodes[6].parent == 1);
}

/* The document written anew has it, as its declaration has. */
static void the_tree_does_without_the_prefix_of_the_root(void **state)
{
	static const char xml[] = "<x:a xmlns:x='u'><x:b/><y:b x:c='1'/><b/><x:r>t</x:r></x:a>";
	static const char *const names[] = {"r", NULL};
	static const char *const want[] = {"a", "b", "y:b", "b", "r"};
	struct ing_buf out;
	(void)state;
	ing_buf_init(&out, 4096);
	const struct ing_xml_uses uses = {
		.rewritten = &out, .hollow = names, .no_root_prefix = true};
	int rc = ing_xml_parse_for(tree, xml, sizeof(xml) - 1, NULL, &limits, &uses, &error);
	assert_int_equal(rc, 0);
	assert_non_null(strstr(ing_buf_str(&out), "<x:b/>"));
	ing_buf_done(&out);
	assert_int_equal(tree->count, 1 + sizeof(want) / sizeof(want[0])); /* no text in r */
	for (uint32_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		assert_string_equal(ing_tree_name(tree, i + 1), want[i]);
	assert_string_equal(ing_tree_attr(tree, 3, "x:c", NULL), "1");
}

static int make_tree(void **state)
{
	(void)state;
	tree = ing_tree_new();
	return 0;
}

static int free_tree(void **state)
{
	(void)state;
	ing_tree_free(tree);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_documents),
		cmocka_unit_test(test_what_cannot_be_written),
		cmocka_unit_test(hollow_elements_stay_out_of_the_tree),
		cmocka_unit_test(the_tree_does_without_the_prefix_of_the_root),
	};
	return cmocka_run_group_tests(tests, make_tree, free_tree);
}
