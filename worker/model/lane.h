/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * lane.h - how urgent a request is: the topic it came by. Within a host a higher lane goes first;
 * among hosts lanes share by weight, and the highest has slots of its own. Plain data.
 */
#pragma once

enum ing_lane { /* highest first */
	ING_LANE_PRIORITY,
	ING_LANE_REQUESTS, /* the plain topic, and lines of a file */
	ING_LANE_DAILY,
	ING_LANE_BULK,
	ING_LANES_
};
