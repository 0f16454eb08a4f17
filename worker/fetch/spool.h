/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * spool.h - where bodies go while they arrive, and the account of the memory that they take.
 *
 * A body begins in a memfd. Past one mebibyte it becomes an unlinked file: each full memfd
 * ("window") is copied there by libuv's thread pool while the next one fills, so the loop never
 * waits for a disk and a body has at most two windows. Every byte in a memfd is on the account,
 * also those of finished bodies until their exchange is freed, and so are the heads of answers,
 * which bodies give way to. At the ceiling a body sends off what
 * it has and waits; it is woken when memory has been given back. So that finished bodies that stay
 * for long cannot stop everything, a few bodies at a time may exceed the ceiling by one piece of
 * data that is written to the file at once. A full disk is waited for: the bodies that it stopped
 * are tried again every second, until they fit or are abandoned; any other refusal fails the body.
 *
 * Owns: descriptors and the work under way. Thread: loop; the copying itself runs in the pool and
 * touches only what its window owns.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "common/base/error.h"

struct uv_loop_s;
struct ing_spool;
struct ing_body;

#define ING_SPOOL_WINDOW_BYTES ((size_t)1 << 20) /* largest body that stays in memory */

/* dir is borrowed. wanted(ctx) is called, perhaps from deep inside, when ing_spool_wake() has
 * something to do. */
struct ing_spool *ing_spool_new(struct uv_loop_s *loop, const char *dir, size_t memory_bytes,
	void (*wanted)(void *ctx), void *ctx);
/* No body may be left but abandoned ones; work under way and bytes held by exchanges end later, by
 * themselves. */
void ing_spool_free(struct ing_spool *sp);
/* Call back bodies that wait, as far as the memory reaches. Not from inside a callback of curl. */
void ing_spool_wake(struct ing_spool *sp);
size_t ing_spool_memory_bytes(const struct ing_spool *sp); /* on the account, heads included */
size_t ing_spool_head_bytes(const struct ing_spool *sp);
bool ing_spool_full(const struct ing_spool *sp); /* bodies wait for room on the disk */

/* try_again(ctx) follows each ING_BODY_WAIT once; finished(ctx) follows ing_body_finish() once.
 * Neither comes after ing_body_abandon() or ing_body_take(). */
struct ing_body *ing_body_new(
	struct ing_spool *sp, void (*try_again)(void *ctx), void (*finished)(void *ctx), void *ctx);
void ing_body_abandon(
	struct ing_body *b); /* NULL is fine; frees, later if the disk is busy with it */

enum ing_body_put { ING_BODY_TAKEN, ING_BODY_WAIT, ING_BODY_FAILED };
/* All of the data or nothing. FAILED: the disk or the system refuses, see ing_body_error(). */
enum ing_body_put ing_body_put(struct ing_body *b, const void *data, size_t bytes);
size_t ing_body_bytes(const struct ing_body *b); /* put so far */
/* No more data. True when the body is complete at once, false when finished() will follow. */
bool ing_body_finish(struct ing_body *b);
const struct ing_error *ing_body_error(const struct ing_body *b); /* NULL: none */

/* What a body becomes. Give it back with ing_spool_release() when the descriptor is closed. */
struct ing_held {
	struct ing_spool *spool; /* a reference; NULL when the body is not in memory */
	size_t bytes;
	bool head; /* of an answer, not a body */
};
/* Takes and frees b. *ret_fd: sealed memfd or unlinked file, read-only; -1 when there is no byte.
 * An unfinished or failed body gives what is safely there. */
size_t ing_body_take(struct ing_body *b, int *ret_fd, struct ing_held *ret_held);
void ing_spool_release(struct ing_held *held);
/* What the head of an answer takes now. It is not refused anything, being bounded itself
 * (fetch.max_header_bytes), but bodies have that much less. Zero-initialise held; `bytes` replaces
 * what it held before. Give it back as any. */
void ing_spool_hold_head(struct ing_spool *sp, struct ing_held *held, size_t bytes);
