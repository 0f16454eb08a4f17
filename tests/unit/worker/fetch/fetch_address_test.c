/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where connections go and where they never go: the guard in all its spellings, names, several
 * addresses, connect_to, proxies.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
/* cmocka wants two of the above */
#include <cmocka.h>
#include "client.h"
#include "common/base/clock.h"
#include "common/net/url.h"
#include "names.h"
#include "web.h"
#include "worker/fetch/fetch_priv.h"

static struct web *web;
static struct names *names;
static unsigned closed_port;

static void page_any(struct web_conn *c)
{
	web_say(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
}

static void page_connect(struct web_conn *c)
{
	web_say(c, "HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n");
}

static const struct web_page pages[] = {
	{"secure.test:443", page_connect}, {NULL, page_any}, {NULL, NULL}};

static const struct names_row rows[] = {
	{.name = "here.test", .v4 = {"127.0.0.1"}, .ttl_s = 300},
	{.name = "second.test", .v4 = {"127.0.0.9", "127.0.0.1"}, .ttl_s = 300},
	{.name = "hung.test", .v4 = {"127.0.0.8", "127.0.0.1"}, .ttl_s = 300},
	{.name = "private.test", .v4 = {"10.0.0.1", "192.168.0.1"}, .ttl_s = 300},
	{.name = "half.test", .v4 = {"10.0.0.1", "127.0.0.1"}, .ttl_s = 300},
	{.name = "six.test", .v6 = {"::1"}, .ttl_s = 300},
	{.name = "both.test", .v4 = {"127.0.0.9"}, .v6 = {"::ffff:127.0.0.1"}, .ttl_s = 300},
	{.name = "both-private.test", .v4 = {"127.0.0.9"}, .v6 = {"fd00::1"}, .ttl_s = 300},
	{.name = "rebind.test", .v4 = {"127.0.0.1"}, .v4_later = "127.0.0.9", .ttl_s = 0},
	{.name = "mapped.test", .v6 = {"::ffff:127.0.0.1"}, .ttl_s = 300},
	{.name = "nothing.test"},
	{.name = "broken.test", .rcode = 2},
	{.name = "silent.test", .silent = true},
	{.name = NULL},
};

static char *loopback[] = {
	(char[]){"127.0.0.0/8"}, (char[]){"::1"}, (char[]){"::ffff:127.0.0.1"}, NULL};

static void start_with(struct client *c, char *const *allow)
{
	struct ing_fetch_settings conf = client_settings();
	conf.connect_timeout_ms = 1200;
	conf.dns_servers = names_server(names);
	conf.allow_address = allow;
	client_start(c, &conf);
}

static void expect(struct client *c, const char *url, enum ing_status want)
{
	struct ing_exchange *ex = client_get(c, url);
	assert_outcome(ex, want);
	assert_int_equal(ex->answered, want == ING_STATUS_SUCCESS);
	if (want != ING_STATUS_SUCCESS) {
		assert_string_equal(ex->ip, "");
		assert_int_equal(ex->request.len, 0);
	}
	ing_exchange_unref(ex);
}

/* ---- the guard ---- */

static void never_inside(void **state)
{
	(void)state;
	static const char *const hosts[] = {"127.0.0.1", "127.1", "0x7f.1", "2130706433",
		"0177.0.0.1", "127.255.255.254", "0.0.0.0", "0", "10.0.0.1", "172.16.0.1",
		"192.168.1.1", "169.254.169.254", "100.64.0.1", "224.0.0.1", "255.255.255.255",
		"[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]",
		"[64:ff9b:1::1]", "[2002:7f00:1::]", "[2001:0:808:808:0:0:80ff:fffe]", "[fe80::1]",
		"[fc00::1]", "[ff02::1]", "[::127.0.0.1]", "localhost", "LOCALHOST", "here.test",
		"private.test", "half.test", "six.test", "mapped.test", "user:pw@127.0.0.1",
		"example.org@127.0.0.1"};
	struct client c;
	unsigned before = web_connections(web);
	start_with(&c, NULL);
	for (size_t i = 0; i < ING_ARRAY_LEN(hosts); i++) {
		char url[256];
		for (int tls = 0; tls < 2; tls++) {
			snprintf(url, sizeof(url), "http%s://%s:%u/", tls ? "s" : "", hosts[i],
				web_port(web));
			expect(&c, url, ING_STATUS_BLOCKED_ADDRESS);
		}
	}
	assert_int_equal(web_connections(web), before);
	client_stop(&c);
}

/* Names, literals and what connect_to leads to; an address that is not denied is still used. */
static void denied_addresses(void **state)
{
	(void)state;
	char *deny[] = {(char[]){"127.0.0.1"}, (char[]){"10.0.0.0/8"}, NULL};
	char to_denied[64];
	snprintf(to_denied, sizeof(to_denied), "led.test::127.0.0.1:%u", web_port(web));
	char *connect_to[] = {to_denied, NULL};
	static const char *const hosts[] = {"127.0.0.1", "[::ffff:127.0.0.1]", "here.test",
		"mapped.test", "led.test", "half.test"};
	struct client c;
	struct ing_fetch_settings conf = client_settings();
	conf.connect_timeout_ms = 1200;
	conf.dns_servers = names_server(names);
	conf.allow_address = loopback;
	conf.deny_address = deny;
	conf.connect_to = connect_to;
	unsigned before = web_connections(web);
	client_start(&c, &conf);
	for (size_t i = 0; i < ING_ARRAY_LEN(hosts); i++) {
		char url[256];
		snprintf(url, sizeof(url), "http://%s:%u/", hosts[i], web_port(web));
		expect(&c, url, ING_STATUS_BLOCKED_ADDRESS);
	}
	assert_int_equal(web_connections(web), before);
	client_stop(&c);
	deny[0] = deny[1]; /* 10.0.0.0/8 alone: the other address of half.test may be asked */
	deny[1] = NULL;
	client_start(&c, &conf);
	char url[256];
	snprintf(url, sizeof(url), "http://half.test:%u/", web_port(web));
	expect(&c, url, ING_STATUS_SUCCESS);
	client_stop(&c);
}

/* As they come out of cleaning: every spelling of an address is that address by then. */
static void spellings(void **state)
{
	(void)state;
	static const char *const hosts[] = {"2130706433", "0x7f000001", "0X7F.1", "127.1",
		"127.0.1", "0177.0.0.1", "0177.0.0.0x1", "017700000001", "127.0.0.1.", "127.0.0.01",
		"[::ffff:127.0.0.1]", "[0:0:0:0:0:ffff:7f00:0001]", "[::FFFF:7F00:1]",
		"\xef\xbc\x91\xef\xbc\x92\xef\xbc\x97.0.0.1", /* fullwidth digits */
		"\xe2\x91\xa0\xe2\x91\xa1\xe2\x91\xa6.0.0.1", /* circled ones */
		"127\xe3\x80\x82"
		"0\xe3\x80\x82"
		"0\xe3\x80\x82"
		"1", /* ideographic full stops */
		"127%2e0%2e0%2e1", "%31%32%37.0.0.1", "127.0.0.1%2e",
		"loc\xc2\xad"
		"alhost",
		"LOCALHO\xef\xbc\xb3T", "a@127.0.0.1", "a:b@127.1"};
	struct client c;
	unsigned before = web_connections(web);
	start_with(&c, NULL);
	for (size_t i = 0; i < ING_ARRAY_LEN(hosts); i++) {
		char url[256];
		snprintf(url, sizeof(url), " \thttp:\\\\%s:%u/ ", hosts[i], web_port(web));
		char *clean = ing_url_clean(url, strlen(url));
		expect(&c, clean, ING_STATUS_BLOCKED_ADDRESS);
		free(clean);
	}
	assert_int_equal(web_connections(web), before);
	client_stop(&c);
}

static void ports_of_urls(void **state)
{
	(void)state;
	static const char *const urls[] = {"http://here.test:22/", "https://here.test:25/",
		"http://127.0.0.1:1/", "http://here.test:8080/", "https://absent.test:8443/"};
	struct client c;
	struct ing_fetch_settings conf = client_settings();
	char url[128];
	unsigned queries = names_queries(names);
	conf.dns_servers = names_server(names);
	conf.allow_port = NULL;
	client_start(&c, &conf);
	for (size_t i = 0; i < ING_ARRAY_LEN(urls); i++) {
		struct ing_exchange *ex = client_get(&c, urls[i]);
		assert_outcome(ex, ING_STATUS_BLOCKED_ADDRESS);
		assert_non_null(strstr(ex->detail, "fetch.allow_port"));
		assert_false(ex->transient);
		ing_exchange_unref(ex);
	}
	snprintf(url, sizeof(url), "http://127.0.0.1:%u/", web_port(web));
	expect(&c, url, ING_STATUS_BLOCKED_ADDRESS);
	assert_int_equal(names_queries(names), queries);
	client_stop(&c);
}

/* A name that turns to another address once it has been judged. */
static void rebinding(void **state)
{
	(void)state;
	char one[] = "127.0.0.1";
	char *allow[] = {one, NULL};
	char url[128];
	struct client c;
	start_with(&c, allow);
	snprintf(url, sizeof(url), "http://rebind.test:%u/", web_port(web));
	unsigned queries = names_queries(names);
	expect(&c, url, ING_STATUS_SUCCESS);
	expect(&c, url,
		ING_STATUS_SUCCESS); /* the address that was judged is the one that is used */
	assert_int_equal(names_queries(names), queries + 1);
	client_turn(&c, 5100); /* what says 0 seconds is kept for five */
	expect(&c, url, ING_STATUS_BLOCKED_ADDRESS);
	assert_int_equal(names_queries(names), queries + 2);
	client_stop(&c);
}

static void userinfo_is_dropped(void **state)
{
	(void)state;
	char request[4096];
	struct client c;
	start_with(&c, loopback);
	struct ing_exchange *ex = client_getf(&c, "http://me:secret@127.0.0.1:%u/", web_port(web));
	assert_outcome(ex, ING_STATUS_SUCCESS);
	assert_true(ex->dropped_userinfo);
	assert_null(strchr(ex->url, '@'));
	web_last_request(web, request, sizeof(request));
	assert_null(strstr(request, "secret"));
	assert_null(strstr(request, "Authorization"));
	ing_exchange_unref(ex);
	ex = client_getf(&c, "http://127.0.0.1:%u/@", web_port(web));
	assert_false(ex->dropped_userinfo);
	ing_exchange_unref(ex);
	client_stop(&c);
}

static void allowed_blocks(void **state)
{
	(void)state;
	char one[] = "127.0.0.1/32";
	char *allow[] = {one, NULL};
	struct client c;
	char url[256];
	start_with(&c, allow);
	static const struct {
		const char *host;
		enum ing_status want;
	} cases[] = {{"127.0.0.1", ING_STATUS_SUCCESS}, {"127.1", ING_STATUS_SUCCESS},
		{"127.0.0.2", ING_STATUS_BLOCKED_ADDRESS}, {"localhost", ING_STATUS_SUCCESS},
		{"here.test", ING_STATUS_SUCCESS}, {"half.test", ING_STATUS_SUCCESS},
		{"private.test", ING_STATUS_BLOCKED_ADDRESS}, {"[::1]", ING_STATUS_BLOCKED_ADDRESS},
		{"[::ffff:127.0.0.1]", ING_STATUS_SUCCESS}};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		snprintf(url, sizeof(url), "http://%s:%u/", cases[i].host, web_port(web));
		expect(&c, url, cases[i].want);
	}
	client_stop(&c);
}

