/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A template is compiled in one pass into a list of literal texts and values.
 */
#include "worker/scrape/rules/template.h"

#include <string.h>

#define ENCODE "|encode"

static bool is_unreserved(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c != '\0' && strchr("-._~", c) != NULL);
}

static void add_encoded(struct ing_buf *out, const char *s)
{
	for (; *s != '\0'; s++) {
		if (is_unreserved(*s))
			ing_buf_add_char(out, *s);
		else
			ing_buf_printf(out, "%%%02X", (unsigned)(unsigned char)*s);
	}
}

/* Which place a name means; ING_TEMPLATE_TEXT when there is none of that name. */
static int find_place(const char *name, size_t bytes, const char *const *names, size_t name_count)
{
	for (size_t i = 0; i < name_count; i++) {
		if (strlen(names[i]) == bytes && memcmp(names[i], name, bytes) == 0)
			return (int)i;
	}
	if (bytes == 3 && memcmp(name, "url", 3) == 0)
		return ING_TEMPLATE_URL;
	if (bytes == 4 && memcmp(name, "host", 4) == 0)
		return ING_TEMPLATE_HOST;
	return ING_TEMPLATE_TEXT;
}

/* Characters of UTF-8 in front of `at`, plus one. */
static int column_of(const char *text, const char *at)
{
	int column = 1;
	for (; text < at; text++)
		column += ((unsigned char)*text & 0xc0) != 0x80;
	return column;
}

/* Length of the text at s up to a lone brace or the end, doubled braces counted as they stand. */
static size_t text_span(const char *s)
{
	size_t n = 0;
	for (;;) {
		n += strcspn(s + n, "{}");
		if (s[n] == '\0' || s[n + 1] != s[n])
			return n;
		n += 2;
	}
}

/* A copy in which doubled braces are single. */
static const char *undouble(struct ing_arena *ar, const char *s, size_t bytes)
{
	char *copy = ing_arena_strndup(ar, s, bytes);
	char *to = copy;
	for (const char *from = copy; *from != '\0'; from++) {
		*to++ = *from;
		if (*from == '{' || *from == '}')
			from++;
	}
	*to = '\0';
	return copy;
}

/* -------------------------------------------------------------------------------------------- */

int ing_template_compile(const char *text, const char *const *names, size_t count,
	struct ing_arena *ar, struct ing_template *ret, struct ing_error *err)
{
	const struct ing_template_piece **end = &ret->first;
	ret->first = NULL;
	for (const char *at = text; *at != '\0';) {
		struct ing_template_piece *piece = ing_arena_alloc(ar, sizeof(*piece));
		size_t bytes = text_span(at);
		piece->place = ING_TEMPLATE_TEXT;
		if (bytes > 0) {
			piece->text = undouble(ar, at, bytes);
		} else {
			size_t close = *at == '{' ? strcspn(at, "}") : 0;
			if (close == 0 || at[close] == '\0')
				return ing_error_at(err, ING_FAIL_SYNTAX, 1, column_of(text, at),
					"unmatched brace; write {{ or }} for a literal one");
			size_t name = close - 1;
			piece->encode =
				name > strlen(ENCODE) &&
				memcmp(at + close - strlen(ENCODE), ENCODE, strlen(ENCODE)) == 0;
			name -= piece->encode ? strlen(ENCODE) : 0;
			piece->place = find_place(at + 1, name, names, count);
			if (piece->place == ING_TEMPLATE_TEXT)
				return ing_error_at(err, ING_FAIL_NOT_FOUND, 1, column_of(text, at),
					"there is no value named \"%.*s\"", (int)ING_MIN(name, 60),
					at + 1);
			bytes = close + 1;
		}
		*end = piece;
		end = &piece->next;
		at += bytes;
	}
	return 0;
}

bool ing_template_expand(const struct ing_template *t, const char *const *values, const char *url,
	const char *host, struct ing_buf *out)
{
	for (const struct ing_template_piece *p = t->first; p != NULL; p = p->next) {
		const char *s = p->text;
		if (p->place >= 0)
			s = values[p->place];
		else if (p->place == ING_TEMPLATE_URL)
			s = url;
		else if (p->place == ING_TEMPLATE_HOST)
			s = host;
		if (s != NULL && p->encode)
			add_encoded(out, s);
		else if (s != NULL)
			ing_buf_add_str(out, s);
	}
	return !out->failed;
}
