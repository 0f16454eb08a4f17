/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The table is keyed by the host as it is written, "example.org" or ".example.org", so that a look-up goes
 * from the whole name with a dot in front from one dot to the next: what is found first is the most
 * specific.
 */
#include "worker/rules/host_names.h"

#include <stdio.h>
#include <string.h>

#include "common/base/hash.h"
#include "common/net/url.h"
#include "common/net/url_match.h"

#define KEY_BYTES (1 + ING_URL_HOST_BYTES) /* a dot, a host, NUL */

struct ing_host_names_place {
	UT_hash_handle hh;
	const char *key;
	const void *what;
};

/* -------------------------------------------------------------------------------------------- */

void ing_host_names_init(struct ing_host_names *t)
{
	t->places = NULL;
	ing_arena_init(&t->arena);
}

void ing_host_names_done(struct ing_host_names *t)
{
	HASH_CLEAR(hh, t->places);
	ing_arena_done(&t->arena);
}

const char *ing_host_names_key(struct ing_arena *ar, const struct ing_url_pattern *p)
{
	char key[KEY_BYTES];
	snprintf(key, sizeof(key), "%s%s", p->below ? "." : "", p->host);
	return ing_arena_strdup(ar, key);
}

const void *ing_host_names_put(struct ing_host_names *t, const char *key, const void *what)
{
	struct ing_host_names_place *place;
	HASH_FIND_STR(t->places, key, place);
	if (place != NULL)
		return place->what;
	place = ing_arena_alloc(&t->arena, sizeof(*place));
	place->key = key;
	place->what = what;
	HASH_ADD_KEYPTR(hh, t->places, place->key, strlen(place->key), place);
	return NULL;
}

bool ing_host_names_add(struct ing_host_names *t, const char *name, const void *what)
{
	struct ing_url_pattern p = {0};
	return ing_url_pattern_set_host(&p, &t->arena, name, NULL) == 0 &&
	       ing_host_names_put(t, ing_host_names_key(&t->arena, &p), what) == NULL;
}

const void *ing_host_names_find(const struct ing_host_names *t, const char *host)
{
	char text[KEY_BYTES];
	size_t bytes = strlen(host);
	if (t->places == NULL || bytes == 0 || bytes >= ING_URL_HOST_BYTES)
		return NULL;
	text[0] = '.';
	memcpy(text + 1, host, bytes + 1);
	const char *bare = ing_url_bare_host(text + 1); /* behind a dot in any case */
	struct ing_host_names_place *place;
	HASH_FIND_STR(t->places, bare, place);
	for (const char *key = bare - 1; place == NULL && key != NULL; key = strchr(key + 1, '.'))
		HASH_FIND_STR(t->places, key, place);
	return place != NULL ? place->what : NULL;
}
