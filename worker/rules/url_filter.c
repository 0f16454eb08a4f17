/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reads the lists of URL patterns under `page` and `link`.
 */
#include "worker/rules/url_filter.h"

static void read_list(const struct ing_rule_reader *rd, const struct ing_yaml_node *list,
	struct ing_url_filter *ret)
{
	static const char *const known[] = {ING_URL_KEYS};
	const struct ing_url_pattern **items =
		ing_arena_alloc(rd->arena, list->count * sizeof(struct ing_url_pattern *) + 1);
	for (const struct ing_yaml_node *item = list->first; item != NULL; item = item->next) {
		struct ing_url_pattern *p = ing_arena_alloc(rd->arena, sizeof(*p));
		if (!ing_rule_read_keys(rd, item, "an item", known, ING_ARRAY_LEN(known)))
			continue;
		if (ing_rule_read_url_keys(rd, item, p) == 0)
			ing_rule_read_error(rd, item,
				"an item needs one of host, path, path_contains, path_ends, query, contains");
		else
			items[ret->count++] = p;
	}
	if (list->count == 0)
		ing_rule_read_error(rd, list, "a list of URLs must not be empty");
	ret->items = items;
}

/* -------------------------------------------------------------------------------------------- */

void ing_url_filter_read(const struct ing_rule_reader *rd, const struct ing_yaml_node *map,
	const char *key, struct ing_url_filter *ret)
{
	*ret = (struct ing_url_filter){0};
	const struct ing_yaml_node *value = ing_yaml_get(map, key);
	if (value == NULL)
		return;
	ret->given = true;
	if (value->kind == ING_YAML_LIST) {
		read_list(rd, value, ret);
		return;
	}
	const struct ing_url_pattern *one = ing_rule_read_url_pattern(rd, map, key);
	if (one == NULL)
		return;
	const struct ing_url_pattern **items =
		ing_arena_alloc(rd->arena, sizeof(struct ing_url_pattern *));
	items[0] = one;
	ret->items = items;
	ret->count = 1;
}

bool ing_url_filter_matches(const struct ing_url_filter *f, const struct ing_url_target *target)
{
	if (!f->given)
		return true;
	for (size_t i = 0; target != NULL && i < f->count; i++) {
		if (ing_url_matches(f->items[i], target))
			return true;
	}
	return false;
}

bool ing_url_filter_matches_url(const struct ing_url_filter *f, const char *url)
{
	if (!f->given)
		return true;
	struct ing_url_target *target = ing_url_target_new(url);
	bool matches = ing_url_filter_matches(f, target);
	ing_url_target_free(target);
	return matches;
}
