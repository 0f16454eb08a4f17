/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The rules of the hop loop, in the order in which they are asked. No state, no I/O.
 */
#include "worker/job/hop.h"

#include <stdlib.h>
#include <string.h>

#include "common/net/url.h"
#include "worker/model/limits.h"

/* What a Location may take to be one of our URLs in the end: "../", escapes undone. Servers send up
 * to 100 KB of it, and cleaning takes 200 ns a byte of the loop's time, several times over. */
#define MAX_LOCATION_BYTES (2 * ING_MAX_URL_BYTES)

static struct ing_decision end_with(enum ing_status status, const char *words)
{
	return (struct ing_decision){.step = ING_STEP_END, .status = status, .words = words};
}

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

/* Cleaned, absolute, http or https, no user information, no fragment, at most ING_MAX_URL_BYTES;
 * else NULL. Heap. */
static char *usable_url(const char *url, bool *ret_dropped_userinfo)
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

/* How a request ends whose next URL, or last page, is what f says: met on the way (blocked), or
 * before anything was asked for it (skipped). */
static struct ing_decision end_at_rule(const struct ing_url_finding *f, bool on_the_way)
{
	enum ing_status status = ING_STATUS_BLOCKED_WALL;
	switch (f->verdict) {
	case ING_URL_BLOCKLIST:
		return end_with(ING_STATUS_SKIP_URL_BLOCKLIST, f->why);
	case ING_URL_COOKIE:
		return end_with(ING_STATUS_BLOCKED_COOKIE, f->why);
	case ING_URL_CAPTCHA:
		status = ING_STATUS_BLOCKED_CAPTCHA;
		break;
	case ING_URL_LOGIN:
		status = ING_STATUS_BLOCKED_LOGIN;
		break;
	case ING_URL_CHALLENGE:
		status = ING_STATUS_BLOCKED_CHALLENGE;
		break;
	case ING_URL_WALL:
	case ING_URL_NONE:
		break;
	}
	return end_with(on_the_way ? status : ING_STATUS_SKIP_WALL, f->why);
}

/* Whether the rules keep us from asking for a URL; then *ret is the end. */
static bool is_refused(ing_verdict_fn *verdict, void *ctx, const char *url, bool on_the_way,
	struct ing_decision *ret)
{
	if (verdict == NULL)
		return false;
	struct ing_url_finding f = verdict(ctx, url);
	if (f.verdict == ING_URL_NONE || f.only_at_end)
		return false;
	*ret = end_at_rule(&f, on_the_way);
	return true;
}

/* Whether the page bears a wall's signature; then *ret is the end. */
static bool bears_wall(const struct ing_page *page, struct ing_decision *ret)
{
	static const enum ing_status statuses[] = {
		[ING_WALL_COOKIE] = ING_STATUS_BLOCKED_COOKIE,
		[ING_WALL_CAPTCHA] = ING_STATUS_BLOCKED_CAPTCHA,
		[ING_WALL_LOGIN] = ING_STATUS_BLOCKED_LOGIN,
		[ING_WALL_CHALLENGE] = ING_STATUS_BLOCKED_CHALLENGE,
	};
	if (page->wall == ING_WALL_NONE)
		return false;
	*ret = end_with(statuses[page->wall], page->wall_why);
	return true;
}

/* Whether the chain would end with a page that is a wall's, by its looks or by its URL; then *ret
 * is the end. */
static bool is_wall_page(
	const struct ing_hop_view *v, const struct ing_page *page, struct ing_decision *ret)
{
	if (bears_wall(page, ret))
		return true;
	if (v->verdict == NULL)
		return false;
	struct ing_url_finding f = v->verdict(v->ctx, v->url);
	if (f.verdict == ING_URL_NONE)
		return false;
	*ret = end_at_rule(&f, true);
	return true;
}

static struct ing_decision follow_redirect(const struct ing_hop_view *v, const struct ing_answer *a)
{
	if (a->location == NULL || a->location[0] == '\0')
		return end_with(ING_STATUS_BAD_REDIRECT, "a redirect without a Location");
	bool dropped = false;
	char *url = ing_hop_redirect_target(v->url, a->location, &dropped);
	if (url == NULL)
		return end_with(
			ING_STATUS_BAD_REDIRECT, "the Location is not an http or https URL");
	struct ing_decision d = {.step = ING_STEP_REDIRECT, .url = url};
	if (is_refused(v->verdict, v->ctx, url, true, &d))
		; /* never asked for */
	else if (v->redirects >= v->max_redirects)
		d = v->cookie_redirects == v->redirects && a->set_cookie
			    ? end_with(ING_STATUS_BLOCKED_COOKIE,
				      "the site sets a cookie with every redirect, without end")
			    : end_with(ING_STATUS_REDIRECTS_EXCEEDED, NULL);
	else if (v->visited(v->ctx, url))
		d = a->set_cookie ? end_with(ING_STATUS_BLOCKED_COOKIE,
					    "the site keeps setting the same cookie")
				  : end_with(ING_STATUS_REDIRECT_LOOP, NULL);
	if (d.step == ING_STEP_END)
		free(url);
	d.dropped_userinfo = dropped;
	return d;
}

