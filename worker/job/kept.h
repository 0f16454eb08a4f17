/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * kept.h - publications and web pages that are kept (worker/publication/kept): what the tables are asked
 * before one is fetched, and what is told of an answer. Rows: result_kept.h. Pure but for the clock; strings
 * are the arena's.
 */
#pragma once
#include <stdbool.h>
#include "common/data/json.h"

struct ing_arena;
struct ing_lookup_kept;
struct ing_pipeline;
struct ing_request;
struct ing_rows;

/* Requests of this type are answered from what is kept, unless they say that they want none of it. */
bool ing_job_asks_kept(const struct ing_request *request);
/* Fill in the question for a request. False: it cannot be known by its keys. */
bool ing_job_kept_question(const struct ing_pipeline *p, const struct ing_request *request,
	struct ing_arena *ar, struct ing_lookup_kept *ret);
/* What is kept, in the fields of a result that was fetched. */
void ing_job_add_kept(const struct ing_rows *rows, json_t *result);
