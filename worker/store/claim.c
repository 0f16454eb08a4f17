/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A task is a claim on its way through the thread. Cancelling one only takes the claim out of it.
 * Which offsets are finished is asked on the loop, when the rows are back, since the map is
 * intake's; those rows are pruned like others.
 */
#include "worker/store/claim.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/log.h"
#include "common/data/pace.h"
#include "common/data/pg_thread.h"
#include "worker/database/schema.h"
#include "worker/model/positions.h"
#include "worker/store/outbox.h"
#include "worker/store/session.h"
#include "worker/store/upkeep.h"

#define STATEMENT_MS 5000
#define PAGE_ROWS 50 /* of result_outbox in one answer */

struct task {
	struct ing_node node; /* first */
	struct task *prev, *next;
	struct ing_claim *claim; /* loop; NULL: cancelled */
	bool recovers;

	/* the thread's while it has the task */
	char *group, *topic, *instance;
	char partition[16];
	int64_t fence, low_water, mark_offset, mark_timestamp_ms, position;
	bool superseded;
	struct ing_answer *answers, **answers_end;
	int64_t after;      /* offset of the last row read */
	unsigned page_rows; /* read of the page under way */
	uint64_t unknown;   /* rows of outputs that this program does not have */
};

struct ing_claims {
	struct ing_pg_thread *thread;
	struct ing_upkeep *upkeep;
	struct task *tasks;   /* all, for cancel() */
	struct ing_pace pace; /* for its limits; thread */
};

static void clear_answers(struct task *t)
{
	while (t->answers != NULL) {
		struct ing_answer *next = t->answers->next;
		ing_answer_free(t->answers);
		t->answers = next;
	}
	t->answers_end = &t->answers;
}

static void free_task(struct ing_claims *claims, struct task *t)
{
	if (t->prev != NULL)
		t->prev->next = t->next;
	else
		claims->tasks = t->next;
	if (t->next != NULL)
		t->next->prev = t->prev;
	clear_answers(t);
	free(t->group);
	free(t->topic);
	free(t->instance);
	free(t);
}

static void start_task(struct ing_claims *claims, struct ing_claim *c, bool recovers)
{
	struct task *t = ing_alloc(sizeof(*t));
	*t = (struct task){.claim = c,
		.recovers = recovers,
		.next = claims->tasks,
		.group = ing_strdup(c->group),
		.topic = ing_strdup(c->topic),
		.instance = ing_strdup(c->instance),
		.fence = c->fence,
		.position = c->position};
	snprintf(t->partition, sizeof(t->partition), "%" PRId32, c->partition);
	t->answers_end = &t->answers;
	if (t->next != NULL)
		t->next->prev = t;
	claims->tasks = t;
	ing_pg_thread_push(claims->thread, &t->node);
}

/* -- database thread ------------------------------------------------------------------------- */

static void set_claim(void *ctx, const char *const *values, int count)
{
	struct task *t = ctx;
	ing_must(count == 4);
	t->fence = ing_pg_int64(values[0]);
	t->low_water = ing_pg_int64(values[1]);
	t->mark_offset = ing_pg_int64(values[2]);
	t->mark_timestamp_ms = ing_pg_int64(values[3]);
}

/* A fence is never used twice, even when the newest rows of the table have been lost with a server
 * whose standby did not have them: it is at least the time. */
static enum ing_pg_rc raise_fence(struct ing_pg *pg, struct task *t, struct ing_error *err)
{
#define NOW_MS "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
	static const char sql[] =
		"INSERT INTO partition_owner AS o (kafka_group, topic, partition, instance, fence)"
		" VALUES ($1, $2, $3::integer, $4, " NOW_MS ")"
		" ON CONFLICT (kafka_group, topic, partition) DO UPDATE SET"
		" fence = greatest(o.fence + 1, " NOW_MS "), instance = excluded.instance,"
		" claimed = now(), updated = now()"
		" RETURNING fence, low_water, mark_offset, mark_timestamp_ms";
	const char *params[] = {t->group, t->topic, t->partition, t->instance};
	return ing_pg_query(pg, "claim", sql, params, 4, set_claim, t, err);
}

static void set_stored_fence(void *ctx, const char *const *values, int count)
{
	ing_must(count == 1);
	*(int64_t *)ctx = ing_pg_int64(values[0]);
}

static enum ing_pg_rc check_fence(struct ing_pg *pg, struct task *t, struct ing_error *err)
{
	static const char sql[] = "SELECT fence FROM partition_owner WHERE kafka_group = $1 AND"
				  " topic = $2 AND partition = $3::integer FOR SHARE";
	const char *params[] = {t->group, t->topic, t->partition};
	int64_t stored = 0;
	enum ing_pg_rc rc =
		ing_pg_query(pg, "claim_fence", sql, params, 3, set_stored_fence, &stored, err);
	t->superseded = stored != t->fence;
	return rc;
}

