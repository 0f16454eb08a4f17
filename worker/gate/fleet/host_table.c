/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Operators' queries. None is urgent: each call has its own connection, and `top` reads all of
 * host_state, for which there is no index (see the migration).
 */
#include "worker/gate/fleet/host_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/utf8.h"
#include "worker/database/schema.h"

#define MAX_TOP 10000

enum row_column {
	ROW_HOST,
	ROW_HOLDER,
	ROW_LEASE_MS,
	ROW_WANTED_BY,
	ROW_REST_MS,
	ROW_REST,
	ROW_BREAKER,
	ROW_FAILURES,
	ROW_OPENS,
	ROW_CRAWL_DELAY_MS,
	ROW_RESPONSE_MS,
	ROW_HTTP_STATUS,
	ROW_OUTCOME,
	ROW_ANSWERED_MS,
	ROW_UPDATED_MS,
	ROW_COLUMNS
};

/* An expired lease and a reservation that has lapsed count as none. `now` is the time to which the
 * row's times are compared: that of its last write, if the clock has been set back since
 * (lease_sql.h). */
#define ROW_SQL                                                                                     \
	"SELECT host, CASE WHEN expires_at > now THEN holder END,"                                  \
	" ceil(extract(epoch FROM expires_at - now) * 1000)::bigint,"                               \
	" CASE WHEN greatest(wanted_at, next_fetch_at) > now - interval '10 s' THEN wanted_by END," \
	" ceil(extract(epoch FROM next_fetch_at - now) * 1000)::bigint,"                            \
	" rest, breaker, failures, opens, crawl_delay_ms, response_ms, http_status, outcome,"       \
	" ceil(extract(epoch FROM now - answered_at) * 1000)::bigint,"                              \
	" ceil(extract(epoch FROM now - updated) * 1000)::bigint"                                   \
	" FROM (SELECT *, greatest(updated, clock) AS now"                                          \
	"  FROM host_state, clock_timestamp() AS clock) AS s"

static const char find_sql[] = ROW_SQL " WHERE host = $1";
static const char top_sql[] = ROW_SQL
	" ORDER BY rest IN ('retry-after', 'backoff', 'breaker') AND next_fetch_at > now DESC,"
	" greatest(next_fetch_at - now, interval '0') DESC, failures DESC, answered_at DESC NULLS LAST, host"
	" LIMIT $1::bigint";

#define BLOCK_SQL                                                                                  \
	"SELECT host, why, created_by,"                                                            \
	" ceil(extract(epoch FROM clock_timestamp() - created_at) * 1000)::bigint FROM host_block"
/* $1: the host; it and its parents, as entries could name them. The longest is the most specific;
 * of one name, that without the dot. */
static const char covering_sql[] =
	BLOCK_SQL " WHERE host = ANY ($1::text[])"
		  " ORDER BY octet_length(ltrim(host, '.')) DESC, host LIKE '.%' LIMIT 1";
static const char blocks_sql[] = BLOCK_SQL " ORDER BY host";
static const char block_sql[] =
	"INSERT INTO host_block (host, why, created_by) VALUES ($1, $2, $3)"
	" ON CONFLICT (host) DO UPDATE SET why = excluded.why, created_by = excluded.created_by,"
	" created_at = clock_timestamp()";
static const char unblock_sql[] = "DELETE FROM host_block WHERE host = $1 RETURNING host";

static int open_table(const char *dsn, struct ing_pg **ret, struct ing_error *err)
{
	return ing_schema_open(dsn, ret, err);
}

static int query(struct ing_pg *pg, const char *sql, const char *const *params, int count,
	ing_pg_row_f *each, void *ctx, struct ing_error *err)
{
	switch (ing_pg_query(pg, NULL, sql, params, count, each, ctx, err)) {
	case ING_PG_OK:
		return 0;
	case ING_PG_REFUSED:
		return -ING_FAIL_INVALID;
	default:
		return -ING_FAIL_UNAVAILABLE;
	}
}

