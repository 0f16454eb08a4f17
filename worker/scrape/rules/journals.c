/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The documents of each file are read and checked separately, then merged; then follow the checks
 * that need all files (sites that are named but not defined, or the reverse). Only sites that
 * remain after merging get rule numbers.
 */
#include "worker/scrape/rules/journals.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/hash.h"
#include "worker/scrape/rules/read_selector.h"
#include "worker/scrape/rules/url_regex.h"
#include "worker/model/rule_hits.h"

enum section { SECTION_REGEX, SECTION_SITE, SECTION_JAVASCRIPT, SECTION_RESTART, SECTIONS_ };

static const char *const section_names[SECTIONS_] = {"regex", "site", "javascript", "restart"};

static const char *const selector_keys[ING_JOURNAL_KEYS_] = {
	[ING_JOURNAL_PMID] = "pmid",
	[ING_JOURNAL_PMCID] = "pmcid",
	[ING_JOURNAL_DOI] = "doi",
	[ING_JOURNAL_TITLE] = "title",
	[ING_JOURNAL_SUBTITLE] = "subtitle",
	[ING_JOURNAL_KEYWORDS] = "keywords",
	[ING_JOURNAL_KEYWORDS_SPLIT] = "keywords_split",
	[ING_JOURNAL_MESH] = "mesh",
	[ING_JOURNAL_ABSTRACT] = "abstract",
	[ING_JOURNAL_FULLTEXT] = "fulltext",
	[ING_JOURNAL_FULLTEXT_A] = "fulltext_a",
	[ING_JOURNAL_PDF_A] = "pdf_a",
	[ING_JOURNAL_CORRESP_AUTHOR_NAMES] = "corresp_author_names",
	[ING_JOURNAL_CORRESP_AUTHOR_EMAILS] = "corresp_author_emails",
};

/* An entry of section regex. */
struct pattern {
	struct ing_url_regex regex;
	const struct ing_journal_site *site;
};

struct patterns {
	struct pattern *items;
	size_t count, cap;
};

/* A site as it was defined; one that a later file defined anew is kept only to be freed. */
struct site_entry {
	UT_hash_handle hh;
	struct ing_journal_site site;
	const struct ing_rule_file *file;
	const struct ing_yaml_node *key;
	bool named; /* by a regex */
	struct site_entry *next;
};

struct ing_journals {
	struct patterns patterns, javascript, restart;
	struct site_entry *sites; /* hash, in the order of definition */
	struct site_entry *all;   /* list by `next` */
};

/* Where an expression names its site; resolved when all files are read. */
struct site_name {
	const struct ing_rule_file *file;
	const struct ing_yaml_node *node;
};

struct loader {
	struct ing_rules *rules;
	struct ing_journals *journals;
	struct ing_report *report;
	const struct ing_rule_file *file;
	struct ing_rule_reader rd;
	struct site_name *site_names; /* of journals->patterns, by index */
	bool part; /* something could not be read, so that missing names are not reported */
};

/* --- the sections --- */

/* The scalar has a text: not null, not empty, not only white space. */
static bool is_filled(const struct ing_yaml_node *node)
{
	return node->kind == ING_YAML_SCALAR && !ing_yaml_is_null(node) &&
	       strlen(node->text) == node->bytes &&
	       node->text[strspn(node->text, " \t\r\n\f\v")] != '\0';
}

/* Invalid ones are kept too and never match, so that the site they name counts as named. Returns
 * false when there are too many. */
static bool add_pattern(struct loader *l, struct patterns *to, const struct ing_yaml_node *node)
{
	if (to->count == ING_MAX_URL_REGEXES) {
		ing_rule_read_error(
			&l->rd, node, "more than %d URL expressions", ING_MAX_URL_REGEXES);
		return false;
	}
	if (to->count == to->cap) {
		to->cap = to->cap == 0 ? 64 : to->cap * 2;
		to->items = ing_realloc(to->items, to->cap * sizeof(*to->items));
		if (to == &l->journals->patterns)
			l->site_names =
				ing_realloc(l->site_names, to->cap * sizeof(*l->site_names));
	}
	struct pattern *p = &to->items[to->count++];
	*p = (struct pattern){0};
	(void)ing_url_regex_compile(&l->rd, node, &p->regex);
	return true;
}

