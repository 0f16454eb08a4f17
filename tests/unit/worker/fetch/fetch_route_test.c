/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Tables without a network: URLs, connect_to entries, proxies, ports.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants the three above first */
#include <unistd.h>
#include <cmocka.h>
#include "worker/fetch/fetch_priv.h"

static void targets(void **state)
{
	(void)state;
	/* clang-format off */
	static const struct {
		const char *input, *url, *host; /* url NULL: refused */
		unsigned port;
		bool https;
	} cases[] = {
		{.input = "http://a.example/", .url = "http://a.example/", .host = "a.example",
			.port = 80},
		{.input = "https://a.example/x?y", .url = "https://a.example/x?y",
			.host = "a.example", .port = 443, .https = true},
		{.input = "http://a.example:8080/#f", .url = "http://a.example:8080/",
			.host = "a.example", .port = 8080},
		{.input = "http://u@a.example/@b#c@d", .url = "http://a.example/@b",
			.host = "a.example", .port = 80},
		{.input = "http://u:p@q@a.example/", .url = "http://a.example/",
			.host = "a.example", .port = 80},
		{.input = "http://a.example?u@b", .url = "http://a.example?u@b",
			.host = "a.example", .port = 80},
		{.input = "http://[2001:DB8::1]:81/", .url = "http://[2001:DB8::1]:81/",
			.host = "2001:db8::1", .port = 81},
		{.input = "http://127.0.0.1/", .url = "http://127.0.0.1/", .host = "127.0.0.1",
			.port = 80},
		{.input = "http://a.example/a/../b/%2e", .url = "http://a.example/a/../b/%2e",
			.host = "a.example", .port = 80},
		{.input = "http://u:p@/"},
		{.input = "http://a.example:0/"},
		{.input = "ws://a.example/"},
		{.input = "http://a.example/ "},
	};
	/* clang-format on */
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
	/* clang-format off */
	static const struct {
		const char *rule, *url, *host; /* host NULL: the rule is refused */
		unsigned port;
	} cases[] = {
		{.rule = ":80:127.0.0.1:8080", .url = "http://a.example/", .host = "127.0.0.1",
			.port = 8080},
		{.rule = ":80:127.0.0.1:8080", .url = "https://a.example/", .host = "a.example",
			.port = 443},
		{.rule = "a.example:80:b.example:", .url = "http://a.example/",
			.host = "b.example", .port = 80},
		{.rule = "A.Example::b.example:81", .url = "http://a.example/",
			.host = "b.example", .port = 81},
		{.rule = "a.example:::81", .url = "http://a.example/", .host = "a.example",
			.port = 81},
		{.rule = "a.example:::81", .url = "http://b.example/", .host = "b.example",
			.port = 80},
		{.rule = ":::", .url = "https://b.example:444/", .host = "b.example", .port = 444},
		{.rule = "[2001:db8:0::1]:80:[::1]:81", .url = "http://[2001:db8::1]/",
			.host = "::1", .port = 81},
		{.rule = "127.0.0.1:80:x.example:81", .url = "http://127.0.0.1/",
			.host = "x.example", .port = 81},
		{.rule = "", .url = "http://a/"},
		{.rule = "a:b:c", .url = "http://a/"},
		{.rule = "a:80:b:81:", .url = "http://a/"},
		{.rule = "a:x:b:81", .url = "http://a/"},
		{.rule = "a:80:b:0", .url = "http://a/"},
		{.rule = "a:80:b:65536", .url = "http://a/"},
		{.rule = "a:80:::1:81", .url = "http://a/"},
		{.rule = "a:80:[::1:81", .url = "http://a/"},
		{.rule = "a:80:[nonsense]:81", .url = "http://a/"},
		{.rule = "a:123456789012345678901234567890:b:1", .url = "http://a/"},
	};
	/* clang-format on */
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
	/* clang-format off */
	static const struct {
		const char *proxy, *host; /* host NULL: refused */
		unsigned port;
		const char *user, *password;
	} cases[] = {
		{.proxy = "http://p.example:3128", .host = "p.example", .port = 3128},
		{.proxy = "http://me:s%20e%40c@p.example:3128/", .host = "p.example", .port = 3128,
			.user = "me", .password = "s e@c"},
		{.proxy = "http://[::1]:80", .host = "::1", .port = 80},
		{.proxy = "http://p.example"},
		{.proxy = "https://p.example:443"},
		{.proxy = "socks5://p.example:1080"},
		{.proxy = "p.example:3128"},
		{.proxy = "nonsense"},
		{.proxy = "http://u:hush@p.example:99999"},
	};
	/* clang-format on */
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

static void the_password_of_a_proxy_may_be_in_a_file(void **state)
{
	(void)state;
	char path[] = "/tmp/proxy-password-XXXXXX";
	int fd = mkstemp(path);
	assert_int_equal(write(fd, "s e@c\n", 6), 6);
	close(fd);
	struct ing_routes r;
	struct ing_error err = {0};
	struct ing_fetch_settings conf = {
		.proxy = "http://me:not-this@p.example:3128", .proxy_password_file = path};
	assert_int_equal(ing_routes_init(&r, &conf, &err), 0);
	assert_string_equal(r.proxy_user, "me");
	assert_string_equal(r.proxy_password, "s e@c");
	ing_routes_done(&r);
	unlink(path);
	assert_int_equal(ing_routes_init(&r, &conf, &err), -ING_FAIL_CONFIG);
	assert_non_null(strstr(err.msg, "fetch.proxy_password_file: /tmp/proxy-password-"));
	conf.proxy = NULL;
	assert_int_equal(ing_routes_init(&r, &conf, &err), 0); /* nobody asks for it */
	ing_routes_done(&r);
}

static void ports(void **state)
{
	(void)state;
	static const struct {
		const char *texts[3];
		bool good, allows_8080;
	} cases[] = {
		{.texts = {NULL}, .good = true},
		{.texts = {"8080"}, .good = true, .allows_8080 = true},
		{.texts = {"81", "8080"}, .good = true, .allows_8080 = true},
		{.texts = {"81", "8081"}, .good = true},
		{.texts = {"0"}},
		{.texts = {""}},
		{.texts = {"65536"}},
		{.texts = {"8080", "x"}},
		{.texts = {"-8080"}},
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
		cmocka_unit_test(the_password_of_a_proxy_may_be_in_a_file),
		cmocka_unit_test(ports),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
