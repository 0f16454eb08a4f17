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

static const struct web_page pages[] = {{NULL, page_any}, {NULL, NULL}};

static void visit(struct ing_cookies *jar, const char *url, const char *want_cookie)
{
	char line[256];
	struct ing_exchange *ex = client_get_with(&client, url, jar, NULL, 0);
	assert_outcome(ex, ING_STATUS_SUCCESS);
	assert_int_equal(ex->set_cookie, strchr(url, '?') != NULL);
	const char *sent = strstr(ing_buf_str(&ex->request), "\r\nCookie: ");
	if (want_cookie == NULL) {
		assert_null(sent);
	} else {
		assert_non_null(sent);
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
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(urls); i++) {
		struct ing_cookies *jar = ing_cookies_new();
		visit(jar, urls[i], NULL);
		if (ing_cookies_version(jar) != 0)
			fail_msg("%s was taken", urls[i]);
		ing_cookies_free(jar);
	}
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
	struct ing_fetch_conf conf = client_conf();
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
		cmocka_unit_test(versions),
	};
	return cmocka_run_group_tests(tests, start_all, stop_all);
}
