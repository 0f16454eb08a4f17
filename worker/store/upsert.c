/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The staging tables are temporary, made once a connection and emptied by the server at every
 * COMMIT; the upserts are planned once.
 */
#include "worker/store/upsert.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/base/clock.h"
#include "worker/database/schema.h"
#include "worker/store/fence.h"
#include "worker/store/outbox.h"
#include "worker/store/queued.h"
#include "worker/store/records.h"
#include "worker/store/session.h"
#include "worker/store/store.h"
#include "worker/store/upkeep.h"

#define MAX_ROW_BYTES ((size_t)64 << 20) /* one row, escaped; a request is at most 1 MiB before */
/* Rows are handed to libpq in pieces of about this size. */
#define CHUNK_BYTES ((size_t)256 << 10)
/* Deletions that go with a batch, for each of its items and beyond. */
#define PRUNES_PER_ITEM 2
#define PRUNES_BESIDE 500

struct ing_upsert {
	struct ing_upkeep *upkeep;
	struct ing_fences fences;
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
		if (b->items[i]->end != ING_STORE_STORED)
			continue;
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
	b->report->rows += rows;
	return rc;
}

/* What is refused of it must not be taken for the rows' fault; nothing in it can be. */
static enum ing_pg_rc write_upkeep(const struct batch *b, struct ing_error *err)
{
	uint64_t start = ing_now_ms();
	size_t most = PRUNES_PER_ITEM * b->count + PRUNES_BESIDE;
	enum ing_pg_rc rc = ing_upkeep_write(b->u->upkeep, b->pg, most, err);
	record_time(b->report, start);
	return rc == ING_PG_REFUSED ? ING_PG_TROUBLE : rc;
}

static enum ing_pg_rc check_fences(const struct batch *b, struct ing_error *err)
{
	uint64_t start = ing_now_ms();
	enum ing_pg_rc rc = ing_fences_check(&b->u->fences, b->pg, b->items, b->count, err);
	record_time(b->report, start);
	return rc == ING_PG_REFUSED ? ING_PG_TROUBLE : rc;
}

static enum ing_pg_rc write_answers(const struct batch *b, bool careful, struct ing_error *err)
{
	uint64_t start = ing_now_ms();
	b->report->table = ING_STORE_OUTBOX;
	enum ing_pg_rc rc = ing_outbox_write(b->pg, b->items, b->count, careful, &b->u->rows, err);
	record_time(b->report, start);
	return rc;
}

static enum ing_pg_rc write_records(const struct batch *b, struct ing_error *err)
{
	uint64_t start = ing_now_ms();
	b->report->table = ING_STORE_RECORDS;
	enum ing_pg_rc rc = ing_records_write(b->pg, b->items, b->count, &b->report->skipped, err);
	record_time(b->report, start);
	return rc;
}

/* What is refused of it is no row's fault. */
static enum ing_pg_rc forget_queued(const struct batch *b, struct ing_error *err)
{
	uint64_t start = ing_now_ms();
	b->report->table = -1;
	enum ing_pg_rc rc = ing_queued_forget(b->pg, b->items, b->count, err);
	record_time(b->report, start);
	return rc == ING_PG_REFUSED ? ING_PG_TROUBLE : rc;
}

static enum ing_pg_rc write_tables(
	const struct batch *b, unsigned without, bool careful, struct ing_error *err)
{
	enum ing_pg_rc rc = ing_pg_exec(b->pg, "BEGIN", err);
	if (rc == ING_PG_OK)
		rc = write_upkeep(b, err);
	if (rc == ING_PG_OK)
		rc = check_fences(b, err);
	if (rc == ING_PG_OK && (without & 1u << ING_STORE_OUTBOX) == 0)
		rc = write_answers(b, careful, err);
	for (size_t t = 0; t < ING_TABLES && rc == ING_PG_OK; t++) {
		if ((without & 1u << t) != 0)
			continue;
		b->report->table = (int)t;
		rc = write_table(b, t, err);
	}
	if (rc == ING_PG_OK && (without & 1u << ING_STORE_RECORDS) == 0)
		rc = write_records(b, err);
	if (rc == ING_PG_OK)
		rc = forget_queued(b, err);
	if (rc != ING_PG_OK)
		return rc;
	b->report->table = -1;
	return ing_pg_commit(b->pg, err);
}

static void reset_items(const struct batch *b)
{
	for (size_t i = 0; i < b->count; i++) {
		b->items[i]->end = ING_STORE_STORED;
		ing_answer_free(ING_TAKE(b->items[i]->answer));
	}
}

static enum ing_pg_rc write_batch(
	const struct batch *b, unsigned without, bool careful, struct ing_error *err)
{
	reset_items(b);
	*b->report = (struct ing_upsert_report){.table = -1};
	enum ing_pg_rc rc = write_tables(b, without, careful, err);
	b->report->pruned = ing_upkeep_written(b->u->upkeep, rc == ING_PG_OK);
	if (rc != ING_PG_OK)
		reset_items(b);
	return rc;
}

static bool leaves_connection(enum ing_pg_rc rc)
{
	return rc == ING_PG_CONFLICT || rc == ING_PG_REFUSED || rc == ING_PG_SLOW ||
	       rc == ING_PG_LOCKED;
}

/* ------------------------------------------------------------------------------------------ */

struct ing_upsert *ing_upsert_new(struct ing_upkeep *upkeep)
{
	struct ing_upsert *u = ing_alloc(sizeof(*u));
	*u = (struct ing_upsert){.upkeep = upkeep};
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
	ing_fences_done(&u->fences);
	ing_buf_done(&u->rows);
	for (size_t i = 0; i < ING_TABLES; i++) {
		ing_buf_done(&u->copy_sql[i]);
		ing_buf_done(&u->upsert_sql[i]);
	}
	free(u);
}

int ing_upsert_prepare(struct ing_pg *pg, unsigned max_attempts, struct ing_error *err)
{
	char settings[64];
	snprintf(settings, sizeof(settings), ING_TABLE_SETTINGS, max_attempts);
	int rc = ing_schema_prepare(pg, ING_STORE_SESSION, err);
	if (rc == 0 && ing_pg_exec(pg, settings, err) != ING_PG_OK)
		rc = -ING_FAIL_UNAVAILABLE;
	if (rc == 0 && ing_outbox_prepare(pg, err) != ING_PG_OK)
		rc = -ING_FAIL_UNAVAILABLE;
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
	bool careful = false;
	for (;;) {
		enum ing_pg_rc rc = write_batch(&b, without, careful, err);
		if (!leaves_connection(rc))
			return rc;
		if (ing_pg_exec(pg, "ROLLBACK", NULL) != ING_PG_OK)
			return ING_PG_LOST;
		if (rc != ING_PG_REFUSED || ret->table != ING_STORE_OUTBOX || careful)
			return rc;
		careful = true; /* a row was there already */
		ing_error_clear(err);
	}
}
