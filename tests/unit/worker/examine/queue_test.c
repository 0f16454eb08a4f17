/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The examiners' queue in a world of made-up time: documents with an owner, an arrival and a cost,
 * and examiners that do nothing but let time pass. What must never be is checked at every step of
 * it; the tests say what came of it, in numbers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/macros.h"
#include "worker/examine/queue.h"

#define DOCS 8192
#define LIMIT_MS 30000u
#define SLICE_MS 1000u
#define MAX_WAIT_MS 600000u
#define PLACES 256u
#define FOREVER_MS 1000000u /* a cost over every limit */

struct doc {
	struct ing_exam_entry entry;
	char owner[32];
	uint64_t arrives_ms, cost_ms;
	uint64_t first_ms; /* taken for the first time */
	uint64_t used_ms;  /* of examiners' time */
	uint64_t end_ms;
	unsigned started;
	bool in, ended, expired;
};

static struct world {
	struct ing_exam_queue_conf conf;
	struct ing_exam_queue *q;
	struct doc docs[DOCS];
	unsigned count, ended, at_work;
	uint64_t now_ms;
	bool gated; /* as by the real gate, documents for which there is no room come later */
	struct doc *arrivals[DOCS];    /* by arrival */
	unsigned arrival_count, first; /* of those that have not come */
	struct doc *busy[16];          /* at work */
} w;

static struct doc *doc_of(struct ing_exam_entry *entry)
{
	return entry != NULL ? ING_CONTAINER(entry, struct doc, entry) : NULL;
}

static void begin(unsigned examiners)
{
	memset(&w, 0, sizeof(w));
	w.now_ms = 1000;
	w.conf = (struct ing_exam_queue_conf){.examiners = examiners,
		.limit_ms = LIMIT_MS,
		.slice_ms = SLICE_MS,
		.max_wait_ms = MAX_WAIT_MS,
		.capacity = PLACES};
	w.q = ing_exam_queue_new(&w.conf);
}

static void end(void)
{
	struct ing_exam_entry *entry;
	while ((entry = ing_exam_queue_drain(w.q)) != NULL)
		assert_null(entry->owner);
	ing_exam_queue_free(w.q);
}

static struct ing_exam_queue_stats stats(void)
{
	struct ing_exam_queue_stats s;
	ing_exam_queue_stats(w.q, &s);
	return s;
}

static struct doc *add(const char *owner, uint64_t arrives_ms, uint64_t cost_ms)
{
	assert_true(w.count < DOCS);
	struct doc *d = &w.docs[w.count++];
	snprintf(d->owner, sizeof(d->owner), "%s", owner);
	d->arrives_ms = w.now_ms + arrives_ms;
	d->cost_ms = cost_ms;
	return d;
}

static uint64_t waited_ms(const struct doc *d)
{
	assert_true(d->started > 0);
	return d->first_ms - d->arrives_ms;
}

/* --- the world's steps --- */

static void finish(struct doc *d, bool expired)
{
	assert_false(d->ended);
	assert_null(d->entry.owner);
	d->ended = true;
	d->expired = expired;
	d->end_ms = w.now_ms;
	w.ended++;
}

static uint64_t work_ends_ms(const struct doc *d)
{
	return d->entry.since_ms + ING_MIN(d->cost_ms, (uint64_t)LIMIT_MS);
}

static void end_work(void)
{
	for (unsigned i = 0; i < w.at_work; i++) {
		struct doc *d = w.busy[i];
		if (work_ends_ms(d) > w.now_ms)
			continue;
		d->used_ms += w.now_ms - d->entry.since_ms;
		ing_exam_queue_finish(w.q, &d->entry, d->cost_ms >= LIMIT_MS, w.now_ms);
		w.busy[i--] = w.busy[--w.at_work];
		finish(d, false);
	}
}

static int compare_arrivals(const void *a, const void *b)
{
	const struct doc *const *x = a;
	const struct doc *const *y = b;
	if ((*x)->arrives_ms != (*y)->arrives_ms)
		return (*x)->arrives_ms < (*y)->arrives_ms ? -1 : 1;
	return *x < *y ? -1 : 1;
}

static void line_up(void)
{
	w.arrival_count = w.first = 0;
	for (unsigned i = 0; i < w.count; i++)
		if (!w.docs[i].in)
			w.arrivals[w.arrival_count++] = &w.docs[i];
	qsort(w.arrivals, w.arrival_count, sizeof(w.arrivals[0]), compare_arrivals);
}

