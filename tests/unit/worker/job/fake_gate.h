/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fake_gate.h - a gate that opens when the test says so, and keeps what it was told. It takes the
 * place of the library. One thread.
 */
#pragma once
#include "stages.h"
#include "worker/gate/gate.h"

struct fake_gate {
	struct fake_list waiters; /* granted() or refused() owed */
	unsigned holding;
	const char *resolver;  /* host that is one; NULL: none */
	unsigned pace_ms;      /* of all */
	bool hold;             /* hosts are held, all of them */
	const char *held_host; /* is held for so long; NULL: none */
	uint64_t hold_ms;
	char last_url[128];             /* of the last that entered */
	struct ing_gate_ticket ticket;  /* the same */
	struct ing_gate_report report;  /* of the last that left with one */
	unsigned reports, left_without; /* slots given back with and without one */
};

extern struct fake_gate fake_gate;

void fake_gate_reset(void);
/* The oldest waiter: admit it, or send it away. */
void fake_gate_grant(void);
void fake_gate_refuse(enum ing_gate_refusal why, unsigned retry_after_s);
