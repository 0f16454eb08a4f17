/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * links_guess.h - whether a link to a PDF leads to the document that its page is about: judged by
 * the link's words, its file's name, the place where it stands, and the page's title and
 * identifiers. A wrong document in an archive is worse than none, so doubt decides against a link.
 *
 * Used for entries of links.yaml whose selector is wide (`judge: true`), and to choose among all
 * links of a page that no rule knows (technique "guess"). All memory is the view's. One thread.
 */
#pragma once
#include <limits.h>
#include "worker/scrape/rules/links.h"

struct ing_guess;

/* What the page says of its document. The view must live as long. */
struct ing_guess *ing_guess_new(const struct ing_view *v);

#define ING_GUESS_NEVER INT_MIN /* it leads to another document */
/* The score of the link that an element makes to an absolute URL: the higher, the likelier. */
int ing_guess_score(const struct ing_guess *g, ing_node n, const char *url);

/* Returns the page's link to its PDF, chosen among all <a> that look like links to one; url is NULL
 * when none is good enough, or two are equally good. */
struct ing_link ing_links_guess(const struct ing_view *v);