static void arrive(void)
{
	for (unsigned i = w.first; i < w.arrival_count; i++) {
		struct doc *d = w.arrivals[i];
		if (d->arrives_ms > w.now_ms)
			return;
		if (d->in || (w.gated && (ing_exam_queue_is_full(w.q) ||
						 !ing_exam_queue_has_room(w.q, d->owner))))
			continue;
		d->in = true;
		ing_exam_queue_push(w.q, &d->entry, d->owner, w.now_ms);
		while (w.first < w.arrival_count && w.arrivals[w.first]->in)
			w.first++;
	}
}

static unsigned count_at_work(const char *owner, bool background)
{
	unsigned n = 0;
	for (unsigned i = 0; i < w.at_work; i++)
		n += (owner == NULL || strcmp(owner, w.busy[i]->owner) == 0) &&
		     (!background || w.busy[i]->entry.background);
	return n;
}

static bool another_could_be_taken(const char *but)
{
	struct ing_exam_queue_stats s = stats();
	unsigned of_it = 0;
	for (unsigned i = 0; i < w.count; i++)
		of_it += w.docs[i].in && !w.docs[i].ended && !w.docs[i].entry.at_work &&
			 strcmp(but, w.docs[i].owner) == 0;
	return s.waiting - s.waiting_background > of_it;
}

static void take(void)
{
	while (w.at_work < w.conf.examiners) {
		struct doc *d = doc_of(ing_exam_queue_start(w.q, w.now_ms));
		if (d == NULL)
			break;
		w.busy[w.at_work++] = d;
		if (d->started++ == 0)
			d->first_ms = w.now_ms;
		if (w.conf.examiners < 2)
			continue;
		assert_true(count_at_work(NULL, true) < w.conf.examiners);
		if (count_at_work(d->owner, false) == w.conf.examiners)
			assert_false(another_could_be_taken(d->owner));
	}
}

static void give_way(void)
{
	if (w.at_work < w.conf.examiners)
		return;
	struct doc *d = doc_of(ing_exam_queue_preempt(w.q, w.now_ms));
	if (d == NULL)
		return;
	assert_true(d->started == 1 && !d->entry.at_work);
	assert_true(w.now_ms - d->first_ms >= SLICE_MS || d->entry.background);
	d->used_ms += w.now_ms - d->first_ms;
	unsigned i = 0;
	while (w.busy[i] != d)
		i++;
	w.busy[i] = w.busy[--w.at_work];
	take();
}

static void expire(void)
{
	struct doc *d;
	while ((d = doc_of(ing_exam_queue_expire(w.q, w.now_ms))) != NULL)
		finish(d, true);
}

static uint64_t next_ms(void)
{
	uint64_t next = ing_exam_queue_next_ms(w.q, w.now_ms);
	for (unsigned i = 0; i < w.at_work; i++)
		next = ING_MIN(next, work_ends_ms(w.busy[i]));
	for (unsigned i = w.first; i < w.arrival_count; i++) {
		const struct doc *d = w.arrivals[i];
		if (d->in)
			continue;
		next = ING_MIN(next,
			ING_MAX(d->arrives_ms, w.now_ms + (d->arrives_ms > w.now_ms ? 0 : 250)));
		if (d->arrives_ms > w.now_ms)
			break;
	}
	return next;
}

/* Until all have ended, or for so long. */
static void run(uint64_t for_ms)
{
	uint64_t end_ms = w.now_ms + for_ms;
	line_up();
	while (w.ended < w.count && w.now_ms <= end_ms) {
		end_work();
		expire();
		arrive();
		take();
		give_way();
		struct ing_exam_queue_stats s = stats();
		assert_int_equal(s.at_work, w.at_work);
		assert_true(s.waiting_background <= s.waiting);
		uint64_t next = next_ms();
		assert_true(next != ING_EXAM_NEVER || w.ended == w.count);
		assert_true(next > w.now_ms); /* the pool's timer would spin */
		if (w.ended < w.count)
			w.now_ms = next;
	}
}

static void run_all(void)
{
	run((uint64_t)1 << 40);
	assert_int_equal(w.ended, w.count);
	assert_int_equal(stats().waiting + stats().at_work, 0);
}

/* --- who waits for whom --- */

