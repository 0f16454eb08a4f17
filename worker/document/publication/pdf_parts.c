/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The Info dictionary comes before XMP, as PubFetcher has it: what it has not is looked up there. What
 * programs write into both where nobody said anything (file names, "untitled") is no title.
 */
#include "worker/document/publication/pdf_parts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/buf.h"
#include "common/data/json.h"
#include "common/markup/strip_markup.h"
#include "common/markup/xml.h"
#include "worker/document/publication/service_json.h"
#include "worker/model/findings.h"
#include "worker/model/limits.h"
#include "worker/scrape/jsoup/text.h"
#include "worker/scrape/publication/fields_found.h"

#define MAX_XMP_CPU_MS 1000
#define MAX_FIELD_BYTES ((size_t)64 << 10)

/* Both ways in which a PDF describes itself. */
struct description {
	json_t *info;         /* NULL: it has none that is an object */
	struct ing_tree *xmp; /* empty: it has none */
};

static void open_description(const struct ing_pdf *pdf, struct description *d)
{
	static const struct ing_xml_limits limits = {.open_elements = ING_MAX_OPEN_ELEMENTS,
		.tree_bytes = ING_MAX_TREE_BYTES,
		.cpu_ms = MAX_XMP_CPU_MS};
	const char *info = pdf->info_json, *xmp = pdf->meta_xml;
	d->info = info != NULL ? ing_json_parse(info, strlen(info), &ing_json_own, NULL) : NULL;
	d->xmp = ing_tree_new();
	/* What came before an error counts: padding and cut ends are common. */
	if (xmp != NULL && ing_xml_parse(d->xmp, xmp, strlen(xmp), NULL, &limits, NULL) != 0)
		ing_tree_finish(d->xmp);
}

static void close_description(struct description *d)
{
	json_decref(d->info);
	ing_tree_free(d->xmp);
}

/* A property of XMP: an element, or an attribute of rdf:Description. Returns its text, of a list that of
 * its first entry, on the heap; NULL: none. */
static char *property(const struct description *d, const char *name)
{
	const struct ing_tree *t = d->xmp;
	ing_node n = ing_tree_next_named(t, ING_NODE_DOCUMENT, ING_NODE_DOCUMENT, name);
	if (n != ING_NODE_NONE) {
		struct ing_buf text;
		ing_node li = ing_tree_next_named(t, n, n, "rdf:li");
		ing_buf_init(&text, MAX_FIELD_BYTES);
		ing_text(t, li != ING_NODE_NONE ? li : n, &text);
		char *plain = ing_service_plain(ing_buf_str(&text));
		ing_buf_done(&text);
		return plain;
	}
	n = ING_NODE_DOCUMENT;
	while ((n = ing_tree_next_named(t, n, ING_NODE_DOCUMENT, "rdf:description")) !=
		ING_NODE_NONE) {
		const char *value = ing_tree_attr(t, n, name, NULL);
		if (value != NULL)
			return ing_service_plain(value);
	}
	return NULL;
}

/* The Info dictionary's, or XMP's. */
static char *field(const struct description *d, const char *key, const char *name)
{
	char *plain = ing_service_plain(ing_json_get_text(d->info, key));
	return plain != NULL ? plain : property(d, name);
}

static bool ends_in(const char *s, const char *ending)
{
	size_t n = strlen(s), m = strlen(ending);
	return n >= m && strcasecmp(s + n - m, ending) == 0;
}

/* What word processors and typesetters write when they were told nothing. */
static bool is_no_title(const char *s)
{
	static const char *const starts[] = {"microsoft word", "microsoft powerpoint", "untitled",
		"doi:", "pii:", "pii ", "slide 1", "powerpoint presentation", "layout 1", "title",
		"full page photo", "no job name", "template for "};
	static const char *const endings[] = {".doc", ".docx", ".rtf", ".odt", ".tex", ".dvi",
		".ps", ".pdf", ".indd", ".qxd", ".qxp", ".fm", ".p65", ".pmd", ".wpd", ".eps",
		".3d"};
	for (size_t i = 0; i < ING_ARRAY_LEN(starts); i++) {
		size_t n = strlen(starts[i]);
		bool whole = strcmp(starts[i], "title") == 0 || strcmp(starts[i], "untitled") == 0;
		if (strncasecmp(s, starts[i], n) == 0 && (!whole || s[n] == '\0'))
			return true;
	}
	for (size_t i = 0; i < ING_ARRAY_LEN(endings); i++)
		if (ends_in(s, endings[i]))
			return true;
	bool any = false;
	for (const char *p = s; *p != '\0' && !any; p++)
		any = isalpha((unsigned char)*p) || (unsigned char)*p >= 0x80;
	return strlen(s) < 4 || !any;
}

