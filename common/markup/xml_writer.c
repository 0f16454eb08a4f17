/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Namespace declarations in scope are a stack; which of the prefixes is declared is found by
 * walking it backwards. Real documents declare five.
 */
#include "common/markup/xml_writer.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/macros.h"

#define HEAD "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
/* Documents beyond these are not written. */
#define MAX_SCOPE 256       /* declarations in scope */
#define MAX_MISSING 64      /* distinct prefixes without one */
#define MAX_PREFIX_BYTES 64 /* with its NUL */

struct prefix {
	char text[MAX_PREFIX_BYTES];
	unsigned depth; /* of the element that declares it */
};

struct ing_xml_writer {
	struct ing_buf *out;
	struct prefix scope[MAX_SCOPE];
	size_t scope_count;
	struct prefix missing[MAX_MISSING];
	size_t missing_count;
	size_t root_name_end; /* where declarations go; 0: no root yet */
	unsigned depth;
	bool in_tag;        /* the last start tag has no '>' yet */
	bool no_namespaces; /* a name or declaration is against Namespaces in XML, or past a limit */
};

/* What the DTDs of JATS and its relatives declare. */
static const char *const known[][2] = {
	{"xlink", "http://www.w3.org/1999/xlink"},
	{"mml", "http://www.w3.org/1998/Math/MathML"},
	{"m", "http://www.w3.org/1998/Math/MathML"},
	{"xsi", "http://www.w3.org/2001/XMLSchema-instance"},
	{"ali", "http://www.niso.org/schemas/ali/1.0/"},
	{"oasis", "http://www.niso.org/standards/z39-96/ns/oasis-exchange/table"},
	{"xi", "http://www.w3.org/2001/XInclude"},
	{"svg", "http://www.w3.org/2000/svg"},
	{"rdf", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"},
	{"dc", "http://purl.org/dc/elements/1.1/"},
};

/* --- prefixes --- */

static bool is_prefix(const struct prefix *p, const char *s, size_t bytes)
{
	return strncmp(p->text, s, bytes) == 0 && p->text[bytes] == '\0';
}

static bool has_prefix(const struct prefix *list, size_t count, const char *s, size_t bytes)
{
	for (size_t i = count; i > 0; i--)
		if (is_prefix(&list[i - 1], s, bytes))
			return true;
	return false;
}

static void add_prefix(struct prefix *list, size_t *count, const char *s, size_t bytes, unsigned at)
{
	memcpy(list[*count].text, s, bytes);
	list[*count].text[bytes] = '\0';
	list[(*count)++].depth = at;
}

/* The prefix that an attribute of this name declares, or NULL. */
static const char *declared_prefix(const char *name)
{
	return strncmp(name, "xmlns:", 6) == 0 && name[6] != '\0' ? name + 6 : NULL;
}

/* An empty value undeclares a prefix, which only XML 1.1 allows. */
static bool is_written(const char *name, const char *value)
{
	return declared_prefix(name) == NULL || value[0] != '\0';
}

static void declare(struct ing_xml_writer *w, const char *const *attrs)
{
	for (; attrs != NULL && attrs[0] != NULL; attrs += 2) {
		const char *prefix = declared_prefix(attrs[0]);
		if (prefix == NULL || attrs[1][0] == '\0')
			continue;
		if (strlen(prefix) < MAX_PREFIX_BYTES && w->scope_count < MAX_SCOPE)
			add_prefix(w->scope, &w->scope_count, prefix, strlen(prefix), w->depth);
		else
			w->no_namespaces = true;
	}
}

/* Notes that a name's prefix is used. "xml" and "xmlns" need no declaration. */
static void use_prefix(struct ing_xml_writer *w, const char *name)
{
	const char *colon = strchr(name, ':');
	if (colon == NULL)
		return;
	size_t bytes = (size_t)(colon - name);
	if (bytes == 0 || bytes >= MAX_PREFIX_BYTES || colon[1] == '\0' ||
		strchr(colon + 1, ':') != NULL) {
		w->no_namespaces = true;
		return;
	}
	if ((bytes == 3 && memcmp(name, "xml", 3) == 0) ||
		(bytes == 5 && memcmp(name, "xmlns", 5) == 0) ||
		has_prefix(w->scope, w->scope_count, name, bytes) ||
		has_prefix(w->missing, w->missing_count, name, bytes))
		return;
	if (w->missing_count < MAX_MISSING)
		add_prefix(w->missing, &w->missing_count, name, bytes, 0);
	else
		w->no_namespaces = true;
}

static const char *known_namespace(const char *prefix)
{
	for (size_t i = 0; i < ING_ARRAY_LEN(known); i++)
		if (strcmp(known[i][0], prefix) == 0)
			return known[i][1];
	return NULL;
}

/* Declarations of what was used without one go into the root's tag, behind its name. */
static void insert_missing(struct ing_xml_writer *w)
{
	struct ing_buf *out = w->out;
	size_t before = out->len;
	for (size_t i = 0; i < w->missing_count; i++) {
		const char *prefix = w->missing[i].text, *uri = known_namespace(prefix);
		if (uri != NULL)
			ing_buf_printf(out, " xmlns:%s=\"%s\"", prefix, uri);
		else
			ing_buf_printf(out, " xmlns:%s=\"urn:x-undeclared:%s\"", prefix, prefix);
	}
	size_t bytes = out->len - before;
	if (out->failed || bytes == 0)
		return;
	char *copy = ing_alloc(bytes), *at = out->data + w->root_name_end;
	memcpy(copy, out->data + before, bytes);
	memmove(at + bytes, at, before - w->root_name_end);
	memcpy(at, copy, bytes);
	free(copy);
}

/* --- writing --- */

static void end_tag(struct ing_xml_writer *w)
{
	if (w->in_tag)
		ing_buf_add_char(w->out, '>');
	w->in_tag = false;
}

static const char *reference(char c, bool quoted)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '\r':
		return "&#13;";
	case '"':
		return quoted ? "&quot;" : NULL;
	case '\t':
		return quoted ? "&#9;" : NULL;
	case '\n':
		return quoted ? "&#10;" : NULL;
	default:
		return NULL;
	}
}

