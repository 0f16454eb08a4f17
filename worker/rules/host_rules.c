/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rules about hosts: the loader of hosts.yaml, and the hosts that are blocked, each in a table by host.
 */
#include "worker/rules/host_rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/arena.h"
#include "worker/rules/host_names.h"
#include "worker/rules/rule_reader.h"
#include "worker/rules/rule_files.h"

#define MAX_DELAY_MS 3600000
#define MAX_CONCURRENCY 1000
/* Of a resolver that says no other: ten redirects a second. They cost its server little. */
#define RESOLVER_DELAY_MS 100
#define RESOLVER_CONCURRENCY 4

struct ing_host_rules {
	struct ing_host_names table;
	const struct ing_host_rule *entries, **last;
	size_t count;
};

struct ing_blocked_hosts {
	struct ing_host_names table;
	size_t count;
};

/* --- the loader --- */

static enum ing_host_choice read_choice(
	const struct ing_rule_reader *rd, const struct ing_yaml_node *map, const char *key)
{
	if (ing_yaml_get(map, key) == NULL)
		return ING_CHOICE_UNSET;
	return ing_rule_read_bool(rd, map, key, false) ? ING_CHOICE_YES : ING_CHOICE_NO;
}

static enum ing_host_choice read_robots(
	const struct ing_rule_reader *rd, const struct ing_yaml_node *map)
{
	static const char *const words[] = {"obey", "ignore"};
	static const enum ing_host_choice choices[] = {ING_CHOICE_YES, ING_CHOICE_NO};
	int word = ing_rule_read_enum(rd, map, "robots", words, ING_ARRAY_LEN(words));
	return word >= 0 ? choices[word] : ING_CHOICE_UNSET;
}

/* All but the host. */
static void read_rule(const struct ing_rule_reader *rd, const struct ing_yaml_node *map,
	struct ing_host_rule *rule)
{
	rule->file = ing_arena_strdup(rd->arena, rd->file);
	rule->line = map->line;
	rule->why = ing_rule_read_required_text(rd, map, "an entry", "why");
	rule->source = ing_rule_read_text(rd, map, "source");
	rule->resolver = ing_rule_read_bool(rd, map, "resolver", false);
	rule->has_delay = rule->resolver || ing_yaml_get(map, "delay_ms") != NULL;
	rule->delay_ms = ing_rule_read_number(
		rd, map, "delay_ms", 0, MAX_DELAY_MS, rule->resolver ? RESOLVER_DELAY_MS : 0);
	rule->has_concurrency = rule->resolver || ing_yaml_get(map, "concurrency") != NULL;
	rule->concurrency = ing_rule_read_number(rd, map, "concurrency", 1, MAX_CONCURRENCY,
		rule->resolver ? RESOLVER_CONCURRENCY : 1);
	rule->obey_robots = read_robots(rd, map);
	rule->tls_fallback = read_choice(rd, map, "tls_fallback");
	rule->tests = ing_rule_read_url_tests(rd, map, true);
	if (!rule->has_delay && !rule->has_concurrency && ing_yaml_get(map, "robots") == NULL &&
		ing_yaml_get(map, "tls_fallback") == NULL && ing_yaml_get(map, "resolver") == NULL)
		ing_rule_read_error(rd, map,
			"an entry needs one of delay_ms, concurrency, robots, tls_fallback, "
			"resolver");
}

/* False: there is none, or a bad one, and it has been said. */
static bool read_host(const struct ing_rule_reader *rd, const struct ing_yaml_node *map,
	struct ing_host_rule *rule)
{
	struct ing_error err = {0};
	struct ing_url_pattern *p = ing_arena_alloc(rd->arena, sizeof(*p));
	if (ing_yaml_get(map, "host") == NULL)
		ing_rule_read_error(rd, map, "an entry needs a host");
	const struct ing_yaml_node *value = ing_rule_read_scalar(rd, map, "host");
	if (value == NULL)
		return false;
	if (ing_url_pattern_set_host(p, rd->arena, value->text, &err) != 0) {
		ing_rule_read_error(rd, value, "%s", err.msg);
		return false;
	}
	rule->pattern = p;
	rule->host = ing_host_names_key(rd->arena, p);
	return true;
}

