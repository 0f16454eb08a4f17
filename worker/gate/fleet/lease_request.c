/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Requests: one statement that grants the hosts that are free, reserves others, and returns what
 * the fleet knows of all of them.
 */
#include <stdlib.h>
#include <string.h>

#include "common/data/pg.h"
#include "worker/gate/fleet/lease_sql.h"
#include "worker/model/status.h"

/* A host is granted so long before its next fetch is due, so that the fetch can start in time. */
#define EARLY_MS 2000
/* How long a reservation lasts from when the host could be granted: a little longer than it takes
 * to request again. */
#define RESERVATION_MS 5000
/* When to request again: for whoever has the reservation (the holder hears of it within a second),
 * and for others. */
#define RETRY_NEXT_MS 1000
#define RETRY_LATER_MS 3000
#define RETRY_MIN_MS 50

/* $1 hosts, $2 instance, $3 session, $4 lease_ms, $5 expired_rest_ms, $6 EARLY_MS, $7
 * RESERVATION_MS, $8 takeover_rest_ms.
 *
 * Every row is written, also those of hosts that are not granted: for the reservation, and because
 * the decision holds only under the row's lock. `now` is taken before any lock is waited for: it
 * may be too early, never too late, so no lease or rest is taken for over that is not.
 *
 * Names within the statement, of the row as it was:
 *   back      how far the clock was set back since the row was written; until, due_at, line_at and
 *             heard_at are expires_at, next_fetch_at, wanted_at and answered_at less that
 *   mine      we hold the lease already
 *   had       another's lease has expired: its holder died, or lost the database and may have
 *   fetched
 *             until then, so the host rests from then on
 *   free      nobody else holds a lease
 *   due       when the next fetch is due
 *   behind    another worker has the reservation, and it has not lapsed */
static const char request_sql[] =
	"INSERT INTO host_state AS s (host, holder, session, expires_at, next_fetch_at, updated)"
	" SELECT h, $2, $3::bigint, now + $4::bigint * interval '1 ms', now, now"
	" FROM unnest($1::text[]) AS h, clock_timestamp() AS now"
	" ORDER BY h COLLATE \"C\""
	" ON CONFLICT (host) DO UPDATE SET"
	" (holder, session, expires_at, wanted_by, wanted_session, wanted_at, wanted_of,"
	"  next_fetch_at, rest, answered_at, updated) ="
	" (SELECT"
	"   CASE WHEN granted THEN excluded.holder WHEN free THEN NULL ELSE s.holder END,"
	"   CASE WHEN granted THEN excluded.session WHEN free THEN NULL ELSE s.session END,"
	"   CASE WHEN granted THEN excluded.expires_at WHEN free THEN NULL ELSE until END,"
	"   CASE WHEN granted THEN NULL WHEN behind THEN s.wanted_by ELSE excluded.holder END,"
	"   CASE WHEN granted THEN NULL WHEN behind THEN s.wanted_session"
	"    ELSE excluded.session END,"
	"   CASE WHEN granted THEN NULL WHEN behind THEN line_at ELSE excluded.updated END,"
	"   CASE WHEN granted OR free THEN NULL ELSE s.session END,"
	"   due, CASE WHEN had AND due > due_at THEN 'worker-died' ELSE s.rest END,"
	"   heard_at, excluded.updated"
	"  FROM (SELECT *, mine OR (free AND NOT behind AND"
	"     due <= excluded.updated + $6::bigint * interval '1 ms') AS granted"
	"   FROM (SELECT *, mine OR had OR s.session IS NULL AS free,"
	"      s.wanted_session IS NOT NULL AND s.wanted_session <> excluded.session AND"
	"      greatest(line_at, due - $6::bigint * interval '1 ms') >"
	"       excluded.updated - $7::bigint * interval '1 ms' AS behind"
	"    FROM (SELECT *, CASE WHEN had"
	"       THEN greatest(due_at, until + interval '1 ms' *"
	"        greatest($5::bigint, least(s.crawl_delay_ms, $8::bigint)))"
	"       ELSE due_at END AS due"
	"     FROM (SELECT *, s.session IS NOT DISTINCT FROM excluded.session AS mine,"
	"        s.session IS DISTINCT FROM excluded.session AND"
	"        coalesce(until <= excluded.updated, false) AS had"
	"      FROM (SELECT s.expires_at - back AS until, s.next_fetch_at - back AS due_at,"
	"         s.wanted_at - back AS line_at, s.answered_at - back AS heard_at"
	"       FROM (SELECT " ING_LEASE_SET_BACK " AS back) a) b) c) d) e) f)"
	" RETURNING host, session IS NOT DISTINCT FROM $3::bigint, session IS NOT NULL,"
	" wanted_session IS NOT DISTINCT FROM $3::bigint, coalesce(holder, wanted_by),"
	" ceil(extract(epoch FROM expires_at - updated) * 1000)::bigint,"
	" ceil(extract(epoch FROM next_fetch_at - updated) * 1000)::bigint,"
	" rest, breaker, failures, opens, crawl_delay_ms, response_ms, http_status, outcome,"
	" ceil(extract(epoch FROM updated - answered_at) * 1000)::bigint";

