/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * URLs: the cleaned form (with the WHATWG's answer where the replaced system's was another: marked
 * "differs"), the parts, resolution, and the fuzzy comparison.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/net/url.h"

static const struct {
	const char *in;
	const char *want;
} clean_cases[] = {
	{"http://BLAH.COM/file.pdf", "http://blah.com/file.pdf"},
	{"https://h.edu:/x%3A1", "https://h.edu/x%3A1"},
	{"HTTP://Example.com:80", "http://example.com/"},
	{"http://@example.com/", "http://example.com/"},
	{"http://:@example.com/", "http://example.com/"},
	{"http:/example.com/a", "http://example.com/a"},
	{"http:example.com/a", "http://example.com/a"},
	{"http:\\\\example.com\\a", "http://example.com/a"},
	{"http://example.com/a/../b/./c", "http://example.com/b/c"},
	{"http://example.com/a/%2e%2E/b/%2e/c", "http://example.com/b/c"},
	{"http://example.com//a//b", "http://example.com//a//b"},
	{"http://example.com/a b", "http://example.com/a%20b"},
	{"http://example.com/\u00e9", "http://example.com/%C3%A9"},
	/* differs: the apostrophe of a query is encoded */
	{"http://example.com/?q=a b&c=\u00e9\"<>'",
		"http://example.com/?q=a%20b&c=%C3%A9%22%3C%3E%27"},
	/* differs: the caret of a path is encoded */
	{"http://example.com/a{b}|c^`", "http://example.com/a%7Bb%7D|c%5E%60"},
	/* differs: the space of a fragment is encoded */
	{"http://example.com/#frag \u00e9", "http://example.com/#frag%20%C3%A9"},
	{"http://ex\u00e4mple.com/", "http://xn--exmple-cua.com/"},
	{"http://0x7f.1/", "http://127.0.0.1/"},
	{"http://1.2.3/", "http://1.2.0.3/"},
	{"http://ex%61mple.com/", "http://example.com/"},
	{"http://EXAMPLE.com./a", "http://example.com./a"},
	{"example.com/a", "example.com/a"},
	{"//example.com/a", "//example.com/a"},
	{"javascript:void(0)", "javascript:void(0)"},
	{"", ""},
	/* differs: ports are numbers */
	{"http://example.com:0080/", "http://example.com/"},
	/* differs: gopher is no special scheme any more */
	{"gopher://example.com:70", "gopher://example.com:70"},
	/* kept as they are */
	{"http://www.example.com/?", "http://www.example.com/?"},
	{"http://example.com/#", "http://example.com/#"},
	{"http://example.com/?b=1&a=2&b=0", "http://example.com/?b=1&a=2&b=0"},
	{"http://u:p@example.com/%7e%7E", "http://u:p@example.com/%7e%7E"},
	{"http://example.com/;jsessionid=ABC", "http://example.com/;jsessionid=ABC"},
	/* white space around, line breaks within */
	{" \t\r\n\u00a0\u3000http://example.com/a\n b\u2003\xc2\x85 ", "http://example.com/a%20b"},
	{"\u2028 example.com \u1680", "example.com"},
	{"\u00a0", ""},
	{"http://exa\nmple.com/\tx", "http://example.com/x"},
	{"https://example.com:443/", "https://example.com/"},
	{"https://example.com:80/", "https://example.com:80/"},
	{"ftp://example.com:21/", "ftp://example.com/"},
	{"http://0300.0250.1/", "http://192.168.0.1/"},
	{"http://[2001:DB8:0:0::1]:80/", "http://[2001:db8::1]/"},
	{"http://\uff45xample\u3002com/", "http://example.com/"},
	{"http://fa\u00df.de/", "http://xn--fa-hia.de/"},
	/* where lexbor 3.0 alone would be wrong */
	{"http://h//\u00e9/x", "http://h//%C3%A9/x"},
	{"http://h//a b", "http://h//a%20b"},
	{"http://h//[x]", "http://h//[x]"},
	{"http://h/a/..//[x]", "http://h//[x]"},
	{"http://h/a\\/b c", "http://h/a//b%20c"},
	{"http://h/100% sure/%\"", "http://h/100%%20sure/%%22"},
	{"http://h/a/..?q", "http://h/?q"},
	{"http://h/a/.#f", "http://h/a/#f"},
	{"http://h/a/%2E%2e?q", "http://h/?q"},
	{"http://ex%41mple.com/", "http://example.com/"},
	/* not URLs: as they came */
	{"http://", "http://"},
	{"http://exa mple.com/", "http://exa mple.com/"},
	{"http://example.com:65536/", "http://example.com:65536/"},
	{"http://256.256.256.256/", "http://256.256.256.256/"},
	{"http://[::1/", "http://[::1/"},
	{"http://\u00ad/", "http://\u00ad/"},
	{"10.1371/journal.pone.0093949", "10.1371/journal.pone.0093949"},
	/* bytes that are no UTF-8 */
	{"http://example.com/\xff", "http://example.com/%FF"},
	{"http://example.com/\xff\xe3\x81z?\xe9#\xed", "http://example.com/%FF%E3%81z?%E9#%ED"},
	{"http://\xff@example.com/", "http://%FF@example.com/"},
	{"http://example.com/a\xed\xa0\x80z", "http://example.com/a%EF%BF%BDz"},
	{"http://ex\xff.com/", "http://ex\xff.com/"},
};

