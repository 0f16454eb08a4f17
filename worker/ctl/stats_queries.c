/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Statements read the tables of counts and their differences side by side: each of the views would group by all
 * columns what is grouped by few here. ingest_file_result is read by the time of its rows, or by a sample.
 */
#include "worker/ctl/stats_queries.h"

#define SUM(condition) "coalesce(sum(n) FILTER (WHERE " condition "), 0)::bigint"
#define COUNT(condition) "count(*) FILTER (WHERE " condition ")"
#define ANY(column) column " = ANY ($::text[])"
#define BELOW(column) "(" ANY(column) " OR " column " LIKE ANY ($$::text[]))"
#define TIME(column) "to_char(" column ", 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')"
#define DAY(column) "to_char(" column ", 'YYYY-MM-DD')"

#define REQUEST_COUNTS                                                                             \
	"(SELECT * FROM request_count UNION ALL SELECT * FROM request_count_delta) AS c"
#define RESULT_COUNTS "(SELECT * FROM result_count UNION ALL SELECT * FROM result_count_delta) AS c"
#define FILE_COUNTS "(SELECT * FROM file_count UNION ALL SELECT * FROM file_count_delta) AS c"
#define LISTS " LEFT JOIN request_list AS l ON l.list_id = c.list_id"

/* --- requests: what has become of them by now --- */

static const struct ing_stats_dim request_dims[] = {
	{.name = "list", .sql = "coalesce(l.name, '')"},
	{.name = "source", .sql = "c.ingest_request_source"},
	{.name = "link_source", .sql = "c.link_source"},
	{.name = "type", .sql = "c.ingest_type"},
	{.name = "status", .sql = "c.status"},
	{.name = "host", .sql = "c.host"},
	{.name = "domain", .sql = "c.host", .is_domain = true},
	{.name = "prefix", .sql = "c.doi_prefix"},
	{0},
};

enum { REQUESTS, NO_RESULT, REQUEST_HITS, REQUEST_FAILED };
static const struct ing_stats_measure request_measures[] = {
	[REQUESTS] = {.column = {"requests", ING_FIGURE_COUNT},
		.sql = SUM("true"),
		.with_status = true},
	[NO_RESULT] = {.column = {"no_result", ING_FIGURE_COUNT}, .sql = SUM("status = ''")},
	[REQUEST_HITS] = {.column = {"hits", ING_FIGURE_COUNT}, .sql = SUM("hit")},
	[REQUEST_FAILED] = {.column = {"failed", ING_FIGURE_COUNT},
		.sql = SUM("status <> '' AND NOT hit")},
	{.column = {"hit_ratio", ING_FIGURE_RATIO}, .part = REQUEST_HITS, .rest = REQUEST_FAILED},
	{.column = {0}},
};

static const struct ing_stats_cube requests = {
	.from = REQUEST_COUNTS LISTS,
	.no_list = "c.first",
	.filters =
		{
			[ING_STATS_BY_LIST] = "c.list_id = $::integer",
			[ING_STATS_BY_SOURCE] = ANY("c.ingest_request_source"),
			[ING_STATS_BY_LINK_SOURCE] = ANY("c.link_source"),
			[ING_STATS_BY_TYPE] = ANY("c.ingest_type"),
			[ING_STATS_BY_STATUS] = ANY("c.status"),
			[ING_STATS_BY_HOST] = ANY("c.host"),
			[ING_STATS_BY_DOMAIN] = BELOW("c.host"),
			[ING_STATS_BY_PREFIX] = ANY("c.doi_prefix"),
		},
	.dims = request_dims,
	.measures = request_measures,
};

/* --- results, by the time at which they were stored --- */

static const struct ing_stats_dim result_dims[] = {
	{.name = "hour", .sql = TIME("date_trunc('hour', c.bucket)"), .is_time = true},
	{.name = "day", .sql = DAY("c.bucket"), .is_time = true},
	{.name = "week", .sql = DAY("date_trunc('week', c.bucket)"), .is_time = true},
	{.name = "month", .sql = "to_char(c.bucket, 'YYYY-MM')", .is_time = true},
	{.name = "list", .sql = "coalesce(l.name, '')"},
	{.name = "source", .sql = "c.ingest_request_source"},
	{.name = "type", .sql = "c.ingest_type"},
	{.name = "status", .sql = "c.status"},
	{0},
};

enum { RESULTS, RESULT_HITS, RESULT_FAILED };
static const struct ing_stats_measure result_measures[] = {
	[RESULTS] = {.column = {"results", ING_FIGURE_COUNT},
		.sql = SUM("true"),
		.with_status = true},
	[RESULT_HITS] = {.column = {"hits", ING_FIGURE_COUNT}, .sql = SUM("hit")},
	[RESULT_FAILED] = {.column = {"failed", ING_FIGURE_COUNT}, .sql = SUM("NOT hit")},
	{.column = {"hit_ratio", ING_FIGURE_RATIO}, .part = RESULT_HITS, .rest = RESULT_FAILED},
	{.column = {0}},
};

