/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * reingest_jobs.h - re-ingest jobs as data: which requests are asked again, how many, and by which lane (deploy/reingest.yaml).
 *
 * A set owns all texts of its jobs. One thread.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "worker/store/requests/selection.h"

struct ing_report;

#define ING_REINGEST_NAME_BYTES 101

struct ing_reingest_job {
	const char *name;
	int line;          /* in its file */
	const char *about; /* NULL: not said */
	struct ing_selection selection;
	const char *lane; /* NULL: the topic of requests */
	uint64_t max_lag; /* 0: no limit */
	bool force_recrawl;
	const char *asked; /* all of it in words: a job that has been changed is another */
};

struct ing_reingest_jobs;

/* All that is wrong goes to the report, with its position. NULL then. */
struct ing_reingest_jobs *ing_reingest_jobs_load(const char *path, struct ing_report *report);
/* The same from memory; name: of the file, for messages. */
struct ing_reingest_jobs *ing_reingest_jobs_parse(
	const char *name, const char *text, size_t bytes, struct ing_report *report);
void ing_reingest_jobs_free(struct ing_reingest_jobs *jobs); /* NULL is fine */

size_t ing_reingest_jobs_count(const struct ing_reingest_jobs *jobs);
/* In the order of the file, i below the count. */
const struct ing_reingest_job *ing_reingest_jobs_get(
	const struct ing_reingest_jobs *jobs, size_t i);
const struct ing_reingest_job *ing_reingest_jobs_find(
	const struct ing_reingest_jobs *jobs, const char *name); /* NULL: none */
