/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * found_xml.h - what an XML document is, as an examiner found it (findings.h).
 */
#pragma once
#include <stddef.h>

/* A document written anew as UTF-8. */
#define ING_MAX_JATS_BYTES ((size_t)24 << 20)

struct ing_xml_found {
	char *status;   /* a slug; NULL: not asked, or no XML */
	char *jats_xml; /* of JATS: the document as UTF-8; at most ING_MAX_JATS_BYTES; or NULL */
};

void ing_xml_found_done(struct ing_xml_found *x); /* frees the strings; safe on a zeroed one */
