/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Values of <meta> and JSON-LD are written by templates: with tags of the title's formatting in
 * them, escaped once too often, wrapped over lines. What stands here makes text of them, in one
 * pass, never longer than it came.
 */
#include "worker/scrape/biblio/biblio_priv.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/macros.h"
#include "common/base/utf8.h"
#include "worker/scrape/biblio/biblio.h"
#include "worker/scrape/biblio/entities.h"

#define MAX_TAG_BYTES 1024 /* longer "tags" are text with a '<' */
#define MAX_TAG_NAME 20
#define JSON_OVERHEAD 8 /* of a string: quotation marks, comma, and a little */

#define MAX_KEYWORDS 500 /* each is compared with those before it */

/* Elements whose tags are dropped: what HTML, JATS and MathML format with. Any other name may be
 * the second half of "a < b". */
static const char inline_tags[] =
	" a abbr alternatives b bold cite code em email ext-link font i inline-formula italic label "
	"math mfrac mi mn mo monospace mrow mspace msub msubsup msup mtext named-content overline "
	"roman s sc semantics small span strike strong styled-content sub sup tex-math tt u underline "
	"xref ";
static const char block_tags[] =
	" abstract blockquote br break dd div dl dt h1 h2 h3 h4 h5 h6 hr img li list list-item ol p "
	"pre sec section table tbody td th title tr ul ";

struct writer {
	char *out;
	size_t len;
	bool space; /* before the next character, if there is one in front */
};

static void put(struct writer *w, const char *s, size_t bytes)
{
	if (w->space && w->len > 0)
		w->out[w->len++] = ' ';
	w->space = false;
	memmove(w->out + w->len, s, bytes); /* within one buffer, to the front */
	w->len += bytes;
}