static void within_an_owner_the_oldest_is_first(void **state)
{
	(void)state;
	begin(1);
	for (int i = 0; i < 5; i++)
		add("a.example", 0, 10);
	run_all();
	for (unsigned i = 1; i < 5; i++)
		assert_true(w.docs[i].first_ms > w.docs[i - 1].first_ms);
	end();
}

/* Each owner has a document after the other, however many one of them has. */
static void owners_take_turns(void **state)
{
	(void)state;
	begin(1);
	for (int i = 0; i < 100; i++)
		add("many.example", 0, 40);
	struct doc *b = add("b.example", 1, 40);
	struct doc *c = add("c.example", 1, 40);
	run_all();
	assert_true(waited_ms(b) <= 40 && waited_ms(c) <= 80);
	end();
}

static void owners_share_time_not_documents(void **state)
{
	(void)state;
	uint64_t used[2] = {0};
	begin(2);
	for (int i = 0; i < 300; i++)
		add("heavy.example", 0, 400);
	for (int i = 0; i < 3000; i++)
		add("light.example", 0, 40);
	run(60000);
	for (unsigned i = 0; i < w.count; i++)
		used[i >= 300] += w.docs[i].used_ms;
	assert_in_range(used[0] * 100 / (used[0] + used[1]), 45, 55);
	end();
}

/* Whoever has a debt is served before it is paid off, though newcomers never end. */
static void newcomers_starve_nobody(void **state)
{
	char name[32];
	(void)state;
	begin(1);
	for (int i = 0; i < 20; i++)
		add("old.example", 0, 900);
	for (unsigned i = 0; i < 4000; i++) { /* more than there is time for */
		snprintf(name, sizeof(name), "new%u.example", i);
		add(name, i * 40, 40);
	}
	run(120000);
	unsigned served = 0;
	for (int i = 0; i < 20; i++)
		served += w.docs[i].ended;
	print_message("%u of 20 old documents in 2 min\n", served);
	assert_true(served >= 3);
	end();
}

/* --- hostile documents --- */

static void a_hostile_owner_has_the_others_wait_for_a_slice(void **state)
{
	static const unsigned examiners[] = {2, 3, 8};
	(void)state;
	for (size_t n = 0; n < ING_ARRAY_LEN(examiners); n++) {
		begin(examiners[n]);
		for (int i = 0; i < 30; i++)
			add("hostile.example", 0, FOREVER_MS);
		struct doc *innocents[40];
		for (unsigned i = 0; i < 40; i++) {
			char name[32];
			snprintf(name, sizeof(name), "innocent%u.example", i % 10);
			innocents[i] = add(name, 10 + i * 1700, 40);
		}
		run_all();
		uint64_t most = 0;
		for (unsigned i = 0; i < 40; i++)
			most = ING_MAX(most, waited_ms(innocents[i]));
		print_message("%u examiners: %u ms at most\n", examiners[n], (unsigned)most);
		assert_true(most <= SLICE_MS);
		end();
	}
}

/* With one examiner there is nothing to spare: the limit of a document, once. */
static void with_one_examiner_it_is_a_limit_at_most(void **state)
{
	(void)state;
	begin(1);
	for (int i = 0; i < 10; i++)
		add("hostile.example", 0, FOREVER_MS);
	for (unsigned i = 0; i < 10; i++)
		add("innocent.example", 5000 + i * 20000, 40);
	run_all();
	for (unsigned i = 10; i < 20; i++)
		assert_true(waited_ms(&w.docs[i]) <= LIMIT_MS);
	end();
}

/* The enemy owns two hundred domains, and all their documents came first. */
static void many_hostile_owners_cost_a_slice_each_and_no_more(void **state)
{
	static const struct {
		unsigned examiners, most_ms;
	} cases[] = {{2, 300000}, {4, 160000}, {8, 90000}};
	(void)state;
	for (size_t n = 0; n < ING_ARRAY_LEN(cases); n++) {
		char name[32];
		begin(cases[n].examiners);
		for (unsigned i = 0; i < 200 * 5; i++) {
			snprintf(name, sizeof(name), "hostile%u.example", i % 200);
			add(name, i / 8, FOREVER_MS);
		}
		w.gated = true;
		for (unsigned i = 0; i < 200; i++) {
			snprintf(name, sizeof(name), "innocent%u.example", i % 60);
			add(name, 100 + i * 3000, 40);
		}
		run_all();
		uint64_t most = 0;
		uint64_t last = 0;
		for (unsigned i = 1000; i < w.count; i++) {
			assert_false(w.docs[i].expired);
			most = ING_MAX(most, waited_ms(&w.docs[i]));
			last = i >= w.count - 50 ? ING_MAX(last, waited_ms(&w.docs[i])) : last;
		}
		print_message("%u examiners: %u ms at most, %u ms when all are marked\n",
			cases[n].examiners, (unsigned)most, (unsigned)last);
		assert_true(most <= cases[n].most_ms);
		assert_true(last <= SLICE_MS);
		end();
	}
}

