/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Two passes over one buffer: character references are decoded while copying, because they may be
 * those of tags; the copy is then folded in place, as what is written never overtakes what is read.
 *
 * A tag is told from a less-than sign by its name, which has to be one of formatting, and by its
 * form: after the name comes nothing, a slash, or attributes with '='. The search for its '>' ends
 * at the next '<', so that no byte is looked at more than twice.
 */
#include "common/markup/strip_markup.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/macros.h"
#include "common/base/utf8.h"

#define MAX_TAG_BYTES 1024 /* longer "tags" are text with a '<' */
#define MAX_TAG_NAME 20
#define MAX_REFERENCE_NAME 11 /* "thetasym" has 8, "#x0010FFFF" 10 */

/* Elements whose tags are dropped: what HTML, JATS and MathML format with. Any other name may be
 * the second half of "a < b". */
static const char inline_tags[] =
	" a abbr acronym alternatives b big bold cite code del dfn em email ext-link font i "
	"inline-formula ins italic kbd label mark math mfenced mfrac mi mn mo monospace mover mroot "
	"mrow ms mspace msqrt mstyle msub msubsup msup mtext munder munderover named-content nobr "
	"overline q roman s samp sans-serif sc semantics small span strike strong styled-content sub "
	"sup tex-math tt u underline var xref ";
/* Those of them that divide words. */
static const char block_tags[] =
	" abstract address article article-title aside blockquote body br break caption center dd "
	"disp-formula disp-quote div dl dt figcaption figure footer h1 h2 h3 h4 h5 h6 header hr html "
	"img li list list-item main ol p pre sec section subtitle table tbody td tfoot th thead title "
	"tr trans-title ul ";

static const struct entity {
	char name[9];
	uint16_t code_point;
} entities[] = {
/* clang-format off */
#include "common/markup/entities.inc"
	/* clang-format on */
};

struct writer {
	char *out;
	size_t len;
	bool space; /* before the next character, if there is one in front */
};

static bool is_alpha(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* --- character references --- */

static int compare_entity(const void *key, const void *item)
{
	return strcmp(key, ((const struct entity *)item)->name);
}

/* The number of a numeric reference ("#233", "#xe9"); 0: it is none, or no character's. */
static uint32_t number_of(const char *name)
{
	bool hex = name[1] == 'x' || name[1] == 'X';
	const char *digits = name + (hex ? 2 : 1);
	size_t n = strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789");
	if (n == 0 || digits[n] != '\0')
		return 0;
	unsigned long code = strtoul(digits, NULL, hex ? 16 : 10);
	bool scalar = code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
	return scalar ? (uint32_t)code : 0;
}

/* Code point of the character reference at s (an '&'), *ret_bytes what it takes; 0: none. */
static uint32_t read_reference(const char *s, size_t left, size_t *ret_bytes)
{
	char name[MAX_REFERENCE_NAME + 1];
	size_t n = 0;
	while (n + 1 < left && n < MAX_REFERENCE_NAME &&
		(is_alpha(s[n + 1]) || is_digit(s[n + 1]) || s[n + 1] == '#')) {
		name[n] = s[n + 1];
		n++;
	}
	if (n < 2 || n + 1 >= left || s[n + 1] != ';')
		return 0;
	name[n] = '\0';
	*ret_bytes = n + 2;
	if (name[0] == '#')
		return number_of(name);
	const struct entity *e = bsearch(
		name, entities, ING_ARRAY_LEN(entities), sizeof(entities[0]), compare_entity);
	return e == NULL ? 0 : e->code_point;
}

/* Once: what a template escaped once too often. A reference is never shorter than its character. */
static size_t decode_references(const char *s, size_t bytes, char *out)
{
	size_t len = 0;
	for (size_t i = 0; i < bytes;) {
		const char *amp = memchr(s + i, '&', bytes - i);
		size_t other = amp == NULL ? bytes - i : (size_t)(amp - s) - i;
		memcpy(out + len, s + i, other);
		len += other;
		i += other;
		if (i == bytes)
			break;
		size_t taken = 1;
		uint32_t code = read_reference(s + i, bytes - i, &taken);
		char utf8[ING_UTF8_BYTES];
		size_t n = ing_utf8_encode(code == 0 ? '&' : code, utf8);
		memcpy(out + len, utf8, n);
		len += n;
		i += code == 0 ? 1 : taken;
	}
	return len;
}

/* --- tags --- */

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

/* Where the name that begins at `at` ends; `at` itself: there is none. */
static size_t name_end(const char *s, size_t at, size_t max)
{
	if (at >= max || !is_alpha(s[at]))
		return at;
	while (at < max && (is_alpha(s[at]) || is_digit(s[at]) || s[at] == '-'))
		at++;
	return at;
}

/* Nothing that says anything stands between a name and its '>'. */
static bool is_empty(const char *s, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		if (memchr(" \t\r\n/", s[i], 5) == NULL)
			return false;
	}
	return true;
}

