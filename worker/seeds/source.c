/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Loader of a source. Everything that is wrong with the file is in one report.
 */
#include "worker/seeds/source.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/nearest.h"
#include "common/base/report.h"
#include "common/data/yaml.h"
#include "worker/model/limits.h"
#include "worker/rules/rule_reader.h"
#include "worker/seeds/prune.h"
#include "worker/seeds/source_priv.h"

#define SUFFIX ".yaml"
#define MAX_PATH_BYTES 4096
#define MAX_NAME_BYTES 64
#define MAX_SOURCES 1000

/* --- options --- */

static const struct ing_seed_option *find_option(
	const struct ing_seed_source *s, const char *name, size_t bytes)
{
	for (size_t i = 0; i < s->option_count; i++)
		if (strlen(s->options[i].name) == bytes &&
			memcmp(s->options[i].name, name, bytes) == 0)
			return &s->options[i];
	return NULL;
}

static void read_option(const struct ing_rule_reader *rd, const struct ing_yaml_node *key,
	struct ing_seed_option *o)
{
	static const char *const known[] = {"about", "default", "optional", "values"};
	o->name = ing_arena_strdup(rd->arena, key->text);
	if (!ing_rule_read_keys(rd, key->value, "an option", known, ING_ARRAY_LEN(known)) ||
		key->value->kind != ING_YAML_MAP)
		return;
	o->about = ing_rule_read_required_text(rd, key->value, "an option", "about");
	o->fallback = ing_rule_read_text(rd, key->value, "default");
	o->optional = ing_rule_read_bool(rd, key->value, "optional", false);
	const struct ing_yaml_node *list =
		ing_rule_read_node(rd, key->value, "values", ING_YAML_LIST);
	if (list == NULL)
		return;
	const char **values = ing_arena_alloc(rd->arena, (list->count + 1) * sizeof(*values));
	size_t count = 0;
	for (const struct ing_yaml_node *n = list->first; n != NULL; n = n->next) {
		if (n->kind != ING_YAML_SCALAR)
			ing_rule_read_error(rd, n, "a value of an option must be a text");
		else
			values[count++] = ing_arena_strdup(rd->arena, n->text);
	}
	o->values = values;
}

static void read_options(const struct ing_rule_reader *rd, const struct ing_yaml_node *root,
	struct ing_seed_source *s)
{
	const struct ing_yaml_node *map = ing_rule_read_node(rd, root, "options", ING_YAML_MAP);
	if (map == NULL)
		return;
	struct ing_seed_option *options =
		ing_arena_alloc(&s->arena, (map->count + 1) * sizeof(*options));
	for (const struct ing_yaml_node *key = map->first; key != NULL; key = key->next)
		read_option(rd, key, &options[s->option_count++]);
	s->options = options;
}

static int check_value(const struct ing_seed_option *o, const char *value, struct ing_error *err)
{
	struct ing_buf all;
	if (value[0] == '\0')
		return ing_error_set(err, ING_FAIL_USAGE, "option %s is empty", o->name);
	if (o->values == NULL)
		return 0;
	ing_buf_init(&all, 400);
	for (const char *const *v = o->values; *v != NULL; v++) {
		if (strcmp(*v, value) == 0) {
			ing_buf_done(&all);
			return 0;
		}
		ing_buf_printf(&all, "%s%s", all.len > 0 ? ", " : "", *v);
	}
	int rc = ing_error_set(err, ING_FAIL_USAGE, "option %s is one of %s, not \"%.100s\"",
		o->name, ing_buf_str(&all), value);
	ing_buf_done(&all);
	return rc;
}

static int refuse_option(
	const struct ing_seed_source *s, const char *name, size_t bytes, struct ing_error *err)
{
	struct ing_nearest n = ing_nearest_of(name, bytes);
	for (size_t i = 0; i < s->option_count; i++)
		ing_nearest_try(&n, s->options[i].name);
	if (n.best != NULL)
		return ing_error_set(err, ING_FAIL_USAGE, "%s has no option %.*s; did you mean %s?",
			s->name, (int)ING_MIN(bytes, 100), name, n.best);
	return ing_error_set(err, ING_FAIL_USAGE, "%s has no option %.*s%s", s->name,
		(int)ING_MIN(bytes, 100), name, s->option_count > 0 ? "" : ", and no other");
}