/* The socket's own check, by itself: the leave is taken back after the address has been judged the
 * first time. */
static void judged_again_on_the_socket(void **state)
{
	(void)state;
	char block[] = "127.0.0.0/8";
	char *allow[] = {block, NULL};
	struct client c;
	struct got got = {0};
	char url[128];
	unsigned before = web_connections(web);
	start_with(&c, allow);
	snprintf(url, sizeof(url), "http://127.0.0.1:%u/", web_port(web));
	struct ing_transfer *t = ing_fetch_start(
		c.fetch, &(struct ing_fetch_request){.url = url}, client_done, &got);
	while (t->phase != ING_TRANSFER_RUNNING)
		uv_run(&c.loop, UV_RUN_NOWAIT);
	c.fetch->allow.count = 0;
	client_wait(&c, &got);
	assert_outcome(got.ex, ING_STATUS_BLOCKED_ADDRESS);
	assert_non_null(strstr(got.ex->detail, "loopback"));
	assert_int_equal(web_connections(web), before);
	ing_exchange_unref(got.ex);
	client_stop(&c);
}

/* ---- names ---- */

static void names_that_fail(void **state)
{
	(void)state;
	/* clang-format off */
	static const struct {
		const char *host, *detail;
		bool transient;
	} cases[] = {
		{.host = "absent.test", .detail = "no such host name"},
		{.host = "nothing.test", .detail = "no address"},
		{.host = "broken.test", .detail = "the name servers returned no answer",
			.transient = true},
		{.host = "silent.test", .detail = "connect_timeout_ms", .transient = true},
	};
	/* clang-format on */
	struct client c;
	start_with(&c, loopback);
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		uint64_t from = ing_now_ms();
		struct ing_exchange *ex = client_getf(&c, "http://%s/", cases[i].host);
		assert_outcome(ex, ING_STATUS_INVALID_HOST_RESOLUTION);
		if (strstr(ex->detail, cases[i].detail) == NULL)
			fail_msg("%s: %s", cases[i].host, ex->detail);
		assert_int_equal(ex->transient, cases[i].transient);
		assert_true(ing_now_ms() - from < 10000);
		ing_exchange_unref(ex);
	}
	client_stop(&c);
}

