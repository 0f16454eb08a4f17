/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * links.yaml, sites.yaml and walls.yaml: the first byte says which, up to a NUL stands the file,
 * behind it the page that is asked. What loads has to find nothing but web addresses.
 */
#include "tests/fuzz/target.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/markup/html.h"
#include "common/net/url.h"
#include "common/net/url_match.h"
#include "worker/model/limits.h"
#include "worker/scrape/rules/links.h"
#include "worker/scrape/rules/links_guess.h"
#include "worker/scrape/biblio/meta.h"
#include "worker/scrape/rules/rules.h"
#include "worker/scrape/rules/wall_signatures.h"
#include "worker/scrape/rules/sites.h"
#include "worker/model/rule_hits.h"

FUZZ_BUDGET(.cpu_us = 2000, .cpu_byte_ns = 10000, .heap_kb = 2000, .heap_byte = 500);

#define URL "https://journal.example/article/view/7?a=b"

static const struct ing_html_limits limits = {
	.open_elements = 512,
	.tag_attributes = 256,
	.names = 10000,
	.tree_bytes = (size_t)8 << 20,
	.cpu_ms = 2000,
};

static void check_url(const struct ing_view *v, const char *url)
{
	ing_must(url == NULL || (ing_url_is_web(url) && strlen(url) <= ING_MAX_URL_BYTES));
	ing_must(v->rule_hits->count <= ING_MAX_RULE_HITS);
}

static void ask(const struct ing_rules *rules, const struct ing_view *v)
{
	for (unsigned kind = 0; kind < ING_LINK_KINDS_; kind++) {
		struct ing_link link = ing_links_find(rules->links, v, (enum ing_link_kind)kind);
		ing_must((link.url != NULL) == (link.technique != NULL));
		ing_must(link.url == NULL || !ing_link_is_ignored(link.url));
		check_url(v, link.url);
	}
	struct ing_link guess = ing_links_guess(v);
	ing_must(guess.url == NULL || strcmp(guess.technique, "guess") == 0);
	ing_must(guess.url == NULL || !ing_link_is_ignored(guess.url));
	check_url(v, guess.url);
	struct ing_site_next next = ing_sites_find(rules->sites, v);
	ing_must((next.url != NULL) == (next.technique != NULL));
	check_url(v, next.url);
	struct ing_wall_match wall = ing_wall_signatures_find(rules->wall_signatures, v);
	ing_must((wall.wall != ING_WALL_NONE) == (wall.name != NULL));
}

static void read_page(const struct ing_rules *rules, const char *page, size_t bytes)
{
	struct ing_html *html = ing_html_new();
	struct ing_tree *tree = ing_tree_new();
	struct ing_matcher *matcher = ing_matcher_new();
	struct ing_arena arena;
	struct ing_rule_hits hits = {0};
	struct ing_url_target *target = ing_url_target_new(URL);
	ing_arena_init(&arena);
	ing_html_parse(html, page, bytes, NULL, &limits);
	ing_html_fill(html, tree);
	ing_tree_set_url(tree, URL);
	ing_matcher_bind(matcher, tree, 2000);
	struct ing_view v = {
		.tree = tree,
		.matcher = matcher,
		.url = URL,
		.target = target,
		.data = page,
		.bytes = bytes,
		.arena = &arena,
		.rule_hits = &hits,
		.word_count = 10,
		.title = "Just a moment...",
	};
	ing_metas_read(&v);
	ask(rules, &v);
	ing_url_target_free(target);
	ing_arena_done(&arena);
	ing_matcher_free(matcher);
	ing_tree_free(tree);
	ing_html_free(html);
}

void fuzz_target(const uint8_t *data, size_t size)
{
	static const enum ing_rule_kind kinds[] = {
		ING_RULES_LINKS, ING_RULES_SITES, ING_RULES_WALLS};
	if (size == 0 || size > (size_t)1 << 18)
		return;
	const char *text = (const char *)data + 1;
	const char *nul = memchr(text, '\0', size - 1);
	size_t bytes = nul != NULL ? (size_t)(nul - text) : size - 1;
	struct ing_rule_files files;
	struct ing_report report;
	ing_rule_files_init(&files);
	ing_report_init(&report);
	files.items[0] = (struct ing_rule_file){
		.kind = kinds[data[0] % ING_ARRAY_LEN(kinds)],
		.path = ing_strdup("fuzz.yaml"),
		.text = ing_strndup(text, bytes),
		.bytes = bytes,
	};
	files.count = 1;
	struct ing_rules *rules = ing_rules_load(&files, &report);
	ing_must((rules == NULL) == (report.errors > 0));
	if (rules != NULL && nul != NULL)
		read_page(rules, nul + 1, size - 2 - bytes);
	ing_rules_free(rules);
	ing_report_done(&report);
	ing_rule_files_done(&files);
}
