/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * lease_priv.h - between the three files of the leases: lease.c (loop: which hosts, what is due,
 * what to tell the user), lease_round.c (database thread: rounds) and lease_sql.c (the
 * statements). What passes between the threads is a round: orders written by the loop, answers
 * written by the thread; whoever has it owns it whole, and there is one at a time.
 */
#pragma once
#include <stdatomic.h>

#include "common/base/log.h"
#include "common/data/pace.h"
#include "common/data/pg_thread.h"
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

/* Settings of a new connection, and the schema's version. Error: as ing_schema_prepare(). */
int ing_lease_prepare(struct ing_pg *pg, struct ing_error *err) ING_MUST_CHECK;
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

/* lease_round.c: carries rounds out on a database thread, one at a time. */
struct ing_lease_rounds {
	struct ing_lease_session session;
	struct ing_leases *leases;
	struct ing_pg_thread *thread;
	atomic_uint batch; /* how much of each kind a round should order */

	/* database thread only */
	struct ing_pace pace;
	struct ing_log_gate slow_gate;
};
/* session, leases and pace are set. Connects and frees what a former process held. Errors: as
 * ing_leases_new(); then nothing was started. */
int ing_lease_rounds_start(struct ing_lease_rounds *rs, struct uv_loop_s *loop, const char *dsn,
	struct ing_error *err) ING_MUST_CHECK;
/* Ends what is under way at once and frees the rounds that are queued. Run the loop once more. */
void ing_lease_rounds_stop(struct ing_lease_rounds *rs);
void ing_lease_rounds_send(struct ing_lease_rounds *rs, struct ing_lease_round *r); /* takes r */
/* Wait for a round to come back; NULL: it did not within timeout_ms. The caller frees it. */
struct ing_lease_round *ing_lease_rounds_wait(struct ing_lease_rounds *rs, int timeout_ms);

/* lease.c, called on the loop: a round has come back, to be freed by the callee; the database has
 * gone away, or is back. */
void ing_leases_take_round(struct ing_leases *l, struct ing_lease_round *r);
void ing_leases_set_away(struct ing_leases *l, bool away);
