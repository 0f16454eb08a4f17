/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * XML documents to trees: what they become, where an error is, and documents made to cost more than
 * they should.
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

#include "common/base/buf.h"
#include "common/base/utf8.h"
#include "worker/scrape/jsoup/text.h"
#include "common/markup/xml.h"

#define MAX_OUT ((size_t)64 << 20)
#define BYTES(s) s, sizeof(s) - 1
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define FFFD "\xef\xbf\xbd"

static const struct ing_xml_limits limits = {
	.open_elements = 512,
	.tree_bytes = (size_t)64 << 20,
	.cpu_ms = 20000, /* sanitizers are slow; what must stop, stops for another reason */
};

static struct ing_tree *tree;
static struct ing_buf out;
static struct ing_error error;

/* From memory of its own size, so that reading past the end is seen. */
static int parse(const void *data, size_t bytes, const char *content_type)
{
	void *copy = malloc(bytes + (bytes == 0));
	assert_non_null(copy);
	memcpy(copy, data, bytes);
	ing_error_clear(&error);
	int fail = ing_xml_parse(tree, copy, bytes, content_type, &limits, &error);
	free(copy);
	assert_true(tree->xml);
	assert_int_equal(tree->nodes[0].end, tree->count);
	return fail;
}

/* Elements in brackets with attributes, as written. */
static const char *tree_text(void)
{
	static const char *const marks[] = {[ING_NODE_TEXT] = "'",
		[ING_NODE_CDATA] = "[",
		[ING_NODE_DATA] = "{",
		[ING_NODE_COMMENT] = "!",
		[ING_NODE_OTHER] = "?"};
	ing_buf_clear(&out);
	for (ing_node n = 1; n < tree->count; n++) {
		const struct ing_tree_node *node = &tree->nodes[n];
		if (node->kind != ING_NODE_ELEMENT) {
			ing_buf_printf(&out, "%s%s", marks[node->kind], node->text.data);
		} else {
			ing_buf_printf(&out, "(%s", tree->names[node->el.written].text);
			for (unsigned i = 0; i < node->attr_count; i++) {
				const struct ing_tree_attr *a = &tree->attrs[node->el.attrs + i];
				ing_buf_printf(&out, " %s=%s", tree->names[a->name].text, a->value);
			}
			ing_buf_add_char(&out, ' ');
		}
		for (ing_node at = n; at != 0 && tree->nodes[at].end == n + 1;
			at = tree->nodes[at].parent) {
			if (tree->nodes[at].kind == ING_NODE_ELEMENT)
				ing_buf_add_char(&out, ')');
		}
	}
	assert_true(ing_utf8_valid(ing_buf_str(&out), out.len));
	return ing_buf_str(&out);
}

#define JATS                                                                                       \
	"<!DOCTYPE article PUBLIC \"-//NLM//DTD JATS (Z39.96) v1.2//EN\" "                         \
	"\"JATS-archivearticle1.dtd\">"

static void test_documents(void **state)
{
	static const struct {
		const char *xml, *want;
	} cases[] = {
		{"<a/>", "(a )"},
		{"<?xml version='1.0'?>\n<a>x<b/>y</a>\n", "(a 'x(b )'y)"},
		{"<Article ID='1' xlink:HREF=\"u\"><Front-Stub/></Article>",
			"(Article id=1 xlink:href=u (Front-Stub ))"},
		{"<a><![CDATA[<b>&amp;]]>c</a>", "(a [<b>&amp;'c)"},
		{"<!--x--><a><!--y--><?z q?></a>", "!x(a !y?)"},
		{"<a>&lt;&#65;&#x42;&amp;&quot;</a>", "(a '<AB&\")"},
		{"<a b='&lt;&#65;&amp;&gt;'/>", "(a b=<A&> )"},
		{"<a>\r\n b </a>", "(a '\n b )"},
		{"<a b=' c\nd '/>", "(a b= c d  )"},
		{"<a:b:c xmlns:a='u'/>", "(a:b:c xmlns:a=u )"},
		{"<p:q>undeclared prefix</p:q>", "(p:q 'undeclared prefix)"},
		/* HTML's names for characters, with and without a DOCTYPE, whatever it declares. */
		{"<a>caf&eacute;&nbsp;&hyphen;</a>", "(a 'caf\xc3\xa9\xc2\xa0\xe2\x80\x90)"},
		{JATS "<a t='&alpha;&AMP;&LT;'>&beta;&AMP;&LT;&Zcaron;</a>",
			"?(a t=\xce\xb1&< '\xce\xb2&<\xc5\xbd)"},
		{JATS "<a t='&nosuch;'>x&nosuch;y&notit;</a>",
			"?(a t=" FFFD " 'x" FFFD "y" FFFD ")"},
		{"<!DOCTYPE a [<!ENTITY e 'mine'><!ENTITY eacute 'mine'>]><a>&e;&eacute;</a>",
			"?(a '" FFFD "\xc3\xa9)"},
		{"<!DOCTYPE a [<!--c--><?p i?><!ATTLIST a d CDATA 'default'>]><a/>", "?(a )"},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		int fail = parse(cases[i].xml, strlen(cases[i].xml), NULL);
		if (fail != 0)
			fail_msg("%s: %s", cases[i].xml, error.msg);
		assert_string_equal(tree_text(), cases[i].want);
	}
}

