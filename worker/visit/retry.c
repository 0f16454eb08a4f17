/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is learnt from how an exchange went. No state, no I/O.
 *
 * What surprises: an answer with a bad HTTP status is judged by that alone, however its body ended;
 * and a certificate that does not hold is no failure of the host, which has answered: its breaker
 * stays closed, so that the requests for it end as tls-error and not as host-backoff.
 */
#include "worker/visit/retry.h"

#include <stdio.h>

#define FIRST_DELAY_MS 1000u
#define MAX_DOUBLINGS 6 /* a minute: no status has so many tries */
/* Less than for 429 and 503, which say that the server wants to be asked again. */
#define TRIES_OF_5XX 3u

static bool is_throttling(int http_status)
{
	return http_status == 429 || http_status == 503;
}

/* Answers of servers, and of those in front of them (520 to 530 are a large one's), that may be
 * other ones in a moment. Not 501 or 505: those are statements. */
static bool is_transient_5xx(int http_status)
{
	return http_status == 500 || http_status == 502 || http_status == 504 ||
	       (http_status >= 520 && http_status <= 527) || http_status == 530;
}

static unsigned tries_of_answer(int http_status)
{
	if (is_throttling(http_status))
		return ing_status_tries(ING_STATUS_TERMINAL_BAD_STATUS);
	if (is_transient_5xx(http_status))
		return ING_MIN(TRIES_OF_5XX, ing_status_tries(ING_STATUS_TERMINAL_BAD_STATUS));
	return 1;
}

static bool is_bad_status(const struct ing_exchange *ex)
{
	return ex->answered && ex->http_status != 200 && ex->http_status != 226;
}

/* There was no descriptor for it. The gate is held until there are some, so that this ends. */
static bool is_no_try(const struct ing_exchange *ex)
{
	return ex->no_descriptor && !is_bad_status(ex);
}

static unsigned tries_of(const struct ing_exchange *ex)
{
	if (is_bad_status(ex))
		return tries_of_answer(ex->http_status);
	return ex->transient ? ing_status_tries(ex->outcome) : 1;
}

/* Of an exchange that did not end well. */
static enum ing_answer_kind kind_of_failure(const struct ing_exchange *ex)
{
	switch (ex->outcome) {
	case ING_STATUS_WORKER_ERROR: /* what it was asked counts for its pause, and no more */
		return ex->answered || ex->request.len > 0 ? ING_ANSWER_GOOD : ING_ANSWER_NONE;
	case ING_STATUS_INVALID_URL:
	case ING_STATUS_BLOCKED_ADDRESS:
	case ING_STATUS_INVALID_HOST_RESOLUTION:
		return ING_ANSWER_NONE;
	case ING_STATUS_BODY_TOO_LARGE:
	case ING_STATUS_HEADERS_TOO_LARGE:
		return ING_ANSWER_GOOD; /* more than we want, but it was given */
	case ING_STATUS_TLS_ERROR:
		return ex->transient ? ING_ANSWER_FAILED : ING_ANSWER_GOOD;
	default:
		return ING_ANSWER_FAILED;
	}
}

static enum ing_answer_kind kind_of(const struct ing_exchange *ex)
{
	if (ex->answered && is_throttling(ex->http_status))
		return ING_ANSWER_THROTTLED;
	if (ex->answered && ex->http_status >= 500)
		return ING_ANSWER_FAILED;
	return ex->outcome == ING_STATUS_SUCCESS ? ING_ANSWER_GOOD : kind_of_failure(ex);
}

/* -------------------------------------------------------------------------------------------- */

struct ing_gate_report ing_retry_report(const struct ing_exchange *ex)
{
	unsigned asking_us = ex->total_us > ex->dns_us ? ex->total_us - ex->dns_us : 0;
	return (struct ing_gate_report){
		.kind = kind_of(ex),
		.http_status = ex->answered ? ex->http_status : 0,
		.outcome = ing_status_slug(ex->outcome),
		.retry_after_s = ex->answered ? ex->retry_after_s : -1,
		.response_ms = asking_us / 1000,
	};
}

bool ing_retry_worth(const struct ing_exchange *ex, unsigned tries, unsigned more, uint32_t random,
	unsigned *ret_delay_ms)
{
	ing_must(tries > 0);
	unsigned most = tries_of(ex);
	if (most > 1 && !ex->answered)
		most += more;
	if (is_no_try(ex))
		tries = 1;
	else if (tries >= most)
		return false;
	if (ex->answered && is_throttling(ex->http_status)) {
		*ret_delay_ms = 0;
		return true;
	}
	/* Within a quarter of it, either way: what failed together does not come back together. */
	unsigned delay_ms = FIRST_DELAY_MS << ING_MIN(tries - 1, MAX_DOUBLINGS);
	*ret_delay_ms = delay_ms - delay_ms / 4 + random % (delay_ms / 2 + 1);
	if (!ex->answered && ex->outcome == ING_STATUS_INVALID_HOST_RESOLUTION)
		*ret_delay_ms += ING_FETCH_NAME_FAILURE_MS;
	return true;
}

void ing_retry_gate_detail(
	enum ing_gate_refusal reason, unsigned before, char ret[ING_RETRY_DETAIL_BYTES])
{
	if (reason == ING_GATE_HELD)
		snprintf(ret, ING_RETRY_DETAIL_BYTES,
			"the host is held for longer than requests may wait for it");
	else
		snprintf(ret, ING_RETRY_DETAIL_BYTES,
			"its turn at the host did not come within gate.max_wait_ms: %u request%s "
			"of this host %s before it",
			before, ING_PLURAL_S(before), before == 1 ? "was" : "were");
}
