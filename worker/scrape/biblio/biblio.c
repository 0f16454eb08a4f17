/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One table has the elements of each field in their order; the first with a valid value wins. Then
 * JSON-LD fills fields that are still empty. The record has a budget of bytes and lists come last,
 * so that a page full of references still has its title.
 */
#include "worker/scrape/biblio/biblio.h"

#include <string.h>
#include <strings.h>

#include "common/base/macros.h"
#include "common/base/utf8.h"
#include "worker/model/limits.h"
#include "worker/scrape/biblio/biblio_priv.h"
#include "worker/scrape/biblio/date.h"
#include "worker/scrape/biblio/ident.h"
#include "worker/scrape/biblio/meta.h"

#define MAX_IDENT_BYTES 4096
#define MAX_RAW_DATE_BYTES 1000
#define MAX_WORK_BYTES ((size_t)32 << 20) /* cleaned for one record; honest ones have 200 KB */

/* A source is a name, looked up as name= and property=, with '.' matching ':' too; prefixes select
 * another attribute: '@' itemprop, '#' id; '?': only with scheme=doi. */
#define BOTH(name) name, "bepress_" name

static const char *const order[] = {"title", "subtitle", "doi", "pmid", "pmcid", "abstract",
	"container_name", "container_abbrev", "container_issn", "isbn", "isbn13", "volume", "issue",
	"number", "first_page", "last_page", "publisher", "lang", "license", "contrib_names",
	"contribs", "raw_references", "raw_identifiers", "keywords", "release_type", "release_date",
	"release_year", "raw_release_type", "raw_date"};

struct field {
	const char *key;
	const char *const *sources; /* ends with NULL */
};

#define SOURCES(...) ((const char *const[]){__VA_ARGS__, NULL})

static const struct field texts[] = {
	{"title", SOURCES("citation_title", "eprints.title", "prism.title",
			  "bepress_citation_title", "og.title", "dcterms.title", "dc.title")},
	{"subtitle", SOURCES("prism.subtitle")},
	{"abstract", SOURCES(BOTH("citation_abstract"), "eprints.abstract", "dcterms.abstract",
			     "prism.teaser", "dc.description", "og.description")},
	{"container_name",
		SOURCES(BOTH("citation_journal_title"), BOTH("citation_conference_title"),
			"prism.publicationname", "eprints.publication", "dc.relation.ispartof",
			"dc.source", "citation_inbook_title")},
	{"container_abbrev", SOURCES("citation_journal_abbrev")},
	{"container_issn", SOURCES(BOTH("citation_issn"), "prism.issn", "prism.eissn",
				   "eprints.issn", "dc.source.issn")},
	{"isbn", SOURCES(BOTH("citation_isbn"), "prism.isbn")},
	{"volume", SOURCES(BOTH("citation_volume"), "prism.volume", "dc.citation.volume")},
	{"issue", SOURCES(BOTH("citation_issue"), "prism.issueidentifier", "dc.citation.issue")},
	{"number", SOURCES(BOTH("citation_technical_report_number"), BOTH("citation_number"),
			   "prism.number")},
	{"first_page",
		SOURCES(BOTH("citation_firstpage"), "prism.startingpage", "dc.citation.spage")},
	{"last_page", SOURCES(BOTH("citation_lastpage"), "prism.endingpage", "dc.citation.epage")},
	{"publisher", SOURCES(BOTH("citation_publisher"), "eprints.publisher",
			      "citation_technical_report_institution", "dcterms.publisher",
			      "dc.publisher", "citation_dissertation_institution")},
	{"lang",
		SOURCES(BOTH("citation_language"), "dcterms.language", "dc.language", "og.locale")},
};

/* The site's name, only used when JSON-LD has none either. */
static const struct field site_name = {"container_name", SOURCES("og.site_name")};

static const char *const dois[] = {"citation_doi", "doi", "#doi", "prism.doi",
	"bepress_citation_doi", "dc.identifier.doi", "?dc.identifier", "dc.doi", NULL};
