/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The database thread with connections, pauses and a clock of the test's own: what is repeated and
 * on which connection, when it counts as blocked, and what becomes of items when it is stopped.
 */
#include <poll.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>
#include <cmocka.h>

#include "common/data/pg_thread.h"

#define MAX_STEPS 12
#define MAX_PAUSES 16

enum at { END, ATTEMPT, OPEN_FAILS, PREPARE_FAILS }; /* what is called */
enum place { NOWHERE, IN_PAUSE, IN_OPEN, IN_ATTEMPT };

struct step {
	enum at at;
	enum ing_pg_rc answer; /* of an attempt */
	uint64_t now_ms;       /* the clock from then on; 0: as before */
};

struct ing_pg {
	int stop_fd;
};

struct item {
	struct ing_node node;
	unsigned finished, dropped, kept;
};

static struct world {
	uv_loop_t loop;
	struct ing_pg_thread *t;
	sem_t told_blocked; /* the loop has heard of it */
	sem_t there;        /* the thread is in `place` */
	enum place place;   /* where it waits for the stop */
	unsigned blocked, unblocked, finished, expected;

	/* the thread's, until an item is finished or the thread is freed */
	const struct step *steps;
	unsigned at;
	bool heard;
	uint64_t now_ms;
	unsigned attempts, opened, closed, troubles, withdrawn;
	int pauses[MAX_PAUSES];
	unsigned pause_count;
	enum ing_pg_rc rc;
	struct ing_error err;
} w;

/* --- what the thread calls --- */

int __real_poll(struct pollfd *fds, nfds_t count, int timeout_ms);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms);
uint64_t __wrap_ing_now_ms(void);

static void wait_for_stop(int stop_fd)
{
	struct pollfd fd = {.fd = stop_fd, .events = POLLIN};
	sem_post(&w.there);
	assert_int_equal(__real_poll(&fd, 1, -1), 1);
}

int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	assert_int_equal(count, 1);
	assert_true(w.pause_count < MAX_PAUSES);
	w.pauses[w.pause_count++] = timeout_ms;
	if (w.place != IN_PAUSE)
		return 0;
	wait_for_stop(fds->fd);
	return 1;
}

uint64_t __wrap_ing_now_ms(void)
{
	return w.now_ms;
}

/* Whether that is what the script says next; then it is done with. */
static bool is_next(enum at at)
{
	const struct step *step = &w.steps[w.at];
	if (step->at != at)
		return false;
	if (step->now_ms != 0)
		w.now_ms = step->now_ms;
	w.at++;
	return true;
}

int ing_pg_open(
	const char *dsn, int stop_fd, int timeout_ms, struct ing_pg **ret, struct ing_error *err)
{
	assert_string_equal(dsn, "the database");
	assert_true(timeout_ms > 0);
	if (w.place == IN_OPEN && w.opened > 0) {
		wait_for_stop(stop_fd);
		return ing_error_set(err, ING_FAIL_CANCELLED, "stopped");
	}
	if (is_next(OPEN_FAILS))
		return ing_error_set(err, ING_FAIL_UNAVAILABLE, "nobody there");
	*ret = malloc(sizeof(**ret));
	assert_non_null(*ret);
	(*ret)->stop_fd = stop_fd;
	w.opened++;
	return 0;
}

void ing_pg_close(struct ing_pg *pg)
{
	w.closed += pg != NULL;
	free(pg);
}

static int prepare(void *ctx, struct ing_pg *pg, struct ing_error *err)
{
	assert_ptr_equal(ctx, &w);
	assert_non_null(pg);
	if (is_next(PREPARE_FAILS))
		return ing_error_set(err, ING_FAIL_INVALID, "not prepared");
	return 0;
}

