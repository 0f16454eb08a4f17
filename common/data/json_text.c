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

#define MAX_ESCAPE_BYTES 6
#define SHORT_RUN_BYTES 64

/* Returns its bytes, at most MAX_ESCAPE_BYTES. */
static size_t put_escape(char *to, unsigned char c)
{
	static const char letters[0x20] = {
		['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'};
	static const char hex[] = "0123456789abcdef";
	to[0] = '\\';
	to[1] = c < 0x20 ? letters[c] : (char)c;
	if (to[1] != '\0')
		return 2;
	memcpy(to + 1, "u00", 3);
	to[4] = hex[c >> 4];
	to[5] = hex[c & 15];
	return MAX_ESCAPE_BYTES;
}

/* What is collected before it is appended: a text may be of characters that all need an escape. */
struct piece {
	char text[1024];
	size_t bytes;
};

static void flush(struct piece *p, struct ing_buf *b)
{
	ing_buf_add(b, p->text, p->bytes);
	p->bytes = 0;
}

static void add_run(struct piece *p, struct ing_buf *b, const char *text, size_t bytes)
{
	if (bytes > SHORT_RUN_BYTES || bytes + MAX_ESCAPE_BYTES > sizeof(p->text) - p->bytes)
		flush(p, b);
	if (bytes > SHORT_RUN_BYTES) {
		ing_buf_add(b, text, bytes);
		return;
	}
	memcpy(p->text + p->bytes, text, bytes);
	p->bytes += bytes;
}

/* -------------------------------------------------------------------------------------------- */

bool ing_json_add_text(struct ing_buf *b, const char *text, size_t bytes)
{
	struct piece p = {.bytes = 0};
	ing_buf_add_char(b, '"');
	for (size_t i = 0;
		i < bytes && !b->failed;) { /* of megabytes that do not fit most is spared */
		size_t run = i;
		while (run < bytes && !needs_escape((unsigned char)text[run]))
			run++;
		add_run(&p, b, text + i, run - i);
		if (run < bytes)
			p.bytes += put_escape(p.text + p.bytes, (unsigned char)text[run++]);
		i = run;
	}
	flush(&p, b);
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
