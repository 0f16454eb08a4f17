/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * lookup.h - questions to the tables, answered without blocking the loop.
 *
 * Owns: a database thread (common/data/pg_thread.h) and the questions, from the call that asks one
 * to its callback. Questions that wait are put to the database together, one statement for many.
 * Thread: loop; callbacks never come from inside a call.
 *
 * A question waits while the database is away, however long; whoever asked may take it back at any
 * time. ing_lookup_blocked() and ing_lookup_is_full() tell when no further ones should come.
 */
#pragma once
#include <stdbool.h>
#include "common/base/error.h"
#include "worker/model/metrics.h"
#include "worker/model/rows.h"
#include "worker/model/settings.h"

struct uv_loop_s;
struct ing_lookup;
struct ing_lookup_question;

/* The outcome of an earlier request. */
struct ing_earlier_result {
	uint64_t age_ms;     /* since the row was written, by the database's clock */
	const char *updated; /* when that was: RFC 3339, UTC */
	/* The row of ingest_file_result, and as far as they are there, those that it points to:
	 * file_meta, pdf_meta, html_meta and grobid of its document, and of cdx that of its terminal
	 * capture. */
	struct ing_rows rows;
};

/* Connects and checks the schema's version. conf is not kept. Errors: as ing_store_new(). */
int ing_lookup_new(struct uv_loop_s *loop, const struct ing_postgres_settings *conf,
	struct ing_lookup **ret, struct ing_error *err) ING_MUST_CHECK;
/* Takes back what has not been answered, and ends the thread at once; run the loop once more to
 * close its handle. NULL is fine. */
void ing_lookup_free(struct ing_lookup *l);

/* Is there a row of ingest_file_result for this type and (masked) base_url? Both are copied. r: borrowed
 * during the call; NULL: there is none. */
typedef void ing_lookup_result_f(void *ctx, const struct ing_earlier_result *r);
struct ing_lookup_question *ing_lookup_result(struct ing_lookup *l, const char *ingest_type,
	const char *base_url, ing_lookup_result_f *done, void *ctx);

/* What is kept of this publication or web page, if it may not be fetched again yet (worker/publication/freshness)?
 * Of an identifier that the request does not have: NULL. url: of a publication the page that it was asked by, of
 * a web page its (masked) base_url. All is copied. The answer has the record in rows.publication or
 * rows.webpage, and in rows.result how it ended. NULL: nothing is kept, it may be fetched, or the identifiers are
 * those of several. */
struct ing_lookup_kept {
	bool is_webpage;
	const char *pmid, *pmcid, *doi, *url;
	int64_t now_ms; /* since 1970 */
	struct ing_refetch_rules rules;
};
struct ing_lookup_question *ing_lookup_kept(struct ing_lookup *l,
	const struct ing_lookup_kept *what, ing_lookup_result_f *done, void *ctx);

/* What does the table cdx have of this URL? Its newest rows, at most ING_LOOKUP_CAPTURES, that a revisit
 * record can refer to: with their record's identifier and date, and of no revisit themselves. Nobody
 * waits for this one: while the database is away there are none. rows: borrowed during the call. */
#define ING_LOOKUP_CAPTURES 4
typedef void ing_lookup_captures_f(void *ctx, const struct ing_row_cdx *rows, size_t count);
/* Returns NULL when the question cannot be asked now; the callback will not come then. */
struct ing_lookup_question *ing_lookup_captures(
	struct ing_lookup *l, const char *url, ing_lookup_captures_f *done, void *ctx);

/* Has GROBID read this document? Like captures: nobody waits for it, and it may be that it cannot be asked
 * now. row: borrowed during the call; NULL: there is none. age_ms: since it was written, by the
 * database's clock. */
typedef void ing_lookup_grobid_f(void *ctx, const struct ing_row_grobid *row, uint64_t age_ms);
struct ing_lookup_question *ing_lookup_grobid(
	struct ing_lookup *l, const char *sha1hex, ing_lookup_grobid_f *done, void *ctx);

/* Its callback will not come. Not after the callback; NULL is fine. */
void ing_lookup_cancel(struct ing_lookup_question *q);

/* The database does not answer. */
bool ing_lookup_blocked(const struct ing_lookup *l);
/* Why, valid until the next call; NULL: it is not. */
const char *ing_lookup_trouble(const struct ing_lookup *l);
/* As many questions wait as should. */
bool ing_lookup_is_full(const struct ing_lookup *l);

/* Its rows of worker/model/metrics.def, as they are now. */
void ing_lookup_stats(const struct ing_lookup *l, struct ing_lookup_stats *ret);
