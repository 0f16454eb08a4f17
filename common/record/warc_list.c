/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The scanner finds records; of a response the head of HTTP is kept. Behind damage every place that looks
 * like the front of a record is tried: what a damaged record covers with the bytes that were pushed before
 * is not searched again.
 */
#include "common/record/warc_list.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/buf.h"
#include "common/record/cdx.h"
#include "common/record/warc.h"
#include "common/record/warc_scan.h"

/* Of an HTTP head: status and type come before. */
#define MAX_HTTP_BYTES ((size_t)64 << 10)
#define PIECE_BYTES ((size_t)256 << 10)
/* Places that are tried in a piece: more are there on purpose only, and each may be costly. */
#define MAX_TRIES 100

static const char gzip_front[] = {'\x1f', '\x8b', 8};
static const char plain_front[] = {'W', 'A', 'R', 'C', '/', '1'};

enum kind { UNKNOWN, GZIP, PLAIN };

struct ing_warc_list {
	const struct ing_warc_list_user *user;
	void *ctx;
	struct ing_warc_scan *scan;
	enum kind kind;
	bool lost;      /* behind damage that was reported */
	bool searching; /* lost, and not in what may be a record */
	uint64_t at;    /* bytes pushed */
	uint64_t number;
	struct ing_buf http;
	bool wants_http;
	char *piece; /* of the file, from l->at on: pieces are of one size, so that what is found behind
			damage does not depend on how the bytes came */
	size_t piece_bytes;
};

/* --- records --- */

static struct ing_warc_span field(const char *head, size_t bytes, const char *name)
{
	struct ing_warc_span s = {0};
	if (!ing_warc_field(head, bytes, name, &s.text, &s.bytes) || s.bytes == 0)
		return (struct ing_warc_span){0};
	return s;
}

/* Tools wrote "<http://a.example/>" into WARC 1.0 files, as the standard's grammar has it. */
static struct ing_warc_span without_brackets(struct ing_warc_span s)
{
	if (s.bytes >= 2 && s.text[0] == '<' && s.text[s.bytes - 1] == '>')
		return (struct ing_warc_span){s.text + 1, s.bytes - 2};
	return s;
}

static bool begins(struct ing_warc_span s, const char *word)
{
	return s.bytes >= strlen(word) && strncasecmp(s.text, word, strlen(word)) == 0;
}

static void on_head(void *ctx, uint64_t offset, const char *head, size_t head_bytes)
{
	struct ing_warc_list *l = ctx;
	(void)offset;
	ing_buf_clear(&l->http);
	l->wants_http = begins(field(head, head_bytes, "Content-Type"), "application/http") &&
			!begins(field(head, head_bytes, "WARC-Type"), "request");
}

static void on_block(void *ctx, const void *data, size_t bytes)
{
	struct ing_warc_list *l = ctx;
	if (l->wants_http && l->http.len < l->http.max)
		ing_buf_add(&l->http, data, ING_MIN(bytes, l->http.max - l->http.len));
}

static void read_mime(struct ing_warc_span content_type, char ret[ING_WARC_LIST_MIME_BYTES])
{
	char text[256];
	size_t n = ING_MIN(content_type.bytes, sizeof(text) - 1);
	if (n > 0)
		memcpy(text, content_type.text, n);
	text[n] = '\0';
	ing_cdx_mimetype(text, ret);
}

/* The first Content-Type of an HTTP head: what it is called is enough here. */
static struct ing_warc_span http_content_type(const char *head)
{
	static const char name[] = "Content-Type:";
	for (const char *line = strchr(head, '\n'); line != NULL; line = strchr(line, '\n')) {
		line++;
		if (*line == '\r' || *line == '\n' || *line == '\0')
			break;
		if (strncasecmp(line, name, sizeof(name) - 1) == 0) {
			line += sizeof(name) - 1;
			return (struct ing_warc_span){line, strcspn(line, "\r\n")};
		}
	}
	return (struct ing_warc_span){0};
}

/* "HTTP/1.1 200 OK" and fields. */
static void read_http(const struct ing_warc_list *l, struct ing_warc_item *item)
{
	const char *s = ing_buf_str(&l->http);
	const char *blank = strchr(s, ' ');
	if (strncmp(s, "HTTP/", 5) != 0 || blank == NULL)
		return;
	long status = strtol(blank, NULL, 10);
	if (status >= 100 && status <= 999)
		item->status = (int)status;
	read_mime(http_content_type(s), item->mime);
}

