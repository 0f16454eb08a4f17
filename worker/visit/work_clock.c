/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Counting while anybody works. No state of its own.
 */
#include "worker/visit/work_clock.h"

#include "common/base/macros.h"

void ing_work_clock_init(struct ing_work_clock *c, uint64_t ms)
{
	*c = (struct ing_work_clock){.left_ms = ms};
}

void ing_work_clock_start(struct ing_work_clock *c, uint64_t now_ms)
{
	if (c->working++ == 0)
		c->end_ms = now_ms + c->left_ms;
}

void ing_work_clock_stop(struct ing_work_clock *c, uint64_t now_ms)
{
	ing_must(c->working > 0);
	uint64_t left_ms = ing_work_clock_left(c, now_ms);
	if (--c->working == 0)
		c->left_ms = left_ms;
}

uint64_t ing_work_clock_left(const struct ing_work_clock *c, uint64_t now_ms)
{
	if (c->working == 0)
		return c->left_ms;
	return c->end_ms > now_ms ? c->end_ms - now_ms : 0;
}
