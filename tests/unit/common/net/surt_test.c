/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The keys that the Wayback tools' own canonicaliser gives for these URLs; NULL where it refuses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "common/net/surt.h"
#include "common/net/url.h"

static const struct {
	const char *url;
	const char *want;
} cases[] = {
	{"", "-"},
	{" \t\n", "-"},
	{"http://archive.org/goo/?a=2&b&a=1", "org,archive)/goo?a=1&a=2&b"},
	{"http://www.archive.org/", "org,archive)/"},
	{"http://www2.Example.com/", "com,example)/"},
	{"http://www.example.com:80/", "com,example)/"},
	{"https://example.com:443/", "com,example)/"},
	{"http://example.com:8080/x", "com,example:8080)/x"},
	{"http://example.com:443/", "com,example:443)/"},
	{"ftp://www.example.com:21/pub/", "com,example:21)/pub"},
	{"http://example.com", "com,example)/"},
	{"example.com/path", "com,example)/path"},
	{"example.com:80/path", "example.com:80/path"},
	{"//example.com/x", "com,example)/x"},
	{"http:////////example.com/x", "com,example)/x"},
	{"http:example.com/a", "com,example)/a"},
	{"http:/example.com:8080/a", "com:8080,example)/a"},
	{"http://https/order.1and1.com", "https)/order.1and1.com"},
	{"http://http://example.com/", "com,example)/"},
	{"https://http://https://example.com/a", "com,example)/a"},
	{"http://user:pass@example.com/", "com,example)/"},
	{"http://user@example.com:8080/", "com,example:8080)/"},
	{"http://example.com:/a", "com,example)/a"},
	{"http://example.com./a", "com,example)/a"},
	{"http://..example..com../a", "com,example)/a"},
	{"http://example...com/a", "com,,example)/a"},
	{"http://EXAMPLE.COM/Path/UPPER?Query=VALUE", "com,example)/path/upper?query=value"},
	{"http://example.com/a/../b/./c/", "com,example)/b/c"},
	{"http://example.com/../../a", "com,example)/a"},
	{"http://example.com/a//b///c", "com,example)/a/b/c"},
	{"http://example.com/a/b/..", "com,example)/a"},
	{"http://example.com/a/.", "com,example)/a"},
	{"http://example.com//", "com,example)/"},
	{"http://example.com/?", "com,example)/"},
	{"http://example.com/#frag", "com,example)/"},
	{"http://example.com/a#frag?x", "com,example)/a"},
	{"http://example.com/a?#x", "com,example)/a"},
	{"http://example.com/a?b#c", "com,example)/a?b"},
	{"http://example.com/%41%42%2f%2525", "com,example)/ab/%25"},
	{"http://example.com/a%20b c", "com,example)/a%20b%20c"},
	{"http://example.com/\303\251", "com,example)/%c3%a9"},
	{"http://ex\303\244mple.com/", "com,xn--exmple-cua)/"},
	{"http://ex%C3%A4mple.com/", "com,xn--exmple-cua)/"},
	{"http://b\303\274cher.example/stra\303\237e", "example,xn--bcher-kva)/stra%c3%9fe"},
	{"http://fa\303\237.de/", "de,fass)/"},
	{"http://\346\227\245\346\234\254\350\252\236.jp/\343\203\221\343\202\271?\343\202\257\343\202\250\343\203\252=\345\200\244",
		"jp,xn--wgv71a119e)/%e3%83%91%e3%82%b9?%e3%82%af%e3%82%a8%e3%83%aa=%e5%80%a4"},
	{"http://3232235777/", "1,1,168,192)/"},
	{"http://0x7f.1/", "1,0x7f)/"},
	{"http://127.1/", "1,0,0,127)/"},
	{"http://0177.0.0.1/", "1,0,0,127)/"},
	{"http://1.2.3/", "3,0,2,1)/"},
	{"http://256.1.1.1/", "1,1,1,256)/"},
	{"http://1.2.3.4.5/", "5,4,3,2,1)/"},
	{"http://01.08.1.1/", "1,1,08,01)/"},
	{"http://4294967296/", "0,0,0,0)/"},
	{"http://99999999999999999999/", "255,255,15,99)/"},
	{"http://[2001:db8::1]/x", "2001:db8::1)/x"},
	{"http://[2001:db8::1]:8080/x", "2001:db8::1:8080)/x"},
	{"http://[2001:db8::1]:80/x", "2001:db8::1)/x"},
	{"http://example.com/?a=b&a=a&A=0&c&c=", "com,example)/?a=0&a=a&a=b&c&c="},
	{"http://example.com/?b=1&a=2&", "com,example)/?&a=2&b=1"},
	{"http://example.com/?&&&", "com,example)/?&&&"},
	{"http://example.com/?=1&=0", "com,example)/?=0&=1"},
	{"http://example.com/?a", "com,example)/?a"},
	{"http://example.com/?PHPSESSID=0123456789abcdefABCDEF0123456789", "com,example)/"},
	{"http://example.com/?phpsessid=0123456789abcdefABCDEF0123456789&a=b", "com,example)/?a=b"},
	{"http://example.com/?a=b&PHPSESSID=0123456789abcdefABCDEF0123456789&c=d",
		"com,example)/?a=b&c=d"},
	{"http://example.com/?jsessionid=0123456789abcdefABCDEF0123456789", "com,example)/"},
	{"http://example.com/a;jsessionid=0123456789abcdefABCDEF0123456789",
		"com,example)/a;jsessionid=0123456789abcdefabcdef0123456789"},
	{"http://example.com/?sid=0123456789abcdefABCDEF0123456789&q=1", "com,example)/?q=1"},
	{"http://example.com/?mysid=0123456789abcdefABCDEF0123456789", "com,example)/?my"},
	{"http://example.com/?sid=0123456789abcdefABCDEF0123456789x",
		"com,example)/?sid=0123456789abcdefabcdef0123456789x"},
	{"http://example.com/?x=1&sid=0123456789abcdefABCDEF0123456789&y=2&sid=0123456789abcdefABCDEF0123456789",
		"com,example)/?&sid=0123456789abcdefabcdef0123456789&x=1&y=2"},
	{"http://example.com/?ASPSESSIONIDABCDEFGH=ABCDEFGHIJKLMNOPQRSTUVWX&a=1",
		"com,example)/?a=1"},
	{"http://example.com/?ASPSESSIONIDABCDEFG1=ABCDEFGHIJKLMNOPQRSTUVWX",
		"com,example)/?aspsessionidabcdefg1=abcdefghijklmnopqrstuvwx"},
	{"http://example.com/?CFID=123&CFTOKEN=abc&x=1", "com,example)/?x=1"},
	{"http://example.com/?x=1&cfid=1&cftoken=2", "com,example)/?&x=1"},
	{"http://example.com/?cfid=&cftoken=2", "com,example)/?cfid=&cftoken=2"},
	{"http://example.com/?cftoken=2&cfid=1", "com,example)/?cfid=1&cftoken=2"},
	{"http://example.com/(S(abcdefghij1234567890abcd))/page.aspx", "com,example)/page.aspx"},
	{"http://example.com/(a(abcdefghij1234567890abcd)F(abcdefghij1234567890abcd))/page.aspx?x=1",
		"com,example)/page.aspx?x=1"},
	{"http://example.com/(abcdefghij1234567890abcd)/x/page.aspx", "com,example)/x/page.aspx"},
	{"http://example.com/(abcdefghij1234567890abcd)/page.html",
		"com,example)/(abcdefghij1234567890abcd)/page.html"},
	{"http://example.com/(abcdefghij1234567890abcd)/.aspx",
		"com,example)/(abcdefghij1234567890abcd)/.aspx"},
	{"mailto:someone@Example.com", "mailto:someone@example.com"},
	{"MAILTO:Someone@Example.com", "MAILTO:someone@example.com"},
	{"dns:www.example.com", "dns:www.example.com"},
	{"javascript:void(0)", "javascript:void(0)"},
	{"about:blank", "about:blank"},
	{"data:text/plain,Hello World", "data:text/plain,hello%20world"},
	{"ftp://example.com/%7Efoo/;type=i", "com,example)/~foo/;type=i"},
	{"http://www.www.example.com/", "com,example,www)/"},
	{"http://www12345.example.com/", "com,example)/"},
	{"http://wwwx.example.com/", "com,example,wwwx)/"},
	{"http://www-2.example.com/", "com,example,www-2)/"},
	{"https://www.biorxiv.org/content/10.1101/2020.01.01.123456v1.full.pdf+html",
		"org,biorxiv)/content/10.1101/2020.01.01.123456v1.full.pdf+html"},
	{"https://journals.plos.org/plosone/article/file?id=10.1371/journal.pone.0093949&type=printable",
		"org,plos,journals)/plosone/article/file?id=10.1371/journal.pone.0093949&type=printable"},
	{"https://www.tandfonline.com/doi/pdf/10.1080/01621459.2017.1285773?needAccess=true",
		"com,tandfonline)/doi/pdf/10.1080/01621459.2017.1285773?needaccess=true"},
	{"http://citeseerx.ist.psu.edu/viewdoc/download?doi=10.1.1.1.1&rep=rep1&type=pdf",
		"edu,psu,ist,citeseerx)/viewdoc/download?doi=10.1.1.1.1&rep=rep1&type=pdf"},
	{"https://doi.org/10.1002/(SICI)1097-0258(19980815/30)17:15/16<1661::AID-SIM968>3.0.CO;2-2",
		"org,doi)/10.1002/(sici)1097-0258(19980815/30)17:15/16<1661::aid-sim968>3.0.co;2-2"},
	{"http://example.com/a b?c d=e f", "com,example)/a%20b?c%20d=e%20f"},
	{"http://example.com/\"<>\\^`{|}~", "com,example)/\"<>\\^`{|}~"},
	{"http://example.com/?q=\"<>\\^`{|}~'", "com,example)/?q=\"<>\\^`{|}~'"},
	{"http://a_b.example.com/", "com,example,a_b)/"},
	{"http://exa mple.com/", "com,exa%20mple)/"},
	{"http://example.com/%zz%4", "com,example)/%25zz%254"},
	{"http://example.com/%", "com,example)/%25"},
	{"http://example.com/%2525252541", "com,example)/a"},
	{"http://example.com:0/", "com,example)/"},
	{"http://example.com:00080/", "com,example)/"},
	{"http://example.com:99999/", NULL},
	{"http://example.com:abc/", NULL},
	{"  http://example.com/ ", "com,example)/"},
	{"http://exam\tple.com/a\tb", "com,example)/ab"},
	{"http://example.com/a%0Ab", "com,example)/a%0ab"},
	{"http://example.com/a%00b", "com,example)/a%00b"},
	{"http://%77%77%77.example.com/", "com,example)/"},
	{"http://example.com/a?b?c", "com,example)/a?b?c"},
	{"http://example.com?x=1", "com,example)/?x=1"},
	{"http://example.com#x", "com,example)/"},
	{"http://./", "http:/"},
	{"http://www./", "www)/"},
	{"http://:80/x", "x)/"},
	{":80/x", "x)/"},
	{"-", "-)/"},
	{"http", "http)/"},
	{"http:", "http:"},
	{"https://", "https:"},
	{"http:///", "http:/"},
	{"HTTP://EXAMPLE.COM/", "com,example)/"},
	{"HTTPS://EXAMPLE.COM:443/", "com,example)/"},
	{"HTTP:EXAMPLE.COM/a", "HTTP:example.com/a"},
	{"svn+ssh://example.com/x", "com,example)/x"},
	{"1http://example.com/", "1http)/example.com"},
	{"a.b:c", "a.b:c"},
	{"http://ex%2Fample.com/", "com,ex/ample)/"},
	{"http://ex%23ample.com/", "com,ex%23ample)/"},
	{"http://example.com/a%23b%3Fc%26d", "com,example)/a%23b?c&d"},
	{"http://example.com/?a%26b=1&a%3D=2", "com,example)/?a&a==2&b=1"},
	{"http://xn--exmple-cua.com/", "com,xn--exmple-cua)/"},
	{"http://\303\251\303\251..com/", "com,%c3%a9%c3%a9)/"},
	{"http://example\343\200\202com/", "com,example)/"},
	{"http://\342\200\215example.com/", "com,example)/"},
	{"http://\302\255/", "%c2%ad)/"},
	{"http://xn--bcn--bch%e9er-kva.de/", "de,xn--bcn--bcher-kva)/"},
	{"http://xn--bcher-k\303\237,va.de/", "de,xn--bcher-kss,va)/"},
	{"http://w%00\303\251.example/", "example,xn--w%00-cja)/"},
	{"http://example.%e9/", "example)/"},
	{"http:/%e9/h", "http:/h"},
	{"filedesc:fo%zz \303\251", "filedesc:fo%zz \303\251"},
};

