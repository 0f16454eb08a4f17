/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * plan.h - requests that are to be put onto a topic, in numbered batches (enqueue_plan, enqueue_batch,
 * document_queued): the writing of them. plan_batches.h has the reading.
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

/* Errors of all that ask the server: -ING_FAIL_BUSY: deadlock or a lock's limit, the transaction may be repeated;
 * -ING_FAIL_UNAVAILABLE and -ING_FAIL_TIMEOUT: as the message says. */

/* Inside a transaction of pg's (READ COMMITTED, as is usual), before the statement that reads which requests to add:
 * a document that another transaction queues after this call is left out at the end. Before it the caller looks itself.
 * The plan is made if there is none of this name. -ING_FAIL_INVALID: it is for another topic and
 * has batches that are not sent. */
int ing_plan_writer_open(struct ing_pg *pg, const char *name, const char *topic,
	struct ing_plan_writer **ret, struct ing_error *err) ING_MUST_CHECK;
/* The caller's words for what is planned, kept in the plan (enqueue_plan.asked) if anything is; NULL, as without this call: none. Borrowed. */
void ing_plan_writer_ask(struct ing_plan_writer *w, const char *asked);
/* A message, copied into memory, in the order in which they are to be sent. No statement is executed. document: UUID. -ING_FAIL_INVALID:
 * the line has an end of line or a NUL in it. */
int ing_plan_writer_add(struct ing_plan_writer *w, const char *document, const char *line,
	size_t bytes, struct ing_error *err) ING_MUST_CHECK;
/* Write the batches that are full, and free their memory; nothing when there is none. Any time between statements. */
int ing_plan_writer_flush(struct ing_plan_writer *w, struct ing_error *err) ING_MUST_CHECK;
/* Write what is left, mark the documents as queued, and number the batches: the last statement before the caller's COMMIT,
 * since from here on other writers of this plan wait. *ret_requests: how many are left when those are out that another
 * transaction has queued meanwhile, or that have been added with the same document before. */
int ing_plan_writer_end(
	struct ing_plan_writer *w, uint64_t *ret_requests, struct ing_error *err) ING_MUST_CHECK;
void ing_plan_writer_free(struct ing_plan_writer *w); /* NULL is fine */
