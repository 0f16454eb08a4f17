/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Statements read the tables of counts and their differences side by side: each of the views would group by all
 * columns what is grouped by few here. ingest_file_result is read by the time of its rows, or by a sample.
 */
#include "worker/ctl/stats/queries.h"

#include "worker/ctl/stats/lists.h"

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

/* --- documents, row by row --- */

static const struct ing_stats_measure row_measures[] = {
	{.column = {"documents", ING_FIGURE_COUNT}, .sql = COUNT("true"), .with_status = true},
	{.column = {0}},
};

static const struct ing_stats_dim grobid_dims[] = {
	{.name = "code", .sql = "status_code::text"},
	{.name = "status", .sql = "coalesce(status, '')"},
	{.name = "version", .sql = "coalesce(grobid_version, '')"},
	{.name = "day", .sql = DAY("updated"), .is_time = true},
	{0},
};

static const struct ing_stats_cube grobid = {
	.from = "grobid",
	.filters = {[ING_STATS_BY_STATUS] = ANY("status"), [ING_STATS_BY_SINCE] = "updated >= @"},
	.dims = grobid_dims,
	.measures = row_measures,
	.sampled = "grobid",
};

static const struct ing_stats_dim pdf_dims[] = {
	{.name = "status", .sql = "status"},
	{.name = "day", .sql = DAY("updated"), .is_time = true},
	{0},
};

static const struct ing_stats_cube pdf = {
	.from = "pdf_meta",
	.filters = {[ING_STATS_BY_STATUS] = ANY("status"), [ING_STATS_BY_SINCE] = "updated >= @"},
	.dims = pdf_dims,
	.measures = row_measures,
	.sampled = "pdf_meta",
};

static const struct ing_stats_dim html_dims[] = {
	{.name = "status", .sql = "status"},
	{.name = "scope", .sql = "coalesce(scope, '')"},
	{.name = "day", .sql = DAY("updated"), .is_time = true},
	{0},
};

static const struct ing_stats_cube html = {
	.from = "html_meta",
	.filters = {[ING_STATS_BY_STATUS] = ANY("status"), [ING_STATS_BY_SINCE] = "updated >= @"},
	.dims = html_dims,
	.measures = row_measures,
	.sampled = "html_meta",
};

/* --- what waits --- */

#define AGE(moment)                                                                                \
	"width_bucket(extract(epoch FROM now() - " moment                                          \
	")::float8, ARRAY[3600, 86400, 604800, 2592000]::float8[])"
#define COUNT_TIMES(n) "round(count(*) * {times" #n "})::bigint"

/* Each of its rows, some hundred a page, is looked up in ingest_file_result. */
#define QUEUED_PAGES_LESS 12

/* clang-format off */
static const char queue_sql[] =
	"WITH q (place, name, age, requests, exact) AS ("
	" SELECT 1, 'planned: ' || name, NULL::integer, requests - requests_sent, true"
	"  FROM enqueue_plan WHERE planned > sent"
	" UNION ALL SELECT 2, 'queued', " AGE("d.queued") ", " COUNT_TIMES(0) ", {exact0}"
	"  FROM (SELECT * FROM document_queued{sample0}) d"
	"  WHERE NOT EXISTS (SELECT FROM ingest_file_result r WHERE r.document = d.document"
	"   AND r.updated >= d.queued) GROUP BY 3"
	" UNION ALL SELECT 3, 'retry due', " AGE("next_try") ", " COUNT_TIMES(1) ", {exact1}"
	"  FROM ingest_file_result{sample1} WHERE next_try <= now() GROUP BY 3"
	" UNION ALL SELECT 4, 'retry later', NULL, " COUNT_TIMES(1) ", {exact1}"
	"  FROM ingest_file_result{sample1} WHERE next_try > now())"
	"SELECT name, CASE WHEN age < 0 THEN NULL ELSE"
	" (ARRAY['under 1 h', '1 h to 1 d', '1 to 7 d', '7 to 30 d', 'over 30 d'])[age + 1] END,"
	" requests, exact FROM q WHERE requests > 0 ORDER BY place, name, age";
/* clang-format on */

static const struct ing_stats_column queue_columns[] = {
	{"queue", ING_FIGURE_TEXT},
	{"age", ING_FIGURE_TEXT},
	{"requests", ING_FIGURE_COUNT},
	{"exact", ING_FIGURE_TRUTH},
	{0},
};

/* --- growth --- */