static void read_regexes(struct loader *l, const struct ing_yaml_node *map)
{
	struct patterns *to = &l->journals->patterns;
	for (const struct ing_yaml_node *key = map->first; key != NULL; key = key->next) {
		if (!is_filled(key)) {
			ing_rule_read_error(&l->rd, key, "regex: the regular expression is empty");
			continue;
		}
		if (!is_filled(key->value)) {
			ing_rule_read_error(&l->rd, key->value,
				"regex: \"%.100s\" needs the name of a site", key->text);
			continue;
		}
		if (!add_pattern(l, to, key))
			return;
		l->site_names[to->count - 1] =
			(struct site_name){.file = l->file, .node = key->value};
	}
}

static void read_urls(struct loader *l, const struct ing_yaml_node *list, struct patterns *to)
{
	for (const struct ing_yaml_node *item = list->first; item != NULL; item = item->next) {
		if (is_filled(item))
			(void)add_pattern(l, to, item);
		else
			ing_rule_read_error(
				&l->rd, item, "an entry must be a regular expression about URLs");
	}
}

static void read_rewrite(struct loader *l, const struct ing_yaml_node *map, const char *src_key,
	const char *dst_key, struct ing_journal_rewrite *ret)
{
	struct ing_error err = {0};
	const struct ing_yaml_node *src = ing_yaml_get(map, src_key);
	const struct ing_yaml_node *dst = ing_yaml_get(map, dst_key);
	if ((src == NULL) != (dst == NULL))
		ing_rule_read_error(&l->rd, src != NULL ? src : dst, "%s requires %s",
			src != NULL ? src_key : dst_key, src != NULL ? dst_key : src_key);
	if (src == NULL || dst == NULL || !is_filled(src) || !is_filled(dst))
		return;
	struct ing_regex *regex = ing_rule_read_regex_at(&l->rd, src, ING_REGEX_BYTES);
	ret->src = regex;
	ret->dst = ing_arena_strdup(&l->rules->arena, dst->text);
	if (regex != NULL && ing_regex_check_replacement(regex, dst->text, &err) != 0)
		ing_rule_read_error_in(&l->rd, dst, err.column, "%s: %s (character %d)", dst_key,
			err.msg, err.column);
}

/* Check that a value is not blank, and a text unless it may be a map. */
static void check_value(struct loader *l, const struct ing_yaml_node *key)
{
	const struct ing_yaml_node *value = key->value;
	if (strcmp(key->text, "tests") == 0 || strcmp(key->text, "source") == 0)
		return; /* ing_rules_read_tests() looks at them */
	if (value->kind == ING_YAML_SCALAR && !is_filled(value)) {
		ing_rule_read_error(&l->rd, value, "%.40s is empty", key->text);
		return;
	}
	if (value->kind == ING_YAML_SCALAR)
		return;
	for (size_t i = 0; i < ING_JOURNAL_KEYS_; i++) {
		if (strcmp(selector_keys[i], key->text) == 0)
			return;
	}
	ing_rule_read_error(&l->rd, value, "%.40s must be a text, not %s", key->text,
		ing_yaml_kind_name(value));
}

static void read_rule(struct loader *l, const char *key, const struct ing_yaml_node *node,
	struct ing_journal_rule *ret)
{
	struct ing_rule_value value;
	*ret = (struct ing_journal_rule){0};
	if (!ing_rule_read_value_at(&l->rd, key, node, &value))
		return;
	ret->selector = value.selector;
	ret->attr = value.attr;
	ret->parents = value.parents;
}

