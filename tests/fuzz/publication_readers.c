/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Answers of services, pages and PDFs as examiners read them. The first byte chooses the reader ('a' is the first
 * of enum ing_publication_reader), the second what is known of the publication. Of the reader for pages those with
 * bit 16 are PDFs: lines of the Info dictionary, XMP and text. What is found is of the form that is promised, and
 * goes through the protocol unchanged.
 */
#include "tests/fuzz/target.h"

#include <string.h>

#include "common/base/macros.h"
#include "common/base/report.h"
#include "common/base/utf8.h"
#include "worker/document/publication/readers.h"
#include "worker/examine/proto_parts.h"
#include "worker/examine/wire.h"
#include "worker/model/findings.h"
#include "worker/model/limits.h"
#include "worker/scrape/scrape.h"

FUZZ_BUDGET(.cpu_us = 6000, .cpu_byte_ns = 3000, .heap_kb = 4000, .heap_byte = 1500,
	.out_bytes = 4096, .out_byte = 32);

static void check_text(const char *s)
{
	ing_must(s == NULL || ing_utf8_valid(s, strlen(s)));
}

static void check_status(const struct ing_publication_found *p)
{
	static const char *const known[] = {ING_PUBLICATION_STATUSES};
	bool found = false;
	for (size_t i = 0; i < ING_ARRAY_LEN(known); i++)
		found = found || strcmp(p->status, known[i]) == 0;
	ing_must(found);
	check_text(p->error_msg);
}

static void check_offer(const struct ing_publication_offer *o, enum ing_part_type type)
{
	ing_must(o->part < ING_PARTS_ && o->type < ING_PART_TYPES_);
	ing_must(ing_part_is_list((enum ing_part_key)o->part) == (o->text == NULL));
	ing_must(!ing_part_type_better((enum ing_part_type)o->type, type));
	check_text(o->text);
	ing_must(o->text == NULL || o->text[0] != '\0');
	for (uint32_t i = 0; i < o->term_count; i++) {
		ing_must(o->terms[i].term != NULL && o->terms[i].term[0] != '\0');
		check_text(o->terms[i].term);
		check_text(o->terms[i].uri);
	}
}

static void check_author(const struct ing_publication_author *a)
{
	const char *const all[] = {a->name, a->orcid, a->email, a->phone, a->uri};
	bool any = false;
	for (size_t i = 0; i < ING_ARRAY_LEN(all); i++) {
		check_text(all[i]);
		any = any || all[i] != NULL;
	}
	ing_must(any);
}

static void check_found(const struct ing_publication_found *p, enum ing_part_type type)
{
	check_status(p);
	for (uint32_t i = 0; i < p->offer_count; i++)
		check_offer(&p->offers[i], type);
	for (uint32_t i = 0; i < p->link_count; i++)
		check_text(p->links[i].url);
	for (uint32_t i = 0; i < p->author_count; i++)
		check_author(&p->authors[i]);
	const char *const fields[] = {
		p->journal_title, p->pub_date, p->licence, p->publisher, p->openalex_id};
	for (size_t i = 0; i < ING_ARRAY_LEN(fields); i++)
		check_text(fields[i]);
	ing_must(p->citations >= -1);
}

static void check_sent(const struct ing_publication_found *p)
{
	struct ing_publication_found again = {.citations = -1};
	struct ing_buf b;
	struct ing_wire w;
	ing_buf_init(&b, ING_MAX_REPLY_BYTES);
	ing_proto_put_publication(&b, p);
	ing_must(!b.failed);
	fuzz_wrote(b.len);
	ing_wire_init(&w, b.data, b.len);
	ing_proto_get_publication(&w, &again);
	ing_must(ing_wire_end(&w));
	ing_publication_found_done(&again);
	ing_buf_done(&b);
}

static void read_and_check(
	const struct ing_publication_ask *ask, const struct ing_publication_body *body)
{
	struct ing_publication_found found = {.citations = -1};
	ing_publication_read(ask, body, &found);
	check_found(&found, ask->type);
	check_sent(&found);
	ing_publication_found_done(&found);
}

