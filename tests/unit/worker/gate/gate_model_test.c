/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Thousands of random things that may happen to a gate, in many configurations, against a model
 * that knows only what must never be: too many at once in all, at a host, at an address; a start
 * within a host's rest, without a lease, or while nothing may start; and anybody forgotten. The
 * seed is said, so that a failure can be had again (ING_SEED).
 */
#include "tests/unit/worker/gate/gate_world.h"

#include <uv.h>

#define PEOPLE 300
#define HOSTS 24
#define ADDRS 6
#define STEPS 6000
#define GAMES 60
#define TURN_MS 10000 /* a wanted lease is used for so long */
#define TRANSFER_MS 3000
#define LEASE_MS 12000

struct model_host {
	char name[40], addr_text[20];
	unsigned addr;
	unsigned holding, most;
	uint64_t rest_until_ms; /* as the gate must keep it at least */
	bool leased, asked, wanted;
	bool roomless;
	uint64_t leased_ms; /* since when */
	uint64_t lease_until_ms;
};

static struct person {
	struct ing_gate_waiter waiter;
	unsigned host;
	bool inside, holding;
	uint64_t not_before_ms, entered_ms;
} people[PEOPLE];

static struct model {
	struct ing_gate_conf conf;
	struct model_host hosts[HOSTS];
	unsigned addr_holding[ADDRS];
	unsigned holding;
	bool held, away;
	uint64_t grants, refusals;
	struct world_name names[HOSTS];
} m;

static uint64_t seed;

static unsigned pick(unsigned below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % below;
}

static bool chance(unsigned percent)
{
	return pick(100) < percent;
}

/* The host whose lock counts for a person. */
static unsigned lock_of(unsigned host)
{
	if (m.conf.settings.key != ING_KEY_ADDRESS || m.hosts[host].addr == ADDRS)
		return host;
	for (unsigned i = 0; i < HOSTS; i++) {
		if (m.hosts[i].addr == m.hosts[host].addr)
			return i; /* the first of its address stands for all */
	}
	return host;
}

static const char *key_of_host(const struct model_host *h)
{
	return m.conf.settings.key == ING_KEY_ADDRESS && h->addr < ADDRS ? h->addr_text : h->name;
}

static bool has_room(void *ctx, const char *key)
{
	(void)ctx;
	for (unsigned i = 0; i < HOSTS; i++) {
		const struct model_host *h = &m.hosts[lock_of(i)];
		if (strcmp(key_of_host(h), key) == 0)
			return !h->roomless;
	}
	return true; /* a name whose address is not known yet */
}

/* --- callbacks: what must be --- */

static void on_granted(struct ing_gate_waiter *w)
{
	struct person *p = ING_CONTAINER(w, struct person, waiter);
	struct model_host *h = &m.hosts[lock_of(p->host)];
	unsigned addr = m.hosts[p->host].addr;
	uint64_t now = world_now();
	assert_true(p->inside && !p->holding);
	assert_false(m.held || m.away);
	assert_true(now >= p->not_before_ms);
	assert_true(now >= h->rest_until_ms);
	assert_false(m.conf.room.has != NULL && h->roomless);
	assert_true(h->holding < m.conf.settings.host_concurrency);
	assert_true(m.holding < m.conf.settings.concurrency);
	if (w->lane != ING_LANE_PRIORITY && m.conf.settings.concurrency >= 16)
		assert_true(
			m.holding < m.conf.settings.concurrency - m.conf.settings.concurrency / 16);
	if (addr < ADDRS && m.conf.lookup.start != NULL && m.conf.settings.address_concurrency > 0)
		assert_true(++m.addr_holding[addr] <= m.conf.settings.address_concurrency);
	if (m.conf.leases != NULL) {
		assert_true(h->leased && (!h->wanted || now < h->leased_ms + TURN_MS));
		assert_true(h->lease_until_ms > now + TRANSFER_MS);
	}
	h->holding++;
	m.holding++;
	m.grants++;
	p->holding = true;
}

