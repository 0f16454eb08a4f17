/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * host_table.h - what the database knows of hosts, for operators (ingestctl hosts): the rows of
 * host_state, which the workers' leases write (lease.h), and the table host_block.
 *
 * Each call connects, checks the schema's version, runs one statement and closes: synchronous, for
 * tools; any thread. Nothing to free. Times are by the database's clock, relative to now.
 *
 * Errors of all: -CONFIG (dsn is malformed), -UNAVAILABLE, -INVALID (schema missing, older, newer:
 * the message says what to do).
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "common/base/error.h"

#define ING_HOST_BYTES 256     /* a host's key, with NUL: DNS names have 253 at most */
#define ING_INSTANCE_BYTES 256 /* longer ones are cut */
#define ING_WHY_BYTES 1024     /* longest reason of a block, with NUL */

/* One row of host_block. */
struct ing_host_block {
	char host[ING_HOST_BYTES]; /* as in rule files: "example.org", or ".example.org" with all
				      below */
	char why[ING_WHY_BYTES];
	char by[ING_INSTANCE_BYTES]; /* who blocked it; "": not known */
	int64_t age_ms;
};

/* One row of host_state. */
struct ing_host_row {
	bool known; /* false: there is no row; all but `blocked` is zero */
	char host[ING_HOST_BYTES];
	char holder[ING_INSTANCE_BYTES];    /* instance that has the lease; "": nobody */
	int64_t lease_ms;                   /* of it, left */
	char wanted_by[ING_INSTANCE_BYTES]; /* instance that has the reservation; "": nobody */
	int64_t rest_ms;                    /* until the next fetch is due; 0: it is */
	char rest[24];     /* ing_rest_name(): reason of the present or last rest; "none" */
	char breaker[16];  /* ing_breaker_name() */
	unsigned failures; /* in a row */
	unsigned opens;    /* of the breaker, in a row */
	unsigned crawl_delay_ms;
	unsigned response_ms; /* of the last answer */
	int http_status;      /* of the last answer; 0: none came */
	char outcome[64];     /* slug of how the last transfer ended; "": none ended yet */
	int64_t answered_ms;  /* ago; -1: never */
	int64_t updated_ms;   /* ago: when a worker last wrote the row */
	bool blocked;         /* by the most specific entry of host_block that covers it */
	struct ing_host_block block;
};

/* The row of one host key (ing_gate_key()), and the block that covers the host. Returns 0 also when
 * there is neither. */
int ing_host_table_find(const char *dsn, const char *host, struct ing_host_row *ret,
	struct ing_error *err) ING_MUST_CHECK;

/* At most `count` (up to 10,000) hosts: those held longest first, then those with the most failures
 * in a row, then those with the latest answer. `blocked` is not looked up. */
typedef void ing_host_row_f(void *ctx, const struct ing_host_row *row);
int ing_host_table_top(const char *dsn, unsigned count, ing_host_row_f *fn, void *ctx,
	struct ing_error *err) ING_MUST_CHECK;

/* Block a host for the whole fleet; workers obey within 10 s. An earlier entry of the same host is
 * replaced. host: lower case, as in rule files; anything that cannot be one (empty,
 * over 253 bytes, not printable ASCII) and a `why` that is empty, too long or not UTF-8 are
 * -INVALID. by: NULL, or who blocks it. */
int ing_host_table_block(const char *dsn, const char *host, const char *why, const char *by,
	struct ing_error *err) ING_MUST_CHECK;
/* *ret_was: there was such an entry (of exactly this spelling). */
int ing_host_table_unblock(
	const char *dsn, const char *host, bool *ret_was, struct ing_error *err) ING_MUST_CHECK;
/* All entries, in the order of their hosts. */
typedef void ing_host_block_f(void *ctx, const struct ing_host_block *block);
int ing_host_table_blocks(
	const char *dsn, ing_host_block_f *fn, void *ctx, struct ing_error *err) ING_MUST_CHECK;
