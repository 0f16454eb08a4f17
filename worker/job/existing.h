/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * existing.h - requests that are answered from the tables, without being fetched: which, and with
 * what. Pure.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "common/data/json.h"
#include "worker/model/lane.h"

struct ing_artifact_type;
struct ing_earlier_result;
struct ing_job_settings;
struct ing_request;

/* How old a result may be that answers the request; 0: it has to be fetched. */
uint64_t ing_existing_max_age_ms(
	const struct ing_job_settings *s, const struct ing_request *r, enum ing_lane lane);
/* Does a result of max_age_ms at most answer? A failure only while it is not worth trying again. */
bool ing_existing_counts(const struct ing_earlier_result *earlier, uint64_t max_age_ms);
/* Add to the result what its rows say, in the fields of a result that was fetched, and `existing`:
 * what status the earlier request ended with, and when. */
void ing_existing_add(const struct ing_earlier_result *earlier,
	const struct ing_artifact_type *type, json_t *result);
