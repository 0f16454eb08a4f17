/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * lease.h - leases of hosts, so that one worker of the fleet at a time fetches from a host; agreed
 * in PostgreSQL (table host_state, schemas/sql/0004_hosts.sql).
 *
 * Owns: a database thread (common/data/pg_thread.h). Calls and callbacks: loop thread. No callback
 * comes from inside a call; any call but free may be made from inside a callback.
 *
 * Requests, updates and releases are collected and sent in rounds, one at a time: a few statements,
 * whatever the number of hosts. Rounds are at least round_ms apart, unless more is waiting than one
 * round can carry. Without anything to send there is no round.
 *
 * Times in the database are on its own clock; here they are converted to ing_now_ms(). A lease
 * counts from before the statement was sent, a rest from after its answer came: for us a lease ends
 * before it does in the database, and a rest after. Leases are extended until they are released;
 * after a crash they expire.
 *
 * A request is answered by one event: GRANTED, HELD or RESTING. A worker that still wants the host
 * requests it again after retry_ms. The first worker whose request finds a host held reserves it
 * (one reservation at a time; later requests keep it): the holder gets WANTED once, and after
 * release and rest the host is granted to nobody else for a few seconds. Meanwhile others get HELD.
 *
 * While the database is away no events come and held leases run out (compare until_ms). The
 * connection is tried again for ever; then everything requested is answered. A database that has
 * lost our leases is reported as LOST. A hold (Retry-After, back-off, breaker) should be written at
 * once, by update; the ordinary pause is written with the release.
 *
 * A host may be granted up to 2 s before its rest is over (backoff->rest_until_ms). A host that is
 * no possible DNS name (over 253 bytes, or not printable ASCII) is granted without the database,
 * because no worker can reach it.
 */
#pragma once
#include <stdbool.h>
#include "common/base/error.h"
#include "worker/gate/backoff.h"
#include "worker/model/metrics.h"

struct uv_loop_s;
struct ing_leases;

struct ing_lease_conf {
	const char *dsn;
	/* Name of the holder. Leases of an earlier process of this name are released at the start,
	 * so no two processes may run under one name. */
	const char *instance;
	unsigned lease_ms; /* longer than any transfer; extended when a third of it is gone */
	unsigned round_ms; /* 50: between two rounds */
	/* Rests of hosts whose lease was not released: after the next process of the same name has
	 * taken it over; after it has expired, which is later than any transfer's end (or the
	 * host's known Crawl-delay, if that is longer, up to takeover_rest_ms). */
	unsigned takeover_rest_ms, expired_rest_ms;
	unsigned statement_ms; /* limit of a statement, 0: 5 s; a slow database gets fewer hosts */
	unsigned blocks_ms;    /* between two checks of the table of blocks; 0: 10 s */
};

enum ing_lease_event_type {
	ING_LEASE_GRANTED, /* also: extended */
	ING_LEASE_HELD,    /* by another worker; request again after retry_ms */
	ING_LEASE_RESTING, /* held by nobody, but not to be asked for retry_ms */
	ING_LEASE_LOST,    /* a lease that we thought we held is another's, or gone */
	ING_LEASE_WANTED,  /* our lease, and another worker waits for it */
};

struct ing_lease_event {
	const char *host; /* borrowed */
	enum ing_lease_event_type type;
	uint64_t until_ms;  /* GRANTED: ing_now_ms() clock */
	unsigned retry_ms;  /* HELD, RESTING */
	const char *holder; /* HELD; else NULL */
	/* What the fleet knows of the host; NULL for LOST, WANTED and extensions. */
	const struct ing_host_backoff *backoff;
};

struct ing_lease_block {  /* a host that an operator has blocked for all workers */
	const char *host; /* as in rule files: "example.org", ".example.org" with all below */
	const char *why;
};

struct ing_lease_user {
	void *ctx;
	void (*event)(void *ctx, const struct ing_lease_event *n);
	void (*state)(void *ctx, bool away); /* the database is away, or back */
};

/* Connects, checks the schema, releases what an earlier process held. conf is copied. Error:
 * -CONFIG, -UNAVAILABLE, -INVALID (schema missing, older, newer: the message says what to do). */
int ing_leases_new(struct uv_loop_s *loop, const struct ing_lease_conf *conf,
	struct ing_leases **ret, struct ing_error *err) ING_MUST_CHECK;
void ing_leases_set_user(struct ing_leases *l, const struct ing_lease_user *user); /* copied */
/* Releases everything that is still held, with the back-off last given (within 3 s; not while the
 * database is away). No callbacks any more. NULL is fine. Run the loop once more. */
void ing_leases_free(struct ing_leases *l);

/* Request a lease; one event follows: GRANTED, HELD or RESTING. */
void ing_leases_request(struct ing_leases *l, const char *host);
/* Of what is to be sent, this host goes first: somebody waits for what is fetched there. */
void ing_leases_hurry(struct ing_leases *l, const char *host);
/* No event follows any more; a lease that is granted all the same is released. */
void ing_leases_cancel(struct ing_leases *l, const char *host);
/* Write the back-off of a host that we hold, with the next round. For a host that we do not hold
 * (any more) nothing happens; the same for release. */
void ing_leases_update(struct ing_leases *l, const char *host, const struct ing_host_backoff *p);
/* The same, and release the lease. */
void ing_leases_release(struct ing_leases *l, const char *host, const struct ing_host_backoff *p);
bool ing_leases_away(const struct ing_leases *l); /* the database is away */
/* Why, valid until the next call; NULL: it is not. */
const char *ing_leases_trouble(const struct ing_leases *l);

/* fn is called on the loop when the table of blocks has changed, and at the start, with all of
 * them, borrowed during the call. fn NULL: the table is not checked. */
void ing_leases_on_blocks(struct ing_leases *l,
	void (*fn)(void *ctx, const struct ing_lease_block *blocks, size_t count), void *ctx);

/* Its rows of worker/model/metrics.def, as they are now. */
void ing_leases_stats(const struct ing_leases *l, struct ing_lease_stats *ret);
