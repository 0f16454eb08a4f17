/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * See proto.h. Encoder and decoder of each message stand next to each other, field by field in the
 * same order.
 */
#include "worker/examine/proto.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/net/robots.h"
#include "worker/examine/proto_parts.h"
#include "worker/examine/wire.h"
#include "worker/model/limits.h"

#define PROTO_VERSION 7

/* Ceilings of single fields, in bytes. Their sum stays below ING_MAX_REPLY_BYTES. */
/* A media type or coding list worth reading is far shorter. */
#define MAX_HEADER_VALUE_BYTES ((size_t)1024)
#define MAX_AGENT_BYTES ((size_t)1024)
#define MAX_TITLE_BYTES ((size_t)1000)
#define MAX_SLUG_BYTES ING_PROTO_SLUG_BYTES
#define MAX_TECHNIQUE_BYTES ((size_t)200) /* of a rule file: whatever its author called it */
#define MAX_WHY_BYTES ((size_t)ING_MAX_ERROR_CHARS)
#define MAX_DETAIL_BYTES ((size_t)ING_MAX_ERROR_CHARS)

/* A day: sums of false values must not overflow a counter. */
#define MAX_CPU_US ((uint64_t)86400 * 1000000)

/* ---- frames ---- */

size_t ing_proto_begin(struct ing_buf *b, enum ing_proto_kind kind)
{
	size_t at = b->len;
	const char head[4] = {'I', 'X', (char)kind, PROTO_VERSION};
	ing_buf_add(b, head, sizeof(head));
	ing_wire_put_u32(b, 0);
	return at;
}

void ing_proto_end(struct ing_buf *b, size_t at)
{
	if (b->failed)
		return;
	size_t bytes = b->len - at - ING_PROTO_HEAD_BYTES;
	ing_must(bytes <= UINT32_MAX);
	for (size_t i = 0; i < 4; i++)
		b->data[at + 4 + i] = (char)(uint8_t)(bytes >> (8 * i));
}

int ing_proto_head(const void *head, enum ing_proto_kind kind, size_t max_bytes, size_t *ret_bytes)
{
	struct ing_wire w;
	ing_wire_init(&w, head, ING_PROTO_HEAD_BYTES);
	if (ing_wire_u8(&w) != 'I' || ing_wire_u8(&w) != 'X' || ing_wire_u8(&w) != (uint8_t)kind ||
		ing_wire_u8(&w) != PROTO_VERSION)
		return -ING_FAIL_SYNTAX;
	size_t bytes = ing_wire_u32(&w);
	if (bytes > max_bytes)
		return -ING_FAIL_TOO_BIG;
	*ret_bytes = bytes;
	return 0;
}

/* ---- alphabets ---- */

