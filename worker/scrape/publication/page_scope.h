/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * page_scope.h - on what platform a page runs, and what kind of page it is.
 *
 * Pure; any thread that owns the view. Values are static strings.
 */
#pragma once
#include "worker/scrape/view.h"

/* ojs3 ojs plone wordpress blogger pubpub arpha galenos journalssystem.com indexcopernicus scielo
 * dspace eprints … or NULL. */
const char *ing_page_platform(const struct ing_view *v);

struct ing_page_scope_input {
	const char *platform; /* of ing_page_platform() */
	const char *html_url; /* link to full text HTML that the page names, or NULL */
	const char *pdf_url;  /* link to the PDF, or NULL */
	bool has_title;       /* the biblio has one */
};
/* article-fulltext landingpage article-sample homepage-domain blocked-cookie blocked-captcha
 * blocked-forbidden stub other unknown. Never NULL. */
const char *ing_page_scope(const struct ing_view *v, const struct ing_page_scope_input *in);
