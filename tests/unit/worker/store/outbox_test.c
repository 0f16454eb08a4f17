/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Answers: written with their rows or not at all, by the partition's owner only, the first of them;
 * and what the next owner gets of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/worker/store/answers.h"

/* -- the row --------------------------------------------------------------------------------- */

static void an_answer_is_written_with_its_rows(void **state)
{
	(void)state;
	struct bench b;
	struct partition p;
	struct request r;
	const char *dsn = answers_open(&b, 100);
	claim_partition(&b, &p, "requests", 3);
	put_request(&b, &p, &r, 17, "{\"status\":\"success\"}");
	bench_wait(&b, 1);
	assert_int_equal(r.entry.item.end, ING_STORE_STORED);
	assert_null(r.entry.item.answer);
	assert_int_equal(
		bench_number(dsn,
			"SELECT count(*) FROM result_outbox WHERE kafka_group = 'g' AND topic = 'requests'"
			" AND partition = 3 AND \"offset\" = 17 AND message_timestamp_ms = 1700000000017"
			" AND message_digest = -17 AND output = 'results' AND key = 'k17'"
			" AND convert_from(value, 'UTF8')::jsonb->>'status' = 'success'"
			" AND headers = 'lane\\000daily\\000empty\\000\\000' AND created <= now()"),
		1);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM ingest_file_result"), 1);
	bench_close(&b);
}

/* Every byte but zero in key and headers, every byte in the value, lengths around those at which
 * storage changes, and NULL beside empty. */
static void who_comes_later_gets_the_first_answer_byte_for_byte(void **state)
{
	(void)state;
	static const size_t sizes[] = {0, 1, 2000, 8100, 300000, 3000000};
	struct bench b;
	struct partition p;
	answers_open(&b, 100);
	claim_partition(&b, &p, "requests", 0);
	char bytes[256];
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i + 1);
	const struct ing_header headers[] = {
		{"origin", "requests/3/17"}, {"first-seen", ""}, {bytes, bytes}};
	for (unsigned i = 0; i < ING_ARRAY_LEN(sizes) + 1; i++) {
		struct request first;
		struct request second;
		size_t n = i < ING_ARRAY_LEN(sizes) ? sizes[i] : 0;
		char *value = malloc(n + 1);
		assert_non_null(value);
		for (size_t k = 0; k < n; k++)
			value[k] = (char)(k * 7 + k / 251);
		fill_request(&b, &p, &first, i, "");
		first.message = (struct ing_output_message){.output = ING_OUTPUT_RESULTS,
			.key = i % 2 == 0 ? bytes : NULL,
			.key_bytes = i % 2 == 0 ? sizeof(bytes) : 0,
			.value = i < ING_ARRAY_LEN(sizes) ? value : NULL,
			.value_bytes = n,
			.headers = headers,
			.header_count = i % 3};
		ing_store_put(b.store, &first.entry.item);
		bench_wait(&b, 2 * i + 1);
		assert_int_equal(first.entry.item.end, ING_STORE_STORED);
		put_request(&b, &p, &second, i, "another");
		bench_wait(&b, 2 * i + 2);
		assert_int_equal(second.entry.item.end, ING_STORE_ANSWERED);
		assert_answers(second.entry.item.answer, &first);
		ing_answer_free(second.entry.item.answer);
		free(value);
	}
	bench_close(&b);
}

