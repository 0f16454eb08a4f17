/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * filters.h - which requests of a page are for advertisements and trackers, by filter lists in the syntax
 * of EasyList (Adblock Plus, uBlock Origin) or of a hosts file.
 *
 * Owns the rules of all lists. They are added list by list, then sealed, then immutable: any thread. A
 * decision looks at the rules that share a word with the URL, or name the page's host, and at the few that
 * have neither.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "worker/model/found_resources.h"

struct ing_filters;
struct ing_filter_page;

struct ing_filter_counts {
	size_t blocking, exceptions; /* rules in use */
	size_t cosmetic;             /* about the page's looks: ignored */
	size_t inapplicable; /* about nothing that is fetched here: popups, scripts' requests … */
	size_t unsupported; /* with an option that is not known, or an expression that does not compile */
	size_t cancelled; /* by a rule with $badfilter */
};

struct ing_filters *ing_filters_new(void);
void ing_filters_free(struct ing_filters *f); /* NULL is fine */
/* One list. Lines that cannot be used are counted, never an error. */
void ing_filters_add(struct ing_filters *f, const char *text, size_t bytes);
/* No more lists: cancel what $badfilter names, and make the index. */
void ing_filters_seal(struct ing_filters *f);
const struct ing_filter_counts *ing_filters_counts(const struct ing_filters *f);
/* Memory held, for measurements. */
size_t ing_filters_bytes(const struct ing_filters *f);

/* The page whose requests are asked about; url NULL: unknown, and all requests are a third party's. Heap;
 * used with these filters, which outlive it. */
struct ing_filter_page *ing_filter_page_new(const struct ing_filters *f, const char *url);
void ing_filter_page_free(struct ing_filter_page *p); /* NULL is fine */

/* Whether the request of the page is left out. url: as serialised. */
bool ing_filters_block(
	const struct ing_filter_page *p, const char *url, enum ing_resource_type type);
