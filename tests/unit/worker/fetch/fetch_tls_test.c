/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * https: good and bad certificates, rough ends, and the tunnel through a proxy.
 */
#include <arpa/inet.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
/* cmocka wants two of the above */
#include <cmocka.h>
#include "certs.h"
#include "client.h"
#include "web.h"

#define CA_FILE "fetch-tls-test-ca.pem"
#define YEAR_S (3600L * 24 * 365)

static struct certs *certs;
static SSL_CTX *good_ctx, *expired_ctx;
static struct web *good, *expired, *plain, *proxy;

static void page_cookie(struct web_conn *c)
{
	web_say(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"
		   "Set-Cookie: s=1; Secure; Path=/\r\nSet-Cookie: p=2; Path=/\r\n"
		   "Set-Cookie: __Host-h=3; Secure; Path=/\r\n\r\n");
}

static void page_secure(struct web_conn *c)
{
	web_say(c, "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecure");
}

/* Much, in many TLS records, so that pauses fall inside of what OpenSSL has already read. */
static void page_large(struct web_conn *c)
{
	web_say(c, "HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\r\n");
	web_pattern(c, 0, 3000000);
}

/* No length, no close_notify: the TCP connection just ends. */
static void page_rough(struct web_conn *c)
{
	web_say(c, "HTTP/1.1 200 OK\r\nContent-Type: a/b\r\n\r\nno good-bye");
	SSL_set_quiet_shutdown(c->tls, 1);
	c->over = true;
}

static void page_rough_short(struct web_conn *c)
{
	web_say(c, "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nno good-bye");
	c->over = true;
}

static void use_certificate_of(SSL_CTX *from)
{
	ing_must(SSL_CTX_use_cert_and_key(good_ctx, SSL_CTX_get0_certificate(from),
			 SSL_CTX_get0_privatekey(from), NULL, 1) == 1);
}

/* Answers the first request of a connection, and the second by hanging up; from then on the server
 * has another certificate. */
static void page_turns_bad(struct web_conn *c)
{
	if (c->served == 0) {
		page_secure(c);
		return;
	}
	use_certificate_of(expired_ctx);
	c->over = true;
}

static const struct web_page pages[] = {{"/large", page_large}, {"/turns-bad", page_turns_bad},
	{"/rough", page_rough}, {"/rough-short", page_rough_short}, {"/cookie", page_cookie},
	{NULL, page_secure}, {NULL, NULL}};

/* A proxy that leads every tunnel to the good server. */
static void relay(struct web_conn *c)
{
	web_tunnel(c, web_port(good));
}

static const struct web_page proxy_pages[] = {{"good.test:443", relay}, {NULL, NULL}};

/* The names of the URLs lead to the servers of this test. */
static void start(struct client *c, struct ing_fetch_settings *conf)
{
	static char rules[4][64];
	static char *connect_to[] = {rules[0], rules[1], rules[2], rules[3], NULL};
	snprintf(rules[0], sizeof(rules[0]), "expired.test:443:127.0.0.1:%u", web_port(expired));
	snprintf(rules[1], sizeof(rules[1]), "plain.test:443:127.0.0.1:%u", web_port(plain));
	snprintf(rules[2], sizeof(rules[2]), ":443:127.0.0.1:%u", web_port(good));
	snprintf(rules[3], sizeof(rules[3]), ":80:127.0.0.1:%u", web_port(plain));
	if (conf->proxy == NULL)
		conf->connect_to = connect_to;
	client_start(c, conf);
}

/* Our certificates count. */
static void start_trusting(struct client *c)
{
	struct ing_fetch_settings conf = client_settings();
	conf.ca_file = CA_FILE;
	start(c, &conf);
}

/* For cases that tell whether ours count or the system's. Nobody answers a handshake at plain.test,
 * which should not take long. */
static void start_case(struct client *c, bool own_ca)
{
	struct ing_fetch_settings conf = client_settings();
	conf.ca_file = own_ca ? CA_FILE : NULL;
	conf.connect_timeout_ms = 1000;
	start(c, &conf);
}

