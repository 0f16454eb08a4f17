/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The header of GROBID's TEI. Encoder and decoder field by field in the same order.
 */
#include "worker/examine/proto_parts.h"
#include "worker/model/found_tei.h"
#include "worker/model/limits.h"

#define MAX_VERSION_BYTES ((size_t)200)

void ing_proto_put_tei(struct ing_buf *b, const struct ing_tei_found *tei)
{
	ing_wire_put_word(b, tei->status, ING_PROTO_SLUG_BYTES, ing_proto_is_slug_char);
	ing_wire_put_text(b, tei->error_msg, ING_MAX_ERROR_CHARS);
	ing_wire_put_text(b, tei->version, MAX_VERSION_BYTES);
	ing_wire_put_whole(b, tei->metadata_json, ING_MAX_BIBLIO_BYTES);
}

void ing_proto_get_tei(struct ing_wire *w, struct ing_tei_found *tei)
{
	tei->status = ing_wire_word(w, ING_PROTO_SLUG_BYTES, ing_proto_is_slug_char);
	tei->error_msg = ing_wire_text(w, ING_MAX_ERROR_CHARS);
	tei->version = ing_wire_text(w, MAX_VERSION_BYTES);
	tei->metadata_json = ing_wire_text(w, ING_MAX_BIBLIO_BYTES);
}