static void a_loser_writes_no_rows_and_stops_nobody(void **state)
{
	(void)state;
	enum { N = 40 };
	struct bench b;
	struct partition p;
	struct request r[N + 1];
	const char *dsn = answers_open(&b, N);
	claim_partition(&b, &p, "requests", 0);
	put_request(&b, &p, &r[N], 7, "first");
	bench_wait(&b, 1);
	bench_sql(dsn, "TRUNCATE ingest_file_result, ingest_request, file_meta, cdx, pdf_meta");
	for (unsigned i = 0; i < N; i++)
		put_request(&b, &p, &r[i], i, "second");
	bench_wait(&b, N + 1);
	for (unsigned i = 0; i < N; i++)
		assert_int_equal(
			r[i].entry.item.end, i == 7 ? ING_STORE_ANSWERED : ING_STORE_STORED);
	assert_answers(r[7].entry.item.answer, &r[N]);
	ing_answer_free(r[7].entry.item.answer);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM result_outbox"), N);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM ingest_file_result"), N - 1);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM ingest_file_result"
					   " WHERE base_url = 'https://a.example/7'"),
		0);
	struct ing_store_stats st;
	ing_store_stats(b.store, &st);
	assert_int_equal(st.answered, 1);
	assert_int_equal(st.fenced, 0);
	assert_int_equal(st.refused, 0);
	bench_close(&b);
}

static void two_answers_to_one_message_in_a_batch_are_one(void **state)
{
	(void)state;
	enum { N = 20 };
	struct bench b;
	struct partition p;
	struct request r[N];
	const char *dsn = answers_open(&b, N);
	claim_partition(&b, &p, "requests", 0);
	for (unsigned i = 0; i < N; i++)
		put_request(&b, &p, &r[i], i == 15 ? 4 : i, i == 15 ? "second" : "first");
	bench_wait(&b, N);
	for (unsigned i = 0; i < N; i++)
		assert_int_equal(
			r[i].entry.item.end, i == 15 ? ING_STORE_ANSWERED : ING_STORE_STORED);
	assert_answers(r[15].entry.item.answer, &r[4]);
	ing_answer_free(r[15].entry.item.answer);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM result_outbox"), N - 1);
	bench_close(&b);
}

static void a_topic_made_anew_replaces_the_row_of_the_old_one(void **state)
{
	(void)state;
	static const struct {
		int64_t timestamp_ms;
		uint64_t digest;
	} others[] = {{1, 0}, {0, 1}};
	struct bench b;
	struct partition p;
	const char *dsn = answers_open(&b, 100);
	claim_partition(&b, &p, "requests", 0);
	for (unsigned i = 0; i < ING_ARRAY_LEN(others); i++) {
		struct request old;
		struct request new;
		put_request(&b, &p, &old, i, "{\"old\":1}");
		bench_wait(&b, 2 * i + 1);
		fill_request(&b, &p, &new, i, "{\"new\":1}");
		new.source.timestamp_ms += others[i].timestamp_ms;
		new.source.digest += others[i].digest;
		ing_store_put(b.store, &new.entry.item);
		bench_wait(&b, 2 * i + 2);
		assert_int_equal(new.entry.item.end, ING_STORE_STORED);
	}
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM result_outbox"), 2);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM result_outbox"
					   " WHERE convert_from(value, 'UTF8') = '{\"new\":1}'"),
		2);
	bench_close(&b);
}

static void rows_of_other_groups_topics_and_partitions_are_left_alone(void **state)
{
	(void)state;
	struct bench b;
	struct partition p[4];
	struct request r[4];
	const char *dsn = answers_open(&b, 100);
	claim_partition(&b, &p[0], "requests", 0);
	claim_partition(&b, &p[1], "requests", 1);
	claim_partition(&b, &p[2], "requests-bulk", 0);
	p[3] = p[0];
	p[3].claim.group = "another";
	claim_again(&b, &p[3]);
	for (unsigned i = 0; i < 4; i++)
		put_request(&b, &p[i], &r[i], 5, "mine");
	bench_wait(&b, 4);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(r[i].entry.item.end, ING_STORE_STORED);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM result_outbox"), 4);
	/* Pruned, recovered, replaced: of one of them. */
	ing_store_prune(b.store, &r[1].source);
	await_number(&b, dsn, "SELECT count(*) FROM result_outbox", 3);
	assert_int_equal(
		bench_number(dsn, "SELECT count(*) FROM result_outbox WHERE partition = 1"), 0);
	p[2].claim.position = 6;
	recover_partition(&b, &p[2]);
	assert_null(p[2].claim.answers);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM result_outbox"), 2);
	struct request new;
	fill_request(&b, &p[3], &new, 5, "new");
	new.source.digest = 99;
	ing_store_put(b.store, &new.entry.item);
	bench_wait(&b, 5);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM result_outbox"
					   " WHERE kafka_group = 'g' AND topic = 'requests'"
					   " AND partition = 0 AND message_digest = -5"),
		1);
	bench_close(&b);
}

