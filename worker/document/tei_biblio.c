/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Records of GROBID's TEI. One pass over a record's elements finds the first element of each member
 * by its name and one attribute (the table below); authors and editors are taken as they come.
 */
#include "worker/document/tei_biblio.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/macros.h"
#include "common/base/utf8.h"

#define MAX_FIELD_BYTES ((size_t)8192) /* the longest reference strings have 2 KB */
#define MEMBER_BYTES ((size_t)24)      /* of JSON around a text, roughly */

/* X(field, element, attribute, value, parent): the first element in the record with this name, and
 * where they are given, with this value of the attribute and below this parent. */
#define MEMBERS(X)                                                                                 \
	X(TITLE, "title", "type", "main", NULL)                                                    \
	X(JOURNAL, "title", "level", "j", NULL)                                                    \
	X(BOOK, "title", "level", "m", NULL)                                                       \
	X(SERIES, "title", "level", "s", NULL)                                                     \
	X(PUBLISHER, "publisher", NULL, NULL, "publicationstmt")                                   \
	X(IMPRINT_PUBLISHER, "publisher", NULL, NULL, "imprint")                                   \
	X(INSTITUTION, "orgname", NULL, NULL, "respstmt")                                          \
	X(VOLUME, "biblscope", "unit", "volume", NULL)                                             \
	X(ISSUE, "biblscope", "unit", "issue", NULL)                                               \
	X(PAGE, "biblscope", "unit", "page", NULL)                                                 \
	X(DATE, "date", "type", "published", NULL)                                                 \
	X(NOTE, "note", NULL, NULL, NULL)                                                          \
	X(RAW, "note", "type", "raw_reference", NULL)                                              \
	X(POINTER, "ptr", "target", NULL, NULL)                                                    \
	X(DOI, "idno", "type", "DOI", NULL)                                                        \
	X(PMID, "idno", "type", "PMID", NULL)                                                      \
	X(PMCID, "idno", "type", "PMCID", NULL)                                                    \
	X(ARXIV, "idno", "type", "arXiv", NULL)                                                    \
	X(PII, "idno", "type", "PII", NULL)                                                        \
	X(ARK, "idno", "type", "ark", NULL)                                                        \
	X(ISTEX, "idno", "type", "istexId", NULL)                                                  \
	X(ISSN, "idno", "type", "ISSN", NULL)                                                      \
	X(EISSN, "idno", "type", "eISSN", NULL)

enum member {
#define X(field, ...) MEMBER_##field,
	MEMBERS(X)
#undef X
		MEMBERS_
};

static const struct {
	const char *element, *attr, *value, *parent;
} members[MEMBERS_] = {
#define X(field, element, attr, value, parent) [MEMBER_##field] = {element, attr, value, parent},
	MEMBERS(X)
#undef X
};

struct ing_tei_names {
	const struct ing_tree *t;
	struct {
		uint32_t element, attr, parent; /* UINT32_MAX: the tree has no such name */
	} members[MEMBERS_];
	uint32_t author, editor, contributor;
};

/* A record on its way to JSON. */
struct record {
	const struct ing_tei_names *names;
	const struct ing_tree *t;
	ing_node at[MEMBERS_];
	json_t *o, *authors, *editors;
	size_t *room;
};

static uint32_t find_name(const struct ing_tree *t, const char *name)
{
	return name != NULL ? ing_tree_find_name(t, name, strlen(name)) : UINT32_MAX;
}

/* --- texts --- */

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Append with white space folded, in whole characters; *gap: a blank is due before the next one. */
static void fold(struct ing_buf *out, const char *s, size_t bytes, bool *gap)
{
	for (size_t i = 0, n; i < bytes && !out->failed; i += n) {
		n = ING_MAX(ing_utf8_sequence(s + i, bytes - i), (size_t)1);
		if (is_space(s[i])) {
			*gap = true;
			continue;
		}
		if (*gap && out->len > 0)
			ing_buf_add_char(out, ' ');
		*gap = false;
		ing_buf_add(out, s + i, n);
	}
}

static char *finish_text(struct ing_buf *b)
{
	if (b->len > 0)
		return ing_buf_steal(b);
	ing_buf_done(b);
	return NULL;
}

char *ing_tei_text(const struct ing_tree *t, ing_node element, bool words)
{
	struct ing_buf b;
	bool gap = false;
	ing_buf_init(&b, MAX_FIELD_BYTES);
	for (ing_node n = element + 1; n < t->nodes[element].end && !b.failed; n++) {
		const struct ing_tree_node *node = &t->nodes[n];
		if (node->kind == ING_NODE_TEXT || node->kind == ING_NODE_CDATA)
			fold(&b, node->text.data, node->text.bytes, &gap);
		gap |= words && node->kind == ING_NODE_ELEMENT;
	}
	return finish_text(&b);
}

