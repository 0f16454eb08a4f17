/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A table of names by scheme and part, and a walk over the <meta> elements for each. Some
 * publishers fill some of them with something else; those are listed by host.
 */
#include "worker/scrape/publication/meta_schemes.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/macros.h"
#include "common/markup/link.h"
#include "worker/scrape/jsoup/text.h"
#include "common/net/url.h"
#include "worker/scrape/publication/clean.h"
#include "worker/scrape/biblio/date.h"
#include "worker/scrape/biblio/ident.h"
#include "worker/scrape/biblio/meta.h"
#include "common/markup/strip_markup.h"

#define MAX_NAMES 5
#define NO_TYPE ING_PART_TYPE_NA

typedef const char *const meta_names[MAX_NAMES];

static const struct scheme {
	enum ing_part_type type, link, pdf;
	meta_names pmid, pmcid, doi, title, keywords, abstract, page_link, pdf_link, email;
} schemes[] = {
	{
		.type = ING_PART_TYPE_CITATION,
		.link = ING_PART_TYPE_LINK_CITATION,
		.pdf = ING_PART_TYPE_PDF_CITATION,
		.pmid = {"citation_pmid"},
		.pmcid = {"citation_pmcid"},
		.doi = {"citation_doi"},
		.title = {"citation_title"},
		.keywords = {"citation_keywords", "citation_keyword"},
		.abstract = {"citation_abstract"},
		.page_link = {"citation_fulltext_html_url", "citation_full_html_url"},
		.pdf_link = {"citation_pdf_url"},
		.email = {"citation_author_email"},
	},
	{
		.type = ING_PART_TYPE_EPRINTS,
		.link = ING_PART_TYPE_LINK_EPRINTS,
		.pdf = NO_TYPE,
		.pmid = {"eprints.pubmed_id"},
		.title = {"eprints.title"},
		.keywords = {"eprints.keywords"},
		.abstract = {"eprints.abstract"},
		.page_link = {"eprints.document_url"},
	},
	{
		.type = ING_PART_TYPE_BEPRESS,
		.link = NO_TYPE,
		.pdf = ING_PART_TYPE_PDF_BEPRESS,
		.doi = {"bepress_citation_doi"},
		.title = {"bepress_citation_title"},
		.pdf_link = {"bepress_citation_pdf_url"},
	},
	{
		.type = ING_PART_TYPE_DC,
		.doi = {"dc.doi", "dc.identifier", "dc.identifier.doi"},
		.title = {"dc.title"},
		.keywords = {"dc.subject"},
		.abstract = {"dc.description", "dc.description.abstract"},
	},
	{.type = ING_PART_TYPE_OG, .title = {"og.title"}, .abstract = {"og.description"}},
	{
		.type = ING_PART_TYPE_TWITTER,
		.title = {"twitter.title"},
		.abstract = {"twitter.description"},
	},
	{
		.type = ING_PART_TYPE_META,
		.link = ING_PART_TYPE_LINK_META,
		.pdf = ING_PART_TYPE_PDF_META,
		.doi = {"doi"},
		.title = {"title"},
		.keywords = {"keywords"},
		.abstract = {"meta.description", "description", "abstract"},
		.page_link = {"fulltext_html"},
		.pdf_link = {"fulltext_pdf"},
	},
};

/* Hosts, with their subdomains, whose <meta> elements have other contents than their names say. */
static const struct exception {
	const char *host;
	enum ing_part_type type;
	bool keywords, abstract; /* which are left out */
} exceptions[] = {
	{"biomedcentral.com", ING_PART_TYPE_DC, true, false},
	{"nature.com", ING_PART_TYPE_DC, false, true},
	{"nature.com", ING_PART_TYPE_OG, false, true},
	{"nature.com", ING_PART_TYPE_TWITTER, false, true},
	{"nature.com", ING_PART_TYPE_META, false, true},
	{"science.org", ING_PART_TYPE_DC, false, true},
	{"science.org", ING_PART_TYPE_OG, false, true},
	{"sciencemag.org", ING_PART_TYPE_DC, false, true},
	{"sciencemag.org", ING_PART_TYPE_OG, false, true},
	{"onlinelibrary.wiley.com", ING_PART_TYPE_OG, false, true},
	{"citeseerx.ist.psu.edu", ING_PART_TYPE_META, true, false},
};

struct schemes_reader {
	const struct ing_view *v;
	struct ing_publication_fields *fields;
	enum ing_part_type page_type;
	char host[ING_URL_HOST_BYTES]; /* of the page; "": unknown */
	struct ing_buf buf;            /* one value without markup */
};

/* name equals dotted, each '.' of which stands for '.' or ':'. */
static bool equals_dotted(const char *name, const char *dotted)
{
	for (; *dotted != '\0' && *name != '\0'; name++, dotted++)
		if (*name != *dotted && !(*dotted == '.' && *name == ':'))
			return false;
	return *dotted == *name;
}

