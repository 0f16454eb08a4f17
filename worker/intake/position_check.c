/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Compares a position and the group's committed offset with the bounds of the log.
 */
#include "worker/intake/position_check.h"

struct ing_position_check ing_position_check(
	int64_t position, bool group_has_offset, const struct ing_broker_offsets *reported)
{
	struct ing_position_check v = {.state = ING_POSITION_UNKNOWN};
	if (!reported->has_committed || !reported->has_bounds)
		return v;
	v.start = reported->low;
	int64_t at = position >= 0 ? position : reported->committed;
	if (reported->committed < 0 && group_has_offset) {
		v.state = ING_POSITION_TOPIC_RECREATED;
	} else if (at < 0) { /* a new group */
		v.state = ING_POSITION_VALID;
	} else if (at > reported->high) {
		v.state = ING_POSITION_BEYOND_END;
	} else if (at < reported->low) {
		v.state = ING_POSITION_DELETED;
		v.lost = reported->low - at;
	} else {
		v.state = ING_POSITION_VALID;
		v.start = at;
	}
	return v;
}
