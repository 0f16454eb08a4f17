/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pace.h - how many rows to ask of a database at once, and how long it may take over them.
 *
 * A statement that reaches its time limit has done its work for nothing, and does so again when it
 * is repeated as it was. So the number of rows follows the time they take: it aims at a fifth of
 * the limit, starts small, doubles while the database is quicker than that, and falls to what would
 * have been right when it took twice as long. After a statement that was called off it falls to an
 * eighth, and grows slowly from the half of what was too much. One row that takes longer than the
 * limit gets a longer one. Pure, owned by one thread.
 */
#pragma once
#include <stdbool.h>

struct ing_pace {
	unsigned max_rows, base_ms; /* constant */
	unsigned rows;              /* ask for so many at most */
	unsigned limit_ms;          /* and let a statement take so long */
	unsigned ceiling;           /* rows; beyond it growth is slow */
};

/* limit_ms: of a statement, usually; 0: 5 s. */
void ing_pace_init(struct ing_pace *p, unsigned max_rows, unsigned limit_ms);

/* So many rows were written; the slowest statement took so long. False: that is longer than
 * aimed at, and there will be no more at once, or fewer. */
bool ing_pace_written(struct ing_pace *p, unsigned rows, unsigned slowest_ms);

/* So many rows were called off at the limit, or nothing was heard of them by ing_pace_answer_ms().
 * False: it was one row, which gets up to 64 times the usual limit, and there is nothing less to
 * ask for. */
bool ing_pace_exceeded(struct ing_pace *p, unsigned rows);

/* How long a statement may wait for locks: less than its limit, so that waiting is told from
 * work. */
unsigned ing_pace_lock_ms(const struct ing_pace *p);

/* When a server that says nothing is given up. It is longer than the limit, for an error that is
 * said is better than one that is guessed: 20 s for the usual 5 s. */
unsigned ing_pace_answer_ms(const struct ing_pace *p);
