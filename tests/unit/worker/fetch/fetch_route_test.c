/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Tables without a network: URLs, connect_to entries, proxies, ports.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants the three above first */
#include <cmocka.h>
#include "worker/fetch/fetch_priv.h"

static void targets(void **state)
{
	(void)state;
	static const struct {
		const char *input, *url, *host; /* url NULL: refused */
		unsigned port;
		bool https;
	} cases[] = {
		{"http://a.example/", "http://a.example/", "a.example", 80, false},
		{"https://a.example/x?y", "https://a.example/x?y", "a.example", 443, true},
		{"http://a.example:8080/#f", "http://a.example:8080/", "a.example", 8080, false},
		{"http://u@a.example/@b#c@d", "http://a.example/@b", "a.example", 80, false},
		{"http://u:p@q@a.example/", "http://a.example/", "a.example", 80, false},
		{"http://a.example?u@b", "http://a.example?u@b", "a.example", 80, false},
		{"http://[2001:DB8::1]:81/", "http://[2001:DB8::1]:81/", "2001:db8::1", 81, false},
		{"http://127.0.0.1/", "http://127.0.0.1/", "127.0.0.1", 80, false},
		{"http://a.example/a/../b/%2e", "http://a.example/a/../b/%2e", "a.example", 80,
			false},
		{"http://u:p@/", NULL, NULL, 0, false},
		{"http://a.example:0/", NULL, NULL, 0, false},
		{"ws://a.example/", NULL, NULL, 0, false},
		{"http://a.example/ ", NULL, NULL, 0, false},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_target t;
		struct ing_error err = {0};
		int rc = ing_target_init(&t, cases[i].input, &err);
		if ((rc == 0) != (cases[i].url != NULL))
			fail_msg("%s: %d %s", cases[i].input, rc, err.msg);
		if (rc == 0 &&
			(strcmp(t.url, cases[i].url) != 0 || strcmp(t.host, cases[i].host) != 0 ||
				t.port != cases[i].port || t.https != cases[i].https))
			fail_msg("%s: %s, %s, %u", cases[i].input, t.url, t.host, t.port);
		if (rc == 0)
			assert_int_equal(t.had_userinfo, strstr(cases[i].input, "//u") != NULL);
		if (rc != 0)
			assert_true(err.msg[0] != '\0');
		ing_target_done(&t);
	}
}

static void connect_rules(void **state)
{
	(void)state;
	static const struct {
		const char *rule, *url, *host; /* host NULL: the rule is refused */
		unsigned port;
	} cases[] = {
		{":80:127.0.0.1:8080", "http://a.example/", "127.0.0.1", 8080},
		{":80:127.0.0.1:8080", "https://a.example/", "a.example", 443},
		{"a.example:80:b.example:", "http://a.example/", "b.example", 80},
		{"A.Example::b.example:81", "http://a.example/", "b.example", 81},
		{"a.example:::81", "http://a.example/", "a.example", 81},
		{"a.example:::81", "http://b.example/", "b.example", 80},
		{":::", "https://b.example:444/", "b.example", 444},
		{"[2001:db8:0::1]:80:[::1]:81", "http://[2001:db8::1]/", "::1", 81},
		{"127.0.0.1:80:x.example:81", "http://127.0.0.1/", "x.example", 81},
		{"", "http://a/", NULL, 0},
		{"a:b:c", "http://a/", NULL, 0},
		{"a:80:b:81:", "http://a/", NULL, 0},
		{"a:x:b:81", "http://a/", NULL, 0},
		{"a:80:b:0", "http://a/", NULL, 0},
		{"a:80:b:65536", "http://a/", NULL, 0},
		{"a:80:::1:81", "http://a/", NULL, 0},
		{"a:80:[::1:81", "http://a/", NULL, 0},
		{"a:80:[nonsense]:81", "http://a/", NULL, 0},
		{"a:123456789012345678901234567890:b:1", "http://a/", NULL, 0},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_routes routes;
		struct ing_target t;
		struct ing_error err = {0};
		char *rules[] = {ing_strdup(cases[i].rule), NULL};
		struct ing_fetch_settings conf = {.connect_to = rules};
		int rc = ing_routes_init(&routes, &conf, &err);
		if ((rc == 0) != (cases[i].host != NULL))
			fail_msg("%s: %d %s", cases[i].rule, rc, err.msg);
		if (rc != 0) {
			assert_int_equal(rc, -ING_FAIL_CONFIG);
			assert_non_null(strstr(err.msg, "fetch.connect_to"));
		} else {
			assert_int_equal(ing_target_init(&t, cases[i].url, NULL), 0);
			struct ing_route r = ing_routes_find(&routes, &t);
			if (strcmp(r.host, cases[i].host) != 0 || r.port != cases[i].port ||
				r.via_proxy)
				fail_msg("%s, %s: %s:%u", cases[i].rule, cases[i].url, r.host,
					r.port);
			ing_target_done(&t);
		}
		ing_routes_done(&routes);
		free(rules[0]);
	}
}

