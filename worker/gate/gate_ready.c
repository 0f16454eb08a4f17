/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whose turn it is. Loop thread.
 *
 * A host that may start a transfer is in the ring of the best lane in which it has waiters. The
 * priority ring is always served first. The other non-empty rings share the turns by smooth
 * weighted round robin: each gains its weight as credit, the one with most credit has the turn and
 * pays what all have gained. A ring that becomes empty loses its credit, so that turns cannot be
 * saved up. The last sixteenth of gate.concurrency is for the priority lane only, so that a
 * transfer there never waits for one of another lane to end.
 */
#include <utlist.h>

#include "worker/gate/gate_priv.h"

#define RESERVE_SHARE 16 /* of gate.concurrency, when it has as many */

unsigned ing_gate_best_lane(const struct ing_gate_host *h)
{
	unsigned lane = 0;
	while (h->queue[lane][0] == NULL && h->queue[lane][1] == NULL)
		ing_must(++lane < ING_LANES_);
	return lane;
}

void ing_gate_ring_add(struct ing_gate *g, struct ing_gate_host *h)
{
	h->lane = (uint8_t)ing_gate_best_lane(h);
	DL_APPEND(g->rings[h->lane], h);
}

void ing_gate_ring_remove(struct ing_gate *g, struct ing_gate_host *h)
{
	DL_DELETE(g->rings[h->lane], h);
	if (g->rings[h->lane] == NULL)
		g->credit[h->lane] = 0;
}

static bool others_may(const struct ing_gate *g)
{
	return g->holding <
	       g->conf.settings.concurrency - g->conf.settings.concurrency / RESERVE_SHARE;
}

static bool others_wait(const struct ing_gate *g)
{
	for (unsigned lane = ING_LANE_PRIORITY + 1; lane < ING_LANES_; lane++) {
		if (g->rings[lane] != NULL)
			return true;
	}
	return false;
}

bool ing_gate_can_grant(const struct ing_gate *g)
{
	if (ing_gate_frozen(g) || g->holding >= g->conf.settings.concurrency)
		return false;
	return g->rings[ING_LANE_PRIORITY] != NULL || (others_may(g) && others_wait(g));
}

struct ing_gate_host *ing_gate_next_turn(struct ing_gate *g)
{
	if (!ing_gate_can_grant(g))
		return NULL;
	if (g->rings[ING_LANE_PRIORITY] != NULL)
		return g->rings[ING_LANE_PRIORITY];
	unsigned richest = 0;
	int64_t gained = 0;
	for (unsigned lane = ING_LANE_PRIORITY + 1; lane < ING_LANES_; lane++) {
		if (g->rings[lane] == NULL)
			continue;
		unsigned weight = ING_MAX(g->conf.settings.weights[lane], 1U);
		g->credit[lane] += weight;
		gained += weight;
		if (richest == 0 || g->credit[lane] > g->credit[richest])
			richest = lane;
	}
	g->credit[richest] -= gained;
	return g->rings[richest];
}
