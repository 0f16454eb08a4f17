/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * warc_scan.h - which part of a .warc.gz is whole records.
 *
 * Bytes are pushed in pieces of any size; memory does not grow with the file or with a record. A
 * record is whole when one gzip member holds its header, a block of exactly Content-Length bytes
 * and the two line ends behind it, and the member's own checksum agrees. One thread at a time.
 */
#pragma once
#include <stdbool.h>
#include "common/base/macros.h"

struct ing_warc_scan;

/* One whole record: where its member begins, the member's bytes, and its header as written
 * (borrowed for the call). */
typedef void ing_warc_scan_f(
	void *ctx, uint64_t offset, uint64_t csize, const char *head, size_t head_bytes);

/* On the way of a record, which need not turn out to be whole: its header (borrowed until the record
 * ends), and its block in pieces. */
typedef void ing_warc_scan_head_f(void *ctx, uint64_t offset, const char *head, size_t head_bytes);
typedef void ing_warc_scan_block_f(void *ctx, const void *data, size_t bytes);

struct ing_warc_scan_state {
	uint64_t offered; /* bytes pushed so far */
	uint64_t whole;   /* offset behind the last whole record: a file cut here is whole */
	uint64_t records;
	const char *damage; /* what is wrong at `whole`, static words; NULL while nothing is */
};

struct ing_warc_scan *ing_warc_scan_new(ing_warc_scan_f *each, void *ctx); /* each may be NULL */
void ing_warc_scan_free(struct ing_warc_scan *s);                          /* NULL is fine */
/* Called with the ctx of new, too. */
void ing_warc_scan_watch(
	struct ing_warc_scan *s, ing_warc_scan_head_f *head, ing_warc_scan_block_f *block);
/* The file is no .warc.gz but a .warc: records one after the other, without members. Before the first
 * byte. */
void ing_warc_scan_plain(struct ing_warc_scan *s);
/* As if new, with offsets counted from `offset`. */
void ing_warc_scan_restart(struct ing_warc_scan *s, uint64_t offset);
/* False once damage was found: nothing after it is looked at. */
bool ing_warc_scan_add(struct ing_warc_scan *s, const void *data, size_t bytes);
/* Nothing more comes. A record begun but not ended is damage too ("cut off"). */
struct ing_warc_scan_state ing_warc_scan_end(struct ing_warc_scan *s);