/* When the source is only described, what must be given has any value that it may have. */
static int default_values(
	const struct ing_seed_source *s, const char **values, bool describe, struct ing_error *err)
{
	for (size_t i = 0; i < s->option_count; i++) {
		const struct ing_seed_option *o = &s->options[i];
		if (values[i] == NULL)
			values[i] = o->fallback;
		if (values[i] != NULL || (o->optional && !describe))
			continue;
		if (!describe)
			return ing_error_set(err, ING_FAIL_USAGE, "%s needs option %s: %s", s->name,
				o->name, o->about != NULL ? o->about : "");
		values[i] = o->values != NULL ? o->values[0] : o->name;
	}
	return 0;
}

static int set_options(
	struct ing_seed_source *s, const char *const *settings, struct ing_error *err)
{
	const char **values = ing_arena_alloc(&s->arena, (s->option_count + 1) * sizeof(*values));
	for (const char *const *set = settings; set != NULL && *set != NULL; set++) {
		size_t n = strcspn(*set, "=");
		const struct ing_seed_option *o = find_option(s, *set, n);
		if ((*set)[n] == '\0')
			return ing_error_set(
				err, ING_FAIL_USAGE, "\"%.100s\" is not NAME=VALUE", *set);
		if (o == NULL)
			return refuse_option(s, *set, n, err);
		int rc = check_value(o, *set + n + 1, err);
		if (rc != 0)
			return rc;
		values[o - s->options] = ing_arena_strdup(&s->arena, *set + n + 1);
	}
	s->values = values;
	return default_values(s, values, settings == NULL, err);
}

/* --- the file --- */

/* A path, or the map of a value; of the record. */
static const struct ing_seed_value *read_condition(
	struct ing_seed_loader *l, const struct ing_yaml_node *map, const char *key)
{
	static const char *const known[] = {ING_SEED_VALUE_KEYS};
	const struct ing_yaml_node *node = ing_yaml_get(map, key);
	const char *item = l->item;
	if (node == NULL)
		return NULL;
	struct ing_seed_value *v = ing_arena_alloc(l->rd->arena, sizeof(*v));
	l->item = NULL;
	if (node->kind == ING_YAML_SCALAR)
		v->paths = ing_seed_path_read(l, node);
	else if (ing_rule_read_keys(l->rd, node, key, known, ING_ARRAY_LEN(known)))
		ing_seed_value_read(l, node, v);
	l->item = item;
	return v;
}

static void read_template(struct ing_seed_loader *l, const struct ing_yaml_node *root,
	const struct ing_yaml_node *own, struct ing_seed_template *t)
{
	const struct ing_rule_reader *rd = l->rd;
	const struct ing_yaml_node *map = own != NULL ? own : root;
	const struct ing_yaml_node *each = ing_yaml_get(map, "each");
	if (each != NULL && each->kind == ING_YAML_MAP) {
		static const char *const known[] = {"path", "as", "reason"};
		ing_rule_read_keys(rd, each, "each", known, ING_ARRAY_LEN(known));
		const struct ing_yaml_node *path = ing_rule_read_scalar(rd, each, "path");
		l->item = NULL;
		t->each = path != NULL ? ing_seed_path_read(l, path) : NULL;
		t->no_item = ing_seed_reason_read(l, each, ING_SEED_NO_URL);
		l->item = ing_rule_read_required_text(rd, each, "each", "as");
		if (path == NULL)
			ing_rule_read_error(rd, each, "each needs a path");
	} else if (each != NULL) {
		ing_rule_read_error(rd, each, "each must be a map of path, as and reason");
	}
	ing_seed_fields_read(l, ing_rule_read_node(rd, root, "fields", ING_YAML_MAP),
		own != NULL ? ing_rule_read_node(rd, own, "fields", ING_YAML_MAP) : NULL, t);
	const struct ing_seed_rule **last = &t->rules;
	ing_seed_rules_read(
		l, ing_rule_read_node(rd, root, "skip", ING_YAML_LIST), t, false, &last);
	if (own != NULL) {
		t->when = read_condition(l, own, "when");
		t->unless = read_condition(l, own, "unless");
		ing_seed_rules_read(
			l, ing_rule_read_node(rd, own, "skip", ING_YAML_LIST), t, true, &last);
	}
}

