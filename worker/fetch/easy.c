/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Easy handles: their options and callbacks.
 *
 * A handle is used for one transfer after another and reset in between, because curl counts on a handle
 * how often a reused connection was dead and fails after five. What survives a reset belongs to no
 * single request: cookies are in the jar's share, connections and the CA store in the multi handle,
 * TLS sessions in tls_sessions.c.
 *
 * The bytes of the request are recorded by curl's debug callback, which is called for everything while
 * CURLOPT_VERBOSE is on, certificates as text included. It is on only from CURLOPT_PREREQFUNCTION (after
 * the connection, so that a proxy's CONNECT is not seen) to the blank line of the request. When a
 * reused connection is dead, curl sends the request again; PREREQFUNCTION is then called again and
 * the recording starts over.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include "common/base/clock.h"
#include "common/base/fd_shortage.h"
#include "worker/fetch/cookies.h"
#include "worker/fetch/fetch_priv.h"
#include "worker/model/limits.h"

/* Idle connections older than this are not reused: few servers keep them longer. */
#define MAX_CONNECTION_AGE_S 30L
/* A URL, a referer, cookies (curl sends at most 8 KB) and the fixed fields. */
#define MAX_REQUEST_BYTES ((size_t)64 << 10)

/* ---- callbacks ---- */

static int on_request(void *user, char *peer, char *local, int peer_port, int local_port)
{
	struct ing_transfer *t;
	ING_CAST_OBJ(t, user, ING_TRANSFER_MAGIC);
	(void)local;
	(void)peer_port;
	(void)local_port;
	if (!t->route.via_proxy && peer != NULL)
		snprintf(t->ex->ip, sizeof(t->ex->ip), "%s", peer);
	ing_buf_clear(&t->ex->request);
	t->ex->started = ing_wall_now();
	t->sent = true;
	t->stall_from_ms = 0; /* a server may think for as long as timeout_ms lets it */
	curl_easy_setopt(t->easy, CURLOPT_VERBOSE, 1L);
	return CURL_PREREQFUNC_OK;
}

static int on_debug(CURL *easy, curl_infotype type, char *data, size_t bytes, void *user)
{
	struct ing_transfer *t;
	ING_CAST_OBJ(t, user, ING_TRANSFER_MAGIC);
	if (type != CURLINFO_HEADER_OUT && type != CURLINFO_DATA_OUT)
		return 0;
	struct ing_buf *request = &t->ex->request;
	ing_buf_add(request, data, bytes); /* GET: what follows the head's first part is its rest */
	if (request->len >= 4 && memcmp(request->data + request->len - 4, "\r\n\r\n", 4) == 0)
		curl_easy_setopt(easy, CURLOPT_VERBOSE, 0L);
	return 0;
}

static size_t on_header(char *data, size_t one, size_t bytes, void *user)
{
	struct ing_transfer *t;
	ING_CAST_OBJ(t, user, ING_TRANSFER_MAGIC);
	(void)one;
	if (t->stall_from_ms == 0) {
		t->stall_from_ms = ing_now_ms();
		t->stall_from_bytes = t->wire_bytes;
	}
	t->wire_bytes += bytes;
	if (t->head.state == ING_HTTP_DONE) {
		bool accepted = ing_http_head_add_trailer(&t->head, data, bytes);
		t->abort = accepted ? t->abort : ING_ABORT_TRAILERS;
		return accepted ? bytes : 0;
	}
	bool good = ing_http_head_add(&t->head, data, bytes);
	ing_transfer_account_head(t);
	if (!good) {
		t->abort = ING_ABORT_HEAD;
		return 0;
	}
	if (t->head.state != ING_HTTP_DONE)
		return bytes;
	if (t->head.transfer_encoding != NULL &&
		!ing_http_coding_is_plain(t->head.transfer_encoding))
		t->refusal = "the answer has a transfer coding other than chunked";
	else if (t->head.bad_length != NULL && t->head.transfer_encoding == NULL)
		t->refusal = t->head.bad_length;
	if (t->refusal != NULL)
		t->abort = ING_ABORT_FRAMING;
	return t->refusal == NULL ? bytes : 0;
}

static size_t on_body(char *data, size_t one, size_t bytes, void *user)
{
	struct ing_transfer *t;
	ING_CAST_OBJ(t, user, ING_TRANSFER_MAGIC);
	(void)one;
	if (bytes == 0)
		return 0;
	if (t->body == NULL)
		t->body = ing_spool_body_new(
			t->fetch->spool, ing_transfer_resume_body, ing_transfer_body_written, t);
	size_t room = t->max_body_bytes - ing_spool_body_bytes(t->body);
	size_t take = ING_MIN(bytes, room);
	enum ing_spool_put put =
		take > 0 ? ing_spool_body_put(t->body, data, take) : ING_SPOOL_TAKEN;
	if (put == ING_SPOOL_WAIT) {
		t->paused = true;
		return CURL_WRITEFUNC_PAUSE; /* curl keeps the data and passes all of it again */
	}
	if (put == ING_SPOOL_FAILED) {
		t->abort = ING_ABORT_SPOOL;
		return 0;
	}
	t->wire_bytes += take;
	if (take < bytes) {
		t->abort = ING_ABORT_TOO_LARGE;
		return 0;
	}
	return bytes;
}

/* Errors of this machine, not of the host. */
static bool is_local_error(int errnum)
{
	return ing_fd_shortage_note(errnum) || errnum == ENOBUFS || errnum == ENOMEM;
}

/* The address check on the socket itself: this is the address of the connection, whatever curl was
 * given and made of it. */
static curl_socket_t on_open_socket(void *user, curlsocktype purpose, struct curl_sockaddr *sa)
{
	struct ing_transfer *t;
	struct ing_addr addr;
	ING_CAST_OBJ(t, user, ING_TRANSFER_MAGIC);
	(void)purpose;
	const char *refusal = "not an internet address";
	if (ing_addr_from_sockaddr(&sa->addr, &addr)) {
		refusal = ing_addr_refusal(&addr, &t->fetch->allow, &t->fetch->deny);
		if (t->route.via_proxy && ing_addr_equal(&addr, &t->addrs[t->addr_at]))
			refusal = NULL; /* the operator named it */
	}
	if (refusal != NULL) {
		t->abort = ING_ABORT_ADDRESS;
		t->refusal = refusal;
		return CURL_SOCKET_BAD;
	}
	curl_socket_t fd = socket(sa->family, sa->socktype | SOCK_CLOEXEC, sa->protocol);
	if (fd < 0 && is_local_error(errno)) {
		t->abort = ING_ABORT_SOCKET;
		t->socket_errno = errno;
	}
	return fd >= 0 ? fd : CURL_SOCKET_BAD;
}

static struct ing_tls_key tls_key(const struct ing_transfer *t)
{
	return (struct ing_tls_key){.host = t->target.host,
		.port = t->target.port,
		.via_proxy = t->route.via_proxy,
		.unverified = t->unverified};
}

/* A new connection is about to begin its TLS handshake. */
static CURLcode on_tls(CURL *easy, void *ssl_ctx, void *user)
{
	struct ing_transfer *t;
	ING_CAST_OBJ(t, user, ING_TRANSFER_MAGIC);
	(void)easy;
	struct ing_tls_key key = tls_key(t);
	t->sent = false; /* on a kept connection that was dead, perhaps, but not on this one */
	t->offered = ing_tls_sessions_attach(t->fetch->tls, ssl_ctx, &key);
	return CURLE_OK;
}

/* ---- helpers ---- */

static void set_proxy(struct ing_transfer *t, const char *addr)
{
	char text[ING_ADDR_TEXT_BYTES + 32];
	snprintf(text, sizeof(text), strchr(addr, ':') != NULL ? "http://[%s]:%u" : "http://%s:%u",
		addr, t->route.port);
	curl_easy_setopt(t->easy, CURLOPT_PROXY, text);
	curl_easy_setopt(t->easy, CURLOPT_PROXYUSERNAME, t->fetch->routes.proxy_user);
	curl_easy_setopt(t->easy, CURLOPT_PROXYPASSWORD, t->fetch->routes.proxy_password);
	curl_easy_setopt(t->easy, CURLOPT_CONNECT_TO, NULL);
}

static void set_direct(struct ing_transfer *t, const char *addr)
{
	char text[ING_ADDR_TEXT_BYTES + 32];
	snprintf(text, sizeof(text), strchr(addr, ':') != NULL ? "::[%s]:%u" : "::%s:%u", addr,
		t->route.port);
	t->connect_to = curl_slist_append(NULL, text);
	ing_must(t->connect_to != NULL);
	curl_easy_setopt(t->easy, CURLOPT_CONNECT_TO, t->connect_to);
	curl_easy_setopt(t->easy, CURLOPT_PROXY, ""); /* not NULL: that would ask the environment */
}

/* Removes the fields for the proxy, one of which holds its password: they are not part of the request
 * to the origin. */
static void drop_proxy_fields(struct ing_buf *request)
{
	char *to = request->data;
	const char *from = request->data;
	const char *end = request->data + request->len;
	while (from < end) {
		const char *lf = memchr(from, '\n', (size_t)(end - from));
		size_t bytes = lf != NULL ? (size_t)(lf - from) + 1 : (size_t)(end - from);
		if (bytes < 6 || strncasecmp(from, "Proxy-", 6) != 0) {
			memmove(to, from, bytes);
			to += bytes;
		}
		from += bytes;
	}
	request->len = (size_t)(to - request->data);
	*to = '\0';
}

static void set_callbacks(CURL *easy)
{
	curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_request);
	curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, on_debug);
	curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_open_socket);
	curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, on_tls);
}

