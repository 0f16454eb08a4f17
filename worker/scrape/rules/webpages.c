/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One list of URL expressions with their rules, in the order of the files. The last that matches
 * counts alone.
 */
#include "worker/scrape/rules/webpages.h"

#include <stdlib.h>
#include <string.h>

#include "worker/scrape/rules/read_selector.h"
#include "worker/scrape/rules/url_regex.h"
#include "worker/model/rule_hits.h"

static const char *const value_keys[ING_WEBPAGE_KEYS_] = {
	[ING_WEBPAGE_TITLE] = "title",
	[ING_WEBPAGE_CONTENT] = "content",
	[ING_WEBPAGE_LICENSE] = "license",
	[ING_WEBPAGE_LANGUAGE] = "language",
};

struct entry {
	struct ing_url_regex regex;
	struct ing_webpage_rule rule;
};

struct ing_webpages {
	struct entry *items;
	size_t count, cap;
};

struct loader {
	struct ing_rules *rules;
	struct ing_webpages *webpages;
	const struct ing_rule_file *file;
	struct ing_rule_reader rd;
};

static bool is_blank(const char *s)
{
	return s[strspn(s, " \t\r\n\f\v")] == '\0';
}

/* true and false with or without quotes; YAML 1.1's other words for them without. Any other text
 * stands for false, as in the program that these files are from. */
static enum ing_javascript read_javascript(struct loader *l, const struct ing_yaml_node *map)
{
	static const char *const yes[] = {"yes", "Yes", "YES", "on", "On", "ON", "y", "Y"};
	static const char *const no[] = {"", "no", "No", "NO", "off", "Off", "OFF", "n", "N"};
	const struct ing_yaml_node *value = ing_yaml_get(map, "javascript");
	if (value == NULL)
		return ING_JS_DECIDE;
	if (value->kind != ING_YAML_SCALAR || (ing_yaml_is_null(value) && value->plain)) {
		ing_rule_read_error(&l->rd, value, "javascript must be true or false");
		return ING_JS_DECIDE;
	}
	if (strcasecmp(value->text, "true") == 0)
		return ING_JS_YES;
	if (strcasecmp(value->text, "false") == 0)
		return ING_JS_NO;
	for (size_t i = 0; i < ING_ARRAY_LEN(yes); i++) {
		if (value->plain && strcmp(value->text, yes[i]) == 0)
			return ING_JS_YES;
	}
	for (size_t i = 0; i < ING_ARRAY_LEN(no); i++) {
		if (strcmp(value->text, no[i]) == 0)
			return ING_JS_NO;
	}
	ing_rule_read_warning(&l->rd, value, "javascript: \"%.40s\" is read as false", value->text);
	return ING_JS_NO;
}

static struct ing_webpage_value read_value(
	struct loader *l, const struct ing_yaml_node *map, enum ing_webpage_key key)
{
	struct ing_webpage_value ret = {0};
	struct ing_rule_value value;
	const char *name = value_keys[key];
	const struct ing_yaml_node *node = ing_yaml_get(map, name);
	if (node == NULL)
		return ret;
	if (ing_yaml_is_null(node)) {
		ing_rule_read_warning(&l->rd, node, "%s has no value and is ignored", name);
		return ret;
	}
	ret.given = true;
	if (node->kind == ING_YAML_SCALAR && node->bytes == 0) {
		if (key == ING_WEBPAGE_LICENSE || key == ING_WEBPAGE_LANGUAGE)
			ing_rule_read_warning(&l->rd, node, "%s is empty", name);
		return ret;
	}
	if (node->kind == ING_YAML_SCALAR && is_blank(node->text)) {
		ing_rule_read_error(&l->rd, node, "%s is only white space", name);
		return ret;
	}
	if (!ing_rule_read_value_at(&l->rd, name, node, &value))
		return ret;
	ret.selector = value.selector;
	ret.attr = value.attr;
	ret.parents = value.parents;
	return ret;
}

static void number_entry(struct loader *l, struct entry *e, const struct ing_yaml_node *map)
{
	const char *file = ing_rules_file_name(l->file);
	e->rule.rule = ing_rules_add(l->rules, NULL, "%s %s", file, e->rule.pattern);
	ing_rules_read_tests(l->rules, e->rule.rule, l->file, map, l->rd.report);
	for (size_t i = 0; i < ING_WEBPAGE_KEYS_; i++) {
		if (e->rule.keys[i].given)
			e->rule.keys[i].rule = ing_rules_add_part(l->rules, e->rule.rule,
				"%s %s %s", file, e->rule.pattern, value_keys[i]);
	}
}

