/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * refetch.h - when a publication or web page that is kept is fetched again (publication.* of the
 * configuration), and how a record is to be kept. Plain data.
 */
#pragma once
#include <stdint.h>

struct ing_refetch_rules { /* in minutes; negative: never */
	int64_t empty_cooldown, non_final_cooldown, exception_cooldown, refetch_after;
	int64_t retry_limit; /* negative: no limit */
};

enum ing_keep {
	ING_KEEP_WHOLE,    /* everything was asked for */
	ING_KEEP_PARTIAL,  /* parts of it, or one resource: it does not count as a fetch */
	ING_KEEP_IMPORTED, /* somebody else fetched it; its counters are as new as its fetchTime */
};
