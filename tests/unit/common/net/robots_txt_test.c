/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * robots.txt: what RFC 9309 and the field's reference parser say to the same file, agent and URL,
 * and that hostile files cost no more than they may.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants the three above first */
#include <cmocka.h>
#include "common/base/buf.h"
#include "common/net/robots.h"

/* Paths are written after http://h; a '-' in front stands for disallowed, a '+' for allowed. */
struct robots_case {
	const char *name;
	const char *file;
	const char *agent;
	const char *answers[12];
};

#define FOO "user-agent: FooBot\n"
#define ALL "user-agent: *\n"

static const struct robots_case cases[] = {
	/* lines */
	{"nothing in it", "", "FooBot", {"+/", "+/x"}},
	{"a rule", FOO "disallow: /\n", "FooBot", {"-/", "-/x/y", "-"}},
	{"keys nobody knows", "foo: FooBot\nbar: /\n", "FooBot", {"+/x/y"}},
	{"no colon", "user-agent FooBot\ndisallow /\n", "FooBot", {"-/x/y"}},
	{"no colon, but a tab", "user-agent\tFooBot\ndisallow \t /x\n", "FooBot", {"-/x/y", "+/y"}},
	{"no colon and three words", FOO "disallow /x /y\n", "FooBot", {"+/x", "+/y"}},
	{"blank before the colon", "user-agent : FooBot\ndisallow  :\t/x\n", "FooBot", {"-/x"}},
	{"indented", "  user-agent: FooBot\n\t disallow: /x  \n", "FooBot", {"-/x", "+/y"}},
	{"no key", FOO ": /x\n", "FooBot", {"+/x"}},
	{"a second colon is the value's", FOO "disallow: /a:b\n", "FooBot", {"-/a:b", "+/a"}},
	{"capitals", "USER-AGENT: FooBot\nALLOW: /x/\nDISALLOW: /\n", "FooBot", {"+/x/y", "-/a"}},
	{"mixed", "uSeR-aGeNt: FooBot\nAlLoW: /x/\ndIsAlLoW: /\n", "FooBot", {"+/x/y", "-/a"}},
	{"misspelt agent, 1", "useragent: FooBot\ndisallow: /", "FooBot", {"-/"}},
	{"misspelt agent, 2", "user agent: FooBot\ndisallow: /", "FooBot", {"-/"}},
	{"misspelt agent, 3", "user_agent: FooBot\ndisallow: /", "FooBot", {"+/"}},
	{"two words and no colon", "user agent FooBot\ndisallow: /", "FooBot", {"+/"}},
	{"misspelt disallow, 1", FOO "dissallow: /", "FooBot", {"-/"}},
	{"misspelt disallow, 2", FOO "dissalow: /", "FooBot", {"-/"}},
	{"misspelt disallow, 3", FOO "disalow: /", "FooBot", {"-/"}},
	{"misspelt disallow, 4", FOO "diasllow: /", "FooBot", {"-/"}},
	{"misspelt disallow, 5", FOO "disallaw: /", "FooBot", {"-/"}},
	{"misspelt disallow, 6", FOO "dislalow: /", "FooBot", {"+/"}},
	{"a key goes on", FOO "disallowed: /x\nallowance: /x/y", "FooBot", {"-/x", "+/x/y"}},
	{"comments", FOO "# disallow: /\ndisallow: /q#ux\n", "FooBot", {"+/a", "-/q", "-/qa"}},
	{"only a comment as value", FOO "disallow: #/\n", "FooBot", {"+/a"}},
	{"ends of lines", "user-agent: FooBot\r\ndisallow: /x\rdisallow: /y\n\rallow: /y/z",
		"FooBot", {"-/x", "-/y", "+/y/z"}},
	{"a byte order mark", "\xef\xbb\xbfuser-agent: FooBot\ndisallow: /\n", "FooBot", {"-/"}},
	{"half of one", "\xef\xbbuser-agent: FooBot\ndisallow: /\n", "FooBot", {"-/"}},
	{"one elsewhere",
		"\nuser-agent: FooBot\n\xef\xbb\xbf"
		"disallow: /\n",
		"FooBot", {"+/"}},
	{"no last line end", FOO "disallow: /x", "FooBot", {"-/x", "+/y"}},

	/* groups */
	{"rules before any group", "allow: /foo/\ndisallow: /bar\n\n" FOO "disallow: /foo\n",
		"FooBot", {"-/foo/", "+/bar"}},
	{"empty lines end no group", FOO "\n\ndisallow: /\n\nallow: /w/\n", "FooBot",
		{"+/w/a", "-/v"}},
	{"merged groups",
		FOO "disallow: /\nallow: /x/\nuser-agent: BarBot\ndisallow: /\nallow: /y/\n" FOO
		    "allow: /z/\n",
		"FooBot", {"+/x/b", "+/z/d", "-/y/c"}},
	{"the group beside them",
		FOO "disallow: /\nallow: /x/\nuser-agent: BarBot\ndisallow: /\nallow: /y/\n" FOO
		    "allow: /z/\n",
		"BarBot", {"-/x/b", "-/z/d", "+/y/c"}},
	{"a group for two", "user-agent: BazBot\n\n" FOO "allow: /z/\ndisallow: /\n", "BazBot",
		{"+/z/d", "-/"}},
	{"a sitemap parts no names",
		"User-agent: BarBot\nSitemap: http://h/s\n" ALL "Disallow: /\n", "BarBot", {"-/"}},
	{"nor does what nobody knows", "User-agent: FooBot\nNoindex: /\n" ALL "Disallow: /\n",
		"FooBot", {"-/"}},
	{"a rule that says nothing does", FOO "disallow:\n" ALL "disallow: /\n", "FooBot", {"+/"}},
	{"everybody's group is second", ALL "allow: /\n" FOO "disallow: /\n", "FooBot", {"-/x/y"}},
	{"everybody's group for others", ALL "allow: /\n" FOO "disallow: /\n", "BarBot", {"+/x/y"}},
	{"nobody's group", FOO "allow: /\nuser-agent: BarBot\ndisallow: /\n", "QuxBot", {"+/x/y"}},
	{"own group, not everybody's", ALL "disallow: /x/\n" FOO "disallow: /y/\n", "FooBot",
		{"+/x/page", "-/y/page"}},
	{"an own group without rules", ALL "disallow: /\n" FOO, "FooBot", {"+/"}},
	{"an own group with an empty rule", ALL "disallow: /\n" FOO "disallow:\n", "FooBot",
		{"+/"}},
	{"one group is own and everybody's", ALL FOO "disallow: /x\n" ALL "disallow: /y\n",
		"FooBot", {"-/x", "+/y"}},
	{"the same for others", ALL FOO "disallow: /x\n" ALL "disallow: /y\n", "BarBot",
		{"-/x", "-/y"}},
	{"merged groups for everybody", ALL "disallow: /x\n" FOO "disallow:\n" ALL "disallow: /y\n",
		"Q", {"-/x", "-/y", "+/z"}},

	/* names */
	{"any case", "User-Agent: FOO BAR\nAllow: /x/\nDisallow: /\n", "foo", {"+/x/y", "-/a/b"}},
	{"a name ends at the blank",
		ALL "Disallow: /\nUser-Agent: Foo Bar\nAllow: /x/\nDisallow: /\n", "Foo",
		{"+/x/y", "-/y"}},
	{"a name ends at its version", "user-agent: FooBot/2.1\ndisallow: /\n", "FooBot", {"-/"}},
	{"no beginning of a name", "user-agent: Foo\ndisallow: /\n", "FooBot", {"+/"}},
	{"no end of a name", "user-agent: FooBotNews\ndisallow: /\n", "FooBot", {"+/"}},
	{"dashes and underscores", "user-agent: Foo_Bot-x\ndisallow: /\n", "foo_bot-X", {"-/"}},
	{"digits are not a name's", "user-agent: Foo2\ndisallow: /\n", "Foo", {"-/"}},
	{"a user agent's own token", FOO "disallow: /\n", "FooBot/1.0 (+http://x)", {"-/"}},
	{"bytes above 127 in a name", "user-agent: B\xc3\xa4r\ndisallow: /\n", "B", {"-/"}},
	{"a star with words", "user-agent: * baz\ndisallow: /\n", "FooBot", {"-/"}},
	{"a star with a tab", "user-agent: *\tbaz\ndisallow: /\n", "FooBot", {"-/"}},
	{"a star and letters", "user-agent: *Foo\ndisallow: /\n", "Foo", {"+/"}},
	{"no name", "user-agent:\ndisallow: /\n", "FooBot", {"+/"}},
	{"an agent without a token", "user-agent: 5\ndisallow: /\n" FOO "disallow: /\n", "5",
		{"+/"}},
	{"an agent that is empty", "user-agent: 5\ndisallow: /x\n" FOO "disallow: /\n", "",
		{"-/x", "+/y"}},

	/* which rule */
	{"case of paths", FOO "disallow: /X/\n", "FooBot", {"+/x/y", "-/X/y"}},
	{"longest, 1", FOO "disallow: /x/page.html\nallow: /x/\n", "FooBot", {"-/x/page.html"}},
	{"longest, 2", FOO "allow: /x/page.html\ndisallow: /x/\n", "FooBot",
		{"+/x/page.html", "-/x/"}},
	{"ties, empty", FOO "disallow: \nallow: \n", "FooBot", {"+/x"}},
	{"ties", FOO "disallow: /\nallow: /\n", "FooBot", {"+/x"}},
	{"ties, longer", FOO "disallow: /x/p\nallow: /x/p\n", "FooBot", {"+/x/p"}},
	{"a slash more", FOO "disallow: /x\nallow: /x/\n", "FooBot", {"-/x", "+/x/"}},
	{"stars count", FOO "allow: /page\ndisallow: /*.html\n", "FooBot",
		{"-/page.html", "+/page"}},
	{"stars count, 2", FOO "allow: /x/page.\ndisallow: /*.html\n", "FooBot",
		{"+/x/page.html", "-/x/y.html"}},
	{"length after escaping", FOO "disallow: /\xc3\xa9\nallow: /%C3*A9\n", "FooBot",
		{"+/%C3%A9", "+/x"}},
	{"order does not matter", FOO "allow: /p\ndisallow: /\n", "FooBot", {"+/page", "-/x"}},
	{"ties in order of writing", FOO "allow: /folder\ndisallow: /folder\n", "FooBot",
		{"+/folder/page"}},
	{"a longer disallow", FOO "allow: /page\ndisallow: /*.htm\n", "FooBot", {"-/page.htm"}},
	{"the root only", FOO "allow: /$\ndisallow: /\n", "FooBot", {"+/", "-/page.html", "-/?a"}},
	{"the file itself", FOO "disallow: /\n", "FooBot", {"+/robots.txt", "-/robots.txt?a"}},

	/* patterns */
	{"star within", FOO "disallow: /foo/bar/quz\nallow: /foo/*/qux\n", "FooBot",
		{"-/foo/bar/quz", "+/foo/quz", "+/foo//quz", "+/foo/bax/quz"}},
	{"to the end", FOO "disallow: /foo/bar$\nallow: /foo/bar/qux\n", "FooBot",
		{"-/foo/bar", "+/foo/bar/qux", "+/foo/bar/", "+/foo/bar/baz"}},
	{"a dollar within", FOO "disallow: /a$b\n", "FooBot", {"-/a$b", "-/a$bc", "+/ab"}},
	{"two dollars", FOO "disallow: /a$$\n", "FooBot", {"-/a$", "+/a", "+/a$b"}},
	{"only a star", FOO "disallow: *\n", "FooBot", {"-/", "-/x"}},
	{"only a dollar", FOO "disallow: $\n", "FooBot", {"+/", "+/x"}},
	{"a star and a dollar", FOO "disallow: /x*$\n", "FooBot", {"-/x", "-/xyz", "+/y"}},
	{"stars in a row", FOO "disallow: /a**b***c\n", "FooBot", {"-/abc", "-/axbxc", "+/acb"}},
	{"the last piece at the end", FOO "disallow: /*ab$\n", "FooBot",
		{"-/abab", "-/ab", "+/aba", "+/b"}},
	{"pieces do not overlap", FOO "disallow: /ab*ba$\n", "FooBot",
		{"+/aba", "-/abba", "-/abxba"}},
	{"no slash in front", FOO "disallow: x\n", "FooBot", {"+/x"}},
	{"a star in front", FOO "disallow: *x\n", "FooBot", {"-/x", "-/ax"}},
	{"fish", FOO "disallow: /\nallow: /fish\n", "FooBot",
		{"-/bar", "+/fish", "+/fish.html", "+/fish/salmon.html", "+/fishheads",
			"+/fishheads/yummy.html", "+/fish.html?id=anything", "-/Fish.asp",
			"-/catfish", "-/?id=fish"}},
	{"fish and a star", FOO "disallow: /\nallow: /fish*\n", "FooBot",
		{"-/bar", "+/fish", "+/fish.html", "+/fish/salmon.html", "+/fishheads",
			"+/fish.html?id=anything", "-/Fish.bar", "-/catfish", "-/?id=fish"}},
	{"fish's folder", FOO "disallow: /\nallow: /fish/\n", "FooBot",
		{"-/bar", "+/fish/", "+/fish/salmon", "+/fish/?salmon", "+/fish/?id=anything",
			"-/fish", "-/fish.html", "-/Fish/Salmon.html"}},
	{"php", FOO "disallow: /\nallow: /*.php\n", "FooBot",
		{"-/bar", "+/filename.php", "+/folder/filename.php",
			"+/folder/filename.php?parameters", "+//folder/any.php.file.html",
			"+/filename.php/", "+/index?f=filename.php/", "-/php/", "-/index?php",
			"-/windows.PHP"}},
	{"php and no more", FOO "disallow: /\nallow: /*.php$\n", "FooBot",
		{"-/bar", "+/filename.php", "+/folder/filename.php", "-/filename.php?parameters",
			"-/filename.php/", "-/filename.php5", "-/php/", "-/filename?php",
			"-/aaaphpaaa", "-//windows.PHP"}},
	{"fishy php", FOO "disallow: /\nallow: /fish*.php\n", "FooBot",
		{"-/bar", "+/fish.php", "+/fishheads/catfish.php?parameters", "-/Fish.PHP"}},

	/* index pages */
	{"a folder's index page", ALL "allow: /a/index.html\ndisallow: /\n", "FooBot",
		{"+/a/", "-/a/index.htm", "+/a/index.html", "-/b", "-/a/b"}},
	{"its shorter name", ALL "allow: /a/index.htm\ndisallow: /\n", "FooBot",
		{"+/a/", "+/a/index.htm", "+/a/index.html", "-/a/i"}},
	{"and what begins so", ALL "allow: /index.html5$\ndisallow: /\n", "FooBot",
		{"+/", "+/index.html5", "-/index.html"}},
	{"not of disallow", ALL "disallow: /a/index.html\n", "FooBot", {"+/a/", "-/a/index.html"}},
	{"not with letters in front", ALL "allow: /a/xindex.html\ndisallow: /\n", "FooBot",
		{"-/a/"}},
	{"with stars", ALL "allow: /*/index.html\ndisallow: /\n", "FooBot", {"+/a/b/", "-/a/b"}},

	/* escapes */
	{"urls as values", FOO "disallow: /\nallow: /b?q=t&z=http://h?t&p\n", "FooBot",
		{"+/b?q=t&z=http://h?t&p"}},
	{"bytes of UTF-8", FOO "disallow: /\nallow: /b/\xe3\x83\x84\n", "FooBot",
		{"+/b/%E3%83%84", "-/b/\xe3\x83\x84"}},
	{"escapes of them", FOO "disallow: /\nallow: /b/%E3%83%84\n", "FooBot",
		{"+/b/%E3%83%84", "-/b/\xe3\x83\x84"}},
	{"bytes of no UTF-8", FOO "disallow: /\xe9\n", "FooBot", {"-/%E9", "+/\xe9"}},
	{"escapes of letters stay", FOO "disallow: /\nallow: /b/%62%61%7A\n", "FooBot",
		{"-/b/baz", "+/b/%62%61%7A"}},
	{"escapes in capitals", FOO "disallow: /%aa%2f\n", "FooBot", {"-/%AA%2F", "+/%aa%2f"}},
	{"no escapes", FOO "disallow: /%a%zz%\n", "FooBot", {"-/%a%zz%"}},
	{"an escape of a star", FOO "disallow: /%2a\n", "FooBot", {"-/%2A", "+/x"}},
};

