/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * gate_priv.h - what the files of the gate share. Thread: loop only.
 *
 * A host is in exactly one place (enum gate_place). Only ing_gate_place() moves it, and is called
 * after anything about the host has changed: it requests or releases the lease, finds what the host
 * waits for, puts it into the list for that, and sets the time of the next check. Nothing is
 * polled: whatever a host can wait for has a list, or calls ing_gate_place(), or is a time.
 *
 *   gate.c          entering and leaving, the queues of waiters, the pump, the timer
 *   gate_hosts.c    the table of hosts: keys, rules, places, and how long idle hosts are remembered
 *   gate_ready.c    whose turn it is: rings of hosts by lane, weights, slots reserved for priority
 *   gate_address.c  lookups, budgets of addresses, the hosts that wait for them
 *   gate_fleet.c    leases: when to request, update and release them
 *   gate_times.c    the heap of hosts by the time of their next check; the wheel of delayed waiters
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
	GATE_NOWHERE,      /* waits for a time or an event; or all its slots are taken */
	GATE_READY,        /* in a ring: waits for its turn */
	GATE_ADDRESS_FULL, /* in its address's queue: waits for a slot there */
	GATE_UNRESOLVED,   /* its name is to be looked up when fewer lookups are under way */
	GATE_NO_ROOM,      /* waits for room in later stages: checked at intervals */
	GATE_REFUSING,     /* held for so long that its waiters are refused */
	GATE_REMEMBERED,   /* idle; remembered for its failures or its rest */
	GATE_IDLE,         /* idle; remembered as long as there is room */
	GATE_PLACES_
};

enum gate_lease { GATE_LEASE_NONE, GATE_LEASE_ASKED, GATE_LEASE_OURS };

/* Bits of ing_gate_host.counted. */
enum {
	GATE_COUNTED_RESTING = 1,
	GATE_COUNTED_HELD = 2,
	GATE_COUNTED_OPEN = 4,
	GATE_COUNTED_LEASED = 8,
	GATE_COUNTED_WAITING = 16
};

struct gate_addr { /* an address in use, or remembered for a host */
	UT_hash_handle hh;
	struct ing_addr addr;
	unsigned refs; /* hosts */
	unsigned holding;
	unsigned offered; /* hosts taken out of parked that have not had their turn yet */
	bool offering;
	struct ing_gate_host *queue[ING_LANES_]; /* first come, first served */
};

struct ing_gate_host {
	UT_hash_handle hh;
	struct ing_gate *gate;
	struct ing_gate_host *prev, *next;            /* in the list of its place */
	struct ing_gate_waiter *queue[ING_LANES_][2]; /* [1]: again; they go first, mostly */
	uint8_t ahead; /* of these granted in a row while others of the lane waited */
	unsigned waiting[ING_LANES_]; /* delayed ones included */
	unsigned queued, delayed, holding;
	unsigned delay_ms, concurrency; /* by its rule, else the configuration's */
	struct ing_host_backoff backoff;
	size_t heap_index; /* 1-based; 0: not there */
	uint64_t wake_ms;  /* time of its next check */
	uint64_t idle_ms;  /* since when it has neither waiters nor transfers; 0: it has */
	struct ing_gate_lookup lookup;
	struct gate_addr *addr;
	uint64_t addr_until_ms; /* how long the answer counts, NULL ones too; 0: never asked */
	char *origin;           /* scheme, host and port that are looked up; NULL: none yet */
	uint64_t lease_since_ms, lease_until_ms, ask_again_ms;
	char *holder;    /* another worker that has the lease; NULL: unknown or nobody */
	uint8_t place;   /* enum gate_place */
	uint8_t lane;    /* of the ring, or of the address's list */
	uint8_t lease;   /* enum gate_lease */
	uint8_t counted; /* in ing_gate.resting, held_hosts, open, leased, waiting_hosts */
	bool wanted;     /* its lease, by another worker */
	bool looking;    /* a lookup is under way */
	bool offered;    /* a slot of its address, for which it has left the queue there */
	bool has_delay, has_concurrency; /* a rule says so */
	bool resolver;                   /* the same */
	bool redirects;                  /* a name whose waiters queue at the host of its address */
	char key[];
};

#define GATE_WHEEL_SLOTS 4096
#define GATE_WHEEL_TICK_MS 16
#define GATE_MAX_DELAY_MS (24 * 3600 * 1000) /* far below what 32 bits of a clock tell apart */

struct ing_gate {
	struct ing_gate_conf conf;
	struct ing_gate_host *hosts; /* by key */
	struct gate_addr *addrs;
	struct ing_gate_host *rings[ING_LANES_];
	int64_t credit[ING_LANES_];          /* of the weighted turns */
	struct ing_gate_host *unresolved[2]; /* [0]: priority lane */
	struct ing_gate_host *refusing, *remembered, *idle;
	unsigned remembered_count, idle_count, lookups;
	struct ing_gate_host **heap; /* by wake_ms */
	size_t heap_count, heap_cap;
	struct ing_gate_waiter *wheel[GATE_WHEEL_SLOTS];
	uint64_t wheel_bits[GATE_WHEEL_SLOTS / 64];
	uint64_t wheel_tick; /* all slots before it are empty of what is due */
	unsigned delayed;
	struct ing_gate_waiter *oldest, *youngest;
	unsigned waiting, holding;
	bool held, away;
	struct ing_gate_waiter
		*alone;           /* whose turn it is when nobody else is at work; NULL: none */
	bool alone_at_work;       /* it has been granted */
	uint64_t frozen_since_ms; /* since when time has stood still for waiters */
	uint64_t frozen_ms;       /* earlier such times together */
	unsigned resting, held_hosts, open, leased, waiting_hosts; /* hosts */
	uint64_t grants, refused, holds, breaker_opens;
	uint64_t wait_us[ING_METRIC_COUNT_DURATION + 1]; /* of those that were admitted */
	size_t bytes;
	uint64_t random;
	uint64_t armed_ms; /* when the timer fires; GATE_NEVER: it does not */
	uv_timer_t timer;  /* the next time anything is due */
	uv_idle_t pump;    /* runs while there are grants, refusals or lookups to make */
	unsigned handles;
};

