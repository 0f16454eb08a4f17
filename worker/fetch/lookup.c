/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Addresses for the gate's limits per address. The answer is the one that a transfer would get: same
 * routes, same address check, same resolver.
 */
#include <stdlib.h>
#include <utlist.h>
#include "worker/fetch/fetch_priv.h"

/* A pending lookup, in fetch->lookups. */
struct ing_address_wait {
	struct ing_dns_lookup lookup;
	struct ing_address_wait *prev, *next;
	struct ing_fetch *fetch;
	void (*done)(void *ctx, const struct ing_addr *addr);
	void *ctx;
	void **state; /* the caller's pointer to this, while pending */
};

/* Removes and frees it. */
static void remove_wait(struct ing_address_wait *w)
{
	ing_resolver_stop(&w->lookup);
	*w->state = NULL;
	DL_DELETE(w->fetch->lookups, w);
	free(w);
}

static const struct ing_addr *first_permitted(
	const struct ing_fetch *f, const struct ing_addr *addrs, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (ing_addr_refusal(&addrs[i], &f->allow, &f->deny) == NULL)
			return &addrs[i];
	return NULL;
}

static void on_answer(struct ing_dns_lookup *lookup, const struct ing_dns_answer *answer)
{
	struct ing_address_wait *w = ING_CONTAINER(lookup, struct ing_address_wait, lookup);
	const struct ing_fetch *f = w->fetch;
	void (*done)(void *ctx, const struct ing_addr *addr) = w->done;
	void *ctx = w->ctx;
	remove_wait(w);
	done(ctx, first_permitted(f, answer->addrs, answer->count));
}

/* Whether a transfer would connect to the host's own address. */
static bool is_reached_directly(const struct ing_fetch *f, const struct ing_target *t)
{
	struct ing_route route = ing_routes_find(&f->routes, t);
	return !route.named && !route.via_proxy && ing_ports_allow(&f->ports, t->port);
}

/* -------------------------------------------------------------------------------------------- */

void ing_fetch_lookup(struct ing_fetch *f, const char *url,
	void (*done)(void *ctx, const struct ing_addr *addr), void *ctx, void **ret_state)
{
	struct ing_target target;
	struct ing_addr addr;
	*ret_state = NULL;
	if (ing_target_init(&target, url, NULL) != 0) {
		done(ctx, NULL);
		return;
	}
	if (!is_reached_directly(f, &target)) {
		done(ctx, NULL);
	} else if (ing_addr_parse(target.host, &addr)) {
		done(ctx, first_permitted(f, &addr, 1));
	} else {
		struct ing_address_wait *w = ing_alloc(sizeof(*w));
		*w = (struct ing_address_wait){.lookup.done = on_answer,
			.fetch = f,
			.done = done,
			.ctx = ctx,
			.state = ret_state};
		DL_APPEND(f->lookups, w);
		*ret_state = w;
		ing_resolver_start(f->resolver, &w->lookup, target.host);
	}
	ing_target_done(&target);
}

void ing_fetch_lookup_stop(void *state)
{
	if (state != NULL)
		remove_wait(state);
}

void ing_lookups_drop(struct ing_fetch *f)
{
	while (f->lookups != NULL)
		remove_wait(f->lookups);
}