static void on_refused(
	struct ing_gate_waiter *w, enum ing_gate_refusal reason, unsigned retry_after_s)
{
	struct person *p = ING_CONTAINER(w, struct person, waiter);
	assert_true(p->inside && !p->holding);
	assert_true(m.conf.settings.max_wait_ms > 0);
	assert_true(retry_after_s >= 1);
	assert_false(m.held || m.away);
	if (reason == ING_GATE_WAITED)
		assert_true(world_now() >= p->entered_ms + m.conf.settings.max_wait_ms);
	p->inside = false;
	m.refusals++;
}

static const struct ing_gate_user user = {.granted = on_granted, .refused = on_refused};

/* --- what happens --- */

static void come(struct person *p)
{
	char url[80];
	p->host = pick(4) == 0 ? 0 : pick(HOSTS); /* one is hot */
	snprintf(url, sizeof(url), "https://%s/", m.hosts[p->host].name);
	struct ing_gate_ticket t = {.lane = (enum ing_lane)pick(ING_LANES_),
		.again = chance(20),
		.robots_known = chance(50),
		.crawl_delay_ms = chance(10) ? pick(1000) : 0,
		.delay_ms = chance(15) ? pick(5000) : 0};
	p->inside = true;
	p->entered_ms = world_now();
	p->not_before_ms = world_now() + t.delay_ms;
	ing_gate_enter(gate, &p->waiter, url, &t);
}

static void end_holding(struct person *p)
{
	struct model_host *h = &m.hosts[lock_of(p->host)];
	unsigned addr = m.hosts[p->host].addr;
	h->holding--;
	m.holding--;
	if (addr < ADDRS && m.conf.lookup.start != NULL && m.conf.settings.address_concurrency > 0)
		m.addr_holding[addr]--;
}

static void go(struct person *p)
{
	struct model_host *h = &m.hosts[lock_of(p->host)];
	struct ing_gate_report r = {.retry_after_s = -1};
	bool report = p->holding && !chance(10);
	if (p->holding)
		end_holding(p);
	unsigned kind = pick(20);
	r.kind = kind < 15 ? ING_ANSWER_GOOD : kind < 17 ? ING_ANSWER_THROTTLED : ING_ANSWER_FAILED;
	uint64_t rest = m.conf.settings.backoff.delay_ms;
	if (r.kind == ING_ANSWER_THROTTLED && chance(60)) {
		r.retry_after_s = pick(30);
		rest = ING_MAX(rest, (uint64_t)r.retry_after_s * 1000);
	}
	if (report)
		h->rest_until_ms = ING_MAX(h->rest_until_ms, world_now() + rest);
	p->inside = p->holding = false;
	ing_gate_leave(gate, &p->waiter, report ? &r : NULL);
}

static void send_event(void)
{
	struct model_host *h = &m.hosts[lock_of(pick(HOSTS))];
	const char *key = key_of_host(h);
	struct world_lease *w = world_lease(key);
	if (w->asked) {
		unsigned kind = pick(4);
		enum ing_lease_event_type a = kind < 2    ? ING_LEASE_GRANTED
					      : kind == 2 ? ING_LEASE_HELD
							  : ING_LEASE_RESTING;
		h->wanted = false;
		h->leased = a == ING_LEASE_GRANTED;
		h->leased_ms = world_now();
		h->lease_until_ms = world_now() + LEASE_MS;
		world_lease_event(
			key, a, a == ING_LEASE_GRANTED ? LEASE_MS : 100 + pick(900), NULL);
	} else if (w->held && chance(50)) {
		h->wanted = true;
		world_lease_event(key, ING_LEASE_WANTED, 0, NULL);
	} else if (w->held && chance(30)) {
		h->leased = false;
		world_lease_event(key, ING_LEASE_LOST, 0, NULL);
	} else if (w->held) { /* extended */
		h->lease_until_ms = world_now() + LEASE_MS;
		world_lease_event(key, ING_LEASE_GRANTED, LEASE_MS, NULL);
	}
}