static void label_limits(void **state)
{
	(void)state;
	struct client c;
	char name[400];
	start_with(&c, loopback);
	memset(name, 'a', sizeof(name));
	name[64] = '\0';
	struct ing_exchange *ex = client_getf(&c, "http://%s.test/", name);
	assert_outcome(ex, ING_STATUS_INVALID_HOST_RESOLUTION);
	ing_exchange_unref(ex);
	for (size_t i = 30; i < 300; i += 30)
		name[i] = '.';
	name[64] = 'a';
	name[299] = '\0';
	ex = client_getf(&c, "http://%s/", name);
	assert_outcome(ex, ING_STATUS_INVALID_HOST_RESOLUTION);
	ing_exchange_unref(ex);
	client_stop(&c);
}

/* How many values were counted. */
static uint64_t of_histogram(const uint64_t *h)
{
	uint64_t count = 0;
	for (unsigned i = 0; i < ING_METRIC_COUNT_DURATION; i++)
		count += h[i];
	return count;
}

static void asked_once(void **state)
{
	(void)state;
	struct client c;
	struct got got[20] = {0};
	char url[128];
	start_with(&c, loopback);
	unsigned before = names_queries(names);
	snprintf(url, sizeof(url), "http://here.test:%u/", web_port(web));
	for (size_t i = 0; i < ING_ARRAY_LEN(got); i++)
		ing_fetch_start(
			c.fetch, &(struct ing_fetch_request){.url = url}, client_done, &got[i]);
	for (size_t i = 0; i < ING_ARRAY_LEN(got); i++) {
		client_wait(&c, &got[i]);
		assert_outcome(got[i].ex, ING_STATUS_SUCCESS);
		ing_exchange_unref(got[i].ex);
	}
	assert_int_equal(names_queries(names) - before, 1);
	struct ing_fetch_stats stats;
	ing_fetch_stats(c.fetch, &stats);
	assert_true(of_histogram(stats.dns_us) > 0);
	assert_true(of_histogram(stats.dns_us) <= stats.exchanges);
	expect(&c, url, ING_STATUS_SUCCESS);
	assert_int_equal(names_queries(names) - before, 1);
	/* failures are remembered too */
	expect(&c, "http://absent.test/", ING_STATUS_INVALID_HOST_RESOLUTION);
	before = names_queries(names);
	expect(&c, "http://absent.test/", ING_STATUS_INVALID_HOST_RESOLUTION);
	assert_int_equal(names_queries(names), before);
	client_stop(&c);
}

