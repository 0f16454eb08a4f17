/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Values of rule files with their types checked. Links neither the selector engine nor PCRE2, so
 * that URL rules and host rules can be read without them.
 */
#include "worker/rules/rule_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/macros.h"
#include "common/base/nearest.h"
#include "worker/rules/rule_files.h"

#define MAX_MESSAGE_BYTES 600
#define MAX_NODES 1000000 /* of a file, aliases written out */

ING_PRINTF(5, 0)
static void report_at(const struct ing_rule_reader *rd, bool warning, int line, int column,
	const char *fmt, va_list ap)
{
	char text[MAX_MESSAGE_BYTES];
	vsnprintf(text, sizeof(text), fmt, ap);
	if (warning)
		ing_report_warning(rd->report, rd->file, line, column, "%s", text);
	else
		ing_report_error(rd->report, rd->file, line, column, "%s", text);
}

static const char *likely_meant(const char *text, const char *const *known, size_t count)
{
	struct ing_nearest n = ing_nearest_of(text, strlen(text));
	for (size_t i = 0; i < count; i++)
		ing_nearest_try(&n, known[i]);
	return n.best;
}

static void report_unknown(const struct ing_rule_reader *rd, const struct ing_yaml_node *node,
	const char *kind, const char *const *known, size_t count)
{
	const char *meant = likely_meant(node->text, known, count);
	char list[400] = "";
	size_t used = 0;
	if (meant != NULL) {
		ing_rule_read_error(rd, node, "there is no %s \"%.60s\"; did you mean \"%s\"?",
			kind, node->text, meant);
		return;
	}
	for (size_t i = 0; i < count && used < sizeof(list); i++)
		used += (size_t)snprintf(
			list + used, sizeof(list) - used, "%s%s", i > 0 ? ", " : "", known[i]);
	ing_rule_read_error(
		rd, node, "there is no %s \"%.60s\"; there are %s", kind, node->text, list);
}

static void read_url_key(const struct ing_rule_reader *rd, const struct ing_yaml_node *map,
	const char *key, struct ing_url_pattern *ret,
	void (*set)(struct ing_url_pattern *p, struct ing_arena *ar, const char *text))
{
	const struct ing_yaml_node *value = ing_rule_read_scalar(rd, map, key);
	if (value != NULL)
		set(ret, rd->arena, value->text);
}

static void read_host(const struct ing_rule_reader *rd, const struct ing_yaml_node *map,
	struct ing_url_pattern *ret)
{
	struct ing_error err = {0};
	const struct ing_yaml_node *value = ing_rule_read_scalar(rd, map, "host");
	if (value != NULL && ing_url_pattern_set_host(ret, rd->arena, value->text, &err) != 0)
		ing_rule_read_error(rd, value, "%s", err.msg);
}

static void read_query(const struct ing_rule_reader *rd, const struct ing_yaml_node *map,
	struct ing_url_pattern *ret)
{
	const struct ing_yaml_node *value = ing_rule_read_scalar(rd, map, "query");
	if (value == NULL)
		return;
	if (value->text[0] == '?' || value->text[0] == '=' || strchr(value->text, '&') != NULL)
		ing_rule_read_error(rd, value, "query must be one parameter, NAME or NAME=VALUE");
	else
		ing_url_pattern_set_query(ret, rd->arena, value->text);
}

/* http://HOST/ of a test's `host`; NULL, with an error unless it is absent, when there is none. */
static const char *read_test_host(const struct ing_rule_reader *rd, const struct ing_yaml_node *map)
{
	struct ing_url_pattern p = {0};
	const struct ing_yaml_node *value = ing_rule_read_scalar(rd, map, "host");
	if (value == NULL)
		return NULL;
	size_t bytes = sizeof("http:///") + value->bytes;
	char *url = ing_arena_alloc(rd->arena, bytes);
	if (value->text[0] == '.' ||
		ing_url_pattern_set_host(&p, rd->arena, value->text, NULL) != 0)
		ing_rule_read_error(rd, value, "the host of a test must be a host name");
	else
		snprintf(url, bytes, "http://%s/", value->text);
	return url;
}

static const char *read_test_url(
	const struct ing_rule_reader *rd, const struct ing_yaml_node *map, bool hosts)
{
	if (!hosts)
		return ing_rule_read_required_text(rd, map, "a test", "url");
	if ((ing_yaml_get(map, "host") != NULL) == (ing_yaml_get(map, "url") != NULL)) {
		ing_rule_read_error(rd, map, "a test needs either a host or a url");
		return NULL;
	}
	const char *url = read_test_host(rd, map);
	return url != NULL ? url : ing_rule_read_text(rd, map, "url");
}

/* -------------------------------------------------------------------------------------------- */

