/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * proto_parts.h - encoders and decoders of the parts of a reply, a file for each part, and the
 * alphabets that they share. As in proto.h: an encoder sends what the decoder takes; a decoder believes
 * nothing, and sets w->failed. Pure functions, any thread.
 */
#pragma once
#include "worker/examine/wire.h"
#include "worker/model/found_publication.h"

struct ing_body_found;
struct ing_pdf;
struct ing_proto_publication_ask;
struct ing_resources_found;
struct ing_tei_found;
struct ing_text_found;
struct ing_webpage_found;
struct ing_xml_found;

#define ING_PROTO_SLUG_BYTES ((size_t)64)
bool ing_proto_is_slug_char(unsigned char c); /* letters, digits, - _ . : */
bool ing_proto_is_url_char(unsigned char c);  /* printable ASCII but for the space */
bool ing_proto_is_sendable_url(
	const char *s); /* http(s), at most ING_MAX_URL_BYTES; NULL is none */

void ing_proto_put_pdf_fields(struct ing_buf *b, const struct ing_pdf *pdf);
void ing_proto_get_pdf_fields(struct ing_wire *w, struct ing_pdf *pdf);
void ing_proto_put_text(struct ing_buf *b, const struct ing_text_found *text);
void ing_proto_get_text(struct ing_wire *w, struct ing_text_found *text);
void ing_proto_put_xml(struct ing_buf *b, const struct ing_xml_found *xml);
void ing_proto_get_xml(struct ing_wire *w, struct ing_xml_found *xml);
void ing_proto_put_resources(struct ing_buf *b, const struct ing_resources_found *found);
void ing_proto_get_resources(struct ing_wire *w, struct ing_resources_found *found);
void ing_proto_put_tei(struct ing_buf *b, const struct ing_tei_found *tei);
void ing_proto_get_tei(struct ing_wire *w, struct ing_tei_found *tei);
void ing_proto_put_body(struct ing_buf *b, const struct ing_body_found *body);
void ing_proto_get_body(struct ing_wire *w, struct ing_body_found *body);
void ing_proto_put_publication(struct ing_buf *b, const struct ing_publication_found *p);
void ing_proto_get_publication(struct ing_wire *w, struct ing_publication_found *p);
void ing_proto_put_webpage(struct ing_buf *b, const struct ing_webpage_found *page);
void ing_proto_get_webpage(struct ing_wire *w, struct ing_webpage_found *page);

/* ask may be NULL. */
void ing_proto_put_publication_ask(struct ing_buf *b, const struct ing_publication_ask *ask);
/* Returns whether there is one. Strings are heap also when w has failed. */
bool ing_proto_get_publication_ask(struct ing_wire *w, struct ing_proto_publication_ask *ret);
