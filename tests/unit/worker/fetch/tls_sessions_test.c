/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is kept of TLS sessions, for whom and for how long. Both ends of each connection are OpenSSL's in
 * this process, joined in memory; our clock is the test's, OpenSSL's is not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* cmocka wants the first two above */
#include <cmocka.h>
#include "certs.h"
#include "common/base/clock.h"
#include "worker/fetch/tls_sessions.h"
#include "worker/model/metrics.h"

#define CA_FILE "tls-sessions-test-ca.pem"
#define MAX_BYTES ((size_t)2 << 20)
#define HOUR_S 3600L
#define DAY_S (24 * HOUR_S)
#define YEAR_S (365 * DAY_S)
#define NAME "good.test"

static struct certs *certs;
static int64_t ahead_s; /* of our clocks */

uint64_t __real_ing_now_ms(void);
uint64_t __wrap_ing_now_ms(void);
struct timespec __real_ing_wall_now(void);
struct timespec __wrap_ing_wall_now(void);

uint64_t __wrap_ing_now_ms(void)
{
	return __real_ing_now_ms() + (uint64_t)ahead_s * 1000;
}

struct timespec __wrap_ing_wall_now(void)
{
	struct timespec t = __real_ing_wall_now();
	t.tv_sec += ahead_s;
	return t;
}

static bool hint_is_zero;

unsigned long __real_SSL_SESSION_get_ticket_lifetime_hint(const SSL_SESSION *session);
unsigned long __wrap_SSL_SESSION_get_ticket_lifetime_hint(const SSL_SESSION *session);

unsigned long __wrap_SSL_SESSION_get_ticket_lifetime_hint(const SSL_SESSION *session)
{
	return hint_is_zero ? 0 : __real_SSL_SESSION_get_ticket_lifetime_hint(session);
}

static const struct ing_tls_key good = {.host = NAME, .port = 443};

static struct ing_tls_sessions *begin(void)
{
	ahead_s = 0;
	hint_is_zero = false;
	return ing_tls_sessions_new(true, MAX_BYTES, CA_FILE);
}

static struct ing_fetch_stats stats_of(const struct ing_tls_sessions *s)
{
	struct ing_fetch_stats stats = {0};
	ing_tls_sessions_count(s, &stats);
	return stats;
}

/* As curl makes it. */
static SSL_CTX *client_context(bool verified)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
	assert_non_null(ctx);
	SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET);
	SSL_CTX_set_verify(ctx, verified ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, NULL);
	assert_int_equal(SSL_CTX_load_verify_locations(ctx, CA_FILE, NULL), 1);
	return ctx;
}

struct ends {
	SSL *client, *server;
	bool offered;
};

static struct ends open_ends(
	struct ing_tls_sessions *s, const struct ing_tls_key *key, SSL_CTX *server)
{
	struct ends e;
	BIO *a;
	BIO *b;
	SSL_CTX *ctx = client_context(!key->unverified);
	e.offered = ing_tls_sessions_attach(s, ctx, key);
	e.client = SSL_new(ctx);
	e.server = SSL_new(server);
	SSL_CTX_free(ctx); /* the SSL has it */
	assert_int_equal(BIO_new_bio_pair(&a, 1 << 24, &b, 1 << 24), 1);
	SSL_set_bio(e.client, a, a);
	SSL_set_bio(e.server, b, b);
	SSL_set_tlsext_host_name(e.client, NAME);
	SSL_set_connect_state(e.client);
	SSL_set_accept_state(e.server);
	return e;
}

/* Both ends take turns until the handshake is over, and the client has read what came after it. */
static bool shake(const struct ends *e)
{
	char byte;
	for (int i = 0; i < 10; i++) {
		SSL_do_handshake(e->client);
		SSL_do_handshake(e->server);
	}
	bool done = SSL_is_init_finished(e->client) && SSL_is_init_finished(e->server);
	while (done && BIO_pending(SSL_get_rbio(e->client)) > 0)
		SSL_read(e->client, &byte, 1);
	return done;
}

static void close_ends(const struct ends *e)
{
	SSL_shutdown(e->client);
	SSL_shutdown(e->server); /* else it forgets the session */
	SSL_free(e->client);
	SSL_free(e->server);
}

/* One connection. Returns whether it resumed a session. */
static bool connect_as(struct ing_tls_sessions *s, const struct ing_tls_key *key, SSL_CTX *server)
{
	struct ends e = open_ends(s, key, server);
	uint64_t before = stats_of(s).tls_resumed;
	if (!shake(&e)) {
		ERR_print_errors_fp(stderr);
		fail_msg("no handshake");
	}
	bool resumed = SSL_session_reused(e.client) != 0;
	assert_int_equal(stats_of(s).tls_resumed - before, resumed);
	if (resumed)
		assert_true(e.offered);
	close_ends(&e);
	return resumed;
}

