/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "worker/store/requests/lists.h"

#include "common/data/pg.h"
#include "worker/database/schema.h"

#define UTC(column) "to_char(" column " AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')"

static const char lists_sql[] = "SELECT l.name, l.source, " UTC("l.created") ", " UTC(
	"l.loaded") ", l.priority,"
		    " coalesce(c.requests, 0), coalesce(c.answered, 0), coalesce(c.hits, 0),"
		    " EXISTS (SELECT FROM request_load p WHERE p.list_id = l.list_id)"
		    " FROM request_list l LEFT JOIN (SELECT list_id, sum(n) AS requests,"
		    " sum(n) FILTER (WHERE status <> '') AS answered, sum(n) FILTER (WHERE hit) AS hits"
		    " FROM (SELECT * FROM request_count UNION ALL SELECT * FROM request_count_delta) n"
		    " GROUP BY list_id) c USING (list_id) ORDER BY l.name";

struct reading {
	ing_request_list_f *each;
	void *ctx;
};

static void take_row(void *ctx, const char *const *values, int count)
{
	const struct reading *reading = ctx;
	(void)count;
	const struct ing_request_list list = {.name = values[0],
		.source = values[1],
		.created = values[2],
		.loaded = values[3],
		.priority = ing_pg_int64(values[4]),
		.requests = ing_pg_int64(values[5]),
		.answered = ing_pg_int64(values[6]),
		.hits = ing_pg_int64(values[7]),
		.loading = values[8][0] == 't'};
	reading->each(reading->ctx, &list);
}

/* -------------------------------------------------------------------------------------------- */

int ing_request_lists_read(
	const char *dsn, ing_request_list_f *each, void *ctx, struct ing_error *err)
{
	struct ing_pg *pg = NULL;
	int rc = ing_schema_open(dsn, &pg, err);
	if (rc != 0)
		return rc;
	struct reading reading = {each, ctx};
	enum ing_pg_rc asked = ing_pg_query(pg, NULL, lists_sql, NULL, 0, take_row, &reading, err);
	ing_pg_close(pg);
	return asked == ING_PG_OK ? 0 : -ING_FAIL_UNAVAILABLE;
}
