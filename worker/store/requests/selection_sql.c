/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Orders and limits around the rows of selection_rows.c. A layer's rows are wide and sorted as they are: to fetch them again in
 * the new order would be a read of the disk for each.
 */
#include "worker/store/requests/selection_sql.h"

#include <inttypes.h>
#include <string.h>

#include "common/base/buf.h"
#include "worker/store/requests/selection_rows.h"

/* As enum ing_selection_column has them. */
#define COLUMNS                                                                                    \
	"q.ingest_type, q.base_url, q.link_source, q.link_source_id, q.ingest_request_source,"     \
	" q.release_stage, q.created, q.request, q.request_id, q.document, q.host, q.doi_prefix"

/* All of a group are of one site, and so are all requests of a document: rows that were sorted by it for the one need only be sorted
 * within it for the other. */
#define SITE "CASE WHEN q.host IN ('doi.org', 'dx.doi.org') THEN 'doi.org' ELSE q.host END"

/* What is counted by. r and d are as in selection_rows.h. */
static const struct by {
	const char *name, *sql;
	bool by_result;
} counted[] = {
	{"class", ING_SELECTION_CLASS_SQL " AS counted", true},
	{"day", "to_char(q.created AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS counted", false},
	{"doi-prefix", "coalesce(q.doi_prefix, '') AS counted", false},
	{"host", "coalesce(q.host, '') AS counted", false},
	{"link-source", "q.link_source AS counted", false},
	{"list",
		"coalesce((SELECT n.name FROM request_list n WHERE n.list_id = q.list_id), '') AS counted",
		false},
	{"source", "coalesce(q.ingest_request_source, '') AS counted", false},
	{"status", "coalesce(r.status, '') AS counted", true},
	{"type", "q.ingest_type AS counted", false},
};

/* NULL: all are one. */
static const struct by *find_by(const char *name)
{
	static const struct by all = {NULL, "'' AS counted", false};
	if (name == NULL)
		return &all;
	for (size_t i = 0; i < ING_ARRAY_LEN(counted); i++)
		if (strcmp(counted[i].name, name) == 0)
			return &counted[i];
	return NULL;
}

/* --- order --- */

/* Between 0 and 1, the same for all of a group: where it begins among the others. */
static void add_offset(const struct ing_selection_writer *w)
{
	ing_buf_printf(w->out,
		"(hashtextextended(grp, %" PRId64 ") & 4294967295)::float8 / 4294967296::float8",
		(int64_t)w->s->seed);
}

/* Rows with their group, key, and priority: SELECT columns …. For topics a document is there once. */
static void add_grouped(const struct ing_selection_writer *w)
{
	struct ing_buf *out = w->out;
	if (w->topic)
		ing_buf_add_str(out,
			"SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY site,"
			" document ORDER BY priority DESC, key) AS copy FROM (");
	ing_buf_printf(out, "SELECT %s, " ING_SELECTION_GROUP_SQL("q") " AS grp, ", w->columns);
	if (w->topic)
		ing_buf_add_str(out, SITE " AS site, ");
	ing_buf_add_str(
		out, ing_selection_priorities_differ(w) ? "l.priority, " : "0 AS priority, ");
	ing_selection_add_key(w);
	ing_buf_add_str(out, " AS key");
	ing_selection_add_rows(w);
	if (w->topic)
		ing_buf_add_str(out, ") q) q WHERE copy = 1");
}

static void add_limit(const struct ing_selection_writer *w)
{
	if (w->scope->nothing)
		ing_buf_add_str(w->out, " LIMIT 0");
	else if (w->scope->limit != 0)
		ing_buf_printf(w->out, " LIMIT %" PRIu64, w->scope->limit);
}

static void add_cap(const struct ing_selection_writer *w)
{
	if (w->scope->host_cap != 0)
		ing_buf_printf(w->out, " WHERE rank <= %" PRIu64, w->scope->host_cap);
}

/* --- orders --- */

static void select_stored(const struct ing_selection_writer *w)
{
	struct ing_buf *out = w->out;
	bool differ = ing_selection_priorities_differ(w);
	bool ordered = (w->s->random || differ) && !(w->unordered && w->scope->limit == 0);
	if (w->scope->host_cap == 0) {
		ing_buf_printf(out, "SELECT %s", w->columns);
		ing_selection_add_rows(w);
		if (ordered) {
			ing_buf_add_str(out, differ ? " ORDER BY l.priority DESC, " : " ORDER BY ");
			ing_selection_add_key(w);
		}
		add_limit(w);
		return;
	}
	ing_buf_printf(out,
		"SELECT %s FROM (SELECT *, row_number() OVER (PARTITION BY grp ORDER BY"
		" priority DESC, key) AS rank FROM (",
		w->selected);
	add_grouped(w);
	ing_buf_add_str(out, ") q) q");
	add_cap(w);
	if (!w->unordered || w->scope->limit != 0)
		ing_buf_add_str(out, " ORDER BY priority DESC, key");
	add_limit(w);
}

