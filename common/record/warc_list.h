/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * warc_list.h - what the records of a WARC file are captures of: type, URL, date, and of HTTP responses
 * status and media type.
 *
 * Bytes are pushed in pieces of any size, of files whose records are gzip members, or of such without
 * compression. A record counts when it is whole (warc_scan.h); damage is reported, and reading goes on at
 * the next record that can be found behind it. Memory does not grow with the file. One thread at a time.
 */
#pragma once
#include <stdbool.h>
#include "common/base/macros.h"

#define ING_WARC_LIST_MIME_BYTES 128

struct ing_warc_span {
	const char *text; /* not NUL-terminated; NULL: absent */
	size_t bytes;
};

/* Borrowed for the call. */
struct ing_warc_item {
	uint64_t number, offset; /* 1-based; of the record in the file */
	struct ing_warc_span type, url, date, payload_digest;
	int status; /* of HTTP; 0: none */
	char mime
		[ING_WARC_LIST_MIME_BYTES]; /* of the HTTP response, or of a resource: see ing_cdx_mimetype() */
};

struct ing_warc_list_user {
	void (*record)(void *ctx, const struct ing_warc_item *item);
	/* From this offset on nothing could be read, until the next record() or the end. `what`: static
	 * words. number: the one that the next record would have had. */
	void (*damage)(void *ctx, uint64_t number, uint64_t offset, const char *what);
};

struct ing_warc_list;

struct ing_warc_list *ing_warc_list_new(const struct ing_warc_list_user *user, void *ctx);
void ing_warc_list_free(struct ing_warc_list *l); /* NULL is fine */
void ing_warc_list_add(struct ing_warc_list *l, const void *data, size_t bytes);
void ing_warc_list_end(struct ing_warc_list *l); /* a record that was begun is damage */
