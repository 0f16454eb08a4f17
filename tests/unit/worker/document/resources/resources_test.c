/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What pages and style sheets refer to, by a table; and hostile ones, of which a part is read.
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
#include "worker/document/filter/filters.h"
#include "worker/document/resources/resources.h"

#define PAGE "https://a.example/d/p"

static const struct ing_html_limits limits = {
	.open_elements = 512,
	.tag_attributes = 256,
	.names = 10000,
	.tree_bytes = 1 << 30,
	.cpu_ms = 100000,
};

static const struct ing_filters *filters; /* NULL: none */

static const char letters[ING_RESOURCE_TYPES_] = "csimdfo"; /* code, style, image, … */

/* The URLs with a letter each; those of the page's own host are cut short. */
static void print(const struct ing_resources_found *found, struct ing_buf *out)
{
	static const char own[] = "https://a.example";
	for (uint32_t i = 0; i < found->count; i++) {
		const char *url = found->items[i].url;
		bool is_own = strncmp(url, own, sizeof(own) - 1) == 0;
		ing_buf_printf(out, "%s%c:%s", i > 0 ? " " : "", letters[found->items[i].type],
			is_own ? url + sizeof(own) - 1 : url);
	}
}

static void read_page(
	const char *html, size_t bytes, const char *url, struct ing_resources_found *ret)
{
	struct ing_html *h = ing_html_new();
	struct ing_tree *t = ing_tree_new();
	ing_html_parse(h, html, bytes, NULL, &limits);
	ing_html_fill(h, t);
	ing_tree_set_url(t, url);
	*ret = (struct ing_resources_found){0};
	ing_resources_of_page(t, filters, ret);
	ing_tree_free(t);
	ing_html_free(h);
}

static const struct page_case {
	const char *name, *html, *want;
} pages[] = {
	{"nothing", "<p>x", ""},
	{"each element",
		"<script src=a></script><link rel=stylesheet href=b><img src=c><audio src=e></audio>"
		"<video src=f poster=g><source src=h><track src=i></video><embed src=j>"
		"<object data=k></object><iframe src=l></iframe><input type=image src=m>",
		"c:/d/a s:/d/b i:/d/c m:/d/e m:/d/f i:/d/g m:/d/h m:/d/i m:/d/j m:/d/k d:/d/l i:/d/m"},
	{"frames", "<frameset><frame src=a></frameset>", "d:/d/a"},
	{"other inputs", "<input src=a><input type=text src=b>", ""},
	{"backgrounds of old pages", "<body background=a><table background=b><tr><td background=c>",
		"i:/d/a i:/d/b i:/d/c"},
	{"srcset", "<img src=a srcset='b 1x, /c 2x, a 3x'>", "i:/d/a i:/d/b i:/c"},
	{"picture", "<picture><source srcset='a 1x,b 2x'><img src=c></picture>",
		"i:/d/a i:/d/b i:/d/c"},
	{"links by their rel",
		"<link rel=icon href=a><link rel='shortcut ICON' href=b>"
		"<link rel=apple-touch-icon href=c><link rel=manifest href=e>"
		"<link rel='alternate stylesheet' href=f><link rel=modulepreload href=g>"
		"<link rel=canonical href=x><link rel=next href=x><link rel=preconnect href=//x.example>"
		"<link href=x>",
		"i:/d/a i:/d/b i:/d/c o:/d/e s:/d/f c:/d/g"},
	{"preload by its as",
		"<link rel=preload as=script href=a><link rel=preload as=style href=b>"
		"<link rel=preload as=image href=c imagesrcset='e 1x, f 2x'>"
		"<link rel=preload as=font href=g><link rel=preload as=fetch href=h>"
		"<link rel=preload href=i>",
		"c:/d/a s:/d/b i:/d/c i:/d/e i:/d/f f:/d/g o:/d/h o:/d/i"},
	{"base", "<base href=//b.example/x/><img src=a><img src=/b>",
		"i:https://b.example/x/a i:https://b.example/b"},
	{"style elements and attributes",
		"<style>@import 'a';@font-face{src:url(b)}p{q:url(c)}</style><p style='x:url(e)'>"
		"<p style=\"x:url('f')\"><p style='color:red'>",
		"s:/d/a f:/d/b i:/d/c i:/d/e i:/d/f"},
	{"a style for print is one, too", "<style media=print>p{q:url(a)}</style>", "i:/d/a"},
	{"in document order, each once",
		"<img src=b><img src=a><img src=b#x><script src=a></script><img src=' c '>",
		"i:/d/b i:/d/a i:/d/c"},
	{"SVG",
		"<svg><image href=a /><image xlink:href=b /><use href='c#x'/><use href='#y'/>"
		"<style>p{q:url(e)}</style><script href=f></script></svg>",
		"i:/d/a i:/d/b i:/d/c i:/d/e c:/d/f"},
	{"noscript", "<noscript><img src=a></noscript>", "i:/d/a"},
	{"a template is inert", "<template><img src=a><p style='x:url(b)'></template><img src=c>",
		"i:/d/c"},
	{"a shadow tree is not", "<template shadowrootmode=open><img src=a></template>", "i:/d/a"},
	{"no web URLs",
		"<img src=data:image/gif;base64,R0lGODlhAQABAAAAACw=><img src=blob:x><iframe "
		"src=about:blank></iframe><img src='JavaScript:x'><iframe src=mailto:x@y></iframe>"
		"<img src=ftp://a.example/x><img src='http://'>",
		""},
	{"nothing to fetch",
		"<img src><img src=''><img src=' '><img src='#x'><iframe src='?'></iframe>",
		"d:/d/p?"},
	{"the page itself", "<iframe src='p'></iframe><img src='" PAGE "#x'>", ""},
	{"a placeholder", "<img src='image is loading'><img src='my image.png'>",
		"i:/d/my%20image.png"},
	{"two schemes", "<img src=http://https://b.example/x><img src=https://https://b.example/y>",
		"i:https://b.example/x i:https://b.example/y"},
	{"escapes of markup", "<img src='a?b=1&amp;c=2'>", "i:/d/a?b=1&c=2"},
	{"newlines in a URL", "<img src='a\nb'>", "i:/d/ab"},
};

