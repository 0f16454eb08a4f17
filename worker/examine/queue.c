/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The lists are short, since ing_exam_queue_is_full() bounds the documents and an owner is listed
 * only while it has documents or something to remember; so they are walked, not sorted.
 *
 * An owner's running documents count with what they have cost so far. Otherwise one owner could
 * take every examiner before its first document has ended and been charged.
 */
#include "worker/examine/queue.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "common/base/hash.h"
#include "common/base/macros.h"

#define MIN_COST_MS 1u /* nothing is free: a fork, a crash */
/* With hundreds of owners each one's share of time is small: a larger debt would be a ban. An
 * owner that keeps running one up is penalised. */
#define MAX_DEBT_SLICES 4u
#define SHARE_OF_CAPACITY 64u
#define MIN_SHARE 2u
#define PENALISED_SHARE 2u
#define MAX_FACTOR 2u
#define MAX_FACTOR_WITH_BACKGROUND 4u

struct ing_exam_owner {
	UT_hash_handle hh;
	struct ing_exam_owner *prev, *next;         /* active, or idle */
	struct ing_exam_entry *fresh, *interrupted; /* waiting, oldest first */
	unsigned waiting, waiting_interrupted;      /* both lists; the second alone */
	unsigned at_work;
	uint64_t started_ms; /* sum of those at work */
	uint64_t tag_us;
	uint64_t idle_ms; /* since when, while idle */
	unsigned penalty;
	char key[];
};

struct ing_exam_queue {
	struct ing_exam_queue_conf conf;
	struct ing_exam_owner *owners; /* by key */
	struct ing_exam_owner *active; /* with documents: served longest ago first */
	struct ing_exam_owner *idle;   /* with something to remember; idle for longest first */
	unsigned active_count, idle_count, penalised_count;
	struct ing_exam_entry *oldest;  /* of all that wait */
	struct ing_exam_entry *at_work; /* running, started first comes first */
	unsigned at_work_count;
	unsigned waiting, waiting_background;
	uint64_t clock_us;  /* virtual */
	uint64_t credit_ms; /* foreground time since a background document was started before it */
	uint64_t interrupted;
};

/* --- owners --- */

static bool is_penalised(const struct ing_exam_owner *o)
{
	return o->penalty >= ING_EXAM_PENALTY_LIMIT;
}

static unsigned waiting_background(const struct ing_exam_owner *o)
{
	return is_penalised(o) ? o->waiting : o->waiting_interrupted;
}

static void set_penalty(struct ing_exam_queue *q, struct ing_exam_owner *o, unsigned penalty)
{
	q->waiting_background -= waiting_background(o);
	q->penalised_count -= is_penalised(o);
	o->penalty = ING_MIN(penalty, ING_EXAM_MAX_PENALTY);
	q->penalised_count += is_penalised(o);
	q->waiting_background += waiting_background(o);
}

static struct ing_exam_owner *find_owner(const struct ing_exam_queue *q, const char *key)
{
	struct ing_exam_owner *o;
	HASH_FIND_STR(q->owners, key, o);
	return o;
}

static void forget(struct ing_exam_queue *q, struct ing_exam_owner *o)
{
	q->penalised_count -= is_penalised(o);
	HASH_DEL(q->owners, o);
	free(o);
}

static bool is_active(const struct ing_exam_owner *o)
{
	return o->waiting > 0 || o->at_work > 0;
}

static struct ing_exam_owner *activate_owner(struct ing_exam_queue *q, const char *key)
{
	struct ing_exam_owner *o = find_owner(q, key);
	if (o == NULL) {
		size_t bytes = strlen(key);
		o = ing_alloc(sizeof(*o) + bytes + 1);
		memcpy(o->key, key, bytes + 1);
		HASH_ADD_KEYPTR(hh, q->owners, o->key, bytes, o);
	} else if (is_active(o)) {
		return o;
	} else {
		DL_DELETE(q->idle, o);
		q->idle_count--;
	}
	o->tag_us = ING_MAX(o->tag_us, q->clock_us);
	DL_APPEND(q->active, o);
	q->active_count++;
	return o;
}

static void forget_idle(struct ing_exam_queue *q, uint64_t now_ms)
{
	while (q->idle != NULL && (q->idle_count > ING_EXAM_OWNERS ||
					  now_ms - q->idle->idle_ms >= ING_EXAM_FORGET_MS)) {
		struct ing_exam_owner *o = q->idle;
		DL_DELETE(q->idle, o);
		q->idle_count--;
		forget(q, o);
	}
}