/* Bytes of the tag at s (a '<'); 0: it is text. *ret_block: it divides words. */
static size_t tag_bytes(const char *s, size_t left, bool *ret_block)
{
	size_t max = ING_MIN(left, (size_t)MAX_TAG_BYTES);
	size_t name = left > 1 && s[1] == '/' ? 2 : 1;
	size_t end = name_end(s, name, max);
	if (end > name && end < max && s[end] == ':') { /* jats:p, mml:mi */
		name = end + 1;
		end = name_end(s, name, max);
	}
	if (end == name)
		return 0;
	size_t close = end;
	while (close < max && s[close] != '>' && s[close] != '<')
		close++;
	if (close == max || s[close] != '>')
		return 0;
	/* "<b and c>" is no tag: behind the name come attributes, or nothing */
	if (!is_empty(s + end, close - end) &&
		((unsigned char)s[end] > ' ' || memchr(s + end, '=', close - end) == NULL))
		return 0;
	*ret_block = is_listed(block_tags, sizeof(block_tags) - 1, s + name, end - name);
	if (!*ret_block && !is_listed(inline_tags, sizeof(inline_tags) - 1, s + name, end - name))
		return 0;
	return close + 1;
}

static bool is_comment(const char *s, size_t left)
{
	return left >= 4 && memcmp(s, "<!--", 4) == 0;
}

/* Bytes of the comment at s; 0: it does not end. */
static size_t comment_bytes(const char *s, size_t left)
{
	const char *close = memmem(s + 4, left - 4, "-->", 3);
	return close == NULL ? 0 : (size_t)(close + 3 - s);
}

/* --- white space --- */

static void put(struct writer *w, const char *s, size_t bytes)
{
	if (w->space && w->len > 0)
		w->out[w->len++] = ' ';
	w->space = false;
	memmove(w->out + w->len, s, bytes); /* within one buffer, to the front */
	w->len += bytes;
}

/* One character: white space and controls become one space, what cannot be seen goes. */
static void put_char(struct writer *w, const char *s, size_t bytes)
{
	const unsigned char *u = (const unsigned char *)s;
	bool is_space = u[0] <= 0x20 || u[0] == 0x7F;
	bool is_nothing = false;
	if (bytes == 2 && u[0] == 0xC2) {
		is_space = u[1] <= 0xA0;
		is_nothing = u[1] == 0xAD; /* soft hyphen */
	} else if (bytes == 3 && u[0] == 0xE2 && u[1] == 0x80) {
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

/* s may be `out` itself. */
static size_t fold_text(const char *s, size_t bytes, char *out)
{
	struct writer w = {.out = out};
	bool comments = true; /* until one is found that does not end */
	for (size_t i = 0; i < bytes;) {
		size_t left = bytes - i, n = plain_bytes(s + i, left);
		if (n > 0) {
			put(&w, s + i, n);
		} else if (s[i] == '<') {
			bool divides = true;
			if (!is_comment(s + i, left))
				n = tag_bytes(s + i, left, &divides);
			else if (comments)
				n = comment_bytes(s + i, left);
			comments = comments && (n > 0 || !is_comment(s + i, left));
			w.space = w.space || (n > 0 && divides);
			if (n == 0)
				put(&w, s + i, n = 1);
		} else {
			unsigned char c = (unsigned char)s[i];
			n = ING_MIN(left, (size_t)(c < 0xC0 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4));
			put_char(&w, s + i, n);
		}
		i += n;
	}
	return w.len;
}

/* -------------------------------------------------------------------------------------------- */

size_t ing_strip_markup_into(const char *s, size_t bytes, char *out)
{
	if (memchr(s, '&', bytes) == NULL)
		return fold_text(s, bytes, out);
	size_t n = decode_references(s, bytes, out);
	return fold_text(out, n, out);
}

void ing_strip_markup(const char *s, size_t bytes, struct ing_buf *out)
{
	char *to = ing_buf_reserve(out, bytes);
	if (to != NULL)
		ing_buf_commit(out, ing_strip_markup_into(s, bytes, to));
}
