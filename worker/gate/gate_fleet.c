/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The gate as the user of leases (fleet/lease.h). Loop thread.
 *
 * A lease is requested when somebody queues and the host's rest is over. It is released when nobody
 * here can use it: the rest is long, or nobody has queued for IDLE_MS. A lease that another worker
 * waits for is released at once if nobody queues or nothing is admitted here (is_stuck: a full disk
 * must not cost the others their turns), else after TURN_MS: a busy host that changed hands after
 * each transfer would spend most of its time unused. After that we do not request it for YIELD_MS,
 * so that the other worker is first.
 */
#include "common/base/clock.h"
#include "worker/gate/gate_priv.h"

#define IDLE_MS 3000       /* a page's next hop is often at the same host */
#define LONG_REST_MS 10000 /* much longer than a new request takes */
#define YIELD_MS 2000
#define STUCK_MS 2000
#define TURN_MS 10000 /* handing over takes 1 to 2 s, in which the host is not used */

static void set_holder(struct ing_gate *g, struct ing_gate_host *h, const char *holder)
{
	if (h->holder != NULL) {
		g->bytes -= strlen(h->holder) + 1;
		free(h->holder);
	}
	h->holder = holder != NULL ? ing_strdup(holder) : NULL;
	if (h->holder != NULL)
		g->bytes += strlen(h->holder) + 1;
}

static void give_back(struct ing_gate *g, struct ing_gate_host *h, uint64_t now_ms)
{
	if (h->wanted)
		h->ask_again_ms = now_ms + YIELD_MS;
	h->wanted = false;
	h->lease = GATE_LEASE_NONE;
	h->lease_until_ms = 0;
	ing_leases_release(g->conf.leases, h->key, &h->backoff);
}

/* Nothing has been admitted for some seconds. */
static bool is_stuck(const struct ing_gate *g, uint64_t now_ms)
{
	return ing_gate_frozen(g) && g->frozen_since_ms + STUCK_MS <= now_ms;
}

/* Another worker waits for it, and we have had our turn or cannot use it. */
static bool must_hand_over(const struct ing_gate *g, const struct ing_gate_host *h, uint64_t now_ms)
{
	return h->wanted &&
	       (h->queued == 0 || h->lease_since_ms + TURN_MS <= now_ms || is_stuck(g, now_ms));
}

static void hurry(struct ing_gate *g, const struct ing_gate_host *h)
{
	if (h->queued > 0 && ing_gate_best_lane(h) == ING_LANE_PRIORITY)
		ing_leases_hurry(g->conf.leases, h->key);
}

void ing_gate_fleet_settle(struct ing_gate *g, struct ing_gate_host *h, uint64_t now_ms)
{
	if (g->conf.leases == NULL)
		return;
	switch ((enum gate_lease)h->lease) {
	case GATE_LEASE_NONE:
		/* With gate.host_key address the lookup decides whose lease it is. */
		if (h->queued == 0 || h->ask_again_ms > now_ms ||
			h->backoff.rest_until_ms > now_ms ||
			(g->conf.settings.key == ING_KEY_ADDRESS &&
				!ing_gate_addr_known(g, h, now_ms)))
			return;
		h->lease = GATE_LEASE_ASKED;
		ing_leases_request(g->conf.leases, h->key);
		hurry(g, h);
		return;
	case GATE_LEASE_ASKED:
		hurry(g, h);
		if (h->queued > 0)
			return;
		h->lease = GATE_LEASE_NONE;
		ing_leases_cancel(g->conf.leases, h->key);
		return;
	case GATE_LEASE_OURS:
		if (h->holding == 0 && (must_hand_over(g, h, now_ms) ||
					       h->backoff.rest_until_ms > now_ms + LONG_REST_MS ||
					       (h->queued == 0 && h->idle_ms + IDLE_MS <= now_ms)))
			give_back(g, h, now_ms);
		return;
	}
}

uint64_t ing_gate_fleet_wake(
	const struct ing_gate *g, const struct ing_gate_host *h, uint64_t now_ms)
{
	if (g->conf.leases == NULL)
		return GATE_NEVER;
	if (h->lease == GATE_LEASE_NONE && h->queued > 0 && h->ask_again_ms > now_ms)
		return h->ask_again_ms;
	if (h->lease == GATE_LEASE_OURS && h->queued == 0 && h->holding == 0)
		return h->idle_ms + IDLE_MS;
	if (h->wanted && h->holding == 0 && !must_hand_over(g, h, now_ms))
		return h->lease_since_ms + TURN_MS;
	return GATE_NEVER;
}

