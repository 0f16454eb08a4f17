/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The canonical form behind CDX keys has grown from three generations of tools, and its oddities
 * are kept because old indexes have them: percent-escapes are undone until none is left and then
 * put back for the few bytes that need them; everything is in lower case; only some session ids are
 * known. Each step works in place on one of the parts of the URL (RFC 3986 appendix B), and none of
 * them is more than linear but for the sorting of the query.
 */
#include "common/net/surt.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/net/url.h"

#define MAX_PART_BYTES (ING_URL_MAX_BYTES * 4) /* every byte escaped, and a scheme in front */

struct span {
	const char *s;
	size_t len;
};

struct parts {
	struct span scheme;
	struct span host;
	unsigned port; /* 0: none */
	struct span path;
	struct span query; /* len 0: none */
};

static bool is_alnum(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* A NUL is a character like others, and in no list. */
static bool is_one_of(char c, const char *list)
{
	return c != '\0' && strchr(list, c) != NULL;
}

/* How many of the first `max` characters of s are letters, or letters and digits. */
static size_t count_class(const char *s, size_t max, bool digits)
{
	size_t n = 0;
	while (n < max && is_alnum(s[n]) && (digits || !is_digit(s[n])))
		n++;
	return n;
}

static int hex_value(char c)
{
	if (is_digit(c))
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static char to_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static void lower_buf(struct ing_buf *b)
{
	for (size_t i = 0; i < b->len; i++)
		b->data[i] = to_lower(b->data[i]);
}

static void cut_buf(struct ing_buf *b, size_t at, size_t bytes)
{
	memmove(b->data + at, b->data + at + bytes, b->len - at - bytes + 1);
	b->len -= bytes;
}

/* Undo percent-escapes until none is left. Whenever the end of the output has become an escape it
 * is undone at once: escapes never overlap, so the order does not matter and one pass is enough. */
static void add_unescaped(struct ing_buf *out, struct span in)
{
	size_t start = out->len;
	for (size_t i = 0; i < in.len && ing_buf_add_char(out, in.s[i]); i++) {
		while (out->len - start >= 3) {
			char *tail = out->data + out->len - 3;
			int high = hex_value(tail[1]);
			int low = hex_value(tail[2]);
			if (tail[0] != '%' || high < 0 || low < 0)
				break;
			tail[0] = (char)(high << 4 | low);
			tail[1] = '\0';
			out->len -= 2;
		}
	}
}

/* Escape what is not printable ASCII, and '#', '%' and the space. */
static void add_escaped(struct ing_buf *out, const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];
		if (c > ' ' && c < 0x7f && c != '#' && c != '%')
			ing_buf_add_char(out, (char)c);
		else
			ing_buf_printf(out, "%%%02X", c);
	}
}

/* ---- taking the URL apart ---- */

/* Bytes of the scheme and its colon at the front; 0: none. */
static size_t scheme_length(struct span url)
{
	size_t n = 0;
	while (n < url.len && (is_alnum(url.s[n]) || is_one_of(url.s[n], "+-.")))
		n++;
	return n > 0 && n < url.len && url.s[n] == ':' && !is_digit(url.s[0]) && is_alnum(url.s[0])
		       ? n + 1
		       : 0;
}

static size_t prefix_length(struct span url, const char *prefix)
{
	size_t n = strlen(prefix);
	return url.len >= n && memcmp(url.s, prefix, n) == 0 ? n : 0;
}

static size_t span_until(struct span in, const char *stops)
{
	size_t n = 0;
	while (n < in.len && !is_one_of(in.s[n], stops))
		n++;
	return n;
}

static struct span skip(struct span in, size_t n)
{
	return (struct span){in.s + n, in.len - n};
}

static bool read_port(struct span text, unsigned *ret_port)
{
	unsigned long port = 0;
	for (size_t i = 0; i < text.len; i++) {
		if (!is_digit(text.s[i]))
			return false;
		port = port * 10 + (unsigned long)(text.s[i] - '0');
		if (port > 65535)
			return false;
	}
	*ret_port = (unsigned)port;
	return text.len > 0;
}

