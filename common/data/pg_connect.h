/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pg_connect.h - a libpq connection is made here, for pg.c alone.
 *
 * libpq's own PQconnectdb() cannot be woken, and its non-blocking way, which is used instead, knows
 * no connect_timeout; so that and the order of several hosts are looked after here. Looking a name
 * up is still libpq's, and blocks as long as the resolver does.
 */
#pragma once
#include "common/base/error.h"

struct pg_conn; /* libpq's */

/* Connect as ing_pg_open() says. The caller calls PQfinish(). Error: -CONFIG, -UNAVAILABLE,
 * -CANCELLED (stop_fd became readable). */
int ing_pg_connect(
	const char *dsn, int stop_fd, struct pg_conn **ret, struct ing_error *err) ING_MUST_CHECK;

/* A message of libpq's, which may be NULL or have several lines, as one line. */
void ing_pg_flatten(const char *text, char *to, size_t size);
