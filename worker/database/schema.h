/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * schema.h - the schema of the program's PostgreSQL database: its version, its migrations, and
 * connections to a database that has the right one. No state; any thread.
 *
 * Errors of all: -CONFIG (dsn is malformed), -UNAVAILABLE (server away, or it refused a statement),
 * -INVALID (schema missing, older or newer than this program's: the message says what to do).
 */
#pragma once
#include "common/data/pg.h"

/* Execute `settings` (SQL; NULL: none) on a new connection and check the schema's version. */
int ing_schema_prepare(
	struct ing_pg *pg, const char *settings, struct ing_error *err) ING_MUST_CHECK;
/* Connect and check, with a deadline of 30 s for each answer. The caller closes. */
int ing_schema_open(const char *dsn, struct ing_pg **ret, struct ing_error *err) ING_MUST_CHECK;

/* Apply the migrations that are missing. Concurrent callers take turns. */
int ing_schema_migrate(
	const char *dsn, int *ret_from, int *ret_to, struct ing_error *err) ING_MUST_CHECK;
/* *ret_version: of the database, 0 when it has no schema. */
int ing_schema_version(const char *dsn, int *ret_version, struct ing_error *err) ING_MUST_CHECK;
int ing_schema_newest(void); /* the version that this program was built for */
