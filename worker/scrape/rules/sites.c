/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An entry has a filter on the page's URL, sources of named values, and a template of the URL.
 * Values are read in site_values.c, templates compiled in template.c.
 */
#include "worker/scrape/rules/sites.h"

#include <stdlib.h>
#include <string.h>

#include "common/markup/link.h"
#include "common/net/url.h"
#include "worker/model/limits.h"
#include "worker/scrape/rules/read_selector.h"
#include "worker/scrape/rules/site_values.h"
#include "worker/model/rule_hits.h"

struct site {
	struct site *next;
	const char *name, *stage;
	struct ing_url_filter page;
	struct ing_site_source *sources;
	struct ing_template url, source_has;
	bool is_pdf, has_source;
	const char *names[ING_MAX_SITE_VALUES]; /* of values, by slot */
	unsigned name_count;
	uint32_t rule;
};

struct ing_sites {
	struct site *first, **end;
	size_t count;
};

/* --- the loader --- */

struct loader {
	struct ing_sites *sites;
	struct ing_rules *rules;
	const struct ing_rule_file *file;
	struct ing_rule_reader rd;
	struct site *site; /* being read */
};

/* Add a value to a source; a new name gets a slot. */
static struct ing_site_value *add_value(struct loader *l, const struct ing_yaml_node *at,
	struct ing_site_source *src, const char *name)
{
	struct site *s = l->site;
	unsigned slot = 0;
	while (slot < s->name_count && strcmp(s->names[slot], name) != 0)
		slot++;
	if (slot == ING_MAX_SITE_VALUES) {
		ing_rule_read_error(
			&l->rd, at, "an entry has at most %d values", ING_MAX_SITE_VALUES);
		return NULL;
	}
	if (name[0] == '\0' || strcspn(name, "{}|") != strlen(name) || strcmp(name, "url") == 0 ||
		strcmp(name, "host") == 0) {
		ing_rule_read_error(&l->rd, at, "a value cannot be named \"%.60s\"", name);
		return NULL;
	}
	if (slot == s->name_count)
		s->names[s->name_count++] = ing_arena_strdup(&l->rules->arena, name);
	struct ing_site_value *value = ing_arena_alloc(&l->rules->arena, sizeof(*value));
	value->slot = slot;
	value->next = src->values;
	src->values = value;
	return value;
}

static void read_paths(
	struct loader *l, const struct ing_yaml_node *entry, struct ing_site_source *src)
{
	const struct ing_yaml_node *paths = ing_rule_read_node(&l->rd, entry, "json", ING_YAML_MAP);
	if (paths == NULL)
		return;
	src->json = true;
	if (paths->count == 0)
		ing_rule_read_error(&l->rd, paths, "json must name a value");
	for (const struct ing_yaml_node *key = paths->first; key != NULL; key = key->next) {
		const char *path = ing_rule_read_text(&l->rd, paths, key->text);
		struct ing_site_value *value = add_value(l, key, src, key->text);
		if (value != NULL)
			value->path = path != NULL ? path : "";
	}
}

/* Add the named groups of the source's regular expression as values. */
static void read_groups(
	struct loader *l, const struct ing_yaml_node *at, struct ing_site_source *src)
{
	unsigned number = 0;
	const char *name = ing_regex_group_name(src->regex, 0, &number);
	if (name == NULL)
		ing_rule_read_error(
			&l->rd, at, "the expression must name a value by a group, (?<name>…)");
	for (unsigned i = 0; name != NULL; name = ing_regex_group_name(src->regex, ++i, &number)) {
		struct ing_site_value *value = add_value(l, at, src, name);
		if (value != NULL)
			value->group = number;
	}
}

/* Read the regular expression of a source. Text of pages is UTF-8, URLs are bytes. */
static void read_expression(struct loader *l, const struct ing_yaml_node *entry, const char *key,
	struct ing_site_source *src)
{
	const struct ing_yaml_node *at = ing_yaml_get(entry, key);
	if (at == NULL)
		return;
	src->regex = ing_rule_read_regex(&l->rd, entry, key,
		src->kind == ING_SITE_FROM_URL ? ING_REGEX_BYTES : ING_RULE_REGEX_PAGE);
	if (src->regex != NULL && !src->json)
		read_groups(l, at, src);
}

static void read_element(
	struct loader *l, const struct ing_yaml_node *entry, struct ing_site_source *src)
{
	src->selector = ing_rule_read_selector(&l->rd, entry, "selector");
	src->attr = ing_rule_read_text(&l->rd, entry, "attr");
	read_expression(l, entry, "match", src);
	const char *name = ing_rule_read_text(&l->rd, entry, "name");
	int ways = (ing_yaml_get(entry, "match") != NULL) + (name != NULL) + src->json;
	if (ways == 1 && name != NULL)
		add_value(l, entry, src, name);
	else if (ways == 0 || name != NULL)
		ing_rule_read_error(&l->rd, entry,
			"a selector's value needs a name, or match, or json: one of them");
}