void ing_rule_read_error(
	const struct ing_rule_reader *rd, const struct ing_yaml_node *node, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	report_at(rd, false, node->line, node->column, fmt, ap);
	va_end(ap);
}

void ing_rule_read_warning(
	const struct ing_rule_reader *rd, const struct ing_yaml_node *node, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	report_at(rd, true, node->line, node->column, fmt, ap);
	va_end(ap);
}

void ing_rule_read_error_in(const struct ing_rule_reader *rd, const struct ing_yaml_node *node,
	int character, const char *fmt, ...)
{
	int line;
	int column;
	va_list ap;
	ing_yaml_position(node, character, &line, &column);
	va_start(ap, fmt);
	report_at(rd, false, line, column, fmt, ap);
	va_end(ap);
}

struct ing_yaml *ing_rule_read_yaml(const struct ing_rule_file *file, struct ing_report *report)
{
	const struct ing_yaml_limits limits = {
		ING_MAX_RULE_FILE_BYTES, MAX_NODES, ING_YAML_MAX_DEPTH};
	struct ing_yaml *doc = NULL;
	struct ing_error err = {0};
	if (file->kind == ING_RULES_JOURNALS || file->kind == ING_RULES_WEBPAGES)
		return ing_yaml_stream_parse(file->path, file->text, file->bytes, &limits, report);
	if (ing_yaml_parse(file->text, file->bytes, &limits, &doc, &err) == 0)
		return doc;
	ing_report_error(report, file->path, err.line, err.column, "%s", err.msg);
	return NULL;
}

const struct ing_yaml_node *ing_rule_read_root(
	const struct ing_rule_reader *rd, const struct ing_yaml *doc)
{
	static const struct ing_yaml_node nothing = {
		.plain = true, .line = 1, .column = 1, .text = ""};
	size_t count = ing_yaml_stream_count(doc);
	if (count == 0)
		return &nothing;
	if (count == 1)
		return ing_yaml_stream_get(doc, 0);
	ing_rule_read_error(rd, ing_yaml_stream_get(doc, 1),
		"the file must have one YAML document, %zu were found", count);
	return NULL;
}

bool ing_rule_read_keys(const struct ing_rule_reader *rd, const struct ing_yaml_node *map,
	const char *what, const char *const *known, size_t count)
{
	bool good = true;
	if (map->kind != ING_YAML_MAP) {
		ing_rule_read_error(
			rd, map, "%s must be a map, not %s", what, ing_yaml_kind_name(map));
		return false;
	}
	for (const struct ing_yaml_node *key = map->first; key != NULL; key = key->next) {
		size_t i = 0;
		while (i < count && strcmp(known[i], key->text) != 0)
			i++;
		if (i < count)
			continue;
		report_unknown(rd, key, "key", known, count);
		good = false;
	}
	return good;
}

const struct ing_yaml_node *ing_rule_read_scalar(
	const struct ing_rule_reader *rd, const struct ing_yaml_node *map, const char *key)
{
	const struct ing_yaml_node *value = ing_yaml_get(map, key);
	if (value == NULL)
		return NULL;
	if (value->kind != ING_YAML_SCALAR) {
		ing_rule_read_error(
			rd, value, "%s must be a text, not %s", key, ing_yaml_kind_name(value));
		return NULL;
	}
	if (value->bytes == 0 || ing_yaml_is_null(value) || strlen(value->text) != value->bytes) {
		ing_rule_read_error(rd, value, "%s must not be empty or contain NUL", key);
		return NULL;
	}
	return value;
}

const char *ing_rule_read_text(
	const struct ing_rule_reader *rd, const struct ing_yaml_node *map, const char *key)
{
	const struct ing_yaml_node *value = ing_rule_read_scalar(rd, map, key);
	return value != NULL ? ing_arena_strdup(rd->arena, value->text) : NULL;
}

const char *ing_rule_read_required_text(const struct ing_rule_reader *rd,
	const struct ing_yaml_node *map, const char *what, const char *key)
{
	if (ing_yaml_get(map, key) == NULL)
		ing_rule_read_error(rd, map, "%s needs a %s", what, key);
	return ing_rule_read_text(rd, map, key);
}

bool ing_rule_read_bool(const struct ing_rule_reader *rd, const struct ing_yaml_node *map,
	const char *key, bool fallback)
{
	const struct ing_yaml_node *value = ing_yaml_get(map, key);
	if (value == NULL)
		return fallback;
	if (value->kind == ING_YAML_SCALAR && value->plain && strcmp(value->text, "true") == 0)
		return true;
	if (value->kind == ING_YAML_SCALAR && value->plain && strcmp(value->text, "false") == 0)
		return false;
	ing_rule_read_error(rd, value, "%s must be true or false", key);
	return fallback;
}

