/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/data/pg_paced.h"

enum ing_pg_rc ing_pg_write_paced(struct ing_pg *pg, struct ing_pace *pace, size_t rows,
	const struct ing_pg_paced *paced, struct ing_pg_paced_run *ret, struct ing_error *err)
{
	for (;;) {
		unsigned limit_ms = pace->limit_ms;
		*ret = (struct ing_pg_paced_run){
			.rows = (unsigned)ING_MIN(rows, (size_t)pace->rows)};
		enum ing_pg_rc rc = ing_pg_set_limits(pg, pace, err);
		if (rc == ING_PG_OK)
			rc = paced->write(pg, paced->ctx, ret->rows, &ret->slowest_ms, err);
		if (rc == ING_PG_OK)
			ret->quick = ing_pace_written(pace, ret->rows, ret->slowest_ms);
		bool late = rc == ING_PG_SLOW || rc == ING_PG_SILENT;
		bool fewer = late && ing_pace_exceeded(pace, ret->rows);
		if (rc != ING_PG_SLOW || !fewer)
			return rc;
		if (paced->too_many != NULL)
			paced->too_many(paced->ctx, ret->rows, limit_ms);
		ing_error_clear(err);
	}
}
