/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A filter list: what it says of a few requests, the first of which is made of the list itself. Every line is
 * counted at most once as a rule, and nothing is blocked by a list without rules.
 */
#include "tests/fuzz/target.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/macros.h"
#include "worker/document/filter/filters.h"

#define PAGE "https://www.page.example/a"

FUZZ_BUDGET(.cpu_us = 3000, .cpu_byte_ns = 40000, .heap_kb = 1500, .heap_byte = 2000);

static bool ask(const struct ing_filters *f, const char *url)
{
	struct ing_filter_page *p = ing_filter_page_new(f, PAGE);
	bool blocked = false;
	for (int type = 0; type < ING_RESOURCE_TYPES_; type++)
		blocked |= ing_filters_block(p, url, (enum ing_resource_type)type);
	ing_filter_page_free(p);
	return blocked;
}

/* A URL that looks like the list: what is no printable ASCII is left out. */
static char *make_url(const uint8_t *data, size_t size)
{
	static const char front[] = "https://ads.example/";
	size_t used = sizeof(front) - 1;
	size = size < 200 ? size : 200;
	char *url = malloc(used + size + 1);
	memcpy(url, front, used);
	for (size_t i = 0; i < size; i++)
		if (data[i] > 0x20 && data[i] < 0x7f)
			url[used++] = (char)data[i];
	url[used] = '\0';
	return url;
}

void fuzz_target(const uint8_t *data, size_t size)
{
	struct ing_filters *f = ing_filters_new();
	ing_filters_add(f, (const char *)data, size);
	ing_filters_seal(f);
	const struct ing_filter_counts *n = ing_filters_counts(f);
	char *url = make_url(data, size);
	bool blocked = ask(f, url) || ask(f, "https://ads.example/banner/x.js?a=1") ||
		       ask(f, "http://192.0.2.1:8080/");
	ing_must(!blocked || n->blocking > 0);
	ing_must(n->blocking + n->exceptions <= size);
	ing_must(ing_filters_bytes(f) < (size_t)1 << 30);
	free(url);
	ing_filters_free(f);
}
