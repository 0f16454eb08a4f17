/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Records, their callbacks, and an intake that only counts.
 */
#include "record_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "worker/emit/topics.h"

static const char *const output_topics[ING_OUTPUTS_] = {[ING_OUTPUT_RESULTS] = RECORD_TOPIC};

/* In place of ing_topics_describe(): the in-process cluster has no controller, whom that would ask. */
bool __wrap_ing_topics_describe(struct ing_topics *t, rd_kafka_t *rk, rd_kafka_queue_t *answers);
bool __wrap_ing_topics_describe(struct ing_topics *t, rd_kafka_t *rk, rd_kafka_queue_t *answers)
{
	(void)t;
	(void)rk;
	(void)answers;
	return false;
}

static void on_fatal(void *ctx, const struct ing_error *err)
{
	struct record_world *w = ctx;
	w->fatals++;
	snprintf(w->fatal_text, sizeof(w->fatal_text), "%s", err->msg);
}

static void on_done(struct ing_emit_record *r, enum ing_emit_end end)
{
	struct record *record = ING_CONTAINER(r, struct record, r);
	struct record_world *w = record->world;
	assert_false(w->inside);
	assert_true((unsigned)end < ING_ARRAY_LEN(record->ends));
	record->ends[end]++;
	w->committed += end == ING_EMIT_COMMITTED;
	w->refused += end == ING_EMIT_REFUSED;
	w->dropped += end == ING_EMIT_DROPPED;
}

static void on_finish(void *ctx, struct ing_token token)
{
	struct record_world *w = ctx;
	assert_in_range(token.offset, 0, RECORD_MAX - 1);
	w->records[token.offset].finished++;
}

/* -------------------------------------------------------------------------------------------- */

void record_world_init(struct record_world *w)
{
	memset(w, 0, sizeof(*w));
	w->records = ing_alloc(RECORD_MAX * sizeof(*w->records));
	for (unsigned i = 0; i < RECORD_MAX; i++) {
		struct record *record = &w->records[i];
		char value[20];
		snprintf(value, sizeof(value), "v%u", i);
		record->world = w;
		record_set_value(w, i, value, strlen(value));
		record->r.token =
			(struct ing_token){.partition_index = (int32_t)(i % RECORD_PARTITIONS),
				.epoch = 1,
				.offset = i};
		record->r.message = &record->message;
		record->r.done = on_done;
	}
	w->positions = (struct ing_positions_ops){.ctx = w, .finish = on_finish};
	mock_kafka_init(&w->kafka, 1);
	mock_kafka_topic(&w->kafka, RECORD_TOPIC, 1);
	uv_loop_init(&w->loop);
}

void record_world_open(struct record_world *w, enum ing_guarantee delivery, char *const *properties)
{
	struct ing_kafka_settings settings = {
		.brokers = w->kafka.brokers,
		.group = "group",
		.max_message_bytes = RECORD_VALUE_MAX,
		.delivery = delivery,
		.properties = properties,
	};
	memcpy(settings.output_topics, output_topics, sizeof(output_topics));
	struct ing_error err = {0};
	assert_int_equal(
		ing_emit_kafka_new(&w->loop, &settings, "one", on_fatal, w, &w->e, &err), 0);
	ing_emit_wire(w->e, &w->positions);
}

void record_world_close(struct record_world *w)
{
	ing_emit_free(ING_TAKE(w->e));
	uv_run(&w->loop, UV_RUN_DEFAULT);
}

void record_world_done(struct record_world *w)
{
	record_world_close(w);
	assert_int_equal(uv_loop_close(&w->loop), 0);
	mock_kafka_done(&w->kafka);
	for (unsigned i = 0; i < RECORD_MAX; i++)
		free(w->records[i].message.value);
	free(w->records);
}

void record_set_value(struct record_world *w, unsigned n, const char *value, size_t bytes)
{
	struct ing_output_message *m = &w->records[n].message;
	free(m->value);
	*m = (struct ing_output_message){
		.output = ING_OUTPUT_RESULTS,
		.value = ing_strndup(value, bytes),
		.value_bytes = bytes,
	};
}

void record_commit(struct record_world *w, unsigned n)
{
	w->inside = true;
	ing_emit_commit(w->e, &w->records[n].r);
	w->inside = false;
}

void record_commit_range(struct record_world *w, unsigned from, unsigned count)
{
	for (unsigned i = from; i < from + count; i++)
		record_commit(w, i);
}

void record_wait(struct record_world *w, const unsigned *counter, unsigned want)
{
	assert_true(mock_turn_count(&w->loop, counter, want, RECORD_WAIT_MS));
}

void record_expect_messages(struct record_world *w, unsigned from, unsigned count)
{
	unsigned char seen[RECORD_MAX] = {0};
	assert_int_equal(mock_kafka_end(&w->kafka, RECORD_TOPIC, 0), count);
	rd_kafka_t *reader = mock_kafka_reader(&w->kafka, RECORD_TOPIC, 1);
	for (unsigned i = 0; i < count; i++) {
		rd_kafka_message_t *m = rd_kafka_consumer_poll(reader, 10000);
		assert_non_null(m);
		assert_int_equal(m->err, 0);
		char text[20];
		unsigned n = 0;
		snprintf(text, sizeof(text), "%.*s", (int)m->len, (const char *)m->payload);
		assert_int_equal(sscanf(text, "v%u", &n), 1);
		assert_in_range(n, from, from + count - 1);
		assert_int_equal(seen[n]++, 0);
		rd_kafka_message_destroy(m);
	}
	mock_kafka_reader_free(reader);
}

void record_expect_ends(
	struct record_world *w, unsigned from, unsigned count, enum ing_emit_end end)
{
	for (unsigned i = from; i < from + count; i++) {
		const struct record *record = &w->records[i];
		for (unsigned j = 0; j < ING_ARRAY_LEN(record->ends); j++)
			assert_int_equal(record->ends[j], j == (unsigned)end);
		assert_int_equal(record->finished, end == ING_EMIT_COMMITTED);
	}
}
