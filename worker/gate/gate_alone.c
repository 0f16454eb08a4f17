/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A waiter that must be alone: when its host is ready, and it is its turn, the gate stands still until
 * its owner says that nobody is at work any more, and then until it is through. Loop thread.
 */
#include "common/base/clock.h"
#include "worker/gate/gate_priv.h"

bool ing_gate_wants_alone(const struct ing_gate *g)
{
	return g->alone != NULL && g->holding == 0 && !g->held && !g->away;
}

void ing_gate_admit_alone(struct ing_gate *g)
{
	struct ing_gate_waiter *w = ING_TAKE(g->alone);
	struct ing_gate_host *h = w->host;
	uint64_t now = ing_now_ms();
	ing_must(g->holding == 0);
	g->alone_at_work = ing_gate_host_need(g, h, now) == ING_NEED_TURN;
	if (g->alone_at_work) {
		ing_gate_grant(g, h, w);
		return;
	}
	ing_gate_place(g, h, now);
	ing_gate_refreeze(g, true);
}

void ing_gate_alone_over(struct ing_gate *g)
{
	if (!g->alone_at_work)
		return;
	g->alone_at_work = false;
	ing_gate_refreeze(g, true);
}
