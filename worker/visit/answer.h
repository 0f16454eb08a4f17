/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * answer.h - what comes after an answer: its redirect, a look into its body, or the end. Pure
 * functions over plain data, so that every rule is a line in a table of cases.
 *
 * Redirects are counted in a row (fetch.max_redirects). A URL asked for again is a loop only if no
 * cookie has changed since it was last asked for.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "worker/visit/target.h"

/* What is known when a decision is due. */
struct ing_answer_view {
	const char *url;           /* just asked for */
	unsigned redirects;        /* followed so far, in a row */
	unsigned cookie_redirects; /* of those with a cookie set */
	unsigned max_redirects;
	/* Was url asked for before, with the cookies as they are now? */
	bool (*asked_before)(void *ctx, const char *url);
	ing_verdict_fn *verdict; /* NULL: no rules */
	void *ctx;
};

struct ing_visit_answer { /* of the exchange */
	enum ing_status outcome;
	bool answered;
	int http_status;
	const char *location;
	bool set_cookie;
	size_t body_bytes;
	const char *content_type; /* header value, or NULL */
};

struct ing_decision ing_answer_decide(
	const struct ing_answer_view *v, const struct ing_visit_answer *a);
bool ing_answer_is_redirect(int http_status); /* one that says where to go (RFC 9110 15.4) */