static void check_answer(const struct robots_case *c, struct ing_robots_txt *r, const char *answer)
{
	struct ing_buf url;
	ing_buf_init(&url, 1000);
	ing_buf_printf(&url, "http://h%s", answer + 1);
	if (ing_robots_txt_allows(r, ing_buf_str(&url), NULL) != (answer[0] == '+'))
		fail_msg("%s: %s", c->name, answer);
	ing_buf_done(&url);
}

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		const struct robots_case *c = &cases[i];
		struct ing_robots_txt *r = ing_robots_txt_parse(c->file, strlen(c->file), c->agent);
		for (size_t k = 0; k < ING_ARRAY_LEN(c->answers) && c->answers[k] != NULL; k++)
			check_answer(c, r, c->answers[k]);
		ing_robots_txt_free(r);
	}
}

/* Which path a URL has, told by the only rule that allows. */
static void test_paths_of_urls(void **state)
{
	static const struct {
		const char *url, *path;
	} urls[] = {
		{"", "/"},
		{"http://www.example.com", "/"},
		{"http://www.example.com/", "/"},
		{"http://www.example.com/a", "/a"},
		{"http://www.example.com/a/", "/a/"},
		{"http://www.example.com/a/b?c=http://d.e/", "/a/b?c=http://d.e/"},
		{"http://www.example.com/a/b?c=d&e=f#fragment", "/a/b?c=d&e=f"},
		{"http://www.example.com/a;b#fragment", "/a;b"},
		{"http://www.example.com?a", "/?a"},
		{"http://www.example.com;a", "/;a"},
		{"http://www.example.com#/a", "/"},
		{"http://www.example.com#a?b", "/"},
		{"example.com", "/"},
		{"example.com/a", "/a"},
		{"example.com/a/../b", "/a/../b"},
		{"//example.com/a", "/a"},
		{"//a/b/c", "/b/c"},
		{"/a?b", "/a?b"},
		{"?b", "/?b"},
		{"a?b://c", "/?b://c"},
		{"a/b://c/d", "/b://c/d"},
		{"http:/a", "/a"},
	};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(urls); i++) {
		struct ing_buf file;
		ing_buf_init(&file, 1000);
		ing_buf_printf(&file, ALL "disallow: /\nallow: %s$\n", urls[i].path);
		struct ing_robots_txt *r = ing_robots_txt_parse(file.data, file.len, "x");
		if (!ing_robots_txt_allows(r, urls[i].url, NULL))
			fail_msg("%s: not %s", urls[i].url, urls[i].path);
		ing_robots_txt_free(r);
		ing_buf_done(&file);
	}
}

