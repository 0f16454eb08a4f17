/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The world around a gate under test. One thread.
 */
#include "tests/unit/worker/gate/gate_world.h"

#include <uv.h>

#include "common/net/url.h"

struct ing_gate *gate;
struct visitor visitors[VISITORS];
int order[VISITORS];
int granted_count, refused_count;
struct world_lookups lookups;
unsigned world_grant_ms, world_leases_held;

const struct ing_gate_conf patient = {.settings = {.concurrency = 10,
					      .host_concurrency = 2,
					      .max_wait_ms = 600000,
					      .backoff = {.delay_ms = 100,
						      .retry_after_max_ms = 86400000,
						      .backoff_ms = 5000,
						      .backoff_max_ms = 3600000,
						      .breaker_failures = 3}}};

static uv_loop_t loop;
static uint64_t now_ms = 1000000;
static uv_timer_t *timer;
static uv_timer_cb timer_cb;
static uint64_t timer_due_ms;

/* --- the clock --- */

uint64_t __wrap_ing_now_ms(void);
int __wrap_uv_timer_start(uv_timer_t *t, uv_timer_cb cb, uint64_t timeout, uint64_t repeat);
int __wrap_uv_timer_stop(uv_timer_t *t);

uint64_t __wrap_ing_now_ms(void)
{
	return now_ms;
}

int __wrap_uv_timer_start(uv_timer_t *t, uv_timer_cb cb, uint64_t timeout, uint64_t repeat)
{
	assert_int_equal(repeat, 0);
	timer = t;
	timer_cb = cb;
	timer_due_ms = now_ms + timeout;
	return 0;
}

int __wrap_uv_timer_stop(uv_timer_t *t)
{
	(void)t;
	timer_cb = NULL;
	return 0;
}

uint64_t world_now(void)
{
	return now_ms;
}

void world_skip(uint64_t ms)
{
	now_ms += ms;
}

struct uv_loop_s *world_loop(void)
{
	return &loop;
}

/* --- lookups --- */

#define MAX_LOOKUPS 4096

static struct pending {
	struct ing_gate_lookup *l;
	const char *addr;
	uint64_t due_ms;
} pending[MAX_LOOKUPS];
static size_t pending_count;

static const char *find_name(const char *url)
{
	char host[ING_URL_HOST_BYTES];
	assert_true(ing_url_host(url, host, sizeof(host)));
	for (size_t i = 0; i < lookups.count; i++) {
		if (strcmp(lookups.names[i].host, host) == 0)
			return lookups.names[i].addr;
	}
	return NULL;
}

static void answer_lookup(struct ing_gate_lookup *l, const char *addr_text)
{
	struct ing_addr addr;
	l->state = NULL;
	if (addr_text != NULL)
		assert_true(ing_addr_parse(addr_text, &addr));
	l->done(l, addr_text != NULL ? &addr : NULL);
}

static void start_lookup(void *ctx, struct ing_gate_lookup *l, const char *url)
{
	(void)ctx;
	assert_null(l->state);
	lookups.started++;
	snprintf(lookups.last_url, sizeof(lookups.last_url), "%s", url);
	const char *addr = find_name(url);
	if (lookups.delay_ms == 0) {
		answer_lookup(l, addr);
		return;
	}
	assert_true(pending_count < MAX_LOOKUPS);
	l->state = &pending;
	pending[pending_count++] = (struct pending){l, addr, now_ms + lookups.delay_ms};
	lookups.under_way++;
	lookups.most_under_way = ING_MAX(lookups.most_under_way, lookups.under_way);
}

static void take_pending(size_t i)
{
	pending_count--;
	memmove(pending + i, pending + i + 1, (pending_count - i) * sizeof(*pending));
	lookups.under_way--;
}

static void stop_lookup(void *ctx, struct ing_gate_lookup *l)
{
	(void)ctx;
	for (size_t i = 0; i < pending_count; i++) {
		if (pending[i].l == l)
			take_pending(i);
	}
	l->state = NULL;
}

struct ing_gate_lookup_ops world_lookup_ops(void)
{
	return (struct ing_gate_lookup_ops){.start = start_lookup, .stop = stop_lookup};
}

