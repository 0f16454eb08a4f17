/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Lookups, and the limit of transfers that all hosts at one address share, so that a shared server
 * is not loaded through a thousand names. Loop thread.
 *
 * A name is looked up when somebody queues for it, and again when the result is older than
 * ADDR_TTL_MS, but only between transfers: a host whose transfers overlap without end keeps its
 * address. A host that needs nothing but a slot of its address is in that address's queue. When a
 * slot is free it is offered to the first host of the best lane: the host becomes ready, and if by
 * its turn the slot has gone to a higher lane, it returns to the front of the queue. A host that
 * comes while others of its lane or a better one are queued goes behind them.
 */
#include <stdio.h>
#include <utlist.h>

#include "common/base/clock.h"
#include "worker/gate/gate_priv.h"

#define ADDR_TTL_MS 60000
#define LOOKUP_AHEAD_MS 1000 /* a lookup during a pause costs no time */
#define LOOKUPS_AT_ONCE 1000 /* names that never answer must not block the others for long */
#define LOOKUPS_RESERVED 60  /* of these, for the priority lane only */

/* --- budgets --- */

static bool is_full(const struct ing_gate *g, const struct gate_addr *a)
{
	return a->holding >= g->conf.settings.address_concurrency;
}

bool ing_gate_addr_blocks(const struct ing_gate *g, const struct ing_gate_host *h)
{
	if (h->addr == NULL || g->conf.settings.address_concurrency == 0)
		return false;
	if (is_full(g, h->addr))
		return true;
	unsigned lane = ing_gate_best_lane(h);
	if (h->place == GATE_ADDRESS_FULL && h->lane == lane)
		return true; /* until it is offered one */
	if (h->place == GATE_READY || h->offered)
		return false;
	for (unsigned i = 0; i <= lane; i++) {
		if (h->addr->queue[i] != NULL)
			return true;
	}
	return false;
}

void ing_gate_addr_enqueue(struct ing_gate_host *h)
{
	h->lane = (uint8_t)ing_gate_best_lane(h);
	if (h->offered) {
		h->offered = false;
		h->addr->offered--;
		DL_PREPEND(h->addr->queue[h->lane], h);
	} else {
		DL_APPEND(h->addr->queue[h->lane], h);
	}
}

void ing_gate_addr_dequeue(struct ing_gate_host *h)
{
	DL_DELETE(h->addr->queue[h->lane], h);
}

/* As many as there are slots free. */
static void offer_slots(struct ing_gate *g, struct gate_addr *a, uint64_t now_ms)
{
	if (a->offering)
		return;
	a->offering = true;
	while (a->holding + a->offered < g->conf.settings.address_concurrency) {
		unsigned lane = 0;
		while (lane < ING_LANES_ && a->queue[lane] == NULL)
			lane++;
		if (lane == ING_LANES_)
			break;
		struct ing_gate_host *h = a->queue[lane];
		ing_gate_unplace(g, h);
		h->offered = true;
		a->offered++;
		ing_gate_place(g, h, now_ms);
	}
	a->offering = false;
}

void ing_gate_addr_withdraw(struct ing_gate *g, struct ing_gate_host *h, uint64_t now_ms)
{
	if (!h->offered)
		return;
	h->offered = false;
	h->addr->offered--;
	offer_slots(g, h->addr, now_ms);
}

void ing_gate_addr_take(struct ing_gate_host *h)
{
	if (h->addr == NULL)
		return;
	h->addr->holding++;
	h->addr->offered -= h->offered;
	h->offered = false;
}

void ing_gate_addr_give(struct ing_gate *g, struct ing_gate_host *h, uint64_t now_ms)
{
	if (h->addr == NULL)
		return;
	h->addr->holding--;
	offer_slots(g, h->addr, now_ms);
}

/* --- the table --- */

static void unref_addr(struct ing_gate *g, struct gate_addr *a)
{
	if (a == NULL || --a->refs > 0)
		return;
	HASH_DEL(g->addrs, a);
	g->bytes -= sizeof(*a);
	free(a);
}

