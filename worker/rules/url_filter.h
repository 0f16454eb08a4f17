/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * url_filter.h - filters of URLs: the keys `page` and `link` of rules, one map about URLs or a list
 * of such maps, one of which must match.
 *
 * Read into the arena of the rules. Immutable once read: any thread.
 */
#pragma once
#include <stdbool.h>
#include "worker/rules/rule_reader.h"

struct ing_url_filter {
	const struct ing_url_pattern *const *items;
	size_t count;
	bool given; /* the key is there; without it every URL matches */
};

/* Read a key. Errors go to the report; an invalid filter matches nothing. */
void ing_url_filter_read(const struct ing_rule_reader *rd, const struct ing_yaml_node *map,
	const char *key, struct ing_url_filter *ret);
/* Returns whether the filter matches; target NULL (the URL is unknown) matches only a filter that
 * is not given. */
bool ing_url_filter_matches(const struct ing_url_filter *f, const struct ing_url_target *target);
/* The same for a URL, which is parsed only if the filter is given. */
bool ing_url_filter_matches_url(const struct ing_url_filter *f, const char *url);
