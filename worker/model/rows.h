/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * rows.h - what is written to the database of one request: the rows of the five tables
 * (schemas/sql).
 *
 * Plain data; who fills it owns the strings, ing_rows_copy() makes them an arena's. Strings are any
 * bytes: the store replaces NUL and invalid UTF-8, and treats over-long values as the column wants
 * (worker/store/README.md). NULL is SQL NULL. Zero-initialise: a row that is not `present` is none.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ing_arena;

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
	const char *record_id;   /* WARC-Record-ID without urn:uuid: */
	const char *record_date; /* WARC-Date */
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

struct ing_rows {
	struct ing_row_request request;
	struct ing_row_result result;
	struct ing_row_file_meta file_meta;
	struct ing_row_pdf_meta pdf_meta;
	const struct ing_row_cdx *cdx;
	size_t cdx_count;
};

bool ing_rows_any(const struct ing_rows *rows);
/* The same rows with all strings, and the array, in the arena. */
void ing_rows_copy(struct ing_arena *ar, const struct ing_rows *from, struct ing_rows *ret);
