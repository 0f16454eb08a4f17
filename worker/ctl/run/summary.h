/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * run_summary.h - DIR/summary.json: what a run has come to, its folder's earlier runs included
 * (schemas/run-summary.schema.json).
 *
 * Results are counted as they are written; those of earlier runs are read from results.jsonl before. The file is
 * replaced whole. Owns its counters, about 150 bytes for each host. Loop thread.
 */
#pragma once
#include <stdbool.h>
#include "common/base/error.h"
#include "worker/ctl/run/progress.h"

struct ing_metrics;
struct ing_result_facts;
struct ing_run_summary;
struct json_t;

enum ing_summary_state {
	ING_SUMMARY_RUNNING, /* or killed */
	ING_SUMMARY_COMPLETE,
	ING_SUMMARY_INTERRUPTED,
	ING_SUMMARY_FAILED, /* not by its requests */
};

/* Reads the times of an earlier summary. dir and warc_dir are copied. */
struct ing_run_summary *ing_run_summary_new(const char *dir, const char *warc_dir);
void ing_run_summary_free(struct ing_run_summary *s); /* NULL is fine */
/* A line of results.jsonl of an earlier run. */
void ing_run_summary_add_earlier(struct ing_run_summary *s, const struct json_t *result);
void ing_run_summary_add(
	struct ing_run_summary *s, const char *status, const struct ing_result_facts *facts);
/* counts and metrics: of this run, as they are now. Error: as ing_replace_file(). NULL is fine, and
 * writes nothing. */
int ing_run_summary_write(struct ing_run_summary *s, enum ing_summary_state state,
	const struct ing_run_counts *counts, const struct ing_metrics *metrics,
	struct ing_error *err) ING_MUST_CHECK;
