/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Texts go through two buffers in turn, one normal form after the other.
 */
#include "worker/seeds/value.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/net/url.h"
#include "worker/seeds/path.h"

struct visit {
	struct ing_seed_scope *scope;
	const struct ing_seed_value *value;
	ing_seed_value_f *fn;
	void *ctx;
	bool any;
	bool refused; /* by the map: then there is no default */
};

static void trim(const char **s, size_t *bytes)
{
	const unsigned char *u = (const unsigned char *)*s;
	bool plain = *bytes > 0 && u[0] > 0x20 && u[0] < 0x80 && u[*bytes - 1] > 0x20 &&
		     u[*bytes - 1] < 0x80;
	if (!plain)
		ing_url_trim(s, bytes);
}

static bool is_word(const char *word, const char *s, size_t bytes)
{
	return strlen(word) == bytes && strncasecmp(word, s, bytes) == 0;
}

/* False: the map has nothing for it. */
static bool map_text(const struct ing_seed_value *v, const char **s, size_t *bytes)
{
	const struct ing_seed_pair *p = v->map;
	while (p != NULL && !is_word(p->from, *s, *bytes))
		p = p->next;
	const char *to = p != NULL ? p->to : v->otherwise;
	*s = to;
	*bytes = to != NULL ? strlen(to) : 0;
	return to != NULL;
}

static bool has_prefix(const char *const *words, size_t count, const char *s, size_t bytes)
{
	for (size_t i = 0; i < count; i++) {
		size_t n = strlen(words[i]);
		if (n <= bytes && strncasecmp(words[i], s, n) == 0)
			return true;
	}
	return false;
}

static bool visit_text(struct visit *w, const char *s, size_t bytes)
{
	const struct ing_seed_value *v = w->value;
	trim(&s, &bytes);
	if (bytes == 0 && !v->mapped)
		return false;
	if (v->only != NULL && !has_prefix(v->only, v->only_count, s, bytes))
		return false;
	for (size_t i = 0; i < v->as_count; i++) {
		struct ing_buf *to = &w->scope->scratch[i % 2];
		ing_buf_clear(to);
		if (!ing_seed_normalise(v->as[i], s, bytes, to) || to->failed)
			return false;
		s = ing_buf_str(to);
		bytes = to->len;
	}
	if (v->mapped && !map_text(v, &s, &bytes)) {
		w->refused = true;
		return false;
	}
	w->any = true;
	return w->fn(w->ctx, s, bytes);
}

static bool visit_leaf(void *ctx, const json_t *value)
{
	char number[ING_SEED_NUMBER_BYTES];
	const char *s;
	size_t bytes;
	return ing_seed_leaf_text(value, number, &s, &bytes) && visit_text(ctx, s, bytes);
}

static bool visit_cell(
	const struct ing_seed_scope *scope, const struct ing_seed_path *path, struct visit *w)
{
	size_t column = scope->columns[path->id];
	return column < scope->cell_count && scope->cells[column].text != NULL &&
	       visit_text(w, scope->cells[column].text, scope->cells[column].bytes);
}

static bool visit_path(struct visit *w, const struct ing_seed_path *path)
{
	const struct ing_seed_scope *scope = w->scope;
	if (!path->of_item)
		return scope->object != NULL ? ing_seed_walk(path, scope->object, visit_leaf, w)
					     : visit_cell(scope, path, w);
	if (scope->item.json != NULL)
		return ing_seed_walk(path, scope->item.json, visit_leaf, w);
	return path->count == 0 && scope->item.text != NULL &&
	       visit_text(w, scope->item.text, scope->item.bytes);
}

struct first {
	const struct ing_seed_value *value;
	bool escape;
	struct ing_buf *ret;
	size_t begin; /* of the value in ret */
};

static void add_escaped(struct ing_buf *to, const char *s, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		if (s[i] == '%' || s[i] == '?' || s[i] == '#')
			ing_buf_printf(to, "%%%02X", (unsigned)(unsigned char)s[i]);
		else
			ing_buf_add_char(to, s[i]);
	}
}