static bool answer_due_lookup(void)
{
	for (size_t i = 0; i < pending_count; i++) {
		if (pending[i].due_ms > now_ms)
			continue;
		struct pending p = pending[i];
		take_pending(i);
		answer_lookup(p.l, p.addr);
		return true;
	}
	return false;
}

/* --- leases --- */

#define MAX_LEASES 256

struct ing_leases {
	struct ing_lease_user user;
	struct world_lease hosts[MAX_LEASES];
	size_t count;
	bool away;
};
static struct ing_leases leases;

struct ing_leases *world_leases(void)
{
	memset(&leases, 0, sizeof(leases));
	world_grant_ms = world_leases_held = 0;
	return &leases;
}

struct world_lease *world_lease(const char *host)
{
	for (size_t i = 0; i < leases.count; i++) {
		if (strcmp(leases.hosts[i].host, host) == 0)
			return &leases.hosts[i];
	}
	assert_true(leases.count < MAX_LEASES);
	struct world_lease *w = &leases.hosts[leases.count++];
	snprintf(w->host, sizeof(w->host), "%s", host);
	return w;
}

static void drop_lease(struct world_lease *w)
{
	world_leases_held -= w->held;
	w->held = false;
}

void world_lease_event(const char *host, enum ing_lease_event_type answer, unsigned ms,
	const struct ing_host_backoff *backoff)
{
	struct world_lease *w = world_lease(host);
	struct ing_lease_event n = {.host = host, .type = answer, .backoff = backoff};
	if (answer == ING_LEASE_GRANTED) {
		n.until_ms = now_ms + ms;
		world_leases_held += !w->held;
		w->held = true;
	} else if (answer == ING_LEASE_LOST) {
		drop_lease(w);
	} else {
		n.retry_ms = ms;
		n.holder = answer == ING_LEASE_HELD ? "another" : NULL;
	}
	if (answer != ING_LEASE_WANTED)
		w->asked = false;
	leases.user.event(leases.user.ctx, &n);
}

void world_leases_away(bool away)
{
	leases.away = away;
	leases.user.state(leases.user.ctx, away);
}

static bool grant_asked(void)
{
	for (size_t i = 0; world_grant_ms > 0 && i < leases.count; i++) {
		if (leases.hosts[i].asked) {
			world_lease_event(
				leases.hosts[i].host, ING_LEASE_GRANTED, world_grant_ms, NULL);
			return true;
		}
	}
	return false;
}

void ing_leases_set_user(struct ing_leases *l, const struct ing_lease_user *user)
{
	l->user = *user;
}

bool ing_leases_away(const struct ing_leases *l)
{
	return l->away;
}

void ing_leases_hurry(struct ing_leases *l, const char *host)
{
	(void)l;
	(void)host;
}

void ing_leases_request(struct ing_leases *l, const char *host)
{
	(void)l;
	struct world_lease *w = world_lease(host);
	assert_false(w->asked);
	assert_false(w->held);
	w->asked = true;
	w->asks++;
	w->asked_ms = now_ms;
}

void ing_leases_cancel(struct ing_leases *l, const char *host)
{
	(void)l;
	struct world_lease *w = world_lease(host);
	assert_true(w->asked);
	w->asked = false;
	w->forgets++;
}

void ing_leases_update(struct ing_leases *l, const char *host, const struct ing_host_backoff *p)
{
	(void)l;
	struct world_lease *w = world_lease(host);
	assert_true(w->held);
	w->notes++;
	w->said = *p;
}

void ing_leases_release(struct ing_leases *l, const char *host, const struct ing_host_backoff *p)
{
	(void)l;
	struct world_lease *w = world_lease(host);
	assert_true(w->held);
	drop_lease(w);
	w->returns++;
	w->returned_ms = now_ms;
	w->said = *p;
}

/* --- rules --- */

const struct ing_host_rule *ing_host_rules_find(const struct ing_host_rules *r, const char *host)
{
	for (size_t i = 0; r != NULL && i < r->count; i++) {
		if (strcmp(r->rules[i].host, host) == 0)
			return &r->rules[i];
	}
	return NULL;
}

/* --- visitors --- */