static char *title_of(const struct description *d)
{
	char *info = ing_service_plain(ing_json_get_text(d->info, "Title"));
	if (info != NULL && !is_no_title(info))
		return info;
	free(info);
	char *xmp = property(d, "dc:title");
	if (xmp != NULL && !is_no_title(xmp))
		return xmp;
	free(xmp);
	return NULL;
}

struct keywords {
	struct ing_publication_term *terms;
	uint32_t count, room;
};

static void add_keyword(struct keywords *k, const char *s, size_t bytes)
{
	char *term = ing_strndup(s, bytes);
	char *plain = ing_service_plain(term);
	free(term);
	for (uint32_t i = 0; i < k->count && plain != NULL; i++)
		if (strcmp(k->terms[i].term, plain) == 0)
			ing_freep(&plain);
	if (plain != NULL && k->count < k->room)
		k->terms[k->count++] = (struct ing_publication_term){.term = ING_TAKE(plain)};
	free(plain);
}

static void add_split(struct keywords *k, const char *s)
{
	while (s != NULL && *s != '\0' && k->count < k->room) {
		size_t n = strcspn(s, ",;|");
		if (n > 0)
			add_keyword(k, s, n);
		s += n + (s[n] != '\0');
	}
}

/* Info's, XMP's list, XMP's text: the first that has any. */
static void offer_keywords(
	const struct description *d, enum ing_part_type type, struct ing_publication_found *ret)
{
	const struct ing_tree *t = d->xmp;
	struct keywords k = {.room = ING_MAX_KEYWORDS};
	k.terms = ing_alloc(k.room * sizeof(*k.terms));
	char *info = ing_service_plain(ing_json_get_text(d->info, "Keywords"));
	add_split(&k, info);
	free(info);
	ing_node list = ing_tree_next_named(t, ING_NODE_DOCUMENT, ING_NODE_DOCUMENT, "dc:subject");
	if (k.count == 0 && list != ING_NODE_NONE) {
		ing_node li = list;
		while (k.count < k.room &&
			(li = ing_tree_next_named(t, li, list, "rdf:li")) != ING_NODE_NONE) {
			struct ing_buf text;
			ing_buf_init(&text, MAX_FIELD_BYTES);
			ing_text(t, li, &text);
			add_split(&k, ing_buf_str(&text));
			ing_buf_done(&text);
		}
	}
	if (k.count == 0) {
		char *words = property(d, "pdf:keywords");
		add_split(&k, words);
		free(words);
	}
	if (k.count > 0)
		ing_publication_offer_list(ret, ING_PART_KEYWORDS, type, k.terms, k.count);
	else
		free(k.terms);
}

static void offer(struct ing_publication_found *ret, enum ing_part_key key, enum ing_part_type type,
	char *text)
{
	if (text != NULL)
		ing_publication_offer_text(ret, key, type, text, strlen(text));
	free(text);
}

/* -------------------------------------------------------------------------------------------- */

char *ing_pdf_parts_text(const struct ing_pdf *pdf)
{
	if (pdf->text == NULL)
		return NULL;
	const char *s = pdf->text;
	size_t bytes = strlen(s);
	ing_text_trim(&s, &bytes);
	if (bytes == 0)
		return NULL;
	char *text = ing_strndup(s, bytes);
	for (char *p = text; (p = strchr(p, '\f')) != NULL;)
		*p = '\n';
	return text;
}

char *ing_pdf_parts_title(const struct ing_pdf *pdf)
{
	struct description d;
	open_description(pdf, &d);
	char *title = title_of(&d);
	close_description(&d);
	return title;
}

void ing_read_pdf_parts(const struct ing_publication_ask *ask, const struct ing_pdf *pdf,
	struct ing_publication_found *ret)
{
	enum ing_part_type type = ing_part_type_pdf(ask->type);
	struct description d;
	/* Its facts are there, without a text. */
	bool too_large = strcmp(pdf->status, "text-too-large") == 0;
	if (!ing_pdf_is_read(pdf))
		ing_publication_fail(ret, too_large ? "too-large" : "bad-answer", "PDF: %s%s%.300s",
			pdf->status, pdf->error_msg != NULL ? ": " : "",
			pdf->error_msg != NULL ? pdf->error_msg : "");
	if (!ing_pdf_is_read(pdf) && !too_large)
		return;
	open_description(pdf, &d);
	if (ing_publication_wants(ask->parts, ING_PART_TITLE))
		offer(ret, ING_PART_TITLE, type, title_of(&d));
	if (ing_publication_wants(ask->parts, ING_PART_KEYWORDS))
		offer_keywords(&d, type, ret);
	if (ing_publication_wants(ask->parts, ING_PART_ABSTRACT))
		offer(ret, ING_PART_ABSTRACT, type, field(&d, "Subject", "dc:description"));
	if (ing_publication_wants(ask->parts, ING_PART_FULLTEXT))
		offer(ret, ING_PART_FULLTEXT, type, ing_pdf_parts_text(pdf));
	close_description(&d);
}
