/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The main text of a page. Encoder and decoder field by field in the same order.
 */
#include <string.h>

#include "common/base/macros.h"
#include "worker/examine/proto_parts.h"
#include "worker/model/found_text.h"

#define MAX_TAG_PART_BYTES 8

static bool is_status(const char *s)
{
	static const char *const known[] = {ING_TEXT_STATUSES};
	for (size_t i = 0; i < ING_ARRAY_LEN(known); i++)
		if (strcmp(s, known[i]) == 0)
			return true;
	return false;
}

static bool is_letter(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_tag_char(unsigned char c)
{
	return is_letter(c) || (c >= '0' && c <= '9') || c == '-';
}

/* Parts of one to eight characters of is_tag_char(); the first has letters only. */
static bool is_tag(const char *s)
{
	size_t first = strcspn(s, "-");
	for (size_t i = 0; i < first; i++)
		if (!is_letter((unsigned char)s[i]))
			return false;
	for (size_t n; (n = strcspn(s, "-")) >= 1 && n <= MAX_TAG_PART_BYTES; s += n + 1)
		if (s[n] == '\0')
			return true;
	return false;
}

void ing_proto_put_text(struct ing_buf *b, const struct ing_text_found *text)
{
	ing_must(text->status == NULL || is_status(text->status));
	ing_wire_put_word(b, text->status, ING_PROTO_SLUG_BYTES, ing_proto_is_slug_char);
	ing_wire_put_whole(b, text->tei_xml, ING_MAX_TEI_BYTES);
	bool is_good_tag = text->language != NULL && is_tag(text->language);
	ing_wire_put_word(
		b, is_good_tag ? text->language : NULL, ING_PROTO_SLUG_BYTES, is_tag_char);
	ing_wire_put_u32(b, text->word_count);
}

void ing_proto_get_text(struct ing_wire *w, struct ing_text_found *text)
{
	text->status = ing_wire_word(w, ING_PROTO_SLUG_BYTES, ing_proto_is_slug_char);
	text->tei_xml = ing_wire_text(w, ING_MAX_TEI_BYTES);
	text->language = ing_wire_word(w, ING_PROTO_SLUG_BYTES, is_tag_char);
	text->word_count = ing_wire_u32(w);
	bool success = text->status != NULL && strcmp(text->status, "success") == 0;
	if ((text->status != NULL && !is_status(text->status)) ||
		success != (text->tei_xml != NULL) ||
		(text->language != NULL && !is_tag(text->language)))
		w->failed = true;
}
