/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The status of a transfer, from the reason we aborted it or from curl's result code.
 *
 * An abort of ours (enum ing_transfer_abort) comes first, because curl then only reports that a
 * callback failed. curl's codes are interpreted by how far the transfer had come: before the request
 * was sent everything but TLS is a connect-error; after the whole head a lost connection is a
 * truncated-body.
 *
 * transient: the next try may succeed (no connection, resets, timeouts, truncated heads and bodies,
 * broken handshakes, failed name servers, a full disk here). Not transient: names that do not exist,
 * blocked addresses, certificates, malformed HTTP, anything over a limit. Errors of this machine are
 * worker-error, which does not count against the host.
 */
#include <stdio.h>
#include <string.h>
#include "common/base/clock.h"
#include "common/base/fd_shortage.h"
#include "common/net/http_date.h"
#include "worker/fetch/fetch_priv.h"

/* A row for each of curl's codes: the status before the request was sent, before the head was complete
 * and after it, and whether it is transient. */
static const struct outcome_row {
	CURLcode rc;
	enum ing_status early, middle, late;
	bool transient;
} outcome_rows[] = {
#define ROW(rc, early, middle, late, transient)                                                    \
	{                                                                                          \
		rc, ING_STATUS_##early, ING_STATUS_##middle, ING_STATUS_##late, transient          \
	}
#define SAME(rc, status, transient) ROW(rc, status, status, status, transient)
#define LOST(rc) ROW(rc, CONNECT_ERROR, READ_ERROR, TRUNCATED_BODY, true)
	ROW(CURLE_OK, READ_ERROR, READ_ERROR, SUCCESS,
		true), /* curl reports a truncated head as success */
	SAME(CURLE_URL_MALFORMAT, INVALID_URL, false),
	SAME(CURLE_COULDNT_RESOLVE_HOST, INVALID_HOST_RESOLUTION, false),
	SAME(CURLE_COULDNT_RESOLVE_PROXY, CONNECT_ERROR, false),
	SAME(CURLE_COULDNT_CONNECT, CONNECT_ERROR, true),
	SAME(CURLE_PROXY, CONNECT_ERROR, false),
	SAME(CURLE_SSL_CONNECT_ERROR, TLS_ERROR, false), /* but see is_broken_handshake() */
	SAME(CURLE_PEER_FAILED_VERIFICATION, TLS_ERROR, false),
	/* The CA file was readable at the start: no descriptor or memory left to read it. */
	SAME(CURLE_SSL_CACERT_BADFILE, WORKER_ERROR, true),
	SAME(CURLE_SSL_CRL_BADFILE, WORKER_ERROR, true),
	SAME(CURLE_FAILED_INIT, WORKER_ERROR, true),
	SAME(CURLE_SSL_CERTPROBLEM, TLS_ERROR, false),
	SAME(CURLE_SSL_CIPHER, TLS_ERROR, false),
	SAME(CURLE_SSL_CLIENTCERT, TLS_ERROR, false),
	SAME(CURLE_SSL_ENGINE_INITFAILED, TLS_ERROR, false),
	SAME(CURLE_SSL_ENGINE_NOTFOUND, TLS_ERROR, false),
	SAME(CURLE_SSL_ENGINE_SETFAILED, TLS_ERROR, false),
	SAME(CURLE_SSL_INVALIDCERTSTATUS, TLS_ERROR, false),
	SAME(CURLE_SSL_ISSUER_ERROR, TLS_ERROR, false),
	SAME(CURLE_SSL_PINNEDPUBKEYNOTMATCH, TLS_ERROR, false),
	SAME(CURLE_USE_SSL_FAILED, TLS_ERROR, false),
	ROW(CURLE_OPERATION_TIMEDOUT, CONNECT_ERROR, READ_TIMEOUT, READ_TIMEOUT, true),
	/* within a head: a line over curl's limit of 100 KB */
	ROW(CURLE_OUT_OF_MEMORY, WORKER_ERROR, HEADERS_TOO_LARGE, WORKER_ERROR, false),
#if LIBCURL_VERSION_NUM >= 0x080600
	ROW(CURLE_TOO_LARGE, READ_ERROR, HEADERS_TOO_LARGE, READ_ERROR, false),
#endif
	LOST(CURLE_PARTIAL_FILE),
	LOST(CURLE_RECV_ERROR), /* but see is_bad_chunk() */
	LOST(CURLE_SEND_ERROR),
	LOST(CURLE_SEND_FAIL_REWIND),
	LOST(CURLE_GOT_NOTHING),
	LOST(CURLE_SSL_SHUTDOWN_FAILED),
	/* Malformed answers (CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL for HTTP/0.9,
	 * CURLE_BAD_CONTENT_ENCODING) and all other codes. Must be the last row. */
	ROW(CURL_LAST, CONNECT_ERROR, READ_ERROR, READ_ERROR, false),
#undef LOST
#undef SAME
#undef ROW
};

