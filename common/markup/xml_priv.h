/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * xml_priv.h - what the users of libxml2 have in common: entities, and the words of an error.
 */
#pragma once
#include <stdbool.h>
#include <libxml/parser.h>
#include "common/base/error.h"

struct ing_entities;

/* Zero-initialised is fine. */
struct ing_xml_entities {
	struct ing_entities *names;
	xmlEntity last;
};
void ing_xml_entities_done(struct ing_xml_entities *e);

/* HTML's names are known in all documents; a declaration of the document defines nothing, and what it
 * would have defined is U+FFFD. NULL: libxml2 is to say that it is not declared. Borrowed until the
 * next call. */
xmlEntityPtr ing_xml_entity(
	struct ing_xml_entities *e, xmlParserCtxtPtr ctxt, const xmlChar *name, bool has_doctype);

/* For the callback `error`: 0 when it is only a warning, else -SYNTAX or -TOO_BIG and *err with line and
 * column. */
int ing_xml_fatal(xmlParserCtxtPtr ctxt, struct ing_error *err);
