/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A whole document by libxml2, which only this file, xml_events.c and xml_shared.c include.
 *
 * libxml2 gets checked UTF-8 from memory and callbacks of ours only: none stores a declaration, so
 * a DTD defines nothing, and none fetches anything. The old interface (SAX 1) is used deliberately:
 * it has no namespaces, so that prefixes stay part of names and their declarations cost nothing.
 *
 * libxml2's limits are off (XML_PARSE_HUGE) and ours are checked in every callback. Its work
 * between two callbacks is linear in the bytes read, with two exceptions: it compares every
 * attribute of a tag, and every name in a declaration, with many others. Tags and declarations that
 * are too long are therefore searched for before parsing.
 */
#include "common/markup/xml.h"

#include <stdlib.h>
#include <string.h>
#include <libxml/parser.h>
#include <libxml/parserInternals.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/utf8.h"
#include "common/markup/charset.h"
#include "common/markup/xml_priv.h"
#include "common/markup/xml_writer.h"

#define MAX_ATTRIBUTES 1024 /* of one tag */
#define MAX_DECLARATION_BYTES ((size_t)16 << 10)
#define MAX_SOURCE_BYTES ((size_t)1 << 30) /* libxml2 counts in int */
#define EVENTS_PER_LOOK 256                /* reading the clock costs as much as a few events */
#define DECLARATION_BYTES ((size_t)256)    /* within which an encoding is declared */
#define MAX_PREFIX_BYTES 64                /* with its colon; longer ones stay */

struct reader {
	struct ing_tree *t;
	xmlParserCtxtPtr ctxt;
	const struct ing_xml_limits *limits;
	struct ing_error *err;
	struct ing_xml_entities entities;
	struct ing_buf text; /* of a text node; comes in pieces */
	unsigned depth, events;
	const char *const *hollow;
	bool no_root_prefix;
	char prefix[MAX_PREFIX_BYTES]; /* of the root, with its colon; "": none */
	unsigned hollow_depth;         /* of the hollow element we are in; 0: in none */
	struct ing_xml_writer *writer; /* NULL: not wanted */
	uint64_t cpu_end_ns;
	int fail;         /* 0, or the first -ING_FAIL_x */
	ptrdiff_t unread; /* bytes behind the place of the error */
	bool has_doctype;
};

/* --- stopping --- */

static void stop_with(struct reader *r, enum ing_fail code, const char *what)
{
	if (r->fail == 0)
		r->fail = ing_error_at(r->err, code, xmlSAX2GetLineNumber(r->ctxt),
			xmlSAX2GetColumnNumber(r->ctxt), "XML: %s", what);
	xmlStopParser(r->ctxt);
}

/* Called by every callback first: false when reading is over. */
static bool go_on(struct reader *r)
{
	if (r->fail != 0)
		return false;
	if (ing_tree_bytes(r->t) > r->limits->tree_bytes)
		stop_with(r, ING_FAIL_TOO_BIG, "the tree takes too much memory");
	else if (++r->events % EVENTS_PER_LOOK == 0 && ing_thread_cpu_ns() > r->cpu_end_ns)
		stop_with(r, ING_FAIL_TIMEOUT, "reading takes too long");
	return r->fail == 0;
}

static void flush_text(struct reader *r)
{
	if (r->text.failed || (r->text.len > 0 && !ing_tree_add_text(r->t, ING_NODE_TEXT,
							  r->text.data, r->text.len, false)))
		stop_with(r, ING_FAIL_TOO_BIG, "too much text");
	ing_buf_clear(&r->text);
}

static void add_node(struct reader *r, enum ing_node_kind kind, const char *data, size_t bytes)
{
	flush_text(r);
	if (r->hollow_depth == 0 && !ing_tree_add_text(r->t, kind, data, bytes, false))
		stop_with(r, ING_FAIL_TOO_BIG, "too many nodes");
}

/* --- callbacks --- */

/* The name as the tree has it. */
static const char *plain_name(const struct reader *r, const char *name)
{
	size_t bytes = strlen(r->prefix);
	bool has = strncmp(name, r->prefix, bytes) == 0 && name[bytes] != '\0';
	return has ? name + bytes : name;
}

