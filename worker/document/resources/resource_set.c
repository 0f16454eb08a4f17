/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Resolving a URL costs a hundred times what comparing two texts does, and pages repeat themselves: so
 * every text is looked at once, and every URL is asked about once. Pure.
 */
#include "worker/document/resources/resource_set.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/clock.h"
#include "common/base/hash.h"
#include "common/base/macros.h"
#include "common/markup/link.h"
#include "common/net/url.h"
#include "worker/document/filter/filters.h"
#include "worker/model/limits.h"

/* Different texts; real pages have 1,000 at most. */
#define MAX_TEXTS 20000
#define MAX_TEXT_BYTES ((size_t)8 << 20)
/* Of looking at them. Ordinary ones cost 10 us each; a page may be made for the expressions of a list. */
#define MAX_CPU_NS 500000000u

struct seen {
	UT_hash_handle hh;
	size_t bytes;
	char text[];
};

struct ing_resource_set {
	char *page;                     /* without its fragment; or NULL */
	struct ing_filter_page *filter; /* NULL: there are no filters */
	uint64_t started_ns;
	struct seen *texts, *urls;
	unsigned text_count;
	size_t text_bytes;
	struct ing_resources_found found;
};

/* False when it was there. */
static bool note(struct seen **table, const char *text, size_t bytes)
{
	struct seen *s;
	HASH_FIND(hh, *table, text, bytes, s);
	if (s != NULL)
		return false;
	s = ing_alloc(sizeof(*s) + bytes + 1);
	s->bytes = bytes;
	memcpy(s->text, text, bytes);
	HASH_ADD(hh, *table, text, bytes, s);
	return true;
}

static void free_table(struct seen **table)
{
	struct seen *s;
	struct seen *next;
	HASH_ITER (hh, *table, s, next) {
		HASH_DEL(*table, s);
		free(s);
	}
}

static bool begins_with(const char *s, size_t bytes, const char *lower)
{
	size_t length = strlen(lower);
	return bytes >= length && strncasecmp(s, lower, length) == 0;
}

/* What is surely none, before anything is copied: data: URLs have megabytes. A text of several words
 * with neither a slash nor a dot is somebody's placeholder. */
static bool is_none(const char *s, size_t bytes)
{
	static const char *const schemes[] = {
		"data:", "javascript:", "mailto:", "about:", "blob:", "magnet:", "urn:", "tel:"};
	if (bytes == 0 || *s == '#')
		return true;
	for (size_t i = 0; i < ING_ARRAY_LEN(schemes); i++)
		if (begins_with(s, bytes, schemes[i]))
			return true;
	return memchr(s, ' ', bytes) != NULL && memchr(s, '/', bytes) == NULL &&
	       memchr(s, '.', bytes) == NULL;
}

static size_t web_scheme(const char *s, size_t bytes)
{
	if (begins_with(s, bytes, "https://"))
		return strlen("https://");
	return begins_with(s, bytes, "http://") ? strlen("http://") : 0;
}

/* "http://https://host/": templates put one before what has one. */
static void skip_double_scheme(const char **s, size_t *bytes)
{
	size_t first = web_scheme(*s, *bytes);
	if (first > 0 && web_scheme(*s + first, *bytes - first) > 0) {
		*s += first;
		*bytes -= first;
	}
}

/* Takes url. */
static void add_url(struct ing_resource_set *s, enum ing_resource_type type, char *url)
{
	struct ing_resources_found *found = &s->found;
	bool is_new = ing_url_is_web(url) && strlen(url) <= ING_MAX_URL_BYTES &&
		      (s->page == NULL || strcmp(url, s->page) != 0) &&
		      note(&s->urls, url, strlen(url));
	if (is_new && s->filter != NULL && ing_filters_block(s->filter, url, type)) {
		found->filtered++;
		is_new = false;
	}
	found->total += is_new;
	if (!is_new || found->count == ING_MAX_RESOURCES) {
		free(url);
		return;
	}
	found->items[found->count++] =
		(struct ing_resource_found){.url = url, .type = (uint8_t)type};
}

/* -------------------------------------------------------------------------------------------- */

struct ing_resource_set *ing_resource_set_new(const char *page, const struct ing_filters *filters)
{
	struct ing_resource_set *s = ing_alloc(sizeof(*s));
	s->started_ns = ing_thread_cpu_ns();
	if (filters != NULL)
		s->filter = ing_filter_page_new(filters, page);
	if (page != NULL)
		s->page = ing_url_without_fragment(page);
	s->found.items = ing_alloc(ING_MAX_RESOURCES * sizeof(*s->found.items));
	return s;
}

void ing_resource_set_free(struct ing_resource_set *s)
{
	if (s == NULL)
		return;
	free_table(&s->texts);
	free_table(&s->urls);
	ing_resources_found_done(&s->found);
	ing_filter_page_free(s->filter);
	free(s->page);
	free(s);
}

bool ing_resource_set_add(struct ing_resource_set *s, enum ing_resource_type type,
	const char *value, size_t bytes, ing_resolve_f *resolve, void *ctx)
{
	if (s->text_count >= MAX_TEXTS || s->text_bytes >= MAX_TEXT_BYTES)
		return false;
	ing_link_trim(&value, &bytes);
	if (is_none(value, bytes) || bytes > ING_URL_MAX_BYTES)
		return true;
	if (!note(&s->texts, value, bytes))
		return true;
	if (s->text_count % 16 == 0 && ing_thread_cpu_ns() - s->started_ns > MAX_CPU_NS)
		return false;
	s->text_count++;
	s->text_bytes += bytes;
	skip_double_scheme(&value, &bytes);
	char *absolute = resolve(ctx, value, bytes);
	if (absolute != NULL)
		add_url(s, type, ing_url_without_fragment(absolute));
	free(absolute);
	return true;
}

void ing_resource_set_take(struct ing_resource_set *s, struct ing_resources_found *ret)
{
	*ret = s->found;
	s->found = (struct ing_resources_found){0};
}
