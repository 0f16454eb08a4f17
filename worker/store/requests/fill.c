/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each table is read once, by ranges of pages; rows that it writes anew stand in later ones, filled. Rows that somebody holds are
 * passed over, so that it never waits with locks of its own (and cannot deadlock with a batch of a worker), and another round has them.
 */
#include "worker/store/requests/fill.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/data/pg.h"
#include "worker/database/schema.h"
#include "worker/model/request_facts.h"
#include "worker/model/status.h"

/* Of a transaction: as many as are done in a moment, for workers wait for its rows. */
#define FIRST_PAGES 16
#define MOST_PAGES 256
#define QUICK_MS 100
#define SLOW_MS 300
#define MAX_ARRAY_BYTES ((size_t)64 << 20)
#define MAX_COLUMNS 6
#define CONFLICTS 20 /* in a row */

/* What is computed of the rows of one transaction: arrays, one for each column. */
struct part {
	struct ing_buf arrays[MAX_COLUMNS];
	int64_t rows;
};

struct table {
	const char *pages;                /* query: how many it has */
	const char *select_name, *select; /* of pages $1 to $2; first the ctid */
	const char *update_name, *update; /* by arrays */
	int columns;                      /* of the update */
	void (*compute)(struct part *p, const char *const *values);
};

static void add_value(struct part *p, size_t column, const char *value)
{
	struct ing_buf *a = &p->arrays[column];
	ing_buf_add_char(a, a->len == 0 ? '{' : ',');
	if (value == NULL) {
		ing_buf_add_str(a, "NULL");
		return;
	}
	ing_buf_add_char(a, '"');
	for (; *value != '\0'; value++) {
		if (*value == '"' || *value == '\\')
			ing_buf_add_char(a, '\\');
		ing_buf_add_char(a, *value);
	}
	ing_buf_add_char(a, '"');
}

static void add_id(struct part *p, size_t column, const unsigned char id[ING_FACT_ID_BYTES])
{
	char text[ING_FACT_ID_TEXT_BYTES];
	ing_fact_id_text(id, text);
	add_value(p, column, text);
}

static const char *or_null(const char *s)
{
	return s[0] != '\0' ? s : NULL;
}

/* ctid, ingest_type, base_url, link_source, link_source_id, DOI */
static void compute_request(struct part *p, const char *const *v)
{
	struct ing_request_facts facts;
	ing_request_facts_of(v[1], v[2], v[3], v[4], v[5], &facts);
	add_value(p, 0, v[0]);
	add_id(p, 1, facts.request_id);
	add_id(p, 2, facts.document);
	add_value(p, 3, or_null(facts.host));
	add_value(p, 4, or_null(facts.doi_prefix));
}

/* ctid, ingest_type, base_url, terminal_url, hit, status */
static void compute_result(struct part *p, const char *const *v)
{
	unsigned char document[ING_FACT_ID_BYTES];
	char host[ING_URL_HOST_BYTES] = "";
	char seconds[16] = "";
	int status = ing_status_from_slug(v[5]);
	ing_document_id(v[1], v[2], document);
	if (v[3] != NULL)
		ing_fact_host(v[3], host);
	if (host[0] == '\0')
		ing_fact_host(v[2], host);
	if (v[4][0] == 'f' && status >= 0 && ing_status_retry_after_s((enum ing_status)status) > 0)
		snprintf(seconds, sizeof(seconds), "%u",
			ing_status_retry_after_s((enum ing_status)status));
	add_value(p, 0, v[0]);
	add_id(p, 1, document);
	add_value(p, 2, or_null(host));
	add_value(p, 3, or_null(seconds));
}