static struct ing_rules *load(void)
{
	static const char text[] =
		"a.example/: pubmed\nb.example/: pmc\n---\npubmed:\n  pmid: i\n  title: h1\n  mesh: b\n"
		"  abstract: '.a > p'\npmc:\n  pmcid: i\n  title: h1\n  fulltext: 'section > :not(nav)'\n"
		"  pdf_a: 'a'\n---\n[]\n---\n[]\n";
	struct ing_rule_files files;
	struct ing_report report;
	ing_rule_files_init(&files);
	ing_report_init(&report);
	files.items[files.count++] = (struct ing_rule_file){.kind = ING_RULES_JOURNALS,
		.path = ing_strdup("journals.yaml"),
		.text = ing_strdup(text),
		.bytes = sizeof(text) - 1};
	struct ing_rules *rules = ing_rules_load(&files, &report);
	ing_must(rules != NULL);
	ing_report_done(&report);
	ing_rule_files_done(&files);
	return rules;
}

static void read_page(const struct ing_publication_ask *ask, struct ing_publication_body body)
{
	static struct ing_scraper *scraper;
	struct ing_scraped page;
	struct ing_webpage_found webpage = {0};
	struct ing_scrape_input in = {.url = body.url,
		.data = body.data,
		.bytes = body.bytes,
		.content_type = "text/html; charset=utf-8",
		.want = ING_SCRAPE_WEBPAGE};
	if (scraper == NULL)
		scraper = ing_scraper_new(load());
	ing_publication_scrape_for(ask, &in);
	ing_scrape(scraper, &in, &page);
	body.page = &page;
	body.mimetype = "text/html";
	read_and_check(ask, &body);
	ing_webpage_read(&body, &webpage);
	check_text(webpage.content);
	check_text(webpage.title);
	ing_webpage_found_done(&webpage);
	ing_scraper_clear(scraper);
}

/* The part up to the next line feed, as valid UTF-8. */
static char *take_line(const char **s, const char *end)
{
	const char *feed = memchr(*s, '\n', (size_t)(end - *s));
	const char *to = feed != NULL ? feed : end;
	char *line = ing_utf8_clean(*s, (size_t)(to - *s), NULL);
	*s = feed != NULL ? feed + 1 : end;
	return line;
}

static void read_pdf(const struct ing_publication_ask *ask, struct ing_publication_body body)
{
	const char *s = body.data, *end = s + body.bytes;
	char status[] = "success";
	struct ing_webpage_found webpage = {0};
	struct ing_pdf pdf = {.status = status};
	pdf.info_json = take_line(&s, end);
	pdf.meta_xml = take_line(&s, end);
	pdf.text = ing_utf8_clean(s, (size_t)(end - s), NULL);
	body.pdf = &pdf;
	body.mimetype = "application/pdf";
	read_and_check(ask, &body);
	ing_webpage_read(&body, &webpage);
	check_text(webpage.title);
	ing_webpage_found_done(&webpage);
	pdf.status = NULL;
	ing_pdf_done(&pdf);
}

void fuzz_target(const uint8_t *data, size_t size)
{
	if (size < 2)
		return;
	const struct ing_publication_ask ask = {
		.reader = (enum ing_publication_reader)(
			(data[0] + 100u * ING_PUBLICATION_READERS_ - 'a') %
			ING_PUBLICATION_READERS_),
		.type = (data[1] & 1) != 0 ? ING_PART_TYPE_LINK_OADOI : ING_PART_TYPE_META,
		.pmid = (data[1] & 2) != 0 ? "12345" : NULL,
		.pmcid = (data[1] & 4) != 0 ? "PMC7" : NULL,
		.doi = (data[1] & 8) != 0 ? "10.1093/NAR/GKW199" : NULL,
	};
	const struct ing_publication_body body = {
		.url = "https://a.example/b/c?d",
		.mimetype = "application/xml",
		.data = data + 2,
		.bytes = size - 2,
	};
	if (ask.reader == ING_READ_PAGE && (data[1] & 16) != 0)
		read_pdf(&ask, body);
	else if (ing_publication_reads_pages(ask.reader) && (data[1] & 32) == 0)
		read_page(&ask, body);
	else
		read_and_check(&ask, &body);
}
