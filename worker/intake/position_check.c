/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Compares a position and the group's committed offset with the bounds of the log.
 */
#include "worker/intake/position_check.h"

/* The group has no offset, and the last owner left one. When the mark's message is deleted, the log
 * begins above it: a new log would begin at 0. */
static enum ing_position_state check_last_owner(
	const struct ing_known_position *known, const struct ing_broker_offsets *reported)
{
	if (known->mark.offset >= 0 && known->mark.offset < reported->low)
		return ING_POSITION_EXPIRED;
	if (known->mark.offset < 0 || known->mark.offset >= reported->high ||
		known->last_low_water > reported->high || reported->mark == ING_MARK_OTHER)
		return ING_POSITION_NEW_LOG;
	return reported->mark == ING_MARK_FOUND ? ING_POSITION_EXPIRED : ING_POSITION_UNKNOWN;
}

static struct ing_position_check from_start(
	enum ing_position_state state, const struct ing_broker_offsets *reported)
{
	return (struct ing_position_check){state, reported->low, reported->low};
}

static struct ing_position_check from(
	enum ing_position_state state, int64_t position, const struct ing_broker_offsets *reported)
{
	return (struct ing_position_check){state, position, ING_MAX(position, reported->low)};
}

/* -------------------------------------------------------------------------------------------- */

struct ing_position_check ing_position_check(
	const struct ing_known_position *known, const struct ing_broker_offsets *reported)
{
	if (!reported->has_committed || !reported->has_bounds)
		return (struct ing_position_check){.state = ING_POSITION_UNKNOWN};
	if (reported->committed < 0 && known->group_has_offset)
		return from_start(ING_POSITION_TOPIC_RECREATED, reported);
	int64_t at = known->next >= 0 ? known->next : reported->committed;
	if (at < 0 && known->last_low_water >= 0) {
		enum ing_position_state state = check_last_owner(known, reported);
		return state == ING_POSITION_NEW_LOG ? from_start(state, reported)
						     : from(state, known->last_low_water, reported);
	}
	if (at < 0) /* a new group */
		return from_start(ING_POSITION_VALID, reported);
	if (at > reported->high)
		return from_start(ING_POSITION_BEYOND_END, reported);
	return from(at < reported->low ? ING_POSITION_DELETED : ING_POSITION_VALID, at, reported);
}
