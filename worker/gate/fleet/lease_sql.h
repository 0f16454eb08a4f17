/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * lease_sql.h - what the files with the leases' statements share: lease_sql.c, lease_ask.c,
 * lease_say.c. Thread: the lease thread.
 */
#pragma once
#include "common/base/buf.h"
#include "common/base/clock.h"
#include "worker/gate/fleet/lease_priv.h"

#define ING_LEASE_PARAM_BYTES ((size_t)1 << 20) /* ING_LEASE_BATCH hosts of 253 bytes, quoted */
#define ING_LEASE_SPAN_MS ((uint64_t)366 * 86400 * 1000) /* ceiling of all spans */

struct ing_lease_number { /* as a parameter */
	char text[24];
};
const char *ing_lease_number(struct ing_lease_number *n, int64_t value); /* n's text */

enum ing_pg_rc ing_lease_run_asks(struct ing_pg *pg, const struct ing_lease_session *ses,
	struct ing_lease_round *r, struct ing_error *err) ING_MUST_CHECK;
/* Notes, then returns. */
enum ing_pg_rc ing_lease_run_says(struct ing_pg *pg, const struct ing_lease_session *ses,
	struct ing_lease_round *r, struct ing_error *err) ING_MUST_CHECK;