static void key_of_each_url(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_buf key;
		ing_buf_init(&key, 4096);
		bool ok = ing_surt(cases[i].url, &key);
		if (ok != (cases[i].want != NULL))
			fail_msg("%s: %s", cases[i].url, ok ? ing_buf_str(&key) : "refused");
		if (ok && strcmp(ing_buf_str(&key), cases[i].want) != 0)
			fail_msg("%s: %s, want %s", cases[i].url, ing_buf_str(&key), cases[i].want);
		ing_buf_done(&key);
	}
}

#define OF_BYTES(s) s, sizeof(s) - 1

static void a_nul_is_a_character(void **state)
{
	(void)state;
	static const struct {
		const char *url;
		size_t bytes;
		const char *want; /* NULL: none */
	} nul_cases[] = {
		{OF_BYTES("http://x/\0y"), "x)/%00y"},
		{OF_BYTES("x/a?\0=1&b"), "x)/a?%00=1&b"},
		{OF_BYTES("http://a\0b.example/"), "example,a%00b)/"},
		{OF_BYTES("http://x/a\0"), "x)/a%00"},
		{OF_BYTES("\0"), "%00)/"},
		{OF_BYTES("http://x:8\0/"), NULL},
		{OF_BYTES("filedesc:a\0b"), NULL},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(nul_cases); i++) {
		struct ing_buf key;
		ing_buf_init(&key, 4096);
		bool ok = ing_surt_bytes(nul_cases[i].url, nul_cases[i].bytes, &key);
		const char *want = nul_cases[i].want != NULL ? nul_cases[i].want : "";
		if (ok != (nul_cases[i].want != NULL) || strcmp(ing_buf_str(&key), want) != 0)
			fail_msg("%zu: %s, want %s", i, ing_buf_str(&key), want);
		ing_buf_done(&key);
	}
}

