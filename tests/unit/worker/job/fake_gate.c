/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A made-up gate. It looks after its contract: who enters is out, who leaves holds a slot or waits.
 */
#include "fake_gate.h"

#include <stdio.h>
#include <string.h>

struct fake_gate fake_gate;

void fake_gate_reset(void)
{
	ing_must(fake_gate.waiters.count == 0 && fake_gate.holding == 0);
	fake_gate = (struct fake_gate){0};
}

void ing_gate_enter(struct ing_gate *g, struct ing_gate_waiter *w, const char *url,
	const struct ing_gate_ticket *ticket)
{
	(void)g;
	ing_must(w->state == ING_GATE_OUT && w->user != NULL);
	ing_must(fake_gate.waiters.count < FAKE_PENDING);
	w->state = ING_GATE_WAITING;
	fake_gate.waiters.items[fake_gate.waiters.count++] = w;
	fake_gate.ticket = *ticket;
	snprintf(fake_gate.last_url, sizeof(fake_gate.last_url), "%s", url);
}

static struct ing_gate_waiter *take_waiter(size_t at)
{
	struct fake_list *l = &fake_gate.waiters;
	ing_must(at < l->count);
	struct ing_gate_waiter *w = l->items[at];
	l->count--;
	memmove(l->items + at, l->items + at + 1, (l->count - at) * sizeof(l->items[0]));
	w->state = ING_GATE_OUT;
	return w;
}

void ing_gate_leave(
	struct ing_gate *g, struct ing_gate_waiter *w, const struct ing_gate_report *report)
{
	(void)g;
	if (w->state == ING_GATE_OUT)
		return;
	if (w->state == ING_GATE_WAITING) {
		size_t at = 0;
		while (at < fake_gate.waiters.count && fake_gate.waiters.items[at] != w)
			at++;
		take_waiter(at);
		return;
	}
	w->state = ING_GATE_OUT;
	fake_gate.holding--;
	if (report != NULL) {
		fake_gate.report = *report;
		fake_gate.reports++;
	} else {
		fake_gate.left_without++;
	}
}

void ing_gate_hold(struct ing_gate *g, bool held)
{
	(void)g;
	(void)held;
}

bool ing_gate_blocked(const struct ing_gate *g)
{
	(void)g;
	return false;
}

void fake_gate_grant(void)
{
	struct ing_gate_waiter *w = take_waiter(0);
	w->state = ING_GATE_HOLDING;
	fake_gate.holding++;
	w->user->granted(w);
}

void fake_gate_refuse(enum ing_gate_refusal why, unsigned retry_after_s)
{
	struct ing_gate_waiter *w = take_waiter(0);
	w->user->refused(w, why, retry_after_s);
}