static SSL_CTX *server_of(int version, long to_s)
{
	SSL_CTX *ctx = certs_server(certs, NAME, -HOUR_S, to_s);
	SSL_CTX_set_session_id_context(ctx, (const unsigned char *)"t", 1);
	SSL_CTX_set_min_proto_version(ctx, version);
	SSL_CTX_set_max_proto_version(ctx, version);
	SSL_CTX_set_timeout(ctx, DAY_S);
	return ctx;
}

/* ---- servers ---- */

static void no_tickets(SSL_CTX *ctx)
{
	SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET);
}

static void nothing_kept(SSL_CTX *ctx)
{
	no_tickets(ctx);
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_num_tickets(ctx, 0);
}

/* OpenSSL's server does not send such ones. */
static void no_life(SSL_CTX *ctx)
{
	(void)ctx;
	hint_is_zero = true;
}

static void short_life(SSL_CTX *ctx)
{
	SSL_CTX_set_timeout(ctx, 600);
}

static void long_life(SSL_CTX *ctx)
{
	SSL_CTX_set_timeout(ctx, 30 * DAY_S);
}

static void ten_thousand_tickets(SSL_CTX *ctx)
{
	SSL_CTX_set_num_tickets(ctx, 10000);
}

static size_t data_in_ticket;

static int fill_ticket(SSL *ssl, void *arg)
{
	char *data = calloc(1, data_in_ticket);
	(void)arg;
	int rc = SSL_SESSION_set1_ticket_appdata(SSL_get_session(ssl), data, data_in_ticket);
	free(data);
	return rc;
}

static SSL_TICKET_RETURN take_ticket(SSL *ssl, SSL_SESSION *session, const unsigned char *name,
	size_t bytes, SSL_TICKET_STATUS status, void *arg)
{
	(void)ssl;
	(void)session;
	(void)name;
	(void)bytes;
	(void)arg;
	return status == SSL_TICKET_SUCCESS || status == SSL_TICKET_SUCCESS_RENEW
		       ? SSL_TICKET_RETURN_USE
		       : SSL_TICKET_RETURN_IGNORE;
}

static void fat_tickets(SSL_CTX *ctx)
{
	data_in_ticket = 3000;
	SSL_CTX_set_session_ticket_cb(ctx, fill_ticket, take_ticket, NULL);
}

static void huge_tickets(SSL_CTX *ctx)
{
	data_in_ticket = 16000;
	SSL_CTX_set_session_ticket_cb(ctx, fill_ticket, take_ticket, NULL);
}

static void add_certificates(SSL_CTX *ctx, int count)
{
	SSL_CTX_set_max_cert_list(ctx, 1 << 20);
	for (int i = 0; i < count; i++)
		assert_int_equal(SSL_CTX_add1_chain_cert(ctx, SSL_CTX_get0_certificate(ctx)), 1);
}

static void ten_certificates(SSL_CTX *ctx)
{
	add_certificates(ctx, 10);
}

static void hundred_certificates(SSL_CTX *ctx)
{
	add_certificates(ctx, 100);
}

/* ---- tests ---- */

