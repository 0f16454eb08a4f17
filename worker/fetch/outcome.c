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
#include "worker/fetch/fetch_priv.h"

static enum ing_status when_lost(bool sent, enum ing_http_state head)
{
	if (!sent)
		return ING_STATUS_CONNECT_ERROR;
	return head == ING_HTTP_DONE ? ING_STATUS_TRUNCATED_BODY : ING_STATUS_READ_ERROR;
}

enum ing_status ing_outcome_of_curl(CURLcode rc, bool sent, enum ing_http_state head)
{
	switch (rc) {
	case CURLE_OK:
		return head == ING_HTTP_DONE ? ING_STATUS_SUCCESS : ING_STATUS_READ_ERROR;
	case CURLE_URL_MALFORMAT:
		return ING_STATUS_INVALID_URL;
	case CURLE_COULDNT_RESOLVE_HOST:
		return ING_STATUS_INVALID_HOST_RESOLUTION;
	case CURLE_COULDNT_RESOLVE_PROXY:
	case CURLE_COULDNT_CONNECT:
	case CURLE_PROXY:
		return ING_STATUS_CONNECT_ERROR;
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CIPHER:
	case CURLE_SSL_CLIENTCERT:
	case CURLE_SSL_CRL_BADFILE:
	case CURLE_SSL_ENGINE_INITFAILED:
	case CURLE_SSL_ENGINE_NOTFOUND:
	case CURLE_SSL_ENGINE_SETFAILED:
	case CURLE_SSL_INVALIDCERTSTATUS:
	case CURLE_SSL_ISSUER_ERROR:
	case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
	case CURLE_USE_SSL_FAILED:
		return ING_STATUS_TLS_ERROR;
	case CURLE_OPERATION_TIMEDOUT:
		return sent ? ING_STATUS_READ_TIMEOUT : ING_STATUS_CONNECT_ERROR;
	case CURLE_OUT_OF_MEMORY: /* a header line over curl's own limit */
#if LIBCURL_VERSION_NUM >= 0x080600
	case CURLE_TOO_LARGE:
#endif
		return sent && head != ING_HTTP_DONE ? ING_STATUS_HEADERS_TOO_LARGE
						     : ING_STATUS_READ_ERROR;
	case CURLE_PARTIAL_FILE:
	case CURLE_RECV_ERROR:
	case CURLE_SEND_ERROR:
	case CURLE_SEND_FAIL_REWIND:
	case CURLE_GOT_NOTHING:
	case CURLE_SSL_SHUTDOWN_FAILED:
		return when_lost(sent, head);
	default: /* garbage (WEIRD_SERVER_REPLY, UNSUPPORTED_PROTOCOL for HTTP/0.9,
		    BAD_CONTENT_ENCODING) */
		return sent ? ING_STATUS_READ_ERROR : ING_STATUS_CONNECT_ERROR;
	}
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
		t->phase == ING_PHASE_FLUSHING ? "the body was not on disk"
		: t->sent                      ? "the answer was not complete"
					       : "there was no connection",
		deadline ? "by the request's deadline" : "within the time limit of a transfer");
	t->ex->outcome = ING_STATUS_READ_TIMEOUT;
}

static void decide_abort(struct ing_transfer *t)
{
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
	case ING_ABORT_TOO_LARGE:
		snprintf(words, sizeof(words), "the body is over %zu bytes",
			t->fetch->conf.max_body_bytes);
		say(t, ING_STATUS_BODY_TOO_LARGE, words);
		break;
	case ING_ABORT_SPOOL:
		snprintf(words, sizeof(words), "here, in spool.dir: %.200s",
			spooled != NULL ? spooled->msg : "");
		say(t, ING_STATUS_READ_ERROR, words);
		break;
	case ING_ABORT_LIMIT:
		say_limit(t);
		break;
	case ING_ABORT_STALL:
		snprintf(words, sizeof(words), "under %u bytes per second for %u ms",
			t->fetch->conf.min_speed_bytes, t->fetch->conf.stall_ms);
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

static void decide_curl(struct ing_transfer *t, CURLcode rc)
{
	if (is_rough_end(t, rc))
		rc = CURLE_OK;
	enum ing_status outcome = ing_outcome_of_curl(rc, t->sent, t->head.state);
	const char *words = t->curl_words[0] != '\0' ? t->curl_words : curl_easy_strerror(rc);
	if (rc == CURLE_OK)
		words = outcome == ING_STATUS_SUCCESS ? "" : "the answer's head is cut short";
	/* curl has one code for a lost connection and for chunks that are none */
	if (outcome == ING_STATUS_TRUNCATED_BODY && strstr(words, "chunked-encoding") != NULL)
		outcome = ING_STATUS_READ_ERROR;
	say(t, outcome, words);
}

static enum ing_truncated truncation_of(enum ing_status outcome)
{
	switch (outcome) {
	case ING_STATUS_SUCCESS:
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

/* ------------------------------------------------------------------------------------------ */

void ing_outcome_decide(struct ing_transfer *t)
{
	struct ing_exchange *ex = t->ex;
	if (t->abort != ING_ABORT_NONE)
		decide_abort(t);
	else
		decide_curl(t, t->rc);
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
}
