/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An authority begins behind the slashes and ends at the next slash, backslash, '?' or '#'; the
 * last
 * '@' in it ends the user information, as in the URL Standard. A password with one of these
 * characters in it, unescaped, makes an authority that ends too early, behind a port that is no
 * number: then everything up to the last '@' there is counts as user information.
 */
#include "common/net/url_mask.h"

#include <string.h>
#include <strings.h>

#include "common/base/buf.h"
#include "common/net/url.h"

#define MASK "***"

static bool is_slash(char c)
{
	return c == '/' || c == '\\';
}

/* What the standard drops wherever it stands in a URL. */
static bool is_dropped(char c)
{
	return c == '\t' || c == '\n' || c == '\r';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool ends_word(char c)
{
	return (unsigned char)c <= ' ' || c == '"' || c == '<' || c == '>';
}

/* Whether what follows a host's colon is no port. */
static bool has_odd_port(const char *authority, size_t bytes)
{
	const char *end = authority + bytes;
	const char *host_end =
		bytes > 0 && authority[0] == '[' ? memchr(authority, ']', bytes) : NULL;
	const char *from = host_end != NULL ? host_end : authority;
	const char *c = memchr(from, ':', (size_t)(end - from));
	if (c == NULL)
		return false;
	for (c++; c < end; c++) {
		if (!is_digit(*c) && !is_dropped(*c))
			return true;
	}
	return false;
}

/* Bytes of user information and its '@' at the begin of an authority; 0: none. last_at: the last
 * one of the text. */
static size_t userinfo_bytes(const char *authority, const char *end, const char *last_at)
{
	size_t n = 0;
	while (authority + n < end && !is_slash(authority[n]) && authority[n] != '?' &&
		authority[n] != '#')
		n++;
	const char *at = memrchr(authority, '@', n);
	if (at == NULL && last_at >= authority + n && has_odd_port(authority, n))
		at = last_at;
	return at != NULL && at > authority ? (size_t)(at - authority) + 1 : 0;
}

/* Append the mask in the place of so many bytes. False: it stood there already. */
static bool add_mask(struct ing_buf *out, const char *s, size_t bytes)
{
	ing_buf_add_str(out, MASK "@");
	return bytes != strlen(MASK "@") || memcmp(s, MASK "@", bytes) != 0;
}

/* Whether the colon at c begins an authority: "://"; behind the web's schemes one slash is enough,
 * which is what is left of two where URLs are put into paths. */
static bool precedes_authority(const char *s, const char *c, const char *end)
{
	static const char *const names[] = {"http", "https", "ftp"};
	if (c + 2 >= end || !is_slash(c[1]))
		return false;
	if (is_slash(c[2]))
		return true;
	for (size_t i = 0; i < ING_ARRAY_LEN(names); i++) {
		size_t n = strlen(names[i]);
		if ((size_t)(c - s) >= n && strncasecmp(c - n, names[i], n) == 0)
			return true;
	}
	return false;
}

/* Text without white space. */
static bool mask_word(const char *s, size_t bytes, struct ing_buf *out)
{
	const char *end = s + bytes;
	const char *last_at = memrchr(s, '@', bytes);
	const char *from = s; /* not yet written */
	bool masked = false;
	for (const char *c = s; last_at != NULL && c < last_at; c++) {
		if (*c != ':' || !precedes_authority(s, c, end))
			continue;
		const char *authority = c + 2;
		while (authority < end && is_slash(*authority))
			authority++;
		size_t n = userinfo_bytes(authority, end, last_at);
		if (n > 0) {
			ing_buf_add(out, from, (size_t)(authority - from));
			masked |= add_mask(out, authority, n);
			from = authority + n;
		}
		c = authority + n - 1;
	}
	ing_buf_add(out, from, (size_t)(end - from));
	return masked;
}

static bool is_special(const char *scheme)
{
	static const char *const names[] = {"http", "https", "ftp", "ws", "wss"};
	for (size_t i = 0; i < ING_ARRAY_LEN(names); i++) {
		if (strcasecmp(scheme, names[i]) == 0)
			return true;
	}
	return false;
}

/* Where a URL's authority begins; NULL: it has none. Special schemes need no slashes, and take any
 * number of them, of either kind. */
static const char *find_authority(const char *s, const char *end)
{
	char scheme[8];
	size_t n = 0;
	while (s < end && (unsigned char)*s <= ' ')
		s++;
	const char *c = s;
	for (; c < end && *c != ':' && !is_slash(*c); c++) {
		if (is_dropped(*c))
			continue;
		if (!is_letter(*c) && (n == 0 || (!is_digit(*c) && memchr("+-.", *c, 3) == NULL)))
			return NULL;
		scheme[ING_MIN(n, sizeof(scheme) - 1)] = *c;
		n++;
	}
	if (c == end || (*c != ':' && n > 0))
		return NULL;
	scheme[ING_MIN(n, sizeof(scheme) - 1)] = '\0';
	unsigned slashes = 0;
	for (c += *c == ':'; c < end && (is_slash(*c) || is_dropped(*c)); c++)
		slashes += is_slash(*c);
	return slashes >= 2 || is_special(scheme) ? c : NULL;
}

/* -------------------------------------------------------------------------------------------- */

bool ing_url_mask(const char *s, size_t bytes, struct ing_buf *out)
{
	const char *end = s + bytes;
	const char *last_at = memrchr(s, '@', bytes);
	if (last_at == NULL) {
		ing_buf_add(out, s, bytes);
		return false;
	}
	const char *url = s;
	size_t trimmed = bytes;
	ing_url_trim(&url, &trimmed);
	const char *authority = find_authority(url, end);
	size_t n = authority != NULL ? userinfo_bytes(authority, end, last_at) : 0;
	if (n == 0)
		return ing_url_mask_text(s, bytes, out);
	ing_buf_add(out, s, (size_t)(authority - s));
	bool masked = add_mask(out, authority, n);
	const char *rest = authority + n;
	return ing_url_mask_text(rest, (size_t)(end - rest), out) || masked;
}

bool ing_url_mask_text(const char *s, size_t bytes, struct ing_buf *out)
{
	const char *end = s + bytes;
	bool masked = false;
	while (s < end) {
		const char *word = s;
		while (s < end && !ends_word(*s))
			s++;
		masked |= mask_word(word, (size_t)(s - word), out);
		const char *gap = s;
		while (s < end && ends_word(*s))
			s++;
		ing_buf_add(out, gap, (size_t)(s - gap));
	}
	return masked;
}
