/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The table of hosts. Loop thread.
 *
 * A host that nobody waits for is kept: with failures or a rest, until these have expired (place
 * REMEMBERED), else as one of the last MAX_IDLE (place IDLE), for operators and because its address
 * is known. Both lists are limited; beyond the limit the host that has been idle longest is freed.
 * So memory is bounded by the waiters, not by the number of hosts ever seen. A host is never freed
 * by its own ing_gate_place().
 */
#include <stdio.h>
#include <utlist.h>

#include "common/net/psl.h"
#include "worker/gate/gate_priv.h"
#include "worker/rules/host_rules.h"

#define MAX_IDLE 10000
/* A day's worth of dead hosts, at a few hundred bytes each. */
#define MAX_REMEMBERED 200000

/* --- rules --- */

void ing_gate_rule_reset(struct ing_gate_host *h)
{
	const struct ing_gate_settings *settings = &h->gate->conf.settings;
	h->delay_ms = settings->backoff.delay_ms;
	h->concurrency = settings->host_concurrency;
	h->has_delay = h->has_concurrency = h->resolver = false;
	ing_gate_rule_add(h, h->key);
}

void ing_gate_rule_add(struct ing_gate_host *h, const char *name)
{
	const struct ing_host_rule *rule = ing_host_rules_find(h->gate->conf.host_rules, name);
	if (rule == NULL)
		return;
	if (rule->has_delay && (!h->has_delay || rule->delay_ms > h->delay_ms))
		h->delay_ms = rule->delay_ms;
	if (rule->has_concurrency && rule->concurrency > 0 &&
		(!h->has_concurrency || rule->concurrency < h->concurrency))
		h->concurrency = rule->concurrency;
	h->has_delay |= rule->has_delay;
	h->has_concurrency |= rule->has_concurrency;
	h->resolver |= rule->resolver;
}

void ing_gate_rules_apply(struct ing_gate *g, uint64_t now_ms)
{
	struct ing_gate_host *h;
	for (h = g->hosts; h != NULL; h = h->hh.next)
		ing_gate_rule_reset(h);
	for (h = g->hosts; h != NULL; h = h->hh.next)
		ing_gate_addr_rules(g, h);
	for (h = g->hosts; h != NULL; h = h->hh.next) {
		if (h->queued > 0)
			ing_gate_place(g, h, now_ms);
	}
}

/* --- the table --- */

struct ing_gate_host *ing_gate_host_find(const struct ing_gate *g, const char *key)
{
	struct ing_gate_host *h;
	HASH_FIND_STR(g->hosts, key, h);
	return h;
}

struct ing_gate_host *ing_gate_host_get(struct ing_gate *g, const char *key)
{
	struct ing_gate_host *h = ing_gate_host_find(g, key);
	if (h != NULL)
		return h;
	size_t bytes = strlen(key);
	h = ing_alloc(sizeof(*h) + bytes + 1);
	h->gate = g;
	memcpy(h->key, key, bytes + 1);
	HASH_ADD_KEYPTR(hh, g->hosts, h->key, bytes, h);
	g->bytes += sizeof(*h) + bytes + 1;
	ing_gate_rule_reset(h);
	return h;
}

static void count_host(struct ing_gate *g, struct ing_gate_host *h, unsigned now_counted)
{
	unsigned gone = h->counted & ~now_counted;
	unsigned come = now_counted & ~(unsigned)h->counted;
	h->counted = (uint8_t)now_counted;
	g->resting += (come & GATE_COUNTED_RESTING) != 0;
	g->resting -= (gone & GATE_COUNTED_RESTING) != 0;
	g->held_hosts += (come & GATE_COUNTED_HELD) != 0;
	g->held_hosts -= (gone & GATE_COUNTED_HELD) != 0;
	g->open += (come & GATE_COUNTED_OPEN) != 0;
	g->open -= (gone & GATE_COUNTED_OPEN) != 0;
	g->leased += (come & GATE_COUNTED_LEASED) != 0;
	g->leased -= (gone & GATE_COUNTED_LEASED) != 0;
	g->waiting_hosts += (come & GATE_COUNTED_WAITING) != 0;
	g->waiting_hosts -= (gone & GATE_COUNTED_WAITING) != 0;
}

static void drop_host(struct ing_gate *g, struct ing_gate_host *h)
{
	ing_must(h->queued == 0 && h->delayed == 0 && h->holding == 0 && !h->offered);
	ing_gate_unplace(g, h);
	ing_gate_lookup_stop(g, h);
	ing_gate_fleet_release(g, h);
	ing_gate_addr_forget(g, h);
	ing_gate_wake_set(g, h, GATE_NEVER);
	count_host(g, h, 0);
	HASH_DEL(g->hosts, h);
	if (h->origin != NULL)
		g->bytes -= strlen(h->origin) + 1;
	g->bytes -= sizeof(*h) + strlen(h->key) + 1;
	free(h->origin);
	free(h);
}