static void clean_gives_the_fetched_form(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(clean_cases); i++) {
		char *got = ing_url_clean(clean_cases[i].in, strlen(clean_cases[i].in));
		if (strcmp(got, clean_cases[i].want) != 0)
			fail_msg("%s: %s, want %s", clean_cases[i].in, got, clean_cases[i].want);
		char *again = ing_url_clean(got, strlen(got));
		assert_string_equal(again, got);
		free(again);
		free(got);
	}
}

static void clean_takes_nul_bytes(void **state)
{
	(void)state;
	char *got = ing_url_clean("http://e.org/a\0b", 16);
	assert_string_equal(got, "http://e.org/a%00b");
	free(got);
	got = ing_url_clean("e.org\0b", 7);
	assert_string_equal(got, "e.org");
	free(got);
	got = ing_url_clean("http://e.org//\0[/..?b", 22);
	assert_string_equal(got, "http://e.org//?b");
	free(got);
	assert_null(ing_url_parse("http://e\0.org/", 14));
	assert_null(ing_url_parse("", 0));
}

/* href protocol username password hostname port pathname search hash; no href: not a URL */
/* clang-format off */
static const struct {
	const char *in;
	const char *base;
	const char *part[9];
} parts_cases[] = {
	{.in = "HTTP://u:p@Example.com:8080/a?b#c",
		.part = {"http://u:p@example.com:8080/a?b#c", "http:", "u", "p", "example.com", "8080", "/a", "?b", "#c"}},
	{.in = "https://example.com:443",
		.part = {"https://example.com/", "https:", "", "", "example.com", "", "/", "", ""}},
	{.in = "http://e.org/?#",
		.part = {"http://e.org/?#", "http:", "", "", "e.org", "", "/", "", ""}},
	{.in = "http://u@[::FFFF:1.2.3.4]:0/",
		.part = {"http://u@[::ffff:102:304]:0/", "http:", "u", "", "[::ffff:102:304]", "0", "/", "", ""}},
	{.in = "http://:p@h/", .part = {"http://:p@h/", "http:", "", "p", "h", "", "/", "", ""}},
	{.in = "mailto:a@b", .part = {"mailto:a@b", "mailto:", "", "", "", "", "a@b", "", ""}},
	{.in = "file:///C|/x/../y",
		.part = {"file:///C:/y", "file:", "", "", "", "", "/C:/y", "", ""}},
	{.in = "web+x:/.//p", .part = {"web+x:/.//p", "web+x:", "", "", "", "", "//p", "", ""}},
	{.in = "data:x  ?y", .part = {"data:x %20?y", "data:", "", "", "", "", "x %20", "?y", ""}},
	{.in = "data:x #y", .part = {"data:x%20#y", "data:", "", "", "", "", "x%20", "", "#y"}},
	{.in = "data:x ", .part = {"data:x", "data:", "", "", "", "", "x", "", ""}},
	{.in = "sc://h/a^b?c^d#e^f",
		.part = {"sc://h/a%5Eb?c^d#e^f", "sc:", "", "", "h", "", "/a%5Eb", "?c^d", "#e^f"}},
	{.in = "../x?y", .base = "http://h/a/b/c#d",
		.part = {"http://h/a/x?y", "http:", "", "", "h", "", "/a/x", "?y", ""}},
	{.in = "", .base = "http://h/a^?b#c",
		.part = {"http://h/a%5E?b", "http:", "", "", "h", "", "/a%5E", "?b", ""}},
	{.in = "#z", .base = "data:x #y",
		.part = {"data:x%20#z", "data:", "", "", "", "", "x%20", "", "#z"}},
	{.in = "x", .part = {NULL}},
	{.in = "x", .base = "mailto:a", .part = {NULL}},
	{.in = "http://h/", .base = "nonsense", .part = {NULL}},
	{.in = "http://", .base = "http://h/", .part = {NULL}},
	{.in = "http://h:x/", .part = {NULL}},
	{.in = "http://a<b", .part = {NULL}},
};
/* clang-format on */

