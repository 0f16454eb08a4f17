/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Visits that an operator's order keeps from beginning a transfer: of a host or a lane that is paused, or drained
 * and theirs is a new request. They are in no queue meanwhile, so no time of waiting passes and no
 * lease is held for them; when the orders have changed, all of them ask anew. Loop thread.
 *
 * What surprises: a visit that was in the gate's queue when the order came is found at its turn, and gives it back.
 * So a host's queue is empty a moment after the host could have been asked.
 */
#include <stdlib.h>
#include <utlist.h>

#include "worker/fleet/orders.h"
#include "worker/visit/visit_priv.h"

static const struct ing_order *find_order(struct ing_visit *v, const char *url)
{
	const struct ing_orders *orders = v->visits->conf.orders;
	uint64_t accepted_ms = v->user->accepted_ms != NULL ? v->user->accepted_ms(v) : 0;
	return ing_orders_holding(orders, url, (enum ing_lane)v->lane, accepted_ms);
}

/* ---------------------------------------------------------------------------------------------- */

bool ing_visit_obey(struct ing_visit *v, const char *url)
{
	struct ing_visits *all = v->visits;
	if (find_order(v, url) == NULL)
		return false;
	ing_must(!v->held && v->robots.entry == NULL && v->robots.prev == NULL);
	v->held = true;
	DL_APPEND(all->held, &v->robots);
	all->held_count++;
	return true;
}

/* Without what it gets when it is admitted: thousands may be found in one moment. */
bool ing_visit_obey_at_turn(struct ing_visit *v)
{
	if (ing_orders_count(v->visits->conf.orders) == 0)
		return false;
	char *derived = v->run == NULL ? v->user->url(v) : NULL;
	bool waits = ing_visit_obey(v, derived != NULL ? derived : v->run->url);
	free(derived);
	if (waits)
		ing_gate_leave(v->visits->stages.gate, &v->waiter, NULL);
	return waits;
}

void ing_visit_leave_held(struct ing_visit *v)
{
	if (!v->held)
		return;
	v->held = false;
	DL_DELETE(v->visits->held, &v->robots);
	v->robots.prev = v->robots.next = NULL;
	v->visits->held_count--;
}

void ing_visits_on_orders(struct ing_visits *all)
{
	struct ing_robots_waiter *waiter;
	DL_FOREACH (all->held, waiter)
		ING_CONTAINER(waiter, struct ing_visit, robots)->held = false;
	DL_CONCAT(all->woken, all->held);
	all->held = NULL;
	all->held_count = 0;
	if (all->woken != NULL)
		uv_idle_start(&all->waking, ing_visits_on_waking);
}

unsigned ing_visits_held_by_orders(const struct ing_visits *all)
{
	return all->held_count;
}

bool ing_visit_waits_for_order(const struct ing_visit *v)
{
	return v->held;
}
