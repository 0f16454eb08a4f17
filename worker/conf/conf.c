/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Loading: the defaults, then the file, then each --set are YAML trees that are laid over one
 * another. Names of keys are joined by dots on the way down and looked up in the table, so the file
 * may nest them or write them out. Nothing stops at the first error: everything that is wrong comes
 * in one report.
 */
#include "worker/conf/conf.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/nearest.h"
#include "common/data/yaml.h"
#include "worker/conf/conf_priv.h"
#include "worker/conf/paths.h"

#define MAX_NAME_BYTES 200
#define MAX_TEXT_BYTES 1000
#define MAX_SET_BYTES                                                                              \
	((size_t)256 << 10) /* longer than an argument can be, with its key in front */

struct loader {
	struct ing_conf *conf;
	struct ing_report *report;
	struct ing_conf_origin *origins; /* of each key's value */
	const char *source;              /* what is being read */
	bool on_command_line;            /* it is an argument */
	unsigned pass;                   /* its number */
	unsigned *passes;                /* in which each key was set last */
};

static const struct ing_conf_key *find_key(const char *name)
{
	for (size_t i = 0; i < ing_conf_key_count; i++) {
		if (strcmp(ing_conf_keys[i].name, name) == 0)
			return &ing_conf_keys[i];
	}
	return NULL;
}

static bool is_section(const char *name)
{
	size_t n = strlen(name);
	for (size_t i = 0; i < ing_conf_key_count; i++) {
		if (strncmp(ing_conf_keys[i].name, name, n) == 0 && ing_conf_keys[i].name[n] == '.')
			return true;
	}
	return false;
}

static const char *last_part(const char *name)
{
	const char *dot = strrchr(name, '.');
	return dot != NULL ? dot + 1 : name;
}

/* The key that was probably meant, or NULL. */
static const char *nearest_key(const char *name)
{
	struct ing_nearest n = ing_nearest_of(name, strlen(name));
	for (size_t i = 0; i < ing_conf_key_count; i++) {
		const char *known = ing_conf_keys[i].name;
		if (strcmp(last_part(name), last_part(known)) == 0)
			return known;
		ing_nearest_try(&n, known);
	}
	return n.best;
}

static void complain_unknown(struct loader *l, const char *name, const struct ing_yaml_node *node)
{
	struct ing_conf_origin at = {l->source, node->line, node->column};
	const char *near = nearest_key(name);
	if (near != NULL)
		ing_conf_error(
			l->report, &at, name, "there is no such key; did you mean \"%s\"?", near);
	else
		ing_conf_error(l->report, &at, name, "there is no such key");
}

static void set_default(struct loader *l, const struct ing_conf_key *key)
{
	struct ing_buf text;
	struct ing_yaml *doc = NULL;
	struct ing_error err = {0};
	struct ing_yaml_limits limits = ING_YAML_LIMITS_DEFAULT;
	ing_buf_init(&text, limits.bytes);
	ing_conf_fallback(key, &text);
	int rc = ing_yaml_parse(ing_buf_str(&text), text.len, &limits, &doc, &err);
	ing_must(rc == 0);
	ing_conf_set(l->conf, key, ing_yaml_root(doc), "default", l->report);
	ing_yaml_free(doc);
	ing_buf_done(&text);
	l->origins[key - ing_conf_keys] = (struct ing_conf_origin){"default", 0, 0};
}

static void take_value(struct loader *l, const struct ing_conf_key *key,
	const struct ing_yaml_node *name, const struct ing_yaml_node *value)
{
	size_t i = (size_t)(key - ing_conf_keys);
	struct ing_conf_origin at = {l->source, value->line, value->column};
	if (l->passes[i] == l->pass) {
		struct ing_conf_origin again = {l->source, name->line, name->column};
		ing_conf_error(l->report, &again, key->name, "was given before, at %d:%d",
			l->origins[i].line, l->origins[i].column);
		return;
	}
	l->passes[i] = l->pass;
	if (ing_yaml_is_null(value))
		set_default(l, key);
	else
		ing_conf_set(l->conf, key, value, l->source, l->report);
	ing_conf_check_secret(l->conf, key, &at, l->on_command_line, l->report);
	l->origins[i] = at;
}

