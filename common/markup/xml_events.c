/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * libxml2's push parser with callbacks of ours only, as in xml.c: none stores a declaration, none
 * fetches anything. libxml2's own limits are on (a text of 10 MB, a name of 50,000 bytes). It keeps
 * markup until its end has come, and is slow where a tag has thousands of attributes: what it keeps has
 * a ceiling.
 */
#include "common/markup/xml_events.h"

#include <stdlib.h>
#include <string.h>
#include <libxml/parser.h>
#include <libxml/parserInternals.h>

#include "common/base/macros.h"
#include "common/markup/xml_priv.h"

#define MAX_DEPTH 256
/* libxml2 gets no more at once, so that what it keeps is seen in time. */
#define STEP_BYTES ((size_t)64 << 10)
#define FRONT_BYTES 4 /* by which libxml2 tells UTF-16 */

static const char declaration[] = "<?xml ";
#define DECLARATION_BYTES (sizeof(declaration) - 1)

struct ing_xml_events {
	const struct ing_xml_events_user *user;
	void *ctx;
	xmlParserCtxtPtr ctxt; /* of the document; NULL: none has begun */
	struct ing_xml_entities entities;
	unsigned depth;
	bool has_doctype, has_root;
	char front[FRONT_BYTES]; /* of a document that has not begun */
	size_t front_bytes;
	char held[DECLARATION_BYTES]; /* what may become a declaration */
	size_t held_bytes;
	int fail;
	struct ing_error error;
	int lines_before; /* of documents before this one */
};

/* --- callbacks --- */

static void stop_with(struct ing_xml_events *x, enum ing_fail code, const char *what)
{
	if (x->fail == 0)
		x->fail = ing_error_at(&x->error, code, ing_xml_events_line(x),
			ING_MAX(xmlSAX2GetColumnNumber(x->ctxt), 1), "XML: %s", what);
	xmlStopParser(x->ctxt);
}

static void on_start(void *ctx, const xmlChar *name, const xmlChar **attributes)
{
	struct ing_xml_events *x = ctx;
	if (x->fail != 0)
		return;
	if (x->depth == MAX_DEPTH) {
		stop_with(x, ING_FAIL_TOO_DEEP, "elements are nested too deep");
		return;
	}
	x->depth++;
	x->has_root = true;
	/* xmlChar is unsigned char, and of UTF-8. */
	x->user->open(x->ctx, (const char *)name, (const char *const *)(const void *)attributes);
}

static void on_end(void *ctx, const xmlChar *name)
{
	struct ing_xml_events *x = ctx;
	if (x->fail != 0 || x->depth == 0)
		return;
	x->depth--;
	x->user->close(x->ctx, (const char *)name);
}

static void on_text(void *ctx, const xmlChar *data, int bytes)
{
	struct ing_xml_events *x = ctx;
	if (x->fail == 0 && x->depth > 0 && bytes > 0)
		x->user->text(x->ctx, (const char *)data, (size_t)bytes);
}

static void on_doctype(
	void *ctx, const xmlChar *name, const xmlChar *public_id, const xmlChar *system_id)
{
	struct ing_xml_events *x = ctx;
	(void)name, (void)public_id, (void)system_id;
	x->has_doctype = true;
}

static void on_attribute_decl(void *ctx, const xmlChar *element, const xmlChar *name, int type,
	int how, const xmlChar *value, xmlEnumerationPtr values)
{
	(void)ctx, (void)element, (void)name, (void)type, (void)how, (void)value;
	xmlFreeEnumeration(values); /* ours, unlike an element's content */
}

static xmlEntityPtr on_entity(void *ctx, const xmlChar *name)
{
	struct ing_xml_events *x = ctx;
	return x->fail == 0 ? ing_xml_entity(&x->entities, x->ctxt, name, x->has_doctype) : NULL;
}

static ING_PRINTF(2, 3) void on_error(void *ctx, const char *format, ...)
{
	struct ing_xml_events *x = ctx;
	(void)format;
	struct ing_error found = {0};
	if (x->fail != 0 || ing_xml_fatal(x->ctxt, &found) == 0)
		return;
	x->fail = ing_error_at(
		&x->error, found.code, found.line + x->lines_before, found.column, "%s", found.msg);
	xmlStopParser(x->ctxt); /* it would go on, only to find more */
}

/* Where there is no context libxml2 would print. */
static ING_PRINTF(2, 3) void ignore_words(void *ctx, const char *format, ...)
{
	(void)ctx, (void)format;
}

/* --- documents --- */

/* What cannot be decoded has no callback. */
static void give_bytes(struct ing_xml_events *x, const char *bytes, int count, int last)
{
	int rc = xmlParseChunk(x->ctxt, bytes, count, last);
	if (x->fail == 0 && (rc == XML_PARSER_EOF || rc == XML_ERR_INVALID_ENCODING))
		stop_with(x, ING_FAIL_SYNTAX, "bytes that are not in the encoding of the document");
	if (x->fail == 0 && !x->ctxt->wellFormed)
		stop_with(x, ING_FAIL_SYNTAX, "not well-formed");
}

static void begin_document(struct ing_xml_events *x)
{
	xmlSAXHandler sax = {
		.initialized = 1, /* not XML_SAX2_MAGIC */
		.internalSubset = on_doctype,
		.startElement = on_start,
		.endElement = on_end,
		.characters = on_text,
		.ignorableWhitespace = on_text,
		.cdataBlock = on_text,
		.getEntity = on_entity,
		.attributeDecl = on_attribute_decl,
		.error = on_error,
	};
	xmlSetGenericErrorFunc(NULL, ignore_words); /* of this thread */
	x->ctxt = xmlCreatePushParserCtxt(&sax, x, x->front, (int)x->front_bytes, NULL);
	ing_must(x->ctxt != NULL);
	xmlCtxtUseOptions(x->ctxt, XML_PARSE_NONET | XML_PARSE_NOENT);
	x->front_bytes = 0;
	x->has_doctype = x->has_root = false;
}

