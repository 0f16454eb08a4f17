/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Two machines, one in the other: gzip members (zlib) give bytes to a record reader with three
 * states. A record must end where its member ends. In a file that is not compressed the reader gets the bytes
 * themselves.
 */
#include "common/record/warc_scan.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/data/compress.h"
#include "common/record/warc.h"

#define OUT_BYTES ((size_t)64 << 10)

enum part { PART_HEAD, PART_BLOCK, PART_TAIL, PART_DONE };

struct ing_warc_scan {
	ing_warc_scan_f *each;
	ing_warc_scan_head_f *on_head; /* these two may be NULL */
	ing_warc_scan_block_f *on_block;
	void *ctx;
	struct ing_gunzip *gunzip;
	struct ing_warc_scan_state state;
	bool plain; /* there are no members: a record is its own bytes */
	bool in_member;
	enum part part;
	struct ing_buf head;
	uint64_t block_left;
	unsigned tail_seen; /* of "\r\n\r\n" */
	unsigned char out[OUT_BYTES];
};

static void begin_record(struct ing_warc_scan *s)
{
	ing_gunzip_begin(s->gunzip);
	ing_buf_clear(&s->head);
	s->in_member = true;
	s->part = PART_HEAD;
	s->tail_seen = 0;
}

/* Known after a few bytes, so that other content is not carried along up to the header's
 * ceiling. */
static bool begins_like_record(const char *head, size_t bytes)
{
	static const char magic[] = "WARC/1.";
	return memcmp(head, magic, ING_MIN(bytes, sizeof(magic) - 1)) == 0;
}

/* Move bytes into the header until its blank line is there. Returns how many were used. */
static size_t read_head(struct ing_warc_scan *s, const char *data, size_t bytes)
{
	/* The blank line may straddle two pieces. */
	size_t look = s->head.len > 3 ? s->head.len - 3 : 0;
	size_t take = ING_MIN(bytes, ING_WARC_MAX_HEAD_BYTES - s->head.len);
	size_t before = s->head.len;
	if (take == 0 || !ing_buf_add(&s->head, data, take)) {
		s->state.damage = "the record's header does not end";
		return 0;
	}
	if (!begins_like_record(s->head.data, s->head.len)) {
		s->state.damage = "this is no WARC record";
		return take;
	}
	const char *blank = memmem(s->head.data + look, s->head.len - look, "\r\n\r\n", 4);
	if (blank == NULL)
		return take;
	s->head.len = (size_t)(blank + 4 - s->head.data);
	if (ing_warc_head_check(s->head.data, s->head.len, &s->block_left) != 0)
		s->state.damage = "the record's header is malformed";
	else if (s->on_head != NULL)
		s->on_head(s->ctx, s->state.whole, s->head.data, s->head.len);
	s->part = s->block_left > 0 ? PART_BLOCK : PART_TAIL;
	return s->head.len - before;
}

static size_t read_tail(struct ing_warc_scan *s, char c)
{
	if (c != "\r\n\r\n"[s->tail_seen]) {
		s->state.damage = "the block is longer than its Content-Length";
		return 0;
	}
	if (++s->tail_seen == 4)
		s->part = PART_DONE;
	return 1;
}

/* Returns how many bytes were used: all, or up to the end of a plain record. */
static size_t read_record(struct ing_warc_scan *s, const char *data, size_t bytes)
{
	const char *from = data;
	while (bytes > 0 && s->state.damage == NULL) {
		size_t used = 0;
		switch (s->part) {
		case PART_HEAD:
			used = read_head(s, data, bytes);
			break;
		case PART_BLOCK:
			used = (size_t)ING_MIN(s->block_left, (uint64_t)bytes);
			s->block_left -= used;
			if (s->on_block != NULL)
				s->on_block(s->ctx, data, used);
			if (s->block_left == 0)
				s->part = PART_TAIL;
			break;
		case PART_TAIL:
			used = read_tail(s, *data);
			break;
		case PART_DONE:
			if (s->plain)
				return (size_t)(data - from);
			s->state.damage = "there is something behind the record in its gzip member";
			break;
		}
		data += used;
		bytes -= used;
	}
	return (size_t)(data - from);
}

static void end_record(struct ing_warc_scan *s, uint64_t end)
{
	if (s->state.damage != NULL)
		return;
	if (s->part != PART_DONE) {
		s->state.damage = "the block is shorter than its Content-Length";
		return;
	}
	uint64_t begin = s->state.whole;
	s->state.whole = end;
	s->state.records++;
	s->in_member = false;
	if (s->each != NULL)
		s->each(s->ctx, begin, end - begin, s->head.data, s->head.len);
}

static void add_members(struct ing_warc_scan *s, const unsigned char *in, size_t bytes)
{
	/* Full room in the last step means that zlib may hold back bytes though all input is
	 * taken. */
	bool more_out = false;
	while ((bytes > 0 || more_out) && s->state.damage == NULL) {
		if (!s->in_member)
			begin_record(s);
		size_t got;
		int rc = ing_gunzip_step(s->gunzip, &in, &bytes, s->out, OUT_BYTES, &got);
		if (rc < 0) {
			s->state.damage = "the gzip member is damaged";
			break;
		}
		read_record(s, (const char *)s->out, got);
		more_out = rc == 0 && got == OUT_BYTES;
		if (rc == 1)
			end_record(s, s->state.offered - bytes);
	}
}

/* Some writers put more blank lines than two between records. */
static void add_plain(struct ing_warc_scan *s, const char *in, size_t bytes)
{
	while (bytes > 0 && s->state.damage == NULL) {
		bool blank = !s->in_member && (*in == '\r' || *in == '\n');
		if (!blank && !s->in_member)
			begin_record(s);
		size_t used = blank ? 1 : read_record(s, in, bytes);
		in += used;
		bytes -= used;
		if (s->in_member && s->part == PART_DONE)
			end_record(s, s->state.offered - bytes);
	}
}

/* -------------------------------------------------------------------------------------------- */

struct ing_warc_scan *ing_warc_scan_new(ing_warc_scan_f *each, void *ctx)
{
	struct ing_warc_scan *s = ing_alloc(sizeof(*s));
	s->each = each;
	s->ctx = ctx;
	s->gunzip = ing_gunzip_new();
	ing_buf_init(&s->head, ING_WARC_MAX_HEAD_BYTES);
	return s;
}

void ing_warc_scan_free(struct ing_warc_scan *s)
{
	if (s == NULL)
		return;
	ing_gunzip_free(s->gunzip);
	ing_buf_done(&s->head);
	free(s);
}

void ing_warc_scan_watch(
	struct ing_warc_scan *s, ing_warc_scan_head_f *head, ing_warc_scan_block_f *block)
{
	s->on_head = head;
	s->on_block = block;
}

void ing_warc_scan_restart(struct ing_warc_scan *s, uint64_t offset)
{
	s->state = (struct ing_warc_scan_state){.offered = offset, .whole = offset};
	s->in_member = false;
}

void ing_warc_scan_plain(struct ing_warc_scan *s)
{
	s->plain = true;
}

bool ing_warc_scan_add(struct ing_warc_scan *s, const void *data, size_t bytes)
{
	s->state.offered += bytes;
	if (s->plain)
		add_plain(s, data, bytes);
	else
		add_members(s, data, bytes);
	return s->state.damage == NULL;
}

struct ing_warc_scan_state ing_warc_scan_end(struct ing_warc_scan *s)
{
	if (s->in_member && s->state.damage == NULL)
		s->state.damage = "the record is cut off";
	return s->state;
}