static char *attr_text(const struct ing_tree *t, ing_node n, const char *name)
{
	size_t bytes = 0;
	const char *value = ing_tree_attr(t, n, name, &bytes);
	struct ing_buf b;
	bool gap = false;
	if (value == NULL)
		return NULL;
	ing_buf_init(&b, MAX_FIELD_BYTES);
	fold(&b, value, bytes, &gap);
	return finish_text(&b);
}

static size_t json_bytes(const char *s)
{
	size_t bytes = 0;
	for (; *s != '\0'; s++)
		bytes += *s == '"' || *s == '\\' ? 2 : 1;
	return bytes;
}

/* Takes text. */
static void set_text(struct record *r, json_t *o, const char *key, char *text)
{
	if (text == NULL)
		return;
	size_t cost = strlen(key) + json_bytes(text) + MEMBER_BYTES;
	*r->room -= ING_MIN(cost, *r->room);
	ing_json_set_text(o, key, text);
	free(text);
}

static char *member_text(const struct record *r, enum member m)
{
	return r->at[m] != ING_NODE_NONE ? ing_tei_text(r->t, r->at[m], false) : NULL;
}

static bool has_attr(const struct ing_tree *t, ing_node n, const char *name, const char *value)
{
	const char *s = ing_tree_attr(t, n, name, NULL);
	return s != NULL && strcmp(s, value) == 0;
}

/* --- persons --- */

static ing_node next_child(const struct ing_tree *t, ing_node parent, ing_node before)
{
	return before == ING_NODE_NONE ? ing_tree_first_child(t, parent)
				       : ing_tree_next_sibling(t, before);
}

static ing_node child_named(
	const struct ing_tree *t, ing_node parent, const char *name, const char *type)
{
	ing_node n = ING_NODE_NONE;
	while ((n = next_child(t, parent, n)) != ING_NODE_NONE)
		if (ing_tree_is(t, n, name) && (type == NULL || has_attr(t, n, "type", type)))
			return n;
	return ING_NODE_NONE;
}

static void set_child(struct record *r, json_t *o, const char *key, ing_node parent,
	const char *name, const char *type)
{
	ing_node n = child_named(r->t, parent, name, type);
	if (n != ING_NODE_NONE)
		set_text(r, o, key, ing_tei_text(r->t, n, false));
}

/* Takes part; an empty one is left out. */
static void set_part(json_t *o, const char *key, json_t *part)
{
	if (json_object_size(part) > 0)
		ing_json_set(o, key, part);
	else
		json_decref(part);
}

static json_t *address_json(struct record *r, ing_node address)
{
	json_t *o = json_object();
	set_child(r, o, "addr_line", address, "addrline", NULL);
	set_child(r, o, "post_code", address, "postcode", NULL);
	set_child(r, o, "settlement", address, "settlement", NULL);
	set_child(r, o, "country", address, "country", NULL);
	return o;
}

static json_t *affiliation_json(struct record *r, ing_node affiliation)
{
	json_t *o = json_object();
	set_child(r, o, "institution", affiliation, "orgname", "institution");
	set_child(r, o, "department", affiliation, "orgname", "department");
	set_child(r, o, "laboratory", affiliation, "orgname", "laboratory");
	ing_node address = child_named(r->t, affiliation, "address", NULL);
	if (json_object_size(o) > 0 && address != ING_NODE_NONE)
		set_part(o, "address", address_json(r, address));
	return o;
}

static json_t *person_json(struct record *r, ing_node name)
{
	json_t *o = json_object();
	set_text(r, o, "full_name", ing_tei_text(r->t, name, true));
	set_child(r, o, "given_name", name, "forename", "first");
	set_child(r, o, "middle_name", name, "forename", "middle");
	set_child(r, o, "surname", name, "surname", NULL);
	return o;
}

static void set_orcid(struct record *r, json_t *o, ing_node author)
{
	ing_node n = author;
	while ((n = ing_tree_next_named(r->t, n, author, "idno")) != ING_NODE_NONE) {
		if (!has_attr(r->t, n, "type", "ORCID"))
			continue;
		set_text(r, o, "orcid", ing_tei_text(r->t, n, false));
		return;
	}
}

