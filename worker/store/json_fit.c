/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * jsonb is stricter than JSON: it has no U+0000, requires surrogates in pairs, and keeps numbers as
 * numeric, which ends at 131,072 digits. One pass over the text, token by token, no tree: nesting
 * costs nothing here.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "worker/store/cell.h"

/* Far inside numeric's range and far outside anything a request means. */
#define MAX_NUMBER_CHARS 300
#define MAX_EXPONENT 300

struct cursor {
	const char *at, *end;
};

static bool read_unit(const char *s, const char *end, unsigned *ret)
{
	if (end - s < 6 || s[0] != '\\' || s[1] != 'u')
		return false;
	unsigned unit = 0;
	for (int i = 2; i < 6; i++) {
		unsigned char c = (unsigned char)s[i];
		if (!isxdigit(c))
			return false;
		unit = unit * 16 + (c <= '9' ? c - (unsigned)'0' : (c | 0x20u) - 'a' + 10u);
	}
	*ret = unit;
	return true;
}

static void fit_escape(struct cursor *c, struct ing_buf *out)
{
	unsigned unit;
	unsigned low;
	size_t n = 6;
	if (!read_unit(c->at, c->end, &unit)) {
		n = ING_MIN((size_t)(c->end - c->at), 2);
	} else if (unit >= 0xd800 && unit < 0xdc00 && read_unit(c->at + 6, c->end, &low) &&
		   low >= 0xdc00 && low < 0xe000) {
		n = 12;
	} else if (unit == 0 || (unit >= 0xd800 && unit < 0xe000)) {
		ing_buf_add_str(out, "\\ufffd");
		c->at += 6;
		return;
	}
	ing_buf_add(out, c->at, n);
	c->at += n;
}

static void fit_string(struct cursor *c, struct ing_buf *out)
{
	ing_buf_add_char(out, *c->at++);
	while (c->at < c->end) {
		if (*c->at == '\\') {
			fit_escape(c, out);
		} else if ((unsigned char)*c->at < 0x20) {
			ing_buf_printf(out, "\\u%04x", (unsigned)*c->at++);
		} else if (*c->at == '"') {
			ing_buf_add_char(out, *c->at++);
			return;
		} else {
			const char *plain = c->at;
			while (c->at < c->end && (unsigned char)*c->at >= 0x20 && *c->at != '"' &&
				*c->at != '\\')
				c->at++;
			ing_buf_add(out, plain, (size_t)(c->at - plain));
		}
	}
}

static bool number_fits(const char *s, size_t n)
{
	if (n > MAX_NUMBER_CHARS)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (s[i] == 'e' || s[i] == 'E') {
			char digits[MAX_NUMBER_CHARS + 1];
			memcpy(digits, s + i + 1, n - i - 1);
			digits[n - i - 1] = '\0';
			long exponent = strtol(digits, NULL, 10); /* saturates */
			return exponent >= -MAX_EXPONENT && exponent <= MAX_EXPONENT;
		}
	}
	return true;
}

static void fit_number(struct cursor *c, struct ing_buf *out)
{
	const char *start = c->at;
	while (c->at < c->end && strchr("+-.0123456789eE", *c->at) != NULL && *c->at != '\0')
		c->at++;
	size_t n = (size_t)(c->at - start);
	bool fits = number_fits(start, n);
	if (!fits)
		ing_buf_add_char(out, '"');
	ing_buf_add(out, start, n);
	if (!fits)
		ing_buf_add_char(out, '"');
}

/* -------------------------------------------------------------------------------------------- */

void ing_json_fit(const char *json, size_t bytes, struct ing_buf *out)
{
	struct cursor c = {.at = json, .end = json + bytes};
	while (c.at < c.end) {
		if (*c.at == '"')
			fit_string(&c, out);
		else if (*c.at == '-' || (*c.at >= '0' && *c.at <= '9'))
			fit_number(&c, out);
		else
			ing_buf_add_char(out, *c.at++);
	}
}
