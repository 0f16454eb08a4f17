/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What an XML document is. Encoder and decoder field by field in the same order.
 */
#include <string.h>

#include "worker/examine/proto_parts.h"
#include "worker/model/found_xml.h"

#define MAX_ERROR_BYTES 500

static bool is_status(const char *s)
{
	static const char *const known[] = {ING_XML_STATUSES};
	for (size_t i = 0; i < ING_ARRAY_LEN(known); i++)
		if (strcmp(s, known[i]) == 0)
			return true;
	return false;
}

void ing_proto_put_xml(struct ing_buf *b, const struct ing_xml_found *xml)
{
	ing_must(xml->status == NULL || is_status(xml->status));
	ing_wire_put_whole(b, xml->status, ING_PROTO_SLUG_BYTES);
	ing_wire_put_text(b, xml->error_msg, MAX_ERROR_BYTES);
	ing_wire_put_whole(b, xml->jats_xml, ING_MAX_JATS_BYTES);
}

/* There is a document only where all went well. */
void ing_proto_get_xml(struct ing_wire *w, struct ing_xml_found *xml)
{
	xml->status = ing_wire_word(w, ING_PROTO_SLUG_BYTES, ing_proto_is_slug_char);
	xml->error_msg = ing_wire_text(w, MAX_ERROR_BYTES);
	xml->jats_xml = ing_wire_text(w, ING_MAX_JATS_BYTES);
	bool success = xml->status != NULL && strcmp(xml->status, "success") == 0;
	if ((xml->status != NULL && !is_status(xml->status)) || (xml->jats_xml != NULL && !success))
		w->failed = true;
}
