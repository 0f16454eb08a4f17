/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A tag is told from a sign of comparison by its form: a name at once behind '<', and behind the
 * name nothing, a slash, or attributes with '='. A search for its '>' ends at the next '<', so that
 * no byte is looked at more than twice.
 */
#include "worker/scrape/publication/plain.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/macros.h"
#include "common/markup/text.h"

#define MAX_NAME_BYTES 12 /* of a named character and its end; "thetasym;" is the longest */

static const struct entity {
	char name[9];
	uint32_t code_point;
} entities[] = {
/* clang-format off */
#include "worker/scrape/biblio/entities.inc"
	/* clang-format on */
};

static bool is_name_char(char c)
{
	char lower = (char)(c | 0x20);
	return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || c == ':' || c == '-' ||
	       c == '_' || c == '.';
}

static bool is_letter(char c)
{
	char lower = (char)(c | 0x20);
	return lower >= 'a' && lower <= 'z';
}

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Elements within a line, of HTML, JATS and MathML: without them words would not divide. */
static bool is_inline(const char *name, size_t bytes)
{
	static const char *const names[] = {"a", "b", "i", "u", "s", "em", "sub", "sup", "tt",
		"strong", "span", "small", "big", "font", "italic", "bold", "sc", "monospace",
		"underline", "cite", "code", "abbr", "mi", "mn", "mo", "ms", "math", "mrow", "msub",
		"msup", "msubsup", "mtext", "mover", "munder", "mstyle", "mspace", "mfrac", "msqrt",
		"inline-formula", "named-content", "styled-content", "xref", "ext-link"};
	const char *colon = memchr(name, ':', bytes);
	if (colon != NULL) {
		bytes -= (size_t)(colon + 1 - name);
		name = colon + 1;
	}
	for (size_t i = 0; i < ING_ARRAY_LEN(names); i++)
		if (strlen(names[i]) == bytes && strncasecmp(names[i], name, bytes) == 0)
			return true;
	return false;
}

/* Length of the tag or comment at s ('<'), else 0. *ret_divides: words end at it. */
static size_t tag_at(const char *s, const char *end, bool *ret_divides)
{
	*ret_divides = true;
	if (end - s >= 4 && memcmp(s, "<!--", 4) == 0) {
		const char *close = memmem(s + 4, (size_t)(end - s - 4), "-->", 3);
		return close == NULL ? 0 : (size_t)(close + 3 - s);
	}
	const char *p = s + 1;
	if (p < end && *p == '/')
		p++;
	const char *name = p;
	if (p == end || !is_letter(*p))
		return 0;
	while (p < end && is_name_char(*p))
		p++;
	*ret_divides = !is_inline(name, (size_t)(p - name));
	if (p < end && !is_space(*p) && *p != '/' && *p != '>')
		return 0;
	bool attributes = false, bare = true;
	for (; p < end && *p != '<'; p++) {
		if (*p == '>')
			return bare || attributes ? (size_t)(p + 1 - s) : 0;
		attributes = attributes || *p == '=';
		bare = bare && (is_space(*p) || *p == '/');
	}
	return 0;
}

static int compare_entity(const void *key, const void *item)
{
	return strcmp(key, ((const struct entity *)item)->name);
}

/* The code point that the reference at s ('&') names, 0 when it is none. */
static uint32_t reference_at(const char *s, const char *end, size_t *ret_bytes)
{
	char name[MAX_NAME_BYTES];
	size_t n = 0;
	for (const char *p = s + 1; p < end && n + 1 < sizeof(name) && *p != ';'; p++)
		name[n++] = *p;
	name[n] = '\0';
	if (n == 0 || (size_t)(end - s) < n + 2 || s[n + 1] != ';')
		return 0;
	*ret_bytes = n + 2;
	if (name[0] != '#') {
		const struct entity *e = bsearch(name, entities, ING_ARRAY_LEN(entities),
			sizeof(entities[0]), compare_entity);
		return e == NULL ? 0 : e->code_point;
	}
	bool hex = name[1] == 'x' || name[1] == 'X';
	const char *digits = name + (hex ? 2 : 1);
	if (*digits == '\0' ||
		digits[strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789")] != '\0')
		return 0;
	unsigned long c = strtoul(digits, NULL, hex ? 16 : 10);
	return c < ' ' || c > 0x10ffff || (c >= 0x7f && c < 0xa0) || (c >= 0xd800 && c < 0xe000)
		       ? ' '
		       : (uint32_t)c;
}

static void add_code_point(struct ing_buf *out, uint32_t c)
{
	char s[4];
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	static const unsigned char marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
	for (size_t i = n; i-- > 1; c >>= 6)
		s[i] = (char)(0x80 | (c & 0x3f));
	s[0] = (char)(marks[n] | c);
	ing_buf_add(out, s, n);
}

/* ------------------------------------------------------------------------------------------ */

void ing_plain(const char *s, size_t bytes, struct ing_buf *out)
{
	struct ing_buf raw, folded;
	ing_buf_init(&raw, bytes + 1);
	ing_buf_init(&folded, bytes + 1);
	const char *end = s + bytes;
	bool comments = true; /* until one is found that does not end */
	while (s < end) {
		const char *from = s;
		while (s < end && *s != '<' && *s != '&')
			s++;
		ing_buf_add(&raw, from, (size_t)(s - from));
		if (s == end)
			break;
		bool divides = false;
		size_t n = 0;
		if (*s == '<' && (comments || end - s < 2 || s[1] != '!')) {
			n = tag_at(s, end, &divides);
			comments = comments && (n > 0 || end - s < 2 || s[1] != '!');
			if (n > 0 && divides)
				ing_buf_add_char(&raw, ' ');
		}
		uint32_t c = *s == '&' ? reference_at(s, end, &n) : 0;
		if (c != 0)
			add_code_point(&raw, c);
		else if (*s == '&' || n == 0)
			ing_buf_add(&raw, s, n = 1);
		s += n;
	}
	ing_text_normalise(ing_buf_str(&raw), raw.len, true, &folded);
	const char *t = ing_buf_str(&folded);
	size_t t_bytes = folded.len;
	ing_text_trim(&t, &t_bytes);
	ing_buf_add(out, t, t_bytes);
	ing_buf_done(&raw);
	ing_buf_done(&folded);
}
