/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The only file that includes lexbor's URL module. A parser and its memory are kept per thread,
 * because creating them costs several times the parsing of a URL;
 * the memory is emptied at the start of the next call, so nothing that lexbor hands out outlives
 * the function that asked for it.
 */
#include "common/net/url.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <lexbor/url/url.h>

#include "common/base/buf.h"
#include "common/base/utf8.h"
#include "common/net/idna.h"
#include "common/net/url_preprocess.h"

/* A byte becomes three at worst, but for what Unicode's normalisation does to host names. */
#define MAX_HREF_BYTES (ING_URL_MAX_BYTES * 16)

#define MAX_PLAIN_BYTES 2000
#define MAX_PLAIN_HOST_BYTES 200

struct engine {
	lxb_url_parser_t *parser;
	lexbor_mraw_t *mraw;
	struct ing_url_preprocessed mended; /* scratch of parse_url() */
};

static pthread_once_t engine_once = PTHREAD_ONCE_INIT;
static pthread_key_t engine_key;

static void free_engine(void *p)
{
	struct engine *en = p;
	if (en == NULL)
		return;
	lxb_url_parser_destroy(en->parser, true);
	lexbor_mraw_destroy(en->mraw, true);
	ing_buf_done(&en->mended.input);
	ing_buf_done(&en->mended.host);
	ing_buf_done(&en->mended.path);
	free(en);
}

static void make_key(void)
{
	ing_must(pthread_key_create(&engine_key, free_engine) == 0);
}

/* This thread's parser, with empty memory. */
static struct engine *take_engine(void)
{
	pthread_once(&engine_once, make_key);
	struct engine *en = pthread_getspecific(engine_key);
	if (en != NULL) {
		lxb_url_parser_clean(en->parser);
		lexbor_mraw_clean(en->mraw);
		return en;
	}
	en = ing_alloc(sizeof(*en));
	ing_buf_init(&en->mended.input, ING_URL_MAX_BYTES * 4);
	ing_buf_init(&en->mended.host, ING_URL_MAX_BYTES * 4);
	ing_buf_init(&en->mended.path, MAX_HREF_BYTES);
	en->mraw = lexbor_mraw_create();
	en->parser = lxb_url_parser_create();
	ing_must(lexbor_mraw_init(en->mraw, 8192) == LXB_STATUS_OK);
	ing_must(lxb_url_parser_init(en->parser, en->mraw) == LXB_STATUS_OK);
	ing_must(pthread_setspecific(engine_key, en) == 0);
	return en;
}

static bool copy_buf(lxb_url_t *url, lexbor_str_t *to, const struct ing_buf *from)
{
	lxb_char_t *data = lexbor_mraw_alloc(url->mraw, from->len + 1);
	if (data == NULL)
		return false;
	memcpy(data, ing_buf_str(from), from->len + 1);
	to->data = data;
	to->length = from->len;
	return true;
}

/* Of an opaque path the last space is percent-encoded when a query or fragment follows, since 2025,
 * after lexbor 3.0. Doing it twice changes nothing, so newer versions do no harm. */
static bool amend_opaque_path(lxb_url_t *url)
{
	lexbor_str_t *path = &url->path.str;
	bool more = url->query.data != NULL || url->fragment.data != NULL;
	if (!more || path->length == 0 || path->data[path->length - 1] != ' ')
		return true;
	lxb_char_t *to = lexbor_mraw_alloc(url->mraw, path->length + 3);
	if (to == NULL)
		return false;
	memcpy(to, path->data, path->length - 1);
	memcpy(to + path->length - 1, "%20", 4);
	path->data = to;
	path->length += 2;
	return true;
}

static bool amend_path(lxb_url_t *url, const struct ing_url_preprocessed *m)
{
	if (url->path.opaque)
		return amend_opaque_path(url);
	if (!m->has_path)
		return true;
	url->path.length = m->segments;
	return copy_buf(url, &url->path.str, &m->path);
}

/* The domain in place of its stand-in. */
static bool amend_host(lxb_url_t *url, const struct ing_url_preprocessed *m)
{
	bool stand_in = url->host.type == LXB_URL_HOST_TYPE_DOMAIN && m->host.len > 0;
	return !stand_in || copy_buf(url, &url->host.u.domain, &m->host);
}