static void test_lines_are_counted(void **state)
{
	static const struct {
		const char *file;
		unsigned line;
	} files[] = {
		{"user-agent: *\nallow: /y\n\n\ndisallow: /x\n", 5},
		{"user-agent: *\r\nallow: /y\r\n\r\n\r\ndisallow: /x\r\n", 5},
		{"user-agent: *\rallow: /y\r\r\rdisallow: /x", 5},
		{"user-agent: *\rallow: /y\n\r\ndisallow: /x", 4},
		{"user-agent: *\ndisallow: /x\ndisallow: /x\n", 2},
		{"user-agent: *\nallow: /y\n", 0},
	};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(files); i++) {
		unsigned line = 99;
		struct ing_robots_txt *r =
			ing_robots_txt_parse(files[i].file, strlen(files[i].file), "FooBot");
		assert_int_equal(ing_robots_txt_allows(r, "http://h/x", &line), files[i].line == 0);
		assert_int_equal(line, files[i].line);
		ing_robots_txt_free(r);
	}
}

static void test_nul_ends_a_line(void **state)
{
	static const char file[] = "user-agent: *\ndisallow: /x\0y\n\0disallow: /z\ndisallow: /q\n";
	(void)state;
	struct ing_robots_txt *r = ing_robots_txt_parse(file, sizeof(file) - 1, "FooBot");
	assert_false(ing_robots_txt_allows(r, "http://h/xz", NULL));
	assert_true(ing_robots_txt_allows(r, "http://h/z", NULL));
	assert_false(ing_robots_txt_allows(r, "http://h/q", NULL));
	ing_robots_txt_free(r);
}