static const char *const pmids[] = {"citation_pmid", "eprints.pubmed_id", NULL};
static const char *const pmcids[] = {"citation_pmcid", NULL};
static const char *const identifiers[] = {
	"eprints.id_number", "dcterms.identifier", "dc.identifier", NULL};
static const char *const licenses[] = {"citation_license", "dcterms.license", "dc.rights.license",
	"dcterms.rights", "dc.rights", "prism.copyright", NULL};
static const char *const dates[] = {BOTH("citation_publication_date"), "prism.publicationdate",
	BOTH("citation_date"), BOTH("citation_online_date"), "@datepublished", "article.published",
	"article.published_time", "eprints.datestamp", "eprints.date", "dc.date.created",
	"dc.issued", "dcterms.issued", "dc.date.issued", "dcterms.date", "dc.date", NULL};
static const char *const years[] = {"@citation_year", "@prism:copyrightyear", "citation_year",
	"prism.copyrightyear", "dc.date.copyrighted", NULL};
static const char *const types[] = {BOTH("citation_article_type"), "prism.contenttype",
	"eprints.type", "dc.type", "dcterms.type", NULL};
static const char *const authors[] = {BOTH("citation_author"), "eprints.creators_name",
	"dcterms.creator", "article.author", "dc.creator", "dc.creator.personalname",
	"dc.contributor", NULL};
static const char *const author_lists[] = {BOTH("citation_authors"), NULL};
static const char *const references[] = {"citation_reference", NULL};
static const char *const keywords[] = {BOTH("citation_keywords"), BOTH("citation_keyword"),
	"prism.keyword", "eprints.keywords", "dc.subject", "dcterms.subject", "article.tag",
	"keywords", NULL};

/* Types implied by the presence of an element. */
static const struct {
	const char *source, *type;
} implied_types[] = {
	{"citation_dissertation_institution", "thesis"},
	{"citation_technical_report_institution", "report"},
	{"citation_technical_report_number", "report"},
	{"citation_conference_title", "paper-conference"},
	{"citation_inbook_title", "chapter"},
};

/* The element of a source behind `after` that has content. */
static const struct ing_meta *next_meta(
	const struct ing_view *v, const struct ing_meta *after, const char *source)
{
	const struct ing_meta *m = after;
	for (;;) {
		if (*source == '@')
			m = ing_metas_find(v, m, ING_META_ITEMPROP, source + 1);
		else if (*source == '#')
			m = ing_metas_find(v, m, ING_META_ID, source + 1);
		else
			m = ing_metas_find_dotted(v, m, source + (*source == '?'));
		if (m == NULL)
			return NULL;
		bool fits =
			*source != '?' || (m->scheme != NULL && strstr(m->scheme, "doi") != NULL);
		if (fits && m->content_bytes > 0)
			return m;
	}
}

static bool is_set(const json_t *record, const char *key)
{
	return !json_is_null(json_object_get(record, key));
}

/* Takes value; NULL changes nothing. */
static bool set_value(json_t *record, const char *key, json_t *value)
{
	return value != NULL && json_object_set_new_nocheck(record, key, value) == 0;
}

static void read_text(struct ing_biblio_ctx *ctx, json_t *record, const struct field *f)
{
	for (const char *const *source = f->sources; *source != NULL; source++) {
		const struct ing_meta *m = NULL;
		while ((m = next_meta(ctx->v, m, *source)) != NULL) {
			json_t *text = ing_biblio_string(ctx, m->content, m->content_bytes);
			if (set_value(record, f->key, text))
				return;
		}
	}
}

typedef bool find_f(const char *s, size_t bytes, struct ing_buf *ret);

static bool find_whole_doi(const char *s, size_t bytes, struct ing_buf *ret)
{
	return ing_ident_doi(s, bytes, false, ret);
}

static bool set_ident(struct ing_biblio_ctx *ctx, json_t *record, const char *key, find_f *find,
	const char *s, size_t bytes)
{
	struct ing_buf id;
	ing_buf_init(&id, MAX_IDENT_BYTES);
	bool done = bytes <= ING_MAX_BIBLIO_VALUE && find(s, bytes, &id) &&
		    set_value(record, key, ing_biblio_clean_string(ctx, id.data, id.len));
	ing_buf_done(&id);
	return done;
}

