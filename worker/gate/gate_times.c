/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Timers of hosts and waiters. Loop thread.
 *
 * Hosts are in a binary heap by the time of their next check. Delayed waiters are in a timer wheel,
 * because there may be far more of them and they have no room for a heap index: a slot is a tick of
 * 16 ms, a revolution 65 s, and waiters due in a later revolution are passed over. Nobody is early;
 * up to one tick late.
 */
#include <utlist.h>

#include "worker/gate/gate_priv.h"

/* --- the heap --- */

static void heap_set(struct ing_gate *g, size_t i, struct ing_gate_host *h)
{
	g->heap[i] = h;
	h->heap_index = i + 1;
}

static void heap_up(struct ing_gate *g, size_t i)
{
	struct ing_gate_host *h = g->heap[i];
	while (i > 0) {
		size_t parent = (i - 1) / 2;
		if (g->heap[parent]->wake_ms <= h->wake_ms)
			break;
		heap_set(g, i, g->heap[parent]);
		i = parent;
	}
	heap_set(g, i, h);
}

static void heap_down(struct ing_gate *g, size_t i)
{
	struct ing_gate_host *h = g->heap[i];
	for (;;) {
		size_t child = 2 * i + 1;
		if (child >= g->heap_count)
			break;
		if (child + 1 < g->heap_count &&
			g->heap[child + 1]->wake_ms < g->heap[child]->wake_ms)
			child++;
		if (h->wake_ms <= g->heap[child]->wake_ms)
			break;
		heap_set(g, i, g->heap[child]);
		i = child;
	}
	heap_set(g, i, h);
}

static void heap_remove(struct ing_gate *g, struct ing_gate_host *h)
{
	size_t i = h->heap_index - 1;
	h->heap_index = 0;
	g->heap_count--;
	if (i == g->heap_count)
		return;
	heap_set(g, i, g->heap[g->heap_count]);
	heap_up(g, i);
	heap_down(g, g->heap[i]->heap_index - 1);
}

void ing_gate_wake_set(struct ing_gate *g, struct ing_gate_host *h, uint64_t at_ms)
{
	if (at_ms == GATE_NEVER) {
		if (h->heap_index > 0)
			heap_remove(g, h);
		return;
	}
	if (h->heap_index > 0 && at_ms == h->wake_ms)
		return;
	h->wake_ms = at_ms;
	if (h->heap_index == 0) {
		if (g->heap_count == g->heap_cap) {
			size_t cap = g->heap_cap ? g->heap_cap * 2 : 64;
			g->bytes += (cap - g->heap_cap) * sizeof(struct ing_gate_host *);
			g->heap = ing_realloc(g->heap, cap * sizeof(struct ing_gate_host *));
			g->heap_cap = cap;
		}
		heap_set(g, g->heap_count++, h);
	}
	heap_up(g, h->heap_index - 1);
	heap_down(g, h->heap_index - 1);
}

struct ing_gate_host *ing_gate_wake_pop(struct ing_gate *g, uint64_t now_ms)
{
	if (g->heap_count == 0 || g->heap[0]->wake_ms > now_ms)
		return NULL;
	struct ing_gate_host *h = g->heap[0];
	heap_remove(g, h);
	return h;
}

/* --- the wheel --- */

static unsigned slot_of(const struct ing_gate_waiter *w)
{
	return w->due_ms / GATE_WHEEL_TICK_MS % GATE_WHEEL_SLOTS;
}

static void set_bit(struct ing_gate *g, unsigned slot)
{
	uint64_t bit = (uint64_t)1 << slot % 64;
	if (g->wheel[slot] != NULL)
		g->wheel_bits[slot / 64] |= bit;
	else
		g->wheel_bits[slot / 64] &= ~bit;
}

void ing_gate_delay_add(
	struct ing_gate *g, struct ing_gate_waiter *w, uint64_t now_ms, unsigned delay_ms)
{
	if (g->delayed++ == 0)
		g->wheel_tick = now_ms / GATE_WHEEL_TICK_MS;
	w->state = ING_GATE_DELAYED;
	w->due_ms = (uint32_t)(now_ms + ING_MIN(delay_ms, GATE_MAX_DELAY_MS));
	unsigned slot = slot_of(w);
	DL_APPEND(g->wheel[slot], w);
	set_bit(g, slot);
}

void ing_gate_delay_remove(struct ing_gate *g, struct ing_gate_waiter *w)
{
	unsigned slot = slot_of(w);
	DL_DELETE(g->wheel[slot], w);
	set_bit(g, slot);
	g->delayed--;
}

void ing_gate_delay_end(struct ing_gate *g, uint64_t now_ms,
	void (*ended)(struct ing_gate *, struct ing_gate_waiter *))
{
	uint64_t end = now_ms / GATE_WHEEL_TICK_MS;
	uint64_t tick = ING_MAX(g->wheel_tick, end - ING_MIN(end, GATE_WHEEL_SLOTS));
	for (; tick < end && g->delayed > 0; tick++) {
		struct ing_gate_waiter *w;
		struct ing_gate_waiter *next;
		DL_FOREACH_SAFE (g->wheel[tick % GATE_WHEEL_SLOTS], w, next) {
			if ((int32_t)((uint32_t)now_ms - w->due_ms) < 0)
				continue;
			ing_gate_delay_remove(g, w);
			ended(g, w);
		}
	}
	g->wheel_tick = ING_MAX(g->wheel_tick, end);
}

uint64_t ing_gate_delay_next(const struct ing_gate *g)
{
	if (g->delayed == 0)
		return GATE_NEVER;
	for (unsigned ahead = 0; ahead < GATE_WHEEL_SLOTS;) {
		unsigned slot = (unsigned)((g->wheel_tick + ahead) % GATE_WHEEL_SLOTS);
		uint64_t bits = g->wheel_bits[slot / 64] >> slot % 64;
		if (bits == 0) {
			ahead += 64 - slot % 64;
			continue;
		}
		ahead += (unsigned)__builtin_ctzll(bits);
		return (g->wheel_tick + ahead + 1) * GATE_WHEEL_TICK_MS;
	}
	return (g->wheel_tick + GATE_WHEEL_SLOTS) * GATE_WHEEL_TICK_MS;
}