static enum ing_pg_rc attempt(struct ing_pg *pg, void *ctx, struct ing_error *err)
{
	(void)ctx;
	enum ing_pg_rc answer = w.steps[w.at].answer;
	assert_int_equal(w.opened - w.closed, 1);
	assert_int_equal(err->code, ING_FAIL_NONE); /* that of the attempt before is gone */
	if (ing_pg_thread_blocked(w.t) && !w.heard && w.place == NOWHERE) {
		sem_wait(&w.told_blocked); /* while it lasts */
		w.heard = true;
	}
	assert_true(is_next(ATTEMPT));
	w.attempts++;
	if (w.place == IN_ATTEMPT)
		wait_for_stop(pg->stop_fd);
	if (answer != ING_PG_OK)
		ing_error_set(err, ING_FAIL_UNAVAILABLE, "attempt %u", w.attempts);
	return answer;
}

static void work(void *ctx)
{
	assert_ptr_equal(ctx, &w);
	struct ing_node *next = ing_pg_thread_take(w.t, -1);
	while (next != NULL) {
		struct item *item = ING_CONTAINER(next, struct item, node);
		next = next->next;
		w.rc = ing_pg_thread_run(w.t, attempt, NULL, &w.err);
		if (w.rc == ING_PG_STOPPED)
			item->kept++;
		else
			ing_pg_thread_hand_back(w.t, &item->node);
	}
}

static void trouble(void *ctx, const struct ing_error *err)
{
	assert_ptr_equal(ctx, &w);
	assert_true(ing_pg_thread_blocked(w.t));
	assert_true(err == NULL || err->code != ING_FAIL_NONE);
	w.troubles += err != NULL;
	w.withdrawn += err == NULL;
}

/* The end of an outage may be heard of before or after what it held up is finished. */
static void stop_when_quiet(void)
{
	if (w.finished == w.expected && w.blocked == w.unblocked)
		uv_stop(&w.loop);
}

static void finished(void *ctx, struct ing_node *items)
{
	assert_ptr_equal(ctx, &w);
	assert_non_null(items);
	for (; items != NULL; items = items->next) {
		ING_CONTAINER(items, struct item, node)->finished++;
		w.finished++;
	}
	stop_when_quiet();
}

static void on_blocked(void *ctx, bool blocked)
{
	assert_ptr_equal(ctx, &w);
	w.blocked += blocked;
	w.unblocked += !blocked;
	if (blocked)
		sem_post(&w.told_blocked);
	stop_when_quiet();
}

static void drop(void *ctx, struct ing_node *item)
{
	assert_ptr_equal(ctx, &w);
	ING_CONTAINER(item, struct item, node)->dropped++;
}

/* --- begin and end --- */

static int create(const struct step *steps, enum place place, struct ing_error *err)
{
	const struct ing_pg_thread_conf conf = {.name = "test",
		.dsn = "the database",
		.ctx = &w,
		.prepare = prepare,
		.work = work,
		.trouble = trouble,
		.finished = finished,
		.blocked = on_blocked,
		.drop = drop};
	w = (struct world){.steps = steps, .place = place, .now_ms = 1000};
	assert_int_equal(sem_init(&w.told_blocked, 0, 0), 0);
	assert_int_equal(sem_init(&w.there, 0, 0), 0);
	return ing_pg_thread_new(&conf, &w.t, err);
}

static void begin(const struct step *steps, enum place place)
{
	struct ing_error err = {0};
	assert_int_equal(create(steps, place, &err), 0);
	assert_int_equal(uv_loop_init(&w.loop), 0);
	assert_non_null(ing_pg_thread_connection(w.t));
	ing_pg_thread_start(w.t, &w.loop);
}

static void end(void)
{
	ing_pg_thread_free(w.t);
	assert_int_equal(w.closed, w.opened);
	unsigned told = w.blocked + w.unblocked + w.finished;
	uv_run(&w.loop, UV_RUN_DEFAULT);
	assert_int_equal(w.blocked + w.unblocked + w.finished, told);
	assert_int_equal(uv_loop_close(&w.loop), 0);
	sem_destroy(&w.told_blocked);
	sem_destroy(&w.there);
}

static void check_counts(const struct item *item, unsigned done, unsigned dropped, unsigned kept)
{
	assert_int_equal(item->finished, done);
	assert_int_equal(item->dropped, dropped);
	assert_int_equal(item->kept, kept);
}

/* --- recovery --- */

/* clang-format off */
#define ANSWER(rc) {.at = ATTEMPT, .answer = ING_PG_##rc}

