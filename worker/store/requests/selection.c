/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * All of a reading is in one transaction, so that the limits that were computed are those of the rows that come.
 * The server sends rows by COPY as fast as they are taken; nobody holds more than a few of them.
 */
#include "worker/store/requests/selection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/nearest.h"
#include "common/data/pg.h"
#include "worker/database/schema.h"
#include "worker/store/requests/selection_sql.h"
#include "worker/store/requests/share.h"

#define MAX_SQL_BYTES ((size_t)64 << 20) /* what people leave out is a file */

/* Times as RFC 3339 but for two characters; statements that take as long as they take; and no compiling of each. */
#define SETTINGS                                                                                    \
	"SET timezone = 'UTC'; SET datestyle = 'ISO'; SET client_encoding = 'UTF8'; SET jit = off;" \
	" SET statement_timeout = 0; SET lock_timeout = 0; SET idle_in_transaction_session_timeout = 0"
/* A list that was loaded a minute ago is one row to a planner that has old statistics, and read by loops within loops then. Whoever
 * may not analyse, or would have to wait for a vacuum, goes on without. */
#define ANALYZE                                                                                    \
	"DO $$ DECLARE stale regclass; BEGIN"                                                      \
	" PERFORM set_config('lock_timeout', '1s', true);"                                         \
	" FOR stale IN SELECT relid FROM pg_stat_user_tables WHERE relname IN ('ingest_request',"  \
	" 'ingest_file_result', 'request_list_member', 'document_queued')"                         \
	" AND schemaname = ANY (current_schemas(false))"                                           \
	" AND n_mod_since_analyze > 1000 + n_live_tup / 20"                                        \
	" LOOP EXECUTE 'ANALYZE ' || stale; END LOOP;"                                             \
	" EXCEPTION WHEN OTHERS THEN NULL; END $$"
#define BEGIN "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

struct lists {
	int *ids, *priorities;
	size_t count;
};

struct ing_selection_reader {
	struct ing_pg *pg;
	struct lists lists;
	struct ing_selection_scope scope;
	struct ing_selection_facts facts;
	char created[64];
};

static int failed(enum ing_pg_rc rc)
{
	return rc == ING_PG_REFUSED ? -ING_FAIL_INVALID : -ING_FAIL_UNAVAILABLE;
}

/* --- lists --- */

static void take_list(void *ctx, const char *const *values, int count)
{
	struct lists *l = ctx;
	(void)count;
	l->ids = ing_realloc(l->ids, (l->count + 1) * sizeof(*l->ids));
	l->priorities = ing_realloc(l->priorities, (l->count + 1) * sizeof(*l->priorities));
	l->ids[l->count] = (int)ing_pg_int64(values[0]);
	l->priorities[l->count++] = (int)ing_pg_int64(values[1]);
}

struct naming {
	struct ing_nearest nearest;
	char best[128];
};

static void try_name(void *ctx, const char *const *values, int count)
{
	struct naming *n = ctx;
	const char *before = n->nearest.best;
	(void)count;
	ing_nearest_try(&n->nearest, values[0]);
	if (n->nearest.best == before)
		return;
	snprintf(n->best, sizeof(n->best), "%s", values[0]);
	n->nearest.best = n->best;
}

static int refuse_list(struct ing_pg *pg, const char *name, struct ing_error *err)
{
	struct naming n = {.nearest = ing_nearest_of(name, strlen(name))};
	enum ing_pg_rc rc = ing_pg_query(pg, NULL, "SELECT name FROM request_list ORDER BY name",
		NULL, 0, try_name, &n, err);
	if (rc != ING_PG_OK)
		return failed(rc);
	if (n.nearest.best != NULL)
		return ing_error_set(err, ING_FAIL_NOT_FOUND,
			"there is no list \"%s\"; did you mean \"%s\"?", name, n.best);
	return ing_error_set(err, ING_FAIL_NOT_FOUND, "there is no list \"%s\"", name);
}

