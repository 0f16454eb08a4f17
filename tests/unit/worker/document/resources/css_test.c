/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A table of style sheets and what they refer to: "i" imports, "f" fonts, "u" other URLs, by commas.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "worker/document/resources/css.h"

struct css_case {
	const char *name, *css, *want;
};

static bool add(void *ctx, enum ing_css_use use, const char *url, size_t bytes)
{
	static const char letters[] = {
		[ING_CSS_IMPORT] = 'i', [ING_CSS_FONT] = 'f', [ING_CSS_IMAGE] = 'u'};
	struct ing_buf *out = ctx;
	assert_int_equal(strlen(url), bytes);
	ing_buf_printf(out, "%s%c:%s", out->len > 0 ? "," : "", letters[use], url);
	return true;
}

static void check(const struct css_case *c, enum ing_css_input input)
{
	struct ing_buf out;
	/* In memory of its own size, so that a sanitizer sees a read behind it. */
	size_t bytes = strlen(c->css);
	char *css = malloc(bytes + 1);
	memcpy(css, c->css, bytes);
	css = realloc(css, bytes > 0 ? bytes : 1);
	ing_buf_init(&out, 1 << 20);
	ing_css_references(css, bytes, input, add, &out);
	if (strcmp(ing_buf_str(&out), c->want) != 0)
		fail_msg("%s: %s, not %s", c->name, ing_buf_str(&out), c->want);
	ing_buf_done(&out);
	free(css);
}

static const struct css_case sheets[] = {
	{"nothing", "", ""},
	{"without quotes", "a{b:url(x.png)}", "u:x.png"},
	{"white space inside", "a{b:url( \n x.png\t)}", "u:x.png"},
	{"quotes", "a{b:url(\"x y.png\") url('z)')}", "u:x y.png,u:z)"},
	{"any case of the name", "a{b:URL(x)}", "u:x"},
	{"an escaped name", "a{b:\\75 rl(x) u\\52L(y)}", "u:x,u:y"},
	{"another name", "a{b:xurl(x) url-x(y) curl(z)}", ""},
	{"a unit is no name", "a{b:1url(x)}", ""},
	{"escapes", "a{b:url(a\\29 b\\00002fc\\(d)}", "u:a)b/c(d"},
	{"an escape in a string", "a{b:url('a\\'b\\A c')}", "u:a'b\nc"},
	{"no character is U+FFFD", "a{b:url(\\0 a\\d800 b\\ffffff c)}",
		"u:\xef\xbf\xbd"
		"a\xef\xbf\xbd"
		"b\xef\xbf\xbd"
		"c"},
	{"a line goes on in a string", "a{b:url('a\\\nb\\\r\nc')}", "u:abc"},
	{"a string ends at a newline", "a{b:url('a\n'x')}c{d:url(e)}", "u:e"},
	{"a bad URL is skipped", "a{b:url(x y) url(x\"y) url(x'y) url(x(y) url(z)}", "u:z"},
	{"a bad URL with an escaped bracket", "a{b:url(x y\\) url(z) url(w)}", "u:w"},
	{"a control character is bad", "a{b:url(x\x01y) url(z)}", "u:z"},
	{"the end closes", "a{b:url(x", "u:x"},
	{"the end closes a string", "a{b:url('x", "u:x"},
	{"the end behind a backslash", "a{b:url('x\\", "u:x"},
	{"the end in an escape", "a{b:url(x\\", "u:x\xef\xbf\xbd"},
	{"an empty one", "a{b:url() url('') url( )}", ""},
	{"comments", "a{/* url(x) */b:url(y)/*'*/}/*url(", "u:y"},
	{"no comment in a URL", "a{b:url(/*x*/y)}", "u:/*x*/y"},
	{"a comment is no nesting", "/*/**/a{b:url(x)}", "u:x"},
	{"marks of an HTML comment", "<!-- @import 'a'; --> b{c:url(d)}", "i:a,u:d"},
	{"strings alone are none", "a{content:'x.png'}[href='y']{}", ""},
	{"image-set", "a{b:image-set('x.png' 1x, url(y.png) 2x type('image/avif'))}",
		"u:x.png,u:y.png"},
	{"its older name", "a{b:-webkit-image-set('x' 1x,\"y\" 2x) 'z'}", "u:x,u:y"},
	{"src()", "a{b:src('x' 'y')}", "u:x"},
	{"a font",
		"@font-face{font-family:'x';src:url(a.woff2)format('woff2'),url('b.ttf'),local('c')}"
		"d{e:url(f)}",
		"f:a.woff2,f:b.ttf,u:f"},
	{"a font in a @media", "@media print{@font-face{src:url(a)}b{c:url(d)}}", "f:a,u:d"},
	{"@import", "@import 'a';@IMPORT url(b);@import url('c') print;@import\"d\"layer(x)",
		"i:a,i:b,i:c,i:d"},
	{"@import and what it asks", "@import 'a' supports(b:url(c)) 'd';", "i:a"},
	{"@import behind @charset and @layer", "@charset 'utf-8';@layer x,y;@import 'a';", "i:a"},
	{"@import behind a rule is none", "a{}@import 'b';", ""},
	{"@import behind another at-rule is none", "@namespace url(x);@import 'b';", ""},
	{"@import in a block is none", "@media x{@import 'a';}", ""},
	{"@namespace", "@namespace svg url(http://www.w3.org/2000/svg);a{b:url(c)}", "u:c"},
	{"@supports", "@supports(a:url(b)){c{d:url(e)}}", "u:e"},
	{"@layer with a block", "@layer x{a{b:url(c)}}@import 'd';", "u:c"},
	{"nested rules", "a{b:url(c);&:hover{d:url(e)}f:url(g)}h{i:url(j)}", "u:c,u:e,u:g,u:j"},
	{"a property of one's own", "a{--b:url(c)}", "u:c"},
	{"outside of all blocks", "url(a) b{}", ""},
	{"a bracket too many", "a{b:url(c))}d{e:url(f)}", "u:c,u:f"},
	{"a bracket too few", "a{b:calc(1 + (2;c:url(d)}e{f:url('g')}", "u:d,u:g"},
	{"a brace too many", "a{b:url(c)}}d{e:url(f)}", "u:c,u:f"},
	{"braces within brackets", "a{b:({)url(c)}", "u:c"},
	{"a hash with url in it", "a{b:#url(c)}", ""},
	{"numbers", "a{b:+.5url(x)1e3url(y)-1.5e-3px url(z)}", "u:z"},
	{"bytes that are no UTF-8", "a{b:url(\xe9\xff.png)}", "u:\xe9\xff.png"},
};