/* A selector, or a list of which the first that finds something counts. */
static void read_rules(struct loader *l, const char *key, const struct ing_yaml_node *node,
	struct ing_journal_rule *ret)
{
	if (node->kind != ING_YAML_LIST) {
		read_rule(l, key, node, ret);
		return;
	}
	if (node->first == NULL)
		ing_rule_read_error(&l->rd, node, "%s needs a selector", key);
	if (node->count > ING_MAX_ALTERNATIVES) {
		ing_rule_read_error(&l->rd, node, "%s has more than %d alternatives", key,
			ING_MAX_ALTERNATIVES);
		return;
	}
	for (const struct ing_yaml_node *item = node->first; item != NULL; item = item->next) {
		read_rule(l, key, item, ret);
		if (item->next == NULL)
			break;
		struct ing_journal_rule *next = ing_arena_alloc(&l->rules->arena, sizeof(*next));
		ret->otherwise = next;
		ret = next;
	}
}

static void read_site_rules(
	struct loader *l, const struct ing_yaml_node *map, struct ing_journal_site *site)
{
	static const char *const other_keys[] = {
		"fulltext_src", "fulltext_dst", "pdf_src", "pdf_dst", "wait_until", ING_ENTRY_KEYS};
	const char *known[ING_ARRAY_LEN(other_keys) + ING_JOURNAL_KEYS_];
	memcpy(known, selector_keys, sizeof(selector_keys));
	memcpy(known + ING_JOURNAL_KEYS_, other_keys, sizeof(other_keys));
	ing_rule_read_keys(&l->rd, map, "a site", known, ING_ARRAY_LEN(known));
	for (const struct ing_yaml_node *key = map->first; key != NULL; key = key->next)
		check_value(l, key);
	for (size_t i = 0; i < ING_JOURNAL_KEYS_; i++) {
		const struct ing_yaml_node *node = ing_yaml_get(map, selector_keys[i]);
		if (node != NULL && (node->kind != ING_YAML_SCALAR || is_filled(node)))
			read_rules(l, selector_keys[i], node, &site->keys[i]);
	}
	read_rewrite(l, map, "fulltext_src", "fulltext_dst", &site->fulltext);
	read_rewrite(l, map, "pdf_src", "pdf_dst", &site->pdf);
	const struct ing_yaml_node *wait = ing_yaml_get(map, "wait_until");
	if (wait != NULL && is_filled(wait))
		site->wait_until = ing_arena_strdup(&l->rules->arena, wait->text);
}

static void read_sites(struct loader *l, const struct ing_yaml_node *map)
{
	struct ing_journals *j = l->journals;
	for (const struct ing_yaml_node *key = map->first; key != NULL; key = key->next) {
		if (!is_filled(key)) {
			ing_rule_read_error(
				&l->rd, key, "a site's name must not be empty or contain NUL");
			continue;
		}
		struct site_entry *old = NULL;
		struct site_entry *s = ing_alloc(sizeof(*s));
		s->next = j->all;
		j->all = s;
		s->site.name = ing_arena_strdup(&l->rules->arena, key->text);
		s->file = l->file;
		s->key = key;
		HASH_FIND_STR(j->sites, s->site.name, old);
		if (old != NULL)
			HASH_DELETE(hh, j->sites, old);
		HASH_ADD_KEYPTR(hh, j->sites, s->site.name, strlen(s->site.name), s);
		if (ing_yaml_is_null(key->value))
			ing_rule_read_error(&l->rd, key, "site \"%.100s\" is empty", key->text);
		else if (key->value->kind != ING_YAML_MAP)
			ing_rule_read_error(&l->rd, key->value,
				"site \"%.100s\" must be a map, not %s", key->text,
				ing_yaml_kind_name(key->value));
		else
			read_site_rules(l, key->value, &s->site);
	}
}

