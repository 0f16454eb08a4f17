/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * target.h - which URLs are asked for: their clean form, and what the URL rules make of them. Pure
 * functions, for tables of cases.
 */
#pragma once
#include <stdbool.h>
#include "common/base/macros.h"
#include "worker/rules/url_rules.h"
#include "worker/model/status.h"

/* How a URL came up. */
/* RESOURCE: a page that was fetched is shown with it, or a publication that is begun is put together of it. */
enum ing_via { ING_VIA_START, ING_VIA_REDIRECT, ING_VIA_LINK, ING_VIA_AGAIN, ING_VIA_RESOURCE };

/* What the rules say about a URL: ing_visits_judge(), or a test's. */
typedef struct ing_url_decision ing_verdict_fn(void *ctx, const char *url);

/* WALLS: examine, but only to see whether the body is a wall's page. */
enum ing_step { ING_STEP_END, ING_STEP_EXAMINE, ING_STEP_WALLS, ING_STEP_REDIRECT, ING_STEP_LINK };

struct ing_decision {
	enum ing_step step;
	enum ing_status status; /* END */
	char *url;              /* REDIRECT, LINK: heap, the caller frees */
	const char *detail;     /* for error_message, or NULL; static, or as long as the rules and
				 * findings that were asked */
	bool dropped_userinfo;  /* of url, or of the one that was refused: it had a user or a
				   password, which url has no more */
	bool is_document;       /* END: at a document, be it of the wanted kind or not */
};

struct ing_decision ing_target_end(enum ing_status status, const char *detail);

/* Clean, absolute, http or https, without fragment and user information (which sets
 * *ret_dropped_userinfo), at most ING_MAX_URL_BYTES. Returns NULL when it cannot be such. Heap. */
char *ing_target_clean(const char *url, bool *ret_dropped_userinfo) ING_MUST_CHECK;
/* The URL that a redirect from url leads to, clean. Returns NULL when it is none that could be
 * asked for, or the Location has over 16 KiB. Heap. */
char *ing_target_of_redirect(
	const char *url, const char *location, bool *ret_dropped_userinfo) ING_MUST_CHECK;

/* LINK to the clean start, or END. verdict NULL: no rules. */
struct ing_decision ing_target_start(const char *base_url, ing_verdict_fn *verdict, void *ctx);
/* How a request ends whose next URL, or last page, is what f says (not NONE). on_the_way: a server
 * has sent us there (blocked-wall); else it was not asked for (skip-wall). */
struct ing_decision ing_target_end_at_rule(const struct ing_url_decision *f, bool on_the_way);
/* Whether the rules keep a clean URL from being asked for; then *ret_end is the end. verdict NULL:
 * no rules. */
bool ing_target_is_refused(const char *url, enum ing_via via, ing_verdict_fn *verdict, void *ctx,
	struct ing_decision *ret_end);
