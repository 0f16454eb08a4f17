/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * result.h - a finished job as the JSON and the rows that leave the worker
 * (schemas/ingest-result.schema.json, schemas/pdf-text.schema.json, schemas/sql). Pure: reads the
 * job, changes nothing but its status, its arena and the PDF's status.
 */
#pragma once
#include "worker/job/job.h"
#include "worker/model/rows.h"

/* The result as one line of JSON, at most max_bytes. When it does not fit, the PDF's XMP and Info
 * go first, then the pages' references, abstract and whole bibliographic record; if that is not
 * enough the status becomes result-too-large and the echoed request shrinks to its identity. Heap;
 * *ret_bytes its length. */
char *ing_result_json(struct ing_job *job, size_t max_bytes, size_t *ret_bytes);

/* The least that can be said of a job: status result-too-large, the request's identity, cut until
 * the whole has at most max_bytes (or nothing of it is left). The job stays as it is. Heap. */
char *ing_result_shortest(const struct ing_job *job, size_t max_bytes, size_t *ret_bytes);

/* The message beside the result, of a type that has one (struct ing_artifact_facts), or NULL when
 * there is nothing to send or it is over max_bytes, which the facts say then. Takes what only the
 * message has. Call before ing_result_json(). Heap. */
char *ing_result_side_message(struct ing_job *job, size_t max_bytes, size_t *ret_bytes);

/* The rows of the tables. Strings are the job's. */
void ing_result_rows(struct ing_job *job, struct ing_rows *ret);
