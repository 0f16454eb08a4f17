/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * tables.h - what the database has of requests, asked without blocking the loop; and the rows of requests that were
 * accepted.
 *
 * Owns: a database thread (common/data/pg_thread.h), the rows that are to be written, and the questions, from the call
 * that asks one to its callback. Loop thread only; callbacks never come from inside a call.
 *
 * Serving goes on while the database is away: questions end without an answer, and rows wait, up to a bound.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "common/base/error.h"

struct ing_postgres_settings;
struct ing_request;
struct ing_tables;
struct ing_tables_question;
struct uv_loop_s;

/* Does not wait for the database. Error: -SYSTEM. */
int ing_tables_new(struct uv_loop_s *loop, const struct ing_postgres_settings *conf,
	struct ing_tables **ret, struct ing_error *err) ING_MUST_CHECK;
/* Waits up to wait_ms for rows to be written, and says how many are not. Questions get no callback. The loop must turn
 * once more. NULL is fine. */
void ing_tables_free(struct ing_tables *t, int wait_ms);

/* NULL t: there is no database, and nothing to store. */
void ing_tables_add(struct ing_tables *t, const struct ing_request *r);
bool ing_tables_away(const struct ing_tables *t);

enum ing_tables_end {
	ING_TABLES_FOUND,
	ING_TABLES_NONE,
	ING_TABLES_AWAY, /* or too many questions wait */
};
/* json: of FOUND, one JSON value, borrowed during the call. The question is gone with it. */
typedef void ing_tables_answer_f(void *ctx, enum ing_tables_end end, const char *json);

/* {"state", "request", "result"?} of the request whose result has this key (40 hex digits): state is "queued" or "done". */
struct ing_tables_question *ing_tables_ask_request(
	struct ing_tables *t, const char *key, ing_tables_answer_f *done, void *ctx);
/* A list of results of a document, hits first: ingest_type NULL: of all types. */
struct ing_tables_question *ing_tables_ask_document(struct ing_tables *t, const char *ingest_type,
	const char *url, ing_tables_answer_f *done, void *ctx);
/* Its callback will not come. Not after it; NULL is fine. */
void ing_tables_cancel(struct ing_tables_question *q);
/* A question that has waited for too long ends as AWAY: call now and then. */
void ing_tables_tick(struct ing_tables *t);
