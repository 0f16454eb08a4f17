/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * lease_priv.h - between the three files of the leases: lease.c (loop: which hosts, what is due,
 * what to tell the user), lease_thread.c (the thread that keeps a connection) and lease_sql.c (the
 * statements). What passes between the threads is a round: orders written by the loop, answers
 * written by the thread; whoever has it owns it whole, and there is one at a time.
 */
#pragma once
#include <stdatomic.h>
#include <uv.h>

#include "common/base/log.h"
#include "common/base/queue.h"
#include "common/data/pace.h"
#include "common/data/pg.h"
#include "worker/gate/fleet/lease.h"

#define ING_LEASE_BATCH 1000 /* asks, and says, and extensions, in one round at most */
#define ING_LEASE_BATCH_MIN 16

struct ing_lease_entry; /* lease.c's own */

struct ing_lease_say { /* what was learnt of a host */
	struct ing_lease_entry *entry;
	const char *host; /* the entry's */
	struct ing_patience patience;
};
struct ing_lease_ask {
	struct ing_lease_entry *entry;
	const char *host;             /* the entry's */
	enum ing_lease_answer answer; /* GRANTED, HELD, RESTING */
	uint64_t until_ms;            /* GRANTED */
	unsigned retry_ms;            /* HELD, RESTING */
	char *holder;                 /* HELD */
	struct ing_patience patience;
};
struct ing_lease_extend {
	struct ing_lease_entry *entry;
	const char *host; /* the entry's */
	bool kept;
	uint64_t until_ms; /* kept */
};

struct ing_lease_round {
	struct ing_node node;
	struct ing_lease_say *notes; /* kept */
	size_t note_count;
	struct ing_lease_say *returns; /* given back */
	size_t return_count;
	struct ing_lease_extend *extends;
	size_t extend_count;
	struct ing_lease_ask *asks;
	size_t ask_count;
	bool look_wanted, look_blocks;

	bool done;     /* false: the thread was stopped in the middle, there are no answers */
	char **wanted; /* look_wanted: hosts of ours that others wait for */
	size_t wanted_count;
	char blocks_mark[80];           /* look_blocks: state of the table; before: the one known */
	bool blocks_changed;            /* then `blocks` is all of them */
	struct ing_lease_block *blocks; /* host and why on the heap */
	size_t block_count;
	uint64_t database_us;
};

struct ing_lease_round *ing_lease_round_new(void);
void ing_lease_round_free(struct ing_lease_round *r); /* NULL is fine */

struct ing_lease_session { /* who we are to the database; constant */
	char *instance;
	int64_t id; /* random, positive: this process */
	unsigned lease_ms, takeover_rest_ms, expired_rest_ms;
};

/* Connect and check the schema. Errors: as ing_leases_new(). */
int ing_lease_connect(
	const char *dsn, int stop_fd, struct ing_pg **ret, struct ing_error *err) ING_MUST_CHECK;
/* At the start: free what a former process of this instance held, to rest for takeover_rest_ms at
 * least; and forget the hosts that nobody has met for 90 days, if there is time for it. Reads the
 * whole table. */
enum ing_pg_rc ing_lease_take_over(struct ing_pg *pg, const struct ing_lease_session *ses,
	struct ing_pace *pace, struct ing_error *err) ING_MUST_CHECK;
/* Everything that the round orders, about as many hosts at a time as the pace says. Harmless to
 * repeat, whatever of it has happened before. */
enum ing_pg_rc ing_lease_execute(struct ing_pg *pg, const struct ing_lease_session *ses,
	struct ing_pace *pace, struct ing_lease_round *r, struct ing_error *err) ING_MUST_CHECK;
/* Can DNS hold such a name? What it cannot is unreachable for every worker, so there is nothing to
 * agree about, and no row: leases of it are granted and extended without the database. */
bool ing_lease_is_name(const char *host);

/* lease_thread.c: a thread that executes rounds. */
struct ing_lease_thread {
	struct ing_lease_session session;
	char *dsn;
	struct ing_queue in, out; /* rounds */
	uv_async_t *async;        /* loop: `out` or `away` has changed */
	pthread_t thread;
	int stop_fd; /* readable: give up at once */
	atomic_bool stopping, away;
	atomic_uint batch; /* how much of each kind a round should order */

	/* the thread's own */
	struct ing_pace pace;
	struct ing_log_gate slow_gate;
	struct ing_pg *pg;
	unsigned failures; /* in a row */
	unsigned seed;
};
/* t->session, dsn, stop_fd and async are set, pg is open. */
void ing_lease_thread_start(struct ing_lease_thread *t);
/* Ends what it does at once, joins, frees the rounds in the queues, and is done. */
void ing_lease_thread_stop(struct ing_lease_thread *t);
/* Of one that was never started: frees what it owns. */
void ing_lease_thread_done(struct ing_lease_thread *t);
