/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * enqueue_start.h - which batch of a plan is the next to be sent: what the database knows of it and what Kafka has committed, put
 * together. Pure, any thread.
 *
 * Before a batch is given to Kafka the database says so (`begun`), and after it that it is sent. So sent <= committed <= begun.
 * Anything else is said and not mended: either the position in Kafka or the database is not the one that was left.
 */
#pragma once
#include <stdint.h>

struct ing_plan;

enum ing_enqueue_start {
	ING_START_AT, /* *ret_next is next */
	ING_START_FIRST, /* likewise, but there is no position yet: one is committed before anything is begun */
	ING_START_LOST, /* there is no position any more, and batches may have been sent: it has expired, or the group was deleted */
	ING_START_OTHER, /* the position is of another plan of this name: of another database */
	ING_START_BEYOND, /* the position is beyond what was begun: the database is an older state of itself */
};

/* offset: -1: there is none. metadata: of the position. */
enum ing_enqueue_start ing_enqueue_start(
	const struct ing_plan *plan, int64_t offset, const char *metadata, int64_t *ret_next);