static void test_crawl_delay(void **state)
{
	static const struct {
		const char *file;
		unsigned ms;
	} files[] = {
		{"", 0},
		{FOO "crawl-delay: 10\n", 10000},
		{FOO "Crawl-Delay 1\n", 1000},
		{FOO "crawldelay: 0.5\n", 500},
		{FOO "crawl-delay: .25\n", 250},
		{FOO "crawl-delay: 0.0001\n", 1},
		{FOO "crawl-delay: 2.0010\n", 2001},
		{FOO "crawl-delay: 3 seconds # please\n", 3000},
		{FOO "crawl-delay: -1\n", 0},
		{FOO "crawl-delay: soon\n", 0},
		{FOO "crawl-delay: 99999999999999999999999\n", 2147483647},
		{"crawl-delay: 3\n" FOO "disallow: /\n", 0},
		{ALL "crawl-delay: 3\n", 3000},
		{ALL "crawl-delay: 3\n" FOO "disallow: /x\n", 0},
		{ALL "crawl-delay: 3\ndisallow:\n" FOO "disallow: /x\n", 0},
		{ALL "crawl-delay: 3\ndisallow:\n" FOO "crawl-delay: 1\ndisallow: /x\n", 1000},
		{FOO "crawl-delay: 1\ndisallow: /x\n" FOO "crawl-delay: 2\n", 2000},
		{FOO "crawl-delay: 2\nuser-agent: BarBot\ncrawl-delay: 7\n", 7000},
		{"user-agent: BarBot\ncrawl-delay: 7\n" FOO "disallow: /\n", 0},
	};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(files); i++) {
		struct ing_robots_txt *r =
			ing_robots_txt_parse(files[i].file, strlen(files[i].file), "FooBot");
		if (ing_robots_txt_crawl_delay_ms(r) != files[i].ms)
			fail_msg("%s: %u", files[i].file, ing_robots_txt_crawl_delay_ms(r));
		ing_robots_txt_free(r);
	}
}

