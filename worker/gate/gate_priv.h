/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * gate_priv.h - what the files of the gate share. Thread: loop only.
 *
 * A host is in exactly one place (enum gate_place), and ing_gate_place() alone moves it, after
 * anything about it has changed: it settles the host's lease, finds out what the host waits for,
 * puts it where that is awaited, and sets the time at which to look again. Nothing is polled:
 * whatever a host can wait for either has a list that it stands in, or calls ing_gate_place(), or
 * is a time.
 *
 *   gate.c          entering and leaving, the queues of waiters, the pump, the timer
 *   gate_hosts.c    the table of hosts: keys, rules, places, and how long idle hosts are remembered
 *   gate_ready.c    whose turn it is: rings of hosts by lane, weights, the reserve
 *   gate_address.c  lookups, budgets of addresses, the hosts that wait for them
 *   gate_fleet.c    leases: when to ask, note and give back
 *   gate_times.c    the heap of hosts by the time to look at them again; the wheel of snoozers
 *   gate_view.c     for operators and metrics
 */
#pragma once
#include <uv.h>

#include "common/base/hash.h"
#include "common/net/url.h"
#include "worker/gate/gate.h"
#include "worker/gate/fleet/lease.h"

#define GATE_NEVER UINT64_MAX
#define GATE_ADDR_KEY_BYTES (ING_ADDR_TEXT_BYTES + 2)

enum gate_place {
	GATE_NOWHERE,  /* waits for a time or for news; or all its slots are taken */
	GATE_READY,    /* in a ring: waits for its turn */
	GATE_PARKED,   /* with its address: waits for a slot of it */
	GATE_UNLOOKED, /* its name is to be looked up as soon as fewer are under way */
	GATE_CROWDED,  /* waits for room behind the gate: is looked at again and again */
	GATE_REFUSING, /* held for so long that its waiters are sent away */
	GATE_MINDED,   /* idle; remembered for its failures or its rest */
	GATE_IDLE,     /* idle; remembered as long as there is room */
	GATE_PLACES_
};

enum gate_lease { GATE_LEASE_NONE, GATE_LEASE_ASKED, GATE_LEASE_OURS };

/* Bits of ing_gate_host.counted. */
enum {
	GATE_COUNTED_RESTING = 1,
	GATE_COUNTED_HELD = 2,
	GATE_COUNTED_OPEN = 4,
	GATE_COUNTED_LEASED = 8
};

struct gate_addr { /* an address in use, or remembered for a host */
	UT_hash_handle hh;
	struct ing_addr addr;
	unsigned refs; /* hosts */
	unsigned holding;
	unsigned called; /* hosts taken out of parked that have not had their turn yet */
	bool calling;
	struct ing_gate_host *parked[ING_LANES_]; /* first come, first served */
};

struct ing_gate_host {
	UT_hash_handle hh;
	struct ing_gate *gate;
	struct ing_gate_host *prev, *next;            /* in the list of its place */
	struct ing_gate_waiter *queue[ING_LANES_][2]; /* [1]: again; they go first */
	unsigned waiting[ING_LANES_];                 /* snoozing ones included */
	unsigned queued, snoozing, holding;
	unsigned delay_ms, concurrency; /* by its rule, else the configuration's */
	struct ing_patience patience;
	size_t heap_index; /* 1-based; 0: not there */
	uint64_t wake_ms;  /* when to look at it again */
	uint64_t idle_ms;  /* since when nobody queues and no transfer runs; 0: somebody does */
	struct ing_gate_lookup lookup;
	struct gate_addr *addr;
	uint64_t addr_until_ms; /* how long the answer counts, NULL ones too; 0: never asked */
	char *origin;           /* scheme, host and port that are looked up; NULL: none yet */
	uint64_t lease_since_ms, lease_until_ms, ask_again_ms;
	char *holder;    /* another worker that has the lease; NULL: unknown or nobody */
	uint8_t place;   /* enum gate_place */
	uint8_t lane;    /* of the ring, or of the address's list */
	uint8_t lease;   /* enum gate_lease */
	uint8_t counted; /* in ing_gate.resting, held_hosts, open, leased */
	bool wanted;     /* its lease, by another worker */
	bool looking;    /* a lookup is under way */
	bool called;     /* out of its address's list, for a slot that is free */
	bool has_delay, has_concurrency; /* a rule says so */
	bool redirects;                  /* a name whose waiters queue at the host of its address */
	char key[];
};

