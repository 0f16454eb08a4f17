/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Of the rows of a batch those that are new are inserted; the others are looked up by the key once more only
 * if there are any, and only for a list.
 */
#include "worker/store/requests/load.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/data/base32.h"
#include "worker/database/schema.h"
#include "worker/store/requests/load_line.h"
#include "worker/store/requests/load_plan.h"

#define CHUNK_BYTES ((size_t)256 << 10) /* handed to libpq at once */
#define NUMBER_BYTES 24
#define MAX_SQL_BYTES 8192

/* The tables that are looked into are large, what a batch adds is not: each of its rows is looked up by index, by the triggers, too. */
#define SESSION                                                                                            \
	"SET statement_timeout = '30s'; SET idle_in_transaction_session_timeout = '60s';"                  \
	" SET default_transaction_isolation = 'read committed';"                                           \
	" SET client_min_messages = 'error'; SET plan_cache_mode = force_generic_plan;"                    \
	" SET jit = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_seqscan = off;" \
	" SET temp_buffers = '32MB'"
#define KEY "link_source, link_source_id, ingest_type, base_url"

/* Named after nobody: positions of loads without a list, which a broken-off one leaves behind. */
#define FORGET_SQL                                                                                 \
	"DELETE FROM request_load WHERE list_id < 0 AND updated < now() - interval '30 days'"

static void number_text(int64_t n, char ret[NUMBER_BYTES])
{
	snprintf(ret, NUMBER_BYTES, "%" PRId64, n);
}

static void take_number(void *ctx, const char *const *values, int count)
{
	(void)count;
	*(int64_t *)ctx = ing_pg_int64(values[0]);
}

static int failure_of(enum ing_pg_rc rc)
{
	return rc == ING_PG_OK        ? 0
	       : rc == ING_PG_REFUSED ? -ING_FAIL_INVALID
				      : -ING_FAIL_UNAVAILABLE;
}

/* --- the list, and how far it has come --- */

static enum ing_pg_rc find_list(struct ing_pg *pg, struct ing_load_list *l, struct ing_error *err)
{
	char priority[NUMBER_BYTES];
	number_text(l->priority, priority);
	const char *params[] = {l->name, l->source, l->priority >= 0 ? priority : NULL};
	if (l->name == NULL)
		return ing_pg_number(
			pg, "SELECT -1 - floor(random() * 2147483000)::integer", &l->list_id, err);
	return ing_pg_query(pg, NULL,
		"INSERT INTO request_list AS l (name, source, priority)"
		" VALUES ($1, $2, coalesce($3::integer, 0)) ON CONFLICT (name) DO UPDATE"
		" SET source = coalesce(excluded.source, l.source),"
		" priority = coalesce($3::integer, l.priority) RETURNING list_id",
		params, 3, take_number, &l->list_id, err);
}

struct reading {
	struct ing_load_list *l;
	unsigned streams, found;
	bool broken;
};

static bool read_digest(const char *hex, unsigned char ret[ING_LOAD_DIGEST_BYTES])
{
	memset(ret, 0, ING_LOAD_DIGEST_BYTES);
	return hex[0] == '\0' || (strlen(hex) == (size_t)2 * ING_LOAD_DIGEST_BYTES &&
					 ing_hex_decode(hex, ret, ING_LOAD_DIGEST_BYTES));
}

static bool read_position(const char *const *values, struct ing_load_position *ret)
{
	ret->block = ing_pg_int64(values[0]);
	ret->counts = (struct ing_load_counts){.added = ing_pg_int64(values[2]),
		.known = ing_pg_int64(values[3]),
		.elsewhere = ing_pg_int64(values[4]),
		.bad = ing_pg_int64(values[5])};
	return read_digest(values[1], ret->digest);
}

static void take_position(void *ctx, const char *const *values, int count)
{
	struct reading *r = ctx;
	(void)count;
	int64_t stream = ing_pg_int64(values[6]);
	r->streams = ing_pg_unsigned(values[7]);
	if (stream != r->found || stream >= ING_LOAD_MAX_STREAMS ||
		!read_position(values, &r->l->at[stream]))
		r->broken = true;
	else
		r->found++;
}

