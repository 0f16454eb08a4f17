/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Paths, values and reasons of a source's file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/nearest.h"
#include "worker/rules/rule_reader.h"
#include "worker/seeds/source_priv.h"

#define MAX_STEPS 16

/* Steps are divided by dots, but for those in brackets. */
static size_t step_bytes(const char *s)
{
	size_t n = 0;
	bool in_brackets = false;
	while (s[n] != '\0' && (in_brackets || s[n] != '.')) {
		in_brackets = s[n] == '[' || (in_brackets && s[n] != ']');
		n++;
	}
	return n;
}

/* "name" or "name[where=is]"; false after an error. */
static bool read_step(const struct ing_seed_loader *l, const struct ing_yaml_node *scalar,
	const char *s, size_t bytes, struct ing_seed_step *ret)
{
	struct ing_arena *ar = l->rd->arena;
	const char *open = memchr(s, '[', bytes);
	size_t name_bytes = open != NULL ? (size_t)(open - s) : bytes;
	if (name_bytes == 0) {
		ing_rule_read_error(
			l->rd, scalar, "a step of a path is empty: \"%.100s\"", scalar->text);
		return false;
	}
	*ret = (struct ing_seed_step){.name = ing_arena_strndup(ar, s, name_bytes)};
	if (open == NULL)
		return true;
	const char *end = s + bytes - 1;
	const char *equal = memchr(open, '=', (size_t)(end - open));
	if (*end != ']' || equal == NULL || equal == open + 1 || equal + 1 == end) {
		ing_rule_read_error(l->rd, scalar,
			"brackets in a path must be NAME[MEMBER=TEXT]: \"%.100s\"", scalar->text);
		return false;
	}
	ret->where = ing_arena_strndup(ar, open + 1, (size_t)(equal - open - 1));
	ret->is = ing_arena_strndup(ar, equal + 1, (size_t)(end - equal - 1));
	return true;
}

static const struct ing_seed_pair *read_pairs(
	const struct ing_seed_loader *l, const struct ing_yaml_node *map)
{
	const struct ing_seed_pair *first = NULL;
	const struct ing_seed_pair **last = &first;
	for (const struct ing_yaml_node *key = map->first; key != NULL; key = key->next) {
		struct ing_seed_pair *p = ing_arena_alloc(l->rd->arena, sizeof(*p));
		if (key->value->kind != ING_YAML_SCALAR) {
			ing_rule_read_error(l->rd, key->value, "a value of map must be a text");
			continue;
		}
		p->from = ing_arena_strdup(l->rd->arena, key->text);
		p->to = ing_yaml_is_null(key->value) ? NULL : ing_seed_text(l, key->value);
		*last = p;
		last = &p->next;
	}
	return first;
}

/* A text or a list of texts: fn for each. */
static void each_scalar(const struct ing_seed_loader *l, const struct ing_yaml_node *node,
	const char *what,
	void (*fn)(const struct ing_seed_loader *l, const struct ing_yaml_node *scalar, void *ctx),
	void *ctx)
{
	if (node->kind == ING_YAML_SCALAR) {
		fn(l, node, ctx);
		return;
	}
	if (node->kind == ING_YAML_MAP || node->count == 0) {
		ing_rule_read_error(l->rd, node, "%s must be a text or a list of texts", what);
		return;
	}
	for (const struct ing_yaml_node *n = node->first; n != NULL; n = n->next) {
		if (n->kind == ING_YAML_SCALAR)
			fn(l, n, ctx);
		else
			ing_rule_read_error(l->rd, n, "%s must be a text or a list of texts", what);
	}
}

static void add_path(const struct ing_seed_loader *l, const struct ing_yaml_node *scalar, void *ctx)
{
	const struct ing_seed_path ***last = ctx;
	struct ing_seed_path *p = ing_seed_path_read(l, scalar);
	if (p == NULL)
		return;
	**last = p;
	*last = &p->next;
}

