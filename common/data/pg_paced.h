/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pg_paced.h - as many rows of a list as the database takes within its limits: statements for as
 * many as the pace says (pace.h), repeated with fewer when they take too long. No state but the
 * pace; the connection's thread.
 */
#pragma once
#include <stdbool.h>
#include "common/data/pace.h"
#include "common/data/pg.h"

/* Write the first `rows` rows of the list, in one transaction. OK: *ret_slowest_ms says how long
 * its slowest statement took, COMMIT aside. SLOW: everything has been rolled back. */
typedef enum ing_pg_rc ing_pg_rows_f(struct ing_pg *pg, void *ctx, unsigned rows,
	unsigned *ret_slowest_ms, struct ing_error *err);

struct ing_pg_paced {
	ing_pg_rows_f *write;
	/* So many rows were not written within the limit; it is repeated with fewer. NULL: not
	 * wanted. */
	void (*too_many)(void *ctx, unsigned rows, unsigned limit_ms);
	void *ctx; /* of both */
};

struct ing_pg_paced_run { /* the last that was tried */
	unsigned rows;
	unsigned slowest_ms; /* once written */
	bool quick;          /* once written: what ing_pace_written() returned */
};

/* Sets the limits of the pace and writes, until the code is another than SLOW or a single row takes
 * too long: then SLOW is returned, and the next call's limit is longer. rows: at least one. After
 * SILENT the pace falls, too, but nothing is repeated, for the connection is to be closed. *ret is
 * written whatever is returned. */
enum ing_pg_rc ing_pg_write_paced(struct ing_pg *pg, struct ing_pace *pace, size_t rows,
	const struct ing_pg_paced *paced, struct ing_pg_paced_run *ret,
	struct ing_error *err) ING_MUST_CHECK;