/* Called when a document has left: an owner without documents is idle, or forgotten. */
static void deactivate_owner(struct ing_exam_queue *q, struct ing_exam_owner *o, uint64_t now_ms)
{
	if (is_active(o))
		return;
	DL_DELETE(q->active, o);
	q->active_count--;
	if (o->penalty == 0 && o->tag_us <= q->clock_us) {
		forget(q, o);
	} else {
		o->idle_ms = now_ms;
		DL_APPEND(q->idle, o);
		q->idle_count++;
	}
	forget_idle(q, now_ms);
}

static uint64_t slice_of(const struct ing_exam_queue *q)
{
	return q->conf.slice_ms > 0 ? q->conf.slice_ms : q->conf.limit_ms;
}

/* Its tag with what its running documents have cost so far. */
static uint64_t tag_now(const struct ing_exam_owner *o, uint64_t now_ms)
{
	uint64_t held_ms = o->at_work * now_ms - o->started_ms;
	return o->tag_us + 1000 * ING_MAX(held_ms, (uint64_t)o->at_work * MIN_COST_MS);
}

static void charge(struct ing_exam_queue *q, struct ing_exam_owner *o, uint64_t cost_ms)
{
	uint64_t cost_us = 1000 * ING_MAX(cost_ms, (uint64_t)MIN_COST_MS);
	uint64_t most_debt_us = 1000 * MAX_DEBT_SLICES * slice_of(q);
	q->clock_us += cost_us / q->active_count;
	o->tag_us = ING_MIN(o->tag_us + cost_us, q->clock_us + most_debt_us);
}

/* --- capacity --- */

static void begin_waiting(struct ing_exam_queue *q, struct ing_exam_entry *entry,
	struct ing_exam_owner *o, bool first, uint64_t now_ms)
{
	struct ing_exam_entry **list = entry->interrupted ? &o->interrupted : &o->fresh;
	entry->owner = o;
	entry->since_ms = now_ms;
	if (first)
		DL_PREPEND(*list, entry);
	else
		DL_APPEND(*list, entry);
	DL_APPEND2(q->oldest, entry, older, younger);
	q->waiting_background -= waiting_background(o);
	q->waiting++;
	o->waiting++;
	o->waiting_interrupted += entry->interrupted;
	q->waiting_background += waiting_background(o);
}

static void end_waiting(struct ing_exam_queue *q, struct ing_exam_entry *entry)
{
	struct ing_exam_owner *o = entry->owner;
	struct ing_exam_entry **list = entry->interrupted ? &o->interrupted : &o->fresh;
	DL_DELETE(*list, entry);
	DL_DELETE2(q->oldest, entry, older, younger);
	q->waiting_background -= waiting_background(o);
	q->waiting--;
	o->waiting--;
	o->waiting_interrupted -= entry->interrupted;
	q->waiting_background += waiting_background(o);
}

static void begin_work(struct ing_exam_queue *q, struct ing_exam_entry *entry, uint64_t now_ms)
{
	struct ing_exam_owner *o = entry->owner;
	entry->at_work = true;
	entry->background = is_penalised(o) || entry->interrupted;
	entry->since_ms = now_ms;
	o->at_work++;
	o->started_ms += now_ms;
	DL_APPEND(q->at_work, entry);
	q->at_work_count++;
	DL_DELETE(q->active, o);
	DL_APPEND(q->active, o);
}

/* Returns how long it has run, in ms. */
static uint64_t end_work(struct ing_exam_queue *q, struct ing_exam_entry *entry, uint64_t now_ms)
{
	struct ing_exam_owner *o = entry->owner;
	entry->at_work = false;
	DL_DELETE(q->at_work, entry);
	q->at_work_count--;
	o->at_work--;
	o->started_ms -= entry->since_ms;
	return now_ms - entry->since_ms;
}

/* End a run and charge its owner. Returns the cost in ms. */
static uint64_t end_paid_work(
	struct ing_exam_queue *q, struct ing_exam_entry *entry, uint64_t now_ms)
{
	uint64_t cost_ms = end_work(q, entry, now_ms);
	charge(q, entry->owner, cost_ms);
	if (!entry->background)
		q->credit_ms = ING_MIN(q->credit_ms + cost_ms,
			(uint64_t)ING_EXAM_BACKGROUND_SHARE * q->conf.limit_ms);
	return cost_ms;
}

static void detach(struct ing_exam_queue *q, struct ing_exam_entry *entry, uint64_t now_ms)
{
	struct ing_exam_owner *o = ING_TAKE(entry->owner);
	deactivate_owner(q, o, now_ms);
}

/* --- scheduling --- */

static unsigned all_but_one(const struct ing_exam_queue *q)
{
	return ING_MAX(q->conf.examiners, 2u) - 1;
}

static bool is_background(
	const struct ing_exam_queue *q, const struct ing_exam_entry *at_work, uint64_t now_ms)
{
	return at_work->background ||
	       (q->conf.slice_ms > 0 && now_ms - at_work->since_ms >= q->conf.slice_ms);
}