/* A listener that never accepts and whose queue is full: connecting to it hangs. */
static int hang_port(const char *addr, unsigned port, int ret_fill[8])
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	inet_pton(AF_INET, addr, &in.sin_addr);
	assert_int_equal(bind(fd, (struct sockaddr *)&in, sizeof(in)), 0);
	assert_int_equal(listen(fd, 0), 0);
	for (int i = 0; i < 8; i++) {
		ret_fill[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		(void)!connect(ret_fill[i], (struct sockaddr *)&in, sizeof(in));
	}
	usleep(50000);
	return fd;
}

static void next_address(void **state)
{
	(void)state;
	int fill[8];
	struct client c;
	start_with(&c, loopback);
	int hung = hang_port("127.0.0.8", web_port(web), fill);
	static const char *const hosts[] = {"second.test", "hung.test"};
	for (size_t i = 0; i < ING_ARRAY_LEN(hosts); i++) {
		struct ing_exchange *ex = client_getf(&c, "http://%s:%u/", hosts[i], web_port(web));
		assert_outcome(ex, ING_STATUS_SUCCESS);
		assert_string_equal(ex->ip, "127.0.0.1");
		ing_exchange_unref(ex);
	}
	/* a single one that hangs ends with the connect limit */
	uint64_t from = ing_now_ms();
	struct ing_exchange *ex = client_getf(&c, "http://127.0.0.8:%u/", web_port(web));
	assert_outcome(ex, ING_STATUS_CONNECT_ERROR);
	assert_in_range(ing_now_ms() - from, 1000, 8000);
	ing_exchange_unref(ex);
	for (size_t i = 0; i < ING_ARRAY_LEN(fill); i++)
		close(fill[i]);
	close(hung);
	client_stop(&c);
}

