/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A page cleaned in both ways, its publication by rules and without, its web page, its guesses. The
 * first byte chooses whether the page knows its address. What comes out is valid UTF-8 within its
 * limits, and nothing that is skipped leaves the tree changed.
 */
#include "tests/fuzz/target.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/utf8.h"
#include "common/markup/html.h"
#include "worker/model/limits.h"
#include "worker/scrape/publication/clean.h"
#include "worker/scrape/publication/page_scope.h"
#include "worker/scrape/biblio/meta.h"
#include "common/markup/strip_markup.h"
#include "worker/scrape/publication/fields_found.h"
#include "worker/scrape/publication/publication.h"
#include "worker/model/rule_hits.h"

FUZZ_BUDGET(.cpu_us = 1000, .cpu_byte_ns = 2000, .heap_kb = 2000, .heap_byte = 500);

static void check_cleaned(const struct ing_view *v, bool publication)
{
	struct ing_buf text;
	ing_buf_init(&text, ING_CLEAN_MAX_TEXT_BYTES);
	ing_clean_text(v, publication, &text);
	ing_must(ing_utf8_valid(ing_buf_str(&text), text.len));
	ing_buf_done(&text);
	/* The body itself is never skipped, and the document is not. */
	const uint64_t *skip = ing_clean_mark(v, publication);
	ing_node body = ing_tree_body(v->tree);
	ing_must((skip[0] & 1) == 0 && (skip[body / 64] >> body % 64 & 1) == 0);
	/* What is kept changes nothing. */
	struct ing_view kept = *v;
	kept.cleaned = ing_clean_page_new(v->arena, false);
	for (unsigned i = 0; i < 3; i++) {
		const uint64_t *again =
			ing_clean_mark(&kept, (i & 1) == 0 ? publication : !publication);
		ing_must((i & 1) != 0 || memcmp(skip, again, (v->tree->count + 63) / 64 * 8) == 0);
	}
}

/* Made together, both texts are what each is by itself. */
static void check_together(const struct ing_view *v, bool first)
{
	struct ing_view together = *v;
	struct ing_buf alone, text;
	ing_buf_init(&alone, ING_CLEAN_MAX_TEXT_BYTES);
	ing_buf_init(&text, ING_CLEAN_MAX_TEXT_BYTES);
	together.cleaned = ing_clean_page_new(v->arena, true);
	for (unsigned i = 0; i < 2; i++) {
		bool publication = i == 0 ? first : !first;
		ing_buf_clear(&alone);
		ing_buf_clear(&text);
		ing_clean_text(v, publication, &alone);
		ing_clean_text(&together, publication, &text);
		ing_must(strcmp(ing_buf_str(&text), ing_buf_str(&alone)) == 0);
	}
	ing_buf_done(&alone);
	ing_buf_done(&text);
}

/* Every key is there, and a value made of the page's bytes can be written. */
static void check_json(json_t *j, size_t keys)
{
	ing_must(json_is_object(j) && json_object_size(j) == keys);
	char *text = json_dumps(j, JSON_COMPACT);
	ing_must(text != NULL);
	free(text);
	json_decref(j);
}

static void check_publication(const struct ing_publication_fields *fields)
{
	struct ing_publication_found found = {.citations = -1};
	check_json(ing_publication_fields_json(fields), 15);
	ing_publication_fields_add(fields, 0, &found);
	ing_must(found.offer_count <= ING_PARTS_);
	for (uint32_t i = 0; i < found.offer_count; i++)
		ing_must(found.offers[i].text != NULL || found.offers[i].term_count > 0);
	ing_publication_found_done(&found);
}

static void check_plain(const uint8_t *data, size_t size)
{
	size_t bytes = 0;
	struct ing_buf out;
	char *text = ing_utf8_clean((const char *)data, size, &bytes);
	ing_must(text != NULL);
	ing_buf_init(&out, bytes);
	ing_strip_markup(text, bytes, &out);
	ing_must(!out.failed && ing_utf8_valid(ing_buf_str(&out), out.len));
	ing_buf_done(&out);
	free(text);
}