static enum ing_pg_rc drop_committed(struct ing_pg *pg, struct task *t, struct ing_error *err)
{
	static const char sql[] = "DELETE FROM result_outbox WHERE kafka_group = $1 AND topic = $2"
				  " AND partition = $3::integer AND \"offset\" < $4::bigint";
	char position[24];
	snprintf(position, sizeof(position), "%" PRId64, t->position);
	const char *params[] = {t->group, t->topic, t->partition, position};
	return ing_pg_query(pg, "claim_drop", sql, params, 4, NULL, NULL, err);
}

static void add_answer(void *ctx, const char *const *values, int count)
{
	struct task *t = ctx;
	ing_must(count == ING_OUTBOX_COLUMN_COUNT);
	t->page_rows++;
	t->after = ing_pg_int64(values[0]);
	struct ing_answer *answer = ing_outbox_answer(values);
	if (answer == NULL) {
		t->unknown++;
		return;
	}
	*t->answers_end = answer;
	t->answers_end = &answer->next;
}

static enum ing_pg_rc read_answers(struct ing_pg *pg, struct task *t, struct ing_error *err)
{
	static const char sql[] =
		"SELECT " ING_OUTBOX_COLUMNS
		" FROM result_outbox o WHERE kafka_group = $1 AND topic = $2"
		" AND partition = $3::integer AND \"offset\" > $4::bigint ORDER BY \"offset\""
		" LIMIT $5::integer";
	char limit[16];
	enum ing_pg_rc rc;
	snprintf(limit, sizeof(limit), "%d", PAGE_ROWS);
	clear_answers(t);
	t->unknown = 0;
	t->after = -1;
	do {
		char after[24];
		snprintf(after, sizeof(after), "%" PRId64, t->after);
		const char *params[] = {t->group, t->topic, t->partition, after, limit};
		t->page_rows = 0;
		rc = ing_pg_query(pg, "claim_rows", sql, params, 5, add_answer, t, err);
	} while (rc == ING_PG_OK && t->page_rows == PAGE_ROWS);
	return rc;
}

static enum ing_pg_rc recover_rows(struct ing_pg *pg, struct task *t, struct ing_error *err)
{
	enum ing_pg_rc rc = check_fence(pg, t, err);
	if (rc != ING_PG_OK || t->superseded)
		return rc;
	rc = drop_committed(pg, t, err);
	return rc == ING_PG_OK ? read_answers(pg, t, err) : rc;
}

struct attempt {
	struct ing_claims *claims;
	struct task *task;
};

static enum ing_pg_rc try_task(struct ing_pg *pg, void *ctx, struct ing_error *err)
{
	const struct attempt *a = ctx;
	enum ing_pg_rc rc = ing_pg_set_limits(pg, &a->claims->pace, err);
	if (rc == ING_PG_OK)
		rc = ing_pg_exec(pg, "BEGIN", err);
	if (rc == ING_PG_OK)
		rc = a->task->recovers ? recover_rows(pg, a->task, err)
				       : raise_fence(pg, a->task, err);
	if (rc == ING_PG_OK) {
		ing_pace_written(&a->claims->pace, 1, 0);
		return ing_pg_commit(pg, err);
	}
	/* A statement takes longer than it may: longer the next time. */
	if (rc == ING_PG_SLOW)
		ing_pace_exceeded(&a->claims->pace, 1);
	bool ended = rc == ING_PG_LOST || rc == ING_PG_SILENT || rc == ING_PG_STOPPED;
	return ended || ing_pg_exec(pg, "ROLLBACK", NULL) == ING_PG_OK ? rc : ING_PG_LOST;
}

/* Nothing in a claim depends on data that could be refused: what the server says of it is trouble,
 * to be waited out. */
static enum ing_pg_rc try_until_done(struct ing_pg *pg, void *ctx, struct ing_error *err)
{
	enum ing_pg_rc rc = try_task(pg, ctx, err);
	return rc == ING_PG_REFUSED ? ING_PG_TROUBLE : rc;
}

static void do_task(struct ing_claims *claims, struct task *t)
{
	struct ing_error err = {0};
	struct attempt a = {claims, t};
	if (ing_pg_thread_run(claims->thread, try_until_done, &a, &err) == ING_PG_OK)
		ing_pg_thread_hand_back(claims->thread, &t->node);
}