/* -- the fence ------------------------------------------------------------------------------- */

static void who_wakes_up_after_another_has_claimed_commits_nothing(void **state)
{
	(void)state;
	enum { N = 10 };
	struct bench asleep;
	struct bench other;
	struct partition p[2];
	struct partition later;
	struct request r[2 * N];
	const char *dsn = answers_open(&asleep, 100);
	bench_open(&other, dsn, 100);
	claim_partition(&asleep, &p[0], "requests", 0);
	claim_partition(&asleep, &p[1], "requests", 1);
	claim_partition(&other, &later, "requests", 0);
	assert_true(later.claim.fence > p[0].claim.fence);
	for (unsigned i = 0; i < 2 * N; i++)
		put_request(&asleep, &p[i % 2], &r[i], i, "too late");
	bench_wait(&asleep, 2 * N);
	for (unsigned i = 0; i < 2 * N; i++)
		assert_int_equal(
			r[i].entry.item.end, i % 2 == 0 ? ING_STORE_FENCED : ING_STORE_STORED);
	assert_int_equal(
		bench_number(dsn, "SELECT count(*) FROM result_outbox WHERE partition = 0"), 0);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM result_outbox"), N);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM ingest_file_result"), N);
	struct ing_store_stats st;
	ing_store_stats(asleep.store, &st);
	assert_int_equal(st.fenced, N);
	/* Nor does it bring the partition's low water back. */
	commit_position(&other, &later, 500);
	await_number(&other, dsn, "SELECT low_water FROM partition_owner WHERE partition = 0", 500);
	commit_position(&asleep, &p[0], 3);
	commit_position(&asleep, &p[1], 4);
	await_number(&asleep, dsn, "SELECT low_water FROM partition_owner WHERE partition = 1", 4);
	assert_int_equal(
		bench_number(dsn, "SELECT low_water FROM partition_owner WHERE partition = 0"),
		500);
	bench_close(&asleep);
	bench_close(&other);
}

/* The batch has checked its fence when the claim comes: one of the two waits for the other. */
static void a_claim_waits_for_the_batch_that_is_under_way(void **state)
{
	(void)state;
	struct bench b;
	struct bench other;
	struct partition p;
	struct partition later;
	struct request r;
	const char *dsn = answers_open(&b, 100);
	bench_open(&other, dsn, 100);
	claim_partition(&b, &p, "requests", 0);
	/* The rows of the batch wait behind this lock, its fence is checked before. */
	struct ing_pg *pg = lock_table(dsn, "ingest_file_result");
	put_request(&b, &p, &r, 1, "in time");
	await_number(&b, dsn,
		"SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
		" AND wait_event_type = 'Lock'",
		1);
	start_claim(&other, &later, "requests", 0);
	await_number(&other, dsn,
		"SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
		" AND wait_event_type = 'Lock'",
		2);
	assert_int_equal(later.done, 0);
	ing_pg_close(pg);
	bench_wait(&b, 1);
	assert_int_equal(r.entry.item.end, ING_STORE_STORED);
	await_claim(&other, &later, 1);
	later.claim.position = 0;
	recover_partition(&other, &later);
	assert_non_null(later.claim.answers);
	assert_answers(later.claim.answers, &r);
	assert_null(later.claim.answers->next);
	ing_answer_free(later.claim.answers);
	bench_close(&b);
	bench_close(&other);
}

