/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Every statement stands for itself, and has the same outcome when it is repeated.
 */
#include "worker/store/requests/plan_batches.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define NUMBER_BYTES 24

struct find {
	struct ing_plan *plan;
	bool found;
};

static void take_plan(void *ctx, const char *const *values, int count)
{
	struct find *f = ctx;
	struct ing_plan *p = f->plan;
	ing_must(count == 10);
	f->found = true;
	snprintf(p->id, sizeof(p->id), "%s", values[0]);
	snprintf(p->name, sizeof(p->name), "%s", values[1]);
	snprintf(p->topic, sizeof(p->topic), "%s", values[2]);
	snprintf(p->lineage, sizeof(p->lineage), "%s", values[3]);
	p->asked = values[4] != NULL ? ing_strdup(values[4]) : NULL;
	p->planned = ing_pg_int64(values[5]);
	p->begun = ing_pg_int64(values[6]);
	p->sent = ing_pg_int64(values[7]);
	p->requests = ing_pg_int64(values[8]);
	p->requests_sent = ing_pg_int64(values[9]);
}

struct read {
	struct ing_buf *lines;
	unsigned *requests;
};

static void take_batch(void *ctx, const char *const *values, int count)
{
	struct read *r = ctx;
	ing_must(count == 2);
	*r->requests = ing_pg_unsigned(values[0]);
	ing_buf_add_str(r->lines, values[1]);
	ing_buf_add_char(r->lines, '\n');
}

static void take_requests(void *ctx, const char *const *values, int count)
{
	ing_must(count == 1);
	*(uint64_t *)ctx = (uint64_t)ing_pg_int64(values[0]);
}

static void write_number(int64_t n, char ret[NUMBER_BYTES])
{
	snprintf(ret, NUMBER_BYTES, "%" PRId64, n);
}

/* -------------------------------------------------------------------------------------------- */

enum ing_pg_rc ing_plan_find(struct ing_pg *pg, const char *name, struct ing_plan *ret,
	bool *ret_found, struct ing_error *err)
{
	struct find f = {.plan = ret};
	const char *params[] = {name};
	ing_plan_done(ret);
	enum ing_pg_rc rc = ing_pg_query(pg, "plan-state",
		"SELECT plan_id, name, topic, lineage, asked, planned, begun, sent, requests, requests_sent"
		" FROM enqueue_plan WHERE name = $1",
		params, 1, take_plan, &f, err);
	*ret_found = f.found;
	return rc;
}

void ing_plan_done(struct ing_plan *plan)
{
	free(plan->asked);
	plan->asked = NULL;
}

enum ing_pg_rc ing_plan_read_batch(struct ing_pg *pg, const struct ing_plan *plan, int64_t batch,
	struct ing_buf *lines, unsigned *ret_requests, struct ing_error *err)
{
	char number[NUMBER_BYTES];
	struct read r = {lines, ret_requests};
	write_number(batch, number);
	const char *params[] = {plan->id, number};
	*ret_requests = 0;
	ing_buf_clear(lines);
	return ing_pg_query(pg, "plan-read",
		"SELECT requests, lines FROM enqueue_batch"
		" WHERE plan_id = $1::integer AND batch = $2::bigint",
		params, ING_ARRAY_LEN(params), take_batch, &r, err);
}

enum ing_pg_rc ing_plan_note_begun(
	struct ing_pg *pg, struct ing_plan *plan, int64_t end, struct ing_error *err)
{
	char number[NUMBER_BYTES];
	write_number(end, number);
	const char *params[] = {plan->id, number};
	enum ing_pg_rc rc = ing_pg_query(pg, "plan-begun",
		"UPDATE enqueue_plan SET begun = greatest(begun, $2::bigint) WHERE plan_id = $1::integer",
		params, ING_ARRAY_LEN(params), NULL, NULL, err);
	if (rc == ING_PG_OK)
		plan->begun = ING_MAX(plan->begun, end);
	return rc;
}

enum ing_pg_rc ing_plan_note_sent(
	struct ing_pg *pg, struct ing_plan *plan, int64_t end, struct ing_error *err)
{
	char number[NUMBER_BYTES];
	write_number(end, number);
	const char *params[] = {plan->id, number};
	enum ing_pg_rc rc = ing_pg_query(pg, "plan-sent",
		"WITH gone AS (DELETE FROM enqueue_batch"
		" WHERE plan_id = $1::integer AND batch >= 0 AND batch < $2::bigint RETURNING requests)"
		" UPDATE enqueue_plan SET begun = greatest(begun, $2::bigint),"
		" sent = greatest(sent, $2::bigint), updated = now(),"
		" requests_sent = requests_sent + (SELECT coalesce(sum(requests), 0) FROM gone)"
		" WHERE plan_id = $1::integer",
		params, ING_ARRAY_LEN(params), NULL, NULL, err);
	if (rc == ING_PG_OK) {
		plan->begun = ING_MAX(plan->begun, end);
		plan->sent = ING_MAX(plan->sent, end);
	}
	return rc;
}

enum ing_pg_rc ing_plan_abandon(
	struct ing_pg *pg, struct ing_plan *plan, uint64_t *ret_requests, struct ing_error *err)
{
	char number[NUMBER_BYTES];
	write_number(plan->planned, number);
	const char *params[] = {plan->id, number};
	*ret_requests = 0;
	/* Locks as planners take them (number_planned_batches): documents in the order of the key, then the plan. */
	enum ing_pg_rc rc = ing_pg_query(pg, "plan-abandon",
		"WITH gone AS (DELETE FROM enqueue_batch"
		" WHERE plan_id = $1::integer AND batch >= 0 AND batch < $2::bigint"
		" RETURNING requests, documents),"
		" held AS MATERIALIZED (SELECT q.document FROM document_queued q"
		" WHERE q.plan_id = $1::integer AND q.document IN (SELECT unnest(documents) FROM gone)"
		" ORDER BY q.document FOR UPDATE OF q),"
		" forgotten AS (DELETE FROM document_queued q USING held h"
		" WHERE q.document = h.document RETURNING 1),"
		" n AS (SELECT coalesce(sum(requests), 0) AS requests,"
		" (SELECT count(*) FROM forgotten) AS forgotten FROM gone)"
		" UPDATE enqueue_plan p SET begun = greatest(begun, $2::bigint),"
		" sent = greatest(sent, $2::bigint), requests = p.requests - n.requests,"
		" asked = NULL, updated = now()"
		" FROM n WHERE p.plan_id = $1::integer AND n.forgotten >= 0 RETURNING n.requests",
		params, ING_ARRAY_LEN(params), take_requests, ret_requests, err);
	if (rc == ING_PG_OK)
		plan->begun = plan->sent = plan->planned;
	return rc;
}