static bool mimetype_expected(const struct ing_request *r, const char *mimetype)
{
	if (r->expect_mimetypes == NULL)
		return true;
	for (const char *const *m = r->expect_mimetypes; *m != NULL; m++) {
		if (strcasecmp(*m, mimetype) == 0)
			return true;
	}
	return false;
}

static struct ing_decision accept_document(
	const struct ing_request *r, const struct ing_file_meta *file)
{
	if (!mimetype_expected(r, file->mimetype))
		return end_with(ING_STATUS_WRONG_MIMETYPE, "not among expect_mimetypes");
	return end_with(ING_STATUS_SUCCESS, NULL);
}

static const char *no_link_words(enum ing_page_status page)
{
	if (page == ING_PAGE_TOO_LARGE)
		return "the page is over scrape.max_bytes and was not read";
	if (page == ING_PAGE_PART)
		return "the page is too costly to read whole; only its beginning was";
	return NULL;
}

/* A link that was good when the page was read; the examiner is not believed twice. Heap. */
static char *usable_link(const struct ing_page_link *link, bool *ret_dropped_userinfo)
{
	return link != NULL ? usable_url(link->url, ret_dropped_userinfo) : NULL;
}

/* Takes url. */
static struct ing_decision go_to_link(
	const struct ing_hop_view *v, char *url, bool dropped_userinfo)
{
	struct ing_decision d = {.step = ING_STEP_LINK, .url = url};
	if (is_refused(v->verdict, v->ctx, url, false, &d))
		; /* never asked for */
	else if (v->visited(v->ctx, url))
		d = end_with(ING_STATUS_LINK_LOOP, "the page points to a URL fetched before");
	else if (v->landings >= v->max_hops)
		d = end_with(ING_STATUS_MAX_HOPS_EXCEEDED, NULL);
	if (d.step == ING_STEP_END)
		free(url);
	d.dropped_userinfo = dropped_userinfo;
	return d;
}

/* A page in place of a PDF: where next? */
static struct ing_decision leave_page(
	const struct ing_hop_view *v, const struct ing_request *r, const struct ing_page *page)
{
	const struct ing_page_link *link = ing_hop_link(r, page);
	struct ing_decision d;
	/* A page that leads on is no wall, whatever it looks like; one that leads to itself may
	 * be. */
	if ((link == NULL || link->self) && bears_wall(page, &d))
		return d;
	bool dropped = false;
	char *url = usable_link(link, &dropped);
	if (url != NULL)
		return go_to_link(v, url, dropped);
	return is_wall_page(v, page, &d)
		       ? d
		       : end_with(ING_STATUS_NO_PDF_LINK, no_link_words(page->status));
}

/* A page where one was asked for: it is the document, unless it names another as such. */
static struct ing_decision accept_page(
	const struct ing_hop_view *v, const struct ing_request *r, const struct ing_findings *f)
{
	const struct ing_page_link *link = ing_hop_link(r, &f->page);
	bool dropped = false;
	char *url = link != NULL && !link->self ? usable_link(link, &dropped) : NULL;
	if (url != NULL && !v->visited(v->ctx, url))
		return go_to_link(v, url, dropped);
	free(url);
	struct ing_decision d;
	return is_wall_page(v, &f->page, &d) ? d : accept_document(r, &f->file);
}

/* Statuses with which sites answer robots in place of a page, and a body that says why. */
static bool may_be_wall(const struct ing_answer *a)
{
	if (a->http_status != 401 && a->http_status != 403 && a->http_status != 429 &&
		a->http_status != 503)
		return false;
	return a->outcome == ING_STATUS_SUCCESS && a->body_bytes > 0 &&
	       (a->content_type == NULL || strcasestr(a->content_type, "html") != NULL);
}

/* -------------------------------------------------------------------------------------------- */

struct ing_decision ing_hop_start(const char *base_url, ing_verdict_fn *verdict, void *ctx)
{
	bool dropped = false;
	char *url = usable_url(base_url, &dropped);
	if (url == NULL)
		return end_with(
			ING_STATUS_INVALID_URL, strlen(base_url) > ING_MAX_URL_BYTES
							? "base_url is longer than 8192 bytes"
							: "base_url is not an http or https URL");
	struct ing_decision d = {.step = ING_STEP_LINK, .url = url};
	if (is_refused(verdict, ctx, url, false, &d))
		free(url);
	d.dropped_userinfo = dropped;
	return d;
}

struct ing_decision ing_hop_recheck(
	const char *url, enum ing_hop_via via, ing_verdict_fn *verdict, void *ctx)
{
	struct ing_decision d = {.step = ING_STEP_LINK};
	is_refused(verdict, ctx, url, via == ING_VIA_REDIRECT, &d);
	return d;
}

