/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * hop.h - the decisions of the hop loop: where to go after an answer, or how the request ends. Pure
 * functions over plain data, so that every rule can be a line in a table of cases.
 *
 * Counting: job.max_hops is how many links from pages are followed; redirects are counted apart and
 * start anew after each page (fetch.max_redirects in a row). A URL asked for again is a loop only
 * if no cookie has changed since it was last asked for.
 */
#pragma once
#include <stdbool.h>
#include "worker/model/findings.h"
#include "worker/rules/urlrules.h"
#include "worker/model/request.h"
#include "worker/model/status.h"

/* How a URL came up. */
enum ing_hop_via { ING_VIA_START, ING_VIA_REDIRECT, ING_VIA_LINK, ING_VIA_AGAIN };

/* What the rules say about a URL: ing_urlrules_judge(), or a test's. */
typedef struct ing_url_finding ing_verdict_fn(void *ctx, const char *url);

/* What is known when a decision is due. */
struct ing_hop_view {
	const char *url;              /* just fetched */
	unsigned landings, redirects; /* followed so far */
	unsigned cookie_redirects;    /* of those in a row, with a cookie set */
	unsigned max_hops, max_redirects;
	/* Was url asked for before, with the cookies as they are now? */
	bool (*visited)(void *ctx, const char *url);
	ing_verdict_fn *verdict; /* NULL: no rules */
	void *ctx;
};

struct ing_answer { /* of the exchange */
	enum ing_status outcome;
	bool answered;
	int http_status;
	const char *location;
	bool set_cookie;
	size_t body_bytes;
	const char *content_type; /* header value, or NULL */
};

/* WALLS: examine, but only to see whether the body is a wall's page. */
enum ing_step { ING_STEP_END, ING_STEP_EXAMINE, ING_STEP_WALLS, ING_STEP_REDIRECT, ING_STEP_LINK };

struct ing_decision {
	enum ing_step step;
	enum ing_status status; /* END */
	char *url;              /* REDIRECT, LINK: heap, the caller frees */
	const char *words;      /* for error_message, or NULL; static, or as long as the rules and
				 * findings that were asked */
	bool dropped_userinfo;  /* of url, or of the one that was refused: it had a user or a
				   password, which url has no more */
};

/* LINK to the cleaned start, or END. verdict NULL: no rules. */
struct ing_decision ing_hop_start(const char *base_url, ing_verdict_fn *verdict, void *ctx);
struct ing_decision ing_hop_after_fetch(const struct ing_hop_view *v, const struct ing_answer *a);
struct ing_decision ing_hop_after_examine(
	const struct ing_hop_view *v, const struct ing_request *r, const struct ing_findings *f);
/* Whether a whole file is the one that expect_hash names, if it does: to be asked of what would be
 * a success. */
bool ing_hop_hash_expected(const struct ing_request *r, const struct ing_file_meta *file);
/* What a document ends with that could not be looked into; SUCCESS for OK. */
enum ing_status ing_hop_exam_status(enum ing_exam exam);
/* The end of an answer with a bad HTTP status that was examined for walls. */
struct ing_decision ing_hop_after_walls(const struct ing_findings *f);
/* Whether the rules, which may be other ones by now, still let a URL be asked for: LINK (url NULL),
 * or END. verdict NULL: no rules. */
struct ing_decision ing_hop_recheck(
	const char *url, enum ing_hop_via via, ing_verdict_fn *verdict, void *ctx);
bool ing_hop_is_redirect(int http_status); /* one that says where to go (RFC 9110 15.4) */
/* The URL that a redirect from url leads to, cleaned, without user information (which sets
 * *ret_dropped_userinfo). NULL: none that could be asked for, or a Location of over 16 KiB.
 * Heap. */
char *ing_hop_redirect_target(
	const char *url, const char *location, bool *ret_dropped_userinfo) ING_MUST_CHECK;
/* Where a page leads for a request: its best link, the page's own address only when there is
 * nothing else. NULL: nowhere. Whether it may be followed is another question. */
const struct ing_page_link *ing_hop_link(const struct ing_request *r, const struct ing_page *page);
bool ing_mimetype_is_html(const char *mimetype); /* HTML-ish: worth looking into for links */
