/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Requests that a list brought, and those that were stored before it, are looked at apart: they are in different
 * tables. Of each the requests without a result and those that failed have an exact count, which their shares
 * are taken of. A small list is found by an index, and not sampled.
 *
 * Counts go by URL, classes by document: a request whose document was answered under another URL ("http:", "www.") has no
 * result of its own, and never will.
 */
#include "worker/ctl/stats/lists.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "worker/ctl/stats/sample.h"
#include "worker/store/requests/selection_rows.h"

/* Requests that are looked at, each by two indexes, for each page that may be read: for all lists together, for one at
 * most and at least. By default 200,000, 50,000 and 2,000. */
#define LOOKED_AT 4
#define MOST_LOOKED_AT 1
#define LEAST_LOOKED_AT 0.04
#define FEW 200.0

#define TIME(column) "to_char(" column ", 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')"
/* The last hour, and what has passed of the ten minutes that are not over; of a list that is younger, since it was made. */
#define HOUR_BEGIN "(date_bin('10 minutes', now(), 'epoch') - interval '1 hour')"
#define SUM(condition) "coalesce(sum(n) FILTER (WHERE " condition "), 0)::bigint"

enum {
	LIST_ID,
	NAME,
	SOURCE,
	CREATED,
	LOADED,
	TEXTS_,
	ANSWERED = TEXTS_, /* results within SECONDS */
	SECONDS,
	OWN, /* requests that it brought: all, without a result of their URL, with a failure */
	OWN_NO_RESULT,
	OWN_FAILED,
	MEMBERS, /* the same of those that were stored before */
	MEMBERS_NO_RESULT,
	MEMBERS_FAILED,
	HITS,
	COLUMNS_,
};

/* clang-format off */
static const char counts_sql[] =
	"WITH asked AS (SELECT c.list_id, " SUM("first") " AS own,"
	"  " SUM("first AND status = ''") " AS own_no_result,"
	"  " SUM("first AND status <> '' AND NOT hit") " AS own_failed,"
	"  " SUM("NOT first") " AS members,"
	"  " SUM("NOT first AND status = ''") " AS members_no_result,"
	"  " SUM("NOT first AND status <> '' AND NOT hit") " AS members_failed,"
	"  " SUM("hit") " AS hits"
	"  FROM (SELECT * FROM request_count UNION ALL SELECT * FROM request_count_delta) AS c"
	"  WHERE true{filters} GROUP BY 1),"
	" answered AS (SELECT c.list_id, sum(n)::bigint AS n"
	"  FROM (SELECT * FROM result_count UNION ALL SELECT * FROM result_count_delta) AS c"
	"  WHERE bucket >= " HOUR_BEGIN "{filters} GROUP BY 1)"
	"SELECT list_id, name, source, " TIME("created") ", " TIME("loaded") ", n,"
	" greatest(extract(epoch FROM now() - greatest(created, " HOUR_BEGIN ")), 60)::bigint,"
	" own, own_no_result, own_failed, members, members_no_result, members_failed, hits"
	" FROM request_list AS c LEFT JOIN asked USING (list_id) LEFT JOIN answered USING (list_id)"
	" WHERE true{filters} ORDER BY name";

/* Of the requests of q: stratum (n no result, f failed, h hit; by their own URL, as the counts have it), class (by their document,
 * as selections have it), how many. */
static const char classes_sql[] =
	" SELECT CASE WHEN o.status IS NULL THEN 'n' WHEN o.hit THEN 'h' ELSE 'f' END,"
	" " ING_SELECTION_CLASS_SQL ", count(*)"
	" FROM q LEFT JOIN ingest_file_result o"
	"  ON o.ingest_type = q.ingest_type AND o.base_url = q.base_url"
	" LEFT JOIN LATERAL (SELECT b.* FROM ingest_file_result b WHERE b.document = q.document"
	"  ORDER BY b.hit DESC, b.updated DESC, b.base_url DESC LIMIT 1) b ON true"
	" CROSS JOIN LATERAL (SELECT coalesce(b.status, o.status) AS status,"
	"  coalesce(b.hit, o.hit) AS hit, coalesce(b.updated, o.updated) AS updated,"
	"  CASE WHEN b.status IS NULL THEN o.next_try ELSE b.next_try END AS next_try) r"
	" LEFT JOIN document_queued d ON d.document = q.document GROUP BY 1, 2";
/* clang-format on */

struct list {
	const char *texts[TEXTS_];
	int64_t counts[COLUMNS_]; /* from ANSWERED on */
};

struct lists {
	struct ing_arena arena;
	struct list *all;
	size_t count, room;
};

enum class { NEVER_ASKED, QUEUED, RETRY_DUE, RETRY_LATER, ENDED, HIT, CLASSES_ };