/* What is the same for all transfers. */
static void configure(CURL *easy, const struct ing_fetch *f)
{
	set_callbacks(easy);
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(easy, CURLOPT_HTTP09_ALLOWED, 0L);
	curl_easy_setopt(easy, CURLOPT_HTTP_TRANSFER_DECODING, 1L);
	curl_easy_setopt(easy, CURLOPT_HTTP_CONTENT_DECODING, 0L);
	curl_easy_setopt(easy, CURLOPT_USERAGENT, f->settings.user_agent);
	curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
	curl_easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	curl_easy_setopt(easy, CURLOPT_PROXY, "");
	curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
	curl_easy_setopt(easy, CURLOPT_PROXYAUTH, (long)CURLAUTH_BASIC);
	curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	/* A trust path would keep curl from caching the store: 25 times the cost of a handshake. */
	curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
	curl_easy_setopt(easy, CURLOPT_CAINFO, f->ca_file);
	curl_easy_setopt(easy, CURLOPT_CA_CACHE_TIMEOUT, ING_CA_STORE_AGE_S);
	curl_easy_setopt(
		easy, CURLOPT_SSL_SESSIONID_CACHE, 0L); /* curl's own; see tls_sessions.c */
	/* Only addresses are ever given to curl; remembering them costs a walk of the whole cache
	 * each time. */
	curl_easy_setopt(easy, CURLOPT_DNS_CACHE_TIMEOUT, 0L);
	curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, MAX_CONNECTION_AGE_S);
}

