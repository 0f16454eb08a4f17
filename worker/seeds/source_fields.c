/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Fields of requests, and the rules by which records and requests are left out, of a source's file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/nearest.h"
#include "common/net/url.h"
#include "common/net/url_match.h"
#include "worker/model/ingest_type.h"
#include "worker/rules/rule_reader.h"
#include "worker/seeds/source_priv.h"

/* Members of a request in the order in which they are written; those of a group behind them. */
static const char *const members[] = {"base_url", "ingest_type", "link_source", "link_source_id",
	"ingest_request_source", "release_stage", "rel", "title", "created"};
static const char *const groups[] = {"ext_ids", "edit_extra", "fatcat"};

static size_t rank_of(const struct ing_seed_field *f)
{
	const char *const *names = f->group != NULL ? groups : members;
	size_t count = f->group != NULL ? ING_ARRAY_LEN(groups) : ING_ARRAY_LEN(members);
	size_t i = 0;
	while (i < count && strcmp(names[i], f->group != NULL ? f->group : f->name) != 0)
		i++;
	return i < count ? i + (f->group != NULL ? ING_ARRAY_LEN(members) : 0) : SIZE_MAX;
}

static void report_name(const struct ing_seed_loader *l, const struct ing_yaml_node *key)
{
	struct ing_nearest n = ing_nearest_of(key->text, key->bytes);
	for (size_t i = 0; i < ING_ARRAY_LEN(members); i++)
		ing_nearest_try(&n, members[i]);
	if (n.best != NULL)
		ing_rule_read_error(l->rd, key, "there is no field \"%.60s\"; did you mean \"%s\"?",
			key->text, n.best);
	else
		ing_rule_read_error(l->rd, key,
			"there is no field \"%.60s\"; there are base_url, ingest_type, link_source, "
			"link_source_id, ingest_request_source, release_stage, rel, title, created, "
			"and ext_ids.NAME, edit_extra.NAME, fatcat.NAME",
			key->text);
}

/* "base_url" or "ext_ids.doi"; false after an error, or when an option of the name is not given. */
static bool read_name(const struct ing_seed_loader *l, const struct ing_yaml_node *key,
	struct ing_seed_field *ret)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
	const char *text = ing_seed_text(l, key);
	if (text == NULL)
		return false;
	const char *dot = strchr(text, '.');
	ret->name = dot != NULL ? dot + 1 : text;
	ret->group =
		dot != NULL ? ing_arena_strndup(l->rd->arena, text, (size_t)(dot - text)) : NULL;
	size_t bytes = strlen(ret->name);
	if (bytes == 0 || bytes > 100 || strspn(ret->name, letters) != bytes ||
		rank_of(ret) == SIZE_MAX) {
		report_name(l, key);
		return false;
	}
	char *quoted = ing_arena_alloc(l->rd->arena, bytes + sizeof("\"\":"));
	snprintf(quoted, bytes + sizeof("\"\":"), "\"%s\":", ret->name);
	ret->key = quoted;
	return true;
}

static bool is_named(const struct ing_seed_field *a, const struct ing_seed_field *b)
{
	const char *group_a = a->group != NULL ? a->group : "";
	const char *group_b = b->group != NULL ? b->group : "";
	return strcmp(a->name, b->name) == 0 && strcmp(group_a, group_b) == 0;
}

/* Every type that the field may give is one: "html,pdf" are two requests. */
static void check_types(
	const struct ing_seed_loader *l, const struct ing_yaml_node *node, const char *types)
{
	char type[64];
	enum ing_ingest_type found;
	while (types != NULL) {
		size_t n = strcspn(types, ",");
		snprintf(type, sizeof(type), "%.*s", (int)ING_MIN(n, sizeof(type) - 1), types);
		if (!ing_ingest_type_find(type, &found))
			ing_rule_read_error(
				l->rd, node, "\"%s\" is none of%s", type, ing_ingest_type_names);
		types = types[n] == ',' ? types + n + 1 : NULL;
	}
}

