/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Examines a body: decodes, sniffs, digests it, and scrapes a page. The scraper and the readers are
 * made once and kept, because making them costs as much as a small page.
 */
#include "worker/document/document.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/report.h"
#include "common/base/utf8.h"
#include "common/data/base32.h"
#include "common/data/decode.h"
#include "common/data/digest_many.h"
#include "common/data/json.h"
#include "common/data/sniff.h"
#include "worker/document/archive_listing.h"
#include "worker/document/charsets.h"
#include "worker/document/filter/filters.h"
#include "worker/document/page_text.h"
#include "worker/document/pdf.h"
#include "worker/document/publication/readers.h"
#include "worker/document/resources/resources.h"
#include "worker/document/tei_header.h"
#include "worker/document/xml/xml_document.h"
#include "worker/model/findings.h"
#include "worker/model/limits.h"
#include "worker/scrape/scrape.h"

static const struct ing_rules *rules;     /* NULL: none */
static const struct ing_filters *filters; /* NULL: none */
static struct ing_scraper *scraper;
static struct ing_page_text *page_text;
static struct ing_xml_reader *xml_reader;

static void make_tools(void)
{
	if (scraper == NULL)
		scraper = ing_scraper_new(rules);
	if (page_text == NULL)
		page_text = ing_page_text_new();
	if (xml_reader == NULL)
		xml_reader = ing_xml_reader_new();
}

/* Media types that a file compressed on purpose is not served with. */
static bool is_document_type(const char *content_type)
{
	static const char *const types[] = {"text/", "application/pdf", "application/xml",
		"application/xhtml+xml", "application/jats+xml"};
	if (content_type == NULL)
		return false;
	content_type += strspn(content_type, " \t");
	for (size_t i = 0; i < ING_ARRAY_LEN(types); i++) {
		if (strncasecmp(content_type, types[i], strlen(types[i])) == 0)
			return true;
	}
	return false;
}

/* Remove the content codings. Returns 0 and *ret, or -ING_FAIL_x. */
static int decode(const struct ing_exam_request *q, const char *codings, const void *data,
	size_t bytes, struct ing_document_body *ret, struct ing_error *err)
{
	struct ing_buf out;
	ing_buf_init(&out, (size_t)ING_MIN(q->max_body_bytes, SIZE_MAX / 8));
	int rc = ing_decode_bounded(codings, data, bytes, q->max_ratio, &out, err);
	if (rc < 0) {
		ing_buf_done(&out);
		return rc;
	}
	ret->bytes = out.len;
	ret->data = (uint8_t *)ing_buf_steal(&out);
	ret->owned = true;
	return 0;
}

/* Some servers send gzip without declaring it: a page or PDF by its Content-Type, gzip by its
 * bytes. What does not decode is left as it is. */
static bool decode_undeclared(const struct ing_exam_request *q, const void *data, size_t bytes,
	struct ing_document_body *ret)
{
	bool gzip = bytes >= 3 && memcmp(data, "\x1f\x8b\x08", 3) == 0;
	return gzip && is_document_type(q->content_type) &&
	       decode(q, "gzip", data, bytes, ret, NULL) == 0;
}

static int decode_body(const struct ing_exam_request *q, const void *data, size_t bytes,
	struct ing_document_body *ret, struct ing_error *err)
{
	if (ing_decode_needed(q->content_encoding))
		return decode(q, q->content_encoding, data, bytes, ret, err);
	if (decode_undeclared(q, data, bytes, ret))
		return 0;
	if (bytes > q->max_body_bytes)
		return ing_error_set(err, ING_FAIL_TOO_BIG, "body over the limit of %llu bytes",
			(unsigned long long)q->max_body_bytes);
	*ret = (struct ing_document_body){.data = data, .bytes = bytes};
	return 0;
}

/* Of a decoded body; the archive digests a body as sent. */
static void digest(const struct ing_document_body *body, struct ing_file_meta *ret)
{
	struct ing_digests d;
	ing_digest_one(ING_DIGEST_ALL, body->data, body->bytes, &d);
	ing_hex_encode(d.md5, sizeof(d.md5), ret->md5hex);
	ing_hex_encode(d.sha1, sizeof(d.sha1), ret->sha1hex);
	ing_hex_encode(d.sha256, sizeof(d.sha256), ret->sha256hex);
}

