/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Updates and releases: what was learnt of hosts while they were leased.
 */
#include <stdlib.h>

#include "worker/gate/fleet/lease_sql.h"

/* $1 hosts, $2 rest_ms, $3 rest, $4 breaker, $5 failures, $6 opens, $7 crawl_delay_ms,
 * $8 response_ms, $9 http_status, $10 outcome, $11 answered_ms ago (negative: never), $12 session.
 *
 * An INSERT, because it locks the rows of its conflicts in the order in which they come, at no
 * price. A host without a row (the database was emptied) gets one without a holder; the row of a
 * host that another worker holds by now is not changed. */
#define INSERT_SQL                                                                                 \
	"INSERT INTO host_state AS s (host, next_fetch_at, rest, breaker, failures, opens,"        \
	" crawl_delay_ms, response_ms, http_status, outcome, answered_at, updated)"                \
	" SELECT h, now + rest_ms * interval '1 ms', rest, breaker, failures, opens, crawl,"       \
	" response, nullif(http_status, 0), nullif(outcome, ''),"                                  \
	" CASE WHEN answered_ms >= 0 THEN now - answered_ms * interval '1 ms' END, now"            \
	" FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::int[], $6::int[],"     \
	"  $7::int[], $8::int[], $9::int[], $10::text[], $11::bigint[]) AS u (h, rest_ms, rest,"   \
	"  breaker, failures, opens, crawl, response, http_status, outcome, answered_ms),"         \
	"  clock_timestamp() AS now"
#define UPDATE_SQL                                                                                 \
	" ORDER BY h COLLATE \"C\""                                                                \
	" ON CONFLICT (host) DO UPDATE SET next_fetch_at = excluded.next_fetch_at,"                \
	"  rest = excluded.rest, breaker = excluded.breaker, failures = excluded.failures,"        \
	"  opens = excluded.opens, crawl_delay_ms = excluded.crawl_delay_ms,"                      \
	"  response_ms = excluded.response_ms, http_status = excluded.http_status,"                \
	"  outcome = excluded.outcome, answered_at = excluded.answered_at,"                        \
	"  updated = excluded.updated"
#define OURS_SQL " WHERE s.session = $12::bigint"

static const char update_sql[] =
	INSERT_SQL UPDATE_SQL ", expires_at = s.expires_at - " ING_LEASE_SET_BACK
			      ", wanted_at = s.wanted_at - " ING_LEASE_SET_BACK OURS_SQL;

/* A reservation's few seconds count from now on. This need not be on the server's disk before it is
 * answered (set_config: for this transaction): if the server crashes just then, the host stays
 * leased until the lease expires; a hold, which must not be lost, was written before by an
 * update. */
static const char release_sql[] = INSERT_SQL
	", set_config('synchronous_commit', 'off', true) AS relaxed" UPDATE_SQL
	", holder = NULL, session = NULL, expires_at = NULL, wanted_of = NULL,"
	" wanted_at = CASE WHEN s.wanted_at IS NOT NULL THEN excluded.updated END" OURS_SQL;

enum update_param {
	UPDATE_HOST,
	UPDATE_REST_MS,
	UPDATE_REST,
	UPDATE_BREAKER,
	UPDATE_FAILURES,
	UPDATE_OPENS,
	UPDATE_CRAWL_DELAY_MS,
	UPDATE_RESPONSE_MS,
	UPDATE_HTTP_STATUS,
	UPDATE_OUTCOME,
	UPDATE_ANSWERED_MS,
	UPDATE_LISTS, /* so many lists; then the session */
};

static uint64_t span(uint64_t from_ms, uint64_t to_ms)
{
	return to_ms <= from_ms ? 0 : ING_MIN(to_ms - from_ms, ING_LEASE_SPAN_MS);
}

static void add_number(struct ing_buf *list, uint64_t n)
{
	ing_buf_printf(list, "%s%llu", list->len == 0 ? "{" : ",",
		(unsigned long long)ING_MIN(n, ING_LEASE_SPAN_MS));
}

static void add_int(struct ing_buf *list, unsigned n)
{
	add_number(list, ING_MIN(n, (unsigned)INT32_MAX));
}

