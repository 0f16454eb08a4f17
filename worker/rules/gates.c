/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Lists of URL patterns, as `page:` and `link:` have them.
 */
#include "worker/rules/gates.h"

static void read_list(
	const struct ing_reader *rd, const struct ing_yaml_node *list, struct ing_gates *ret)
{
	static const char *const known[] = {ING_URL_KEYS};
	const struct ing_url_pattern **items =
		ing_arena_alloc(rd->arena, list->count * sizeof(struct ing_url_pattern *) + 1);
	for (const struct ing_yaml_node *item = list->first; item != NULL; item = item->next) {
		struct ing_url_pattern *p = ing_arena_alloc(rd->arena, sizeof(*p));
		if (!ing_read_keys(rd, item, "an item", known, ING_ARRAY_LEN(known)))
			continue;
		if (ing_read_url_keys(rd, item, p) == 0)
			ing_read_error(rd, item, "an item must say which URLs it is about");
		else
			items[ret->count++] = p;
	}
	if (list->count == 0)
		ing_read_error(rd, list, "a list of URLs must not be empty");
	ret->items = items;
}

/* -------------------------------------------------------------------------------------------- */

void ing_gates_read(const struct ing_reader *rd, const struct ing_yaml_node *map, const char *key,
	struct ing_gates *ret)
{
	*ret = (struct ing_gates){0};
	const struct ing_yaml_node *value = ing_yaml_get(map, key);
	if (value == NULL)
		return;
	ret->given = true;
	if (value->kind == ING_YAML_LIST) {
		read_list(rd, value, ret);
		return;
	}
	const struct ing_url_pattern *one = ing_read_url_pattern(rd, map, key);
	if (one == NULL)
		return;
	const struct ing_url_pattern **items =
		ing_arena_alloc(rd->arena, sizeof(struct ing_url_pattern *));
	items[0] = one;
	ret->items = items;
	ret->count = 1;
}

bool ing_gates_open(const struct ing_gates *g, const struct ing_url_target *target)
{
	if (!g->given)
		return true;
	for (size_t i = 0; target != NULL && i < g->count; i++) {
		if (ing_url_matches(g->items[i], target))
			return true;
	}
	return false;
}

bool ing_gates_open_url(const struct ing_gates *g, const char *url)
{
	if (!g->given)
		return true;
	struct ing_url_target *target = ing_url_target_new(url);
	bool open = ing_gates_open(g, target);
	ing_url_target_free(target);
	return open;
}
