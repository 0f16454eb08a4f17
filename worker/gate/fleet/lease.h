/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * lease.h - one worker of the fleet at a time for each host, agreed in PostgreSQL (table
 * host_state, schemas/sql).
 *
 * Owns: a connection and the thread that uses it. Calls and callbacks: loop thread; no callback
 * comes from inside a call, and any call but free may be made from inside a callback. Asks, notes
 * and returns are gathered and go out as a few statements per round (one round at a time, at least
 * round_ms apart unless more than a round can carry is waiting), whatever their number; without
 * anything to say there is no round. All times in the database are its own clock's; here they
 * become ing_now_ms() times, leases reckoned from before the statement was sent, rests from after
 * its answer came, so that we believe a lease to end before the database does, and a rest to end
 * after. Leases are extended until they are given back; after a crash they expire.
 *
 * A lease that somebody else asks for is reported as wanted, once. Who asks for a host that another
 * has stands in line for it (one does at a time), and gets it first for a few seconds after it was
 * given back and has rested; who gave it back finds it HELD meanwhile. An ask is answered once: who
 * still wants the host asks again after retry_ms, which also keeps the place in the line.
 *
 * Database away: nothing is granted and no news comes, what is held runs out (the user judges by
 * until_ms); the connection is tried again for ever, and then everything asked is answered. A
 * database that has lost our leases says so as LOST. A hold (Retry-After, back-off, breaker) is
 * written at once, by note; the everyday pause when the lease is given back.
 *
 * A host may be granted up to 2 s before its rest is over: patience->rest_until_ms says when. A
 * "host" that no DNS name can be (over 253 bytes, or not printable ASCII) is granted without the
 * database, for no worker can reach it.
 */
#pragma once
#include <stdbool.h>
#include "common/base/error.h"
#include "worker/gate/patience.h"
#include "worker/model/metrics.h"

struct uv_loop_s;
struct ing_leases;

struct ing_lease_conf {
	const char *dsn;
	/* Holder. What a former process of this name held is freed at the start, so no two
	 * processes may have one name at a time. */
	const char *instance;
	unsigned lease_ms; /* longer than any transfer; extended when a third of it is gone */
	unsigned round_ms; /* 50: between two rounds */
	/* Rests after leases that were not given back. Taken over at once, by the next process of
	 * the same name; and run out, which is later than any transfer's end, so that the host's
	 * known Crawl-delay (up to the former) and this much are enough. */
	unsigned takeover_rest_ms, expired_rest_ms;
	unsigned statement_ms; /* limit of a statement, 0: 5 s; of slow databases less is asked at
				  once */
	unsigned blocks_ms;    /* between two looks at the table of blocks; 0: 10 s */
};

enum ing_lease_answer {
	ING_LEASE_GRANTED, /* also: extended */
	ING_LEASE_HELD,    /* by another worker; ask again after retry_ms */
	ING_LEASE_RESTING, /* nobody has it, but the host must be left alone for retry_ms */
	ING_LEASE_LOST,    /* what we thought to have is another's, or gone */
	ING_LEASE_WANTED,  /* ours, and another worker waits for it */
};

struct ing_lease_news {
	const char *host; /* borrowed */
	enum ing_lease_answer answer;
	uint64_t until_ms;  /* GRANTED: ing_now_ms() clock */
	unsigned retry_ms;  /* HELD, RESTING */
	const char *holder; /* HELD; else NULL */
	/* The fleet's knowledge; NULL for LOST, WANTED and extensions. */
	const struct ing_patience *patience;
};

struct ing_lease_block {  /* what an operator has blocked, for all workers */
	const char *host; /* as in rule files: "example.org", ".example.org" with all below */
	const char *why;
};

struct ing_lease_user {
	void *ctx;
	void (*news)(void *ctx, const struct ing_lease_news *n);
	void (*state)(void *ctx, bool away); /* the database is away, or back */
};

/* Connects, checks the schema, frees what a former process held. -CONFIG, -UNAVAILABLE, -INVALID
 * (schema missing, older, newer: says what to do), as ing_store_new(). conf is copied. */
int ing_leases_new(struct uv_loop_s *loop, const struct ing_lease_conf *conf,
	struct ing_leases **ret, struct ing_error *err) ING_MUST_CHECK;
void ing_leases_set_user(struct ing_leases *l, const struct ing_lease_user *user); /* copied */
/* Gives everything back that is still held, with the patience last noted (at most 3 s, and not at
 * all while the database is away). No callbacks any more. NULL is fine. Run the loop once more. */
void ing_leases_free(struct ing_leases *l);

void ing_leases_ask(
	struct ing_leases *l, const char *host); /* one news is owed: GRANTED, HELD or RESTING */
void ing_leases_forget(struct ing_leases *l, const char *host); /* no longer wanted: no news of an
	ask any more (a lease granted meanwhile is given back) */
/* Write what is known of a host that we hold, with the next round. Of one that we do not hold (any
 * more): nothing happens; the same for return. */
void ing_leases_note(struct ing_leases *l, const char *host, const struct ing_patience *p);
/* The same, and give the lease back. */
void ing_leases_return(struct ing_leases *l, const char *host, const struct ing_patience *p);
bool ing_leases_away(const struct ing_leases *l);

/* Called on the loop when the table of blocks has changed (looked at every blocks_ms, and at the
 * start): all of them, borrowed during the call. fn NULL: nobody asks. */
void ing_leases_on_blocks(struct ing_leases *l,
	void (*fn)(void *ctx, const struct ing_lease_block *blocks, size_t count), void *ctx);

/* Its rows of worker/model/metrics.def, as they are now. */
void ing_leases_stats(const struct ing_leases *l, struct ing_lease_stats *ret);