#define POSITION_COLUMNS "block, encode(digest, 'hex'), added, known, elsewhere, bad"

static enum ing_pg_rc make_positions(
	struct ing_pg *pg, const struct ing_load_list *l, struct ing_error *err)
{
	char sql[300];
	snprintf(sql, sizeof(sql),
		"INSERT INTO request_load (list_id, stream, streams, block, digest, added, known,"
		" elsewhere, bad) SELECT %" PRId64 ", s, %u, 0, '', 0, 0, 0, 0"
		" FROM generate_series(0, %u) s",
		l->list_id, l->streams, l->streams - 1);
	return ing_pg_exec(pg, sql, err);
}

static enum ing_pg_rc forget_positions(struct ing_pg *pg, int64_t list_id, struct ing_error *err)
{
	char sql[100];
	snprintf(sql, sizeof(sql), "DELETE FROM request_load WHERE list_id = %" PRId64, list_id);
	return ing_pg_exec(pg, sql, err);
}

/* Locks the rows: a load that was killed may still have a commit under way, which is waited for. */
static enum ing_pg_rc find_positions(
	struct ing_pg *pg, struct ing_load_list *l, struct ing_error *err)
{
	struct reading r = {.l = l};
	char id[NUMBER_BYTES];
	number_text(l->list_id, id);
	const char *params[] = {id};
	enum ing_pg_rc rc = ing_pg_query(pg, NULL,
		"SELECT " POSITION_COLUMNS ", stream, streams FROM request_load"
		" WHERE list_id = $1::integer ORDER BY stream FOR UPDATE",
		params, 1, take_position, &r, err);
	if (rc != ING_PG_OK)
		return rc;
	if (r.found == 0 && !r.broken) {
		memset(l->at, 0, sizeof(l->at));
		return make_positions(pg, l, err);
	}
	if (r.broken || r.found != r.streams) {
		ing_error_set(err, ING_FAIL_INVALID,
			"list %s: a load was broken off by another version; --anew begins it anew",
			l->name);
		return ING_PG_REFUSED;
	}
	l->streams = r.streams;
	l->resumed = true;
	return ING_PG_OK;
}

static enum ing_pg_rc begin(struct ing_pg *pg, struct ing_load_list *l, struct ing_error *err)
{
	enum ing_pg_rc rc = ing_pg_exec(pg, "BEGIN; " FORGET_SQL, err);
	if (rc == ING_PG_OK)
		rc = find_list(pg, l, err);
	if (rc == ING_PG_OK && l->anew)
		rc = forget_positions(pg, l->list_id, err);
	if (rc == ING_PG_OK)
		rc = find_positions(pg, l, err);
	return rc == ING_PG_OK ? ing_pg_commit(pg, err) : rc;
}

/* --- a batch --- */

struct writing {
	struct ing_pg *pg;
	const struct ing_load_write *w;
	char list_id[NUMBER_BYTES], stream[NUMBER_BYTES];
	unsigned *slowest_ms;
};

static void record_time(const struct writing *wr, uint64_t start_ms)
{
	*wr->slowest_ms = (unsigned)ING_MAX(*wr->slowest_ms, ing_now_ms() - start_ms);
}

struct stored {
	struct ing_load_position at;
	bool found;
};

static void take_stored(void *ctx, const char *const *values, int count)
{
	struct stored *s = ctx;
	(void)count;
	s->found = read_position(values, &s->at);
}

static bool is_at(const struct ing_load_position *at, int64_t block, const unsigned char *digest)
{
	return at->block == block && memcmp(at->digest, digest, ING_LOAD_DIGEST_BYTES) == 0;
}

