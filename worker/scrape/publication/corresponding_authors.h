/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * corresponding_authors.h - corresponding authors: names and e-mail addresses that a site's rules pick, brought
 * together.
 *
 * Memory is the view's arena's. One thread.
 */
#pragma once
#include "common/data/json.h"
#include "worker/scrape/publication/extract.h"

#define ING_MAX_CORRESPONDING_AUTHORS                                                              \
	200 /* authors; what is more is a list of all people on a site */

struct ing_author {
	const char *name, *orcid, *email, *phone, *uri; /* NULL: not known */
};

struct ing_authors {
	const struct ing_author *items;
	size_t count;
};

/* The address in a link or attribute: "mailto:" and what follows '?' off, %-escapes decoded, the
 * addresses that one hosting network hides in its links unhidden. NULL when it is none. */
const char *ing_author_email(struct ing_arena *ar, const char *s, size_t bytes);
/* Pair names and addresses (none of them empty): repeated addresses are reduced to what one round
 * of the names needs; if the numbers still differ, the names are dropped. */
struct ing_authors ing_authors_pair(
	struct ing_arena *ar, struct ing_extracted names, struct ing_extracted emails);
/* By the site's rules. */
struct ing_authors ing_authors_of_journal(
	const struct ing_view *v, const struct ing_journal_site *site);
/* [{"name","orcid","email","phone","uri"}], or null when there are none. New reference. */
json_t *ing_authors_json(struct ing_authors authors);
