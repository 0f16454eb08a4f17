/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * match.h - whether the document that a request ended with is the work that it asked for. Pure; any
 * thread.
 */
#pragma once
#include "common/data/json.h"

struct ing_artifact;

/* {"score","reasons"} (worker/publication/match.h), or NULL when nothing could be compared. request: as
 * received. New reference. */
json_t *ing_artifact_match_json(const struct ing_artifact *a, const json_t *request);