/* The row is locked until the transaction ends, and so waits for one whose connection was lost. */
static enum ing_pg_rc check_position(const struct writing *wr, bool *ret_done,
	struct ing_load_position *ret, struct ing_error *err)
{
	const struct ing_load_write *w = wr->w;
	const char *params[] = {wr->list_id, wr->stream};
	struct stored s = {.found = false};
	enum ing_pg_rc rc = ing_pg_query(wr->pg, "position",
		"SELECT " POSITION_COLUMNS " FROM request_load"
		" WHERE list_id = $1::integer AND stream = $2::integer FOR UPDATE",
		params, 2, take_stored, &s, err);
	if (rc != ING_PG_OK)
		return rc;
	*ret_done = s.found && is_at(&s.at, w->block, w->digest);
	if (s.found && (*ret_done || is_at(&s.at, w->from->block, w->from->digest))) {
		*ret = s.at;
		return ING_PG_OK;
	}
	ing_error_set(err, ING_FAIL_BUSY, "list %s: another load has gone on with it",
		w->list->name != NULL ? w->list->name : "(none)");
	return ING_PG_REFUSED;
}

static enum ing_pg_rc send_rows(
	const struct writing *wr, struct ing_buf *chunk, struct ing_error *err)
{
	enum ing_pg_rc rc = ing_pg_copy_add(wr->pg, ing_buf_str(chunk), chunk->len, err);
	ing_buf_clear(chunk);
	return rc;
}

static enum ing_pg_rc copy_all(const struct writing *wr, struct ing_error *err)
{
	const struct ing_load_batch *b = wr->w->batch;
	enum ing_pg_rc rc = ING_PG_OK;
	struct ing_buf chunk;
	ing_buf_init(&chunk, SIZE_MAX / 8);
	for (size_t i = 0; i < b->count && rc == ING_PG_OK; i++) {
		ing_buf_add(&chunk, b->refs[i].line, b->refs[i].line_bytes);
		if (chunk.len >= CHUNK_BYTES)
			rc = send_rows(wr, &chunk, err);
	}
	if (rc == ING_PG_OK)
		rc = send_rows(wr, &chunk, err);
	ing_buf_done(&chunk);
	return rc;
}

static enum ing_pg_rc copy_rows(const struct writing *wr, struct ing_error *err)
{
	struct ing_buf sql;
	uint64_t start_ms = ing_now_ms();
	ing_buf_init(&sql, MAX_SQL_BYTES);
	ing_buf_add_str(&sql, "COPY stage_load (");
	ing_load_columns(&sql);
	ing_buf_add_str(&sql, ") FROM STDIN");
	enum ing_pg_rc rc = ing_pg_copy_begin(wr->pg, ing_buf_str(&sql), err);
	ing_buf_done(&sql);
	if (rc == ING_PG_OK)
		rc = copy_all(wr, err);
	if (rc == ING_PG_OK)
		rc = ing_pg_copy_end(wr->pg, err);
	record_time(wr, start_ms);
	return rc;
}

/* They are in the order of the key already: COPY puts them one behind the other, and the scan takes them so. */
static enum ing_pg_rc insert_rows(const struct writing *wr, int64_t *ret, struct ing_error *err)
{
	struct ing_buf sql;
	const char *params[] = {wr->list_id};
	uint64_t start_ms = ing_now_ms();
	ing_buf_init(&sql, MAX_SQL_BYTES);
	ing_buf_add_str(&sql, "WITH added AS (INSERT INTO ingest_request (list_id, ");
	ing_load_columns(&sql);
	ing_buf_add_str(&sql, ") SELECT nullif(greatest($1::integer, 0), 0), ");
	ing_load_columns(&sql);
	sql.len -= strlen("created");
	ing_buf_add_str(&sql,
		"coalesce(created, now()) FROM stage_load ON CONFLICT (" KEY ") DO NOTHING"
		" RETURNING 1) SELECT count(*) FROM added");
	enum ing_pg_rc rc =
		ing_pg_query(wr->pg, "insert", ing_buf_str(&sql), params, 1, take_number, ret, err);
	ing_buf_done(&sql);
	record_time(wr, start_ms);
	return rc;
}

