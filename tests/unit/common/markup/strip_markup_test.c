/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Plain text out of values that have markup in them: references, tags and what only looks like one,
 * white space, input that is made to be slow.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/macros.h"
#include "common/markup/strip_markup.h"

static const struct {
	const char *text, *want;
} cases[] = {
	{"", ""},
	{"  a \n b\xc2\xa0 ", "a b"},
	{"A & B", "A & B"},
	{"A &amp; B", "A & B"},
	{"A &amp;lt; B", "A &lt; B"}, /* once */
	{"x < y > z", "x < y > z"},
	{"p<0.05 and q>1", "p<0.05 and q>1"},
	{"a<b and c>d", "a<b and c>d"},
	{"if a<b", "if a<b"},
	{"<i>E. coli</i> K<sub>2</sub>O", "E. coli K2O"},
	{"<p>One</p><p>two</p>", "One two"},
	{"<jats:title>Abstract</jats:title><jats:p>We <jats:italic>do</jats:italic>.</jats:p>",
		"Abstract We do."},
	{"a<br/>b<br />c<BR>d", "a b c d"},
	{"<a href=\"x>y\">l</a>", "y\">l"}, /* ends at the first sign, as tag strippers do */
	{"<span class='q'>s</span>", "s"},
	{"a<!-- b -->c", "a c"},
	{"a<!-- b", "a<!-- b"},
	{"<", "<"},
	{"</", "</"},
	{"a<", "a<"},
	{"&#65;&#x42;&#X43;", "ABC"},
	{"&#0;&#xd800;&#x110000;&#x1f600;", "&#0;&#xd800;&#x110000;\xf0\x9f\x98\x80"},
	{"&#;&#x;&#xg;&;&nosuch;&amp", "&#;&#x;&#xg;&;&nosuch;&amp"},
	{"&#x0x41;&#-65;&#65", "&#x0x41;&#-65;&#65"},
	{"&#10;a&#9;&#1;b&#150;c", "a b c"},
	{"&eacute;&Eacute;&alpha;&ndash;&nbsp;&thetasym;&apos;&zwnj;", "\xc3\xa9\xc3\x89\xce\xb1"
								       "\xe2\x80\x93 \xcf\x91'"
								       "\xe2\x80\x8c"},
	{"&thetasymx;", "&thetasymx;"},
	{"&lt;i&gt;E. coli&lt;/i&gt; &lt; &lt;!-- x --&gt;5", "E. coli < 5"}, /* tags escaped */
	{"vector<int> of Map<String, T=1>", "vector<int> of Map<String, T=1>"},
	{"<nosuch>a</nosuch>", "<nosuch>a</nosuch>"},
	{"a<xhtml:H1>b</xhtml:H1>c<:p>d<5:p>e", "a b c<:p>d<5:p>e"},
	{"<mml:msup><mml:mi>x</mml:mi><mml:mn>2</mml:mn></mml:msup>", "x2"},
	{"a <!b <!-- c --> d", "a <!b d"},
	{"a\x01\xc2\x85\x7f"
	 "b\xe2\x80\x89"
	 "c\xe3\x80\x80"
	 "d",
		"a b c d"},
	{"so\xc2\xad"
	 "ft \xe2\x80\x8b\xef\xbb\xbfhy",
		"soft hy"},
	{"\xc3", "\xc3"}, /* cut, which no caller does */
	{"a\xe2\x80", "a\xe2\x80"},
	{"\xf0\x9f\x98", "\xf0\x9f\x98"},
};

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		const char *s = cases[i].text;
		size_t bytes = strlen(s);
		char *copy = ing_strndup(s, bytes); /* of its length: overruns are seen */
		struct ing_buf out;
		ing_buf_init(&out, 1000);
		ing_strip_markup(copy, bytes, &out);
		if (strcmp(ing_buf_str(&out), cases[i].want) != 0)
			fail_msg("%s: \"%s\"", s, ing_buf_str(&out));
		ing_buf_done(&out);
		free(copy);
	}
}

/* Openings that never close. */
static void test_hostile(void **state)
{
	static const char *const units[] = {"<", "<a ", "<a=", "<!--", "&", "&#", "<!-- -"};
	enum { BYTES = 1 << 20 };
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(units); i++) {
		struct ing_buf in, out;
		ing_buf_init(&in, BYTES + 10);
		ing_buf_init(&out, BYTES + 10);
		while (in.len < BYTES)
			ing_buf_add_str(&in, units[i]);
		ing_strip_markup(ing_buf_str(&in), in.len, &out);
		assert_false(out.failed);
		assert_true(out.len > BYTES - 4);
		ing_buf_done(&in);
		ing_buf_done(&out);
	}
}

/* What was there stays; what does not fit is left out whole. */
static void test_append(void **state)
{
	struct ing_buf out;
	(void)state;
	ing_buf_init(&out, 8);
	ing_buf_add_str(&out, "a ");
	ing_strip_markup("<i>b</i>", 5, &out);
	assert_string_equal(ing_buf_str(&out), "a b<");
	ing_strip_markup("12345", 5, &out);
	assert_true(out.failed);
	assert_string_equal(ing_buf_str(&out), "a b<");
	ing_buf_done(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_append),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