static void drop_document(struct ing_xml_events *x)
{
	if (x->ctxt == NULL)
		return;
	x->lines_before = ing_xml_events_line(x) - 1;
	if (x->ctxt->myDoc != NULL)
		xmlFreeDoc(x->ctxt->myDoc);
	xmlFreeParserCtxt(x->ctxt);
	x->ctxt = NULL;
}

static void end_document(struct ing_xml_events *x)
{
	if (x->ctxt == NULL)
		return;
	if (x->fail == 0 && x->depth > 0)
		stop_with(x, ING_FAIL_TRUNCATED, "the document ends early");
	if (x->fail == 0)
		give_bytes(x, NULL, 0, 1);
	drop_document(x);
}

static void parse(struct ing_xml_events *x, const char *bytes, size_t count)
{
	for (size_t at = 0; at < count && x->fail == 0; at += STEP_BYTES) {
		give_bytes(x, bytes + at, (int)ING_MIN(STEP_BYTES, count - at), 0);
		const xmlParserInput *in = x->ctxt->input;
		size_t kept = in != NULL ? (size_t)(in->end - in->cur) : 0;
		if (kept > ING_XML_EVENTS_MARKUP_BYTES)
			stop_with(x, ING_FAIL_TOO_BIG, "a tag, comment or DOCTYPE is too long");
	}
}

/* Bytes of one document. */
static void add_bytes(struct ing_xml_events *x, const char *bytes, size_t count)
{
	while (x->ctxt == NULL && count > 0) {
		/* White space between documents, where the declaration must be the first. */
		bool space = x->front_bytes == 0 && memchr(" \t\r\n", *bytes, 4) != NULL;
		if (!space)
			x->front[x->front_bytes++] = *bytes;
		x->lines_before += space && *bytes == '\n';
		bytes++;
		count--;
		if (x->front_bytes == FRONT_BYTES)
			begin_document(x);
	}
	if (count > 0)
		parse(x, bytes, count);
}

/* Where a declaration begins, which may be cut at the end of the bytes; NULL. */
static const char *find_declaration(const char *bytes, size_t count)
{
	const char *end = bytes + count;
	for (const char *s = bytes; s < end; s++) {
		s = memchr(s, '<', (size_t)(end - s));
		if (s == NULL)
			break;
		if (memcmp(s, declaration, ING_MIN((size_t)(end - s), DECLARATION_BYTES)) == 0)
			return s;
	}
	return NULL;
}

/* x->held has a whole declaration, or bytes that are none. */
static void pass_held(struct ing_xml_events *x)
{
	bool whole = x->held_bytes == DECLARATION_BYTES;
	if (whole && x->has_root && x->depth == 0)
		end_document(x);
	if (x->fail == 0)
		add_bytes(x, x->held, x->held_bytes);
	x->held_bytes = 0;
}

/* In a document "<?xml " stands at its front only, or where it is text: a document ends where it comes
 * behind the root element. */
static void split_documents(struct ing_xml_events *x, const char *bytes, size_t count)
{
	const char *end = bytes + count;
	while (bytes < end && x->fail == 0) {
		if (x->held_bytes > 0 && *bytes == declaration[x->held_bytes]) {
			x->held[x->held_bytes++] = *bytes++;
			if (x->held_bytes == DECLARATION_BYTES)
				pass_held(x);
			continue;
		}
		if (x->held_bytes > 0)
			pass_held(x);
		const char *s = find_declaration(bytes, (size_t)(end - bytes));
		const char *to = s != NULL ? s : end;
		if (x->fail == 0)
			add_bytes(x, bytes, (size_t)(to - bytes));
		bytes = to;
		if (s != NULL)
			x->held[x->held_bytes++] = *bytes++;
	}
}

static int result(const struct ing_xml_events *x, struct ing_error *err)
{
	if (x->fail != 0 && err != NULL)
		*err = x->error;
	return x->fail;
}

/* -------------------------------------------------------------------------------------------- */

struct ing_xml_events *ing_xml_events_new(const struct ing_xml_events_user *user, void *ctx)
{
	struct ing_xml_events *x = ing_alloc(sizeof(*x));
	x->user = user;
	x->ctx = ctx;
	return x;
}

void ing_xml_events_free(struct ing_xml_events *x)
{
	if (x == NULL)
		return;
	drop_document(x);
	ing_xml_entities_done(&x->entities);
	free(x);
}

int ing_xml_events_feed(
	struct ing_xml_events *x, const char *bytes, size_t count, struct ing_error *err)
{
	split_documents(x, bytes, count);
	return result(x, err);
}

int ing_xml_events_end(struct ing_xml_events *x, struct ing_error *err)
{
	if (x->fail == 0 && x->held_bytes > 0)
		pass_held(x);
	if (x->fail == 0 && x->ctxt == NULL && x->front_bytes > 0)
		begin_document(x);
	if (x->fail == 0)
		end_document(x);
	return result(x, err);
}

int ing_xml_events_line(const struct ing_xml_events *x)
{
	if (x->ctxt == NULL || x->ctxt->input == NULL)
		return x->lines_before + 1;
	return x->lines_before + ING_MAX(xmlSAX2GetLineNumber(x->ctxt), 1);
}
