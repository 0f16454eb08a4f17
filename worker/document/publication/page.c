/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A publisher's page, or one of PubMed's or PMC's: what its site's rules and its <meta> elements give
 * (worker/scrape). The bibliographic record of the page adds all authors, licence and publisher. What
 * is no page but was asked for as one is read as what it is.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/buf.h"
#include "common/data/json.h"
#include "common/data/sniff.h"
#include "worker/document/publication/pdf_parts.h"
#include "worker/document/publication/service_json.h"
#include "worker/document/xml/xml_document.h"
#include "worker/model/findings.h"
#include "worker/model/limits.h"
#include "worker/scrape/publication/fields_found.h"
#include "worker/scrape/scrape.h"

/* Returns the author with this name or address, or NULL. */
static struct ing_publication_author *find_author(
	struct ing_publication_found *ret, uint32_t count, const struct ing_author *a)
{
	for (uint32_t i = 0; i < count; i++) {
		struct ing_publication_author *b = &ret->authors[i];
		if ((a->email != NULL && b->email != NULL && strcasecmp(a->email, b->email) == 0) ||
			(a->name != NULL && b->name != NULL && strcasecmp(a->name, b->name) == 0))
			return b;
	}
	return NULL;
}

static void fill(char **field, const char *value)
{
	if (*field == NULL && value != NULL)
		*field = ing_strdup(value);
}

/* All authors of the record, with the corresponding ones among them or behind them. */
static void read_authors(
	const json_t *contribs, struct ing_authors corresponding, struct ing_publication_found *ret)
{
	const json_t *one = NULL;
	size_t i;
	json_array_foreach (contribs, i, one) {
		const char *email = ing_json_get_text(one, "email");
		uint32_t before = ret->author_count;
		const char *given = ing_json_get_text(one, "given_name");
		const char *family = ing_json_get_text(one, "surname");
		bool in_parts = given != NULL && family != NULL;
		ing_service_add_author(ret, in_parts ? NULL : ing_json_get_text(one, "name"), given,
			family, ing_json_get_text(one, "orcid"), false);
		if (email != NULL && ret->author_count > before)
			ret->authors[before].email = ing_strdup(email);
	}
	uint32_t count = ret->author_count;
	for (i = 0; i < corresponding.count; i++) {
		const struct ing_author *a = &corresponding.items[i];
		struct ing_publication_author *known = find_author(ret, count, a);
		if (known == NULL) {
			uint32_t before = ret->author_count;
			ing_publication_add_author(ret, (struct ing_publication_author){0});
			if (ret->author_count == before)
				return; /* there are too many */
			known = &ret->authors[before];
		}
		fill(&known->name, a->name);
		fill(&known->orcid, a->orcid);
		fill(&known->email, a->email);
		fill(&known->phone, a->phone);
		fill(&known->uri, a->uri);
		known->corresponding = true;
	}
}

/* Whether there is an offer of something better than any page's title and text. */
static bool is_offered(const struct ing_publication_found *found, enum ing_part_key key)
{
	for (uint32_t i = 0; i < found->offer_count; i++)
		if (found->offers[i].part == key && found->offers[i].type != ING_PART_TYPE_WEBPAGE)
			return true;
	return false;
}

/* What JSON-LD and rarer <meta> elements say of a page for which there are no rules; its identifiers
 * also where there are. */
static void offer_record(const struct ing_publication_ask *ask, const struct ing_scraped *page,
	struct ing_publication_found *ret)
{
	static const struct {
		const char *name;
		enum ing_part_key key;
	} texts[] = {{"pmid", ING_PART_PMID}, {"pmcid", ING_PART_PMCID}, {"doi", ING_PART_DOI},
		{"title", ING_PART_TITLE}, {"abstract", ING_PART_ABSTRACT}};
	enum ing_part_type type = ing_part_type_better(ING_PART_TYPE_META, ask->type)
					  ? ask->type
					  : ING_PART_TYPE_META;
	for (size_t i = 0; i < ING_ARRAY_LEN(texts); i++) {
		const char *text = ing_json_get_text(page->biblio, texts[i].name);
		bool is_id = texts[i].key <= ING_PART_DOI;
		if (is_offered(ret, texts[i].key) ||
			!ing_publication_wants(ask->parts, texts[i].key))
			continue;
		if (is_id)
			ing_service_offer_id(ret, texts[i].key, type, text);
		else if (page->site == NULL)
			ing_service_offer(ret, texts[i].key, type, text);
	}
	/* Copies that Unpaywall names have the keywords of their repository. */
	if (page->site == NULL && ask->type != ING_PART_TYPE_LINK_OADOI &&
		!is_offered(ret, ING_PART_KEYWORDS) &&
		ing_publication_wants(ask->parts, ING_PART_KEYWORDS))
		ing_service_offer_keywords(
			ret, type, json_object_get(page->biblio, "keywords"), NULL);
}