static void work(void *ctx)
{
	struct ing_claims *claims = ctx;
	struct ing_node *list = ing_pg_thread_take(claims->thread, -1);
	while (list != NULL) {
		struct ing_node *next = list->next;
		do_task(claims, ING_CONTAINER(list, struct task, node));
		list = next;
	}
}

static int prepare(void *ctx, struct ing_pg *pg, struct ing_error *err)
{
	(void)ctx;
	return ing_schema_prepare(pg, ING_STORE_SESSION, err);
}

static void trouble(void *ctx, const struct ing_error *err)
{
	(void)ctx;
	if (err == NULL)
		ing_log(ING_LOG_INFO, "database: claiming partitions again");
	else
		ing_log(ING_LOG_WARNING, "%s; partitions wait to be claimed, retrying", err->msg);
}

/* -- loop ------------------------------------------------------------------------------------ */

static void end_claim(struct ing_claims *claims, struct task *t)
{
	struct ing_claim *c = t->claim;
	c->fence = t->fence;
	c->low_water = t->low_water;
	c->mark_offset = t->mark_offset;
	c->mark_timestamp_ms = t->mark_timestamp_ms;
	ing_upkeep_claimed(claims->upkeep, c);
}

static void prune_answer(struct ing_claims *claims, const struct ing_claim *c, struct ing_answer *a)
{
	const struct ing_source source = {.group = c->group,
		.topic = c->topic,
		.partition = c->partition,
		.offset = a->offset,
		.timestamp_ms = a->timestamp_ms,
		.digest = a->digest,
		.fence = c->fence};
	ing_upkeep_prune(claims->upkeep, &source);
	ing_answer_free(a);
}

/* What is finished is pruned, the rest is intake's. */
static void end_recovery(struct ing_claims *claims, struct task *t)
{
	struct ing_claim *c = t->claim;
	struct ing_answer **end = &c->answers;
	struct ing_answer *next;
	c->answers = NULL;
	c->superseded = t->superseded;
	for (struct ing_answer *a = ING_TAKE(t->answers); a != NULL; a = next) {
		next = a->next;
		a->next = NULL;
		if (c->is_finished != NULL && c->is_finished(c->finished_ctx, a->offset)) {
			prune_answer(claims, c, a);
			continue;
		}
		*end = a;
		end = &a->next;
	}
	if (t->unknown > 0)
		ing_log(ING_LOG_WARNING,
			"%s/%s: %" PRIu64 " answers of a newer release are left out, their "
			"requests are done again",
			t->topic, t->partition, t->unknown);
}

static void finished(void *ctx, struct ing_node *items)
{
	struct ing_claims *claims = ctx;
	while (items != NULL) {
		struct ing_node *next = items->next;
		struct task *t = ING_CONTAINER(items, struct task, node);
		struct ing_claim *c = t->claim;
		if (c != NULL && t->recovers)
			end_recovery(claims, t);
		else if (c != NULL)
			end_claim(claims, t);
		free_task(claims, t);
		if (c != NULL)
			c->done(c);
		items = next;
	}
}

/* ------------------------------------------------------------------------------------------ */

int ing_claims_new(struct uv_loop_s *loop, const char *dsn, struct ing_upkeep *upkeep,
	struct ing_claims **ret, struct ing_error *err)
{
	struct ing_claims *claims = ing_alloc(sizeof(*claims));
	*claims = (struct ing_claims){.upkeep = upkeep};
	ing_pace_init(&claims->pace, 1, STATEMENT_MS);
	const struct ing_pg_thread_conf thread = {.name = "ing-claim",
		.dsn = dsn,
		.ctx = claims,
		.prepare = prepare,
		.work = work,
		.trouble = trouble,
		.finished = finished};
	int rc = ing_pg_thread_new(&thread, &claims->thread, err);
	if (rc != 0) {
		free(claims);
		return rc;
	}
	ing_pg_thread_start(claims->thread, loop);
	*ret = claims;
	return 0;
}

const char *ing_claims_trouble(const struct ing_claims *claims)
{
	return ing_pg_thread_trouble(claims->thread);
}

void ing_claims_free(struct ing_claims *claims)
{
	if (claims == NULL)
		return;
	ing_pg_thread_free(claims->thread);
	while (claims->tasks != NULL)
		free_task(claims, claims->tasks);
	free(claims);
}

void ing_claims_claim(struct ing_claims *claims, struct ing_claim *c)
{
	start_task(claims, c, false);
}

void ing_claims_recover(struct ing_claims *claims, struct ing_claim *c)
{
	start_task(claims, c, true);
}

void ing_claims_cancel(struct ing_claims *claims, struct ing_claim *c)
{
	for (struct task *t = claims->tasks; t != NULL; t = t->next) {
		if (t->claim == c)
			t->claim = NULL;
	}
}
