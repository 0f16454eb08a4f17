/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * tei_header.h - what GROBID's answers say: the header of a document, a list of references.
 *
 * Pure functions; run in examiners and in a forked child of ingestctl. Bounded by
 * ING_MAX_GROBID_CHARS and the limits of common/markup/xml.h.
 */
#pragma once
#include <stddef.h>

#include "common/base/error.h"
#include "common/data/json.h"

struct ing_exam_request;
struct ing_findings;
struct ing_tei_found;

/* The answer of processFulltextDocument, into an empty *ret (release with ing_tei_found_done()). Always
 * sets a status. content_type: a header value or NULL. */
void ing_tei_read(
	const void *data, size_t bytes, const char *content_type, struct ing_tei_found *ret);

/* The answer of processCitationList: a list with a record (tei_biblio.h) for each reference, in
 * order. New reference; or NULL, with words in *err, when it is no TEI. */
json_t *ing_tei_read_references(
	const void *data, size_t bytes, const char *content_type, struct ing_error *err);

/* The same as ing_tei_read() for ing_document_examine(), when q->want has ING_WANT_TEI. */
void ing_document_tei(
	const struct ing_exam_request *q, const void *data, size_t bytes, struct ing_findings *ret);
