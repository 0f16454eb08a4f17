/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * page_signs.h - signs by which short pages are told that are not an article's full text: errors,
 * logins, paywalls, abstracts, and parts of articles and of journals.
 *
 * For page_scope. They are asked for where nothing surer is known. Pure; any thread that owns the
 * view. Values are static strings or NULL.
 */
#pragma once
#include "worker/scrape/publication/page_scope.h"
#include "worker/scrape/view.h"

/* Returns "errorpage", "blocked-login", "supplement", "component" or NULL. */
const char *ing_page_sign(const struct ing_view *v, const struct ing_page_scope_input *in);
/* Whether the page of an article says that it has to be paid for. */
bool ing_page_is_paywall(const struct ing_view *v, const struct ing_page_scope_input *in);
/* Returns "article-abstract", "issue-fulltext" or NULL. */
const char *ing_page_part_sign(const struct ing_view *v, const struct ing_page_scope_input *in);
