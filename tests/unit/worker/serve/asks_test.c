/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Requests, deliveries and results in every order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/net/http_server.h"
#include "worker/serve/asks.h"

#define KEY "0123456789abcdef0123456789abcdef01234567"
#define RESULT "{\"status\":\"success\"}"
#define MINUTE ((uint64_t)60000)

static unsigned moves;

static void count_move(struct ing_wait *w)
{
	(void)w;
	moves++;
}

static struct ing_wait waiting(void)
{
	return (struct ing_wait){.moved = count_move};
}

static bool begin(struct ing_asks *a, const char *message, uint64_t now_ms, struct ing_wait *w)
{
	*w = waiting();
	return ing_asks_begin(a, KEY, message, strlen(message), now_ms, w);
}

static void result(struct ing_asks *a, const char *value)
{
	ing_asks_result(a, KEY, strlen(KEY), value, strlen(value));
}

static void test_a_request_on_its_way(void **state)
{
	(void)state;
	struct ing_asks *a = ing_asks_new(10, 10000);
	struct ing_wait w;
	assert_int_equal(ing_asks_state(a, KEY), ING_ASKS_UNKNOWN);
	assert_true(begin(a, "m", 0, &w));
	assert_int_equal(ing_asks_state(a, KEY), ING_ASKS_SENDING);
	ing_asks_delivered(a, ing_wait_delivery(&w), true);
	assert_int_equal(w.at, ING_WAIT_RESULT);
	assert_int_equal(ing_asks_state(a, KEY), ING_ASKS_QUEUED);
	result(a, RESULT);
	assert_int_equal(w.at, ING_WAIT_DONE);
	assert_string_equal(ing_asks_answer(a, KEY)->data,
		"{\"id\":\"" KEY "\",\"state\":\"done\",\"location\":\"/ingest/" KEY
		"\",\"from\":\"topic\",\"result\":" RESULT "}");
	ing_asks_leave(a, &w);
	assert_int_equal(ing_asks_state(a, KEY), ING_ASKS_DONE);
	ing_asks_free(a);
}

static void test_a_result_that_is_faster_than_the_acknowledgement(void **state)
{
	(void)state;
	struct ing_asks *a = ing_asks_new(10, 10000);
	struct ing_wait w;
	assert_true(begin(a, "m", 0, &w));
	struct ing_ask_delivery *d = ing_wait_delivery(&w);
	result(a, RESULT);
	assert_int_equal(w.at, ING_WAIT_SENDING); /* it is not accepted before it is acknowledged */
	ing_asks_delivered(a, d, true);
	assert_int_equal(w.at, ING_WAIT_DONE);
	assert_non_null(ing_asks_answer(a, KEY));
	ing_asks_leave(a, &w);
	ing_asks_free(a);
}

static void test_a_message_that_is_not_acknowledged(void **state)
{
	(void)state;
	struct ing_asks *a = ing_asks_new(10, 10000);
	struct ing_wait w;
	struct ing_wait other;
	assert_true(begin(a, "m", 0, &w));
	struct ing_ask_delivery *d = ing_wait_delivery(&w);
	assert_false(begin(a, "m", 1, &other)); /* the same, on its way */
	ing_asks_delivered(a, d, false);
	assert_int_equal(w.at, ING_WAIT_FAILED);
	assert_int_equal(other.at, ING_WAIT_FAILED);
	ing_asks_leave(a, &w);
	ing_asks_leave(a, &other);
	assert_int_equal(ing_asks_state(a, KEY), ING_ASKS_UNKNOWN);
	/* It is asked again. */
	assert_true(begin(a, "m", 2, &w));
	ing_asks_delivered(a, ing_wait_delivery(&w), true);
	ing_asks_leave(a, &w);
	ing_asks_free(a);
}

static void test_the_same_message_is_asked_once_and_another_anew(void **state)
{
	(void)state;
	struct ing_asks *a = ing_asks_new(10, 10000);
	struct ing_wait first;
	struct ing_wait same;
	struct ing_wait forced;
	struct ing_wait late;
	assert_true(begin(a, "m", 0, &first));
	ing_asks_delivered(a, ing_wait_delivery(&first), true);
	assert_false(begin(a, "m", MINUTE, &same));
	assert_int_equal(same.at, ING_WAIT_RESULT);
	assert_true(begin(a, "force", MINUTE, &forced));
	struct ing_ask_delivery *d = ing_wait_delivery(&forced);
	assert_int_equal(first.at, ING_WAIT_RESULT); /* a failure of the other is none of its own */
	ing_asks_delivered(a, d, false);
	assert_int_equal(forced.at, ING_WAIT_FAILED);
	assert_int_equal(first.at, ING_WAIT_RESULT);
	assert_int_equal(ing_asks_state(a, KEY), ING_ASKS_QUEUED);
	moves = 0;
	result(a, RESULT);
	assert_int_equal(moves, 2);
	assert_int_equal(first.at, ING_WAIT_DONE);
	assert_int_equal(same.at, ING_WAIT_DONE);
	ing_asks_leave(a, &first);
	ing_asks_leave(a, &same);
	ing_asks_leave(a, &forced);
	/* A new message: there is no older answer to it. */
	assert_true(begin(a, "m", MINUTE, &late));
	ing_asks_delivered(a, ing_wait_delivery(&late), true);
	assert_int_equal(ing_asks_state(a, KEY), ING_ASKS_QUEUED);
	assert_null(ing_asks_answer(a, KEY));
	ing_asks_leave(a, &late);
	/* Nobody answers: after ten minutes it is produced again. */
	assert_false(begin(a, "m", 10 * MINUTE, &late));
	ing_asks_leave(a, &late);
	assert_true(begin(a, "m", 11 * MINUTE, &late));
	ing_asks_delivered(a, ing_wait_delivery(&late), true);
	ing_asks_leave(a, &late);
	ing_asks_free(a);
}

