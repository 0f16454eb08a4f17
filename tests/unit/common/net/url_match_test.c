/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * URL patterns: each part by itself and together, and the hosts that are none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "common/net/url_match.h"

struct parts {
	const char *host, *path, *path_contains, *path_ends, *query, *contains;
};

static const struct {
	/* clang-format off */
	struct parts parts;
	const char *url;
	bool want;
} cases[] = {
	{.parts = {0}, .url = "https://any.example/", .want = true},
	{.parts = {.host = "a.example"}, .url = "https://a.example/", .want = true},
	{.parts = {.host = "a.example"}, .url = "http://WWW.A.Example.:8080/x", .want = true},
	{.parts = {.host = "www.a.example"}, .url = "https://a.example/", .want = true},
	{.parts = {.host = "a.example"}, .url = "https://b.a.example/", .want = false},
	{.parts = {.host = "a.example"}, .url = "https://ba.example/", .want = false},
	{.parts = {.host = ".a.example"}, .url = "https://a.example/", .want = true},
	{.parts = {.host = ".a.example"}, .url = "https://x.y.a.example/", .want = true},
	{.parts = {.host = ".a.example"}, .url = "https://xa.example/", .want = false},
	{.parts = {.host = "b\xc3\xbc" "cher.example"}, .url = "https://xn--bcher-kva.example/",
		.want = true},
	{.parts = {.host = "a.example"}, .url = "mailto:x@a.example", .want = false},
	{.parts = {.path = "/doi/"}, .url = "https://a.example/DOI/10.1", .want = true},
	{.parts = {.path = "/10.2307/"}, .url = "https://a.example/10.2307%2F1", .want = true},
	{.parts = {.path = "/10.2307%2f"}, .url = "https://a.example/10.2307/1", .want = true},
	{.parts = {.path = "/doi/"}, .url = "https://a.example/x/doi/", .want = false},
	{.parts = {.path = "/doi/"}, .url = "https://a.example/doi", .want = false},
	{.parts = {.path_contains = "/pdf"}, .url = "https://a.example/x/PDF/1", .want = true},
	{.parts = {.path_contains = "/pdf"}, .url = "https://a.example/x?/pdf", .want = false},
	{.parts = {.path_ends = ".pdf"}, .url = "https://a.example/x.PDF?a#b", .want = true},
	{.parts = {.path_ends = ".pdf"}, .url = "https://a.example/x.pdf/", .want = false},
	{.parts = {.path_ends = "/a/very/long/end.pdf"}, .url = "https://a.example/.pdf",
		.want = false},
	{.parts = {.query = "type"}, .url = "https://a.example/?a=b&TYPE", .want = true},
	{.parts = {.query = "type"}, .url = "https://a.example/?typed=1", .want = false},
	{.parts = {.query = "type=a b"}, .url = "https://a.example/?type=A+B", .want = true},
	{.parts = {.query = "type=a b"}, .url = "https://a.example/?type=a%20b", .want = true},
	{.parts = {.query = "type=a"}, .url = "https://a.example/?type=ab", .want = false},
	{.parts = {.query = "type="}, .url = "https://a.example/?type", .want = true},
	{.parts = {.contains = "example/?a=b c"}, .url = "https://a.EXAMPLE/?A=b%20c",
		.want = true},
	{.parts = {.contains = "#part"}, .url = "https://a.example/#Part", .want = true},
	{.parts = {.contains = "nowhere"}, .url = "https://a.example/", .want = false},
	{.parts = {.host = "a.example", .path = "/x", .query = "q"},
		.url = "https://a.example/x?q=1", .want = true},
	{.parts = {.host = "a.example", .path = "/x", .query = "q"},
		.url = "https://a.example/y?q=1", .want = false},
	{.parts = {.host = "a.example", .path = "/x", .query = "q"},
		.url = "https://a.example/x?p=1", .want = false},
};
/* clang-format on */

static void make(struct ing_url_pattern *p, struct ing_arena *ar, const struct parts *from)
{
	struct ing_error err = {0};
	*p = (struct ing_url_pattern){0};
	if (from->host != NULL)
		assert_int_equal(ing_url_pattern_set_host(p, ar, from->host, &err), 0);
	if (from->path != NULL)
		ing_url_pattern_set_path(p, ar, from->path);
	if (from->path_contains != NULL)
		ing_url_pattern_set_path_contains(p, ar, from->path_contains);
	if (from->path_ends != NULL)
		ing_url_pattern_set_path_ends(p, ar, from->path_ends);
	if (from->query != NULL)
		ing_url_pattern_set_query(p, ar, from->query);
	if (from->contains != NULL)
		ing_url_pattern_set_contains(p, ar, from->contains);
}

static void what_matches(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_arena ar;
		struct ing_url_pattern p;
		ing_arena_init(&ar);
		make(&p, &ar, &cases[i].parts);
		struct ing_url_target *t = ing_url_target_new(cases[i].url);
		assert_non_null(t);
		if (ing_url_matches(&p, t) != cases[i].want)
			fail_msg("%zu: %s", i, cases[i].url);
		ing_url_target_free(t);
		ing_arena_done(&ar);
	}
}

static void hosts_that_are_none(void **state)
{
	(void)state;
	static const char *const bad[] = {
		"", ".", "..a", "*.a", "a:80", "http://a", "a/b", "a b", "a%41", "[::1]", "a<b"};
	struct ing_arena ar;
	ing_arena_init(&ar);
	for (size_t i = 0; i < ING_ARRAY_LEN(bad); i++) {
		struct ing_url_pattern p = {0};
		struct ing_error err = {0};
		assert_int_equal(
			ing_url_pattern_set_host(&p, &ar, bad[i], &err), -ING_FAIL_INVALID);
		assert_null(p.host);
	}
	ing_arena_done(&ar);
}

static void what_is_no_url_is_no_target(void **state)
{
	(void)state;
	assert_null(ing_url_target_new(""));
	assert_null(ing_url_target_new("a.example/x"));
	struct ing_url_target *t = ing_url_target_new("https://www.A.example:8080/");
	assert_string_equal(ing_url_target_host(t), "a.example");
	ing_url_target_free(t);
	t = ing_url_target_new("mailto:x");
	assert_string_equal(ing_url_target_host(t), "");
	ing_url_target_free(t);
	ing_url_target_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_matches),
		cmocka_unit_test(hosts_that_are_none),
		cmocka_unit_test(what_is_no_url_is_no_target),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
