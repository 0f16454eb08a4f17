/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * view_helper.h - a view of a page that is given as text, for the tests of what reads views.
 *
 * Owns all that the view points to; kept from page to page, as examiners keep it. One thread.
 */
#pragma once
#include "worker/model/rule_hits.h"
#include "worker/scrape/view.h"

struct ing_html;

struct view_helper {
	struct ing_html *html;
	struct ing_arena arena;
	struct ing_rule_hits rule_hits;
	struct ing_url_target *target;
	char *copy; /* of the page, without slack */
	struct ing_view view;
};

void view_helper_init(struct view_helper *h);
void view_helper_done(struct view_helper *h);
/* Read a page; what the last one gave is gone. url may be NULL. All of the view is set but its
 * matcher; words are counted by white space. */
const struct ing_view *view_helper_read(
	struct view_helper *h, const char *page, size_t bytes, const char *url);