/* Parse against base (NULL: none). The result lives until the next take_engine(). */
static const lxb_url_t *parse_url(
	struct engine *en, const lxb_url_t *base, const char *s, size_t bytes)
{
	if (bytes > ING_URL_MAX_BYTES)
		return NULL;
	struct ing_url_base about = {0};
	if (base != NULL) {
		about.scheme = (const char *)base->scheme.name.data;
		about.scheme_len = base->scheme.name.length;
		about.opaque = base->path.opaque;
		about.path = (const char *)base->path.str.data;
		about.path_len = base->path.opaque ? 0 : base->path.str.length;
	}
	struct ing_url_preprocessed *m = &en->mended;
	if (!ing_url_preprocess(m, s, bytes, base != NULL ? &about : NULL))
		return NULL;
	lxb_url_parser_clean(en->parser);
	const lxb_char_t *data = (const lxb_char_t *)ing_buf_str(&m->input);
	lxb_url_t *url = lxb_url_parse(en->parser, base, data, m->input.len);
	return url != NULL && amend_path(url, m) && amend_host(url, m) ? url : NULL;
}

static const lxb_url_t *parse_string(const char *s)
{
	return parse_url(take_engine(), NULL, s, strlen(s));
}

static lxb_status_t add_piece(const lxb_char_t *data, size_t len, void *ctx)
{
	return ing_buf_add(ctx, data, len) ? LXB_STATUS_OK : LXB_STATUS_ERROR_OVERFLOW;
}

static char *serialise(const lxb_url_t *url)
{
	struct ing_buf out;
	ing_buf_init(&out, MAX_HREF_BYTES);
	lxb_status_t status = lxb_url_serialize(url, add_piece, &out, false);
	if (status != LXB_STATUS_OK || out.failed) {
		ing_buf_done(&out);
		return NULL;
	}
	return ing_buf_steal(&out);
}

static bool has_host(const lxb_url_t *url)
{
	return url->host.type != LXB_URL_HOST_TYPE__UNDEF &&
	       url->host.type != LXB_URL_HOST_TYPE_EMPTY;
}

static bool is_web(const lxb_url_t *url)
{
	bool fits = url->host.type != LXB_URL_HOST_TYPE_DOMAIN ||
		    url->host.u.domain.length < ING_URL_HOST_BYTES;
	return (url->scheme.type == LXB_URL_SCHEMEL_TYPE_HTTP ||
		       url->scheme.type == LXB_URL_SCHEMEL_TYPE_HTTPS) &&
	       has_host(url) && fits;
}

static char *copy_str(const lexbor_str_t *s)
{
	return s->data != NULL ? ing_strndup((const char *)s->data, s->length) : ing_strdup("");
}

/* "?query" or "#fragment"; "" when absent or empty, as the standard's getters have it. */
static char *copy_marked(char mark, const lexbor_str_t *s)
{
	if (s->data == NULL || s->length == 0)
		return ing_strdup("");
	char *copy = ing_alloc(s->length + 2);
	copy[0] = mark;
	memcpy(copy + 1, s->data, s->length);
	return copy;
}

static bool add_host(const lxb_url_t *url, struct ing_buf *out)
{
	return lxb_url_serialize_host(&url->host, add_piece, out) == LXB_STATUS_OK && !out->failed;
}

/* Lower-case labels divided by dots, none of them an internationalised one, the last no number. */
static bool is_plain_host(const char *host, size_t bytes)
{
	size_t label = 0; /* where it begins */
	if (bytes < 3 || bytes > MAX_PLAIN_HOST_BYTES)
		return false;
	for (size_t i = 0; i < bytes; i++) {
		char c = host[i];
		if (c == '.' && i > label && i + 1 < bytes)
			label = i + 1;
		else if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '-')
			return false;
		else if (c == '-' && i > label && host[i - 1] == '-')
			return false;
	}
	return label > 0 && host[label] >= 'a' && host[label] <= 'z';
}

static bool is_plain_in_path(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
	       c == '-' || c == '_' || c == '~' || c == '/';
}

static bool is_plain_in_query(char c)
{
	return is_plain_in_path(c) || (c != '\0' && strchr(".?=&%+,:;", c) != NULL);
}