static void certificates(void **state)
{
	(void)state;
	/* clang-format off */
	static const struct {
		const char *url;
		bool own_ca;
		enum ing_status want;
		const char *detail;
	} cases[] = {
		{.url = "https://good.test/", .own_ca = true, .want = ING_STATUS_SUCCESS,
			.detail = ""},
		{.url = "https://wrong.test/", .own_ca = true, .want = ING_STATUS_TLS_ERROR,
			.detail = "wrong.test"},
		{.url = "https://127.0.0.1/", .own_ca = true, .want = ING_STATUS_TLS_ERROR,
			.detail = "127.0.0.1"},
		{.url = "https://expired.test/", .own_ca = true, .want = ING_STATUS_TLS_ERROR,
			.detail = "expired"},
		{.url = "https://plain.test/", .own_ca = true, .want = ING_STATUS_CONNECT_ERROR,
			.detail = "timeout"},
		{.url = "https://good.test/", .want = ING_STATUS_TLS_ERROR,
			.detail = "certificate"},
	};
	/* clang-format on */
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct client c;
		start_case(&c, cases[i].own_ca);
		struct ing_exchange *ex = client_get(&c, cases[i].url);
		assert_outcome(ex, cases[i].want);
		if (strstr(ex->detail, cases[i].detail) == NULL)
			fail_msg("%s: %s", cases[i].url, ex->detail);
		assert_int_equal(ex->answered, cases[i].want == ING_STATUS_SUCCESS);
		assert_int_equal(ex->transient, cases[i].want == ING_STATUS_CONNECT_ERROR);
		assert_false(ex->unverified);
		if (ex->answered) {
			assert_string_equal(ex->ip, "127.0.0.1");
			assert_memory_equal(
				ex->request.data, "GET / HTTP/1.1\r\nHost: good.test\r\n", 33);
			assert_string_equal(ing_buf_str(&ex->response),
				"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n");
		}
		ing_exchange_unref(ex);
		client_stop(&c);
	}
}

static void missing_ca_file(void **state)
{
	(void)state;
	uv_loop_t loop;
	struct ing_fetch *f = NULL;
	struct ing_error err = {0};
	struct ing_fetch_settings conf = client_settings();
	conf.spool_dir = ".";
	conf.ca_file = "no/such/bundle.pem";
	uv_loop_init(&loop);
	assert_int_not_equal(ing_fetch_new(&loop, &conf, 1, &f, &err), 0);
	assert_non_null(strstr(err.msg, "fetch.ca_file"));
	assert_null(f);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0);
}

/* A wrong name must not get a kept connection of the right one. */
static void kept_connections_keep_their_name(void **state)
{
	(void)state;
	struct client c;
	start_trusting(&c);
	unsigned before = web_connections(good);
	for (int i = 0; i < 3; i++) {
		struct ing_exchange *ex = client_get(&c, "https://good.test/");
		assert_outcome(ex, ING_STATUS_SUCCESS);
		ing_exchange_unref(ex);
		ex = client_get(&c, "https://wrong.test/");
		assert_outcome(ex, ING_STATUS_TLS_ERROR);
		ing_exchange_unref(ex);
	}
	assert_int_equal(web_connections(good) - before, 4);
	client_stop(&c);
}

static struct ing_exchange *get_anyhow(struct client *c, const char *url)
{
	struct got got = {0};
	ing_fetch_start(c->fetch, &(struct ing_fetch_request){.url = url, .tls_fallback = true},
		client_done, &got);
	client_wait(c, &got);
	return got.ex;
}

/* Once more without verification, only where it was the certificate. */
static void fallback(void **state)
{
	(void)state;
	/* clang-format off */
	static const struct {
		const char *url;
		bool own_ca;
		enum ing_status want;
		bool unverified;
		unsigned connections; /* to the good server */
	} cases[] = {
		{.url = "https://good.test/", .own_ca = true, .want = ING_STATUS_SUCCESS,
			.connections = 1},
		{.url = "https://wrong.test/", .own_ca = true, .want = ING_STATUS_SUCCESS,
			.unverified = true, .connections = 2},
		{.url = "https://127.0.0.1/", .own_ca = true, .want = ING_STATUS_SUCCESS,
			.unverified = true, .connections = 2},
		{.url = "https://good.test/", .want = ING_STATUS_SUCCESS, .unverified = true,
			.connections = 2},
		{.url = "https://expired.test/", .own_ca = true, .want = ING_STATUS_SUCCESS,
			.unverified = true},
		{.url = "https://plain.test/", .own_ca = true, .want = ING_STATUS_CONNECT_ERROR},
	};
	/* clang-format on */
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct client c;
		start_case(&c, cases[i].own_ca);
		unsigned before = web_connections(good);
		struct ing_exchange *ex = get_anyhow(&c, cases[i].url);
		assert_outcome(ex, cases[i].want);
		if (ex->unverified != cases[i].unverified)
			fail_msg("%s: unverified %d", cases[i].url, ex->unverified);
		assert_int_equal(web_connections(good) - before, cases[i].connections);
		ing_exchange_unref(ex);
		client_stop(&c);
	}
}