static void read_section(struct loader *l, enum section section, const struct ing_yaml_node *root)
{
	bool is_map = section == SECTION_REGEX || section == SECTION_SITE;
	if (ing_yaml_is_null(root))
		return; /* a section may be empty */
	if (root->kind != (is_map ? ING_YAML_MAP : ING_YAML_LIST)) {
		ing_rule_read_error(&l->rd, root, "section %s must be %s, not %s",
			section_names[section], is_map ? "a map" : "a list",
			ing_yaml_kind_name(root));
		l->part = true;
		return;
	}
	switch (section) {
	case SECTION_REGEX:
		read_regexes(l, root);
		break;
	case SECTION_SITE:
		read_sites(l, root);
		break;
	case SECTION_JAVASCRIPT:
		read_urls(l, root, &l->journals->javascript);
		break;
	case SECTION_RESTART:
	case SECTIONS_:
		read_urls(l, root, &l->journals->restart);
		break;
	}
}

static void read_file(struct loader *l, const struct ing_rule_file *file)
{
	l->file = file;
	l->rd = (struct ing_rule_reader){.file = file->path,
		.report = l->report,
		.arena = &l->rules->arena,
		.slow = l->rules->slow};
	const struct ing_yaml *doc = ing_rules_read(l->rules, file, l->report);
	if (doc == NULL) {
		l->part = true;
		return;
	}
	l->part = l->part || !ing_yaml_stream_is_whole(doc);
	size_t count = ing_yaml_stream_count(doc);
	if (count < SECTIONS_ - 1 || count > SECTIONS_) {
		const struct ing_yaml_node *at =
			count == 0 ? NULL : ing_yaml_stream_get(doc, ING_MIN(count - 1, SECTIONS_));
		ing_report_error(l->report, file->path, at != NULL ? at->line : 1,
			at != NULL ? at->column : 1,
			"there must be four YAML documents (regex, site, javascript, restart), or "
			"the first three of them; %zu were found",
			count);
		l->part = l->part || count < 2;
	}
	for (size_t i = 0; i < ING_MIN(count, SECTIONS_); i++)
		read_section(l, (enum section)i, ing_yaml_stream_get(doc, i));
}

/* --- the whole --- */

static void find_sites(struct loader *l)
{
	struct ing_journals *j = l->journals;
	for (size_t i = 0; i < j->patterns.count; i++) {
		struct site_entry *s = NULL;
		const struct site_name *name = &l->site_names[i];
		HASH_FIND_STR(j->sites, name->node->text, s);
		if (s != NULL) {
			s->named = true;
			j->patterns.items[i].site = &s->site;
		} else if (!l->part) {
			ing_report_error(l->report, name->file->path, name->node->line,
				name->node->column, "there is no site \"%.100s\"",
				name->node->text);
		}
	}
	for (const struct site_entry *s = j->sites; s != NULL && !l->part; s = s->hh.next) {
		if (!s->named)
			ing_report_error(l->report, s->file->path, s->key->line, s->key->column,
				"no regex names site \"%.100s\"", s->key->text);
	}
}

static void number_site(struct loader *l, struct site_entry *s)
{
	const char *file = ing_rules_file_name(s->file);
	struct ing_journal_site *site = &s->site;
	site->rule = ing_rules_add(l->rules, NULL, "%s %s", file, site->name);
	if (s->key->value->kind == ING_YAML_MAP)
		ing_rules_read_tests(l->rules, site->rule, s->file, s->key->value, l->report);
	for (size_t i = 0; i < ING_JOURNAL_KEYS_; i++) {
		if (site->keys[i].selector != NULL)
			site->keys[i].rule = ing_rules_add_part(l->rules, site->rule, "%s %s %s",
				file, site->name, selector_keys[i]);
	}
	if (site->fulltext.src != NULL)
		site->fulltext.rule = ing_rules_add_part(
			l->rules, site->rule, "%s %s fulltext_src", file, site->name);
	if (site->pdf.src != NULL)
		site->pdf.rule =
			ing_rules_add_part(l->rules, site->rule, "%s %s pdf_src", file, site->name);
}