static const struct {
	const char *name;
	struct step steps[MAX_STEPS];
	enum ing_pg_rc want;
	unsigned connections; /* in all */
	bool blocked;         /* once, and no longer in the end */
	unsigned news;        /* other reasons that were told meanwhile */
	int pauses[MAX_PAUSES]; /* before a quarter, at random, is taken off */
} recoveries[] = {
	{.name = "done", .steps = {ANSWER(OK)}, .connections = 1},
	{.name = "refused", .steps = {ANSWER(REFUSED)}, .want = ING_PG_REFUSED, .connections = 1},
	{.name = "conflicts", .steps = {ANSWER(CONFLICT), ANSWER(CONFLICT), ANSWER(CONFLICT), ANSWER(OK)},
		.connections = 1, .pauses = {2, 4, 8}},
	{.name = "conflicts up to a second", .steps = {ANSWER(CONFLICT), ANSWER(CONFLICT), ANSWER(CONFLICT),
			ANSWER(CONFLICT), ANSWER(CONFLICT), ANSWER(CONFLICT), ANSWER(CONFLICT),
			ANSWER(CONFLICT), ANSWER(CONFLICT), ANSWER(CONFLICT), ANSWER(OK)},
		.connections = 1, .pauses = {2, 4, 8, 16, 32, 64, 128, 256, 512, 1000}},
	{.name = "slow", .steps = {ANSWER(SLOW), ANSWER(OK)}, .connections = 1, .blocked = true,
		.pauses = {100}},
	{.name = "locked", .steps = {ANSWER(LOCKED), ANSWER(LOCKED), ANSWER(OK)}, .connections = 1,
		.blocked = true, .pauses = {100, 200}},
	{.name = "lost", .steps = {ANSWER(LOST), ANSWER(OK)}, .connections = 2, .blocked = true,
		.pauses = {100}},
	{.name = "silent", .steps = {ANSWER(SILENT), ANSWER(OK)}, .connections = 2, .blocked = true,
		.pauses = {100}},
	{.name = "trouble", .steps = {ANSWER(TROUBLE), ANSWER(OK)}, .connections = 2, .blocked = true,
		.pauses = {100}},
	{.name = "refused after an outage", .steps = {ANSWER(LOST), ANSWER(REFUSED)},
		.want = ING_PG_REFUSED, .connections = 2, .blocked = true, .pauses = {100}},
	{.name = "no connection for a while", .steps = {ANSWER(LOST), {.at = OPEN_FAILS},
			{.at = OPEN_FAILS}, ANSWER(OK)},
		.connections = 2, .blocked = true, .news = 1, .pauses = {100, 200, 400}},
	{.name = "connections that cannot be prepared", .steps = {ANSWER(LOST),
			{.at = PREPARE_FAILS}, ANSWER(OK)},
		.connections = 3, .blocked = true, .news = 1, .pauses = {100, 200}},
	{.name = "another reason why there is no connection", .steps = {{.at = ATTEMPT, .answer = ING_PG_LOST},
			{.at = OPEN_FAILS}, {.at = PREPARE_FAILS}, {.at = PREPARE_FAILS}, ANSWER(OK)},
		.connections = 4, .blocked = true, .news = 2, .pauses = {100, 200, 400, 800}},
	{.name = "all kinds, up to five seconds", .steps = {ANSWER(LOST), {.at = OPEN_FAILS}, ANSWER(SLOW),
			ANSWER(TROUBLE), ANSWER(SILENT), ANSWER(LOCKED), ANSWER(LOST), ANSWER(LOST),
			ANSWER(OK)},
		.connections = 6, .blocked = true, .news = 1,
		.pauses = {100, 200, 400, 800, 1600, 3200, 5000, 5000}},
	{.name = "conflicts in an outage", .steps = {ANSWER(SLOW), ANSWER(CONFLICT), ANSWER(SLOW), ANSWER(OK)},
		.connections = 1, .blocked = true, .pauses = {100, 2, 200}},
};
/* clang-format on */

