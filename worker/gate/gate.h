/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * gate.h - admits transfers: limits of all transfers, per host and per address; pauses, holds and
 * breakers of hosts (backoff.h); lanes; and, with a database, the fleet's leases (fleet/lease.h).
 *
 * Owns: the table of hosts, their queues, the addresses in use, lookups and leases under way.
 * Thread: loop only. Waiters are embedded in their owners; a waiter is either waiting, holding a
 * slot, or out. No callback comes from inside a call.
 *
 * A host is admitted when all of these hold: somebody waits; its rest is over; it has a free slot;
 * we hold its lease for longer than a transfer can last; its address is known (or not needed) and
 * has a free slot; later stages have room for its documents; gate.concurrency has a free slot.
 * ing_gate_explain() names the first condition that does not hold. Hosts that may be admitted take
 * turns: the priority lane first, the other lanes by weight, hosts of a lane in round robin. So
 * neither a host with a million waiters nor one that answers after a minute delays another host's
 * next transfer.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/net/addr.h"
#include "worker/model/lane.h"
#include "worker/gate/backoff.h"
#include "worker/model/metrics.h"
#include "worker/model/settings.h"

struct uv_loop_s;
struct ing_gate;
struct ing_gate_host;
struct ing_host_rules;
struct ing_leases;

/* Looks names up, as the fetcher does. l is embedded in the gate's host, zero-initialised there.
 * start(): url has only the scheme, host and port of a URL; done(l, addr) comes once, perhaps from
 * inside the call; addr is borrowed, and NULL when the name does not resolve, or is not reached by
 * its own address (connect_to, proxy): then its transfers are not limited by address. */
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

/* Do later stages have room for a host's documents? Called when all other conditions hold, and
 * every ING_GATE_ROOM_MS while there is none. key: as of ing_gate_key(), or an address. Must not
 * call the gate. */
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
	ING_GATE_HELD,   /* the host is held for longer than a waiter may wait */
};

struct ing_gate_waiter;
struct ing_gate_user { /* callbacks; shared by all waiters of a kind */
	/* A slot is held until ing_gate_leave(). */
	void (*granted)(struct ing_gate_waiter *w);
	/* Out of the queue. retry_after_s: when to try again, at least 1. */
	void (*refused)(
		struct ing_gate_waiter *w, enum ing_gate_refusal reason, unsigned retry_after_s);
};

struct ing_gate_waiter {                     /* zero-initialise, set user */
	struct ing_gate_waiter *prev, *next; /* in a queue of the host, or of delayed waiters */
	union {
		struct ing_gate_waiter *older; /* among all waiting, by time of entry */
		/* While holding: from its entry to its grant, on the clock of since_ms. */
		uint64_t waited_ms;
	};
	struct ing_gate_waiter *younger;
	struct ing_gate_host *host;
	const struct ing_gate_user *user;
	/* Time of its entry, on a clock that stops while the gate is held; while holding, of its
	 * grant (ing_now_ms()). */
	uint64_t since_ms;
	uint8_t state; /* enum ing_gate_where */
	uint8_t lane;
	bool again; /* a second try: ahead of first tries of its lane */
	bool alone; /* see ing_gate_ticket */
	union {
		uint32_t due_ms; /* while delayed: low bits of the time it ends */
		/* While waiting, and after a grant or refusal: those of its lane and of higher ones
		 * that waited for the host when it joined its queue. */
		uint32_t before;
	};
};
enum ing_gate_where { ING_GATE_OUT, ING_GATE_WAITING, ING_GATE_DELAYED, ING_GATE_HOLDING };

struct ing_gate_ticket {
	enum ing_lane lane;
	bool again;        /* a second try, say: ahead of its lane, but for every fifth turn */
	bool alone;        /* nobody else may be at work meanwhile; see ing_gate_wants_alone() */
	unsigned delay_ms; /* least wait of this waiter, whatever its host */
	unsigned crawl_delay_ms; /* of the host's robots.txt; 0: nothing new */
	/* robots.txt has been read: with gate.host_key host, a crawl_delay_ms of 0 replaces an
	 * earlier one */
	bool robots_known;
};