static int query_once(const char *dsn, const char *sql, const char *const *params, int count,
	ing_pg_row_f *each, void *ctx, struct ing_error *err)
{
	struct ing_pg *pg = NULL;
	int rc = open_table(dsn, &pg, err);
	if (rc == 0)
		rc = query(pg, sql, params, count, each, ctx, err);
	ing_pg_close(pg);
	return rc;
}

/* -- values --------------------------------------------------------------------------------- */

static int64_t positive(const char *text)
{
	return ING_MAX(ing_pg_int64(text), 0);
}

static void copy(char *to, size_t size, const char *text)
{
	snprintf(to, size, "%s", text != NULL ? text : "");
}

static struct ing_host_row read_row(const char *const *v)
{
	struct ing_host_row row = {
		.known = true,
		.lease_ms = v[ROW_HOLDER] != NULL ? positive(v[ROW_LEASE_MS]) : 0,
		.rest_ms = positive(v[ROW_REST_MS]),
		.failures = ing_pg_unsigned(v[ROW_FAILURES]),
		.opens = ing_pg_unsigned(v[ROW_OPENS]),
		.crawl_delay_ms = ing_pg_unsigned(v[ROW_CRAWL_DELAY_MS]),
		.response_ms = ing_pg_unsigned(v[ROW_RESPONSE_MS]),
		.http_status = (int)ing_pg_unsigned(v[ROW_HTTP_STATUS]),
		.answered_ms = v[ROW_ANSWERED_MS] != NULL ? positive(v[ROW_ANSWERED_MS]) : -1,
		.updated_ms = positive(v[ROW_UPDATED_MS]),
	};
	copy(row.host, sizeof(row.host), v[ROW_HOST]);
	copy(row.holder, sizeof(row.holder), v[ROW_HOLDER]);
	copy(row.wanted_by, sizeof(row.wanted_by), v[ROW_WANTED_BY]);
	copy(row.rest, sizeof(row.rest), v[ROW_REST]);
	copy(row.breaker, sizeof(row.breaker), v[ROW_BREAKER]);
	copy(row.outcome, sizeof(row.outcome), v[ROW_OUTCOME]);
	return row;
}

static void take_row(void *ctx, const char *const *v, int count)
{
	struct ing_host_row *row = ctx;
	ing_must(count == ROW_COLUMNS);
	*row = read_row(v);
}

struct row_reader {
	ing_host_row_f *fn;
	void *ctx;
};

static void hand_row(void *ctx, const char *const *v, int count)
{
	const struct row_reader *to = ctx;
	ing_must(count == ROW_COLUMNS);
	struct ing_host_row row = read_row(v);
	to->fn(to->ctx, &row);
}

static struct ing_host_block read_block(const char *const *v)
{
	struct ing_host_block b = {.age_ms = positive(v[3])};
	copy(b.host, sizeof(b.host), v[0]);
	copy(b.why, sizeof(b.why), v[1]);
	copy(b.by, sizeof(b.by), v[2]);
	return b;
}

static void take_block(void *ctx, const char *const *v, int count)
{
	struct ing_host_row *row = ctx;
	ing_must(count == 4);
	row->blocked = true;
	row->block = read_block(v);
}

struct block_reader {
	ing_host_block_f *fn;
	void *ctx;
};

static void hand_block(void *ctx, const char *const *v, int count)
{
	const struct block_reader *to = ctx;
	ing_must(count == 4);
	struct ing_host_block b = read_block(v);
	to->fn(to->ctx, &b);
}

static void set_true(void *ctx, const char *const *v, int count)
{
	bool *was = ctx;
	ing_must(count == 1 && v[0] != NULL);
	*was = true;
}

static bool is_printable(const char *host)
{
	for (const char *c = host; *c != '\0'; c++) {
		if (*c <= ' ' || *c > '~')
			return false;
	}
	return true;
}