static bool is_named_twice(const struct ing_words *names, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (strcmp(names->words[k], names->words[i]) == 0)
			return true;
	return false;
}

static int find_lists(
	struct ing_pg *pg, const struct ing_words *names, struct lists *ret, struct ing_error *err)
{
	for (size_t i = 0; i < names->count; i++) {
		size_t before = ret->count;
		if (is_named_twice(names, i))
			continue;
		enum ing_pg_rc rc = ing_pg_query(pg, NULL,
			"SELECT list_id, priority FROM request_list WHERE name = $1",
			&names->words[i], 1, take_list, ret, err);
		if (rc != ING_PG_OK)
			return failed(rc);
		if (ret->count == before)
			return refuse_list(pg, names->words[i], err);
	}
	return 0;
}

/* --- scope --- */

static int ask_exists(struct ing_pg *pg, const char *what, bool *ret, struct ing_error *err)
{
	int64_t n = 0;
	struct ing_buf sql;
	ing_buf_init(&sql, MAX_SQL_BYTES);
	ing_buf_printf(&sql, "SELECT EXISTS (SELECT FROM %s)::integer", what);
	enum ing_pg_rc rc = ing_pg_number(pg, ing_buf_str(&sql), &n, err);
	ing_buf_done(&sql);
	*ret = n != 0;
	return rc == ING_PG_OK ? 0 : failed(rc);
}

static int ask_members(struct ing_selection_reader *r, struct ing_error *err)
{
	struct ing_buf what;
	ing_buf_init(&what, MAX_SQL_BYTES);
	ing_buf_add_str(&what, "request_list_member WHERE list_id IN (0");
	for (size_t i = 0; i < r->lists.count; i++)
		ing_buf_printf(&what, ", %d", r->lists.ids[i]);
	ing_buf_add_char(&what, ')');
	int rc = ask_exists(r->pg, ing_buf_str(&what), &r->scope.has_members, err);
	ing_buf_done(&what);
	return rc;
}

static int find_scope(
	struct ing_selection_reader *r, const struct ing_selection *s, struct ing_error *err)
{
	int rc = find_lists(r->pg, &s->lists, &r->lists, err);
	if (rc != 0)
		return rc;
	r->scope = (struct ing_selection_scope){.list_ids = r->lists.ids,
		.priorities = r->lists.priorities,
		.list_count = r->lists.count,
		.host_cap = s->per_host,
		.limit = s->limit};
	if (r->lists.count > 0)
		rc = ask_members(r, err);
	if (rc == 0)
		rc = ask_exists(r->pg, "ingest_request WHERE request_id IS NULL",
			&r->scope.unfilled_requests, err);
	if (rc == 0)
		rc = ask_exists(r->pg, "ingest_file_result WHERE document IS NULL",
			&r->scope.unfilled_results, err);
	return rc;
}

/* --- share --- */

struct levels {
	struct ing_share_level *levels;
	size_t count, room;
	uint64_t per_host; /* 0: no limit */
	struct ing_selection_facts *facts;
};

static void take_level(void *ctx, const char *const *values, int count)
{
	struct levels *l = ctx;
	(void)count;
	if (l->count == l->room) {
		l->room = l->room == 0 ? 64 : l->room * 2;
		l->levels = ing_realloc(l->levels, l->room * sizeof(*l->levels));
	}
	struct ing_share_level level = {
		(uint64_t)ing_pg_int64(values[0]), (uint64_t)ing_pg_int64(values[1])};
	l->facts->hosts += level.groups;
	l->facts->candidates += level.requests * level.groups;
	if (l->per_host != 0)
		level.requests = ING_MIN(level.requests, l->per_host);
	l->levels[l->count++] = level;
}

/* The share becomes a limit of each host. A server with the counts of all hosts sends how many have which: at
 * most the square root of twice the requests. */