static bool is_named(const struct ing_meta *m, meta_names names)
{
	for (size_t i = 0; i < MAX_NAMES && names[i] != NULL; i++)
		if ((m->name != NULL && equals_dotted(m->name, names[i])) ||
			(m->property != NULL && equals_dotted(m->property, names[i])))
			return true;
	return false;
}

/* The next with one of the names and a content, in document order. */
static const struct ing_meta *find_next(
	const struct ing_view *v, const struct ing_meta *after, meta_names names)
{
	if (names[0] == NULL)
		return NULL;
	const struct ing_meta *m = after == NULL ? ing_metas_first(v) : after->next;
	while (m != NULL && (m->content == NULL || !is_named(m, names)))
		m = m->next;
	return m;
}

/* The value without markup, in r->buf. */
static const char *read_content(struct schemes_reader *r, const struct ing_meta *m)
{
	ing_buf_clear(&r->buf);
	ing_strip_markup(m->content, m->content_bytes, &r->buf);
	return ing_buf_str(&r->buf);
}

static bool is_host(const char *host, const char *site)
{
	size_t n = strlen(host), m = strlen(site);
	return n >= m && strcmp(host + n - m, site) == 0 && (n == m || host[n - m - 1] == '.');
}

static const struct exception *find_exception(
	const struct schemes_reader *r, enum ing_part_type type)
{
	for (size_t i = 0; i < ING_ARRAY_LEN(exceptions); i++)
		if (exceptions[i].type == type && is_host(r->host, exceptions[i].host))
			return &exceptions[i];
	return NULL;
}

/* Returns the scheme's type, or the page's if that is worse. */
static enum ing_part_type limit_type(const struct schemes_reader *r, enum ing_part_type type)
{
	return ing_part_type_better(type, r->page_type) ? r->page_type : type;
}

typedef bool normal_id_f(const char *s, size_t bytes, struct ing_buf *ret);

static bool normal_doi(const char *s, size_t bytes, struct ing_buf *ret)
{
	return ing_ident_doi(s, bytes, true, ret);
}

static void read_id(struct schemes_reader *r, enum ing_part_key key, enum ing_part_type type,
	meta_names names, normal_id_f *normal)
{
	const struct ing_meta *m = NULL;
	while ((m = find_next(r->v, m, names)) != NULL) {
		const char *s = m->content;
		size_t bytes = m->content_bytes;
		ing_text_trim(&s, &bytes);
		ing_buf_clear(&r->buf);
		if (normal(s, bytes, &r->buf)) {
			ing_parts_offer_id(&r->fields->parts, key, type, ing_buf_str(&r->buf),
				r->buf.len, r->v->url);
			return;
		}
	}
}

static void read_title(struct schemes_reader *r, enum ing_part_type type, meta_names names)
{
	const struct ing_meta *m = find_next(r->v, NULL, names);
	if (m == NULL)
		return;
	const char *s = read_content(r, m);
	ing_parts_offer(&r->fields->parts, ING_PART_TITLE, type, s, r->buf.len);
}

static void read_keywords(struct schemes_reader *r, enum ing_part_type type, meta_names names)
{
	struct ing_text_value list[ING_MAX_KEYWORDS];
	size_t count = 0;
	const struct ing_meta *m = NULL;
	while (count < ING_MAX_KEYWORDS && (m = find_next(r->v, m, names)) != NULL) {
		/* Markup first: the ';' of a character reference does not separate keywords. */
		const char *s = read_content(r, m);
		s = ing_arena_strndup(r->v->arena, s, r->buf.len);
		while (count < ING_MAX_KEYWORDS && *s != '\0') {
			size_t n = strcspn(s, ",;|");
			if (n > 0)
				list[count++] = (struct ing_text_value){.text = s, .bytes = n};
			s += n + (s[n] != '\0');
		}
	}
	ing_parts_offer_list(&r->fields->parts, ING_PART_KEYWORDS, type, list, count);
}

static void read_abstract(struct schemes_reader *r, enum ing_part_type type, meta_names names)
{
	struct ing_buf all;
	ing_buf_init(&all, ING_CLEAN_MAX_TEXT_BYTES);
	const struct ing_meta *m = NULL;
	while ((m = find_next(r->v, m, names)) != NULL && !all.failed) {
		const char *s = read_content(r, m);
		if (r->buf.len == 0)
			continue;
		if (all.len > 0)
			ing_buf_add_str(&all, "\n\n");
		ing_buf_add(&all, s, r->buf.len);
	}
	if (all.len > 0)
		ing_parts_offer(
			&r->fields->parts, ING_PART_ABSTRACT, type, ing_buf_str(&all), all.len);
	ing_buf_done(&all);
}

static void read_links(struct schemes_reader *r, enum ing_part_type type, meta_names names)
{
	const struct ing_meta *m = NULL;
	for (size_t i = 0; i < ING_MAX_FULLTEXT_LINKS && (m = find_next(r->v, m, names)) != NULL;
		i++) {
		const char *s = m->content;
		size_t bytes = m->content_bytes;
		ing_link_trim(&s, &bytes);
		char *url = bytes == 0 ? NULL : ing_link_resolve(r->v->tree, s, bytes);
		if (url != NULL)
			ing_fulltext_links_add(&r->fields->links, &r->fields->parts, url, type);
		free(url);
	}
}

