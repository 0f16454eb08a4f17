/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Loader of blocklist.yaml and walls.yaml, and the search. Rules are stored under the host that
 * they name. A host name is looked up as a whole, then with one label less at a time, so that a
 * rule for everything below a domain is found without a search.
 */
#include "worker/rules/url_rules.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/arena.h"
#include "common/base/hash.h"
#include "worker/rules/rule_reader.h"
#include "worker/rules/rule_files.h"

struct rule {
	struct rule *next;
	struct ing_url_decision decision;
	struct ing_url_pattern pattern;
	struct ing_url_entry entry;
};

struct host {
	UT_hash_handle hh;
	struct rule *rules;
	const char *name; /* as patterns have it */
};

struct ing_url_rules {
	struct ing_arena arena;
	struct host *hosts;
	struct rule *anywhere; /* rules without a host */
	const struct ing_url_entry *entries, **last_entry;
	size_t count;
};

/* --- the loader --- */

struct loader {
	struct ing_url_rules *rules;
	struct ing_rule_reader rd;
	bool is_blocklist;
};

static void add_to_host(struct ing_url_rules *r, const char *host, struct rule *rule)
{
	struct host *h;
	HASH_FIND_STR(r->hosts, host, h);
	if (h == NULL) {
		h = ing_arena_alloc(&r->arena, sizeof(*h));
		h->name = host;
		HASH_ADD_KEYPTR(hh, r->hosts, h->name, strlen(h->name), h);
	}
	rule->next = h->rules;
	h->rules = rule;
}

static void read_kind(struct loader *l, const struct ing_yaml_node *map, struct rule *rule)
{
	static const char *const words[] = {"wall", "captcha", "login", "challenge", "cookie"};
	static const enum ing_url_rule_kind kinds[] = {ING_URL_RULE_WALL, ING_URL_RULE_CAPTCHA,
		ING_URL_RULE_LOGIN, ING_URL_RULE_CHALLENGE, ING_URL_RULE_COOKIE};
	if (l->is_blocklist) {
		rule->decision.rule = ING_URL_RULE_BLOCKLIST;
		return;
	}
	if (ing_yaml_get(map, "verdict") == NULL)
		ing_rule_read_error(&l->rd, map,
			"an entry needs a verdict: wall, cookie, captcha, login or challenge");
	int word = ing_rule_read_enum(&l->rd, map, "verdict", words, ING_ARRAY_LEN(words));
	if (word >= 0)
		rule->decision.rule = kinds[word];
	rule->decision.only_at_end = ing_rule_read_bool(&l->rd, map, "only_at_end", false);
}

static void read_entry(struct loader *l, const struct ing_yaml_node *map)
{
	static const char *const known[] = {
		ING_URL_KEYS, "why", "source", "tests", "verdict", "only_at_end"};
	size_t count = ING_ARRAY_LEN(known) - (l->is_blocklist ? 2 : 0);
	ing_rule_read_keys(&l->rd, map, "an entry", known, count);
	if (map->kind != ING_YAML_MAP)
		return;
	struct ing_url_rules *r = l->rules;
	struct rule *rule = ing_arena_alloc(&r->arena, sizeof(*rule));
	read_kind(l, map, rule);
	rule->decision.detail = ing_rule_read_required_text(&l->rd, map, "an entry", "why");
	if (ing_rule_read_url_keys(&l->rd, map, &rule->pattern) == 0)
		ing_rule_read_error(&l->rd, map,
			"an entry needs one of host, path, path_contains, path_ends, query, "
			"contains");
	rule->entry.file = ing_arena_strdup(&r->arena, l->rd.file);
	rule->entry.line = map->line;
	rule->entry.why = rule->decision.detail;
	rule->entry.source = ing_rule_read_text(&l->rd, map, "source");
	rule->entry.pattern = &rule->pattern;
	rule->entry.tests = ing_rule_read_url_tests(&l->rd, map, false);
	*r->last_entry = &rule->entry;
	r->last_entry = &rule->entry.next;
	r->count++;
	if (rule->pattern.host != NULL) {
		add_to_host(r, rule->pattern.host, rule);
	} else {
		rule->next = r->anywhere;
		r->anywhere = rule;
	}
}

