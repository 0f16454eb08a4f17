/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Any bytes as journals.yaml and as webpages.yaml, behind a good one of each. What is refused comes
 * with words; what loads is asked about URLs, and every rule has a name and an entry.
 */
#include "tests/fuzz/target.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "worker/scrape/rules/journals.h"
#include "worker/scrape/rules/rules.h"
#include "worker/scrape/rules/webpages.h"

FUZZ_BUDGET(.cpu_us = 2000, .cpu_byte_ns = 1000, .heap_kb = 200, .heap_byte = 200);

static const char good_journals[] = "a\\.example: a\n---\na: {title: h1}\n---\n---\n";
static const char good_webpages[] = "a\\.example: {title: h1}\n";

static void add_file(struct ing_rule_files *f, enum ing_rule_kind kind, const char *path,
	const void *data, size_t size)
{
	char *text = ing_alloc(size + 1);
	if (size > 0)
		memcpy(text, data, size);
	f->items[f->count++] = (struct ing_rule_file){
		.kind = kind, .path = ing_strdup(path), .text = text, .bytes = size};
}

static void use(const struct ing_rules *r)
{
	static const char *const urls[] = {
		"https://a.example/", "http://www.tool.example/x/y?z", "aa:", ""};
	for (size_t i = 0; i < ING_ARRAY_LEN(urls); i++) {
		const struct ing_journal_site *site = ing_journals_site(r->journals, urls[i], NULL);
		const struct ing_webpage_rule *page = ing_webpages_find(r->webpages, urls[i], NULL);
		ing_must(site == NULL || site->rule < r->count);
		ing_must(page == NULL || page->rule < r->count);
		(void)ing_journals_javascript(r->journals, urls[i]);
		(void)ing_journals_restart(r->journals, urls[i]);
	}
	for (size_t i = 0; i < r->count; i++)
		ing_must(r->names[i] != NULL && r->entries[i] <= i);
}

static void load(enum ing_rule_kind kind, const uint8_t *data, size_t size)
{
	struct ing_rule_files files;
	struct ing_report report;
	ing_rule_files_init(&files);
	ing_report_init(&report);
	add_file(&files, ING_RULES_JOURNALS, "j", good_journals, strlen(good_journals));
	add_file(&files, ING_RULES_WEBPAGES, "w", good_webpages, strlen(good_webpages));
	add_file(&files, kind, "own", data, size);
	struct ing_rules *r = ing_rules_load(&files, &report);
	ing_must((r == NULL) == (report.errors > 0));
	ing_report_sort(&report);
	for (size_t i = 0; i < report.count; i++)
		ing_must(report.lines[i].text[0] != '\0' && report.lines[i].line >= 0);
	if (r != NULL)
		use(r);
	ing_rules_free(r);
	ing_report_done(&report);
	ing_rule_files_done(&files);
}

void fuzz_target(const uint8_t *data, size_t size)
{
	load(ING_RULES_JOURNALS, data, size);
	load(ING_RULES_WEBPAGES, data, size);
}
