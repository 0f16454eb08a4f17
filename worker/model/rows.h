/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * rows.h - what is written to the database of one request: the rows of the tables of
 * documents (schemas/sql).
 *
 * Plain data; who fills it owns the strings, ing_rows_copy() makes them an arena's. Strings are any
 * bytes: the store replaces NUL and invalid UTF-8, and treats over-long values as the column wants
 * (worker/store/README.md). NULL is SQL NULL. Zero-initialise: a row that is not `present` is none.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "worker/model/refetch.h"

struct ing_arena;

struct ing_row_request {
	bool present; /* needs link_source and link_source_id; request_row.h makes it */
	const char *link_source, *link_source_id, *ingest_type, *base_url, *ingest_request_source,
		*release_stage;
	const char *request_json;          /* object */
	const char *request_id, *document; /* UUIDs, as request_facts.h has them */
	const char *host, *doi_prefix;     /* or NULL */
};

struct ing_row_result {
	bool present;
	const char *ingest_type, *base_url, *status;
	bool hit;
	const char *terminal_url, *terminal_dt, *terminal_sha1hex;
	int terminal_status_code; /* 0: NULL */
	const char *error_message;
	unsigned retry_after_s; /* what the status says (status.h); 0: not worth asking again */
	const char *host,
		*document;  /* as request_facts.h has them; host: where it ended, or NULL */
	const char *visits; /* JSON (worker/job/result_visits.h); or NULL */
};

struct ing_row_file_meta {
	bool present;
	const char *sha1hex, *sha256hex, *md5hex, *mimetype;
	const char *contains; /* media types of what an archive holds, divided by commas; or NULL */
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
	const char *permanent_id, *update_id, *pdf_created, *pdf_version;
	const char *metadata_json; /* object or NULL */
};

struct ing_row_html_meta {
	bool present;
	const char *sha1hex, *status, *scope;
	bool has_teixml;
	long word_count;            /* -1: NULL */
	const char *biblio_json;    /* object or NULL */
	const char *resources_json; /* array or NULL */
};

struct ing_row_grobid {
	bool present;
	const char *sha1hex, *grobid_version;
	int status_code; /* of HTTP; negative: there was no answer */
	const char *status, *fatcat_release;
	const char *metadata_json; /* object or NULL */
};

struct ing_row_grobid_refs {
	const char *source, *source_id;
	const char *source_ts; /* RFC 3339, or NULL */
	const char *refs_json; /* array */
};

struct ing_row_crossref {
	const char *doi;     /* stored in lower case */
	const char *indexed; /* RFC 3339 */
	const char *record_json;
};

/* A publication, or a web page, and how it becomes one with what is kept of it. */
struct ing_row_kept {
	bool present;
	/* Of a publication: the page by which it was asked for, if that was all; or NULL. Of a web page: the
	 * URL that was asked for. */
	const char *url;
	const char *record_json; /* object: `publication` or `webpage` of the result */
	enum ing_keep how;
	struct ing_refetch_rules rules;
};

struct ing_rows {
	const char *answers; /* document (request_facts.h) that is not queued any more; or NULL */
	struct ing_row_request request;
	struct ing_row_result result;
	struct ing_row_file_meta file_meta;
	struct ing_row_pdf_meta pdf_meta;
	struct ing_row_html_meta html_meta;
	struct ing_row_grobid grobid;
	struct ing_row_kept publication, webpage;
	const struct ing_row_cdx *cdx;
	size_t cdx_count;
	const struct ing_row_crossref *crossref;
	size_t crossref_count;
	const struct ing_row_grobid_refs *grobid_refs;
	size_t grobid_refs_count;
};

bool ing_rows_any(const struct ing_rows *rows);
/* The same rows with all strings, and the arrays, in the arena. */
void ing_rows_copy(struct ing_arena *ar, const struct ing_rows *from, struct ing_rows *ret);