/* Entries that look at the page itself belong to worker/scrape/rules/wall_signatures.h. */
static bool is_signature(const struct ing_yaml_node *map)
{
	static const char *const keys[] = {
		"name", "selector", "title", "source_matches", "max_words"};
	for (size_t i = 0; i < ING_ARRAY_LEN(keys); i++) {
		if (ing_yaml_get(map, keys[i]) != NULL)
			return true;
	}
	return false;
}

static void load_file(struct loader *l, const struct ing_rule_file *file)
{
	l->is_blocklist = file->kind == ING_RULES_BLOCKLIST;
	l->rd.file = file->path;
	struct ing_yaml *doc = ing_rule_read_yaml(file, l->rd.report);
	const struct ing_yaml_node *root = doc != NULL ? ing_rule_read_root(&l->rd, doc) : NULL;
	if (root != NULL && root->kind == ING_YAML_LIST) {
		for (const struct ing_yaml_node *e = root->first; e != NULL; e = e->next) {
			if (l->is_blocklist || !is_signature(e))
				read_entry(l, e);
		}
	} else if (root != NULL && !ing_yaml_is_null(root)) {
		ing_rule_read_error(&l->rd, root, "the file must be a list of entries, not %s",
			ing_yaml_kind_name(root));
	}
	ing_yaml_free(doc);
}

static void load_kind(struct loader *l, const struct ing_rule_files *files, enum ing_rule_kind kind)
{
	for (size_t i = 0; i < files->count; i++) {
		if (files->items[i].kind == kind)
			load_file(l, &files->items[i]);
	}
}

/* --- the search --- */

/* The kind that comes first in the enumeration counts; of two of a kind, the one that prevents the
 * fetch. */
static bool is_severer(const struct ing_url_decision *a, const struct ing_url_decision *b)
{
	if (a->rule != b->rule)
		return a->rule < b->rule;
	return !a->only_at_end && b->only_at_end;
}

static void scan_rules(
	const struct ing_url_target *t, const struct rule *rules, struct ing_url_decision *best)
{
	for (const struct rule *rule = rules; rule != NULL; rule = rule->next) {
		if (is_severer(&rule->decision, best) && ing_url_matches(&rule->pattern, t))
			*best = rule->decision;
	}
}

/* -------------------------------------------------------------------------------------------- */

int ing_url_rules_load_files(
	const struct ing_rule_files *files, struct ing_url_rules **ret, struct ing_report *report)
{
	size_t errors_before = report->errors;
	struct loader l = {.rules = ing_alloc(sizeof(*l.rules))};
	ing_arena_init(&l.rules->arena);
	l.rules->last_entry = &l.rules->entries;
	l.rd = (struct ing_rule_reader){.report = report, .arena = &l.rules->arena};
	load_kind(&l, files, ING_RULES_BLOCKLIST);
	load_kind(&l, files, ING_RULES_WALLS);
	if (report->errors == errors_before) {
		*ret = l.rules;
		return 0;
	}
	ing_url_rules_free(l.rules);
	return -ING_FAIL_CONFIG;
}

void ing_url_rules_free(struct ing_url_rules *r)
{
	if (r == NULL)
		return;
	HASH_CLEAR(hh, r->hosts);
	ing_arena_done(&r->arena);
	free(r);
}

size_t ing_url_rules_count(const struct ing_url_rules *r)
{
	return r != NULL ? r->count : 0;
}

const struct ing_url_entry *ing_url_rules_entries(const struct ing_url_rules *r)
{
	return r != NULL ? r->entries : NULL;
}

struct ing_url_decision ing_url_rules_decide(const struct ing_url_rules *r, const char *url)
{
	struct ing_url_decision best = {.rule = ING_URL_RULE_NONE};
	if (r == NULL || r->count == 0)
		return best;
	struct ing_url_target *t = ing_url_target_new(url);
	if (t == NULL)
		return best;
	scan_rules(t, r->anywhere, &best);
	for (const char *name = ing_url_target_host(t); name != NULL;) {
		const struct host *h;
		HASH_FIND_STR(r->hosts, name, h);
		if (h != NULL)
			scan_rules(t, h->rules, &best);
		name = strchr(name, '.');
		if (name != NULL)
			name++;
	}
	ing_url_target_free(t);
	return best;
}