/* gate.c */
static inline bool ing_gate_frozen(const struct ing_gate *g)
{
	return g->held || g->away || g->alone != NULL || g->alone_at_work;
}
/* After what ing_gate_frozen() depends on has changed. */
void ing_gate_refreeze(struct ing_gate *g, bool was_frozen);
/* w: of h, which is ready. */
void ing_gate_grant(struct ing_gate *g, struct ing_gate_host *h, struct ing_gate_waiter *w);
void ing_gate_set_away(struct ing_gate *g, bool away);
/* Set the timer for whatever is due first. */
void ing_gate_arm(struct ing_gate *g);

/* gate_hosts.c */
/* The host of a key, made when it is new. */
struct ing_gate_host *ing_gate_host_get(struct ing_gate *g, const char *key);
struct ing_gate_host *ing_gate_host_find(const struct ing_gate *g, const char *key);
/* The host that a URL's waiters queue for. */
struct ing_gate_host *ing_gate_host_of_url(struct ing_gate *g, const char *url, uint64_t now_ms);
/* Put a host into its place. Does not free h; may free others that are idle. */
void ing_gate_place(struct ing_gate *g, struct ing_gate_host *h, uint64_t now_ms);
/* Take it out of the list it is in. */
void ing_gate_unplace(struct ing_gate *g, struct ing_gate_host *h);
void ing_gate_drop_hosts(struct ing_gate *g); /* all; nobody may be inside */
/* The first condition for its next transfer that does not hold; TURN: all hold. */
enum ing_gate_need ing_gate_host_need(
	const struct ing_gate *g, const struct ing_gate_host *h, uint64_t now_ms);
/* Held for longer than a waiter may wait. */
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
/* Must a host, for which all else holds, wait for a slot of its address? */
bool ing_gate_addr_blocks(const struct ing_gate *g, const struct ing_gate_host *h);
void ing_gate_addr_enqueue(struct ing_gate_host *h);
void ing_gate_addr_dequeue(struct ing_gate_host *h);
/* A host that was offered a slot is not ready any more: offer it to the next. */
void ing_gate_addr_withdraw(struct ing_gate *g, struct ing_gate_host *h, uint64_t now_ms);
/* A transfer begins, ends. Nothing happens for hosts without an address. */
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
/* There is a result of a lookup, be it a failure, that is not too old. */
bool ing_gate_addr_known(const struct ing_gate *g, const struct ing_gate_host *h, uint64_t now_ms);
bool ing_gate_wants_lookup(
	const struct ing_gate *g, const struct ing_gate_host *h, uint64_t now_ms);
/* What the next lookup of h asks for. */
void ing_gate_set_origin(struct ing_gate *g, struct ing_gate_host *h, const char *url);
bool ing_gate_can_lookup(const struct ing_gate *g);
void ing_gate_lookup_next(struct ing_gate *g);
void ing_gate_lookup_stop(struct ing_gate *g, struct ing_gate_host *h);

/* gate_fleet.c */
void ing_gate_fleet_start(struct ing_gate *g);
void ing_gate_fleet_stop(struct ing_gate *g); /* gives back all that is left */
/* Request a host's lease, cancel the request, or release the lease, as its state requires. */
void ing_gate_fleet_settle(struct ing_gate *g, struct ing_gate_host *h, uint64_t now_ms);
/* Cancel or release. */
void ing_gate_fleet_release(struct ing_gate *g, struct ing_gate_host *h);
void ing_gate_fleet_note(struct ing_gate *g, const struct ing_gate_host *h);
/* We hold a lease for longer than a transfer can last, and need not hand it over; or none is
 * needed. */
bool ing_gate_fleet_allows(
	const struct ing_gate *g, const struct ing_gate_host *h, uint64_t now_ms);
/* When to call ing_gate_fleet_settle() again; GATE_NEVER: after an event. */
uint64_t ing_gate_fleet_wake(
	const struct ing_gate *g, const struct ing_gate_host *h, uint64_t now_ms);

/* gate_times.c */
/* at_ms GATE_NEVER: not at all. */
void ing_gate_wake_set(struct ing_gate *g, struct ing_gate_host *h, uint64_t at_ms);
/* Take the host whose check is due out of the heap; NULL: none. */
struct ing_gate_host *ing_gate_wake_pop(struct ing_gate *g, uint64_t now_ms);
void ing_gate_delay_add(
	struct ing_gate *g, struct ing_gate_waiter *w, uint64_t now_ms, unsigned delay_ms);
void ing_gate_delay_remove(struct ing_gate *g, struct ing_gate_waiter *w);
/* Take each waiter whose delay is over out of the wheel and hand it to ended(). */
void ing_gate_delay_end(struct ing_gate *g, uint64_t now_ms,
	void (*ended)(struct ing_gate *, struct ing_gate_waiter *));
/* When to call it; GATE_NEVER: there are none. */
uint64_t ing_gate_delay_next(const struct ing_gate *g);