static void identify(const struct ing_document_body *body, struct ing_file_meta *ret)
{
	ret->decoded = body->owned;
	ret->size_bytes = body->bytes;
	ing_sniff(body->data, body->bytes, ret->mimetype);
	if (ret->decoded)
		digest(body, ret);
}

static char *copy_or_null(const char *s)
{
	return s != NULL ? ing_strdup(s) : NULL;
}

static void copy_links(const struct ing_scraped *found, struct ing_page *ret)
{
	for (size_t i = 0; i < ING_LINK_KINDS_; i++) {
		const struct ing_link *link = &found->links[i];
		ret->links[i] = (struct ing_page_link){.url = copy_or_null(link->url),
			.technique = copy_or_null(link->technique),
			.self = link->self,
			.rule = link->rule};
	}
	const struct ing_site_next *next = &found->next;
	ret->next = (struct ing_page_link){.url = copy_or_null(next->url),
		.technique = copy_or_null(next->technique),
		.stage = copy_or_null(next->stage),
		.rule = next->rule};
}

static void drop_nulls(json_t *o)
{
	const char *key;
	void *next;
	json_t *value;
	json_object_foreach_safe(o, next, key, value)
	{
		if (json_is_null(value) || (json_is_array(value) && json_array_size(value) == 0))
			json_object_del(o, key);
	}
}

/* The record without its nulls. It was kept within ING_MAX_BIBLIO_BYTES as it was made. */
static char *dump_biblio(json_t *biblio)
{
	drop_nulls(biblio);
	json_t *contribs = json_object_get(biblio, "contribs");
	for (size_t i = 0; i < json_array_size(contribs); i++)
		drop_nulls(json_array_get(contribs, i));
	return ing_json_dump(biblio, NULL);
}

static void copy_rule_hits(const struct ing_scraped *found, struct ing_page *ret)
{
	size_t count = ING_MIN(found->rule_hits->count, (size_t)ING_MAX_RULE_HITS);
	if (rules == NULL || count == 0)
		return;
	ret->rules_digest = rules->digest;
	ret->rule_hits = ing_alloc(count * sizeof(*ret->rule_hits));
	memcpy(ret->rule_hits, found->rule_hits->items, count * sizeof(*ret->rule_hits));
	ret->rule_hit_count = (uint32_t)count;
}

static void copy_page(const struct ing_scraped *found, struct ing_page *ret)
{
	static const enum ing_page_status statuses[] = {
		[ING_SCRAPE_WHOLE] = ING_PAGE_PARSED,
		[ING_SCRAPE_PART] = ING_PAGE_PART,
		[ING_SCRAPE_TOO_LARGE] = ING_PAGE_TOO_LARGE,
	};
	ret->status = statuses[found->end];
	ret->title = copy_or_null(found->title);
	copy_links(found, ret);
	ret->wall = found->wall.wall;
	ret->wall_detail = copy_or_null(found->wall.detail);
	ret->platform = copy_or_null(found->platform);
	ret->scope = copy_or_null(found->scope);
	if (found->has_biblio)
		ret->biblio_json = dump_biblio(found->biblio);
	copy_rule_hits(found, ret);
}

static bool wants_publication(const struct ing_exam_request *q)
{
	return (q->want & ING_WANT_PUBLICATION) != 0;
}

static bool is_pdf(const struct ing_findings *found)
{
	return strcmp(found->file.mimetype, "application/pdf") == 0;
}

/* What the body says of a publication, and as a web page. page: NULL, or what was scraped of it. */
static void read_parts(const struct ing_exam_request *q, const struct ing_document_body *body,
	const struct ing_scraped *page, struct ing_findings *ret)
{
	const struct ing_publication_body b = {
		.url = q->url,
		.content_type = q->content_type,
		.mimetype = ret->file.mimetype,
		.data = body->data,
		.bytes = body->bytes,
		.page = page,
		.pdf = ret->pdf.status != NULL ? &ret->pdf : NULL,
	};
	if (wants_publication(q))
		ing_publication_read(q->publication, &b, &ret->publication);
	if ((q->want & ING_WANT_WEBPAGE) != 0)
		ing_webpage_read(&b, &ret->webpage);
}

