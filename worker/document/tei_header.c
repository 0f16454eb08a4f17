/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reads GROBID's answers. They are XML of a service of ours, made from PDFs and strings of others:
 * what a document says may turn up anywhere in them.
 */
#include "worker/document/tei_header.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/buf.h"
#include "common/markup/charset.h"
#include "common/markup/xml.h"
#include "worker/document/tei_biblio.h"
#include "worker/model/findings.h"
#include "worker/model/limits.h"

#define UTF8_CONTENT_TYPE "application/xml; charset=utf-8"
#define DECLARATION_BYTES ((size_t)256)  /* within which an XML declaration ends */
#define MAX_ATTRIBUTE_BYTES ((size_t)64) /* a version, a date, a language */
#define MAX_REFERENCE_BYTES ((size_t)32 << 20)

static const struct ing_xml_limits limits = {
	.open_elements = ING_MAX_OPEN_ELEMENTS,
	.tree_bytes = ING_MAX_XML_TREE_BYTES,
	.cpu_ms = ING_MAX_PAGE_CPU_MS,
};

/* --- text --- */

static bool keep_decoded(void *ctx, const char *utf8, size_t bytes)
{
	return ing_buf_add(ctx, utf8, bytes);
}

static size_t count_chars(const char *s, size_t bytes)
{
	size_t chars = 0;
	for (size_t i = 0; i < bytes; i++)
		chars += ((unsigned char)s[i] & 0xc0) != 0x80;
	return chars;
}

/* An encoding other than UTF-8 that the document declares is not its own any more: without a
 * declaration, XML is UTF-8. */
static size_t length_of_false_declaration(const char *s, size_t bytes)
{
	bytes = ING_MIN(bytes, DECLARATION_BYTES);
	const char *end =
		bytes > 5 && memcmp(s, "<?xml", 5) == 0 ? memmem(s, bytes, "?>", 2) : NULL;
	if (end == NULL)
		return 0;
	size_t length = (size_t)(end - s) + 2;
	char copy[DECLARATION_BYTES + 1];
	memcpy(copy, s, length);
	copy[length] = '\0';
	const char *encoding = strstr(copy, "encoding");
	return encoding != NULL && strcasestr(encoding, "utf-8") == NULL ? length : 0;
}

/* The document as UTF-8, into *out (initialised here, the caller's). Returns false when it has more
 * characters than a TEI document may have; words are in *err. */
static bool decode(const void *data, size_t bytes, const char *content_type, struct ing_buf *out,
	struct ing_error *err)
{
	ing_buf_init(out, ING_MAX_GROBID_BYTES);
	const struct ing_charset *charset = ing_xml_charset(data, bytes, content_type);
	ing_charset_skip_bom(charset, &data, &bytes);
	if (ing_charset_is_plain(charset, data, bytes)) {
		size_t skip = length_of_false_declaration(data, bytes);
		ing_buf_add(out, (const char *)data + skip, bytes - skip);
	} else if (ing_charset_decode(charset, data, bytes, keep_decoded, out) && out->len > 0) {
		size_t skip = length_of_false_declaration(out->data, out->len);
		memmove(out->data, out->data + skip, out->len - skip + 1);
		out->len -= skip;
	}
	if (!out->failed && count_chars(ing_buf_str(out), out->len) <= ING_MAX_GROBID_CHARS)
		return true;
	ing_error_set(err, ING_FAIL_TOO_BIG, "response XML too large: %zu bytes", bytes);
	return false;
}

/* --- a document --- */

static void refuse(struct ing_tei_found *tei, const char *status, const char *msg)
{
	ing_tei_found_done(tei);
	tei->status = ing_strdup(status);
	tei->error_msg = ing_strdup(msg);
}

/* Trimmed; what is longer than it may be is as none. */
static char *attr_copy(const struct ing_tree *t, ing_node n, const char *name)
{
	size_t bytes = 0;
	const char *value = ing_tree_attr(t, n, name, &bytes);
	while (bytes > 0 && value[bytes - 1] == ' ')
		bytes--;
	while (bytes > 0 && *value == ' ') {
		value++;
		bytes--;
	}
	return bytes > 0 && bytes <= MAX_ATTRIBUTE_BYTES ? ing_strndup(value, bytes) : NULL;
}