static void key_is_appended(void **state)
{
	(void)state;
	struct ing_buf key;
	ing_buf_init(&key, 64);
	ing_buf_add_str(&key, "row ");
	assert_true(ing_surt("http://example.com/", &key));
	assert_string_equal(ing_buf_str(&key), "row com,example)/");
	assert_false(ing_surt("http://example.com:x/", &key));
	assert_false(key.failed);
	assert_string_equal(ing_buf_str(&key), "row com,example)/");
	ing_buf_done(&key);
}

static void limits_hold(void **state)
{
	(void)state;
	struct ing_buf key;
	ing_buf_init(&key, 8);
	assert_false(ing_surt("http://example.com/", &key));
	assert_true(key.failed);
	ing_buf_done(&key);
	char *url = ing_alloc(ING_URL_MAX_BYTES + 2);
	memset(url, ' ', ING_URL_MAX_BYTES + 1);
	memcpy(url, "http://e.org/", 13);
	url[ING_URL_MAX_BYTES] = 'x';
	ing_buf_init(&key, ING_URL_MAX_BYTES * 4);
	assert_false(ing_surt(url, &key));
	assert_false(key.failed);
	url[ING_URL_MAX_BYTES] = '\0';
	url[ING_URL_MAX_BYTES - 1] = 'x';
	assert_true(ing_surt(url, &key));
	assert_int_equal(key.len, 7 + (ING_URL_MAX_BYTES - 14) * 3 + 1);
	ing_buf_done(&key);
	free(url);
}