static unsigned background_at_work(const struct ing_exam_queue *q, uint64_t now_ms)
{
	unsigned count = 0;
	const struct ing_exam_entry *entry;
	DL_FOREACH (q->at_work, entry)
		count += is_background(q, entry, now_ms);
	return count;
}

/* An owner's first waiting background or foreground document, or NULL. */
static struct ing_exam_entry *first_of(const struct ing_exam_owner *o, bool background)
{
	if (!is_penalised(o))
		return background ? o->interrupted : o->fresh;
	if (!background)
		return NULL;
	return o->fresh != NULL ? o->fresh : o->interrupted;
}

/* The owner with the least tag; of equal ones, the one that was served longer ago. NULL: no
 * owner has such a document. */
static struct ing_exam_owner *least_tag(
	const struct ing_exam_queue *q, bool background, unsigned most_at_work, uint64_t now_ms)
{
	struct ing_exam_owner *best = NULL;
	uint64_t best_us = 0;
	struct ing_exam_owner *o;
	DL_FOREACH (q->active, o) {
		if (first_of(o, background) == NULL || o->at_work >= most_at_work)
			continue;
		uint64_t tag_us = tag_now(o, now_ms);
		if (best == NULL || tag_us < best_us) {
			best = o;
			best_us = tag_us;
		}
	}
	return best;
}

static struct ing_exam_owner *find_next(
	struct ing_exam_queue *q, uint64_t now_ms, bool *ret_background)
{
	struct ing_exam_owner *o = least_tag(q, false, all_but_one(q), now_ms);
	if (o == NULL)
		o = least_tag(q, false, UINT_MAX, now_ms); /* no other owner waits */
	*ret_background = false;
	bool its_turn = q->credit_ms >= (uint64_t)ING_EXAM_BACKGROUND_SHARE * q->conf.limit_ms;
	if (q->waiting_background == 0 || (o != NULL && !its_turn) ||
		background_at_work(q, now_ms) >= all_but_one(q))
		return o;
	*ret_background = true;
	if (o != NULL)
		q->credit_ms = 0;
	return least_tag(q, true, UINT_MAX, now_ms);
}

/* --- preemption --- */

/* Whether a foreground document of another owner than `but` waits. */
static bool others_wait(const struct ing_exam_queue *q, const struct ing_exam_owner *but)
{
	const struct ing_exam_owner *o;
	DL_FOREACH (q->active, o)
		if (o != but && first_of(o, false) != NULL)
			return true;
	return false;
}

static bool is_background_excessive(const struct ing_exam_queue *q, uint64_t now_ms)
{
	return q->at_work_count >= q->conf.examiners &&
	       background_at_work(q, now_ms) > q->conf.examiners / 2;
}

/* Background documents aside. */
static bool is_half_full(const struct ing_exam_queue *q)
{
	return q->waiting - q->waiting_background >= (q->conf.capacity + 1) / 2;
}

/* -------------------------------------------------------------------------------------------- */

struct ing_exam_queue *ing_exam_queue_new(const struct ing_exam_queue_conf *conf)
{
	ing_must(conf->examiners > 0 && conf->limit_ms > 0);
	struct ing_exam_queue *q = ing_alloc(sizeof(*q));
	q->conf = *conf;
	return q;
}

void ing_exam_queue_free(struct ing_exam_queue *q)
{
	struct ing_exam_owner *o;
	struct ing_exam_owner *next;
	if (q == NULL)
		return;
	ing_must(q->active == NULL);
	HASH_ITER (hh, q->owners, o, next)
		forget(q, o);
	free(q);
}

void ing_exam_queue_push(
	struct ing_exam_queue *q, struct ing_exam_entry *entry, const char *owner, uint64_t now_ms)
{
	ing_must(entry->owner == NULL && !entry->at_work);
	begin_waiting(q, entry, activate_owner(q, owner), false, now_ms);
}

struct ing_exam_entry *ing_exam_queue_start(struct ing_exam_queue *q, uint64_t now_ms)
{
	bool background;
	if (q->waiting == 0)
		return NULL;
	struct ing_exam_owner *o = find_next(q, now_ms, &background);
	if (o == NULL)
		return NULL;
	struct ing_exam_entry *entry = first_of(o, background);
	q->clock_us = ING_MAX(q->clock_us, background ? 0 : tag_now(o, now_ms));
	end_waiting(q, entry);
	begin_work(q, entry, now_ms);
	return entry;
}

void ing_exam_queue_finish(
	struct ing_exam_queue *q, struct ing_exam_entry *entry, bool bad, uint64_t now_ms)
{
	ing_must(entry->at_work);
	struct ing_exam_owner *o = entry->owner;
	uint64_t cost_ms = end_paid_work(q, entry, now_ms);
	if (bad || 2 * cost_ms >= q->conf.limit_ms)
		set_penalty(q, o, o->penalty + 1);
	else if (o->penalty > 0)
		set_penalty(q, o, o->penalty - 1);
	detach(q, entry, now_ms);
}