static const struct ing_stats_cube results = {
	.from = RESULT_COUNTS LISTS,
	.no_list = "c.first",
	.filters =
		{
			[ING_STATS_BY_LIST] = "c.list_id = $::integer",
			[ING_STATS_BY_SOURCE] = ANY("c.ingest_request_source"),
			[ING_STATS_BY_TYPE] = ANY("c.ingest_type"),
			[ING_STATS_BY_STATUS] = ANY("c.status"),
			[ING_STATS_BY_SINCE] = "c.bucket >= date_bin('10 minutes', @, 'epoch')",
		},
	.dims = result_dims,
	.measures = result_measures,
};

/* --- results as they stand, row by row --- */

static const struct ing_stats_dim outcome_dims[] = {
	{.name = "code", .sql = "coalesce(terminal_status_code::text, '')"},
	{.name = "status", .sql = "status"},
	{.name = "type", .sql = "ingest_type"},
	{.name = "host", .sql = "coalesce(host, '')"},
	{.name = "domain", .sql = "coalesce(host, '')", .is_domain = true},
	{.name = "day", .sql = DAY("updated"), .is_time = true},
	{0},
};

static const struct ing_stats_measure outcome_measures[] = {
	[RESULTS] = {.column = {"results", ING_FIGURE_COUNT},
		.sql = COUNT("true"),
		.with_status = true},
	[RESULT_HITS] = {.column = {"hits", ING_FIGURE_COUNT}, .sql = COUNT("hit")},
	[RESULT_FAILED] = {.column = {"failed", ING_FIGURE_COUNT}, .sql = COUNT("NOT hit")},
	{.column = {"hit_ratio", ING_FIGURE_RATIO}, .part = RESULT_HITS, .rest = RESULT_FAILED},
	{.column = {0}},
};

static const struct ing_stats_cube outcomes = {
	.from = "ingest_file_result",
	.filters =
		{
			[ING_STATS_BY_TYPE] = ANY("ingest_type"),
			[ING_STATS_BY_STATUS] = ANY("status"),
			[ING_STATS_BY_HOST] = ANY("host"),
			[ING_STATS_BY_DOMAIN] = BELOW("host"),
			[ING_STATS_BY_SINCE] = "updated >= @",
		},
	.dims = outcome_dims,
	.measures = outcome_measures,
	.sampled = "ingest_file_result",
};

/* --- files --- */

static const struct ing_stats_dim file_dims[] = {
	{.name = "mimetype", .sql = "c.mimetype"},
	{.name = "day", .sql = DAY("c.day"), .is_time = true},
	{.name = "week", .sql = DAY("date_trunc('week', c.day)"), .is_time = true},
	{.name = "month", .sql = "to_char(c.day, 'YYYY-MM')", .is_time = true},
	{0},
};

static const struct ing_stats_measure file_measures[] = {
	{.column = {"files", ING_FIGURE_COUNT}, .sql = SUM("true"), .with_status = true},
	{.column = {"bytes", ING_FIGURE_BYTES},
		.sql = "coalesce(sum(bytes), 0)::bigint",
		.with_status = true},
	{.column = {0}},
};

static const struct ing_stats_cube files = {
	.from = FILE_COUNTS,
	.filters = {[ING_STATS_BY_SINCE] = "c.day >= (@)::date"},
	.dims = file_dims,
	.measures = file_measures,
};

/* --- lists --- */

/* The last hour, and what has passed of the ten minutes that are not over; of a list that is younger, since it was made. */
#define HOUR_BEGIN "(date_bin('10 minutes', now(), 'epoch') - interval '1 hour')"

static const char list_sql[] =
	"WITH asked AS (SELECT c.list_id, sum(n) AS requests,"
	"  coalesce(sum(n) FILTER (WHERE status = ''), 0) AS no_result,"
	"  coalesce(sum(n) FILTER (WHERE hit), 0) AS hits,"
	"  coalesce(sum(n) FILTER (WHERE status <> '' AND NOT hit), 0) AS failed"
	"  FROM " REQUEST_COUNTS " WHERE true{filters} GROUP BY 1),"
	" answered AS (SELECT c.list_id, sum(n) AS n FROM " RESULT_COUNTS
	"  WHERE bucket >= " HOUR_BEGIN "{filters} GROUP BY 1),"
	" seen AS (SELECT list_id, greatest(extract(epoch FROM now() - greatest(created, " HOUR_BEGIN
	")), 60) AS seconds FROM request_list),"
	" c AS (SELECT list_id, name, source, created, loaded FROM request_list)"
	"SELECT name, source, " TIME("c.created") ", " TIME(
		"c.loaded") ", coalesce(requests, 0)::bigint,"
			    " coalesce(no_result, 0)::bigint, coalesce(hits, 0)::bigint, coalesce(failed, 0)::bigint,"
			    " round(coalesce(answered.n, 0) * 3600 / seconds, 1),"
			    " CASE WHEN coalesce(no_result, 0) = 0 THEN 0"
			    "  ELSE round(no_result * seconds / nullif(answered.n, 0)) END"
			    " FROM c JOIN seen USING (list_id) LEFT JOIN asked USING (list_id)"
			    " LEFT JOIN answered USING (list_id) WHERE true{filters} ORDER BY name";

