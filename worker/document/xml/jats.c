/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A text is a sequence of blocks: a section's heading, a paragraph, a figure with its caption. Each
 * element is read once, however sections are nested in one another and in boxes.
 */
#include "worker/document/xml/jats.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/macros.h"
#include "common/base/utf8.h"
#include "common/data/unicode.h"
#include "worker/document/xml/jats_priv.h"
#include "worker/scrape/biblio/ident.h"
#include "worker/scrape/jsoup/text.h"
#include "worker/scrape/publication/meta_schemes.h"

#define MAX_TEXT_BYTES ((size_t)16 << 20) /* of all blocks; books have 4 MB */
#define MAX_FIELD_BYTES ((size_t)64 << 10)
#define MAX_LICENCE_BYTES ((size_t)2000)

const char *const ing_jats_hollow[] = {"ref-list", NULL};

struct jats {
	struct ing_tree *t;
	struct ing_arena *ar;
	ing_node article, front, meta; /* meta: <article-meta>, or the front; NONE: there is none */
	enum ing_part_type type;
	struct ing_publication_fields *fields;
};

/* --- the tree --- */

static void hide(struct ing_tree *t, ing_node element)
{
	for (ing_node i = element + 1; i < t->nodes[element].end; i++)
		if (t->nodes[i].kind != ING_NODE_ELEMENT)
			t->nodes[i].kind = ING_NODE_OTHER;
}

/* What JATS sets apart, as the tree knows it of HTML only: words before and after it do not stick together. */
static void mark_blocks(struct ing_tree *t)
{
	static const char *const names[] = {"attrib", "caption", "def", "disp-formula",
		"disp-quote", "fig", "label", "list-item", "preformat", "speaker", "statement",
		"supplementary-material", "table-wrap", "term", "verse-line"};
	for (size_t i = 0; i < ING_ARRAY_LEN(names); i++) {
		uint32_t id = ing_tree_find_name(t, names[i], strlen(names[i]));
		if (id != UINT32_MAX)
			t->names[id].flags |= ING_NAME_BLOCK;
	}
	uint32_t id = ing_tree_find_name(t, "break", 5);
	if (id != UINT32_MAX)
		t->names[id].flags |= ING_NAME_BREAK;
}

/* Figures and tables have identifiers, which are no text. */
static void hide_object_ids(struct ing_tree *t, ing_node article)
{
	ing_node n = article;
	while ((n = ing_tree_next_named(t, n, article, "object-id")) != ING_NODE_NONE)
		hide(t, n);
}

/* --- blocks --- */

static bool is_any_of(const struct ing_tree *t, ing_node n, const char *const *names)
{
	for (; *names != NULL; names++)
		if (ing_tree_is(t, n, *names))
			return true;
	return false;
}

static void add_block(const struct ing_tree *t, ing_node n, struct ing_buf *out)
{
	size_t before = out->len;
	if (before > 0)
		ing_buf_add_str(out, "\n\n");
	if (!ing_element_text(t, n, out) && out->data != NULL) {
		out->len = before;
		out->data[before] = '\0';
	}
}

/* Whether n is read child by child: a section, and what has sections in it. */
static bool is_divided(const struct ing_tree *t, ing_node n)
{
	static const char *const boxes[] = {"boxed-text", "notes", "app", "app-group", NULL};
	return ing_tree_is(t, n, "sec") ||
	       (is_any_of(t, n, boxes) && ing_element_below(t, n, "sec") != ING_NODE_NONE);
}

/* The blocks below root. */
static void add_blocks(const struct ing_tree *t, ing_node root, struct ing_buf *out)
{
	static const char *const skipped[] = {"sig-block", "sec-meta", "ref-list", NULL};
	for (ing_node n = root + 1; n < t->nodes[root].end && !out->failed;) {
		bool element = t->nodes[n].kind == ING_NODE_ELEMENT;
		if (element && is_divided(t, n)) {
			n++;
			continue;
		}
		bool text = t->nodes[n].kind == ING_NODE_TEXT || t->nodes[n].kind == ING_NODE_CDATA;
		if (text || (element && !is_any_of(t, n, skipped)))
			add_block(t, n, out);
		n = t->nodes[n].end;
	}
}

/* Terms and what they mean, as blocks. */
static void add_glossary(const struct ing_tree *t, ing_node glossary, struct ing_buf *out)
{
	static const char *const kept[] = {"term-head", "def-head", "term", "def", "td", NULL};
	for (ing_node n = glossary + 1; n < t->nodes[glossary].end && !out->failed;) {
		bool block = t->nodes[n].kind == ING_NODE_ELEMENT && is_any_of(t, n, kept);
		if (block)
			add_block(t, n, out);
		n = block ? t->nodes[n].end : n + 1;
	}
}