static void run_item(struct item *item)
{
	w.expected++;
	ing_pg_thread_push(w.t, &item->node);
	uv_run(&w.loop, UV_RUN_DEFAULT); /* until it is finished, and nothing blocked */
	check_counts(item, 1, 0, 0);
}

static void check_pauses(const int *want)
{
	for (unsigned i = 0; i < w.pause_count; i++)
		assert_in_range(w.pauses[i], want[i] - want[i] / 4, want[i]);
	assert_int_equal(want[w.pause_count], 0);
}

static void what_fails_is_repeated_until_there_is_an_answer(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(recoveries); i++) {
		struct item item = {0};
		print_message("%s\n", recoveries[i].name);
		begin(recoveries[i].steps, NOWHERE);
		run_item(&item);
		assert_int_equal(w.rc, recoveries[i].want);
		assert_int_equal(w.err.code != ING_FAIL_NONE, w.rc == ING_PG_REFUSED);
		assert_int_equal(w.steps[w.at].at, END);
		assert_int_equal(w.opened, recoveries[i].connections);
		assert_int_equal(w.troubles, recoveries[i].blocked + recoveries[i].news);
		assert_int_equal(w.withdrawn, recoveries[i].blocked);
		assert_int_equal(w.blocked, recoveries[i].blocked);
		assert_int_equal(w.unblocked, recoveries[i].blocked);
		assert_false(ing_pg_thread_blocked(w.t));
		check_pauses(recoveries[i].pauses);
		end();
		check_counts(&item, 1, 0, 0);
	}
}

static void each_outage_is_told_and_begins_with_a_short_pause(void **state)
{
	(void)state;
	static const struct step steps[] = {
		ANSWER(LOST), ANSWER(LOST), ANSWER(OK), ANSWER(LOST), ANSWER(OK), {.at = END}};
	static const int pauses[] = {100, 200, 100, 0};
	struct item items[2] = {0};
	begin(steps, NOWHERE);
	run_item(&items[0]);
	w.heard = false; /* the thread waits for work */
	run_item(&items[1]);
	assert_int_equal(w.troubles, 2);
	assert_int_equal(w.withdrawn, 2);
	assert_int_equal(w.blocked, 2);
	assert_int_equal(w.unblocked, 2);
	check_pauses(pauses);
	end();
}

static void a_long_outage_is_told_again_once_a_minute(void **state)
{
	(void)state;
	static const struct step steps[] = {
		{.at = ATTEMPT, .answer = ING_PG_LOST, .now_ms = 2000}, /* told */
		{.at = ATTEMPT, .answer = ING_PG_LOST, .now_ms = 61999},
		{.at = OPEN_FAILS, .now_ms = 62000}, /* told */
		{.at = ATTEMPT, .answer = ING_PG_SLOW, .now_ms = 62001},
		{.at = ATTEMPT, .answer = ING_PG_LOST, .now_ms = 121999},
		{.at = OPEN_FAILS, .now_ms = 200000}, /* told */
		ANSWER(OK),
		{.at = END},
	};
	struct item item = {0};
	begin(steps, NOWHERE);
	run_item(&item);
	assert_int_equal(w.troubles, 3);
	assert_int_equal(w.withdrawn, 1);
	assert_int_equal(w.blocked, 1);
	assert_int_equal(w.unblocked, 1);
	end();
}

/* --- stop --- */

static const struct {
	const char *name;
	enum place place;
	enum ing_pg_rc answer; /* of the only attempt */
	unsigned troubles;
} stops[] = {
	{"after a failure", IN_PAUSE, ING_PG_LOST, 1},
	{"after a conflict", IN_PAUSE, ING_PG_CONFLICT, 0},
	{"in connecting", IN_OPEN, ING_PG_LOST, 1},
	{"in an attempt", IN_ATTEMPT, ING_PG_STOPPED, 0},
	{"in an attempt that fails for it", IN_ATTEMPT, ING_PG_LOST, 0},
	{"in an attempt that was too slow", IN_ATTEMPT, ING_PG_SLOW, 0},
};

