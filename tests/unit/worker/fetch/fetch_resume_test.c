/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Transfers whose connections resume TLS sessions, and servers that do not bear it. Most pages end their
 * connection, so that the next transfer makes another.
 */
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

#define CA_FILE "fetch-resume-test-ca.pem"
#define YEAR_S (3600L * 24 * 365)

/* What the server does when a handshake begins with the offer of a session. */
enum manner { TAKES, BREAKS_OFF, ALERTS, SAYS_NOTHING, HANGS_UP_LATER };

static struct certs *certs;
static SSL_CTX *ctx, *other_ctx, *expired_ctx;
static struct web *web, *other, *expired, *proxy;
static _Atomic enum manner manner;
static _Atomic unsigned offers;

static void page_last(struct web_conn *c)
{
	c->over = true;
	if (manner == HANGS_UP_LATER && SSL_session_reused(c->tls))
		return;
	web_say(c, "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecure");
	SSL_shutdown(c->tls);
}

/* Answers the first request of a connection only. */
static void page_once(struct web_conn *c)
{
	c->over = c->served > 0;
	if (!c->over)
		web_say(c, "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecure");
}

static const struct web_page pages[] = {{"/once", page_once}, {NULL, page_last}, {NULL, NULL}};

static bool has_extension(SSL *ssl, unsigned type)
{
	const unsigned char *data;
	size_t bytes = 0;
	return SSL_client_hello_get0_ext(ssl, type, &data, &bytes) == 1 && bytes > 0;
}

static int on_hello(SSL *ssl, int *alert, void *arg)
{
	(void)arg;
	if (!has_extension(ssl, TLSEXT_TYPE_psk) && !has_extension(ssl, TLSEXT_TYPE_session_ticket))
		return SSL_CLIENT_HELLO_SUCCESS;
	offers++;
	if (manner == TAKES || manner == HANGS_UP_LATER)
		return SSL_CLIENT_HELLO_SUCCESS;
	struct pollfd fd = {.fd = SSL_get_fd(ssl), .events = POLLIN | POLLRDHUP};
	if (manner == SAYS_NOTHING)
		poll(&fd, 1, 30000); /* until the client goes */
	if (manner == BREAKS_OFF)
		shutdown(fd.fd, SHUT_RDWR);
	*alert = SSL_AD_HANDSHAKE_FAILURE;
	return SSL_CLIENT_HELLO_ERROR;
}

/* A proxy whose tunnels all lead to the server. */
static void relay(struct web_conn *c)
{
	web_tunnel(c, web_port(web));
}

static const struct web_page proxy_pages[] = {{"good.test:443", relay}, {NULL, NULL}};

static struct ing_fetch_settings settings(void)
{
	static char rules[3][64];
	static char *connect_to[] = {rules[0], rules[1], rules[2], NULL};
	snprintf(rules[0], sizeof(rules[0]), "expired.test:443:127.0.0.1:%u", web_port(expired));
	snprintf(rules[1], sizeof(rules[1]), "other.test:443:127.0.0.1:%u", web_port(other));
	snprintf(rules[2], sizeof(rules[2]), ":443:127.0.0.1:%u", web_port(web));
	struct ing_fetch_settings conf = client_settings();
	conf.ca_file = CA_FILE;
	conf.tls_resume = true;
	conf.connect_to = connect_to;
	return conf;
}

static struct ing_fetch_stats stats_of(const struct client *c)
{
	struct ing_fetch_stats stats;
	ing_fetch_stats(c->fetch, &stats);
	return stats;
}

static void start(struct client *c)
{
	struct ing_fetch_settings conf = settings();
	client_start(c, &conf);
	manner = TAKES;
	offers = 0;
}

static void get(struct client *c, const char *url, bool fallback, enum ing_status want)
{
	struct got got = {0};
	ing_fetch_start(c->fetch, &(struct ing_fetch_request){.url = url, .tls_fallback = fallback},
		client_done, &got);
	client_wait(c, &got);
	assert_outcome(got.ex, want);
	assert_int_equal(got.ex->unverified, fallback);
	ing_exchange_unref(got.ex);
}

