/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Carries out a round: updates, releases and requests have files of their own, the other statements
 * are here. Each statement is a transaction of its own about hundreds of hosts and locks their rows
 * in the order of their names, so that workers wait for each other but never deadlock. The database
 * alone decides who holds a host, by its clock and its rows.
 *
 * Clocks: the database adds and compares times; only durations are sent and received, so our clock
 * does not matter. A duration is prolonged by the time it takes to arrive, always on the polite
 * side: our lease counts from when the statement was sent (in the database: from when it was
 * executed, which is later); a rest that we send counts from when it arrives; one that we receive
 * counts from when the answer is here. Two workers could hold a host at once only if clocks run at
 * different speeds, or the server's clock is set forward while it runs; a lease lasts minutes, and
 * its holder leaves the length of a transfer unused. A clock that was set back is recognised by
 * rows that were written later than now (ING_LEASE_SET_BACK).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "common/base/log.h"
#include "common/data/pg_paced.h"
#include "worker/database/schema.h"
#include "worker/gate/fleet/lease_sql.h"

/* While the connection is made; then the pace's limits hold. */
#define STATEMENT_TIMEOUT "15s"

#define MAX_BLOCKS 100000 /* entries of host_block; others are ignored, and that is logged */
#define MAX_WANTED 10000  /* hosts of ours that others want, of one round */

/* $1 hosts, $2 session, $3 lease_ms. A lease that has expired is extended, too, if nobody else has
 * taken the host: then nobody else has fetched from it. `updated` is written because expires_at
 * counts from it when the clock has been set back. */
static const char extend_sql[] =
	"WITH mine AS (SELECT host FROM host_state WHERE host = ANY ($1::text[])"
	" AND session = $2::bigint ORDER BY host FOR NO KEY UPDATE)"
	" UPDATE host_state AS s SET expires_at = clock_timestamp() + $3::bigint * interval '1 ms',"
	" next_fetch_at = s.next_fetch_at - " ING_LEASE_SET_BACK ","
	" wanted_at = s.wanted_at - " ING_LEASE_SET_BACK ","
	" answered_at = s.answered_at - " ING_LEASE_SET_BACK ", updated = clock_timestamp()"
	" FROM mine WHERE s.host = mine.host AND s.session = $2::bigint RETURNING s.host";

/* $1 session, $2 how many. */
static const char wanted_sql[] =
	"SELECT host FROM host_state WHERE wanted_of = $1::bigint LIMIT $2::bigint";

/* $1 the mark known, $2 how many. One row with the mark of the table's state; or, when it is
 * another than $1, a row with mark and entry for each entry. A new or replaced entry is the newest,
 * and a removed one changes the count. */
static const char blocks_sql[] =
	"SELECT mark, b.host, b.why FROM"
	" (SELECT count(*) || ' ' || coalesce(max(created_at)::text, '') AS mark FROM host_block) m"
	" LEFT JOIN (SELECT host, why FROM host_block ORDER BY host LIMIT $2::bigint) b"
	" ON m.mark <> $1";

/* -- slices --------------------------------------------------------------------------------- */

struct slices {
	ing_lease_slice_f *run;
	void *ctx;
	size_t at; /* those before it are done */
};

/* The statement is all of its transaction. */
static enum ing_pg_rc run_slice(
	struct ing_pg *pg, void *ctx, unsigned rows, unsigned *ret_ms, struct ing_error *err)
{
	const struct slices *s = ctx;
	uint64_t start = ing_now_ms();
	enum ing_pg_rc rc = s->run(pg, s->ctx, s->at, rows, err);
	*ret_ms = (unsigned)(ing_now_ms() - start);
	return rc;
}

enum ing_pg_rc ing_lease_in_slices(struct ing_pg *pg, struct ing_pace *pace, size_t count,
	ing_lease_slice_f *run, void *ctx, struct ing_error *err)
{
	struct slices s = {.run = run, .ctx = ctx};
	const struct ing_pg_paced paced = {.write = run_slice, .ctx = &s};
	while (s.at < count) {
		struct ing_pg_paced_run did;
		enum ing_pg_rc rc = ing_pg_write_paced(pg, pace, count - s.at, &paced, &did, err);
		if (rc != ING_PG_OK)
			return rc;
		s.at += did.rows;
	}
	return ING_PG_OK;
}

/* -- lists of answers ------------------------------------------------------------------------ */

/* Arrays double whenever their count is a power of two; the statements have limits. */
static bool is_full(size_t count)
{
	return (count & (count - 1)) == 0;
}