/* A segment that begins with a dot may be one of those that go away. */
static bool is_plain_path(const char *path, const char *end)
{
	const char *at = path;
	while (at < end && (is_plain_in_path(*at) || (*at == '.' && at[-1] != '/')))
		at++;
	if (at < end && *at != '?')
		return false;
	while (at < end && is_plain_in_query(*at))
		at++;
	return at == end;
}

/* Of a URL that parsing would leave as it is, which most are: its host. NULL: it has to be parsed. */
static const char *find_plain_host(const char *s, size_t bytes, size_t *ret_bytes)
{
	if (bytes < 8 || bytes > MAX_PLAIN_BYTES || memcmp(s, "http", 4) != 0)
		return NULL;
	const char *rest = s + 4 + (s[4] == 's');
	if (memcmp(rest, "://", 3) != 0)
		return NULL;
	const char *host = rest + 3;
	const char *path = memchr(host, '/', bytes - (size_t)(host - s));
	if (path == NULL || !is_plain_host(host, (size_t)(path - host)) ||
		!is_plain_path(path, s + bytes))
		return NULL;
	*ret_bytes = (size_t)(path - host);
	return host;
}

/* Bytes of the white-space character at the front of s: ASCII's, the C1 and Unicode separators that
 * urlcleaning tools take for space. 0: none. */
static size_t space_at(const unsigned char *s, size_t bytes)
{
	if (bytes == 0)
		return 0;
	if (s[0] == ' ' || (s[0] >= 0x09 && s[0] <= 0x0d) || (s[0] >= 0x1c && s[0] <= 0x1f))
		return 1;
	if (bytes >= 2 && s[0] == 0xc2 && (s[1] == 0x85 || s[1] == 0xa0))
		return 2;
	if (bytes < 3)
		return 0;
	unsigned rune =
		(unsigned)(s[0] & 0x0f) << 12 | (unsigned)(s[1] & 0x3f) << 6 | (s[2] & 0x3fU);
	bool three = (s[0] & 0xf0) == 0xe0 && (s[1] & 0xc0) == 0x80 && (s[2] & 0xc0) == 0x80;
	bool space = rune == 0x1680 || (rune >= 0x2000 && rune <= 0x200a) || rune == 0x2028 ||
		     rune == 0x2029 || rune == 0x202f || rune == 0x205f || rune == 0x3000;
	return three && space ? 3 : 0;
}

/* Without the bytes that are not UTF-8. */
static void add_valid(struct ing_buf *out, const char *s, size_t bytes)
{
	while (bytes > 0) {
		size_t n = ing_utf8_sequence(s, bytes);
		ing_buf_add(out, s, n);
		s += ING_MAX(n, 1);
		bytes -= ING_MAX(n, 1);
	}
}

/* The characters that IDNA's two generations treat differently, as the older has them. */
static void add_transitional(struct ing_buf *out, const char *s, size_t bytes)
{
	static const char *const table[][2] = {
		{"\u00df", "ss"}, {"\u03c2", "\u03c3"}, {"\u200c", ""}, {"\u200d", ""}};
	while (bytes > 0) {
		size_t n = ing_utf8_sequence(s, bytes);
		const char *as = NULL;
		for (size_t i = 0; i < ING_ARRAY_LEN(table) && n > 1; i++) {
			if (strlen(table[i][0]) == n && memcmp(table[i][0], s, n) == 0)
				as = table[i][1];
		}
		if (as != NULL)
			ing_buf_add_str(out, as);
		else
			ing_buf_add(out, s, n);
		s += ING_MAX(n, 1);
		bytes -= ING_MAX(n, 1);
	}
}

/* A full stop, or one of the three that are mapped to it. */
static bool ends_in_dot(const char *s, size_t bytes)
{
	static const char *const dots[] = {".", "\u3002", "\uff0e", "\uff61"};
	for (size_t i = 0; i < ING_ARRAY_LEN(dots); i++) {
		size_t n = strlen(dots[i]);
		if (bytes > n && memcmp(s + bytes - n, dots[i], n) == 0)
			return true;
	}
	return false;
}

