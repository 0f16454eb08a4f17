/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The store's part of an assignment, against librdkafka's in-process cluster and a store that does what
 * the test says: fences, answers that are not committed, positions that the brokers have lost.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/clock.h"
#include "common/data/digest.h"
#include "group.h"
#include "side_by_side.h"

#define TOPIC "requests"
#define MAX_ANSWERS 8
#define ANSWER_EVERY_MS 5

static const char *const topics[ING_LANES_] = {[ING_LANE_REQUESTS] = TOPIC};

/* Answers what it is asked a little later, as the store does, unless it is away. */
struct fake_store {
	uv_timer_t timer;
	struct ing_claim *asked[MAX_PARTITIONS];
	bool recovering[MAX_PARTITIONS]; /* what it is asked */
	size_t asked_count;
	bool away;
	int64_t last_fence;
	int64_t low_water, mark_offset, mark_timestamp_ms; /* of an earlier owner */
	unsigned supersede;                                /* so many of the next recover() */
	unsigned claims, recovers, cancels, commits;
	int64_t recovered_at;          /* position of the last recover() */
	bool covers[64];               /* and what its map has */
	struct ing_answer *answers;    /* of the next recover() */
	struct ing_position committed; /* the last */
};

static void answer_claim(struct fake_store *s, struct ing_claim *c)
{
	c->fence = ++s->last_fence;
	c->low_water = s->low_water;
	c->mark_offset = s->mark_offset;
	c->mark_timestamp_ms = s->mark_timestamp_ms;
}

static void answer_recover(struct fake_store *s, struct ing_claim *c)
{
	s->recovered_at = c->position;
	for (int64_t i = 0; i < 64; i++)
		s->covers[i] = c->is_finished(c->finished_ctx, i);
	c->superseded = s->supersede > 0;
	if (c->superseded)
		s->supersede--;
	else
		c->answers = ING_TAKE(s->answers);
}

static void on_tick(uv_timer_t *timer)
{
	struct fake_store *s = timer->data;
	struct fake_store was = *s;
	if (s->away)
		return;
	s->asked_count = 0;
	for (size_t i = 0; i < was.asked_count; i++) {
		struct ing_claim *c = was.asked[i];
		if (was.recovering[i])
			answer_recover(s, c);
		else
			answer_claim(s, c);
		c->done(c);
	}
}

static void ask(struct fake_store *s, struct ing_claim *c, bool recovering)
{
	assert_string_equal(c->group, GROUP);
	assert_string_equal(c->topic, TOPIC);
	assert_true(s->asked_count < MAX_PARTITIONS);
	s->asked[s->asked_count] = c;
	s->recovering[s->asked_count++] = recovering;
}

static void claim(void *ctx, struct ing_claim *c)
{
	struct fake_store *s = ctx;
	s->claims++;
	ask(s, c, false);
}

static void recover(void *ctx, struct ing_claim *c)
{
	struct fake_store *s = ctx;
	assert_true(c->fence > 0);
	s->recovers++;
	ask(s, c, true);
}

static void cancel(void *ctx, struct ing_claim *c)
{
	struct fake_store *s = ctx;
	s->cancels++;
	for (size_t i = 0; i < s->asked_count; i++) {
		if (s->asked[i] != c)
			continue;
		s->asked[i] = s->asked[s->asked_count - 1];
		s->recovering[i] = s->recovering[s->asked_count - 1];
		s->asked_count--;
		return;
	}
	fail_msg("what is cancelled was not asked");
}

static void note_committed(void *ctx, const struct ing_positions *p)
{
	struct fake_store *s = ctx;
	s->commits++;
	s->committed = p->all[p->count - 1];
	assert_in_range(s->committed.fence, 1, s->last_fence);
}

struct group {
	struct fixture f;
	struct fake_store store;
};