/* A kept connection whose certificate nobody looked at is not for those who want it verified. */
static void unverified_connections_stay_apart(void **state)
{
	(void)state;
	struct client c;
	start_trusting(&c);
	for (int i = 0; i < 3; i++) {
		struct ing_exchange *ex = get_anyhow(&c, "https://wrong.test/");
		assert_outcome(ex, ING_STATUS_SUCCESS);
		assert_true(ex->unverified);
		ing_exchange_unref(ex);
		ex = client_get(&c, "https://wrong.test/");
		assert_outcome(ex, ING_STATUS_TLS_ERROR);
		assert_false(ex->unverified || ex->answered || ex->transient);
		ing_exchange_unref(ex);
	}
	client_stop(&c);
}

/* The request was sent on a kept connection, which turned out dead; the new one has a certificate
 * that does not hold. */
static void fallback_after_a_kept_connection(void **state)
{
	(void)state;
	struct client c;
	SSL_CTX *kept = certs_server(certs, "good.test", -3600, YEAR_S);
	start_trusting(&c);
	struct ing_exchange *ex = get_anyhow(&c, "https://good.test/turns-bad");
	assert_outcome(ex, ING_STATUS_SUCCESS);
	assert_false(ex->unverified);
	ing_exchange_unref(ex);
	ex = get_anyhow(&c, "https://good.test/turns-bad");
	assert_outcome(ex, ING_STATUS_SUCCESS);
	assert_true(ex->unverified);
	const char *request = ing_buf_str(&ex->request);
	assert_null(strstr(request + 1, "GET ")); /* once */
	ing_exchange_unref(ex);
	client_stop(&c);
	use_certificate_of(kept);
	SSL_CTX_free(kept);
}

/* The other end goes away in the middle of the handshake. */
static void broken_handshakes(void **state)
{
	(void)state;
	for (int with_reset = 0; with_reset < 2; with_reset++) {
		struct sockaddr_in in = {.sin_family = AF_INET};
		socklen_t len = sizeof(in);
		int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		assert_int_equal(bind(listener, (struct sockaddr *)&in, sizeof(in)), 0);
		assert_int_equal(getsockname(listener, (struct sockaddr *)&in, &len), 0);
		assert_int_equal(listen(listener, 4), 0);
		char rule[64];
		char *rules[] = {rule, NULL};
		snprintf(rule, sizeof(rule), ":443:127.0.0.1:%u", ntohs(in.sin_port));
		struct client c;
		struct got got = {0};
		struct ing_fetch_settings conf = client_settings();
		conf.connect_to = rules;
		client_start(&c, &conf);
		ing_fetch_start(c.fetch,
			&(struct ing_fetch_request){
				.url = "https://good.test/", .tls_fallback = true},
			client_done, &got);
		client_turn(&c, 100);
		int fd = accept(listener, NULL, NULL);
		struct linger now = {.l_onoff = with_reset, .l_linger = 0};
		char hello[4096];
		assert_true(fd >= 0 && recv(fd, hello, sizeof(hello), 0) > 0);
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
		close(fd);
		client_wait(&c, &got);
		assert_outcome(got.ex, ING_STATUS_TLS_ERROR);
		if (!got.ex->transient)
			fail_msg("%s", got.ex->detail);
		assert_false(got.ex->unverified);
		ing_exchange_unref(got.ex);
		client_stop(&c);
		close(listener);
	}
}

static void pauses_within_tls(void **state)
{
	(void)state;
	struct client c;
	struct got got[4] = {0};
	struct ing_fetch_settings conf = client_settings();
	conf.ca_file = CA_FILE;
	conf.memory_bytes = 100000;
	start(&c, &conf);
	for (size_t i = 0; i < ING_ARRAY_LEN(got); i++)
		ing_fetch_start(c.fetch,
			&(struct ing_fetch_request){.url = "https://good.test/large"}, client_done,
			&got[i]);
	for (size_t i = 0; i < ING_ARRAY_LEN(got); i++) {
		client_wait(&c, &got[i]);
		assert_outcome(got[i].ex, ING_STATUS_SUCCESS);
		assert_pattern(got[i].ex, 3000000);
		ing_exchange_unref(got[i].ex);
	}
	client_stop(&c);
}

