/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * run_folder.h - the folder of a run (--out DIR): one run at a time, whole lines, an index that is
 * sorted at the end.
 *
 * Owns: DIR/.lock, and the descriptors of DIR/results.jsonl and DIR/index.cdx. The other files are
 * opened by the stages that write them. One thread.
 */
#pragma once
#include <stdbool.h>
#include "common/base/error.h"

struct ing_cdx;

struct ing_run_folder;

/* Makes DIR if need be, locks it, cuts off lines that a crash has left half-written, opens the
 * files for appending. -LOCKED: another run is using it. */
int ing_run_folder_open(
	const char *dir, struct ing_run_folder **ret, struct ing_error *err) ING_MUST_CHECK;
/* results.jsonl; the folder's to close. */
int ing_run_folder_results_fd(const struct ing_run_folder *f);
/* Whether results.jsonl was empty, or not there, when the folder was opened. */
bool ing_run_folder_is_new(const struct ing_run_folder *f);
int ing_run_folder_add_row(
	struct ing_run_folder *f, const struct ing_cdx *row, struct ing_error *err) ING_MUST_CHECK;
/* Closes index.cdx and sorts it. Nothing is added any more. */
int ing_run_folder_finish(struct ing_run_folder *f, struct ing_error *err) ING_MUST_CHECK;
/* Lets go of the lock, last of all. NULL is fine. */
void ing_run_folder_free(struct ing_run_folder *f);