static void add_back(const struct ing_tree *t, ing_node back, struct ing_buf *out)
{
	ing_node n = back != ING_NODE_NONE ? ing_tree_first_child(t, back) : ING_NODE_NONE;
	for (; n != ING_NODE_NONE; n = ing_tree_next_sibling(t, n)) {
		if (ing_tree_is(t, n, "glossary"))
			add_glossary(t, n, out);
		else if (ing_tree_is(t, n, "notes") || ing_tree_is(t, n, "sec"))
			add_blocks(t, n, out);
	}
}

static void read_body(const struct jats *j, struct ing_buf *out)
{
	const struct ing_tree *t = j->t;
	ing_node body = ing_element_child(t, j->article, "body");
	if (body != ING_NODE_NONE)
		add_blocks(t, body, out);
	add_back(t, ing_element_child(t, j->article, "back"), out);
	static const char *const floats[] = {"floats-wrap", "floats-group"};
	for (size_t i = 0; i < ING_ARRAY_LEN(floats); i++) {
		ing_node n = ing_element_child(t, j->article, floats[i]);
		if (n != ING_NODE_NONE)
			add_blocks(t, n, out);
	}
}

/* --- parts --- */

typedef bool make_id_f(const char *s, size_t bytes, struct ing_buf *ret);

static bool make_doi(const char *s, size_t bytes, struct ing_buf *ret)
{
	struct ing_buf written;
	ing_buf_init(&written, MAX_FIELD_BYTES);
	bool good = ing_ident_doi_in(s, bytes, &written) &&
		    ing_ident_doi(ing_buf_str(&written), written.len, true, ret);
	ing_buf_done(&written);
	return good;
}

/* PMC's own files have the number alone or behind "PMC", by their age. */
static bool make_pmcid(const char *s, size_t bytes, struct ing_buf *ret)
{
	char id[32];
	if (bytes > 3 && strncasecmp(s, "PMC", 3) == 0) {
		s += 3;
		bytes -= 3;
	}
	int n = snprintf(id, sizeof(id), "PMC%.*s", (int)ING_MIN(bytes, sizeof(id)), s);
	return n > 0 && (size_t)n < sizeof(id) && ing_ident_pmcid(id, (size_t)n, ret);
}

static const struct {
	const char *type; /* pub-id-type */
	enum ing_part_key key;
	make_id_f *make;
} ids[] = {
	{"pmid", ING_PART_PMID, ing_ident_pmid_in},
	{"pmcid", ING_PART_PMCID, make_pmcid},
	{"pmc", ING_PART_PMCID, make_pmcid},
	{"doi", ING_PART_DOI, make_doi},
};

static void read_id(const struct jats *j, ing_node n)
{
	const char *text = ing_element_text_dup(j->t, n, j->ar, MAX_FIELD_BYTES);
	for (size_t i = 0; i < ING_ARRAY_LEN(ids) && text != NULL; i++) {
		if (!ing_element_attr_is(j->t, n, "pub-id-type", ids[i].type))
			continue;
		struct ing_buf id;
		ing_buf_init(&id, MAX_FIELD_BYTES);
		if (ids[i].make(text, strlen(text), &id))
			ing_parts_offer_id(&j->fields->parts, ids[i].key, j->type, ing_buf_str(&id),
				id.len, NULL);
		ing_buf_done(&id);
	}
}

/* The article's own: those of related articles and of references are elsewhere. */
static void read_ids(const struct jats *j)
{
	ing_node n = ing_element_child(j->t, j->meta, "article-id");
	for (; n != ING_NODE_NONE; n = ing_element_sibling(j->t, n, "article-id"))
		read_id(j, n);
}

static bool has_letters(const char *s)
{
	size_t bytes = strlen(s);
	for (size_t i = 0; i < bytes;) {
		uint32_t c;
		i += ing_utf8_decode(s + i, bytes - i, &c);
		if (ing_char_class(c) >= ING_CHAR_UPPER)
			return true;
	}
	return false;
}

/* A note, or its mark, or the number of a reference. */
static bool is_note(const struct jats *j, ing_node n)
{
	if (!ing_tree_is(j->t, n, "xref") || ing_element_attr_is(j->t, n, "ref-type", "fn"))
		return ing_tree_is(j->t, n, "xref") || ing_tree_is(j->t, n, "fn");
	const char *text = ing_element_text_dup(j->t, n, j->ar, MAX_FIELD_BYTES);
	return text != NULL && !has_letters(text);
}

static void hide_notes(const struct jats *j, ing_node title)
{
	for (ing_node n = title + 1; n < j->t->nodes[title].end; n++)
		if (j->t->nodes[n].kind == ING_NODE_ELEMENT && is_note(j, n))
			hide(j->t, n);
}