/* The part of appInfo that says which version wrote it; NONE: it is not GROBID's. */
static ing_node find_application(const struct ing_tree *t, ing_node header)
{
	ing_node info = header;
	while ((info = ing_tree_next_named(t, info, header, "appinfo")) != ING_NODE_NONE) {
		ing_node n = ing_tree_next_named(t, info, info, "application");
		if (n != ING_NODE_NONE)
			return n;
	}
	return ING_NODE_NONE;
}

/* Members of the header's record that become the document's, as the replaced system has them. */
static json_t *journal_json(const json_t *record)
{
	static const char *const kept[] = {"publisher", "issn", "volume", "issue"};
	json_t *o = json_object();
	const char *name = ing_json_get_text(record, "journal");
	if (name == NULL)
		name = ing_json_get_text(record, "book_title");
	if (name != NULL)
		ing_json_set_text(o, "name", name);
	for (size_t i = 0; i < ING_ARRAY_LEN(kept); i++) {
		const char *text = ing_json_get_text(record, kept[i]);
		if (text != NULL)
			ing_json_set_text(o, kept[i], text);
	}
	return o;
}

static void rename_member(json_t *o, const char *from, const char *to)
{
	json_t *value = json_object_get(o, from);
	if (value == NULL)
		return;
	if (json_object_get(o, to) == NULL)
		ing_json_set(o, to, ing_json_ref(value));
	json_object_del(o, from);
}

static void rename_in_author(json_t *author)
{
	rename_member(author, "full_name", "name");
	rename_member(author, "middle_name", "given_name");
	json_t *affiliation = json_object_get(author, "affiliation");
	rename_member(json_object_get(affiliation, "address"), "post_code", "postCode");
}

static json_t *biblio_json(json_t *record)
{
	static const char *const kept[] = {"title", "date", "doi"};
	json_t *o = json_object();
	for (size_t i = 0; i < ING_ARRAY_LEN(kept); i++) {
		const char *text = ing_json_get_text(record, kept[i]);
		if (text != NULL)
			ing_json_set_text(o, kept[i], text);
	}
	json_t *authors = json_object_get(record, "authors");
	for (size_t i = 0; i < json_array_size(authors); i++)
		rename_in_author(json_array_get(authors, i));
	if (json_array_size(authors) > 0)
		ing_json_set(o, "authors", ing_json_ref(authors));
	json_t *journal = journal_json(record);
	if (json_object_size(journal) > 0)
		ing_json_set(o, "journal", ing_json_ref(journal));
	json_decref(journal);
	return o;
}

/* Of idno type="fatcat", which a GROBID with fatcat's consolidation writes: 26 characters of base
 * 32 in lower case. */
static char *fatcat_release(const struct ing_tree *t, ing_node header)
{
	ing_node n = header;
	while ((n = ing_tree_next_named(t, n, header, "idno")) != ING_NODE_NONE) {
		const char *type = ing_tree_attr(t, n, "type", NULL);
		if (type == NULL || strcmp(type, "fatcat") != 0)
			continue;
		char *ident = ing_tei_text(t, n, false);
		if (ident != NULL && strlen(ident) == 26 &&
			strspn(ident, "abcdefghijklmnopqrstuvwxyz234567") == 26)
			return ident;
		free(ident);
	}
	return NULL;
}