static struct gate_addr *ref_addr(struct ing_gate *g, const struct ing_addr *addr)
{
	struct ing_addr key;
	memset(&key, 0, sizeof(key)); /* hashed as bytes: padding must be equal */
	key.family = addr->family;
	memcpy(key.bytes, addr->bytes, sizeof(key.bytes));
	struct gate_addr *a;
	HASH_FIND(hh, g->addrs, &key, sizeof(key), a);
	if (a == NULL) {
		a = ing_alloc(sizeof(*a));
		a->addr = key;
		HASH_ADD(hh, g->addrs, addr, sizeof(a->addr), a);
		g->bytes += sizeof(*a);
	}
	a->refs++;
	return a;
}

static void set_addr(
	struct ing_gate *g, struct ing_gate_host *h, const struct ing_addr *addr, uint64_t now_ms)
{
	ing_must(h->holding == 0);
	struct gate_addr *a = addr != NULL ? ref_addr(g, addr) : NULL;
	if (h->place == GATE_READY || h->place == GATE_ADDRESS_FULL)
		ing_gate_unplace(g, h);
	ing_gate_addr_withdraw(g, h, now_ms);
	unref_addr(g, h->addr);
	h->addr = a;
}

void ing_gate_addr_forget(struct ing_gate *g, struct ing_gate_host *h)
{
	unref_addr(g, ING_TAKE(h->addr));
}

/* --- host_key=address --- */

void ing_gate_addr_key(const struct ing_addr *addr, char ret_key[GATE_ADDR_KEY_BYTES])
{
	char text[ING_ADDR_TEXT_BYTES];
	ing_addr_format(addr, text);
	snprintf(ret_key, GATE_ADDR_KEY_BYTES, addr->family == 6 ? "[%s]" : "%s", text);
}

static struct ing_gate_host *host_of_addr(
	struct ing_gate *g, const struct ing_addr *addr, uint64_t now_ms)
{
	char key[GATE_ADDR_KEY_BYTES];
	ing_gate_addr_key(addr, key);
	struct ing_gate_host *h = ing_gate_host_get(g, key);
	if (h->addr == NULL || !ing_addr_equal(&h->addr->addr, addr)) {
		if (h->holding == 0)
			set_addr(g, h, addr, now_ms);
	}
	h->addr_until_ms = GATE_NEVER;
	return h;
}

/* All who queue at a name queue at the host of its address from now on. */
static void splice_queues(struct ing_gate_host *from, struct ing_gate_host *to)
{
	for (unsigned lane = 0; lane < ING_LANES_; lane++) {
		for (unsigned again = 0; again < 2; again++) {
			struct ing_gate_waiter *w;
			DL_FOREACH (from->queue[lane][again], w) {
				w->host = to;
				from->waiting[lane]--;
				from->queued--;
				to->waiting[lane]++;
				to->queued++;
			}
			DL_CONCAT(to->queue[lane][again], from->queue[lane][again]);
			from->queue[lane][again] = NULL;
		}
	}
}

static void redirect(struct ing_gate *g, struct ing_gate_host *h, uint64_t now_ms)
{
	struct ing_gate_host *to = host_of_addr(g, &h->addr->addr, now_ms);
	h->redirects = to != h;
	if (to == h)
		return;
	ing_gate_unplace(g, h);
	ing_gate_fleet_release(g, h);
	ing_gate_rule_add(to, h->key);
	unsigned *crawl_delay_ms = &to->backoff.crawl_delay_ms;
	*crawl_delay_ms = ING_MAX(*crawl_delay_ms, h->backoff.crawl_delay_ms);
	h->backoff.crawl_delay_ms = 0;
	if (ing_host_backoff_is_active(&h->backoff, now_ms))
		ing_host_backoff_merge(&to->backoff, &h->backoff);
	h->backoff = (struct ing_host_backoff){0};
	splice_queues(h, to);
	ing_gate_place(g, to, now_ms);
}

struct ing_gate_host *ing_gate_host_route(
	struct ing_gate *g, struct ing_gate_host *h, uint64_t now_ms)
{
	if (!h->redirects || h->addr_until_ms <= now_ms)
		return h;
	struct ing_gate_host *to = host_of_addr(g, &h->addr->addr, now_ms);
	ing_gate_rule_add(to, h->key);
	return to;
}