static void read_entry(
	struct ing_host_rules *r, const struct ing_rule_reader *rd, const struct ing_yaml_node *map)
{
	static const char *const known[] = {"host", "delay_ms", "concurrency", "robots",
		"tls_fallback", "resolver", "why", "source", "tests"};
	ing_rule_read_keys(rd, map, "an entry", known, ING_ARRAY_LEN(known));
	if (map->kind != ING_YAML_MAP)
		return;
	struct ing_host_rule *rule = ing_arena_alloc(rd->arena, sizeof(*rule));
	read_rule(rd, map, rule);
	if (!read_host(rd, map, rule))
		return;
	const struct ing_host_rule *before = ing_host_names_put(&r->table, rule->host, rule);
	if (before != NULL) {
		ing_rule_read_error(rd, ing_yaml_get(map, "host"),
			"host %s was given before, in line %d", rule->host, before->line);
		return;
	}
	*r->last = rule;
	r->last = &rule->next;
	r->count++;
}

static void load_file(
	struct ing_host_rules *r, const struct ing_rule_file *file, struct ing_report *report)
{
	const struct ing_rule_reader rd = {
		.file = file->path, .report = report, .arena = &r->table.arena};
	struct ing_yaml *doc = ing_rule_read_yaml(file, report);
	const struct ing_yaml_node *root = doc != NULL ? ing_rule_read_root(&rd, doc) : NULL;
	if (root != NULL && root->kind == ING_YAML_LIST) {
		for (const struct ing_yaml_node *e = root->first; e != NULL; e = e->next)
			read_entry(r, &rd, e);
	} else if (root != NULL && !ing_yaml_is_null(root)) {
		ing_rule_read_error(&rd, root, "the file must be a list of entries, not %s",
			ing_yaml_kind_name(root));
	}
	ing_yaml_free(doc);
}

/* -------------------------------------------------------------------------------------------- */

int ing_host_rules_load_files(
	const struct ing_rule_files *files, struct ing_host_rules **ret, struct ing_report *report)
{
	size_t errors_before = report->errors;
	struct ing_host_rules *r = ing_alloc(sizeof(*r));
	ing_host_names_init(&r->table);
	r->last = &r->entries;
	for (size_t i = 0; i < files->count; i++) {
		if (files->items[i].kind == ING_RULES_HOSTS)
			load_file(r, &files->items[i], report);
	}
	if (report->errors == errors_before) {
		*ret = r;
		return 0;
	}
	ing_host_rules_free(r);
	return -ING_FAIL_CONFIG;
}

void ing_host_rules_free(struct ing_host_rules *r)
{
	if (r == NULL)
		return;
	ing_host_names_done(&r->table);
	free(r);
}

size_t ing_host_rules_count(const struct ing_host_rules *r)
{
	return r != NULL ? r->count : 0;
}

const struct ing_host_rule *ing_host_rules_entries(const struct ing_host_rules *r)
{
	return r != NULL ? r->entries : NULL;
}

const struct ing_host_rule *ing_host_rules_find(const struct ing_host_rules *r, const char *host)
{
	return r != NULL ? ing_host_names_find(&r->table, host) : NULL;
}

struct ing_blocked_hosts *ing_blocked_hosts_new(void)
{
	struct ing_blocked_hosts *b = ing_alloc(sizeof(*b));
	ing_host_names_init(&b->table);
	return b;
}

void ing_blocked_hosts_free(struct ing_blocked_hosts *b)
{
	if (b == NULL)
		return;
	ing_host_names_done(&b->table);
	free(b);
}

void ing_blocked_hosts_clear(struct ing_blocked_hosts *b)
{
	ing_host_names_done(&b->table);
	ing_host_names_init(&b->table);
	b->count = 0;
}

bool ing_blocked_hosts_add(struct ing_blocked_hosts *b, const char *host, const char *why)
{
	if (b->count == ING_MAX_BLOCKED_HOSTS ||
		!ing_host_names_add(
			&b->table, host, ing_arena_strdup(&b->table.arena, why != NULL ? why : "")))
		return false;
	b->count++;
	return true;
}

const char *ing_blocked_hosts_find(const struct ing_blocked_hosts *b, const char *host)
{
	return b != NULL ? ing_host_names_find(&b->table, host) : NULL;
}