static void good(struct client *c)
{
	get(c, "https://good.test/", false, ING_STATUS_SUCCESS);
}

static void use_version(int version)
{
	SSL_CTX_set_min_proto_version(ctx, version);
	SSL_CTX_set_max_proto_version(ctx, version);
}

static const int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};

/* ---- tests ---- */

static void connections_resume(void **state)
{
	(void)state;
	for (size_t v = 0; v < ING_ARRAY_LEN(versions); v++) {
		struct client c;
		use_version(versions[v]);
		start(&c);
		unsigned before = web_connections(web);
		for (int i = 0; i < 5; i++)
			good(&c);
		assert_int_equal(web_connections(web) - before, 5);
		assert_int_equal(stats_of(&c).tls_handshakes, 5);
		assert_int_equal(stats_of(&c).tls_resumed, 4);
		assert_true(stats_of(&c).tls_session_bytes > 0);
		client_stop(&c);
	}
}

static void answer_after_many_tickets(void **state)
{
	(void)state;
	struct client c;
	use_version(TLS1_3_VERSION);
	SSL_CTX_set_num_tickets(ctx, 1000);
	start(&c);
	for (int i = 0; i < 3; i++)
		good(&c);
	assert_int_equal(stats_of(&c).tls_resumed, 2);
	SSL_CTX_set_num_tickets(ctx, 2);
	client_stop(&c);
}

static void not_when_switched_off(void **state)
{
	(void)state;
	struct client c;
	struct ing_fetch_settings conf = settings();
	conf.tls_resume = false;
	offers = 0;
	client_start(&c, &conf);
	for (int i = 0; i < 3; i++)
		good(&c);
	assert_int_equal(offers, 0);
	assert_int_equal(stats_of(&c).tls_handshakes, 3);
	assert_int_equal(stats_of(&c).tls_resumed, 0);
	assert_int_equal(stats_of(&c).tls_session_bytes, 0);
	client_stop(&c);
}

/* The transfer ends well, its host is not blamed, and the session is not offered again. */
static void servers_that_do_not_bear_sessions(void **state)
{
	(void)state;
	static const enum manner cases[] = {BREAKS_OFF, ALERTS, SAYS_NOTHING};
	for (size_t v = 0; v < ING_ARRAY_LEN(versions); v++) {
		for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
			struct client c;
			use_version(versions[v]);
			start(&c);
			good(&c);
			manner = cases[i];
			unsigned before = web_connections(web);
			good(&c);
			assert_int_equal(web_connections(web) - before, 2);
			assert_int_equal(offers, 1);
			good(&c);
			good(&c);
			assert_int_equal(web_connections(web) - before, 4);
			assert_int_equal(offers, 1);
			assert_int_equal(stats_of(&c).exchanges, 4);
			assert_int_equal(stats_of(&c).tls_resumed, 0);
			client_stop(&c);
		}
	}
}

/* The request was sent, so that it is not repeated here; but the next try goes without a session. */
static void hanging_up_on_resumed_connections(void **state)
{
	(void)state;
	for (size_t v = 0; v < ING_ARRAY_LEN(versions); v++) {
		struct client c;
		use_version(versions[v]);
		start(&c);
		good(&c);
		manner = HANGS_UP_LATER;
		struct ing_exchange *ex = client_get(&c, "https://good.test/");
		assert_outcome(ex, ING_STATUS_READ_ERROR);
		assert_true(ex->transient);
		ing_exchange_unref(ex);
		good(&c);
		assert_int_equal(offers, 1);
		client_stop(&c);
	}
}

/* The request was sent over a kept connection that was dead; the server breaks the new one off. */
static void broken_off_after_a_kept_connection(void **state)
{
	(void)state;
	struct client c;
	use_version(TLS1_3_VERSION);
	start(&c);
	get(&c, "https://good.test/once", false, ING_STATUS_SUCCESS);
	manner = BREAKS_OFF;
	unsigned before = web_connections(web);
	get(&c, "https://good.test/once", false, ING_STATUS_SUCCESS);
	assert_int_equal(web_connections(web) - before, 2);
	assert_int_equal(offers, 1);
	client_stop(&c);
}

