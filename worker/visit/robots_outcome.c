/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "worker/visit/robots_outcome.h"

#include "worker/gate/robots/robots.h"
#include "worker/model/exchange.h"
#include "worker/model/findings.h"
#include "worker/visit/answer.h"
#include "worker/visit/visit.h"

static bool is_2xx(const struct ing_exchange *ex)
{
	return ex->answered && ex->http_status >= 200 && ex->http_status <= 299;
}

static bool is_redirect(const struct ing_exchange *ex)
{
	return ex->answered && ing_answer_is_redirect(ex->http_status);
}

/* What the examiner has to say to this answer: rules, or why there are none. */
static void add_findings(const struct ing_findings *findings, struct ing_robots_answer *told)
{
	if (ing_robots_outcome_has_rules(findings)) {
		told->txt = findings->robots.txt;
		return;
	}
	told->outcome = ing_exam_status(findings->exam);
	told->detail = findings->detail;
	if (told->outcome == ING_STATUS_SUCCESS)
		told->outcome = ING_STATUS_PARSE_CRASH;
}

/* A redirect that cannot be followed, or whose target may not be asked for: as if there were no
 * file (RFC 9309 2.3.1.2). One that there was no time to follow is another matter. */
static bool leads_nowhere(const struct ing_visit_outcome *o)
{
	const struct ing_exchange *ex = o->exchange;
	if (ex != NULL && is_redirect(ex))
		return o->status != ING_STATUS_TIMEOUT;
	if (o->redirects == 0)
		return false;
	return ex == NULL ? o->status != ING_STATUS_HOST_BACKOFF
			  : ex->outcome == ING_STATUS_BLOCKED_ADDRESS ||
				    ex->outcome == ING_STATUS_INVALID_URL;
}

/* Without an exchange: the gate's word, or the rules'. */
static struct ing_robots_answer refusal(const struct ing_visit_outcome *o)
{
	bool held = o->status == ING_STATUS_HOST_BACKOFF;
	return (struct ing_robots_answer){
		.outcome = held ? ING_STATUS_HOST_BACKOFF : ING_STATUS_SKIP_URL_BLOCKLIST,
		.retry_after_s = o->retry_after_s,
		.detail = o->detail,
	};
}

static struct ing_robots_answer answer(
	const struct ing_visit_outcome *o, const struct ing_findings *findings)
{
	const struct ing_exchange *ex = o->exchange;
	struct ing_robots_answer told = {
		.outcome = ex->outcome,
		.http_status = ex->answered ? ex->http_status : o->redirect_status,
		.detail = ex->detail[0] != '\0' ? ex->detail : NULL,
	};
	if (is_redirect(ex)) {
		told.outcome = o->status;
		told.detail = o->detail;
	} else if (ex->answered && (!is_2xx(ex) || ex->outcome == ING_STATUS_BODY_TOO_LARGE)) {
		/* A status other than 2xx speaks for itself, however the body ended. */
		told.outcome = ING_STATUS_SUCCESS;
	}
	if (told.outcome == ING_STATUS_SUCCESS && findings != NULL)
		add_findings(findings, &told);
	return told;
}

/* ---------------------------------------------------------------------------------------------- */

bool ing_robots_outcome_needs_exam(const struct ing_exchange *ex)
{
	return is_2xx(ex) && ex->body_bytes > 0 &&
	       (ex->outcome == ING_STATUS_SUCCESS || ex->outcome == ING_STATUS_BODY_TOO_LARGE);
}

bool ing_robots_outcome_has_rules(const struct ing_findings *findings)
{
	return findings->exam == ING_EXAM_OK && findings->robots.txt != NULL;
}

struct ing_robots_answer ing_robots_outcome(
	const struct ing_visit_outcome *o, const struct ing_findings *findings, bool lost)
{
	if (lost)
		return (struct ing_robots_answer){.outcome = ING_STATUS_WORKER_ERROR,
			.detail = "its body cannot be read back"};
	if (leads_nowhere(o))
		return (struct ing_robots_answer){
			.outcome = ING_STATUS_SUCCESS, .http_status = o->redirect_status};
	return o->exchange == NULL ? refusal(o) : answer(o, findings);
}
