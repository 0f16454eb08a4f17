/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * outbox.h - rows of result_outbox: written with a batch, and read back as answers.
 *
 * The first row of a message stays. An item that comes later gets that row (ING_STORE_ANSWERED), and
 * nothing of it is written. A row of another message with the same offset (its timestamp or digest
 * differs) is of a topic that has been made anew, and is replaced.
 *
 * Database thread; no state. Rows of COPY are in its binary format, so that every byte of keys,
 * headers and values comes back as it was.
 */
#pragma once
#include "common/data/pg.h"
#include "worker/model/source.h"

struct ing_buf;
struct ing_store_item;

/* Once a connection: the staging table. */
enum ing_pg_rc ing_outbox_prepare(struct ing_pg *pg, struct ing_error *err) ING_MUST_CHECK;

/* The transaction must have checked the fences. `rows` is for scratch. The first attempt is
 * `careful` false: straight into the table, and REFUSED when a row is there already; then the
 * transaction is to be repeated with `careful`, which finds out which. REFUSED of that: the items
 * have two rows with one key; halve them. Writes the rows of the items that have a message and are
 * not fenced; sets end and answer of those that are ANSWERED. */
enum ing_pg_rc ing_outbox_write(struct ing_pg *pg, struct ing_store_item *const *items,
	size_t count, bool careful, struct ing_buf *rows, struct ing_error *err) ING_MUST_CHECK;

/* Columns of a SELECT from result_outbox o, and the row that they make; NULL: of an output that
 * this program does not have. */
#define ING_OUTBOX_COLUMNS                                                                         \
	"o.\"offset\", o.message_timestamp_ms, o.message_digest, o.output, o.key, o.headers, o.value"
#define ING_OUTBOX_COLUMN_COUNT 7
struct ing_answer *ing_outbox_answer(const char *const *values);