static int find_share(struct ing_selection_reader *r, const struct ing_selection *s,
	enum ing_selection_order order, struct ing_error *err)
{
	struct levels l = {.per_host = s->per_host, .facts = &r->facts};
	struct ing_buf sql;
	ing_buf_init(&sql, MAX_SQL_BYTES);
	ing_selection_groups_sql(s, order, &r->scope, &sql);
	ing_must(!sql.failed);
	enum ing_pg_rc rc =
		ing_pg_query(r->pg, NULL, ing_buf_str(&sql), NULL, 0, take_level, &l, err);
	struct ing_host_share share = ing_share_cap(l.levels, l.count, s->limit, s->share);
	r->scope.host_cap = share.cap;
	r->scope.limit = share.total;
	r->scope.nothing = share.total == 0;
	r->facts.cap = share.cap;
	r->facts.total = share.total;
	ing_buf_done(&sql);
	free(l.levels);
	return rc == ING_PG_OK ? 0 : failed(rc);
}

/* --- rows --- */

static int begin(struct ing_selection_reader *r, const char *dsn, struct ing_error *err)
{
	/* No deadline: sorting a large selection takes as long as it takes. A host that has gone is noticed by
	 * TCP. */
	int rc = ing_pg_open(dsn, -1, -1, &r->pg, err);
	if (rc == 0)
		rc = ing_schema_prepare(r->pg, SETTINGS, err);
	if (rc != 0)
		return rc;
	enum ing_pg_rc begun = ing_pg_exec(r->pg, ANALYZE, err);
	if (begun == ING_PG_OK)
		begun = ing_pg_exec(r->pg, BEGIN, err);
	return begun == ING_PG_OK ? 0 : failed(begun);
}

/* COPY (sql, which is taken) TO STDOUT. */
static int begin_copy(struct ing_selection_reader *r, struct ing_buf *sql, struct ing_error *err)
{
	struct ing_buf copy;
	ing_buf_init(&copy, MAX_SQL_BYTES);
	ing_buf_printf(&copy, "COPY (%s) TO STDOUT", ing_buf_str(sql));
	ing_must(!sql->failed && !copy.failed);
	enum ing_pg_rc rc = ing_pg_copy_out_begin(r->pg, ing_buf_str(&copy), err);
	ing_buf_done(&copy);
	ing_buf_done(sql);
	return rc == ING_PG_OK ? 0 : failed(rc);
}

/* Connect, and find out what the statement needs to know. */
static int prepare(struct ing_selection_reader *r, const char *dsn, const struct ing_selection *s,
	enum ing_selection_order order, struct ing_error *err)
{
	int rc = begin(r, dsn, err);
	if (rc == 0)
		rc = find_scope(r, s, err);
	if (rc == 0 && order == ING_ORDER_INTERLEAVED && r->scope.unfilled_requests &&
		r->lists.count == 0)
		rc = ing_error_set(err, ING_FAIL_INVALID,
			"some requests were stored before there were lists and have no document yet: run ingestctl db fill");
	if (rc == 0 && s->share > 0)
		rc = find_share(r, s, order, err);
	return rc;
}

static int open_rows(struct ing_selection_reader *r, const char *dsn, const struct ing_selection *s,
	enum ing_selection_order order, struct ing_error *err)
{
	struct ing_buf sql;
	int rc = prepare(r, dsn, s, order, err);
	if (rc != 0)
		return rc;
	ing_buf_init(&sql, MAX_SQL_BYTES);
	ing_selection_sql(s, order, &r->scope, &sql);
	return begin_copy(r, &sql, err);
}

static int open_counts(struct ing_selection_reader *r, const char *dsn,
	const struct ing_selection *s, const char *by, struct ing_error *err)
{
	struct ing_buf sql;
	int rc = prepare(r, dsn, s, ING_ORDER_STORED, err);
	if (rc != 0)
		return rc;
	ing_buf_init(&sql, MAX_SQL_BYTES);
	if (ing_selection_count_sql(s, &r->scope, by, &sql))
		return begin_copy(r, &sql, err);
	ing_buf_done(&sql);
	return ing_error_set(err, ING_FAIL_USAGE, "requests are not counted by \"%s\"", by);
}