static void add_repeated(struct ing_buf *b, const char *s, size_t times)
{
	for (size_t i = 0; i < times; i++)
		ing_buf_add_str(b, s);
}

/* 16,663 bytes of a line count: of "disallow: /x/aaa…" the value's first 16,653. */
static void test_long_lines_are_cut(void **state)
{
	struct ing_buf file, url;
	(void)state;
	ing_buf_init(&file, 100000);
	ing_buf_init(&url, 100000);
	ing_buf_add_str(&file, FOO "disallow: /x/");
	add_repeated(&file, "a", 16650);
	ing_buf_add_str(&file, "/qux\n");
	struct ing_robots_txt *r = ing_robots_txt_parse(file.data, file.len, "FooBot");
	ing_buf_add_str(&url, "http://foo.bar/x/");
	add_repeated(&url, "a", 16649);
	assert_true(ing_robots_txt_allows(r, ing_buf_str(&url), NULL));
	ing_buf_add_str(&url, "a/fux");
	assert_false(ing_robots_txt_allows(r, ing_buf_str(&url), NULL));
	ing_robots_txt_free(r);
	ing_buf_done(&file);
	ing_buf_done(&url);
}

/* Half a rule at the end of what is read would forbid more than its author did. */
static void test_long_files_are_cut_between_lines(void **state)
{
	struct ing_buf file;
	(void)state;
	ing_buf_init(&file, ING_ROBOTS_TXT_MAX_BYTES * 2);
	ing_buf_add_str(&file, ALL "disallow: /first\n");
	while (file.len < ING_ROBOTS_TXT_MAX_BYTES - 11)
		ing_buf_add_char(&file, '\n');
	ing_buf_add_str(&file, "disallow: /last\ndisallow: /x\n");
	struct ing_robots_txt *r = ing_robots_txt_parse(file.data, file.len, "FooBot");
	assert_false(ing_robots_txt_allows(r, "http://h/first", NULL));
	assert_true(ing_robots_txt_allows(r, "http://h/last", NULL));
	assert_true(ing_robots_txt_allows(r, "http://h/x", NULL));
	ing_robots_txt_free(r);
	file.len = ING_ROBOTS_TXT_MAX_BYTES;
	r = ing_robots_txt_parse(file.data, file.len, "FooBot");
	assert_false(ing_robots_txt_allows(r, "http://h/last", NULL));
	ing_robots_txt_free(r);
	ing_buf_done(&file);
}