static void read_source(
	struct loader *l, const struct ing_yaml_node *entry, struct ing_site_source *src)
{
	static const char *const known[] = {"selector", "attr", "name", "match", "json", "url",
		"script", "unescape", "decode", "cut", "optional"};
	static const char *const kinds[] = {[ING_SITE_FROM_URL] = "url",
		[ING_SITE_FROM_SCRIPT] = "script",
		[ING_SITE_FROM_ELEMENT] = "selector"};
	if (!ing_rule_read_keys(&l->rd, entry, "an item of take", known, ING_ARRAY_LEN(known)))
		return;
	unsigned given = 0;
	for (unsigned i = 0; i < ING_ARRAY_LEN(kinds); i++) {
		if (ing_yaml_get(entry, kinds[i]) != NULL) {
			src->kind = (enum ing_site_source_kind)i;
			given++;
		}
	}
	if (given != 1) {
		ing_rule_read_error(
			&l->rd, entry, "an item of take needs one of selector, url, script");
		return;
	}
	src->optional = ing_rule_read_bool(&l->rd, entry, "optional", false);
	src->unescape = ing_rule_read_bool(&l->rd, entry, "unescape", false);
	src->decode = ing_rule_read_bool(&l->rd, entry, "decode", false);
	/* Bytes: percent-escapes that have been undone need not be UTF-8. */
	src->cut = ing_rule_read_regex(&l->rd, entry, "cut", ING_REGEX_BYTES);
	read_paths(l, entry, src);
	if (src->kind == ING_SITE_FROM_ELEMENT)
		read_element(l, entry, src);
	else
		read_expression(l, entry, kinds[src->kind], src);
	if (src->kind != ING_SITE_FROM_ELEMENT &&
		(ing_yaml_get(entry, "attr") != NULL || ing_yaml_get(entry, "name") != NULL ||
			ing_yaml_get(entry, "match") != NULL))
		ing_rule_read_error(&l->rd, entry, "attr, name and match belong to a selector");
	if (src->kind == ING_SITE_FROM_URL && src->json)
		ing_rule_read_error(&l->rd, entry, "json cannot be combined with url");
}

static void read_sources(struct loader *l, const struct ing_yaml_node *entry)
{
	const struct ing_yaml_node *list = ing_rule_read_node(&l->rd, entry, "take", ING_YAML_LIST);
	struct ing_site_source **end = &l->site->sources;
	for (const struct ing_yaml_node *e = list != NULL ? list->first : NULL; e != NULL;
		e = e->next) {
		struct ing_site_source *src = ing_arena_alloc(&l->rules->arena, sizeof(*src));
		*end = src;
		end = &src->next;
		read_source(l, e, src);
	}
}

static bool read_template(struct loader *l, const struct ing_yaml_node *entry, const char *key,
	struct ing_template *ret)
{
	const struct ing_yaml_node *at = ing_rule_read_scalar(&l->rd, entry, key);
	struct ing_error err = {0};
	if (at == NULL)
		return false;
	if (ing_template_compile(at->text, l->site->names, l->site->name_count, &l->rules->arena,
		    ret, &err) != 0)
		ing_rule_read_error_in(&l->rd, at, err.column, "%s: %s", key, err.msg);
	return true;
}

static void read_site(struct loader *l, const struct ing_yaml_node *entry)
{
	static const char *const known[] = {"name", "page", "take", "source_has", "pdf_url",
		"next_url", "stage", ING_ENTRY_KEYS};
	struct site *s = ing_arena_alloc(&l->rules->arena, sizeof(*s));
	if (!ing_rule_read_keys(&l->rd, entry, "an entry", known, ING_ARRAY_LEN(known)) &&
		entry->kind != ING_YAML_MAP)
		return;
	l->site = s;
	*l->sites->end = s;
	l->sites->end = &s->next;
	l->sites->count++;
	const char *name = ing_rule_read_required_text(&l->rd, entry, "an entry", "name");
	s->name = name != NULL ? name : "?";
	s->stage = ing_rule_read_text(&l->rd, entry, "stage");
	s->rule = ing_rules_add(l->rules, NULL, "sites.yaml %s", s->name);
	ing_rules_read_tests(l->rules, s->rule, l->file, entry, l->rd.report);
	ing_url_filter_read(&l->rd, entry, "page", &s->page);
	read_sources(l, entry);
	s->is_pdf = ing_yaml_get(entry, "pdf_url") != NULL;
	s->has_source = read_template(l, entry, "source_has", &s->source_has);
	if (s->is_pdf == (ing_yaml_get(entry, "next_url") != NULL))
		ing_rule_read_error(&l->rd, entry, "an entry needs one of pdf_url, next_url");
	else
		read_template(l, entry, s->is_pdf ? "pdf_url" : "next_url", &s->url);
}