static void read_record(const struct ing_scraped *page, struct ing_publication_found *ret)
{
	const json_t *record = page->biblio;
	/* Without a volume it may be the site's name. */
	if (ing_json_get_text(record, "volume") != NULL ||
		ing_json_get_text(record, "container_issn") != NULL)
		ing_service_set(&ret->journal_title, ing_json_get_text(record, "container_name"));
	read_authors(json_object_get(record, "contribs"), page->publication->authors, ret);
	ing_service_set(&ret->publisher, ing_json_get_text(record, "publisher"));
	ing_service_set(&ret->licence, page->publication->licence);
	ing_service_set(&ret->licence, ing_json_get_text(record, "license"));
	ing_service_set_date(ret, ing_json_get_text(record, "release_date"));
}

static bool has_pdf_link(const struct ing_publication_found *found)
{
	for (uint32_t i = 0; i < found->link_count; i++)
		if (ing_part_type_is_pdf((enum ing_part_type)found->links[i].type))
			return true;
	return false;
}

static void add_link_once(
	struct ing_publication_found *ret, const char *url, enum ing_part_type type)
{
	for (uint32_t i = 0; i < ret->link_count; i++)
		if (strcmp(ret->links[i].url, url) == 0)
			return;
	ing_service_add_link(ret, url, type);
}

/* What links.yaml and sites.yaml know of a page, many of which have no entry in journals.yaml: its
 * article as XML or HTML, the next page on the way to it, and, where nothing else named one, its PDF.
 * Links of <meta> elements are there already, by their own types. */
static void add_rule_links(const struct ing_publication_ask *ask, const struct ing_scraped *page,
	struct ing_publication_found *ret)
{
	static const enum ing_link_kind pages[] = {ING_LINK_XML, ING_LINK_HTML};
	const struct ing_link *pdf = &page->links[ING_LINK_PDF];
	enum ing_part_type pdf_type = ing_part_type_pdf(ask->type);
	for (size_t i = 0; i < ING_ARRAY_LEN(pages); i++) {
		const struct ing_link *link = &page->links[pages[i]];
		if (link->url != NULL && !link->self && link->rule != ING_NO_RULE)
			add_link_once(ret, link->url, ask->type);
	}
	if (page->next.url != NULL && !page->next.is_pdf)
		add_link_once(ret, page->next.url, ask->type);
	if (has_pdf_link(ret))
		return;
	if (pdf->url != NULL && !pdf->self)
		add_link_once(ret, pdf->url,
			pdf->rule != ING_NO_RULE ? pdf_type : ING_PART_TYPE_PDF_META);
	else if (page->next.url != NULL && page->next.is_pdf)
		add_link_once(ret, page->next.url, pdf_type);
}

/* What a page with the signature of a wall says without rules is the wall's. */
static void drop_unruled(struct ing_parts *parts)
{
	for (unsigned i = 0; i < ING_PARTS_; i++)
		if (parts->items[i].type == ING_PART_TYPE_WEBPAGE)
			parts->items[i].size = 0;
}

static void read_html(const struct ing_publication_ask *ask, const struct ing_scraped *page,
	struct ing_publication_found *ret)
{
	if (page->end == ING_SCRAPE_TOO_LARGE) {
		ing_publication_fail(ret, "too-large", "%s", page->detail);
		return;
	}
	struct ing_publication_fields fields = *page->publication;
	bool walled = page->wall.wall != ING_WALL_NONE;
	fields.authors.count = 0; /* they are read with the record's */
	if (walled)
		drop_unruled(&fields.parts);
	ing_publication_fields_add(&fields, ask->parts, ret);
	read_record(page, ret);
	if (ask->reader == ING_READ_PAGE)
		offer_record(ask, page, ret);
	if (walled && ret->offer_count == 0 && ret->link_count == 0) {
		ing_publication_found_done(ret);
		ing_publication_fail(ret, "bad-answer", "a wall: %.300s", page->wall.detail);
		return;
	}
	if (ask->reader == ING_READ_PAGE && !walled)
		add_rule_links(ask, page, ret);
	if (page->end == ING_SCRAPE_PART)
		ing_publication_fail(ret, "too-large", "%s", page->detail);
}

