/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Batches are collected in memory and written under negative numbers, which only the caller's transaction sees: the real ones are
 * given at its end, so that writers of one plan wait for one another for that moment only. The numbers are then without
 * a gap, and in the order of the commits.
 */
#include "worker/store/requests/plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/buf.h"

/* A message is bounded by Kafka, a batch of them by what a statement takes. */
#define MAX_BATCH_BYTES ((size_t)64 << 20)
#define SINCE_BYTES 48
/* Of the transaction, where the server has them (of Linux alone it is told of lost clients): the compression that costs less; and the end of what a planner that was killed has
 * under way, which may be minutes of sorting. */
#define SETTINGS                                                                                             \
	"SELECT set_config(name, CASE name WHEN 'default_toast_compression' THEN 'lz4' ELSE '5s' END, true)" \
	" FROM pg_settings WHERE (name = 'client_connection_check_interval' AND version() ~ 'linux')"        \
	" OR (name = 'default_toast_compression' AND 'lz4' = ANY (enumvals))"

struct batch {
	struct batch *next;
	struct ing_buf lines, documents;
	unsigned requests;
};

struct ing_plan_writer {
	struct ing_pg *pg;
	char plan[16], since[SINCE_BYTES];
	const char *asked;                 /* NULL: nothing */
	struct batch *first, *last;        /* the last may not be full */
	int64_t first_number, next_number; /* negative, and counted down */
};

static int failed(enum ing_pg_rc rc, const struct ing_error *err)
{
	return rc == ING_PG_OK ? 0 : -(int)err->code;
}

/* ---- Batches in memory ---- */

static void free_batch(struct batch *b)
{
	ing_buf_done(&b->lines);
	ing_buf_done(&b->documents);
	free(b);
}

static struct batch *add_batch(struct ing_plan_writer *w)
{
	struct batch *b = ing_alloc(sizeof(*b));
	ing_buf_init(&b->lines, MAX_BATCH_BYTES);
	ing_buf_init(&b->documents, MAX_BATCH_BYTES);
	if (w->last != NULL)
		w->last->next = b;
	else
		w->first = b;
	w->last = b;
	return b;
}

static bool is_full(const struct batch *b, size_t more_bytes)
{
	return b->requests == ING_PLAN_BATCH_REQUESTS ||
	       b->lines.len + more_bytes > MAX_BATCH_BYTES / 2;
}

/* ---- Statements ---- */

static int write_batch(struct ing_plan_writer *w, struct batch *b, struct ing_error *err)
{
	char number[24];
	char requests[16];
	ing_buf_add_char(&b->documents, '}');
	ing_must(!b->lines.failed && !b->documents.failed);
	snprintf(number, sizeof(number), "%" PRId64, w->next_number--);
	snprintf(requests, sizeof(requests), "%u", b->requests);
	const char *params[] = {w->plan, number, requests, b->lines.data, b->documents.data};
	return failed(
		ing_pg_query(w->pg, "plan-batch",
			"INSERT INTO enqueue_batch (plan_id, batch, requests, lines, documents)"
			" VALUES ($1::integer, $2::bigint, $3::integer, $4, $5::uuid[])",
			params, ING_ARRAY_LEN(params), NULL, NULL, err),
		err);
}

static int write_first(struct ing_plan_writer *w, struct ing_error *err)
{
	struct batch *b = w->first;
	int rc = write_batch(w, b, err);
	w->first = b->next;
	if (w->first == NULL)
		w->last = NULL;
	free_batch(b);
	return rc;
}

struct found {
	struct ing_plan_writer *w;
	const char *topic;
	bool other_topic, unsent;
};

static void take_plan(void *ctx, const char *const *values, int count)
{
	struct found *f = ctx;
	ing_must(count == 5);
	snprintf(f->w->plan, sizeof(f->w->plan), "%s", values[0]);
	snprintf(f->w->since, sizeof(f->w->since), "%s", values[1]);
	f->other_topic = strcmp(values[2], f->topic) != 0;
	f->unsent = strcmp(values[3], "t") == 0;
	/* Keys of another transaction under way would be waited for. */
	f->w->first_number = f->w->next_number = -(ing_pg_int64(values[4]) << 32) - 1;
}