static void keep_prefix(struct reader *r, const char *root)
{
	size_t bytes = strcspn(root, ":") + 1;
	bool has = root[bytes - 1] == ':' && root[bytes] != '\0';
	if (has && strchr(root + bytes, ':') == NULL && bytes < sizeof(r->prefix))
		memcpy(r->prefix, root, bytes);
}

static bool is_hollow(const struct reader *r, const char *name)
{
	for (const char *const *h = r->hollow; h != NULL && *h != NULL; h++)
		if (strcmp(*h, name) == 0)
			return true;
	return false;
}

static bool add_element(struct reader *r, const char *name, const char *const *attrs)
{
	flush_text(r);
	bool ok = ing_tree_open(r->t, ing_tree_intern(r->t, name, strlen(name)));
	for (; ok && attrs != NULL && attrs[0] != NULL; attrs += 2) {
		const char *value = attrs[1] != NULL ? attrs[1] : "";
		uint32_t id = ing_tree_intern(r->t, attrs[0], strlen(attrs[0]));
		ok = ing_tree_add_attr(r->t, id, value, strlen(value), false);
	}
	return ok;
}

static void on_start(void *ctx, const xmlChar *name, const xmlChar **attributes)
{
	struct reader *r = ctx;
	if (!go_on(r))
		return;
	if (r->depth == r->limits->open_elements) {
		stop_with(r, ING_FAIL_TOO_DEEP, "elements are nested too deep");
		return;
	}
	/* xmlChar is unsigned char, and of UTF-8. */
	const char *s = (const char *)name;
	const char *const *attrs = (const char *const *)(const void *)attributes;
	if (r->depth == 0 && r->no_root_prefix)
		keep_prefix(r, s);
	const char *plain = plain_name(r, s);
	if (r->writer != NULL)
		ing_xml_writer_open(r->writer, s, attrs);
	if (r->hollow_depth == 0 && !add_element(r, plain, attrs)) {
		stop_with(r, ING_FAIL_TOO_BIG, "too many elements or attributes");
		return;
	}
	r->depth++;
	if (r->hollow_depth == 0 && is_hollow(r, plain))
		r->hollow_depth = r->depth;
}

static void on_end(void *ctx, const xmlChar *name)
{
	struct reader *r = ctx;
	if (!go_on(r) || r->depth == 0)
		return;
	if (r->writer != NULL)
		ing_xml_writer_close(r->writer, (const char *)name);
	if (r->hollow_depth == r->depth)
		r->hollow_depth = 0;
	if (r->hollow_depth == 0) {
		flush_text(r);
		ing_tree_close(r->t);
	}
	r->depth--;
}

static void write_text(struct reader *r, const xmlChar *data, int bytes)
{
	if (r->writer != NULL && r->depth > 0)
		ing_xml_writer_text(r->writer, (const char *)data, (size_t)bytes);
}

static void on_text(void *ctx, const xmlChar *data, int bytes)
{
	struct reader *r = ctx;
	if (!go_on(r) || r->depth == 0 || bytes <= 0)
		return;
	write_text(r, data, bytes);
	if (r->hollow_depth == 0)
		ing_buf_add(&r->text, data, (size_t)bytes);
}

static void on_cdata(void *ctx, const xmlChar *data, int bytes)
{
	struct reader *r = ctx;
	if (!go_on(r) || bytes < 0)
		return;
	write_text(r, data, bytes);
	add_node(r, ING_NODE_CDATA, (const char *)data, (size_t)bytes);
}

static void on_comment(void *ctx, const xmlChar *data)
{
	struct reader *r = ctx;
	const char *s = data != NULL ? (const char *)data : "";
	/* Comments within a DOCTYPE are not the page's. */
	if (go_on(r) && r->ctxt->inSubset == 0)
		add_node(r, ING_NODE_COMMENT, s, strlen(s));
}

static void on_instruction(void *ctx, const xmlChar *target, const xmlChar *data)
{
	struct reader *r = ctx;
	(void)target;
	(void)data;
	if (go_on(r) && r->ctxt->inSubset == 0)
		add_node(r, ING_NODE_OTHER, "", 0);
}

static void on_doctype(
	void *ctx, const xmlChar *name, const xmlChar *public_id, const xmlChar *system_id)
{
	struct reader *r = ctx;
	(void)name;
	(void)public_id;
	(void)system_id;
	r->has_doctype = true;
	if (go_on(r))
		add_node(r, ING_NODE_OTHER, "", 0);
}