#define GATE_WHEEL_SLOTS 4096
#define GATE_WHEEL_TICK_MS 16
#define GATE_MAX_SNOOZE_MS (24 * 3600 * 1000) /* far below what 32 bits of a clock tell apart */

struct ing_gate {
	struct ing_gate_conf conf;
	struct ing_gate_host *hosts; /* by key */
	struct gate_addr *addrs;
	struct ing_gate_host *rings[ING_LANES_];
	int64_t credit[ING_LANES_];        /* of the weighted turns */
	struct ing_gate_host *unlooked[2]; /* [0]: priority lane */
	struct ing_gate_host *refusing, *minded, *idle;
	unsigned minded_count, idle_count, lookups;
	struct ing_gate_host **heap; /* by wake_ms */
	size_t heap_count, heap_cap;
	struct ing_gate_waiter *wheel[GATE_WHEEL_SLOTS];
	uint64_t wheel_bits[GATE_WHEEL_SLOTS / 64];
	uint64_t wheel_tick; /* all slots before it are empty of what is due */
	unsigned snoozing;
	struct ing_gate_waiter *oldest, *youngest;
	unsigned waiting, holding;
	bool held, away;
	uint64_t frozen_since_ms;                   /* begin of this standstill */
	uint64_t frozen_ms;                         /* all earlier ones together */
	unsigned resting, held_hosts, open, leased; /* hosts */
	uint64_t grants, refused, holds, breaker_opens;
	size_t bytes;
	uint64_t random;
	uint64_t armed_ms; /* when the timer fires; GATE_NEVER: it does not */
	uv_timer_t timer;  /* the next time anything is due */
	uv_idle_t pump;    /* runs while there is something to grant, to refuse or to look up */
	unsigned handles;
};

/* gate.c */
static inline bool ing_gate_frozen(const struct ing_gate *g)
{
	return g->held || g->away;
}
void ing_gate_set_away(struct ing_gate *g, bool away);
/* Wake up for whatever comes first. */
void ing_gate_arm(struct ing_gate *g);

/* gate_hosts.c */
/* The host of a key, made when it is new. */
struct ing_gate_host *ing_gate_host_get(struct ing_gate *g, const char *key);
struct ing_gate_host *ing_gate_host_find(const struct ing_gate *g, const char *key);
/* The host that a URL's waiters queue for. */
struct ing_gate_host *ing_gate_host_of_url(struct ing_gate *g, const char *url, uint64_t now_ms);
/* Put a host where it belongs. Does not free h; may forget others that are idle. */
void ing_gate_place(struct ing_gate *g, struct ing_gate_host *h, uint64_t now_ms);
/* Take it out of the list it is in. */
void ing_gate_unplace(struct ing_gate *g, struct ing_gate_host *h);
void ing_gate_drop_hosts(struct ing_gate *g); /* all; nobody may be inside */
/* What stands in the way of its next transfer; TURN: nothing of its own. */
enum ing_gate_need ing_gate_host_need(
	const struct ing_gate *g, const struct ing_gate_host *h, uint64_t now_ms);
/* Held for longer than anybody waits. */
bool ing_gate_host_refuses(
	const struct ing_gate *g, const struct ing_gate_host *h, uint64_t now_ms);
/* The strictest of the rules that have been given is kept until ing_gate_rule_reset(). */
void ing_gate_rule_add(struct ing_gate_host *h, const char *name);
void ing_gate_rule_reset(struct ing_gate_host *h);
void ing_gate_rules_apply(struct ing_gate *g, uint64_t now_ms); /* anew, to all */

/* gate_ready.c: hosts are put into and out of rings by ing_gate_place() and ing_gate_unplace() */
unsigned ing_gate_best_lane(const struct ing_gate_host *h); /* somebody must be queued */
void ing_gate_ring_add(struct ing_gate *g, struct ing_gate_host *h);
void ing_gate_ring_remove(struct ing_gate *g, struct ing_gate_host *h);
bool ing_gate_can_grant(const struct ing_gate *g);
/* The host whose turn it is; NULL: none. Takes account of the turn. */
struct ing_gate_host *ing_gate_next_turn(struct ing_gate *g);

