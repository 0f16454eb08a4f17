/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a worker does in the database when it starts: it releases what an earlier process of its
 * name held, for which every row is read, and deletes old rows.
 */
#include <stdlib.h>

#include "common/base/log.h"
#include "worker/gate/fleet/lease_sql.h"

/* Limits of the statement that reads the whole table, in usual ones. */
#define LOOK_LIMITS 4
#define FORGET_MOST "10000"

/* $1 instance, $2 session. */
static const char held_sql[] =
	"SELECT host FROM host_state WHERE holder = $1 AND session <> $2::bigint ORDER BY host";

/* $1 hosts, $2 instance, $3 session, $4 takeover_rest_ms. The next holder may be any
 * worker. */
static const char take_over_sql[] =
	"WITH old AS (SELECT host FROM host_state WHERE host = ANY ($1::text[])"
	" AND holder = $2 AND session <> $3::bigint ORDER BY host FOR NO KEY UPDATE)"
	" UPDATE host_state AS s SET holder = NULL, session = NULL, expires_at = NULL,"
	" wanted_of = NULL, updated = clock_timestamp(),"
	" wanted_at = s.wanted_at - " ING_LEASE_SET_BACK ","
	" answered_at = s.answered_at - " ING_LEASE_SET_BACK ","
	" rest = CASE WHEN s.next_fetch_at - " ING_LEASE_SET_BACK
	"  < clock_timestamp() + $4::bigint * interval '1 ms' THEN 'worker-died' ELSE s.rest END,"
	" next_fetch_at = greatest(s.next_fetch_at - " ING_LEASE_SET_BACK ","
	"  clock_timestamp() + $4::bigint * interval '1 ms')"
	" FROM old WHERE s.host = old.host AND s.holder = $2 AND s.session <> $3::bigint";

/* Rows that have not been used for so long are deleted, so that the table does not grow for ever;
 * locked rows are skipped. */
static const char forget_sql[] =
	"DELETE FROM host_state WHERE host IN (SELECT host FROM host_state WHERE holder IS NULL"
	" AND updated < clock_timestamp() - interval '90 days'"
	" AND next_fetch_at < clock_timestamp() ORDER BY host LIMIT " FORGET_MOST
	" FOR UPDATE SKIP LOCKED)";

struct take_over_run {
	const struct ing_lease_session *ses;
	char **hosts;
	size_t count;
};

static void take_held(void *ctx, const char *const *v, int count)
{
	struct take_over_run *run = ctx;
	ing_must(count == 1);
	ing_lease_add_name(&run->hosts, &run->count, v[0]);
}

static enum ing_pg_rc take_over(
	struct ing_pg *pg, void *ctx, size_t at, size_t count, struct ing_error *err)
{
	const struct take_over_run *run = ctx;
	struct ing_buf list;
	struct ing_lease_number id, rest;
	ing_buf_init(&list, ING_LEASE_PARAM_BYTES);
	ing_pg_add_array(&list, (const char *const *)run->hosts + at, count);
	ing_must(!list.failed);
	const char *params[] = {ing_buf_str(&list), run->ses->instance,
		ing_lease_number(&id, run->ses->id),
		ing_lease_number(&rest, run->ses->takeover_rest_ms)};
	enum ing_pg_rc rc = ing_pg_query(
		pg, "take over", take_over_sql, params, ING_ARRAY_LEN(params), NULL, NULL, err);
	ing_buf_done(&list);
	return rc;
}

/* If it takes too long: there will be other starts. */
static enum ing_pg_rc forget(struct ing_pg *pg, const struct ing_pace *pace, struct ing_error *err)
{
	enum ing_pg_rc rc = ing_pg_set_limits(pg, pace, err);
	if (rc == ING_PG_OK)
		rc = ing_pg_exec(pg, forget_sql, err);
	if (rc != ING_PG_SLOW && rc != ING_PG_LOCKED)
		return rc;
	ing_error_clear(err);
	return ING_PG_OK;
}

/* -------------------------------------------------------------------------------------------- */

enum ing_pg_rc ing_lease_take_over(struct ing_pg *pg, const struct ing_lease_session *ses,
	struct ing_pace *pace, struct ing_error *err)
{
	struct take_over_run run = {.ses = ses};
	struct ing_pace look;
	struct ing_lease_number id;
	const char *params[] = {ses->instance, ing_lease_number(&id, ses->id)};
	ing_pace_init(&look, 1, LOOK_LIMITS * pace->base_ms);
	enum ing_pg_rc rc = ing_pg_set_limits(pg, &look, err);
	if (rc == ING_PG_OK)
		rc = ing_pg_query(
			pg, NULL, held_sql, params, ING_ARRAY_LEN(params), take_held, &run, err);
	if (rc == ING_PG_OK)
		rc = ing_lease_in_slices(pg, pace, run.count, take_over, &run, err);
	if (rc == ING_PG_OK && run.count > 0)
		ing_log(ING_LOG_WARNING,
			"the last process of this instance died with the leases of %zu host%s, and may "
			"have asked them until then: they rest for %u ms from now",
			run.count, ING_PLURAL_S(run.count), ses->takeover_rest_ms);
	ing_lease_free_names(run.hosts, run.count);
	return rc == ING_PG_OK ? forget(pg, pace, err) : rc;
}
