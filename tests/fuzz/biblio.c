/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The bibliographic record of a page. Every key is there, strings are valid UTF-8 within their
 * limit, lists within theirs, and the whole within the record's.
 */
#include "tests/fuzz/target.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/utf8.h"
#include "common/markup/html.h"
#include "worker/model/limits.h"
#include "worker/scrape/biblio/biblio.h"
#include "worker/scrape/biblio/meta.h"

FUZZ_BUDGET(.cpu_us = 500, .cpu_byte_ns = 100, .heap_kb = 100, .heap_byte = 200);

static void check_string(const json_t *value)
{
	const char *s = json_string_value(value);
	size_t bytes = json_string_length(value);
	ing_must(s == NULL || (bytes > 0 && bytes <= ING_MAX_BIBLIO_VALUE && strlen(s) == bytes));
	ing_must(s == NULL || ing_utf8_valid(s, bytes));
}

/* Two levels below the record: lists, and people in them with their affiliations. */
static void check_list(json_t *list, int depth)
{
	json_t *item, *part;
	const char *key;
	size_t i;
	check_string(list);
	ing_must(json_array_size(list) <= ING_MAX_BIBLIO_LIST);
	json_array_foreach (list, i, item) {
		check_string(item);
		json_object_foreach (item, key, part) {
			if (depth > 0)
				check_list(part, depth - 1);
		}
	}
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
	if (html == NULL) {
		html = ing_html_new();
		tree = ing_tree_new();
	}
	struct ing_arena arena = {0};
	const char *key;
	json_t *value;
	bool any = false, filled = false;
	ing_arena_init(&arena);
	ing_html_parse(html, data, size, NULL, &limits);
	ing_html_fill(html, tree);
	struct ing_view v = {.tree = tree, .arena = &arena};
	ing_metas_read(&v);
	json_t *record = ing_biblio_json(&v, &any);
	ing_must(json_object_size(record) == 29);
	json_object_foreach (record, key, value) {
		check_list(value, 2);
		filled = filled || !json_is_null(value);
	}
	ing_must(any == filled);
	char *text = json_dumps(record, JSON_COMPACT);
	ing_must(text != NULL && strlen(text) <= ING_MAX_BIBLIO_BYTES);
	free(text);
	json_decref(record);
	ing_arena_done(&arena);
}
