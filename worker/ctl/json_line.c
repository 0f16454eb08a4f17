/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Mended in the text: before the JSON library sees it, and after.
 */
#include "worker/ctl/json_line.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/error.h"
#include "common/base/utf8.h"

#define MAX_DEPTH 32
#define MAX_LINE_BYTES ((size_t)1 << 30) /* of output, which is as long as what is found */

/* Four hexadecimal digits at s, or -1. */
static long read_unit(const char *s)
{
	long unit = 0;
	for (int i = 0; i < 4; i++) {
		const char *digits = "0123456789abcdef";
		const char *at =
			s[i] != '\0'
				? strchr(digits, s[i] >= 'A' && s[i] <= 'F' ? s[i] | 0x20 : s[i])
				: NULL;
		if (at == NULL)
			return -1;
		unit = unit << 4 | (at - digits);
	}
	return unit;
}

/* In place. */
static void mend_surrogates(char *s)
{
	for (; *s != '\0'; s++) {
		if (*s != '\\')
			continue;
		s++;
		if (*s == '\0')
			return;
		long unit = *s == 'u' ? read_unit(s + 1) : -1;
		if (unit < 0xd800 || unit > 0xdfff)
			continue;
		long next = unit < 0xdc00 && s[5] == '\\' && s[6] == 'u' ? read_unit(s + 7) : -1;
		if (next >= 0xdc00 && next <= 0xdfff)
			s += 10; /* a whole pair */
		else
			memcpy(s + 1, "fffd", 4);
	}
}

/* The escape of a character at s that some take for the end of a line, and its length; or NULL. */
static const char *line_end_escape(const char *s, size_t *ret_bytes)
{
	*ret_bytes = s[0] == '\xc2' ? 2 : 3;
	if (s[0] == '\xc2')
		return s[1] == '\x85' ? "\\u0085" : NULL;
	if (s[0] != '\xe2' || s[1] != '\x80')
		return NULL;
	return s[2] == '\xa8' ? "\\u2028" : s[2] == '\xa9' ? "\\u2029" : NULL;
}

/* -------------------------------------------------------------------------------------------- */

json_t *ing_ctl_json_line(const char *line, size_t bytes, struct ing_error *error)
{
	static const struct ing_json_limits limits = {.depth = MAX_DEPTH, .flags = ING_JSON_NUL};
	char *text = ing_utf8_clean(line, bytes, &bytes);
	if (text == NULL) {
		ing_error_set(error, ING_FAIL_TOO_BIG, "no memory for the line");
		return NULL;
	}
	mend_surrogates(text);
	json_t *o = ing_json_parse(text, bytes, &limits, error);
	error->line = error->column = 0; /* of what was mended */
	free(text);
	return o;
}

bool ing_ctl_is_text_or_none(const json_t *value)
{
	return value == NULL || json_is_null(value) || json_is_string(value);
}

void ing_ctl_json_add(json_t *o, struct ing_buf *out)
{
	char *text = ing_json_dump(o, NULL);
	const char *from = text;
	for (const char *s = text; (s = strpbrk(s, "\xc2\xe2")) != NULL;) {
		size_t bytes;
		const char *escape = line_end_escape(s, &bytes);
		if (escape == NULL) {
			s++;
			continue;
		}
		ing_buf_add(out, from, (size_t)(s - from));
		ing_buf_add_str(out, escape);
		s += bytes;
		from = s;
	}
	ing_buf_add_str(out, from);
	free(text);
	json_decref(o);
}

void ing_ctl_json_add_line(json_t *o, struct ing_buf *out)
{
	ing_ctl_json_add(o, out);
	ing_buf_add_char(out, '\n');
}

void ing_ctl_json_print(json_t *o)
{
	struct ing_buf line;
	ing_buf_init(&line, MAX_LINE_BYTES);
	ing_ctl_json_add_line(o, &line);
	ing_must(!line.failed);
	fwrite(ing_buf_str(&line), 1, line.len, stdout);
	ing_buf_done(&line);
}