/* A connection with the first key, time goes by, one with the second. */
static void what_is_resumed(void **state)
{
	(void)state;
	/* clang-format off */
	static const struct {
		const char *name;
		int only; /* version of TLS, or 0: each */
		void (*set_up)(SSL_CTX *ctx);
		struct ing_tls_key first, second;
		long later_s;
		bool want;
		long ends_s; /* of the certificate; 0: in a year */
	} cases[] = {
		{.name = "same", .first = good, .second = good, .want = true},
		{.name = "by number instead of ticket", .set_up = no_tickets, .first = good, .second = good, .want = true},
		{.name = "nothing offered by the server", .set_up = nothing_kept, .first = good, .second = good},
		{.name = "other host", .first = good, .second = {.host = "a.good.test", .port = 443}},
		{.name = "other port", .first = good, .second = {.host = NAME, .port = 8443}},
		{.name = "through a proxy", .first = good, .second = {.host = NAME, .port = 443, .via_proxy = true}},
		{.name = "unverified for verified", .first = {.host = NAME, .port = 443, .unverified = true}, .second = good},
		{.name = "verified for unverified", .first = good, .second = {.host = NAME, .port = 443, .unverified = true}},
		{.name = "unverified twice", .first = {.host = NAME, .port = 443, .unverified = true},
			.second = {.host = NAME, .port = 443, .unverified = true}, .want = true},
		{.name = "name beyond DNS", .first = {.host = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
			"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
			"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"},
			.second = {.host = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
			"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
			"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac"}},
		{.name = "lifetime of nothing", .only = TLS1_3_VERSION, .set_up = no_life, .first = good, .second = good},
		{.name = "within a lifetime that is left open", .only = TLS1_2_VERSION, .set_up = no_life, .first = good,
			.second = good, .later_s = 2 * HOUR_S - 60, .want = true},
		{.name = "after a lifetime that is left open", .only = TLS1_2_VERSION, .set_up = no_life, .first = good,
			.second = good, .later_s = 2 * HOUR_S + 60},
		{.name = "within its lifetime", .set_up = short_life, .first = good, .second = good, .later_s = 590, .want = true},
		{.name = "after its lifetime", .set_up = short_life, .first = good, .second = good, .later_s = 610},
		{.name = "within a day", .set_up = long_life, .first = good, .second = good, .later_s = DAY_S - 60, .want = true},
		{.name = "after a day", .set_up = long_life, .first = good, .second = good, .later_s = DAY_S + 60},
		{.name = "before the certificate ends", .first = good, .second = good, .later_s = HOUR_S - 60, .want = true, .ends_s = HOUR_S},
		{.name = "after the certificate ended", .first = good, .second = good, .later_s = HOUR_S + 60, .ends_s = HOUR_S},
		{.name = "after an end that nobody looked at", .first = {.host = NAME, .port = 443, .unverified = true},
			.second = {.host = NAME, .port = 443, .unverified = true}, .later_s = HOUR_S + 60, .want = true, .ends_s = HOUR_S},
		{.name = "fat tickets", .only = TLS1_3_VERSION, .set_up = fat_tickets, .first = good, .second = good, .want = true},
		{.name = "huge tickets", .only = TLS1_3_VERSION, .set_up = huge_tickets, .first = good, .second = good},
		{.name = "ten certificates", .set_up = ten_certificates, .first = good, .second = good, .want = true},
		{.name = "a hundred certificates", .set_up = hundred_certificates, .first = good, .second = good},
		{.name = "ten thousand tickets", .only = TLS1_3_VERSION, .set_up = ten_thousand_tickets, .first = good, .second = good,
			.want = true},
	};
	/* clang-format on */
	static const int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};
	for (size_t v = 0; v < ING_ARRAY_LEN(versions); v++) {
		for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
			if (cases[i].only != 0 && cases[i].only != versions[v])
				continue;
			SSL_CTX *server = server_of(
				versions[v], cases[i].ends_s != 0 ? cases[i].ends_s : YEAR_S);
			struct ing_tls_sessions *s = begin();
			if (cases[i].set_up != NULL)
				cases[i].set_up(server);
			assert_false(connect_as(s, &cases[i].first, server));
			assert_in_range(
				stats_of(s).tls_session_bytes, 0, ING_TLS_SESSIONS_HOST_BYTES);
			ahead_s += cases[i].later_s;
			bool have = ing_tls_sessions_have(s, &cases[i].second);
			if (have != cases[i].want ||
				connect_as(s, &cases[i].second, server) != cases[i].want)
				fail_msg("%s, TLS %x: have %d, want %d", cases[i].name,
					(unsigned)versions[v], have, cases[i].want);
			assert_int_equal(stats_of(s).tls_handshakes, 2);
			ing_tls_sessions_free(s);
			SSL_CTX_free(server);
		}
	}
}

static void nothing_is_kept_when_not_wanted(void **state)
{
	(void)state;
	SSL_CTX *server = server_of(TLS1_3_VERSION, YEAR_S);
	struct ing_tls_sessions *s = ing_tls_sessions_new(false, MAX_BYTES, CA_FILE);
	assert_false(connect_as(s, &good, server));
	assert_false(connect_as(s, &good, server));
	assert_int_equal(stats_of(s).tls_handshakes, 2);
	assert_int_equal(stats_of(s).tls_session_bytes, 0);
	ing_tls_sessions_free(s);
	SSL_CTX_free(server);
}