unsigned ing_rule_read_number(const struct ing_rule_reader *rd, const struct ing_yaml_node *map,
	const char *key, unsigned min, unsigned max, unsigned fallback)
{
	const struct ing_yaml_node *value = ing_yaml_get(map, key);
	if (value == NULL)
		return fallback;
	uint64_t number = 0;
	bool good = value->kind == ING_YAML_SCALAR && value->bytes > 0 && value->bytes < 11;
	for (size_t i = 0; good && i < value->bytes; i++) {
		good = value->text[i] >= '0' && value->text[i] <= '9';
		number = number * 10 + (uint64_t)(value->text[i] - '0');
	}
	if (good && number >= min && number <= max)
		return (unsigned)number;
	ing_rule_read_error(rd, value, "%s must be a number, %u to %u", key, min, max);
	return fallback;
}

const struct ing_yaml_node *ing_rule_read_node(const struct ing_rule_reader *rd,
	const struct ing_yaml_node *map, const char *key, enum ing_yaml_kind kind)
{
	const struct ing_yaml_node *value = ing_yaml_get(map, key);
	if (value == NULL || value->kind == kind)
		return value;
	const struct ing_yaml_node wanted = {.kind = kind};
	ing_rule_read_error(rd, value, "%s must be %s, not %s", key, ing_yaml_kind_name(&wanted),
		ing_yaml_kind_name(value));
	return NULL;
}

int ing_rule_read_enum(const struct ing_rule_reader *rd, const struct ing_yaml_node *map,
	const char *key, const char *const *words, size_t count)
{
	const struct ing_yaml_node *value = ing_rule_read_scalar(rd, map, key);
	if (value == NULL)
		return -1;
	for (size_t i = 0; i < count; i++) {
		if (strcmp(words[i], value->text) == 0)
			return (int)i;
	}
	report_unknown(rd, value, key, words, count);
	return -1;
}

unsigned ing_rule_read_url_keys(const struct ing_rule_reader *rd, const struct ing_yaml_node *map,
	struct ing_url_pattern *ret)
{
	static const char *const keys[] = {ING_URL_KEYS};
	unsigned count = 0;
	*ret = (struct ing_url_pattern){0};
	for (size_t i = 0; i < ING_ARRAY_LEN(keys); i++)
		count += ing_yaml_get(map, keys[i]) != NULL;
	read_host(rd, map, ret);
	read_url_key(rd, map, "path", ret, ing_url_pattern_set_path);
	read_url_key(rd, map, "path_contains", ret, ing_url_pattern_set_path_contains);
	read_url_key(rd, map, "path_ends", ret, ing_url_pattern_set_path_ends);
	read_url_key(rd, map, "contains", ret, ing_url_pattern_set_contains);
	read_query(rd, map, ret);
	if (ret->path != NULL && ret->path[0] != '/')
		ing_rule_read_error(rd, ing_yaml_get(map, "path"), "path must begin with a slash");
	return count;
}

const struct ing_url_pattern *ing_rule_read_url_pattern(
	const struct ing_rule_reader *rd, const struct ing_yaml_node *map, const char *key)
{
	static const char *const keys[] = {ING_URL_KEYS};
	const struct ing_yaml_node *value = ing_yaml_get(map, key);
	if (value == NULL)
		return NULL;
	struct ing_url_pattern *p = ing_arena_alloc(rd->arena, sizeof(*p));
	ing_rule_read_keys(rd, value, key, keys, ING_ARRAY_LEN(keys));
	if (value->kind == ING_YAML_MAP && ing_rule_read_url_keys(rd, value, p) == 0)
		ing_rule_read_error(rd, value,
			"%s needs one of host, path, path_contains, path_ends, query, contains",
			key);
	return p;
}

const struct ing_url_test *ing_rule_read_url_tests(
	const struct ing_rule_reader *rd, const struct ing_yaml_node *map, bool hosts)
{
	static const char *const known[] = {"url", "matches", "host"};
	size_t count = ING_ARRAY_LEN(known) - (hosts ? 0 : 1);
	const struct ing_url_test *first = NULL;
	const struct ing_url_test **last = &first;
	const struct ing_yaml_node *list = ing_rule_read_node(rd, map, "tests", ING_YAML_LIST);
	for (const struct ing_yaml_node *t = list != NULL ? list->first : NULL; t != NULL;
		t = t->next) {
		ing_rule_read_keys(rd, t, "a test of a URL", known, count);
		if (t->kind != ING_YAML_MAP)
			continue;
		struct ing_url_test *test = ing_arena_alloc(rd->arena, sizeof(*test));
		test->line = t->line;
		test->url = read_test_url(rd, t, hosts);
		test->matches = ing_rule_read_bool(rd, t, "matches", true);
		*last = test;
		last = &test->next;
	}
	return first;
}
