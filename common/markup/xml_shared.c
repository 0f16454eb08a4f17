/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Entities and errors of libxml2.
 */
#include <string.h>

#include "common/base/macros.h"
#include "common/markup/entity.h"
#include "common/markup/xml_priv.h"

#define REPLACEMENT "\xef\xbf\xbd"

void ing_xml_entities_done(struct ing_xml_entities *e)
{
	ing_entities_free(ING_TAKE(e->names));
}

/* In text one of the "predefined" kind goes straight to the callback for text; in an attribute libxml2
 * takes only the first byte of those, so there it is a general one, whose text is read for references
 * again: ing_entity() with `quoted` has them escaped. Neither can hold another entity. */
xmlEntityPtr ing_xml_entity(
	struct ing_xml_entities *e, xmlParserCtxtPtr ctxt, const xmlChar *name, bool has_doctype)
{
	if (e->names == NULL)
		e->names = ing_entities_new();
	bool in_attribute = ctxt->instate == XML_PARSER_ATTRIBUTE_VALUE;
	const char *value = ing_entity(e->names, (const char *)name, in_attribute);
	if (value == NULL && !has_doctype)
		return NULL; /* declared nowhere: libxml2 says so */
	if (value == NULL)
		value = REPLACEMENT;
	e->last = (xmlEntity){
		.type = XML_ENTITY_DECL,
		.name = name,
		.etype =
			in_attribute ? XML_INTERNAL_GENERAL_ENTITY : XML_INTERNAL_PREDEFINED_ENTITY,
	};
	/* libxml2 does not write to it, but has no const. */
	e->last.content = e->last.orig = (xmlChar *)(uintptr_t)value;
	e->last.length = (int)strlen(value);
	return &e->last;
}

/* The words may hold names from the input: what is not printable ASCII is left out. */
int ing_xml_fatal(xmlParserCtxtPtr ctxt, struct ing_error *err)
{
	const xmlError *e = xmlCtxtGetLastError(ctxt);
	if (e == NULL || e->level != XML_ERR_FATAL)
		return 0;
	char words[200];
	size_t n = 0;
	for (const char *s = e->message != NULL ? e->message : "not well-formed";
		*s != '\0' && *s != '\n' && n + 1 < sizeof(words); s++)
		words[n++] = *s >= ' ' && *s <= '~' ? *s : '?';
	words[n] = '\0';
	enum ing_fail code = e->code == XML_ERR_NO_MEMORY ? ING_FAIL_TOO_BIG : ING_FAIL_SYNTAX;
	return ing_error_at(err, code, ING_MAX(e->line, 1), ING_MAX(e->int2, 1), "XML: %s", words);
}