/* user:password@host:port; the host may stand in brackets, which are dropped. */
static bool read_authority(struct span auth, struct parts *ret)
{
	while (auth.len > 0 && auth.s[auth.len - 1] == ':')
		auth.len--;
	const char *at = memrchr(auth.s, '@', auth.len);
	if (at != NULL)
		auth = skip(auth, (size_t)(at - auth.s) + 1);
	struct span rest;
	const char *open = memchr(auth.s, '[', auth.len);
	if (open != NULL) {
		auth = skip(auth, (size_t)(open - auth.s) + 1);
		size_t n = span_until(auth, "]");
		ret->host = (struct span){auth.s, n};
		rest = skip(auth, n);
		rest = skip(rest, span_until(rest, ":"));
	} else {
		size_t n = span_until(auth, ":");
		ret->host = (struct span){auth.s, n};
		rest = skip(auth, n);
	}
	return rest.len == 0 || read_port(skip(rest, 1), &ret->port);
}

static bool split_url(struct span url, struct parts *ret)
{
	*ret = (struct parts){0};
	size_t scheme = scheme_length(url);
	ret->scheme = (struct span){url.s, scheme > 0 ? scheme - 1 : 0};
	url = skip(url, scheme);
	url.len = span_until(url, "#");
	size_t hier = span_until(url, "?");
	if (hier + 1 < url.len)
		ret->query = skip(url, hier + 1);
	url.len = hier;
	if (prefix_length(url, "//") > 0) {
		url = skip(url, 2);
		size_t n = span_until(url, "/");
		if (!read_authority((struct span){url.s, n}, ret))
			return false;
		url = skip(url, n);
	}
	ret->path = url;
	/* "http:////host/path" and "http:host/path" */
	if (ret->host.len == 0 && url.len > 0 && prefix_length(ret->scheme, "http") > 0) {
		while (url.len > 0 && url.s[0] == '/')
			url = skip(url, 1);
		ret->host = (struct span){url.s, span_until(url, "/")};
		ret->path = skip(url, ret->host.len);
		if (ret->path.len == 0)
			ret->path = (struct span){"/", 1};
	}
	return true;
}

/* ---- host ---- */

static bool is_ipv4_form(const char *s)
{
	bool octal = s[0] == '0';
	int groups = 1;
	for (const char *p = s; *p != '\0'; p++) {
		if (*p == '.') {
			groups++;
			if (!is_digit(p[1]) || p == s)
				return false;
		} else if (!is_digit(*p) || (octal && *p > '7')) {
			return false;
		}
	}
	return is_digit(s[0]) && groups <= 4;
}

/* The dotted form of an address written short, in octal, or as one number (modulo 2^32, however
 * long). */
static bool add_ipv4(struct ing_buf *out, const struct ing_buf *host)
{
	struct in_addr addr;
	char text[INET_ADDRSTRLEN];
	const char *s = ing_buf_str(host);
	if (host->len == 0 || strlen(s) != host->len)
		return false;
	if (strspn(s, "0123456789") == host->len) {
		uint32_t value = 0;
		for (size_t i = 0; i < host->len; i++)
			value = value * 10u + (uint32_t)(s[i] - '0');
		addr.s_addr = htonl(value);
	} else if (!is_ipv4_form(s) || inet_aton(s, &addr) == 0) {
		return false;
	}
	return inet_ntop(AF_INET, &addr, text, sizeof(text)) != NULL && ing_buf_add_str(out, text);
}

/* Two dots become one, pair by pair, and none is left at either end. */
static void tidy_dots(struct ing_buf *host)
{
	size_t n = 0;
	for (size_t i = 0; i < host->len; i++) {
		char c = host->data[i];
		if (c == '.' && i + 1 < host->len && host->data[i + 1] == '.')
			i++;
		host->data[n++] = c;
	}
	while (n > 0 && host->data[n - 1] == '.')
		n--;
	host->data[n] = '\0';
	host->len = n;
	cut_buf(host, 0, strspn(host->data, "."));
}

static bool is_ascii(const struct ing_buf *b)
{
	for (size_t i = 0; i < b->len; i++) {
		if ((unsigned char)b->data[i] >= 0x80)
			return false;
	}
	return true;
}

/* "www.", "www2." */
static void cut_www(struct ing_buf *host)
{
	size_t n = 3;
	if (host->len < 4 || memcmp(host->data, "www", 3) != 0)
		return;
	while (is_digit(host->data[n]))
		n++;
	if (host->data[n] == '.')
		cut_buf(host, 0, n + 1);
}

