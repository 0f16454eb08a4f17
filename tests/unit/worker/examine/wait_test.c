/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How documents wait for an examiner, with real examiners and documents that never end
 * (fake_document.c). Who is next is a matter of queue_test; here it is that the pool does as the
 * queue says, that whoever asks hears when its document is taken, and that every question comes
 * back once.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "pool_harness.h"
#include "worker/examine/pool_priv.h"

#ifdef ING_SANITIZED
#	define TIMEOUT_MS 2000u
#else
#	define TIMEOUT_MS 1000u
#endif
#define NEVER_MS 600000u

static struct harness h;

static void start(unsigned examiners, unsigned max_wait_ms)
{
	struct ing_pool_conf conf = {.settings = {.processes = examiners,
					     .recycle_after = 1000,
					     .timeout_ms = TIMEOUT_MS,
					     .max_wait_ms = max_wait_ms},
		.examiner_path = FAKE_EXAMINER,
		.capacity = 8,
		.rules_fd = -1};
	harness_start(&h, &conf);
}

static struct answer *ask(const char *url, const char *body)
{
	const struct ing_exam_request q = {.url = url,
		.want = ING_WANT_LINKS,
		.max_body_bytes = 1000000,
		.max_scrape_bytes = 1000000};
	return harness_ask(&h, body, strlen(body), &q);
}

static struct ing_pool_stats stats(void)
{
	struct ing_pool_stats s;
	ing_pool_stats(h.pool, &s);
	return s;
}

static void wait_for(const bool *what)
{
	for (int i = 0; i < 3000 && !*what; i++)
		harness_turn(&h, 10);
	assert_true(*what);
}

static void a_hostile_domain_stands_behind_the_others(void **state)
{
	struct answer *hostile[4];
	struct answer *good[4];
	(void)state;
	start(2, NEVER_MS);
	for (int i = 0; i < 4; i++) {
		char url[64];
		snprintf(url, sizeof(url), "https://h%d.hostile.example/", i);
		hostile[i] = ask(url, "sleep");
	}
	for (int i = 0; i < 4; i++) {
		char url[64];
		snprintf(url, sizeof(url), "https://good%d.example/", i);
		good[i] = ask(url, "good");
	}
	for (int i = 0; i < 4; i++) {
		wait_for(&good[i]->came);
		assert_int_equal(good[i]->f.exam, ING_EXAM_OK);
		assert_in_range(good[i]->order, 1, 6); /* two of the others before them, not four */
	}
	harness_run(&h, &h.answered, 8, 60000);
	for (int i = 0; i < 4; i++)
		assert_int_equal(hostile[i]->f.exam, ING_EXAM_TIMEOUT);
	assert_int_equal(stats().domains_marked, 1);
	assert_int_equal(stats().documents, 8);
	harness_stop(&h);
}

/* Of different domains this time: none has done anything before. */
static void a_long_document_gives_way_once(void **state)
{
	(void)state;
	start(2, NEVER_MS);
	struct answer *a = ask("https://a.example/", "sleep");
	struct answer *b = ask("https://b.example/", "sleep");
	wait_for(&a->at_work);
	wait_for(&b->at_work);
	struct answer *good = ask("https://good.example/", "good");
	wait_for(&good->came);
	assert_int_equal(good->f.exam, ING_EXAM_OK);
	assert_false(a->came && b->came);
	harness_run(&h, &h.answered, 3, 60000);
	assert_int_equal(a->f.exam, ING_EXAM_TIMEOUT);
	assert_int_equal(b->f.exam, ING_EXAM_TIMEOUT);
	assert_int_equal(a->started + b->started, 3);
	struct ing_pool_stats s = stats();
	assert_true(s.interrupted == 1 && s.documents == 3 && s.timeouts == 2 && s.crashes == 0);
	harness_stop(&h);
}

static void nobody_waits_for_longer_than_max_wait(void **state)
{
	(void)state;
	start(1, 300);
	struct answer *first = ask("https://a.example/", "good");
	harness_run(&h, &h.answered, 1, 60000);
	bool started = first->f.exam == ING_EXAM_OK; /* else it took the zygote too long to start */
	if (!started)
		harness_get(&h, "good");
	struct answer *held = ask("https://a.example/", "sleep");
	wait_for(&held->at_work);
	struct answer *late[3];
	for (int i = 0; i < 3; i++)
		late[i] = ask("https://a.example/", "good");
	for (int i = 0; i < 3; i++) {
		wait_for(&late[i]->came);
		assert_int_equal(late[i]->f.exam, ING_EXAM_NOT_STARTED);
		assert_string_equal(late[i]->f.detail, "no examiner was free within 300 ms");
		assert_int_equal(late[i]->started, 0);
	}
	harness_run(&h, &h.answered, h.asked, 60000);
	assert_int_equal(held->f.exam, ING_EXAM_TIMEOUT);
	assert_true(stats().waited >= 3 && stats().crashes == 0);
	harness_stop(&h);
}

