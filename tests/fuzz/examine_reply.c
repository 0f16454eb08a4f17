/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The worker's reader of what an examiner answers, that is, of bytes from a process that a document
 * may have taken over. The first byte chooses the message, the rest is its payload. What is
 * accepted must hold its promises (valid UTF-8, known values) and survive being sent on.
 */
#include "tests/fuzz/target.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "common/base/utf8.h"
#include "common/net/robots.h"
#include "worker/examine/proto.h"
#include "worker/model/limits.h"

FUZZ_BUDGET(.cpu_us = 200, .cpu_byte_ns = 20, .heap_kb = 20, .heap_byte = 5);

static void check_text(const char *s)
{
	ing_must(s == NULL || ing_utf8_valid(s, strlen(s)));
}

static void check_pdf(const struct ing_pdf *pdf)
{
	static const char *const known[] = {ING_PDF_STATUSES};
	bool found = pdf->status == NULL;
	for (size_t i = 0; i < ING_ARRAY_LEN(known) && !found; i++)
		found = strcmp(known[i], pdf->status) == 0;
	ing_must(found);
	check_text(pdf->error_msg);
	check_text(pdf->text);
	check_text(pdf->meta_xml);
	check_text(pdf->info_json);
	ing_must(pdf->page_count >= 0);
	ing_must(isfinite(pdf->page0_width) && isfinite(pdf->page0_height));
}

static void check_link(const struct ing_page_link *link)
{
	check_text(link->url);
	check_text(link->technique);
	ing_must((link->url == NULL) == (link->technique == NULL));
	ing_must(link->url == NULL || strncmp(link->url, "http", 4) == 0);
	ing_must(link->url == NULL || strlen(link->url) <= ING_MAX_URL_BYTES);
}

static void check_page(const struct ing_page *page)
{
	for (size_t i = 0; i < ING_LINK_KINDS_; i++)
		check_link(&page->links[i]);
	check_link(&page->next);
	check_text(page->title);
	check_text(page->wall_detail);
	check_text(page->biblio_json);
	ing_must(page->wall <= ING_WALL_CHALLENGE && page->rule_hit_count <= ING_MAX_RULE_HITS);
	for (uint32_t i = 0; i < page->rule_hit_count; i++)
		ing_must(page->rule_hits[i].flags <= ING_RULE_ALL);
}

/* In the order in which they decide, and fit to be asked. */
static void check_robots(const struct ing_robots_found *found)
{
	const struct ing_robots_txt *txt = found->txt;
	if (txt == NULL)
		return;
	uint32_t count = ing_robots_txt_count(txt);
	ing_must(count <= ING_ROBOTS_TXT_MAX_RULES);
	ing_must(ing_robots_txt_crawl_delay_ms(txt) <= INT32_MAX);
	for (uint32_t i = 1; i < count; i++) {
		struct ing_robots_rule a = ing_robots_txt_rule(txt, i - 1);
		struct ing_robots_rule b = ing_robots_txt_rule(txt, i);
		ing_must(ing_robots_rule_compare(&a, &b) <= 0 && b.bytes > 0);
	}
	unsigned line = 0;
	ing_must(ing_robots_txt_allows(txt, "http://h/a/b.html?c", &line) || line > 0);
}

static void check_publication(const struct ing_publication_found *p)
{
	ing_must(p->flags < 2 * ING_PUBLICATION_MANUSCRIPT && p->citations >= -1);
	for (uint32_t i = 0; i < p->offer_count; i++) {
		const struct ing_publication_offer *o = &p->offers[i];
		ing_must(o->part < ING_PARTS_ && o->type < ING_PART_TYPES_);
		ing_must(ing_part_is_list((enum ing_part_key)o->part) == (o->text == NULL));
		check_text(o->text);
		for (uint32_t k = 0; k < o->term_count; k++) {
			ing_must(o->terms[k].term != NULL);
			check_text(o->terms[k].term);
			check_text(o->terms[k].uri);
		}
	}
	for (uint32_t i = 0; i < p->link_count; i++)
		ing_must(strncmp(p->links[i].url, "http", 4) == 0 &&
			 p->links[i].type < ING_PART_TYPES_);
	for (uint32_t i = 0; i < p->author_count; i++)
		check_text(p->authors[i].name);
}

static void check_findings(const struct ing_findings *f)
{
	ing_must(f->exam <= ING_EXAM_UNREADABLE && f->page.status <= ING_PAGE_PART);
	check_text(f->detail);
	check_page(&f->page);
	ing_must(memchr(f->file.mimetype, '\0', sizeof(f->file.mimetype)) != NULL);
	ing_must(strspn(f->file.sha1hex, "0123456789abcdef") == strlen(f->file.sha1hex));
	if (f->exam == ING_EXAM_OK)
		ing_must(strlen(f->file.sha1hex) == (f->file.decoded ? 40 : 0));
	check_pdf(&f->pdf);
	ing_must(f->robots.txt == NULL || f->exam == ING_EXAM_OK);
	check_robots(&f->robots);
	check_publication(&f->publication);
	ing_must(f->webpage.read || f->webpage.content == NULL);
	check_text(f->webpage.content);
}

static void try_reply(const uint8_t *data, size_t size)
{
	struct ing_findings f;
	struct ing_findings again;
	struct ing_buf b;
	if (ing_proto_get_reply(data, size, &f) != 0)
		return;
	check_findings(&f);
	ing_buf_init(&b, ING_PROTO_HEAD_BYTES + ING_MAX_REPLY_BYTES);
	ing_proto_put_reply(&b, &f);
	ing_must(!b.failed);
	ing_must(ing_proto_get_reply(
			 b.data + ING_PROTO_HEAD_BYTES, b.len - ING_PROTO_HEAD_BYTES, &again) == 0);
	ing_findings_done(&again);
	ing_findings_done(&f);
	ing_buf_done(&b);
}

void fuzz_target(const uint8_t *data, size_t size)
{
	if (size == 0)
		return;
	size_t bytes;
	if (data[0] == 'h' && size > ING_PROTO_HEAD_BYTES) {
		if (ing_proto_head(data + 1, ING_PROTO_REPLY, ING_MAX_REPLY_BYTES, &bytes) == 0)
			ing_must(bytes <= ING_MAX_REPLY_BYTES);
	} else if (data[0] == 'f') {
		struct ing_file_meta file;
		if (ing_proto_get_file(data + 1, size - 1, &file) == 0)
			ing_must(strlen(file.mimetype) > 0 && strlen(file.mimetype) < 96);
	} else {
		try_reply(data + 1, size - 1);
	}
}