/* What curl has measured of this attempt. Of a connection that was there already there is nothing to
 * tell, and a time that is 0 was not reached. */
static void count_times(struct ing_transfer *t)
{
	struct ing_fetch_stats *stats = &t->fetch->stats;
	curl_off_t connected = 0, secured = 0, sent = 0, answered = 0;
	long connections = 0;
	curl_easy_getinfo(t->easy, CURLINFO_CONNECT_TIME_T, &connected);
	curl_easy_getinfo(t->easy, CURLINFO_APPCONNECT_TIME_T, &secured);
	curl_easy_getinfo(t->easy, CURLINFO_PRETRANSFER_TIME_T, &sent);
	curl_easy_getinfo(t->easy, CURLINFO_STARTTRANSFER_TIME_T, &answered);
	curl_easy_getinfo(t->easy, CURLINFO_NUM_CONNECTS, &connections);
	if (connections > 0 && connected > 0)
		ing_histogram_add(stats->connect_us, ING_METRIC_DURATION, (uint64_t)connected);
	if (connections > 0 && secured > connected)
		ing_histogram_add(
			stats->tls_us, ING_METRIC_DURATION, (uint64_t)(secured - connected));
	if (answered > 0 && answered >= sent)
		ing_histogram_add(
			stats->first_byte_us, ING_METRIC_DURATION, (uint64_t)(answered - sent));
}

