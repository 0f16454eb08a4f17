/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * lane.h - how urgent a request is: the topic it came by. Within a host a higher lane goes first;
 * among hosts lanes share by weight, and the highest has slots of its own. Plain data and its names; any thread.
 */
#pragma once

enum ing_lane { /* highest first */
	ING_LANE_PRIORITY,
	ING_LANE_REQUESTS, /* the plain topic, and lines of a file */
	ING_LANE_DAILY,
	ING_LANE_BULK,
	ING_LANES_
};

const char *ing_lane_name(enum ing_lane lane); /* "bulk"; static */