/* Rules that find something on most pages, of every way to read a value. */
static const struct ing_journal_site *make_site(void)
{
	static const struct {
		enum ing_journal_key key;
		const char *selector, *attr;
		unsigned parents;
	} rules[] = {
		{ING_JOURNAL_DOI, "meta, i", "content", 0},
		{ING_JOURNAL_PMID, "p, h1", NULL, 0},
		{ING_JOURNAL_TITLE, "h1, title", NULL, 0},
		{ING_JOURNAL_KEYWORDS, "[class]", "class", 0},
		{ING_JOURNAL_KEYWORDS_SPLIT, "p", NULL, 1},
		{ING_JOURNAL_ABSTRACT, "p:matchText", NULL, 0},
		{ING_JOURNAL_FULLTEXT, "div, p, span", NULL, 0},
		{ING_JOURNAL_FULLTEXT_A, "*", NULL, 0},
		{ING_JOURNAL_PDF_A, "a *", NULL, 1},
		{ING_JOURNAL_CORRESP_AUTHOR_NAMES, "b, i", NULL, 2},
		{ING_JOURNAL_CORRESP_AUTHOR_EMAILS, "[href]", "href", 0},
	};
	static struct ing_journal_site site;
	struct ing_error err = {0};
	for (size_t i = 0; i < ING_ARRAY_LEN(rules); i++) {
		struct ing_selector *s = NULL;
		const char *text = rules[i].selector;
		ing_must(ing_selector_compile(text, strlen(text), &s, &err) == 0);
		site.keys[rules[i].key] = (struct ing_journal_rule){.selector = s,
			.attr = rules[i].attr,
			.parents = rules[i].parents,
			.rule = (uint32_t)i};
	}
	return &site;
}

void fuzz_target(const uint8_t *data, size_t size)
{
	static const struct ing_html_limits limits = {
		.open_elements = ING_MAX_OPEN_ELEMENTS,
		.tag_attributes = ING_MAX_TAG_ATTRIBUTES,
		.names = ING_MAX_MARKUP_NAMES,
		.tree_bytes = ING_MAX_TREE_BYTES,
		.cpu_ms = ING_MAX_PAGE_CPU_MS,
	};
	static struct ing_html *html; /* kept, as examiners do */
	static struct ing_tree *tree;
	static struct ing_matcher *matcher;
	static const struct ing_journal_site *site;
	if (html == NULL) {
		html = ing_html_new();
		tree = ing_tree_new();
		matcher = ing_matcher_new();
		site = make_site();
	}
	if (size == 0)
		return;
	struct ing_rule_hits hits = {0};
	struct ing_arena arena = {0};
	ing_arena_init(&arena);
	ing_html_parse(html, data + 1, size - 1, "text/html; charset=utf-8", &limits);
	ing_html_fill(html, tree);
	ing_tree_set_url(tree, (data[0] & 1) != 0 ? "https://www.nature.com/b/c?d" : NULL);
	ing_matcher_bind(matcher, tree, ING_MAX_PAGE_CPU_MS);
	struct ing_view v = {.tree = tree,
		.matcher = matcher,
		.url = tree->url,
		.data = (const char *)data + 1,
		.bytes = size - 1,
		.arena = &arena,
		.rule_hits = &hits};
	ing_metas_read(&v);
	v.title = ing_view_text(&v, ING_NODE_DOCUMENT, 1000);
	v.word_count = ing_clean_word_count(&v);
	ing_must(v.word_count <= size);
	check_cleaned(&v, false);
	check_cleaned(&v, true);
	check_together(&v, (data[0] & 2) != 0);
	check_publication(ing_publication_fields_read(&v, NULL, ING_PART_TYPE_DOI, ING_METAS_ALL));
	struct ing_webpage_fields webpage = ing_webpage_fields_read(&v, NULL);
	check_json(ing_webpage_fields_json(&webpage), 4);
	check_publication(
		ing_publication_fields_read(&v, site, ING_PART_TYPE_LINK_CITATION, ING_METAS_ALL));
	check_cleaned(&v, true); /* also what :matchText has raised */
	struct ing_page_scope_input input = {.platform = ing_page_platform(&v)};
	ing_must(ing_page_scope(&v, &input) != NULL);
	check_plain(data, size);
	ing_arena_done(&arena);
}