/* A section's entries. Recursion ends with the depth of the tree, which is limited. */
static void take_section(struct loader *l, const char *section, const struct ing_yaml_node *map);

static void take_named(struct loader *l, const char *name, const struct ing_yaml_node *at,
	const struct ing_yaml_node *value)
{
	const struct ing_conf_key *key = find_key(name);
	if (key != NULL)
		take_value(l, key, at, value);
	else if (!is_section(name))
		complain_unknown(l, name, at);
	else if (!ing_yaml_is_null(value))
		take_section(l, name, value);
}

static void take_section(struct loader *l, const char *section, const struct ing_yaml_node *map)
{
	if (map->kind != ING_YAML_MAP) {
		struct ing_conf_origin at = {l->source, map->line, map->column};
		ing_conf_error(l->report, &at, section, "must be a mapping of keys to values");
		return;
	}
	for (const struct ing_yaml_node *k = map->first; k != NULL; k = k->next) {
		char name[MAX_NAME_BYTES];
		int n = snprintf(
			name, sizeof(name), "%s%s%s", section, section[0] ? "." : "", k->text);
		if (n < 0 || (size_t)n >= sizeof(name) || (size_t)n < k->bytes) {
			struct ing_conf_origin at = {l->source, k->line, k->column};
			ing_conf_error(l->report, &at, "...", "there is no key of such a name");
			continue;
		}
		take_named(l, name, k, k->value);
	}
}

static void load_file(struct loader *l, const char *path)
{
	struct ing_yaml_limits limits = ING_YAML_LIMITS_DEFAULT;
	struct ing_yaml *doc = NULL;
	struct ing_error err = {0};
	if (ing_yaml_load(path, &limits, &doc, &err) != 0) {
		ing_report_error(l->report, path, err.line, err.column, "%s", err.msg);
		return;
	}
	l->source = path;
	l->pass++;
	const struct ing_yaml_node *root = ing_yaml_root(doc);
	if (root->kind == ING_YAML_MAP) {
		take_section(l, "", root);
	} else if (!ing_yaml_is_null(root)) {
		struct ing_conf_origin at = {path, root->line, root->column};
		ing_conf_error(l->report, &at, NULL, "must be a mapping of keys to values");
	}
	ing_yaml_free(doc);
}

/* KEY=VALUE. VALUE is parsed behind as many blanks as the key takes, so that columns are the
 * argument's. */
static void load_set(struct loader *l, const char *set, const char *source)
{
	struct ing_yaml_limits limits = {MAX_SET_BYTES, 10000, ING_YAML_MAX_DEPTH};
	const struct ing_yaml_node argument = {.line = 1, .column = 1};
	const char *value = strchr(set, '=');
	char name[MAX_NAME_BYTES];
	l->source = source;
	l->on_command_line = true;
	l->pass++;
	if (value == NULL || value == set || (size_t)(value - set) >= sizeof(name)) {
		struct ing_conf_origin at = {source, 1, 1};
		ing_conf_error(l->report, &at, NULL, "not KEY=VALUE");
		return;
	}
	memcpy(name, set, (size_t)(value - set));
	name[value - set] = '\0';
	struct ing_buf text;
	ing_buf_init(&text, MAX_SET_BYTES + MAX_NAME_BYTES);
	for (const char *p = set; p <= value; p++)
		ing_buf_add_char(&text, ' ');
	ing_buf_add_str(&text, value + 1);
	struct ing_yaml *doc = NULL;
	struct ing_error err = {0};
	if (text.failed)
		ing_report_error(l->report, source, 0, 0, "too long");
	else if (ing_yaml_parse(ing_buf_str(&text), text.len, &limits, &doc, &err) != 0)
		ing_report_error(l->report, source, err.line, err.column, "%s", err.msg);
	else
		take_named(l, name, &argument, ing_yaml_root(doc));
	ing_yaml_free(doc);
	ing_buf_done(&text);
}

