/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * xml_front.h - what kind of document XML is, by its front: the DOCTYPE, the root element, and the
 * first elements in it.
 *
 * The front is scanned, not parsed: nothing is expanded or checked, and it is read up to
 * ING_XML_FRONT_BYTES. UTF-16 is read as far as it is ASCII. Pure; any thread.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#define ING_XML_FRONT_BYTES ((size_t)64 << 10)

enum ing_xml_kind {
	ING_XML_NONE,  /* not the front of an XML document, or its root is not within reach */
	ING_XML_OTHER, /* XML that nothing more is known of */
	ING_XML_XHTML,
	ING_XML_HTML, /* a root <html> of no namespace */
	ING_XML_JATS, /* the tag suite of ANSI/NISO Z39.96, its NLM predecessors, sets of these */
	ING_XML_TEI,
	ING_XML_PUBMED,
	ING_XML_SVG,
};

/* *ret_declared: it begins with an XML declaration. Without one the kind may be OTHER for what is
 * no XML, such as "<p>". */
enum ing_xml_kind ing_xml_front_kind(const void *data, size_t bytes, bool *ret_declared);