static const struct table requests = {
	.pages =
		"SELECT pg_relation_size('ingest_request') / current_setting('block_size')::bigint",
	.select_name = "fill_select_requests",
	.select = "SELECT ctid, ingest_type, base_url, link_source, link_source_id,"
		  " request #>> '{ext_ids,doi}' FROM ingest_request"
		  " WHERE ctid >= $1::tid AND ctid < $2::tid AND request_id IS NULL"
		  " FOR NO KEY UPDATE SKIP LOCKED",
	.update_name = "fill_update_requests",
	.update = "UPDATE ingest_request q"
		  " SET request_id = k.i, document = k.d, host = k.h, doi_prefix = k.p"
		  " FROM unnest($1::tid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[])"
		  " AS k (c, i, d, h, p) WHERE q.ctid = k.c",
	.columns = 5,
	.compute = compute_request,
};

static const struct table results = {
	.pages =
		"SELECT pg_relation_size('ingest_file_result') / current_setting('block_size')::bigint",
	.select_name = "fill_select_results",
	.select =
		"SELECT ctid, ingest_type, base_url, terminal_url, hit, status FROM ingest_file_result"
		" WHERE ctid >= $1::tid AND ctid < $2::tid AND attempts IS NULL"
		" FOR NO KEY UPDATE SKIP LOCKED",
	.update_name = "fill_update_results",
	.update = "UPDATE ingest_file_result r SET attempts = 1, first_seen = r.updated,"
		  " document = k.d, host = k.h, retry_after = k.s,"
		  " next_try = r.updated + make_interval(secs => k.s)"
		  " FROM unnest($1::tid[], $2::uuid[], $3::text[], $4::integer[])"
		  " AS k (c, d, h, s) WHERE r.ctid = k.c",
	.columns = 4,
	.compute = compute_result,
};

struct fill {
	struct ing_pg *pg;
	const struct table *table;
	int64_t pages; /* at a time */
	struct part part;
};

static void on_row(void *ctx, const char *const *values, int count)
{
	struct fill *f = ctx;
	(void)count;
	f->part.rows++;
	f->table->compute(&f->part, values);
}

static enum ing_pg_rc update_part(struct fill *f, struct ing_error *err)
{
	const char *params[MAX_COLUMNS];
	for (int i = 0; i < f->table->columns; i++) {
		ing_buf_add_char(&f->part.arrays[i], '}');
		ing_must(!f->part.arrays[i].failed);
		params[i] = ing_buf_str(&f->part.arrays[i]);
	}
	return ing_pg_query(f->pg, f->table->update_name, f->table->update, params,
		f->table->columns, NULL, NULL, err);
}

static enum ing_pg_rc fill_pages(struct fill *f, int64_t first, struct ing_error *err)
{
	char from[40], to[40];
	const char *params[2] = {from, to};
	snprintf(from, sizeof(from), "(%" PRId64 ",0)", first);
	snprintf(to, sizeof(to), "(%" PRId64 ",0)", first + f->pages);
	for (int i = 0; i < MAX_COLUMNS; i++)
		ing_buf_clear(&f->part.arrays[i]);
	f->part.rows = 0;
	enum ing_pg_rc rc = ing_pg_exec(f->pg, "BEGIN", err);
	if (rc == ING_PG_OK)
		rc = ing_pg_query(
			f->pg, f->table->select_name, f->table->select, params, 2, on_row, f, err);
	if (rc == ING_PG_OK && f->part.rows > 0)
		rc = update_part(f, err);
	return rc == ING_PG_OK ? ing_pg_commit(f->pg, err) : rc;
}

/* With a server that says to repeat it. */
static int fill_some(struct fill *f, int64_t first, struct ing_error *err)
{
	for (int i = 0;; i++) {
		enum ing_pg_rc rc = fill_pages(f, first, err);
		if (rc == ING_PG_OK)
			return 0;
		if (rc != ING_PG_CONFLICT || i == CONFLICTS ||
			ing_pg_exec(f->pg, "ROLLBACK", NULL) != ING_PG_OK)
			return -ING_FAIL_UNAVAILABLE;
		ing_error_clear(err);
	}
}

