/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Signatures are tried in the order of the file, the cheapest conditions of each first. Nearly
 * every one limits the number of words, so that an article costs a few comparisons.
 */
#include "worker/scrape/rules/wall_signatures.h"

#include <stdlib.h>
#include <string.h>

#include "worker/scrape/jsoup/regex.h"
#include "worker/rules/url_filter.h"
#include "worker/scrape/rules/read_selector.h"
#include "worker/model/rule_hits.h"

/* Pages served in place of a document are small: `source_matches` looks at the first bytes only. */
#define MAX_SOURCE_BYTES ((size_t)256 << 10)
#define MAX_WORDS_LIMIT 1000000

struct signature {
	struct signature *next;
	struct ing_wall_match match;
	struct ing_url_pattern url;
	bool has_url, has_words;
	uint32_t max_words;
	struct ing_selector *selector;            /* NULL: not asked */
	struct ing_regex *title, *source_matches; /* NULL: not asked */
};

struct ing_wall_signatures {
	struct signature *first, **end;
	size_t count;
};

static const char *const wall_names[] = {
	[ING_WALL_NONE] = NULL,
	[ING_WALL_COOKIE] = "cookie",
	[ING_WALL_CAPTCHA] = "captcha",
	[ING_WALL_LOGIN] = "login",
	[ING_WALL_CHALLENGE] = "challenge",
};

/* --- the loader --- */

struct loader {
	struct ing_wall_signatures *signatures;
	struct ing_rules *rules;
	const struct ing_rule_file *file;
	struct ing_rule_reader rd;
};

static enum ing_wall read_wall(struct loader *l, const struct ing_yaml_node *entry)
{
	static const char *const words[] = {"cookie", "captcha", "login", "challenge"};
	if (ing_yaml_get(entry, "verdict") == NULL)
		ing_rule_read_error(&l->rd, entry,
			"an entry needs a verdict: cookie, captcha, login or challenge");
	int word = ing_rule_read_enum(&l->rd, entry, "verdict", words, ING_ARRAY_LEN(words));
	return word < 0 ? ING_WALL_NONE : (enum ing_wall)(word + ING_WALL_COOKIE);
}

static void read_signature(struct loader *l, const struct ing_yaml_node *entry)
{
	static const char *const known[] = {ING_URL_KEYS, "why", "verdict", "name", "selector",
		"title", "source_matches", "max_words", ING_ENTRY_KEYS};
	struct signature *s = ing_arena_alloc(&l->rules->arena, sizeof(*s));
	ing_rule_read_keys(&l->rd, entry, "a signature", known, ING_ARRAY_LEN(known));
	const char *name = ing_rule_read_required_text(&l->rd, entry, "a signature", "name");
	const char *why = ing_rule_read_required_text(&l->rd, entry, "a signature", "why");
	s->match.name = name != NULL ? name : "?";
	s->match.detail = why != NULL ? why : "?";
	s->match.wall = read_wall(l, entry);
	s->match.rule = ing_rules_add(l->rules, NULL, "walls.yaml %s", s->match.name);
	ing_rules_read_tests(l->rules, s->match.rule, l->file, entry, l->rd.report);
	s->has_url = ing_rule_read_url_keys(&l->rd, entry, &s->url) > 0;
	s->has_words = ing_yaml_get(entry, "max_words") != NULL;
	s->max_words = ing_rule_read_number(&l->rd, entry, "max_words", 0, MAX_WORDS_LIMIT, 0);
	s->selector = ing_rule_read_selector(&l->rd, entry, "selector");
	s->title = ing_rule_read_regex(&l->rd, entry, "title", 0);
	s->source_matches = ing_rule_read_regex(
		&l->rd, entry, "source_matches", ING_REGEX_BYTES | ING_RULE_REGEX_PAGE);
	if (ing_yaml_get(entry, "selector") == NULL && ing_yaml_get(entry, "title") == NULL &&
		ing_yaml_get(entry, "source_matches") == NULL)
		ing_rule_read_error(
			&l->rd, entry, "a signature needs one of selector, title, source_matches");
	*l->signatures->end = s;
	l->signatures->end = &s->next;
	l->signatures->count++;
}