static int find_plan(struct found *f, const char *name, struct ing_error *err)
{
	const char *params[] = {name, f->topic};
	enum ing_pg_rc rc = ing_pg_query(f->w->pg, "plan-make",
		"INSERT INTO enqueue_plan (name, topic) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING",
		params, 2, NULL, NULL, err);
	if (rc == ING_PG_OK)
		rc = ing_pg_query(f->w->pg, "plan-find",
			"SELECT plan_id, documents_queued_since(), topic, sent < planned, pg_backend_pid()"
			" FROM enqueue_plan WHERE name = $1",
			params, 1, take_plan, f, err);
	if (rc != ING_PG_OK || f->w->plan[0] == '\0')
		return rc != ING_PG_OK ? failed(rc, err)
				       : ing_error_set(err, ING_FAIL_BUSY,
						 "plan %s: it has just been deleted", name);
	return 0;
}

/* The batches of a plan are numbered whatever the topic is; the position in a new topic begins where the plan is. */
static int change_topic(struct found *f, const char *name, struct ing_error *err)
{
	if (f->unsent)
		return ing_error_set(err, ING_FAIL_INVALID,
			"plan %s: it has requests for another topic that are not sent", name);
	const char *params[] = {f->w->plan, f->topic};
	return failed(
		ing_pg_query(f->w->pg, "plan-topic",
			"UPDATE enqueue_plan SET topic = $2 WHERE plan_id = $1::integer AND sent = planned",
			params, 2, NULL, NULL, err),
		err);
}

static void take_requests(void *ctx, const char *const *values, int count)
{
	ing_must(count == 1);
	*(uint64_t *)ctx = (uint64_t)ing_pg_int64(values[0]);
}

/* -------------------------------------------------------------------------------------------- */

int ing_plan_writer_open(struct ing_pg *pg, const char *name, const char *topic,
	struct ing_plan_writer **ret, struct ing_error *err)
{
	struct ing_plan_writer *w = ing_alloc(sizeof(*w));
	*w = (struct ing_plan_writer){.pg = pg};
	struct found f = {.w = w, .topic = topic};
	int rc = find_plan(&f, name, err);
	if (rc == 0 && f.other_topic)
		rc = change_topic(&f, name, err);
	if (rc == 0)
		rc = failed(ing_pg_exec(pg, SETTINGS, err), err);
	if (rc == 0)
		*ret = w;
	else
		ing_plan_writer_free(w);
	return rc;
}

void ing_plan_writer_ask(struct ing_plan_writer *w, const char *asked)
{
	w->asked = asked;
}

int ing_plan_writer_add(struct ing_plan_writer *w, const char *document, const char *line,
	size_t bytes, struct ing_error *err)
{
	if (memchr(line, '\n', bytes) != NULL || memchr(line, '\0', bytes) != NULL || bytes == 0 ||
		bytes > MAX_BATCH_BYTES / 2)
		return ing_error_set(
			err, ING_FAIL_INVALID, "plan: a request is no line of its own");
	struct batch *b = w->last;
	if (b == NULL || is_full(b, bytes))
		b = add_batch(w);
	if (b->requests++ > 0)
		ing_buf_add_char(&b->lines, '\n');
	ing_buf_add(&b->lines, line, bytes);
	ing_buf_add_char(&b->documents, b->requests > 1 ? ',' : '{');
	ing_buf_add_str(&b->documents, document);
	return 0;
}

int ing_plan_writer_flush(struct ing_plan_writer *w, struct ing_error *err)
{
	int rc = 0;
	while (rc == 0 && w->first != NULL && (w->first->next != NULL || is_full(w->first, 0)))
		rc = write_first(w, err);
	return rc;
}

int ing_plan_writer_end(struct ing_plan_writer *w, uint64_t *ret_requests, struct ing_error *err)
{
	int rc = 0;
	while (rc == 0 && w->first != NULL)
		rc = write_first(w, err);
	*ret_requests = 0;
	if (rc != 0 || w->next_number == w->first_number)
		return rc;
	const char *params[] = {w->plan, w->since, w->asked};
	return failed(ing_pg_query(w->pg, "plan-number",
			      "SELECT number_planned_batches($1::integer, $2::timestamptz, $3)",
			      params, ING_ARRAY_LEN(params), take_requests, ret_requests, err),
		err);
}

void ing_plan_writer_free(struct ing_plan_writer *w)
{
	if (w == NULL)
		return;
	while (w->first != NULL) {
		struct batch *next = w->first->next;
		free_batch(w->first);
		w->first = next;
	}
	free(w);
}
