/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The persons of the record. In <meta> elements a person is a name and what follows about it until
 * the next name; JSON-LD has an object for each. When a page has both, the <meta> names are kept
 * and missing details come from JSON-LD.
 */
#include "worker/scrape/biblio/biblio_priv.h"

#include <string.h>
#include <strings.h>

#include "common/base/macros.h"
#include "worker/scrape/biblio/biblio.h"
#include "worker/scrape/biblio/ident.h"
#include "worker/scrape/biblio/meta.h"

#define MAX_AFFILIATIONS 50 /* of one person */
#define EMPTY_BYTES 100     /* of a person in JSON without a name */
#define MAX_KEY_BYTES 128   /* of a name, for comparing */

json_t *ing_contrib_new(struct ing_biblio_ctx *ctx, json_t *name)
{
	if (ctx->left < EMPTY_BYTES) {
		json_decref(name);
		return NULL;
	}
	ctx->left -= EMPTY_BYTES;
	json_t *c = json_object();
	json_object_set_new_nocheck(c, "name", name);
	json_object_set_new_nocheck(c, "given_name", json_null());
	json_object_set_new_nocheck(c, "surname", json_null());
	json_object_set_new_nocheck(c, "orcid", json_null());
	json_object_set_new_nocheck(c, "affiliations", json_array());
	json_object_set_new_nocheck(c, "email", json_null());
	return c;
}

static void set_once(json_t *contrib, const char *key, json_t *value)
{
	if (value != NULL && json_is_null(json_object_get(contrib, key)))
		json_object_set_new_nocheck(contrib, key, value);
	else
		json_decref(value);
}

void ing_contrib_split_name(struct ing_biblio_ctx *ctx, json_t *contrib)
{
	const json_t *name = json_object_get(contrib, "name");
	const char *s = json_string_value(name);
	size_t bytes = json_string_length(name);
	const char *comma = memchr(s, ',', bytes);
	if (comma == NULL || comma == s || memchr(comma + 1, ',', (size_t)(s + bytes - comma - 1)))
		return;
	const char *given = comma + 1;
	while (*given == ' ')
		given++;
	if (given == s + bytes)
		return;
	while (comma > s && comma[-1] == ' ')
		comma--;
	set_once(contrib, "surname", ing_biblio_clean_string(ctx, s, (size_t)(comma - s)));
	set_once(contrib, "given_name",
		ing_biblio_clean_string(ctx, given, (size_t)(s + bytes - given)));
}

void ing_contrib_set_orcid(struct ing_biblio_ctx *ctx, json_t *contrib, const char *s, size_t bytes)
{
	struct ing_buf orcid;
	ing_buf_init(&orcid, 64);
	bool other_url =
		memchr(s, '/', bytes) != NULL && memmem(s, bytes, "orcid.org/", 10) == NULL;
	if (bytes <= 512 && !other_url && ing_ident_orcid(s, bytes, &orcid))
		set_once(contrib, "orcid", ing_biblio_clean_string(ctx, orcid.data, orcid.len));
	ing_buf_done(&orcid);
}

void ing_contrib_set_email(struct ing_biblio_ctx *ctx, json_t *contrib, const char *s, size_t bytes)
{
	if (bytes > 7 && strncasecmp(s, "mailto:", 7) == 0) {
		s += 7;
		bytes -= 7;
	}
	if (bytes <= 512 && memchr(s, '@', bytes) != NULL)
		set_once(contrib, "email", ing_biblio_string(ctx, s, bytes));
}

void ing_contrib_add_affiliation(
	struct ing_biblio_ctx *ctx, json_t *contrib, const char *s, size_t bytes)
{
	json_t *list = json_object_get(contrib, "affiliations");
	size_t i, n = ing_biblio_clean(ctx, s, bytes);
	json_t *item;
	json_array_foreach (list, i, item) {
		if (json_string_length(item) == n &&
			memcmp(json_string_value(item), ctx->scratch, n) == 0)
			return;
	}
	if (json_array_size(list) < MAX_AFFILIATIONS)
		ing_biblio_append(list, ing_biblio_clean_string(ctx, ctx->scratch, n));
}