static void the_marked_are_not_starved_for_ever(void **state)
{
	char name[32];
	(void)state;
	begin(2);
	for (int i = 0; i < 6; i++)
		add("slow.example", 0, FOREVER_MS);
	for (unsigned i = 0; i < 6000; i++) { /* both examiners are never free */
		snprintf(name, sizeof(name), "innocent%u.example", i % 100);
		add(name, i * 100, 250);
	}
	run(900000);
	unsigned served = 0;
	for (unsigned i = 0; i < 6; i++)
		served += w.docs[i].ended && !w.docs[i].expired;
	print_message("%u served, %u late wait\n", served, stats().waiting_background);
	assert_true(served >= 2);
	end();
}

/* A document that is long but honest is asked once more at most, and then left in peace. */
static void who_gave_way_is_not_interrupted_again(void **state)
{
	char name[32];
	(void)state;
	begin(2);
	struct doc *a = add("a.example", 0, 10000);
	struct doc *b = add("b.example", 0, 10000);
	for (unsigned i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "innocent%u.example", i);
		add(name, 500 + i * 300, 40);
	}
	run_all();
	assert_int_equal(a->started + b->started, 3);
	assert_true(a->used_ms + b->used_ms <= 20000 + 2 * SLICE_MS);
	assert_int_equal(stats().interrupted, 1);
	end();
}

/* Its own documents would have to make room for its own. */
static void an_owner_alone_is_not_interrupted(void **state)
{
	(void)state;
	begin(2);
	for (int i = 0; i < 20; i++)
		add("scans.example", 0, 8000);
	run_all();
	assert_int_equal(stats().interrupted, 0);
	assert_int_equal(stats().owners_penalised, 0);
	assert_int_equal(w.now_ms - 1000, 80000); /* and has all examiners */
	end();
}

static void good_documents_take_marks_away(void **state)
{
	(void)state;
	begin(2);
	for (int i = 0; i < 8; i++)
		add("a.example", 0, FOREVER_MS);
	run_all();
	assert_int_equal(stats().owners_penalised, 1);
	for (int i = 0; i < 2; i++)
		add("a.example", 0, 40);
	run_all();
	assert_int_equal(stats().owners_penalised, 1);
	add("a.example", 0, 40);
	run_all();
	assert_int_equal(stats().owners_penalised, 0);
	end();
}

static void one_bad_document_is_an_accident(void **state)
{
	(void)state;
	begin(2);
	add("a.example", 0, FOREVER_MS);
	run_all();
	assert_int_equal(stats().owners_penalised, 0);
	add("a.example", 0, FOREVER_MS);
	run_all();
	assert_int_equal(stats().owners_penalised, 1);
	end();
}

/* Its request has run out of time, or its partition has gone. */
static void calling_a_document_off_does_not_hide_its_cost(void **state)
{
	(void)state;
	begin(2);
	for (int i = 0; i < 5; i++) {
		struct ing_exam_entry entry = {0};
		ing_exam_queue_push(w.q, &entry, "a.example", 0);
		assert_ptr_equal(ing_exam_queue_start(w.q, 0), &entry);
		ing_exam_queue_remove(w.q, &entry, i < 3 ? SLICE_MS - 1 : SLICE_MS);
		assert_int_equal(stats().owners_penalised, i == 4);
	}
	end();
}

/* --- the clock, the end, the memory --- */