/* -------------------------------------------------------------------------------------------- */

CURL *ing_easy_new(void)
{
	CURL *easy = curl_easy_init();
	ing_must(easy != NULL);
	return easy;
}

bool ing_easy_may_resume(const struct ing_transfer *t)
{
	struct ing_tls_key key = tls_key(t);
	return t->target.https && ing_tls_sessions_have(t->fetch->tls, &key);
}

void ing_easy_forget_session(const struct ing_transfer *t)
{
	struct ing_tls_key key = tls_key(t);
	ing_tls_sessions_failed(t->fetch->tls, &key);
}

void ing_easy_prepare(struct ing_transfer *t, unsigned connect_ms)
{
	char addr[ING_ADDR_TEXT_BYTES];
	ing_addr_format(&t->addrs[t->addr_at], addr);
	configure(t->easy, t->fetch);
	t->curl_error[0] = '\0';
	ing_buf_done(&t->ex->request);
	ing_buf_init(&t->ex->request, MAX_REQUEST_BYTES);
	if (t->route.via_proxy)
		set_proxy(t, addr);
	else
		set_direct(t, addr);
	curl_easy_setopt(t->easy, CURLOPT_URL, t->target.url);
	curl_easy_setopt(t->easy, CURLOPT_REFERER, t->referer);
	curl_easy_setopt(t->easy, CURLOPT_HTTPHEADER, t->headers);
	/* curl does not share connections between verified and unverified */
	if (t->unverified) {
		curl_easy_setopt(t->easy, CURLOPT_SSL_VERIFYPEER, 0L);
		curl_easy_setopt(t->easy, CURLOPT_SSL_VERIFYHOST, 0L);
	}
	if (t->jar != NULL) {
		curl_easy_setopt(t->easy, CURLOPT_SHARE, ing_cookies_share(t->jar));
		curl_easy_setopt(t->easy, CURLOPT_COOKIEFILE, ""); /* else the jar is not used */
	}
	curl_easy_setopt(t->easy, CURLOPT_CONNECTTIMEOUT_MS, (long)connect_ms);
	curl_easy_setopt(t->easy, CURLOPT_ERRORBUFFER, t->curl_error);
	curl_easy_setopt(t->easy, CURLOPT_PRIVATE, t);
	curl_easy_setopt(t->easy, CURLOPT_PREREQDATA, t);
	curl_easy_setopt(t->easy, CURLOPT_DEBUGDATA, t);
	curl_easy_setopt(t->easy, CURLOPT_HEADERDATA, t);
	curl_easy_setopt(t->easy, CURLOPT_WRITEDATA, t);
	curl_easy_setopt(t->easy, CURLOPT_OPENSOCKETDATA, t);
	curl_easy_setopt(t->easy, CURLOPT_SSL_CTX_DATA, t);
}

void ing_easy_report(struct ing_transfer *t)
{
	count_times(t);
	if (t->route.via_proxy && t->ex->request.len > 0)
		drop_proxy_fields(&t->ex->request);
	if (t->jar != NULL && t->head.set_cookie)
		ing_cookies_refresh(t->jar, t->easy);
}

void ing_easy_detach(struct ing_transfer *t)
{
	curl_easy_setopt(t->easy, CURLOPT_SHARE, NULL);      /* a reset leaves it in place */
	curl_easy_setopt(t->easy, CURLOPT_COOKIEFILE, NULL); /* and loses this without freeing it */
	curl_easy_reset(t->easy);
	curl_slist_free_all(t->connect_to);
	t->connect_to = NULL;
}
