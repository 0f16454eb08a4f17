/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Client sessions of OpenSSL, by host. libcurl's own cache is not used: it is a list that is walked, of a
 * few sessions, and one of them for a host, although a ticket of TLS 1.3 is to be used once (RFC 8446
 * C.4).
 *
 * curl makes an SSL_CTX for each connection and shows it to us before the handshake. What is known of the
 * connection (struct conn) hangs on it and is freed with it: sessions arrive while later transfers run
 * on the connection, or while it is closed, so nothing here points to a transfer. OpenSSL's callbacks:
 *   info         sets the session to be offered at the start of the handshake, when there is an SSL;
 *                counts at its end. In TLS 1.3 messages after the handshake may look like further ones.
 *   new session  one has arrived: within the handshake in TLS 1.2 (before curl has compared the name in
 *                the certificate, see ing_tls_sessions_failed()), after it in TLS 1.3.
 *
 * All sessions of a host hang on the same parsed certificates; sessions with others replace them. So the
 * certificates, most of the memory, are counted once.
 */
#include "worker/fetch/tls_sessions.h"

#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <curl/curl.h>
#include "common/base/clock.h"
#include "common/base/hash.h"
#include "worker/model/metrics.h"

#define CACHE_MAGIC 0x544c5343u
#define CONN_MAGIC 0x544c534eu
#define DAY_MS ((uint64_t)24 * 3600 * 1000)
#define NO_END INT64_MAX
/* Tickets of TLS 1.3 kept of a host: OpenSSL's servers send two, and one after each resumption. */
#define HOST_SESSIONS 4
/* A ticket is sent back in the first message. Those of common servers have 160 to 2,000 bytes. */
#define MAX_TICKET_BYTES ((size_t)4096)
/* Of one connection; after so many each turn of the loop reads one. */
#define MANY_TICKETS 32
/* TLS 1.2 may leave it open how long (RFC 5077 3.3): OpenSSL's own default. */
#define UNSAID_MS ((uint64_t)2 * 3600 * 1000)
/* Nothing is kept of a host for so long after a connection that offered a session has failed. */
#define FAILED_MS ((uint64_t)3600 * 1000)
#define CA_CHECK_MS ((uint64_t)60 * 1000)
/* Measured with OpenSSL 3.0, so that no less is counted than is used: certificates of 400 bytes take 4.4 KB,
 * of 1,100 bytes 6 KB. */
#define CERT_BYTES 3600
#define CERT_FACTOR 3      /* of its length, beside that */
#define SESSION_BYTES 1200 /* an SSL_SESSION without ticket and certificates */
#define HOST_BYTES 1024    /* of the first, and of the table */
#define MAX_KEY_BYTES 300

/* Since when a chain of certificates is believed, and until when. */
struct trust {
	uint64_t since_ms;
	int64_t end_s; /* wall clock: the first certificate that ends, or NO_END */
};

struct session {
	SSL_SESSION *ssl;
	struct trust trust;
	uint64_t until_ms;
	size_t bytes; /* without certificates */
};

struct host {
	UT_hash_handle hh;                      /* in the order of use */
	struct session sessions[HOST_SESSIONS]; /* oldest first */
	unsigned count;
	size_t cert_bytes; /* of those that all sessions share */
	uint64_t failed_until_ms;
	char key[];
};

struct ing_tls_sessions {
	unsigned magic;
	bool keep, usable; /* usable: curl's connections are OpenSSL's */
	struct host *hosts;
	size_t bytes, max_bytes;
	uint64_t handshakes, resumed;
	const char *ca_file;
	struct stat ca_stat;
	uint64_t ca_checked_ms;
	uint64_t ca_trusted_from_ms; /* chains verified before may rest on an older CA file */
};

