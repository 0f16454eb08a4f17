/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * table.h - the tables of rows as data: columns, keys, conflict rules. From it come the rows of a COPY
 * and all SQL of a session. Constant, any thread.
 */
#pragma once
#include "worker/store/cell.h"

struct ing_rows;

#define ING_TABLES 9
#define ING_MAX_COLUMNS 13

struct ing_table {
	const char *name;
	const struct ing_column *columns;
	size_t column_count;
	const char *key;    /* columns, comma-separated: ON CONFLICT and order of the upsert */
	const char *prefer; /* ORDER BY behind the key: which of several rows of a batch stays */
	const char *action; /* behind ON CONFLICT (key) DO */
	size_t (*count)(const struct ing_rows *rows);
	void (*fill)(const struct ing_rows *rows, size_t i, struct ing_cell *cells);
	const char *computed; /* further columns, that no row brings; or NULL */
	const char *
		source; /* FROM: what has all of them, made of the staging table; NULL: that itself */
};

/* Settings of a session that the statements read. */
#define ING_TABLE_SETTINGS "SET ingest.max_attempts = %u"

/* In the order in which every transaction touches them. */
extern const struct ing_table ing_tables[ING_TABLES];

/* CREATE TEMP TABLE for the staging table, and PREPARE of the upsert out of it: once a session. */
void ing_table_session_sql(const struct ing_table *t, struct ing_buf *out);
/* COPY into the staging table; EXECUTE of the upsert. */
void ing_table_copy_sql(const struct ing_table *t, struct ing_buf *out);
void ing_table_upsert_sql(const struct ing_table *t, struct ing_buf *out);

/* Append the i-th of the rows for this table as a COPY line; seq orders rows within the batch.
 * False: a key is missing or too long for its index (nothing is appended), or out's ceiling was
 * hit. */
bool ing_table_row(const struct ing_table *t, const struct ing_rows *rows, size_t i, unsigned seq,
	struct ing_buf *out);