static void setup_store(struct group *g, int partitions)
{
	setup(&g->f, topics, partitions);
	g->store = (struct fake_store){.low_water = -1, .mark_offset = -1, .mark_timestamp_ms = -1};
	uv_timer_init(&g->f.loop, &g->store.timer);
	g->store.timer.data = &g->store;
	uv_timer_start(&g->store.timer, on_tick, ANSWER_EVERY_MS, ANSWER_EVERY_MS);
	g->f.a.claims = (struct ing_claim_ops){&g->store, claim, recover, cancel, note_committed};
}

static void teardown_store(struct group *g)
{
	close_worker(&g->f, &g->f.a);
	assert_int_equal(g->store.asked_count, 0);
	assert_null(g->store.answers);
	uv_close((uv_handle_t *)&g->store.timer, NULL);
	teardown(&g->f);
}

/* Message "rN" at offset N of partition 0, with the timestamp 1,000,000 + N. */
static void fill_timed(struct group *g, int first, int end)
{
	for (int i = first; i < end; i++) {
		char value[16];
		snprintf(value, sizeof(value), "r%d", i);
		assert_int_equal(
			rd_kafka_producev(g->f.kafka.rk, RD_KAFKA_V_TOPIC(TOPIC),
				RD_KAFKA_V_PARTITION(0), RD_KAFKA_V_VALUE(value, strlen(value)),
				RD_KAFKA_V_TIMESTAMP(1000000 + i),
				RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END),
			0);
	}
	assert_int_equal(rd_kafka_flush(g->f.kafka.rk, CEILING_MS), 0);
}

static uint64_t digest_of(const char *value)
{
	struct ing_digests d;
	uint64_t first = 0;
	ing_digest(ING_DIGEST_SHA1, value, strlen(value), &d);
	for (int i = 0; i < 8; i++)
		first = first << 8 | d.sha1[i];
	return first;
}

/* To the message "rN" at its offset, as fill_timed() makes it; in order. */
static void add_answer(struct group *g, int64_t offset, int64_t timestamp_ms, const char *value)
{
	struct ing_answer **end = &g->store.answers;
	while (*end != NULL)
		end = &(*end)->next;
	*end = ing_alloc(sizeof(**end));
	**end = (struct ing_answer){.offset = offset,
		.timestamp_ms = timestamp_ms,
		.digest = digest_of(value),
		.message = {
			.output = ING_OUTPUT_RESULTS, .value = ing_strdup("{}"), .value_bytes = 2}};
}

/* ---- Claims ---- */

/* Nothing is read before the store has answered: an earlier owner could still write. */
static void test_nothing_is_read_before_the_partition_is_claimed(void **state)
{
	(void)state;
	struct group g;
	setup_store(&g, 2);
	fill(&g.f, ING_LANE_REQUESTS, 20);
	g.store.away = true;
	open_worker(&g.f, &g.f.a, "one", CHANGING, NULL);
	wait_count(&g.f, &g.store.claims, 2);
	turn(&g.f, 1000);
	assert_int_equal(g.f.a.messages, 0);
	assert_int_equal(g.store.recovers, 0);
	g.store.away = false;
	wait_count(&g.f, &g.f.a.messages, 20);
	assert_int_equal(g.store.recovers, 2);
	assert_int_equal(g.store.claims, 2);
	struct ing_source source;
	assert_true(ing_intake_source(g.f.a.in, g.f.a.tokens[0], &source));
	assert_in_range(source.fence, 1, 2);
	assert_string_equal(source.group, GROUP);
	assert_string_equal(source.topic, TOPIC);
	assert_true(source.offset == g.f.a.tokens[0].offset && source.timestamp_ms > 0);
	char value[16];
	snprintf(value, sizeof(value), "r%d", (int)source.offset * 2 + source.partition);
	assert_true(source.digest == digest_of(value));
	teardown_store(&g);
}

/* The assignment ends while the store is away: the claim is cancelled, and made again for the next
 * one. */
