/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * run_done.h - which requests of an input have their result in the folder of a run already: for
 * --resume.
 *
 * A request is known by its identity (ingest_type, base_url, link_source, link_source_id, as the
 * results have them), and counted: one that stands twice in the input is done when it has two
 * results. So it matters neither in which order results were written nor where an input was
 * interrupted. A line that was unreadable is known by its bytes, from the dead letters. 20 bytes of
 * memory for each. One thread; reading the folder blocks.
 */
#pragma once
#include <stdbool.h>
#include "common/base/error.h"

struct ing_run_done;

enum ing_run_was {
	ING_RUN_NEW,
	ING_RUN_HAS_RESULT,
	ING_RUN_WAS_BAD, /* unreadable, and is among the dead letters */
};

#define ING_RUN_IDENTITY_BYTES 20

struct json_t;
/* A digest of a request's identity. */
void ing_run_identify(const struct json_t *request, unsigned char ret[ING_RUN_IDENTITY_BYTES]);

/* Reads DIR/results.jsonl and DIR/dead-letters.jsonl, which may be missing and must end with whole
 * lines; each result is handed over (each NULL: to nobody). -SYSTEM: a file cannot be read. */
typedef void ing_run_result_f(void *ctx, const struct json_t *result);
int ing_run_done_load(const char *dir, ing_run_result_f *each, void *ctx, struct ing_run_done **ret,
	struct ing_error *err) ING_MUST_CHECK;
void ing_run_done_free(struct ing_run_done *d); /* NULL is fine */
/* Results that were found, and lines of results.jsonl that are no results of requests. */
size_t ing_run_done_results(const struct ing_run_done *d);
size_t ing_run_done_strange(const struct ing_run_done *d);
/* What became of a line of the input before. What was found is taken: the next line that is the
 * same needs a result of its own. *err says what is wrong with one that WAS_BAD. */
enum ing_run_was ing_run_done_take(
	struct ing_run_done *d, const char *line, size_t bytes, struct ing_error *err);