/* One connection, on its SSL_CTX. */
struct conn {
	unsigned magic;
	struct ing_tls_sessions *cache;
	SSL_SESSION *offered; /* until the handshake is over; or NULL */
	struct trust trust; /* of `offered`; of this connection once its handshake was a full one */
	uint64_t born_ms;
	bool keep, started, ended, verified;
	unsigned seen; /* sessions, whether they were kept or not */
	char key[];
};

static int conn_index = -1; /* of ex_data */

static void free_conn(
	void *parent, void *ptr, CRYPTO_EX_DATA *data, int index, long argl, void *argp)
{
	struct conn *c = ptr;
	(void)parent;
	(void)data;
	(void)index;
	(void)argl;
	(void)argp;
	if (c == NULL)
		return;
	SSL_SESSION_free(c->offered);
	c->magic = 0;
	free(c);
}

static void make_index(void)
{
	conn_index = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, free_conn);
	ing_must(conn_index >= 0);
}

static struct conn *conn_of(const SSL *ssl)
{
	struct conn *c;
	ING_CAST_OBJ(c, SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), conn_index), CONN_MAGIC);
	return c;
}

/* Returns false when the name is too long to be one of DNS: nothing is kept of it. */
static bool write_key(char ret[MAX_KEY_BYTES], const struct ing_tls_key *key)
{
	int len = snprintf(ret, MAX_KEY_BYTES, "%c%c%u %s", key->unverified ? 'u' : 'v',
		key->via_proxy ? 'p' : 'd', key->port, key->host);
	return len < MAX_KEY_BYTES;
}

/* ---- hosts ---- */

static size_t host_bytes(const struct host *h)
{
	size_t bytes = HOST_BYTES + sizeof(*h) + strlen(h->key) + 1 + h->cert_bytes;
	for (unsigned i = 0; i < h->count; i++)
		bytes += h->sessions[i].bytes;
	return bytes;
}

/* Takes the session at `at` out; its reference goes to the caller. */
static struct session take_session(struct host *h, unsigned at)
{
	struct session session = h->sessions[at];
	h->count--;
	memmove(&h->sessions[at], &h->sessions[at + 1], (h->count - at) * sizeof(session));
	if (h->count == 0)
		h->cert_bytes = 0;
	return session;
}

static void drop_session(struct host *h, unsigned at)
{
	SSL_SESSION_free(take_session(h, at).ssl);
}

static void drop_sessions(struct host *h)
{
	while (h->count > 0)
		drop_session(h, h->count - 1);
}

/* Takes the host out of the table, to be changed; or NULL. */
static struct host *take_host(struct ing_tls_sessions *s, const char *key)
{
	struct host *h;
	HASH_FIND_STR(s->hosts, key, h);
	if (h == NULL)
		return NULL;
	HASH_DEL(s->hosts, h);
	s->bytes -= host_bytes(h);
	return h;
}

static struct host *take_or_make_host(struct ing_tls_sessions *s, const char *key)
{
	struct host *h = take_host(s, key);
	if (h == NULL) {
		h = ing_alloc(sizeof(*h) + strlen(key) + 1);
		memcpy(h->key, key, strlen(key) + 1);
	}
	return h;
}

static void free_host(struct host *h)
{
	drop_sessions(h);
	free(h);
}

/* As the one used last; others make room. */
static void put_host(struct ing_tls_sessions *s, struct host *h)
{
	if (h->count == 0 && h->failed_until_ms == 0) {
		free_host(h);
		return;
	}
	HASH_ADD_STR(s->hosts, key, h);
	s->bytes += host_bytes(h);
	while (s->bytes > s->max_bytes)
		free_host(take_host(s, s->hosts->key));
}

/* ---- how long ---- */

/* The CA file has another state than when it was looked at last. curl may go on with its old store for
 * ING_CA_STORE_AGE_S. */