/* GROBID writes an author without a name for an affiliation that nobody has. */
static void add_author(struct record *r, ing_node author)
{
	ing_node name = child_named(r->t, author, "persname", NULL);
	if (name == ING_NODE_NONE)
		return;
	json_t *o = person_json(r, name);
	set_orcid(r, o, author);
	set_child(r, o, "email", author, "email", NULL);
	ing_node affiliation = child_named(r->t, author, "affiliation", NULL);
	if (affiliation != ING_NODE_NONE)
		set_part(o, "affiliation", affiliation_json(r, affiliation));
	if (json_object_size(o) > 0)
		ing_json_append(r->authors, o);
	else
		json_decref(o);
}

static bool has_element_child(const struct ing_tree *t, ing_node parent)
{
	ing_node n = ING_NODE_NONE;
	while ((n = next_child(t, parent, n)) != ING_NODE_NONE)
		if (t->nodes[n].kind == ING_NODE_ELEMENT)
			return true;
	return false;
}

/* One element may name several persons, or have a bare name. */
static void add_editors(struct record *r, ing_node editor)
{
	ing_node n = ING_NODE_NONE;
	while ((n = next_child(r->t, editor, n)) != ING_NODE_NONE && *r->room > 0) {
		if (!ing_tree_is(r->t, n, "persname"))
			continue;
		json_t *o = person_json(r, n);
		if (json_object_size(o) > 0)
			ing_json_append(r->editors, o);
		else
			json_decref(o);
	}
	if (has_element_child(r->t, editor))
		return;
	char *name = ing_tei_text(r->t, editor, false);
	if (name == NULL || strlen(name) < 2) {
		free(name);
		return;
	}
	json_t *o = json_object();
	set_text(r, o, "full_name", name);
	ing_json_append(r->editors, o);
}

/* --- members --- */

static bool matches(const struct record *r, enum member m, ing_node n)
{
	const struct ing_tree *t = r->t;
	if (t->nodes[n].el.name != r->names->members[m].element)
		return false;
	if (members[m].parent != NULL) {
		const struct ing_tree_node *parent = &t->nodes[t->nodes[n].parent];
		return parent->el.name == r->names->members[m].parent;
	}
	if (members[m].attr == NULL)
		return true;
	const struct ing_tree_attr *a = ing_tree_attr_of(t, n, r->names->members[m].attr);
	return a != NULL && (members[m].value == NULL || strcmp(a->value, members[m].value) == 0);
}

static void collect(struct record *r, ing_node record)
{
	const struct ing_tree *t = r->t;
	ing_node person_end = 0; /* persons inside of persons are none */
	for (ing_node n = record + 1; n < t->nodes[record].end; n++) {
		if (t->nodes[n].kind != ING_NODE_ELEMENT)
			continue;
		for (int m = 0; m < MEMBERS_; m++)
			if (r->at[m] == ING_NODE_NONE && matches(r, (enum member)m, n))
				r->at[m] = n;
		uint32_t name = t->nodes[n].el.name;
		if (n < person_end || *r->room == 0)
			continue;
		bool author = name == r->names->author;
		if (author)
			add_author(r, n);
		bool editor = name == r->names->editor ||
			      (name == r->names->contributor && has_attr(t, n, "role", "editor"));
		if (editor)
			add_editors(r, n);
		if (author || editor)
			person_end = t->nodes[n].end;
	}
}

static void set_titles(struct record *r)
{
	char *title = member_text(r, MEMBER_TITLE);
	char *book = NULL;
	if (r->at[MEMBER_BOOK] != ING_NODE_NONE &&
		ing_tree_attr(r->t, r->at[MEMBER_BOOK], "type", NULL) == NULL)
		book = member_text(r, MEMBER_BOOK);
	if (title == NULL)
		title = ING_TAKE(book);
	set_text(r, r->o, "title", title);
	set_text(r, r->o, "book_title", book);
	set_text(r, r->o, "series_title", member_text(r, MEMBER_SERIES));
	ing_node journal = r->at[MEMBER_JOURNAL];
	set_text(r, r->o, "journal", member_text(r, MEMBER_JOURNAL));
	if (journal != ING_NODE_NONE && has_attr(r->t, journal, "type", "abbrev"))
		set_text(r, r->o, "journal_abbrev", member_text(r, MEMBER_JOURNAL));
}

static void set_pages(struct record *r)
{
	ing_node n = r->at[MEMBER_PAGE];
	if (n == ING_NODE_NONE)
		return;
	char *first = attr_text(r->t, n, "from");
	char *last = attr_text(r->t, n, "to");
	if (first != NULL && last != NULL) {
		struct ing_buf b;
		ing_buf_init(&b, 2 * MAX_FIELD_BYTES + 1);
		ing_buf_printf(&b, "%s-%s", first, last);
		set_text(r, r->o, "pages", ing_buf_steal(&b));
	} else
		set_text(r, r->o, "pages", member_text(r, MEMBER_PAGE));
	set_text(r, r->o, "first_page", first);
	set_text(r, r->o, "last_page", last);
}