void ing_gate_addr_rules(struct ing_gate *g, const struct ing_gate_host *h)
{
	if (!h->redirects)
		return;
	char key[GATE_ADDR_KEY_BYTES];
	ing_gate_addr_key(&h->addr->addr, key);
	struct ing_gate_host *to = ing_gate_host_find(g, key);
	if (to != NULL)
		ing_gate_rule_add(to, h->key);
}

/* --- lookups --- */

static void on_lookup(struct ing_gate_lookup *l, const struct ing_addr *addr)
{
	struct ing_gate_host *h = ING_CONTAINER(l, struct ing_gate_host, lookup);
	struct ing_gate *g = h->gate;
	uint64_t now = ing_now_ms();
	ing_must(h->looking);
	h->looking = false;
	g->lookups--;
	if (h->addr_until_ms != GATE_NEVER) { /* else it has become the host of an address */
		set_addr(g, h, addr, now);
		h->addr_until_ms = now + ADDR_TTL_MS;
		h->redirects = false;
		if (addr != NULL && g->conf.settings.key == ING_KEY_ADDRESS)
			redirect(g, h, now);
	}
	ing_gate_place(g, h, now);
	ing_gate_arm(g);
}

bool ing_gate_addr_known(const struct ing_gate *g, const struct ing_gate_host *h, uint64_t now_ms)
{
	if (g->conf.lookup.start == NULL || h->addr_until_ms > now_ms || h->holding > 0)
		return true;
	/* A result that has become old while waiting for a turn is still used, or a long queue
	 * would never end. */
	return (h->place == GATE_READY || h->place == GATE_ADDRESS_FULL || h->offered) &&
	       h->addr_until_ms > 0;
}

/* Another worker has the lease, or the rest is longer than a lookup takes: the result would be too
 * old by then. With gate.host_key address the lookup comes before the lease, which is the
 * address's. */
static bool is_postponed(const struct ing_gate *g, const struct ing_gate_host *h, uint64_t now_ms)
{
	return h->backoff.rest_until_ms > now_ms + LOOKUP_AHEAD_MS ||
	       (g->conf.leases != NULL && g->conf.settings.key != ING_KEY_ADDRESS &&
		       h->lease == GATE_LEASE_NONE && h->ask_again_ms > now_ms);
}

bool ing_gate_wants_lookup(const struct ing_gate *g, const struct ing_gate_host *h, uint64_t now_ms)
{
	return h->queued > 0 && !h->looking && !ing_gate_addr_known(g, h, now_ms) &&
	       !is_postponed(g, h, now_ms);
}

/* The key alone will not do: it has no www., or is the domain above, and the port decides whether
 * the host is reached by its own address. */
void ing_gate_set_origin(struct ing_gate *g, struct ing_gate_host *h, const char *url)
{
	char host[ING_URL_HOST_BYTES];
	char text[ING_URL_HOST_BYTES + 32];
	if (g->conf.lookup.start == NULL || !ing_url_host(url, host, sizeof(host)))
		return;
	bool tls = strncmp(url, "https:", 6) == 0;
	snprintf(
		text, sizeof(text), "%s://%s:%u/", tls ? "https" : "http", host, ing_url_port(url));
	if (h->origin != NULL) {
		g->bytes -= strlen(h->origin) + 1;
		free(h->origin);
	}
	h->origin = ing_strdup(text);
	g->bytes += strlen(text) + 1;
}

bool ing_gate_can_lookup(const struct ing_gate *g)
{
	if (g->unresolved[0] != NULL)
		return g->lookups < LOOKUPS_AT_ONCE;
	return g->unresolved[1] != NULL && g->lookups < LOOKUPS_AT_ONCE - LOOKUPS_RESERVED;
}

void ing_gate_lookup_next(struct ing_gate *g)
{
	struct ing_gate_host *h = g->unresolved[g->unresolved[0] == NULL];
	ing_gate_unplace(g, h);
	h->looking = true;
	g->lookups++;
	h->lookup = (struct ing_gate_lookup){.done = on_lookup};
	g->conf.lookup.start(
		g->conf.lookup.ctx, &h->lookup, h->origin != NULL ? h->origin : "http:///");
}

void ing_gate_lookup_stop(struct ing_gate *g, struct ing_gate_host *h)
{
	if (!h->looking)
		return;
	g->conf.lookup.stop(g->conf.lookup.ctx, &h->lookup);
	h->looking = false;
	g->lookups--;
}