/* IPv6 is asked for when no IPv4 address could be connected to. */
static void other_family(void **state)
{
	(void)state;
	static const struct {
		const char *host, *ip; /* ip NULL: connect-error, as without IPv6 */
		unsigned queries;
	} cases[] = {
		{.host = "both.test", .ip = "127.0.0.1", .queries = 2},
		{.host = "both-private.test", .queries = 2},
		{.host = "here.test", .ip = "127.0.0.1", .queries = 1},
		{.host = "second.test", .ip = "127.0.0.1", .queries = 1},
	};
	struct client c;
	start_with(&c, loopback);
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		unsigned before = names_queries(names);
		struct ing_exchange *ex =
			client_getf(&c, "http://%s:%u/", cases[i].host, web_port(web));
		assert_outcome(
			ex, cases[i].ip != NULL ? ING_STATUS_SUCCESS : ING_STATUS_CONNECT_ERROR);
		assert_int_equal(names_queries(names) - before, cases[i].queries);
		assert_int_equal(ex->transient, cases[i].ip == NULL);
		if (cases[i].ip != NULL && strstr(ex->ip, cases[i].ip) == NULL)
			fail_msg("%s: %s", cases[i].host, ex->ip);
		ing_exchange_unref(ex);
	}
	client_stop(&c);
}

static void nobody_listens(void **state)
{
	(void)state;
	static const char *const hosts[] = {"127.0.0.1", "here.test", "second.test", "six.test"};
	struct client c;
	start_with(&c, loopback);
	for (size_t i = 0; i < ING_ARRAY_LEN(hosts); i++) {
		char url[128];
		snprintf(url, sizeof(url), "http://%s:%u/", hosts[i], closed_port);
		expect(&c, url, ING_STATUS_CONNECT_ERROR);
	}
	client_stop(&c);
}