/* A heading that says no more than what it stands over. */
static void hide_heading(const struct jats *j, ing_node abstract)
{
	ing_node title = ing_element_child(j->t, abstract, "title");
	const char *text = ing_element_text_dup(j->t, title, j->ar, MAX_FIELD_BYTES);
	if (text != NULL && strncasecmp(text, "abstract", 8) == 0 &&
		(text[8] == '\0' || strcmp(text + 8, ":") == 0 || strcmp(text + 8, ".") == 0))
		hide(j->t, title);
}

/* Title and subtitle, "title : subtitle". */
static void read_title(const struct jats *j, struct ing_buf *ret)
{
	ing_node group = ing_element_child(j->t, j->meta, "title-group");
	ing_node title = ing_element_child(j->t, group, "article-title");
	ing_node subtitle = ing_element_child(j->t, group, "subtitle");
	if (title == ING_NODE_NONE)
		return;
	hide_notes(j, title);
	if (subtitle != ING_NODE_NONE)
		hide_notes(j, subtitle);
	bool any = ing_element_text(j->t, title, ret);
	const char *more = ing_element_text_dup(j->t, subtitle, j->ar, MAX_FIELD_BYTES);
	if (any && more != NULL)
		ing_buf_printf(ret, " : %s", more);
}

static void read_keywords(const struct jats *j)
{
	struct ing_text_value *list = ing_arena_alloc(j->ar, ING_MAX_KEYWORDS * sizeof(*list));
	size_t count = 0;
	ing_node n = j->front;
	while (count < ING_MAX_KEYWORDS &&
		(n = ing_tree_next_named(j->t, n, j->front, "kwd")) != ING_NODE_NONE) {
		const char *text = ing_element_text_dup(j->t, n, j->ar, MAX_FIELD_BYTES);
		if (text != NULL)
			list[count++] =
				(struct ing_text_value){.text = text, .bytes = strlen(text)};
	}
	ing_parts_offer_list(&j->fields->parts, ING_PART_KEYWORDS, j->type, list, count);
}

static void read_abstract(const struct jats *j, struct ing_buf *ret)
{
	static const char *const names[] = {"abstract", "trans-abstract"};
	for (size_t i = 0; i < ING_ARRAY_LEN(names) && ret->len == 0; i++) {
		ing_node n = ing_element_child(j->t, j->meta, names[i]);
		for (; n != ING_NODE_NONE; n = ing_element_sibling(j->t, n, names[i]))
			if (!ing_element_attr_is(j->t, n, "abstract-type", "graphical")) {
				hide_heading(j, n);
				add_blocks(j->t, n, ret);
			}
	}
}

static void offer(const struct jats *j, enum ing_part_key key, const struct ing_buf *text)
{
	ing_parts_offer(&j->fields->parts, key, j->type, ing_buf_str(text), text->len);
}

static void read_texts(const struct jats *j)
{
	struct ing_buf title, abstract, body, all;
	ing_buf_init(&title, MAX_FIELD_BYTES);
	ing_buf_init(&abstract, MAX_TEXT_BYTES);
	ing_buf_init(&body, MAX_TEXT_BYTES);
	ing_buf_init(&all, 3 * MAX_TEXT_BYTES);
	read_title(j, &title);
	read_abstract(j, &abstract);
	read_body(j, &body);
	offer(j, ING_PART_TITLE, &title);
	offer(j, ING_PART_ABSTRACT, &abstract);
	const struct ing_buf *texts[] = {&title, &abstract, &body};
	for (size_t i = 0; i < ING_ARRAY_LEN(texts) && body.len > 0; i++) {
		if (all.len > 0 && texts[i]->len > 0)
			ing_buf_add_str(&all, "\n\n");
		ing_buf_add(&all, ing_buf_str(texts[i]), texts[i]->len);
	}
	offer(j, ING_PART_FULLTEXT, &all);
	ing_buf_done(&title);
	ing_buf_done(&abstract);
	ing_buf_done(&body);
	ing_buf_done(&all);
}

/* --- fields --- */

static int number_below(const struct jats *j, ing_node n, const char *name, int min, int max)
{
	const char *text = ing_element_text_dup(j->t, ing_element_child(j->t, n, name), j->ar, 32);
	char *end = NULL;
	long v = text != NULL ? strtol(text, &end, 10) : -1;
	return text != NULL && *end == '\0' && v >= min && v <= max ? (int)v : -1;
}

