/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * result_kept.h - what is kept of publications and web pages from one request to the next: their rows, and
 * the question for them. Pure.
 */
#pragma once
#include "worker/job/job.h"
#include "worker/model/rows.h"

/* Of a finished job, before its result is written, which may have to leave parts out. Strings are in the arena: that
 * of the delivery, because records may be megabytes. */
void ing_result_kept_rows(struct ing_job *job, struct ing_arena *ar, struct ing_rows *ret);