static void parts_are_those_of_the_standard(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(parts_cases); i++) {
		struct ing_url_parts p;
		const char *in = parts_cases[i].in;
		bool ok = ing_url_parts(in, strlen(in), parts_cases[i].base, &p);
		if (ok != (parts_cases[i].part[0] != NULL))
			fail_msg("%s: %s", in, ok ? p.href : "refused");
		if (ok) {
			const char *got[] = {p.href, p.protocol, p.username, p.password, p.hostname,
				p.port, p.pathname, p.search, p.hash};
			for (size_t k = 0; k < ING_ARRAY_LEN(got); k++)
				assert_string_equal(got[k], parts_cases[i].part[k]);
		} else {
			assert_null(p.href);
		}
		ing_url_parts_done(&p);
		ing_url_parts_done(&p);
	}
}

static const struct {
	const char *base;
	const char *ref;
	const char *want;
} resolve_cases[] = {
	{"http://h/a/b", "c", "http://h/a/c"},
	{"http://h/a/b", "/c#f", "http://h/c#f"},
	{"http://h/a/b", "//o.org/x", "http://o.org/x"},
	{"https://h/a/b", "//o.org/x", "https://o.org/x"},
	{"http://h/a/b?q#f", "?r", "http://h/a/b?r"},
	{"http://h/a/b?q#f", "#g", "http://h/a/b?q#g"},
	{"http://h/a/b?q#f", "", "http://h/a/b?q"},
	{"http://h/a/b", "../../../c", "http://h/c"},
	{"http://h/a/b", "\\c\\d", "http://h/c/d"},
	/* paths of files */
	{"file:///C:/a/b", "../../../c", "file:///C:/c"},
	{"file:///C:/a/b", "/c//./d", "file:///C:/c//d"},
	{"file:///C:/a/b", "/D|/c", "file:///D:/c"},
	{"file:///C:/a/b", "file:c", "file:///C:/a/c"},
	{"file:///C:/a/b", "..", "file:///C:/"},
	{"file://h/a/b", "C|/..//d", "file://h/C://d"},
	{"file://h/a/b", "//C:/d", "file:///C:/d"},
	{"file://h/a", ".#x", "file://h/#x"},
	{"file://h/a", "\\\\o\\c", "file://o/c"},
	{"file://h/a", "//localhost/b", "file:///b"},
	{"http://h/", "file:c\\%\\\\", "file:///c/%//"},
	/* paths that a reader in a hurry gets wrong */
	{"http://h/a//b/", "../../c", "http://h/a/c"},
	{"http://h/a//b", "./.%2E/%zz{/.", "http://h/a/%zz%7B/"},
	{"foo://h", "a/../..//b", "foo://h//b"},
	{"foo:/a", ".//b", "foo:/.//b"},
	/* userinfo */
	{"http://h/", "//u@v:p@w@o/", "http://u%40v:p%40w@o/"},
	{"foo://h/", "//u@v:p@w@o/", "foo://u%40v:p%40w@o/"},
	/* names that look like addresses, and the other way round */
	{"http://h/", "//1x58/", "http://1x58/"},
	{"http://h/", "//a.0x/", NULL},
	{"http://h/", "//\uff11.2\u3002\uff13/", "http://1.2.0.3/"},
	/* ASCII is not looked into */
	{"http://h/", "//XN--a.xn--/", "http://xn--a.xn--/"},
	{"http://h/", "//\u00e9.xn--a/", NULL},
	{"http://h/", "//\u00e9.xn--ascii-/", NULL},
	{"http://h/", "//\u00e9.xn--xn---epa/", NULL},
	/* marks and joiners */
	{"http://h/", "//a.\u0308c/", NULL},
	{"http://h/", "//a\u200db/", NULL},
	{"http://h/", "//\u0915\u094d\u200d\u0937/", "http://xn--11b2ezcw70k/"},
	{"http://h/", "//\u06ef\u200c\u06ef/", NULL},
	{"http://h/", "//\u0628\u200c\u0628/", "http://xn--ngba799q/"},
	/* right to left */
	{"http://h/", "//\u05d0.a1/", "http://xn--4db.a1/"},
	{"http://h/", "//\u05d0.1a/", NULL},
	{"http://h/", "//\u05d0a/", NULL},
	{"http://h/", "//\u05d01/", "http://xn--1-zhc/"},
	{"http://h/", "//\u05d01\u0661/", NULL},
	{"http://h/", "//\u05d0-/", NULL},
	{"http://h/", "//1\u05d0/", NULL},
	{"http://h/a/b", "https:c", "https://c/"},
	{"http://h/a/b", "http:c", "http://h/a/c"},
	{"http://h/a/b", "ftp://x/y", "ftp://x/y"},
	{"http://h/a/b", "mailto:x@y", "mailto:x@y"},
	{"http://h/a/b", " c d ", "http://h/a/c%20d"},
	{"http://h/a/b", "http://[", NULL},
	{"http://h//a/b", "./[", "http://h//a/["},
	{"http://h/a//b", "..", "http://h/a/"},
	{"http://h/a//b", ".?q", "http://h/a//?q"},
	{"sc:/p//q", "%2e", "sc:/p//"},
	{"sc:/p/q", "\\{", "sc:/p/\\%7B"},
	{"a/b", "c", NULL},
	{"", "http://h/", NULL},
};