static void read_entries(struct loader *l, const struct ing_yaml_node *root)
{
	if (ing_yaml_is_null(root))
		return;
	if (root->kind != ING_YAML_LIST) {
		ing_rule_read_error(&l->rd, root, "the file must be a list of entries, not %s",
			ing_yaml_kind_name(root));
		return;
	}
	for (const struct ing_yaml_node *e = root->first; e != NULL; e = e->next)
		read_site(l, e);
}

/* --- the search --- */

/* Returns the URL of an entry, on the heap; NULL when a value is missing, or when it is no http(s)
 * URL or the page's own. */
static char *build_url(const struct site *s, const struct ing_view *v, const char *host)
{
	const char *values[ING_MAX_SITE_VALUES] = {NULL};
	bool failed = false;
	bool found = true;
	for (const struct ing_site_source *src = s->sources; src != NULL && found; src = src->next)
		found = ing_site_read_values(src, v, values, &failed) || src->optional;
	if (failed)
		ing_rule_hits_add(v->rule_hits, s->rule, ING_RULE_FAILED);
	struct ing_buf text;
	ing_buf_init(&text, ING_MAX_URL_BYTES);
	char *url = NULL;
	if (found && s->has_source)
		found = ing_template_expand(&s->source_has, values, v->url, host, &text) &&
			ing_view_source_has(v, ing_buf_str(&text), text.len);
	ing_buf_clear(&text);
	if (found && ing_template_expand(&s->url, values, v->url, host, &text) && text.len > 0)
		url = ing_link_resolve(v->tree, ing_buf_str(&text), text.len);
	ing_buf_done(&text);
	if (url == NULL)
		return NULL;
	char *bare = ing_url_without_fragment(url);
	bool good = ing_url_is_web(url) && strlen(url) <= ING_MAX_URL_BYTES &&
		    (v->url == NULL || strcmp(bare, v->url) != 0);
	free(bare);
	if (!good)
		free(url);
	return good ? url : NULL;
}

static void free_sources(struct ing_site_source *src)
{
	for (; src != NULL; src = src->next) {
		ing_selector_free(src->selector);
		ing_regex_free(src->regex);
		ing_regex_free(src->cut);
	}
}

/* -------------------------------------------------------------------------------------------- */

struct ing_sites *ing_sites_load(
	struct ing_rules *rules, const struct ing_rule_files *files, struct ing_report *report)
{
	struct ing_sites *sites = ing_alloc(sizeof(*sites));
	sites->end = &sites->first;
	for (size_t i = 0; i < files->count; i++) {
		const struct ing_rule_file *file = &files->items[i];
		const struct ing_yaml *doc =
			file->kind == ING_RULES_SITES ? ing_rules_read(rules, file, report) : NULL;
		if (doc == NULL)
			continue;
		struct loader l = {.sites = sites,
			.rules = rules,
			.file = file,
			.rd = {file->path, report, &rules->arena, rules->slow}};
		const struct ing_yaml_node *root = ing_rule_read_root(&l.rd, doc);
		if (root != NULL)
			read_entries(&l, root);
	}
	return sites;
}

void ing_sites_free(struct ing_sites *s)
{
	if (s == NULL)
		return;
	for (struct site *i = s->first; i != NULL; i = i->next)
		free_sources(i->sources);
	free(s);
}

size_t ing_sites_count(const struct ing_sites *s)
{
	return s != NULL ? s->count : 0;
}

struct ing_site_next ing_sites_find(const struct ing_sites *s, const struct ing_view *v)
{
	char host[ING_URL_HOST_BYTES] = "";
	if (v->url != NULL)
		ing_url_host(v->url, host, sizeof(host));
	for (const struct site *i = s->first; i != NULL; i = i->next) {
		if (!ing_url_filter_matches(&i->page, v->target))
			continue;
		ing_rule_hits_add(v->rule_hits, i->rule, ING_RULE_APPLIED);
		char *url = build_url(i, v, host);
		if (url == NULL)
			continue;
		ing_rule_hits_add(v->rule_hits, i->rule, ING_RULE_MATCHED);
		struct ing_site_next next = {
			.url = ing_arena_strdup(v->arena, url),
			.is_pdf = i->is_pdf,
			.technique = i->name,
			.stage = i->stage,
			.rule = i->rule,
		};
		free(url);
		return next;
	}
	return (struct ing_site_next){.rule = UINT32_MAX};
}