/* The connection was closed within the handshake. curl has one code for all failed handshakes; these are
 * its texts for errors of the socket, and OpenSSL's for a connection closed without an alert. */
static bool is_broken_handshake(CURLcode rc, const char *detail)
{
	static const char *const signs[] = {
		"Recv failure:", "Send failure:", "SSL_connect:", "unexpected eof"};
	for (size_t i = 0; rc == CURLE_SSL_CONNECT_ERROR && i < ING_ARRAY_LEN(signs); i++)
		if (strstr(detail, signs[i]) != NULL)
			return true;
	return false;
}

/* curl has one code for a lost connection and for malformed chunks. */
static bool is_bad_chunk(CURLcode rc, enum ing_http_state head, const char *detail)
{
	return rc == CURLE_RECV_ERROR && head == ING_HTTP_DONE &&
	       strstr(detail, "chunked-encoding") != NULL;
}

/* Newer versions of curl have a limit of their own for the whole head, 300 KB. */
static bool is_head_over_curls_limit(CURLcode rc, const char *detail)
{
	return rc == CURLE_RECV_ERROR && strstr(detail, "Too large response headers") != NULL;
}

struct ing_outcome ing_outcome_of_curl(
	CURLcode rc, bool sent, enum ing_http_state head, const char *detail)
{
	const struct outcome_row *row = outcome_rows;
	while (row->rc != rc && row->rc != CURL_LAST)
		row++;
	if (is_bad_chunk(rc, head, detail))
		return (struct ing_outcome){ING_STATUS_READ_ERROR, false};
	if (is_head_over_curls_limit(rc, detail))
		return (struct ing_outcome){ING_STATUS_HEADERS_TOO_LARGE, false};
	enum ing_status status = row->late;
	if (rc != CURLE_OK && !sent)
		status = row->early;
	else if (head != ING_HTTP_DONE)
		status = row->middle;
	return (struct ing_outcome){.status = status,
		.transient = status != ING_STATUS_SUCCESS &&
			     (row->transient || is_broken_handshake(rc, detail))};
}

bool ing_outcome_abort_is_transient(enum ing_transfer_abort abort)
{
	switch (abort) {
	case ING_ABORT_NONE:
	case ING_ABORT_ADDRESS:
	case ING_ABORT_HEAD:
	case ING_ABORT_FRAMING:
	case ING_ABORT_TRAILERS:
	case ING_ABORT_TOO_LARGE:
	case ING_ABORT_DISK: /* there is no room for another try; the request is worth one later */
		return false;
	case ING_ABORT_SOCKET:
	case ING_ABORT_SPOOL: /* the disk may have room later */
	case ING_ABORT_FLUSH:
	case ING_ABORT_LIMIT:
	case ING_ABORT_STALL:
		return true;
	}
	return false;
}

