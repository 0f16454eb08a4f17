/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * xml_document.h - what an XML document is: whether it is well-formed, its root, JATS as UTF-8.
 *
 * A reader keeps its tree from document to document. Runs in examiners and in a child of ingestctl.
 * One thread at a time.
 */
#pragma once
#include <stddef.h>
#include "common/data/json.h"
#include "worker/model/found_xml.h"

struct ing_xml_reader;

struct ing_xml_reader *ing_xml_reader_new(void);
void ing_xml_reader_free(struct ing_xml_reader *r); /* NULL is fine */

/* Read a document: content codings removed, of a media type that ing_sniff() gives to XML.
 * content_type: the header's value, for its charset, or NULL. *ret was zeroed; the caller frees it
 * with ing_xml_found_done(). */
void ing_xml_read(struct ing_xml_reader *r, const void *data, size_t bytes, const char *mimetype,
	const char *content_type, struct ing_xml_found *ret);
/* What of the last document is not in findings, until the next one. Returns the name of the root
 * element as written (of JATS without a prefix), or NULL; borrowed. */
const char *ing_xml_reader_root(const struct ing_xml_reader *r);
/* Returns the parts of the publication (jats.h), a new reference, or NULL when it is no JATS or not
 * well-formed. Call it once for a document. */
json_t *ing_xml_reader_publication(struct ing_xml_reader *r);
/* Free the document; a little memory is kept. */
void ing_xml_reader_clear(struct ing_xml_reader *r);

/* Whether ing_sniff() gives this media type to XML that is no page. */
bool ing_xml_is_document_type(const char *mimetype);