/* Of declarations nothing is kept, but they are when the clock can be looked at: libxml2's table of
 * names stops growing at some thousands, and a DTD may have a million. */
static void look_at_clock(struct reader *r)
{
	if (go_on(r) && ing_thread_cpu_ns() > r->cpu_end_ns)
		stop_with(r, ING_FAIL_TIMEOUT, "reading takes too long");
}

static void on_element_decl(void *ctx, const xmlChar *name, int type, xmlElementContentPtr content)
{
	(void)name;
	(void)type;
	(void)content;
	look_at_clock(ctx);
}

static void on_attribute_decl(void *ctx, const xmlChar *element, const xmlChar *name, int type,
	int how, const xmlChar *value, xmlEnumerationPtr values)
{
	(void)element;
	(void)name;
	(void)type;
	(void)how;
	(void)value;
	xmlFreeEnumeration(values); /* ours, unlike an element's content */
	look_at_clock(ctx);
}

static void on_entity_decl(void *ctx, const xmlChar *name, int type, const xmlChar *public_id,
	const xmlChar *system_id, xmlChar *content)
{
	(void)name;
	(void)type;
	(void)public_id;
	(void)system_id;
	(void)content;
	look_at_clock(ctx);
}

static void on_notation_decl(
	void *ctx, const xmlChar *name, const xmlChar *public_id, const xmlChar *system_id)
{
	(void)name;
	(void)public_id;
	(void)system_id;
	look_at_clock(ctx);
}

static xmlEntityPtr on_entity(void *ctx, const xmlChar *name)
{
	struct reader *r = ctx;
	return go_on(r) ? ing_xml_entity(&r->entities, r->ctxt, name, r->has_doctype) : NULL;
}

static ING_PRINTF(2, 3) void on_error(void *ctx, const char *format, ...)
{
	struct reader *r = ctx;
	(void)format;
	struct ing_error found = {0};
	if (r->fail != 0 || ing_xml_fatal(r->ctxt, &found) == 0)
		return;
	if (r->ctxt->input != NULL)
		r->unread = r->ctxt->input->end - r->ctxt->input->cur;
	r->fail = ing_error_at(r->err, found.code, found.line, found.column, "%s", found.msg);
	xmlStopParser(r->ctxt); /* it would go on, only to find more */
}

/* --- before libxml2 sees it --- */

/* Label of the XML declaration's encoding, if there is one; the declaration is ASCII. */
static const struct ing_charset *declared_charset(const char *s, size_t bytes)
{
	static const char key[] = "encoding";
	if (bytes < 5 || memcmp(s, "<?xml", 5) != 0)
		return NULL;
	const char *end = memchr(s, '>', ING_MIN(bytes, DECLARATION_BYTES));
	const char *at = end != NULL ? memmem(s, (size_t)(end - s), key, sizeof(key) - 1) : NULL;
	if (at == NULL)
		return NULL;
	at += sizeof(key) - 1;
	while (at < end && (*at == '=' || *at == ' ' || *at == '\t' || *at == '\n' || *at == '\r'))
		at++;
	if (at >= end || (*at != '"' && *at != '\''))
		return NULL;
	const char *close = memchr(at + 1, *at, (size_t)(end - at - 1));
	return close != NULL ? ing_charset_of_label(at + 1, (size_t)(close - at - 1)) : NULL;
}

static bool keep_decoded(void *ctx, const char *utf8, size_t bytes)
{
	return ing_buf_add(ctx, utf8, bytes);
}

/* Offset of the first byte that is no UTF-8, or NUL; `bytes` when all is well. */
static size_t find_bad_byte(const char *s, size_t bytes)
{
	const char *nul = memchr(s, '\0', bytes);
	if (nul != NULL)
		bytes = (size_t)(nul - s);
	if (ing_charset_is_plain(ing_charset_utf8(), s, bytes))
		return bytes;
	size_t i = 0;
	for (size_t n; i < bytes && (n = ing_utf8_sequence(s + i, bytes - i)) > 0;)
		i += n;
	return i;
}

/* Quoted strings between s, behind the '<' of a tag, and the tag's end. */
static size_t count_values(const char *s, const char *end)
{
	size_t values = 0;
	for (; s < end && *s != '>'; s++) {
		if (*s != '"' && *s != '\'')
			continue;
		values++;
		s = memchr(s + 1, *s, (size_t)(end - s - 1));
		if (s == NULL)
			break;
	}
	return values;
}

