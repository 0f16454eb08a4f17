/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The input is taken apart as far as the standard's states need it to know where the authority and
 * the path stand; both are finished here (the host by idna.c, the path by url_path.c) and lexbor is
 * given what is left, in words that no version of it could get wrong.
 */
#include "common/net/url_preprocess.h"

#include <ctype.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/net/idna.h"
#include "common/net/url_path.h"

#define STAND_IN_HOST "h"
#define STAND_IN_NAME "p"

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

static size_t skip_slashes(const char *s, bool special)
{
	size_t n = 0;
	while (s[n] == '/' || (special && s[n] == '\\'))
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
 * as such. */
static bool encode_nul(struct ing_buf *in, const struct ing_url_base *base)
{
	size_t scheme = scheme_end(in->data);
	const char *name = scheme > 0 || base == NULL ? in->data : base->scheme;
	size_t name_len = scheme > 0 || base == NULL ? scheme : base->scheme_len + 1;
	bool file = name_len == 5 && strncasecmp(name, "file", 4) == 0;
	if (name_len > 0 && !file && !is_special_scheme(name, name_len - 1) &&
		has_nul_in_host(in->data + scheme, in->len - scheme))
		return false;
	struct ing_buf out;
	ing_buf_init(&out, in->max);
	for (size_t i = 0; i < in->len; i++) {
		if (in->data[i] == '\0')
			ing_buf_add_str(&out, "%00");
		else
			ing_buf_add_char(&out, in->data[i]);
	}
	ing_buf_done(in);
	*in = out;
	return true;
}

/* ---- where things stand ---- */

struct span {
	size_t start, end;
};

/* Of an input without NUL. */
struct anatomy {
	bool special, file;    /* by its scheme, or the base's */
	struct span authority; /* empty: none of its own */
	struct span path;      /* with a slash in front that belongs to no segment; empty: none */
	struct ing_url_path_start from;
};

static void set_path(struct anatomy *a, const char *s, size_t start)
{
	a->path = (struct span){start, start + strcspn(s + start, "?#")};
}

/* A path from the root. */
static void set_root_path(struct anatomy *a, const char *s, size_t start)
{
	if (s[start] == '/' || (a->special && s[start] == '\\'))
		set_path(a, s, start);
}

static void set_authority(struct anatomy *a, const char *s, size_t start)
{
	size_t end = start + strcspn(s + start, a->special ? "/\\?#" : "/?#");
	if (a->file && end - start == 2 && ing_url_path_has_drive(s + start, 2)) {
		set_path(a, s, start); /* not a host after all */
		return;
	}
	a->authority = (struct span){start, end};
	set_root_path(a, s, end);
}

/* The standard's "file" and "file slash" states, at what follows the scheme. */
static void dissect_file(
	struct anatomy *a, const char *s, size_t start, const struct ing_url_base *base)
{
	size_t slashes = skip_slashes(s + start, true);
	bool beside_file =
		base != NULL && base->scheme_len == 4 && memcmp(base->scheme, "file", 4) == 0;
	if (slashes >= 2) {
		set_authority(a, s, start + 2);
		return;
	}
	set_path(a, s, start);
	size_t first = start + slashes;
	bool drive = a->path.end >= first && ing_url_path_has_drive(s + first, a->path.end - first);
	a->from.folder = beside_file && slashes == 0 && !drive;
	a->from.drive = beside_file && slashes == 1 && !drive;
}

static void dissect(struct anatomy *a, const char *s, const struct ing_url_base *base)
{
	*a = (struct anatomy){0};
	size_t scheme = scheme_end(s);
	if (scheme == 0 && (base == NULL || base->opaque))
		return;
	const char *name = scheme > 0 ? s : base->scheme;
	size_t name_len = scheme > 0 ? scheme - 1 : base->scheme_len;
	bool beside = base != NULL && base->scheme_len == name_len &&
		      strncasecmp(base->scheme, name, name_len) == 0;
	a->file = name_len == 4 && strncasecmp(name, "file", 4) == 0;
	a->special = a->file || is_special_scheme(name, name_len);
	if (a->file) {
		dissect_file(a, s, scheme, base);
		return;
	}
	size_t slashes = skip_slashes(s + scheme, a->special);
	if (a->special ? slashes >= 2 || !beside : slashes >= 2) {
		set_authority(a, s, scheme + (a->special ? slashes : 2));
	} else if (slashes == 1) {
		set_path(a, s, scheme);
	} else if (a->special || scheme == 0) {
		set_path(a, s, scheme);
		a->from.folder = true;
	}
}

/* The host within the authority; empty for an address in brackets. */
static struct span find_host(const char *s, const struct anatomy *a)
{
	struct span host = a->authority;
	if (!a->file) {
		const char *at = memrchr(s + host.start, '@', host.end - host.start);
		host.start = at != NULL ? (size_t)(at - s) + 1 : host.start;
	}
	if (host.start < host.end && s[host.start] == '[')
		host.end = host.start;
	else if (!a->file)
		host.end = ING_MIN(host.end, host.start + strcspn(s + host.start, ":"));
	return host;
}

/* ---- hosts ---- */

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

/* Bring the host into its final form. *ret_text (empty before) is what lexbor is to be given for
 * it: what it has rules for, addresses and a file's own machine; for the rest a stand-in, as
 * lexbor 3.0 goes by an older IDNA and takes some names for addresses, and *ret has the host. */
static bool mend_host(
	struct ing_buf *ret_text, struct ing_buf *ret, const char *s, struct span host, bool file)
{
	struct ing_buf raw;
	if (host.end == host.start)
		return true;
	ing_buf_init(&raw, ret->max);
	add_unescaped(&raw, s + host.start, host.end - host.start);
	bool good = ing_idna_to_ascii(ret, ing_buf_str(&raw), raw.len) && is_domain(ret);
	ing_buf_done(&raw);
	if (!good)
		return false;
	if (ends_in_number(ret) || (file && strcmp(ing_buf_str(ret), "localhost") == 0)) {
		ing_buf_add(ret_text, ret->data, ret->len);
		ing_buf_clear(ret);
	} else {
		ing_buf_add_str(ret_text, STAND_IN_HOST);
	}
	return true;
}

/* ---- putting it together ---- */

/* The authority, its userinfo with every '@' but the last as an escape, which lexbor 3.0 loses
 * behind a colon. */
static bool add_authority(
	struct ing_buf *out, struct ing_buf *ret_host, const char *s, const struct anatomy *a)
{
	struct ing_buf text;
	struct span host = find_host(s, a);
	for (size_t i = a->authority.start; i < host.start; i++) {
		if (s[i] == '@' && i + 1 < host.start)
			ing_buf_add_str(out, "%40");
		else
			ing_buf_add_char(out, s[i]);
	}
	if (!a->special) {
		ing_buf_add(out, s + host.start, a->authority.end - host.start);
		return true;
	}
	ing_buf_init(&text, out->max);
	bool good = mend_host(&text, ret_host, s, host, a->file);
	ing_buf_add(out, ing_buf_str(&text), text.len);
	ing_buf_add(out, s + host.end, a->authority.end - host.end);
	ing_buf_done(&text);
	return good;
}

/* The input with a stand-in for the path, which is as absolute or relative as the path was. */
static bool add_input(
	struct ing_buf *out, struct ing_buf *ret_host, const char *s, const struct anatomy *a)
{
	size_t at = 0;
	if (a->authority.end > 0) {
		ing_buf_add(out, s, a->authority.start);
		if (!add_authority(out, ret_host, s, a))
			return false;
		at = a->authority.end;
	}
	if (a->path.end > a->path.start) {
		bool named = a->path.start == scheme_end(s) &&
			     skip_slashes(s + a->path.start, a->special) == 0;
		ing_buf_add(out, s + at, a->path.start - at);
		ing_buf_add_str(out, named ? STAND_IN_NAME : "/");
		at = a->path.end;
	}
	ing_buf_add_str(out, s + at);
	return true;
}

static void add_path(struct ing_url_preprocessed *m, const char *s, const struct anatomy *a,
	const struct ing_url_base *base)
{
	size_t start = a->path.start;
	if (a->path.end == start)
		return;
	start += s[start] == '/' || (a->special && s[start] == '\\');
	struct ing_url_path_start from = a->from;
	from.special = a->special;
	from.file = a->file;
	from.base = base != NULL ? base->path : "";
	from.base_len = base != NULL ? base->path_len : 0;
	m->has_path = true;
	m->segments = ing_url_path(&m->path, &from, s + start, a->path.end - start);
}

/* -------------------------------------------------------------------------------------------- */

bool ing_url_preprocess(struct ing_url_preprocessed *m, const char *s, size_t bytes,
	const struct ing_url_base *base)
{
	struct ing_buf text;
	struct anatomy a;
	ing_buf_clear(&m->input);
	ing_buf_clear(&m->host);
	ing_buf_clear(&m->path);
	m->has_path = false;
	for (; bytes > 0 && (unsigned char)s[0] <= ' '; bytes--)
		s++;
	while (bytes > 0 && (unsigned char)s[bytes - 1] <= ' ')
		bytes--;
	ing_buf_init(&text, m->input.max);
	add_ascii(&text, s, bytes);
	bool good = memchr(ing_buf_str(&text), '\0', text.len) == NULL || encode_nul(&text, base);
	if (good) {
		dissect(&a, ing_buf_str(&text), base);
		good = add_input(&m->input, &m->host, ing_buf_str(&text), &a);
	}
	if (good)
		add_path(m, ing_buf_str(&text), &a, base);
	ing_buf_done(&text);
	return good && !m->input.failed && !m->host.failed && !m->path.failed;
}