/* There never is one. */
static void nor_for_an_examiner_that_cannot_start(void **state)
{
	(void)state;
	setenv("MAGIC", "die", 1);
	start(1, 500);
	struct answer *a = ask("https://a.example/", "good");
	harness_run(&h, &h.answered, 1, 60000);
	assert_int_equal(a->f.exam, ING_EXAM_NOT_STARTED);
	harness_stop(&h);
	unsetenv("MAGIC");
}

static void nor_for_one_that_does_not_come_back(void **state)
{
	(void)state;
	start(1, 4000);
	struct answer *a = ask("https://a.example/", "sleep");
	wait_for(&a->at_work);
	setenv("MAGIC", "die", 1);
	assert_int_equal(kill(h.pool->zygote->pid, SIGKILL), 0);
	harness_run(&h, &h.answered, 1, 60000);
	assert_int_equal(a->f.exam, ING_EXAM_NOT_STARTED);
	harness_stop(&h);
	unsetenv("MAGIC");
}

static void a_lost_document_is_waiting_again(void **state)
{
	(void)state;
	start(1, NEVER_MS);
	struct answer *a = ask("https://a.example/", "sleep");
	struct answer *behind = ask("https://a.example/", "good");
	wait_for(&a->at_work);
	assert_int_equal(kill(h.pool->zygote->pid, SIGKILL), 0);
	for (int i = 0; i < 1000 && a->at_work; i++)
		harness_turn(&h, 1);
	assert_false(a->at_work);
	assert_int_equal(stats().waiting, 2);
	wait_for(&a->at_work);
	assert_int_equal(a->started, 2);
	assert_int_equal(behind->started, 0);
	harness_run(&h, &h.answered, 2, 60000);
	assert_int_equal(a->f.exam, ING_EXAM_TIMEOUT);
	assert_int_equal(behind->f.exam, ING_EXAM_OK);
	harness_stop(&h);
}

static void a_domain_is_one_owner_under_all_its_names(void **state)
{
	(void)state;
	start(1, NEVER_MS);
	assert_true(ing_pool_has_room(h.pool, "d.many.example"));
	for (int i = 0; i < 4; i++) { /* half of the places; nothing is ready to take one yet */
		char url[64];
		snprintf(url, sizeof(url), "https://n%d.many.example/", i);
		ask(url, "good");
	}
	assert_false(ing_pool_has_room(h.pool, "n9.many.example"));
	assert_false(ing_pool_has_room(h.pool, "many.example"));
	assert_true(ing_pool_has_room(h.pool, "other.example"));
	assert_true(ing_pool_has_room(h.pool, "192.0.2.1"));
	assert_false(ing_pool_is_full(h.pool));
	harness_run(&h, &h.answered, 4, 60000);
	assert_true(ing_pool_has_room(h.pool, "n9.many.example"));
	harness_stop(&h);
}

static void cancel_all(struct harness *which, struct answer *a)
{
	(void)a;
	for (unsigned i = 0; i < which->asked; i++)
		if (which->answers[i].task != NULL)
			ing_pool_cancel(ING_TAKE(which->answers[i].task));
}

/* From inside the callback of one that has waited too long. */
static void the_others_may_be_cancelled_then(void **state)
{
	(void)state;
	setenv("MAGIC", "die", 1);
	start(1, 100);
	h.then = cancel_all;
	for (int i = 0; i < 5; i++)
		ask("https://a.example/", "good");
	harness_run(&h, &h.answered, 1, 60000);
	harness_turn(&h, 300);
	assert_int_equal(h.answered, 1);
	assert_int_equal(stats().waiting, 0);
	harness_stop(&h);
	unsetenv("MAGIC");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hostile_domain_stands_behind_the_others),
		cmocka_unit_test(a_long_document_gives_way_once),
		cmocka_unit_test(nobody_waits_for_longer_than_max_wait),
		cmocka_unit_test(nor_for_an_examiner_that_cannot_start),
		cmocka_unit_test(nor_for_one_that_does_not_come_back),
		cmocka_unit_test(a_lost_document_is_waiting_again),
		cmocka_unit_test(a_domain_is_one_owner_under_all_its_names),
		cmocka_unit_test(the_others_may_be_cancelled_then),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
