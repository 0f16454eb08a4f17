/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The staging tables are temporary, made once a connection and emptied by the server at every
 * COMMIT; the upserts are planned once.
 */
#include "worker/store/upsert.h"

#include <stdlib.h>

#include "common/base/clock.h"
#include "worker/database/schema.h"
#include "worker/store/store.h"
#include "worker/store/table.h"

/* Server-side limit of a statement while a connection is prepared. A batch has those of the pace. */
#define STATEMENT_TIMEOUT "15s"

#define MAX_ROW_BYTES ((size_t)64 << 20) /* one row, escaped; a request is at most 1 MiB before */
/* Rows are handed to libpq in pieces of about this size. */
#define CHUNK_BYTES ((size_t)256 << 10)

struct ing_upsert {
	struct ing_buf rows;
	struct ing_buf copy_sql[ING_TABLES], upsert_sql[ING_TABLES];
};

/* One call of ing_upsert_write(). */
struct batch {
	struct ing_upsert *u;
	struct ing_pg *pg;
	struct ing_store_item *const *items;
	size_t count;
	struct ing_upsert_report *report;
};

static enum ing_pg_rc send_rows(const struct batch *b, struct ing_error *err)
{
	struct ing_buf *rows = &b->u->rows;
	enum ing_pg_rc rc = ing_pg_copy_add(b->pg, ing_buf_str(rows), rows->len, err);
	ing_buf_clear(rows);
	return rc;
}

/* COPY the rows that the items have for table t. *ret_rows: how many. */
static enum ing_pg_rc copy_rows(
	const struct batch *b, size_t t, unsigned *ret_rows, struct ing_error *err)
{
	unsigned seq = 0;
	enum ing_pg_rc rc = ING_PG_OK;
	ing_buf_clear(&b->u->rows);
	for (size_t i = 0; i < b->count; i++) {
		size_t rows = ing_tables[t].count(b->items[i]->rows);
		for (size_t k = 0; k < rows && rc == ING_PG_OK; k++) {
			if (!ing_table_row(
				    &ing_tables[t], b->items[i]->rows, k, seq, &b->u->rows)) {
				b->report->skipped++;
				continue;
			}
			if (seq++ == 0)
				rc = ing_pg_copy_begin(b->pg, ing_buf_str(&b->u->copy_sql[t]), err);
			if (rc == ING_PG_OK && b->u->rows.len >= CHUNK_BYTES)
				rc = send_rows(b, err);
		}
	}
	*ret_rows = seq;
	if (rc != ING_PG_OK || seq == 0)
		return rc;
	rc = send_rows(b, err);
	return rc == ING_PG_OK ? ing_pg_copy_end(b->pg, err) : rc;
}

static void record_time(struct ing_upsert_report *report, uint64_t start_ms)
{
	report->slowest_ms = (unsigned)ING_MAX(report->slowest_ms, ing_now_ms() - start_ms);
}

static enum ing_pg_rc write_table(const struct batch *b, size_t t, struct ing_error *err)
{
	unsigned rows = 0;
	uint64_t start = ing_now_ms();
	enum ing_pg_rc rc = copy_rows(b, t, &rows, err);
	record_time(b->report, start);
	if (rc != ING_PG_OK || rows == 0)
		return rc;
	start = ing_now_ms();
	rc = ing_pg_exec(b->pg, ing_buf_str(&b->u->upsert_sql[t]), err);
	record_time(b->report, start);
	return rc;
}

static enum ing_pg_rc write_tables(const struct batch *b, unsigned without, struct ing_error *err)
{
	enum ing_pg_rc rc = ing_pg_exec(b->pg, "BEGIN", err);
	if (rc != ING_PG_OK)
		return rc;
	for (size_t t = 0; t < ING_TABLES; t++) {
		if ((without & 1u << t) != 0)
			continue;
		b->report->table = (int)t;
		rc = write_table(b, t, err);
		if (rc != ING_PG_OK)
			return rc;
	}
	b->report->table = -1;
	return ing_pg_commit(b->pg, err);
}

static bool leaves_connection(enum ing_pg_rc rc)
{
	return rc == ING_PG_CONFLICT || rc == ING_PG_REFUSED || rc == ING_PG_SLOW ||
	       rc == ING_PG_LOCKED;
}

/* ------------------------------------------------------------------------------------------ */

struct ing_upsert *ing_upsert_new(void)
{
	struct ing_upsert *u = ing_alloc(sizeof(*u));
	ing_buf_init(&u->rows, MAX_ROW_BYTES);
	for (size_t i = 0; i < ING_TABLES; i++) {
		ing_buf_init(&u->copy_sql[i], 4096);
		ing_buf_init(&u->upsert_sql[i], 4096);
		ing_table_copy_sql(&ing_tables[i], &u->copy_sql[i]);
		ing_table_upsert_sql(&ing_tables[i], &u->upsert_sql[i]);
	}
	return u;
}

void ing_upsert_free(struct ing_upsert *u)
{
	if (u == NULL)
		return;
	ing_buf_done(&u->rows);
	for (size_t i = 0; i < ING_TABLES; i++) {
		ing_buf_done(&u->copy_sql[i]);
		ing_buf_done(&u->upsert_sql[i]);
	}
	free(u);
}

int ing_upsert_prepare(struct ing_pg *pg, struct ing_error *err)
{
	/* A worker that dies in the middle of a transaction must not keep its row locks until TCP
	 * notices. */
	static const char settings[] = "SET statement_timeout = '" STATEMENT_TIMEOUT "';"
				       "SET idle_in_transaction_session_timeout = '60s';"
				       "SET default_transaction_isolation = 'read committed';"
				       "SET client_min_messages = 'error'";
	int rc = ing_schema_prepare(pg, settings, err);
	for (size_t i = 0; i < ING_TABLES && rc == 0; i++) {
		struct ing_buf sql;
		ing_buf_init(&sql, 16384);
		ing_table_session_sql(&ing_tables[i], &sql);
		if (ing_pg_exec(pg, ing_buf_str(&sql), err) != ING_PG_OK)
			rc = -ING_FAIL_UNAVAILABLE;
		ing_buf_done(&sql);
	}
	return rc;
}

enum ing_pg_rc ing_upsert_write(struct ing_upsert *u, struct ing_pg *pg,
	struct ing_store_item *const *items, size_t count, unsigned without,
	struct ing_upsert_report *ret, struct ing_error *err)
{
	const struct batch b = {u, pg, items, count, ret};
	*ret = (struct ing_upsert_report){.table = -1};
	enum ing_pg_rc rc = write_tables(&b, without, err);
	if (!leaves_connection(rc))
		return rc;
	return ing_pg_exec(pg, "ROLLBACK", NULL) == ING_PG_OK ? rc : ING_PG_LOST;
}
