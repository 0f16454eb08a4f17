/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * mailbox.h - the newest state of something, handed from one thread to another without a lock.
 *
 * A slot for one heap object. The writer puts a new object there and frees the one that nobody has
 * taken; the reader takes it and owns it from then on. Neither ever waits for the other, and a
 * reader that does not come costs the writer no more than one object.
 *
 * Beside it two times on ing_now_ms()'s clock: when the writer was last at work, by which the reader
 * knows that it still is, and when somebody last asked the reader, by which the writer knows whether
 * expensive parts of the object are wanted.
 *
 * Owns: the object in the slot. Threads: one writer (the loop) and one reader, as said at each
 * function; init and done while neither runs.
 */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "common/base/macros.h"

struct ing_mailbox {
	_Atomic(void *) slot;
	_Atomic uint64_t worked_ms, asked_ms; /* 0: never */
	void (*free_object)(void *object);
};

/* free_object is called on the writer's thread, or by done. */
void ing_mailbox_init(struct ing_mailbox *m, void (*free_object)(void *object));
/* Frees what was not taken. */
void ing_mailbox_done(struct ing_mailbox *m);

/* Writer: object is the mailbox's from now on; one that was not taken is freed. */
void ing_mailbox_put(struct ing_mailbox *m, void *object);
/* Writer: it is at work at this time. */
void ing_mailbox_set_worked(struct ing_mailbox *m, uint64_t now_ms);
/* Writer: whether somebody asked within the last `within_ms`. */
bool ing_mailbox_asked(const struct ing_mailbox *m, uint64_t now_ms, uint64_t within_ms);

/* Reader: the newest object, the caller's; NULL when it has been taken already. */
void *ing_mailbox_take(struct ing_mailbox *m) ING_MUST_CHECK;
/* Reader: somebody has asked at this time. */
void ing_mailbox_set_asked(struct ing_mailbox *m, uint64_t now_ms);
/* Reader: how long ago the writer was last at work. */
uint64_t ing_mailbox_silence_ms(const struct ing_mailbox *m, uint64_t now_ms);