/* Days are those of UTC. */
/* clang-format off */
static const char growth_sql[] =
	"WITH q AS (SELECT date_trunc('{period}', created) AS t, " COUNT_TIMES(0) " AS requests"
	"  FROM ingest_request{sample0} WHERE true{filters} GROUP BY 1),"
	" r AS (SELECT date_trunc('{period}', bucket) AS t, sum(n)::bigint AS results,"
	"  " SUM("hit") " AS hits"
	"  FROM (SELECT bucket AS created, * FROM result_count"
	"   UNION ALL SELECT bucket, * FROM result_count_delta) AS c WHERE first{filters} GROUP BY 1),"
	" f AS (SELECT date_trunc('{period}', created) AS t, sum(n)::bigint AS files,"
	"  sum(bytes)::bigint AS bytes"
	"  FROM (SELECT day::timestamptz AS created, * FROM file_count"
	"   UNION ALL SELECT day, * FROM file_count_delta) AS c WHERE true{filters} GROUP BY 1)"
	"SELECT " DAY("t") ", coalesce(requests, 0), coalesce(results, 0), coalesce(hits, 0),"
	" coalesce(files, 0), coalesce(bytes, 0), {exact0}"
	" FROM q FULL JOIN r USING (t) FULL JOIN f USING (t) ORDER BY t DESC LIMIT {top}";
/* clang-format on */

static const char *const growth_filters[ING_STATS_FILTERS_] = {
	[ING_STATS_BY_SINCE] = "created >= date_trunc('day', @)",
};

static const struct ing_stats_column growth_columns[] = {
	{"from", ING_FIGURE_TEXT},
	{"requests", ING_FIGURE_COUNT},
	{"results", ING_FIGURE_COUNT},
	{"hits", ING_FIGURE_COUNT},
	{"files", ING_FIGURE_COUNT},
	{"bytes", ING_FIGURE_BYTES},
	{"exact", ING_FIGURE_TRUTH},
	{0},
};

/* --- the last requests of a source --- */

/* clang-format off */
static const char recent_sql[] =
	"WITH q AS MATERIALIZED (SELECT * FROM ingest_request WHERE true{filters}"
	"  ORDER BY created DESC LIMIT {top})"
	"SELECT " TIME("q.created") ", q.ingest_type, q.base_url, r.status, " TIME("r.updated") ","
	" r.terminal_url, r.terminal_status_code, coalesce(g.status, g.status_code::text)"
	" FROM q LEFT JOIN ingest_file_result r"
	"  ON r.ingest_type = q.ingest_type AND r.base_url = q.base_url"
	" LEFT JOIN grobid g ON g.sha1hex = r.terminal_sha1hex"
	" ORDER BY q.created DESC, q.base_url, q.ingest_type";
/* clang-format on */

static const char *const recent_filters[ING_STATS_FILTERS_] = {
	[ING_STATS_BY_SOURCE] = "ingest_request_source = ($::text[])[1]",
	[ING_STATS_BY_TYPE] = ANY("ingest_type"),
	[ING_STATS_BY_SINCE] = "created >= @",
};

static const struct ing_stats_column recent_columns[] = {
	{"created", ING_FIGURE_TEXT},
	{"type", ING_FIGURE_TEXT},
	{"base_url", ING_FIGURE_TEXT},
	{"status", ING_FIGURE_TEXT},
	{"updated", ING_FIGURE_TEXT},
	{"terminal_url", ING_FIGURE_TEXT},
	{"code", ING_FIGURE_TEXT},
	{"grobid", ING_FIGURE_TEXT},
	{0},
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
		.fill = ing_stats_lists,
		.filters = ing_stats_list_filters,
		.columns = ing_stats_list_columns,
		.note = "Each request is never_asked, queued, a hit, retry_due, retry_later or failed_for_good, by its document. Of a\n"
			"large list they are told apart by a sample: exact says so. time_left_s: never_asked and queued at the\n"
			"rate of the last hour; none: there was no result."},
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
	{.name = "growth",
		.sentence = "requests by creation, results, files and bytes by day, week or month",
		.sql = growth_sql,
		.filters = growth_filters,
		.columns = growth_columns,
		.sampled = {"ingest_request"},
		.periods = {"day", "week", "month"}},
	{.name = "queues",
		.sentence = "what is planned, queued, or due to be asked again, by how long",
		.sql = queue_sql,
		.columns = queue_columns,
		.sampled = {"document_queued", "ingest_file_result"},
		.pages_less = {QUEUED_PAGES_LESS, 0},
		.looks_up = true,
		.note = "Requests that wait in parked topics: ingestctl parked."},
	{.name = "recent",
		.sentence = "the last requests of one --source, with their results",
		.sql = recent_sql,
		.filters = recent_filters,
		.columns = recent_columns,
		.needs_source = true,
		.top = 50},
	{.name = "grobid",
		.sentence = "what GROBID answered, by HTTP status, status and version",
		.cube = &grobid,
		.by = "code,status,version"},
	{.name = "pdf",
		.sentence = "PDF files by what was found in them",
		.cube = &pdf,
		.by = "status"},
	{.name = "html",
		.sentence = "HTML pages by what was found in them",
		.cube = &html,
		.by = "status,scope"},
	{.name = "tables",
		.sentence = "tables of the database and their sizes",
		.sql = table_sql,
		.columns = table_columns},
	{0},
};
