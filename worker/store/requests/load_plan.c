/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The rows are read back, since of a request that was known what is stored counts, not what the list says.
 */
#include "worker/store/requests/load_plan.h"

#include "common/base/buf.h"
#include "worker/model/limits.h"
#include "worker/store/requests/plan.h"
#include "worker/store/requests/selection.h"

/* Each row is looked up by itself (LIMIT): a join could be planned from the table's side, which is large. A result may have been
 * stored before it had a document. */
static const char rows_sql[] =
	"SELECT ingest_type, base_url, link_source, link_source_id, ingest_request_source,"
	" release_stage, request, document FROM (SELECT q.*, row_number() OVER host_rows AS rank,"
	" count(*) OVER (PARTITION BY grp) AS n FROM (SELECT q.*, " ING_SELECTION_GROUP_SQL(
		"q") " AS grp FROM stage_load s CROSS JOIN LATERAL (SELECT * FROM ingest_request q"
		     " WHERE q.link_source = s.link_source AND q.link_source_id = s.link_source_id"
		     " AND q.ingest_type = s.ingest_type AND q.base_url = s.base_url LIMIT 1) q OFFSET 0) q"
		     " WHERE NOT EXISTS (SELECT FROM document_queued d WHERE d.document = q.document)"
		     " AND NOT EXISTS (SELECT FROM ingest_file_result r WHERE r.document = q.document)"
		     " AND NOT EXISTS (SELECT FROM ingest_file_result r WHERE r.ingest_type = q.ingest_type"
		     " AND r.base_url = q.base_url) AND q.document IS NOT NULL"
		     " WINDOW host_rows AS (PARTITION BY grp ORDER BY q.document)) p"
		     " ORDER BY (rank - (hashtext(grp) & 65535) / 65536.0) / n, document";

struct planning {
	struct ing_plan_writer *writer;
	struct ing_buf line;
	struct ing_error *err;
	int rc;
};

static void take_row(void *ctx, const char *const *values, int count)
{
	struct planning *p = ctx;
	const struct ing_stored_request q = {.ingest_type = values[0],
		.base_url = values[1],
		.link_source = values[2],
		.link_source_id = values[3],
		.ingest_request_source = values[4],
		.release_stage = values[5],
		.request_json = values[6],
		.document = values[7]};
	ing_must(count == 8);
	if (p->rc != 0)
		return;
	ing_buf_clear(&p->line);
	/* One that has become too long for a message is left to `requests enqueue`, which says so. */
	if (ing_stored_request_line(&q, false, false, &p->line))
		p->rc = ing_plan_writer_add(
			p->writer, q.document, p->line.data, p->line.len, p->err);
	p->line.failed = false;
}

/* What a failure of the plan's writer asks for. */
static enum ing_pg_rc rc_of(int rc)
{
	switch (-rc) {
	case ING_FAIL_NONE:
		return ING_PG_OK;
	case ING_FAIL_BUSY:
		return ING_PG_CONFLICT;
	case ING_FAIL_TIMEOUT:
		return ING_PG_SLOW;
	case ING_FAIL_INVALID:
		return ING_PG_REFUSED;
	case ING_FAIL_CANCELLED:
		return ING_PG_STOPPED;
	default:
		return ING_PG_TROUBLE;
	}
}

/* -------------------------------------------------------------------------------------------- */

enum ing_pg_rc ing_load_plan_write(
	struct ing_pg *pg, const struct ing_load_plan *plan, struct ing_error *err)
{
	struct planning p = {.err = err};
	uint64_t planned;
	int rc = ing_plan_writer_open(pg, plan->name, plan->topic, &p.writer, err);
	if (rc != 0)
		return rc_of(rc);
	ing_buf_init(&p.line, ING_MAX_REQUEST_BYTES);
	enum ing_pg_rc read = ing_pg_query(pg, "plan", rows_sql, NULL, 0, take_row, &p, err);
	if (read == ING_PG_OK && p.rc == 0)
		p.rc = ing_plan_writer_end(p.writer, &planned, err);
	ing_plan_writer_free(p.writer);
	ing_buf_done(&p.line);
	return read != ING_PG_OK ? read : rc_of(p.rc);
}
