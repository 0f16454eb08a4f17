/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The record's members and where TEI has them. What the record lacks is left out, but for what TEI
 * demands: a title, a publication and a source.
 */
#include "worker/document/text/tei_header.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char *text_of(const json_t *biblio, const char *key)
{
	const char *s = ing_json_get_text(biblio, key);
	return s != NULL && *s != '\0' ? s : NULL;
}

static void leaf_with(struct ing_tei_xml *x, const char *name, const char *attr, const char *value,
	const char *text)
{
	if (text == NULL)
		return;
	ing_tei_xml_start(x, name);
	ing_tei_xml_attr(x, attr, value);
	ing_tei_xml_text(x, text, strlen(text));
	ing_tei_xml_end(x, name);
}

static void start(struct ing_tei_xml *x, const char *name)
{
	ing_tei_xml_start(x, name);
	ing_tei_xml_line(x);
}

static void end(struct ing_tei_xml *x, const char *name)
{
	ing_tei_xml_end(x, name);
	ing_tei_xml_line(x);
}

/* --- persons --- */

static void add_name(struct ing_tei_xml *x, const json_t *person)
{
	const char *given = text_of(person, "given_name"), *surname = text_of(person, "surname");
	ing_tei_xml_start(x, "persName");
	if (surname != NULL) {
		ing_tei_xml_leaf(x, "forename", given);
		if (given != NULL)
			ing_tei_xml_text(x, " ", 1);
		ing_tei_xml_leaf(x, "surname", surname);
	} else {
		const char *name = text_of(person, "name");
		name = name != NULL ? name : given;
		ing_tei_xml_text(x, name != NULL ? name : "", name != NULL ? strlen(name) : 0);
	}
	ing_tei_xml_end(x, "persName");
}

static void add_person(struct ing_tei_xml *x, const json_t *person)
{
	const json_t *affiliations = json_object_get(person, "affiliations");
	ing_tei_xml_start(x, "author");
	add_name(x, person);
	ing_tei_xml_leaf(x, "email", text_of(person, "email"));
	leaf_with(x, "idno", "type", "ORCID", text_of(person, "orcid"));
	for (size_t i = 0; i < json_array_size(affiliations); i++)
		ing_tei_xml_leaf(
			x, "affiliation", json_string_value(json_array_get(affiliations, i)));
	end(x, "author");
}

static void add_authors(struct ing_tei_xml *x, const json_t *biblio)
{
	const json_t *persons = json_object_get(biblio, "contribs");
	const json_t *names = json_object_get(biblio, "contrib_names");
	for (size_t i = 0; i < json_array_size(persons); i++)
		add_person(x, json_array_get(persons, i));
	for (size_t i = 0; i < json_array_size(names) && json_array_size(persons) == 0; i++) {
		const char *name = json_string_value(json_array_get(names, i));
		if (name == NULL)
			continue;
		ing_tei_xml_start(x, "author");
		ing_tei_xml_leaf(x, "persName", name);
		end(x, "author");
	}
}

/* --- the work --- */

static void add_ids(
	struct ing_tei_xml *x, const json_t *biblio, const char *const (*ids)[2], size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *value = text_of(biblio, ids[i][0]);
		leaf_with(x, "idno", "type", ids[i][1], value);
		if (value != NULL)
			ing_tei_xml_line(x);
	}
}

static void add_date(struct ing_tei_xml *x, const json_t *biblio)
{
	char year[32];
	const char *date = text_of(biblio, "release_date");
	int64_t y = ing_json_get_number(biblio, "release_year");
	snprintf(year, sizeof(year), "%lld", (long long)y);
	if (date == NULL && y >= 1000 && y <= 9999)
		date = year;
	ing_tei_xml_start(x, "date");
	if (date != NULL) {
		ing_tei_xml_attr(x, "when", date);
		ing_tei_xml_text(x, date, strlen(date));
	}
	end(x, "date");
}

static void add_pages(struct ing_tei_xml *x, const json_t *biblio)
{
	const char *first = text_of(biblio, "first_page"), *last = text_of(biblio, "last_page");
	if (first == NULL)
		return;
	ing_tei_xml_start(x, "biblScope");
	ing_tei_xml_attr(x, "unit", "page");
	ing_tei_xml_text(x, first, strlen(first));
	if (last != NULL && strcmp(first, last) != 0) {
		ing_tei_xml_text(x, "-", 1);
		ing_tei_xml_text(x, last, strlen(last));
	}
	end(x, "biblScope");
}

static void add_monograph(struct ing_tei_xml *x, const json_t *biblio)
{
	static const char *const ids[][2] = {
		{"container_issn", "ISSN"}, {"isbn13", "ISBN"}, {"isbn", "ISBN"}};
	start(x, "monogr");
	const char *journal = text_of(biblio, "container_name");
	ing_tei_xml_start(x, "title");
	ing_tei_xml_attr(x, "level", "j");
	ing_tei_xml_text(x, journal != NULL ? journal : "", journal != NULL ? strlen(journal) : 0);
	end(x, "title");
	add_ids(x, biblio, ids, ING_ARRAY_LEN(ids));
	start(x, "imprint");
	ing_tei_xml_leaf(x, "publisher", text_of(biblio, "publisher"));
	add_date(x, biblio);
	leaf_with(x, "biblScope", "unit", "volume", text_of(biblio, "volume"));
	leaf_with(x, "biblScope", "unit", "issue", text_of(biblio, "issue"));
	add_pages(x, biblio);
	end(x, "imprint");
	end(x, "monogr");
}

