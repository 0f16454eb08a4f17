/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The order of the checks is the order of the code.
 */
#include "worker/job/hop.h"

#include <stdlib.h>
#include <string.h>

#include "worker/artifact/artifact.h"

/* Main text of an article, and not of a page about one (worker/scrape/publication/page_scope). */
#define FULL_TEXT_WORDS 1200

/* Whether the page has the signature of a wall; then *ret is the end. */
static bool has_wall_signature(const struct ing_page *page, struct ing_decision *ret)
{
	static const enum ing_status statuses[] = {
		[ING_WALL_COOKIE] = ING_STATUS_BLOCKED_COOKIE,
		[ING_WALL_CAPTCHA] = ING_STATUS_BLOCKED_CAPTCHA,
		[ING_WALL_LOGIN] = ING_STATUS_BLOCKED_LOGIN,
		[ING_WALL_CHALLENGE] = ING_STATUS_BLOCKED_CHALLENGE,
	};
	if (page->wall == ING_WALL_NONE)
		return false;
	*ret = ing_target_end(statuses[page->wall], page->wall_detail);
	return true;
}

/* Whether a page that leads nowhere is a wall, by its signature or its URL; then *ret is the end.
 */
static bool is_wall_page(
	const struct ing_hop_view *v, const struct ing_page *page, struct ing_decision *ret)
{
	if (has_wall_signature(page, ret))
		return true;
	if (v->verdict == NULL)
		return false;
	struct ing_url_decision f = v->verdict(v->ctx, v->url);
	if (f.rule == ING_URL_RULE_NONE)
		return false;
	*ret = ing_target_end_at_rule(&f, true);
	return true;
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

static struct ing_decision end_at_document(enum ing_status status, const char *detail)
{
	struct ing_decision d = ing_target_end(status, detail);
	d.is_document = true;
	return d;
}

static struct ing_decision accept_document(
	const struct ing_request *r, const struct ing_file_meta *file)
{
	if (!mimetype_expected(r, file->mimetype))
		return end_at_document(ING_STATUS_WRONG_MIMETYPE, "not among expect_mimetypes");
	return end_at_document(ING_STATUS_SUCCESS, NULL);
}

/* Why a page was not read, or not to its end; NULL: it was. */
static const char *unread_detail(enum ing_page_status page)
{
	if (page == ING_PAGE_TOO_LARGE)
		return "the page is over scrape.max_bytes and was not read";
	if (page == ING_PAGE_PART)
		return "the page is too costly to read whole; only its beginning was";
	return NULL;
}

static const char *no_link_detail(const struct ing_artifact_type *type, enum ing_page_status page)
{
	const char *detail = unread_detail(page);
	return detail != NULL ? detail : type->no_link_detail;
}

/* The examiner has cleaned the URL already, but is not trusted. Heap. */
static char *usable_link(const struct ing_page_link *link, bool *ret_dropped_userinfo)
{
	return link != NULL ? ing_target_clean(link->url, ret_dropped_userinfo) : NULL;
}

/* Takes url. */
static struct ing_decision go_to_link(
	const struct ing_hop_view *v, char *url, bool dropped_userinfo)
{
	struct ing_decision d = {.step = ING_STEP_LINK, .url = url};
	if (ing_target_is_refused(url, ING_VIA_LINK, v->verdict, v->ctx, &d))
		; /* d is the end */
	else if (v->asked_before(v->ctx, url))
		d = ing_target_end(ING_STATUS_LINK_LOOP, "the page points to a URL fetched before");
	else if (v->landings >= v->max_hops)
		d = ing_target_end(ING_STATUS_MAX_HOPS_EXCEEDED, NULL);
	if (d.step == ING_STEP_END)
		free(url);
	d.dropped_userinfo = dropped_userinfo;
	return d;
}

/* A page that is not the document. */
static struct ing_decision leave_page(
	const struct ing_hop_view *v, const struct ing_request *r, const struct ing_page *page)
{
	const struct ing_artifact_type *type = ing_artifact_type(r->type);
	const struct ing_page_link *link = ing_artifact_link(type, page);
	struct ing_decision d;
	/* A page that leads to another one is no wall, even if it has the signature of one. */
	if ((link == NULL || link->self) && has_wall_signature(page, &d))
		return d;
	bool dropped = false;
	char *url = usable_link(link, &dropped);
	if (url != NULL)
		return go_to_link(v, url, dropped);
	if (is_wall_page(v, page, &d))
		return d;
	d = ing_target_end(type->no_link_status, no_link_detail(type, page->status));
	d.is_document = d.status == ING_STATUS_WRONG_MIMETYPE;
	return d;
}

/* The page's link to the full text was asked for and has led to this page, by a redirect, say. If
 * there is much text on it, it is what the link promises. */
static void believe_link(struct ing_page *page, uint32_t words)
{
	if (page->scope == NULL || strcmp(page->scope, "landingpage") != 0 ||
		words <= FULL_TEXT_WORDS)
		return;
	free(page->scope);
	page->scope = ing_strdup("article-fulltext");
}

/* A page that may be the document, unless it links to another one. */
static struct ing_decision accept_page(
	const struct ing_hop_view *v, const struct ing_request *r, struct ing_findings *f)
{
	const struct ing_artifact_type *type = ing_artifact_type(r->type);
	const struct ing_page_link *link = ing_artifact_link(type, &f->page);
	bool dropped = false;
	char *url = link != NULL && !link->self ? usable_link(link, &dropped) : NULL;
	if (url != NULL && !v->asked_before(v->ctx, url))
		return go_to_link(v, url, dropped);
	if (url != NULL)
		believe_link(&f->page, f->text.word_count);
	free(url);
	struct ing_decision d;
	if (is_wall_page(v, &f->page, &d))
		return d;
	d = accept_document(r, &f->file);
	if (d.status != ING_STATUS_SUCCESS || type->judge == NULL)
		return d;
	enum ing_status status = type->judge(&f->page);
	return end_at_document(
		status, status == ING_STATUS_UNKNOWN_SCOPE ? unread_detail(f->page.status) : NULL);
}

/* -------------------------------------------------------------------------------------------- */

struct ing_decision ing_hop_after_examine(
	const struct ing_hop_view *v, const struct ing_request *r, struct ing_findings *f)
{
	if (f->exam != ING_EXAM_OK) {
		struct ing_decision d = ing_target_end(ing_exam_status(f->exam), NULL);
		/* Nobody could look into it, but it is known what it is. */
		d.is_document = f->file.mimetype[0] != '\0';
		return d;
	}
	if (f->file.size_bytes == 0)
		return ing_target_end(ING_STATUS_EMPTY_BLOB, "nothing is left after decoding");
	const char *mimetype = f->file.mimetype;
	const struct ing_artifact_type *type = ing_artifact_type(r->type);
	bool is_page = ing_artifact_is_page(mimetype);
	if (ing_artifact_accepts(type, mimetype))
		return is_page ? accept_page(v, r, f) : accept_document(r, &f->file);
	/* Where pages are the documents, XML that is no XHTML leads to none. */
	bool may_lead_on = is_page && !ing_artifact_accepts(type, "text/html");
	return may_lead_on ? leave_page(v, r, &f->page)
			   : end_at_document(ING_STATUS_WRONG_MIMETYPE, NULL);
}

struct ing_decision ing_hop_after_walls(const struct ing_findings *f)
{
	struct ing_decision d;
	if (f->exam == ING_EXAM_OK && has_wall_signature(&f->page, &d))
		return d;
	if (f->exam == ING_EXAM_NOT_STARTED ||
		f->exam == ING_EXAM_UNREADABLE) /* it may be a wall */
		return ing_target_end(ing_exam_status(f->exam), NULL);
	return ing_target_end(ING_STATUS_TERMINAL_BAD_STATUS, NULL);
}

bool ing_hop_hash_matches(const struct ing_request *r, const struct ing_file_meta *file)
{
	return (r->expect_md5 == NULL || strcasecmp(r->expect_md5, file->md5hex) == 0) &&
	       (r->expect_sha1 == NULL || strcasecmp(r->expect_sha1, file->sha1hex) == 0) &&
	       (r->expect_sha256 == NULL || strcasecmp(r->expect_sha256, file->sha256hex) == 0);
}