/* Each is looked up by itself, as in load_plan.c. Rows from before there were identities get them by `db fill`: the same as here. */
static enum ing_pg_rc insert_members(const struct writing *wr, int64_t *ret, struct ing_error *err)
{
	const char *params[] = {wr->list_id};
	uint64_t start_ms = ing_now_ms();
	enum ing_pg_rc rc = ing_pg_query(wr->pg, "members",
		"WITH added AS (INSERT INTO request_list_member (request_id, list_id)"
		" SELECT coalesce(r.request_id, s.request_id), $1::integer"
		" FROM stage_load s CROSS JOIN LATERAL (SELECT * FROM ingest_request r"
		" WHERE r.link_source = s.link_source AND r.link_source_id = s.link_source_id"
		" AND r.ingest_type = s.ingest_type AND r.base_url = s.base_url LIMIT 1) r"
		" WHERE r.list_id IS DISTINCT FROM $1::integer"
		" ON CONFLICT DO NOTHING RETURNING 1) SELECT count(*) FROM added",
		params, 1, take_number, ret, err);
	record_time(wr, start_ms);
	return rc;
}

static enum ing_pg_rc write_rows(
	const struct writing *wr, struct ing_load_counts *counts, struct ing_error *err)
{
	int64_t rows = (int64_t)wr->w->batch->count;
	int64_t added = 0;
	int64_t elsewhere = 0;
	if (rows == 0)
		return ING_PG_OK;
	enum ing_pg_rc rc = copy_rows(wr, err);
	if (rc == ING_PG_OK)
		rc = insert_rows(wr, &added, err);
	if (rc == ING_PG_OK && added < rows && wr->w->list->name != NULL)
		rc = insert_members(wr, &elsewhere, err);
	counts->added += added;
	counts->elsewhere += elsewhere;
	counts->known += rows - added - elsewhere + (int64_t)wr->w->batch->repeated;
	return rc;
}

static enum ing_pg_rc store_position(
	const struct writing *wr, const struct ing_load_position *at, struct ing_error *err)
{
	char hex[2 * ING_LOAD_DIGEST_BYTES + 1];
	char numbers[5][NUMBER_BYTES];
	ing_hex_encode(at->digest, ING_LOAD_DIGEST_BYTES, hex);
	number_text(at->block, numbers[0]);
	number_text(at->counts.added, numbers[1]);
	number_text(at->counts.known, numbers[2]);
	number_text(at->counts.elsewhere, numbers[3]);
	number_text(at->counts.bad, numbers[4]);
	const char *params[] = {wr->list_id, wr->stream, hex, numbers[0], numbers[1], numbers[2],
		numbers[3], numbers[4]};
	return ing_pg_query(wr->pg, "advance",
		"UPDATE request_load SET digest = decode($3, 'hex'), block = $4::bigint,"
		" added = $5::bigint, known = $6::bigint, elsewhere = $7::bigint,"
		" bad = $8::bigint, updated = now()"
		" WHERE list_id = $1::integer AND stream = $2::integer",
		params, 8, NULL, NULL, err);
}

static enum ing_pg_rc plan_rows(const struct writing *wr, struct ing_error *err)
{
	uint64_t start_ms = ing_now_ms();
	enum ing_pg_rc rc = ing_load_plan_write(wr->pg, wr->w->plan, err);
	record_time(wr, start_ms);
	return rc;
}

static enum ing_pg_rc write_batch(
	const struct writing *wr, struct ing_load_position *ret, struct ing_error *err)
{
	const struct ing_load_write *w = wr->w;
	bool done = false;
	enum ing_pg_rc rc = ing_pg_exec(wr->pg, "BEGIN", err);
	if (rc == ING_PG_OK)
		rc = check_position(wr, &done, ret, err);
	if (rc == ING_PG_OK && done)
		return ing_pg_exec(wr->pg, "ROLLBACK", err);
	if (rc == ING_PG_OK)
		rc = write_rows(wr, &ret->counts, err);
	ret->block = w->block;
	memcpy(ret->digest, w->digest, sizeof(ret->digest));
	ret->counts.bad += w->bad;
	if (rc == ING_PG_OK)
		rc = store_position(wr, ret, err);
	if (rc == ING_PG_OK && w->plan != NULL && w->batch->count > 0)
		rc = plan_rows(wr, err);
	return rc == ING_PG_OK ? ing_pg_commit(wr->pg, err) : rc;
}