static const struct ing_stats_column list_columns[] = {
	{"list", ING_FIGURE_TEXT},
	{"source", ING_FIGURE_TEXT},
	{"created", ING_FIGURE_TEXT},
	{"loaded", ING_FIGURE_TEXT},
	{"requests", ING_FIGURE_COUNT},
	{"no_result", ING_FIGURE_COUNT},
	{"hits", ING_FIGURE_COUNT},
	{"failed", ING_FIGURE_COUNT},
	{"results_per_hour", ING_FIGURE_REAL},
	{"time_left_s", ING_FIGURE_SECONDS},
	{0},
};

static const char *const list_filters[ING_STATS_FILTERS_] = {
	[ING_STATS_BY_LIST] = "c.list_id = $::integer",
};

/* --- tables --- */

static const char table_sql[] =
	"SELECT c.relname, CASE WHEN s.n_live_tup > 0 THEN s.n_live_tup WHEN reltuples >= 0 THEN"
	" reltuples::bigint END, s.n_dead_tup, pg_table_size(c.oid), pg_indexes_size(c.oid),"
	" pg_total_relation_size(c.oid)"
	" FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace"
	" LEFT JOIN pg_stat_user_tables AS s ON s.relid = c.oid"
	" WHERE c.relkind IN ('r', 'm') AND n.nspname = current_schema()"
	" ORDER BY 6 DESC, 1";

static const struct ing_stats_column table_columns[] = {
	{"table", ING_FIGURE_TEXT},
	{"rows_estimated", ING_FIGURE_COUNT},
	{"dead_rows", ING_FIGURE_COUNT},
	{"bytes", ING_FIGURE_BYTES},
	{"index_bytes", ING_FIGURE_BYTES},
	{"total_bytes", ING_FIGURE_BYTES},
	{0},
};

/* -------------------------------------------------------------------------------------------- */

const struct ing_stats_query ing_stats_queries[] = {
	{.name = "list",
		.sentence =
			"how far each list is, and when it will be done at the rate of the last hour",
		.sql = list_sql,
		.filters = list_filters,
		.columns = list_columns},
	{.name = "status",
		.sentence = "requests by what became of them",
		.cube = &requests,
		.by = "status"},
	{.name = "type", .sentence = "requests by type", .cube = &requests, .by = "type"},
	{.name = "source",
		.sentence = "requests by who asked (ingest_request_source)",
		.cube = &requests,
		.by = "source"},
	{.name = "host",
		.sentence = "requests by host",
		.cube = &requests,
		.by = "host",
		.top = 50},
	{.name = "domain",
		.sentence = "requests by registered domain",
		.cube = &requests,
		.by = "domain",
		.top = 50},
	{.name = "prefix",
		.sentence = "requests by DOI prefix",
		.cube = &requests,
		.by = "prefix",
		.top = 50},
	{.name = "hit-ratio",
		.sentence = "hits by source and type",
		.cube = &requests,
		.by = "source,type"},
	{.name = "cube",
		.sentence = "requests by domain and status, with sums over each (*)",
		.cube = &requests,
		.by = "domain,status",
		.totals = true,
		.min = 200},
	{.name = "failing",
		.sentence =
			"domains whose requests failed, by status; with --since results of that time",
		.cube = &requests,
		.since_cube = &outcomes,
		.by = "domain,status",
		.where = "status <> '' AND NOT hit",
		.top = 50},
	{.name = "never-answered",
		.sentence = "requests without a result, by list and source",
		.cube = &requests,
		.by = "list,source",
		.where = "status = ''"},
	{.name = "codes",
		.sentence = "results as they stand, by HTTP status at the end",
		.cube = &outcomes,
		.by = "code"},
	{.name = "day",
		.sentence = "results by the day (UTC) on which they were stored",
		.cube = &results,
		.by = "day"},
	{.name = "files",
		.sentence = "documents and their bytes, by media type",
		.cube = &files,
		.by = "mimetype"},
	{.name = "tables",
		.sentence = "tables of the database and their sizes",
		.sql = table_sql,
		.columns = table_columns},
	{0},
};
