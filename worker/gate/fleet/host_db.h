/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * host_db.h - what everybody does who reads the tables of hosts: the workers' leases (lease.h) and
 * the operators' questions (host_table.h). No state; any thread.
 */
#pragma once
#include <stdint.h>
#include "common/data/pg.h"

/* Connect, execute `settings` (SQL; NULL: none), and check the schema's version. stop_fd,
 * timeout_ms: as ing_pg_open(). Caller closes. Error: -CONFIG (dsn is malformed), -UNAVAILABLE,
 * -INVALID (schema missing, older, newer: the message says what to do). */
int ing_host_db_open(const char *dsn, int stop_fd, int timeout_ms, const char *settings,
	struct ing_pg **ret, struct ing_error *err) ING_MUST_CHECK;

/* Values of columns of integers; SQL NULL (text NULL): 0. */
int64_t ing_host_db_number(const char *text);
/* Within 0 … INT32_MAX, whatever the column says. */
unsigned ing_host_db_small(const char *text);