static void set_pace(struct fill *f, uint64_t took_ms)
{
	if (took_ms < QUICK_MS)
		f->pages = ING_MIN(f->pages * 2, (int64_t)MOST_PAGES);
	else if (took_ms > SLOW_MS)
		f->pages = ING_MAX(f->pages / 2, (int64_t)1);
}

/* Until a round finds nothing: rows that others held are there in the next. */
static int fill_table(struct fill *f, const struct table *table, int64_t *count,
	const struct ing_fill_progress *progress, struct ing_error *err)
{
	int64_t before;
	f->table = table;
	do {
		int64_t pages = 0;
		before = *count;
		if (ing_pg_number(f->pg, table->pages, &pages, err) != ING_PG_OK)
			return -ING_FAIL_UNAVAILABLE;
		for (int64_t page = 0, done; page < pages; page += done) {
			uint64_t start = ing_now_ms();
			done = f->pages;
			int rc = fill_some(f, page, err);
			if (rc != 0)
				return rc;
			set_pace(f, ing_now_ms() - start);
			*count += f->part.rows;
			if (progress->each != NULL)
				progress->each(progress->ctx);
		}
	} while (*count > before);
	return 0;
}

static int open_unlimited(const char *dsn, struct ing_pg **ret, struct ing_error *err)
{
	static const char settings[] =
		"SET statement_timeout = 0; SET client_min_messages = 'error'; SET jit = off;"
		"SET default_transaction_isolation = 'read committed'; SET default_transaction_read_only = off";
	struct ing_pg *pg = NULL;
	int rc = ing_pg_open(dsn, -1, -1, &pg, err);
	if (rc == 0)
		rc = ing_schema_prepare(pg, settings, err);
	if (rc != 0)
		ing_pg_close(pg);
	else
		*ret = pg;
	return rc;
}

/* -------------------------------------------------------------------------------------------- */

int ing_requests_fill(const char *dsn, const struct ing_fill_progress *progress,
	struct ing_filled *ret, struct ing_error *err)
{
	struct fill f = {.pages = FIRST_PAGES};
	*ret = (struct ing_filled){0};
	int rc = open_unlimited(dsn, &f.pg, err);
	if (rc != 0)
		return rc;
	for (int i = 0; i < MAX_COLUMNS; i++)
		ing_buf_init(&f.part.arrays[i], MAX_ARRAY_BYTES);
	/* Rows are found by where they are, not by joining tables of unknown size. */
	if (ing_pg_exec(f.pg,
		    "SET enable_hashjoin = off; SET enable_mergejoin = off; SELECT count_adding()",
		    err) != ING_PG_OK)
		rc = -ING_FAIL_UNAVAILABLE;
	if (rc == 0)
		rc = fill_table(&f, &requests, &ret->requests, progress, err);
	if (rc == 0)
		rc = fill_table(&f, &results, &ret->results, progress, err);
	for (int i = 0; i < MAX_COLUMNS; i++)
		ing_buf_done(&f.part.arrays[i]);
	ing_pg_close(f.pg);
	return rc;
}

int ing_requests_recount(const char *dsn, int64_t *ret, struct ing_error *err)
{
	struct ing_pg *pg = NULL;
	int rc = open_unlimited(dsn, &pg, err);
	if (rc != 0)
		return rc;
	if (ing_pg_exec(pg, "SELECT pg_advisory_lock(x'696e67'::integer, x'666c64'::integer)",
		    err) != ING_PG_OK ||
		ing_pg_exec(pg, "BEGIN ISOLATION LEVEL REPEATABLE READ", err) != ING_PG_OK ||
		ing_pg_number(pg, "SELECT recount()", ret, err) != ING_PG_OK ||
		ing_pg_commit(pg, err) != ING_PG_OK ||
		ing_pg_exec(pg, "SELECT fold_counts()", err) != ING_PG_OK)
		rc = -ING_FAIL_UNAVAILABLE;
	ing_pg_close(pg);
	return rc;
}
