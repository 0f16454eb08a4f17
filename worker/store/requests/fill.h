/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fill.h - computes what rows from before lists lack: identity, document, host and DOI prefix of requests, attempts and the time of
 * the next try of results. With them requests are counted, by triggers (schemas/sql/0009_lists.sql).
 *
 * Workers may write meanwhile: a transaction has as many pages of a table as take a moment, and waits for no lock. What is
 * interrupted goes on when it is called again. The caller's thread; blocks.
 */
#pragma once
#include <stdint.h>
#include "common/base/error.h"

struct ing_filled {
	int64_t requests, results; /* rows that were filled */
};

struct ing_fill_progress {
	void (*each)(void *ctx); /* after each transaction; or NULL */
	void *ctx;
};

/* *ret is kept up to date all the time. Error: as ing_schema_open(). */
int ing_requests_fill(const char *dsn, const struct ing_fill_progress *progress,
	struct ing_filled *ret, struct ing_error *err) ING_MUST_CHECK;

/* Compare the counts with the tables, in one snapshot, and mend them. *ret: how many were wrong. */
int ing_requests_recount(const char *dsn, int64_t *ret, struct ing_error *err) ING_MUST_CHECK;
