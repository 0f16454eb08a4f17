/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The rules of the hop loop, in the order in which they are asked. No state, no I/O.
 */
#include "worker/job/hop.h"

#include <stdlib.h>
#include <string.h>

#include "common/net/url.h"
#include "worker/limits.h"

static struct ing_decision end_with(enum ing_status status, const char *words)
{
	return (struct ing_decision){.step = ING_STEP_END, .status = status, .words = words};
}

/* Cleaned, absolute, http or https, no fragment, at most ING_MAX_URL_BYTES; else NULL. Heap. */
static char *usable_url(const char *url)
{
	size_t bytes = strlen(url);
	if (bytes > ING_MAX_URL_BYTES)
		return NULL;
	char *clean = ing_url_clean(url, bytes);
	char *bare = NULL;
	if (clean != NULL && ing_url_is_web(clean))
		bare = ing_url_without_fragment(clean);
	free(clean);
	if (bare != NULL && strlen(bare) > ING_MAX_URL_BYTES) {
		free(bare);
		bare = NULL;
	}
	return bare;
}

/* How a request ends whose next URL, or last page, is what f says. */
static struct ing_decision end_at_rule(const struct ing_url_finding *f, enum ing_status wall)
{
	if (f->verdict == ING_URL_BLOCKLIST)
		return end_with(ING_STATUS_SKIP_URL_BLOCKLIST, f->why);
	return end_with(f->verdict == ING_URL_WALL ? wall : ING_STATUS_BLOCKED_COOKIE, f->why);
}

/* Whether the rules keep us from asking for a URL; then *ret is the end. */
static bool is_refused(ing_verdict_fn *verdict, void *ctx, const char *url, enum ing_status wall,
	struct ing_decision *ret)
{
	if (verdict == NULL)
		return false;
	struct ing_url_finding f = verdict(ctx, url);
	if (f.verdict == ING_URL_NONE || f.only_at_end)
		return false;
	*ret = end_at_rule(&f, wall);
	return true;
}

/* Whether the chain would end with a page that is a wall's; then *ret is the end. */
static bool is_wall_page(const struct ing_hop_view *v, struct ing_decision *ret)
{
	if (v->verdict == NULL)
		return false;
	struct ing_url_finding f = v->verdict(v->ctx, v->url);
	if (f.verdict == ING_URL_NONE)
		return false;
	*ret = end_at_rule(&f, ING_STATUS_BLOCKED_WALL);
	return true;
}

static bool is_redirect(int http_status)
{
	return http_status == 301 || http_status == 302 || http_status == 303 ||
	       http_status == 307 || http_status == 308;
}