static void read_ident(struct ing_biblio_ctx *ctx, json_t *record, const char *key,
	const char *const *sources, find_f *find)
{
	for (; *sources != NULL && !is_set(record, key); sources++) {
		const struct ing_meta *m = NULL;
		while ((m = next_meta(ctx->v, m, *sources)) != NULL) {
			if (set_ident(ctx, record, key, find, m->content, m->content_bytes))
				break;
		}
	}
}

/* An ISSN in its usual form if it is one; else it stays as the page has it. An ISBN stays, without
 * the word in front of it, and gives isbn13. */
static void normalise_numbers(struct ing_biblio_ctx *ctx, json_t *record)
{
	const json_t *issn = json_object_get(record, "container_issn");
	const json_t *isbn = json_object_get(record, "isbn");
	if (json_is_string(issn))
		set_ident(ctx, record, "container_issn", ing_ident_issn, json_string_value(issn),
			json_string_length(issn));
	if (!json_is_string(isbn))
		return;
	const char *s = json_string_value(isbn);
	set_ident(ctx, record, "isbn13", ing_ident_isbn13, s, strlen(s));
	const char *digits = s + strcspn(s, "0123456789");
	if (digits > s && *digits != '\0' && is_set(record, "isbn13"))
		set_value(record, "isbn", ing_biblio_clean_string(ctx, digits, strlen(digits)));
}

/* --- dates and types --- */

/* b says all that a says, and the day. */
static bool adds_day(const struct ing_date *a, const struct ing_date *b)
{
	return b->day != 0 && a->day == 0 && a->year == b->year &&
	       (a->month == 0 || a->month == b->month);
}

struct date_reader {
	struct ing_date date; /* year 0: none yet */
	json_t *raw;          /* text of the first that is a date, else of the first */
};

static void add_date(struct ing_biblio_ctx *ctx, struct date_reader *r, const char *s, size_t bytes)
{
	struct ing_date date = {0};
	bool found = ing_date_parse(s, bytes, &date);
	if (r->raw == NULL || (found && r->date.year == 0)) {
		json_t *raw = ing_biblio_string(ctx, s, ing_utf8_cut(s, bytes, MAX_RAW_DATE_BYTES));
		if (raw != NULL) {
			json_decref(r->raw);
			r->raw = raw;
		}
	}
	if (found && (r->date.year == 0 || adds_day(&r->date, &date)))
		r->date = date;
}

static void read_dates(struct ing_biblio_ctx *ctx, json_t *record, const json_t *jsonld)
{
	struct date_reader r = {0};
	const json_t *other = json_object_get(jsonld, "date");
	for (const char *const *source = dates; *source != NULL && r.date.day == 0; source++) {
		const struct ing_meta *m = NULL;
		while (r.date.day == 0 && (m = next_meta(ctx->v, m, *source)) != NULL)
			add_date(ctx, &r, m->content, m->content_bytes);
	}
	if (r.date.day == 0 && other != NULL)
		add_date(ctx, &r, json_string_value(other), json_string_length(other));
	for (const char *const *source = years; *source != NULL && r.date.year == 0; source++) {
		const struct ing_meta *m = next_meta(ctx->v, NULL, *source);
		if (m != NULL)
			ing_date_parse(m->content, m->content_bytes, &r.date);
	}
	set_value(record, "raw_date", r.raw);
	if (r.date.year != 0)
		set_value(record, "release_year", json_integer(r.date.year));
	if (r.date.day != 0)
		set_value(record, "release_date",
			json_sprintf("%04d-%02d-%02d", r.date.year, r.date.month, r.date.day));
}