static bool take_first(void *ctx, const char *s, size_t bytes)
{
	const struct first *f = ctx;
	const struct ing_seed_value *v = f->value;
	if (f->ret->len > f->begin) /* the last one counts */
		f->ret->data[f->ret->len = f->begin] = '\0';
	if (v->before != NULL)
		ing_buf_add_str(f->ret, v->before);
	if (f->escape && (v->before != NULL || v->after != NULL))
		add_escaped(f->ret, s, bytes);
	else
		ing_buf_add(f->ret, s, bytes);
	if (v->after != NULL)
		ing_buf_add_str(f->ret, v->after);
	return !v->last;
}

static bool add_first(struct ing_seed_scope *scope, const struct ing_seed_value *v, bool escape,
	struct ing_buf *ret)
{
	struct first f = {.value = v, .escape = escape, .ret = ret, .begin = ret->len};
	struct visit w = {.scope = scope, .value = v, .fn = take_first, .ctx = &f};
	if (v->constant != NULL)
		return ing_buf_add_str(ret, v->constant);
	for (const struct ing_seed_path *p = v->paths; p != NULL && !w.any; p = p->next)
		visit_path(&w, p);
	if (!w.any && !w.refused && v->fallback != NULL)
		return ing_buf_add_str(ret, v->fallback);
	return w.any;
}

struct items {
	ing_seed_item_f *fn;
	void *ctx;
};

static bool visit_item(void *ctx, const json_t *value)
{
	const struct items *items = ctx;
	const struct ing_seed_node item = {.json = value};
	return items->fn(items->ctx, &item);
}

/* --- rules --- */

static bool has_word(const struct ing_seed_rule *rule, const char *s, size_t bytes)
{
	for (size_t i = 0; i < rule->word_count; i++)
		if (is_word(rule->words[i], s, bytes))
			return true;
	return false;
}

static bool contains_word(const char *word, const char *s, size_t bytes)
{
	size_t n = strlen(word);
	for (size_t i = 0; i + n <= bytes; i++)
		if (strncasecmp(word, s + i, n) == 0)
			return true;
	return false;
}

static bool has_part(const struct ing_seed_rule *rule, const char *s, size_t bytes)
{
	for (size_t i = 0; i < rule->word_count; i++)
		if (contains_word(rule->words[i], s, bytes))
			return true;
	return false;
}

static bool has_host(
	const struct ing_seed_rule *rule, const char *s, size_t bytes, const char *host)
{
	char found[ING_URL_HOST_BYTES];
	if (host != NULL)
		return ing_seed_hosts_have(rule, host);
	char *copy = ing_strndup(s, bytes);
	bool has = ing_url_host(copy, found, sizeof(found)) && ing_seed_hosts_have(rule, found);
	free(copy);
	return has;
}

/* Whether the text has what the rule names; what that means: is_negative(). */
static bool has(const struct ing_seed_rule *rule, const char *s, size_t bytes, const char *host)
{
	switch (rule->test) {
	case ING_SEED_IN:
	case ING_SEED_NOT_IN:
		return has_word(rule, s, bytes);
	case ING_SEED_PREFIX:
	case ING_SEED_NOT_PREFIX:
		return has_prefix(rule->words, rule->word_count, s, bytes);
	case ING_SEED_CONTAINS:
	case ING_SEED_CONTAINS_NONE:
		return has_part(rule, s, bytes);
	case ING_SEED_HOSTS:
	case ING_SEED_NOT_HOSTS:
		return has_host(rule, s, bytes, host);
	case ING_SEED_LONGER:
		return bytes > rule->number;
	case ING_SEED_PRESENT:
		return true;
	case ING_SEED_MISSING:
		break;
	}
	return false;
}

static bool is_negative(enum ing_seed_test test)
{
	return test == ING_SEED_NOT_IN || test == ING_SEED_NOT_PREFIX ||
	       test == ING_SEED_CONTAINS_NONE || test == ING_SEED_NOT_HOSTS;
}

struct probe {
	const struct ing_seed_rule *rule;
	bool any, has;
};

static bool probe_value(void *ctx, const char *s, size_t bytes)
{
	struct probe *p = ctx;
	p->any = true;
	p->has = has(p->rule, s, bytes, NULL);
	return p->has;
}