/* -- extend --------------------------------------------------------------------------------- */

static int compare_hosts(const void *a, const void *b)
{
	const struct ing_lease_extend *x = a;
	const struct ing_lease_extend *y = b;
	return strcmp(x->host, y->host);
}

struct extend_answers {
	struct ing_lease_round *r;
	uint64_t until_ms; /* from when this was sent */
};

static void take_kept(void *ctx, const char *const *v, int count)
{
	const struct extend_answers *got = ctx;
	struct ing_lease_round *r = got->r;
	struct ing_lease_extend key = {.host = v[0]};
	ing_must(count == 1);
	struct ing_lease_extend *e =
		bsearch(&key, r->extends, r->extend_count, sizeof(*r->extends), compare_hosts);
	if (e == NULL)
		return;
	e->kept = true;
	e->until_ms = got->until_ms;
}

struct extend_run {
	const struct ing_lease_session *ses;
	struct ing_lease_round *r;
	const char **hosts; /* those in the database, in order */
};

static enum ing_pg_rc extend(
	struct ing_pg *pg, void *ctx, size_t at, size_t count, struct ing_error *err)
{
	const struct extend_run *run = ctx;
	struct ing_buf list;
	struct ing_lease_number id, lease;
	struct extend_answers got = {run->r, ing_now_ms() + run->ses->lease_ms};
	ing_buf_init(&list, ING_LEASE_PARAM_BYTES);
	ing_pg_add_array(&list, run->hosts + at, count);
	ing_must(!list.failed);
	const char *params[] = {ing_buf_str(&list), ing_lease_number(&id, run->ses->id),
		ing_lease_number(&lease, run->ses->lease_ms)};
	enum ing_pg_rc rc = ing_pg_query(
		pg, "extend", extend_sql, params, ING_ARRAY_LEN(params), take_kept, &got, err);
	ing_buf_done(&list);
	return rc;
}

static enum ing_pg_rc run_extends(struct ing_pg *pg, const struct ing_lease_session *ses,
	struct ing_pace *pace, struct ing_lease_round *r, struct ing_error *err)
{
	if (r->extend_count == 0)
		return ING_PG_OK;
	struct extend_run run = {ses, r, ing_alloc(r->extend_count * sizeof(*run.hosts))};
	size_t n = 0;
	uint64_t until_ms = ing_now_ms() + ses->lease_ms;
	qsort(r->extends, r->extend_count, sizeof(*r->extends), compare_hosts);
	for (size_t i = 0; i < r->extend_count; i++) {
		struct ing_lease_extend *e = &r->extends[i];
		e->kept = !ing_lease_is_name(e->host);
		e->until_ms = until_ms;
		if (!e->kept)
			run.hosts[n++] = e->host;
	}
	enum ing_pg_rc rc = ing_lease_in_slices(pg, pace, n, extend, &run, err);
	free(run.hosts);
	return rc;
}

/* -- wanted and blocks ---------------------------------------------------------------------- */

static void free_answers(struct ing_lease_round *r)
{
	ing_lease_free_names(ING_TAKE(r->wanted), r->wanted_count);
	r->wanted_count = 0;
	for (size_t i = 0; i < r->block_count; i++) {
		free((void *)(uintptr_t)r->blocks[i].host);
		free((void *)(uintptr_t)r->blocks[i].why);
	}
	free(ING_TAKE(r->blocks));
	r->block_count = 0;
	r->blocks_changed = false;
}

static void take_wanted(void *ctx, const char *const *v, int count)
{
	struct ing_lease_round *r = ctx;
	ing_must(count == 1);
	ing_lease_add_name(&r->wanted, &r->wanted_count, v[0]);
}

static enum ing_pg_rc check_wanted(struct ing_pg *pg, const struct ing_lease_session *ses,
	struct ing_lease_round *r, struct ing_error *err)
{
	struct ing_lease_number id, most;
	const char *params[] = {
		ing_lease_number(&id, ses->id), ing_lease_number(&most, MAX_WANTED)};
	return ing_pg_query(pg, "wanted", wanted_sql, params, 2, take_wanted, r, err);
}

struct blocks_answer {
	struct ing_lease_round *r;
	char mark[sizeof(((struct ing_lease_round *)0)->blocks_mark)];
};