static void add_normal(
	const struct ing_seed_loader *l, const struct ing_yaml_node *scalar, void *ctx)
{
	struct ing_seed_value *v = ctx;
	for (int i = 0; ing_seed_normal_names[i] != NULL; i++) {
		if (strcmp(ing_seed_normal_names[i], scalar->text) != 0)
			continue;
		if (v->as_count == ING_SEED_MAX_NORMALS)
			ing_rule_read_error(
				l->rd, scalar, "more than %d normal forms", ING_SEED_MAX_NORMALS);
		else
			v->as[v->as_count++] = (enum ing_seed_normal)i;
		return;
	}
	struct ing_nearest n = ing_nearest_of(scalar->text, scalar->bytes);
	for (int i = 0; ing_seed_normal_names[i] != NULL; i++)
		ing_nearest_try(&n, ing_seed_normal_names[i]);
	ing_rule_read_error(l->rd, scalar, "there is no normal form \"%.60s\"%s%s", scalar->text,
		n.best != NULL ? "; did you mean " : "", n.best != NULL ? n.best : "");
}

static void add_word(const struct ing_seed_loader *l, const struct ing_yaml_node *scalar, void *ctx)
{
	struct ing_seed_value *v = ctx;
	const char **words = ing_arena_alloc(l->rd->arena, (v->only_count + 1) * sizeof(*words));
	if (v->only_count > 0)
		memcpy(words, v->only, v->only_count * sizeof(*words));
	words[v->only_count++] = ing_arena_strdup(l->rd->arena, scalar->text);
	v->only = words;
}

static void read_parts(const struct ing_seed_loader *l, const struct ing_yaml_node *map,
	const struct ing_yaml_node *list, struct ing_seed_value *ret)
{
	static const char *const known[] = {ING_SEED_VALUE_KEYS};
	struct ing_seed_value *parts =
		ing_arena_alloc(l->rd->arena, (list->count + 1) * sizeof(*parts));
	if (list->count == 0)
		ing_rule_read_error(l->rd, map, "parts must not be empty");
	for (const struct ing_yaml_node *n = list->first; n != NULL; n = n->next) {
		if (n->kind == ING_YAML_MAP && ing_yaml_get(n, "parts") != NULL) {
			ing_rule_read_error(l->rd, n, "parts have no parts");
			continue;
		}
		if (n->kind == ING_YAML_MAP)
			ing_rule_read_keys(l->rd, n, "a part", known, ING_ARRAY_LEN(known));
		ing_seed_value_read(l, n, &parts[ret->part_count++]);
	}
	ret->parts = parts;
}

static const char *read_text(
	const struct ing_seed_loader *l, const struct ing_yaml_node *map, const char *key)
{
	const struct ing_yaml_node *scalar = ing_rule_read_scalar(l->rd, map, key);
	return scalar != NULL ? ing_seed_text(l, scalar) : NULL;
}

/* -------------------------------------------------------------------------------------------- */

struct ing_seed_path *ing_seed_path_read(
	const struct ing_seed_loader *l, const struct ing_yaml_node *scalar)
{
	struct ing_seed_step steps[MAX_STEPS];
	size_t count = 0;
	const char *s = ing_seed_text(l, scalar);
	if (s == NULL)
		return NULL; /* an option that is not given */
	for (bool more = true; more;) {
		size_t n = step_bytes(s);
		if (count == MAX_STEPS) {
			ing_rule_read_error(
				l->rd, scalar, "a path has more than %d steps", MAX_STEPS);
			return NULL;
		}
		if (!read_step(l, scalar, s, n, &steps[count++]))
			return NULL;
		more = s[n] == '.';
		s += n + (more ? 1 : 0);
	}
	struct ing_seed_path *p = ing_arena_alloc(l->rd->arena, sizeof(*p));
	p->of_item =
		l->item != NULL && steps[0].where == NULL && strcmp(steps[0].name, l->item) == 0;
	p->count = count - (p->of_item ? 1 : 0);
	struct ing_seed_step *copy = ing_arena_alloc(l->rd->arena, (p->count + 1) * sizeof(*copy));
	memcpy(copy, steps + (p->of_item ? 1 : 0), p->count * sizeof(*copy));
	p->steps = copy;
	p->id = l->source->path_count++;
	return p;
}