static void pages_refer_to(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(pages) / sizeof(*pages); i++) {
		struct ing_resources_found found;
		struct ing_buf out;
		ing_buf_init(&out, 1 << 20);
		read_page(pages[i].html, strlen(pages[i].html), PAGE, &found);
		print(&found, &out);
		if (strcmp(ing_buf_str(&out), pages[i].want) != 0)
			fail_msg("%s: %s, not %s", pages[i].name, ing_buf_str(&out), pages[i].want);
		assert_int_equal(found.total, found.count);
		ing_resources_found_done(&found);
		ing_buf_done(&out);
	}
}

static void a_page_without_url_has_absolute_ones(void **state)
{
	static const char html[] = "<img src=x><img src=https://a.example/y>";
	struct ing_resources_found found;
	(void)state;
	read_page(html, sizeof(html) - 1, NULL, &found);
	assert_int_equal(found.count, 1);
	assert_string_equal(found.items[0].url, "https://a.example/y");
	ing_resources_found_done(&found);
}

static void read_style(const void *css, size_t bytes, struct ing_resources_found *ret)
{
	*ret = (struct ing_resources_found){0};
	ing_resources_of_style(css, bytes, "https://a.example/css/s.css", PAGE, filters, ret);
}

static void styles_refer_to(void **state)
{
	static const char css[] =
		"@import '../x.css';@font-face{src:url(f.woff)}a{b:url(i.png);c:url(i.png);d:url(data:x);"
		"e:url(s.css);f:url(../d/p)}";
	struct ing_resources_found found;
	struct ing_buf out;
	(void)state;
	ing_buf_init(&out, 1 << 20);
	read_style(css, sizeof(css) - 1, &found);
	print(&found, &out);
	/* The page is none of its own resources. */
	assert_string_equal(ing_buf_str(&out), "s:/x.css f:/css/f.woff i:/css/i.png i:/css/s.css");
	ing_resources_found_done(&found);
	ing_buf_done(&out);
}