static const char *offered(const struct ing_publication_found *found, enum ing_part_key key)
{
	for (uint32_t i = 0; i < found->offer_count; i++)
		if (found->offers[i].part == key)
			return found->offers[i].text;
	return NULL;
}

static void forget(struct ing_publication_found *ret, const char *status, const char *words)
{
	ing_publication_found_done(ret);
	ing_publication_fail(ret, status, "%s", words);
}

/* A page of PubMed's or PMC's that is not about this identifier, or about none: a list of results, a
 * page that says that there is nothing. */
static void check_record(
	struct ing_publication_found *ret, enum ing_part_key key, const char *asked)
{
	const char *own = offered(ret, key), *title = offered(ret, ING_PART_TITLE);
	if (ret->status != NULL && strcmp(ret->status, "too-large") != 0)
		return;
	if (own != NULL && asked != NULL && strcasecmp(own, asked) != 0)
		forget(ret, "wrong-record", "the page is about another identifier");
	else if (own == NULL && title == NULL)
		forget(ret, "no-record", "the page has no article");
}

/* Where an article's PDF is at PMC, when its page does not say so. */
static void add_own_pdf(const char *url, struct ing_publication_found *ret)
{
	for (uint32_t i = 0; i < ret->link_count; i++)
		if (ret->links[i].type == ING_PART_TYPE_PDF_PMC)
			return;
	size_t bytes = url != NULL ? strcspn(url, "?#") : 0;
	if (bytes == 0)
		return;
	struct ing_buf pdf;
	ing_buf_init(&pdf, ING_MAX_URL_BYTES);
	ing_buf_printf(&pdf, "%.*s%spdf/", (int)bytes, url, url[bytes - 1] == '/' ? "" : "/");
	ing_service_add_link(ret, ing_buf_str(&pdf), ING_PART_TYPE_PDF_PMC);
	ing_buf_done(&pdf);
}

/* -------------------------------------------------------------------------------------------- */

void ing_publication_scrape_for(const struct ing_publication_ask *ask, struct ing_scrape_input *in)
{
	in->want |= ING_SCRAPE_PUBLICATION | ING_SCRAPE_BIBLIO | ING_SCRAPE_WALLS;
	in->page_type = ask->type;
	/* Services' pages are read by their own rules, wherever they stand: a mirror has other
	 * addresses. Of their <meta> elements only identifiers are the article's. */
	if (ask->reader == ING_READ_PUBMED_HTML)
		in->site = "pubmed";
	else if (ask->reader == ING_READ_PMC_HTML)
		in->site = "pmc";
	else
		in->want |= ING_SCRAPE_LINKS;
	in->metas = in->site != NULL ? ING_METAS_IDENTIFIERS : ING_METAS_ALL;
}

void ing_publication_read_page(const struct ing_publication_ask *ask,
	const struct ing_publication_body *body, struct ing_publication_found *ret)
{
	if (body->page != NULL)
		read_html(ask, body->page, ret);
	else if (body->pdf != NULL)
		ing_read_pdf_parts(ask, body->pdf, ret);
	else if (ing_xml_is_document_type(body->mimetype))
		ing_publication_read_jats(ask, body, ret); /* some addresses of pages */
	else if (ing_sniff_is_html(body->mimetype))
		ing_publication_fail(ret, "too-large", "the page is too large to be read");
	else
		ing_publication_fail(ret, "bad-answer", "%.100s is not read", body->mimetype);
}

void ing_publication_read_pubmed_html(const struct ing_publication_ask *ask,
	const struct ing_publication_body *body, struct ing_publication_found *ret)
{
	ing_publication_read_page(ask, body, ret);
	check_record(ret, ING_PART_PMID, ask->pmid);
}

void ing_publication_read_pmc_html(const struct ing_publication_ask *ask,
	const struct ing_publication_body *body, struct ing_publication_found *ret)
{
	ing_publication_read_page(ask, body, ret);
	check_record(ret, ING_PART_PMCID, ask->pmcid);
	if (ret->offer_count > 0)
		add_own_pdf(body->url, ret);
}
