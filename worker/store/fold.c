/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * As many at a time as take about a tenth of a second, so that no batch waits for long.
 */
#include "worker/store/fold.h"

#include <stdio.h>

#include "common/base/clock.h"

#define EVERY_MS 5000
#define PAUSE_MS 60000 /* when it has failed */
#define FIRST 5000
#define LEAST 100
#define MOST 20000
#define QUICK_MS 100
#define SLOW_MS 300

static void set_pace(struct ing_fold *f, uint64_t took_ms, bool full)
{
	if (took_ms > SLOW_MS)
		f->most = ING_MAX(f->most / 2, (unsigned)LEAST);
	else if (took_ms < QUICK_MS && full)
		f->most = ING_MIN(f->most * 2, (unsigned)MOST);
}

/* Everything but the loss of the connection. */
static void put_off(struct ing_fold *f, const struct ing_error *err)
{
	f->most = ING_MAX(f->most / 2, (unsigned)LEAST);
	f->due_ms = ing_now_ms() + PAUSE_MS;
	ing_log_throttled(&f->failed_gate, 10 * PAUSE_MS, ING_LOG_WARNING,
		"counts are not added up: %s", err->msg);
}

/* -------------------------------------------------------------------------------------------- */

void ing_fold_init(struct ing_fold *f)
{
	*f = (struct ing_fold){.most = FIRST};
}

void ing_fold_want(struct ing_fold *f)
{
	if (!f->wanted)
		f->due_ms = ING_MAX(f->due_ms, ing_now_ms() + EVERY_MS);
	f->wanted = true;
}

int ing_fold_wait_ms(const struct ing_fold *f)
{
	uint64_t now = ing_now_ms();
	if (!f->wanted)
		return -1;
	return f->due_ms > now ? (int)(f->due_ms - now) : 0;
}

enum ing_pg_rc ing_fold_write(struct ing_pg *pg, void *ctx, struct ing_error *err)
{
	struct ing_fold *f = ctx;
	char sql[64];
	int64_t folded = 0;
	uint64_t start = ing_now_ms();
	snprintf(sql, sizeof(sql), "SELECT fold_counts(%u)", f->most);
	enum ing_pg_rc rc = ing_pg_number(pg, sql, &folded, err);
	if (rc == ING_PG_LOST || rc == ING_PG_SILENT || rc == ING_PG_STOPPED)
		return rc;
	if (rc != ING_PG_OK) {
		put_off(f, err);
		ing_error_clear(err);
		return ING_PG_OK;
	}
	bool full = folded >= f->most; /* of one kind: there may be more */
	set_pace(f, ing_now_ms() - start, full);
	f->wanted = full;
	f->due_ms = ing_now_ms() + (full ? 0 : EVERY_MS);
	return ING_PG_OK;
}