static bool begins(const char *s, const char *end, const char *word)
{
	size_t n = strlen(word);
	return (size_t)(end - s) >= n && memcmp(s, word, n) == 0;
}

/* Markup that begins at tag, a '<', and ends before `end` costs libxml2 too much time at once. */
static bool is_crowded(const char *tag, const char *end)
{
	if (end - tag < 2 || tag[1] == '?' || tag[1] == '/')
		return false;
	if (tag[1] == '!')
		return (size_t)(end - tag) > MAX_DECLARATION_BYTES &&
		       (begins(tag, end, "<!ATTLIST") || begins(tag, end, "<!ELEMENT"));
	return count_values(tag + 1, end) > MAX_ATTRIBUTES;
}

/* Offset of the first crowded tag, or `bytes`. Tags hold no other '<', not even quoted, nor do
 * those declarations where they are costly; so what is between two of them is looked at by itself,
 * and nothing before it can hide it. In a comment this may find a tag that is none: one with a
 * thousand quoted strings and no '>'. */
static size_t find_crowded_tag(const char *s, size_t bytes)
{
	const char *end = s + bytes;
	const char *tag = memchr(s, '<', bytes);
	while (tag != NULL) {
		const char *next = memchr(tag + 1, '<', (size_t)(end - tag - 1));
		if (is_crowded(tag, next != NULL ? next : end))
			return (size_t)(tag - s);
		tag = next;
	}
	return bytes;
}

static void position_of(const char *s, size_t at, int *ret_line, int *ret_column)
{
	size_t line = 1, start = 0;
	for (const char *nl; (nl = memchr(s + start, '\n', at - start)) != NULL; line++)
		start = (size_t)(nl - s) + 1;
	*ret_line = (int)line;
	*ret_column = (int)(at - start) + 1;
}

/* --- */

static int run_parser(struct reader *r, const char *s, size_t bytes)
{
	xmlSAXHandler sax = {
		.initialized = 1, /* not XML_SAX2_MAGIC */
		.internalSubset = on_doctype,
		.startElement = on_start,
		.endElement = on_end,
		.characters = on_text,
		.ignorableWhitespace = on_text,
		.cdataBlock = on_cdata,
		.comment = on_comment,
		.processingInstruction = on_instruction,
		.getEntity = on_entity,
		.elementDecl = on_element_decl,
		.attributeDecl = on_attribute_decl,
		.entityDecl = on_entity_decl,
		.notationDecl = on_notation_decl,
		.error = on_error,
	};
	r->ctxt = xmlCreateMemoryParserCtxt(s, (int)bytes);
	ing_must(r->ctxt != NULL);
	xmlCtxtUseOptions(
		r->ctxt, XML_PARSE_NONET | XML_PARSE_HUGE | XML_PARSE_NOENT | XML_PARSE_IGNORE_ENC);
	*r->ctxt->sax = sax;
	r->ctxt->userData = r;
	xmlSwitchEncoding(r->ctxt, XML_CHAR_ENCODING_UTF8);
	xmlParseDocument(r->ctxt);
	if (r->fail != -ING_FAIL_TOO_BIG)
		flush_text(r);
	if (r->fail == 0 && !r->ctxt->wellFormed)
		stop_with(r, ING_FAIL_SYNTAX, "not well-formed");
	if (r->ctxt->myDoc != NULL)
		xmlFreeDoc(r->ctxt->myDoc);
	xmlFreeParserCtxt(r->ctxt);
	return r->fail;
}

/* Parse what is fit to be parsed; what ends it early is the error, unless another came before. */
static int parse_utf8(struct reader *r, const char *s, size_t bytes)
{
	size_t bad = find_bad_byte(s, bytes);
	size_t fit = find_crowded_tag(s, bad);
	struct ing_error *err = r->err;
	struct ing_error inner = {0};
	r->err = &inner;
	/* With the '<' of a crowded tag, which tells an error just before it from the early end. */
	bool tag = fit < bad && s[fit + 1] != '!';
	if (fit > 0)
		run_parser(r, s, fit + tag);
	bool at_end = fit == 0 || (r->fail == -ING_FAIL_SYNTAX && r->unread == 0);
	if (fit == bytes || !at_end) {
		if (err != NULL && r->fail != 0)
			*err = inner;
		return r->fail;
	}
	int line, column;
	position_of(s, fit, &line, &column);
	if (fit < bad)
		return ing_error_at(err, ING_FAIL_TOO_BIG, line, column,
			"XML: too many attributes in a tag, or values in a declaration");
	return ing_error_at(err, ING_FAIL_SYNTAX, line, column,
		s[bad] == '\0' ? "XML: a NUL byte" : "XML: bytes that are not UTF-8");
}