/* Labels of 1 to 63 bytes; the last may be empty behind a dot that was written. */
static bool are_labels(const char *host, size_t len, bool dot)
{
	for (;;) {
		const char *end = memchr(host, '.', len);
		size_t n = end != NULL ? (size_t)(end - host) : len;
		if (n > 63 || (n == 0 && !(end == NULL && dot)))
			return false;
		if (end == NULL)
			return true;
		host += n + 1;
		len -= n + 1;
	}
}

/* What ing_url_fuzzy_equal() compares: "//user@host:port/path?query#fragment" without what does not
 * matter. */
static char *fuzzy_key(const char *s)
{
	struct ing_url_parts p;
	size_t bytes = strlen(s);
	ing_url_trim(&s, &bytes);
	if (!ing_url_parts(s, bytes, NULL, &p))
		return ing_strndup(s, bytes);
	const char *host = strncmp(p.hostname, "www.", 4) == 0 ? p.hostname + 4 : p.hostname;
	bool port = p.port[0] != '\0' && strcmp(p.port, "80") != 0;
	bool user = p.username[0] != '\0' || p.password[0] != '\0';
	struct ing_buf out;
	ing_buf_init(&out, MAX_HREF_BYTES);
	ing_buf_printf(&out, "//%s%s%s%s%s%s%s%s", p.username, p.password[0] ? ":" : "", p.password,
		user ? "@" : "", host, port ? ":" : "", port ? p.port : "", p.pathname);
	const char *tail = strpbrk(p.href, "?#");
	ing_buf_add_str(&out, tail != NULL ? tail : "");
	ing_url_parts_done(&p);
	return ing_buf_steal(&out);
}

/* -------------------------------------------------------------------------------------------- */

char *ing_url_parse(const char *s, size_t bytes)
{
	const lxb_url_t *url = parse_url(take_engine(), NULL, s, bytes);
	return url != NULL ? serialise(url) : NULL;
}

char *ing_url_resolve(const char *base, const char *ref)
{
	struct engine *en = take_engine();
	const lxb_url_t *base_url = parse_url(en, NULL, base, strlen(base));
	if (base_url == NULL)
		return NULL;
	const lxb_url_t *url = parse_url(en, base_url, ref, strlen(ref));
	return url != NULL ? serialise(url) : NULL;
}

void ing_url_trim(const char **s, size_t *bytes)
{
	const unsigned char *p = (const unsigned char *)*s;
	const unsigned char *end = p + *bytes;
	for (size_t n = space_at(p, *bytes); n > 0; n = space_at(p, (size_t)(end - p)))
		p += n;
	for (;;) {
		size_t left = (size_t)(end - p);
		size_t cut = 0;
		for (size_t n = 1; n <= 3 && n <= left && cut == 0; n++)
			cut = space_at(end - n, n) == n ? n : 0;
		if (cut == 0)
			break;
		end -= cut;
	}
	*s = (const char *)p;
	*bytes = (size_t)(end - p);
}

char *ing_url_clean(const char *s, size_t bytes)
{
	size_t host_bytes;
	if (find_plain_host(s, bytes, &host_bytes) != NULL)
		return ing_strndup(s, bytes);
	ing_url_trim(&s, &bytes);
	char *href = ing_url_parse(s, bytes);
	return href != NULL ? href : ing_strndup(s, strnlen(s, bytes));
}

char *ing_url_without_fragment(const char *href)
{
	return ing_strndup(href, strcspn(href, "#"));
}

bool ing_url_is_web(const char *url)
{
	const lxb_url_t *parsed = parse_string(url);
	return parsed != NULL && is_web(parsed);
}