static void test_a_revocation_cancels_the_claim(void **state)
{
	(void)state;
	struct group g;
	setup_store(&g, 1);
	fill(&g.f, ING_LANE_REQUESTS, 5);
	g.store.away = true;
	open_worker(&g.f, &g.f.a, "one", CHANGING, NULL);
	wait_count(&g.f, &g.store.claims, 1);
	rd_kafka_mock_push_request_errors(
		g.f.kafka.cluster, 12 /* Heartbeat */, 1, RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID);
	wait_count(&g.f, &g.store.cancels, 1);
	wait_count(&g.f, &g.store.claims, 2);
	g.store.away = false;
	wait_count(&g.f, &g.f.a.messages, 5);
	assert_int_equal(g.store.cancels, 1);
	teardown_store(&g);
}

/* Another worker's claim came after ours, of an assignment that is over: as long as Kafka says that the
 * partition is ours, it is claimed again. */
static void test_a_superseded_claim_is_repeated(void **state)
{
	(void)state;
	struct group g;
	setup_store(&g, 1);
	fill(&g.f, ING_LANE_REQUESTS, 5);
	g.store.supersede = 1;
	open_worker(&g.f, &g.f.a, "one", STEADY, NULL);
	wait_count(&g.f, &g.store.recovers, 1);
	turn(&g.f, 200);
	assert_int_equal(g.f.a.messages, 0);
	wait_count(&g.f, &g.f.a.messages, 5);
	assert_int_equal(g.store.claims, 2);
	teardown_store(&g);
}

/* The same after messages were taken: the store refuses to write for them. They are cancelled, and come
 * again under a new epoch and fence. */
static void test_a_fenced_partition_is_claimed_again(void **state)
{
	(void)state;
	struct group g;
	setup_store(&g, 1);
	fill(&g.f, ING_LANE_REQUESTS, 5);
	open_worker(&g.f, &g.f.a, "one", STEADY, NULL);
	wait_count(&g.f, &g.f.a.messages, 5);
	ing_intake_fenced(g.f.a.in, g.f.a.tokens[2]);
	ing_intake_fenced(g.f.a.in, g.f.a.tokens[3]);
	assert_int_equal(g.f.a.revoked, 0); /* not from inside the call */
	wait_count(&g.f, &g.f.a.revoked, 1);
	ing_intake_fenced(g.f.a.in, g.f.a.tokens[4]); /* of an epoch that is over */
	struct ing_source source;
	assert_false(ing_intake_source(g.f.a.in, g.f.a.tokens[0], &source));
	wait_count(&g.f, &g.f.a.messages, 10);
	assert_int_equal(g.f.a.revoked, 1);
	assert_int_equal(g.store.claims, 2);
	assert_true(ing_intake_source(g.f.a.in, g.f.a.tokens[5], &source));
	assert_int_equal(source.fence, 2);
	teardown_store(&g);
}

/* The store learns where its owner is, so that the next one finds it. */
static void test_the_store_learns_what_is_committed(void **state)
{
	(void)state;
	struct group g;
	setup_store(&g, 1);
	fill_timed(&g, 0, 10);
	open_worker(&g.f, &g.f.a, "one", STEADY, NULL);
	wait_count(&g.f, &g.f.a.messages, 10);
	for (int i = 0; i < 7; i++)
		ing_intake_finish(g.f.a.in, g.f.a.tokens[i]);
	ing_intake_finish(g.f.a.in, g.f.a.tokens[8]);
	wait_committed(&g.f, ING_LANE_REQUESTS, 7);
	uint64_t deadline = ing_now_ms() + CEILING_MS;
	while (g.store.committed.offset != 7 && ing_now_ms() < deadline)
		turn(&g.f, 20);
	assert_int_equal(g.store.committed.offset, 7);
	assert_int_equal(g.store.committed.mark_offset, 6);
	assert_int_equal(g.store.committed.mark_timestamp_ms, 1000006);
	teardown_store(&g);
}

/* ---- Answers ---- */

