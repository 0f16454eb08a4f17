/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Workers that write down what they are handed.
 */
#include "group.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/clock.h"

/* Within an assignment the messages of a partition come in order, and so none twice. */
static void check_order(struct worker *w, const struct ing_message *m)
{
	struct ing_token *newest = &w->newest[m->lane][m->partition];
	assert_true(m->token.epoch > w->dead_epoch);
	if (newest->epoch == m->token.epoch)
		assert_true(m->token.offset > newest->offset);
	*newest = m->token;
}

static int number_of(const struct ing_message *m)
{
	char text[64];
	int number;
	snprintf(text, sizeof(text), "%.*s", (int)ING_MIN(m->value_bytes, (size_t)60), m->value);
	assert_int_equal(sscanf(text, "r%d", &number), 1);
	assert_in_range(number, 0, MAX_MESSAGES - 1);
	return number;
}

static void on_message(void *ctx, const struct ing_message *m)
{
	struct worker *w = ctx;
	assert_true(w->messages < MAX_MESSAGES);
	assert_in_range(m->lane, 0, ING_LANES_ - 1);
	assert_non_null(w->group->topics[m->lane]);
	assert_in_range(m->partition, 0, w->group->partitions - 1);
	if (w->look != NULL)
		w->look(w, m);
	if (w->group->tier_topics == NULL || strstr(m->topic, "-parked-") == NULL) {
		assert_string_equal(m->topic, w->group->topics[m->lane]);
		check_order(w, m);
	}
	if (m->answer == NULL || m->value_bytes > 0)
		w->times[number_of(m)]++;
	w->of_lane[m->lane]++;
	w->tokens[w->messages] = m->token;
	w->lanes[w->messages] = m->lane;
	w->messages++;
	w->this_turn++;
	for (uint64_t until_ms = ing_now_ms() + w->busy_ms; ing_now_ms() < until_ms;)
		;
	if (w->finish_at_once)
		ing_intake_finish(w->in, m->token);
	if (w->messages == w->pause_after)
		ing_intake_pause(w->in, ING_LANE_REQUESTS, true);
}

static void on_revoked(void *ctx, int32_t slot, uint32_t epoch)
{
	struct worker *w = ctx;
	assert_true(slot >= 0);
	if (w->on_first_revoked != NULL)
		w->on_first_revoked(w->group);
	w->revoked++;
	w->dead_epoch = ING_MAX(w->dead_epoch, epoch);
}

static void on_assigned(void *ctx, unsigned partitions)
{
	struct worker *w = ctx;
	w->assigned++;
	w->last_assigned = partitions;
}

static void on_end(void *ctx)
{
	(void)ctx;
	fail();
}

static void on_fatal(void *ctx, const struct ing_error *err)
{
	print_message("  fatal: %s\n", err->msg);
	((struct worker *)ctx)->fatals++;
}

void setup(struct fixture *f, const char *const *topics, int partitions)
{
	setup_brokers(f, topics, partitions, 1);
}

void setup_brokers(struct fixture *f, const char *const *topics, int partitions, int brokers)
{
	memset(f, 0, sizeof(*f));
	assert_in_range(partitions, 1, MAX_PARTITIONS);
	f->topics = topics;
	f->partitions = partitions;
	mock_kafka_init(&f->kafka, brokers);
	rd_kafka_mock_coordinator_set(f->kafka.cluster, "group", GROUP, 1);
	for (int i = 0; i < ING_LANES_; i++) {
		if (topics[i] == NULL)
			continue;
		mock_kafka_topic(&f->kafka, topics[i], partitions);
		for (int k = 0; k < partitions; k++)
			rd_kafka_mock_partition_set_leader(f->kafka.cluster, topics[i], k, 1);
	}
	uv_loop_init(&f->loop);
}

