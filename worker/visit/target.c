/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * URLs before they are asked for. No state, no I/O.
 */
#include "worker/visit/target.h"

#include <stdlib.h>
#include <string.h>

#include "common/net/url.h"
#include "worker/model/limits.h"

/* What a Location may take to be one of our URLs in the end: "../", escapes undone. Servers send up
 * to 100 KB of it, and cleaning takes 200 ns a byte of the loop's time, several times over. */
#define MAX_LOCATION_BYTES (2 * ING_MAX_URL_BYTES)

/* Takes the user and the password out of a serialised URL. They are nobody's business: not the
 * archive's, not the reader's of a result, and no server's that we ask (RFC 9110 4.2.4). */
static bool drop_userinfo(char *href)
{
	char *authority = strstr(href, "://");
	ing_must(authority != NULL);
	authority += 3;
	/* The standard writes an '@' within user information as %40, so the first one ends it. */
	size_t bytes = strcspn(authority, "/?#");
	char *at = memchr(authority, '@', bytes);
	if (at == NULL)
		return false;
	memmove(authority, at + 1, strlen(at + 1) + 1);
	return true;
}

/* -------------------------------------------------------------------------------------------- */

struct ing_decision ing_target_end(enum ing_status status, const char *detail)
{
	return (struct ing_decision){.step = ING_STEP_END, .status = status, .detail = detail};
}

char *ing_target_clean(const char *url, bool *ret_dropped_userinfo)
{
	size_t bytes = strlen(url);
	if (bytes > ING_MAX_URL_BYTES)
		return NULL;
	char *clean = ing_url_clean(url, bytes);
	char *bare = NULL;
	if (clean != NULL && ing_url_is_web(clean))
		bare = ing_url_without_fragment(clean);
	free(clean);
	if (bare == NULL)
		return NULL;
	bool dropped = drop_userinfo(bare);
	if (strlen(bare) > ING_MAX_URL_BYTES) {
		free(bare);
		return NULL;
	}
	*ret_dropped_userinfo = dropped;
	return bare;
}

char *ing_target_of_redirect(const char *url, const char *location, bool *ret_dropped_userinfo)
{
	if (strlen(location) > MAX_LOCATION_BYTES)
		return NULL;
	char *resolved = ing_url_resolve(url, location);
	char *usable = resolved != NULL ? ing_target_clean(resolved, ret_dropped_userinfo) : NULL;
	free(resolved);
	return usable;
}

struct ing_decision ing_target_start(const char *base_url, ing_verdict_fn *verdict, void *ctx)
{
	bool dropped = false;
	char *url = ing_target_clean(base_url, &dropped);
	if (url == NULL)
		return ing_target_end(
			ING_STATUS_INVALID_URL, strlen(base_url) > ING_MAX_URL_BYTES
							? "base_url is longer than 8192 bytes"
							: "base_url is not an http or https URL");
	struct ing_decision d = {.step = ING_STEP_LINK, .url = url};
	if (ing_target_is_refused(url, ING_VIA_START, verdict, ctx, &d))
		free(url);
	d.dropped_userinfo = dropped;
	return d;
}

struct ing_decision ing_target_end_at_rule(const struct ing_url_decision *f, bool on_the_way)
{
	enum ing_status status = ING_STATUS_BLOCKED_WALL;
	switch (f->rule) {
	case ING_URL_RULE_BLOCKLIST:
		return ing_target_end(ING_STATUS_SKIP_URL_BLOCKLIST, f->detail);
	case ING_URL_RULE_COOKIE:
		return ing_target_end(ING_STATUS_BLOCKED_COOKIE, f->detail);
	case ING_URL_RULE_CAPTCHA:
		status = ING_STATUS_BLOCKED_CAPTCHA;
		break;
	case ING_URL_RULE_LOGIN:
		status = ING_STATUS_BLOCKED_LOGIN;
		break;
	case ING_URL_RULE_CHALLENGE:
		status = ING_STATUS_BLOCKED_CHALLENGE;
		break;
	case ING_URL_RULE_WALL:
	case ING_URL_RULE_NONE:
		break;
	}
	return ing_target_end(on_the_way ? status : ING_STATUS_SKIP_WALL, f->detail);
}

bool ing_target_is_refused(const char *url, enum ing_via via, ing_verdict_fn *verdict, void *ctx,
	struct ing_decision *ret_end)
{
	if (verdict == NULL)
		return false;
	struct ing_url_decision f = verdict(ctx, url);
	if (f.rule == ING_URL_RULE_NONE || f.only_at_end)
		return false;
	*ret_end = ing_target_end_at_rule(&f, via == ING_VIA_REDIRECT);
	return true;
}
