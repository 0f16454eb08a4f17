/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * gate_world.h - what the tests of the gate share: a clock that goes only when told to, visitors,
 * and stand-ins for what the gate asks: lookups, the leases' database, the rules about hosts.
 *
 * The linker hands the gate's clock and timer to this file (--wrap, CMakeLists.txt), so that an
 * hour of politeness is tested in a millisecond, and to the millisecond. The loop itself is real.
 */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/macros.h"
#include "worker/gate/gate.h"
#include "worker/rules/host_rules.h"
#include "worker/gate/fleet/lease.h"

#define VISITORS 4096

struct visitor {
	struct ing_gate_waiter waiter;
	int id;
	uint64_t granted_ms; /* 0: not (yet) */
	bool refused;
	enum ing_gate_refusal reason;
	unsigned retry_after_s;
};

extern struct ing_gate *gate;
extern struct visitor visitors[VISITORS];
extern int order[VISITORS]; /* of grants */
extern int granted_count, refused_count;

/* Two slots a host, ten minutes to wait, a breaker of three failures. */
extern const struct ing_gate_conf patient;

uint64_t world_now(void);
/* Does nothing else than let time pass: the loop has not turned. */
void world_skip(uint64_t ms);
struct uv_loop_s *world_loop(void);
void open_gate(const struct ing_gate_conf *conf);
void close_gate(void); /* all leave before */
struct ing_gate_stats gate_stats(void);
/* Turns the loop until nothing is left to do now, then goes to the next time that anything is due,
 * until ms have passed. */
void run_for(uint64_t ms);

void enter(int id, const char *url); /* in the plain lane */
void enter_lane(int id, const char *url, enum ing_lane lane);
void enter_with(int id, const char *url, const struct ing_gate_ticket *ticket);
void leave(int id); /* nothing was asked */
void answer(int id, const struct ing_gate_report *report);
void answer_good(int id);
void answer_throttled(int id, int64_t retry_after_s);
void answer_failed(int id);

/* --- lookups: "name" in the table below, or no address --- */
struct world_name {
	const char *host, *addr; /* addr NULL: has none */
};
struct world_lookups {
	const struct world_name *names;
	size_t count;
	unsigned delay_ms; /* 0: answers from inside */
	unsigned started, under_way, most_under_way;
	char last_url[300];
};
extern struct world_lookups lookups;
struct ing_gate_lookup_ops world_lookup_ops(void);

/* --- leases --- */
struct world_lease {
	char host[64];
	bool asked, held; /* as the database sees it */
	unsigned asks, forgets, notes, returns;
	uint64_t asked_ms, returned_ms;
	struct ing_host_backoff said; /* with the last note or return */
};
struct ing_leases *world_leases(void);
struct world_lease *world_lease(const char *host); /* made when new */
void world_lease_event(const char *host, enum ing_lease_event_type answer, unsigned ms,
	const struct ing_host_backoff *backoff); /* ms: until it ends, or to retry */
void world_leases_away(bool away);
/* Asks are granted by themselves, for so long; 0: not. */
extern unsigned world_grant_ms;
extern unsigned world_leases_held;

/* --- rules about hosts --- */
struct ing_host_rules {
	struct ing_host_rule rules[4];
	size_t count;
};
