/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * tei_xml.h - writes XML into a buffer: start tags, attributes, end tags, escaped text.
 *
 * What is written is well-formed whatever the text is: characters that XML 1.0 does not allow are
 * replaced. The caller pairs start and end tags. One thread.
 */
#pragma once
#include "common/base/buf.h"

struct ing_tei_xml {
	struct ing_buf *out;
	bool in_tag; /* a start tag has no ">" yet */
};

/* Names are literals. */
void ing_tei_xml_start(struct ing_tei_xml *x, const char *name);
void ing_tei_xml_attr(struct ing_tei_xml *x, const char *name, const char *value);
void ing_tei_xml_end(struct ing_tei_xml *x, const char *name); /* "<name/>" when it is empty */
/* The text as it is, escaped. */
void ing_tei_xml_text(struct ing_tei_xml *x, const char *s, size_t bytes);
void ing_tei_xml_line(struct ing_tei_xml *x); /* a line feed between elements */
/* An element with nothing but text; nothing when the text is NULL or empty. */
void ing_tei_xml_leaf(struct ing_tei_xml *x, const char *name, const char *text);