static void take_block(void *ctx, const char *const *v, int count)
{
	struct blocks_answer *got = ctx;
	struct ing_lease_round *r = got->r;
	ing_must(count == 3);
	snprintf(got->mark, sizeof(got->mark), "%s", v[0]);
	if (v[1] == NULL || v[2] == NULL)
		return;
	size_t n = r->block_count;
	if (is_full(n))
		r->blocks = ing_realloc(r->blocks, (n == 0 ? 1 : 2 * n) * sizeof(*r->blocks));
	r->blocks[r->block_count++] =
		(struct ing_lease_block){.host = ing_strdup(v[1]), .why = ing_strdup(v[2])};
}

static enum ing_pg_rc check_blocks(
	struct ing_pg *pg, struct ing_lease_round *r, struct ing_error *err)
{
	struct blocks_answer got = {.r = r};
	struct ing_lease_number most;
	const char *params[] = {r->blocks_mark, ing_lease_number(&most, MAX_BLOCKS)};
	enum ing_pg_rc rc =
		ing_pg_query(pg, "blocks", blocks_sql, params, 2, take_block, &got, err);
	if (rc != ING_PG_OK)
		return rc;
	r->blocks_changed = strcmp(got.mark, r->blocks_mark) != 0;
	memcpy(r->blocks_mark, got.mark, sizeof(r->blocks_mark));
	if (r->blocks_changed && r->block_count == MAX_BLOCKS)
		ing_log(ING_LOG_ERROR, "host_block: only the first %d entries are used",
			MAX_BLOCKS);
	return ING_PG_OK;
}

static enum ing_pg_rc run_steps(struct ing_pg *pg, const struct ing_lease_session *ses,
	struct ing_pace *pace, struct ing_lease_round *r, struct ing_error *err)
{
	/* A host that is released may be requested in the same round. */
	enum ing_pg_rc rc = ing_lease_run_updates(pg, ses, pace, r, err);
	if (rc == ING_PG_OK)
		rc = run_extends(pg, ses, pace, r, err);
	if (rc == ING_PG_OK)
		rc = ing_lease_run_requests(pg, ses, pace, r, err);
	if (rc != ING_PG_OK)
		return rc;
	if (r->check_wanted)
		rc = check_wanted(pg, ses, r, err);
	if (rc == ING_PG_OK && r->check_blocks)
		rc = check_blocks(pg, r, err);
	if (rc == ING_PG_SLOW) /* it cannot ask for less */
		ing_pace_exceeded(pace, 1);
	return rc;
}

/* -------------------------------------------------------------------------------------------- */

void ing_lease_add_name(char ***names, size_t *count, const char *name)
{
	size_t n = *count;
	if (is_full(n))
		*names = ing_realloc(*names, (n == 0 ? 1 : 2 * n) * sizeof(**names));
	(*names)[n] = ing_strdup(name);
	*count = n + 1;
}

void ing_lease_free_names(char **names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(names[i]);
	free(names);
}

struct ing_lease_round *ing_lease_round_new(void)
{
	return ing_alloc(sizeof(struct ing_lease_round));
}

void ing_lease_round_free(struct ing_lease_round *r)
{
	if (r == NULL)
		return;
	for (size_t i = 0; i < r->request_count; i++)
		free(r->requests[i].holder);
	free_answers(r);
	free(r->updates);
	free(r->releases);
	free(r->extends);
	free(r->requests);
	free(r);
}

bool ing_lease_is_name(const char *host)
{
	size_t n = 0;
	for (; host[n] != '\0'; n++) {
		if (n == 253 || host[n] <= ' ' || host[n] > '~')
			return false;
	}
	return n > 0;
}

const char *ing_lease_number(struct ing_lease_number *n, int64_t value)
{
	snprintf(n->text, sizeof(n->text), "%lld", (long long)value);
	return n->text;
}

int ing_lease_prepare(struct ing_pg *pg, struct ing_error *err)
{
	/* Plans are made once: the shape of a statement does not depend on its hosts. */
	static const char settings[] = "SET statement_timeout = '" STATEMENT_TIMEOUT "';"
				       "SET default_transaction_isolation = 'read committed';"
				       "SET plan_cache_mode = 'force_generic_plan';"
				       "SET client_min_messages = 'error'";
	return ing_schema_prepare(pg, settings, err);
}

enum ing_pg_rc ing_lease_execute(struct ing_pg *pg, const struct ing_lease_session *ses,
	struct ing_pace *pace, struct ing_lease_round *r, struct ing_error *err)
{
	uint64_t start = uv_hrtime();
	free_answers(r);
	enum ing_pg_rc rc = ing_pg_set_limits(pg, pace, err);
	if (rc == ING_PG_OK)
		rc = run_steps(pg, ses, pace, r, err);
	r->database_us += (uv_hrtime() - start) / 1000;
	return rc;
}
