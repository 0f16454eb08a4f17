/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * scrape.h - what a page says: its bytes and the rules in, findings out.
 *
 * Owns: the parser, tree, matcher and scratch memory, kept from page to page. Pure: nothing is
 * fetched. Runs inside examiners, and in a child of ingestctl. One thread at a time.
 */
#pragma once
#include <stdbool.h>
#include "common/base/error.h"
#include "common/data/json.h"
#include "worker/scrape/rules/links.h"
#include "worker/scrape/rules/rules.h"
#include "worker/scrape/rules/wall_signatures.h"
#include "worker/scrape/rules/sites.h"
#include "worker/model/rule_hits.h"

struct ing_scraper;

enum ing_scrape_want {
	ING_SCRAPE_BIBLIO = 1,
	ING_SCRAPE_LINKS = 2, /* links, and when there is no PDF link the site's rewrite */
	ING_SCRAPE_WALLS = 4,
	ING_SCRAPE_SCOPE = 8,        /* platform, scope, word count */
	ING_SCRAPE_PUBLICATION = 16, /* parts and page links */
	ING_SCRAPE_WEBPAGE = 32,
	ING_SCRAPE_ALL = 63,
};

struct ing_scrape_input {
	const char *url;  /* the page's own, or NULL */
	const void *data; /* content codings off */
	size_t bytes;
	const char *content_type; /* header value, or NULL */
	bool xml;                 /* read as XML */
	unsigned want;            /* enum ing_scrape_want bits */
};

enum ing_scrape_end {
	ING_SCRAPE_WHOLE,
	/* nested too deep, too costly, or not well-formed: only what came before */
	ING_SCRAPE_PART,
	ING_SCRAPE_TOO_LARGE,
};

/* Strings and JSON are valid until the next page or free. */
struct ing_scraped {
	enum ing_scrape_end end;
	const char *detail; /* words for PART; NULL */
	const char *title;  /* <title>, folded, at most 1,000 bytes; NULL */
	const char *site;   /* journal rule's name; NULL */
	const char *webpage_rule;
	json_t *biblio; /* NULL: not wanted */
	bool has_biblio;
	struct ing_link links[ING_LINK_KINDS_];
	struct ing_site_next next;
	struct ing_wall_match wall;
	const char *platform, *scope;
	json_t *publication, *page_links, *webpage;
	uint32_t word_count;
	const struct ing_rule_hits *rule_hits;
};

struct ing_scraper *ing_scraper_new(const struct ing_rules *rules); /* borrowed; NULL: no rules */
void ing_scraper_free(struct ing_scraper *s);                       /* NULL is fine */
void ing_scraper_clear(struct ing_scraper *s); /* lets the page go; keeps a little memory */
/* Never fails: whatever the bytes, ret says what could be read, within limits.h's memory and
 * time. */
void ing_scrape(struct ing_scraper *s, const struct ing_scrape_input *in, struct ing_scraped *ret);
/* The contract's object of `ingestctl scrape`, every key present. New reference. */
json_t *ing_scraped_json(const struct ing_scraped *r, const char *url);
