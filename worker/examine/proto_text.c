/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The main text of a page. Encoder and decoder field by field in the same order.
 */
#include "worker/examine/proto_parts.h"
#include "worker/model/found_text.h"

void ing_proto_put_text(struct ing_buf *b, const struct ing_text_found *text)
{
	ing_wire_put_word(b, text->status, ING_PROTO_SLUG_BYTES, ing_proto_is_slug_char);
	ing_wire_put_whole(b, text->tei_xml, ING_MAX_TEI_BYTES);
	ing_wire_put_word(b, text->language, ING_PROTO_SLUG_BYTES, ing_proto_is_slug_char);
	ing_wire_put_u32(b, text->word_count);
}

void ing_proto_get_text(struct ing_wire *w, struct ing_text_found *text)
{
	text->status = ing_wire_word(w, ING_PROTO_SLUG_BYTES, ing_proto_is_slug_char);
	text->tei_xml = ing_wire_text(w, ING_MAX_TEI_BYTES);
	text->language = ing_wire_word(w, ING_PROTO_SLUG_BYTES, ing_proto_is_slug_char);
	text->word_count = ing_wire_u32(w);
}
