/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * gate.h - when a URL may be fetched: at most so many transfers in all, so many per host, a pause
 * between two of one host.
 *
 * Owns: the table of hosts and the queues in front of them. Thread: loop only. Waiters are
 * intrusive and belong to their owners; a waiter is either in a queue, holding a slot, or out.
 * Hosts with something to start take turns (round robin), so a host with a million waiters delays
 * nobody else's next transfer.
 */
#pragma once
#include <stdbool.h>
#include "common/base/error.h"

struct uv_loop_s;
struct ing_gate;
struct ing_gate_host;

struct ing_gate_conf {
	unsigned concurrency;
	unsigned host_concurrency;
	unsigned host_delay_ms; /* between the end of one transfer and the start of the next to the
				   same host */
	unsigned max_wait_ms;   /* for one turn, while the gate is not held; 0: for ever */
};

struct ing_gate_waiter {
	struct ing_gate_waiter *prev, *next;     /* in the host's queue */
	struct ing_gate_waiter *older, *younger; /* among all waiting, by time of entry */
	struct ing_gate_host *host;
	uint64_t since_ms; /* of its entry, on a clock that stands while the gate is held */
	enum { ING_GATE_OUT, ING_GATE_WAITING, ING_GATE_HOLDING } state;
	void (*granted)(struct ing_gate_waiter *w); /* a slot is held: ing_gate_leave() is owed */
	void (*expired)(struct ing_gate_waiter *w); /* gate.max_wait_ms passed; out of the queue */
};

struct ing_gate *ing_gate_new(struct uv_loop_s *loop, const struct ing_gate_conf *conf);
void ing_gate_free(struct ing_gate *g); /* NULL is fine; nobody may be inside any more */
/* Queue for the host of an absolute URL. Neither callback comes from inside. */
void ing_gate_enter(struct ing_gate *g, struct ing_gate_waiter *w, const char *url);
/* Give a slot back (the transfer has ended), or leave the queue. Harmless when out. */
void ing_gate_leave(struct ing_gate *g, struct ing_gate_waiter *w);
/* While held nobody is admitted (a later stage is blocked) and nobody's patience ends; queues and
 * delays go on. */
void ing_gate_hold(struct ing_gate *g, bool held);
unsigned ing_gate_waiting(const struct ing_gate *g);
unsigned ing_gate_holding(const struct ing_gate *g);