static void check_ingest_type(const struct ing_seed_loader *l, const struct ing_yaml_node *node,
	const struct ing_seed_value *v)
{
	check_types(l, node, v->constant);
	check_types(l, node, v->otherwise);
	check_types(l, node, v->fallback);
	for (const struct ing_seed_pair *p = v->map; p != NULL; p = p->next)
		check_types(l, node, p->to);
}

static void read_field(const struct ing_seed_loader *l, const struct ing_yaml_node *key,
	struct ing_seed_field *fields, size_t *count)
{
	static const char *const known[] = {ING_SEED_VALUE_KEYS, "reason"};
	struct ing_seed_field f = {0};
	if (!read_name(l, key, &f))
		return;
	if (key->value->kind == ING_YAML_MAP) {
		ing_rule_read_keys(l->rd, key->value, key->text, known, ING_ARRAY_LEN(known));
		f.required = ing_yaml_get(key->value, "reason") != NULL;
		f.reason = ing_seed_reason_read(l, key->value, 0);
	}
	ing_seed_value_read(l, key->value, &f.value);
	f.of_item = ing_seed_value_of_item(&f.value);
	size_t i = 0;
	while (i < *count && !is_named(&fields[i], &f))
		i++;
	if (i == ING_SEED_MAX_FIELDS) {
		ing_rule_read_error(l->rd, key, "more than %d fields", ING_SEED_MAX_FIELDS);
		return;
	}
	if (strcmp(f.name, "ingest_type") == 0 && f.group == NULL)
		check_ingest_type(l, key->value, &f.value);
	fields[i] = f;
	*count += i == *count;
}

static void sort_fields(struct ing_seed_field *fields, size_t count)
{
	for (size_t i = 1; i < count; i++) { /* stable, and there are few */
		struct ing_seed_field f = fields[i];
		size_t k = i;
		for (; k > 0 && rank_of(&fields[k - 1]) > rank_of(&f); k--)
			fields[k] = fields[k - 1];
		fields[k] = f;
	}
}

static size_t find_required(const struct ing_seed_loader *l, const struct ing_yaml_node *node,
	const struct ing_seed_template *t, const char *name)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->fields[i].group == NULL && strcmp(t->fields[i].name, name) == 0)
			return i;
	ing_rule_read_error(l->rd, node, "fields must have %s", name);
	return 0;
}

/* --- rules --- */

static const char *const test_names[] = {
	[ING_SEED_MISSING] = "missing",
	[ING_SEED_PRESENT] = "present",
	[ING_SEED_IN] = "in",
	[ING_SEED_NOT_IN] = "not_in",
	[ING_SEED_PREFIX] = "prefix",
	[ING_SEED_NOT_PREFIX] = "not_prefix",
	[ING_SEED_CONTAINS] = "contains",
	[ING_SEED_CONTAINS_NONE] = "contains_none",
	[ING_SEED_HOSTS] = "hosts",
	[ING_SEED_NOT_HOSTS] = "not_hosts",
	[ING_SEED_LONGER] = "longer",
};

