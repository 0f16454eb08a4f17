/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * queue.h - which document an examiner takes next. Pure: times are handed in, nobody is called.
 * Any thread, one at a time.
 *
 * Documents wait in queues of their owners (the registered domain they come from, or whatever the
 * caller takes for one). Who is next is decided by the examiner time that owners have used:
 *
 * - Start-time fair queueing. An owner's tag is the examiner time it has used, documents at work
 *   included, on a virtual clock that goes by cost / owners that are waiting or at work. The least
 *   tag is next. A newcomer starts at the clock, so it comes before whoever has had more than his
 *   share; what an owner has had above it fades as the clock goes on.
 * - Late documents come after all others. Late are the documents of a marked owner: each one that
 *   costs half its limit, crashes, had to give way or was called off past its slice is a mark, each
 *   other one takes a mark away, and from ING_EXAM_PENALTY_LIMIT on all that comes from there is late. A
 * document is late itself once it has been at work for the slice. Late ones are served when no
 * other document waits, and one of them for every ING_EXAM_BACKGROUND_SHARE limits of time that others
 * have had, so that they are not starved for ever. Late ones are never given the last examiner, if
 * there are two or more.
 * - No owner has the last examiner while another one waits, if there are two or more.
 * - When no examiner is free, more than half of them have late documents, and one that is not late
 *   waits, the late one that was taken last gives way: it is killed, waits among the late ones, and
 *   is not interrupted again. Not for a document of the same owner.
 *
 * So a document of an owner without marks waits for the slices of the unmarked owners before it, a
 * document each, and not for what theirs or anybody's documents cost beyond. With one examiner it
 * may have to wait for one document more, of one limit.
 *
 * Owners are remembered while they have documents here, and with marks or a debt for
 * ING_EXAM_FORGET_MS more, ING_EXAM_OWNERS of these at most.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ING_EXAM_PENALTY_LIMIT 2     /* one bad document is an accident */
#define ING_EXAM_MAX_PENALTY 4       /* so that three good ones are enough to come back */
#define ING_EXAM_BACKGROUND_SHARE 16 /* limits for one late document: 6 % of the time at most */
#define ING_EXAM_FORGET_MS 600000u
#define ING_EXAM_OWNERS 10000u /* of 200 bytes each */
#define ING_EXAM_NEVER UINT64_MAX

struct ing_exam_queue;
struct ing_exam_owner;

struct ing_exam_queue_conf {
	unsigned examiners;
	unsigned limit_ms;    /* after which a document is killed */
	unsigned slice_ms;    /* after which it is late; 0: never, nothing gives way */
	unsigned max_wait_ms; /* for an examiner */
	unsigned capacity;    /* for waiting documents: see ing_exam_queue_has_room() */
};

/* A document. Embedded in what it stands for; zero-initialise. */
struct ing_exam_entry {
	struct ing_exam_entry *prev, *next;     /* among its owner's, or those at work */
	struct ing_exam_entry *older, *younger; /* of all that wait */
	struct ing_exam_owner *owner;           /* NULL: it is out of the queue */
	uint64_t since_ms;                      /* when it began to wait, or was taken */
	bool at_work;
	bool background;  /* it was late when it was taken */
	bool interrupted; /* it has given way once */
};

struct ing_exam_queue *ing_exam_queue_new(const struct ing_exam_queue_conf *conf);
void ing_exam_queue_free(struct ing_exam_queue *q); /* NULL is fine; all capacity are out */

/* A entry that is out begins to wait. owner is copied. */
void ing_exam_queue_push(
	struct ing_exam_queue *q, struct ing_exam_entry *entry, const char *owner, uint64_t now_ms);
/* An examiner is free: the entry that it is for, at work from now; or NULL. */
struct ing_exam_entry *ing_exam_queue_start(struct ing_exam_queue *q, uint64_t now_ms);
/* A entry at work comes to its end, and out. bad: it crashed, or was killed at its limit. */
void ing_exam_queue_finish(
	struct ing_exam_queue *q, struct ing_exam_entry *entry, bool bad, uint64_t now_ms);
/* A entry at work waits again, as the first of its owner, and for nothing: its examiner was lost
 * through no fault of its own. */
void ing_exam_queue_requeue(
	struct ing_exam_queue *q, struct ing_exam_entry *entry, uint64_t now_ms);
/* Out, from wherever it is: nobody wants it any more. Harmless when out. */
void ing_exam_queue_remove(struct ing_exam_queue *q, struct ing_exam_entry *entry, uint64_t now_ms);
/* Any entry, out of the queue; NULL: there is none. For the end of everything. */
struct ing_exam_entry *ing_exam_queue_drain(struct ing_exam_queue *q);

/* No examiner is free: the entry at work that gives way now, as said above, or NULL. It waits from
 * now on, among the late; kill its examiner. */
struct ing_exam_entry *ing_exam_queue_preempt(struct ing_exam_queue *q, uint64_t now_ms);
/* A entry that has waited for max_wait_ms, out of the queue now; or NULL. */
struct ing_exam_entry *ing_exam_queue_expire(struct ing_exam_queue *q, uint64_t now_ms);
/* When ing_exam_queue_preempt() or _expire() may next have one, ING_EXAM_NEVER: not before
 * something else changes. */
uint64_t ing_exam_queue_next_ms(const struct ing_exam_queue *q, uint64_t now_ms);

/* Whether a further document of this owner should be fetched. The first that waits always, so that
 * nobody can take all capacity before others come; more as long as half of the capacity are free; then
 * a 64th of them, two at least, while any is. A marked owner may have two, and none while half as
 * many late documents wait as there are capacity. */
bool ing_exam_queue_has_room(const struct ing_exam_queue *q, const char *owner);
/* Nothing more should be fetched at all: twice as many documents wait as there are capacity, late
 * ones left out, or four times as many with them. */
bool ing_exam_queue_is_full(const struct ing_exam_queue *q);

struct ing_exam_queue_stats { /* gauges, but for the last */
	unsigned waiting, waiting_background, at_work;
	unsigned owners, owners_penalised; /* remembered; late, of them */
	uint64_t interrupted;
};
void ing_exam_queue_stats(const struct ing_exam_queue *q, struct ing_exam_queue_stats *ret);