static void what_was_never_claimed_is_fenced_and_rows_without_a_source_are_not(void **state)
{
	(void)state;
	struct bench b;
	struct partition p;
	struct request r[3];
	const char *dsn = answers_open(&b, 3);
	claim_partition(&b, &p, "requests", 0);
	fill_request(&b, &p, &r[0], 0, "x");
	r[0].source.partition = 1;
	fill_request(&b, &p, &r[1], 1, "x");
	r[1].source.fence = 0;
	fill_request(&b, &p, &r[2], 2, "x");
	r[2].entry.item.source = NULL;
	r[2].entry.item.message = NULL;
	for (unsigned i = 0; i < 3; i++)
		ing_store_put(b.store, &r[i].entry.item);
	bench_wait(&b, 3);
	assert_int_equal(r[0].entry.item.end, ING_STORE_FENCED);
	assert_int_equal(r[1].entry.item.end, ING_STORE_FENCED);
	assert_int_equal(r[2].entry.item.end, ING_STORE_STORED);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM ingest_file_result"), 1);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM result_outbox"), 0);
	bench_close(&b);
}

static void two_claimers_at_once_get_two_fences(void **state)
{
	(void)state;
	enum { N = 20 };
	struct bench b[2];
	struct partition p[2][N];
	answers_open(&b[0], 100);
	bench_open(&b[1], b[0].dsn, 100);
	for (unsigned i = 0; i < N; i++) {
		start_claim(&b[0], &p[0][i], "requests", 0);
		start_claim(&b[1], &p[1][i], "requests", 0);
	}
	for (unsigned i = 0; i < N; i++) {
		await_claim(&b[0], &p[0][i], 1);
		await_claim(&b[1], &p[1][i], 1);
	}
	int64_t highest = 0;
	for (unsigned i = 0; i < 2 * N; i++) {
		highest = ING_MAX(highest, p[i / N][i % N].claim.fence);
		for (unsigned k = 0; k < i; k++)
			assert_true(p[i / N][i % N].claim.fence != p[k / N][k % N].claim.fence);
	}
	assert_int_equal(bench_number(b[0].dsn, "SELECT fence FROM partition_owner"), highest);
	/* Only the last one's rows come back. */
	for (unsigned i = 0; i < 2; i++) {
		recover_partition(&b[i], &p[i][N - 1]);
		assert_int_equal(p[i][N - 1].claim.superseded, p[i][N - 1].claim.fence != highest);
	}
	bench_close(&b[0]);
	bench_close(&b[1]);
}

/* The newest commits of a server are lost with it when its standby did not have them. */
static void a_fence_is_not_used_again_by_a_table_that_has_lost_its_newest_rows(void **state)
{
	(void)state;
	struct bench b;
	struct partition p[2];
	const char *dsn = answers_open(&b, 100);
	claim_partition(&b, &p[0], "requests", 0);
	bench_sql(dsn, "DELETE FROM partition_owner");
	claim_partition(&b, &p[1], "requests", 0);
	assert_true(p[1].claim.fence > p[0].claim.fence);
	bench_close(&b);
}

/* -- recovery -------------------------------------------------------------------------------- */

static bool is_even(const void *ctx, int64_t offset)
{
	(void)ctx;
	return offset % 2 == 0;
}

static void what_is_committed_is_pruned_and_the_rest_comes_back_in_order(void **state)
{
	(void)state;
	enum { N = 200, POSITION = 60 };
	struct bench b;
	struct partition p;
	struct request *r = ing_alloc(N * sizeof(*r));
	const char *dsn = answers_open(&b, 100);
	claim_partition(&b, &p, "requests", 0);
	for (unsigned i = 0; i < N; i++)
		put_request(&b, &p, &r[(i * 77) % N], (i * 77) % N, "{}");
	bench_wait(&b, N);
	bench_close(&b);
	bench_open(&b, dsn, 100);
	claim_partition(&b, &p, "requests", 0);
	p.claim.position = POSITION;
	p.claim.is_finished = is_even;
	recover_partition(&b, &p);
	assert_false(p.claim.superseded);
	struct ing_answer *a = p.claim.answers;
	for (unsigned i = POSITION + 1; i < N; i += 2) {
		assert_non_null(a);
		assert_answers(a, &r[i]);
		struct ing_answer *next = a->next;
		ing_answer_free(a);
		a = next;
	}
	assert_null(a);
	await_number(&b, dsn, "SELECT count(*) FROM result_outbox", (N - POSITION) / 2);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM result_outbox"
					   " WHERE \"offset\" < 60 OR \"offset\" % 2 = 0"),
		0);
	bench_close(&b);
	free(r);
}

