/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A start tag stays open until its attributes are known. Text is valid UTF-8 already, so that only
 * control characters, U+FFFE and U+FFFF are left that XML has no place for.
 */
#include "worker/document/text/tei_xml.h"

#include <string.h>

static void finish_tag(struct ing_tei_xml *x)
{
	if (x->in_tag)
		ing_buf_add_char(x->out, '>');
	x->in_tag = false;
}

/* Returns what stands for the character at s, and how many bytes of s that is; NULL: itself. */
static const char *replacement(const char *s, size_t bytes, bool in_attr, size_t *ret_taken)
{
	unsigned char c = (unsigned char)*s;
	*ret_taken = 1;
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return in_attr ? "&quot;" : NULL;
	case '\t':
	case '\n':
		return in_attr ? " " : NULL;
	case 0xef:
		*ret_taken = 3;
		return bytes >= 3 && (unsigned char)s[1] == 0xbf && (unsigned char)s[2] >= 0xbe
			       ? "\xef\xbf\xbd"
			       : NULL;
	default:
		return c < 0x20 ? " " : NULL;
	}
}

static void add_escaped(struct ing_tei_xml *x, const char *s, size_t bytes, bool in_attr)
{
	size_t from = 0;
	for (size_t i = 0; i < bytes;) {
		size_t taken;
		const char *by = replacement(s + i, bytes - i, in_attr, &taken);
		if (by != NULL) {
			ing_buf_add(x->out, s + from, i - from);
			ing_buf_add_str(x->out, by);
			from = i + taken;
		}
		i += taken;
	}
	if (from < bytes)
		ing_buf_add(x->out, s + from, bytes - from);
}

/* -------------------------------------------------------------------------------------------- */

void ing_tei_xml_start(struct ing_tei_xml *x, const char *name)
{
	finish_tag(x);
	ing_buf_add_char(x->out, '<');
	ing_buf_add_str(x->out, name);
	x->in_tag = true;
}

void ing_tei_xml_attr(struct ing_tei_xml *x, const char *name, const char *value)
{
	ing_must(x->in_tag);
	ing_buf_add_char(x->out, ' ');
	ing_buf_add_str(x->out, name);
	ing_buf_add_str(x->out, "=\"");
	add_escaped(x, value, strlen(value), true);
	ing_buf_add_char(x->out, '"');
}

void ing_tei_xml_end(struct ing_tei_xml *x, const char *name)
{
	if (x->in_tag) {
		ing_buf_add_str(x->out, "/>");
		x->in_tag = false;
		return;
	}
	ing_buf_add_str(x->out, "</");
	ing_buf_add_str(x->out, name);
	ing_buf_add_char(x->out, '>');
}

void ing_tei_xml_text(struct ing_tei_xml *x, const char *s, size_t bytes)
{
	finish_tag(x);
	add_escaped(x, s, bytes, false);
}

void ing_tei_xml_line(struct ing_tei_xml *x)
{
	finish_tag(x);
	ing_buf_add_char(x->out, '\n');
}

void ing_tei_xml_leaf(struct ing_tei_xml *x, const char *name, const char *text)
{
	if (text == NULL || *text == '\0')
		return;
	ing_tei_xml_start(x, name);
	ing_tei_xml_text(x, text, strlen(text));
	ing_tei_xml_end(x, name);
}
