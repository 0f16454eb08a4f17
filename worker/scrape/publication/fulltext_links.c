/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A short list in order of type, searched from its start.
 */
#include "worker/scrape/publication/fulltext_links.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/macros.h"
#include "common/net/url.h"
#include "worker/model/limits.h"

/* Hosts whose pages are read by identifier. Old and new names. */
static const char *const by_identifier[] = {"europepmc.org", "www.europepmc.org",
	"ncbi.nlm.nih.gov", "www.ncbi.nlm.nih.gov", "pmc.ncbi.nlm.nih.gov",
	"pubmed.ncbi.nlm.nih.gov", "pubmedcentralcanada.ca", "www.pubmedcentralcanada.ca"};
static const char *const resolvers[] = {"doi.org", "dx.doi.org", "www.doi.org"};

static bool is_one_of(const char *host, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(host, list[i]) == 0)
			return true;
	return false;
}

/* The digits behind `mark` (ASCII case aside) in path, as an identifier with `prefix`. */
static bool offer_number(struct ing_parts *ps, enum ing_part_key key, enum ing_part_type type,
	const char *path, const char *mark, const char *prefix)
{
	const char *at = strcasestr(path, mark);
	if (at == NULL)
		return false;
	at += strlen(mark);
	size_t digits = strspn(at, "0123456789");
	char id[32];
	if (digits == 0 || digits > 20 || *at == '0')
		return false;
	size_t n = strlen(prefix);
	memcpy(id, prefix, n);
	memcpy(id + n, at, digits);
	ing_parts_offer_id(ps, key, type, id, n + digits, NULL);
	return true;
}

static void offer_identifier(
	struct ing_parts *ps, const struct ing_url_parts *url, enum ing_part_type type)
{
	const char *path = url->pathname;
	if (offer_number(ps, ING_PART_PMCID, type, path, "/articles/PMC", "PMC") ||
		offer_number(ps, ING_PART_PMID, type, path, "/abstract/med/", "") ||
		offer_number(ps, ING_PART_PMID, type, path, "/articles/pmid/", ""))
		return;
	if (strcmp(url->hostname, "pubmed.ncbi.nlm.nih.gov") == 0)
		offer_number(ps, ING_PART_PMID, type, path, "/", "");
	else
		offer_number(ps, ING_PART_PMID, type, path, "/pubmed/", "");
}

/* Insert before the first of a worse type. The worst falls off a full list. */
static void insert_link(struct ing_fulltext_links *links, struct ing_fulltext_link link)
{
	size_t at = 0;
	while (at < links->count && !ing_part_type_better(link.type, links->items[at].type))
		at++;
	if (at == ING_MAX_FULLTEXT_LINKS)
		return;
	size_t moved = ING_MIN(links->count, ING_MAX_FULLTEXT_LINKS - 1) - at;
	memmove(&links->items[at + 1], &links->items[at], moved * sizeof(link));
	links->items[at] = link;
	links->count = at + moved + 1;
}

static void add_link(struct ing_fulltext_links *links, struct ing_parts *ps, const char *url,
	const struct ing_url_parts *p, enum ing_part_type type)
{
	struct ing_buf b;
	ing_buf_init(&b, ING_MAX_URL_BYTES * 2);
	ing_buf_printf(&b, "%s:%s%s%s", p->hostname, p->port, p->pathname, p->search);
	struct ing_fulltext_link link = {.type = type};
	size_t i = 0;
	while (i < links->count && strcmp(links->items[i].key, ing_buf_str(&b)) != 0)
		i++;
	bool known = i < links->count;
	if (!b.failed && (!known || ing_part_type_better(type, links->items[i].type))) {
		link.key = ing_arena_strdup(ps->arena, ing_buf_str(&b));
		link.url = ing_arena_strdup(ps->arena, url);
		if (known) {
			links->count--;
			memmove(&links->items[i], &links->items[i + 1],
				(links->count - i) * sizeof(link));
		}
		insert_link(links, link);
	}
	ing_buf_done(&b);
}

/* -------------------------------------------------------------------------------------------- */

void ing_fulltext_links_add(struct ing_fulltext_links *links, struct ing_parts *ps, const char *url,
	enum ing_part_type type)
{
	struct ing_url_parts p;
	size_t bytes = strlen(url);
	if (bytes > ING_MAX_URL_BYTES || !ing_url_is_web(url) ||
		!ing_url_parts(url, bytes, NULL, &p))
		return;
	bool own = type == ING_PART_TYPE_PDF_PMC || type == ING_PART_TYPE_PDF_EUROPEPMC;
	if (!own && is_one_of(p.hostname, by_identifier, ING_ARRAY_LEN(by_identifier)))
		offer_identifier(ps, &p, type);
	else if (!is_one_of(p.hostname, resolvers, ING_ARRAY_LEN(resolvers)))
		add_link(links, ps, url, &p, type);
	ing_url_parts_done(&p);
}

json_t *ing_fulltext_links_json(const struct ing_fulltext_links *links)
{
	json_t *list = json_array();
	for (size_t i = 0; i < links->count; i++) {
		json_t *one = json_object();
		json_object_set_new(one, "url", json_string(links->items[i].url));
		json_object_set_new(
			one, "type", json_string(ing_part_type_name(links->items[i].type)));
		json_array_append_new(list, one);
	}
	return list;
}