/* The earliest publication that is known to the day. */
static const char *read_date(const struct jats *j)
{
	char best[16] = "";
	ing_node n = ing_element_child(j->t, j->meta, "pub-date");
	for (; n != ING_NODE_NONE; n = ing_element_sibling(j->t, n, "pub-date")) {
		char date[48];
		int year = number_below(j, n, "year", 1000, 9999);
		int month = number_below(j, n, "month", 1, 12);
		int day = number_below(j, n, "day", 1, 31);
		snprintf(date, sizeof(date), "%04d-%02d-%02d", year, month, day);
		if (year > 0 && month > 0 && day > 0 && (best[0] == '\0' || strcmp(date, best) < 0))
			memcpy(best, date, sizeof("YYYY-MM-DD"));
	}
	return best[0] != '\0' ? ing_arena_strdup(j->ar, best) : NULL;
}

/* Its address, or its words. */
static const char *licence_of(const struct jats *j)
{
	ing_node n = ing_element_below(j->t, j->meta, "license");
	const char *href = n != ING_NODE_NONE ? ing_tree_attr(j->t, n, "xlink:href", NULL) : NULL;
	if (href != NULL && *href != '\0')
		return href;
	ing_node ref = ing_element_below(j->t, n, "ali:license_ref");
	return ing_element_text_dup(j->t, ref != ING_NODE_NONE ? ref : n, j->ar, MAX_LICENCE_BYTES);
}

/* PMC gives the manuscripts that authors have deposited a number. */
static bool has_manuscript_id(const struct jats *j)
{
	ing_node n = ing_element_child(j->t, j->meta, "article-id");
	for (; n != ING_NODE_NONE; n = ing_element_sibling(j->t, n, "article-id"))
		if (ing_element_attr_is(j->t, n, "pub-id-type", "manuscript"))
			return true;
	return false;
}

static bool names_creative_commons(const struct jats *j, ing_node license)
{
	const char *text = ing_element_text_dup(j->t, license, j->ar, MAX_LICENCE_BYTES);
	return text != NULL && strcasestr(text, "creative commons") != NULL;
}

/* A licence is open by its type, or by being of Creative Commons. */
static bool is_open_access(const struct jats *j)
{
	ing_node n = j->meta;
	while ((n = ing_tree_next_named(j->t, n, j->meta, "license")) != ING_NODE_NONE) {
		const char *href = ing_tree_attr(j->t, n, "xlink:href", NULL);
		if (ing_element_attr_is(j->t, n, "license-type", "open-access") ||
			(href != NULL && strstr(href, "creativecommons.org/") != NULL) ||
			names_creative_commons(j, n))
			return true;
	}
	return false;
}

static void read_facts(const struct jats *j, struct ing_jats *ret)
{
	j->fields->journal_title = ing_element_text_dup(
		j->t, ing_element_below(j->t, j->front, "journal-title"), j->ar, MAX_FIELD_BYTES);
	j->fields->pub_date = read_date(j);
	j->fields->oa = is_open_access(j);
	ret->licence = licence_of(j);
	ret->publisher = ing_element_text_dup(
		j->t, ing_element_below(j->t, j->front, "publisher-name"), j->ar, MAX_FIELD_BYTES);
	ret->is_manuscript = has_manuscript_id(j);
}

/* -------------------------------------------------------------------------------------------- */

bool ing_jats_read(
	struct ing_tree *t, enum ing_part_type type, struct ing_arena *ar, struct ing_jats *ret)
{
	struct jats j = {.t = t, .ar = ar, .type = type};
	j.article = ing_element_below(t, ING_NODE_DOCUMENT, "article");
	if (j.article == ING_NODE_NONE)
		return false;
	*ret = (struct ing_jats){0};
	j.fields = ing_arena_alloc(ar, sizeof(*j.fields));
	ing_parts_init(&j.fields->parts, ar);
	mark_blocks(t);
	hide_object_ids(t, j.article);
	ing_jats_tidy_math(t, j.article, ar);
	j.front = ing_element_child(t, j.article, "front");
	j.meta = ing_element_child(t, j.front, "article-meta");
	if (j.meta == ING_NODE_NONE)
		j.meta = j.front;
	if (j.front != ING_NODE_NONE) {
		read_ids(&j);
		read_keywords(&j);
		read_facts(&j, ret);
		j.fields->authors = ing_jats_authors(t, j.meta, ar, ret);
	}
	read_texts(&j);
	ret->is_preprint = ing_element_attr_is(t, j.article, "article-type", "preprint");
	ret->fields = j.fields;
	return true;
}

json_t *ing_jats_publication(struct ing_tree *t, enum ing_part_type type, struct ing_arena *ar)
{
	struct ing_jats found;
	return ing_jats_read(t, type, ar, &found) ? ing_publication_fields_json(found.fields)
						  : NULL;
}
