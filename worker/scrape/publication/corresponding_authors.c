/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Pages have the name of a corresponding author and a mail link beside it, and often both again in
 * a box for small screens: repetitions are reduced before pairing.
 */
#include "worker/scrape/publication/corresponding_authors.h"

#include <string.h>

#include "common/base/macros.h"
#include "common/base/utf8.h"
#include "worker/scrape/jsoup/text.h"

#define MAX_EMAIL_BYTES 320 /* RFC 3696: 64 before the '@', 255 behind it */
#define MAX_NAME_BYTES 1000 /* an author's name; longer is some other text */

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	char lower = (char)(c | 0x20);
	return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* The byte that two hex digits at s write, or -1. */
static int hex_byte(const char *s, const char *end)
{
	if (end - s < 2)
		return -1;
	int high = hex_digit(s[0]), low = hex_digit(s[1]);
	return high < 0 || low < 0 ? -1 : high * 16 + low;
}

/* Cloudflare's e-mail protection: hex bytes, each XOR the first. */
static size_t decode_protected(const char *s, const char *end, char *ret, size_t max)
{
	size_t n = 0;
	int key = hex_byte(s, end);
	for (s += 2; key >= 0 && n < max && end - s >= 2; s += 2) {
		int byte = hex_byte(s, end);
		if (byte < 0)
			return 0;
		ret[n++] = (char)(byte ^ key);
	}
	return n;
}

/* RFC 6068: up to the header fields, %-escapes decoded. */
static size_t decode_mailto(const char *s, const char *end, char *ret, size_t max)
{
	size_t n = 0;
	for (; s < end && *s != '?' && *s != '#'; s++) {
		int byte = *s == '%' ? hex_byte(s + 1, end) : -1;
		if (n == max)
			return 0;
		ret[n++] = byte >= 0 ? (char)byte : *s;
		if (byte >= 0)
			s += 2;
	}
	return n;
}

static bool is_email(const char *s, size_t bytes)
{
	if (bytes == 0 || !ing_utf8_valid(s, bytes))
		return false;
	for (size_t i = 0; i < bytes; i++)
		if ((unsigned char)s[i] < ' ' || s[i] == 0x7f)
			return false;
	const char *at = memchr(s, '@', bytes);
	return at != NULL && at > s && at + 1 < s + bytes;
}

static bool same(const struct ing_text_value *a, const struct ing_text_value *b)
{
	return a->bytes == b->bytes && memcmp(a->text, b->text, a->bytes) == 0;
}

/* Whether every value equals the one `period` places before it. */
static bool repeats(struct ing_extracted values, size_t period)
{
	for (size_t i = period; i < values.count; i++)
		if (!same(&values.items[i], &values.items[i - period]))
			return false;
	return true;
}

/* Returns the addresses in links. */
static struct ing_extracted read_emails(struct ing_arena *ar, struct ing_extracted links)
{
	struct ing_text_value *items = ing_arena_alloc(ar, (links.count + 1) * sizeof(*items));
	size_t count = 0;
	for (size_t i = 0; i < links.count &&
			   count < ING_MAX_CORRESPONDING_AUTHORS * ING_MAX_CORRESPONDING_AUTHORS;
		i++) {
		const char *email = ing_author_email(ar, links.items[i].text, links.items[i].bytes);
		if (email != NULL)
			items[count++] = (struct ing_text_value){email, strlen(email)};
	}
	return (struct ing_extracted){.items = items, .count = count};
}

/* -------------------------------------------------------------------------------------------- */

const char *ing_author_email(struct ing_arena *ar, const char *s, size_t bytes)
{
	static const char hidden[] = "/cdn-cgi/l/email-protection#";
	char email[MAX_EMAIL_BYTES];
	const char *end = s + bytes;
	const char *mark = memmem(s, bytes, hidden, sizeof(hidden) - 1);
	size_t n = 0;
	if (mark != NULL) {
		n = decode_protected(mark + sizeof(hidden) - 1, end, email, sizeof(email));
	} else {
		bool mailto = bytes >= 7 && strncasecmp(s, "mailto:", 7) == 0;
		/* A link elsewhere is no address, even with an '@' in its path. */
		if (!mailto && (memmem(s, bytes, "://", 3) != NULL || *s == '/'))
			return NULL;
		n = mailto ? decode_mailto(s + 7, end, email, sizeof(email))
			   : ING_MIN(bytes, sizeof(email));
		if (!mailto)
			memcpy(email, s, n);
	}
	const char *trimmed = email;
	ing_text_trim(&trimmed, &n);
	return is_email(trimmed, n) ? ing_arena_strndup(ar, trimmed, n) : NULL;
}

struct ing_authors ing_authors_pair(
	struct ing_arena *ar, struct ing_extracted names, struct ing_extracted emails)
{
	/* Each name has the addresses of all, or the one name has its address again and again. */
	bool rounds = (names.count > 1 && emails.count == names.count * names.count) ||
		      (names.count == 1 && emails.count > 1);
	if (rounds && repeats(emails, names.count))
		emails.count = names.count;
	/* The same address everywhere is one, unless the same person stands beside each. */
	if (emails.count > 1 && repeats(emails, 1) &&
		!(names.count == emails.count && repeats(names, 1)))
		emails.count = 1;
	if (names.count > 0 && emails.count > 0 && names.count != emails.count)
		names.count = 0;
	size_t count = ING_MIN(ING_MAX(names.count, emails.count), ING_MAX_CORRESPONDING_AUTHORS);
	struct ing_author *items = ing_arena_alloc(ar, (count + 1) * sizeof(*items));
	for (size_t i = 0; i < count; i++) {
		items[i].name = i < names.count ? names.items[i].text : NULL;
		items[i].email = i < emails.count ? emails.items[i].text : NULL;
	}
	return (struct ing_authors){.items = items, .count = count};
}

struct ing_authors ing_authors_of_journal(
	const struct ing_view *v, const struct ing_journal_site *site)
{
	struct ing_extracted names =
		ing_extract(v, ing_extraction_of_journal(site, ING_JOURNAL_CORRESP_AUTHOR_NAMES),
			ING_EXTRACT_TEXT, false);
	struct ing_extracted links =
		ing_extract(v, ing_extraction_of_journal(site, ING_JOURNAL_CORRESP_AUTHOR_EMAILS),
			ING_EXTRACT_ADDRESS, false);
	for (size_t i = 0; i < names.count; i++)
		if (names.items[i].bytes > MAX_NAME_BYTES)
			names.count = 0;
	struct ing_extracted emails = read_emails(v->arena, links);
	/* Lists of different alternatives may be of different people: the surer one stays. */
	if (names.count > 0 && names.count != emails.count && names.alternative < links.alternative)
		emails.count = 0;
	return ing_authors_pair(v->arena, names, emails);
}

json_t *ing_authors_json(struct ing_authors authors)
{
	if (authors.count == 0)
		return json_null();
	json_t *list = json_array();
	for (size_t i = 0; i < authors.count; i++) {
		const struct ing_author *a = &authors.items[i];
		const struct {
			const char *key, *value;
		} fields[] = {{"name", a->name}, {"orcid", a->orcid}, {"email", a->email},
			{"phone", a->phone}, {"uri", a->uri}};
		json_t *one = json_object();
		for (size_t j = 0; j < ING_ARRAY_LEN(fields); j++)
			json_object_set_new(one, fields[j].key,
				ing_text_value_json(fields[j].value,
					fields[j].value == NULL ? 0 : strlen(fields[j].value)));
		json_array_append_new(list, one);
	}
	return list;
}