void open_worker(struct fixture *f, struct worker *w, const char *instance, const char *session,
	const char *property)
{
	char texts[4][64] = {"heartbeat.interval.ms=300", "topic.metadata.refresh.interval.ms=300"};
	snprintf(texts[2], sizeof(texts[2]), "%s", session);
	snprintf(texts[3], sizeof(texts[3]), "%s", property == NULL ? "" : property);
	char *properties[] = {
		texts[0], texts[1], texts[2], property == NULL ? NULL : texts[3], NULL};
	struct ing_kafka_settings settings = {
		.brokers = f->kafka.brokers,
		.group = GROUP,
		.max_message_bytes = 1 << 20,
		.delivery =
			w->exactly_once ? ING_GUARANTEE_EXACTLY_ONCE : ING_GUARANTEE_AT_LEAST_ONCE,
		.properties = {.values = properties},
	};
	if (f->tier_topics != NULL)
		for (unsigned i = 0; i < ING_TIERS_; i++)
			settings.output_topics[ING_OUTPUT_OF_TIER(i)] = f->tier_topics[i];
	for (int i = 0; i < ING_LANES_; i++)
		settings.lane_topics[i] = f->topics[i];
	struct ing_intake_events ev = {w, on_message, on_revoked, on_assigned, on_end, on_fatal};
	struct ing_error err = {0};
	w->group = f;
	assert_int_equal(ing_intake_kafka_new(&f->loop, &settings, instance,
				 w->claims.ctx != NULL ? &w->claims : NULL, &ev, &w->in, &err),
		0);
	if (w->starts_away)
		ing_intake_leave(w->in);
	ing_intake_start(w->in);
}

void close_worker(struct fixture *f, struct worker *w)
{
	ing_intake_free(ING_TAKE(w->in));
	uv_run(&f->loop, UV_RUN_NOWAIT);
}

void teardown(struct fixture *f)
{
	close_worker(f, &f->a);
	close_worker(f, &f->b);
	uv_run(&f->loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&f->loop), 0);
	mock_kafka_done(&f->kafka);
}

void fill(struct fixture *f, enum ing_lane lane, int count)
{
	mock_kafka_fill(&f->kafka, f->topics[lane], f->partitions, "r", count);
}

void turn(struct fixture *f, int ms)
{
	mock_turn_until(&f->loop, NULL, ms);
}

void wait_count(struct fixture *f, const unsigned *counter, unsigned want)
{
	if (!mock_turn_count(&f->loop, counter, want, CEILING_MS))
		fail_msg("%u of %u", *counter, want);
}

void wait_shared(struct fixture *f, unsigned a, unsigned b)
{
	uint64_t deadline = ing_now_ms() + CEILING_MS;
	while ((f->a.last_assigned != a || f->b.last_assigned != b) && ing_now_ms() < deadline)
		turn(f, 20);
	assert_int_equal(f->a.last_assigned, a);
	assert_int_equal(f->b.last_assigned, b);
}

/* Assignments and revocations so far; 0 when one of them does not have what it should have. */
static unsigned changes_of(const struct worker *workers, unsigned count, unsigned partitions)
{
	unsigned changes = 0;
	for (unsigned i = 0; i < count; i++) {
		if (workers[i].last_assigned != partitions)
			return 0;
		changes += workers[i].assigned + workers[i].revoked;
	}
	return changes;
}

void wait_settled(struct fixture *f, struct worker *workers, unsigned count, unsigned partitions)
{
	uint64_t deadline = ing_now_ms() + 2 * CEILING_MS;
	uint64_t since = ing_now_ms();
	unsigned before = 0;
	while (ing_now_ms() < deadline && ing_now_ms() - since < SETTLED_MS) {
		unsigned changes = changes_of(workers, count, partitions);
		if (changes == 0 || changes != before)
			since = ing_now_ms();
		before = changes;
		turn(f, 50);
	}
	if (ing_now_ms() - since < SETTLED_MS)
		fail_msg("the group does not settle at %u partitions each", partitions);
}

/* Which partition's position is not `want`, and what is it? -1: none. */
static int find_other(struct fixture *f, enum ing_lane lane, int64_t want, int64_t *ret_got)
{
	int64_t offsets[MAX_PARTITIONS];
	mock_kafka_committed(&f->kafka, GROUP, f->topics[lane], f->partitions, offsets);
	for (int i = 0; i < f->partitions; i++) {
		if (offsets[i] == want)
			continue;
		*ret_got = offsets[i];
		return i;
	}
	return -1;
}

void expect_committed(struct fixture *f, enum ing_lane lane, int64_t want)
{
	int64_t got = 0;
	int i = find_other(f, lane, want, &got);
	if (i >= 0)
		fail_msg("%s/%d: %lld, not %lld", f->topics[lane], i, (long long)got,
			(long long)want);
}

void wait_committed(struct fixture *f, enum ing_lane lane, int64_t want)
{
	uint64_t deadline = ing_now_ms() + CEILING_MS;
	int64_t got = 0;
	do
		turn(f, 200);
	while (find_other(f, lane, want, &got) >= 0 && ing_now_ms() < deadline);
	expect_committed(f, lane, want);
}