/* Sessions that follow from sessions do not make a chain of certificates verified a day ago newer. */
static void resuming_does_not_renew_trust(void **state)
{
	(void)state;
	static const int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};
	for (size_t v = 0; v < ING_ARRAY_LEN(versions); v++) {
		SSL_CTX *server = server_of(versions[v], YEAR_S);
		struct ing_tls_sessions *s = begin();
		assert_false(connect_as(s, &good, server));
		for (int i = 0; i < 23; i++) {
			ahead_s += HOUR_S;
			assert_true(connect_as(s, &good, server));
		}
		ahead_s += HOUR_S;
		assert_false(connect_as(s, &good, server));
		ahead_s += HOUR_S;
		assert_true(connect_as(s, &good, server));
		ing_tls_sessions_free(s);
		SSL_CTX_free(server);
	}
}

/* A server that does not take the session makes a full handshake, which starts a new day. */
static void refused_session_is_replaced(void **state)
{
	(void)state;
	static const int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};
	for (size_t v = 0; v < ING_ARRAY_LEN(versions); v++) {
		SSL_CTX *server = server_of(versions[v], YEAR_S);
		SSL_CTX *other = server_of(versions[v], YEAR_S);
		struct ing_tls_sessions *s = begin();
		assert_false(connect_as(s, &good, server));
		ahead_s += 20 * HOUR_S;
		struct ends e = open_ends(s, &good, other);
		assert_true(e.offered && shake(&e));
		assert_false(SSL_session_reused(e.client));
		close_ends(&e);
		ahead_s += 20 * HOUR_S;
		assert_true(connect_as(s, &good, other));
		ing_tls_sessions_free(s);
		SSL_CTX_free(other);
		SSL_CTX_free(server);
	}
}

/* RFC 8446 C.4. A session of TLS 1.2 serves any number. */
static void tickets_of_13_are_used_once(void **state)
{
	(void)state;
	static const struct {
		int version;
		size_t tickets, want;
	} cases[] = {{TLS1_2_VERSION, 1, 6}, {TLS1_3_VERSION, 1, 1}, {TLS1_3_VERSION, 2, 2},
		{TLS1_3_VERSION, 10, 4}};
	for (size_t v = 0; v < ING_ARRAY_LEN(cases); v++) {
		SSL_CTX *server = server_of(cases[v].version, YEAR_S);
		SSL_CTX_set_num_tickets(server, cases[v].tickets);
		struct ing_tls_sessions *s = begin();
		struct ends ends[6];
		assert_false(connect_as(s, &good, server));
		for (size_t i = 0; i < ING_ARRAY_LEN(ends); i++) {
			ends[i] = open_ends(s, &good, server);
			assert_int_equal(ends[i].offered, i < cases[v].want);
		}
		for (size_t i = 0; i < ING_ARRAY_LEN(ends); i++) {
			assert_true(shake(&ends[i]));
			assert_int_equal(SSL_session_reused(ends[i].client), i < cases[v].want);
			close_ends(&ends[i]);
		}
		ing_tls_sessions_free(s);
		SSL_CTX_free(server);
	}
}

/* One read takes what a server usually sends; not ten thousand, however many have come. */
static void tickets_do_not_hold_the_loop(void **state)
{
	(void)state;
	static const struct {
		size_t tickets;
		bool keep, at_once;
	} cases[] = {
		{2, true, true}, {20, true, true}, {10000, true, false}, {10000, false, false}};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		SSL_CTX *server = server_of(TLS1_3_VERSION, YEAR_S);
		SSL_CTX_set_num_tickets(server, cases[i].tickets);
		struct ing_tls_sessions *s =
			ing_tls_sessions_new(cases[i].keep, MAX_BYTES, CA_FILE);
		struct ends e = open_ends(s, &good, server);
		char byte = 0;
		while (SSL_do_handshake(e.client) != 1 || SSL_do_handshake(e.server) != 1)
			SSL_do_handshake(e.server);
		assert_int_equal(SSL_write(e.server, "a", 1), 1);
		size_t reads = 1;
		for (; SSL_read(e.client, &byte, 1) != 1; reads++)
			assert_true(reads <= cases[i].tickets);
		assert_int_equal(byte, 'a');
		if ((reads == 1) != cases[i].at_once)
			fail_msg("%zu tickets took %zu reads", cases[i].tickets, reads);
		close_ends(&e);
		ing_tls_sessions_free(s);
		SSL_CTX_free(server);
	}
}

static void nothing_is_kept_after_a_failure(void **state)
{
	(void)state;
	SSL_CTX *server = server_of(TLS1_3_VERSION, YEAR_S);
	struct ing_tls_sessions *s = begin();
	assert_false(connect_as(s, &good, server));
	ing_tls_sessions_failed(s, &good);
	for (int i = 0; i < 3; i++)
		assert_false(connect_as(s, &good, server));
	ahead_s += HOUR_S;
	assert_false(connect_as(s, &good, server));
	assert_true(connect_as(s, &good, server));
	ing_tls_sessions_free(s);
	SSL_CTX_free(server);
}

