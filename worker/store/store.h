/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * store.h - rows to PostgreSQL in grouped transactions.
 *
 * Owns: a database thread (common/data/pg_thread.h). Put and callbacks: loop thread. An item is
 * called back only after the transaction that holds its rows has committed. Database away: items
 * wait, the connection is retried for ever with back-off, `blocked` is true meanwhile (intake
 * stops), everything resumes by itself. A row that PostgreSQL refuses (which the cleaning in here
 * should make impossible) is isolated by splitting the batch, logged, counted, and its item called
 * back, so that one row never stops the others. Keys, limits of columns and what stands when two
 * rows meet: README.md.
 */
#pragma once
#include "common/base/error.h"
#include "common/base/queue.h"
#include "worker/model/metrics.h"
#include "worker/model/settings.h"

struct uv_loop_s;
struct ing_store;

/* Rows of one finished request. Strings are any bytes (cleaned inside: NUL and invalid UTF-8
 * replaced, over-long values handled per column); NULL is SQL NULL. All pointers borrowed until
 * done. Zero-initialise. */
struct ing_row_request {
	bool present; /* needs link_source and link_source_id */
	const char *link_source, *link_source_id, *ingest_type, *base_url, *ingest_request_source,
		*release_stage;
	const char *request_json; /* object */
};
struct ing_row_result {
	bool present;
	const char *ingest_type, *base_url, *status;
	bool hit;
	const char *terminal_url, *terminal_dt, *terminal_sha1hex;
	int terminal_status_code; /* 0: NULL */
};
struct ing_row_file_meta {
	bool present;
	const char *sha1hex, *sha256hex, *md5hex, *mimetype;
	uint64_t size_bytes;
};
struct ing_row_cdx {
	const char *url, *datetime, *sha1hex, *cdx_sha1hex, *mimetype, *warc_path;
	uint64_t warc_csize, warc_offset;
};
struct ing_row_pdf_meta {
	bool present;
	const char *sha1hex, *status;
	bool has_page0_thumbnail;
	int page_count;                   /* -1: NULL */
	long word_count;                  /* -1: NULL */
	double page0_height, page0_width; /* <= 0: NULL */
	const char *permanent_id, *pdf_created, *pdf_version;
	const char *metadata_json; /* object or NULL */
};
struct ing_store_item {
	struct ing_node node;
	void (*done)(struct ing_store_item *item);
	struct ing_row_request request;
	struct ing_row_result result;
	struct ing_row_file_meta file_meta;
	struct ing_row_pdf_meta pdf_meta;
	const struct ing_row_cdx *cdx;
	size_t cdx_count;
};

int ing_store_new(struct uv_loop_s *loop, const struct ing_postgres_settings *conf,
	struct ing_store **ret,
	struct ing_error *err) ING_MUST_CHECK; /* connects, checks the schema version; -UNAVAILABLE
						  when the server is away, -INVALID when the schema
						  is missing, older or newer (say what to do) */
/* NULL is fine; call when nothing is outstanding, else those items are dropped. Waits for the
 * thread, which gives up whatever it does at once; run the loop once more to close its handle. */
void ing_store_free(struct ing_store *s);
void ing_store_put(struct ing_store *s, struct ing_store_item *item);
bool ing_store_blocked(const struct ing_store *s);

/* Its rows of worker/model/metrics.def, as they are now. */
void ing_store_stats(const struct ing_store *s, struct ing_store_stats *ret);