static bool judge(const struct probe *p)
{
	if (!p->any)
		return p->rule->missing;
	if (p->rule->test == ING_SEED_MISSING)
		return false;
	return p->has != is_negative(p->rule->test);
}

static bool is_number(const char *s)
{
	return s[0] != '\0' && strspn(s, "0123456789") == strlen(s) && strlen(s) < 6;
}

/* -------------------------------------------------------------------------------------------- */

void ing_seed_scope_init(struct ing_seed_scope *scope, const struct ing_seed_source *source)
{
	*scope = (struct ing_seed_scope){0};
	scope->columns = ing_alloc((source->path_count + 1) * sizeof(*scope->columns));
	for (unsigned i = 0; i < source->path_count; i++)
		scope->columns[i] = SIZE_MAX;
	for (size_t i = 0; i < ING_ARRAY_LEN(scope->scratch); i++)
		ing_buf_init(&scope->scratch[i], ING_SEED_MAX_RECORD_BYTES);
}

void ing_seed_scope_done(struct ing_seed_scope *scope)
{
	free(scope->columns);
	for (size_t i = 0; i < ING_ARRAY_LEN(scope->scratch); i++)
		ing_buf_done(&scope->scratch[i]);
}

void ing_seed_path_columns(struct ing_seed_scope *scope, const struct ing_seed_path *path,
	const struct ing_seed_cell *names, size_t count)
{
	for (; path != NULL; path = path->next) {
		if (path->of_item || path->count != 1)
			continue;
		const char *name = path->steps[0].name;
		size_t i = 0;
		while (i < count && !is_word(name, names[i].text, names[i].bytes))
			i++;
		if (i == count) /* by its position, from 1 */
			i = is_number(name) ? (size_t)strtoul(name, NULL, 10) - 1 : SIZE_MAX;
		scope->columns[path->id] = i;
	}
}

void ing_seed_value_columns(struct ing_seed_scope *scope, const struct ing_seed_value *v,
	const struct ing_seed_cell *names, size_t count)
{
	if (v == NULL)
		return;
	ing_seed_path_columns(scope, v->paths, names, count);
	for (size_t i = 0; i < v->part_count; i++)
		ing_seed_path_columns(scope, v->parts[i].paths, names, count);
}

void ing_seed_each_value(struct ing_seed_scope *scope, const struct ing_seed_value *v,
	ing_seed_value_f *fn, void *ctx)
{
	struct visit w = {.scope = scope, .value = v, .fn = fn, .ctx = ctx};
	if (v->constant != NULL)
		fn(ctx, v->constant, strlen(v->constant));
	for (const struct ing_seed_path *p = v->paths; p != NULL && !w.any; p = p->next)
		visit_path(&w, p);
}

bool ing_seed_first_value(struct ing_seed_scope *scope, const struct ing_seed_value *v, bool escape,
	struct ing_buf *ret)
{
	bool has = true;
	ing_buf_clear(ret);
	if (v->parts == NULL)
		return add_first(scope, v, escape, ret);
	for (size_t i = 0; i < v->part_count && has; i++)
		has = add_first(scope, &v->parts[i], escape, ret);
	return has;
}

void ing_seed_each_item(struct ing_seed_scope *scope, const struct ing_seed_path *each,
	ing_seed_item_f *fn, void *ctx)
{
	if (scope->object != NULL) {
		struct items items = {fn, ctx};
		ing_seed_walk(each, scope->object, visit_item, &items);
		return;
	}
	size_t column = scope->columns[each->id];
	if (column >= scope->cell_count || scope->cells[column].text == NULL)
		return;
	const struct ing_seed_node item = {
		.text = scope->cells[column].text, .bytes = scope->cells[column].bytes};
	fn(ctx, &item);
}

bool ing_seed_rule_matches(struct ing_seed_scope *scope, const struct ing_seed_rule *rule)
{
	struct probe p = {.rule = rule};
	ing_seed_each_value(scope, &rule->value, probe_value, &p);
	return judge(&p);
}

bool ing_seed_rule_matches_text(
	const struct ing_seed_rule *rule, const char *s, size_t bytes, const char *host)
{
	struct probe p = {.rule = rule, .any = s != NULL};
	if (s != NULL)
		p.has = has(rule, s, bytes, host);
	return judge(&p);
}