static void on_granted(struct ing_gate_waiter *w)
{
	struct visitor *v = ING_CONTAINER(w, struct visitor, waiter);
	v->granted_ms = now_ms;
	if (granted_count < VISITORS)
		order[granted_count] = v->id;
	granted_count++;
}

static void on_refused(
	struct ing_gate_waiter *w, enum ing_gate_refusal reason, unsigned retry_after_s)
{
	struct visitor *v = ING_CONTAINER(w, struct visitor, waiter);
	v->refused = true;
	v->reason = reason;
	v->retry_after_s = retry_after_s;
	refused_count++;
}

static const struct ing_gate_user user = {.granted = on_granted, .refused = on_refused};

void open_gate(const struct ing_gate_conf *conf)
{
	assert_int_equal(uv_loop_init(&loop), 0);
	memset(visitors, 0, sizeof(visitors));
	granted_count = refused_count = 0;
	for (int i = 0; i < VISITORS; i++) {
		visitors[i].id = i;
		visitors[i].waiter.user = &user;
	}
	lookups.started = lookups.under_way = lookups.most_under_way = 0;
	timer_cb = NULL;
	gate = ing_gate_new(&loop, conf);
}

struct ing_gate_stats gate_stats(void)
{
	struct ing_gate_stats s = {0};
	ing_gate_stats(gate, &s);
	return s;
}

void close_gate(void)
{
	for (int i = 0; i < VISITORS; i++)
		ing_gate_leave(gate, &visitors[i].waiter, NULL);
	ing_gate_free(gate);
	assert_int_equal(lookups.under_way, 0);
	assert_int_equal(world_leases_held, 0);
	timer_cb = NULL;
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0);
	lookups = (struct world_lookups){0};
}

static bool fire_timer(void)
{
	if (timer_cb == NULL || timer_due_ms > now_ms)
		return false;
	uv_timer_cb cb = ING_TAKE(timer_cb);
	cb(timer);
	return true;
}

/* All that can happen without time passing. */
static void settle(void)
{
	unsigned turns = 0;
	for (;;) {
		while (uv_loop_alive(&loop)) {
			uv_run(&loop, UV_RUN_NOWAIT);
			assert_true(++turns < 10000000); /* else the pump never stops */
		}
		if (!fire_timer() && !answer_due_lookup() && !grant_asked())
			return;
		assert_true(++turns < 10000000);
	}
}

void run_for(uint64_t ms)
{
	uint64_t end = now_ms + ms;
	for (;;) {
		settle();
		uint64_t next = end;
		if (timer_cb != NULL)
			next = ING_MIN(next, timer_due_ms);
		for (size_t i = 0; i < pending_count; i++)
			next = ING_MIN(next, pending[i].due_ms);
		if (now_ms >= end)
			return;
		now_ms = next;
	}
}

void enter_with(int id, const char *url, const struct ing_gate_ticket *ticket)
{
	visitors[id].granted_ms = 0;
	visitors[id].refused = false;
	ing_gate_enter(gate, &visitors[id].waiter, url, ticket);
}

void enter_lane(int id, const char *url, enum ing_lane lane)
{
	enter_with(id, url, &(struct ing_gate_ticket){.lane = lane});
}

void enter(int id, const char *url)
{
	enter_lane(id, url, ING_LANE_REQUESTS);
}

void leave(int id)
{
	ing_gate_leave(gate, &visitors[id].waiter, NULL);
}

void answer(int id, const struct ing_gate_report *report)
{
	assert_int_equal(visitors[id].waiter.state, ING_GATE_HOLDING);
	ing_gate_leave(gate, &visitors[id].waiter, report);
}

void answer_good(int id)
{
	answer(id, &(struct ing_gate_report){.kind = ING_ANSWER_GOOD,
			   .http_status = 200,
			   .outcome = "success",
			   .retry_after_s = -1});
}

void answer_throttled(int id, int64_t retry_after_s)
{
	answer(id, &(struct ing_gate_report){.kind = ING_ANSWER_THROTTLED,
			   .http_status = 429,
			   .retry_after_s = retry_after_s});
}

void answer_failed(int id)
{
	answer(id, &(struct ing_gate_report){.kind = ING_ANSWER_FAILED, .retry_after_s = -1});
}