/* A lease of ours that the gate has given back is ours no more. */
static void look_at_leases(void)
{
	for (unsigned i = 0; i < HOSTS && m.conf.leases != NULL; i++) {
		struct model_host *h = &m.hosts[lock_of(i)];
		if (!world_lease(key_of_host(h))->held)
			h->leased = h->wanted = false;
	}
}

/* Any of them, or rather one who holds a slot. */
static struct person *pick_person(void)
{
	unsigned i = pick(PEOPLE);
	if (m.holding > 0 && chance(40)) {
		while (!people[i].holding)
			i = (i + 1) % PEOPLE;
	}
	return &people[i];
}

static void look(void *ctx, const struct ing_gate_host_view *v)
{
	unsigned *holding = ctx;
	assert_true(v->key != NULL && v->need <= ING_NEED_GATE);
	assert_true(v->holding <= m.conf.settings.host_concurrency);
	*holding += v->holding;
}

/* Operators ask, and change their rules (to stricter ones, so that what must be still must). */
static void operate(void)
{
	static const struct ing_host_rules strict = {
		.rules = {{.host = "h0.example", .has_delay = true, .delay_ms = 900},
			{.host = "h1.example", .has_concurrency = true, .concurrency = 1}},
		.count = 2};
	struct ing_gate_host_view v;
	unsigned holding = 0;
	ing_gate_set_host_rules(gate, chance(50) ? &strict : NULL);
	ing_gate_each(gate, look, &holding);
	assert_int_equal(holding, m.holding);
	(void)ing_gate_explain(gate, m.hosts[pick(HOSTS)].name, &v);
}

static void step(void)
{
	struct person *p = pick_person();
	unsigned what = pick(100);
	if (what < 60) {
		if (!p->inside)
			come(p);
		else if (p->holding || chance(10))
			go(p);
	} else if (what < 64) {
		m.held = !m.held && chance(50);
		ing_gate_hold(gate, m.held);
	} else if (what < 66 && m.conf.leases != NULL) {
		m.away = !m.away && chance(50);
		world_leases_away(m.away);
	} else if (what < 80 && m.conf.leases != NULL) {
		send_event();
	} else if (what < 82) {
		operate();
	} else if (what < 85) {
		m.hosts[pick(HOSTS)].roomless = chance(50);
	} else {
		run_for(pick(400));
	}
	look_at_leases();
}

static void count_waiting(void *ctx, const struct ing_gate_host_view *v)
{
	unsigned waiting = 0;
	for (int i = 0; i < ING_LANES_; i++)
		waiting += v->waiting[i];
	*(unsigned *)ctx += waiting > 0;
}

static void check_counts(void)
{
	struct ing_gate_stats s;
	unsigned inside = 0;
	for (unsigned i = 0; i < PEOPLE; i++)
		inside += people[i].inside;
	ing_gate_stats(gate, &s);
	assert_int_equal(s.holding, m.holding);
	assert_int_equal(s.waiting + s.holding, inside);
	assert_int_equal(s.grants, m.grants);
	assert_int_equal(s.refused, m.refusals);
	assert_true(s.hosts <= 2 * HOSTS);
	unsigned hosts_waiting = 0;
	ing_gate_each(gate, count_waiting, &hosts_waiting);
	assert_int_equal(s.hosts_waiting, hosts_waiting);
}

