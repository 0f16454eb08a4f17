/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * reexamine_rows.h - the documents of the tables, or the web pages that led to them, in the order of their
 * SHA-1, so many rows at a time.
 *
 * Owns: a database thread (common/data/pg_thread.h), which only reads. A page looks at a bounded number
 * of rows, whatever the operator's condition leaves of them, so that no statement is long and none holds
 * an old snapshot. Thread: loop; the callback never comes from inside a call.
 */
#pragma once
#include <stdbool.h>
#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/base/queue.h"
#include "worker/model/ingest_type.h"
#include "worker/model/rows.h"
#include "worker/model/settings.h"

struct uv_loop_s;
struct ing_reexamine_rows;

/* Where a document's bytes may be read; the best first. */
#define ING_REEXAMINE_CAPTURES 3

/* A document, with the newest hit that has led to it; or a page, with the newest request of a type that
 * has met it. Strings are in the arena. */
struct ing_reexamine_document {
	struct ing_reexamine_document *prev, *next;
	struct ing_arena ar;
	const char *sha1hex;
	enum ing_ingest_type type;
	const char *base_url;
	const char *url;  /* of the capture, or of another, if that is not known */
	const char *host; /* of it; or NULL */
	bool hit;
	const char *status;          /* of the request */
	int http_status;             /* 0: not known */
	const char *resources_json;  /* as html_meta has them; or NULL */
	struct ing_row_cdx terminal; /* of the hit; sha1hex NULL: it has no row */
	struct ing_row_cdx captures[ING_REEXAMINE_CAPTURES];
	size_t capture_count;
};
void ing_reexamine_document_free(struct ing_reexamine_document *d);

struct ing_reexamine_rows_conf {
	struct ing_postgres_settings postgres;
	bool pages; /* with failures that ended at them, html hits, and hits that began at them */
	const enum ing_ingest_type *types; /* of the requests */
	size_t type_count;
	const char *mimetype;     /* of documents; NULL: any */
	const char *const *where; /* SQL conditions, all of which must hold; NULL-terminated */
	const char *to;           /* digests less than this one */
};

/* Keys up to `upto` have been looked at; NULL: all, this was the last page. documents: a list
 * (utlist), the callee's. err: PostgreSQL has refused a condition for a row; then there is nothing
 * else, and there will not be. */
typedef void ing_reexamine_page_f(void *ctx, const char *upto,
	struct ing_reexamine_document *documents, const struct ing_error *err);

/* Connects, and tries the conditions. Errors: as ing_store_new(), and -USAGE for a condition that
 * PostgreSQL does not understand. conf is not kept. */
int ing_reexamine_rows_new(struct uv_loop_s *loop, const struct ing_reexamine_rows_conf *conf,
	ing_reexamine_page_f *on_page, void *ctx, struct ing_reexamine_rows **ret,
	struct ing_error *err) ING_MUST_CHECK;
/* No callback comes afterwards. Run the loop once more to close its handle. NULL is fine. */
void ing_reexamine_rows_free(struct ing_reexamine_rows *r);
/* The next page, of keys greater than `after` (copied), one at a time. While the database is away it is
 * asked again, for ever. */
void ing_reexamine_rows_ask(struct ing_reexamine_rows *r, const char *after);
bool ing_reexamine_rows_blocked(const struct ing_reexamine_rows *r);