static void stop_ends_it_wherever_it_waits(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(stops); i++) {
		struct item items[2] = {0};
		const struct step steps[] = {
			{.at = ATTEMPT, .answer = stops[i].answer}, {.at = END}};
		print_message("%s\n", stops[i].name);
		begin(steps, stops[i].place);
		ing_pg_thread_push(w.t, &items[0].node);
		sem_wait(&w.there);
		ing_pg_thread_push(w.t, &items[1].node);
		assert_int_equal(ing_pg_thread_queued(w.t), 1);
		assert_false(ing_pg_thread_stopping(w.t));
		end();
		assert_int_equal(w.rc, ING_PG_STOPPED);
		assert_int_equal(w.attempts, 1);
		assert_int_equal(w.troubles, stops[i].troubles);
		assert_int_equal(w.withdrawn, 0);
		assert_int_equal(w.finished, 0);
		check_counts(&items[0], 0, 0, 1); /* work()'s own */
		check_counts(&items[1], 0, 1, 0);
	}
}

static void stop_ends_waiting_for_work(void **state)
{
	(void)state;
	static const struct step steps[] = {ANSWER(OK), {.at = END}};
	struct item item = {0};
	begin(steps, NOWHERE);
	end();
	assert_int_equal(w.attempts, 0);
	begin(steps, NOWHERE);
	run_item(&item);
	end();
	assert_int_equal(w.attempts, 1);
}

static void what_was_handed_back_is_finished_or_dropped(void **state)
{
	(void)state;
	static const struct step steps[] = {ANSWER(OK), ANSWER(OK), ANSWER(LOST), {.at = END}};
	struct item items[3] = {0};
	begin(steps, IN_PAUSE);
	ing_pg_thread_push(w.t, &items[0].node);
	struct ing_node *got = ing_pg_thread_wait(w.t, -1);
	assert_ptr_equal(got, &items[0].node);
	assert_null(got->next);
	assert_null(ing_pg_thread_wait(w.t, 0));
	ing_pg_thread_push(w.t, &items[1].node);
	ing_pg_thread_push(w.t, &items[2].node);
	sem_wait(&w.there); /* the second is back, and the third is not done */
	end();
	check_counts(&items[0], 0, 0, 0); /* it was waited for */
	check_counts(&items[1], 0, 1, 0);
	check_counts(&items[2], 0, 0, 1);
}

/* --- the first connection --- */

static void without_a_first_connection_there_is_no_thread(void **state)
{
	(void)state;
	static const struct {
		struct step step;
		int want;
		unsigned connections;
	} cases[] = {
		{{.at = OPEN_FAILS}, -ING_FAIL_UNAVAILABLE, 0},
		{{.at = PREPARE_FAILS}, -ING_FAIL_INVALID, 1},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		const struct step steps[] = {cases[i].step, {.at = END}};
		struct ing_error err = {0};
		assert_int_equal(create(steps, NOWHERE, &err), cases[i].want);
		assert_int_equal(err.code, -cases[i].want);
		assert_null(w.t);
		assert_int_equal(w.opened, cases[i].connections);
		assert_int_equal(w.closed, cases[i].connections);
		assert_int_equal(w.troubles, 0); /* the caller says it */
	}
	ing_pg_thread_free(NULL);
}

static void one_that_was_never_started_is_freed_with_its_items(void **state)
{
	(void)state;
	static const struct step steps[] = {{.at = END}};
	struct item item = {0};
	struct ing_error err = {0};
	assert_int_equal(create(steps, NOWHERE, &err), 0);
	ing_pg_thread_push(w.t, &item.node);
	ing_pg_thread_free(w.t);
	assert_int_equal(w.closed, 1);
	check_counts(&item, 0, 1, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_fails_is_repeated_until_there_is_an_answer),
		cmocka_unit_test(each_outage_is_told_and_begins_with_a_short_pause),
		cmocka_unit_test(a_long_outage_is_told_again_once_a_minute),
		cmocka_unit_test(stop_ends_it_wherever_it_waits),
		cmocka_unit_test(stop_ends_waiting_for_work),
		cmocka_unit_test(what_was_handed_back_is_finished_or_dropped),
		cmocka_unit_test(without_a_first_connection_there_is_no_thread),
		cmocka_unit_test(one_that_was_never_started_is_freed_with_its_items),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