static void canonical_host(struct ing_buf *ret, const struct parts *url)
{
	struct ing_buf raw;
	ing_buf_init(&raw, MAX_PART_BYTES);
	add_unescaped(&raw, url->host);
	if (!is_ascii(&raw)) {
		struct ing_buf ascii;
		ing_buf_init(&ascii, MAX_PART_BYTES);
		if (ing_url_host_to_ascii(raw.data, raw.len, &ascii)) {
			ing_buf_clear(&raw);
			ing_buf_add(&raw, ing_buf_str(&ascii), ascii.len);
		}
		ing_buf_done(&ascii);
	}
	if (raw.len > 0)
		tidy_dots(&raw);
	if (!add_ipv4(ret, &raw))
		add_escaped(ret, ing_buf_str(&raw), raw.len);
	lower_buf(ret);
	if (url->scheme.len != 3 || memcmp(url->scheme.s, "dns", 3) != 0)
		cut_www(ret);
	ing_buf_done(&raw);
}

/* ---- path ---- */

/* Resolve "." and "..", and drop empty segments but the last. A ".." with nothing to climb out of
 * stays. */
static void normal_path(struct ing_buf *out, const struct ing_buf *path)
{
	size_t kept = 0;
	size_t room = 1;
	for (size_t i = 0; i < path->len; i++)
		room += path->data[i] == '/';
	struct span *list = ing_try_alloc(room * sizeof(*list));
	if (list == NULL) {
		out->failed = true;
		return;
	}
	struct span rest = {path->data, path->len};
	while (rest.len > 0) { /* rest starts with a slash */
		struct span seg = {rest.s + 1, 0};
		while (seg.len + 1 < rest.len && seg.s[seg.len] != '/')
			seg.len++;
		rest = skip(rest, seg.len + 1);
		if (seg.len == 1 && seg.s[0] == '.')
			continue;
		if (seg.len == 2 && memcmp(seg.s, "..", 2) == 0 && kept > 0)
			kept--;
		else
			list[kept++] = seg;
	}
	ing_buf_add_char(out, '/');
	for (size_t i = 0; i < kept; i++) {
		ing_buf_add(out, list[i].s, list[i].len);
		if (i + 1 < kept && list[i].len > 0)
			ing_buf_add_char(out, '/');
	}
	free(list);
}

/* Length of "(24 alphanumerics)/" or, with letters, "(a(24…)b(24…))/" at p; 0: none. s is in lower
 * case. */
static size_t aspx_session(const char *p, bool letters)
{
	const char *start = p;
	if (*p++ != '(')
		return 0;
	do {
		if (letters && (count_class(p, 1, false) == 0 || p[1] != '('))
			return 0;
		p += letters ? 2 : 0;
		if (count_class(p, 24, true) != 24)
			return 0;
		p += 24;
		if (letters && *p++ != ')')
			return 0;
	} while (letters && *p != ')');
	return p[0] == ')' && p[1] == '/' ? (size_t)(p + 2 - start) : 0;
}

/* ASP.NET's cookieless sessions: a path segment of its own before a page named .aspx. The last one
 * goes. */
static void cut_path_session(struct ing_buf *path, bool letters)
{
	for (size_t i = path->len; i-- > 1;) {
		if (path->data[i - 1] != '/')
			continue;
		size_t n = aspx_session(path->data + i, letters);
		const char *page = path->data + i + n;
		if (n == 0 || *page == '\0')
			continue;
		const char *stop = page + strcspn(page, "?");
		const char *suffix = strstr(page + 1, ".aspx");
		if (suffix != NULL && suffix < stop) {
			cut_buf(path, i, n);
			return;
		}
	}
}

static void canonical_path(struct ing_buf *ret, const struct parts *url, bool hosted)
{
	struct ing_buf raw, normal;
	ing_buf_init(&raw, MAX_PART_BYTES);
	ing_buf_init(&normal, MAX_PART_BYTES);
	add_unescaped(&raw, url->path);
	if (hosted)
		normal_path(&normal, &raw);
	else
		ing_buf_add(&normal, ing_buf_str(&raw), raw.len);
	add_escaped(ret, ing_buf_str(&normal), normal.len);
	ret->failed = ret->failed || normal.failed;
	lower_buf(ret);
	if (ret->len > 0) {
		cut_path_session(ret, true);
		cut_path_session(ret, false);
	}
	if (ret->len > 1 && ret->data[ret->len - 1] == '/')
		cut_buf(ret, ret->len - 1, 1);
	ing_buf_done(&raw);
	ing_buf_done(&normal);
}

