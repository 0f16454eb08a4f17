/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A made-up gate. It looks after its contract: who enters is out, who leaves holds a slot or waits.
 */
#include "fake_gate.h"

#include <stdio.h>
#include <string.h>

#include "common/net/url.h"

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
	w->state = ING_GATE_WAITING;
	fake_list_add(&fake_gate.waiters, w);
	fake_gate.ticket = *ticket;
	snprintf(fake_gate.last_url, sizeof(fake_gate.last_url), "%s", url);
}

static struct ing_gate_waiter *take_oldest(void)
{
	struct ing_gate_waiter *w = fake_list_take_at(&fake_gate.waiters, 0);
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
		fake_list_take(&fake_gate.waiters, w);
		w->state = ING_GATE_OUT;
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

bool ing_gate_wants_alone(const struct ing_gate *g)
{
	(void)g;
	return false;
}

void ing_gate_admit_alone(struct ing_gate *g)
{
	(void)g;
	ing_must(false);
}

void ing_gate_alone_over(struct ing_gate *g)
{
	(void)g;
}

bool ing_gate_waits_for_hold(const struct ing_gate_waiter *w)
{
	return fake_gate.hold && w->state == ING_GATE_WAITING;
}

bool ing_gate_url_key(const struct ing_gate *g, const char *url, char *ret, size_t ret_bytes)
{
	(void)g;
	return ing_url_host(url, ret, ret_bytes);
}

void ing_gate_look_ahead(const struct ing_gate *g, const char *key, struct ing_gate_outlook *ret)
{
	(void)g;
	*ret = (struct ing_gate_outlook){
		.resolver = fake_gate.resolver != NULL && strcmp(key, fake_gate.resolver) == 0,
		.pace_ms = fake_gate.pace_ms,
		.hold_ms = fake_gate.held_host != NULL && strcmp(key, fake_gate.held_host) == 0
				   ? fake_gate.hold_ms
				   : 0,
	};
}

void fake_gate_grant(void)
{
	struct ing_gate_waiter *w = take_oldest();
	w->state = ING_GATE_HOLDING;
	fake_gate.holding++;
	w->user->granted(w);
}

void fake_gate_refuse(enum ing_gate_refusal why, unsigned retry_after_s)
{
	struct ing_gate_waiter *w = take_oldest();
	w->user->refused(w, why, retry_after_s);
}
