/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pg_thread.h - a thread with a PostgreSQL connection that carries work out, however often it must
 * be repeated.
 *
 * Owns: the connection, the thread, a queue of work to it and a queue of finished work back to the
 * loop. Three parties call:
 * - the loop thread creates, starts and frees it, pushes work, and gets finished() and blocked();
 * - the thread calls work(), and from inside it the functions marked "thread" below;
 * - prepare() is called by the loop thread for the first connection, by the thread for later ones.
 *
 * Recovery: ing_pg_thread_run() calls an attempt until the database has done, or refused, what it
 * asks. What is repeated, and when, follows from the attempt's return code:
 *   OK, REFUSED         run returns it
 *   CONFLICT            again after 2 ms, doubled each time up to 1 s
 *   SLOW, LOCKED        again on the same connection after a back-off
 *   LOST, SILENT, TROUBLE  the connection is closed; after a back-off a new one is opened and
 *                       prepared, and the attempt is called again
 *   STOPPED             run returns it
 * So an attempt must be harmless to repeat, whatever of it has been carried out before. The
 * back-off is 100 ms, doubled with each failure in a row up to 5 s; every pause is shortened at
 * random by up to a quarter, so that the workers of a fleet do not come back all at once. From the
 * first back-off until the next OK or REFUSED the thread counts as blocked.
 *
 * Limits: an attempt sets those of its statements (ing_pg_set_limits()) and asks for fewer rows
 * when they are exceeded (pg_paced.h); it returns SLOW only when there is nothing less to ask for.
 *
 * Stop: free wakes the thread from a pause, from waiting for work, for an answer or for a
 * connection to be made. A statement under way is abandoned: its connection is closed, and the
 * server rolls back when it notices, at the latest at the statement's limit.
 *
 * Nothing is logged here: trouble() says when and what to log. */
#pragma once
#include "common/base/queue.h"
#include "common/data/pg.h"

struct uv_loop_s;
struct ing_pg_thread;

struct ing_pg_thread_conf {
	const char *name; /* of the thread, at most 15 bytes */
	const char *dsn;  /* copied */
	void *ctx;        /* of all callbacks */
	/* The first connection is made by the thread, like later ones, so that the program runs while the database is
	 * away. */
	bool connects_later;
	/* Settings, checks and temporary tables of a new connection. Error: as ing_pg_open(), or
	 * -INVALID. */
	int (*prepare)(void *ctx, struct ing_pg *pg, struct ing_error *err);
	/* Thread: carry out what is queued (ing_pg_thread_take()), and return. Called again until
	 * the thread is stopped. */
	void (*work)(void *ctx);
	/* Thread: blocked, and why: at the first failure, then once a minute, and whenever there is another reason
	 * why no connection can be made. err NULL: no longer blocked. */
	void (*trouble)(void *ctx, const struct ing_error *err);
	/* Loop: items that were handed back, oldest first, linked by next; the callee owns them. */
	void (*finished)(void *ctx, struct ing_node *items);
	void (*blocked)(void *ctx, bool blocked); /* loop: it has changed; may be NULL */
	/* Loop, during free: an item that is still queued in either direction; may be NULL. */
	void (*drop)(void *ctx, struct ing_node *item);
};

/* Connects and prepares the connection, waiting for it (unless connects_later). conf is copied, name borrowed. Error:
 * -CONFIG (dsn is malformed), -UNAVAILABLE, what prepare() returned. */
int ing_pg_thread_new(const struct ing_pg_thread_conf *conf, struct ing_pg_thread **ret,
	struct ing_error *err) ING_MUST_CHECK;
/* Between new and start only: the first connection, for what is to be done before any work. */
struct ing_pg *ing_pg_thread_connection(struct ing_pg_thread *t);
void ing_pg_thread_start(struct ing_pg_thread *t, struct uv_loop_s *loop);
/* Stops and joins the thread; no callbacks afterwards. Run the loop once more to close its handle,
 * if the thread was started. NULL is fine. */
void ing_pg_thread_free(struct ing_pg_thread *t);

/* Loop. The thread owns the item until it comes back through finished(). */
void ing_pg_thread_push(struct ing_pg_thread *t, struct ing_node *item);
/* Loop: wait up to timeout_ms for items that finished() has not been given. NULL: none. */
struct ing_node *ing_pg_thread_wait(struct ing_pg_thread *t, int timeout_ms);

/* Loop: why it is blocked, valid until the next call; NULL: it is not. */
const char *ing_pg_thread_trouble(struct ing_pg_thread *t);

/* Any thread. */
bool ing_pg_thread_blocked(const struct ing_pg_thread *t);
bool ing_pg_thread_stopping(const struct ing_pg_thread *t);
size_t ing_pg_thread_queued(struct ing_pg_thread *t); /* pushed and not yet taken */

/* Thread: take what is queued, oldest first, waiting up to timeout_ms (-1: for ever) for the first
 * item. NULL: there was none in time, or the thread is to stop. */
struct ing_node *ing_pg_thread_take(struct ing_pg_thread *t, int timeout_ms);
void ing_pg_thread_hand_back(struct ing_pg_thread *t, struct ing_node *item); /* thread */
/* Thread: see "Recovery". Returns ING_PG_OK, ING_PG_REFUSED (*err says why) or ING_PG_STOPPED. */
typedef enum ing_pg_rc ing_pg_attempt_f(struct ing_pg *pg, void *ctx, struct ing_error *err);
enum ing_pg_rc ing_pg_thread_run(struct ing_pg_thread *t, ing_pg_attempt_f *attempt, void *ctx,
	struct ing_error *err) ING_MUST_CHECK;
