/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each rewriting here leaves the meaning by the standard as it is, so versions of lexbor without
 * the faults take no harm.
 */
#include "common/net/url_mend.h"

#include <ctype.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/net/idna.h"

#define MAX_PLAIN_HOST_BYTES 63 /* that lexbor is trusted with */
#define STAND_IN_HOST "h"

/* What lexbor is given instead of s: without the tabs and line breaks that the standard removes,
 * and with everything that is not ASCII percent-encoded, which means the same in every part of a
 * URL. Bytes that are not UTF-8 are encoded as they are, which is what a server that sent a Latin-1
 * address meant; a surrogate, as some JSON has it, is U+FFFD. */
static void add_ascii(struct ing_buf *out, const char *s, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		const unsigned char *u = (const unsigned char *)s + i;
		if (*u < 0x80) {
			if (*u != '\t' && *u != '\n' && *u != '\r')
				ing_buf_add_char(out, s[i]);
		} else if (bytes - i >= 3 && u[0] == 0xed && u[1] >= 0xa0 && u[1] <= 0xbf &&
			   (u[2] & 0xc0) == 0x80) {
			ing_buf_add_str(out, "%EF%BF%BD");
			i += 2;
		} else {
			ing_buf_printf(out, "%%%02X", *u);
		}
	}
}

static bool is_slash(char c, bool special)
{
	return c == '/' || (special && c == '\\');
}

static size_t skip_slashes(const char *s, bool special)
{
	size_t n = 0;
	while (is_slash(s[n], special))
		n++;
	return n;
}

/* Index just behind "scheme:", or 0. */
static size_t scheme_end(const char *s)
{
	size_t n = 0;
	while ((s[n] >= 'a' && s[n] <= 'z') || (s[n] >= 'A' && s[n] <= 'Z') ||
		(n > 0 && ((s[n] >= '0' && s[n] <= '9') || s[n] == '+' || s[n] == '-' ||
				  s[n] == '.')))
		n++;
	return n > 0 && s[n] == ':' ? n + 1 : 0;
}

static bool is_special_scheme(const char *s, size_t len)
{
	static const char *const names[] = {"http", "https", "ftp", "ws", "wss"};
	for (size_t i = 0; i < ING_ARRAY_LEN(names); i++) {
		if (strlen(names[i]) == len && strncasecmp(names[i], s, len) == 0)
			return true;
	}
	return false;
}

/* What follows the scheme is "//" and an authority with a NUL behind its userinfo: not a URL, while
 * "%00" would be fine. */
static bool has_nul_in_host(const char *s, size_t len)
{
	bool nul = false;
	if (len < 2 || memcmp(s, "//", 2) != 0)
		return false;
	for (size_t i = 2; i < len && s[i] != '/' && s[i] != '?' && s[i] != '#'; i++)
		nul = s[i] != '@' && (nul || s[i] == '\0');
	return nul;
}

/* Write NUL bytes as "%00", so that the rest can work with strings. Not where a host may keep them
 * as such, and not at the ends, where they do not count. */
static bool encode_nul(struct ing_buf *in)
{
	size_t start = 0;
	while (start < in->len && (unsigned char)in->data[start] <= ' ')
		start++;
	while (in->len > start && (unsigned char)in->data[in->len - 1] <= ' ')
		in->len--;
	size_t scheme = scheme_end(in->data + start);
	if (scheme > 0 && !is_special_scheme(in->data + start, scheme - 1) &&
		has_nul_in_host(in->data + start + scheme, in->len - start - scheme))
		return false;
	struct ing_buf out;
	ing_buf_init(&out, in->max);
	for (size_t i = start; i < in->len; i++) {
		if (in->data[i] == '\0')
			ing_buf_add_str(&out, "%00");
		else
			ing_buf_add_char(&out, in->data[i]);
	}
	ing_buf_done(in);
	*in = out;
	return true;
}

/* The path of a reference that is about to be normalised. */
struct raw_path {
	size_t start; /* in the input */
	size_t len;   /* 0: none, or that of a file URL, whose rules are others */
	bool special; /* backslashes are slashes */
	bool joined;  /* hangs below the folder of the base */
};