static void test_names(void **state)
{
	(void)state;
	assert_int_equal(parse(BYTES("<Article><SEC/><sec/></Article>"), NULL), 0);
	assert_string_equal(ing_tree_name(tree, 1), "article");
	ing_node sec = ing_tree_next_named(tree, 0, 0, "sec");
	assert_int_equal(sec, 2);
	assert_int_equal(ing_tree_next_named(tree, sec, 0, "sec"), 3);
	assert_true(ing_tree_is(tree, 3, "sec"));
}

/* The tables by name hold for XML too. */
static void test_text(void **state)
{
	static const struct {
		const char *xml, *want;
	} cases[] = {
		{"<sec><p>One<list><list-item><p>x</p></list-item></list>two</p></sec>",
			"One xtwo"},
		{"<p>a</p>", "a"},
		{"<r><td>1</td><td>2</td></r>", "1 2"},
		{"<r><foo>1</foo><foo>2</foo></r>", "12"},
		{"<r><P>1</P><P>2</P></r>", "1 2"},
		{"<r>a  b<title>c  d</title><![CDATA[e  f]]></r>", "a b c  d e  f"},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(parse(cases[i].xml, strlen(cases[i].xml), NULL), 0);
		ing_buf_clear(&out);
		ing_text(tree, ING_NODE_DOCUMENT, &out);
		assert_string_equal(ing_buf_str(&out), cases[i].want);
	}
}

static void test_encodings(void **state)
{
	static const struct {
		const char *xml;
		size_t bytes;
		const char *content_type, *encoding, *want;
	} cases[] = {
		{BYTES("<a>\xc3\xa9</a>"), NULL, "UTF-8", "(a '\xc3\xa9)"},
		{BYTES("\xef\xbb\xbf<a>\xc3\xa9</a>"), "text/xml; charset=latin1", "UTF-8",
			"(a '\xc3\xa9)"},
		{BYTES("<?xml version='1.0' encoding='iso-8859-1'?><a>\xe9</a>"), NULL,
			"windows-1252", "(a '\xc3\xa9)"},
		{BYTES("<?xml version='1.0' encoding = \"Shift_JIS\" ?><a>\x83\x65</a>"), NULL,
			"Shift_JIS", "(a '\xe3\x83\x86)"},
		{BYTES("<?xml version='1.0' encoding='utf-8'?><a>\xe9</a>"),
			"text/xml; charset=latin1", "windows-1252", "(a '\xc3\xa9)"},
		{BYTES("<?xml version='1.0' encoding='utf-16'?><a/>"), NULL, "UTF-8", "(a )"},
		{BYTES("<?xml version='1.0' encoding='klingon'?><a/>"), NULL, "UTF-8", "(a )"},
		{BYTES("\xff\xfe<\0a\0>\0\xe9\0<\0/\0a\0>\0"), NULL, "UTF-16LE", "(a '\xc3\xa9)"},
		{BYTES("\0<\0?\0x\0m\0l\0 \0v\0e\0r\0s\0i\0o\0n\0=\0'\0001\0.\0000\0'\0?\0>\0<\0a\0/"
		       "\0>"),
			NULL, "UTF-16BE", "(a )"},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		int fail = parse(cases[i].xml, cases[i].bytes, cases[i].content_type);
		if (fail != 0)
			fail_msg("case %zu: %s", i, error.msg);
		assert_string_equal(tree->encoding, cases[i].encoding);
		assert_string_equal(tree_text(), cases[i].want);
	}
}