static void low_water_and_mark_outlive_their_owner(void **state)
{
	(void)state;
	struct bench b;
	struct partition p;
	const char *dsn = answers_open(&b, 100);
	claim_partition(&b, &p, "requests", 0);
	assert_int_equal(p.claim.low_water, -1);
	assert_int_equal(p.claim.mark_offset, -1);
	assert_int_equal(p.claim.mark_timestamp_ms, -1);
	commit_position(&b, &p, 70);
	commit_position(&b, &p, 71);
	await_number(&b, dsn, "SELECT low_water FROM partition_owner", 71);
	bench_close(&b);
	bench_open(&b, dsn, 100);
	claim_partition(&b, &p, "requests", 0);
	assert_int_equal(p.claim.low_water, 71);
	assert_int_equal(p.claim.mark_offset, 70);
	assert_int_equal(p.claim.mark_timestamp_ms, 1700000000070);
	bench_close(&b);
}

static void pruning_waits_for_no_batch_and_spares_the_row_of_another_message(void **state)
{
	(void)state;
	enum { N = 3000 };
	struct bench b;
	struct partition p[3];
	struct request *r = ing_alloc(N * sizeof(*r));
	const char *dsn = answers_open(&b, 500);
	for (int i = 0; i < 3; i++)
		claim_partition(&b, &p[i], "requests", i);
	for (unsigned i = 0; i < N; i++)
		put_request(&b, &p[i % 3], &r[i], i, "{}");
	bench_wait(&b, N);
	r[7].source.digest++;
	r[8].source.timestamp_ms++;
	for (unsigned i = 0; i < N; i++)
		ing_store_prune(b.store, &r[i].source);
	await_number(&b, dsn, "SELECT count(*) FROM result_outbox", 2);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM result_outbox"
					   " WHERE \"offset\" IN (7, 8)"),
		2);
	struct ing_store_stats st;
	ing_store_stats(b.store, &st);
	assert_int_equal(st.pruned, N);
	bench_close(&b);
	free(r);
}

static void a_claim_that_is_cancelled_does_not_come_back(void **state)
{
	(void)state;
	struct bench b;
	struct partition p[2];
	const char *dsn = answers_open(&b, 100);
	struct ing_pg *pg = lock_table(dsn, "partition_owner");
	start_claim(&b, &p[0], "requests", 0);
	start_claim(&b, &p[1], "requests", 1);
	const struct ing_claim_ops ops = ing_store_claim_ops(b.store);
	ops.cancel(ops.ctx, &p[0].claim);
	ops.cancel(ops.ctx, &p[0].claim);
	ing_pg_close(pg);
	await_claim(&b, &p[1], 1);
	assert_int_equal(p[0].done, 0);
	assert_int_equal(p[0].claim.fence, 0);
	bench_close(&b);
}

static void an_answer_of_an_output_that_is_unknown_here_is_replaced(void **state)
{
	(void)state;
	struct bench b;
	struct partition p;
	struct request r[2];
	const char *dsn = answers_open(&b, 100);
	claim_partition(&b, &p, "requests", 0);
	put_request(&b, &p, &r[0], 1, "newer");
	bench_wait(&b, 1);
	bench_sql(dsn, "UPDATE result_outbox SET output = 'of the future'");
	recover_partition(&b, &p);
	assert_null(p.claim.answers);
	put_request(&b, &p, &r[1], 1, "ours");
	bench_wait(&b, 2);
	assert_int_equal(r[1].entry.item.end, ING_STORE_STORED);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM result_outbox"
					   " WHERE value = 'ours' AND output = 'results'"),
		1);
	bench_close(&b);
}

