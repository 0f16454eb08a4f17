/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Most of what is fetched is HTML or PDF and says so at its front: those two are decided here,
 * which saves half a millisecond a page and libmagic's habit of taking a page with much script for
 * a script. Everything else is libmagic's, refined where its answer is too coarse for documents.
 */
#include "common/data/sniff.h"

#include <magic.h>
#include <string.h>
#include <strings.h>

#include "common/data/xml_front.h"

#define HEAD_BYTES ((size_t)1024) /* what the refinements look at */

static magic_t database;

struct text {
	const char *at;
	size_t left;
};

static bool begins(const struct text *t, const char *lower)
{
	size_t n = strlen(lower);
	return t->left >= n && strncasecmp(t->at, lower, n) == 0;
}

static void skip(struct text *t, size_t n)
{
	t->at += n;
	t->left -= n;
}

static void skip_space(struct text *t)
{
	while (t->left > 0 && memchr("\t\n\f\r ", *t->at, 5) != NULL)
		skip(t, 1);
}

static struct text head_of(const void *data, size_t bytes)
{
	return (struct text){.at = data, .left = ING_MIN(bytes, HEAD_BYTES)};
}

/* The same text without a byte order mark and white space at its front. */
static struct text content_of(struct text t)
{
	if (t.left >= 3 && memcmp(t.at, "\xef\xbb\xbf", 3) == 0)
		skip(&t, 3);
	skip_space(&t);
	return t;
}

/* And without comments. */
static struct text behind_comments(struct text t)
{
	for (t = content_of(t); begins(&t, "<!--"); skip_space(&t)) {
		const char *end = memmem(t.at + 4, t.left - 4, "-->", 3);
		if (end == NULL)
			break;
		skip(&t, (size_t)(end + 3 - t.at));
	}
	return t;
}

/* The tag's name is over: white space, an end, or the end of what we see. */
static bool is_tag(const struct text *t, const char *lower)
{
	size_t n = strlen(lower);
	return begins(t, lower) && (t->left == n || memchr("\t\n\f\r />", t->at[n], 7) != NULL);
}

/* A front that nothing but HTML has. */
static bool is_plainly_html(struct text head)
{
	struct text t = behind_comments(head);
	return is_tag(&t, "<!doctype html") || is_tag(&t, "<html");
}

/* A front that the WHATWG MIME Sniffing Standard (section 7.1) takes for HTML: good enough where
 * libmagic saw nothing but text. */
static bool is_likely_html(struct text head)
{
	static const char *const tags[] = {"<head", "<script", "<iframe", "<h1", "<div", "<font",
		"<table", "<a", "<style", "<title", "<b", "<body", "<br", "<p", "<meta"};
	struct text t = content_of(head);
	if (begins(&t, "<!--"))
		return true;
	for (size_t i = 0; i < ING_ARRAY_LEN(tags); i++) {
		if (is_tag(&t, tags[i]))
			return true;
	}
	return false;
}

static bool holds(struct text t, const char *lower)
{
	for (size_t n = strlen(lower); t.left >= n; skip(&t, 1)) {
		if (strncasecmp(t.at, lower, n) == 0)
			return true;
	}
	return false;
}

/* What the front of an XML document says by itself, or NULL. An undeclared root <html> was seen
 * before; an undeclared root of an unknown name may be anything. */
static const char *type_of_xml_kind(enum ing_xml_kind kind, bool declared)
{
	switch (kind) {
	case ING_XML_JATS:
		return "application/jats+xml";
	case ING_XML_TEI:
		return "application/tei+xml";
	case ING_XML_XHTML:
		return declared ? "application/xhtml+xml" : NULL;
	case ING_XML_HTML:
		return declared ? "text/html" : NULL;
	case ING_XML_PUBMED:
		return "text/xml";
	case ING_XML_NONE:
	case ING_XML_OTHER:
	case ING_XML_SVG:
		break;
	}
	return NULL;
}