static void nobody_waits_for_longer_than_is_said(void **state)
{
	(void)state;
	begin(1);
	w.conf.max_wait_ms = 70000;
	ing_exam_queue_free(w.q);
	w.q = ing_exam_queue_new(&w.conf);
	for (int i = 0; i < 6; i++)
		add("hostile.example", 0, FOREVER_MS);
	run_all();
	unsigned expired = 0;
	for (unsigned i = 0; i < w.count; i++) {
		expired += w.docs[i].expired;
		assert_int_equal(w.docs[i].expired, w.docs[i].started == 0);
		if (w.docs[i].expired)
			assert_int_equal(w.docs[i].end_ms - w.docs[i].arrives_ms, 70000);
	}
	assert_int_equal(expired, 3);
	end();
}

static void a_lost_examiner_costs_nobody_his_place(void **state)
{
	struct ing_exam_entry a = {0};
	struct ing_exam_entry b = {0};
	(void)state;
	begin(1);
	ing_exam_queue_push(w.q, &a, "a.example", 0);
	ing_exam_queue_push(w.q, &b, "a.example", 0);
	assert_ptr_equal(ing_exam_queue_start(w.q, 0), &a);
	ing_exam_queue_requeue(w.q, &a, 9 * LIMIT_MS);
	assert_int_equal(stats().waiting, 2);
	assert_ptr_equal(ing_exam_queue_start(w.q, 9 * LIMIT_MS), &a);
	ing_exam_queue_finish(w.q, &a, false, 9 * LIMIT_MS + 1);
	assert_int_equal(stats().owners_penalised, 0);
	assert_ptr_equal(ing_exam_queue_start(w.q, 9 * LIMIT_MS + 1), &b);
	ing_exam_queue_remove(w.q, &b, 9 * LIMIT_MS + 1);
	ing_exam_queue_remove(w.q, &b, 9 * LIMIT_MS + 1);
	end();
}

static void owners_are_forgotten(void **state)
{
	char name[32];
	(void)state;
	begin(2);
	for (unsigned i = 0; i < 1000; i++) { /* who has done nothing is not remembered */
		snprintf(name, sizeof(name), "innocent%u.example", i);
		add(name, i * 50, 40);
	}
	run_all();
	assert_true(stats().owners < 10);
	for (int i = 0; i < 2; i++)
		add("bad.example", 0, FOREVER_MS);
	run_all();
	assert_int_equal(stats().owners_penalised, 1);
	add("other.example", ING_EXAM_FORGET_MS - 10, 1);
	run_all();
	assert_int_equal(stats().owners_penalised, 1);
	add("other.example", 20, 1);
	run_all();
	assert_int_equal(stats().owners_penalised, 0);
	end();
	/* An enemy with more names than we remember. */
	begin(2);
	for (unsigned i = 0; i < ING_EXAM_OWNERS + 500; i++) {
		struct ing_exam_entry entry = {0};
		snprintf(name, sizeof(name), "bad%u.example", i);
		ing_exam_queue_push(w.q, &entry, name, i);
		assert_ptr_equal(ing_exam_queue_start(w.q, i), &entry);
		ing_exam_queue_finish(w.q, &entry, true, i);
	}
	assert_int_equal(stats().owners, ING_EXAM_OWNERS);
	end();
}

/* --- room --- */

static struct ing_exam_entry capacity[2000];
static unsigned placed;

static void put_some(const char *owner, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		capacity[placed] = (struct ing_exam_entry){0};
		ing_exam_queue_push(w.q, &capacity[placed++], owner, 0);
	}
}

static void mark(const char *owner)
{
	for (int i = 0; i < 2; i++) {
		struct ing_exam_entry entry = {0};
		ing_exam_queue_push(w.q, &entry, owner, 0);
		assert_ptr_equal(ing_exam_queue_start(w.q, 0), &entry);
		ing_exam_queue_finish(w.q, &entry, true, 0);
	}
}

static void one_owner_leaves_room_for_others(void **state)
{
	char name[32];
	(void)state;
	begin(2);
	placed = 0;
	assert_true(ing_exam_queue_has_room(w.q, "a.example"));
	assert_true(ing_exam_queue_has_room_for_all(w.q));
	put_some("a.example", PLACES / 2);
	assert_false(ing_exam_queue_has_room_for_all(w.q));
	assert_false(ing_exam_queue_has_room(w.q, "a.example"));
	assert_true(ing_exam_queue_has_room(w.q, "b.example"));
	put_some("b.example", PLACES / 64);
	assert_false(ing_exam_queue_has_room(w.q, "b.example"));
	assert_false(ing_exam_queue_is_full(w.q));
	for (unsigned i = 0; i < 3 * PLACES / 2 - 4; i++) {
		snprintf(name, sizeof(name), "c%u.example", i);
		assert_true(ing_exam_queue_has_room(w.q, name)); /* the first, always */
		put_some(name, 1);
		assert_false(ing_exam_queue_is_full(w.q));
	}
	assert_false(ing_exam_queue_has_room(w.q, "c0.example"));
	assert_true(ing_exam_queue_has_room(w.q, "d.example"));
	put_some("d.example", 1);
	assert_true(ing_exam_queue_is_full(w.q));
	end();
}