static const struct css_case declarations[] = {
	{"a declaration", "background:url(x)", "u:x"},
	{"several", "a:url(x);b:url('y')", "u:x,u:y"},
	{"@import is none", "@import 'x';a:url(y)", "u:y"},
	{"what follows a brace is in no declaration", "a:url(x)}b:url(y)", "u:x"},
};

static void sheets_refer_to(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(sheets) / sizeof(*sheets); i++)
		check(&sheets[i], ING_CSS_SHEET);
}

static void style_attributes_refer_to(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(declarations) / sizeof(*declarations); i++)
		check(&declarations[i], ING_CSS_DECLARATIONS);
}

static bool stop(void *ctx, enum ing_css_use use, const char *url, size_t bytes)
{
	unsigned *count = ctx;
	(void)use, (void)url, (void)bytes;
	return ++*count < 2;
}

static void the_sink_may_stop(void **state)
{
	static const char css[] = "a{b:url(1)url(2)url(3)}";
	unsigned count = 0;
	(void)state;
	ing_css_references(css, sizeof(css) - 1, ING_CSS_SHEET, stop, &count);
	assert_int_equal(count, 2);
}

static void nul_is_a_character(void **state)
{
	static const char css[] = "a{b:url(x\0y)}";
	const struct css_case want = {"NUL", NULL, "u:x\xef\xbf\xbdy"};
	struct ing_buf out;
	(void)state;
	ing_buf_init(&out, 1 << 20);
	ing_css_references(css, sizeof(css) - 1, ING_CSS_SHEET, add, &out);
	assert_string_equal(ing_buf_str(&out), want.want);
	ing_buf_done(&out);
}

static void a_url_that_is_too_long_is_left_out(void **state)
{
	struct ing_buf css;
	struct ing_buf out;
	(void)state;
	ing_buf_init(&css, 1 << 20);
	ing_buf_init(&out, 1 << 20);
	ing_buf_add_str(&css, "a{b:url(");
	for (int i = 0; i < 70000; i++)
		ing_buf_add_char(&css, 'x');
	ing_buf_add_str(&css, ") url(y)}");
	ing_css_references(css.data, css.len, ING_CSS_SHEET, add, &out);
	assert_string_equal(ing_buf_str(&out), "u:y");
	ing_buf_done(&css);
	ing_buf_done(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sheets_refer_to),
		cmocka_unit_test(style_attributes_refer_to),
		cmocka_unit_test(the_sink_may_stop),
		cmocka_unit_test(nul_is_a_character),
		cmocka_unit_test(a_url_that_is_too_long_is_left_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
