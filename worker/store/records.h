/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * records.h - publications and web pages of a batch: each is merged (worker/publication/kept) with the
 * rows that are of the same one, and written in their place.
 *
 * Two workers may have the same publication at once, by whatever identifiers. Locks that stand for identifiers
 * are taken for the whole batch before the first row is read, in ascending order, so that nobody else writes
 * a row with one of them meanwhile; then rows are locked in the order of their ids. What another worker moved
 * from one row to another in between is noticed, and the batch repeated (ING_PG_CONFLICT), as it is after a
 * deadlock. Database thread; no state.
 */
#pragma once
#include <stddef.h>
#include "common/data/pg.h"

struct ing_store_item;

/* In the transaction that writes the items, after the fences. *ret_skipped is increased for each record that
 * cannot be kept: it is no JSON object, or has no key. */
enum ing_pg_rc ing_records_write(struct ing_pg *pg, struct ing_store_item *const *items,
	size_t count, uint64_t *ret_skipped, struct ing_error *err) ING_MUST_CHECK;
