/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Host names of rules, and of pages and requests. A rule for a name is for all names below it, and a
 * longer name goes before a shorter one.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/macros.h"
#include "common/net/psl.h"
#include "worker/document/filter/filter_priv.h"

static bool is_host_char(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
	       c == '_' || c == '*' || c == ':' || c == '[' || c == ']' || c >= 0x80;
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static void add_hash(struct ing_filters *f, uint64_t hash)
{
	ING_FILTER_GROW(f->hashes, f->hash_count, f->hash_room);
	f->hashes[f->hash_count++] = hash;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

/* "a.example" or "a.*", in lower case; false when it is neither. */
static bool hash_name(const char *s, size_t bytes, uint64_t *ret)
{
	char name[256];
	if (bytes == 0 || bytes >= sizeof(name))
		return false;
	for (size_t i = 0; i < bytes; i++) {
		name[i] = lower(s[i]);
		bool is_last_star = i + 1 == bytes && i > 1 && name[i - 1] == '.';
		if (!is_host_char((unsigned char)name[i]) || (name[i] == '*' && !is_last_star))
			return false;
	}
	*ret = ing_filter_hash(name, bytes);
	return true;
}

/* Those with a "~" (or all others, where that is what is wanted). Returns how many; -1: one is none. */
static int add_names(
	struct ing_filters *f, const char *s, const char *end, bool denied, bool want_denied)
{
	int count = 0;
	while (s < end) {
		const char *stop = memchr(s, '|', (size_t)(end - s));
		if (stop == NULL)
			stop = end;
		bool is_not = *s == '~';
		uint64_t hash;
		if (!hash_name(s + is_not, (size_t)(stop - s) - is_not, &hash))
			return -1;
		if ((denied != is_not) == want_denied) {
			add_hash(f, hash);
			count++;
		}
		s = stop < end ? stop + 1 : end;
	}
	return count;
}

static bool has(const struct ing_filters *f, uint32_t first, uint32_t count, uint64_t hash)
{
	return bsearch(&hash, &f->hashes[first], count, sizeof(hash), compare) != NULL;
}

static void add_name(struct ing_filter_names *names, const char *name, size_t bytes)
{
	if (names->count < ING_ARRAY_LEN(names->hashes))
		names->hashes[names->count++] = ing_filter_hash(name, bytes);
}

/* "www.shop.co.uk" as "www.shop.*". bytes: without the public suffix and the dot before it. */
static void add_entity(struct ing_filter_names *names, const char *name, size_t bytes)
{
	char entity[ING_FILTER_MAX_LABELS * 64];
	if (bytes + 3 > sizeof(entity))
		return;
	memcpy(entity, name, bytes);
	memcpy(entity + bytes, ".*", 2);
	add_name(names, entity, bytes + 2);
}

/* -------------------------------------------------------------------------------------------- */

/* FNV-1a, 64 bits. */
uint64_t ing_filter_hash(const char *s, size_t bytes)
{
	uint64_t hash = 0xcbf29ce484222325u;
	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ (unsigned char)s[i]) * 0x100000001b3u;
	return hash;
}

void ing_filter_names_of(const char *host, struct ing_filter_names *ret)
{
	size_t bytes = strlen(host);
	const char *registered = ing_psl_registered(host);
	const char *suffix = registered != NULL ? strchr(registered, '.') : NULL;
	ret->count = 0;
	for (const char *name = host; name != NULL;) {
		add_name(ret, name, bytes - (size_t)(name - host));
		if (suffix != NULL && name < suffix)
			add_entity(ret, name, (size_t)(suffix - name));
		const char *dot = strchr(name, '.');
		name = dot != NULL && dot[1] != '\0' ? dot + 1 : NULL;
	}
}

uint32_t ing_filter_read_hosts(struct ing_filters *f, const char *s, const char *end, bool denied)
{
	size_t before = f->hash_count;
	int with = add_names(f, s, end, denied, false);
	int without = with >= 0 ? add_names(f, s, end, denied, true) : -1;
	if (without < 0 || with + without == 0) {
		f->hash_count = before;
		return 0;
	}
	qsort(&f->hashes[before], (size_t)with, sizeof(*f->hashes), compare);
	qsort(&f->hashes[before + (size_t)with], (size_t)without, sizeof(*f->hashes), compare);
	if (f->host_count == 0)
		f->host_count = 1;
	ING_FILTER_GROW(f->hosts, f->host_count, f->host_room);
	f->hosts[f->host_count] = (struct ing_filter_hosts){
		.first = (uint32_t)before, .with = (uint32_t)with, .without = (uint32_t)without};
	return (uint32_t)f->host_count++;
}

bool ing_filter_hosts_match(
	const struct ing_filters *f, uint32_t number, const struct ing_filter_names *names)
{
	if (number == 0)
		return true;
	const struct ing_filter_hosts *h = &f->hosts[number];
	for (unsigned i = 0; i < names->count; i++) {
		if (has(f, h->first + h->with, h->without, names->hashes[i]))
			return false;
		if (has(f, h->first, h->with, names->hashes[i]))
			return true;
	}
	return h->with == 0;
}