/* ---- query ---- */

static size_t named_session(const char *s, const char *name)
{
	size_t n = strlen(name);
	if (strncmp(s, name, n) != 0 || count_class(s + n, 32, true) != 32)
		return 0;
	return n + 32;
}

static size_t jsession(const char *s)
{
	return named_session(s, "jsessionid=");
}

static size_t phpsession(const char *s)
{
	return named_session(s, "phpsessid=");
}

static size_t sid(const char *s)
{
	return named_session(s, "sid=");
}

static size_t aspsession(const char *s)
{
	if (strncmp(s, "aspsessionid", 12) != 0 || count_class(s + 12, 8, false) != 8 ||
		s[20] != '=')
		return 0;
	return count_class(s + 21, 24, false) == 24 ? 45 : 0;
}

static size_t coldfusion(const char *s)
{
	if (strncmp(s, "cfid=", 5) != 0)
		return 0;
	size_t id = strcspn(s + 5, "&");
	const char *token = s + 5 + id;
	if (id == 0 || strncmp(token, "&cftoken=", 9) != 0)
		return 0;
	size_t n = strcspn(token + 9, "&");
	return n > 0 ? 5 + id + 9 + n : 0;
}

/* The last place where a session id ends its parameter loses it, with the '&' behind it. It need
 * not begin one. */
static void cut_query_session(struct ing_buf *query, size_t (*match)(const char *s))
{
	for (size_t i = query->len; i-- > 0;) {
		size_t n = match(query->data + i);
		if (n == 0)
			continue;
		char after = query->data[i + n];
		if (after == '&' || after == '\0') {
			cut_buf(query, i, n + (after == '&'));
			return;
		}
	}
}

static int compare_spans(struct span a, struct span b)
{
	int order = memcmp(a.s, b.s, ING_MIN(a.len, b.len));
	if (order != 0)
		return order;
	return a.len < b.len ? -1 : a.len > b.len;
}

/* By name, then without '=' before with, then by value. */
static int compare_params(const void *a, const void *b)
{
	const struct span *x = a;
	const struct span *y = b;
	size_t x_name = span_until(*x, "=");
	size_t y_name = span_until(*y, "=");
	int order = compare_spans((struct span){x->s, x_name}, (struct span){y->s, y_name});
	return order != 0 ? order : compare_spans(skip(*x, x_name), skip(*y, y_name));
}

static void add_sorted(struct ing_buf *out, const struct ing_buf *query)
{
	size_t count = 1;
	for (size_t i = 0; i < query->len; i++)
		count += query->data[i] == '&';
	struct span *params = ing_try_alloc(count * sizeof(*params));
	if (params == NULL) {
		out->failed = true;
		return;
	}
	struct span rest = {query->data, query->len};
	for (size_t i = 0; i < count; i++) {
		params[i] = (struct span){rest.s, span_until(rest, "&")};
		rest = skip(rest, ING_MIN(rest.len, params[i].len + 1));
	}
	qsort(params, count, sizeof(*params), compare_params);
	for (size_t i = 0; i < count; i++) {
		if (i > 0)
			ing_buf_add_char(out, '&');
		ing_buf_add(out, params[i].s, params[i].len);
	}
	free(params);
}

static void canonical_query(struct ing_buf *ret, const struct parts *url)
{
	static size_t (*const sessions[])(const char *s) = {
		jsession, phpsession, sid, aspsession, coldfusion};
	struct ing_buf raw, query;
	ing_buf_init(&raw, MAX_PART_BYTES);
	ing_buf_init(&query, MAX_PART_BYTES);
	add_unescaped(&raw, url->query);
	add_escaped(&query, ing_buf_str(&raw), raw.len);
	lower_buf(&query);
	for (size_t i = 0; i < ING_ARRAY_LEN(sessions) && query.len > 0; i++)
		cut_query_session(&query, sessions[i]);
	if (query.len > 0)
		add_sorted(ret, &query);
	ret->failed = ret->failed || query.failed;
	ing_buf_done(&raw);
	ing_buf_done(&query);
}