struct ing_gate *ing_gate_new(struct uv_loop_s *loop, const struct ing_gate_conf *conf);
/* NULL is fine; all waiters must be out. Releases the leases. */
void ing_gate_free(struct ing_gate *g);
/* Queue for the host of an absolute URL. */
void ing_gate_enter(struct ing_gate *g, struct ing_gate_waiter *w, const char *url,
	const struct ing_gate_ticket *ticket);
/* Give a slot back (report: how the transfer has ended; NULL: none was begun), or leave the queue
 * (the report is ignored). Harmless when out. */
void ing_gate_leave(
	struct ing_gate *g, struct ing_gate_waiter *w, const struct ing_gate_report *report);
/* While held (a later stage is blocked) nobody is admitted and no waiting time passes; waiters are
 * queued and delays end as usual. */
void ing_gate_hold(struct ing_gate *g, bool held);
/* It is the turn of a waiter that must be alone, and nobody holds a slot any more. From its turn until
 * ing_gate_alone_over(), or until it leaves the queue, nobody else is admitted and no waiting time
 * passes. */
bool ing_gate_wants_alone(const struct ing_gate *g);
/* Nobody else is at work any more: grant it, unless its host is not ready any more; then it waits
 * again, and others are admitted. The callback comes from inside. */
void ing_gate_admit_alone(struct ing_gate *g);
/* It is through. Harmless when nobody is alone. */
void ing_gate_alone_over(struct ing_gate *g);
/* Other rules about hosts from now on; the earlier ones are not used any more. */
void ing_gate_set_host_rules(struct ing_gate *g, const struct ing_host_rules *rules);
/* The lease database is away: nothing new is fetched. */
bool ing_gate_blocked(const struct ing_gate *g);
/* Waits for a host that is held, so it may take long. */
bool ing_gate_waits_for_hold(const struct ing_gate_waiter *w);

/* What a host waits for. */
enum ing_gate_need {
	ING_NEED_NOTHING, /* nobody waits */
	ING_NEED_TURN,    /* nothing but its turn among the hosts */
	ING_NEED_SLOT,    /* transfers of this host to end */
	ING_NEED_REST,    /* the end of its pause */
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
	struct ing_host_backoff backoff;
	struct ing_addr addr; /* family 0: not known, or none needed */
	unsigned addr_holding;
	bool leased;
	uint64_t lease_ms;  /* left */
	const char *holder; /* another worker that has the lease, or NULL */
};
/* In all lanes. */
static inline unsigned ing_gate_count_waiting(const struct ing_gate_host_view *v)
{
	unsigned n = 0;
	for (int i = 0; i < ING_LANES_; i++)
		n += v->waiting[i];
	return n;
}
/* What is to be expected of a host. */
struct ing_gate_outlook {
	bool resolver;    /* its rule says so (hosts.yaml) */
	uint64_t hold_ms; /* left of a hold */
	/* From one transfer to the next, by what is known of it so far. */
	uint64_t pace_ms;
};
void ing_gate_look_ahead(const struct ing_gate *g, const char *key, struct ing_gate_outlook *ret);
/* host: a name or a URL's. False when the gate knows nothing of it. */
bool ing_gate_explain(const struct ing_gate *g, const char *host, struct ing_gate_host_view *ret);
/* fn for each host known, in no order; fn must not call the gate. */
void ing_gate_each(const struct ing_gate *g,
	void (*fn)(void *ctx, const struct ing_gate_host_view *v), void *ctx);
/* The key that a URL's host has under a kind of key (ADDRESS: as HOST). False, and "", without a
 * host. */
bool ing_gate_key(enum ing_host_key kind, const char *url, char *ret, size_t ret_bytes);

/* The same, of the gate's kind. */
bool ing_gate_url_key(const struct ing_gate *g, const char *url, char *ret, size_t ret_bytes);

/* Its rows of worker/model/metrics.def, as they are now. */
void ing_gate_stats(const struct ing_gate *g, struct ing_gate_stats *ret);
