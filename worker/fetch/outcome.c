/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * From the ways in which a transfer can end to the few that a result knows.
 *
 * What we decided ourselves (enum ing_abort) comes first, because curl then only says that a
 * callback refused. For the rest it matters how far the transfer had come: before the request was
 * sent everything but TLS is a matter of connecting; with the whole head there, a lost connection
 * is a body cut short.
 */
#include <stdio.h>
#include <string.h>
#include "common/base/clock.h"
#include "common/base/shortage.h"
#include "common/net/http_date.h"
#include "worker/fetch/fetch_priv.h"

/* One row for each of curl's codes that can come: the outcome before the request was sent, before
 * the head was whole and after it, and whether the next try may go better. What is ours to have set
 * up (proxy names, trust stores) does not mend itself between two tries. */
static const struct outcome_row {
	CURLcode rc;
	enum ing_status early, middle, late;
	bool passing;
} outcome_rows[] = {
#define ROW(rc, early, middle, late, passing)                                                      \
	{                                                                                          \
		rc, ING_STATUS_##early, ING_STATUS_##middle, ING_STATUS_##late, passing            \
	}
#define SAME(rc, status, passing) ROW(rc, status, status, status, passing)
#define LOST(rc) ROW(rc, CONNECT_ERROR, READ_ERROR, TRUNCATED_BODY, true)
	ROW(CURLE_OK, READ_ERROR, READ_ERROR, SUCCESS, true), /* a head cut short is no error */
	SAME(CURLE_URL_MALFORMAT, INVALID_URL, false),
	SAME(CURLE_COULDNT_RESOLVE_HOST, INVALID_HOST_RESOLUTION, false),
	SAME(CURLE_COULDNT_RESOLVE_PROXY, CONNECT_ERROR, false),
	SAME(CURLE_COULDNT_CONNECT, CONNECT_ERROR, true),
	SAME(CURLE_PROXY, CONNECT_ERROR, false),
	SAME(CURLE_SSL_CONNECT_ERROR, TLS_ERROR, false), /* but see is_broken_handshake() */
	SAME(CURLE_PEER_FAILED_VERIFICATION, TLS_ERROR, false),
	/* Trust stores were there at the start: no descriptor, or no memory, to read them with. */
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
	/* within a head: a line over curl's own limit */
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
	/* Garbage: CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL for HTTP/0.9,
	 * CURLE_BAD_CONTENT_ENCODING; and whatever else there is. Stays last. */
	ROW(CURL_LAST, CONNECT_ERROR, READ_ERROR, READ_ERROR, false),
#undef LOST
#undef SAME
#undef ROW
};

/* The server, or something in between, ended the connection within the handshake. curl has one code
 * for all handshakes that fail; these are its words when the system reported the failure, and
 * OpenSSL's for an end without a word. */
static bool is_broken_handshake(CURLcode rc, const char *words)
{
	static const char *const signs[] = {
		"Recv failure:", "Send failure:", "SSL_connect:", "unexpected eof"};
	for (size_t i = 0; rc == CURLE_SSL_CONNECT_ERROR && i < ING_ARRAY_LEN(signs); i++)
		if (strstr(words, signs[i]) != NULL)
			return true;
	return false;
}

/* curl has one code for a lost connection and for chunks that are none. */
static bool is_bad_chunk(CURLcode rc, enum ing_http_state head, const char *words)
{
	return rc == CURLE_RECV_ERROR && head == ING_HTTP_DONE &&
	       strstr(words, "chunked-encoding") != NULL;
}

/* Newer versions of curl have a limit of their own for the whole head, 300 KB. */
static bool is_head_over_curls_limit(CURLcode rc, const char *words)
{
	return rc == CURLE_RECV_ERROR && strstr(words, "Too large response headers") != NULL;
}

struct ing_verdict ing_outcome_of_curl(
	CURLcode rc, bool sent, enum ing_http_state head, const char *words)
{
	const struct outcome_row *row = outcome_rows;
	while (row->rc != rc && row->rc != CURL_LAST)
		row++;
	if (is_bad_chunk(rc, head, words))
		return (struct ing_verdict){ING_STATUS_READ_ERROR, false};
	if (is_head_over_curls_limit(rc, words))
		return (struct ing_verdict){ING_STATUS_HEADERS_TOO_LARGE, false};
	enum ing_status status = row->late;
	if (rc != CURLE_OK && !sent)
		status = row->early;
	else if (head != ING_HTTP_DONE)
		status = row->middle;
	return (struct ing_verdict){.status = status,
		.passing = status != ING_STATUS_SUCCESS &&
			   (row->passing || is_broken_handshake(rc, words))};
}