void ing_exam_queue_requeue(struct ing_exam_queue *q, struct ing_exam_entry *entry, uint64_t now_ms)
{
	ing_must(entry->at_work);
	(void)end_work(q, entry, now_ms);
	begin_waiting(q, entry, entry->owner, true, now_ms);
}

void ing_exam_queue_remove(struct ing_exam_queue *q, struct ing_exam_entry *entry, uint64_t now_ms)
{
	if (entry->owner == NULL)
		return;
	if (!entry->at_work) {
		end_waiting(q, entry);
	} else if (end_paid_work(q, entry, now_ms) >= slice_of(q)) {
		/* Otherwise documents whose requests run out of time would cost no penalty. */
		set_penalty(q, entry->owner, entry->owner->penalty + 1);
	}
	detach(q, entry, now_ms);
}

struct ing_exam_entry *ing_exam_queue_drain(struct ing_exam_queue *q)
{
	struct ing_exam_entry *entry = q->oldest != NULL ? q->oldest : q->at_work;
	if (entry != NULL)
		ing_exam_queue_remove(q, entry, entry->since_ms);
	return entry;
}

struct ing_exam_entry *ing_exam_queue_preempt(struct ing_exam_queue *q, uint64_t now_ms)
{
	struct ing_exam_entry *last = NULL;
	struct ing_exam_entry *entry;
	if (q->waiting == q->waiting_background || !is_background_excessive(q, now_ms))
		return NULL;
	DL_FOREACH (q->at_work, entry)
		if (is_background(q, entry, now_ms) && !entry->interrupted &&
			others_wait(q, entry->owner))
			last = entry;
	if (last == NULL)
		return NULL;
	(void)end_paid_work(q, last, now_ms);
	set_penalty(q, last->owner, last->owner->penalty + 1);
	last->interrupted = true;
	begin_waiting(q, last, last->owner, false, now_ms);
	q->interrupted++;
	return last;
}

struct ing_exam_entry *ing_exam_queue_expire(struct ing_exam_queue *q, uint64_t now_ms)
{
	struct ing_exam_entry *entry = q->oldest;
	if (entry == NULL || now_ms - entry->since_ms < q->conf.max_wait_ms)
		return NULL;
	end_waiting(q, entry);
	detach(q, entry, now_ms);
	return entry;
}

uint64_t ing_exam_queue_next_ms(const struct ing_exam_queue *q, uint64_t now_ms)
{
	uint64_t wake_ms = ING_EXAM_NEVER;
	if (q->oldest != NULL)
		wake_ms = q->oldest->since_ms + q->conf.max_wait_ms;
	if (q->conf.slice_ms == 0 || q->waiting == q->waiting_background ||
		q->at_work_count < q->conf.examiners)
		return wake_ms;
	const struct ing_exam_entry *entry;
	DL_FOREACH (q->at_work, entry)
		if (!is_background(q, entry, now_ms))
			wake_ms = ING_MIN(wake_ms, entry->since_ms + q->conf.slice_ms);
	return wake_ms;
}

bool ing_exam_queue_has_room_for_all(const struct ing_exam_queue *q)
{
	return !is_half_full(q) && q->penalised_count == 0;
}

bool ing_exam_queue_has_room(const struct ing_exam_queue *q, const char *owner)
{
	unsigned capacity = q->conf.capacity;
	bool half_full = is_half_full(q);
	if (ing_exam_queue_has_room_for_all(q))
		return true;
	const struct ing_exam_owner *o = find_owner(q, owner);
	if (o != NULL && is_penalised(o))
		return o->waiting < PENALISED_SHARE && q->waiting_background < (capacity + 1) / 2;
	if (!half_full || o == NULL || o->waiting == 0)
		return true;
	return q->waiting - q->waiting_background < capacity &&
	       o->waiting < ING_MAX(capacity / SHARE_OF_CAPACITY, MIN_SHARE);
}

bool ing_exam_queue_is_full(const struct ing_exam_queue *q)
{
	return q->waiting - q->waiting_background > MAX_FACTOR * q->conf.capacity ||
	       q->waiting > MAX_FACTOR_WITH_BACKGROUND * q->conf.capacity;
}

void ing_exam_queue_stats(const struct ing_exam_queue *q, struct ing_exam_queue_stats *ret)
{
	*ret = (struct ing_exam_queue_stats){
		.waiting = q->waiting,
		.waiting_background = q->waiting_background,
		.at_work = q->at_work_count,
		.owners = q->active_count + q->idle_count,
		.owners_penalised = q->penalised_count,
		.interrupted = q->interrupted,
	};
}
