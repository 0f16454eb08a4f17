/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What operators and metrics see of hosts. Changes nothing. Loop thread.
 */
#include <stdio.h>
#include <string.h>

#include "common/base/clock.h"
#include "worker/gate/gate_priv.h"
#include "worker/rules/host_rules.h"

static void fill_view(const struct ing_gate *g, const struct ing_gate_host *h, uint64_t now_ms,
	struct ing_gate_host_view *ret)
{
	const struct ing_host_backoff *p = &h->backoff;
	enum ing_gate_need need = ing_gate_host_need(g, h, now_ms);
	if (need == ING_NEED_TURN && ing_gate_frozen(g))
		need = ING_NEED_GATE;
	*ret = (struct ing_gate_host_view){
		.key = h->key,
		.need = need,
		.holding = h->holding,
		.slots = ing_host_backoff_slots(p, h->concurrency),
		.rest_ms = p->rest_until_ms > now_ms ? p->rest_until_ms - now_ms : 0,
		.backoff = *p,
		.leased = h->lease == GATE_LEASE_OURS,
		.lease_ms = h->lease_until_ms > now_ms ? h->lease_until_ms - now_ms : 0,
		.holder = h->holder,
	};
	memcpy(ret->waiting, h->waiting, sizeof(ret->waiting));
	if (h->addr != NULL) {
		ret->addr = h->addr->addr;
		ret->addr_holding = h->addr->holding;
	}
}

/* With gate.host_key address: the host at which a name's waiters queue, if it is known. */
static const struct ing_gate_host *follow(const struct ing_gate *g, const struct ing_gate_host *h)
{
	if (h == NULL || !h->redirects)
		return h;
	char key[GATE_ADDR_KEY_BYTES];
	ing_gate_addr_key(&h->addr->addr, key);
	const struct ing_gate_host *to = ing_gate_host_find(g, key);
	return to != NULL ? to : h;
}

/* Pause and answer, for so many transfers as there may be at a time. */
static uint64_t pace_of(
	const struct ing_gate *g, const struct ing_gate_host *h, const struct ing_host_rule *rule)
{
	const struct ing_host_backoff_settings *c = &g->conf.settings.backoff;
	uint64_t pause_ms = rule != NULL && rule->has_delay ? rule->delay_ms : c->delay_ms;
	uint64_t slots = rule != NULL && rule->has_concurrency ? rule->concurrency
							       : g->conf.settings.host_concurrency;
	if (h == NULL)
		return pause_ms / slots;
	const struct ing_host_backoff *p = &h->backoff;
	uint64_t adaptive_ms = ING_MIN(
		(uint64_t)c->adaptive_factor * p->response_ms, (uint64_t)c->adaptive_max_ms);
	pause_ms = ING_MAX((uint64_t)h->delay_ms, (uint64_t)p->crawl_delay_ms);
	if (!h->resolver)
		pause_ms = ING_MAX(pause_ms, adaptive_ms);
	return (pause_ms + p->response_ms) / ing_host_backoff_slots(p, h->concurrency);
}

/* -------------------------------------------------------------------------------------------- */

void ing_gate_look_ahead(const struct ing_gate *g, const char *key, struct ing_gate_outlook *ret)
{
	uint64_t now = ing_now_ms();
	const struct ing_gate_host *h = follow(g, ing_gate_host_find(g, key));
	const struct ing_host_rule *rule = ing_host_rules_find(g->conf.host_rules, key);
	*ret = (struct ing_gate_outlook){
		.resolver = h != NULL ? h->resolver : rule != NULL && rule->resolver,
		.pace_ms = pace_of(g, h, rule),
	};
	if (h != NULL && ing_host_backoff_is_hold(&h->backoff, now))
		ret->hold_ms = h->backoff.rest_until_ms - now;
}

bool ing_gate_url_key(const struct ing_gate *g, const char *url, char *ret, size_t ret_bytes)
{
	return ing_gate_key(g->conf.settings.key, url, ret, ret_bytes);
}

const char *ing_gate_need_name(enum ing_gate_need need)
{
	switch (need) {
	case ING_NEED_TURN:
		return "turn";
	case ING_NEED_SLOT:
		return "slot";
	case ING_NEED_REST:
		return "rest";
	case ING_NEED_LEASE:
		return "lease";
	case ING_NEED_ADDRESS:
		return "address";
	case ING_NEED_ADDRESS_SLOT:
		return "address-slot";
	case ING_NEED_ROOM:
		return "room";
	case ING_NEED_GATE:
		return "gate";
	case ING_NEED_NOTHING:
		break;
	}
	return "nothing";
}

bool ing_gate_explain(const struct ing_gate *g, const char *host, struct ing_gate_host_view *ret)
{
	char url[ING_URL_HOST_BYTES + 16];
	char key[ING_URL_HOST_BYTES];
	if (strstr(host, "://") == NULL) {
		if ((size_t)snprintf(url, sizeof(url), "http://%s/", host) >= sizeof(url))
			return false;
		host = url;
	}
	if (!ing_gate_key(g->conf.settings.key, host, key, sizeof(key)))
		return false;
	const struct ing_gate_host *h = follow(g, ing_gate_host_find(g, key));
	if (h == NULL)
		return false;
	fill_view(g, h, ing_now_ms(), ret);
	return true;
}

void ing_gate_each(const struct ing_gate *g,
	void (*fn)(void *ctx, const struct ing_gate_host_view *v), void *ctx)
{
	uint64_t now = ing_now_ms();
	for (const struct ing_gate_host *h = g->hosts; h != NULL; h = h->hh.next) {
		if (h->redirects && h->queued == 0 && h->delayed == 0)
			continue; /* another name of a host */
		struct ing_gate_host_view view;
		fill_view(g, h, now, &view);
		fn(ctx, &view);
	}
}

void ing_gate_stats(const struct ing_gate *g, struct ing_gate_stats *ret)
{
	*ret = (struct ing_gate_stats){
		.waiting = g->waiting,
		.holding = g->holding,
		.hosts = HASH_COUNT(g->hosts),
		.hosts_waiting = g->waiting_hosts,
		.hosts_resting = g->resting,
		.hosts_held = g->held_hosts,
		.breakers_open = g->open,
		.leases = g->leased,
		.grants = g->grants,
		.refused = g->refused,
		.holds = g->holds,
		.breaker_opens = g->breaker_opens,
		.bytes = g->bytes + HASH_OVERHEAD(hh, g->hosts) + HASH_OVERHEAD(hh, g->addrs),
	};
	memcpy(ret->wait_us, g->wait_us, sizeof(ret->wait_us));
}