static void references_resolve(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(resolve_cases); i++) {
		char *got = ing_url_resolve(resolve_cases[i].base, resolve_cases[i].ref);
		if (resolve_cases[i].want == NULL)
			assert_null(got);
		else if (got == NULL || strcmp(got, resolve_cases[i].want) != 0)
			fail_msg("%s: %s, want %s", resolve_cases[i].ref, got ? got : "refused",
				resolve_cases[i].want);
		free(got);
	}
}

/* clang-format off */
static const struct {
	const char *url;
	const char *host; /* NULL: none */
	unsigned port;
	bool web;
} host_cases[] = {
	{.url = "http://WWW.Example.com/", .host = "www.example.com", .port = 80, .web = true},
	{.url = "https://example.com", .host = "example.com", .port = 443, .web = true},
	{.url = "https://example.com:8443/", .host = "example.com", .port = 8443, .web = true},
	{.url = "http://[2001:DB8::1]:81/", .host = "[2001:db8::1]", .port = 81, .web = true},
	{.url = "http://b\u00fccher.example/", .host = "xn--bcher-kva.example", .port = 80,
		.web = true},
	{.url = "http://3232235777/", .host = "192.168.1.1", .port = 80, .web = true},
	{.url = "ftp://example.com/", .host = "example.com", .port = 21},
	{.url = "ws://example.com/", .host = "example.com", .port = 80},
	{.url = "wss://example.com/", .host = "example.com", .port = 443},
	{.url = "sc://example.com/", .host = "example.com"},
	{.url = "sc://example.com:9/", .host = "example.com", .port = 9},
	{.url = "file:///etc/passwd"},
	{.url = "mailto:a@b.org"},
	{.url = "example.com"},
	{.url = ""},
};
/* clang-format on */

