/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Only statements are measured, not whole transactions: what a commit costs on a slow disk or a
 * long way is the same for one row as for many, and no reason to write fewer.
 */
#include "common/data/pace.h"

#include <stdint.h>

#include "common/base/macros.h"

#define START_ROWS 16
#define USUAL_LIMIT_MS 5000
#define AIM_PART 5 /* of the limit */
#define FALL 8     /* a second failure costs a whole limit again; growing back costs little */
#define CREEP_PART 16
#define MAX_LIMITS 64 /* for one row; 5 min for the usual 5 s */

static unsigned aim_ms(const struct ing_pace *p)
{
	return ING_MAX(p->base_ms / AIM_PART, 1u);
}

static void grow(struct ing_pace *p)
{
	if (p->rows < p->ceiling)
		p->rows = ING_MIN(2 * p->rows, p->ceiling);
	else
		p->rows += p->rows / CREEP_PART + 1;
	p->rows = ING_MIN(p->rows, p->max_rows);
	p->ceiling = p->rows == p->max_rows ? p->max_rows : p->ceiling;
}

/* -------------------------------------------------------------------------------------------- */

void ing_pace_init(struct ing_pace *p, unsigned max_rows, unsigned limit_ms)
{
	limit_ms = limit_ms != 0 ? limit_ms : USUAL_LIMIT_MS;
	*p = (struct ing_pace){.max_rows = max_rows,
		.base_ms = limit_ms,
		.rows = ING_MIN(max_rows, START_ROWS),
		.limit_ms = limit_ms,
		.ceiling = max_rows};
}

bool ing_pace_written(struct ing_pace *p, unsigned rows, unsigned slowest_ms)
{
	unsigned aim = aim_ms(p);
	uint64_t fit = (uint64_t)rows * aim / ING_MAX(slowest_ms, 1u);
	if (slowest_ms < p->limit_ms / 4)
		p->limit_ms = ING_MAX(p->limit_ms / 2, p->base_ms);
	if (slowest_ms > 2 * aim)
		p->rows = (unsigned)ING_MAX(ING_MIN(fit, (uint64_t)p->rows), 1u);
	/* A batch that was not full says little about a full one, unless it was so quick. */
	else if (slowest_ms <= aim && (rows >= p->rows || fit >= 2 * (uint64_t)p->rows))
		grow(p);
	return slowest_ms <= aim;
}

bool ing_pace_exceeded(struct ing_pace *p, unsigned rows)
{
	if (rows <= 1) {
		p->limit_ms = ING_MIN(2 * p->limit_ms, MAX_LIMITS * p->base_ms);
		p->rows = 1;
		return false;
	}
	p->ceiling = ING_MAX(rows / 2, 1u);
	p->rows = ING_MIN(p->rows, ING_MAX(rows / FALL, 1u));
	return true;
}

unsigned ing_pace_lock_ms(const struct ing_pace *p)
{
	return p->limit_ms / 5 * 3 + 1;
}

unsigned ing_pace_answer_ms(const struct ing_pace *p)
{
	return p->limit_ms + 3 * p->base_ms;
}
