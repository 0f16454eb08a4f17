/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A batch: COPY into a staging table and upsert out of it, for each table that has rows, then
 * COMMIT. The staging tables are temporary, made once a session and emptied by the server at every
 * COMMIT; the upserts are planned once.
 */
#include "worker/store/session.h"

#include <stdlib.h>

#include "common/base/clock.h"
#include "worker/store/schema.h"
#include "worker/store/store.h"
#include "worker/store/table.h"

/* While a session is made: server-side limit of a statement, and ours for an answer. A batch has
 * those of the pace. */
#define STATEMENT_TIMEOUT "15s"
#define ANSWER_TIMEOUT_MS 20000

#define MAX_ROW_BYTES ((size_t)64 << 20) /* one row, escaped; a request is at most 1 MiB before */
/* Rows are handed to libpq in pieces of about this size. */
#define CHUNK_BYTES ((size_t)256 << 10)

struct ing_session {
	struct ing_pg *pg;
	struct ing_buf rows;
	struct ing_buf copy_sql[ING_TABLES], upsert_sql[ING_TABLES];
};

static int prepare_session(struct ing_session *ses, struct ing_error *err)
{
	/* A worker that dies in the middle of a transaction must not keep its row locks until TCP
	 * notices. */
	static const char settings[] = "SET statement_timeout = '" STATEMENT_TIMEOUT "';"
				       "SET idle_in_transaction_session_timeout = '60s';"
				       "SET default_transaction_isolation = 'read committed';"
				       "SET client_min_messages = 'error'";
	if (ing_pg_exec(ses->pg, settings, err) != ING_PG_OK)
		return -ING_FAIL_UNAVAILABLE;
	int rc = ing_schema_check(ses->pg, err);
	if (rc != 0)
		return rc;
	for (size_t i = 0; i < ING_TABLES; i++) {
		struct ing_buf sql;
		ing_buf_init(&sql, 16384);
		ing_table_session_sql(&ing_tables[i], &sql);
		enum ing_pg_rc made = ing_pg_exec(ses->pg, ing_buf_str(&sql), err);
		ing_buf_done(&sql);
		if (made != ING_PG_OK)
			return -ING_FAIL_UNAVAILABLE;
	}
	return 0;
}

static enum ing_pg_rc end_copy(struct ing_session *ses, bool copying, struct ing_error *err)
{
	if (!copying)
		return ING_PG_OK;
	enum ing_pg_rc rc = ing_pg_copy_add(ses->pg, ing_buf_str(&ses->rows), ses->rows.len, err);
	return rc != ING_PG_OK ? rc : ing_pg_copy_end(ses->pg, err);
}

/* COPY the rows that the items have for table t. *ret_rows: how many. */
static enum ing_pg_rc copy_rows(struct ing_session *ses, size_t t,
	struct ing_store_item *const *items, size_t count, unsigned *ret_rows, uint64_t *skipped,
	struct ing_error *err)
{
	unsigned seq = 0;
	ing_buf_clear(&ses->rows);
	for (size_t i = 0; i < count; i++) {
		size_t rows = ing_tables[t].count(items[i]);
		for (size_t k = 0; k < rows; k++) {
			enum ing_pg_rc rc = ING_PG_OK;
			if (!ing_table_row(&ing_tables[t], items[i], k, seq, &ses->rows)) {
				++*skipped;
				continue;
			}
			if (seq++ == 0)
				rc = ing_pg_copy_begin(
					ses->pg, ing_buf_str(&ses->copy_sql[t]), err);
			if (rc == ING_PG_OK && ses->rows.len >= CHUNK_BYTES) {
				rc = ing_pg_copy_add(
					ses->pg, ing_buf_str(&ses->rows), ses->rows.len, err);
				ing_buf_clear(&ses->rows);
			}
			if (rc != ING_PG_OK)
				return rc;
		}
	}
	*ret_rows = seq;
	return end_copy(ses, seq > 0, err);
}