/* SELECT * with rank and n, of all of a group. */
static void add_ranked(const struct ing_selection_writer *w)
{
	ing_buf_add_str(w->out,
		"SELECT *, row_number() OVER (PARTITION BY site, grp ORDER BY priority DESC,"
		" key) AS rank, count(*) OVER (PARTITION BY site, grp) AS n FROM (");
	add_grouped(w);
	ing_buf_add_str(w->out, ") q");
}

/* Each group evenly over the whole. What a cap leaves of a large one would all stand at the beginning, and lists of
 * several priorities come one after the other: then places are counted among what has been selected. */
static void select_interleaved(const struct ing_selection_writer *w)
{
	struct ing_buf *out = w->out;
	bool twice = ing_selection_priorities_differ(w) ||
		     (w->scope->host_cap != 0 && w->scope->limit != 0);
	ing_buf_add_str(out, "SELECT " COLUMNS " FROM (");
	if (twice)
		ing_buf_add_str(out,
			"SELECT " COLUMNS ", grp, priority, row_number() OVER"
			" (PARTITION BY priority, grp ORDER BY key) AS rank, count(*)"
			" OVER (PARTITION BY priority, grp) AS n FROM (SELECT * FROM (");
	add_ranked(w);
	ing_buf_add_str(out, ") q");
	if (twice) {
		add_cap(w);
		if (w->scope->limit != 0) {
			ing_buf_add_str(out, " ORDER BY priority DESC, (rank - ");
			add_offset(w);
			ing_buf_add_str(out, ") / n, document");
		}
		add_limit(w);
		ing_buf_add_str(out, ") q) q ORDER BY priority DESC, (rank - ");
		add_offset(w);
		ing_buf_add_str(out, ") / n, document");
		return;
	}
	add_cap(w);
	ing_buf_add_str(out, " ORDER BY (rank - ");
	add_offset(w);
	if (w->scope->host_cap != 0)
		ing_buf_printf(out, ") / least(n, %" PRIu64 "), document", w->scope->host_cap);
	else
		ing_buf_add_str(out, ") / n, document");
	add_limit(w);
}

/* -------------------------------------------------------------------------------------------- */

void ing_selection_sql(const struct ing_selection *s, enum ing_selection_order order,
	const struct ing_selection_scope *scope, struct ing_buf *out)
{
	const struct ing_selection_writer w = {.s = s,
		.scope = scope,
		.out = out,
		.topic = order == ING_ORDER_INTERLEAVED,
		.columns = COLUMNS,
		.selected = COLUMNS};
	if (w.topic)
		select_interleaved(&w);
	else
		select_stored(&w);
}

void ing_selection_groups_sql(const struct ing_selection *s, enum ing_selection_order order,
	const struct ing_selection_scope *scope, struct ing_buf *out)
{
	const struct ing_selection_writer w = {.s = s,
		.scope = scope,
		.out = out,
		.topic = order == ING_ORDER_INTERLEAVED,
		.columns = "q.document, q.host"};
	ing_buf_add_str(out, "SELECT n, count(*) FROM (SELECT count(*) AS n FROM (");
	add_grouped(&w);
	ing_buf_add_str(out, ") q GROUP BY grp) q GROUP BY n ORDER BY n");
}

bool ing_selection_count_sql(const struct ing_selection *s, const struct ing_selection_scope *scope,
	const char *by, struct ing_buf *out)
{
	const struct by *column = find_by(by);
	if (column == NULL)
		return false;
	const struct ing_selection_writer w = {.s = s,
		.scope = scope,
		.out = out,
		.columns = column->sql,
		.selected = "q.counted",
		.by_result = column->by_result,
		.unordered = true};
	ing_buf_add_str(out, "SELECT counted, count(*) FROM (");
	select_stored(&w);
	ing_buf_add_str(out, ") q GROUP BY 1 ORDER BY 2 DESC, 1");
	return true;
}

void ing_selection_list_counted(struct ing_buf *out)
{
	for (size_t i = 0; i < ING_ARRAY_LEN(counted); i++)
		ing_buf_printf(out, "%s%s", i > 0 ? ", " : "", counted[i].name);
}
