/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Other rules for a running pool: no document is lost, none fails that would not have, and rules
 * that cannot be loaded change nothing.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "pool_harness.h"
#include "worker/examine/pool_priv.h"

#define TIMEOUT_MS 5000
#define EXAMINERS 3

static struct harness h;
static unsigned reloads, good_reloads;
static int rules_fd;

static int make_rules(const char *text)
{
	int fd = memfd_create("rules", MFD_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	return fd;
}

static void start(const char *rules)
{
	struct ing_pool_conf conf = {.settings = {.processes = EXAMINERS,
					     .recycle_after = 1000,
					     .timeout_ms = TIMEOUT_MS,
					     .max_wait_ms = 600000},
		.examiner_path = FAKE_EXAMINER,
		.capacity = 256,
		.rules_fd = rules != NULL ? make_rules(rules) : -1};
	reloads = good_reloads = 0;
	rules_fd = conf.rules_fd;
	harness_start(&h, &conf);
}

static void stop(void)
{
	harness_stop(&h);
	if (rules_fd >= 0)
		close(rules_fd);
}

static void on_reloaded(void *ctx, bool good)
{
	assert_ptr_equal(ctx, &h);
	reloads++;
	good_reloads += good;
}

static void reload(const char *rules)
{
	struct ing_error err = {0};
	int fd = make_rules(rules);
	if (ing_pool_reload(h.pool, fd, on_reloaded, &h, &err) != 0)
		fail_msg("%s", err.msg);
	close(fd);
	assert_int_equal(ing_pool_reload(h.pool, -1, on_reloaded, &h, NULL), -ING_FAIL_BUSY);
}

static void finish_reload(const char *rules)
{
	unsigned want = reloads + 1;
	reload(rules);
	harness_run(&h, &reloads, want, 30000);
}

static void assert_rules(const char *want)
{
	assert_string_equal(harness_get(&h, "rules")->page.title, want);
}

/* Until no zygote of before is left. */
static void wait_for_one_zygote(void)
{
	for (int i = 0; i < 300 && h.pool->retired != NULL; i++)
		harness_turn(&h, 10);
	assert_null(h.pool->retired);
	assert_null(h.pool->next);
}

static void test_rules_reach_the_examiners(void **state)
{
	(void)state;
	start("first");
	assert_rules("first");
	finish_reload("second");
	assert_int_equal(good_reloads, 1);
	for (int i = 0; i < 2 * EXAMINERS; i++)
		assert_rules("second");
	wait_for_one_zygote();
	finish_reload("third");
	assert_rules("third");
	wait_for_one_zygote();
	stop();
}

/* A document under way keeps the rules with which it began, and the old zygote lives as long. */
static void test_documents_under_way(void **state)
{
	(void)state;
	start("first");
	assert_rules("first");
	struct answer *slow[2];
	for (size_t i = 0; i < 2; i++)
		slow[i] = harness_ask_text(&h, "slow rules");
	harness_turn(&h, 20);
	finish_reload("second");
	assert_false(slow[0]->came);
	assert_non_null(h.pool->retired);
	assert_rules("second"); /* the others need not wait */
	harness_run(&h, &h.answered, h.asked, 5000);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(slow[i]->f.exam, ING_EXAM_OK);
		assert_string_equal(slow[i]->f.page.title, "first");
	}
	wait_for_one_zygote();
	for (int i = 0; i < 2 * EXAMINERS; i++)
		assert_rules("second");
	struct ing_pool_stats s;
	ing_pool_stats(h.pool, &s);
	assert_true(s.crashes == 0 && s.timeouts == 0 && s.zygotes == 2);
	stop();
}

static void test_rules_that_cannot_be_loaded(void **state)
{
	static const char *const bad[] = {"bad", "die"};
	(void)state;
	start("first");
	for (size_t i = 0; i < 2; i++) {
		finish_reload(bad[i]);
		assert_int_equal(good_reloads, 0);
		assert_rules("first");
		assert_null(h.pool->retired);
	}
	finish_reload("second");
	assert_int_equal(good_reloads, 1);
	assert_rules("second");
	stop();
}

/* Should the zygote die, the next one has the rules that are in force. */
static void test_rules_of_a_second_zygote(void **state)
{
	(void)state;
	start("first");
	assert_rules("first");
	kill(h.pool->zygote->pid, SIGKILL);
	assert_rules("first");
	finish_reload("second");
	kill(h.pool->zygote->pid, SIGKILL);
	assert_rules("second");
	stop();
}

/* The old zygote's death is its documents' bad luck, once. */
static void test_old_zygote_killed(void **state)
{
	(void)state;
	start("first");
	assert_rules("first");
	struct answer *slow = harness_ask_text(&h, "slow rules");
	harness_turn(&h, 20);
	finish_reload("second");
	assert_non_null(h.pool->retired);
	kill(h.pool->retired->pid, SIGKILL);
	harness_run(&h, &h.answered, h.asked, 5000);
	assert_int_equal(slow->f.exam, ING_EXAM_OK);
	assert_string_equal(slow->f.page.title, "second");
	wait_for_one_zygote();
	stop();
}

/* Examiners that are dying, starting and busy when the rules change, over and over. */
static void test_reloads_under_load(void **state)
{
	static const char *const rules[] = {"a", "b", "c", "d", "e"};
	(void)state;
	start("first");
	for (size_t i = 0; i < 5; i++) {
		for (int k = 0; k < 30; k++)
			harness_ask_text(&h, "rules");
		finish_reload(rules[i]);
	}
	harness_run(&h, &h.answered, h.asked, 30000);
	for (unsigned i = 0; i < h.asked; i++)
		if (h.answers[i].f.exam != ING_EXAM_OK)
			fail_msg("%u: %d %s", i, (int)h.answers[i].f.exam, h.answers[i].f.detail);
	wait_for_one_zygote();
	assert_rules("e");
	stop();
}

static void test_freeing_during_a_reload(void **state)
{
	(void)state;
	start(NULL);
	assert_rules("");
	harness_ask_text(&h, "slow rules");
	harness_turn(&h, 20);
	finish_reload("second");
	assert_non_null(h.pool->retired);
	reload("third");
	stop();
	assert_int_equal(reloads, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules_reach_the_examiners),
		cmocka_unit_test(test_documents_under_way),
		cmocka_unit_test(test_rules_that_cannot_be_loaded),
		cmocka_unit_test(test_rules_of_a_second_zygote),
		cmocka_unit_test(test_old_zygote_killed),
		cmocka_unit_test(test_reloads_under_load),
		cmocka_unit_test(test_freeing_during_a_reload),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