/* As ING_SELECTION_CLASS_SQL names them. */
static const char *const class_names[CLASSES_] = {
	"never-asked", "queued", "retry-due", "retry-later", "ended", "hit"};

/* Looked at: of each stratum, by class. */
struct classes {
	int64_t no_result[CLASSES_], failed[CLASSES_];
};

static void take_list(void *ctx, const char *const *values, int count)
{
	struct lists *l = ctx;
	if (l->count == l->room) {
		l->room = l->room == 0 ? 16 : l->room * 2;
		l->all = ing_realloc(l->all, l->room * sizeof(*l->all));
	}
	struct list *list = &l->all[l->count++];
	for (int i = 0; i < TEXTS_; i++)
		list->texts[i] = values[i] != NULL ? ing_arena_strndup(&l->arena, values[i],
							     strlen(values[i]))
						   : NULL;
	for (int i = TEXTS_; i < count; i++)
		list->counts[i] = ing_pg_int64(values[i]);
}

static void take_class(void *ctx, const char *const *values, int count)
{
	struct classes *c = ctx;
	(void)count;
	if (values[0][0] == 'h')
		return;
	int64_t *stratum = values[0][0] == 'n' ? c->no_result : c->failed;
	for (int i = 0; i < CLASSES_; i++) {
		if (strcmp(values[1], class_names[i]) == 0)
			stratum[i] += ing_pg_int64(values[2]);
	}
}

/* Adds what was looked at, as parts of the exact count. What rounding leaves over, and all if nothing was seen, goes to `rest`. */
static void add_scaled(
	const int64_t seen[CLASSES_], int64_t exact, enum class rest, int64_t sums[CLASSES_])
{
	int64_t all = 0;
	int64_t left = exact;
	for (int i = 0; i < CLASSES_; i++)
		all += seen[i];
	for (int i = 0; i < CLASSES_ && all > 0; i++) {
		double share = (double)seen[i] / (double)all;
		int64_t n = ING_MIN((int64_t)(share * (double)exact + 0.5), left);
		sums[i] += n;
		left -= n;
	}
	sums[rest] += left;
}

/* --- asking --- */

/* One of the two tables that the requests of a list are in. */
struct side {
	const char *table,
		*q; /* the requests looked at, between "WITH q AS (" and the sample; behind it */
	double percent;                  /* of its pages, for all lists together */
	int requests, no_result, failed; /* of list.counts */
};

/* Of a list of `requests` requests. 100: all of them, by the index. */
static double percent_of(const struct side *side, double max_pages, size_t lists, int64_t requests)
{
	double most = ING_MIN(LOOKED_AT * max_pages / (double)lists, MOST_LOOKED_AT * max_pages);
	double least = ING_MAX(LEAST_LOOKED_AT * max_pages, FEW);
	double wanted = ING_MAX(most, least) * 100 / (double)requests;
	double percent = ING_MIN(wanted, side->percent / (double)lists);
	bool is_enough = (double)requests * percent / 100 >= least / 2;
	return wanted >= 50 || !is_enough ? 100 : percent;
}

static enum ing_pg_rc look(struct ing_pg *pg, const struct side *side, const char *list_id,
	double percent, struct classes *ret, struct ing_error *err)
{
	struct ing_buf sql;
	const char *const params[] = {list_id};
	ing_buf_init(&sql, 8192);
	ing_buf_printf(&sql,
		"WITH q AS MATERIALIZED (SELECT a.document, a.ingest_type, a.base_url FROM %s",
		side->table);
	ing_stats_add_sample(&sql, percent);
	ing_buf_printf(&sql, "%s)%s", side->q, classes_sql);
	ing_must(!sql.failed);
	enum ing_pg_rc rc =
		ing_pg_query(pg, NULL, ing_buf_str(&sql), params, 1, take_class, ret, err);
	ing_buf_done(&sql);
	return rc;
}

static void add_row(
	const struct list *l, const int64_t sums[CLASSES_], bool exact, struct ing_stats_table *t)
{
	const int64_t answered = l->counts[ANSWERED];
	const double seconds = (double)l->counts[SECONDS];
	const int64_t left = sums[NEVER_ASKED] + sums[QUEUED];
	const int64_t numbers[] = {l->counts[OWN] + l->counts[MEMBERS], sums[NEVER_ASKED],
		sums[QUEUED], sums[HIT], sums[RETRY_DUE], sums[RETRY_LATER], sums[ENDED]};
	char texts[ING_ARRAY_LEN(numbers)][24];
	char per_hour[32];
	char time_left[32];
	const char *values[ING_STATS_MAX_COLUMNS];
	size_t n = 0;
	for (int i = NAME; i <= LOADED; i++)
		values[n++] = l->texts[i];
	for (size_t i = 0; i < ING_ARRAY_LEN(numbers); i++) {
		snprintf(texts[i], sizeof(texts[i]), "%" PRId64, numbers[i]);
		values[n++] = texts[i];
	}
	snprintf(per_hour, sizeof(per_hour), "%.1f", (double)answered * 3600 / seconds);
	values[n++] = per_hour;
	snprintf(time_left, sizeof(time_left), "%.0f",
		(double)left * seconds / (double)ING_MAX(answered, (int64_t)1));
	values[n++] = left == 0 || answered > 0 ? time_left : NULL;
	values[n++] = exact ? "t" : "f";
	ing_stats_table_add(t, values);
}

