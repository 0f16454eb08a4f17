/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The texts of pg.h: values as numbers, literals, rows of a COPY. Pure; not libpq's, which quotes for one connection.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/data/pg.h"

/* PostgreSQL manual, COPY, "Text Format": what a server writes. */
static char unescape(char c)
{
	static const char names[] = "bfnrtv";
	static const char values[] = "\b\f\n\r\t\v";
	const char *at = strchr(names, c);
	return at != NULL && c != '\0' ? values[at - names] : c;
}

/* In place; a NUL behind it. */
static char *unescape_column(char *text, size_t bytes)
{
	char *from = memchr(text, '\\', bytes);
	text[bytes] = '\0';
	if (from == NULL)
		return text;
	if (bytes == 2 && text[1] == 'N')
		return NULL;
	char *to = from;
	for (; *from != '\0'; from++) {
		if (*from == '\\' && from[1] != '\0')
			*to++ = unescape(*++from);
		else
			*to++ = *from;
	}
	*to = '\0';
	return text;
}

/* ------------------------------------------------------------------------------------------ */

int64_t ing_pg_int64(const char *text)
{
	return text == NULL ? 0 : strtoll(text, NULL, 10);
}

unsigned ing_pg_unsigned(const char *text)
{
	int64_t n = ing_pg_int64(text);
	return n < 0 ? 0 : (unsigned)ING_MIN(n, INT32_MAX);
}

void ing_pg_add_array(struct ing_buf *out, const char *const *texts, size_t count)
{
	ing_buf_add_char(out, '{');
	for (size_t i = 0; i < count; i++) {
		ing_buf_add_str(out, i > 0 ? ",\"" : "\"");
		for (const char *c = texts[i]; *c != '\0'; c++) {
			if (*c == '"' || *c == '\\')
				ing_buf_add_char(out, '\\');
			ing_buf_add_char(out, *c);
		}
		ing_buf_add_char(out, '"');
	}
	ing_buf_add_char(out, '}');
}

void ing_pg_add_literal(struct ing_buf *out, const char *text)
{
	ing_buf_add_str(out, " E'");
	for (; *text != '\0'; text++) {
		if (*text == '\'' || *text == '\\')
			ing_buf_add_char(out, *text);
		ing_buf_add_char(out, *text);
	}
	ing_buf_add_char(out, '\'');
}

size_t ing_pg_copy_columns(char *row, size_t bytes, char **values, size_t room)
{
	size_t count = 0;
	char *end = row + bytes;
	for (;;) {
		char *tab = memchr(row, '\t', (size_t)(end - row));
		char *stop = tab != NULL ? tab : end;
		if (count < room)
			values[count] = unescape_column(row, (size_t)(stop - row));
		count++;
		if (tab == NULL)
			return count;
		row = tab + 1;
	}
}