/* What an element named `author` with a suffix says about the person before it. */
static void add_detail(
	struct ing_biblio_ctx *ctx, json_t *contrib, const char *suffix, const struct ing_meta *m)
{
	if (strcmp(suffix, "_institution") == 0 || strcmp(suffix, "_affiliation") == 0)
		ing_contrib_add_affiliation(ctx, contrib, m->content, m->content_bytes);
	else if (strcmp(suffix, "_orcid") == 0)
		ing_contrib_set_orcid(ctx, contrib, m->content, m->content_bytes);
	else if (strcmp(suffix, "_email") == 0)
		ing_contrib_set_email(ctx, contrib, m->content, m->content_bytes);
}

json_t *ing_contribs_of_metas(struct ing_biblio_ctx *ctx, const char *author)
{
	json_t *list = json_array(), *last = NULL;
	size_t prefix = strlen(author);
	for (const struct ing_meta *m = ing_metas_first(ctx->v); m != NULL; m = m->next) {
		const char *name = m->name != NULL ? m->name : m->property;
		if (name == NULL || m->content == NULL || strncmp(name, author, prefix) != 0)
			continue;
		if (name[prefix] != '\0') {
			if (last != NULL)
				add_detail(ctx, last, name + prefix, m);
			continue;
		}
		json_t *text = ing_biblio_string(ctx, m->content, m->content_bytes);
		if (text == NULL)
			continue;
		last = ing_contrib_new(ctx, text);
		if (last == NULL)
			return list;
		ing_contrib_split_name(ctx, last);
		if (!ing_biblio_append(list, last))
			return list;
	}
	return list;
}

/* --- the same person twice --- */

/* A name as key: its words in the order given names, surname, in lower case, without punctuation.
 * Returns false when it is too long to be compared. */
static bool make_key(const json_t *contrib, char *key)
{
	const json_t *name = json_object_get(contrib, "name");
	const char *s = json_string_value(name);
	size_t bytes = json_string_length(name), len = 0;
	const char *comma = memchr(s, ',', bytes);
	size_t from = comma == NULL ? 0 : (size_t)(comma - s) + 1;
	if (bytes >= MAX_KEY_BYTES)
		return false;
	for (size_t i = 0; i < bytes; i++) {
		char c = s[(from + i) % bytes];
		if (c >= 'A' && c <= 'Z')
			c = (char)(c | 0x20);
		if ((c >= 'a' && c <= 'z') || (unsigned char)c >= 0x80)
			key[len++] = c;
	}
	key[len] = '\0';
	return len > 0;
}

static void enrich_one(json_t *to, const json_t *from)
{
	static const char *const keys[] = {"given_name", "surname", "orcid", "email"};
	for (size_t i = 0; i < ING_ARRAY_LEN(keys); i++) {
		json_t *value = json_object_get(from, keys[i]);
		if (!json_is_null(value))
			set_once(to, keys[i], json_incref(value));
	}
	json_t *affiliations = json_object_get(from, "affiliations");
	if (json_array_size(json_object_get(to, "affiliations")) == 0)
		json_object_set_nocheck(to, "affiliations", affiliations);
}

void ing_contribs_enrich(json_t *list, const json_t *more)
{
	json_t *by_name = json_object(), *item;
	char key[MAX_KEY_BYTES];
	size_t i;
	json_array_foreach (more, i, item) {
		if (make_key(item, key))
			json_object_set_nocheck(by_name, key, item);
	}
	json_array_foreach (list, i, item) {
		json_t *same = make_key(item, key) ? json_object_get(by_name, key) : NULL;
		if (same != NULL)
			enrich_one(item, same);
	}
	json_decref(by_name);
}
