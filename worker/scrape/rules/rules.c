/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The set of rules: its tables are loaded one after the other, each going on after errors, and only
 * a set without errors comes out.
 */
#include "worker/scrape/rules/rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "worker/scrape/rules/journals.h"
#include "worker/scrape/rules/links.h"
#include "worker/scrape/rules/read.h"
#include "worker/scrape/rules/signs.h"
#include "worker/scrape/rules/sites.h"
#include "worker/scrape/rules/webpages.h"

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

static void read_test(struct ing_rules *r, uint32_t rule, const struct ing_reader *rd,
	const struct ing_yaml_node *node)
{
	static const char *const known[] = {"page", "url", "matches", "expect"};
	ing_read_keys(rd, node, "a test", known, ING_ARRAY_LEN(known));
	if (node->kind != ING_YAML_MAP)
		return;
	struct ing_rule_test *t = ing_arena_alloc(&r->arena, sizeof(*t));
	*t = (struct ing_rule_test){
		.rule = rule,
		.file = ing_arena_strdup(&r->arena, rd->file),
		.line = node->line,
		.page = ing_read_needed_text(rd, node, "a test", "page"),
		.url = ing_read_needed_text(rd, node, "a test", "url"),
		.matches = ing_read_bool(rd, node, "matches", true),
		.expect = ing_read_kind(rd, node, "expect", ING_YAML_MAP),
	};
	*r->last_test = t;
	r->last_test = &t->next;
	r->test_count++;
}

/* -------------------------------------------------------------------------------------------- */

struct ing_rules *ing_rules_load(const struct ing_rule_files *files, struct ing_report *report)
{
	size_t errors_before = report->errors;
	struct ing_rules *r = ing_alloc(sizeof(*r));
	ing_arena_init(&r->arena);
	r->last_test = &r->tests;
	r->digest = ing_rule_files_digest(files);
	r->journals = ing_journals_load(r, files, report);
	r->webpages = ing_webpages_load(r, files, report);
	r->links = ing_links_load(r, files, report);
	r->sites = ing_sites_load(r, files, report);
	r->signs = ing_signs_load(r, files, report);
	if (report->errors == errors_before)
		return r;
	ing_rules_free(r);
	return NULL;
}

void ing_rules_free(struct ing_rules *r)
{
	if (r == NULL)
		return;
	ing_journals_free(r->journals);
	ing_webpages_free(r->webpages);
	ing_links_free(r->links);
	ing_sites_free(r->sites);
	ing_signs_free(r->signs);
	for (size_t i = 0; i < r->document_count; i++)
		ing_yaml_free(r->documents[i]);
	free(r->documents);
	free(r->names);
	free(r->sources);
	free(r->entries);
	ing_arena_done(&r->arena);
	free(r);
}

const struct ing_yaml *ing_rules_read(
	struct ing_rules *r, const struct ing_rule_file *file, struct ing_report *report)
{
	struct ing_yaml *doc = ing_read_yaml(file, report);
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
	const struct ing_reader rd = {.file = file->path, .report = report, .arena = &r->arena};
	const char *source = ing_read_text(&rd, entry, "source");
	if (r->sources[rule] == NULL)
		r->sources[rule] = source;
	const struct ing_yaml_node *tests = ing_read_kind(&rd, entry, "tests", ING_YAML_LIST);
	for (const struct ing_yaml_node *t = tests != NULL ? tests->first : NULL; t != NULL;
		t = t->next)
		read_test(r, rule, &rd, t);
}
