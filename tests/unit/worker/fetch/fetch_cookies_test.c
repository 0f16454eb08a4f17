/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The jar of a request: what it carries from hop to hop, and when its version changes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants the first two above */
#include <cmocka.h>
#include "client.h"
#include "web.h"

static struct web *web;
static struct client client;

/* The query, with "%20" for a space, is the value of Set-Cookie; without one nothing is set. */
static void page_any(struct web_conn *c)
{
	char value[512] = "";
	const char *question = strchr(c->request, '?');
	size_t len = 0;
	for (const char *p = question; p != NULL && *++p != ' ' && len < sizeof(value) - 1;) {
		bool space = strncmp(p, "%20", 3) == 0;
		value[len++] = space ? ' ' : *p;
		p += space ? 2 : 0;
	}
	web_say(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n");
	if (len > 0)
		web_sayf(c, "Set-Cookie: %s\r\n", value);
	web_say(c, "\r\n");
}

/* /many?N or /many?N-PREFIX: N cookies in one answer, each of the host's path. */
static void page_many(struct web_conn *c)
{
	char *end;
	unsigned long count = strtoul(strchr(c->request, '?') + 1, &end, 10);
	const char *prefix = *end == '-' ? end + 1 : "c";
	int prefix_bytes = (int)strcspn(prefix, " ");
	web_say(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n");
	for (unsigned long i = 0; i < count; i++)
		web_sayf(c, "Set-Cookie: %.*s%lu=value; Path=/\r\n", prefix_bytes, prefix, i);
	web_say(c, "\r\n");
}

/* /large?PREFIX-N: one cookie that takes N bytes, name and value together. */
static void page_large(struct web_conn *c)
{
	char filler[8192];
	const char *name = strchr(c->request, '?') + 1;
	size_t name_bytes = strcspn(name, "-");
	size_t bytes = strtoul(name + name_bytes + 1, NULL, 10) - name_bytes;
	memset(filler, 'x', sizeof(filler));
	web_sayf(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nSet-Cookie: %.*s=", (int)name_bytes,
		name);
	web_send(c, filler, ING_MIN(bytes, sizeof(filler)));
	web_say(c, "; Path=/\r\n\r\n");
}

static const struct web_page pages[] = {
	{"/many", page_many}, {"/large", page_large}, {NULL, page_any}, {NULL, NULL}};

static void visit(struct ing_cookies *jar, const char *url, const char *want_cookie)
{
	char line[256];
	struct ing_exchange *ex = client_get_with(&client, url, jar, NULL, 0);
	assert_outcome(ex, ING_STATUS_SUCCESS);
	assert_int_equal(ex->set_cookie, strchr(url, '?') != NULL);
	const char *sent = strstr(ing_buf_str(&ex->request), "\r\nCookie: ");
	if (want_cookie == NULL) {
		if (sent != NULL)
			fail_msg("%s: sent %.60s", url, sent);
	} else {
		if (sent == NULL)
			fail_msg("%s: sent none", url);
		snprintf(line, sizeof(line), "\r\nCookie: %s\r\n", want_cookie);
		if (strncmp(sent, line, strlen(line)) != 0)
			fail_msg("%s: sent %.60s", url, sent);
	}
	ing_exchange_unref(ex);
}

static void carried_over_hops(void **state)
{
	(void)state;
	struct ing_cookies *jar = ing_cookies_new();
	struct ing_cookies *other = ing_cookies_new();
	visit(jar, "http://www.pub.example/?session=1;%20Path=/", NULL);
	visit(jar, "http://www.pub.example/next", "session=1");
	visit(jar, "http://www.pub.example/deep/page?d=2;%20Domain=pub.example;%20Path=/deep",
		"session=1");
	visit(jar, "http://www.pub.example/deep/x", "d=2; session=1");
	visit(jar, "http://cdn.pub.example/deep/x", "d=2");
	visit(jar, "http://cdn.pub.example/", NULL);
	visit(jar, "http://evil.example/", NULL);
	visit(other, "http://www.pub.example/", NULL); /* another request's jar */
	visit(NULL, "http://www.pub.example/?n=1", NULL);
	visit(NULL, "http://www.pub.example/", NULL);
	visit(jar, "http://www.pub.example/", "session=1");
	ing_cookies_free(jar);
	ing_cookies_free(other);
}

static void refused(void **state)
{
	(void)state;
	static const char *const urls[] = {
		"http://www.pub.example/?a=1;%20Domain=evil.example",
		"http://a.co.uk/?a=1;%20Domain=co.uk", /* a public suffix */
		"http://www.pub.example/?a=1;%20Domain=example",
		"http://www.pub.example/?a=1;%20Secure",
		"http://www.pub.example/?__Secure-a=1",
		"http://www.pub.example/?__Host-a=1;%20Path=/",
		"http://me.github.io/?a=1;%20Domain=github.io", /* a private registry's suffix */
		"http://a.b.kawasaki.jp/?a=1;%20Domain=b.kawasaki.jp", /* by a wildcard rule */
		"http://pub.example/?a=1;%20Domain=www.pub.example",   /* a child's */
		"http://xpub.example/?a=1;%20Domain=pub.example",
		"http://127.0.0.1/?a=1;%20Domain=0.0.1",
		"http://www.pub.example/?a=1;%20Max-Age=0",
		"http://www.pub.example/?a=1;%20Expires=Sun,%2006%20Nov%201994%2008:49:37%20GMT",
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(urls); i++) {
		struct ing_cookies *jar = ing_cookies_new();
		visit(jar, urls[i], NULL);
		if (ing_cookies_version(jar) != 0)
			fail_msg("%s was taken", urls[i]);
		ing_cookies_free(jar);
	}
}

static void paths_and_ages(void **state)
{
	(void)state;
	/* clang-format off */
	static const struct {
		const char *set, *get, *want; /* want NULL: nothing is sent */
	} cases[] = {
		{.set = "http://a.example/?n=1;%20Path=/deep", .get = "http://a.example/deep",
			.want = "n=1"},
		{.set = "http://a.example/?n=1;%20Path=/deep", .get = "http://a.example/deep/er",
			.want = "n=1"},
		{.set = "http://a.example/?n=1;%20Path=/deep", .get = "http://a.example/deeper",
			.want = NULL},
		/* RFC 6265 5.1.4 would not send this one; curl drops the last slash */
		{.set = "http://a.example/?n=1;%20Path=/deep/", .get = "http://a.example/deep",
			.want = "n=1"},
		{.set = "http://a.example/x/y?n=1", .get = "http://a.example/x/z", .want = "n=1"}, /* the default path */
		{.set = "http://a.example/x/y?n=1", .get = "http://a.example/", .want = NULL},
		{.set = "http://a.example/?n=1;%20Path=nonsense", .get = "http://a.example/",
			.want = "n=1"},
		{.set = "http://a.example/?n=1;%20Max-Age=100", .get = "http://a.example/",
			.want = "n=1"},
		{.set = "http://a.example/?n=1;%20Max-Age=100;%20Expires=Sun,%2006%20Nov%201994%2008:49:37%20GMT",
			.get = "http://a.example/", .want = "n=1"}, /* Max-Age counts */
		{.set = "http://a.example/?n=1", .get = "http://www.a.example/", .want = NULL}, /* the host's own */
		{.set = "http://www.a.example/?n=1;%20Domain=.a.example",
			.get = "http://a.example/", .want = "n=1"},
		{.set = "http://www.a.example/?n=1;%20Domain=A.EXAMPLE",
			.get = "http://b.a.example/", .want = "n=1"},
		{.set = "http://A.example/?n=1", .get = "http://a.EXAMPLE/", .want = "n=1"},
		{.set = "http://a.example/?n=1;%20HttpOnly;%20SameSite=Strict",
			.get = "http://a.example/", .want = "n=1"},
	};
	/* clang-format on */
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_cookies *jar = ing_cookies_new();
		visit(jar, cases[i].set, NULL);
		assert_true(ing_cookies_version(jar) != 0);
		visit(jar, cases[i].get, cases[i].want);
		ing_cookies_free(jar);
	}
}

static void over_after_a_second(void **state)
{
	(void)state;
	struct ing_cookies *jar = ing_cookies_new();
	visit(jar, "http://a.example/?n=1;%20Max-Age=1", NULL);
	visit(jar, "http://a.example/", "n=1");
	client_turn(&client, 2100);
	visit(jar, "http://a.example/", NULL);
	ing_cookies_free(jar);
}

/* The cookies that a request to a.example sends. */
static unsigned count_sent(struct ing_cookies *jar, size_t *ret_bytes)
{
	struct ing_exchange *ex = client_get_with(&client, "http://a.example/plain", jar, NULL, 0);
	assert_outcome(ex, ING_STATUS_SUCCESS);
	const char *sent = strstr(ing_buf_str(&ex->request), "\r\nCookie: ");
	unsigned count = 0;
	*ret_bytes = 0;
	if (sent != NULL) {
		*ret_bytes = strcspn(sent + 2, "\r");
		count = 1;
		for (size_t i = 0; i < *ret_bytes; i++)
			count += sent[2 + i] == ';';
	}
	ing_exchange_unref(ex);
	return count;
}

static void set_at(struct ing_cookies *jar, const char *url)
{
	struct ing_exchange *ex = client_get_with(&client, url, jar, NULL, 0);
	assert_outcome(ex, ING_STATUS_SUCCESS);
	assert_true(ex->set_cookie);
	ing_exchange_unref(ex);
}

static void bounds(void **state)
{
	(void)state;
	size_t bytes;
	struct ing_cookies *jar = ing_cookies_new();
	set_at(jar, "http://a.example/many?120"); /* of one answer, fifty */
	assert_int_equal(count_sent(jar, &bytes), 50);
	ing_cookies_free(jar);
	jar = ing_cookies_new();
	set_at(jar, "http://a.example/large?a-4000");
	assert_int_equal(count_sent(jar, &bytes), 1);
	set_at(jar, "http://a.example/large?b-4200"); /* over 4 KiB */
	assert_int_equal(count_sent(jar, &bytes), 1);
	for (char name = 'c'; name < 'h'; name++) {
		char url[64];
		snprintf(url, sizeof(url), "http://a.example/large?%c-4000", name);
		set_at(jar, url);
	}
	assert_int_equal(count_sent(jar, &bytes), 2); /* of six, what fits into a request */
	assert_in_range(bytes, 8000, 8190);
	ing_cookies_free(jar);
}

/* A site that sets one large cookie after the other does not fill the memory. */
static void a_jar_has_a_ceiling(void **state)
{
	(void)state;
	struct ing_cookies *jar = ing_cookies_new();
	unsigned emptied = 0;
	for (int i = 0; i < 140; i++) {
		char url[64];
		uint64_t before = ing_cookies_version(jar);
		snprintf(url, sizeof(url), "http://a.example/large?n%d-4000", i);
		set_at(jar, url);
		assert_true(ing_cookies_version(jar) != before);
		emptied += ing_cookies_version(jar) == 0;
	}
	assert_int_equal(emptied, 2); /* 64 of them are 256 KB */
	ing_cookies_free(jar);
}

/* Nor do many small ones take the time of the loop: the version is a look at each of them. */
static void a_jar_has_a_ceiling_of_cookies(void **state)
{
	(void)state;
	struct ing_cookies *jar = ing_cookies_new();
	for (int i = 0; i < 22; i++) {
		char url[64];
		snprintf(url, sizeof(url), "http://a.example/many?50-n%d_", i);
		set_at(jar, url);
		if ((ing_cookies_version(jar) == 0) != (i % 11 == 10)) /* at 550 */
			fail_msg("after %d cookies", (i + 1) * 50);
	}
	ing_cookies_free(jar);
}

static void versions(void **state)
{
	(void)state;
	static const struct {
		const char *url;
		int same_as; /* the step whose version this one repeats; -1: a new one */
	} steps[] = {
		{"http://v.example/", 0}, /* 0: an empty jar */
		{"http://v.example/?a=1", -1},
		{"http://v.example/?a=1", 1},
		{"http://v.example/", 1},
		{"http://v.example/?a=1;%20Max-Age=1000", 1}, /* only the expiry */
		{"http://v.example/?a=2", -1},
		{"http://v.example/?b=1", -1},
		{"http://v.example/?a=1", -1},
		{"http://v.example/?b=;%20Max-Age=0", 1},   /* back to a=1 alone */
		{"http://v.example/x/?a=1;%20Path=/x", -1}, /* the same name elsewhere */
		{"http://v.example/x/?a=;%20Path=/x;%20Max-Age=0", 1},
		{"http://v.example/?a=gone;%20Max-Age=0", 0},
	};
	uint64_t seen[ING_ARRAY_LEN(steps)];
	struct ing_cookies *jar = ing_cookies_new();
	assert_int_equal(ing_cookies_version(jar), 0);
	for (size_t i = 0; i < ING_ARRAY_LEN(steps); i++) {
		struct ing_exchange *ex = client_get_with(&client, steps[i].url, jar, NULL, 0);
		assert_outcome(ex, ING_STATUS_SUCCESS);
		ing_exchange_unref(ex);
		seen[i] = ing_cookies_version(jar);
		for (size_t j = 0; j < i; j++) {
			bool want = steps[i].same_as >= 0 && seen[j] == seen[steps[i].same_as];
			if ((seen[i] == seen[j]) != want)
				fail_msg("step %zu (%s) against %zu", i, steps[i].url, j);
		}
	}
	ing_cookies_free(jar);
}

static int start_all(void **state)
{
	(void)state;
	static char rule[64];
	static char *rules[] = {rule, NULL};
	struct ing_fetch_settings conf = client_settings();
	web = web_start(pages, NULL);
	snprintf(rule, sizeof(rule), "::127.0.0.1:%u", web_port(web));
	conf.connect_to = rules;
	client_start(&client, &conf);
	return 0;
}

static int stop_all(void **state)
{
	(void)state;
	client_stop(&client);
	web_stop(web);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(carried_over_hops),
		cmocka_unit_test(refused),
		cmocka_unit_test(paths_and_ages),
		cmocka_unit_test(over_after_a_second),
		cmocka_unit_test(bounds),
		cmocka_unit_test(a_jar_has_a_ceiling),
		cmocka_unit_test(a_jar_has_a_ceiling_of_cookies),
		cmocka_unit_test(versions),
	};
	return cmocka_run_group_tests(tests, start_all, stop_all);
}
