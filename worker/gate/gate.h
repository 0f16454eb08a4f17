/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * gate.h - when a URL may be fetched: so many transfers in all, per host and per address; pauses,
 * holds and breakers of hosts (patience.h); lanes; and, with a database, the fleet's leases
 * (lease.h).
 *
 * Owns: the table of hosts, the queues in front of them, the addresses in use, the lookups and
 * leases they wait for. Thread: loop only. Waiters are intrusive and belong to their owners; a
 * waiter is either waiting, holding a slot, or out. No callback comes from inside a call.
 *
 * A host is admitted when all of these hold: somebody waits; its rest is over; a slot of the host
 * is free; its lease is ours for longer than a transfer can last; its address is known (or needs
 * none) and has a slot free; there is room for what comes from it; a slot of gate.concurrency is
 * free. ing_gate_explain() names the first
 * that does not. Hosts that may be admitted take turns: the priority lane's first, the others' by
 * weight, round robin within a lane; so a host with a million waiters, or one that answers after a
 * minute, delays nobody else's next transfer.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/net/addr.h"
#include "worker/model/lane.h"
#include "worker/gate/patience.h"
#include "worker/model/metrics.h"
#include "worker/model/settings.h"

struct uv_loop_s;
struct ing_gate;
struct ing_gate_host;
struct ing_host_rules;
struct ing_leases;

/* Names to addresses, by whoever fetches. l is embedded in the gate's host, zero-initialised there.
 * start(): url has only the scheme, host and port of a URL; done(l, addr) comes once, perhaps from
 * inside; addr is borrowed, and NULL when the name does not resolve, or is not reached by its own
 * address (connect_to, proxy): no budget then. */
struct ing_gate_lookup {
	void (*done)(struct ing_gate_lookup *l, const struct ing_addr *addr);
	void *state; /* start()'s own; NULL: not under way */
};
struct ing_gate_lookup_ops {
	void (*start)(void *ctx, struct ing_gate_lookup *l, const char *url);
	void (*stop)(void *ctx,
		struct ing_gate_lookup *l); /* done() will not come; harmless when not under way */
	void *ctx;
};

/* Whether there is room for what comes from a host, in whatever comes after the transfer. Asked
 * when nothing else keeps the host from its turn, and every ING_GATE_ROOM_MS while there is none.
 * key: as of ing_gate_key(), or an address. Must not call the gate. */
#define ING_GATE_ROOM_MS 250
struct ing_gate_room {
	bool (*has)(void *ctx, const char *key);
	void *ctx;
};

struct ing_gate_conf {
	struct ing_gate_settings settings;
	unsigned transfer_ms;              /* longest possible transfer: a lease must last longer */
	struct ing_gate_lookup_ops lookup; /* start NULL: no address is ever known */
	struct ing_gate_room room;         /* has NULL: there always is */
	const struct ing_host_rules *host_rules; /* borrowed; NULL: none */
	/* Borrowed, the gate becomes its user; NULL: this process alone. */
	struct ing_leases *leases;
};

enum ing_gate_refusal {
	ING_GATE_WAITED, /* gate.max_wait_ms passed */
	ING_GATE_HELD,   /* the host is held for longer than waiters may wait for it */
};

struct ing_gate_waiter;
struct ing_gate_user { /* what kind of waiter; shared by all of a kind */
	/* A slot is held: ing_gate_leave() is owed. */
	void (*granted)(struct ing_gate_waiter *w);
	/* Out of the queue. retry_after_s: when it may be worth coming back, at least 1. */
	void (*refused)(
		struct ing_gate_waiter *w, enum ing_gate_refusal why, unsigned retry_after_s);
};

struct ing_gate_waiter {                         /* zero-initialise, set user */
	struct ing_gate_waiter *prev, *next;     /* in a queue of the host, or among the snoozing */
	struct ing_gate_waiter *older, *younger; /* among all waiting, by time of entry */
	struct ing_gate_host *host;
	const struct ing_gate_user *user;
	/* Of its entry, on a clock that stands while the gate is held; while holding, of its grant
	 * (ing_now_ms()). */
	uint64_t since_ms;
	uint8_t state; /* enum ing_gate_where */
	uint8_t lane;
	bool again;      /* goes before those who have not been served yet */
	uint32_t due_ms; /* while snoozing: low bits of the time it ends */
};
enum ing_gate_where { ING_GATE_OUT, ING_GATE_WAITING, ING_GATE_SNOOZING, ING_GATE_HOLDING };