bool ing_outcome_abort_is_passing(enum ing_abort abort)
{
	switch (abort) {
	case ING_ABORT_NONE:
	case ING_ABORT_ADDRESS:
	case ING_ABORT_HEAD:
	case ING_ABORT_FRAMING:
	case ING_ABORT_TRAILERS:
	case ING_ABORT_TOO_LARGE:
		return false;
	case ING_ABORT_SOCKET:
	case ING_ABORT_SPOOL: /* a full disk is emptied, or the next body is smaller */
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

static void say(struct ing_transfer *t, enum ing_status outcome, const char *words)
{
	t->ex->outcome = outcome;
	snprintf(t->ex->detail, sizeof(t->ex->detail), "%s", words);
}

static void say_limit(struct ing_transfer *t)
{
	bool deadline = t->deadline_ms != 0 && t->limit_ms == t->deadline_ms;
	snprintf(t->ex->detail, sizeof(t->ex->detail), "%s %s",
		t->abort == ING_ABORT_FLUSH ? "the body was not on disk"
		: t->sent                   ? "the answer was not complete"
					    : "there was no connection",
		deadline ? "by the request's deadline" : "within the time limit of a transfer");
	/* Unless we kept the server waiting, or could not put away in time what it had sent. */
	bool ours = t->abort == ING_ABORT_FLUSH || t->paused;
	t->ex->outcome = ours ? ING_STATUS_WORKER_ERROR : ING_STATUS_READ_TIMEOUT;
}

static void decide_abort(struct ing_transfer *t)
{
	t->ex->passing = ing_outcome_abort_is_passing(t->abort);
	char words[sizeof(t->ex->detail)];
	const struct ing_error *spooled = t->body != NULL ? ing_body_error(t->body) : NULL;
	switch (t->abort) {
	case ING_ABORT_NONE:
		break;
	case ING_ABORT_ADDRESS:
		snprintf(words, sizeof(words), "%.150s: %s", t->route.host, t->refusal);
		say(t, ING_STATUS_BLOCKED_ADDRESS, words);
		break;
	case ING_ABORT_HEAD:
		say(t,
			t->head.state == ING_HTTP_TOO_LARGE ? ING_STATUS_HEADERS_TOO_LARGE
							    : ING_STATUS_READ_ERROR,
			t->head.why);
		break;
	case ING_ABORT_FRAMING:
		say(t, ING_STATUS_READ_ERROR, t->refusal);
		break;
	case ING_ABORT_TRAILERS:
		say(t, ING_STATUS_HEADERS_TOO_LARGE,
			"the fields behind the body are over the limits of a head");
		break;
	case ING_ABORT_TOO_LARGE:
		snprintf(words, sizeof(words), "the body is over %zu bytes", t->max_body_bytes);
		say(t, ING_STATUS_BODY_TOO_LARGE, words);
		break;
	case ING_ABORT_SOCKET:
		t->ex->starved = ing_shortage_note(t->short_errno);
		snprintf(words, sizeof(words), "here, no socket: %s", strerror(t->short_errno));
		say(t, ING_STATUS_WORKER_ERROR, words);
		break;
	case ING_ABORT_SPOOL:
		t->ex->starved = spooled != NULL && spooled->code == ING_FAIL_NO_DESCRIPTOR;
		snprintf(words, sizeof(words), "here, in spool.dir: %.200s",
			spooled != NULL ? spooled->msg : "");
		say(t, ING_STATUS_WORKER_ERROR, words);
		break;
	case ING_ABORT_FLUSH:
	case ING_ABORT_LIMIT:
		say_limit(t);
		break;
	case ING_ABORT_STALL:
		snprintf(words, sizeof(words), "under %u bytes per second for %u ms",
			t->fetch->settings.min_speed_bytes, t->fetch->settings.stall_ms);
		say(t, ING_STATUS_READ_TIMEOUT, words);
		break;
	}
}

/* Many servers end a body without a length by just closing, without TLS's own good-bye. Browsers
 * take it as the end; of libcurl's versions some do and some report it. */
static bool is_rough_end(const struct ing_transfer *t, CURLcode rc)
{
	return rc == CURLE_RECV_ERROR && t->head.state == ING_HTTP_DONE &&
	       t->head.content_length < 0 && t->head.transfer_encoding == NULL &&
	       strstr(t->curl_words, "unexpected eof") != NULL;
}

/* curl says that its memory is used up when a line is over its own limit of 100 KB. */
static const char *words_of_large_head(CURLcode rc, const char *words)
{
	return rc == CURLE_RECV_ERROR ? words
				      : "a line of the answer's head is over 100 KB, curl's limit";
}

static void decide_curl(struct ing_transfer *t, CURLcode rc)
{
	if (is_rough_end(t, rc))
		rc = CURLE_OK;
	const char *words = t->curl_words[0] != '\0' ? t->curl_words : curl_easy_strerror(rc);
	struct ing_verdict verdict = ing_outcome_of_curl(rc, t->sent, t->head.state, words);
	if (rc == CURLE_OK)
		words = verdict.status == ING_STATUS_SUCCESS ? ""
							     : "the answer's head is cut short";
	else if (verdict.status == ING_STATUS_HEADERS_TOO_LARGE)
		words = words_of_large_head(rc, words);
	say(t, verdict.status, words);
	t->ex->passing = verdict.passing;
}

static enum ing_truncated truncation_of(enum ing_status outcome)
{
	switch (outcome) {
	case ING_STATUS_SUCCESS:
	case ING_STATUS_HEADERS_TOO_LARGE: /* the fields behind a whole body, which nobody keeps */
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

/* Counted from now: the head has come, and the body, whose time is small beside such waits. -1
 * when it is neither a number nor a date. A date is of the server's clock, so it is counted from
 * what that says (Date, RFC 9110 6.6.1): ours may have been set, and a host is not to be held
 * for that. */
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
	ex->answered = t->head.state == ING_HTTP_DONE;
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
