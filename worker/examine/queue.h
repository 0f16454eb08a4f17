/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * queue.h - which document an examiner gets next. Pure: times are passed in, nothing is called
 * back. Any thread, one at a time.
 *
 * Documents wait in a queue per owner: the registered domain of their URL. Scheduling is by the
 * examiner time that owners have used:
 *
 * - Start-time fair queueing. An owner's tag is the examiner time it has used, including that of
 *   its running documents, on a virtual clock that advances by cost / active owners. The owner with
 *   the lowest tag is next. A new owner starts at the clock, so it is served before owners that
 *   have had more than their share; an excess is forgiven as the clock advances.
 * - Foreground and background. A document that costs half its limit, crashes, is preempted, or is
 *   cancelled after its slice adds 1 to its owner's penalty; any other takes 1 away. From
 *   ING_EXAM_PENALTY_LIMIT on the owner is penalised: all its documents are background. So is a
 *   document that has run for longer than its slice. Background documents run when no foreground
 *   document waits, and one of them for every ING_EXAM_BACKGROUND_SHARE limits of time that the
 *   foreground has had, so that they are not starved. They never get the last examiner, if there
 *   are two or more.
 * - No owner gets the last examiner while another one waits, if there are two or more.
 * - Preemption. When no examiner is free, more than half of them run background documents and a
 *   foreground document of another owner waits, the background document that was started last is
 *   preempted: its examiner is killed, it waits in the background, and is not preempted again.
 *
 * So a document of an owner without penalty waits for one slice of each such owner before it, not
 * for what any document costs beyond its slice. With one examiner it may have to wait for one
 * document more, of one limit.
 *
 * Owners are remembered while they have documents here, and with a penalty or a debt for
 * ING_EXAM_FORGET_MS more, ING_EXAM_OWNERS of these at most.
 *
 * Worst cases (queue_test prints them). One hostile domain: documents of others wait for 1 s at
 * most. 200 hostile domains whose documents came first: up to 270 s with two examiners, 65 s with
 * eight, and nothing once the 200 are penalised. Beyond some 400 new hostile domains in ten minutes
 * (two examiners), documents of others expire as well. An honest owner of slow documents is treated
 * alike while others wait.
 *
 * An entry is waiting, running, or out of the queue.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ING_EXAM_PENALTY_LIMIT 2     /* one bad document is an accident */
#define ING_EXAM_MAX_PENALTY 4       /* three good documents are enough to come back */
#define ING_EXAM_BACKGROUND_SHARE 16 /* limits for one background document: 6 % of the time */
#define ING_EXAM_FORGET_MS 600000u
#define ING_EXAM_OWNERS 10000u /* of 200 bytes each */
#define ING_EXAM_NEVER UINT64_MAX

struct ing_exam_queue;
struct ing_exam_owner;

struct ing_exam_queue_conf {
	unsigned examiners;
	unsigned limit_ms;    /* after which a document is killed */
	unsigned slice_ms;    /* after which it is background; 0: never, nothing is preempted */
	unsigned max_wait_ms; /* for an examiner */
	unsigned capacity;    /* of waiting documents: see ing_exam_queue_has_room() */
};

/* A document. Embedded in the caller's record of it; zero-initialise. */
struct ing_exam_entry {
	struct ing_exam_entry *prev, *next;     /* of its owner, or of those that run */
	struct ing_exam_entry *older, *younger; /* of all that wait */
	struct ing_exam_owner *owner;           /* NULL: it is out of the queue */
	uint64_t since_ms;                      /* when it began to wait, or was started */
	bool at_work;
	bool background;  /* it was background when it was started */
	bool interrupted; /* it has been preempted once */
};

struct ing_exam_queue *ing_exam_queue_new(const struct ing_exam_queue_conf *conf);
void ing_exam_queue_free(struct ing_exam_queue *q); /* NULL is fine; no entry is left in it */

/* An entry that is out of the queue begins to wait. owner is copied. */
void ing_exam_queue_push(
	struct ing_exam_queue *q, struct ing_exam_entry *entry, const char *owner, uint64_t now_ms);
/* Start the next document on a free examiner. Returns its entry, which runs from now on, or NULL
 * when none may be started. */
struct ing_exam_entry *ing_exam_queue_start(struct ing_exam_queue *q, uint64_t now_ms);
/* A running entry has ended and leaves the queue. bad: it crashed, or was killed at its limit. */
void ing_exam_queue_finish(
	struct ing_exam_queue *q, struct ing_exam_entry *entry, bool bad, uint64_t now_ms);
/* A running entry waits again, first of its owner's, at no cost: its examiner was lost through no
 * fault of the document. */
void ing_exam_queue_requeue(
	struct ing_exam_queue *q, struct ing_exam_entry *entry, uint64_t now_ms);
/* Take an entry out of the queue, whatever its state. */
void ing_exam_queue_remove(struct ing_exam_queue *q, struct ing_exam_entry *entry, uint64_t now_ms);
/* Take any entry out of the queue; NULL when it is empty. For shutting down. */
struct ing_exam_entry *ing_exam_queue_drain(struct ing_exam_queue *q);

/* The running entry to preempt now, or NULL. It waits from now on; the caller kills its examiner. */
struct ing_exam_entry *ing_exam_queue_preempt(struct ing_exam_queue *q, uint64_t now_ms);
/* Take an entry that has waited for max_wait_ms out of the queue; NULL when there is none. */
struct ing_exam_entry *ing_exam_queue_expire(struct ing_exam_queue *q, uint64_t now_ms);
/* The time at which ing_exam_queue_preempt() or _expire() may next return an entry, or
 * ING_EXAM_NEVER: not before something else changes. */
uint64_t ing_exam_queue_next_ms(const struct ing_exam_queue *q, uint64_t now_ms);

/* Whether a further document of this owner should be fetched. The first that waits: always, so that
 * nobody can use up the capacity before others come. More: while half of the capacity is free; then
 * up to 1/64 of it, at least two, while any is free. A penalised owner may have two, and none while
 * background documents wait in half of the capacity. */
bool ing_exam_queue_has_room(const struct ing_exam_queue *q, const char *owner);
/* Whether a further document of any owner should: then nobody needs to find out whose it is. */
bool ing_exam_queue_has_room_for_all(const struct ing_exam_queue *q);
/* Whether nothing more should be fetched at all: foreground documents wait for twice the capacity,
 * or all documents for four times. */
bool ing_exam_queue_is_full(const struct ing_exam_queue *q);

struct ing_exam_queue_stats {
	unsigned waiting, waiting_background, at_work; /* gauges */
	unsigned owners, owners_penalised;             /* remembered; gauges */
	uint64_t interrupted;                          /* preemptions */
};
void ing_exam_queue_stats(const struct ing_exam_queue *q, struct ing_exam_queue_stats *ret);