struct ing_gate_ticket {
	enum ing_lane lane;
	bool again;              /* a second try: ahead of its lane */
	unsigned delay_ms;       /* this waiter, not its host, is to wait so long at least */
	unsigned crawl_delay_ms; /* what the host's robots.txt says; 0: nothing new */
	/* it has been read: by host, a crawl_delay_ms of 0 ends an earlier one */
	bool robots_known;
};

struct ing_gate *ing_gate_new(struct uv_loop_s *loop, const struct ing_gate_conf *conf);
void ing_gate_free(
	struct ing_gate *g); /* NULL is fine; nobody may be inside any more; gives leases back */
/* Queue for the host of an absolute URL. */
void ing_gate_enter(struct ing_gate *g, struct ing_gate_waiter *w, const char *url,
	const struct ing_gate_ticket *ticket);
/* Give a slot back (the transfer has ended, and report says how; NULL: none was begun), or leave
 * the queue, where a report counts for nothing. Harmless when out. */
void ing_gate_leave(
	struct ing_gate *g, struct ing_gate_waiter *w, const struct ing_gate_report *report);
/* While held nobody is admitted (a later stage is blocked) and nobody's patience ends; queues and
 * delays go on. */
void ing_gate_hold(struct ing_gate *g, bool held);
/* Other rules about hosts from now on; the ones before are not looked at again. */
void ing_gate_set_host_rules(struct ing_gate *g, const struct ing_host_rules *rules);
/* The lease database is away: nothing new is fetched. */
bool ing_gate_blocked(const struct ing_gate *g);
/* Waits for a host that is held, by its own word or its failures: it may take long. */
bool ing_gate_waits_for_hold(const struct ing_gate_waiter *w);

/* What a host waits for. */
enum ing_gate_need {
	ING_NEED_NOTHING, /* nobody waits */
	ING_NEED_TURN,    /* only its turn among the hosts */
	ING_NEED_SLOT,    /* transfers of this host to end */
	ING_NEED_REST,    /* the end of its rest */
	ING_NEED_LEASE,   /* its lease, which another worker has or the database has not answered
			     about */
	ING_NEED_ADDRESS, /* its name to be looked up */
	ING_NEED_ADDRESS_SLOT, /* transfers of other hosts at its address to end */
	ING_NEED_ROOM,         /* its documents, of which too many wait to be examined */
	ING_NEED_GATE,         /* the gate is held, or the lease database away */
};
const char *ing_gate_need_name(enum ing_gate_need need); /* "lease" */

struct ing_gate_host_view {
	const char *key; /* borrowed; until the gate is called again */
	enum ing_gate_need need;
	unsigned waiting[ING_LANES_], holding, slots;
	uint64_t rest_ms; /* left */
	struct ing_patience patience;
	struct ing_addr addr; /* family 0: not known, or none needed */
	unsigned addr_holding;
	bool leased;
	uint64_t lease_ms;  /* left */
	const char *holder; /* another worker that has the lease, or NULL */
};
/* host: a name or a URL's. False when the gate knows nothing of it. */
bool ing_gate_explain(const struct ing_gate *g, const char *host, struct ing_gate_host_view *ret);
/* fn for each host known, in no order; fn must not call the gate. */
void ing_gate_each(const struct ing_gate *g,
	void (*fn)(void *ctx, const struct ing_gate_host_view *v), void *ctx);
/* The key that a URL's host has under a kind of key (ADDRESS: as HOST). False, and "", without a
 * host. */
bool ing_gate_key(enum ing_host_key kind, const char *url, char *ret, size_t ret_bytes);

/* Its rows of worker/model/metrics.def, as they are now. */
void ing_gate_stats(const struct ing_gate *g, struct ing_gate_stats *ret);
