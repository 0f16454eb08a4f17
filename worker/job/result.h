/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * result.h - the messages and rows of a finished job (schemas/ingest-result.schema.json,
 * schemas/pdf-text.schema.json, schemas/sql). Order of calls: side messages, ing_result_kept_rows(), result,
 * rows; each may change the status of the job or of its facts, which the next ones report. Values are heap
 * strings, *ret_bytes is their length.
 */
#pragma once
#include "common/data/json.h"
#include "worker/job/job.h"
#include "worker/model/rows.h"

/* The result as one line of JSON of at most max_bytes. kept: of ing_result_kept_rows(), or empty. Parts that it can do without are left out as
 * needed (ing_artifact_shrink_result()); if that is not enough, the status of the job becomes
 * result-too-large and the result the shortest one (result_short.h). */
char *ing_result_json(
	struct ing_job *job, const struct ing_rows *kept, size_t max_bytes, size_t *ret_bytes);

/* The document's CDX fields, for its side messages; a new reference. NULL: there is no document that could
 * have such messages. */
json_t *ing_result_source(const struct ing_work *w);
/* The message with what was derived of the document (struct ing_artifact_facts). source: borrowed, not
 * NULL. Returns NULL when there is none or it would be larger than max_bytes. */
char *ing_result_side_message(struct ing_job *job, enum ing_derived_kind kind, json_t *source,
	size_t max_bytes, size_t *ret_bytes);

/* `webpage` of the result, whole, a new reference; NULL: it has none. */
json_t *ing_result_webpage(const struct ing_work *w);
/* All rows but those of ing_result_kept_rows(). Strings in the rows are the job's. */
void ing_result_rows(struct ing_job *job, struct ing_rows *ret);
/* Those of the answers alone. */
void ing_result_capture_rows(struct ing_job *job, struct ing_rows *ret);

/* For struct ing_deliver_stages: a parked request was refused, and gets a result of status
 * host-backoff instead. ctx: NULL. */
void ing_result_answer_parked(void *ctx, struct ing_arena *ar,
	const struct ing_output_message *parked, size_t max_value_bytes,
	struct ing_output_message *ret);
