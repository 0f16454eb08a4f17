/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * starts.h - when transfers may be started, so that what they cost the loop does not come all at once.
 *
 * The work of a start comes later: five hundred at once would be five hundred TLS handshakes in one turn of
 * the loop, a quarter of a second in which no timer runs. So starts get time as the clock runs, one
 * millisecond in each, and each takes from it what transfers have cost the loop's thread until now.
 * Such a pace is no limit to the worker: faster than that the loop could not work anyway. What is
 * measured with few starts says little (another transfer may have a long body): a start is never
 * believed to cost more than ING_STARTS_MOST_US.
 *
 * Plain data, no clock of its own. One thread.
 */
#pragma once
#include <stdint.h>

#define ING_STARTS_MOST_US 1000
#define ING_STARTS_LEAST_US 50
#define ING_STARTS_BURST_US 8000 /* kept for later at most */

struct ing_starts {
	uint64_t cost_us; /* of a start, as measured */
	uint64_t left_us;
	uint64_t refilled_us;
	uint64_t sampled_cpu_ns;
	unsigned started; /* since then */
};

/* cpu_ns: CPU time of the loop's thread so far. */
void ing_starts_init(struct ing_starts *p, uint64_t now_us, uint64_t cpu_ns);
/* How many may be started now; to be followed by ing_starts_take() for each that is. */
unsigned ing_starts_allow(struct ing_starts *p, uint64_t now_us, uint64_t cpu_ns);
void ing_starts_take(struct ing_starts *p);
