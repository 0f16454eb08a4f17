/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Questions to nodes that have been read, and text on its way into YAML: no business of libyaml's.
 */
#include <string.h>

#include "common/base/buf.h"
#include "common/base/utf8.h"
#include "common/data/yaml.h"

/* Whether s can stand without quotes and be read back as text by any YAML reader: a careful
 * subset. */
static bool is_plain_text(const char *s)
{
	static const char *const words[] = {
		"null", "true", "false", "yes", "no", "on", "off", "y", "n"};
	if (!((s[0] >= 'a' && s[0] <= 'z') || (s[0] >= 'A' && s[0] <= 'Z') || s[0] == '/'))
		return false;
	for (const char *p = s; *p != '\0'; p++) {
		bool fine = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
			    (*p >= '0' && *p <= '9') || strchr("_-./@+=", *p) != NULL;
		if (!fine)
			return false;
	}
	for (size_t i = 0; i < ING_ARRAY_LEN(words); i++) {
		if (strcasecmp(s, words[i]) == 0)
			return false;
	}
	return true;
}

/* -------------------------------------------------------------------------------------------- */

void ing_yaml_position(
	const struct ing_yaml_node *scalar, int character, int *ret_line, int *ret_column)
{
	*ret_line = scalar->line;
	*ret_column = scalar->column;
	if (scalar->kind != ING_YAML_SCALAR || scalar->quote == '|' ||
		scalar->end_line != scalar->line || character < 1)
		return;
	int marks = scalar->quote != '\0' ? 1 : 0;
	int length = 0;         /* of the text */
	int doubled = 0;        /* '' for ' in single quotes: in all */
	int doubled_before = 0; /* and before the character */
	for (size_t i = 0; i < scalar->bytes; i++) {
		if (((unsigned char)scalar->text[i] & 0xc0) == 0x80)
			continue;
		length++;
		if (scalar->quote != '\'' || scalar->text[i] != '\'')
			continue;
		doubled++;
		if (length < character)
			doubled_before++;
	}
	/* Anything but the text and its quotes is escapes: no telling where which stands. */
	if (scalar->end_column - scalar->column != length + doubled + 2 * marks)
		return;
	*ret_column += marks + ING_MIN(character - 1, length) + doubled_before;
}

const struct ing_yaml_node *ing_yaml_get(const struct ing_yaml_node *map, const char *key)
{
	if (map->kind != ING_YAML_MAP)
		return NULL;
	size_t bytes = strlen(key);
	for (const struct ing_yaml_node *k = map->first; k != NULL; k = k->next) {
		if (k->bytes == bytes && memcmp(k->text, key, bytes) == 0)
			return k->value;
	}
	return NULL;
}

bool ing_yaml_is_null(const struct ing_yaml_node *node)
{
	static const char *const words[] = {"", "~", "null", "Null", "NULL"};
	if (node->kind != ING_YAML_SCALAR || !node->plain)
		return false;
	for (size_t i = 0; i < ING_ARRAY_LEN(words); i++) {
		if (strcmp(node->text, words[i]) == 0)
			return true;
	}
	return false;
}

const char *ing_yaml_kind_name(const struct ing_yaml_node *node)
{
	switch (node->kind) {
	case ING_YAML_LIST:
		return "a list";
	case ING_YAML_MAP:
		return "a map";
	default:
		return "a text";
	}
}

void ing_yaml_add_text(struct ing_buf *out, const char *s)
{
	if (is_plain_text(s)) {
		ing_buf_add_str(out, s);
		return;
	}
	size_t left = strlen(s);
	ing_buf_add_char(out, '"');
	while (left > 0) {
		size_t n = ing_utf8_sequence(s, left);
		unsigned char c = (unsigned char)s[0];
		bool control = c < 0x20 || c == 0x7f;
		if (n == 0)
			ing_buf_add_str(out, "\\uFFFD");
		else if (n == 1 && control)
			ing_buf_printf(out, "\\x%02X", c);
		else if (n == 1 && (c == '"' || c == '\\'))
			ing_buf_printf(out, "\\%c", c);
		else if (n == 2 && c == 0xc2 && (unsigned char)s[1] < 0xa0)
			ing_buf_printf(out, "\\x%02X", (unsigned char)s[1]);
		else if (n == 3 && (memcmp(s, "\u2028", 3) == 0 || memcmp(s, "\u2029", 3) == 0))
			ing_buf_add_str(out, s[2] == "\u2028"[2] ? "\\u2028" : "\\u2029");
		else if (n == 3 && (memcmp(s, "\ufeff", 3) == 0 || memcmp(s, "\uffff", 3) == 0 ||
					   memcmp(s, "\ufffe", 3) == 0))
			ing_buf_add_str(out, "\\uFFFD");
		else
			ing_buf_add(out, s, n);
		s += ING_MAX(n, 1);
		left -= ING_MAX(n, 1);
	}
	ing_buf_add_char(out, '"');
}