/* curl may hold a store of the old file for an hour. */
static void changed_ca_file_ends_trust(void **state)
{
	(void)state;
	static const struct ing_tls_key unverified = {
		.host = NAME, .port = 443, .unverified = true};
	SSL_CTX *server = server_of(TLS1_3_VERSION, YEAR_S);
	struct ing_tls_sessions *s = begin();
	assert_false(connect_as(s, &good, server));
	assert_false(connect_as(s, &unverified, server));
	ahead_s += 120;
	assert_true(connect_as(s, &good, server)); /* looked at again, and the same */
	FILE *f = fopen(CA_FILE, "a");
	assert_non_null(f);
	fputs("# another\n", f);
	fclose(f);
	ahead_s += 120;
	assert_false(connect_as(s, &good, server));
	assert_true(connect_as(s, &unverified, server));
	ahead_s += 1800;
	assert_false(connect_as(s, &good, server));
	ahead_s += 1800;
	assert_false(connect_as(s, &good, server));
	assert_true(connect_as(s, &good, server));
	ing_tls_sessions_free(s);
	SSL_CTX_free(server);
}

/* The transfer's handle is gone, or serves another host, when the ticket comes. */
static void tickets_come_after_the_handshake(void **state)
{
	(void)state;
	char byte;
	SSL_CTX *server = server_of(TLS1_3_VERSION, YEAR_S);
	SSL_CTX_set_num_tickets(server, 0);
	struct ing_tls_sessions *s = begin();
	struct ends e = open_ends(s, &good, server);
	assert_true(shake(&e));
	assert_false(ing_tls_sessions_have(s, &good));
	assert_int_equal(SSL_new_session_ticket(e.server), 1);
	assert_int_equal(SSL_write(e.server, "a", 1), 1);
	assert_int_equal(SSL_read(e.client, &byte, 1), 1);
	assert_true(ing_tls_sessions_have(s, &good));
	assert_int_equal(stats_of(s).tls_handshakes, 1);
	close_ends(&e);
	ing_tls_sessions_free(s);
	SSL_CTX_free(server);
}

/* Only what the table can hold; the host used last is still there. */
static void memory_is_bounded(void **state)
{
	(void)state;
	char name[32];
	SSL_CTX *server = server_of(TLS1_2_VERSION, YEAR_S);
	add_certificates(server, 20);
	struct ing_tls_sessions *s = begin();
	struct ing_tls_key first = {.host = "first.test", .port = 443};
	struct ing_tls_key second = {.host = "second.test", .port = 443};
	assert_false(connect_as(s, &first, server));
	size_t each = stats_of(s).tls_session_bytes;
	size_t hosts = MAX_BYTES / each;
	assert_in_range(each, ING_TLS_SESSIONS_HOST_BYTES / 2, ING_TLS_SESSIONS_HOST_BYTES);
	assert_false(connect_as(s, &second, server));
	for (size_t i = 2; i < hosts + 1; i++) {
		snprintf(name, sizeof(name), "h%zu.test", i);
		if (i == hosts - 2)
			assert_true(ing_tls_sessions_have(s, &first)); /* a use */
		assert_false(
			connect_as(s, &(struct ing_tls_key){.host = name, .port = 443}, server));
		assert_in_range(stats_of(s).tls_session_bytes, each, MAX_BYTES);
	}
	assert_true(ing_tls_sessions_have(s, &first));
	assert_false(ing_tls_sessions_have(s, &second));
	assert_true(connect_as(s, &(struct ing_tls_key){.host = name, .port = 443}, server));
	ing_tls_sessions_free(s);
	SSL_CTX_free(server);
}

static int make_certs(void **state)
{
	(void)state;
	certs = certs_new(CA_FILE);
	return 0;
}

static int drop_certs(void **state)
{
	(void)state;
	certs_free(certs);
	unlink(CA_FILE);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_resumed),
		cmocka_unit_test(nothing_is_kept_when_not_wanted),
		cmocka_unit_test(resuming_does_not_renew_trust),
		cmocka_unit_test(refused_session_is_replaced),
		cmocka_unit_test(tickets_of_13_are_used_once),
		cmocka_unit_test(tickets_do_not_hold_the_loop),
		cmocka_unit_test(nothing_is_kept_after_a_failure),
		cmocka_unit_test(changed_ca_file_ends_trust),
		cmocka_unit_test(tickets_come_after_the_handshake),
		cmocka_unit_test(memory_is_bounded),
	};
	return cmocka_run_group_tests(tests, make_certs, drop_certs);
}