/* Whether an entry looks at the page itself; the others belong to worker/rules/url_rules.h. */
static bool is_signature(const struct ing_yaml_node *entry)
{
	static const char *const keys[] = {
		"name", "selector", "title", "source_matches", "max_words"};
	for (size_t i = 0; i < ING_ARRAY_LEN(keys); i++) {
		if (ing_yaml_get(entry, keys[i]) != NULL)
			return true;
	}
	return false;
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
	for (const struct ing_yaml_node *e = root->first; e != NULL; e = e->next) {
		if (is_signature(e))
			read_signature(l, e);
	}
}

/* --- the search --- */

/* Whether the expression matches; false, and FAILED, when it meets its limit. */
static bool finds(const struct ing_regex *r, const char *text, size_t bytes,
	const struct ing_view *v, uint32_t rule)
{
	enum ing_regex_end end = ing_regex_find(r, text, bytes);
	if (end == ING_REGEX_LIMIT)
		ing_rule_hits_add(v->rule_hits, rule, ING_RULE_FAILED);
	return end == ING_REGEX_YES;
}

static bool has_selected(const struct signature *s, const struct ing_view *v)
{
	ing_node found = ING_NODE_NONE;
	struct ing_error err = {0};
	if (ing_select_first(v->matcher, s->selector, ING_NODE_DOCUMENT, &found, &err) != 0) {
		ing_rule_hits_add(v->rule_hits, s->match.rule, ING_RULE_FAILED);
		return false;
	}
	return found != ING_NODE_NONE;
}

static bool has_signature(const struct signature *s, const struct ing_view *v)
{
	if (s->has_url && (v->target == NULL || !ing_url_matches(&s->url, v->target)))
		return false;
	ing_rule_hits_add(v->rule_hits, s->match.rule, ING_RULE_APPLIED);
	if (s->has_words && v->word_count > s->max_words)
		return false;
	if (s->title != NULL && (v->title == NULL || !finds(s->title, v->title, strlen(v->title), v,
							     s->match.rule)))
		return false;
	if (s->selector != NULL && !has_selected(s, v))
		return false;
	return s->source_matches == NULL ||
	       (v->data != NULL && finds(s->source_matches, v->data,
					   ING_MIN(v->bytes, MAX_SOURCE_BYTES), v, s->match.rule));
}

/* -------------------------------------------------------------------------------------------- */

struct ing_wall_signatures *ing_wall_signatures_load(
	struct ing_rules *rules, const struct ing_rule_files *files, struct ing_report *report)
{
	struct ing_wall_signatures *signatures = ing_alloc(sizeof(*signatures));
	signatures->end = &signatures->first;
	for (size_t i = 0; i < files->count; i++) {
		const struct ing_rule_file *file = &files->items[i];
		const struct ing_yaml *doc =
			file->kind == ING_RULES_WALLS ? ing_rules_read(rules, file, report) : NULL;
		if (doc == NULL)
			continue;
		struct loader l = {
			signatures, rules, file, {file->path, report, &rules->arena, rules->slow}};
		const struct ing_yaml_node *root = ing_rule_read_root(&l.rd, doc);
		if (root != NULL)
			read_entries(&l, root);
	}
	return signatures;
}

void ing_wall_signatures_free(struct ing_wall_signatures *s)
{
	if (s == NULL)
		return;
	for (struct signature *i = s->first; i != NULL; i = i->next) {
		ing_selector_free(i->selector);
		ing_regex_free(i->title);
		ing_regex_free(i->source_matches);
	}
	free(s);
}

size_t ing_wall_signatures_count(const struct ing_wall_signatures *s)
{
	return s != NULL ? s->count : 0;
}

struct ing_wall_match ing_wall_signatures_find(
	const struct ing_wall_signatures *s, const struct ing_view *v)
{
	for (const struct signature *i = s->first; i != NULL; i = i->next) {
		if (has_signature(i, v)) {
			ing_rule_hits_add(v->rule_hits, i->match.rule, ING_RULE_MATCHED);
			return i->match;
		}
	}
	return (struct ing_wall_match){.wall = ING_WALL_NONE, .rule = UINT32_MAX};
}

const char *ing_wall_name(enum ing_wall wall)
{
	return wall_names[wall];
}
