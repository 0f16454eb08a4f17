/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * load_rows.h - rows of ingest_request on their way into the database: the share that one stream has of a block of
 * lines, and several of them in the order of the table's key.
 *
 * A share owns its text; a batch borrows from shares, which must stay as they are meanwhile. Pure; one thread at a time.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/base/buf.h"

struct ing_row_request;

struct ing_load_row {
	size_t key, line; /* where in the text they begin */
	unsigned key_bytes, line_bytes;
};

struct ing_load_share {
	struct ing_buf text;
	struct ing_load_row *rows;
	size_t count, room;
};

void ing_load_share_done(struct ing_load_share *s); /* zero-initialised is fine */

/* The key's columns as one text that compares bytewise as they do one after the other. */
void ing_load_key(const struct ing_row_request *row, struct ing_buf *out);
/* The same for the same key in all versions and on all machines: a load that goes on must deal rows out as before. */
unsigned ing_load_stream_of(const char *key, size_t bytes, unsigned streams);

struct ing_load_ref {
	const char *key, *line;
	unsigned key_bytes, line_bytes;
	unsigned seq; /* in the order of the input */
};

struct ing_load_batch {
	struct ing_load_ref *refs; /* in the order of the key, each key once */
	size_t count, room;
	size_t repeated; /* rows whose key an earlier row of the batch has */
};

void ing_load_batch_add(struct ing_load_batch *b, const struct ing_load_share *s);
/* After the last: the order of the key; of several rows with one key the first stays. */
void ing_load_batch_sort(struct ing_load_batch *b);
void ing_load_batch_clear(struct ing_load_batch *b);
void ing_load_batch_done(struct ing_load_batch *b); /* zero-initialised is fine */