static struct ing_decision follow_redirect(const struct ing_hop_view *v, const struct ing_answer *a)
{
	if (a->location == NULL || a->location[0] == '\0')
		return end_with(ING_STATUS_BAD_REDIRECT, "a redirect without a Location");
	char *resolved = ing_url_resolve(v->url, a->location);
	char *url = resolved != NULL ? usable_url(resolved) : NULL;
	free(resolved);
	if (url == NULL)
		return end_with(
			ING_STATUS_BAD_REDIRECT, "the Location is not an http or https URL");
	struct ing_decision d = {.step = ING_STEP_REDIRECT, .url = url};
	if (is_refused(v->verdict, v->ctx, url, ING_STATUS_BLOCKED_WALL, &d))
		; /* never asked for */
	else if (v->redirects >= v->max_redirects)
		d = end_with(ING_STATUS_REDIRECTS_EXCEEDED, NULL);
	else if (v->visited(v->ctx, url))
		d = a->set_cookie ? end_with(ING_STATUS_BLOCKED_COOKIE,
					    "the site keeps setting the same cookie")
				  : end_with(ING_STATUS_REDIRECT_LOOP, NULL);
	if (d.step == ING_STEP_END)
		free(url);
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

static bool hash_expected(const struct ing_request *r, const struct ing_file_meta *file)
{
	return (r->expect_md5 == NULL || strcasecmp(r->expect_md5, file->md5hex) == 0) &&
	       (r->expect_sha1 == NULL || strcasecmp(r->expect_sha1, file->sha1hex) == 0) &&
	       (r->expect_sha256 == NULL || strcasecmp(r->expect_sha256, file->sha256hex) == 0);
}

static struct ing_decision accept_document(
	const struct ing_request *r, const struct ing_file_meta *file)
{
	if (!mimetype_expected(r, file->mimetype))
		return end_with(ING_STATUS_WRONG_MIMETYPE, "not among expect_mimetypes");
	if (!hash_expected(r, file))
		return end_with(ING_STATUS_MISMATCH_HASH, NULL);
	return end_with(ING_STATUS_SUCCESS, NULL);
}

static const char *no_link_words(enum ing_page_status page)
{
	if (page == ING_PAGE_TOO_LARGE)
		return "the page is over scrape.max_bytes and was not read";
	if (page == ING_PAGE_TOO_DEEP)
		return "the page is nested too deep; only its beginning was read";
	return NULL;
}

static struct ing_decision follow_link(const struct ing_hop_view *v, const struct ing_page *page)
{
	char *url = page->next_url != NULL ? usable_url(page->next_url) : NULL;
	struct ing_decision d = {.step = ING_STEP_LINK, .url = url};
	if (url == NULL)
		return is_wall_page(v, &d)
			       ? d
			       : end_with(ING_STATUS_NO_PDF_LINK, no_link_words(page->status));
	if (is_refused(v->verdict, v->ctx, url, ING_STATUS_SKIP_WALL, &d))
		; /* never asked for */
	else if (v->visited(v->ctx, url))
		d = end_with(ING_STATUS_LINK_LOOP, "the page points to a URL fetched before");
	else if (v->landings >= v->max_hops)
		d = end_with(ING_STATUS_MAX_HOPS_EXCEEDED, NULL);
	if (d.step == ING_STEP_END)
		free(url);
	return d;
}

static enum ing_status exam_status(enum ing_exam exam)
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
	}
	return ING_STATUS_SUCCESS;
}

/* ----------------------------------------------------------------------------------------------------------
 */

struct ing_decision ing_hop_start(const char *base_url, ing_verdict_fn *verdict, void *ctx)
{
	char *url = usable_url(base_url);
	if (url == NULL)
		return end_with(
			ING_STATUS_INVALID_URL, strlen(base_url) > ING_MAX_URL_BYTES
							? "base_url is longer than 8192 bytes"
							: "base_url is not an http or https URL");
	struct ing_decision d = {.step = ING_STEP_LINK, .url = url};
	if (is_refused(verdict, ctx, url, ING_STATUS_SKIP_WALL, &d))
		free(url);
	return d;
}

struct ing_decision ing_hop_after_fetch(const struct ing_hop_view *v, const struct ing_answer *a)
{
	/* The body of a redirect does not matter, so neither does how it ended. */
	if (a->answered && is_redirect(a->http_status))
		return follow_redirect(v, a);
	if (a->outcome != ING_STATUS_SUCCESS && !a->answered)
		return end_with(a->outcome, NULL);
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
		return end_with(exam_status(f->exam), NULL);
	if (f->file.size_bytes == 0)
		return end_with(ING_STATUS_EMPTY_BLOB, "nothing is left after decoding");
	const char *mimetype = f->file.mimetype;
	if (r->type == ING_TYPE_HTML) {
		if (strcmp(mimetype, "text/html") != 0 &&
			strcmp(mimetype, "application/xhtml+xml") != 0)
			return end_with(ING_STATUS_WRONG_MIMETYPE, NULL);
		struct ing_decision d;
		return is_wall_page(v, &d) ? d : accept_document(r, &f->file);
	}
	if (strcmp(mimetype, "application/pdf") == 0)
		return accept_document(r, &f->file);
	if (ing_mimetype_is_html(mimetype))
		return follow_link(v, &f->page);
	return end_with(ING_STATUS_WRONG_MIMETYPE, NULL);
}

bool ing_mimetype_is_html(const char *mimetype)
{
	return strstr(mimetype, "html") != NULL || strcmp(mimetype, "application/xml") == 0 ||
	       strcmp(mimetype, "text/xml") == 0;
}