void ing_gate_fleet_release(struct ing_gate *g, struct ing_gate_host *h)
{
	set_holder(g, h, NULL);
	if (h->lease == GATE_LEASE_ASKED)
		ing_leases_cancel(g->conf.leases, h->key);
	else if (h->lease == GATE_LEASE_OURS)
		ing_leases_release(g->conf.leases, h->key, &h->backoff);
	h->lease = GATE_LEASE_NONE;
	h->wanted = false;
	h->lease_until_ms = 0;
}

void ing_gate_fleet_note(struct ing_gate *g, const struct ing_gate_host *h)
{
	if (h->lease == GATE_LEASE_OURS)
		ing_leases_update(g->conf.leases, h->key, &h->backoff);
}

bool ing_gate_fleet_allows(const struct ing_gate *g, const struct ing_gate_host *h, uint64_t now_ms)
{
	return g->conf.leases == NULL ||
	       (h->lease == GATE_LEASE_OURS && !must_hand_over(g, h, now_ms) &&
		       h->lease_until_ms > now_ms + g->conf.transfer_ms);
}

/* --- events --- */

static void take_event(struct ing_gate *g, struct ing_gate_host *h, const struct ing_lease_event *n,
	uint64_t now_ms)
{
	switch (n->type) {
	case ING_LEASE_GRANTED:
		if (h->lease == GATE_LEASE_NONE)
			return; /* cancelled meanwhile, so it is released */
		if (h->lease != GATE_LEASE_OURS)
			h->lease_since_ms = now_ms;
		h->lease = GATE_LEASE_OURS;
		h->lease_until_ms = n->until_ms;
		set_holder(g, h, NULL);
		break;
	case ING_LEASE_HELD:
	case ING_LEASE_RESTING:
		if (h->lease != GATE_LEASE_ASKED)
			return;
		h->lease = GATE_LEASE_NONE;
		h->ask_again_ms = now_ms + ING_MAX(n->retry_ms, 1U);
		set_holder(g, h, n->type == ING_LEASE_HELD ? n->holder : NULL);
		break;
	case ING_LEASE_LOST:
		if (h->lease != GATE_LEASE_OURS)
			return;
		h->lease = GATE_LEASE_NONE;
		h->lease_until_ms = 0;
		h->wanted = false;
		break;
	case ING_LEASE_WANTED:
		h->wanted = h->lease == GATE_LEASE_OURS;
		break;
	}
	if (n->backoff != NULL) {
		struct ing_host_backoff fleet = *n->backoff;
		ing_host_backoff_expire(
			&fleet, now_ms); /* rows of the table do not expire by themselves */
		ing_host_backoff_merge(&h->backoff, &fleet);
	}
}

static void on_event(void *ctx, const struct ing_lease_event *n)
{
	struct ing_gate *g = ctx;
	struct ing_gate_host *h = ing_gate_host_find(g, n->host);
	if (h == NULL)
		return;
	uint64_t now = ing_now_ms();
	take_event(g, h, n, now);
	ing_gate_place(g, h, now);
	ing_gate_arm(g);
}

static void on_state(void *ctx, bool away)
{
	ing_gate_set_away(ctx, away);
}

void ing_gate_fleet_start(struct ing_gate *g)
{
	if (g->conf.leases == NULL)
		return;
	ing_leases_set_user(g->conf.leases,
		&(struct ing_lease_user){.ctx = g, .event = on_event, .state = on_state});
	ing_gate_set_away(g, ing_leases_away(g->conf.leases));
}

/* --- after the gate --- */

static void no_event(void *ctx, const struct ing_lease_event *n)
{
	(void)ctx;
	(void)n;
}

static void no_state(void *ctx, bool away)
{
	(void)ctx;
	(void)away;
}

void ing_gate_fleet_stop(struct ing_gate *g)
{
	if (g->conf.leases == NULL)
		return;
	for (struct ing_gate_host *h = g->hosts; h != NULL; h = h->hh.next)
		ing_gate_fleet_release(g, h);
	ing_leases_set_user(
		g->conf.leases, &(struct ing_lease_user){.event = no_event, .state = no_state});
}
