/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * result_resources.h - a page's sub-resources as members of its result, and as the column of its row
 * (schemas/ingest-result.schema.json). Pure.
 */
#pragma once
#include "common/data/json.h"
#include "worker/job/resource.h"

/* html_resources: one entry each, in document order. Returns a new reference. */
json_t *ing_resources_json(const struct ing_job_resources *rs);
/* html_resources and what it does not tell: how many there are, which were not listed and why. */
void ing_resources_add(const struct ing_job_resources *rs, json_t *result);
/* Remove the list from a result that is too large; its counts say so. Returns false without one. */
bool ing_resources_shrink(json_t *result);
