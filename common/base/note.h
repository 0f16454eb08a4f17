/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * note.h - the newest words of one thread for another, handed over without a lock: why a thread that
 * writes cannot, say.
 *
 * Owns: two heap strings. Threads: one writer and one reader, as said at each function; done while
 * neither runs. Zero-initialised is empty.
 */
#pragma once
#include <stdatomic.h>

struct ing_note {
	_Atomic(char *) fresh; /* not read yet */
	char *kept;            /* the reader's */
};

/* Writer: copied; what was not read is dropped. */
void ing_note_set(struct ing_note *n, const char *words);
/* Reader: the newest words, valid until the next call; "" when there have never been any. */
const char *ing_note_get(struct ing_note *n);
void ing_note_done(struct ing_note *n);
