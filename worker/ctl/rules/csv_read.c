/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Sizes of what an answer gives. Of a site's page only what the site's rules give counts, not what its
 * <meta> elements say: those have types of their own.
 */
#include "worker/ctl/rules/csv.h"

#include <string.h>

#include "common/base/buf.h"
#include "common/base/utf8.h"
#include "common/data/sniff.h"
#include "worker/document/publication/readers.h"
#include "worker/model/findings.h"
#include "worker/publication/authors.h"
#include "worker/scrape/jsoup/text.h"
#include "worker/scrape/rules/journals.h"
#include "worker/scrape/rules/registry.h"
#include "worker/scrape/rules/webpages.h"
#include "worker/scrape/scrape.h"

#define MAX_AUTHORS_BYTES ((size_t)4 << 20)

static json_int_t units(const char *s)
{
	return s != NULL ? (json_int_t)ing_utf8_utf16_units(s, strlen(s)) : 0;
}

static void set_size(json_t *o, const char *label, json_int_t size)
{
	json_object_set_new(o, label, json_integer(size));
}

static bool is_type(const json_t *part, const char *type)
{
	const char *has = ing_json_get_text(part, "type");
	return has != NULL && (type == NULL || strcmp(has, type) == 0);
}

static json_int_t size_of_part(const json_t *part, const char *type)
{
	const json_t *list = json_object_get(part, "list");
	if (!is_type(part, type))
		return 0;
	return list != NULL ? (json_int_t)json_array_size(list)
			    : units(ing_json_get_text(part, "content"));
}

/* type NULL: of any. */
static void set_parts(json_t *o, const json_t *publication, const char *type)
{
	for (unsigned i = 0; i < ING_PARTS_; i++) {
		const char *name = ing_part_name((enum ing_part_key)i);
		set_size(o, name, size_of_part(json_object_get(publication, name), type));
	}
}

/* Fields of an author, and authors, as PubFetcher prints them. */
static json_int_t size_of_authors(const json_t *authors)
{
	static const char *const fields[] = {"name", "orcid", "email", "phone", "uri"};
	struct ing_buf text;
	size_t i;
	const json_t *author;
	ing_buf_init(&text, MAX_AUTHORS_BYTES);
	json_array_foreach (authors, i, author) {
		const char *between = i > 0 ? "; " : "";
		for (size_t k = 0; k < ING_ARRAY_LEN(fields); k++) {
			const char *value = ing_json_get_text(author, fields[k]);
			if (value == NULL || value[0] == '\0')
				continue;
			ing_buf_add_str(&text, between);
			ing_buf_add_str(&text, value);
			between = ", ";
		}
	}
	json_int_t size = units(ing_buf_str(&text));
	ing_buf_done(&text);
	return size;
}

/* --- pages --- */

static bool has_author_rules(const struct ing_journal_site *site)
{
	return site->keys[ING_JOURNAL_CORRESP_AUTHOR_NAMES].selector != NULL ||
	       site->keys[ING_JOURNAL_CORRESP_AUTHOR_EMAILS].selector != NULL;
}

/* The page itself, and what rules link to. */
static json_int_t count_links(const json_t *links)
{
	static const char pdf[] = "pdf_doi", page[] = "doi";
	json_int_t count = 1;
	size_t i;
	const json_t *link;
	json_array_foreach (links, i, link)
		count += is_type(link, page) || is_type(link, pdf);
	return count;
}

static json_t *read_site(const json_t *scraped, const struct ing_rules *rules, const char *url)
{
	const json_t *publication = json_object_get(scraped, "publication");
	const struct ing_journal_site *site = ing_journals_site(rules->journals, url, NULL);
	json_t *o = json_object();
	ing_json_set(o, "site", ing_json_ref(json_object_get(scraped, "site")));
	if (site == NULL) {
		ing_json_set_text(o, "error", "there is no site for this URL");
		return o;
	}
	set_parts(o, publication, ing_part_type_name(ING_PART_TYPE_DOI));
	set_size(o, "links", count_links(json_object_get(scraped, "page_links")));
	const json_t *authors =
		has_author_rules(site) ? json_object_get(publication, "corresp_author") : NULL;
	set_size(o, "corresp", size_of_authors(authors));
	return o;
}

static json_t *read_webpage(const json_t *scraped)
{
	const json_t *webpage = json_object_get(scraped, "webpage");
	static const char *const labels[] = {"title", "content", "license", "language"};
	json_t *o = json_object();
	ing_json_set(o, "site", ing_json_ref(json_object_get(scraped, "webpage_rule")));
	for (size_t i = 0; i < ING_ARRAY_LEN(labels); i++)
		set_size(o, labels[i], units(ing_json_get_text(webpage, labels[i])));
	return o;
}

static void scrape(struct ing_scraper *s, const char *url, const void *data, size_t bytes,
	struct ing_scraped *ret)
{
	const struct ing_scrape_input in = {.url = url,
		.data = data,
		.bytes = bytes,
		.page_type = ING_PART_TYPE_DOI,
		.want = ING_SCRAPE_PUBLICATION | ING_SCRAPE_WEBPAGE};
	ing_scrape(s, &in, ret);
}