static void read_header(const struct ing_tree *t, ing_node header, struct ing_tei_found *ret)
{
	ing_node application = find_application(t, header);
	ret->version = application != ING_NODE_NONE ? attr_copy(t, application, "version") : NULL;
	if (ret->version == NULL) {
		refuse(ret, "bad-grobid-xml", "the header does not tell GROBID's version");
		return;
	}
	ret->fatcat_release = fatcat_release(t, header);
	size_t room =
		ING_MAX_BIBLIO_BYTES / 2; /* for authors; the rest is bounded field by field */
	struct ing_tei_names *names = ing_tei_names_new(t);
	json_t *record = ing_tei_biblio(names, header, &room);
	ing_tei_names_free(names);
	json_t *metadata = json_object();
	ing_json_set(metadata, "biblio", biblio_json(record));
	json_decref(record);
	char *when = attr_copy(t, application, "when");
	ing_node text = ing_tree_next_named(t, ING_NODE_DOCUMENT, ING_NODE_DOCUMENT, "text");
	char *language = text != ING_NODE_NONE ? attr_copy(t, text, "xml:lang") : NULL;
	if (when != NULL)
		ing_json_set_text(metadata, "grobid_timestamp", when);
	if (language != NULL)
		ing_json_set_text(metadata, "language_code", language);
	free(when);
	free(language);
	ret->metadata_json = ing_json_dump(metadata, NULL);
	json_decref(metadata);
	ret->status = ing_strdup("success");
}

static void read_document(const struct ing_buf *xml, struct ing_tei_found *ret)
{
	struct ing_error err = {0};
	struct ing_tree *t = ing_tree_new();
	int rc = ing_xml_parse(t, ing_buf_str(xml), xml->len, UTF8_CONTENT_TYPE, &limits, &err);
	ing_node header = ING_NODE_NONE;
	if (rc == 0)
		header = ing_tree_next_named(t, ING_NODE_DOCUMENT, ING_NODE_DOCUMENT, "teiheader");
	if (rc < 0)
		refuse(ret, "bad-grobid-xml", err.msg);
	else if (header == ING_NODE_NONE)
		refuse(ret, "bad-grobid-xml", "there is no teiHeader");
	else
		read_header(t, header, ret);
	ing_tree_free(t);
}

/* --- references --- */

static json_t *references_json(const struct ing_tree *t)
{
	struct ing_tei_names *names = ing_tei_names_new(t);
	json_t *list = json_array();
	size_t room = MAX_REFERENCE_BYTES;
	ing_node end = 0; /* a reference inside of another is none */
	ing_node n = ING_NODE_DOCUMENT;
	while ((n = ing_tree_next_named(t, n, ING_NODE_DOCUMENT, "biblstruct")) != ING_NODE_NONE) {
		if (n < end)
			continue;
		end = t->nodes[n].end;
		ing_json_append(list, ing_tei_biblio(names, n, &room));
	}
	ing_tei_names_free(names);
	return list;
}

/* -------------------------------------------------------------------------------------------- */

void ing_tei_read(
	const void *data, size_t bytes, const char *content_type, struct ing_tei_found *ret)
{
	struct ing_buf xml;
	struct ing_error err = {0};
	if (!decode(data, bytes, content_type, &xml, &err))
		refuse(ret, "error", err.msg);
	else
		read_document(&xml, ret);
	if (strcmp(ret->status, "success") == 0)
		ret->text = ing_buf_steal(&xml);
	ing_buf_done(&xml);
}

json_t *ing_tei_read_references(
	const void *data, size_t bytes, const char *content_type, struct ing_error *err)
{
	struct ing_buf xml;
	json_t *list = NULL;
	if (decode(data, bytes, content_type, &xml, err)) {
		struct ing_tree *t = ing_tree_new();
		if (ing_xml_parse(t, ing_buf_str(&xml), xml.len, UTF8_CONTENT_TYPE, &limits, err) ==
			0)
			list = references_json(t);
		ing_tree_free(t);
	}
	ing_buf_done(&xml);
	return list;
}

void ing_document_tei(
	const struct ing_exam_request *q, const void *data, size_t bytes, struct ing_findings *ret)
{
	static const char type[] = "application/tei+xml"; /* not sniffed: it has been asked for */
	memcpy(ret->file.mimetype, type, sizeof(type));
	ret->file.size_bytes = bytes;
	ret->exam = ING_EXAM_OK;
	ing_tei_read(data, bytes, q->content_type, &ret->tei);
}