static void first_rule_wins(void **state)
{
	(void)state;
	char one[] = "a.example:80:one:1";
	char two[] = "::two:2";
	char *rules[] = {one, two, NULL};
	struct ing_fetch_settings conf = {.connect_to = rules, .proxy = "http://p.example:3128"};
	struct ing_routes routes;
	struct ing_target t;
	assert_int_equal(ing_routes_init(&routes, &conf, NULL), 0);
	assert_int_equal(ing_target_init(&t, "http://a.example/", NULL), 0);
	assert_string_equal(ing_routes_find(&routes, &t).host, "one");
	ing_target_done(&t);
	assert_int_equal(ing_target_init(&t, "https://a.example/", NULL), 0);
	assert_string_equal(ing_routes_find(&routes, &t).host, "two");
	assert_false(ing_routes_find(&routes, &t).via_proxy);
	ing_target_done(&t);
	ing_routes_done(&routes);
}

static void proxies(void **state)
{
	(void)state;
	static const struct {
		const char *proxy, *host; /* host NULL: refused */
		unsigned port;
		const char *user, *password;
	} cases[] = {
		{"http://p.example:3128", "p.example", 3128, NULL, NULL},
		{"http://me:s%20e%40c@p.example:3128/", "p.example", 3128, "me", "s e@c"},
		{"http://[::1]:80", "::1", 80, NULL, NULL},
		{"http://p.example", NULL, 0, NULL, NULL},
		{"https://p.example:443", NULL, 0, NULL, NULL},
		{"socks5://p.example:1080", NULL, 0, NULL, NULL},
		{"p.example:3128", NULL, 0, NULL, NULL},
		{"nonsense", NULL, 0, NULL, NULL},
		{"http://u:hush@p.example:99999", NULL, 0, NULL, NULL},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_routes r;
		struct ing_error err = {0};
		struct ing_fetch_settings conf = {.proxy = cases[i].proxy};
		int rc = ing_routes_init(&r, &conf, &err);
		if ((rc == 0) != (cases[i].host != NULL))
			fail_msg("%s: %d %s", cases[i].proxy, rc, err.msg);
		if (rc != 0) {
			assert_non_null(strstr(err.msg, "fetch.proxy"));
			assert_null(strstr(err.msg, "hush"));
			continue;
		}
		assert_string_equal(r.proxy_host, cases[i].host);
		assert_int_equal(r.proxy_port, cases[i].port);
		assert_int_equal(r.proxy_user != NULL, cases[i].user != NULL);
		if (cases[i].user != NULL) {
			assert_string_equal(r.proxy_user, cases[i].user);
			assert_string_equal(r.proxy_password, cases[i].password);
		}
		ing_routes_done(&r);
	}
}

static void ports(void **state)
{
	(void)state;
	static const struct {
		const char *texts[3];
		bool good, allows_8080;
	} cases[] = {
		{{NULL}, true, false},
		{{"8080"}, true, true},
		{{"81", "8080"}, true, true},
		{{"81", "8081"}, true, false},
		{{"0"}, false, false},
		{{""}, false, false},
		{{"65536"}, false, false},
		{{"8080", "x"}, false, false},
		{{"-8080"}, false, false},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_ports p;
		struct ing_error err = {0};
		char *texts[3] = {0};
		for (size_t j = 0; cases[i].texts[j] != NULL; j++)
			texts[j] = ing_strdup(cases[i].texts[j]);
		int rc = ing_ports_init(&p, texts, &err);
		assert_int_equal(rc, cases[i].good ? 0 : -ING_FAIL_CONFIG);
		assert_int_equal(strstr(err.msg, "fetch.allow_port") != NULL, !cases[i].good);
		assert_int_equal(ing_ports_allow(&p, 8080), cases[i].allows_8080);
		assert_true(ing_ports_allow(&p, 80) && ing_ports_allow(&p, 443));
		assert_false(ing_ports_allow(&p, 0) || ing_ports_allow(&p, 22));
		ing_ports_done(&p);
		free(texts[0]);
		free(texts[1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(targets),
		cmocka_unit_test(connect_rules),
		cmocka_unit_test(first_rule_wins),
		cmocka_unit_test(proxies),
		cmocka_unit_test(ports),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