static void host_and_port_are_those_to_connect_to(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(host_cases); i++) {
		char host[ING_URL_HOST_BYTES];
		const char *want = host_cases[i].host;
		bool ok = ing_url_host(host_cases[i].url, host, sizeof(host));
		assert_int_equal(ok, want != NULL);
		assert_string_equal(host, want != NULL ? want : "");
		assert_int_equal(ing_url_port(host_cases[i].url), host_cases[i].port);
		assert_int_equal(ing_url_is_web(host_cases[i].url), host_cases[i].web);
	}
	char small[12];
	assert_true(ing_url_host("http://example.com/", small, 12));
	assert_false(ing_url_host("http://example.com/", small, 11));
	assert_string_equal(small, "");
}

/* The standard has no limit for names; what is to be fetched has DNS's. */
static void hosts_that_no_name_server_knows_are_not_the_webs(void **state)
{
	char url[400] = "http://";
	char host[ING_URL_HOST_BYTES];
	(void)state;
	for (size_t len = 250; len < 260; len++) {
		memset(url + 7, 'a', len);
		memcpy(url + 7 + len, "/", 2);
		char *href = ing_url_parse(url, strlen(url));
		assert_non_null(href);
		assert_string_equal(href, url);
		free(href);
		bool fits = len < ING_URL_HOST_BYTES;
		assert_int_equal(ing_url_is_web(url), fits);
		assert_int_equal(ing_url_host(url, host, sizeof(host)), fits);
	}
}

/* Whatever way around the parser a URL takes, it ends where the parser does. */
static void shortcuts_end_where_the_parser_does(void **state)
{
	(void)state;
	static const char *const urls[] = {"https://www.a.example/x/Y_z~1.pdf?q=1&r=%2e#f",
		"http://a.b/", "http://a.b/.", "http://a.b/..", "http://a.b/x/../y",
		"http://a.b/.x", "http://a.b/x.", "http://a.b/%2e/x", "http://a.b/x?../y",
		"http://a.b/x?a'b", "http://A.b/", "http://a.1/", "http://1.2.3.4/",
		"http://a.0x1/", "http://xn--a.b/", "http://xn--bcher-kva.example/", "http://a..b/",
		"http://.a.b/", "http://a.b./", "http://a-.b/", "http://-a.b/", "http://a_b.c/",
		"http://a/", "http://ab/", "http://abc/", "http://a.b", "http://a.b:80/",
		"http://u@a.b/", "http:///a.b/", "http://a.b//x", "https:a.b/", "httpx://a.b/",
		"http://a.b/x y", "http://a.b/\xc3\xa9"};
	for (size_t i = 0; i < ING_ARRAY_LEN(urls); i++) {
		struct ing_url_parts parts;
		char host[ING_URL_HOST_BYTES];
		char *clean = ing_url_clean(urls[i], strlen(urls[i]));
		bool is_url = ing_url_parts(urls[i], strlen(urls[i]), NULL, &parts);
		assert_string_equal(clean, is_url ? parts.href : urls[i]);
		assert_int_equal(ing_url_host(urls[i], host, sizeof(host)),
			is_url && parts.hostname[0] != '\0');
		assert_string_equal(host, is_url ? parts.hostname : "");
		ing_url_parts_done(&parts);
		free(clean);
	}
}

static void fragment_is_cut(void **state)
{
	(void)state;
	char *got = ing_url_without_fragment("http://h/?a#b#c");
	assert_string_equal(got, "http://h/?a");
	free(got);
	got = ing_url_without_fragment("http://h/");
	assert_string_equal(got, "http://h/");
	free(got);
}