static void add_title(struct ing_tei_xml *x, const char *title)
{
	ing_tei_xml_start(x, "title");
	ing_tei_xml_attr(x, "level", "a");
	ing_tei_xml_attr(x, "type", "main");
	ing_tei_xml_text(x, title, strlen(title));
	end(x, "title");
}

static void add_source(struct ing_tei_xml *x, const json_t *biblio, const char *title)
{
	static const char *const ids[][2] = {{"doi", "DOI"}, {"pmid", "PMID"}, {"pmcid", "PMCID"}};
	start(x, "sourceDesc");
	start(x, "biblStruct");
	start(x, "analytic");
	add_title(x, title);
	leaf_with(x, "title", "type", "sub", text_of(biblio, "subtitle"));
	add_authors(x, biblio);
	add_ids(x, biblio, ids, ING_ARRAY_LEN(ids));
	end(x, "analytic");
	add_monograph(x, biblio);
	end(x, "biblStruct");
	end(x, "sourceDesc");
}

static void add_publication(struct ing_tei_xml *x, const json_t *biblio)
{
	const char *publisher = text_of(biblio, "publisher"), *license = text_of(biblio, "license");
	start(x, "publicationStmt");
	if (publisher == NULL) {
		ing_tei_xml_start(x, "p");
		if (license != NULL)
			ing_tei_xml_text(x, license, strlen(license));
		end(x, "p");
	} else {
		ing_tei_xml_leaf(x, "publisher", publisher);
		if (license != NULL) {
			ing_tei_xml_start(x, "availability");
			ing_tei_xml_leaf(x, "licence", license);
			ing_tei_xml_end(x, "availability");
		}
	}
	end(x, "publicationStmt");
}

static void add_application(struct ing_tei_xml *x, const struct ing_tei_source *source)
{
	start(x, "encodingDesc");
	ing_tei_xml_start(x, "appInfo");
	ing_tei_xml_start(x, "application");
	ing_tei_xml_attr(x, "ident", source->agent);
	ing_tei_xml_attr(x, "version", source->agent_version);
	ing_tei_xml_leaf(x, "label", source->agent);
	ing_tei_xml_end(x, "application");
	end(x, "appInfo");
	end(x, "encodingDesc");
}

static void add_keywords(struct ing_tei_xml *x, const json_t *biblio)
{
	const json_t *keywords = json_object_get(biblio, "keywords");
	bool any = false;
	for (size_t i = 0; i < json_array_size(keywords); i++) {
		const char *s = json_string_value(json_array_get(keywords, i));
		if (s == NULL || *s == '\0')
			continue;
		if (!any) {
			ing_tei_xml_start(x, "textClass");
			start(x, "keywords");
		}
		any = true;
		ing_tei_xml_leaf(x, "term", s);
		ing_tei_xml_line(x);
	}
	if (any) {
		ing_tei_xml_end(x, "keywords");
		end(x, "textClass");
	}
}

static void add_profile(struct ing_tei_xml *x, const struct ing_tei_source *source)
{
	char language[ING_TEI_LANGUAGE_BYTES];
	const char *abstract = text_of(source->biblio, "abstract");
	start(x, "profileDesc");
	if (ing_tei_language(source->language, language) != NULL) {
		ing_tei_xml_start(x, "langUsage");
		ing_tei_xml_start(x, "language");
		ing_tei_xml_attr(x, "ident", language);
		ing_tei_xml_end(x, "language");
		end(x, "langUsage");
	}
	add_keywords(x, source->biblio);
	if (abstract != NULL) {
		ing_tei_xml_start(x, "abstract");
		ing_tei_xml_leaf(x, "p", abstract);
		end(x, "abstract");
	}
	end(x, "profileDesc");
}

/* -------------------------------------------------------------------------------------------- */

const char *ing_tei_language(const char *tag, char out[ING_TEI_LANGUAGE_BYTES])
{
	size_t n = 0, part = 0;
	bool first = true;
	if (tag == NULL)
		return NULL;
	for (; tag[n] != '\0'; n++) {
		if (n == ING_TEI_LANGUAGE_BYTES - 1)
			return NULL;
		char c = tag[n] == '_' ? '-' : tag[n];
		bool divides = c == '-';
		if (divides ? part == 0
			    : part == 8 || !(first ? isalpha((unsigned char)c)
						   : isalnum((unsigned char)c)))
			return NULL;
		part = divides ? 0 : part + 1;
		first = first && !divides;
		out[n] = c;
	}
	out[n] = '\0';
	return part > 0 ? out : NULL;
}

void ing_tei_header(struct ing_tei_xml *x, const struct ing_tei_source *source)
{
	const char *title = text_of(source->biblio, "title");
	if (title == NULL)
		title = source->title != NULL ? source->title : "";
	start(x, "teiHeader");
	start(x, "fileDesc");
	start(x, "titleStmt");
	add_title(x, title);
	end(x, "titleStmt");
	add_publication(x, source->biblio);
	add_source(x, source->biblio, title);
	end(x, "fileDesc");
	add_application(x, source);
	add_profile(x, source);
	end(x, "teiHeader");
}