/* A name of our own, which needs no escapes. */
static void add_name(struct ing_buf *list, const char *name)
{
	ing_buf_printf(list, "%s\"%s\"", list->len == 0 ? "{" : ",", name);
}

static void add_backoff(struct ing_buf *lists, const struct ing_host_backoff *p, uint64_t now_ms)
{
	add_number(&lists[UPDATE_REST_MS], span(now_ms, p->rest_until_ms));
	add_name(&lists[UPDATE_REST], ing_rest_name(p->rest));
	add_name(&lists[UPDATE_BREAKER], ing_breaker_name(p->breaker));
	add_int(&lists[UPDATE_FAILURES], p->failures);
	add_int(&lists[UPDATE_OPENS], p->opens);
	add_int(&lists[UPDATE_CRAWL_DELAY_MS], p->crawl_delay_ms);
	add_int(&lists[UPDATE_RESPONSE_MS], p->response_ms);
	add_int(&lists[UPDATE_HTTP_STATUS], (unsigned)ING_MAX(p->http_status, 0));
	add_name(&lists[UPDATE_OUTCOME], p->outcome != NULL ? p->outcome : "");
	if (p->answered_ms != 0)
		add_number(&lists[UPDATE_ANSWERED_MS], span(p->answered_ms, now_ms));
	else
		add_name(&lists[UPDATE_ANSWERED_MS], "-1");
}

/* False: none of them is in the database. */
static bool fill_lists(struct ing_buf *lists, const struct ing_lease_update *updates, size_t count)
{
	const char **hosts = ing_alloc(count * sizeof(*hosts));
	size_t n = 0;
	uint64_t now = ing_now_ms();
	for (size_t i = 0; i < count; i++) {
		if (!ing_lease_is_name(updates[i].host))
			continue;
		hosts[n++] = updates[i].host;
		add_backoff(lists, &updates[i].backoff, now);
	}
	ing_pg_add_array(&lists[UPDATE_HOST], hosts, n);
	free(hosts);
	for (int i = UPDATE_HOST + 1; i < UPDATE_LISTS; i++)
		ing_buf_add_char(&lists[i], '}');
	for (int i = 0; i < UPDATE_LISTS; i++)
		ing_must(!lists[i].failed);
	return n > 0;
}

struct update_run {
	const struct ing_lease_session *ses;
	const char *name, *sql;
	const struct ing_lease_update *updates;
};

static enum ing_pg_rc send_slice(
	struct ing_pg *pg, void *ctx, size_t at, size_t count, struct ing_error *err)
{
	const struct update_run *run = ctx;
	struct ing_buf lists[UPDATE_LISTS];
	const char *params[UPDATE_LISTS + 1];
	struct ing_lease_number id;
	enum ing_pg_rc rc = ING_PG_OK;
	for (int i = 0; i < UPDATE_LISTS; i++)
		ing_buf_init(&lists[i], ING_LEASE_PARAM_BYTES);
	bool any = fill_lists(lists, run->updates + at, count);
	for (int i = 0; i < UPDATE_LISTS; i++)
		params[i] = ing_buf_str(&lists[i]);
	params[UPDATE_LISTS] = ing_lease_number(&id, run->ses->id);
	if (any)
		rc = ing_pg_query(
			pg, run->name, run->sql, params, UPDATE_LISTS + 1, NULL, NULL, err);
	for (int i = 0; i < UPDATE_LISTS; i++)
		ing_buf_done(&lists[i]);
	return rc;
}

/* -------------------------------------------------------------------------------------------- */

enum ing_pg_rc ing_lease_run_updates(struct ing_pg *pg, const struct ing_lease_session *ses,
	struct ing_pace *pace, struct ing_lease_round *r, struct ing_error *err)
{
	struct update_run updates = {ses, "update", update_sql, r->updates};
	struct update_run releases = {ses, "release", release_sql, r->releases};
	enum ing_pg_rc rc =
		ing_lease_in_slices(pg, pace, r->update_count, send_slice, &updates, err);
	if (rc == ING_PG_OK)
		rc = ing_lease_in_slices(pg, pace, r->release_count, send_slice, &releases, err);
	return rc;
}