static void check_ca_file(struct ing_tls_sessions *s, uint64_t now_ms)
{
	struct stat st;
	if (s->ca_checked_ms != 0 && now_ms - s->ca_checked_ms < CA_CHECK_MS)
		return;
	if (stat(s->ca_file, &st) != 0)
		memset(&st, 0, sizeof(st));
	bool same = st.st_dev == s->ca_stat.st_dev && st.st_ino == s->ca_stat.st_ino &&
		    st.st_size == s->ca_stat.st_size &&
		    st.st_mtim.tv_sec == s->ca_stat.st_mtim.tv_sec &&
		    st.st_mtim.tv_nsec == s->ca_stat.st_mtim.tv_nsec;
	if (s->ca_checked_ms != 0 && !same)
		s->ca_trusted_from_ms = now_ms + ING_CA_STORE_AGE_S * 1000;
	s->ca_stat = st;
	s->ca_checked_ms = now_ms;
}

static bool is_usable(
	const struct ing_tls_sessions *s, const struct session *session, uint64_t now_ms)
{
	const struct trust *trust = &session->trust;
	if (now_ms >= session->until_ms || now_ms - trust->since_ms >= DAY_MS ||
		!SSL_SESSION_is_resumable(session->ssl)) /* OpenSSL has found fault with it */
		return false;
	/* no end: not verified */
	return trust->end_s == NO_END ||
	       (ing_wall_now().tv_sec < trust->end_s && trust->since_ms >= s->ca_trusted_from_ms);
}

/* Returns when the first certificate of the chain that was verified ends, or 0 when that is not known. */
static int64_t end_of_chain(const SSL *ssl)
{
	const STACK_OF(X509) *chain = SSL_get0_verified_chain(ssl);
	int64_t end = NO_END;
	for (int i = 0; i < sk_X509_num(chain); i++) {
		struct tm tm;
		if (ASN1_TIME_to_tm(X509_get0_notAfter(sk_X509_value(chain, i)), &tm) != 1)
			return 0;
		end = ING_MIN(end, (int64_t)timegm(&tm));
	}
	return sk_X509_num(chain) > 0 ? end : 0;
}

/* How long the server lets the session be used; 0: not at all. */
static uint64_t life_of(const SSL_SESSION *ssl)
{
	uint64_t ms = (uint64_t)SSL_SESSION_get_ticket_lifetime_hint(ssl) * 1000;
	if (ms == 0 && SSL_SESSION_get_protocol_version(ssl) < TLS1_3_VERSION)
		ms = UNSAID_MS;
	return ING_MIN(ms, DAY_MS);
}

static size_t ticket_bytes(const SSL_SESSION *ssl)
{
	const unsigned char *ticket;
	size_t bytes = 0;
	SSL_SESSION_get0_ticket(ssl, &ticket, &bytes);
	return bytes;
}

/* ---- keeping ---- */

/* The certificates that hang on the session, as they are in memory. */
static size_t cert_bytes_of(const SSL *ssl)
{
	const STACK_OF(X509) *chain = SSL_get_peer_cert_chain(ssl);
	size_t bytes = 0;
	for (int i = 0; i < sk_X509_num(chain); i++) {
		int sent = i2d_X509(sk_X509_value(chain, i), NULL);
		bytes += CERT_BYTES + CERT_FACTOR * (size_t)ING_MAX(sent, 0);
	}
	return bytes;
}

static bool shares_certificates(SSL_SESSION *a, SSL_SESSION *b)
{
	return SSL_SESSION_get0_peer(a) == SSL_SESSION_get0_peer(b);
}

static bool is_for_one_use(const SSL_SESSION *ssl)
{
	return SSL_SESSION_get_protocol_version(ssl) >= TLS1_3_VERSION;
}

