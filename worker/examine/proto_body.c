/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A body without its content codings.
 */
#include <string.h>

#include "worker/examine/proto_parts.h"
#include "worker/model/findings.h"
#include "worker/model/limits.h"

void ing_proto_put_body(struct ing_buf *b, const struct ing_body_found *body)
{
	if (body->data != NULL && body->bytes <= ING_MAX_DECODED_BYTES)
		ing_wire_put_bytes(b, body->data, body->bytes);
	else
		ing_wire_put_text(b, NULL, 0);
}

void ing_proto_get_body(struct ing_wire *w, struct ing_body_found *body)
{
	const char *from = ing_wire_bytes(w, ING_MAX_DECODED_BYTES, &body->bytes);
	if (from == NULL)
		return;
	body->data = ing_alloc(body->bytes + 1);
	memcpy(body->data, from, body->bytes);
}
