/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A page and its resources: web URLs, each once, none that is the page's own.
 */
#include "tests/fuzz/target.h"

#include <string.h>

#include "common/markup/html.h"
#include "common/net/url.h"
#include "worker/document/resources/resources.h"
#include "worker/model/limits.h"

#define PAGE "https://a.example/d/p"

FUZZ_BUDGET(.cpu_us = 2000, .cpu_byte_ns = 4000, .heap_kb = 3000, .heap_byte = 600);

static const struct ing_html_limits limits = {
	.open_elements = ING_MAX_OPEN_ELEMENTS,
	.tag_attributes = ING_MAX_TAG_ATTRIBUTES,
	.names = ING_MAX_MARKUP_NAMES,
	.tree_bytes = ING_MAX_TREE_BYTES,
	.cpu_ms = ING_MAX_PAGE_CPU_MS,
};

static void check(const struct ing_resources_found *found)
{
	ing_must(found->count <= ING_MAX_RESOURCES && found->count <= found->total);
	for (uint32_t i = 0; i < found->count; i++) {
		const struct ing_resource_found *r = &found->items[i];
		ing_must(r->type < ING_RESOURCE_TYPES_ && ing_url_is_web(r->url));
		ing_must(strchr(r->url, '#') == NULL && strcmp(r->url, PAGE) != 0);
		for (uint32_t j = 0; j < i; j++)
			ing_must(strcmp(found->items[j].url, r->url) != 0);
	}
}

void fuzz_target(const uint8_t *data, size_t size)
{
	struct ing_html *h = ing_html_new();
	struct ing_tree *t = ing_tree_new();
	struct ing_resources_found found = {0};
	ing_html_parse(h, data, size, NULL, &limits);
	ing_html_fill(h, t);
	ing_tree_set_url(t, PAGE);
	ing_resources_of_page(t, NULL, &found);
	check(&found);
	ing_resources_found_done(&found);
	ing_tree_free(t);
	ing_html_free(h);
}