/* Adds a session to the host; the reference goes with it when the function returns true. */
static bool add_session(struct host *h, const struct session *session, const SSL *ssl)
{
	if (h->count > 0 && (!is_for_one_use(session->ssl) || !is_for_one_use(h->sessions[0].ssl) ||
				    !shares_certificates(h->sessions[0].ssl, session->ssl)))
		drop_sessions(h);
	if (h->count == HOST_SESSIONS)
		drop_session(h, 0);
	if (h->count == 0)
		h->cert_bytes = cert_bytes_of(ssl);
	h->sessions[h->count++] = *session;
	if (host_bytes(h) <= ING_TLS_SESSIONS_HOST_BYTES)
		return true;
	(void)take_session(h, h->count - 1);
	return false;
}

/* Returns whether the reference was taken. */
static bool keep_session(struct conn *c, const SSL *ssl, SSL_SESSION *session)
{
	struct ing_tls_sessions *s = c->cache;
	uint64_t now = ing_now_ms();
	struct session new = {.ssl = session,
		.until_ms = now + life_of(session),
		.bytes = SESSION_BYTES + ticket_bytes(session)};
	if (new.until_ms == now || ticket_bytes(session) > MAX_TICKET_BYTES)
		return false;
	if (!SSL_session_reused(ssl))
		c->trust = (struct trust){
			.since_ms = c->born_ms, .end_s = c->verified ? end_of_chain(ssl) : NO_END};
	new.trust = c->trust;
	if (!is_usable(s, &new, now))
		return false;
	struct host *h = take_or_make_host(s, c->key);
	if (now >= h->failed_until_ms)
		h->failed_until_ms = 0;
	bool kept = h->failed_until_ms == 0 && add_session(h, &new, ssl);
	put_host(s, h);
	return kept;
}

/* ---- callbacks of OpenSSL ---- */

/* OpenSSL reads on after a ticket, as long as there is something to read: a fast server could hold the loop
 * with nothing but tickets. */
static int on_new_session(SSL *ssl, SSL_SESSION *session)
{
	struct conn *c = conn_of(ssl);
	if (++c->seen == MANY_TICKETS)
		SSL_clear_mode(ssl, SSL_MODE_AUTO_RETRY);
	return c->keep && keep_session(c, ssl, session);
}

static void start_handshake(struct conn *c, SSL *ssl)
{
	c->started = true;
	if (c->offered != NULL && SSL_set_session(ssl, c->offered) != 1)
		SSL_SESSION_free(ING_TAKE(c->offered));
}

static void end_handshake(struct conn *c, SSL *ssl)
{
	bool resumed = SSL_session_reused(ssl) != 0;
	c->ended = true;
	c->cache->handshakes++;
	c->cache->resumed += resumed;
	SSL_SESSION *session = SSL_get1_session(ssl);
	/* OpenSSL does not tell when TLS 1.2 has renewed the ticket of a resumed session. */
	bool renewed =
		resumed && session != NULL && !is_for_one_use(session) && session != c->offered;
	if (!renewed || !keep_session(c, ssl, session))
		SSL_SESSION_free(session);
	SSL_SESSION_free(ING_TAKE(c->offered));
}

static void on_info(const SSL *ssl, int where, int value)
{
	(void)value;
	if ((where & (SSL_CB_HANDSHAKE_START | SSL_CB_HANDSHAKE_DONE)) == 0)
		return;
	struct conn *c = conn_of(ssl);
	SSL *own = (SSL *)(void *)(uintptr_t)ssl; /* const only in the callback's type */
	if ((where & SSL_CB_HANDSHAKE_START) != 0 && !c->started)
		start_handshake(c, own);
	else if ((where & SSL_CB_HANDSHAKE_DONE) != 0 && !c->ended)
		end_handshake(c, own);
}

/* ---- offering ---- */

/* Drops what is of no use any more. Returns whether a session is left. */
static bool clean_host(struct ing_tls_sessions *s, struct host *h, uint64_t now_ms)
{
	for (unsigned i = h->count; i > 0; i--)
		if (!is_usable(s, &h->sessions[i - 1], now_ms))
			drop_session(h, i - 1);
	return h->count > 0;
}