bool ing_hop_is_redirect(int http_status)
{
	return http_status == 301 || http_status == 302 || http_status == 303 ||
	       http_status == 307 || http_status == 308;
}

char *ing_hop_redirect_target(const char *url, const char *location, bool *ret_dropped_userinfo)
{
	if (strlen(location) > MAX_LOCATION_BYTES)
		return NULL;
	char *resolved = ing_url_resolve(url, location);
	char *usable = resolved != NULL ? usable_url(resolved, ret_dropped_userinfo) : NULL;
	free(resolved);
	return usable;
}

struct ing_decision ing_hop_after_fetch(const struct ing_hop_view *v, const struct ing_answer *a)
{
	/* The body of a redirect does not matter, so neither does how it ended. */
	if (a->answered && ing_hop_is_redirect(a->http_status))
		return follow_redirect(v, a);
	if (a->outcome != ING_STATUS_SUCCESS && !a->answered)
		return end_with(a->outcome, NULL);
	if (may_be_wall(a))
		return (struct ing_decision){.step = ING_STEP_WALLS};
	if (a->http_status != 200 && a->http_status != 226)
		return end_with(ING_STATUS_TERMINAL_BAD_STATUS, NULL);
	if (a->outcome != ING_STATUS_SUCCESS)
		return end_with(a->outcome, NULL);
	if (a->body_bytes == 0)
		return end_with(ING_STATUS_EMPTY_BLOB, NULL);
	return (struct ing_decision){.step = ING_STEP_EXAMINE};
}

struct ing_decision ing_hop_after_examine(
	const struct ing_hop_view *v, const struct ing_request *r, const struct ing_findings *f)
{
	if (f->exam != ING_EXAM_OK)
		return end_with(ing_hop_exam_status(f->exam), NULL);
	if (f->file.size_bytes == 0)
		return end_with(ING_STATUS_EMPTY_BLOB, "nothing is left after decoding");
	const char *mimetype = f->file.mimetype;
	if (r->type == ING_TYPE_HTML) {
		if (strcmp(mimetype, "text/html") != 0 &&
			strcmp(mimetype, "application/xhtml+xml") != 0)
			return end_with(ING_STATUS_WRONG_MIMETYPE, NULL);
		return accept_page(v, r, f);
	}
	if (strcmp(mimetype, "application/pdf") == 0)
		return accept_document(r, &f->file);
	if (ing_mimetype_is_html(mimetype))
		return leave_page(v, r, &f->page);
	return end_with(ING_STATUS_WRONG_MIMETYPE, NULL);
}

enum ing_status ing_hop_exam_status(enum ing_exam exam)
{
	switch (exam) {
	case ING_EXAM_OK:
		break;
	case ING_EXAM_BAD_ENCODING:
		return ING_STATUS_BAD_CONTENT_ENCODING;
	case ING_EXAM_TOO_LARGE:
		return ING_STATUS_BODY_TOO_LARGE;
	case ING_EXAM_CRASH:
		return ING_STATUS_PARSE_CRASH;
	case ING_EXAM_TIMEOUT:
		return ING_STATUS_PARSE_TIMEOUT;
	case ING_EXAM_UNREADABLE:
	case ING_EXAM_WAITED:
		return ING_STATUS_WORKER_ERROR;
	}
	return ING_STATUS_SUCCESS;
}

struct ing_decision ing_hop_after_walls(const struct ing_findings *f)
{
	struct ing_decision d;
	if (f->exam == ING_EXAM_OK && bears_wall(&f->page, &d))
		return d;
	if (f->exam == ING_EXAM_WAITED || f->exam == ING_EXAM_UNREADABLE) /* it may be a wall */
		return end_with(ing_hop_exam_status(f->exam), NULL);
	return end_with(ING_STATUS_TERMINAL_BAD_STATUS, NULL);
}

bool ing_hop_hash_expected(const struct ing_request *r, const struct ing_file_meta *file)
{
	return (r->expect_md5 == NULL || strcasecmp(r->expect_md5, file->md5hex) == 0) &&
	       (r->expect_sha1 == NULL || strcasecmp(r->expect_sha1, file->sha1hex) == 0) &&
	       (r->expect_sha256 == NULL || strcasecmp(r->expect_sha256, file->sha256hex) == 0);
}

const struct ing_page_link *ing_hop_link(const struct ing_request *r, const struct ing_page *page)
{
	const struct ing_page_link *link =
		&page->links[r->type == ING_TYPE_HTML ? ING_LINK_HTML : ING_LINK_PDF];
	bool itself = link->url != NULL && link->self;
	if (r->type != ING_TYPE_HTML && (link->url == NULL || itself) && page->next.url != NULL)
		return &page->next;
	return link->url != NULL ? link : NULL;
}

bool ing_mimetype_is_html(const char *mimetype)
{
	return strstr(mimetype, "html") != NULL || strcmp(mimetype, "application/xml") == 0 ||
	       strcmp(mimetype, "text/xml") == 0;
}
