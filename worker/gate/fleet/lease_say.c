/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Saying: what was learnt of hosts while they were leased, with or without giving them back.
 */
#include <stdlib.h>

#include "worker/gate/fleet/lease_sql.h"

/* $1 hosts, $2 rest_ms, $3 rest, $4 breaker, $5 failures, $6 opens, $7 crawl_delay_ms,
 * $8 response_ms, $9 http_status, $10 outcome, $11 answered_ms ago (negative: never), $12 session.
 *
 * An INSERT, because it locks the rows of its conflicts in the order in which they come, at no
 * price. A host without a row (the database was emptied) gets one that nobody holds; what another
 * holds by now is left alone, for that one knows better. */
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

static const char note_sql[] =
	INSERT_SQL UPDATE_SQL ", expires_at = s.expires_at - " ING_LEASE_SET_BACK
			      ", wanted_at = s.wanted_at - " ING_LEASE_SET_BACK OURS_SQL;

/* Who waits in line has its few seconds from now on. Nobody waits for this to be on the server's
 * disk (set_config: for this transaction): should it crash just then, the host stays leased until
 * the lease runs out, and what must not be forgotten, a hold, was noted before. */
static const char return_sql[] = INSERT_SQL
	", set_config('synchronous_commit', 'off', true) AS relaxed" UPDATE_SQL
	", holder = NULL, session = NULL, expires_at = NULL, wanted_of = NULL,"
	" wanted_at = CASE WHEN s.wanted_at IS NOT NULL THEN excluded.updated END" OURS_SQL;

enum say_param {
	SAY_HOST,
	SAY_REST_MS,
	SAY_REST,
	SAY_BREAKER,
	SAY_FAILURES,
	SAY_OPENS,
	SAY_CRAWL_DELAY_MS,
	SAY_RESPONSE_MS,
	SAY_HTTP_STATUS,
	SAY_OUTCOME,
	SAY_ANSWERED_MS,
	SAY_LISTS, /* so many lists; then the session */
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

static void add_patience(struct ing_buf *lists, const struct ing_patience *p, uint64_t now_ms)
{
	add_number(&lists[SAY_REST_MS], span(now_ms, p->rest_until_ms));
	add_name(&lists[SAY_REST], ing_rest_name(p->rest));
	add_name(&lists[SAY_BREAKER], ing_breaker_name(p->breaker));
	add_int(&lists[SAY_FAILURES], p->failures);
	add_int(&lists[SAY_OPENS], p->opens);
	add_int(&lists[SAY_CRAWL_DELAY_MS], p->crawl_delay_ms);
	add_int(&lists[SAY_RESPONSE_MS], p->response_ms);
	add_int(&lists[SAY_HTTP_STATUS], (unsigned)ING_MAX(p->http_status, 0));
	add_name(&lists[SAY_OUTCOME], p->outcome != NULL ? p->outcome : "");
	if (p->answered_ms != 0)
		add_number(&lists[SAY_ANSWERED_MS], span(p->answered_ms, now_ms));
	else
		add_name(&lists[SAY_ANSWERED_MS], "-1");
}

/* False: none of them is in the database. */
static bool fill_lists(struct ing_buf *lists, const struct ing_lease_say *says, size_t count)
{
	const char **hosts = ing_alloc(count * sizeof(*hosts));
	size_t n = 0;
	uint64_t now = ing_now_ms();
	for (size_t i = 0; i < count; i++) {
		if (!ing_lease_is_name(says[i].host))
			continue;
		hosts[n++] = says[i].host;
		add_patience(lists, &says[i].patience, now);
	}
	ing_pg_add_array(&lists[SAY_HOST], hosts, n);
	free(hosts);
	for (int i = SAY_HOST + 1; i < SAY_LISTS; i++)
		ing_buf_add_char(&lists[i], '}');
	for (int i = 0; i < SAY_LISTS; i++)
		ing_must(!lists[i].failed);
	return n > 0;
}

struct say_run {
	const struct ing_lease_session *ses;
	const char *name, *sql;
	const struct ing_lease_say *says;
};

static enum ing_pg_rc say(
	struct ing_pg *pg, void *ctx, size_t at, size_t count, struct ing_error *err)
{
	const struct say_run *run = ctx;
	struct ing_buf lists[SAY_LISTS];
	const char *params[SAY_LISTS + 1];
	struct ing_lease_number id;
	enum ing_pg_rc rc = ING_PG_OK;
	for (int i = 0; i < SAY_LISTS; i++)
		ing_buf_init(&lists[i], ING_LEASE_PARAM_BYTES);
	bool any = fill_lists(lists, run->says + at, count);
	for (int i = 0; i < SAY_LISTS; i++)
		params[i] = ing_buf_str(&lists[i]);
	params[SAY_LISTS] = ing_lease_number(&id, run->ses->id);
	if (any)
		rc = ing_pg_query(pg, run->name, run->sql, params, SAY_LISTS + 1, NULL, NULL, err);
	for (int i = 0; i < SAY_LISTS; i++)
		ing_buf_done(&lists[i]);
	return rc;
}

/* -------------------------------------------------------------------------------------------- */

enum ing_pg_rc ing_lease_run_says(struct ing_pg *pg, const struct ing_lease_session *ses,
	struct ing_pace *pace, struct ing_lease_round *r, struct ing_error *err)
{
	struct say_run notes = {ses, "note", note_sql, r->notes};
	struct say_run returns = {ses, "return", return_sql, r->returns};
	enum ing_pg_rc rc = ing_lease_in_slices(pg, pace, r->note_count, say, &notes, err);
	if (rc == ING_PG_OK)
		rc = ing_lease_in_slices(pg, pace, r->return_count, say, &returns, err);
	return rc;
}