static bool leaves_connection(enum ing_pg_rc rc)
{
	return rc != ING_PG_OK && rc != ING_PG_LOST && rc != ING_PG_SILENT && rc != ING_PG_STOPPED;
}

/* -------------------------------------------------------------------------------------------- */

int ing_load_prepare(struct ing_pg *pg, struct ing_error *err)
{
	struct ing_buf sql;
	int rc = ing_schema_prepare(pg, SESSION, err);
	if (rc != 0)
		return rc;
	ing_buf_init(&sql, MAX_SQL_BYTES);
	ing_buf_add_str(&sql, "CREATE TEMP TABLE stage_load ON COMMIT DELETE ROWS AS SELECT ");
	ing_load_columns(&sql);
	ing_buf_add_str(&sql, " FROM ingest_request WITH NO DATA; SELECT count_adding()");
	rc = failure_of(ing_pg_exec(pg, ing_buf_str(&sql), err));
	ing_buf_done(&sql);
	return rc;
}

int ing_load_lock(struct ing_pg *pg, const char *name, struct ing_error *err)
{
	int64_t locked = 0;
	enum ing_pg_rc rc = ing_pg_query(pg, NULL,
		"SELECT pg_try_advisory_lock(hashtextextended('request_load ' || $1, 0))::integer",
		&name, 1, take_number, &locked, err);
	if (rc != ING_PG_OK)
		return failure_of(rc);
	if (locked != 0)
		return 0;
	return ing_error_set(err, ING_FAIL_BUSY, "list %s: another load is under way", name);
}

int ing_load_begin(struct ing_pg *pg, struct ing_load_list *l, struct ing_error *err)
{
	ing_must(l->streams >= 1 && l->streams <= ING_LOAD_MAX_STREAMS);
	return failure_of(begin(pg, l, err));
}

enum ing_pg_rc ing_load_write(struct ing_pg *pg, const struct ing_load_write *w,
	struct ing_load_position *ret, unsigned *ret_slowest_ms, struct ing_error *err)
{
	struct writing wr = {.pg = pg, .w = w, .slowest_ms = ret_slowest_ms};
	number_text(w->list->list_id, wr.list_id);
	number_text(w->stream, wr.stream);
	*ret_slowest_ms = 0;
	enum ing_pg_rc rc = write_batch(&wr, ret, err);
	if (leaves_connection(rc) && ing_pg_exec(pg, "ROLLBACK", NULL) != ING_PG_OK)
		return ING_PG_LOST;
	return rc;
}

enum ing_pg_rc ing_load_end(struct ing_pg *pg, const struct ing_load_list *l, struct ing_error *err)
{
	char sql[200];
	snprintf(sql, sizeof(sql),
		"BEGIN; UPDATE request_list SET loaded = now() WHERE list_id = %" PRId64,
		l->list_id);
	enum ing_pg_rc rc = ing_pg_exec(pg, sql, err);
	if (rc == ING_PG_OK)
		rc = forget_positions(pg, l->list_id, err);
	if (rc == ING_PG_OK)
		rc = ing_pg_commit(pg, err);
	if (leaves_connection(rc) && ing_pg_exec(pg, "ROLLBACK", NULL) != ING_PG_OK)
		return ING_PG_LOST;
	return rc;
}

enum ing_pg_rc ing_load_fold(struct ing_pg *pg, int64_t *ret, struct ing_error *err)
{
	char sql[64];
	snprintf(sql, sizeof(sql), "SELECT fold_counts(%d)", ING_LOAD_FOLD_STEP);
	return ing_pg_number(pg, sql, ret, err);
}