enum request_column {
	COLUMN_HOST,
	COLUMN_GRANTED,
	COLUMN_HELD, /* somebody holds the lease */
	COLUMN_NEXT, /* we have the reservation */
	COLUMN_HOLDER,
	COLUMN_LEFT_MS,
	COLUMN_REST_MS,
	COLUMN_REST,
	COLUMN_BREAKER,
	COLUMN_FAILURES,
	COLUMN_OPENS,
	COLUMN_CRAWL_DELAY_MS,
	COLUMN_RESPONSE_MS,
	COLUMN_HTTP_STATUS,
	COLUMN_OUTCOME,
	COLUMN_ANSWERED_MS,
	COLUMNS_
};

struct request_answers {
	struct ing_lease_request *requests; /* in the order of their hosts */
	size_t count;
	uint64_t sent_ms, here_ms;
	unsigned lease_ms;
};

static int compare_hosts(const void *a, const void *b)
{
	const struct ing_lease_request *x = a;
	const struct ing_lease_request *y = b;
	return strcmp(x->host, y->host);
}

static uint64_t moment(uint64_t now_ms, int64_t in_ms)
{
	if (in_ms >= 0)
		return now_ms + ING_MIN((uint64_t)in_ms, ING_LEASE_SPAN_MS);
	/* This machine may have been started later than that, and 0 means never. */
	return (uint64_t)-in_ms < now_ms ? now_ms - (uint64_t)-in_ms : 1;
}

static enum ing_rest rest_of(const char *name)
{
	for (int i = 0; i < ING_RESTS_; i++) {
		if (strcmp(ing_rest_name((enum ing_rest)i), name) == 0)
			return (enum ing_rest)i;
	}
	return ING_REST_DELAY; /* written by a newer worker: the time is what counts */
}

static enum ing_breaker breaker_of(const char *name)
{
	for (int i = 0; i <= ING_BREAKER_HALF_OPEN; i++) {
		if (strcmp(ing_breaker_name((enum ing_breaker)i), name) == 0)
			return (enum ing_breaker)i;
	}
	return ING_BREAKER_CLOSED;
}

static const char *outcome_of(const char *slug)
{
	if (slug == NULL)
		return NULL;
	int st = ing_status_from_slug(slug);
	return st < 0 ? "other" : ing_status_slug((enum ing_status)st);
}

static struct ing_host_backoff host_backoff_of(const char *const *v, uint64_t now_ms)
{
	int64_t rest_ms = ing_pg_int64(v[COLUMN_REST_MS]);
	struct ing_host_backoff p = {
		.rest = rest_of(v[COLUMN_REST]),
		.breaker = breaker_of(v[COLUMN_BREAKER]),
		.failures = ing_pg_unsigned(v[COLUMN_FAILURES]),
		.opens = ing_pg_unsigned(v[COLUMN_OPENS]),
		.crawl_delay_ms = ing_pg_unsigned(v[COLUMN_CRAWL_DELAY_MS]),
		.response_ms = ing_pg_unsigned(v[COLUMN_RESPONSE_MS]),
		.http_status = (int)ing_pg_unsigned(v[COLUMN_HTTP_STATUS]),
		.outcome = outcome_of(v[COLUMN_OUTCOME]),
	};
	if (v[COLUMN_ANSWERED_MS] != NULL)
		p.answered_ms = moment(now_ms, -ing_pg_int64(v[COLUMN_ANSWERED_MS]));
	/* Of a row that an earlier version has written. */
	if (rest_ms > 0 && p.rest == ING_REST_NONE)
		p.rest = ING_REST_DELAY;
	if (p.rest != ING_REST_NONE)
		p.rest_until_ms = moment(now_ms, rest_ms);
	return p;
}

static unsigned at_least(int64_t ms, unsigned min_ms)
{
	return ms <= (int64_t)min_ms ? min_ms : (unsigned)ING_MIN(ms, INT32_MAX);
}

/* A host that is not granted is held; or reserved for another, which is reported as held; or
 * resting. */