static const struct ing_conf_origin *origin_of(const struct loader *l, const char *name)
{
	return ing_conf_origin_of(l->origins, name);
}

/* What only a daemon needs. */
static void check_daemon(struct loader *l)
{
	const struct ing_conf *c = l->conf;
	if (c->kafka.brokers[0] == '\0')
		ing_conf_error(l->report, origin_of(l, "kafka.brokers"), "kafka.brokers",
			"the daemon needs a broker");
	if (!ing_conf_has_contact(c->fetch.user_agent))
		ing_conf_error(l->report, origin_of(l, "fetch.user_agent"), "fetch.user_agent",
			"must hold a URL or mail address where the operator can be reached, as in "
			"\"example-archive/1.0 (+https://archive.example/robot)\"");
	if (c->objects.ca_file != NULL && access(c->objects.ca_file, R_OK) != 0)
		ing_conf_error(l->report, origin_of(l, "s3.ca_file"), "s3.ca_file",
			"cannot be read: %s", c->objects.ca_file);
	if (c->fetch.ca_file != NULL && access(c->fetch.ca_file, R_OK) != 0)
		ing_conf_error(l->report, origin_of(l, "fetch.ca_file"), "fetch.ca_file",
			"cannot be read: %s", c->fetch.ca_file);
	ing_conf_check_secret_files(c, l->origins, l->report);
}

static void load_all(struct loader *l, const char *file, char *const *sets, enum ing_conf_use use)
{
	char(*names)[32] = NULL;
	size_t count = 0;
	while (sets != NULL && sets[count] != NULL)
		count++;
	if (count > 0)
		names = ing_alloc(count * sizeof(*names));
	for (size_t i = 0; i < ing_conf_key_count; i++)
		set_default(l, &ing_conf_keys[i]);
	const char *installed = ing_path_config();
	if (file != NULL)
		load_file(l, file);
	else if (access(installed, use == ING_CONF_DAEMON ? F_OK : R_OK) == 0)
		load_file(l, installed);
	for (size_t i = 0; i < count; i++) {
		snprintf(names[i], sizeof(names[i]), "--set %zu", i + 1);
		load_set(l, sets[i], names[i]);
	}
	if (l->report->errors == 0)
		ing_conf_check_relations(l->conf, l->origins, l->report);
	if (l->report->errors == 0 && use == ING_CONF_DAEMON)
		check_daemon(l);
	free(names);
}

/* -------------------------------------------------------------------------------------------- */

const struct ing_conf_origin *ing_conf_origin_of(
	const struct ing_conf_origin *origins, const char *name)
{
	const struct ing_conf_key *key = find_key(name);
	ing_must(key != NULL);
	return &origins[key - ing_conf_keys];
}

void ing_conf_error(struct ing_report *report, const struct ing_conf_origin *at, const char *key,
	const char *fmt, ...)
{
	char text[MAX_TEXT_BYTES];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (key != NULL)
		ing_report_error(
			report, at->source, at->line, at->column, "key \"%s\": %s", key, text);
	else
		ing_report_error(report, at->source, at->line, at->column, "%s", text);
}

int ing_conf_load(const char *file, char *const *sets, enum ing_conf_use use, struct ing_conf **ret,
	struct ing_report *report)
{
	struct loader l = {
		.conf = ing_alloc(sizeof(struct ing_conf)),
		.report = report,
		.origins = ing_alloc(ing_conf_key_count * sizeof(*l.origins)),
		.passes = ing_alloc(ing_conf_key_count * sizeof(*l.passes)),
	};
	load_all(&l, file, sets, use);
	free(l.origins);
	free(l.passes);
	if (report->errors > 0) {
		ing_conf_free(l.conf);
		return -ING_FAIL_CONFIG;
	}
	*ret = l.conf;
	return 0;
}

void ing_conf_free(struct ing_conf *conf)
{
	if (conf == NULL)
		return;
	for (size_t i = 0; i < ing_conf_key_count; i++)
		ing_conf_clear(conf, &ing_conf_keys[i]);
	free(conf);
}