static bool is_alpha(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_listed(const char *list, size_t list_bytes, const char *name, size_t bytes)
{
	char spaced[MAX_TAG_NAME + 2] = " ";
	if (bytes == 0 || bytes > MAX_TAG_NAME)
		return false;
	for (size_t i = 0; i < bytes; i++)
		spaced[i + 1] = (char)(is_alpha(name[i]) ? name[i] | 0x20 : name[i]);
	spaced[bytes + 1] = ' ';
	return memmem(list, list_bytes, spaced, bytes + 2) != NULL;
}

/* Bytes of the tag at s (a '<'); 0: it is text. *ret_block: it divides words. */
static size_t tag_bytes(const char *s, size_t left, bool *ret_block)
{
	size_t max = ING_MIN(left, (size_t)MAX_TAG_BYTES);
	size_t name = left > 1 && s[1] == '/' ? 2 : 1, end = name;
	while (end < max && (is_alpha(s[end]) || s[end] == '-' || (s[end] >= '0' && s[end] <= '9')))
		end++;
	if (end < max && s[end] == ':') { /* jats:p, mml:mi */
		name = ++end;
		while (end < max && (is_alpha(s[end]) || s[end] == '-'))
			end++;
	}
	if (name >= max || !is_alpha(s[name]))
		return 0;
	size_t close = end;
	while (close < max && s[close] != '>' && s[close] != '<')
		close++;
	if (close == max || s[close] != '>')
		return 0;
	/* "<b and c>" is no tag: behind the name come attributes, or nothing */
	bool empty = strspn(s + end, " \t\r\n/") >= close - end;
	if (!empty && ((unsigned char)s[end] > ' ' || memchr(s + end, '=', close - end) == NULL))
		return 0;
	*ret_block = is_listed(block_tags, sizeof(block_tags) - 1, s + name, end - name);
	if (!*ret_block && !is_listed(inline_tags, sizeof(inline_tags) - 1, s + name, end - name))
		return 0;
	return close + 1;
}

static int compare_entity(const void *key, const void *item)
{
	const struct entity *e = item;
	return strcmp(key, e->name);
}

/* Code point of the character reference at s (an '&'), *ret_bytes what it takes; 0: none. */
static uint32_t read_reference(const char *s, size_t left, size_t *ret_bytes)
{
	char name[sizeof(entities[0].name) + 1];
	size_t n = 1;
	while (n < left && n < sizeof(name) &&
		(is_alpha(s[n]) || s[n] == '#' || (s[n] >= '0' && s[n] <= '9')))
		n++;
	if (n < 3 || n >= left || s[n] != ';')
		return 0;
	memcpy(name, s + 1, n - 1);
	name[n - 1] = '\0';
	*ret_bytes = n + 1;
	if (name[0] != '#') {
		const struct entity *e = bsearch(name, entities, ING_ARRAY_LEN(entities),
			sizeof(entities[0]), compare_entity);
		return e == NULL ? 0 : e->code;
	}
	bool hex = (name[1] | 0x20) == 'x';
	char *end;
	unsigned long code = strtoul(name + 1 + hex, &end, hex ? 16 : 10);
	bool scalar = code > 0 && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
	return *end == '\0' && scalar ? (uint32_t)code : 0;
}

static size_t encode_utf8(uint32_t code, char *out)
{
	if (code < 0x80) {
		out[0] = (char)code;
		return 1;
	}
	size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
	for (size_t i = n - 1; i > 0; i--, code >>= 6)
		out[i] = (char)(0x80 | (code & 0x3F));
	out[0] = (char)((n == 2 ? 0xC0 : n == 3 ? 0xE0 : 0xF0) | code);
	return n;
}

/* One character: white space and controls become one space, what cannot be seen goes. */
static void put_char(struct writer *w, const char *s, size_t bytes)
{
	const unsigned char *u = (const unsigned char *)s;
	bool is_space = u[0] <= 0x20 || u[0] == 0x7F || (u[0] == 0xC2 && u[1] <= 0xA0);
	bool is_nothing = u[0] == 0xC2 && u[1] == 0xAD; /* soft hyphen */
	if (bytes == 3 && u[0] == 0xE2 && u[1] == 0x80) {
		is_space = u[2] <= 0x8A || u[2] == 0xA8 || u[2] == 0xA9 || u[2] == 0xAF;
		is_nothing = u[2] == 0x8B;
	} else if (bytes == 3) {
		is_space = memcmp(s, "\xe3\x80\x80", 3) == 0;
		is_nothing = memcmp(s, "\xef\xbb\xbf", 3) == 0;
	}
	if (is_space)
		w->space = true;
	else if (!is_nothing)
		put(w, s, bytes);
}

/* Character references undone, once: what a template escaped once too often. */
static size_t decode_references(const char *s, size_t bytes, char *out)
{
	size_t len = 0;
	for (size_t i = 0; i < bytes;) {
		const char *amp = memchr(s + i, '&', bytes - i);
		size_t plain = amp == NULL ? bytes - i : (size_t)(amp - s) - i;
		memcpy(out + len, s + i, plain);
		len += plain;
		i += plain;
		if (i == bytes)
			break;
		size_t taken = 1;
		uint32_t code = read_reference(s + i, bytes - i, &taken);
		len += encode_utf8(code == 0 ? '&' : code, out + len);
		i += code == 0 ? 1 : taken;
	}
	return len;
}

static bool is_plain(char c)
{
	return c > ' ' && c < 0x7F && c != '<';
}

/* Bytes at the front of s that stay as they are: plain ones, and single spaces between them. */
static size_t plain_bytes(const char *s, size_t bytes)
{
	size_t n = 0;
	while (n < bytes &&
		(is_plain(s[n]) || (s[n] == ' ' && n > 0 && n + 1 < bytes && is_plain(s[n + 1]))))
		n++;
	return n;
}

/* s may be ctx->scratch itself: what is written never overtakes what is read. */
static size_t fold_text(const char *s, size_t bytes, char *out)
{
	struct writer w = {.out = out};
	for (size_t i = 0; i < bytes;) {
		size_t n = plain_bytes(s + i, bytes - i);
		bool block = false;
		if (n > 0) {
			put(&w, s + i, n);
		} else if (s[i] == '<') {
			n = tag_bytes(s + i, bytes - i, &block);
			w.space = w.space || block;
			if (n == 0)
				put(&w, s + i, n = 1);
		} else {
			unsigned char c = (unsigned char)s[i];
			n = c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
			put_char(&w, s + i, n);
		}
		i += n;
	}
	return w.len;
}

static size_t count_char(const char *s, size_t bytes, char c)
{
	size_t n = 0;
	for (const char *end = s + bytes; (s = memchr(s, c, (size_t)(end - s))) != NULL; s++)
		n++;
	return n;
}

/* Bytes of a JSON string: what is escaped takes two. */
static size_t json_bytes(const char *s, size_t bytes)
{
	return bytes + JSON_OVERHEAD + count_char(s, bytes, '"') + count_char(s, bytes, '\\');
}

/* ------------------------------------------------------------------------------------------ */

size_t ing_biblio_clean(struct ing_biblio_ctx *ctx, const char *s, size_t bytes)
{
	size_t n = ing_utf8_cut(s, bytes, ING_MAX_BIBLIO_VALUE);
	if (n > ctx->work)
		return 0;
	ctx->work -= n;
	if (memchr(s, '&', n) != NULL) {
		n = decode_references(s, n, ctx->scratch);
		s = ctx->scratch;
	}
	return fold_text(s, n, ctx->scratch);
}

json_t *ing_biblio_plain(struct ing_biblio_ctx *ctx, const char *s, size_t bytes)
{
	size_t cost = json_bytes(s, bytes);
	if (bytes == 0 || cost > ctx->left)
		return NULL;
	ctx->left -= cost;
	return json_stringn_nocheck(s, bytes);
}

json_t *ing_biblio_string(struct ing_biblio_ctx *ctx, const char *s, size_t bytes)
{
	return ing_biblio_plain(ctx, ctx->scratch, ing_biblio_clean(ctx, s, bytes));
}

bool ing_biblio_append(json_t *list, json_t *value)
{
	if (value != NULL && json_array_size(list) < ING_MAX_BIBLIO_LIST)
		return json_array_append_new(list, value) == 0;
	json_decref(value);
	return false;
}

static bool has_string(const json_t *list, const char *s, size_t bytes)
{
	size_t i;
	json_t *item;
	json_array_foreach (list, i, item) {
		if (json_string_length(item) == bytes &&
			memcmp(json_string_value(item), s, bytes) == 0)
			return true;
	}
	return false;
}

void ing_biblio_append_split(struct ing_biblio_ctx *ctx, json_t *list, const char *s, size_t bytes)
{
	bool strong = memchr(s, ';', bytes) != NULL || memchr(s, '|', bytes) != NULL;
	for (const char *p = s, *end = s + bytes;
		p < end && json_array_size(list) < MAX_KEYWORDS;) {
		const char *stop = p;
		while (stop < end && (strong ? *stop != ';' && *stop != '|' : *stop != ','))
			stop++;
		size_t n = ing_biblio_clean(ctx, p, (size_t)(stop - p));
		if (!has_string(list, ctx->scratch, n))
			ing_biblio_append(list, ing_biblio_plain(ctx, ctx->scratch, n));
		p = stop + 1;
	}
}
