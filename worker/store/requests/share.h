/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * share.h - how many requests of one host may be selected, so that none has more than a share of what is selected.
 * Pure.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Groups that have the same number of requests. */
struct ing_share_level {
	uint64_t requests; /* of each group */
	uint64_t groups;
};

struct ing_host_share {
	uint64_t cap;   /* requests of one group, at most */
	uint64_t total; /* what is selected then: at most the limit */
};

/* The largest selection of which no group has more than percent: every group gives what it has, but at most a cap,
 * and the cap is as high as the selection that it makes allows. levels: in any order. limit 0: none. percent: above
 * 0; from 100 on it does not limit. {0, 0}: there are fewer groups than it takes (of three groups one has at least 34 %). */
struct ing_host_share ing_share_cap(
	const struct ing_share_level *levels, size_t count, uint64_t limit, double percent);
