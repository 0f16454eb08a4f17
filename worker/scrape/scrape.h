/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * scrape.h - everything a page says: its bytes and the rules in, a record of results out.
 *
 * Owns the parser, tree, matcher and scratch memory, which are kept from page to page. Fetches
 * nothing. Runs in examiners and in a child of ingestctl. One thread at a time.
 */
#pragma once
#include <stdbool.h>
#include "common/base/error.h"
#include "common/data/json.h"
#include "worker/model/part_type.h"
#include "worker/scrape/publication/publication.h"
#include "worker/scrape/rules/links.h"
#include "worker/scrape/rules/rules.h"
#include "worker/scrape/rules/wall_signatures.h"
#include "worker/scrape/rules/sites.h"
#include "worker/model/rule_hits.h"

struct ing_publication_fields;
struct ing_scraper;
struct ing_tree;

enum ing_scrape_want {
	ING_SCRAPE_BIBLIO = 1,
	ING_SCRAPE_LINKS = 2, /* links; without a PDF link also the URL built by sites.yaml */
	ING_SCRAPE_WALLS = 4,
	ING_SCRAPE_SCOPE = 8,        /* platform, scope, word count */
	ING_SCRAPE_PUBLICATION = 16, /* parts and page links */
	ING_SCRAPE_WEBPAGE = 32,
	ING_SCRAPE_ALL = 63,
};

struct ing_scrape_input {
	const char *url;  /* of the page, or NULL */
	const void *data; /* content codings removed */
	size_t bytes;
	const char *content_type; /* header value, or NULL */
	bool xml;                 /* parse as XML */
	unsigned want;            /* enum ing_scrape_want bits */
	/* Of PUBLICATION: whence the page was reached. No part gets a better type. */
	enum ing_part_type page_type;
	enum ing_metas_use metas; /* of PUBLICATION */
	/* Name of its site in journals.yaml, whatever its URL; NULL, or unknown there: the site of
	 * its URL. */
	const char *site;
};

enum ing_scrape_end {
	ING_SCRAPE_WHOLE,
	ING_SCRAPE_PART, /* too costly or not well-formed: only what came before */
	ING_SCRAPE_TOO_LARGE,
};

/* Strings and JSON are valid until the next page or free. */
struct ing_scraped {
	enum ing_scrape_end end;
	const char *detail; /* why it is PART or TOO_LARGE; NULL */
	const char *title;  /* of <title>, white space folded, at most 1,000 bytes; NULL */
	const char *site;   /* name of its site in journals.yaml; NULL */
	const char *webpage_rule;
	json_t *biblio; /* NULL: not asked for */
	bool has_biblio;
	struct ing_link links[ING_LINK_KINDS_];
	struct ing_site_next next;
	struct ing_wall_match wall;
	const char *platform, *scope;
	const struct ing_publication_fields *publication; /* NULL: not asked for */
	const struct ing_webpage_fields *webpage;         /* the same */
	uint32_t word_count;
	const struct ing_rule_hits *rule_hits;
};

struct ing_scraper *ing_scraper_new(const struct ing_rules *rules); /* borrowed; may be NULL */
void ing_scraper_free(struct ing_scraper *s);                       /* NULL is fine */
void ing_scraper_clear(struct ing_scraper *s); /* frees the page; keeps a little memory */
/* Scrape a page. Never fails: ret says what could be read within the memory and time of limits.h.
 * */
void ing_scrape(struct ing_scraper *s, const struct ing_scrape_input *in, struct ing_scraped *ret);
/* The page that was scraped last, until ing_scraper_clear(). Borrowed; not const, as links are resolved
 * against its base, which is computed when it is first needed. */
struct ing_tree *ing_scraper_tree(struct ing_scraper *s);
/* Returns the output of `ingestctl scrape`, with every key, as a new reference. */
json_t *ing_scraped_json(const struct ing_scraped *r, const char *url);

/* --- the page at hand, after ing_scrape() and until the next page or ing_scraper_clear() --- */

/* Returns the elements that hold its text, by the rules of its site in journals.yaml (full text and
 * abstract) or else by those in webpages.yaml; none (0) where there is no rule, or it finds
 * nothing. */
const ing_node *ing_scraper_text_nodes(struct ing_scraper *s, size_t *ret_count);
const char *ing_scraper_language(struct ing_scraper *s); /* that it declares, or NULL */
/* Guess the scope anew, now that the words of its main text have been counted. */
void ing_scraper_settle_scope(
	struct ing_scraper *s, uint32_t main_text_words, struct ing_scraped *found);
