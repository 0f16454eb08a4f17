/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * reexamine_work.h - documents read back, looked into, and written: from the first page of rows to the last
 * commit.
 *
 * Documents are begun in the order of their digests, a few at a time; those behind the oldest unfinished
 * one may be finished already. `done_upto` is behind all that is finished without a gap: what a later run
 * goes on after. Memory is bounded: a page or two of rows, as many bodies as examiners and some more, and
 * what waits for stores.
 *
 * Owns: the stages and the reader of rows. Thread: the main one, which becomes the loop's; files are read
 * by threads of libuv.
 */
#pragma once
#include "worker/ctl/reexamine/reexamine.h"
#include "worker/ctl/reexamine/rows.h"
#include "worker/ctl/reexamine/stages.h"

struct ing_conf;
struct ing_reexamine_compare;
struct ing_reexamine_item;

/* What a document was skipped for. */
struct ing_reexamine_problem {
	const char *name; /* static: "warc-missing", "digest-differs", a status … */
	const char *words;
	const struct ing_row_cdx *capture; /* or NULL */
	bool read_elsewhere;               /* another capture served; it is not skipped */
};

struct ing_reexamine_work {
	/* The caller's, who sets them. */
	const struct ing_conf *conf;
	const struct ing_reexamine_task *task;
	void (*on_problem)(void *ctx, const struct ing_reexamine_document *d,
		const struct ing_reexamine_problem *problem);
	/* Often: for progress and checkpoints. */
	void (*on_tick)(void *ctx);
	void *ctx;

	/* To be read. */
	struct ing_reexamine_counts counts;
	char done_upto[41];
	size_t running;   /* begun, not finished */
	bool finished;    /* all of it */
	bool interrupted; /* by a signal */
	bool failed;      /* and error says why */
	struct ing_error error;

	/* Ours. */
	struct ing_reexamine_stages stages;
	struct ing_reexamine_compare *compare; /* of pages; else NULL */
	struct ing_reexamine_rows *rows;
	struct ing_reexamine_item *items, *next; /* all, in order; the first that is not begun */
	size_t item_count, bodies_bytes;
	uint64_t begun;
	char scanned_upto[41];
	bool asked, scanned_all, pumping;
	bool grobid_away;
	uint64_t stop_by_ms, wake_ms;
	uv_timer_t tick;
	uv_signal_t on_term, on_int;
};

/* Connects everything. ing_reexamine_work_close() is due whatever it returns. */
int ing_reexamine_work_open(struct ing_reexamine_work *w, struct ing_error *err) ING_MUST_CHECK;
/* Returns when all is done, or after a signal, when what was begun is, or stop.drain_ms has passed: with
 * `running` documents left, after which the process must end. A second signal ends it at once. */
void ing_reexamine_work_do(struct ing_reexamine_work *w);
void ing_reexamine_work_close(struct ing_reexamine_work *w);
/* What it waits for, or NULL. */
const char *ing_reexamine_work_blocked_by(const struct ing_reexamine_work *w);