/* Sets what the connection offers, if there is anything. */
static void choose_session(struct conn *c)
{
	struct ing_tls_sessions *s = c->cache;
	struct host *h = take_host(s, c->key);
	if (h == NULL)
		return;
	if (clean_host(s, h, ing_now_ms())) {
		unsigned last = h->count - 1;
		c->trust = h->sessions[last].trust;
		if (is_for_one_use(h->sessions[last].ssl)) {
			c->offered = take_session(h, last).ssl;
		} else {
			c->offered = h->sessions[last].ssl;
			SSL_SESSION_up_ref(c->offered);
		}
	}
	put_host(s, h);
}

/* -------------------------------------------------------------------------------------------- */

struct ing_tls_sessions *ing_tls_sessions_new(bool keep, size_t max_bytes, const char *ca_file)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, make_index);
	struct ing_tls_sessions *s = ing_alloc(sizeof(*s));
	s->magic = CACHE_MAGIC;
	s->usable = strncmp(curl_version_info(CURLVERSION_NOW)->ssl_version, "OpenSSL/", 8) == 0;
	s->keep = keep && s->usable;
	s->max_bytes = max_bytes;
	s->ca_file = ca_file;
	check_ca_file(s, ing_now_ms());
	return s;
}

void ing_tls_sessions_free(struct ing_tls_sessions *s)
{
	if (s == NULL)
		return;
	ing_must(s->magic == CACHE_MAGIC);
	while (s->hosts != NULL)
		free_host(take_host(s, s->hosts->key));
	ing_must(s->bytes == 0);
	s->magic = 0;
	free(s);
}

bool ing_tls_sessions_have(struct ing_tls_sessions *s, const struct ing_tls_key *key)
{
	char text[MAX_KEY_BYTES];
	uint64_t now = ing_now_ms();
	if (!s->keep || !write_key(text, key))
		return false;
	check_ca_file(s, now);
	struct host *h = take_host(s, text);
	if (h == NULL)
		return false;
	bool have = clean_host(s, h, now);
	put_host(s, h);
	return have;
}

bool ing_tls_sessions_attach(
	struct ing_tls_sessions *s, void *ssl_ctx, const struct ing_tls_key *key)
{
	char text[MAX_KEY_BYTES];
	SSL_CTX *ctx = ssl_ctx;
	if (!s->usable)
		return false;
	bool keep = write_key(text, key) && s->keep;
	struct conn *c = ing_alloc(sizeof(*c) + strlen(text) + 1);
	*c = (struct conn){.magic = CONN_MAGIC,
		.cache = s,
		.keep = keep,
		.verified = !key->unverified,
		.born_ms = ing_now_ms()};
	memcpy(c->key, text, strlen(text) + 1);
	ing_must(SSL_CTX_set_ex_data(ctx, conn_index, c) == 1);
	SSL_CTX_set_info_callback(ctx, on_info);
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
	SSL_CTX_sess_set_new_cb(ctx, on_new_session);
	if (!c->keep)
		return false;
	check_ca_file(s, c->born_ms);
	SSL_CTX_clear_options(ctx, SSL_OP_NO_TICKET); /* libcurl sets it */
	choose_session(c);
	return c->offered != NULL;
}

void ing_tls_sessions_failed(struct ing_tls_sessions *s, const struct ing_tls_key *key)
{
	char text[MAX_KEY_BYTES];
	if (!s->keep || !write_key(text, key))
		return;
	struct host *h = take_or_make_host(s, text);
	drop_sessions(h);
	h->failed_until_ms = ing_now_ms() + FAILED_MS;
	put_host(s, h);
}

void ing_tls_sessions_count(const struct ing_tls_sessions *s, struct ing_fetch_stats *ret)
{
	ret->tls_handshakes = s->handshakes;
	ret->tls_resumed = s->resumed;
	ret->tls_session_bytes = s->bytes;
}