static void note_time(struct ing_session_report *report, uint64_t start_ms)
{
	report->slowest_ms = (unsigned)ING_MAX(report->slowest_ms, ing_now_ms() - start_ms);
}

static enum ing_pg_rc write_table(struct ing_session *ses, size_t t,
	struct ing_store_item *const *items, size_t count, struct ing_session_report *report,
	struct ing_error *err)
{
	unsigned rows = 0;
	uint64_t start = ing_now_ms();
	enum ing_pg_rc rc = copy_rows(ses, t, items, count, &rows, &report->skipped, err);
	note_time(report, start);
	if (rc != ING_PG_OK || rows == 0)
		return rc;
	start = ing_now_ms();
	rc = ing_pg_exec(ses->pg, ing_buf_str(&ses->upsert_sql[t]), err);
	note_time(report, start);
	return rc;
}

static enum ing_pg_rc write_tables(struct ing_session *ses, struct ing_store_item *const *items,
	size_t count, unsigned without, struct ing_session_report *report, struct ing_error *err)
{
	enum ing_pg_rc rc = ing_pg_exec(ses->pg, "BEGIN", err);
	if (rc != ING_PG_OK)
		return rc;
	for (size_t t = 0; t < ING_TABLES; t++) {
		if ((without & 1u << t) != 0)
			continue;
		report->table = (int)t;
		rc = write_table(ses, t, items, count, report, err);
		if (rc != ING_PG_OK)
			return rc;
	}
	report->table = -1;
	return ing_pg_commit(ses->pg, err);
}

static bool leaves_session(enum ing_pg_rc rc)
{
	return rc == ING_PG_CONFLICT || rc == ING_PG_REFUSED || rc == ING_PG_SLOW ||
	       rc == ING_PG_LOCKED;
}

/* -------------------------------------------------------------------------------------------- */

int ing_session_open(const char *dsn, int stop_fd, struct ing_session **ret, struct ing_error *err)
{
	struct ing_session *ses = ing_alloc(sizeof(*ses));
	ing_buf_init(&ses->rows, MAX_ROW_BYTES);
	for (size_t i = 0; i < ING_TABLES; i++) {
		ing_buf_init(&ses->copy_sql[i], 4096);
		ing_buf_init(&ses->upsert_sql[i], 4096);
		ing_table_copy_sql(&ing_tables[i], &ses->copy_sql[i]);
		ing_table_upsert_sql(&ing_tables[i], &ses->upsert_sql[i]);
	}
	int rc = ing_pg_open(dsn, stop_fd, ANSWER_TIMEOUT_MS, &ses->pg, err);
	if (rc == 0)
		rc = prepare_session(ses, err);
	if (rc != 0) {
		ing_session_close(ses);
		return rc;
	}
	*ret = ses;
	return 0;
}

void ing_session_close(struct ing_session *ses)
{
	if (ses == NULL)
		return;
	ing_pg_close(ses->pg);
	ing_buf_done(&ses->rows);
	for (size_t i = 0; i < ING_TABLES; i++) {
		ing_buf_done(&ses->copy_sql[i]);
		ing_buf_done(&ses->upsert_sql[i]);
	}
	free(ses);
}

enum ing_pg_rc ing_session_write(struct ing_session *ses, const struct ing_pace *pace,
	struct ing_store_item *const *items, size_t count, unsigned without,
	struct ing_session_report *ret, struct ing_error *err)
{
	*ret = (struct ing_session_report){.table = -1};
	enum ing_pg_rc rc = ing_pg_set_limits(ses->pg, pace, err);
	if (rc == ING_PG_OK)
		rc = write_tables(ses, items, count, without, ret, err);
	if (!leaves_session(rc))
		return rc;
	return ing_pg_exec(ses->pg, "ROLLBACK", NULL) == ING_PG_OK ? rc : ING_PG_LOST;
}