/* What came before the error is there. */
static void test_errors(void **state)
{
	static const struct {
		const char *xml;
		size_t bytes;
		int line, column; /* 0: wherever */
		const char *tree;
	} cases[] = {
		{BYTES(""), 1, 1, ""},
		{BYTES("  \n "), 0, 0, ""},
		{BYTES("text"), 1, 1, ""},
		{BYTES("<a>\n<b></a>"), 2, 0, "(a '\n(b ))"},
		{BYTES("<a>x"), 1, 0, "(a 'x)"},
		{BYTES("<a><b c='d"), 1, 0, "(a )"},
		{BYTES("<a>&nosuch;</a>"), 1, 0, "(a )"},
		{BYTES("<a b='1' b='2'/>"), 1, 0, ""},
		{BYTES("<a b=1/>"), 1, 0, ""},
		{BYTES("<a/><b/>"), 1, 5, "(a )"},
		{BYTES("<a>\nx\xffy</a>"), 2, 2, "(a '\nx)"},
		{BYTES("\xff"), 1, 1, ""},
		{BYTES("<a>\nxy\0z</a>"), 2, 3, "(a '\nxy)"},
		{BYTES("<a><b></a>\xff"), 1, 0, "(a (b ))"},
		{BYTES("<a>&#0;</a>"), 1, 0, "(a )"},
		{BYTES("<a>\x01</a>"), 1, 0, "(a )"},
		{BYTES("<a><!-- x"), 1, 0, "(a )"},
		{BYTES("<!DOCTYPE a [<!ENTITY"), 1, 0, "?"},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		int fail = parse(cases[i].xml, cases[i].bytes, NULL);
		if (fail != -ING_FAIL_SYNTAX)
			fail_msg("case %zu: %d %s", i, fail, error.msg);
		assert_int_equal(error.code, ING_FAIL_SYNTAX);
		assert_true(strncmp(error.msg, "XML: ", 5) == 0);
		if (cases[i].line != 0 && error.line != cases[i].line)
			fail_msg("case %zu: line %d", i, error.line);
		if (cases[i].column != 0 && error.column != cases[i].column)
			fail_msg("case %zu: column %d", i, error.column);
		assert_string_equal(tree_text(), cases[i].tree);
	}
}

/* --- documents that mean harm --- */

static struct ing_buf hostile;

static int parse_hostile(void)
{
	assert_false(hostile.failed);
	return parse(hostile.data, hostile.len, NULL);
}

static void repeat(const char *s, unsigned times)
{
	for (unsigned i = 0; i < times; i++)
		ing_buf_add_str(&hostile, s);
}

static void test_entity_bomb(void **state)
{
	(void)state;
	ing_buf_clear(&hostile);
	ing_buf_add_str(&hostile, "<!DOCTYPE a [<!ENTITY l0 'lol'>");
	for (int i = 1; i < 10; i++) {
		ing_buf_printf(&hostile, "<!ENTITY l%d '", i);
		for (int k = 0; k < 10; k++)
			ing_buf_printf(&hostile, "&l%d;", i - 1);
		ing_buf_add_str(&hostile, "'>");
	}
	ing_buf_add_str(&hostile, "]><a b='&l9;'>&l9;</a>");
	assert_int_equal(parse_hostile(), 0);
	assert_string_equal(tree_text(), "?(a b=" FFFD " '" FFFD ")");

	static const char parameter[] =
		"<!DOCTYPE a [<!ENTITY % x 'xxxx'><!ENTITY % y '%x;%x;'>%y;]><a/>";
	(void)!parse(parameter, sizeof(parameter) - 1, NULL); /* any end, but an end */
	assert_true(ing_tree_bytes(tree) < (size_t)1 << 20);
}