static bool begins(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

/* GROBID sometimes takes what stands around a URL for a part of it. */
static void set_url(struct record *r)
{
	static const char access_note[] = ".Lastaccessed";
	char *url = r->at[MEMBER_POINTER] != ING_NODE_NONE
			    ? attr_text(r->t, r->at[MEMBER_POINTER], "target")
			    : NULL;
	if (url == NULL)
		return;
	char *start = url[0] == '<' ? url + 1 : url;
	start[strcspn(start, ">")] = '\0';
	size_t bytes = strlen(start);
	if (bytes >= sizeof(access_note) - 1 &&
		strcmp(start + bytes - (sizeof(access_note) - 1), access_note) == 0)
		start[bytes - (sizeof(access_note) - 1)] = '\0';
	bool of_doi =
		json_object_get(r->o, "doi") != NULL &&
		(strstr(start, "://doi.org/") != NULL || strstr(start, "://dx.doi.org/") != NULL);
	if (start[0] != '\0' && !of_doi)
		set_text(r, r->o, "url", ing_strdup(start));
	free(url);
}

static void set_identifiers(struct record *r)
{
	static const struct {
		const char *key;
		enum member member;
	} plain[] = {
		{"doi", MEMBER_DOI},
		{"pmid", MEMBER_PMID},
		{"pmcid", MEMBER_PMCID},
		{"pii", MEMBER_PII},
		{"ark", MEMBER_ARK},
		{"istex_id", MEMBER_ISTEX},
		{"issn", MEMBER_ISSN},
		{"eissn", MEMBER_EISSN},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(plain); i++)
		set_text(r, r->o, plain[i].key, member_text(r, plain[i].member));
	char *arxiv = member_text(r, MEMBER_ARXIV);
	if (arxiv != NULL)
		set_text(r, r->o, "arxiv_id",
			ing_strdup(begins(arxiv, "arXiv:") ? arxiv + 6 : arxiv));
	free(arxiv);
}

static void set_rest(struct record *r)
{
	char *publisher = member_text(r, MEMBER_PUBLISHER);
	if (publisher == NULL)
		publisher = member_text(r, MEMBER_IMPRINT_PUBLISHER);
	set_text(r, r->o, "publisher", publisher);
	set_text(r, r->o, "institution", member_text(r, MEMBER_INSTITUTION));
	set_text(r, r->o, "volume", member_text(r, MEMBER_VOLUME));
	set_text(r, r->o, "issue", member_text(r, MEMBER_ISSUE));
	if (r->at[MEMBER_DATE] != ING_NODE_NONE)
		set_text(r, r->o, "date", attr_text(r->t, r->at[MEMBER_DATE], "when"));
	set_text(r, r->o, "unstructured", member_text(r, MEMBER_RAW));
	ing_node note = r->at[MEMBER_NOTE];
	if (note != ING_NODE_NONE && ing_tree_attr(r->t, note, "type", NULL) == NULL)
		set_text(r, r->o, "note", member_text(r, MEMBER_NOTE));
}

/* -------------------------------------------------------------------------------------------- */

struct ing_tei_names *ing_tei_names_new(const struct ing_tree *t)
{
	struct ing_tei_names *names = ing_alloc(sizeof(*names));
	names->t = t;
	for (int m = 0; m < MEMBERS_; m++) {
		names->members[m].element = find_name(t, members[m].element);
		names->members[m].attr = find_name(t, members[m].attr);
		names->members[m].parent = find_name(t, members[m].parent);
	}
	names->author = find_name(t, "author");
	names->editor = find_name(t, "editor");
	names->contributor = find_name(t, "contributor");
	return names;
}

void ing_tei_names_free(struct ing_tei_names *names)
{
	free(names);
}

json_t *ing_tei_biblio(const struct ing_tei_names *names, ing_node record, size_t *room)
{
	struct record r = {.names = names,
		.t = names->t,
		.o = json_object(),
		.authors = json_array(),
		.editors = json_array(),
		.room = room};
	for (int m = 0; m < MEMBERS_; m++)
		r.at[m] = ING_NODE_NONE;
	collect(&r, record);
	ing_json_set(r.o, "authors", r.authors);
	if (json_array_size(r.editors) > 0)
		ing_json_set(r.o, "editors", r.editors);
	else
		json_decref(r.editors);
	set_titles(&r);
	set_identifiers(&r);
	set_rest(&r);
	set_pages(&r);
	set_url(&r);
	return r.o;
}