/* Seen by the address sanitizer. */
static void a_store_that_is_freed_before_it_has_called_back_keeps_no_answer(void **state)
{
	(void)state;
	struct bench b;
	struct partition p;
	struct request r[2];
	struct ing_store_stats st = {0};
	answers_open(&b, 100);
	claim_partition(&b, &p, "requests", 0);
	put_request(&b, &p, &r[0], 1, "first");
	bench_wait(&b, 1);
	put_request(&b, &p, &r[1], 1, "second");
	for (unsigned i = 0; i < WAIT_LIMIT_MS && st.answered == 0; i++) {
		usleep(1000);
		ing_store_stats(b.store, &st);
	}
	assert_int_equal(st.answered, 1);
	bench_close(&b);
	assert_int_equal(b.done, 1);
}

/* Whatever stands in the column: pairs of terminated texts, the rest left out. */
static void headers_are_read_as_far_as_they_go(void **state)
{
	(void)state;
	static const struct {
		const char *hex;
		size_t want;
		const char *last;
	} cases[] = {
		{NULL, 0, NULL},
		{"\\x", 0, NULL},
		{"\\x61", 0, NULL},
		{"\\x6100", 0, NULL},
		{"\\x610062", 0, NULL},
		{"\\x61006200", 1, "b"},
		{"\\x0000", 1, ""},
		{"\\x6100620063", 1, "b"},
		{"\\x610062006300", 1, "b"},
		{"\\x6100620063006400", 2, "d"},
		{"garbage", 0, NULL},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		const char *values[ING_OUTBOX_COLUMN_COUNT] = {
			"1", "2", "3", "results", NULL, cases[i].hex, NULL};
		struct ing_answer *a = ing_outbox_answer(values);
		assert_non_null(a);
		assert_int_equal(a->message.header_count, cases[i].want);
		if (cases[i].want > 0)
			assert_string_equal(
				a->message.headers[cases[i].want - 1].value, cases[i].last);
		ing_answer_free(a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers_are_read_as_far_as_they_go),
		WITH_SERVER(an_answer_is_written_with_its_rows),
		WITH_SERVER(who_comes_later_gets_the_first_answer_byte_for_byte),
		WITH_SERVER(a_loser_writes_no_rows_and_stops_nobody),
		WITH_SERVER(two_answers_to_one_message_in_a_batch_are_one),
		WITH_SERVER(a_topic_made_anew_replaces_the_row_of_the_old_one),
		WITH_SERVER(rows_of_other_groups_topics_and_partitions_are_left_alone),
		WITH_SERVER(who_wakes_up_after_another_has_claimed_commits_nothing),
		WITH_SERVER(a_claim_waits_for_the_batch_that_is_under_way),
		WITH_SERVER(what_was_never_claimed_is_fenced_and_rows_without_a_source_are_not),
		WITH_SERVER(two_claimers_at_once_get_two_fences),
		WITH_SERVER(a_fence_is_not_used_again_by_a_table_that_has_lost_its_newest_rows),
		WITH_SERVER(what_is_committed_is_pruned_and_the_rest_comes_back_in_order),
		WITH_SERVER(low_water_and_mark_outlive_their_owner),
		WITH_SERVER(pruning_waits_for_no_batch_and_spares_the_row_of_another_message),
		WITH_SERVER(a_claim_that_is_cancelled_does_not_come_back),
		WITH_SERVER(an_answer_of_an_output_that_is_unknown_here_is_replaced),
		WITH_SERVER(a_store_that_is_freed_before_it_has_called_back_keeps_no_answer),
	};
	return cmocka_run_group_tests(tests, bench_start, bench_stop);
}
