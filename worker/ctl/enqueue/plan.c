/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Two connections: the selection's, which reads in a snapshot of its own, and the writer's, opened first, so that documents
 * that are queued meanwhile are taken out at the end.
 */
#include "worker/ctl/enqueue/plan.h"

#include <inttypes.h>

#include "common/base/buf.h"
#include "worker/ctl/progress.h"
#include "worker/database/schema.h"
#include "worker/model/limits.h"
#include "worker/store/requests/plan.h"
#include "worker/store/requests/selection.h"

struct planning {
	const struct ing_enqueue_plan *conf;
	struct ing_pg *pg;
	struct ing_plan_writer *writer; /* NULL: dry run */
	struct ing_selection_reader *reader;
	struct ing_buf line;
	struct ing_progress progress;
	uint64_t taken;
};

static int failed(enum ing_pg_rc rc, const struct ing_error *err)
{
	return rc == ING_PG_OK ? 0 : -(int)err->code;
}

/* A large selection is sorted for minutes before its first row comes, and numbered for as long. */
static int begin(struct planning *p, struct ing_error *err)
{
	int rc = ing_pg_open(p->conf->dsn, -1, -1, &p->pg, err);
	if (rc == 0)
		rc = ing_schema_prepare(p->pg,
			"SET statement_timeout = 0; SET lock_timeout = 0;"
			" SET idle_in_transaction_session_timeout = 0",
			err);
	if (rc == 0)
		rc = failed(ing_pg_exec(p->pg, "BEGIN", err), err);
	if (rc == 0)
		rc = ing_plan_writer_open(p->pg, p->conf->name, p->conf->topic, &p->writer, err);
	if (rc == 0)
		ing_plan_writer_ask(p->writer, p->conf->asked);
	return rc;
}

static int take(struct planning *p, const struct ing_stored_request *q, struct ing_error *err)
{
	p->taken++;
	ing_progress_tick(&p->progress, p->taken, NULL);
	if (p->writer == NULL)
		return 0;
	ing_buf_clear(&p->line);
	if (!ing_stored_request_line(q, p->conf->force_recrawl, false, &p->line))
		return ing_error_set(
			err, ING_FAIL_TOO_BIG, "request %s: its line is too long", q->request_id);
	int rc = ing_plan_writer_add(p->writer, q->document, p->line.data, p->line.len, err);
	return rc == 0 ? ing_plan_writer_flush(p->writer, err) : rc;
}

static int take_all(struct planning *p, struct ing_error *err)
{
	for (;;) {
		struct ing_stored_request q;
		int rc = ing_selection_next(p->reader, &q, err);
		if (rc == 1)
			rc = take(p, &q, err);
		else
			return rc;
		if (rc != 0)
			return rc;
	}
}

static int end(struct planning *p, uint64_t *ret_requests, struct ing_error *err)
{
	ing_progress_tick(&p->progress, p->taken, "the database");
	int rc = ing_plan_writer_end(p->writer, ret_requests, err);
	return rc == 0 ? failed(ing_pg_commit(p->pg, err), err) : rc;
}

/* -------------------------------------------------------------------------------------------- */

int ing_enqueue_plan(
	const struct ing_enqueue_plan *conf, uint64_t *ret_requests, struct ing_error *err)
{
	struct planning p = {.conf = conf};
	ing_buf_init(&p.line, ING_MAX_REQUEST_BYTES);
	ing_progress_start(&p.progress, conf->verb,
		conf->dry_run ? "requests selected" : "requests planned", 0, conf->quiet);
	*ret_requests = 0;
	int rc = conf->dry_run ? 0 : begin(&p, err);
	/* Which sorts before the first comes. */
	ing_progress_tick(&p.progress, 0, "the database");
	if (rc == 0)
		rc = ing_selection_open(
			conf->dsn, conf->selection, ING_ORDER_INTERLEAVED, &p.reader, err);
	if (rc == 0)
		rc = take_all(&p, err);
	if (rc == 0 && !conf->dry_run)
		rc = end(&p, ret_requests, err);
	else if (rc == 0)
		*ret_requests = p.taken;
	ing_progress_clear(&p.progress);
	ing_selection_close(p.reader);
	ing_plan_writer_free(p.writer);
	ing_pg_close(p.pg);
	ing_buf_done(&p.line);
	return rc;
}
