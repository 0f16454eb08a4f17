/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The functions that offer values have the rules of replacing.
 */
#include "worker/scrape/publication/parts.h"

#include <string.h>

#include "common/base/macros.h"
#include "common/base/utf8.h"
#include "worker/scrape/jsoup/text.h"
#include "common/net/url.h"

#define F1000_DOI "10.12688/F1000RESEARCH"

/* Whether a value of this type and size replaces the part. */
static bool may_replace(
	const struct ing_parts *ps, enum ing_part_key key, enum ing_part_type type, size_t size)
{
	const struct ing_part *p = &ps->items[key];
	return size > 0 && !ing_part_is_final(ps, key) &&
	       (ing_part_type_better(type, p->type) ||
		       (ing_part_type_final(type) && size > p->size));
}

static struct ing_text_value copy_text(struct ing_arena *ar, const char *s, size_t bytes)
{
	return (struct ing_text_value){.text = ing_arena_strndup(ar, s, bytes), .bytes = bytes};
}

static bool same_text(const struct ing_text_value *a, const struct ing_text_value *b)
{
	return a->bytes == b->bytes && memcmp(a->text, b->text, a->bytes) == 0;
}

/* Whether `longer` is the other with a version appended: one of . _ -, then digits. */
static bool is_version_of(const char *longer, size_t longer_bytes, const char *s, size_t bytes)
{
	if (longer_bytes < bytes + 2 || memcmp(longer, s, bytes) != 0 ||
		strchr("._-", longer[bytes]) == NULL)
		return false;
	for (size_t i = bytes + 1; i < longer_bytes; i++)
		if (longer[i] < '0' || longer[i] > '9')
			return false;
	return true;
}

static bool is_f1000(const char *id, size_t bytes)
{
	return bytes >= sizeof(F1000_DOI) - 1 && memcmp(id, F1000_DOI, sizeof(F1000_DOI) - 1) == 0;
}

static bool is_other_version(
	const struct ing_text_value *old, const char *id, size_t bytes, const char *url)
{
	char host[ING_URL_HOST_BYTES];
	if (is_version_of(old->text, old->bytes, id, bytes) ||
		is_version_of(id, bytes, old->text, old->bytes))
		return true;
	if (is_f1000(old->text, old->bytes) && is_f1000(id, bytes))
		return true;
	return url != NULL && ing_url_host(url, host, sizeof(host)) &&
	       (strcmp(host, "zenodo.org") == 0 || strcmp(host, "www.zenodo.org") == 0);
}

/* -------------------------------------------------------------------------------------------- */

void ing_parts_init(struct ing_parts *ps, struct ing_arena *arena)
{
	*ps = (struct ing_parts){.arena = arena};
	for (size_t i = 0; i < ING_PARTS_; i++)
		ps->items[i].type = ING_PART_TYPE_NA;
}

bool ing_part_usable(const struct ing_parts *ps, enum ing_part_key key)
{
	const struct ing_part *p = &ps->items[key];
	return ing_part_size_usable(key, p->type, p->size);
}

bool ing_part_is_final(const struct ing_parts *ps, enum ing_part_key key)
{
	return ing_part_type_final(ps->items[key].type) && ing_part_usable(ps, key);
}

bool ing_parts_offer(struct ing_parts *ps, enum ing_part_key key, enum ing_part_type type,
	const char *s, size_t bytes)
{
	ing_text_trim(&s, &bytes);
	size_t size = ing_utf8_utf16_units(s, bytes);
	if (!may_replace(ps, key, type, size))
		return false;
	ps->items[key] = (struct ing_part){
		.content = copy_text(ps->arena, s, bytes), .size = size, .type = type};
	return true;
}

bool ing_parts_offer_list(struct ing_parts *ps, enum ing_part_key key, enum ing_part_type type,
	const struct ing_text_value *values, size_t count)
{
	size_t room = ING_MIN(count, ING_MAX_KEYWORDS), kept = 0;
	struct ing_text_value *list = ing_arena_alloc(ps->arena, (room + 1) * sizeof(*list));
	for (size_t i = 0; i < count && kept < room; i++) {
		struct ing_text_value one = values[i];
		ing_text_trim(&one.text, &one.bytes);
		bool repeated = one.bytes == 0;
		for (size_t j = 0; j < kept && !repeated; j++)
			repeated = same_text(&list[j], &one);
		if (!repeated)
			list[kept++] = one;
	}
	if (!may_replace(ps, key, type, kept))
		return false;
	for (size_t i = 0; i < kept; i++)
		list[i] = copy_text(ps->arena, list[i].text, list[i].bytes);
	ps->items[key] = (struct ing_part){.list = list, .size = kept, .type = type};
	return true;
}

bool ing_parts_offer_id(struct ing_parts *ps, enum ing_part_key key, enum ing_part_type type,
	const char *id, size_t bytes, const char *url)
{
	struct ing_part *p = &ps->items[key];
	if (bytes == 0 || ing_part_is_final(ps, key) || !ing_part_type_better(type, p->type))
		return false;
	p->type = type;
	bool same =
		p->size > 0 && p->content.bytes == bytes && memcmp(p->content.text, id, bytes) == 0;
	if (p->size == 0 || (!same && !is_other_version(&p->content, id, bytes, url))) {
		p->content = copy_text(ps->arena, id, bytes);
		p->size = ing_utf8_utf16_units(id, bytes);
	}
	return true;
}

bool ing_parts_offer_mesh(struct ing_parts *ps, enum ing_part_type type,
	const struct ing_text_value *terms, const bool *majors, size_t count)
{
	count = ING_MIN(count, (size_t)ING_MAX_KEYWORDS);
	if (!may_replace(ps, ING_PART_MESH, type, count))
		return false;
	struct ing_text_value *list = ing_arena_alloc(ps->arena, count * sizeof(*list));
	bool *copies = ing_arena_alloc(ps->arena, count * sizeof(*copies));
	for (size_t i = 0; i < count; i++) {
		list[i] = copy_text(ps->arena, terms[i].text, terms[i].bytes);
		copies[i] = majors[i];
	}
	ps->items[ING_PART_MESH] =
		(struct ing_part){.list = list, .majors = copies, .size = count, .type = type};
	return true;
}

json_t *ing_text_value_json(const char *text, size_t bytes)
{
	/* Our check is four times as fast as jansson's. */
	bool good = text != NULL && ing_utf8_valid(text, bytes);
	return good ? json_stringn_nocheck(text, bytes) : json_null();
}

static json_t *list_json(const struct ing_part *p)
{
	json_t *list = json_array();
	for (size_t i = 0; i < p->size; i++) {
		json_t *text = ing_text_value_json(p->list[i].text, p->list[i].bytes);
		if (p->majors != NULL)
			text = json_pack("{s:o, s:b, s:n}", "term", text, "majorTopic",
				p->majors[i] ? 1 : 0, "uniqueId");
		json_array_append_new(list, text);
	}
	return list;
}

json_t *ing_part_json(const struct ing_parts *ps, enum ing_part_key key)
{
	const struct ing_part *p = &ps->items[key];
	if (p->size == 0)
		return json_null();
	json_t *j = json_object();
	if (p->list != NULL) {
		json_object_set_new(j, "list", list_json(p));
	} else {
		json_object_set_new(
			j, "content", ing_text_value_json(p->content.text, p->content.bytes));
	}
	json_object_set_new(j, "type", json_string(ing_part_type_name(p->type)));
	return j;
}