static void test_what_is_no_result_changes_nothing(void **state)
{
	(void)state;
	static const char *const values[] = {
		"", "nothing", "[]", "{\"status\":", "{}{}", "{\"a\":\"\xff\"}"};
	struct ing_asks *a = ing_asks_new(10, 10000);
	struct ing_wait w;
	assert_true(begin(a, "m", 0, &w));
	ing_asks_delivered(a, ing_wait_delivery(&w), true);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		result(a, values[i]);
	ing_asks_result(a, KEY, strlen(KEY), NULL, 0);
	ing_asks_result(a, KEY, 39, RESULT, strlen(RESULT));
	ing_asks_result(a, NULL, 0, RESULT, strlen(RESULT));
	ing_asks_result(a, "ffffffffffffffffffffffffffffffffffffffff", 40, RESULT, strlen(RESULT));
	assert_int_equal(w.at, ING_WAIT_RESULT);
	ing_asks_leave(a, &w);
	ing_asks_free(a);
}

static void key_of(unsigned n, char ret[ING_ASK_KEY_BYTES + 1])
{
	snprintf(ret, ING_ASK_KEY_BYTES + 1, "%040x", n);
}

static void ask_and_answer(struct ing_asks *a, unsigned n, const char *value)
{
	char key[ING_ASK_KEY_BYTES + 1];
	struct ing_wait w = waiting();
	key_of(n, key);
	assert_true(ing_asks_begin(a, key, "m", 1, 0, &w));
	ing_asks_delivered(a, ing_wait_delivery(&w), true);
	if (value != NULL)
		ing_asks_result(a, key, strlen(key), value, strlen(value));
	ing_asks_leave(a, &w);
}

static void test_requests_and_answers_are_bounded(void **state)
{
	(void)state;
	struct ing_asks *a = ing_asks_new(100, 5000);
	struct ing_asks_stats stats;
	char key[ING_ASK_KEY_BYTES + 1];
	struct ing_wait w = waiting();
	key_of(999999, key);
	assert_true(ing_asks_begin(a, key, "m", 1, 0, &w));
	ing_asks_delivered(a, ing_wait_delivery(&w), true);
	for (unsigned i = 0; i < 1000; i++) {
		ask_and_answer(a, i, i % 2 ? RESULT : NULL);
		ing_asks_stats(a, &stats);
		assert_true(stats.requests <= 101 && stats.kept_bytes <= 5000);
	}
	/* The newest are there, and the one that somebody waits for. */
	key_of(999, key);
	assert_non_null(ing_asks_answer(a, key));
	key_of(0, key);
	assert_int_equal(ing_asks_state(a, key), ING_ASKS_UNKNOWN);
	key_of(999999, key);
	assert_int_equal(ing_asks_state(a, key), ING_ASKS_QUEUED);
	ing_asks_leave(a, &w);
	ing_asks_free(a);
}

static void test_answers_that_are_being_sent_count(void **state)
{
	(void)state;
	struct ing_asks *a = ing_asks_new(100, 1000);
	struct ing_blob *sent[20];
	struct ing_asks_stats stats;
	char key[ING_ASK_KEY_BYTES + 1];
	char value[400];
	memset(value, ' ', sizeof(value));
	memcpy(value, "{\"a\":1", 6);
	value[sizeof(value) - 2] = '}';
	value[sizeof(value) - 1] = '\0';
	for (unsigned i = 0; i < 20; i++) {
		ask_and_answer(a, i, value);
		key_of(i, key);
		assert_int_equal(ing_asks_state(a, key), ING_ASKS_DONE);
		sent[i] = ing_blob_ref(ing_asks_answer(a, key));
	}
	ing_asks_stats(a, &stats);
	assert_true(stats.kept_bytes <= 2000);
	assert_true(stats.not_kept > 10);
	for (unsigned i = 0; i < 20; i++)
		ing_blob_unref(sent[i]);
	ing_asks_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_request_on_its_way),
		cmocka_unit_test(test_a_result_that_is_faster_than_the_acknowledgement),
		cmocka_unit_test(test_a_message_that_is_not_acknowledged),
		cmocka_unit_test(test_the_same_message_is_asked_once_and_another_anew),
		cmocka_unit_test(test_what_is_no_result_changes_nothing),
		cmocka_unit_test(test_requests_and_answers_are_bounded),
		cmocka_unit_test(test_answers_that_are_being_sent_count),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
