/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Runs of characters that need no escape are copied as they are.
 */
#include "common/data/json_text.h"

#include <stdint.h>
#include <string.h>

#include "common/base/buf.h"

static bool needs_escape(unsigned char c)
{
	return c < 0x20 || c == '"' || c == '\\';
}

static void add_escape(struct ing_buf *b, unsigned char c)
{
	static const char letters[] = "\bb\tt\nn\ff\rr\"\"\\\\";
	for (const char *l = letters; *l != '\0'; l += 2) {
		if ((unsigned char)l[0] == c) {
			ing_buf_add(b, (const char[]){'\\', l[1]}, 2);
			return;
		}
	}
	static const char hex[] = "0123456789abcdef";
	ing_buf_add(b, (const char[]){'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]}, 6);
}

/* -------------------------------------------------------------------------------------------- */

bool ing_json_add_text(struct ing_buf *b, const char *text, size_t bytes)
{
	ing_buf_add_char(b, '"');
	for (size_t i = 0;
		i < bytes && !b->failed;) { /* of megabytes that do not fit most is spared */
		size_t run = i;
		while (run < bytes && !needs_escape((unsigned char)text[run]))
			run++;
		ing_buf_add(b, text + i, run - i);
		if (run < bytes)
			add_escape(b, (unsigned char)text[run++]);
		i = run;
	}
	return ing_buf_add_char(b, '"');
}

bool ing_json_is_shallow(const char *json, size_t bytes, int depth)
{
	return ing_json_is_small(json, bytes, depth, SIZE_MAX);
}

bool ing_json_is_small(const char *json, size_t bytes, int depth, size_t values)
{
	int open = 0;
	bool in_string = false;
	size_t seen = 1; /* the first of each list and map is counted with its bracket */
	for (size_t i = 0; i < bytes; i++) {
		char c = json[i];
		if (in_string) {
			if (c == '\\')
				i++;
			else if (c == '"')
				in_string = false;
		} else if (c == '"') {
			in_string = true;
		} else if (c == '{' || c == '[') {
			if (++open > depth || ++seen > values)
				return false;
		} else if (c == '}' || c == ']') {
			open--;
		} else if (c == ',' && ++seen > values) {
			return false;
		}
	}
	return true;
}