bool ing_outcome_is_unverified(CURLcode rc)
{
	return rc == CURLE_PEER_FAILED_VERIFICATION || rc == CURLE_SSL_ISSUER_ERROR ||
	       rc == CURLE_SSL_INVALIDCERTSTATUS;
}

static void set_outcome(struct ing_transfer *t, enum ing_status outcome, const char *detail)
{
	t->ex->outcome = outcome;
	snprintf(t->ex->detail, sizeof(t->ex->detail), "%s", detail);
}

static void set_limit_outcome(struct ing_transfer *t)
{
	bool deadline = t->deadline_ms != 0 && t->limit_ms == t->deadline_ms;
	snprintf(t->ex->detail, sizeof(t->ex->detail), "%s %s",
		t->abort == ING_ABORT_FLUSH ? "the body was not written to disk"
		: t->sent                   ? "the answer was not complete"
					    : "no connection was made",
		deadline ? "by the request's deadline" : "within fetch.timeout_ms");
	/* worker-error when we had paused the transfer, or could not write the body in time. */
	bool ours = t->abort == ING_ABORT_FLUSH || t->paused;
	t->ex->outcome = ours ? ING_STATUS_WORKER_ERROR : ING_STATUS_READ_TIMEOUT;
}

static void decide_abort(struct ing_transfer *t)
{
	t->ex->transient = ing_outcome_abort_is_transient(t->abort);
	char detail[sizeof(t->ex->detail)];
	const struct ing_error *spooled = t->body != NULL ? ing_spool_body_error(t->body) : NULL;
	switch (t->abort) {
	case ING_ABORT_NONE:
		break;
	case ING_ABORT_ADDRESS:
		snprintf(detail, sizeof(detail), "%.150s: %s", t->route.host, t->refusal);
		set_outcome(t, ING_STATUS_BLOCKED_ADDRESS, detail);
		break;
	case ING_ABORT_HEAD:
		set_outcome(t,
			t->head.state == ING_HTTP_TOO_LARGE ? ING_STATUS_HEADERS_TOO_LARGE
							    : ING_STATUS_READ_ERROR,
			t->head.why);
		break;
	case ING_ABORT_FRAMING:
		set_outcome(t, ING_STATUS_READ_ERROR, t->refusal);
		break;
	case ING_ABORT_TRAILERS:
		set_outcome(t, ING_STATUS_HEADERS_TOO_LARGE,
			"the trailer fields exceed the limits of a head");
		break;
	case ING_ABORT_TOO_LARGE:
		snprintf(detail, sizeof(detail), "the body exceeds %zu bytes", t->max_body_bytes);
		set_outcome(t, ING_STATUS_BODY_TOO_LARGE, detail);
		break;
	case ING_ABORT_SOCKET:
		t->ex->no_descriptor = ing_fd_shortage_note(t->socket_errno);
		snprintf(detail, sizeof(detail), "no socket could be created: %s",
			strerror(t->socket_errno));
		set_outcome(t, ING_STATUS_WORKER_ERROR, detail);
		break;
	case ING_ABORT_SPOOL:
		t->ex->no_descriptor = spooled != NULL && spooled->code == ING_FAIL_NO_DESCRIPTOR;
		snprintf(detail, sizeof(detail), "spool.dir: %.200s",
			spooled != NULL ? spooled->msg : "");
		set_outcome(t, ING_STATUS_WORKER_ERROR, detail);
		break;
	case ING_ABORT_DISK:
		snprintf(detail, sizeof(detail), "%s: less than disk.abort_bytes are free",
			t->refusal);
		set_outcome(t, ING_STATUS_WORKER_ERROR, detail);
		break;
	case ING_ABORT_FLUSH:
	case ING_ABORT_LIMIT:
		set_limit_outcome(t);
		break;
	case ING_ABORT_STALL:
		snprintf(detail, sizeof(detail), "under %u bytes per second for %u ms",
			t->fetch->settings.min_speed_bytes, t->fetch->settings.stall_ms);
		set_outcome(t, ING_STATUS_READ_TIMEOUT, detail);
		break;
	}
}

