/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * plan.h - requests that are to be put onto a topic, in numbered batches (enqueue_plan, enqueue_batch,
 * document_queued).
 *
 * Planning is part of a database transaction of the caller's; sending (worker/ctl) takes batches in the order of their
 * numbers and commits each number in the Kafka transaction that has its messages. So what is committed here will be
 * sent once, whatever breaks. A writer borrows its connection. One thread.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/base/error.h"
#include "common/data/pg.h"

#define ING_PLAN_BATCH_REQUESTS 1000

struct ing_plan_writer;

/* Inside a transaction of pg's. The plan is made if there is none of this name. Error: -ING_FAIL_INVALID: it is for
 * another topic and has batches that are not sent; else as the server says. */
int ing_plan_writer_open(struct ing_pg *pg, const char *name, const char *topic,
	struct ing_plan_writer **ret, struct ing_error *err) ING_MUST_CHECK;
/* A message, copied; the caller has ordered them, and left out documents that were queued. document: UUID. */
int ing_plan_writer_add(struct ing_plan_writer *w, const char *document, const char *line,
	size_t bytes, struct ing_error *err) ING_MUST_CHECK;
/* Write what is left, number the batches, and mark the documents as queued: the last statements before the caller's COMMIT,
 * since from here on other writers of this plan wait. */
int ing_plan_writer_end(struct ing_plan_writer *w, struct ing_error *err) ING_MUST_CHECK;
void ing_plan_writer_free(struct ing_plan_writer *w); /* NULL is fine */
