/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * lease_sql.h - what the files with the leases' statements share: lease_sql.c, lease_request.c,
 * lease_update.c, lease_start.c. Thread: the database thread.
 */
#pragma once
#include "common/base/buf.h"
#include "common/base/clock.h"
#include "worker/gate/fleet/lease_priv.h"

#define ING_LEASE_PARAM_BYTES ((size_t)1 << 20) /* ING_LEASE_BATCH hosts of 253 bytes, quoted */
#define ING_LEASE_SPAN_MS ((uint64_t)366 * 86400 * 1000) /* ceiling of all spans */

/* How far the database's clock has been set back since the row s was last written; usually 0. Every
 * statement that writes `updated` moves the row's other times back by as much, so that a lease or a
 * rest lasts no longer than when it was written. The row must be locked: only then is a later
 * `updated` not one that was written meanwhile. In seconds, because an interval of days would be
 * added in the session's time zone. */
#define ING_LEASE_SET_BACK                                                                         \
	"(greatest(extract(epoch FROM s.updated - clock_timestamp()), 0) * interval '1 s')"

struct ing_lease_number { /* as a parameter */
	char text[24];
};
const char *ing_lease_number(struct ing_lease_number *n, int64_t value); /* n's text */

/* Lists of names on the heap; NULL is an empty one. */
void ing_lease_add_name(char ***names, size_t *count, const char *name);
void ing_lease_free_names(char **names, size_t count);

/* One statement about `count` hosts from the at-th on. */
typedef enum ing_pg_rc ing_lease_slice_f(
	struct ing_pg *pg, void *ctx, size_t at, size_t count, struct ing_error *err);
/* All of them, as many at a time as the pace allows; a statement that takes too long is repeated
 * with fewer hosts. ING_PG_SLOW: a single host took longer than the limit, which is longer next
 * time. */
enum ing_pg_rc ing_lease_in_slices(struct ing_pg *pg, struct ing_pace *pace, size_t count,
	ing_lease_slice_f *run, void *ctx, struct ing_error *err) ING_MUST_CHECK;

enum ing_pg_rc ing_lease_run_requests(struct ing_pg *pg, const struct ing_lease_session *ses,
	struct ing_pace *pace, struct ing_lease_round *r, struct ing_error *err) ING_MUST_CHECK;
/* Updates, then releases. */
enum ing_pg_rc ing_lease_run_updates(struct ing_pg *pg, const struct ing_lease_session *ses,
	struct ing_pace *pace, struct ing_lease_round *r, struct ing_error *err) ING_MUST_CHECK;