/* gate_address.c */
/* Of a host that could start but for its address's budget: must it wait for a slot? */
bool ing_gate_addr_blocks(const struct ing_gate *g, const struct ing_gate_host *h);
void ing_gate_addr_park(struct ing_gate_host *h);
void ing_gate_addr_unpark(struct ing_gate_host *h);
/* A called host is not ready any more: the next is called in its place. */
void ing_gate_addr_uncall(struct ing_gate *g, struct ing_gate_host *h, uint64_t now_ms);
/* A transfer begins and ends. Hosts without a budget may be given too. */
void ing_gate_addr_take(struct ing_gate_host *h);
void ing_gate_addr_give(struct ing_gate *g, struct ing_gate_host *h, uint64_t now_ms);
/* The key of an address's host, by address: as it stands in URLs, so that http://192.0.2.1/ and a
 * name there are one host. */
void ing_gate_addr_key(const struct ing_addr *addr, char ret_key[GATE_ADDR_KEY_BYTES]);
void ing_gate_addr_forget(struct ing_gate *g, struct ing_gate_host *h);
/* Where the waiters of h queue now: h, or, by address, the host of its address. */
struct ing_gate_host *ing_gate_host_route(
	struct ing_gate *g, struct ing_gate_host *h, uint64_t now_ms);
/* The rules of a name whose waiters queue at its address join those of that host. */
void ing_gate_addr_rules(struct ing_gate *g, const struct ing_gate_host *h);
/* An answer, be it that there is none, that may be used still. */
bool ing_gate_addr_known(const struct ing_gate *g, const struct ing_gate_host *h, uint64_t now_ms);
bool ing_gate_wants_lookup(
	const struct ing_gate *g, const struct ing_gate_host *h, uint64_t now_ms);
/* What the next lookup of h asks for. */
void ing_gate_set_origin(struct ing_gate *g, struct ing_gate_host *h, const char *url);
bool ing_gate_can_look(const struct ing_gate *g);
void ing_gate_look_next(struct ing_gate *g);
void ing_gate_look_stop(struct ing_gate *g, struct ing_gate_host *h);

/* gate_fleet.c */
void ing_gate_fleet_start(struct ing_gate *g);
void ing_gate_fleet_stop(struct ing_gate *g); /* gives back all that is left */
/* Ask for a host's lease, forget the question, or give the lease back, as its state wants. */
void ing_gate_fleet_settle(struct ing_gate *g, struct ing_gate_host *h, uint64_t now_ms);
/* Nothing is asked, noted or had any more. */
void ing_gate_fleet_release(struct ing_gate *g, struct ing_gate_host *h);
void ing_gate_fleet_note(struct ing_gate *g, const struct ing_gate_host *h);
/* A lease that lasts for longer than a transfer can, and is not wanted elsewhere; or none is
 * needed. */
bool ing_gate_fleet_allows(
	const struct ing_gate *g, const struct ing_gate_host *h, uint64_t now_ms);
/* When to settle again; GATE_NEVER: news will tell. */
uint64_t ing_gate_fleet_wake(
	const struct ing_gate *g, const struct ing_gate_host *h, uint64_t now_ms);

/* gate_times.c */
/* at_ms GATE_NEVER: not at all. */
void ing_gate_wake_set(struct ing_gate *g, struct ing_gate_host *h, uint64_t at_ms);
/* The host to look at now, out of the heap; NULL: none. */
struct ing_gate_host *ing_gate_wake_pop(struct ing_gate *g, uint64_t now_ms);
void ing_gate_snooze(
	struct ing_gate *g, struct ing_gate_waiter *w, uint64_t now_ms, unsigned delay_ms);
void ing_gate_unsnooze(struct ing_gate *g, struct ing_gate_waiter *w);
/* Hands out, out of the wheel, each waiter whose time has come. */
void ing_gate_wake_snoozers(struct ing_gate *g, uint64_t now_ms,
	void (*awake)(struct ing_gate *, struct ing_gate_waiter *));
/* When to call it; GATE_NEVER: nobody snoozes. */
uint64_t ing_gate_snooze_next(const struct ing_gate *g);