/* On failure the buffer is left empty. */
static int finish_rewriting(
	struct ing_xml_writer *writer, struct ing_buf *rewritten, int fail, struct ing_error *err)
{
	if (fail == 0)
		fail = ing_xml_writer_finish(writer, err);
	ing_xml_writer_free(writer);
	if (fail != 0)
		ing_buf_done(rewritten);
	return fail;
}

/* -------------------------------------------------------------------------------------------- */

/* XML 1.0, appendix F: byte order mark, the protocol, the document itself. A declaration that could
 * be read as ASCII cannot mean UTF-16. */
const struct ing_charset *ing_xml_charset(const void *data, size_t bytes, const char *content_type)
{
	const char *s = data;
	const struct ing_charset *c = ing_charset_of_bom(s, bytes);
	if (c == NULL)
		c = ing_charset_of_content_type(content_type);
	if (c == NULL && bytes >= 4 && memcmp(s, "<\0?\0", 4) == 0)
		c = ing_charset_of_label("utf-16le", 8);
	if (c == NULL && bytes >= 4 && memcmp(s, "\0<\0?", 4) == 0)
		c = ing_charset_of_label("utf-16be", 8);
	if (c == NULL) {
		c = declared_charset(s, bytes);
		if (c != NULL && strncmp(ing_charset_name(c), "UTF-16", 6) == 0)
			c = NULL;
	}
	return c != NULL && !ing_charset_is_replacement(c) ? c : ing_charset_utf8();
}

int ing_xml_parse_for(struct ing_tree *t, const void *data, size_t bytes, const char *content_type,
	const struct ing_xml_limits *limits, const struct ing_xml_uses *uses, struct ing_error *err)
{
	ing_tree_clear(t);
	t->xml = true;
	const struct ing_charset *c = ing_xml_charset(data, bytes, content_type);
	t->encoding = ing_charset_name(c);
	ing_charset_skip_bom(c, &data, &bytes);
	if (bytes == 0)
		return ing_error_at(err, ING_FAIL_SYNTAX, 1, 1, "XML: nothing there");
	if (bytes > MAX_SOURCE_BYTES)
		return ing_error_set(err, ING_FAIL_TOO_BIG, "XML: more than 1 GiB");
	struct reader r = {
		.t = t,
		.limits = limits,
		.err = err,
		.cpu_end_ns = ing_thread_cpu_ns() + (uint64_t)limits->cpu_ms * 1000000,
		.hollow = uses->hollow,
		.no_root_prefix = uses->no_root_prefix,
		.writer = uses->rewritten != NULL ? ing_xml_writer_new(uses->rewritten) : NULL,
	};
	ing_buf_init(&r.text, limits->tree_bytes);
	struct ing_buf decoded;
	ing_buf_init(&decoded, MAX_SOURCE_BYTES);
	int fail;
	if (c == ing_charset_utf8() || ing_charset_is_plain(c, data, bytes))
		fail = parse_utf8(&r, data, bytes);
	else if (ing_charset_decode(c, data, bytes, keep_decoded, &decoded))
		fail = parse_utf8(&r, ing_buf_str(&decoded), decoded.len);
	else
		fail = ing_error_set(err, ING_FAIL_TOO_BIG, "XML: more than 1 GiB");
	ing_tree_finish(t);
	ing_buf_done(&decoded);
	ing_buf_done(&r.text);
	ing_xml_entities_done(&r.entities);
	return r.writer != NULL ? finish_rewriting(r.writer, uses->rewritten, fail, err) : fail;
}

int ing_xml_parse(struct ing_tree *t, const void *data, size_t bytes, const char *content_type,
	const struct ing_xml_limits *limits, struct ing_error *err)
{
	static const struct ing_xml_uses none;
	return ing_xml_parse_for(t, data, bytes, content_type, limits, &none, err);
}
