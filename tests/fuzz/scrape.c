/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A page from bytes to everything it says, with a small set of rules of every kind. The first byte
 * chooses a Content-Type, HTML or XML, and whether the page knows its address. What comes out must
 * be JSON (so valid UTF-8), and links must be web addresses.
 */
#include "tests/fuzz/target.h"

#include <stdlib.h>
#include <string.h>

#include "common/net/url.h"
#include "worker/model/limits.h"
#include "worker/scrape/scrape.h"

FUZZ_BUDGET(.cpu_us = 1000, .cpu_byte_ns = 2000, .heap_kb = 2000, .out_bytes = 20000,
	.out_byte = 64, .heap_byte = 1000);

static const struct {
	enum ing_rule_kind kind;
	const char *name, *text;
} texts[] = {
	{ING_RULES_JOURNALS, "journals.yaml",
		"a.example/: s\n---\ns:\n  title: 'h1:matchText, h1 > :not(.x)'\n"
		"  abstract: 'section:has(> h2:contains(abstract)) p'\n  keywords_split: .kw\n"
		"  fulltext: 'article > :not(nav)'\n  doi: 'a[href~=10\\.[0-9]+/]'\n"
		"  pdf_src: /*$\n  pdf_dst: /pdf\n  fulltext_a: 'a:nth-child(2n+1)'\n"
		"  corresp_author_names: '.a .n'\n  corresp_author_emails: 'a[href^=mailto]'\n"
		"---\n[]\n---\n[]\n"},
	{ING_RULES_WEBPAGES, "webpages.yaml",
		"a.example/:\n  title: h1\n  content: ':matchText'\n  license: '[rel=license]'\n"
		"  language: 'html, [lang]'\n"},
	{ING_RULES_LINKS, "links.yaml",
		"pdf:\n- {technique: a, selector: 'a:matches(PDF)', source: unverified}\n"
		"- {technique: b, selector: 'meta[http-equiv=refresh]', attr: content, refresh: true, "
		"source: unverified}\n"},
	{ING_RULES_SITES, "sites.yaml",
		"- name: c\n  source: unverified\n  take:\n"
		"  - {selector: 'script[type*=json]', json: {p: a.b.0.c}, optional: true}\n"
		"  - {url: '/(?<id>[^/]+)$'}\n  - {script: '\"path\":\"(?<q>[^\"]+)'}\n"
		"  next_url: 'https://b.example/{id|encode}/{q}'\n"},
	{ING_RULES_WALLS, "walls.yaml",
		"- {name: d, verdict: captcha, why: w, title: '^robot', source_matches: 'captcha', "
		"max_words: 100, source: unverified}\n"},
};

static struct ing_rules *load(void)
{
	struct ing_rule_files files;
	struct ing_report report;
	ing_rule_files_init(&files);
	ing_report_init(&report);
	for (size_t i = 0; i < ING_ARRAY_LEN(texts); i++)
		files.items[files.count++] = (struct ing_rule_file){.kind = texts[i].kind,
			.path = ing_strdup(texts[i].name),
			.text = ing_strdup(texts[i].text),
			.bytes = strlen(texts[i].text)};
	struct ing_rules *rules = ing_rules_load(&files, &report);
	for (size_t i = 0; i < report.count; i++)
		fprintf(stderr, "%s:%d:%d: %s\n", report.lines[i].file, report.lines[i].line,
			report.lines[i].column, report.lines[i].text);
	ing_must(rules != NULL);
	ing_report_done(&report);
	ing_rule_files_done(&files);
	return rules;
}

void fuzz_target(const uint8_t *data, size_t size)
{
	static const char *const types[] = {NULL, "text/html; charset=shift_jis",
		"text/html; charset=iso-2022-jp", "text/html; charset=gb18030",
		"text/html; charset=utf-16", "text/html; charset=windows-1252"};
	static struct ing_scraper *scraper; /* reused, as examiners do */
	static struct ing_rules *rules;
	if (rules == NULL) {
		rules = load();
		scraper = ing_scraper_new(rules);
	}
	if (size == 0)
		return;
	struct ing_scrape_input in = {
		.url = (data[0] & 0x80) != 0 ? NULL : "https://a.example/b/c?d#e",
		.data = data + 1,
		.bytes = size - 1,
		.content_type = types[(data[0] & 0x3f) % ING_ARRAY_LEN(types)],
		.xml = (data[0] & 0x40) != 0,
		.want = ING_SCRAPE_ALL,
		.page_type = ING_PART_TYPE_DOI,
	};
	struct ing_scraped found;
	ing_scrape(scraper, &in, &found);
	for (unsigned i = 0; i < ING_LINK_KINDS_; i++)
		ing_must(found.links[i].url == NULL || ing_url_is_web(found.links[i].url));
	ing_must(found.next.url == NULL || ing_url_is_web(found.next.url));
	ing_must(found.rule_hits->count <= ING_MAX_RULE_HITS);
	json_t *o = ing_scraped_json(&found, in.url);
	char *text = json_dumps(o, JSON_COMPACT);
	ing_must(text != NULL);
	fuzz_wrote(strlen(text));
	free(text);
	json_decref(o);
}
