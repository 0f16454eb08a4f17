/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * since.h - a moment as people write it: how long ago it was ("90m", "1h30m", "7d", "2w"), or a date in UTC
 * ("2026-11-23", "2026-11-23T04:05:06Z"). Pure, any thread.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct ing_since {
	bool is_ago;
	int64_t ago_s; /* with is_ago */
	int64_t at_s;  /* else: since 1970 */
};

/* False: text is neither; *ret is as it was. At most 1,000 years ago; no date before 1970. */
bool ing_since_parse(const char *text, struct ing_since *ret);
