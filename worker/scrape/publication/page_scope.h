/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * page_scope.h - the software that made a page (platform), and the kind of content on it (scope),
 * in sandcrawler's terms.
 *
 * Pure; any thread that owns the view. Values are static strings.
 */
#pragma once
#include "worker/scrape/view.h"

/* Returns ojs3 ojs plone wordpress blogger pubpub arpha galenos journalssystem.com indexcopernicus
 * scielo dspace eprints …, or NULL when unknown. */
const char *ing_page_platform(const struct ing_view *v);

struct ing_page_scope_input {
	const char *platform; /* of ing_page_platform() */
	const char *html_url; /* the page's link to full text in HTML, or NULL */
	const char *pdf_url;  /* the page's link to the PDF, or NULL */
	bool has_title;       /* the biblio has one */
};
/* Returns article-fulltext article-abstract article-sample landingpage issue-fulltext supplement
 * component homepage-domain errorpage blocked-cookie blocked-captcha blocked-forbidden
 * blocked-login blocked-paywall stub other unknown. Never NULL. */
const char *ing_page_scope(const struct ing_view *v, const struct ing_page_scope_input *in);