/* Find the path as the standard's states do. */
static struct raw_path find_path(const char *s, const struct ing_url_base *base)
{
	size_t start = 0;
	while (s[start] != '\0' && (unsigned char)s[start] <= ' ')
		start++;
	size_t scheme = scheme_end(s + start);
	struct raw_path path = {.start = start + scheme};
	bool absolute = false;
	if (scheme > 0) {
		bool same = base != NULL && base->scheme_len == scheme - 1 &&
			    strncasecmp(base->scheme, s + start, scheme - 1) == 0;
		path.special = is_special_scheme(s + start, scheme - 1);
		absolute = path.special && (!same || strncmp(s + path.start, "//", 2) == 0);
		if (!path.special &&
			(s[path.start] != '/' || strncasecmp(s + start, "file:", 5) == 0))
			return path;
	} else {
		if (base == NULL || base->opaque || strncmp(base->scheme, "file", 5) == 0)
			return path;
		path.special = is_special_scheme(base->scheme, base->scheme_len);
	}
	size_t slashes = skip_slashes(s + path.start, path.special);
	if (absolute || slashes >= 2) {
		path.start += path.special ? slashes : 2;
		path.start += strcspn(s + path.start, path.special ? "/\\?#" : "/?#");
	}
	path.len = strcspn(s + path.start, "?#");
	path.joined = path.len > 0 && !is_slash(s[path.start], path.special);
	return path;
}

/* Whether the quick half of lexbor 3.0's path code would go wrong: it loses an empty segment before
 * one with an unusual character or a dot, and passes two bytes as they are behind a '%' that starts
 * no escape. */
static bool is_trouble(const char *s, struct raw_path path, const struct ing_url_base *base)
{
	if (path.joined && base->doubled)
		return true;
	for (size_t i = path.start; i < path.start + path.len; i++) {
		if (is_slash(s[i], path.special) && is_slash(s[i + 1], path.special))
			return true;
		if (s[i] == '%' &&
			(!isxdigit((unsigned char)s[i + 1]) || !isxdigit((unsigned char)s[i + 2])))
			return true;
	}
	return false;
}

/* Whether the last segment is "." or "..", spelled in any way. */
static bool ends_in_dots(const char *s, struct raw_path path)
{
	size_t i = path.start + path.len;
	int dots = 0;
	while (i > path.start && !is_slash(s[i - 1], path.special)) {
		if (s[i - 1] == '.')
			i--;
		else if (i >= path.start + 3 && strncasecmp(s + i - 3, "%2e", 3) == 0)
			i -= 3;
		else
			return false;
		dots++;
	}
	return dots == 1 || dots == 2;
}

/* Write the input so that lexbor 3.0 gets it right, which means the same by the standard: "[" and
 * ".." in front of the path lead to the careful half of its path code, and a slash behind a last
 * dot segment, which means one anyway, keeps it from swallowing the '?' or '#' that follows. */
static bool add_detour(struct ing_buf *out, const char *s, const struct ing_url_base *base)
{
	struct raw_path path = find_path(s, base);
	if (path.len == 0)
		return false;
	bool trouble = is_trouble(s, path, base);
	bool dots = ends_in_dots(s, path);
	if (!trouble && !dots)
		return false;
	ing_buf_add(out, s, path.start);
	if (trouble)
		ing_buf_add_str(out, is_slash(s[path.start], path.special) ? "/[/.." : "[/../");
	ing_buf_add(out, s + path.start, path.len);
	if (dots)
		ing_buf_add_char(out, '/');
	ing_buf_add_str(out, s + path.start + path.len);
	return true;
}

/* ---- hosts ---- */

/* Where the host of a URL with a special scheme stands in the input; empty: it has none of its own,
 * or it is an address in brackets. */
struct raw_host {
	size_t start;
	size_t len;
};

static struct raw_host find_host(const char *s, const struct ing_url_base *base)
{
	struct raw_host host = {0};
	size_t start = 0;
	while (s[start] != '\0' && (unsigned char)s[start] <= ' ')
		start++;
	size_t scheme = scheme_end(s + start);
	const char *name = scheme > 0 || base == NULL ? s + start : base->scheme;
	size_t name_len = scheme > 0 || base == NULL ? scheme - (scheme > 0) : base->scheme_len;
	bool file = name_len == 4 && strncasecmp(name, "file", 4) == 0;
	bool same = base != NULL && base->scheme_len == name_len &&
		    strncasecmp(base->scheme, name, name_len) == 0;
	if (!file && !is_special_scheme(name, name_len))
		return host;
	start += scheme;
	size_t slashes = skip_slashes(s + start, true);
	if (slashes < 2 && (file || same)) /* a path */
		return host;
	start += file ? 2 : slashes;
	size_t end = start + strcspn(s + start, "/\\?#");
	if (!file) {
		const char *at = memrchr(s + start, '@', end - start);
		start = at != NULL ? (size_t)(at - s) + 1 : start;
		if (s[start] != '[')
			end = ING_MIN(end, start + strcspn(s + start, ":"));
	}
	if (s[start] == '[')
		return host;
	return (struct raw_host){start, end - start};
}

