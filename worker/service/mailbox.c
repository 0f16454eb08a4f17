/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The exchange of the slot's pointer releases what the writer wrote into the object and acquires it
 * for the reader. The times carry nothing else with them, so they are relaxed.
 */
#include "worker/service/mailbox.h"

#include <stddef.h>

/* A time that is later than now_ms was written just after the caller read its clock. */
static uint64_t since(const _Atomic uint64_t *time_ms, uint64_t now_ms)
{
	uint64_t at_ms = atomic_load_explicit(time_ms, memory_order_relaxed);
	return at_ms < now_ms ? now_ms - at_ms : 0;
}

/* -------------------------------------------------------------------------------------------- */

void ing_mailbox_init(struct ing_mailbox *m, void (*free_object)(void *object))
{
	atomic_init(&m->slot, NULL);
	atomic_init(&m->worked_ms, 0);
	atomic_init(&m->asked_ms, 0);
	m->free_object = free_object;
}

void ing_mailbox_done(struct ing_mailbox *m)
{
	ing_mailbox_put(m, NULL);
}

void ing_mailbox_put(struct ing_mailbox *m, void *object)
{
	void *before = atomic_exchange_explicit(&m->slot, object, memory_order_acq_rel);
	if (before != NULL)
		m->free_object(before);
}

void ing_mailbox_set_worked(struct ing_mailbox *m, uint64_t now_ms)
{
	atomic_store_explicit(&m->worked_ms, now_ms, memory_order_relaxed);
}

bool ing_mailbox_asked(const struct ing_mailbox *m, uint64_t now_ms, uint64_t within_ms)
{
	return atomic_load_explicit(&m->asked_ms, memory_order_relaxed) != 0 &&
	       since(&m->asked_ms, now_ms) <= within_ms;
}

void *ing_mailbox_take(struct ing_mailbox *m)
{
	return atomic_exchange_explicit(&m->slot, NULL, memory_order_acq_rel);
}

void ing_mailbox_set_asked(struct ing_mailbox *m, uint64_t now_ms)
{
	atomic_store_explicit(&m->asked_ms, now_ms, memory_order_relaxed);
}

uint64_t ing_mailbox_silence_ms(const struct ing_mailbox *m, uint64_t now_ms)
{
	return since(&m->worked_ms, now_ms);
}
