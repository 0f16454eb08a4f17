/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * No user information is left, whatever is made of it, and everything else is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "common/net/url_mask.h"

struct mask_case {
	const char *input, *want; /* want NULL: unchanged */
};

static const struct mask_case urls[] = {
	{"https://me:pw@host.example/a", "https://***@host.example/a"},
	{"https://token@host.example/a", "https://***@host.example/a"},
	{"https://:pw@host.example/", "https://***@host.example/"},
	{"HTTPS://me:pw@Host.example:8443", "HTTPS://***@Host.example:8443"},
	{"https://me:p@w@host.example/", "https://***@host.example/"},
	{"https://me:pw@[2001:db8::1]:80/", "https://***@[2001:db8::1]:80/"},
	{"ftp://me:pw@host.example/", "ftp://***@host.example/"},
	{"git+ssh://me:pw@host.example/", "git+ssh://***@host.example/"},
	{"//me:pw@host.example/", "//***@host.example/"},
	/* what browsers take for the same */
	{"https:me:pw@host.example/", "https:***@host.example/"},
	{"https:/me:pw@host.example/", "https:/***@host.example/"},
	{"https:\\\\me:pw@host.example\\a", "https:\\\\***@host.example\\a"},
	{"https:////me:pw@host.example/", "https:////***@host.example/"},
	{" \thttps://me:pw@host.example/", " \thttps://***@host.example/"},
	{"\xc2\xa0https:me:pw@host.example/", "\xc2\xa0https:***@host.example/"},
	{"ht\ntps:/\t/me:\npw@host.example/", "ht\ntps:/\t/***@host.example/"},
	{"https://me:p w@host.example/", "https://***@host.example/"},
	{"https://me:p\"w<>@host.example/", "https://***@host.example/"},
	/* no URLs, but passwords */
	{"https://me:pw@", "https://***@"},
	{"https://me:pw@host.example:x/", "https://***@host.example:x/"},
	{"https://me:p/w@host.example/a", "https://***@host.example/a"},
	{"https://me:p#w?@host.example/a@b", "https://***@b"},
	{"\xff\xfehttps://me:pw@\xff/", "\xff\xfehttps://***@\xff/"},
	{"see https://me:pw@host.example/", "see https://***@host.example/"},
	/* URLs in URLs */
	{"https://a.example/?to=https://me:pw@b.example/&x=http://u@c.example",
		"https://a.example/?to=https://***@b.example/&x=http://***@c.example"},
	{"https://a.example/web/2020/http:/me:pw@b.example/",
		"https://a.example/web/2020/http:/***@b.example/"},
	{"https://me:pw@a.example/?to=ftp://u:p@b.example",
		"https://***@a.example/?to=ftp://***@b.example"},
	/* nothing to hide */
	{"", NULL},
	{"@", NULL},
	{"https://host.example/", NULL},
	{"https://host.example/@me", NULL},
	{"https://host.example/a:b@c", NULL},
	{"https://host.example:8443/@me", NULL},
	{"https://host.example:/@me", NULL},
	{"https://[2001:db8::1]/@me", NULL},
	{"https://host.example?q=a@b", NULL},
	{"https://host.example#a@b", NULL},
	{"https://host.example\\@me", NULL},
	{"https://@host.example/", NULL},
	{"https://***@host.example/", NULL},
	{"https://host.example/web/2020/http://b.example/@me", NULL},
	{"mailto:me@host.example", NULL},
	{"10.1000/a@b", NULL},
	{"doi:10.1000/a@b", NULL},
};

static const struct mask_case words[] = {
	{"tried https://me:pw@host.example/, then http://u@b.example: refused",
		"tried https://***@host.example/, then http://***@b.example: refused"},
	{"{\"base_url\":\"https://me:pw@host.example/\"}",
		"{\"base_url\":\"https://***@host.example/\"}"},
	{"{\"base_url\":\"https:\\/\\/me:pw@host.example/\"}",
		"{\"base_url\":\"https:\\/\\/***@host.example/\"}"},
	{"<https://me:pw@host.example/>", "<https://***@host.example/>"},
	{"see ftp://host.example, or ask me@host.example", NULL},
	{"see http://host.example\nask:me@host.example", NULL},
	{"{\"url\":\"http://host.example\",\"mail\":\"me@host.example\"}", NULL},
	{"me@host.example", NULL},
	{"a: b@c", NULL},
};

static char *mask(bool (*fn)(const char *, size_t, struct ing_buf *), const char *s, bool *ret)
{
	struct ing_buf out;
	ing_buf_init(&out, 1 << 24);
	*ret = fn(s, strlen(s), &out);
	assert_false(out.failed);
	return ing_buf_steal(&out);
}

static void check(bool (*fn)(const char *, size_t, struct ing_buf *), const struct mask_case *cases,
	size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *want = cases[i].want != NULL ? cases[i].want : cases[i].input;
		bool masked = false;
		char *got = mask(fn, cases[i].input, &masked);
		assert_string_equal(got, want);
		assert_int_equal(masked, cases[i].want != NULL);
		char *again = mask(fn, got, &masked);
		assert_string_equal(again, want);
		assert_false(masked);
		free(again);
		free(got);
	}
}

static void a_url_loses_user_and_password(void **state)
{
	(void)state;
	check(ing_url_mask, urls, ING_ARRAY_LEN(urls));
}

static void so_do_urls_among_words(void **state)
{
	(void)state;
	check(ing_url_mask_text, words, ING_ARRAY_LEN(words));
}

/* Where each colon could look for an '@' to the end of the text, quadratic work would show as
 * hours. */
static void a_megabyte_of_beginnings_is_read_once(void **state)
{
	(void)state;
	static const char *const pieces[] = {"http://a:b/", "http://a:b", "http:/", "://:x", ":/"};
	for (size_t i = 0; i < ING_ARRAY_LEN(pieces); i++) {
		struct ing_buf s;
		ing_buf_init(&s, 8 << 20);
		while (s.len < 1 << 20)
			ing_buf_add_str(&s, pieces[i]);
		ing_buf_add_str(&s, " @");
		bool masked = true;
		char *got = mask(ing_url_mask_text, ing_buf_str(&s), &masked);
		assert_false(masked);
		assert_string_equal(got, ing_buf_str(&s));
		free(got);
		ing_buf_done(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_url_loses_user_and_password),
		cmocka_unit_test(so_do_urls_among_words),
		cmocka_unit_test(a_megabyte_of_beginnings_is_read_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
