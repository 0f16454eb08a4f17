/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fence.h - do the partitions that the items of a batch came from still belong to those who took
 * them?
 *
 * Owns nothing but an array. Database thread.
 */
#pragma once
#include "common/data/pg.h"

struct ing_store_item;

struct ing_fence { /* of a partition */
	const char *group, *topic;
	int32_t partition;
	int64_t stored; /* 0: none */
};

struct ing_fences {
	struct ing_fence *all;
	size_t count, cap;
	size_t last; /* found */
};

void ing_fences_done(struct ing_fences *f); /* zero-initialised is fine */

/* In an open transaction: lock the rows of partition_owner of all items that have a source, in the
 * order of the key, until its end, so that no claim passes it; and mark the items whose fence is
 * not the stored one: ING_STORE_FENCED. */
enum ing_pg_rc ing_fences_check(struct ing_fences *f, struct ing_pg *pg,
	struct ing_store_item *const *items, size_t count, struct ing_error *err) ING_MUST_CHECK;
