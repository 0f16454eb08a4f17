/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * stages.h - stages that keep what they are given until the test lets them call back, oldest first.
 *
 * They define the functions of fetch, archive, pool, store, emit and intake which the pipeline
 * calls, and so take the place of the libraries that have them. One thread.
 */
#pragma once
#include <stdbool.h>
#include <uv.h>
#include "worker/intake/intake.h"

/* A pointer for the stages' handles, which nobody here looks into. */
#define FAKE_STAGE ((void *)&fake)
#define FAKE_PENDING 1024

struct fake_list {
	void *items[FAKE_PENDING];
	size_t count;
};

struct fake {
	struct fake_list fetches, exams, archived, stored, emitted; /* callbacks owed */
	bool blocked;                                               /* the database */
	bool paused;                                                /* intake, by the pipeline */
	int finished;                                               /* tokens */
	struct ing_token last_finished;
	char *last_result;  /* put to the results topic */
	unsigned last_want; /* of an examiner */
};

extern struct fake fake;

void fake_reset(void);
/* Each ends the oldest of its kind. location NULL: a body of ten bytes. */
void fake_fetch_done(int http_status, const char *location);
void fake_exam_done_page(const char *next_url); /* an HTML page; NULL: without a link */
void fake_exam_done_pdf(const char *text);
struct ing_findings;
void fake_exam_done(struct ing_findings *f, const char *mimetype); /* f lacks the file's facts */
void fake_archive_done(void);
void fake_store_done(void);
void fake_emit_done(bool ok);