static void hostile_shapes_are_quick(void **state)
{
	(void)state;
	static const char *const pieces[] = {"%25", "%2525", "/..", "&", "?", "..", "(",
		"cfid=", "/(abcdefghij1234567890abcd)", "http://", ".%2e", "=", "\xc3\xa9", "\xff"};
	static const char *const fronts[] = {"http://e.org/", "http://e.org/?", "http://", ""};
	for (size_t i = 0; i < ING_ARRAY_LEN(pieces) * ING_ARRAY_LEN(fronts); i++) {
		struct ing_buf url, key;
		const char *piece = pieces[i / ING_ARRAY_LEN(fronts)];
		ing_buf_init(&url, 16384);
		ing_buf_init(&key, ING_URL_MAX_BYTES * 4);
		ing_buf_add_str(&url, fronts[i % ING_ARRAY_LEN(fronts)]);
		while (url.len + strlen(piece) <= url.max)
			ing_buf_add_str(&url, piece);
		bool ok = ing_surt(ing_buf_str(&url), &key);
		assert_true(ok ? key.len > 0 : key.len == 0);
		ing_buf_done(&url);
		ing_buf_done(&key);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(key_of_each_url),
		cmocka_unit_test(a_nul_is_a_character),
		cmocka_unit_test(key_is_appended),
		cmocka_unit_test(limits_hold),
		cmocka_unit_test(hostile_shapes_are_quick),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