/* Stars by the thousand, and rules by the ten thousand, none of which matches: what a matcher that
 * tries out where stars end would need years for. Rules that cost too much forbid. */
static void test_a_file_made_to_cost_time_forbids_what_costs_it(void **state)
{
	(void)state;
	struct ing_buf file;
	ing_buf_init(&file, ING_ROBOTS_TXT_MAX_BYTES);
	ing_buf_add_str(&file, "user-agent: *\n");
	add_repeated(&file, "allow:/*b\n", 50000);
	struct ing_robots_txt *r = ing_robots_txt_parse(file.data, file.len, "tests");
	char url[8192] = "https://a.example/";
	assert_true(ing_robots_txt_allows(r, url, NULL));
	memset(url + strlen(url), 'a', 60);
	assert_true(ing_robots_txt_allows(r, url, NULL)); /* still worth a look at every rule */
	memset(url + strlen(url), 'a', 7000);
	unsigned line = 0;
	assert_false(ing_robots_txt_allows(r, url, &line));
	assert_in_range(line, 2, 50001);
	ing_robots_txt_free(r);
	ing_buf_done(&file);
}

/* Words that are like the path but for one letter are the dearest to search for, by far: rules of
 * 3 MiB by bytes took 14 ms, for each of the many URLs that one turn of a loop may ask about. */