/* No file is opened: what is in this one would be in the tree. */
static void test_outside(void **state)
{
	(void)state;
	char path[] = "/tmp/xml_test.XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	static const char secret[] = "<!ENTITY s 'secret'>secret";
	assert_int_equal(write(fd, secret, sizeof(secret) - 1), (int)sizeof(secret) - 1);
	close(fd);
	static const char *const forms[] = {
		"<!DOCTYPE a [<!ENTITY e SYSTEM 'file://%s'>]><a b='&e;'>&e;</a>",
		"<!DOCTYPE a [<!ENTITY e SYSTEM '%s'>]><a>&e;</a>",
		"<!DOCTYPE a SYSTEM '%s'><a>&s;</a>",
		"<!DOCTYPE a [<!ENTITY %% p SYSTEM '%s'>%%p;]><a>&s;</a>",
		"<!DOCTYPE a PUBLIC 'x' '%s' [<!ENTITY %% p SYSTEM '%s'>%%p;]><a>&s;</a>",
		"<a xmlns:xi='http://www.w3.org/2001/XInclude'><xi:include href='%s' "
		"parse='text'/></a>",
		"<?xml-stylesheet href='%s'?><a/>",
	};
	for (size_t i = 0; i < COUNT(forms); i++) {
		ing_buf_clear(&hostile);
		for (const char *s = forms[i]; *s != '\0'; s++) {
			if (*s == '%' && s[1] == 's')
				ing_buf_add_str(&hostile, path);
			else if (*s != '%' || s[1] == '%')
				ing_buf_add_char(&hostile, *s);
			s += *s == '%';
		}
		(void)!parse_hostile();
		assert_null(strstr(tree_text(), "secret"));
	}
	unlink(path);
}

static void test_depth(void **state)
{
	(void)state;
	ing_buf_clear(&hostile);
	repeat("<a>", 100000);
	assert_int_equal(parse_hostile(), -ING_FAIL_TOO_DEEP);
	assert_int_equal(tree->element_count, 513);
	assert_int_equal(error.line, 1);
	assert_true(error.column > 512 * 3);

	ing_buf_clear(&hostile);
	repeat("<a>", 512);
	repeat("</a>", 512);
	assert_int_equal(parse_hostile(), 0);
}

static void test_big_parts(void **state)
{
	(void)state;
	/* A text, a value, a comment, a name of 11 million bytes: libxml2 has a limit at ten. */
	static const struct {
		const char *before, *after;
	} cases[] = {
		{"<a>", "</a>"},
		{"<a b='", "'/>"},
		{"<a><!--", "--></a>"},
		{"<a><![CDATA[", "]]></a>"},
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		ing_buf_clear(&hostile);
		ing_buf_add_str(&hostile, cases[i].before);
		repeat("0123456789 ", 1000000);
		ing_buf_add_str(&hostile, cases[i].after);
		assert_int_equal(parse_hostile(), 0);
	}
	ing_buf_clear(&hostile);
	ing_buf_add_str(&hostile, "<a");
	repeat("0123456789", 1000000);
	ing_buf_add_str(&hostile, "/>");
	(void)!parse_hostile();
	assert_true(ing_tree_bytes(tree) < (size_t)4 << 20);
}

static void test_attributes(void **state)
{
	(void)state;
	/* clang-format off */
	static const struct {
		const char *before;
		unsigned count;
		const char *after;
		int fail;
	} cases[] = {
		{.before = "<a", .count = 1000, .after = "/>"},
		{.before = "<a", .count = 100000, .after = "/>", .fail = -ING_FAIL_TOO_BIG},
		{.before = "<a><!-- ' <b \" -->\n<c", .count = 100000, .after = "/></a>",
			.fail = -ING_FAIL_TOO_BIG},
		{.before = "<a><!-- ", .count = 100000, .after = "--></a>"},
		{.before = "<a c='>'", .count = 100000, .after = "/>", .fail = -ING_FAIL_TOO_BIG},
		{.before = "<a><b></a><c", .count = 100000, .after = "/>",
			.fail = -ING_FAIL_SYNTAX}, /* the first error counts */
	};
	/* clang-format on */
	for (size_t i = 0; i < COUNT(cases); i++) {
		ing_buf_clear(&hostile);
		ing_buf_add_str(&hostile, cases[i].before);
		for (unsigned k = 0; k < cases[i].count; k++)
			ing_buf_printf(&hostile, " a%u='x'", k);
		ing_buf_add_str(&hostile, cases[i].after);
		assert_int_equal(parse_hostile(), cases[i].fail);
	}
	assert_int_equal(error.code, ING_FAIL_SYNTAX);
}

