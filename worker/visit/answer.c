/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The rules about answers, in the order in which they are asked. No state, no I/O.
 */
#include "worker/visit/answer.h"

#include <stdlib.h>
#include <string.h>

static struct ing_decision follow_redirect(
	const struct ing_answer_view *v, const struct ing_visit_answer *a)
{
	if (a->location == NULL || a->location[0] == '\0')
		return ing_target_end(ING_STATUS_BAD_REDIRECT, "a redirect without a Location");
	bool dropped = false;
	char *url = ing_target_of_redirect(v->url, a->location, &dropped);
	if (url == NULL)
		return ing_target_end(
			ING_STATUS_BAD_REDIRECT, "the Location is not an http or https URL");
	struct ing_decision d = {.step = ING_STEP_REDIRECT, .url = url};
	if (ing_target_is_refused(url, ING_VIA_REDIRECT, v->verdict, v->ctx, &d))
		; /* never asked for */
	else if (v->redirects >= v->max_redirects)
		d = v->cookie_redirects == v->redirects && a->set_cookie
			    ? ing_target_end(ING_STATUS_BLOCKED_COOKIE,
				      "the site sets a cookie with every redirect, without end")
			    : ing_target_end(ING_STATUS_REDIRECTS_EXCEEDED, NULL);
	else if (v->asked_before(v->ctx, url))
		d = a->set_cookie ? ing_target_end(ING_STATUS_BLOCKED_COOKIE,
					    "the site keeps setting the same cookie")
				  : ing_target_end(ING_STATUS_REDIRECT_LOOP, NULL);
	if (d.step == ING_STEP_END)
		free(url);
	d.dropped_userinfo = dropped;
	return d;
}

/* A bad status with a page: it may say that a wall is the reason. Not only 401, 403, 429 and 503 have
 * walls: sites answer robots with 400, 404, 405, 406, 418, 500 or 520, too, and a script's check of the
 * browser comes with 202. */
static bool may_be_wall(const struct ing_visit_answer *a)
{
	if (a->http_status < 400 && a->http_status != 202)
		return false;
	return a->outcome == ING_STATUS_SUCCESS && a->body_bytes > 0 &&
	       (a->content_type == NULL || strcasestr(a->content_type, "html") != NULL);
}

/* -------------------------------------------------------------------------------------------- */

bool ing_answer_is_redirect(int http_status)
{
	return http_status == 301 || http_status == 302 || http_status == 303 ||
	       http_status == 307 || http_status == 308;
}

struct ing_decision ing_answer_decide(
	const struct ing_answer_view *v, const struct ing_visit_answer *a)
{
	/* The body of a redirect does not matter, so neither does how it ended. */
	if (a->answered && ing_answer_is_redirect(a->http_status))
		return follow_redirect(v, a);
	if (a->outcome != ING_STATUS_SUCCESS && !a->answered)
		return ing_target_end(a->outcome, NULL);
	if (may_be_wall(a))
		return (struct ing_decision){.step = ING_STEP_WALLS};
	if (a->http_status != 200 && a->http_status != 226)
		return ing_target_end(ING_STATUS_TERMINAL_BAD_STATUS, NULL);
	if (a->outcome != ING_STATUS_SUCCESS)
		return ing_target_end(a->outcome, NULL);
	if (a->body_bytes == 0)
		return ing_target_end(ING_STATUS_EMPTY_BLOB, NULL);
	return (struct ing_decision){.step = ING_STEP_EXAMINE};
}