static void rough_ends(void **state)
{
	(void)state;
	struct client c;
	start_trusting(&c);
	struct ing_exchange *ex = client_get(&c, "https://good.test/rough");
	assert_outcome(ex, ING_STATUS_SUCCESS);
	assert_int_equal(ex->body_bytes, 11);
	assert_int_equal(ex->truncated, ING_TRUNC_NONE);
	ing_exchange_unref(ex);
	ex = client_get(&c, "https://good.test/rough-short");
	assert_outcome(ex, ING_STATUS_TRUNCATED_BODY);
	assert_int_equal(ex->body_bytes, 11);
	ing_exchange_unref(ex);
	client_stop(&c);
}

static void secure_cookies(void **state)
{
	(void)state;
	struct client c;
	char request[4096];
	struct ing_cookies *jar = ing_cookies_new();
	start_trusting(&c);
	ing_exchange_unref(client_get_with(&c, "https://good.test/cookie", jar, NULL, 0));
	ing_exchange_unref(client_get_with(&c, "https://good.test/", jar, NULL, 0));
	web_last_request(good, request, sizeof(request));
	const char *sent = strstr(request, "\r\nCookie: ");
	assert_non_null(sent);
	assert_true(strstr(sent, "s=1") && strstr(sent, "p=2") && strstr(sent, "__Host-h=3"));
	ing_exchange_unref(client_get_with(&c, "http://good.test/", jar, NULL, 0));
	web_last_request(plain, request, sizeof(request));
	assert_non_null(strstr(request, "\r\nCookie: p=2\r\n"));
	ing_cookies_free(jar);
	client_stop(&c);
}

static void tunnel(void **state)
{
	(void)state;
	char url[64];
	char request[4096];
	struct client c;
	struct ing_cookies *jar = ing_cookies_new();
	struct ing_fetch_settings conf = client_settings();
	conf.ca_file = CA_FILE;
	snprintf(url, sizeof(url), "http://u:pw@127.0.0.1:%u", web_port(proxy));
	conf.proxy = url;
	start(&c, &conf);
	struct ing_exchange *ex = client_get_with(&c, "https://good.test/", jar, NULL, 0);
	assert_outcome(ex, ING_STATUS_SUCCESS);
	web_last_request(proxy, request, sizeof(request));
	assert_memory_equal(request, "CONNECT good.test:443 HTTP/1.1\r\n", 32);
	assert_non_null(strstr(request, "Proxy-Authorization: Basic "));
	/* of all that nothing is in the record */
	assert_memory_equal(ex->request.data, "GET / HTTP/1.1\r\nHost: good.test\r\n", 33);
	assert_null(strstr(ing_buf_str(&ex->request), "CONNECT"));
	assert_null(strstr(ing_buf_str(&ex->request), "Proxy-"));
	assert_string_equal(
		ing_buf_str(&ex->response), "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n");
	assert_false(ex->set_cookie);
	assert_string_equal(ex->ip, "");
	assert_int_equal(ing_cookies_version(jar), 0);
	ing_exchange_unref(ex);
	ing_cookies_free(jar);
	client_stop(&c);
}

static int start_all(void **state)
{
	(void)state;
	certs = certs_new(CA_FILE);
	good_ctx = certs_server(certs, "good.test", -3600, YEAR_S);
	expired_ctx = certs_server(certs, "expired.test", -YEAR_S, -3600);
	good = web_start(pages, good_ctx);
	expired = web_start(pages, expired_ctx);
	plain = web_start(pages, NULL);
	proxy = web_start(proxy_pages, NULL);
	return 0;
}

static int stop_all(void **state)
{
	(void)state;
	web_stop(proxy);
	web_stop(plain);
	web_stop(expired);
	web_stop(good);
	SSL_CTX_free(good_ctx);
	SSL_CTX_free(expired_ctx);
	certs_free(certs);
	unlink(CA_FILE);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(certificates),
		cmocka_unit_test(missing_ca_file),
		cmocka_unit_test(kept_connections_keep_their_name),
		cmocka_unit_test(fallback),
		cmocka_unit_test(unverified_connections_stay_apart),
		cmocka_unit_test(fallback_after_a_kept_connection),
		cmocka_unit_test(broken_handshakes),
		cmocka_unit_test(pauses_within_tls),
		cmocka_unit_test(rough_ends),
		cmocka_unit_test(secure_cookies),
		cmocka_unit_test(tunnel),
	};
	return cmocka_run_group_tests(tests, start_all, stop_all);
}
