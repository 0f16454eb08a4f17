/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * With S(c) requests under a cap c, c is good when c <= percent of min(S(c), limit). S is concave and 0 at 0, and so is
 * percent of it less c: the good caps are those from 0 to a highest one, which is found by halving.
 */
#include "worker/store/requests/share.h"

#include <stdbool.h>

#include "common/base/macros.h"

static uint64_t total_under(
	const struct ing_share_level *levels, size_t count, uint64_t limit, uint64_t cap)
{
	uint64_t total = 0;
	for (size_t i = 0; i < count; i++)
		total += levels[i].groups * ING_MIN(levels[i].requests, cap);
	return limit != 0 ? ING_MIN(total, limit) : total;
}

static bool is_good(uint64_t cap, uint64_t total, double percent)
{
	/* A whole number that the quotient misses by rounding is meant. */
	return percent >= 100 || (double)cap <= (double)total * percent / 100 * (1 + 1e-12);
}

/* -------------------------------------------------------------------------------------------- */

struct ing_host_share ing_share_cap(
	const struct ing_share_level *levels, size_t count, uint64_t limit, double percent)
{
	uint64_t good = 0;
	uint64_t bad = 1; /* more than anybody has or may have */
	for (size_t i = 0; i < count; i++)
		bad = ING_MAX(bad, levels[i].requests + 1);
	while (bad - good > 1) {
		uint64_t cap = good + (bad - good) / 2;
		if (is_good(cap, total_under(levels, count, limit, cap), percent))
			good = cap;
		else
			bad = cap;
	}
	return (struct ing_host_share){good, total_under(levels, count, limit, good)};
}