static int check_host(const char *host, struct ing_error *err)
{
	const char *name = host[0] == '.' ? host + 1 : host;
	size_t n = strlen(name);
	if (n == 0 || n > 253 || name[0] == '.' || !is_printable(name))
		return ing_error_set(err, ING_FAIL_INVALID, "%.80s: not a host name", host);
	return 0;
}

/* {"a.b.c",".a.b.c",".b.c",".c"} */
static void add_names(struct ing_buf *out, const char *host)
{
	char names[2 * ING_HOST_BYTES + 4];
	const char *list[ING_HOST_BYTES];
	size_t n = 0;
	snprintf(names, sizeof(names), "%s", host);
	list[n++] = names;
	char *dotted = names + strlen(names) + 1;
	snprintf(dotted, sizeof(names) - (size_t)(dotted - names), ".%s", host);
	for (const char *at = dotted; at != NULL && at[1] != '\0' && n < ING_ARRAY_LEN(list);
		at = strchr(at + 1, '.'))
		list[n++] = at;
	ing_pg_add_array(out, list, n);
}

/* -------------------------------------------------------------------------------------------- */

int ing_host_table_find(
	const char *dsn, const char *host, struct ing_host_row *ret, struct ing_error *err)
{
	struct ing_host_row row = {.answered_ms = -1};
	struct ing_pg *pg = NULL;
	struct ing_buf names;
	int rc = check_host(host, err);
	if (rc == 0)
		rc = open_table(dsn, &pg, err);
	if (rc != 0)
		return rc;
	ing_buf_init(&names, (size_t)1 << 20);
	add_names(&names, host);
	const char *by_host[] = {host};
	const char *by_names[] = {ing_buf_str(&names)};
	rc = query(pg, find_sql, by_host, 1, take_row, &row, err);
	if (rc == 0)
		rc = query(pg, covering_sql, by_names, 1, take_block, &row, err);
	ing_buf_done(&names);
	ing_pg_close(pg);
	if (rc != 0)
		return rc;
	copy(row.host, sizeof(row.host), host);
	*ret = row;
	return 0;
}

int ing_host_table_top(
	const char *dsn, unsigned count, ing_host_row_f *fn, void *ctx, struct ing_error *err)
{
	char limit[16];
	struct row_reader to = {fn, ctx};
	const char *params[] = {limit};
	snprintf(limit, sizeof(limit), "%u", ING_MIN(count, (unsigned)MAX_TOP));
	return query_once(dsn, top_sql, params, 1, hand_row, &to, err);
}

int ing_host_table_block(
	const char *dsn, const char *host, const char *why, const char *by, struct ing_error *err)
{
	const char *params[] = {host, why, by};
	size_t why_bytes = strlen(why);
	int rc = check_host(host, err);
	if (rc != 0)
		return rc;
	if (why_bytes == 0 || why_bytes >= ING_WHY_BYTES)
		return ing_error_set(err, ING_FAIL_INVALID,
			"%s: the reason must have 1 to %d bytes", host, ING_WHY_BYTES - 1);
	if (!ing_utf8_valid(why, why_bytes) || (by != NULL && !ing_utf8_valid(by, strlen(by))))
		return ing_error_set(err, ING_FAIL_INVALID, "%s: the reason is not UTF-8", host);
	return query_once(dsn, block_sql, params, 3, NULL, NULL, err);
}

int ing_host_table_unblock(const char *dsn, const char *host, bool *ret_was, struct ing_error *err)
{
	bool was = false;
	const char *params[] = {host};
	int rc = check_host(host, err);
	if (rc == 0)
		rc = query_once(dsn, unblock_sql, params, 1, set_true, &was, err);
	if (rc == 0)
		*ret_was = was;
	return rc;
}

int ing_host_table_blocks(const char *dsn, ing_host_block_f *fn, void *ctx, struct ing_error *err)
{
	struct block_reader to = {fn, ctx};
	return query_once(dsn, blocks_sql, NULL, 0, hand_block, &to, err);
}