static enum ing_pg_rc classify(struct ing_pg *pg, const struct side *sides, double max_pages,
	size_t lists, const struct list *l, struct ing_stats_table *t, struct ing_error *err)
{
	int64_t sums[CLASSES_] = {[HIT] = l->counts[HITS]};
	bool exact = true;
	for (size_t i = 0; i < 2; i++) {
		struct classes c = {{0}, {0}};
		int64_t requests = l->counts[sides[i].requests];
		if (requests <= 0)
			continue;
		double percent = percent_of(&sides[i], max_pages, lists, requests);
		enum ing_pg_rc rc = look(pg, &sides[i], l->texts[LIST_ID], percent, &c, err);
		if (rc != ING_PG_OK)
			return rc;
		add_scaled(c.no_result, l->counts[sides[i].no_result], NEVER_ASKED, sums);
		add_scaled(c.failed, l->counts[sides[i].failed], ENDED, sums);
		exact = exact && percent >= 100;
	}
	add_row(l, sums, exact, t);
	return ING_PG_OK;
}

static enum ing_pg_rc count_lists(struct ing_pg *pg, const struct ing_stats_where *where,
	struct lists *l, struct ing_error *err)
{
	struct ing_stats_sql sql;
	ing_stats_sql_init(&sql);
	const struct ing_stats_template filled = {
		.sql = counts_sql, .filters = ing_stats_list_filters, .where = where};
	ing_stats_add_template(&sql, &filled);
	enum ing_pg_rc rc = ing_pg_query(pg, NULL, ing_buf_str(&sql.text),
		(const char *const *)sql.params, sql.param_count, take_list, l, err);
	ing_stats_sql_done(&sql);
	return rc;
}

/* -------------------------------------------------------------------------------------------- */

const struct ing_stats_column ing_stats_list_columns[] = {
	{"list", ING_FIGURE_TEXT},
	{"source", ING_FIGURE_TEXT},
	{"created", ING_FIGURE_TEXT},
	{"loaded", ING_FIGURE_TEXT},
	{"requests", ING_FIGURE_COUNT},
	{"never_asked", ING_FIGURE_COUNT},
	{"queued", ING_FIGURE_COUNT},
	{"hits", ING_FIGURE_COUNT},
	{"retry_due", ING_FIGURE_COUNT},
	{"retry_later", ING_FIGURE_COUNT},
	{"failed_for_good", ING_FIGURE_COUNT},
	{"results_per_hour", ING_FIGURE_REAL},
	{"time_left_s", ING_FIGURE_SECONDS},
	{"exact", ING_FIGURE_TRUTH},
	{0},
};

const char *const ing_stats_list_filters[ING_STATS_FILTERS_] = {
	[ING_STATS_BY_LIST] = "c.list_id = $::integer",
};

enum ing_pg_rc ing_stats_lists(struct ing_pg *pg, const struct ing_stats_where *where,
	struct ing_stats_table *t, struct ing_error *err)
{
	struct side sides[] = {
		{.table = "ingest_request a",
			.q = " WHERE a.list_id = $1::integer",
			.requests = OWN,
			.no_result = OWN_NO_RESULT,
			.failed = OWN_FAILED},
		{.table = "request_list_member m",
			.q = " JOIN ingest_request a ON a.request_id = m.request_id"
			     " WHERE m.list_id = $1::integer",
			.requests = MEMBERS,
			.no_result = MEMBERS_NO_RESULT,
			.failed = MEMBERS_FAILED},
	};
	struct lists l = {0};
	ing_arena_init(&l.arena);
	enum ing_pg_rc rc = count_lists(pg, where, &l, err);
	for (size_t i = 0; i < 2 && rc == ING_PG_OK; i++)
		rc = ing_stats_percent(pg, i == 0 ? "ingest_request" : "request_list_member",
			where->max_pages, &sides[i].percent, err);
	if (rc == ING_PG_OK)
		rc = ing_pg_exec(pg, ING_STATS_LOOK_UP, err);
	for (size_t i = 0; i < l.count && rc == ING_PG_OK; i++)
		rc = classify(pg, sides, where->max_pages, l.count, &l.all[i], t, err);
	free(l.all);
	ing_arena_done(&l.arena);
	return rc;
}