static void read_templates(struct ing_seed_loader *l, const struct ing_yaml_node *root)
{
	static const char *const known[] = {"when", "unless", "each", "fields", "skip"};
	const struct ing_yaml_node *list =
		ing_rule_read_node(l->rd, root, "requests", ING_YAML_LIST);
	const struct ing_seed_template **last = &l->source->templates;
	const struct ing_yaml_node *own = list != NULL ? list->first : NULL;
	if (list != NULL && ing_yaml_get(root, "each") != NULL)
		ing_rule_read_error(l->rd, ing_yaml_get(root, "each"),
			"with requests, each belongs to one of them");
	if (list != NULL && own == NULL)
		ing_rule_read_error(l->rd, list, "requests must not be empty");
	for (bool more = true; more;) {
		struct ing_seed_template *t = ing_arena_alloc(l->rd->arena, sizeof(*t));
		l->item = NULL;
		if (own == NULL ||
			ing_rule_read_keys(l->rd, own, "a request", known, ING_ARRAY_LEN(known)))
			read_template(l, root, own, t);
		*last = t;
		last = &t->next;
		own = own != NULL ? own->next : NULL;
		more = own != NULL;
	}
}

static void read_format(const struct ing_seed_loader *l, const struct ing_yaml_node *root)
{
	const struct ing_rule_reader *rd = l->rd;
	struct ing_seed_source *s = l->source;
	const char *name = ing_rule_read_required_text(rd, root, "a source", "format");
	const struct ing_yaml_node *map = ing_rule_read_node(rd, root, "reader", ING_YAML_MAP);
	if (name == NULL)
		return;
	s->format = ing_seed_format_find(name);
	if (s->format != NULL) {
		s->reader = s->format->settings(l, map);
		return;
	}
	size_t count = 0;
	while (ing_seed_format_names()[count] != NULL)
		count++;
	(void)ing_rule_read_enum(rd, root, "format", ing_seed_format_names(), count);
}

static int read_source(struct ing_seed_source *s, const char *const *settings,
	struct ing_report *report, struct ing_error *err)
{
	static const char *const known[] = {"about", "shape", "format", "reader", "options", "each",
		"fields", "skip", "requests", "tests"};
	const struct ing_rule_reader rd = {.file = s->file, .report = report, .arena = &s->arena};
	const struct ing_yaml_node *root = ing_yaml_root(s->doc);
	if (!ing_rule_read_keys(&rd, root, "a source", known, ING_ARRAY_LEN(known)) &&
		root->kind != ING_YAML_MAP)
		return 0;
	struct ing_seed_loader l = {.source = s, .rd = &rd};
	const struct ing_seed_rule **last = &s->rules;
	s->about = ing_rule_read_required_text(&rd, root, "a source", "about");
	(void)ing_rule_read_required_text(&rd, root, "a source", "shape");
	read_options(&rd, root, s);
	int rc = set_options(s, settings, err);
	if (rc != 0)
		return rc;
	read_format(&l, root);
	if (ing_yaml_get(root, "fields") == NULL && ing_yaml_get(root, "requests") == NULL)
		ing_rule_read_error(&rd, root, "a source needs fields");
	read_templates(&l, root);
	if (ing_yaml_get(root, "requests") != NULL)
		l.item = NULL; /* else it is what its one template says */
	ing_seed_rules_read(
		&l, ing_rule_read_node(&rd, root, "skip", ING_YAML_LIST), NULL, false, &last);
	s->members = ing_seed_members(s);
	s->samples = ing_rule_read_node(&rd, root, "tests", ING_YAML_LIST);
	return 0;
}

/* Takes doc. */
static int make_source(const char *name, const char *file, struct ing_yaml *doc,
	const char *const *settings, struct ing_seed_source **ret, struct ing_report *report,
	struct ing_error *err)
{
	struct ing_seed_source *s = ing_alloc(sizeof(*s));
	ing_arena_init(&s->arena);
	s->doc = doc;
	s->name = ing_arena_strdup(&s->arena, name);
	s->file = ing_arena_strdup(&s->arena, file);
	s->reason_count = s->reason_cap = ING_SEED_REASONS_;
	s->reasons = ing_alloc(sizeof(*s->reasons) * ING_SEED_REASONS_);
	memcpy(s->reasons, ing_seed_reason_names, sizeof(*s->reasons) * ING_SEED_REASONS_);
	int rc = read_source(s, settings, report, err);
	if (rc == 0 && report->errors > 0)
		rc = ing_error_set(err, ING_FAIL_CONFIG, "%s: %zu error%s", file, report->errors,
			ING_PLURAL_S(report->errors));
	if (rc != 0) {
		ing_seed_source_free(s);
		return rc;
	}
	*ret = s;
	return 0;
}

