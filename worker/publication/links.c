/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A short sorted array: insertion moves what is behind.
 */
#include "worker/publication/links.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/macros.h"
#include "common/net/url.h"

#define MAX_TRIED 1024u

/* The URL as links are compared: without scheme and fragment. */
static const char *compared(const char *url, size_t *ret_bytes)
{
	const char *s = strstr(url, "://");
	s = s != NULL ? s + 3 : url;
	*ret_bytes = strcspn(s, "#");
	return s;
}

static bool same(const char *a, const char *b)
{
	size_t a_bytes, b_bytes;
	const char *sa = compared(a, &a_bytes), *sb = compared(b, &b_bytes);
	return a_bytes == b_bytes && memcmp(sa, sb, a_bytes) == 0;
}

static void link_done(struct ing_assembly_link *l)
{
	free(l->url);
	free(l->from);
}

static void remove_link(struct ing_assembly_links *links, uint32_t i)
{
	link_done(&links->items[i]);
	memmove(&links->items[i], &links->items[i + 1],
		(links->count - i - 1) * sizeof(*links->items));
	links->count--;
}

static uint32_t find_link(const struct ing_assembly_links *links, const char *url)
{
	uint32_t i = 0;
	while (i < links->count && !same(links->items[i].url, url))
		i++;
	return i;
}

static bool was_tried(const struct ing_assembly_links *links, const char *url)
{
	for (uint32_t i = 0; i < links->tried_count; i++)
		if (same(links->tried[i], url))
			return true;
	return false;
}

/* -------------------------------------------------------------------------------------------- */

void ing_links_init(struct ing_assembly_links *links)
{
	*links = (struct ing_assembly_links){0};
}

void ing_links_done(struct ing_assembly_links *links)
{
	for (uint32_t i = 0; i < links->count; i++)
		link_done(&links->items[i]);
	for (uint32_t i = 0; i < links->tried_count; i++)
		free(links->tried[i]);
	free(links->items);
	free(links->tried);
	ing_links_init(links);
}

void ing_links_add(struct ing_assembly_links *links, const char *url, enum ing_part_type type,
	const char *from)
{
	char *clean = ing_url_parse(url, strlen(url));
	if (clean == NULL || !ing_url_is_web(clean) || was_tried(links, clean)) {
		free(clean);
		return;
	}
	uint32_t old = find_link(links, clean);
	if (old < links->count && !ing_part_type_better(type, links->items[old].type)) {
		free(clean);
		return;
	}
	if (old < links->count)
		remove_link(links, old);
	if (links->items == NULL)
		links->items = ing_alloc(ING_MAX_ASSEMBLY_LINKS * sizeof(*links->items));
	uint32_t at = 0;
	while (at < links->count && !ing_part_type_better(type, links->items[at].type))
		at++;
	if (links->count == ING_MAX_ASSEMBLY_LINKS && at == links->count) {
		free(clean);
		return;
	}
	if (links->count == ING_MAX_ASSEMBLY_LINKS)
		remove_link(links, links->count - 1);
	memmove(&links->items[at + 1], &links->items[at],
		(links->count - at) * sizeof(*links->items));
	links->items[at] = (struct ing_assembly_link){
		.url = clean, .from = from != NULL ? ing_strdup(from) : NULL, .type = type};
	links->count++;
}

void ing_links_tried(struct ing_assembly_links *links, const char *url)
{
	uint32_t i = find_link(links, url);
	if (i < links->count)
		remove_link(links, i);
	if (links->tried_count == MAX_TRIED || was_tried(links, url))
		return;
	bool is_full = (links->tried_count & (links->tried_count - 1)) == 0; /* powers of two */
	if (is_full)
		links->tried = ing_realloc(links->tried,
			(links->tried_count == 0 ? 1 : (size_t)links->tried_count * 2) *
				sizeof(*links->tried));
	links->tried[links->tried_count++] = ing_strdup(url);
}