static const struct {
	const char *a;
	const char *b;
	bool equal;
} fuzzy_cases[] = {
	{.a = "http://example.com/", .b = "http://example.com/", .equal = true},
	{.a = "http://example.com/", .b = "https://example.com", .equal = true},
	{.a = "http://www.example.com/a", .b = "http://example.com/a", .equal = true},
	{.a = "http://www.example.com/a/", .b = "https://example.com/a", .equal = true},
	{.a = "http://example.com:80/a", .b = "https://example.com/a", .equal = true},
	{.a = "https://example.com:80/a", .b = "http://example.com/a", .equal = true},
	{.a = "http://EXAMPLE.com/%C3%A9", .b = "http://example.com/\u00e9", .equal = true},
	{.a = "http://example.com/a?b", .b = "http://example.com/a?b/", .equal = true},
	{.a = " http://example.com/a ", .b = "http://example.com/a", .equal = true},
	{.a = "not a url/", .b = "not a url", .equal = true},
	{.a = "", .b = "", .equal = true},
	{.a = "http://example.com/a", .b = "http://example.com/b"},
	{.a = "http://example.com/a", .b = "http://example.com/A"},
	{.a = "http://example.com/a//", .b = "http://example.com/a"},
	{.a = "http://example.com/a?", .b = "http://example.com/a"},
	{.a = "http://example.com/a#x", .b = "http://example.com/a"},
	{.a = "http://example.com:81/a", .b = "http://example.com/a"},
	{.a = "http://u@example.com/a", .b = "http://example.com/a"},
	/* only a host's own prefix is left out */
	{.a = "http://e.org/?u=www.a.org", .b = "http://e.org/?u=a.org"},
	{.a = "http://awww.org/", .b = "http://aorg/"},
	{.a = "example.com", .b = "http://example.com/"},
};

static void fuzzy_equality(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(fuzzy_cases); i++) {
		const char *a = fuzzy_cases[i].a;
		const char *b = fuzzy_cases[i].b;
		if (ing_url_fuzzy_equal(a, b) != fuzzy_cases[i].equal ||
			ing_url_fuzzy_equal(b, a) != fuzzy_cases[i].equal)
			fail_msg("%s, %s", a, b);
	}
}

static void too_long_is_no_url(void **state)
{
	(void)state;
	char *url = ing_alloc(ING_URL_MAX_BYTES + 2);
	memset(url, '\xff', ING_URL_MAX_BYTES + 1);
	memcpy(url, "http://h/", 9);
	assert_null(ing_url_parse(url, ING_URL_MAX_BYTES + 1));
	char *href = ing_url_parse(url, ING_URL_MAX_BYTES);
	assert_non_null(href);
	assert_int_equal(strlen(href), 9 + (ING_URL_MAX_BYTES - 9) * 3);
	free(href);
	free(url);
}

static void *parse_in_thread(void *arg)
{

	for (int i = 0; i < 1000; i++) {
		char *href = ing_url_parse("http://b\u00fccher.example/a b", 26);
		if (href == NULL || strcmp(href, "http://xn--bcher-kva.example/a%20b") != 0)
			return arg;
		free(href);
	}
	return NULL;
}

static void threads_have_parsers_of_their_own(void **state)
{
	(void)state;
	pthread_t threads[4];
	int seed = 1;
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, parse_in_thread, &seed), 0);
	for (size_t i = 0; i < 4; i++) {
		void *wrong = NULL;
		pthread_join(threads[i], &wrong);
		assert_null(wrong);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clean_gives_the_fetched_form),
		cmocka_unit_test(clean_takes_nul_bytes),
		cmocka_unit_test(parts_are_those_of_the_standard),
		cmocka_unit_test(references_resolve),
		cmocka_unit_test(host_and_port_are_those_to_connect_to),
		cmocka_unit_test(hosts_that_no_name_server_knows_are_not_the_webs),
		cmocka_unit_test(shortcuts_end_where_the_parser_does),
		cmocka_unit_test(fragment_is_cut),
		cmocka_unit_test(fuzzy_equality),
		cmocka_unit_test(too_long_is_no_url),
		cmocka_unit_test(threads_have_parsers_of_their_own),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