/* Many servers end a body without a length by closing the connection without TLS's close_notify.
 * Browsers take that as the end; some versions of libcurl report an error. */
static bool is_unclean_tls_end(const struct ing_transfer *t, CURLcode rc)
{
	return rc == CURLE_RECV_ERROR && t->head.state == ING_HTTP_DONE &&
	       t->head.content_length < 0 && t->head.transfer_encoding == NULL &&
	       strstr(t->curl_error, "unexpected eof") != NULL;
}

/* curl reports CURLE_OUT_OF_MEMORY for a line over its limit of 100 KB. */
static const char *detail_of_large_head(CURLcode rc, const char *detail)
{
	return rc == CURLE_RECV_ERROR ? detail : "a header line exceeds 100 KB";
}

static void decide_curl(struct ing_transfer *t, CURLcode rc)
{
	if (is_unclean_tls_end(t, rc))
		rc = CURLE_OK;
	const char *detail = t->curl_error[0] != '\0' ? t->curl_error : curl_easy_strerror(rc);
	struct ing_outcome end = ing_outcome_of_curl(rc, t->sent, t->head.state, detail);
	if (rc == CURLE_OK)
		detail = end.status == ING_STATUS_SUCCESS ? "" : "the head is truncated";
	else if (end.status == ING_STATUS_HEADERS_TOO_LARGE)
		detail = detail_of_large_head(rc, detail);
	set_outcome(t, end.status, detail);
	t->ex->transient = end.transient;
}

static enum ing_truncated truncation_of(enum ing_status outcome)
{
	switch (outcome) {
	case ING_STATUS_SUCCESS:
	case ING_STATUS_HEADERS_TOO_LARGE: /* trailer fields after a complete body, which are not kept */
		return ING_TRUNC_NONE;
	case ING_STATUS_BODY_TOO_LARGE:
		return ING_TRUNC_LENGTH;
	case ING_STATUS_READ_TIMEOUT:
		return ING_TRUNC_TIME;
	case ING_STATUS_TRUNCATED_BODY:
		return ING_TRUNC_DISCONNECT;
	default:
		return ING_TRUNC_UNSPECIFIED;
	}
}

/* Returns seconds from now, or -1 when the value is neither a number nor a date. A date is taken
 * relative to the answer's Date field (RFC 9110 6.6.1), so that a wrong clock on either side does
 * not matter. */
static int64_t read_retry_after(const struct ing_http_head *head)
{
	int64_t delay_s, sent_s, now_s = ing_wall_now().tv_sec;
	if (head->date != NULL && ing_http_date_parse(head->date, now_s, &sent_s))
		now_s = sent_s;
	return ing_http_retry_after_parse(head->retry_after, now_s, &delay_s) ? delay_s : -1;
}

/* -------------------------------------------------------------------------------------------- */

void ing_outcome_decide(struct ing_transfer *t)
{
	struct ing_exchange *ex = t->ex;
	if (t->abort != ING_ABORT_NONE)
		decide_abort(t);
	else
		decide_curl(t, t->rc);
	ex->unverified = t->unverified;
	/* What would have to be archived there is no room for. */
	ex->answered = t->head.state == ING_HTTP_DONE && t->abort != ING_ABORT_DISK;
	if (!ex->answered)
		return;
	ex->truncated = truncation_of(ex->outcome);
	ex->http_status = t->head.status;
	ex->set_cookie = t->head.set_cookie;
	ing_buf_done(&ex->response);
	ex->response = t->head.raw;
	t->head.raw = (struct ing_buf){0};
	ex->location = ING_TAKE(t->head.location);
	ex->content_type = ING_TAKE(t->head.content_type);
	ex->content_encoding = ING_TAKE(t->head.content_encoding);
	if (t->head.retry_after != NULL)
		ex->retry_after_s = read_retry_after(&t->head);
}
