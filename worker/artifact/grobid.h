/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * grobid.h - what GROBID says of a PDF, in its result, its row and its message. For the types whose
 * documents may be PDFs (pdf.c). Pure functions; any thread.
 */
#pragma once
#include "worker/artifact/artifact.h"

/* Nothing is added when GROBID was not asked. */
void ing_artifact_grobid_add_to_result(const struct ing_artifact *a, json_t *result);
/* Remove the metadata. Returns false when there are none. */
bool ing_artifact_grobid_shrink(json_t *result);
/* No row when it is that of an earlier request. */
void ing_artifact_grobid_fill_row(
	const struct ing_artifact *a, struct ing_arena *ar, struct ing_rows *rows);
void ing_artifact_grobid_add_earlier(const struct ing_rows *rows, json_t *result);
/* As struct ing_artifact_facts.message, also of a failure; but an answer that does not fit is in the
 * object store alone, and the facts stay. NULL too when they are those of an earlier request. */
char *ing_artifact_grobid_message(
	struct ing_artifact *a, json_t *source, size_t max_bytes, size_t *ret_bytes);