static void no_urls(void **state)
{
	(void)state;
	static const char *const urls[] = {"", "http://", "http:///x", "http:///user@127.0.0.1/",
		"http:/127.0.0.1/", "http:127.0.0.1", "http:////127.0.0.1/", "http://?x",
		"http://#", "ftp://127.0.0.1/", "file:///etc/passwd", "gopher://127.0.0.1/",
		"//127.0.0.1/", "127.0.0.1", "http://127.0.0.1:99999/", "http://127.0.0.1:x/",
		"http://a b/", "http://a\r\nb/", "http://127.0.0.1/\r\nX: y",
		"http://127.0.0.1/\x7f", "http://\xc3\xa9/", "http://[::1/",
		"http://[fe80::1%25lo]/", "http://[fe80::1%lo]/", "http://%31/", "javascript:1",
		"http://a%00b/"};
	struct client c;
	start_with(&c, loopback);
	for (size_t i = 0; i < ING_ARRAY_LEN(urls); i++)
		expect(&c, urls[i], ING_STATUS_INVALID_URL);
	char *huge = ing_alloc(20000);
	memset(huge, 'a', 19999);
	memcpy(huge, "http://127.0.0.1/", 17);
	expect(&c, huge, ING_STATUS_INVALID_URL);
	free(huge);
	client_stop(&c);
}

/* ---- connect_to ---- */

static void elsewhere(void **state)
{
	(void)state;
	char rule[4][64];
	char *rules[] = {rule[0], rule[1], rule[2], rule[3], NULL};
	char port_81[] = "81";
	char port_8080[] = "8080";
	char *ports[] = {port_81, port_8080, NULL};
	struct client c;
	struct ing_fetch_settings conf = client_settings();
	char request[4096];
	snprintf(rule[0], sizeof(rule[0]), "named.example:80:localhost:%u", web_port(web));
	snprintf(rule[1], sizeof(rule[1]), "inside.example::10.0.0.1:%u", web_port(web));
	snprintf(rule[2], sizeof(rule[2]), ":81:127.0.0.1:%u", closed_port);
	snprintf(rule[3], sizeof(rule[3]), "::127.0.0.1:%u", web_port(web));
	conf.connect_to = rules;
	conf.allow_port = ports;
	conf.dns_servers = names_server(names);
	client_start(&c, &conf);
	unsigned before = names_queries(names);
	expect(&c, "http://anything.example/", ING_STATUS_SUCCESS);
	web_last_request(web, request, sizeof(request));
	assert_non_null(strstr(request, "Host: anything.example\r\n"));
	expect(&c, "http://other.example:8080/", ING_STATUS_SUCCESS);
	web_last_request(web, request, sizeof(request));
	assert_non_null(strstr(request, "Host: other.example:8080\r\n"));
	expect(&c, "http://named.example/", ING_STATUS_SUCCESS);
	expect(&c, "http://10.0.0.1/", ING_STATUS_SUCCESS); /* the target's address is judged */
	expect(&c, "http://inside.example/", ING_STATUS_BLOCKED_ADDRESS);
	expect(&c, "http://anything.example:81/", ING_STATUS_CONNECT_ERROR);
	expect(&c, "http://anything.example:82/", ING_STATUS_BLOCKED_ADDRESS); /* the URL's port */
	assert_int_equal(names_queries(names), before);
	client_stop(&c);
	/* and without leave, none */
	conf.allow_address = NULL;
	client_start(&c, &conf);
	expect(&c, "http://anything.example/", ING_STATUS_BLOCKED_ADDRESS);
	client_stop(&c);
}

/* ---- proxies ---- */