static int compare_words(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* As the hosts of URLs are: in lower case and punycode. A dot in front stays. */
static const char *read_host(const struct ing_seed_loader *l, const struct ing_yaml_node *scalar)
{
	struct ing_url_pattern p = {0};
	struct ing_error err = {0};
	if (ing_url_pattern_set_host(&p, l->rd->arena, scalar->text, &err) != 0) {
		ing_rule_read_error(l->rd, scalar, "%s", err.msg);
		return "";
	}
	if (!p.below)
		return p.host;
	size_t bytes = strlen(p.host) + 2;
	char *below = ing_arena_alloc(l->rd->arena, bytes);
	snprintf(below, bytes, ".%s", p.host);
	return below;
}

/* Where an option stands in a word, its value may be several, with commas between. */
static size_t count_words(const struct ing_seed_loader *l, const struct ing_yaml_node *list)
{
	size_t count = 0;
	for (const struct ing_yaml_node *n = list->first; n != NULL; n = n->next) {
		const char *s = n->kind == ING_YAML_SCALAR ? ing_seed_text(l, n) : NULL;
		count++;
		for (; s != NULL && *s != '\0'; s++)
			count += *s == ',';
	}
	return count;
}

static void add_words(const struct ing_seed_loader *l, const struct ing_yaml_node *scalar,
	const char **words, size_t *count)
{
	const char *s = ing_seed_text(l, scalar);
	if (s == NULL)
		return; /* an option that is not given */
	if (strcmp(s, scalar->text) == 0) {
		words[(*count)++] = s;
		return;
	}
	while (*s != '\0') {
		size_t n = strcspn(s, ",");
		if (n > 0)
			words[(*count)++] = ing_arena_strndup(l->rd->arena, s, n);
		s += n + (s[n] == ',');
	}
}

static void read_words(
	const struct ing_seed_loader *l, const struct ing_yaml_node *node, struct ing_seed_rule *r)
{
	bool hosts = r->test == ING_SEED_HOSTS || r->test == ING_SEED_NOT_HOSTS;
	if (node->kind != ING_YAML_LIST || node->count == 0) {
		ing_rule_read_error(l->rd, node, "%s must be a list of texts", test_names[r->test]);
		return;
	}
	const char **words =
		ing_arena_alloc(l->rd->arena, (count_words(l, node) + 1) * sizeof(*words));
	for (const struct ing_yaml_node *n = node->first; n != NULL; n = n->next) {
		if (n->kind != ING_YAML_SCALAR || n->bytes == 0 || strlen(n->text) != n->bytes)
			ing_rule_read_error(
				l->rd, n, "a word of %s must be a text", test_names[r->test]);
		else if (hosts)
			words[r->word_count++] = read_host(l, n);
		else
			add_words(l, n, words, &r->word_count);
	}
	if (hosts)
		qsort(words, r->word_count, sizeof(*words), compare_words);
	r->words = words;
}

static void read_test(
	const struct ing_seed_loader *l, const struct ing_yaml_node *map, struct ing_seed_rule *r)
{
	unsigned count = 0;
	r->missing = ing_rule_read_bool(l->rd, map, "missing", false);
	if (ing_rule_read_bool(l->rd, map, "present", false)) {
		r->test = ING_SEED_PRESENT;
		count++;
	}
	for (size_t i = ING_SEED_IN; i < ING_ARRAY_LEN(test_names); i++) {
		const struct ing_yaml_node *node = ing_yaml_get(map, test_names[i]);
		if (node == NULL)
			continue;
		count++;
		r->test = (enum ing_seed_test)i;
		if (r->test == ING_SEED_LONGER)
			r->number = ing_rule_read_number(l->rd, map, "longer", 1, 1000000, 1);
		else
			read_words(l, node, r);
	}
	if (count > 1 || (count == 0 && !r->missing))
		ing_rule_read_error(l->rd, map,
			"a rule needs one of missing: true, present: true, in, not_in, prefix, "
			"not_prefix, contains, contains_none, hosts, not_hosts, longer");
}

/* "base_url", "ext_ids.doi" */
static void find_field(const struct ing_seed_loader *l, const struct ing_yaml_node *map,
	const struct ing_seed_template *t, struct ing_seed_rule *r)
{
	const struct ing_yaml_node *scalar = ing_rule_read_scalar(l->rd, map, "field");
	if (scalar == NULL)
		return;
	for (size_t i = 0; i < t->count; i++) {
		const struct ing_seed_field *f = &t->fields[i];
		size_t n = f->group != NULL ? strlen(f->group) : 0;
		const char *name = scalar->text;
		if (n > 0 && strncmp(name, f->group, n) == 0 && name[n] == '.')
			name += n + 1;
		else if (n > 0)
			continue;
		if (strcmp(name, f->name) != 0)
			continue;
		r->field = i;
		r->of_item = f->of_item;
		return;
	}
	ing_rule_read_error(l->rd, scalar, "fields have no %.100s", scalar->text);
}

static void read_rule(const struct ing_seed_loader *l, const struct ing_yaml_node *map,
	const struct ing_seed_template *t, struct ing_seed_rule *r)
{
	static const char *const known[] = {ING_SEED_VALUE_KEYS, "reason", "field", "missing",
		"present", "in", "not_in", "prefix", "not_prefix", "contains", "contains_none",
		"hosts", "not_hosts", "longer"};
	ing_rule_read_keys(l->rd, map, "a rule", known, ING_ARRAY_LEN(known));
	if (ing_yaml_get(map, "reason") == NULL)
		ing_rule_read_error(l->rd, map, "a rule needs a reason");
	r->reason = ing_seed_reason_read(l, map, 0);
	r->of_field = ing_yaml_get(map, "field") != NULL;
	if (!r->of_field)
		ing_seed_value_read(l, map, &r->value);
	else if (ing_yaml_get(map, "path") != NULL)
		ing_rule_read_error(l->rd, map, "a rule has either a field or a path");
	r->of_item = ing_seed_value_of_item(&r->value);
	if (r->of_field && t != NULL)
		find_field(l, map, t, r);
	read_test(l, map, r);
}

/* Its words are options, and none of them is given. */
static bool is_void(const struct ing_seed_rule *r)
{
	return r->test >= ING_SEED_IN && r->test <= ING_SEED_NOT_HOSTS && r->word_count == 0;
}

static bool has_below(const struct ing_seed_rule *rule, const char *name)
{
	return bsearch(&name, rule->words, rule->word_count, sizeof(name), compare_words) != NULL;
}

/* -------------------------------------------------------------------------------------------- */

void ing_seed_fields_read(const struct ing_seed_loader *l, const struct ing_yaml_node *common,
	const struct ing_yaml_node *own, struct ing_seed_template *t)
{
	const struct ing_yaml_node *const maps[] = {common, own};
	struct ing_seed_field *fields =
		ing_arena_alloc(l->rd->arena, ING_SEED_MAX_FIELDS * sizeof(*fields));
	for (size_t i = 0; i < ING_ARRAY_LEN(maps); i++) {
		const struct ing_yaml_node *key = maps[i] != NULL ? maps[i]->first : NULL;
		for (; key != NULL; key = key->next)
			read_field(l, key, fields, &t->count);
	}
	sort_fields(fields, t->count);
	t->fields = fields;
	const struct ing_yaml_node *node = own != NULL ? own : common;
	if (node == NULL)
		return; /* it has been said that there are none */
	t->base_url = find_required(l, node, t, "base_url");
	t->ingest_type = find_required(l, node, t, "ingest_type");
}

void ing_seed_rules_read(const struct ing_seed_loader *l, const struct ing_yaml_node *list,
	const struct ing_seed_template *t, bool all, const struct ing_seed_rule ***last)
{
	const struct ing_yaml_node *map = list != NULL ? list->first : NULL;
	for (; map != NULL; map = map->next) {
		struct ing_seed_rule *r = ing_arena_alloc(l->rd->arena, sizeof(*r));
		if (map->kind != ING_YAML_MAP) {
			ing_rule_read_error(l->rd, map, "a rule must be a map, not %s",
				ing_yaml_kind_name(map));
			continue;
		}
		read_rule(l, map, t, r);
		bool of_record = !r->of_item && !r->of_field;
		if (is_void(r) || (!all && of_record != (t == NULL)))
			continue;
		**last = r;
		*last = &r->next;
	}
}

bool ing_seed_hosts_have(const struct ing_seed_rule *rule, const char *host)
{
	char below[ING_URL_HOST_BYTES + 1];
	const char *bare = strncmp(host, "www.", 4) == 0 && host[4] != '\0' ? host + 4 : host;
	if (has_below(rule, bare))
		return true;
	snprintf(below, sizeof(below), ".%s", bare);
	for (const char *at = below; at != NULL; at = strchr(at + 1, '.'))
		if (has_below(rule, at))
			return true;
	return false;
}
