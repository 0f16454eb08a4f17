/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What an XML document is. Encoder and decoder field by field in the same order.
 */
#include "worker/examine/proto_parts.h"
#include "worker/model/found_xml.h"

void ing_proto_put_xml(struct ing_buf *b, const struct ing_xml_found *xml)
{
	ing_wire_put_word(b, xml->status, ING_PROTO_SLUG_BYTES, ing_proto_is_slug_char);
	ing_wire_put_whole(b, xml->jats_xml, ING_MAX_JATS_BYTES);
}

void ing_proto_get_xml(struct ing_wire *w, struct ing_xml_found *xml)
{
	xml->status = ing_wire_word(w, ING_PROTO_SLUG_BYTES, ing_proto_is_slug_char);
	xml->jats_xml = ing_wire_text(w, ING_MAX_JATS_BYTES);
}