/* Libmagic stops at "some XML"; this is for what has no front that could be read. */
static const char *refine_xml(struct text head, const char *type)
{
	bool html = holds(head, "<html");
	if (holds(head, "<htm") && holds(head, "http://www.w3.org/1999/xhtml"))
		return "application/xhtml+xml";
	return html ? "text/html" : type;
}

static bool is_any_of(const char *type, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(type, list[i]) == 0)
			return true;
	}
	return false;
}

static const char *refine(struct text head, const char *type)
{
	static const char *const vague[] = {"text/plain", "application/octet-stream"};
	static const char *const xml[] = {"application/xml", "text/xml"};
	static const char *const text[] = {
		"text/plain", "application/javascript", "text/javascript"};
	if (is_any_of(type, xml, ING_ARRAY_LEN(xml)))
		return refine_xml(head, type);
	if (is_any_of(type, vague, ING_ARRAY_LEN(vague)) && ing_sniff_is_pdf(head.at, head.left))
		return "application/pdf";
	bool script = strncmp(type, "text/x-", 7) == 0;
	if ((script || is_any_of(type, text, ING_ARRAY_LEN(text))) && is_likely_html(head))
		return "text/html";
	return type;
}

static const char *query_libmagic(const void *data, size_t bytes)
{
	const char *type = ing_sniff_warm() ? magic_buffer(database, data, bytes) : NULL;
	/* A failed regular expression or a type with blanks is no answer. */
	if (type == NULL || strchr(type, '/') == NULL || strchr(type, ' ') != NULL ||
		strlen(type) >= ING_MEDIA_TYPE_BYTES)
		return "application/octet-stream";
	return type;
}

static const char *look_closer(const void *data, size_t bytes, struct text head)
{
	bool declared;
	enum ing_xml_kind kind = ing_xml_front_kind(data, bytes, &declared);
	const char *type = type_of_xml_kind(kind, declared);
	if (type != NULL)
		return type;
	type = query_libmagic(data, ING_MIN(bytes, ING_SNIFF_BYTES));
	if (!declared || kind == ING_XML_NONE)
		return refine(head, type);
	/* Libmagic takes some XML for HTML by what stands in it, and UTF-16 for text. */
	static const char *const other[] = {"text/plain", "text/html", "application/octet-stream"};
	return is_any_of(type, other, ING_ARRAY_LEN(other)) ? "text/xml" : type;
}

/* -------------------------------------------------------------------------------------------- */

bool ing_sniff_warm(void)
{
	if (database != NULL)
		return true;
	magic_t m = magic_open(MAGIC_MIME_TYPE | MAGIC_NO_CHECK_COMPRESS);
	if (m == NULL)
		return false;
	if (magic_load(m, NULL) != 0) {
		magic_close(m);
		return false;
	}
	database = m;
	return true;
}

void ing_sniff_done(void)
{
	if (database != NULL)
		magic_close(database);
	database = NULL;
}

void ing_sniff(const void *data, size_t bytes, char ret[ING_MEDIA_TYPE_BYTES])
{
	struct text head = head_of(data, bytes);
	const char *type;
	if (bytes == 0)
		type = "application/x-empty";
	else if (bytes >= 5 && memcmp(data, "%PDF-", 5) == 0)
		type = "application/pdf";
	else if (is_plainly_html(head))
		type = "text/html";
	else
		type = look_closer(data, bytes, head);
	size_t n = strlen(type);
	memcpy(ret, type, n + 1);
}

bool ing_sniff_is_html(const char *type)
{
	return strcmp(type, "text/html") == 0 || strcmp(type, "application/xhtml+xml") == 0;
}

bool ing_sniff_is_pdf(const void *data, size_t bytes)
{
	return memmem(data, ING_MIN(bytes, HEAD_BYTES), "%PDF-", 5) != NULL;
}
