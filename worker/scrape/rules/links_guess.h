/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * links_guess.h - the last resort: the likeliest of a page's links to PDFs, where no rule knows one.
 *
 * Pure; any thread that owns the view.
 */
#pragma once
#include "worker/scrape/rules/links.h"

/* Returns the page's link to its PDF, chosen among all <a> that look like links to one (technique
 * "guess", its url in the view's arena); url is NULL when none is good enough, or two are nearly
 * equal. */
struct ing_link ing_links_guess(const struct ing_view *v);