/* 1: a row has been cut into its columns; 0: there are no more. */
static int next_row(
	struct ing_selection_reader *r, char **values, size_t count, struct ing_error *err)
{
	char *row;
	size_t bytes;
	enum ing_pg_rc rc = ing_pg_copy_out_next(r->pg, &row, &bytes, err);
	if (rc != ING_PG_OK)
		return failed(rc);
	if (row == NULL)
		return 0;
	ing_must(ing_pg_copy_columns(row, bytes - 1, values, count) == count);
	return 1;
}

static int read_counts(struct ing_selection_reader *r, ing_selection_count_f *each, void *ctx,
	struct ing_error *err)
{
	char *values[2];
	int rc;
	while ((rc = next_row(r, values, 2, err)) == 1)
		if (!each(ctx, values[0], (uint64_t)ing_pg_int64(values[1])))
			return 0;
	return rc;
}

/* "2026-11-23 04:05:06.789+00" as RFC 3339; years that it does not have stay as they are. */
static const char *rfc3339(const char *time, char *to, size_t size)
{
	size_t n = strlen(time);
	if (n < 22 || n >= size || time[10] != ' ' || strcmp(time + n - 3, "+00") != 0)
		return time;
	memcpy(to, time, n + 1);
	to[10] = 'T';
	memcpy(to + n - 3, "Z", 2);
	return to;
}

static void take_row(
	struct ing_selection_reader *r, char *const *values, struct ing_stored_request *ret)
{
	*ret = (struct ing_stored_request){
		.request_id = values[ING_SELECTED_REQUEST_ID],
		.document = values[ING_SELECTED_DOCUMENT],
		.ingest_type = values[ING_SELECTED_TYPE],
		.base_url = values[ING_SELECTED_BASE_URL],
		.link_source = values[ING_SELECTED_LINK_SOURCE],
		.link_source_id = values[ING_SELECTED_LINK_SOURCE_ID],
		.ingest_request_source = values[ING_SELECTED_SOURCE],
		.release_stage = values[ING_SELECTED_STAGE],
		.created = rfc3339(values[ING_SELECTED_CREATED], r->created, sizeof(r->created)),
		.request_json = values[ING_SELECTED_REQUEST],
		.host = values[ING_SELECTED_HOST],
		.doi_prefix = values[ING_SELECTED_DOI_PREFIX],
	};
}

/* -------------------------------------------------------------------------------------------- */

int ing_selection_open(const char *dsn, const struct ing_selection *s,
	enum ing_selection_order order, struct ing_selection_reader **ret, struct ing_error *err)
{
	struct ing_selection_reader *r = ing_alloc(sizeof(*r));
	*r = (struct ing_selection_reader){0};
	int rc = open_rows(r, dsn, s, order, err);
	if (rc != 0)
		ing_selection_close(r);
	else
		*ret = r;
	return rc;
}

int ing_selection_next(
	struct ing_selection_reader *r, struct ing_stored_request *ret, struct ing_error *err)
{
	char *values[ING_SELECTED_COLUMNS_];
	int rc = next_row(r, values, ING_SELECTED_COLUMNS_, err);
	if (rc == 1)
		take_row(r, values, ret);
	return rc;
}

const struct ing_selection_facts *ing_selection_facts(const struct ing_selection_reader *r)
{
	return &r->facts;
}

void ing_selection_close(struct ing_selection_reader *r)
{
	if (r == NULL)
		return;
	ing_pg_close(r->pg);
	free(r->lists.ids);
	free(r->lists.priorities);
	free(r);
}

int ing_selection_count(const char *dsn, const struct ing_selection *s, const char *by,
	ing_selection_count_f *each, void *ctx, struct ing_error *err)
{
	struct ing_selection_reader *r = ing_alloc(sizeof(*r));
	*r = (struct ing_selection_reader){0};
	int rc = open_counts(r, dsn, s, by, err);
	if (rc == 0)
		rc = read_counts(r, each, ctx, err);
	ing_selection_close(r);
	return rc;
}
