/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * corresponding_authors.h - corresponding authors: names and e-mail addresses that a site's rules
 * extract, paired.
 *
 * Memory is in the view's arena. One thread.
 */
#pragma once
#include "common/data/json.h"
#include "worker/scrape/publication/extract.h"

#define ING_MAX_CORRESPONDING_AUTHORS 200 /* longer lists are not of corresponding authors */

struct ing_author {
	const char *name, *orcid, *email, *phone, *uri; /* NULL: unknown */
};

struct ing_authors {
	const struct ing_author *items;
	size_t count;
};

/* Returns the e-mail address in a link or attribute, without "mailto:" and what follows '?', with
 * %-escapes and Cloudflare's e-mail protection decoded; NULL when there is none. */
const char *ing_author_email(struct ing_arena *ar, const char *s, size_t bytes);
/* Pair names and addresses, none of them empty. Addresses that are repeated for every name are
 * reduced to one each; if the numbers still differ, the names are dropped. */
struct ing_authors ing_authors_pair(
	struct ing_arena *ar, struct ing_extracted names, struct ing_extracted emails);
/* Returns the authors by the site's rules. */
struct ing_authors ing_authors_of_journal(
	const struct ing_view *v, const struct ing_journal_site *site);
/* [{"name","orcid","email","phone","uri"}], or null when there are none. New reference. */
json_t *ing_authors_json(struct ing_authors authors);
