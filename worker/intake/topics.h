/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * topics.h - the topics that are read, numbered: one for each lane (worker/model/lane.h), highest
 * first, then one for each tier of parked requests (worker/model/tier.h). Plain data.
 */
#pragma once
#include "worker/model/lane.h"
#include "worker/model/tier.h"

#define ING_INTAKE_TOPICS ((unsigned)ING_LANES_ + (unsigned)ING_TIERS_)
