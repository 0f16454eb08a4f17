/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whole pages are taken: their rows were stored one after the other, but a page has no more than dozens of them.
 */
#include "worker/ctl/stats/sample.h"

#include "common/base/buf.h"

static void take_pages(void *ctx, const char *const *values, int count)
{
	double *pages = ctx;
	(void)count;
	*pages = (double)ing_pg_int64(values[0]);
}

/* -------------------------------------------------------------------------------------------- */

enum ing_pg_rc ing_stats_percent(
	struct ing_pg *pg, const char *table, double max_pages, double *ret, struct ing_error *err)
{
	const char *const params[] = {table};
	double pages = 0;
	enum ing_pg_rc rc = ing_pg_query(pg, NULL,
		"SELECT pg_relation_size($1::regclass)"
		" / current_setting('block_size')::bigint",
		params, 1, take_pages, &pages, err);
	if (rc == ING_PG_OK)
		*ret = pages <= max_pages ? 100 : max_pages * 100 / pages;
	return rc;
}

void ing_stats_add_sample(struct ing_buf *sql, double percent)
{
	if (percent < 100)
		ing_buf_printf(sql, " TABLESAMPLE SYSTEM (%.6f) REPEATABLE (0)", percent);
}
