/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The text is measured before it is parsed, because the parser recurses by depth and allocates
 * every value. The repair knows only whether it is inside a string.
 */
#include "common/data/json_lenient.h"

#include <string.h>

static bool is_json_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* About how many values the text has; 0: more than max_values, or nested over max_depth. Brackets
 * and commas inside strings do not count. */
static size_t count_values(const char *s, size_t bytes, unsigned max_depth, size_t max_values)
{
	unsigned depth = 0;
	size_t values = 1;
	bool string = false;
	for (size_t i = 0; i < bytes; i++) {
		switch (s[i]) {
		case '"':
			string = !string;
			break;
		case '\\':
			i += string;
			break;
		case '{':
		case '[':
			depth += !string;
			values += !string;
			break;
		case '}':
		case ']':
			depth -= !string && depth > 0;
			break;
		case ',':
			values += !string;
			break;
		default:
			break;
		}
		if (depth > max_depth || values > max_values)
			return 0;
	}
	return values;
}

static int hex4(const char *s, size_t left)
{
	int value = 0;
	for (size_t i = 0; i < 4; i++) {
		char c = i < left ? s[i] : 'x', lower = (char)(c | 0x20);
		if (c >= '0' && c <= '9')
			value = value * 16 + (c - '0');
		else if (lower >= 'a' && lower <= 'f')
			value = value * 16 + (lower - 'a' + 10);
		else
			return -1;
	}
	return value;
}

/* The escape at s (a reverse solidus): copied if it is one, else repaired. Returns bytes taken. */
static size_t repair_escape(const char *s, size_t left, struct ing_buf *out)
{
	if (left < 2)
		return 1;
	if (strchr("\"\\/bfnrt", s[1]) != NULL && s[1] != '\0') {
		ing_buf_add(out, s, 2);
		return 2;
	}
	if (s[1] != 'u')
		return 1; /* \' and the like: the character itself */
	int unit = hex4(s + 2, left - 2);
	if (unit < 0)
		return 2;
	bool pair = unit >= 0xD800 && unit <= 0xDBFF && left >= 12 && s[6] == '\\' && s[7] == 'u';
	int low = pair ? hex4(s + 8, left - 8) : 0;
	if (low >= 0xDC00 && low <= 0xDFFF) {
		ing_buf_add(out, s, 12);
		return 12;
	}
	if (unit == 0 || (unit >= 0xD800 && unit <= 0xDFFF))
		ing_buf_add_str(out, "\\ufffd");
	else
		ing_buf_add(out, s, 6);
	return 6;
}

static bool is_trailing_comma(const char *s, size_t left)
{
	size_t i = 1;
	while (i < left && is_json_space(s[i]))
		i++;
	return i < left && (s[i] == ']' || s[i] == '}');
}

/* Each run of white space is looked at twice at most: behind a comma, and as itself. */
static void repair(const char *s, size_t bytes, struct ing_buf *out)
{
	bool string = false;
	for (size_t i = 0; i < bytes;) {
		char c = s[i];
		if (string && c == '\\') {
			i += repair_escape(s + i, bytes - i, out);
			continue;
		}
		if (c == '"')
			string = !string;
		if ((unsigned char)c < 0x20)
			ing_buf_add_char(out, ' ');
		else if (string || c != ',' || !is_trailing_comma(s + i, bytes - i))
			ing_buf_add_char(out, c);
		i++;
	}
}

static void skip_marks(const char **s, size_t *bytes)
{
	static const char *const marks[] = {"<!--", "<![CDATA[", "//", "/*", "*/", "\xef\xbb\xbf"};
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]);) {
		while (*bytes > 0 && (unsigned char)**s <= ' ') {
			(*s)++;
			(*bytes)--;
		}
		size_t n = strlen(marks[i]);
		if (*bytes >= n && memcmp(*s, marks[i], n) == 0) {
			*s += n;
			*bytes -= n;
			i = 0;
		} else {
			i++;
		}
	}
}

/* -------------------------------------------------------------------------------------------- */

json_t *ing_json_parse_lenient(
	const char *s, size_t bytes, size_t max_bytes, unsigned max_depth, size_t *values_left)
{
	static const struct ing_json_limits limits = {
		.flags = ING_JSON_TAIL | ING_JSON_REPEATED_KEYS};
	size_t values = bytes > max_bytes ? 0 : count_values(s, bytes, max_depth, *values_left);
	skip_marks(&s, &bytes);
	if (values == 0 || bytes == 0)
		return NULL;
	json_t *root = ing_json_parse(s, bytes, &limits, NULL);
	if (root == NULL) {
		struct ing_buf repaired;
		ing_buf_init(&repaired, max_bytes + 16);
		repair(s, bytes, &repaired);
		/* strings may begin and end elsewhere now */
		values = repaired.failed || repaired.len == 0
				 ? 0
				 : count_values(
					   repaired.data, repaired.len, max_depth, *values_left);
		if (values > 0)
			root = ing_json_parse(repaired.data, repaired.len, &limits, NULL);
		ing_buf_done(&repaired);
	}
	*values_left -= root == NULL ? 0 : values;
	return root;
}