/* Whether somebody wants it to be scraped. */
static bool wants_page(const struct ing_exam_request *q)
{
	return (q->want & (ING_WANT_LINKS | ING_WANT_WALLS | ING_WANT_WEBPAGE)) != 0 ||
	       (wants_publication(q) && ing_publication_reads_pages(q->publication->reader));
}

static void read_page(const struct ing_exam_request *q, const struct ing_document_body *body,
	struct ing_findings *ret)
{
	bool all = (q->want & ING_WANT_LINKS) != 0;
	struct ing_scrape_input in = {
		.url = q->url,
		.data = body->data,
		.bytes = body->bytes,
		.content_type = q->content_type,
		.want = all ? ING_SCRAPE_BIBLIO | ING_SCRAPE_LINKS | ING_SCRAPE_WALLS |
					ING_SCRAPE_SCOPE
			    : (unsigned)ING_SCRAPE_WALLS,
	};
	if ((q->want & ING_WANT_WEBPAGE) != 0)
		in.want |= ING_SCRAPE_WEBPAGE;
	if (wants_publication(q))
		ing_publication_scrape_for(q->publication, &in);
	struct ing_scraped found;
	if (body->bytes > q->max_scrape_bytes) {
		ret->page.status = ING_PAGE_TOO_LARGE;
		read_parts(q, body, NULL, ret);
		return;
	}
	ing_scrape(scraper, &in, &found);
	if (all && (q->want & ING_WANT_TEXT) != 0 && found.end != ING_SCRAPE_TOO_LARGE)
		ing_page_text_read(page_text, scraper, &found, &ret->text);
	copy_page(&found, &ret->page);
	if ((q->want & ING_WANT_RESOURCES) != 0)
		ing_resources_of_page(ing_scraper_tree(scraper), filters, &ret->resources);
	read_parts(q, body, &found, ret);
	ing_scraper_clear(scraper);
}

static void read_xml(const struct ing_exam_request *q, const struct ing_document_body *body,
	struct ing_findings *ret)
{
	ing_xml_read(xml_reader, body->data, body->bytes, ret->file.mimetype, q->content_type,
		&ret->xml);
	ing_xml_reader_clear(xml_reader);
}

/* One that had no coding is there already. */
static void hand_back(const struct ing_document_body *body, struct ing_body_found *ret)
{
	if (!body->owned || body->bytes > ING_MAX_DECODED_BYTES)
		return;
	ret->data = ing_alloc(body->bytes + 1);
	ret->bytes = body->bytes;
	memcpy(ret->data, body->data, body->bytes);
}

/* -------------------------------------------------------------------------------------------- */

bool ing_document_identify(const struct ing_exam_request *q, const void *data, size_t bytes,
	struct ing_document_body *ret_body, struct ing_findings *ret)
{
	*ret_body = (struct ing_document_body){0};
	if ((q->want & ING_WANT_ROBOTS) != 0) {
		ing_document_robots(q, data, bytes, ret);
		return false;
	}
	if ((q->want & ING_WANT_TEI) != 0) {
		ing_document_tei(q, data, bytes, ret);
		return false;
	}
	make_tools();
	struct ing_error err = {0};
	int rc = decode_body(q, data, bytes, ret_body, &err);
	if (rc < 0) {
		ret->exam = rc == -ING_FAIL_TOO_BIG ? ING_EXAM_TOO_LARGE : ING_EXAM_BAD_ENCODING;
		char *clean = ing_utf8_clean(err.msg, strlen(err.msg), NULL);
		ret->detail = clean;
		return false;
	}
	ret->exam = ING_EXAM_OK;
	identify(ret_body, &ret->file);
	if ((q->want & ING_WANT_BODY) == 0)
		return true;
	hand_back(ret_body, &ret->body);
	return false;
}