static int report_yaml(struct ing_report *report, const char *file, const struct ing_error *yaml,
	struct ing_error *err)
{
	ing_report_error(report, file, yaml->line, yaml->column, "%s", yaml->msg);
	return ing_error_set(err, ING_FAIL_CONFIG, "%s: 1 error", file);
}

static int refuse_name(const char *dir, const char *name, struct ing_error *err)
{
	struct ing_error ignored = {0};
	char **names = ing_seed_source_names(dir, &ignored);
	struct ing_nearest n = ing_nearest_of(name, strlen(name));
	for (char **at = names; at != NULL && *at != NULL; at++)
		ing_nearest_try(&n, *at);
	int rc;
	if (names == NULL)
		rc = ing_error_set(err, ING_FAIL_NOT_FOUND, "%s", ignored.msg);
	else if (n.best != NULL)
		rc = ing_error_set(err, ING_FAIL_NOT_FOUND,
			"there is no source %.100s; did you mean %s?", name, n.best);
	else
		rc = ing_error_set(
			err, ING_FAIL_NOT_FOUND, "there is no source %.100s in %s", name, dir);
	free(names);
	return rc;
}

/* "unpaywall" of "/a/b/unpaywall.yaml" */
static void base_name(const char *path, char ret[MAX_NAME_BYTES])
{
	const char *slash = strrchr(path, '/');
	const char *base = slash != NULL ? slash + 1 : path;
	size_t n = strlen(base);
	if (n > sizeof(SUFFIX) - 1 && strcmp(base + n - (sizeof(SUFFIX) - 1), SUFFIX) == 0)
		n -= sizeof(SUFFIX) - 1;
	snprintf(ret, MAX_NAME_BYTES, "%.*s", (int)ING_MIN(n, (size_t)MAX_NAME_BYTES - 1), base);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Names one behind the other in text, and their starts in *ret_at. */
static size_t collect_names(DIR *dir, struct ing_buf *text, size_t at[MAX_SOURCES])
{
	size_t count = 0;
	for (struct dirent *e = readdir(dir); e != NULL && count < MAX_SOURCES; e = readdir(dir)) {
		size_t n = strlen(e->d_name);
		size_t suffix = sizeof(SUFFIX) - 1;
		if (e->d_name[0] == '.' || n <= suffix ||
			strcmp(e->d_name + n - suffix, SUFFIX) != 0)
			continue;
		at[count++] = text->len;
		ing_buf_add(text, e->d_name, n - suffix);
		ing_buf_add_char(text, '\0');
	}
	return count;
}

/* -------------------------------------------------------------------------------------------- */

const char *const ing_seed_reason_names[ING_SEED_REASONS_] = {
	[ING_SEED_NO_URL] = "no-url",
	[ING_SEED_NOT_WEB] = "no-web-url",
	[ING_SEED_WITH_USER] = "user-in-url",
	[ING_SEED_TOO_LONG] = "too-long",
	[ING_SEED_NO_TYPE] = "no-type",
	[ING_SEED_REPEATED] = "repeated",
	[ING_SEED_TOO_MANY] = "too-many",
};

int ing_seed_source_parse(const char *name, const char *text, size_t bytes,
	const char *const *settings, struct ing_seed_source **ret, struct ing_report *report,
	struct ing_error *err)
{
	struct ing_yaml *doc;
	struct ing_error yaml = {0};
	if (ing_yaml_parse(text, bytes, &ING_YAML_LIMITS_DEFAULT, &doc, &yaml) != 0)
		return report_yaml(report, name, &yaml, err);
	return make_source(name, name, doc, settings, ret, report, err);
}

int ing_seed_source_load(const char *dir, const char *name, const char *const *settings,
	struct ing_seed_source **ret, struct ing_report *report, struct ing_error *err)
{
	char path[MAX_PATH_BYTES];
	char base[MAX_NAME_BYTES];
	struct ing_yaml *doc;
	struct ing_error yaml = {0};
	bool is_path = strchr(name, '/') != NULL;
	int n = is_path ? snprintf(path, sizeof(path), "%s", name)
			: snprintf(path, sizeof(path), "%s/%s" SUFFIX, dir, name);
	if (n < 0 || (size_t)n >= sizeof(path))
		return ing_error_set(err, ING_FAIL_NOT_FOUND, "the name of the source is too long");
	int rc = ing_yaml_load(path, &ING_YAML_LIMITS_DEFAULT, &doc, &yaml);
	if (rc == -ING_FAIL_NOT_FOUND && !is_path)
		return refuse_name(dir, name, err);
	if (rc == -ING_FAIL_NOT_FOUND || rc == -ING_FAIL_SYSTEM)
		return ing_error_set(err, yaml.code, "%s: %s", path, yaml.msg);
	if (rc != 0)
		return report_yaml(report, path, &yaml, err);
	base_name(path, base);
	return make_source(base, path, doc, settings, ret, report, err);
}

void ing_seed_source_free(struct ing_seed_source *s)
{
	if (s == NULL)
		return;
	free(s->reasons);
	ing_yaml_free(s->doc);
	ing_arena_done(&s->arena);
	free(s);
}

const char *ing_seed_source_name(const struct ing_seed_source *s)
{
	return s->name;
}

const char *ing_seed_source_about(const struct ing_seed_source *s)
{
	return s->about;
}

const char *ing_seed_source_format(const struct ing_seed_source *s)
{
	return s->format->name;
}

bool ing_seed_source_reads_gzip(const struct ing_seed_source *s)
{
	return s->format->reads_gzip;
}

const struct ing_seed_option *ing_seed_source_options(
	const struct ing_seed_source *s, size_t *ret_count)
{
	*ret_count = s->option_count;
	return s->options;
}

char **ing_seed_source_names(const char *dir, struct ing_error *err)
{
	size_t at[MAX_SOURCES];
	struct ing_buf text;
	DIR *d = opendir(dir);
	if (d == NULL) {
		ing_error_sys(err, errno, "%s", dir);
		return NULL;
	}
	ing_buf_init(&text, (size_t)1 << 20);
	size_t count = collect_names(d, &text, at);
	closedir(d);
	char **names = ing_alloc((count + 1) * sizeof(*names) + text.len + 1);
	char *copy = (char *)(names + count + 1);
	memcpy(copy, ing_buf_str(&text), text.len);
	for (size_t i = 0; i < count; i++)
		names[i] = copy + at[i];
	qsort(names, count, sizeof(*names), compare_names);
	ing_buf_done(&text);
	return names;
}

const char *ing_seed_text(const struct ing_seed_loader *l, const struct ing_yaml_node *scalar)
{
	const struct ing_seed_source *s = l->source;
	struct ing_buf out;
	bool given = true;
	ing_buf_init(&out, (size_t)1 << 20);
	for (const char *at = scalar->text; *at != '\0';) {
		const char *end = *at == '{' ? strchr(at, '}') : NULL;
		const struct ing_seed_option *o =
			end != NULL ? find_option(s, at + 1, (size_t)(end - at - 1)) : NULL;
		if (o == NULL) {
			ing_buf_add_char(&out, *at++);
			continue;
		}
		const char *value = s->values[o - s->options];
		given = given && value != NULL;
		ing_buf_add_str(&out, value != NULL ? value : "");
		at = end + 1;
	}
	const char *text = given && !out.failed
				   ? ing_arena_strndup(l->rd->arena, ing_buf_str(&out), out.len)
				   : NULL;
	ing_buf_done(&out);
	return text;
}

const char *ing_seed_setting(
	const struct ing_seed_loader *l, const struct ing_yaml_node *map, const char *key)
{
	const struct ing_yaml_node *scalar =
		map != NULL ? ing_rule_read_scalar(l->rd, map, key) : NULL;
	return scalar != NULL ? ing_seed_text(l, scalar) : NULL;
}

int ing_seed_setting_word(const struct ing_seed_loader *l, const struct ing_yaml_node *map,
	const char *key, const char *const *words, size_t count, int fallback)
{
	const char *text = ing_seed_setting(l, map, key);
	if (text == NULL)
		return fallback;
	for (size_t i = 0; i < count; i++)
		if (strcmp(words[i], text) == 0)
			return (int)i;
	struct ing_buf all;
	ing_buf_init(&all, 400);
	for (size_t i = 0; i < count; i++)
		ing_buf_printf(&all, "%s%s", i > 0 ? ", " : "", words[i]);
	ing_rule_read_error(
		l->rd, ing_yaml_get(map, key), "%s must be one of %s", key, ing_buf_str(&all));
	ing_buf_done(&all);
	return fallback;
}