static void on_record(
	void *ctx, uint64_t offset, uint64_t csize, const char *head, size_t head_bytes)
{
	struct ing_warc_list *l = ctx;
	(void)csize;
	struct ing_warc_item item = {
		.number = ++l->number,
		.offset = offset,
		.type = field(head, head_bytes, "WARC-Type"),
		.url = without_brackets(field(head, head_bytes, "WARC-Target-URI")),
		.date = field(head, head_bytes, "WARC-Date"),
		.payload_digest = field(head, head_bytes, "WARC-Payload-Digest"),
	};
	l->lost = false;
	if (l->wants_http)
		read_http(l, &item);
	else if (begins(item.type, "resource"))
		read_mime(field(head, head_bytes, "Content-Type"), item.mime);
	l->user->record(l->ctx, &item);
}

/* --- damage --- */

static void report(struct ing_warc_list *l, uint64_t offset, const char *what)
{
	if (!l->lost)
		l->user->damage(l->ctx, l->number + 1, offset, what);
	l->lost = true;
	l->searching = true;
}

/* Where in the piece the next record may begin, from `from` on; the place may be cut off by its end. */
static size_t find_front(const struct ing_warc_list *l, const char *data, size_t bytes, size_t from)
{
	const char *front = l->kind == GZIP ? gzip_front : plain_front;
	size_t length = l->kind == GZIP ? sizeof(gzip_front) : sizeof(plain_front);
	while (from < bytes) {
		const char *s = memchr(data + from, front[0], bytes - from);
		if (s == NULL)
			return bytes;
		size_t left = (size_t)(data + bytes - s);
		if (memcmp(s, front, ING_MIN(left, length)) == 0)
			return bytes - left;
		from = bytes - left + 1;
	}
	return bytes;
}

/* Scans on, and after damage from the next place; `data` begins at l->at. */
static void scan_piece(struct ing_warc_list *l, const char *data, size_t bytes)
{
	size_t from = 0;
	for (unsigned tries = 0; from < bytes; tries++) {
		if (l->searching) {
			from = find_front(l, data, bytes, from);
			if (from == bytes || tries > MAX_TRIES)
				break;
			ing_warc_scan_restart(l->scan, l->at + from);
			l->searching = false;
		}
		if (ing_warc_scan_add(l->scan, data + from, bytes - from))
			break;
		struct ing_warc_scan_state state = ing_warc_scan_end(l->scan);
		report(l, state.whole, state.damage);
		/* Of the damaged record the front is known to be none. */
		from = state.whole >= l->at ? (size_t)(state.whole - l->at) + 1 : 0;
	}
	l->at += bytes;
}

static void scan_held(struct ing_warc_list *l)
{
	if (l->kind == UNKNOWN) {
		bool gzip = memcmp(l->piece, gzip_front, ING_MIN(l->piece_bytes, (size_t)2)) == 0;
		l->kind = gzip ? GZIP : PLAIN;
		if (l->kind == PLAIN)
			ing_warc_scan_plain(l->scan);
	}
	scan_piece(l, l->piece, l->piece_bytes);
	l->piece_bytes = 0;
}

/* -------------------------------------------------------------------------------------------- */

struct ing_warc_list *ing_warc_list_new(const struct ing_warc_list_user *user, void *ctx)
{
	struct ing_warc_list *l = ing_alloc(sizeof(*l));
	l->user = user;
	l->ctx = ctx;
	l->scan = ing_warc_scan_new(on_record, l);
	ing_warc_scan_watch(l->scan, on_head, on_block);
	ing_buf_init(&l->http, MAX_HTTP_BYTES);
	l->piece = ing_alloc(PIECE_BYTES);
	return l;
}

void ing_warc_list_free(struct ing_warc_list *l)
{
	if (l == NULL)
		return;
	ing_warc_scan_free(l->scan);
	ing_buf_done(&l->http);
	free(l->piece);
	free(l);
}

void ing_warc_list_add(struct ing_warc_list *l, const void *data, size_t bytes)
{
	const char *from = data;
	while (bytes > 0) {
		size_t take = ING_MIN(bytes, PIECE_BYTES - l->piece_bytes);
		memcpy(l->piece + l->piece_bytes, from, take);
		l->piece_bytes += take;
		from += take;
		bytes -= take;
		if (l->piece_bytes == PIECE_BYTES)
			scan_held(l);
	}
}

void ing_warc_list_end(struct ing_warc_list *l)
{
	if (l->piece_bytes > 0)
		scan_held(l);
	struct ing_warc_scan_state state = ing_warc_scan_end(l->scan);
	if (state.damage != NULL && !l->searching)
		report(l, state.whole, state.damage);
}
