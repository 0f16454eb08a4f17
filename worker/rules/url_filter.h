/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * url_filter.h - the `page:` and `link:` of rules: one map about URLs, or a list of such maps any of
 * which is enough.
 *
 * Read once, into the arena of the rules; immutable, any thread.
 */
#pragma once
#include <stdbool.h>
#include "worker/rules/rule_reader.h"

struct ing_url_filter {
	const struct ing_url_pattern *const *items;
	size_t count;
	bool given; /* the key is there; else everything passes */
};

/* Read a key. What is wrong goes into the report; a gate that is wrong lets nothing pass. */
void ing_url_filter_read(const struct ing_rule_reader *rd, const struct ing_yaml_node *map,
	const char *key, struct ing_url_filter *ret);
/* Does a page or link pass? NULL: its address is unknown, and only passes where there is no
 * gate. */
bool ing_url_filter_matches(const struct ing_url_filter *f, const struct ing_url_target *target);
/* The same for a URL at hand; parses it only if there is a gate. */
bool ing_url_filter_matches_url(const struct ing_url_filter *f, const char *url);
