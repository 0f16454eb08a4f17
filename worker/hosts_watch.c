/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The gate only counts; what has changed is found by comparing with the last line. A breaker that
 * is tried and opens anew has opened once more. The host to name is looked for only when a line is
 * due.
 */
#include "worker/hosts_watch.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/base/buf.h"
#include "worker/gate/gate.h"

struct longest {
	bool found;
	char key[300];
	unsigned failures;
	uint64_t rest_ms;
};

static void consider(void *ctx, const struct ing_gate_host_view *v)
{
	struct longest *best = ctx;
	if (v->patience.breaker == ING_BREAKER_CLOSED ||
		(best->found && v->rest_ms <= best->rest_ms))
		return;
	best->found = true;
	best->failures = v->patience.failures;
	best->rest_ms = v->rest_ms;
	snprintf(best->key, sizeof(best->key), "%s", v->key);
}

static void add_longest(const struct ing_gate *g, struct ing_buf *out)
{
	struct longest best = {0};
	ing_gate_each(g, consider, &best);
	if (best.found)
		ing_buf_printf(out,
			"; longest: %s, %u failure%s in a row, left alone for %" PRIu64 " s",
			best.key, best.failures, ING_PLURAL_S(best.failures),
			(best.rest_ms + 999) / 1000);
}

/* -------------------------------------------------------------------------------------------- */

void ing_hosts_add_status(const struct ing_gate *g, struct ing_buf *out)
{
	struct ing_gate_stats s;
	ing_gate_stats(g, &s);
	if (s.hosts_held > 0)
		ing_buf_printf(out, ", %u host%s held", s.hosts_held, ING_PLURAL_S(s.hosts_held));
	if (s.breakers_open > 0)
		ing_buf_printf(
			out, ", %u breaker%s open", s.breakers_open, ING_PLURAL_S(s.breakers_open));
}

bool ing_hosts_watch(
	struct ing_hosts_watch *w, const struct ing_gate *g, uint64_t now_ms, struct ing_buf *out)
{
	struct ing_gate_stats s;
	ing_gate_stats(g, &s);
	if (now_ms < w->due_ms || (s.breaker_opens == w->opens && s.breakers_open == w->open))
		return false;
	uint64_t opened = s.breaker_opens - w->opens;
	ing_buf_printf(out, "breakers of hosts: %" PRIu64 " opened, %u open now, %u before", opened,
		s.breakers_open, w->open);
	if (s.breakers_open > 0)
		add_longest(g, out);
	*w = (struct ing_hosts_watch){
		.opens = s.breaker_opens,
		.open = s.breakers_open,
		.due_ms = now_ms + ING_HOSTS_WATCH_MS,
	};
	return true;
}