static void look_at_answer(struct worker *w, const struct ing_message *m)
{
	bool *answered = w->look_ctx;
	assert_in_range(m->token.offset, 0, 63);
	answered[m->token.offset] = m->answer != NULL;
	if (m->answer != NULL)
		assert_true(m->answer->offset == m->token.offset &&
			    m->answer->message.value_bytes == 2);
}

/* What the database has comes with its message, but only with the one that it answers: another
 * timestamp or another value is another message, of an earlier topic. */
static void test_answers_come_with_their_messages(void **state)
{
	(void)state;
	struct group g;
	bool answered[64] = {false};
	setup_store(&g, 1);
	fill_timed(&g, 0, 10);
	mock_kafka_commit(&g.f.kafka, GROUP, TOPIC, 2);
	add_answer(&g, 3, 1000003, "r3");
	add_answer(&g, 4, 1000005, "r4");
	add_answer(&g, 6, 1000006, "r7");
	add_answer(&g, 9, 1000009, "r9");
	add_answer(&g, 20, 1000020, "r20"); /* its message has not come yet */
	g.f.a.look = look_at_answer;
	g.f.a.look_ctx = answered;
	open_worker(&g.f, &g.f.a, "one", STEADY, NULL);
	wait_count(&g.f, &g.f.a.messages, 8);
	assert_int_equal(g.store.recovered_at, 2);
	for (int i = 2; i < 10; i++)
		assert_int_equal(answered[i], i == 3 || i == 9);
	assert_int_equal(g.f.a.times[3], 1);
	fill_timed(&g, 10, 22);
	wait_count(&g.f, &g.f.a.messages, 20);
	assert_true(answered[20] && !answered[21]);
	teardown_store(&g);
}

/* The next owner tells the store what its predecessor's map has. */
static void test_the_map_goes_to_the_store(void **state)
{
	(void)state;
	struct group g;
	setup_store(&g, 1);
	fill_timed(&g, 0, 10);
	open_worker(&g.f, &g.f.a, "one", STEADY, NULL);
	wait_count(&g.f, &g.f.a.messages, 10);
	for (int i = 0; i < 10; i++)
		if (i != 4 && i != 7)
			ing_intake_finish(g.f.a.in, g.f.a.tokens[i]);
	wait_committed(&g.f, ING_LANE_REQUESTS, 4);
	close_worker(&g.f, &g.f.a);
	struct ing_claim_ops claims = g.f.a.claims;
	g.f.a = (struct worker){.claims = claims};
	open_worker(&g.f, &g.f.a, "one", STEADY, NULL);
	wait_count(&g.f, &g.f.a.messages, 2);
	assert_int_equal(g.store.recovered_at, 4);
	for (int i = 4; i < 64; i++)
		assert_int_equal(g.store.covers[i], i < 10 && i != 4 && i != 7);
	teardown_store(&g);
}

/* Retention has deleted messages that are answered but not committed: their answers are handed out all
 * the same, before the first message that there is; the others are lost, and counted. */
