/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The member is stored, not deflated, so that its size follows from that of the record: 10 bytes of gzip's header, 5 for each block of
 * at most 65,535 bytes, the record, 8 bytes of checksum and length. What is solved for is the length of the record's block, on which the
 * length of its header depends by the digits of Content-Length.
 */
#include "common/record/warc_blank.h"

#include <stdio.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/data/compress.h"
#include "common/record/warc.h"

#define MEMBER_BYTES 18 /* header and trailer */
#define STORED_HEAD 5
#define STORED_MAX 65535
#define RECORD_END "\r\n\r\n"

/* Without the value of Content-Length, which is the last field. With a pad the type's field is one byte longer. */
static int format_head(char *to, size_t room, const char *id, const char *date, bool pad)
{
	return snprintf(to, room,
		"WARC/1.1\r\nWARC-Type: %smetadata\r\nWARC-Record-ID: %s\r\nWARC-Date: %s\r\n"
		"Content-Type: text/plain\r\nContent-Length: ",
		pad ? " " : "", id, date);
}

static uint64_t digits_of(uint64_t n)
{
	uint64_t digits = 1;
	for (; n >= 10; n /= 10)
		digits++;
	return digits;
}

/* The block's length, if there is one with which a record of this head is `record` bytes long. */
static bool find_length(uint64_t record, uint64_t head, uint64_t *ret)
{
	uint64_t fixed = head + 4 + strlen(RECORD_END); /* the end of the head */
	for (uint64_t digits = 1; digits <= 20 && record >= fixed + digits; digits++) {
		*ret = record - fixed - digits;
		if (digits_of(*ret) == digits)
			return true;
	}
	return false;
}

static void add_block(struct ing_buf *to, uint64_t bytes, const char *why)
{
	uint64_t words = ING_MIN((uint64_t)strlen(why), bytes);
	char blanks[512];
	memset(blanks, ' ', sizeof(blanks));
	ing_buf_add(to, why, (size_t)words);
	for (uint64_t left = bytes - words; left > 0;) {
		uint64_t n = ING_MIN(left, (uint64_t)sizeof(blanks));
		ing_buf_add(to, blanks, (size_t)n);
		left -= n;
	}
}

static void add_le(struct ing_buf *to, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		ing_buf_add_char(to, (char)(value >> (8 * i) & 0xff));
}

static void add_member(struct ing_buf *to, const struct ing_buf *record, uint64_t blocks)
{
	static const char head[10] = {0x1f, (char)0x8b, 8, 0, 0, 0, 0, 0, 0, (char)0xff};
	ing_buf_add(to, head, sizeof(head));
	size_t at = 0;
	for (uint64_t i = 0; i < blocks; i++) {
		size_t n = ING_MIN(record->len - at, (size_t)STORED_MAX);
		ing_buf_add_char(to, i + 1 == blocks);
		add_le(to, n, 2);
		add_le(to, ~(uint64_t)n, 2);
		ing_buf_add(to, record->data + at, n);
		at += n;
	}
	add_le(to, ing_crc32(record->data, record->len), 4);
	add_le(to, record->len, 4);
}

/* --------------------------------------------------------------------------------------------- */

bool ing_warc_blank(uint64_t bytes, struct timespec now, const char *why, struct ing_buf *ret)
{
	char id[ING_WARC_ID_BYTES], date[ING_ISO8601_BYTES], head[512];
	if (bytes < ING_WARC_BLANK_MIN)
		return false;
	ing_warc_make_id(id);
	ing_format_iso8601(now, 0, date);
	uint64_t blocks =
		(bytes - MEMBER_BYTES + STORED_MAX + STORED_HEAD - 1) / (STORED_MAX + STORED_HEAD);
	uint64_t record_bytes = bytes - MEMBER_BYTES - blocks * STORED_HEAD;
	uint64_t length = 0;
	bool pad = false;
	if (!find_length(record_bytes, (uint64_t)format_head(head, sizeof(head), id, date, pad),
		    &length)) {
		pad = true;
		if (!find_length(record_bytes,
			    (uint64_t)format_head(head, sizeof(head), id, date, pad), &length))
			return false;
	}
	struct ing_buf record;
	ing_buf_init(&record, (size_t)record_bytes);
	ing_buf_printf(&record, "%s%llu\r\n\r\n", head, (unsigned long long)length);
	add_block(&record, length, why);
	ing_buf_add_str(&record, RECORD_END);
	ing_must(!record.failed && record.len == record_bytes);
	add_member(ret, &record, blocks);
	ing_buf_done(&record);
	return !ret->failed;
}
