/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * lease_priv.h - between the three files of the leases: lease.c (loop: which hosts, what is due,
 * what to report), lease_round.c (database thread: rounds) and lease_sql.c (the
 * statements). A round passes between the threads: the loop writes its orders, the thread the
 * answers. One side at a time owns it, and there is one round at a time.
 */
#pragma once
#include <stdatomic.h>

#include "common/base/log.h"
#include "common/data/pace.h"
#include "common/data/pg_thread.h"
#include "worker/gate/fleet/lease.h"

#define ING_LEASE_BATCH 1000 /* requests, updates, releases, extensions: of each, in one round */
#define ING_LEASE_BATCH_MIN 16

struct ing_lease_entry; /* lease.c's own */

struct ing_lease_update { /* of a row of host_state */
	struct ing_lease_entry *entry;
	const char *host; /* the entry's */
	struct ing_host_backoff backoff;
};
struct ing_lease_request {
	struct ing_lease_entry *entry;
	const char *host;               /* the entry's */
	enum ing_lease_event_type type; /* GRANTED, HELD, RESTING */
	uint64_t until_ms;              /* GRANTED */
	unsigned retry_ms;              /* HELD, RESTING */
	char *holder;                   /* HELD */
	struct ing_host_backoff backoff;
};
struct ing_lease_extend {
	struct ing_lease_entry *entry;
	const char *host; /* the entry's */
	bool kept;
	uint64_t until_ms; /* kept */
};

struct ing_lease_round {
	struct ing_node node;
	struct ing_lease_update *updates; /* the lease is kept */
	size_t update_count;
	struct ing_lease_update *releases; /* and released */
	size_t release_count;
	struct ing_lease_extend *extends;
	size_t extend_count;
	struct ing_lease_request *requests;
	size_t request_count;
	bool check_wanted, check_blocks;

	bool done;     /* false: the thread was stopped in the middle, there are no answers */
	char **wanted; /* check_wanted: hosts of ours that others wait for */
	size_t wanted_count;
	char blocks_mark[80]; /* check_blocks: state of the table; in the order: the one known */
	bool blocks_changed;  /* then `blocks` is all of them */
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
/* At the start: release what an earlier process of this instance held, with a rest of
 * takeover_rest_ms at least, and delete rows that nobody has used for 90 days, if that does not
 * take too long. Reads the whole table. */
enum ing_pg_rc ing_lease_take_over(struct ing_pg *pg, const struct ing_lease_session *ses,
	struct ing_pace *pace, struct ing_error *err) ING_MUST_CHECK;
/* Carry out the round's orders, about as many hosts a statement as the pace says. Harmless to
 * repeat, whatever has been carried out before. */
enum ing_pg_rc ing_lease_execute(struct ing_pg *pg, const struct ing_lease_session *ses,
	struct ing_pace *pace, struct ing_lease_round *r, struct ing_error *err) ING_MUST_CHECK;
/* Is it a possible DNS name? Other hosts cannot be reached by any worker; they have no row, and
 * their leases are granted and extended without the database. */
bool ing_lease_is_name(const char *host);

/* lease_round.c: carries rounds out on a database thread, one at a time. */
struct ing_lease_rounds {
	struct ing_lease_session session;
	struct ing_leases *leases;
	struct ing_pg_thread *thread;
	atomic_uint batch; /* how much of each kind a round should order */

	/* database thread only */
	struct ing_pace pace;
	struct ing_log_throttle slow_gate;
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