bool ing_url_parts(const char *s, size_t bytes, const char *base, struct ing_url_parts *ret)
{
	*ret = (struct ing_url_parts){0};
	struct engine *en = take_engine();
	const lxb_url_t *base_url = NULL;
	if (base != NULL) {
		base_url = parse_url(en, NULL, base, strlen(base));
		if (base_url == NULL)
			return false;
	}
	const lxb_url_t *url = parse_url(en, base_url, s, bytes);
	if (url == NULL)
		return false;
	struct ing_buf host, path;
	ing_buf_init(&host, MAX_HREF_BYTES);
	ing_buf_init(&path, MAX_HREF_BYTES);
	char *href = serialise(url);
	bool host_ok = add_host(url, &host);
	if (href == NULL || !host_ok ||
		lxb_url_serialize_path(&url->path, add_piece, &path) != LXB_STATUS_OK) {
		free(href);
		ing_buf_done(&host);
		ing_buf_done(&path);
		return false;
	}
	ret->href = href;
	ret->protocol = ing_alloc(url->scheme.name.length + 2);
	memcpy(ret->protocol, url->scheme.name.data, url->scheme.name.length);
	ret->protocol[url->scheme.name.length] = ':';
	ret->username = copy_str(&url->username);
	ret->password = copy_str(&url->password);
	ret->hostname = ing_buf_steal(&host);
	struct ing_buf port;
	ing_buf_init(&port, 8);
	if (url->has_port)
		ing_buf_printf(&port, "%u", (unsigned)url->port);
	ret->port = ing_buf_steal(&port);
	ret->pathname = ing_buf_steal(&path);
	ret->search = copy_marked('?', &url->query);
	ret->hash = copy_marked('#', &url->fragment);
	return true;
}

void ing_url_parts_done(struct ing_url_parts *p)
{
	free(p->href);
	free(p->protocol);
	free(p->username);
	free(p->password);
	free(p->hostname);
	free(p->port);
	free(p->pathname);
	free(p->search);
	free(p->hash);
	*p = (struct ing_url_parts){0};
}

bool ing_url_host(const char *url, char *ret, size_t ret_bytes)
{
	ing_must(ret_bytes > 0);
	ret[0] = '\0';
	size_t plain_bytes;
	const char *plain = find_plain_host(url, strlen(url), &plain_bytes);
	if (plain != NULL && plain_bytes < ret_bytes) {
		memcpy(ret, plain, plain_bytes);
		ret[plain_bytes] = '\0';
		return true;
	}
	const lxb_url_t *parsed = parse_string(url);
	if (parsed == NULL || !has_host(parsed))
		return false;
	struct ing_buf host;
	ing_buf_init(&host, ret_bytes - 1);
	bool ok = add_host(parsed, &host) && host.len > 0;
	if (ok)
		memcpy(ret, host.data, host.len + 1);
	ing_buf_done(&host);
	return ok;
}

unsigned ing_url_port(const char *url)
{
	const lxb_url_t *parsed = parse_string(url);
	if (parsed == NULL)
		return 0;
	if (parsed->has_port)
		return parsed->port;
	switch (parsed->scheme.type) {
	case LXB_URL_SCHEMEL_TYPE_HTTP:
	case LXB_URL_SCHEMEL_TYPE_WS:
		return 80;
	case LXB_URL_SCHEMEL_TYPE_HTTPS:
	case LXB_URL_SCHEMEL_TYPE_WSS:
		return 443;
	case LXB_URL_SCHEMEL_TYPE_FTP:
		return 21;
	default:
		return 0;
	}
}

bool ing_url_host_to_ascii(const char *host, size_t bytes, struct ing_buf *out)
{
	if (bytes > ING_URL_MAX_BYTES)
		return false;
	struct ing_buf valid, in;
	size_t start = out->len;
	ing_buf_init(&valid, ING_URL_MAX_BYTES);
	ing_buf_init(&in, ING_URL_MAX_BYTES);
	add_valid(&valid, host, bytes);
	add_transitional(&in, ing_buf_str(&valid), valid.len);
	bool dot = ends_in_dot(ing_buf_str(&valid), valid.len);
	bool good = valid.len == 0 ||
		    (ing_idna_to_ascii_unchecked(out, ing_buf_str(&in), in.len) &&
			    are_labels(ing_buf_str(out) + start, out->len - start, dot));
	ing_buf_done(&valid);
	ing_buf_done(&in);
	return good;
}

bool ing_url_fuzzy_equal(const char *a, const char *b)
{
	char *key_a = fuzzy_key(a);
	char *key_b = fuzzy_key(b);
	size_t len_a = strlen(key_a);
	size_t len_b = strlen(key_b);
	if (len_a + 1 == len_b && key_b[len_a] == '/')
		len_b--;
	else if (len_b + 1 == len_a && key_a[len_b] == '/')
		len_a--;
	bool equal = len_a == len_b && memcmp(key_a, key_b, len_a) == 0;
	free(key_a);
	free(key_b);
	return equal;
}