static void test_words_that_are_like_the_path_cost_more(void **state)
{
	(void)state;
	struct ing_buf file, url;
	ing_buf_init(&file, ING_ROBOTS_TXT_MAX_BYTES);
	ing_buf_init(&url, 10000);
	ing_buf_add_str(&file, ALL);
	add_repeated(&file, "allow: /*baaaaaa\n", 4000);
	struct ing_robots_txt *r = ing_robots_txt_parse(file.data, file.len, "FooBot");
	ing_buf_add_str(&url, "http://h/");
	add_repeated(&url, "a", 190);
	assert_true(ing_robots_txt_allows(r, ing_buf_str(&url), NULL));
	ing_robots_txt_free(r);
	ing_buf_clear(&file);
	ing_buf_add_str(&file, ALL);
	add_repeated(&file, "allow: /*baaaaaa\n", 400);
	r = ing_robots_txt_parse(file.data, file.len, "FooBot");
	add_repeated(&url, "a", 8000);
	assert_false(ing_robots_txt_allows(r, ing_buf_str(&url), NULL));
	ing_robots_txt_free(r);
	ing_buf_done(&file);
	ing_buf_done(&url);
}

static void test_hostile_files_are_answered(void **state)
{
	static const char *const lines[] = {"allow:*a*b\n", "disallow: /*a*a*a*a*a*a*a*a*a*a*b$\n",
		"allow: /index.html\n", "disallow:*\xff\xff\xff\n"};
	static const bool cheap[ING_ARRAY_LEN(lines)] = {false, false, true, false};
	struct ing_buf file, url;
	(void)state;
	ing_buf_init(&file, ING_ROBOTS_TXT_MAX_BYTES);
	ing_buf_init(&url, 10000);
	ing_buf_add_str(&url, "http://h/");
	add_repeated(&url, "a", 8191);
	for (size_t i = 0; i < ING_ARRAY_LEN(lines); i++) {
		ing_buf_clear(&file);
		ing_buf_add_str(&file, ALL);
		add_repeated(
			&file, lines[i], (ING_ROBOTS_TXT_MAX_BYTES - file.len) / strlen(lines[i]));
		struct ing_robots_txt *r = ing_robots_txt_parse(file.data, file.len, "FooBot");
		assert_int_equal(ing_robots_txt_allows(r, ing_buf_str(&url), NULL), cheap[i]);
		assert_in_range(ing_robots_txt_bytes(r), 1, ING_ROBOTS_TXT_MAX_BYTES * 8);
		ing_robots_txt_free(r);
	}
	ing_buf_done(&file);
	ing_buf_done(&url);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_paths_of_urls),
		cmocka_unit_test(test_lines_are_counted),
		cmocka_unit_test(test_nul_ends_a_line),
		cmocka_unit_test(test_crawl_delay),
		cmocka_unit_test(test_long_lines_are_cut),
		cmocka_unit_test(test_long_files_are_cut_between_lines),
		cmocka_unit_test(test_a_file_made_to_cost_time_forbids_what_costs_it),
		cmocka_unit_test(test_words_that_are_like_the_path_cost_more),
		cmocka_unit_test(test_hostile_files_are_answered),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