static void the_marked_fill_no_place_of_others(void **state)
{
	char name[32];
	(void)state;
	begin(2);
	placed = 0;
	for (unsigned i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "bad%u.example", i);
		mark(name);
	}
	put_some("bad0.example", 1);
	assert_false(ing_exam_queue_has_room_for_all(w.q)); /* though little waits */
	assert_true(ing_exam_queue_has_room(w.q, "bad0.example"));
	put_some("bad0.example", 100); /* were under way */
	assert_false(ing_exam_queue_has_room(w.q, "bad0.example"));
	assert_true(ing_exam_queue_has_room(w.q, "bad1.example"));
	put_some("bad1.example", PLACES / 2 - 101);
	assert_false(ing_exam_queue_has_room(w.q, "bad2.example")); /* together */
	put_some("bad2.example", PLACES);
	assert_false(ing_exam_queue_is_full(w.q));
	assert_true(ing_exam_queue_has_room(w.q, "innocent.example"));
	put_some("bad3.example", 3 * PLACES); /* memory has its bound all the same */
	assert_true(ing_exam_queue_is_full(w.q));
	end();
}

/* --- whatever may happen --- */

static uint64_t seed = 1;

static unsigned pick(unsigned below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % below;
}

/* The world checks itself; here it is that each document ends once, in time. */
static void whatever_comes_ends(void **state)
{
	const char *given = getenv("ING_SEED");
	(void)state;
	if (given != NULL)
		seed = strtoull(given, NULL, 10);
	for (int game = 0; game < 40; game++) {
		print_message("seed %llu\n", (unsigned long long)seed);
		begin(1 + pick(5));
		unsigned owners = 1 + pick(30);
		unsigned spread_ms = 1 + pick(300000);
		unsigned bad = pick(50);
		for (unsigned i = 0; i < 400; i++) {
			char name[32];
			unsigned owner = pick(owners);
			bool hostile = owner % 2 == 0 && pick(100) < bad;
			snprintf(name, sizeof(name), "o%u.example", owner);
			add(name, pick(spread_ms),
				hostile         ? FOREVER_MS
				: pick(20) == 0 ? 1 + pick(LIMIT_MS)
						: 1 + pick(80));
		}
		run_all();
		for (unsigned i = 0; i < w.count; i++) {
			const struct doc *d = &w.docs[i];
			assert_true(d->expired || d->started > 0);
			assert_true(d->started <= 2);
			if (d->started > 0)
				assert_true(waited_ms(d) <= MAX_WAIT_MS);
		}
		end();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(within_an_owner_the_oldest_is_first),
		cmocka_unit_test(owners_take_turns),
		cmocka_unit_test(owners_share_time_not_documents),
		cmocka_unit_test(newcomers_starve_nobody),
		cmocka_unit_test(a_hostile_owner_has_the_others_wait_for_a_slice),
		cmocka_unit_test(with_one_examiner_it_is_a_limit_at_most),
		cmocka_unit_test(many_hostile_owners_cost_a_slice_each_and_no_more),
		cmocka_unit_test(the_marked_are_not_starved_for_ever),
		cmocka_unit_test(who_gave_way_is_not_interrupted_again),
		cmocka_unit_test(an_owner_alone_is_not_interrupted),
		cmocka_unit_test(good_documents_take_marks_away),
		cmocka_unit_test(one_bad_document_is_an_accident),
		cmocka_unit_test(calling_a_document_off_does_not_hide_its_cost),
		cmocka_unit_test(nobody_waits_for_longer_than_is_said),
		cmocka_unit_test(a_lost_examiner_costs_nobody_his_place),
		cmocka_unit_test(owners_are_forgotten),
		cmocka_unit_test(one_owner_leaves_room_for_others),
		cmocka_unit_test(the_marked_fill_no_place_of_others),
		cmocka_unit_test(whatever_comes_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