/* Names by the hundred thousand in a DTD: in one declaration, and in many. */
static void test_declarations(void **state)
{
	(void)state;
	static const char *const lists[] = {
		"<!ATTLIST a b NOTATION (x", "<!ATTLIST a b (x", "<!ELEMENT a (x"};
	for (size_t i = 0; i < COUNT(lists); i++) {
		ing_buf_clear(&hostile);
		ing_buf_printf(&hostile, "<!DOCTYPE a [<!ENTITY e '<b>'>%s", lists[i]);
		for (unsigned k = 0; k < 300000; k++)
			ing_buf_printf(&hostile, "|a%u", k);
		ing_buf_add_str(&hostile, ")>]><a/>");
		assert_int_equal(parse_hostile(), -ING_FAIL_TOO_BIG);
	}
	static const char *const kinds[] = {"<!ELEMENT a%u (b|c)*>", "<!ATTLIST a b%u (c|d) 'c'>",
		"<!ENTITY a%u 'b'>", "<!NOTATION a%u SYSTEM 'b'>"};
	struct ing_xml_limits small = limits;
	small.cpu_ms = 20;
	for (size_t i = 0; i < COUNT(kinds); i++) {
		ing_buf_clear(&hostile);
		ing_buf_add_str(&hostile, "<!DOCTYPE a [");
		for (unsigned k = 0; k < 200000; k++) {
			char number[16];
			snprintf(number, sizeof(number), "%u", k);
			const char *gap = strstr(kinds[i], "%u");
			ing_buf_add(&hostile, kinds[i], (size_t)(gap - kinds[i]));
			ing_buf_add_str(&hostile, number);
			ing_buf_add_str(&hostile, gap + 2);
		}
		ing_buf_add_str(&hostile, "]><a/>");
		ing_error_clear(&error);
		assert_int_equal(
			ing_xml_parse(tree, hostile.data, hostile.len, NULL, &small, &error),
			-ING_FAIL_TIMEOUT);
	}
	/* An ordinary one. */
	static const char few[] = "<!DOCTYPE a [<!ELEMENT a (b|c)*><!ATTLIST a b (c|d) 'c'>"
				  "<!NOTATION n SYSTEM 'x'><!ENTITY e 'f'>]><a/>";
	assert_int_equal(parse(few, sizeof(few) - 1, NULL), 0);
	assert_string_equal(tree_text(), "?(a )");
}

static void test_limits(void **state)
{
	(void)state;
	ing_buf_clear(&hostile);
	ing_buf_add_str(&hostile, "<a>");
	repeat("<b/>", 100000);
	ing_buf_add_str(&hostile, "</a>");
	struct ing_xml_limits small = limits;
	small.tree_bytes = (size_t)1 << 20;
	ing_error_clear(&error);
	assert_int_equal(ing_xml_parse(tree, hostile.data, hostile.len, NULL, &small, &error),
		-ING_FAIL_TOO_BIG);
	assert_true(ing_tree_bytes(tree) < (size_t)2 << 20);
	assert_true(tree->element_count > 1000);
	small = limits;
	small.cpu_ms = 0;
	ing_error_clear(&error);
	assert_int_equal(ing_xml_parse(tree, hostile.data, hostile.len, NULL, &small, &error),
		-ING_FAIL_TIMEOUT);
	/* Without words. */
	assert_int_equal(ing_xml_parse(tree, "<", 1, NULL, &limits, NULL), -ING_FAIL_SYNTAX);
}

/* Every prefix of a document ends well. */
static void test_truncated(void **state)
{
	static const char xml[] = "<?xml version='1.0' encoding='utf-8'?>" JATS
				  "<!--c--><a b='&eacute;&amp;x'>t\xc3\xa9<c/><![CDATA[d]]>&nbsp;"
				  "<?p i?></a>";
	(void)state;
	for (size_t n = 0; n < sizeof(xml) - 1; n++) {
		assert_int_equal(parse(xml, n, NULL), -ING_FAIL_SYNTAX);
		tree_text();
	}
	assert_int_equal(parse(xml, sizeof(xml) - 1, NULL), 0);
}

static int set_up(void **state)
{
	(void)state;
	tree = ing_tree_new();
	ing_buf_init(&out, MAX_OUT);
	ing_buf_init(&hostile, MAX_OUT);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	ing_buf_done(&hostile);
	ing_buf_done(&out);
	ing_tree_free(tree);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_documents),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_encodings),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_entity_bomb),
		cmocka_unit_test(test_outside),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_big_parts),
		cmocka_unit_test(test_attributes),
		cmocka_unit_test(test_declarations),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_truncated),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