/* --- answers of services --- */

static void add_offers(json_t *o, const struct ing_publication_found *found)
{
	for (uint32_t i = 0; i < found->offer_count; i++) {
		const struct ing_publication_offer *offer = &found->offers[i];
		const char *name = ing_part_name((enum ing_part_key)offer->part);
		if (ing_json_get_number(o, name) == 0)
			set_size(o, name,
				offer->text != NULL ? units(offer->text)
						    : (json_int_t)offer->term_count);
	}
}

static json_t *authors_json(const struct ing_publication_found *found)
{
	json_t *list = json_array();
	for (uint32_t i = 0; i < found->author_count; i++)
		if (found->authors[i].corresponding)
			ing_json_append(list, ing_author_json(&found->authors[i]));
	return list;
}

static void add_fields(json_t *o, const struct ing_publication_found *found)
{
	json_t *authors = authors_json(found);
	set_size(o, "corresp", size_of_authors(authors));
	json_decref(authors);
	set_size(o, "journal", units(found->journal_title));
	ing_json_set_text(o, "date", found->pub_date != NULL ? found->pub_date : "");
	set_size(o, "oa", (found->flags & ING_PUBLICATION_OA) != 0);
	set_size(o, "html", (found->flags & ING_PUBLICATION_IN_EPMC) != 0);
	set_size(o, "pdf", (found->flags & ING_PUBLICATION_HAS_PDF) != 0);
	set_size(o, "mined", (found->flags & ING_PUBLICATION_HAS_MINED) != 0);
	set_size(o, "links", (json_int_t)found->link_count);
}

/* That there are no mined terms is an answer of which a row may say 0. */
static bool is_answer(const struct ing_csv_kind *kind, const struct ing_publication_found *found)
{
	bool is_terms = kind->reader == ING_READ_EFO || kind->reader == ING_READ_GO;
	return strcmp(found->status, "success") == 0 ||
	       (is_terms && strcmp(found->status, "no-record") == 0);
}

static json_t *found_json(
	const struct ing_csv_kind *kind, const struct ing_publication_found *found)
{
	json_t *o = json_object();
	if (!is_answer(kind, found)) {
		struct ing_buf words;
		ing_buf_init(&words, 1024);
		ing_buf_printf(&words, "%s%s%s", found->status,
			found->error_msg != NULL ? ": " : "",
			found->error_msg != NULL ? found->error_msg : "");
		ing_json_set_text(o, "error", ing_buf_str(&words));
		ing_buf_done(&words);
	}
	for (unsigned i = 0; i < ING_PARTS_; i++)
		set_size(o, ing_part_name((enum ing_part_key)i), 0);
	add_offers(o, found);
	add_fields(o, found);
	return o;
}

static json_t *read_answer(struct ing_scraper *s, const struct ing_csv_kind *kind, const char *key,
	const void *data, size_t bytes)
{
	struct ing_findings f;
	struct ing_scraped scraped;
	char mimetype[sizeof(f.file.mimetype)];
	const struct ing_publication_ask ask = {.reader = kind->reader,
		.type = kind->type,
		.pmid = kind->key == ING_CSV_PMID ? key : NULL,
		.pmcid = kind->key == ING_CSV_PMCID ? key : NULL,
		.doi = kind->key == ING_CSV_DOI ? key : NULL};
	struct ing_publication_body body = {.data = data, .bytes = bytes, .mimetype = mimetype};
	ing_findings_init(&f);
	ing_sniff(data, bytes, mimetype);
	if (ing_publication_reads_pages(kind->reader)) {
		struct ing_scrape_input in = {.data = data, .bytes = bytes};
		ing_publication_scrape_for(&ask, &in);
		ing_scrape(s, &in, &scraped);
		body.page = &scraped;
	}
	ing_publication_read(&ask, &body, &f.publication);
	json_t *o = found_json(kind, &f.publication);
	ing_findings_done(&f);
	return o;
}

/* -------------------------------------------------------------------------------------------- */

json_t *ing_csv_read(struct ing_scraper *s, const struct ing_rules *rules,
	const struct ing_csv_kind *kind, const char *key, const void *data, size_t bytes)
{
	struct ing_scraped found;
	if (!ing_csv_is_url_kind(kind))
		return read_answer(s, kind, key, data, bytes);
	scrape(s, key, data, bytes, &found);
	json_t *scraped = ing_scraped_json(&found, key);
	json_t *o =
		kind->key == ING_CSV_SITE ? read_site(scraped, rules, key) : read_webpage(scraped);
	json_decref(scraped);
	return o;
}

json_t *ing_csv_of_publication(const json_t *publication)
{
	json_t *o = json_object();
	const char *date = ing_json_get_text(publication, "pub_date");
	set_parts(o, publication, NULL);
	set_size(o, "corresp", size_of_authors(json_object_get(publication, "corresp_author")));
	set_size(o, "journal", units(ing_json_get_text(publication, "journal_title")));
	ing_json_set_text(o, "date", date != NULL ? date : "");
	set_size(o, "oa", ing_json_get_true(publication, "oa"));
	return o;
}