/* ---- putting it together ---- */

/* Trimmed, without line breaks and tabs, with a scheme, and with one "http://" where there were
 * several. */
static void tidy_url(struct ing_buf *ret, struct span in)
{
	while (in.len > 0 && is_one_of(in.s[0], " \t\n\r\v\f"))
		in = skip(in, 1);
	while (in.len > 0 && is_one_of(in.s[in.len - 1], " \t\n\r\v\f"))
		in.len--;
	struct ing_buf text;
	ing_buf_init(&text, MAX_PART_BYTES);
	for (size_t i = 0; i < in.len; i++) {
		if (!is_one_of(in.s[i], "\t\n\r"))
			ing_buf_add_char(&text, in.s[i]);
	}
	struct span rest = {ing_buf_str(&text), text.len};
	struct span last = rest;
	if (rest.len > 0 && scheme_length(rest) == 0)
		ing_buf_add_str(ret, "http://");
	for (;;) {
		size_t n = prefix_length(rest, "http://");
		n = n > 0 ? n : prefix_length(rest, "https://");
		if (n == 0)
			break;
		last = rest;
		rest = skip(rest, n);
	}
	ing_buf_add(ret, last.s, last.len);
	ing_buf_done(&text);
}

static void add_reversed(struct ing_buf *out, const struct ing_buf *host)
{
	size_t end = host->len;
	for (size_t i = host->len; i-- > 0;) {
		if (host->data[i] != '.')
			continue;
		ing_buf_add(out, host->data + i + 1, end - i - 1);
		ing_buf_add_char(out, ',');
		end = i;
	}
	ing_buf_add(out, ing_buf_str(host), end);
}

static bool is_default_port(const struct parts *url)
{
	const struct span *s = &url->scheme;
	return (url->port == 80 && s->len == 4 && strncasecmp(s->s, "http", 4) == 0) ||
	       (url->port == 443 && s->len == 5 && strncasecmp(s->s, "https", 5) == 0);
}

static void add_key(struct ing_buf *out, const struct parts *url)
{
	struct ing_buf host, path, query;
	ing_buf_init(&host, MAX_PART_BYTES);
	ing_buf_init(&path, MAX_PART_BYTES);
	ing_buf_init(&query, MAX_PART_BYTES);
	if (url->host.len > 0)
		canonical_host(&host, url);
	canonical_path(&path, url, host.len > 0);
	canonical_query(&query, url);
	if (host.len > 0) {
		add_reversed(out, &host);
		if (url->port != 0 && !is_default_port(url))
			ing_buf_printf(out, ":%u", url->port);
		ing_buf_add_char(out, ')');
	} else {
		ing_buf_add(out, url->scheme.s, url->scheme.len);
		ing_buf_add_char(out, ':');
	}
	if (path.len > 0)
		ing_buf_add(out, path.data, path.len);
	else if (query.len > 0)
		ing_buf_add_char(out, '/');
	if (query.len > 0) {
		ing_buf_add_char(out, '?');
		ing_buf_add(out, query.data, query.len);
	}
	out->failed = out->failed || host.failed || path.failed || query.failed;
	ing_buf_done(&host);
	ing_buf_done(&path);
	ing_buf_done(&query);
}

/* -------------------------------------------------------------------------------------------- */

bool ing_surt_bytes(const char *url, size_t bytes, struct ing_buf *ret)
{
	const struct span whole = {url, bytes};
	if (bytes > ING_URL_MAX_BYTES)
		return false;
	if (prefix_length(whole, "filedesc") > 0) /* of ARC files, kept as it is */
		return memchr(url, '\0', bytes) == NULL && ing_buf_add(ret, url, bytes);
	struct ing_buf text;
	ing_buf_init(&text, MAX_PART_BYTES);
	tidy_url(&text, whole);
	struct parts parts;
	bool empty = text.len == 0;
	bool ok = empty || split_url((struct span){ing_buf_str(&text), text.len}, &parts);
	if (ok && empty)
		ing_buf_add_char(ret, '-');
	else if (ok)
		add_key(ret, &parts);
	ing_buf_done(&text);
	return ok && !ret->failed;
}

bool ing_surt(const char *url, struct ing_buf *ret)
{
	return ing_surt_bytes(url, strnlen(url, ING_URL_MAX_BYTES + 1), ret);
}