static void add_escaped(struct ing_buf *out, const char *s, size_t bytes, bool quoted)
{
	size_t start = 0;
	for (size_t i = 0; i < bytes && !out->failed; i++) {
		const char *ref = (unsigned char)s[i] <= '>' ? reference(s[i], quoted) : NULL;
		if (ref == NULL)
			continue;
		ing_buf_add(out, s + start, i - start);
		ing_buf_add_str(out, ref);
		start = i + 1;
	}
	ing_buf_add(out, s + start, bytes - start);
}

/* -------------------------------------------------------------------------------------------- */

struct ing_xml_writer *ing_xml_writer_new(struct ing_buf *out)
{
	struct ing_xml_writer *w = ing_alloc(sizeof(*w));
	w->out = out;
	ing_buf_add_str(out, HEAD);
	return w;
}

void ing_xml_writer_free(struct ing_xml_writer *w)
{
	free(w);
}

void ing_xml_writer_open(struct ing_xml_writer *w, const char *name, const char *const *attrs)
{
	end_tag(w);
	w->depth++;
	declare(w, attrs);
	use_prefix(w, name);
	ing_buf_add_char(w->out, '<');
	ing_buf_add_str(w->out, name);
	if (w->root_name_end == 0)
		w->root_name_end = w->out->len;
	for (; attrs != NULL && attrs[0] != NULL; attrs += 2) {
		if (!is_written(attrs[0], attrs[1]))
			continue;
		use_prefix(w, attrs[0]);
		ing_buf_add_char(w->out, ' ');
		ing_buf_add_str(w->out, attrs[0]);
		ing_buf_add_str(w->out, "=\"");
		add_escaped(w->out, attrs[1], strlen(attrs[1]), true);
		ing_buf_add_char(w->out, '"');
	}
	w->in_tag = true;
}

void ing_xml_writer_text(struct ing_xml_writer *w, const char *s, size_t bytes)
{
	if (bytes == 0)
		return;
	end_tag(w);
	add_escaped(w->out, s, bytes, false);
}

void ing_xml_writer_close(struct ing_xml_writer *w, const char *name)
{
	if (w->in_tag) {
		ing_buf_add_str(w->out, "/>");
		w->in_tag = false;
	} else {
		ing_buf_add_str(w->out, "</");
		ing_buf_add_str(w->out, name);
		ing_buf_add_char(w->out, '>');
	}
	while (w->scope_count > 0 && w->scope[w->scope_count - 1].depth == w->depth)
		w->scope_count--;
	w->depth--;
}

int ing_xml_writer_finish(struct ing_xml_writer *w, struct ing_error *err)
{
	ing_must(w->depth == 0);
	insert_missing(w);
	ing_buf_add_char(w->out, '\n');
	if (w->no_namespaces)
		return ing_error_set(err, ING_FAIL_SYNTAX,
			"XML: names or declarations are not those of Namespaces in XML");
	return w->out->failed ? ing_error_set(err, ING_FAIL_TOO_BIG,
					"XML: the document is over %zu bytes", w->out->max)
			      : 0;
}
