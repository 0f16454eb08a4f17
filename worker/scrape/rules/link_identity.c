/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where a DOI ends in a path is not known (10.1093/nar/gkw199/2499339 goes on, 10.1093/nar does not),
 * so that only its parts up to the first with a digit are compared: those name the work.
 */
#include "worker/scrape/rules/link_identity.h"

#include <string.h>

#include "worker/scrape/biblio/meta.h"
#include "worker/scrape/rules/link_names.h"

#define MIN_REGISTRANT_BYTES 4
#define MAX_URL_READ_BYTES 2048
#define MAX_GROUPS 8

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return c >= 'a' && c <= 'z';
}

/* Bytes of "10.1234/" at s; 0 when there is none. */
static size_t prefix_bytes(const char *s)
{
	if (strncmp(s, "10.", 3) != 0)
		return 0;
	size_t n = 3 + strspn(s + 3, "0123456789.");
	return n >= 3 + MIN_REGISTRANT_BYTES && s[n] == '/' ? n + 1 : 0;
}

/* The first DOI of a text in lower case, up to its first part that has a digit. */
static struct ing_span find_doi(const char *text)
{
	for (const char *s = text; (s = strstr(s, "10.")) != NULL; s++) {
		if (s > text && (is_digit(s[-1]) || is_letter(s[-1]) || s[-1] == '.'))
			continue;
		size_t n = prefix_bytes(s);
		if (n == 0)
			continue;
		size_t end = n + strcspn(s + n, "?#& ");
		for (bool digit = false; n < end && !digit; n++) {
			for (; n < end && s[n] != '/'; n++)
				digit |= is_digit(s[n]);
		}
		n -= n > 0 && s[n - 1] == '/';
		return (struct ing_span){s, ING_MIN(n, end)};
	}
	return (struct ing_span){"", 0};
}

/* Percent-escapes decoded, in lower case. */
static const char *plain(const struct ing_view *v, const char *s)
{
	size_t bytes = strnlen(s, MAX_URL_READ_BYTES);
	char *text = ing_arena_strdup(v->arena, ing_link_unescape(v, (struct ing_span){s, bytes}));
	for (char *c = text; *c != '\0'; c++)
		*c = *c >= 'A' && *c <= 'Z' ? (char)(*c | 0x20) : *c;
	return text;
}

static struct ing_span doi_of_page(const struct ing_view *v)
{
	struct ing_span doi =
		v->url != NULL ? find_doi(plain(v, v->url)) : (struct ing_span){"", 0};
	const struct ing_meta *m =
		doi.bytes == 0 ? ing_metas_find_dotted(v, NULL, "citation_doi") : NULL;
	return m != NULL && m->content != NULL ? find_doi(plain(v, m->content)) : doi;
}

/* Whether it is a version and file endings alone: "v2", ".pdf", "v1.full.pdf". */
static bool is_ending(const char *s, size_t bytes)
{
	size_t i = 0;
	if (bytes > 1 && s[0] == 'v' && is_digit(s[1]))
		for (i = 1; i < bytes && is_digit(s[i]); i++)
			;
	while (i < bytes && s[i] == '.') {
		size_t from = ++i;
		while (i < bytes && is_letter(s[i]))
			i++;
		if (i == from)
			return false;
	}
	return i == bytes;
}

/* -------------------------------------------------------------------------------------------- */

bool ing_link_has_another_doi(const struct ing_view *v, const char *link)
{
	struct ing_span there = find_doi(plain(v, link));
	struct ing_span here = there.bytes > 0 ? doi_of_page(v) : there;
	if (here.bytes == 0)
		return false;
	size_t both = ING_MIN(here.bytes, there.bytes);
	if (memcmp(here.s, there.s, both) != 0)
		return true;
	struct ing_span longer = here.bytes > there.bytes ? here : there;
	return !is_ending(longer.s + both, longer.bytes - both);
}

bool ing_link_has_another_number(const struct ing_view *v, const char *link)
{
	if (v->url == NULL)
		return false;
	struct ing_span here = ing_link_file(v->url), there = ing_link_file(link);
	size_t folder = (size_t)(here.s - v->url);
	if (folder != (size_t)(there.s - link) || strncmp(v->url, link, folder) != 0)
		return false;
	struct ing_span number = ing_link_stem(here), other = ing_link_stem(there);
	for (size_t i = 0; i < number.bytes; i++)
		if (!is_digit(number.s[i]))
			return false;
	for (size_t i = 0; i < other.bytes; i++)
		if (!is_digit(other.s[i]))
			return false;
	return number.bytes > 0 && other.bytes > 0 &&
	       (number.bytes != other.bytes || memcmp(number.s, other.s, number.bytes) != 0);
}

bool ing_link_has_same(
	const struct ing_view *v, const char *link, const struct ing_regex *same, bool *failed)
{
	const char *texts[2] = {v->url != NULL ? plain(v, v->url) : "", plain(v, link)};
	struct ing_span found[2];
	int group = ing_regex_group_number(same, "id");
	*failed = false;
	if (group < 0 || group >= MAX_GROUPS)
		return false;
	for (size_t i = 0; i < 2; i++) {
		size_t from[MAX_GROUPS], to[MAX_GROUPS];
		enum ing_regex_end end =
			ing_regex_groups(same, texts[i], strlen(texts[i]), MAX_GROUPS, from, to);
		*failed |= end == ING_REGEX_LIMIT;
		if (end != ING_REGEX_YES || from[group] == SIZE_MAX)
			return false;
		found[i] = (struct ing_span){texts[i] + from[group], to[group] - from[group]};
	}
	return found[0].bytes == found[1].bytes &&
	       memcmp(found[0].s, found[1].s, found[0].bytes) == 0;
}