/* Whoever holds a slot leaves, every lease is granted: all who wait must be served or refused. */
static void drain(void)
{
	m.held = m.away = false;
	ing_gate_hold(gate, false);
	for (unsigned i = 0; i < HOSTS; i++)
		m.hosts[i].roomless = false;
	if (m.conf.leases != NULL)
		world_leases_away(false);
	for (unsigned round = 0; round < 4000; round++) {
		unsigned inside = 0;
		for (unsigned i = 0; i < PEOPLE; i++) {
			if (people[i].holding)
				go(&people[i]);
			inside += people[i].inside;
		}
		if (inside == 0)
			return;
		look_at_leases();
		for (unsigned i = 0; i < HOSTS && m.conf.leases != NULL; i++) {
			struct model_host *h = &m.hosts[lock_of(i)];
			if (!world_lease(key_of_host(h))->asked && !h->leased)
				continue;
			if (!h->leased)
				h->leased_ms = world_now();
			h->leased = true;
			h->wanted = false;
			h->lease_until_ms = world_now() + LEASE_MS;
			world_lease_event(key_of_host(h), ING_LEASE_GRANTED, LEASE_MS, NULL);
		}
		run_for(1000);
		look_at_leases();
	}
	fail_msg("somebody is forgotten");
}

static void make_hosts(void)
{
	for (unsigned i = 0; i < HOSTS; i++) {
		struct model_host *h = &m.hosts[i];
		h->addr = pick(ADDRS + 1);
		snprintf(h->name, sizeof(h->name), "h%u.example", i);
		snprintf(h->addr_text, sizeof(h->addr_text), "192.0.2.%u", h->addr);
		m.names[i] = (struct world_name){h->name, h->addr < ADDRS ? h->addr_text : NULL};
	}
}

static void play(uint64_t with_seed)
{
	seed = with_seed;
	memset(&m, 0, sizeof(m));
	memset(people, 0, sizeof(people));
	for (unsigned i = 0; i < PEOPLE; i++)
		people[i].waiter.user = &user;
	make_hosts();
	m.conf = (struct ing_gate_conf){.settings = {.concurrency = 1 + pick(chance(50) ? 10 : 60),
						.host_concurrency = 1 + pick(3),
						.address_concurrency = pick(4),
						.key = chance(30) ? ING_KEY_ADDRESS : ING_KEY_HOST,
						.max_wait_ms = chance(30) ? 0 : 1000 + pick(20000),
						.weights = {1, 6, 3, 1},
						.backoff = {.delay_ms = pick(600),
							.crawl_delay_max_ms = 800,
							.adaptive_factor = 2,
							.adaptive_max_ms = 500,
							.retry_after_max_ms = 3600000,
							.backoff_ms = 1000,
							.backoff_max_ms = 8000,
							.breaker_failures = pick(5)}},
		.transfer_ms = TRANSFER_MS};
	struct ing_leases *leases = world_leases();
	if (chance(50))
		m.conf.leases = leases;
	lookups = (struct world_lookups){
		.names = m.names, .count = HOSTS, .delay_ms = chance(50) ? 0 : 1 + pick(300)};
	if (m.conf.settings.key == ING_KEY_ADDRESS || chance(60))
		m.conf.lookup = world_lookup_ops();
	if (chance(50))
		m.conf.room = (struct ing_gate_room){has_room, NULL};
	open_gate(&m.conf);
	for (unsigned i = 0; i < STEPS; i++) {
		step();
		if (i % 64 == 0)
			check_counts();
	}
	drain();
	check_counts();
	close_gate();
}

static void whatever_happens_the_promises_hold(void **state)
{
	(void)state;
	const char *fixed = getenv("ING_SEED");
	uint64_t first = fixed != NULL ? strtoull(fixed, NULL, 10) : uv_hrtime();
	uint64_t grants = 0;
	uint64_t refusals = 0;
	for (uint64_t i = 0; i < (fixed != NULL ? 1 : GAMES); i++) {
		if (fixed == NULL)
			print_message("ING_SEED=%llu\n", (unsigned long long)(first + i));
		play(first + i);
		grants += m.grants;
		refusals += m.refusals;
	}
	print_message("%llu grants, %llu refusals\n", (unsigned long long)grants,
		(unsigned long long)refusals);
	assert_true(grants > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whatever_happens_the_promises_hold),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