static void filters_leave_out(void **state)
{
	static const char list[] =
		"||ads.example^\n/track.\n@@/track.css\n/pixel$domain=a.example\n";
	static const char html[] =
		"<img src=//ads.example/x><script src=/track.js></script><img src=/y>"
		"<link rel=stylesheet href=/track.css><style>p{q:url(//ads.example/z)}";
	static const char css[] = "a{b:url(/pixel);c:url(/y)}";
	struct ing_filters *made = ing_filters_new();
	struct ing_resources_found found;
	struct ing_buf out;
	(void)state;
	ing_filters_add(made, list, sizeof(list) - 1);
	ing_filters_seal(made);
	filters = made;
	ing_buf_init(&out, 1 << 20);
	read_page(html, sizeof(html) - 1, PAGE, &found);
	print(&found, &out);
	assert_string_equal(ing_buf_str(&out), "i:/y s:/track.css");
	assert_int_equal(found.total, 2);
	assert_int_equal(found.filtered, 3);
	ing_resources_found_done(&found);
	read_style(css, sizeof(css) - 1, &found);
	assert_int_equal(found.count, 1);
	assert_int_equal(found.filtered, 1);
	ing_resources_found_done(&found);
	ing_buf_done(&out);
	filters = NULL;
	ing_filters_free(made);
}

static void styles_in_utf16_are_read(void **state)
{
	static const char ascii[] = "a{b:url(x.png)}";
	char css[2 * sizeof(ascii)] = {(char)0xff, (char)0xfe};
	struct ing_resources_found found;
	(void)state;
	for (size_t i = 0; ascii[i] != '\0'; i++)
		css[2 + 2 * i] = ascii[i];
	read_style(css, sizeof(css), &found);
	assert_int_equal(found.count, 1);
	assert_string_equal(found.items[0].url, "https://a.example/css/x.png");
	ing_resources_found_done(&found);
}

/* --- hostile ones --- */

static void srcset_of_a_hundred_thousand(void **state)
{
	struct ing_buf html;
	struct ing_resources_found found;
	(void)state;
	ing_buf_init(&html, 64 << 20);
	ing_buf_add_str(&html, "<img srcset='");
	for (int i = 0; i < 100000; i++)
		ing_buf_printf(&html, "i%d.png %dw, ", i, i + 1);
	ing_buf_add_str(&html, "'>");
	read_page(html.data, html.len, PAGE, &found);
	assert_int_equal(found.count, ING_MAX_RESOURCES);
	assert_true(found.total > ING_MAX_RESOURCES);
	assert_string_equal(found.items[0].url, "https://a.example/d/i0.png");
	assert_string_equal(found.items[199].url, "https://a.example/d/i199.png");
	ing_resources_found_done(&found);
	ing_buf_done(&html);
}

static void a_million_elements(void **state)
{
	struct ing_buf html;
	struct ing_resources_found found;
	(void)state;
	ing_buf_init(&html, 64 << 20);
	for (int i = 0; i < 1000000; i++)
		ing_buf_printf(&html, "<img src=%d style=b:url(%d)>", i % 7, i % 9);
	read_page(html.data, html.len, PAGE, &found);
	assert_int_equal(found.count, 9);
	assert_int_equal(found.total, 9);
	ing_resources_found_done(&found);
	ing_buf_done(&html);
}

/* 16 MB of what costs a tokenizer most, if it reads anything twice. */
static void style_of_16_megabytes(void **state)
{
	static const char *const parts[] = {"a{b:url(", "url(x ", "/*", "'", "(((((", "@import ",
		"{{{", "}", "\\", "image-set('", "-", "<!--", "#", "u\\72l(", "a{b:url(x)}"};
	(void)state;
	for (size_t p = 0; p < sizeof(parts) / sizeof(*parts); p++) {
		struct ing_buf css;
		struct ing_resources_found found;
		ing_buf_init(&css, 17 << 20);
		while (css.len < 16000000)
			ing_buf_add_str(&css, parts[p]);
		read_style(css.data, css.len, &found);
		assert_true(found.count <= ING_MAX_RESOURCES);
		ing_resources_found_done(&found);
		ing_buf_done(&css);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_refer_to),
		cmocka_unit_test(a_page_without_url_has_absolute_ones),
		cmocka_unit_test(styles_refer_to),
		cmocka_unit_test(filters_leave_out),
		cmocka_unit_test(styles_in_utf16_are_read),
		cmocka_unit_test(srcset_of_a_hundred_thousand),
		cmocka_unit_test(a_million_elements),
		cmocka_unit_test(style_of_16_megabytes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