static void free_patterns(struct patterns *p)
{
	for (size_t i = 0; i < p->count; i++)
		ing_url_regex_done(&p->items[i].regex);
	free(p->items);
}

static void free_site(struct site_entry *s)
{
	for (size_t i = 0; i < ING_JOURNAL_KEYS_; i++) {
		for (const struct ing_journal_rule *r = &s->site.keys[i]; r != NULL;
			r = r->otherwise)
			ing_selector_free((struct ing_selector *)(uintptr_t)r->selector);
	}
	ing_regex_free((struct ing_regex *)(uintptr_t)s->site.fulltext.src);
	ing_regex_free((struct ing_regex *)(uintptr_t)s->site.pdf.src);
	free(s);
}

static bool matches_any(const struct patterns *p, const char *url)
{
	struct ing_java_url u;
	bool found = false;
	ing_java_url_init(&u, url);
	for (size_t i = 0; i < p->count && !found; i++)
		found = ing_url_regex_find(&p->items[i].regex, &u) == ING_REGEX_YES;
	ing_java_url_done(&u);
	return found;
}

/* -------------------------------------------------------------------------------------------- */

struct ing_journals *ing_journals_load(
	struct ing_rules *rules, const struct ing_rule_files *files, struct ing_report *report)
{
	struct loader l = {
		.rules = rules, .journals = ing_alloc(sizeof(*l.journals)), .report = report};
	for (size_t i = 0; i < files->count; i++) {
		if (files->items[i].kind == ING_RULES_JOURNALS)
			read_file(&l, &files->items[i]);
	}
	find_sites(&l);
	for (struct site_entry *s = l.journals->sites; s != NULL; s = s->hh.next)
		number_site(&l, s);
	free(l.site_names);
	return l.journals;
}

void ing_journals_free(struct ing_journals *j)
{
	if (j == NULL)
		return;
	free_patterns(&j->patterns);
	free_patterns(&j->javascript);
	free_patterns(&j->restart);
	HASH_CLEAR(hh, j->sites);
	while (j->all != NULL) {
		struct site_entry *s = j->all;
		j->all = s->next;
		free_site(s);
	}
	free(j);
}

/* The last match counts, so the search is from the end. */
const struct ing_journal_site *ing_journals_site(
	const struct ing_journals *j, const char *url, struct ing_rule_hits *hits)
{
	const struct ing_journal_site *found = NULL;
	struct ing_java_url u;
	ing_java_url_init(&u, url);
	for (size_t i = j->patterns.count; i > 0 && found == NULL; i--) {
		const struct pattern *p = &j->patterns.items[i - 1];
		enum ing_regex_end end = ing_url_regex_find(&p->regex, &u);
		if (end == ING_REGEX_YES)
			found = p->site;
		else if (end == ING_REGEX_LIMIT && hits != NULL)
			ing_rule_hits_add(hits, p->site->rule, ING_RULE_FAILED);
	}
	ing_java_url_done(&u);
	return found;
}

const struct ing_journal_site *ing_journals_named(const struct ing_journals *j, const char *name)
{
	struct site_entry *s = NULL;
	HASH_FIND_STR(j->sites, name, s);
	return s != NULL ? &s->site : NULL;
}

bool ing_journals_javascript(const struct ing_journals *j, const char *url)
{
	return matches_any(&j->javascript, url);
}

bool ing_journals_restart(const struct ing_journals *j, const char *url)
{
	return matches_any(&j->restart, url);
}

size_t ing_journals_count(const struct ing_journals *j)
{
	return HASH_COUNT(j->sites);
}

size_t ing_journals_pattern_count(const struct ing_journals *j)
{
	return j->patterns.count;
}