static int hex_value(char c)
{
	return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

static void add_unescaped(struct ing_buf *out, const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (s[i] == '%' && i + 2 < len && isxdigit((unsigned char)s[i + 1]) &&
			isxdigit((unsigned char)s[i + 2])) {
			ing_buf_add_char(
				out, (char)(hex_value(s[i + 1]) << 4 | hex_value(s[i + 2])));
			i += 2;
		} else {
			ing_buf_add_char(out, s[i]);
		}
	}
}

/* Lexbor 3.0 goes by an older IDNA: it refuses ASCII names whose Punycode means nothing, and long
 * ones, and knows no rules for joiners and right-to-left labels. */
static bool needs_idna(const struct ing_buf *domain)
{
	bool label = true;
	if (domain->len > MAX_PLAIN_HOST_BYTES)
		return true;
	for (size_t i = 0; i < domain->len; i++) {
		const char *s = domain->data + i;
		if ((unsigned char)*s >= 0x80)
			return true;
		if (label && domain->len - i >= 4 && strncasecmp(s, "xn--", 4) == 0)
			return true;
		label = *s == '.';
	}
	return false;
}

/* What the standard calls a domain code point that is not forbidden; of ASCII. */
static bool is_domain_char(char c)
{
	return (unsigned char)c > ' ' && c != 0x7f && strchr("#/:<>?@[\\]^|%", c) == NULL;
}

static bool is_domain(const struct ing_buf *domain)
{
	for (size_t i = 0; i < domain->len; i++) {
		if (!is_domain_char(domain->data[i]))
			return false;
	}
	return domain->len > 0;
}

/* Whether the standard would read a domain as an IPv4 address: by its last label, one that is empty
 * behind a dot aside. */
static bool ends_in_number(const struct ing_buf *domain)
{
	const char *s = domain->data;
	size_t end = domain->len;
	if (end > 0 && s[end - 1] == '.')
		end--;
	size_t start = end;
	while (start > 0 && s[start - 1] != '.')
		start--;
	if (end - start >= 2 && s[start] == '0' && s[start + 1] == 'x')
		return strspn(s + start + 2, "0123456789abcdef") >= end - start - 2;
	return end > start && strspn(s + start, "0123456789") >= end - start;
}

/* Put the host's final form in its place. Where lexbor would not take that, a stand-in, and the
 * host into *ret. */
static bool mend_host(struct ing_buf *in, struct ing_buf *ret, const struct ing_url_base *base)
{
	const char *s = ing_buf_str(in);
	struct raw_host at = find_host(s, base);
	struct ing_buf raw, out;
	ing_buf_init(&raw, in->max);
	add_unescaped(&raw, s + at.start, at.len);
	bool mend = raw.len > 0 && needs_idna(&raw);
	bool good = !mend || (ing_idna_to_ascii(ret, raw.data, raw.len) && is_domain(ret));
	ing_buf_done(&raw);
	if (!mend || !good)
		return good;
	bool plain = ends_in_number(ret) || !needs_idna(ret);
	ing_buf_init(&out, in->max);
	ing_buf_add(&out, s, at.start);
	ing_buf_add_str(&out, plain ? ing_buf_str(ret) : STAND_IN_HOST);
	ing_buf_add(&out, s + at.start + at.len, in->len - at.start - at.len);
	ing_buf_done(in);
	*in = out;
	if (plain)
		ing_buf_clear(ret);
	return true;
}

/* ----------------------------------------------------------------------------------------------------------
 */

bool ing_url_mend(struct ing_buf *out, struct ing_buf *host, const char *s, size_t bytes,
	const struct ing_url_base *base)
{
	struct ing_buf detour;
	add_ascii(out, s, bytes);
	if (memchr(ing_buf_str(out), '\0', out->len) != NULL && !encode_nul(out))
		return true;
	if (!mend_host(out, host, base))
		return false;
	ing_buf_init(&detour, out->max);
	if (!add_detour(&detour, ing_buf_str(out), base)) {
		ing_buf_done(&detour);
		return true;
	}
	ing_buf_done(out);
	*out = detour;
	return true;
}
