/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rows are sorted here and not by the server: it then neither sorts them nor looks for repetitions.
 */
#include "worker/store/requests/load_rows.h"

#include <stdlib.h>
#include <string.h>

#include "worker/model/rows.h"

static void grow(struct ing_load_batch *b, size_t rows)
{
	if (b->count + rows <= b->room)
		return;
	b->room = ING_MAX(2 * b->room, b->count + rows);
	b->refs = ing_realloc(b->refs, b->room * sizeof(*b->refs));
}

static int compare_keys(const struct ing_load_ref *x, const struct ing_load_ref *y)
{
	int rc = memcmp(x->key, y->key, ING_MIN(x->key_bytes, y->key_bytes));
	if (rc != 0 || x->key_bytes == y->key_bytes)
		return rc;
	return x->key_bytes < y->key_bytes ? -1 : 1;
}

static int compare_refs(const void *a, const void *b)
{
	const struct ing_load_ref *x = a;
	const struct ing_load_ref *y = b;
	int rc = compare_keys(x, y);
	return rc != 0 ? rc : x->seq < y->seq ? -1 : 1;
}

/* -------------------------------------------------------------------------------------------- */

void ing_load_share_done(struct ing_load_share *s)
{
	ing_buf_done(&s->text);
	free(s->rows);
	*s = (struct ing_load_share){0};
}

void ing_load_key(const struct ing_row_request *row, struct ing_buf *out)
{
	/* NUL is in none of them, and less than what is. */
	ing_buf_add(out, row->link_source, strlen(row->link_source) + 1);
	ing_buf_add(out, row->link_source_id, strlen(row->link_source_id) + 1);
	ing_buf_add(out, row->ingest_type, strlen(row->ingest_type) + 1);
	ing_buf_add_str(out, row->base_url);
}

unsigned ing_load_stream_of(const char *key, size_t bytes, unsigned streams)
{
	uint64_t hash = 0xcbf29ce484222325; /* FNV-1a */
	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ (unsigned char)key[i]) * 0x100000001b3;
	hash = (hash ^ hash >> 33) *
	       0xff51afd7ed558ccd; /* its high bits follow the last bytes badly */
	return (unsigned)((hash >> 32) * streams >> 32);
}

void ing_load_batch_add(struct ing_load_batch *b, const struct ing_load_share *s)
{
	grow(b, s->count);
	for (size_t i = 0; i < s->count; i++) {
		const struct ing_load_row *row = &s->rows[i];
		b->refs[b->count] = (struct ing_load_ref){.key = s->text.data + row->key,
			.line = s->text.data + row->line,
			.key_bytes = row->key_bytes,
			.line_bytes = row->line_bytes,
			.seq = (unsigned)b->count};
		b->count++;
	}
}

void ing_load_batch_sort(struct ing_load_batch *b)
{
	size_t kept = 0;
	if (b->count > 1)
		qsort(b->refs, b->count, sizeof(*b->refs), compare_refs);
	for (size_t i = 0; i < b->count; i++) {
		if (kept == 0 || compare_keys(&b->refs[kept - 1], &b->refs[i]) != 0)
			b->refs[kept++] = b->refs[i];
	}
	b->repeated = b->count - kept;
	b->count = kept;
}

void ing_load_batch_clear(struct ing_load_batch *b)
{
	b->count = b->repeated = 0;
}

void ing_load_batch_done(struct ing_load_batch *b)
{
	free(b->refs);
	*b = (struct ing_load_batch){0};
}