static void test_answers_of_expired_messages_are_handed_out(void **state)
{
	(void)state;
	enum { BYTES = 100000 };
	static char value[BYTES] = "r0 ";
	struct group g;
	setup_store(&g, 1);
	mock_kafka_commit(&g.f.kafka, GROUP, TOPIC, 3);
	for (int i = 0; i < 80; i++) { /* the cluster keeps 5 MB */
		assert_int_equal(rd_kafka_producev(g.f.kafka.rk, RD_KAFKA_V_TOPIC(TOPIC),
					 RD_KAFKA_V_PARTITION(0), RD_KAFKA_V_VALUE(value, BYTES),
					 RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END),
			0);
		assert_int_equal(rd_kafka_flush(g.f.kafka.rk, CEILING_MS), 0);
	}
	int64_t low, high;
	assert_int_equal(
		rd_kafka_query_watermark_offsets(g.f.kafka.rk, TOPIC, 0, &low, &high, CEILING_MS),
		0);
	assert_true(low > 10 && high == 80);
	add_answer(&g, 4, 1000004, "r4");
	add_answer(&g, 7, 1000007, "r7");
	open_worker(&g.f, &g.f.a, "one", STEADY, NULL);
	wait_count(&g.f, &g.f.a.messages, (unsigned)(80 - low) + 2);
	assert_int_equal(g.f.a.tokens[0].offset, 4);
	assert_int_equal(g.f.a.tokens[1].offset, 7);
	assert_int_equal(g.f.a.tokens[2].offset, low);
	struct ing_intake_stats stats;
	ing_intake_stats(g.f.a.in, &stats);
	assert_int_equal(stats.lost, low - 3 - 2);
	struct ing_source source;
	assert_true(ing_intake_source(g.f.a.in, g.f.a.tokens[1], &source));
	assert_true(source.timestamp_ms == 1000007 && source.digest == digest_of("r7"));
	for (unsigned i = 0; i < g.f.a.messages; i++)
		if (i != 1)
			ing_intake_finish(g.f.a.in, g.f.a.tokens[i]);
	wait_committed(&g.f, ING_LANE_REQUESTS, 7);
	ing_intake_finish(g.f.a.in, g.f.a.tokens[1]);
	wait_committed(&g.f, ING_LANE_REQUESTS, 80);
	teardown_store(&g);
}

/* ---- Offsets that the brokers have expired ---- */

/* The group has no offset, but the last owner's notes are in the database, and the message before its
 * position is still the same. */
static void test_an_expired_offset_is_bridged_by_the_last_owners_position(void **state)
{
	(void)state;
	struct group g;
	setup_store(&g, 1);
	fill_timed(&g, 0, 20);
	g.store.low_water = 13;
	g.store.mark_offset = 12;
	g.store.mark_timestamp_ms = 1000012;
	open_worker(&g.f, &g.f.a, "one", STEADY, NULL);
	wait_count(&g.f, &g.f.a.messages, 7);
	assert_int_equal(g.f.a.tokens[0].offset, 13);
	assert_int_equal(g.store.recovered_at, 13);
	expect_committed(&g.f, ING_LANE_REQUESTS, 13);
	/* Nothing below the position was seen by this owner: the mark stays. */
	assert_int_equal(g.store.committed.mark_offset, 12);
	teardown_store(&g);
}

/* The same, but another message is there: the topic was made anew while nobody looked. */
static void test_the_last_owners_position_is_not_used_in_another_log(void **state)
{
	(void)state;
	struct group g;
	setup_store(&g, 1);
	fill_timed(&g, 0, 20);
	g.store.low_water = 13;
	g.store.mark_offset = 12;
	g.store.mark_timestamp_ms = 2000012;
	open_worker(&g.f, &g.f.a, "one", STEADY, NULL);
	wait_count(&g.f, &g.f.a.messages, 20);
	assert_int_equal(g.f.a.tokens[0].offset, 0);
	expect_committed(&g.f, ING_LANE_REQUESTS, 0);
	teardown_store(&g);
}

/* usage: intake_claim_test [PART], of the names of the tests that are to run */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_is_read_before_the_partition_is_claimed),
		cmocka_unit_test(test_a_revocation_cancels_the_claim),
		cmocka_unit_test(test_a_superseded_claim_is_repeated),
		cmocka_unit_test(test_a_fenced_partition_is_claimed_again),
		cmocka_unit_test(test_the_store_learns_what_is_committed),
		cmocka_unit_test(test_answers_come_with_their_messages),
		cmocka_unit_test(test_the_map_goes_to_the_store),
		cmocka_unit_test(test_answers_of_expired_messages_are_handed_out),
		cmocka_unit_test(test_an_expired_offset_is_bridged_by_the_last_owners_position),
		cmocka_unit_test(test_the_last_owners_position_is_not_used_in_another_log),
	};
	return run_side_by_side(tests, ING_ARRAY_LEN(tests), argc > 1 ? argv[1] : "");
}