void ing_gate_drop_hosts(struct ing_gate *g)
{
	struct ing_gate_host *h;
	struct ing_gate_host *next;
	HASH_ITER (hh, g->hosts, h, next)
		drop_host(g, h);
}

/* --- places --- */

/* How long waiters wait for the end of a hold; 0: without limit. */
static unsigned longest_hold_ms(const struct ing_gate_settings *c)
{
	if (c->max_hold_ms == 0 || c->max_wait_ms == 0)
		return ING_MAX(c->max_hold_ms, c->max_wait_ms);
	return ING_MIN(c->max_hold_ms, c->max_wait_ms);
}

bool ing_gate_host_refuses(const struct ing_gate *g, const struct ing_gate_host *h, uint64_t now_ms)
{
	unsigned longest_ms = longest_hold_ms(&g->conf.settings);
	return longest_ms > 0 && h->queued > 0 && ing_host_backoff_is_hold(&h->backoff, now_ms) &&
	       h->backoff.rest_until_ms - now_ms > longest_ms;
}

enum ing_gate_need ing_gate_host_need(
	const struct ing_gate *g, const struct ing_gate_host *h, uint64_t now_ms)
{
	if (h->queued == 0)
		return ING_NEED_NOTHING;
	if (h->backoff.rest_until_ms > now_ms)
		return ING_NEED_REST;
	if (h->holding >= ing_host_backoff_slots(&h->backoff, h->concurrency))
		return ING_NEED_SLOT;
	if (g->conf.settings.key == ING_KEY_ADDRESS && !ing_gate_addr_known(g, h, now_ms))
		return ING_NEED_ADDRESS; /* decides whose lease it is */
	if (!ing_gate_fleet_allows(g, h, now_ms))
		return ING_NEED_LEASE;
	if (!ing_gate_addr_known(g, h, now_ms))
		return ING_NEED_ADDRESS;
	if (ing_gate_addr_blocks(g, h))
		return ING_NEED_ADDRESS_SLOT;
	if (g->conf.room.has != NULL && !g->conf.room.has(g->conf.room.ctx, h->key))
		return ING_NEED_ROOM;
	return ING_NEED_TURN;
}

static bool is_idle(const struct ing_gate_host *h)
{
	return h->queued == 0 && h->delayed == 0 && h->holding == 0 && !h->looking &&
	       h->lease == GATE_LEASE_NONE;
}

static enum gate_place find_place(
	const struct ing_gate *g, const struct ing_gate_host *h, uint64_t now_ms)
{
	if (is_idle(h))
		return ing_host_backoff_is_active(&h->backoff, now_ms) ? GATE_REMEMBERED
								       : GATE_IDLE;
	if (ing_gate_wants_lookup(g, h, now_ms))
		return GATE_UNRESOLVED;
	if (ing_gate_host_refuses(g, h, now_ms))
		return GATE_REFUSING;
	switch (ing_gate_host_need(g, h, now_ms)) {
	case ING_NEED_TURN:
		return GATE_READY;
	case ING_NEED_ADDRESS_SLOT:
		return GATE_ADDRESS_FULL;
	case ING_NEED_ROOM:
		return GATE_NO_ROOM;
	default:
		return GATE_NOWHERE;
	}
}

void ing_gate_unplace(struct ing_gate *g, struct ing_gate_host *h)
{
	switch ((enum gate_place)h->place) {
	case GATE_READY:
		ing_gate_ring_remove(g, h);
		break;
	case GATE_ADDRESS_FULL:
		ing_gate_addr_dequeue(h);
		break;
	case GATE_UNRESOLVED:
		DL_DELETE(g->unresolved[h->lane != ING_LANE_PRIORITY], h);
		break;
	case GATE_REFUSING:
		DL_DELETE(g->refusing, h);
		break;
	case GATE_REMEMBERED:
		DL_DELETE(g->remembered, h);
		g->remembered_count--;
		break;
	case GATE_IDLE:
		DL_DELETE(g->idle, h);
		g->idle_count--;
		break;
	case GATE_NOWHERE:
	case GATE_NO_ROOM:
	case GATE_PLACES_:
		break;
	}
	h->place = GATE_NOWHERE;
}

static void put(struct ing_gate *g, struct ing_gate_host *h, enum gate_place place)
{
	h->place = (uint8_t)place;
	switch (place) {
	case GATE_READY:
		ing_gate_ring_add(g, h);
		break;
	case GATE_ADDRESS_FULL:
		ing_gate_addr_enqueue(h);
		break;
	case GATE_UNRESOLVED:
		h->lane = (uint8_t)ing_gate_best_lane(h);
		DL_APPEND(g->unresolved[h->lane != ING_LANE_PRIORITY], h);
		break;
	case GATE_REFUSING:
		DL_APPEND(g->refusing, h);
		break;
	case GATE_REMEMBERED:
		DL_APPEND(g->remembered, h);
		if (++g->remembered_count > MAX_REMEMBERED)
			drop_host(g, g->remembered);
		break;
	case GATE_IDLE:
		DL_APPEND(g->idle, h);
		if (++g->idle_count > MAX_IDLE)
			drop_host(g, g->idle);
		break;
	case GATE_NOWHERE:
	case GATE_NO_ROOM:
	case GATE_PLACES_:
		break;
	}
}

