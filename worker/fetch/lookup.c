/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Addresses for those who only want to know them. The answer is the one that a transfer would get:
 * same routes, same guard, same resolver.
 */
#include <stdlib.h>
#include <utlist.h>
#include "worker/fetch/fetch_priv.h"

/* Somebody in line for a name; in fetch->lookups until the answer comes. */
struct ing_address_wait {
	struct ing_lookup lookup;
	struct ing_address_wait *prev, *next;
	struct ing_fetch *fetch;
	void (*done)(void *ctx, const struct ing_addr *addr);
	void *ctx;
	void **state; /* the caller's: us, while in line */
};

/* Out of the line, with the memory. */
static void leave_line(struct ing_address_wait *w)
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

static void on_answer(struct ing_lookup *lookup, const struct ing_dns_answer *answer)
{
	struct ing_address_wait *w = ING_CONTAINER(lookup, struct ing_address_wait, lookup);
	const struct ing_fetch *f = w->fetch;
	void (*done)(void *ctx, const struct ing_addr *addr) = w->done;
	void *ctx = w->ctx;
	leave_line(w);
	done(ctx, first_permitted(f, answer->addrs, answer->count));
}

/* Whether the host's own address is what a transfer would connect to. */
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
		leave_line(state);
}

void ing_lookups_drop(struct ing_fetch *f)
{
	while (f->lookups != NULL)
		leave_line(f->lookups);
}