static bool is_digit(unsigned char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_hex(unsigned char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f');
}

static bool is_one_of(unsigned char c, const char *set)
{
	return c != '\0' && strchr(set, c) != NULL;
}

bool ing_proto_is_slug_char(unsigned char c)
{
	return is_digit(c) || is_letter(c) || c == '-' || c == '_' || c == '.' || c == ':';
}

/* RFC 6838 restricted names, and the slash. */
static bool is_mimetype_char(unsigned char c)
{
	return is_digit(c) || is_letter(c) || is_one_of(c, "/!#$&-^_.+");
}

/* Printable ASCII but for the space: what a serialized URL consists of. */
bool ing_proto_is_url_char(unsigned char c)
{
	return c > 0x20 && c < 0x7f;
}

/* ---- fields with a meaning ---- */

static void get_hex(struct ing_wire *w, char *to, size_t room)
{
	ing_wire_field(w, to, room, is_hex);
	if (to[0] != '\0' && strlen(to) != room - 1)
		w->failed = true;
}

/* type/subtype, each of them there. */
static bool is_mimetype(const char *s)
{
	const char *slash = strchr(s, '/');
	if (slash == NULL || slash == s || slash[1] == '\0' || strchr(slash + 1, '/') != NULL)
		return false;
	for (const char *c = s; *c != '\0'; c++)
		if (!is_mimetype_char((unsigned char)*c))
			return false;
	return true;
}

/* An odd media type must not cost a document its other findings. */
static void put_mimetype(struct ing_buf *b, const char *s, size_t room)
{
	if (s[0] != '\0' && !is_mimetype(s))
		s = "application/octet-stream";
	ing_wire_put_whole(b, s, room - 1);
}

static void get_mimetype(struct ing_wire *w, char *to, size_t room)
{
	ing_wire_field(w, to, room, is_mimetype_char);
	if (to[0] != '\0' && !is_mimetype(to))
		w->failed = true;
}

/* Media types divided by commas. */
static bool is_contains(const char *s)
{
	char type[ING_CONTAINS_BYTES];
	for (;;) {
		size_t n = strcspn(s, ",");
		memcpy(type, s, n);
		type[n] = '\0';
		if (!is_mimetype(type))
			return false;
		if (s[n] == '\0')
			return true;
		s += n + 1;
	}
}

static bool is_contains_char(unsigned char c)
{
	return c == ',' || is_mimetype_char(c);
}

static void put_contains(struct ing_buf *b, const char *s)
{
	ing_wire_put_whole(b, s[0] == '\0' || is_contains(s) ? s : "", ING_CONTAINS_BYTES - 1);
}

static void get_contains(struct ing_wire *w, char to[ING_CONTAINS_BYTES])
{
	ing_wire_field(w, to, ING_CONTAINS_BYTES, is_contains_char);
	if (to[0] != '\0' && !is_contains(to))
		w->failed = true;
}

static bool is_web_url(const char *s)
{
	return strncmp(s, "http://", 7) == 0 || strncmp(s, "https://", 8) == 0;
}

bool ing_proto_is_sendable_url(const char *s)
{
	if (s == NULL || strlen(s) > ING_MAX_URL_BYTES || !is_web_url(s))
		return false;
	for (const char *c = s; *c != '\0'; c++)
		if (!ing_proto_is_url_char((unsigned char)*c))
			return false;
	return true;
}

/* A link goes whole, or not at all. */
static void put_link(struct ing_buf *b, const struct ing_page_link *link)
{
	bool good = ing_proto_is_sendable_url(link->url) && link->technique != NULL &&
		    link->technique[0] != '\0';
	ing_wire_put_whole(b, good ? link->url : NULL, ING_MAX_URL_BYTES);
	ing_wire_put_text(b, good ? link->technique : NULL, MAX_TECHNIQUE_BYTES);
	ing_wire_put_word(b, good ? link->stage : NULL, MAX_SLUG_BYTES, ing_proto_is_slug_char);
	ing_wire_put_u8(b, good && link->self);
	ing_wire_put_u32(b, good ? link->rule : ING_NO_RULE);
}

static bool get_flag(struct ing_wire *w)
{
	uint8_t v = ing_wire_u8(w);
	if (v > 1)
		w->failed = true;
	return v == 1;
}

static void get_link(struct ing_wire *w, struct ing_page_link *link)
{
	link->url = ing_wire_word(w, ING_MAX_URL_BYTES, ing_proto_is_url_char);
	link->technique = ing_wire_text(w, MAX_TECHNIQUE_BYTES);
	link->stage = ing_wire_word(w, MAX_SLUG_BYTES, ing_proto_is_slug_char);
	link->self = get_flag(w);
	link->rule = ing_wire_u32(w);
	bool has_words = link->technique != NULL && link->technique[0] != '\0';
	if (link->url != NULL ? !is_web_url(link->url) || !has_words
			      : link->technique != NULL || link->stage != NULL)
		w->failed = true;
}

/* ---- messages ---- */

void ing_proto_put_hello(struct ing_buf *b)
{
	ing_proto_end(b, ing_proto_begin(b, ING_PROTO_HELLO));
}

void ing_proto_put_request(struct ing_buf *b, const struct ing_exam_request *q, unsigned timeout_ms,
	uint64_t body_bytes)
{
	size_t at = ing_proto_begin(b, ING_PROTO_REQUEST);
	ing_wire_put_whole(b, q->url, ING_MAX_URL_BYTES);
	ing_wire_put_text(b, q->content_type, MAX_HEADER_VALUE_BYTES);
	ing_wire_put_text(b, q->content_encoding, MAX_HEADER_VALUE_BYTES);
	ing_wire_put_u32(b, q->want);
	ing_wire_put_u64(b, q->max_body_bytes);
	ing_wire_put_u64(b, q->max_scrape_bytes);
	ing_wire_put_u32(b, q->pdf_timeout_ms);
	ing_wire_put_u32(b, q->max_ratio);
	ing_wire_put_whole(b, q->page, ING_MAX_URL_BYTES);
	ing_wire_put_text(b, q->agent, MAX_AGENT_BYTES);
	ing_wire_put_u8(b, q->body_cut);
	ing_proto_put_publication_ask(b, q->publication);
	ing_wire_put_u32(b, timeout_ms);
	ing_wire_put_u64(b, body_bytes);
	ing_proto_end(b, at);
}

int ing_proto_get_request(const void *payload, size_t bytes, struct ing_proto_request *ret)
{
	struct ing_wire w;
	struct ing_proto_request o = {0};
	ing_wire_init(&w, payload, bytes);
	o.url = ing_wire_text(&w, ING_MAX_URL_BYTES);
	o.content_type = ing_wire_text(&w, MAX_HEADER_VALUE_BYTES);
	o.content_encoding = ing_wire_text(&w, MAX_HEADER_VALUE_BYTES);
	o.q.want = ing_wire_u32(&w);
	o.q.max_body_bytes = ing_wire_u64(&w);
	o.q.max_scrape_bytes = ing_wire_u64(&w);
	o.q.pdf_timeout_ms = ing_wire_u32(&w);
	o.q.max_ratio = ing_wire_u32(&w);
	o.page = ing_wire_text(&w, ING_MAX_URL_BYTES);
	o.agent = ing_wire_text(&w, MAX_AGENT_BYTES);
	o.q.body_cut = get_flag(&w);
	bool has_ask = ing_proto_get_publication_ask(&w, &o.publication);
	o.timeout_ms = ing_wire_u32(&w);
	o.body_bytes = ing_wire_u64(&w);
	bool good = ing_wire_end(&w) && o.body_bytes <= SIZE_MAX / 2;
	bool lacks = ((o.q.want & ING_WANT_ROBOTS) != 0 && o.agent == NULL) ||
		     ((o.q.want & ING_WANT_PUBLICATION) != 0 && !has_ask);
	if (!good || lacks) {
		ing_proto_request_done(&o);
		*ret = (struct ing_proto_request){0};
		return -ING_FAIL_INVALID;
	}
	o.q.url = o.url;
	o.q.content_type = o.content_type;
	o.q.content_encoding = o.content_encoding;
	o.q.page = o.page;
	o.q.agent = o.agent;
	*ret = o;
	ret->q.publication = has_ask ? &ret->publication.ask : NULL;
	return 0;
}

static void put_uses(struct ing_buf *b, const struct ing_page *page)
{
	uint32_t count = ING_MIN(page->rule_hit_count, (uint32_t)ING_MAX_RULE_HITS);
	ing_wire_put_u64(b, page->rules_digest);
	ing_wire_put_u32(b, count);
	for (uint32_t i = 0; i < count; i++) {
		ing_wire_put_u32(b, page->rule_hits[i].rule);
		ing_wire_put_u32(b, page->rule_hits[i].flags & ING_RULE_ALL);
	}
}

static void get_uses(struct ing_wire *w, struct ing_page *page)
{
	page->rules_digest = ing_wire_u64(w);
	uint32_t count = ing_wire_range(w, ING_MAX_RULE_HITS);
	if (count == 0)
		return;
	page->rule_hits = ing_alloc(count * sizeof(*page->rule_hits));
	page->rule_hit_count = count;
	for (uint32_t i = 0; i < count; i++) {
		page->rule_hits[i].rule = ing_wire_u32(w);
		page->rule_hits[i].flags = ing_wire_range(w, ING_RULE_ALL);
	}
}

static void put_page(struct ing_buf *b, const struct ing_page *page)
{
	ing_wire_put_u32(b, page->status);
	ing_wire_put_text(b, page->title, MAX_TITLE_BYTES);
	for (size_t i = 0; i < ING_LINK_KINDS_; i++)
		put_link(b, &page->links[i]);
	put_link(b, &page->next);
	ing_wire_put_u32(b, page->wall);
	ing_wire_put_text(b, page->wall_detail, MAX_WHY_BYTES);
	ing_wire_put_word(b, page->platform, MAX_SLUG_BYTES, ing_proto_is_slug_char);
	ing_wire_put_word(b, page->scope, MAX_SLUG_BYTES, ing_proto_is_slug_char);
	ing_wire_put_whole(b, page->biblio_json, ING_MAX_BIBLIO_BYTES);
	put_uses(b, page);
}

static void get_page(struct ing_wire *w, struct ing_page *page)
{
	page->status = (enum ing_page_status)ing_wire_range(w, ING_PAGE_PART);
	page->title = ing_wire_text(w, MAX_TITLE_BYTES);
	for (size_t i = 0; i < ING_LINK_KINDS_; i++)
		get_link(w, &page->links[i]);
	get_link(w, &page->next);
	page->wall = (enum ing_wall)ing_wire_range(w, ING_WALL_CHALLENGE);
	page->wall_detail = ing_wire_text(w, MAX_WHY_BYTES);
	page->platform = ing_wire_word(w, MAX_SLUG_BYTES, ing_proto_is_slug_char);
	page->scope = ing_wire_word(w, MAX_SLUG_BYTES, ing_proto_is_slug_char);
	page->biblio_json = ing_wire_text(w, ING_MAX_BIBLIO_BYTES);
	get_uses(w, page);
}

static void put_robots(struct ing_buf *b, const struct ing_robots_found *found)
{
	const struct ing_robots_txt *txt = found->txt;
	ing_wire_put_u8(b, txt != NULL);
	if (txt == NULL)
		return;
	uint32_t count = ing_robots_txt_count(txt);
	ing_wire_put_u8(b, found->cut);
	ing_wire_put_u32(b, ing_robots_txt_crawl_delay_ms(txt));
	ing_wire_put_u32(b, count);
	for (uint32_t i = 0; i < count; i++) {
		struct ing_robots_rule rule = ing_robots_txt_rule(txt, i);
		ing_wire_put_u8(b, rule.allow);
		ing_wire_put_u32(b, rule.line);
		ing_wire_put_bytes(b, rule.pattern, rule.bytes);
	}
}

/* The list is no longer than what is left of the message can hold, so a false length costs no
 * memory. The parser decides what the rules may be. */
static void get_robots(struct ing_wire *w, struct ing_robots_found *found)
{
	enum { MIN_RULE_BYTES = 1 + 4 + 4 + 1 };
	if (!get_flag(w))
		return;
	found->cut = get_flag(w);
	uint32_t crawl_delay_ms = ing_wire_u32(w);
	uint32_t count = ing_wire_range(w, ING_ROBOTS_TXT_MAX_RULES);
	if (count > w->left / MIN_RULE_BYTES) {
		w->failed = true;
		return;
	}
	struct ing_robots_rule *rules = ing_alloc((count + 1) * sizeof(*rules));
	for (uint32_t i = 0; i < count; i++) {
		size_t bytes;
		rules[i].allow = get_flag(w);
		rules[i].line = ing_wire_u32(w);
		rules[i].pattern = ing_wire_bytes(w, ING_ROBOTS_TXT_MAX_PATTERN_BYTES, &bytes);
		rules[i].bytes = (uint32_t)bytes;
	}
	if (!w->failed)
		found->txt = ing_robots_txt_new(rules, count, crawl_delay_ms);
	w->failed = found->txt == NULL;
	free(rules);
}

static void put_file(struct ing_buf *b, const struct ing_file_meta *file)
{
	ing_wire_put_u8(b, file->decoded);
	ing_wire_put_u64(b, file->size_bytes);
	ing_wire_put_whole(b, file->md5hex, sizeof(file->md5hex) - 1);
	ing_wire_put_whole(b, file->sha1hex, sizeof(file->sha1hex) - 1);
	ing_wire_put_whole(b, file->sha256hex, sizeof(file->sha256hex) - 1);
	put_mimetype(b, file->mimetype, sizeof(file->mimetype));
	put_contains(b, file->contains);
}

static void get_file(struct ing_wire *w, struct ing_file_meta *file)
{
	file->decoded = get_flag(w);
	file->size_bytes = ing_wire_u64(w);
	get_hex(w, file->md5hex, sizeof(file->md5hex));
	get_hex(w, file->sha1hex, sizeof(file->sha1hex));
	get_hex(w, file->sha256hex, sizeof(file->sha256hex));
	get_mimetype(w, file->mimetype, sizeof(file->mimetype));
	get_contains(w, file->contains);
}

/* A row without its keys must not be stored: a document that was decoded has all three. */
static bool is_whole_file(const struct ing_file_meta *file)
{
	bool digested =
		file->md5hex[0] != '\0' && file->sha1hex[0] != '\0' && file->sha256hex[0] != '\0';
	bool bare =
		file->md5hex[0] == '\0' && file->sha1hex[0] == '\0' && file->sha256hex[0] == '\0';
	return file->mimetype[0] != '\0' && (file->decoded ? digested : bare);
}

void ing_proto_put_file(struct ing_buf *b, const struct ing_file_meta *file)
{
	size_t at = ing_proto_begin(b, ING_PROTO_FILE);
	put_file(b, file);
	ing_proto_end(b, at);
}

int ing_proto_get_file(const void *payload, size_t bytes, struct ing_file_meta *ret)
{
	struct ing_wire w;
	struct ing_file_meta file = {0};
	ing_wire_init(&w, payload, bytes);
	get_file(&w, &file);
	bool good = ing_wire_end(&w) && is_whole_file(&file);
	*ret = good ? file : (struct ing_file_meta){0};
	return good ? 0 : -ING_FAIL_INVALID;
}

void ing_proto_put_reply(struct ing_buf *b, const struct ing_findings *f)
{
	size_t at = ing_proto_begin(b, ING_PROTO_REPLY);
	ing_wire_put_u32(b, f->exam);
	ing_wire_put_text(b, f->detail, MAX_DETAIL_BYTES);
	put_file(b, &f->file);
	put_page(b, &f->page);
	ing_proto_put_pdf_fields(b, &f->pdf);
	ing_proto_put_text(b, &f->text);
	ing_proto_put_xml(b, &f->xml);
	ing_proto_put_resources(b, &f->resources);
	ing_proto_put_tei(b, &f->tei);
	ing_proto_put_body(b, &f->body);
	ing_proto_put_publication(b, &f->publication);
	ing_proto_put_webpage(b, &f->webpage);
	put_robots(b, &f->robots);
	ing_wire_put_u64(b, f->cpu_us);
	ing_wire_put_u64(b, f->pdf_cpu_us);
	ing_proto_end(b, at);
}

int ing_proto_get_reply(const void *payload, size_t bytes, struct ing_findings *ret)
{
	struct ing_wire w;
	struct ing_findings f;
	ing_findings_init(&f);
	ing_wire_init(&w, payload, bytes);
	f.exam = (enum ing_exam)ing_wire_range(&w, ING_EXAM_UNREADABLE);
	f.detail = ing_wire_text(&w, MAX_DETAIL_BYTES);
	get_file(&w, &f.file);
	get_page(&w, &f.page);
	ing_proto_get_pdf_fields(&w, &f.pdf);
	ing_proto_get_text(&w, &f.text);
	ing_proto_get_xml(&w, &f.xml);
	ing_proto_get_resources(&w, &f.resources);
	ing_proto_get_tei(&w, &f.tei);
	ing_proto_get_body(&w, &f.body);
	ing_proto_get_publication(&w, &f.publication);
	ing_proto_get_webpage(&w, &f.webpage);
	get_robots(&w, &f.robots);
	f.cpu_us = ing_wire_u64(&w);
	f.pdf_cpu_us = ing_wire_u64(&w);
	bool good = ing_wire_end(&w) && f.cpu_us <= MAX_CPU_US && f.pdf_cpu_us <= MAX_CPU_US;
	if (f.exam == ING_EXAM_OK && !is_whole_file(&f.file))
		good = false;
	if (f.exam != ING_EXAM_OK && f.robots.txt != NULL)
		good = false;
	if (!good)
		ing_findings_done(&f);
	*ret = f;
	return good ? 0 : -ING_FAIL_INVALID;
}

/* ---- requests ---- */

void ing_proto_request_done(struct ing_proto_request *request)
{
	free(request->url);
	free(request->content_type);
	free(request->content_encoding);
	free(request->page);
	free(request->agent);
	free(request->publication.pmid);
	free(request->publication.pmcid);
	free(request->publication.doi);
	*request = (struct ing_proto_request){0};
}
