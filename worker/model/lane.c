/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The names of lanes.
 */
#include "worker/model/lane.h"

/* -------------------------------------------------------------------------------------------- */

const char *ing_lane_name(enum ing_lane lane)
{
	static const char *const names[ING_LANES_] = {
		[ING_LANE_PRIORITY] = "priority",
		[ING_LANE_REQUESTS] = "requests",
		[ING_LANE_DAILY] = "daily",
		[ING_LANE_BULK] = "bulk",
	};
	return names[lane];
}