void ing_seed_value_read(const struct ing_seed_loader *l, const struct ing_yaml_node *node,
	struct ing_seed_value *ret)
{
	*ret = (struct ing_seed_value){0};
	if (node->kind == ING_YAML_SCALAR) {
		if (node->bytes == 0 || ing_yaml_is_null(node) || strlen(node->text) != node->bytes)
			ing_rule_read_error(
				l->rd, node, "a constant must not be empty or contain NUL");
		else
			ret->constant = ing_seed_text(l, node);
		return;
	}
	if (node->kind != ING_YAML_MAP) {
		ing_rule_read_error(l->rd, node, "a value must be a text or a map, not %s",
			ing_yaml_kind_name(node));
		return;
	}
	const struct ing_seed_path **last = &ret->paths;
	const struct ing_yaml_node *path = ing_yaml_get(node, "path");
	const struct ing_yaml_node *as = ing_yaml_get(node, "as");
	const struct ing_yaml_node *only = ing_yaml_get(node, "only");
	const struct ing_yaml_node *map = ing_rule_read_node(l->rd, node, "map", ING_YAML_MAP);
	const struct ing_yaml_node *parts = ing_rule_read_node(l->rd, node, "parts", ING_YAML_LIST);
	static const char *const which[] = {"first", "last"};
	if (path != NULL)
		each_scalar(l, path, "path", add_path, &last);
	if (as != NULL)
		each_scalar(l, as, "as", add_normal, ret);
	if (only != NULL)
		each_scalar(l, only, "only", add_word, ret);
	if (parts != NULL)
		read_parts(l, node, parts, ret);
	ret->last = ing_rule_read_enum(l->rd, node, "which", which, ING_ARRAY_LEN(which)) == 1;
	ret->mapped = map != NULL;
	if (map != NULL)
		ret->map = read_pairs(l, map);
	ret->constant = read_text(l, node, "const");
	ret->otherwise = read_text(l, node, "otherwise");
	ret->before = read_text(l, node, "before");
	ret->after = read_text(l, node, "after");
	ret->fallback = read_text(l, node, "default");
	if ((path != NULL) + (ing_yaml_get(node, "const") != NULL) +
			(ing_yaml_get(node, "parts") != NULL) !=
		1)
		ing_rule_read_error(l->rd, node, "a value needs one of path, parts, const");
	if (map == NULL && ing_yaml_get(node, "otherwise") != NULL)
		ing_rule_read_error(l->rd, node, "otherwise needs a map");
}

bool ing_seed_value_of_item(const struct ing_seed_value *v)
{
	for (const struct ing_seed_path *p = v->paths; p != NULL; p = p->next)
		if (p->of_item)
			return true;
	for (size_t i = 0; i < v->part_count; i++)
		if (ing_seed_value_of_item(&v->parts[i]))
			return true;
	return false;
}

unsigned ing_seed_reason_read(
	const struct ing_seed_loader *l, const struct ing_yaml_node *map, unsigned fallback)
{
	struct ing_seed_source *s = l->source;
	const struct ing_yaml_node *scalar = ing_rule_read_scalar(l->rd, map, "reason");
	if (scalar == NULL)
		return fallback;
	if (strspn(scalar->text, "abcdefghijklmnopqrstuvwxyz0123456789-") != scalar->bytes) {
		ing_rule_read_error(
			l->rd, scalar, "a reason has small letters, digits and hyphens only");
		return fallback;
	}
	for (unsigned i = 0; i < s->reason_count; i++)
		if (strcmp(s->reasons[i], scalar->text) == 0)
			return i;
	if (s->reason_count == s->reason_cap) {
		s->reason_cap = s->reason_cap * 2 + 16;
		s->reasons = ing_realloc(s->reasons, s->reason_cap * sizeof(*s->reasons));
	}
	s->reasons[s->reason_count] = ing_arena_strdup(l->rd->arena, scalar->text);
	return s->reason_count++;
}
