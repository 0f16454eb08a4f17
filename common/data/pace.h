/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pace.h - how many rows a statement may have, and its time limit, by how long earlier ones took.
 *
 * A statement that reaches its time limit has done its work for nothing, and would do so again if
 * it were repeated unchanged. So the number of rows follows the time that they take: it aims at a
 * fifth of the limit, starts small, doubles while statements are faster than that, and falls to the
 * number that would have met it when they take more than twice as long. After a statement that was
 * cancelled at the limit it falls to an eighth, and grows slowly from half of what was too much. A
 * single row that takes longer than the limit gets a longer limit. Pure; one thread at a time.
 */
#pragma once
#include <stdbool.h>

struct ing_pace {
	unsigned max_rows, base_ms; /* constant */
	unsigned rows;              /* of a statement, at most */
	unsigned limit_ms;          /* its time limit */
	unsigned ceiling;           /* rows; beyond it growth is slow */
};

/* limit_ms: the usual time limit; 0: 5 s. */
void ing_pace_init(struct ing_pace *p, unsigned max_rows, unsigned limit_ms);

/* So many rows were written; the slowest statement took so long. Returns false when that is longer
 * than a fifth of the limit; then the number of rows stays or falls. */
bool ing_pace_written(struct ing_pace *p, unsigned rows, unsigned slowest_ms);

/* A statement with so many rows was cancelled at the limit, or unanswered after
 * ing_pace_answer_ms(). Returns false when it was one row: its limit is doubled, up to 64 times the
 * usual one. */
bool ing_pace_exceeded(struct ing_pace *p, unsigned rows);

/* How long a statement may wait for locks: less than its limit, so that waiting for a lock is
 * distinguished from work. */
unsigned ing_pace_lock_ms(const struct ing_pace *p);

/* How long to wait for an answer. Longer than the limit, because the server's own error tells more
 * than silence: 20 s for the usual 5 s. */
unsigned ing_pace_answer_ms(const struct ing_pace *p);