void ing_document_read(const struct ing_exam_request *q, const struct ing_document_body *body,
	struct ing_findings *ret)
{
	bool page = wants_page(q) && ing_sniff_is_html(ret->file.mimetype);
	if (page)
		read_page(q, body, ret);
	else if (!is_pdf(ret) || (q->want & ING_WANT_PDF) == 0)
		read_parts(q, body, NULL, ret);
	if ((q->want & ING_WANT_CONTENTS) != 0)
		ing_archive_list(body->data, body->bytes, ret->file.mimetype, ret->file.contains);
	if ((q->want & ING_WANT_XML) != 0 && ing_xml_is_document_type(ret->file.mimetype))
		read_xml(q, body, ret);
	if ((q->want & ING_WANT_STYLE) != 0)
		ing_resources_of_style(
			body->data, body->bytes, q->url, q->page, filters, &ret->resources);
}

void ing_document_read_pdf(const struct ing_exam_request *q, const struct ing_document_body *body,
	struct ing_findings *ret)
{
	read_parts(q, body, NULL, ret);
	/* Its text is in the parts, then, and may be large. */
	if ((q->want & (ING_WANT_PUBLICATION | ING_WANT_WEBPAGE)) != 0)
		ing_freep(&ret->pdf.text);
}

void ing_document_examine(const struct ing_exam_request *q, const void *data, size_t bytes,
	struct ing_document_body *ret_body, struct ing_findings *ret)
{
	if (ing_document_identify(q, data, bytes, ret_body, ret))
		ing_document_read(q, ret_body, ret);
}

void ing_document_read_page(
	const struct ing_exam_request *q, const void *data, size_t bytes, struct ing_findings *ret)
{
	const struct ing_document_body body = {.data = data, .bytes = bytes};
	make_tools();
	read_page(q, &body, ret);
}

const char *ing_document_plain_text(void)
{
	return ing_page_text_plain(page_text);
}

void ing_document_use_rules(const struct ing_rules *borrowed)
{
	ing_must(rules == NULL && scraper == NULL);
	rules = borrowed;
}

/* NULL: there are no lists. */
static struct ing_filters *load_filters(const struct ing_rule_files *files)
{
	struct ing_filters *f = NULL;
	for (size_t i = 0; i < files->count; i++) {
		const struct ing_rule_file *file = &files->items[i];
		if (file->kind != ING_RULES_FILTERS)
			continue;
		if (f == NULL)
			f = ing_filters_new();
		ing_filters_add(f, file->text, file->bytes);
	}
	if (f != NULL)
		ing_filters_seal(f);
	return f;
}

int ing_document_load_rules(int fd, struct ing_error *err)
{
	struct ing_rule_files files;
	struct ing_report report;
	ing_must(rules == NULL && scraper == NULL);
	ing_rule_files_init(&files);
	ing_report_init(&report);
	int rc = ing_rule_files_from_fd(&files, fd, err);
	if (rc == 0) {
		rules = ing_rules_load(&files, &report);
		filters = load_filters(&files);
		rc = ing_report_to_error(&report, err);
	}
	ing_report_done(&report);
	ing_rule_files_done(&files);
	return rc;
}

void ing_document_body_done(struct ing_document_body *b)
{
	if (b->owned)
		free((void *)(uintptr_t)b->data);
	*b = (struct ing_document_body){0};
}

void ing_document_warm(void)
{
	static const char html[] = "<!doctype html><title>warm</title><p>warm";
	const struct ing_scrape_input in = {.data = html,
		.bytes = sizeof(html) - 1,
		.want = ING_SCRAPE_ALL,
		.page_type = ING_PART_TYPE_DOI};
	struct ing_scraped found;
	make_tools();
	ing_sniff_warm();
	ing_charsets_warm(ING_PDF_CHARSETS);
	ing_scrape(scraper, &in, &found);
	ing_scraper_clear(scraper);
	ing_document_warm_pdf();
}

void ing_document_warm_examiner(void)
{
	ing_charsets_warm(ing_charset_count);
}