static void read_rules(struct loader *l, const struct ing_yaml_node *map, struct entry *e)
{
	static const char *const known[] = {"title", "content", "license", "language", "javascript",
		"wait_until", ING_ENTRY_KEYS};
	ing_rule_read_keys(&l->rd, map, "a pattern", known, ING_ARRAY_LEN(known));
	for (size_t i = 0; i < ING_WEBPAGE_KEYS_; i++)
		e->rule.keys[i] = read_value(l, map, (enum ing_webpage_key)i);
	e->rule.javascript = read_javascript(l, map);
	e->rule.wait_until = ing_rule_read_text(&l->rd, map, "wait_until");
	number_entry(l, e, map);
}

static void read_entry(struct loader *l, const struct ing_yaml_node *key)
{
	struct ing_webpages *w = l->webpages;
	if (key->bytes == 0 || is_blank(key->text) || strlen(key->text) != key->bytes) {
		ing_rule_read_error(&l->rd, key, "the pattern must not be empty or contain NUL");
		return;
	}
	if (w->count == ING_MAX_URL_REGEXES) {
		ing_rule_read_error(&l->rd, key, "more than %d patterns", ING_MAX_URL_REGEXES);
		return;
	}
	if (w->count == w->cap) {
		w->cap = w->cap == 0 ? 64 : w->cap * 2;
		w->items = ing_realloc(w->items, w->cap * sizeof(*w->items));
	}
	struct entry *e = &w->items[w->count++];
	*e = (struct entry){.rule.pattern = ing_arena_strdup(&l->rules->arena, key->text)};
	(void)ing_url_regex_compile(&l->rd, key, &e->regex);
	if (ing_yaml_is_null(key->value))
		ing_rule_read_error(&l->rd, key, "pattern \"%.100s\" is empty", key->text);
	else if (key->value->kind != ING_YAML_MAP)
		ing_rule_read_error(&l->rd, key->value, "pattern \"%.100s\" must be a map, not %s",
			key->text, ing_yaml_kind_name(key->value));
	else
		read_rules(l, key->value, e);
}

static void read_file(struct loader *l, const struct ing_rule_file *file)
{
	l->file = file;
	l->rd.file = file->path;
	const struct ing_yaml *doc = ing_rules_read(l->rules, file, l->rd.report);
	if (doc == NULL)
		return;
	size_t count = ing_yaml_stream_count(doc);
	if (count != 1) {
		const struct ing_yaml_node *at = count > 0 ? ing_yaml_stream_get(doc, 1) : NULL;
		ing_report_error(l->rd.report, file->path, at != NULL ? at->line : 1,
			at != NULL ? at->column : 1,
			"there must be one YAML document; %zu were found", count);
	}
	const struct ing_yaml_node *root = count > 0 ? ing_yaml_stream_get(doc, 0) : NULL;
	if (root == NULL || ing_yaml_is_null(root))
		return;
	if (root->kind != ING_YAML_MAP) {
		ing_rule_read_error(&l->rd, root, "the file must be a map of patterns, not %s",
			ing_yaml_kind_name(root));
		return;
	}
	for (const struct ing_yaml_node *key = root->first; key != NULL; key = key->next)
		read_entry(l, key);
}

/* -------------------------------------------------------------------------------------------- */

struct ing_webpages *ing_webpages_load(
	struct ing_rules *rules, const struct ing_rule_files *files, struct ing_report *report)
{
	struct loader l = {.rules = rules,
		.webpages = ing_alloc(sizeof(*l.webpages)),
		.rd = {.report = report, .arena = &rules->arena, .slow = rules->slow}};
	for (size_t i = 0; i < files->count; i++) {
		if (files->items[i].kind == ING_RULES_WEBPAGES)
			read_file(&l, &files->items[i]);
	}
	return l.webpages;
}

void ing_webpages_free(struct ing_webpages *w)
{
	if (w == NULL)
		return;
	for (size_t i = 0; i < w->count; i++) {
		ing_url_regex_done(&w->items[i].regex);
		for (size_t k = 0; k < ING_WEBPAGE_KEYS_; k++)
			ing_selector_free((struct ing_selector *)(uintptr_t)w->items[i]
						  .rule.keys[k]
						  .selector);
	}
	free(w->items);
	free(w);
}

const struct ing_webpage_rule *ing_webpages_find(
	const struct ing_webpages *w, const char *url, struct ing_rule_hits *hits)
{
	const struct ing_webpage_rule *found = NULL;
	struct ing_java_url u;
	ing_java_url_init(&u, url);
	for (size_t i = w->count; i > 0 && found == NULL; i--) {
		const struct entry *e = &w->items[i - 1];
		enum ing_regex_end end = ing_url_regex_find(&e->regex, &u);
		if (end == ING_REGEX_YES)
			found = &e->rule;
		else if (end == ING_REGEX_LIMIT && hits != NULL)
			ing_rule_hits_add(hits, e->rule.rule, ING_RULE_FAILED);
	}
	ing_java_url_done(&u);
	return found;
}

size_t ing_webpages_count(const struct ing_webpages *w)
{
	return w->count;
}
