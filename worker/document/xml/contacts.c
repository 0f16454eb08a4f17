/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Addresses are looked for around each '@', telephone numbers behind a word for one. No byte is looked at more than
 * a few times.
 */
#include "worker/document/xml/contacts.h"

#include <string.h>
#include <strings.h>

#include "common/base/buf.h"
#include "common/base/macros.h"
#include "worker/scrape/biblio/ident.h"

#define MIN_PHONE_DIGITS 5

static bool is_alnum(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_local(char c)
{
	return is_alnum(c) || c == '+' || c == '.' || c == '_' || c == '-';
}

static bool is_domain(char c)
{
	return is_alnum(c) || c == '.' || c == '-';
}

/* Bytes of the domain at s, whose last label has at least two letters; 0: it is none. */
static size_t domain_bytes(const char *s)
{
	size_t n = 0, dot = 0;
	while (is_domain(s[n]))
		n++;
	while (n > 0 && !is_alnum(s[n - 1]))
		n--;
	for (size_t i = 0; i < n; i++)
		if (s[i] == '.')
			dot = i;
	for (size_t i = dot + 1; i < n; i++)
		if (s[i] >= '0' && s[i] <= '9')
			return 0;
	return dot > 0 && n - dot > 2 ? n : 0;
}

static const char *behind_phone_word(const char *s)
{
	const char *tel = strcasestr(s, "tel"), *phone = strcasestr(s, "phone");
	const char *word = tel == NULL || (phone != NULL && phone < tel) ? phone : tel;
	if (word == NULL)
		return NULL;
	word += word == phone ? 5 : 3;
	if (strncasecmp(word, "ephone", 6) == 0)
		word += 6;
	return word + strspn(word, ".:e ");
}

/* Bytes of what a telephone number is written with at s: PubFetcher's characters, and the dashes and the space that
 * typesetters put in their places. 0: none. */
static size_t phone_char_bytes(const char *s)
{
	static const char *const wide[] = {"\xe2\x80\x90", "\xe2\x80\x91", "\xe2\x80\x92",
		"\xe2\x80\x93", "\xe2\x88\x92", "\xc2\xa0"};
	if (*s != '\0' && strchr("0123456789 /.ext()+-", *s) != NULL)
		return 1;
	for (size_t i = 0; i < ING_ARRAY_LEN(wide); i++)
		if (strncmp(s, wide[i], strlen(wide[i])) == 0)
			return strlen(wide[i]);
	return 0;
}

static size_t phone_bytes(const char *s)
{
	size_t n = 0, more;
	while ((more = phone_char_bytes(s + n)) > 0 && n + more <= ING_MAX_PHONE_BYTES)
		n += more;
	return n;
}

/* -------------------------------------------------------------------------------------------- */

const char *ing_contact_email(struct ing_arena *ar, const char **at)
{
	for (const char *sign; (sign = strchr(*at, '@')) != NULL;) {
		const char *start = sign;
		while (start > *at && is_local(start[-1]))
			start--;
		while (start < sign && !is_alnum(*start))
			start++;
		size_t bytes = domain_bytes(sign + 1);
		*at = sign + 1 + bytes;
		size_t all = (size_t)(sign + 1 - start) + bytes;
		if (start < sign && bytes > 0 && all <= ING_MAX_EMAIL_BYTES)
			return ing_arena_strndup(ar, start, all);
	}
	*at += strlen(*at);
	return NULL;
}

const char *ing_contact_phone(struct ing_arena *ar, const char *text)
{
	for (const char *s = text; (s = behind_phone_word(s)) != NULL;) {
		size_t n = phone_bytes(s), digits = 0;
		while (n > 0 && !(s[n - 1] >= '0' && s[n - 1] <= '9') && s[n - 1] != ')')
			n--;
		for (size_t i = 0; i < n; i++)
			digits += s[i] >= '0' && s[i] <= '9';
		if (digits >= MIN_PHONE_DIGITS)
			return ing_arena_strndup(ar, s, n);
	}
	return NULL;
}

const char *ing_contact_orcid(struct ing_arena *ar, const char *text)
{
	struct ing_buf id, url;
	ing_buf_init(&id, 64);
	ing_buf_init(&url, 128);
	if (ing_ident_orcid(text, strlen(text), &id))
		ing_buf_printf(&url, "https://orcid.org/%s", ing_buf_str(&id));
	const char *copy = url.len > 0 ? ing_arena_strdup(ar, ing_buf_str(&url)) : NULL;
	ing_buf_done(&id);
	ing_buf_done(&url);
	return copy;
}