static void through_a_proxy(void **state)
{
	(void)state;
	char proxy[96];
	char request[4096];
	struct client c;
	struct ing_fetch_settings conf = client_settings();
	snprintf(proxy, sizeof(proxy), "http://me:p%%40ss@localhost:%u", web_port(web));
	conf.proxy = proxy;
	conf.allow_address = NULL; /* the proxy's own address needs none */
	conf.dns_servers = names_server(names);
	client_start(&c, &conf);
	unsigned before = names_queries(names);
	struct ing_exchange *ex = client_get(&c, "http://far.example/page?x");
	assert_outcome(ex, ING_STATUS_SUCCESS);
	web_last_request(web, request, sizeof(request));
	assert_memory_equal(request, "GET http://far.example/page?x HTTP/1.1\r\n", 40);
	assert_non_null(strstr(request, "Proxy-Authorization: Basic bWU6cEBzcw==\r\n"));
	assert_memory_equal(ing_buf_str(&ex->request), request, 40);
	assert_null(strstr(ing_buf_str(&ex->request), "Proxy-"));
	assert_non_null(strstr(ing_buf_str(&ex->request), "Host: far.example\r\n"));
	assert_string_equal(ing_buf_str(&ex->request) + ex->request.len - 4, "\r\n\r\n");
	assert_string_equal(ex->ip, "");
	ing_exchange_unref(ex);
	assert_int_equal(names_queries(names), before);
	unsigned connections = web_connections(web);
	expect(&c, "http://10.0.0.1/", ING_STATUS_BLOCKED_ADDRESS);
	expect(&c, "http://[::1]/", ING_STATUS_BLOCKED_ADDRESS);
	expect(&c, "https://127.0.0.1/", ING_STATUS_BLOCKED_ADDRESS);
	assert_int_equal(web_connections(web), connections);
	expect(&c, "https://secure.test/", ING_STATUS_CONNECT_ERROR); /* the proxy says 403 */
	client_stop(&c);
}

static void proxy_that_is_away(void **state)
{
	(void)state;
	char proxy[64];
	struct client c;
	struct ing_fetch_settings conf = client_settings();
	snprintf(proxy, sizeof(proxy), "http://127.0.0.1:%u", closed_port);
	conf.proxy = proxy;
	conf.dns_servers = names_server(names);
	client_start(&c, &conf);
	expect(&c, "http://far.example/", ING_STATUS_CONNECT_ERROR);
	client_stop(&c);
	conf.proxy = "http://absent.test:3128";
	client_start(&c, &conf);
	expect(&c, "http://far.example/", ING_STATUS_CONNECT_ERROR);
	client_stop(&c);
}

static void environment_is_ignored(void **state)
{
	(void)state;
	static const char *const variables[] = {
		"http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy", "ALL_PROXY"};
	struct client c;
	char proxy[64];
	char url[128];
	snprintf(proxy, sizeof(proxy), "http://127.0.0.1:%u", closed_port);
	for (size_t i = 0; i < ING_ARRAY_LEN(variables); i++)
		setenv(variables[i], proxy, 1);
	start_with(&c, loopback);
	snprintf(url, sizeof(url), "http://here.test:%u/", web_port(web));
	expect(&c, url, ING_STATUS_SUCCESS);
	client_stop(&c);
	for (size_t i = 0; i < ING_ARRAY_LEN(variables); i++)
		unsetenv(variables[i]);
}

static int start_all(void **state)
{
	(void)state;
	struct web *gone = web_start(pages, NULL);
	closed_port = web_port(gone);
	web = web_start(pages, NULL);
	names = names_start(rows);
	web_stop(gone);
	return 0;
}

static int stop_all(void **state)
{
	(void)state;
	names_stop(names);
	web_stop(web);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(never_inside),
		cmocka_unit_test(denied_addresses),
		cmocka_unit_test(spellings),
		cmocka_unit_test(ports_of_urls),
		cmocka_unit_test(rebinding),
		cmocka_unit_test(userinfo_is_dropped),
		cmocka_unit_test(allowed_blocks),
		cmocka_unit_test(judged_again_on_the_socket),
		cmocka_unit_test(names_that_fail),
		cmocka_unit_test(label_limits),
		cmocka_unit_test(asked_once),
		cmocka_unit_test(next_address),
		cmocka_unit_test(other_family),
		cmocka_unit_test(nobody_listens),
		cmocka_unit_test(no_urls),
		cmocka_unit_test(elsewhere),
		cmocka_unit_test(through_a_proxy),
		cmocka_unit_test(proxy_that_is_away),
		cmocka_unit_test(environment_is_ignored),
	};
	return cmocka_run_group_tests(tests, start_all, stop_all);
}