/* Is it in the list of another lane than its best waiter's? */
static bool is_misplaced(const struct ing_gate_host *h)
{
	switch ((enum gate_place)h->place) {
	case GATE_READY:
	case GATE_ADDRESS_FULL:
		return h->lane != ing_gate_best_lane(h);
	case GATE_UNRESOLVED:
		return (h->lane == ING_LANE_PRIORITY) !=
		       (ing_gate_best_lane(h) == ING_LANE_PRIORITY);
	default:
		return false;
	}
}

static void move(struct ing_gate *g, struct ing_gate_host *h, uint64_t now_ms)
{
	enum gate_place place = find_place(g, h, now_ms);
	if (place != h->place || is_misplaced(h)) {
		ing_gate_unplace(g, h);
		put(g, h, place);
	}
	if (h->offered && place != GATE_READY)
		ing_gate_addr_withdraw(g, h, now_ms);
}

static uint64_t next_wake(const struct ing_gate *g, const struct ing_gate_host *h, uint64_t now_ms)
{
	uint64_t wake = ing_gate_fleet_wake(g, h, now_ms);
	if (h->backoff.rest_until_ms > now_ms)
		wake = ING_MIN(wake, h->backoff.rest_until_ms);
	else if (h->place == GATE_REMEMBERED)
		wake = ing_host_backoff_expires_at(&h->backoff);
	if (h->place == GATE_NO_ROOM)
		wake = ING_MIN(wake, now_ms + ING_GATE_ROOM_MS);
	return ING_MAX(wake, now_ms + 1); /* or the caller's loop over due hosts would not end */
}

void ing_gate_place(struct ing_gate *g, struct ing_gate_host *h, uint64_t now_ms)
{
	if (h->queued > 0 || h->holding > 0)
		h->idle_ms = 0;
	else if (h->idle_ms == 0)
		h->idle_ms = now_ms;
	ing_gate_fleet_settle(g, h, now_ms);
	if (is_idle(h))
		ing_host_backoff_expire(&h->backoff, now_ms);
	move(g, h, now_ms);
	const struct ing_host_backoff *p = &h->backoff;
	count_host(g, h,
		(p->rest_until_ms > now_ms ? GATE_COUNTED_RESTING : 0U) |
			(ing_host_backoff_is_hold(p, now_ms) ? GATE_COUNTED_HELD : 0U) |
			(p->breaker != ING_BREAKER_CLOSED ? GATE_COUNTED_OPEN : 0U) |
			(h->lease == GATE_LEASE_OURS ? GATE_COUNTED_LEASED : 0U) |
			(h->queued + h->delayed > 0 ? GATE_COUNTED_WAITING : 0U));
	ing_gate_wake_set(g, h, next_wake(g, h, now_ms));
}

/* --- keys --- */

/* Without a leading "www." and without the root's dot, so that www.example.org, example.org and
 * example.org. share one lock. */
static void plain_name(char *host)
{
	size_t bytes = strlen(host);
	if (bytes > 1 && host[bytes - 1] == '.')
		host[bytes - 1] = '\0';
	if (strncmp(host, "www.", 4) == 0 && host[4] != '\0')
		memmove(host, host + 4, strlen(host + 4) + 1);
}

bool ing_gate_key(enum ing_host_key kind, const char *url, char *ret, size_t ret_bytes)
{
	if (!ing_url_host(url, ret, ret_bytes)) {
		if (ret_bytes > 0)
			ret[0] = '\0';
		return false;
	}
	plain_name(ret);
	const char *domain = kind == ING_KEY_DOMAIN ? ing_psl_registered(ret) : NULL;
	if (domain != NULL && domain != ret)
		memmove(ret, domain, strlen(domain) + 1);
	return true;
}

struct ing_gate_host *ing_gate_host_of_url(struct ing_gate *g, const char *url, uint64_t now_ms)
{
	char key[ING_URL_HOST_BYTES];
	(void)ing_gate_key(g->conf.settings.key, url, key, sizeof(key));
	struct ing_gate_host *h = ing_gate_host_get(g, key);
	if (g->conf.settings.key == ING_KEY_DOMAIN && g->conf.host_rules != NULL &&
		ing_url_host(url, key, sizeof(key)))
		ing_gate_rule_add(h, key);
	if (h->queued == 0 && h->addr_until_ms <= now_ms)
		ing_gate_set_origin(g, h, url);
	return ing_gate_host_route(g, h, now_ms);
}
