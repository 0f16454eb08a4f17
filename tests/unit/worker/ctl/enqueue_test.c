/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where a sender begins, and what it says of its progress.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "worker/ctl/enqueue/start.h"
#include "worker/ctl/progress.h"
#include "worker/store/requests/plan_batches.h"

#define OURS "11111111-1111-1111-1111-111111111111"
#define OTHERS "22222222-2222-2222-2222-222222222222"

static void a_sender_begins_where_database_and_kafka_agree_that_it_should(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		int64_t sent, begun, planned, offset;
		const char *metadata;
		enum ing_enqueue_start want;
		int64_t next;
	} cases[] = {
		{"nothing done", 0, 0, 5, -1, "", ING_START_FIRST, 0},
		{"first position committed, nothing sent", 0, 0, 5, 0, OURS, ING_START_AT, 0},
		{"first batch begun and not committed", 0, 5, 5, 0, OURS, ING_START_AT, 0},
		{"committed, the database has not heard of it", 1, 5, 5, 3, OURS, ING_START_AT, 3},
		{"all committed, likewise", 1, 5, 5, 5, OURS, ING_START_AT, 5},
		{"as the database says", 3, 5, 5, 3, OURS, ING_START_AT, 3},
		{"an older position of this topic", 3, 3, 5, 1, OURS, ING_START_AT, 3},
		{"a topic that is new to the plan", 3, 3, 5, -1, "", ING_START_FIRST, 3},
		{"all sent, and expired", 5, 5, 5, -1, "", ING_START_FIRST, 5},
		{"expired while batches were in doubt", 3, 5, 5, -1, "", ING_START_LOST, 3},
		{"another database's", 0, 0, 5, 3, OTHERS, ING_START_OTHER, 0},
		{"somebody committed without metadata", 0, 0, 5, 3, "", ING_START_OTHER, 0},
		{"the database is older than Kafka", 1, 2, 5, 3, OURS, ING_START_BEYOND, 1},
		{"older, and nothing is left in it", 2, 2, 2, 3, OURS, ING_START_BEYOND, 2},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_plan plan = {.sent = cases[i].sent,
			.begun = cases[i].begun,
			.planned = cases[i].planned,
			.lineage = OURS};
		int64_t next = -1;
		enum ing_enqueue_start got =
			ing_enqueue_start(&plan, cases[i].offset, cases[i].metadata, &next);
		if (got != cases[i].want || next != cases[i].next)
			fail_msg("%s: %d at %d, not %d at %d", cases[i].name, (int)got, (int)next,
				(int)cases[i].want, (int)cases[i].next);
	}
}

static void progress_says_how_far_how_fast_and_how_long(void **state)
{
	(void)state;
	static const struct {
		uint64_t done, total;
		double rate;
		const char *waits_for, *want;
	} cases[] = {
		{0, 0, -1, NULL, "0 requests"},
		{12, 0, 3.14, NULL, "12 requests, 3.1/s"},
		{500, 2000, -1, NULL, "500 of 2000 requests (25.0 %)"},
		{500, 2000, 50, NULL, "500 of 2000 requests (25.0 %), 50/s, 30 s left"},
		{0, 360000, 100, NULL, "0 of 360000 requests (0.0 %), 100/s, 1 h 0 min left"},
		{0, 61000000, 100, NULL, "0 of 61000000 requests (0.0 %), 100/s, 7 d 1 h left"},
		{0, 7200, 10, NULL, "0 of 7200 requests (0.0 %), 10/s, 12 min left"},
		{5, 10, 0, "workers: lag 9",
			"5 of 10 requests (50.0 %), 0.0/s, waiting for workers: lag 9"},
		{11, 10, 5, NULL, "11 of 10 requests (100.0 %), 5.0/s"},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		const struct ing_progress p = {
			.what = "requests", .total = cases[i].total, .rate = cases[i].rate};
		struct ing_buf out;
		ing_buf_init(&out, 1000);
		ing_progress_words(&p, cases[i].done, cases[i].waits_for, &out);
		assert_string_equal(ing_buf_str(&out), cases[i].want);
		ing_buf_done(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sender_begins_where_database_and_kafka_agree_that_it_should),
		cmocka_unit_test(progress_says_how_far_how_fast_and_how_long),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
