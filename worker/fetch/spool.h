/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * spool.h - stores bodies while they arrive, and accounts for the memory of bodies and heads.
 *
 * A body begins in a memfd. Past 1 MiB it becomes an unlinked file: each full memfd ("window") is
 * copied to it on libuv's thread pool while the next one fills, so that the loop never waits for a
 * disk and a body has at most two windows. The account has every byte in a memfd, those of finished
 * bodies until their exchange is freed, and the heads of answers. Heads are always accepted (each has
 * its own limit); bodies get what is left. At the limit a body writes its window to disk and waits
 * until memory is released. Up to four bodies at a time may exceed the limit by one piece of data
 * that is written to the file at once, so that finished bodies that are kept for long cannot stop
 * all transfers. When the disk is full, the affected bodies are retried every second until they fit
 * or are discarded; any other error fails the body.
 *
 * Memfds are used again (spares.h), up to a sixteenth of the limit beside what is on the account.
 *
 * Owns the descriptors and the pending writes. Loop thread; the copying runs on libuv's pool and
 * uses only what belongs to its window. Files are closed there, too: their blocks are freed then.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "common/base/error.h"

struct uv_loop_s;
struct ing_spool;
struct ing_spool_body;

#define ING_SPOOL_WINDOW_BYTES ((size_t)1 << 20) /* largest body that stays in memory */

/* dir is borrowed. on_memory(ctx) is called when ing_spool_wake() has something to do, possibly from
 * within any function of this file. */
struct ing_spool *ing_spool_new(struct uv_loop_s *loop, const char *dir, size_t memory_bytes,
	void (*on_memory)(void *ctx), void *ctx);
/* All bodies must be discarded or taken. Pending writes and memory held by exchanges end later by
 * themselves. */
void ing_spool_free(struct ing_spool *sp);
/* Calls try_again() of waiting bodies while there is memory. Not from inside a callback of curl. */
void ing_spool_wake(struct ing_spool *sp);
size_t ing_spool_memory_bytes(const struct ing_spool *sp); /* heads included */
size_t ing_spool_head_bytes(const struct ing_spool *sp);
bool ing_spool_full(const struct ing_spool *sp);           /* bodies wait for room on the disk */
const char *ing_spool_trouble(const struct ing_spool *sp); /* what they wait for, then */

/* try_again(ctx) follows each ING_SPOOL_WAIT once; finished(ctx) follows ing_spool_body_finish() once.
 * Neither comes after ing_spool_body_discard() or ing_spool_body_take(). */
struct ing_spool_body *ing_spool_body_new(
	struct ing_spool *sp, void (*try_again)(void *ctx), void (*finished)(void *ctx), void *ctx);
/* Frees the body, after its pending write if there is one. NULL is fine. */
void ing_spool_body_discard(struct ing_spool_body *b);

enum ing_spool_put { ING_SPOOL_TAKEN, ING_SPOOL_WAIT, ING_SPOOL_FAILED };
/* Stores all of the data or none. FAILED: see ing_spool_body_error(). */
enum ing_spool_put ing_spool_body_put(struct ing_spool_body *b, const void *data, size_t bytes);
size_t ing_spool_body_bytes(const struct ing_spool_body *b); /* stored so far */
/* No more data. Returns true when the body is complete, false when finished() will be called. */
bool ing_spool_body_finish(struct ing_spool_body *b);
const struct ing_error *ing_spool_body_error(const struct ing_spool_body *b); /* or NULL */

/* Memory on the account, or a file. To be returned with ing_spool_release(). */
struct ing_spool_hold {
	struct ing_spool *spool; /* a reference; NULL: of nothing */
	size_t bytes;
	bool head; /* of an answer, not a body */
	bool file; /* not memory but an unlinked file */
};
/* Takes and frees b. *ret_fd: memfd or unlinked file, read-only, to be returned with *ret_held; -1 when
 * the body is empty. A memfd may have other bytes after the body, has other bodies later, and so must
 * not be given to another process. Returns the body's length; of an unfinished or failed one what was
 * stored. */
size_t ing_spool_body_take(struct ing_spool_body *b, int *ret_fd, struct ing_spool_hold *ret_held);
/* fd: of the body; taken and set to -1, a file closed on the pool (on this thread after
 * ing_spool_free()). NULL: of a head. */
void ing_spool_release(struct ing_spool_hold *held, int *fd);
/* Sets the memory of an answer's head on the account to `bytes`. Never fails: heads are bounded by
 * fetch.max_header_bytes. Zero-initialise held. */
void ing_spool_hold_head(struct ing_spool *sp, struct ing_spool_hold *held, size_t bytes);