static void read_emails(struct schemes_reader *r, meta_names names)
{
	struct ing_author *list = NULL;
	size_t count = 0;
	const struct ing_meta *m = NULL;
	while (count < ING_MAX_CORRESPONDING_AUTHORS && (m = find_next(r->v, m, names)) != NULL) {
		const char *email = ing_author_email(r->v->arena, m->content, m->content_bytes);
		if (email == NULL)
			continue;
		if (list == NULL)
			list = ing_arena_alloc(
				r->v->arena, ING_MAX_CORRESPONDING_AUTHORS * sizeof(*list));
		list[count++] = (struct ing_author){.email = email};
	}
	r->fields->authors = (struct ing_authors){.items = list, .count = count};
}

static void read_scheme(struct schemes_reader *r, const struct scheme *s)
{
	enum ing_part_type type = limit_type(r, s->type);
	const struct exception *e = find_exception(r, s->type);
	read_title(r, type, s->title);
	/* Unpaywall's links lead to copies, whose keywords are the repository's. */
	if ((e == NULL || !e->keywords) && r->page_type != ING_PART_TYPE_LINK_OADOI)
		read_keywords(r, type, s->keywords);
	if (e == NULL || !e->abstract)
		read_abstract(r, type, s->abstract);
	read_links(r, limit_type(r, s->link), s->page_link);
	read_links(r, limit_type(r, s->pdf), s->pdf_link);
	if (r->fields->authors.count == 0)
		read_emails(r, s->email);
}

static void read_journal(struct schemes_reader *r)
{
	static meta_names const by_priority[] = {{"citation_journal_title"},
		{"bepress_citation_journal_title"}, {"prism.publicationname"},
		{"eprints.publication"}};
	for (size_t i = 0; i < ING_ARRAY_LEN(by_priority); i++) {
		const struct ing_meta *m = NULL;
		while (r->fields->journal_title == NULL &&
			(m = find_next(r->v, m, by_priority[i])) != NULL) {
			const char *s = read_content(r, m);
			if (r->buf.len > 0)
				r->fields->journal_title =
					ing_arena_strndup(r->v->arena, s, r->buf.len);
		}
	}
}

/* The first date that is known to the day. */
static void read_date(struct schemes_reader *r)
{
	static meta_names const by_priority[] = {{"citation_publication_date"},
		{"bepress_citation_publication_date"}, {"prism.publicationdate"},
		{"citation_date", "bepress_citation_date"},
		{"citation_online_date", "bepress_citation_online_date"},
		{"article.published_time", "article.published"},
		{"dcterms.issued", "dc.issued", "dc.date.issued", "dcterms.date", "dc.date"}};
	for (size_t i = 0; i < ING_ARRAY_LEN(by_priority); i++) {
		const struct ing_meta *m = NULL;
		while (r->fields->pub_date == NULL &&
			(m = find_next(r->v, m, by_priority[i])) != NULL) {
			struct ing_date d;
			if (!ing_date_parse(m->content, m->content_bytes, &d) || d.day == 0)
				continue;
			ing_buf_clear(&r->buf);
			ing_buf_printf(&r->buf, "%04d-%02d-%02d", d.year, d.month, d.day);
			r->fields->pub_date = ing_arena_strdup(r->v->arena, ing_buf_str(&r->buf));
		}
	}
}

/* -------------------------------------------------------------------------------------------- */

void ing_meta_schemes_read(const struct ing_view *v, enum ing_part_type page_type,
	enum ing_metas_use use, struct ing_publication_fields *fields)
{
	static meta_names const readable = {"citation_fulltext_world_readable"};
	struct schemes_reader r = {.v = v, .fields = fields, .page_type = page_type};
	if (v->url == NULL || !ing_url_host(v->url, r.host, sizeof(r.host)))
		r.host[0] = '\0';
	ing_buf_init(&r.buf, ING_CLEAN_MAX_TEXT_BYTES);
	for (size_t i = 0; i < ING_ARRAY_LEN(schemes); i++) {
		const struct scheme *s = &schemes[i];
		enum ing_part_type type = limit_type(&r, s->type);
		read_id(&r, ING_PART_PMID, type, s->pmid, ing_ident_pmid);
		read_id(&r, ING_PART_PMCID, type, s->pmcid, ing_ident_pmcid);
		read_id(&r, ING_PART_DOI, type, s->doi, normal_doi);
	}
	for (size_t i = 0; i < ING_ARRAY_LEN(schemes) && use == ING_METAS_ALL; i++)
		read_scheme(&r, &schemes[i]);
	read_journal(&r);
	read_date(&r);
	fields->oa = fields->oa || find_next(v, NULL, readable) != NULL;
	ing_buf_done(&r.buf);
}
