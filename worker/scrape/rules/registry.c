/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is known of a rule is kept in arrays that grow together and are indexed by its number;
 * everything else is in the set's arena.
 */
#include "worker/scrape/rules/registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "worker/rules/rule_reader.h"

#define MAX_NAME_BYTES 300

ING_PRINTF(4, 0)
static uint32_t add_rule(
	struct ing_rules *r, const char *source, uint32_t entry, const char *fmt, va_list ap)
{
	char name[MAX_NAME_BYTES];
	if (r->count == r->cap) {
		r->cap = r->cap == 0 ? 64 : r->cap * 2;
		r->names = ing_realloc(r->names, r->cap * sizeof(*r->names));
		r->sources = ing_realloc(r->sources, r->cap * sizeof(*r->sources));
		r->entries = ing_realloc(r->entries, r->cap * sizeof(*r->entries));
	}
	vsnprintf(name, sizeof(name), fmt, ap);
	uint32_t number = (uint32_t)r->count++;
	r->names[number] = ing_arena_strdup(&r->arena, name);
	r->sources[number] = ing_arena_strdup(&r->arena, source);
	r->entries[number] = entry == UINT32_MAX ? number : entry;
	r->entry_count += entry == UINT32_MAX;
	return number;
}

static bool is_xml_name(const char *path)
{
	size_t bytes = strlen(path);
	return bytes > 4 && strcmp(path + bytes - 4, ".xml") == 0;
}

/* The page of a test: a file, or text in the rule file. */
static void read_test_page(
	const struct ing_rule_reader *rd, const struct ing_yaml_node *node, struct ing_rule_test *t)
{
	static const char *const keys[] = {"page", "html", "xml"};
	const struct ing_yaml_node *value = NULL;
	size_t given = 0;
	for (size_t i = 0; i < ING_ARRAY_LEN(keys); i++)
		given += ing_yaml_get(node, keys[i]) != NULL;
	if (given != 1) {
		ing_rule_read_error(rd, node, "a test needs one of page, html and xml");
		return;
	}
	t->page = ing_rule_read_text(rd, node, "page");
	t->xml = ing_yaml_get(node, "xml") != NULL || (t->page != NULL && is_xml_name(t->page));
	for (size_t i = 1; i < ING_ARRAY_LEN(keys) && value == NULL; i++)
		value = ing_rule_read_scalar(rd, node, keys[i]);
	if (value != NULL)
		t->inline_page = (struct ing_rule_page_text){value->text, value->bytes};
}

static void read_test(struct ing_rules *r, uint32_t rule, const struct ing_rule_reader *rd,
	const struct ing_yaml_node *node)
{
	static const char *const known[] = {"page", "html", "xml", "url", "matches", "expect"};
	ing_rule_read_keys(rd, node, "a test", known, ING_ARRAY_LEN(known));
	if (node->kind != ING_YAML_MAP)
		return;
	struct ing_rule_test *t = ing_arena_alloc(&r->arena, sizeof(*t));
	*t = (struct ing_rule_test){
		.rule = rule,
		.file = ing_arena_strdup(&r->arena, rd->file),
		.line = node->line,
		.url = ing_rule_read_required_text(rd, node, "a test", "url"),
		.matches = ing_rule_read_bool(rd, node, "matches", true),
		.expect = ing_rule_read_node(rd, node, "expect", ING_YAML_MAP),
	};
	read_test_page(rd, node, t);
	*r->last_test = t;
	r->last_test = &t->next;
	r->test_count++;
}

/* -------------------------------------------------------------------------------------------- */

void ing_rules_init(struct ing_rules *r)
{
	*r = (struct ing_rules){0};
	ing_arena_init(&r->arena);
	r->last_test = &r->tests;
}

void ing_rules_done(struct ing_rules *r)
{
	for (size_t i = 0; i < r->document_count; i++)
		ing_yaml_free(r->documents[i]);
	free(r->documents);
	free(r->names);
	free(r->sources);
	free(r->entries);
	ing_arena_done(&r->arena);
}

const struct ing_yaml *ing_rules_read(
	struct ing_rules *r, const struct ing_rule_file *file, struct ing_report *report)
{
	struct ing_yaml *doc = ing_rule_read_yaml(file, report);
	if (doc == NULL)
		return NULL;
	r->documents = ing_realloc(r->documents, (r->document_count + 1) * sizeof(*r->documents));
	r->documents[r->document_count++] = doc;
	return doc;
}

const char *ing_rules_file_name(const struct ing_rule_file *file)
{
	const char *slash = strrchr(file->path, '/');
	return slash != NULL ? slash + 1 : file->path;
}

uint32_t ing_rules_add(struct ing_rules *r, const char *source, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	uint32_t number = add_rule(r, source, UINT32_MAX, fmt, ap);
	va_end(ap);
	return number;
}

uint32_t ing_rules_add_part(struct ing_rules *r, uint32_t entry, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	uint32_t number = add_rule(r, r->sources[entry], entry, fmt, ap);
	va_end(ap);
	return number;
}

void ing_rules_read_tests(struct ing_rules *r, uint32_t rule, const struct ing_rule_file *file,
	const struct ing_yaml_node *entry, struct ing_report *report)
{
	const struct ing_rule_reader rd = {
		.file = file->path, .report = report, .arena = &r->arena};
	const char *source = ing_rule_read_text(&rd, entry, "source");
	if (r->sources[rule] == NULL)
		r->sources[rule] = source;
	const struct ing_yaml_node *tests = ing_rule_read_node(&rd, entry, "tests", ING_YAML_LIST);
	for (const struct ing_yaml_node *t = tests != NULL ? tests->first : NULL; t != NULL;
		t = t->next)
		read_test(r, rule, &rd, t);
}
