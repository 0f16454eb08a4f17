/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * text_nodes.h - the elements of a page that hold its text, as rules say. Pure; any thread that owns
 * the view.
 */
#pragma once
#include "worker/scrape/rules/journals.h"
#include "worker/scrape/rules/webpages.h"
#include "worker/scrape/view.h"

/* Returns the elements that the site's rules for full text and abstract select, or those of the web
 * page's rule for content; in the arena. None (0) where there is no rule, or no full text. Both
 * rules may be NULL. */
const ing_node *ing_text_nodes(const struct ing_view *v, const struct ing_journal_site *site,
	const struct ing_webpage_rule *webpage, size_t *ret_count);
