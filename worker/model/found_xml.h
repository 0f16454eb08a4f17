/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * found_xml.h - what an XML document is, as an examiner found it (findings.h).
 */
#pragma once
#include <stddef.h>

/* A document written anew as UTF-8. */
#define ING_MAX_JATS_BYTES ((size_t)24 << 20)

/* Every value of ing_xml_found.status. A document is refused as an "xml-parse-error", too, when it
 * is nested too deep or takes too long; "text-too-large": it takes too much memory, or is over
 * ING_MAX_JATS_BYTES as UTF-8. */
#define ING_XML_STATUSES "success", "xml-parse-error", "text-too-large"

struct ing_xml_found {
	char *status;    /* one of ING_XML_STATUSES; NULL: not asked, or no XML */
	char *error_msg; /* where the error is, at most 500 bytes; NULL with success */
	char *jats_xml;  /* of JATS: the document as UTF-8; at most ING_MAX_JATS_BYTES; or NULL */
};

void ing_xml_found_done(struct ing_xml_found *x); /* frees the strings; safe on a zeroed one */