static void set_refusal(struct ing_lease_request *a, const char *const *v)
{
	bool next = v[COLUMN_NEXT][0] == 't';
	bool held = v[COLUMN_HELD][0] == 't';
	int64_t rest_ms = ing_pg_int64(v[COLUMN_REST_MS]);
	if (!held && (next || rest_ms > EARLY_MS)) {
		a->type = ING_LEASE_RESTING;
		a->retry_ms = at_least(rest_ms - EARLY_MS, RETRY_MIN_MS);
		return;
	}
	int64_t left_ms = held ? ing_pg_int64(v[COLUMN_LEFT_MS]) : RESERVATION_MS;
	a->type = ING_LEASE_HELD;
	a->holder = ing_strdup(v[COLUMN_HOLDER] != NULL ? v[COLUMN_HOLDER] : "");
	a->retry_ms =
		at_least(ING_MIN(left_ms, next ? RETRY_NEXT_MS : RETRY_LATER_MS), RETRY_MIN_MS);
}

static void take_answer(void *ctx, const char *const *v, int count)
{
	struct request_answers *got = ctx;
	ing_must(count == COLUMNS_);
	if (got->here_ms == 0)
		got->here_ms = ing_now_ms();
	struct ing_lease_request key = {.host = v[COLUMN_HOST]};
	struct ing_lease_request *a =
		bsearch(&key, got->requests, got->count, sizeof(*got->requests), compare_hosts);
	if (a == NULL)
		return;
	a->backoff = host_backoff_of(v, got->here_ms);
	if (v[COLUMN_GRANTED][0] != 't') {
		set_refusal(a, v);
		return;
	}
	a->type = ING_LEASE_GRANTED;
	a->until_ms = got->sent_ms + got->lease_ms;
}

/* Set the answers of hosts that are not sent to the database, and default ones. Returns how many
 * are sent. */
static size_t prepare_requests(
	struct ing_lease_round *r, const struct ing_lease_session *ses, const char **ret_hosts)
{
	size_t n = 0;
	uint64_t now = ing_now_ms();
	qsort(r->requests, r->request_count, sizeof(*r->requests), compare_hosts);
	for (size_t i = 0; i < r->request_count; i++) {
		struct ing_lease_request *a = &r->requests[i];
		free(ING_TAKE(a->holder));
		a->backoff = (struct ing_host_backoff){0};
		a->type = ING_LEASE_RESTING;
		a->retry_ms = RETRY_NEXT_MS;
		if (ing_lease_is_name(a->host)) {
			ret_hosts[n++] = a->host;
			continue;
		}
		a->type = ING_LEASE_GRANTED;
		a->until_ms = now + ses->lease_ms;
	}
	return n;
}

struct request_run {
	const struct ing_lease_session *ses;
	struct ing_lease_round *r;
	const char **hosts; /* those that the database is asked for */
};

static enum ing_pg_rc send_slice(
	struct ing_pg *pg, void *ctx, size_t at, size_t count, struct ing_error *err)
{
	const struct request_run *run = ctx;
	const struct ing_lease_session *ses = run->ses;
	struct ing_buf list;
	struct ing_lease_number id, lease, rest, early, line, most;
	ing_buf_init(&list, ING_LEASE_PARAM_BYTES);
	ing_pg_add_array(&list, run->hosts + at, count);
	ing_must(!list.failed);
	const char *params[] = {ing_buf_str(&list), ses->instance, ing_lease_number(&id, ses->id),
		ing_lease_number(&lease, ses->lease_ms),
		ing_lease_number(&rest, ses->expired_rest_ms), ing_lease_number(&early, EARLY_MS),
		ing_lease_number(&line, RESERVATION_MS),
		ing_lease_number(&most, ses->takeover_rest_ms)};
	struct request_answers got = {.requests = run->r->requests,
		.count = run->r->request_count,
		.lease_ms = ses->lease_ms,
		.sent_ms = ing_now_ms()};
	enum ing_pg_rc rc = ing_pg_query(
		pg, "request", request_sql, params, ING_ARRAY_LEN(params), take_answer, &got, err);
	ing_buf_done(&list);
	return rc;
}

/* -------------------------------------------------------------------------------------------- */

enum ing_pg_rc ing_lease_run_requests(struct ing_pg *pg, const struct ing_lease_session *ses,
	struct ing_pace *pace, struct ing_lease_round *r, struct ing_error *err)
{
	if (r->request_count == 0)
		return ING_PG_OK;
	struct request_run run = {ses, r, ing_alloc(r->request_count * sizeof(*run.hosts))};
	size_t count = prepare_requests(r, ses, run.hosts);
	enum ing_pg_rc rc = ing_lease_in_slices(pg, pace, count, send_slice, &run, err);
	free(run.hosts);
	return rc;
}