static void read_type(struct ing_biblio_ctx *ctx, json_t *record, const json_t *jsonld)
{
	const char *type = NULL;
	for (const char *const *source = types; *source != NULL && type == NULL; source++) {
		const struct ing_meta *m = NULL;
		while (type == NULL && (m = next_meta(ctx->v, m, *source)) != NULL) {
			type = ing_release_type(m->content, m->content_bytes);
			if (type != NULL || !is_set(record, "raw_release_type"))
				set_value(record, "raw_release_type",
					ing_biblio_string(ctx, m->content, m->content_bytes));
		}
	}
	for (size_t i = 0; i < ING_ARRAY_LEN(implied_types) && type == NULL; i++) {
		if (next_meta(ctx->v, NULL, implied_types[i].source) != NULL)
			type = implied_types[i].type;
	}
	if (type == NULL)
		type = json_string_value(json_object_get(jsonld, "release_type"));
	if (type != NULL)
		set_value(record, "release_type", json_string_nocheck(type));
}

/* The first licence that is an address, else the first. */
static void read_license(struct ing_biblio_ctx *ctx, json_t *record, const json_t *jsonld)
{
	json_t *other = json_object_get(jsonld, "license");
	const struct ing_meta *text = NULL;
	for (const char *const *source = licenses; *source != NULL; source++) {
		const struct ing_meta *m = NULL;
		while ((m = next_meta(ctx->v, m, *source)) != NULL) {
			const char *s = m->content + strspn(m->content, " \t\r\n");
			if (strncasecmp(s, "http", 4) == 0) {
				set_value(record, "license",
					ing_biblio_string(ctx, m->content, m->content_bytes));
				return;
			}
			text = text == NULL ? m : text;
		}
	}
	if (other != NULL)
		set_value(record, "license", json_incref(other));
	else if (text != NULL)
		set_value(record, "license",
			ing_biblio_string(ctx, text->content, text->content_bytes));
}

/* --- lists --- */

enum list_kind { LIST_WHOLE, LIST_SPLIT, LIST_NAMES };

/* The elements of the first source that gives something. *ret_source may be NULL. */
static json_t *read_list(struct ing_biblio_ctx *ctx, const char *const *sources,
	enum list_kind kind, const char **ret_source)
{
	json_t *list = json_array();
	for (; *sources != NULL && json_array_size(list) == 0; sources++) {
		const struct ing_meta *m = NULL;
		while ((m = next_meta(ctx->v, m, *sources)) != NULL && ctx->left > 0) {
			if (kind == LIST_SPLIT) {
				ing_biblio_append_split(ctx, list, m->content, m->content_bytes);
				continue;
			}
			/* article:author is a profile's address on many sites */
			if (kind == LIST_NAMES && strncasecmp(m->content, "http", 4) == 0)
				continue;
			json_t *text = ing_biblio_string(ctx, m->content, m->content_bytes);
			if (text != NULL && !ing_biblio_append(list, text))
				break;
		}
		if (ret_source != NULL)
			*ret_source = *sources;
	}
	if (json_array_size(list) > 0)
		return list;
	json_decref(list);
	return NULL;
}

static json_t *contribs_of_names(struct ing_biblio_ctx *ctx, const json_t *names)
{
	json_t *list = json_array(), *name;
	size_t i;
	json_array_foreach (names, i, name) {
		size_t bytes = json_string_length(name);
		json_t *copy = ing_biblio_clean_string(ctx, json_string_value(name), bytes);
		if (copy == NULL)
			break;
		json_t *c = ing_contrib_new(ctx, copy);
		if (c == NULL)
			break;
		ing_contrib_split_name(ctx, c);
		ing_biblio_append(list, c);
	}
	return list;
}

static json_t *names_of_contribs(struct ing_biblio_ctx *ctx, const json_t *contribs)
{
	json_t *list = json_array(), *c;
	size_t i;
	json_array_foreach (contribs, i, c) {
		const json_t *name = json_object_get(c, "name");
		ing_biblio_append(list, ing_biblio_clean_string(ctx, json_string_value(name),
						json_string_length(name)));
	}
	return list;
}