static void trust_is_not_shared(void **state)
{
	(void)state;
	for (size_t v = 0; v < ING_ARRAY_LEN(versions); v++) {
		struct client c;
		use_version(versions[v]);
		start(&c);
		for (int i = 0; i < 3; i++) {
			get(&c, "https://wrong.test/", true, ING_STATUS_SUCCESS);
			get(&c, "https://wrong.test/", false, ING_STATUS_TLS_ERROR);
		}
		/* each get but the first with fallback has resumed the unverified session */
		assert_int_equal(stats_of(&c).tls_resumed, 2);
		assert_int_equal(offers, 2);
		client_stop(&c);
	}
}

/* Another certificate comes with a full handshake, and is verified. */
static void another_certificate_is_verified(void **state)
{
	(void)state;
	struct client c;
	use_version(TLS1_3_VERSION);
	start(&c);
	get(&c, "https://other.test/", false, ING_STATUS_SUCCESS);
	get(&c, "https://other.test/", false, ING_STATUS_SUCCESS);
	assert_int_equal(stats_of(&c).tls_resumed, 1);
	unsigned char keys[80] = {1};
	ing_must(SSL_CTX_use_cert_and_key(other_ctx, SSL_CTX_get0_certificate(expired_ctx),
			 SSL_CTX_get0_privatekey(expired_ctx), NULL, 1) == 1);
	get(&c, "https://other.test/", false, ING_STATUS_SUCCESS); /* the server still takes it */
	assert_int_equal(stats_of(&c).tls_resumed, 2);
	ing_must(SSL_CTX_set_tlsext_ticket_keys(other_ctx, keys, sizeof(keys)) == 1);
	get(&c, "https://other.test/", false, ING_STATUS_TLS_ERROR);
	get(&c, "https://other.test/", true, ING_STATUS_SUCCESS);
	assert_int_equal(stats_of(&c).tls_resumed, 2);
	client_stop(&c);
}

static void tunnels_resume(void **state)
{
	(void)state;
	char url[64];
	struct client c;
	struct ing_fetch_settings conf = settings();
	snprintf(url, sizeof(url), "http://127.0.0.1:%u", web_port(proxy));
	conf.proxy = url;
	conf.connect_to = NULL;
	use_version(TLS1_3_VERSION);
	manner = TAKES;
	client_start(&c, &conf);
	for (int i = 0; i < 3; i++)
		good(&c);
	assert_int_equal(stats_of(&c).tls_handshakes, 3);
	assert_int_equal(stats_of(&c).tls_resumed, 2);
	client_stop(&c);
}

static int start_all(void **state)
{
	(void)state;
	certs = certs_new(CA_FILE);
	ctx = certs_server(certs, "good.test", -3600, YEAR_S);
	SSL_CTX_set_client_hello_cb(ctx, on_hello, NULL);
	other_ctx = certs_server(certs, "other.test", -3600, YEAR_S);
	expired_ctx = certs_server(certs, "expired.test", -YEAR_S, -3600);
	web = web_start(pages, ctx);
	other = web_start(pages, other_ctx);
	expired = web_start(pages, expired_ctx);
	proxy = web_start(proxy_pages, NULL);
	return 0;
}

static int stop_all(void **state)
{
	(void)state;
	web_stop(proxy);
	web_stop(expired);
	web_stop(other);
	web_stop(web);
	SSL_CTX_free(ctx);
	SSL_CTX_free(other_ctx);
	SSL_CTX_free(expired_ctx);
	certs_free(certs);
	unlink(CA_FILE);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(connections_resume),
		cmocka_unit_test(answer_after_many_tickets),
		cmocka_unit_test(not_when_switched_off),
		cmocka_unit_test(servers_that_do_not_bear_sessions),
		cmocka_unit_test(hanging_up_on_resumed_connections),
		cmocka_unit_test(broken_off_after_a_kept_connection),
		cmocka_unit_test(trust_is_not_shared),
		cmocka_unit_test(another_certificate_is_verified),
		cmocka_unit_test(tunnels_resume),
	};
	return cmocka_run_group_tests(tests, start_all, stop_all);
}