static void read_contribs(struct ing_biblio_ctx *ctx, json_t *record, const json_t *jsonld)
{
	const char *source = NULL;
	json_t *more = json_object_get(jsonld, "contribs"), *contribs;
	json_t *names = read_list(ctx, authors, LIST_NAMES, &source);
	bool detailed = names != NULL && (source == authors[0] || source == authors[1]);
	if (names == NULL)
		names = read_list(ctx, author_lists, LIST_SPLIT, NULL);
	if (names == NULL && more != NULL) {
		set_value(record, "contrib_names", names_of_contribs(ctx, more));
		set_value(record, "contribs", json_incref(more));
		return;
	}
	if (names == NULL)
		return;
	contribs = detailed ? ing_contribs_of_metas(ctx, source) : contribs_of_names(ctx, names);
	ing_contribs_enrich(contribs, more);
	set_value(record, "contrib_names", names);
	set_value(record, "contribs", contribs);
}

static void read_lists(struct ing_biblio_ctx *ctx, json_t *record)
{
	json_t *ids = read_list(ctx, identifiers, LIST_WHOLE, NULL);
	set_value(record, "raw_identifiers", ids);
	set_value(record, "keywords", read_list(ctx, keywords, LIST_SPLIT, NULL));
	set_value(record, "raw_references", read_list(ctx, references, LIST_WHOLE, NULL));
}

/* A DOI and an ISBN among the identifiers of no special kind. */
static void read_raw_identifiers(struct ing_biblio_ctx *ctx, json_t *record)
{
	read_ident(ctx, record, "doi", identifiers, find_whole_doi);
	if (is_set(record, "isbn"))
		return;
	for (const char *const *source = identifiers; *source != NULL; source++) {
		const struct ing_meta *m = NULL;
		while ((m = next_meta(ctx->v, m, *source)) != NULL) {
			bool told = strcasestr(m->content, "isbn") != NULL ||
				    strncmp(m->content, "97", 2) == 0;
			if (told && set_ident(ctx, record, "isbn", ing_ident_isbn13, m->content,
					    m->content_bytes))
				return;
		}
	}
}

/* What JSON-LD has and the record has not. */
static void fill_gaps(json_t *record, json_t *jsonld)
{
	const char *key;
	json_t *value;
	json_object_foreach (jsonld, key, value) {
		json_t *there = json_object_get(record, key);
		if (json_is_null(there))
			json_object_set_nocheck(record, key, value);
	}
}

static bool has_anything(json_t *record)
{
	const char *key;
	json_t *value;
	json_object_foreach (record, key, value) {
		if (!json_is_null(value))
			return true;
	}
	return false;
}

/* -------------------------------------------------------------------------------------------- */

json_t *ing_biblio_json(const struct ing_view *v, bool *ret_any)
{
	char scratch[ING_MAX_BIBLIO_VALUE];
	struct ing_biblio_ctx ctx = {.v = v,
		.scratch = scratch,
		.left = ING_MAX_BIBLIO_BYTES - 4096, /* keys */
		.work = MAX_WORK_BYTES};
	json_t *record = json_object();
	for (size_t i = 0; i < ING_ARRAY_LEN(order); i++)
		json_object_set_new_nocheck(record, order[i], json_null());
	for (size_t i = 0; i < ING_ARRAY_LEN(texts); i++)
		read_text(&ctx, record, &texts[i]);
	read_ident(&ctx, record, "doi", dois, ing_ident_doi_in);
	read_ident(&ctx, record, "pmid", pmids, ing_ident_pmid_in);
	read_ident(&ctx, record, "pmcid", pmcids, ing_ident_pmcid_in);
	read_raw_identifiers(&ctx, record);
	size_t reserved = ctx.left / 2; /* JSON-LD must not eat what the page's own lists need */
	ctx.left -= reserved;
	json_t *jsonld = ing_jsonld_read(&ctx);
	ctx.left += reserved;
	read_dates(&ctx, record, jsonld);
	read_type(&ctx, record, jsonld);
	read_license(&ctx, record, jsonld);
	read_contribs(&ctx, record, jsonld);
	read_lists(&ctx, record);
	json_object_del(jsonld, "date");
	fill_gaps(record, jsonld);
	if (!is_set(record, site_name.key))
		read_text(&ctx, record, &site_name);
	normalise_numbers(&ctx, record);
	json_decref(jsonld);
	*ret_any = has_anything(record);
	return record;
}
