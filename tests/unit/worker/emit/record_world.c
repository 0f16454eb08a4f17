/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Records, their callbacks, and an intake that only counts.
 */
#include "record_world.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/log.h"
#include "worker/emit/topics.h"

size_t record_limit_bytes = SIZE_MAX, record_set_bytes;

static const char *const output_topics[ING_OUTPUTS_] = {[ING_OUTPUT_RESULTS] = RECORD_TOPIC};

/* In place of ing_topics_describe(): the in-process cluster has no controller, whom that would ask. */
bool __wrap_ing_topics_describe(struct ing_topics *t, rd_kafka_t *rk, rd_kafka_queue_t *answers);
bool __wrap_ing_topics_describe(struct ing_topics *t, rd_kafka_t *rk, rd_kafka_queue_t *answers)
{
	(void)rk;
	(void)answers;
	t->limit_bytes[ING_OUTPUT_RESULTS] = record_limit_bytes;
	return false;
}

/* ---- The ledger: written by the producer's thread, read by the test ---- */

static pthread_mutex_t ledger_lock = PTHREAD_MUTEX_INITIALIZER;
static struct record_ledger ledger;
static struct {
	unsigned produced[RECORD_MAX], count;
	bool sent[RECORD_MAX]; /* with positions */
	bool open;
} transaction;
static bool silent[RECORD_MAX]; /* their output has no topic: only the position is committed */
static bool broken; /* an invariant, seen by the producer's thread: cmocka fails in its own only */

static void hold(bool condition, const char *what)
{
	if (condition)
		return;
	print_error("  ledger: %s\n", what);
	broken = true;
}

static size_t set_bytes_of(rd_kafka_t *rk)
{
	char text[30] = "";
	size_t bytes = sizeof(text);
	rd_kafka_conf_get(rd_kafka_conf(rk), "batch.size", text, &bytes);
	return strtoul(text, NULL, 10);
}

rd_kafka_error_t *__real_rd_kafka_begin_transaction(rd_kafka_t *rk);
rd_kafka_error_t *__wrap_rd_kafka_begin_transaction(rd_kafka_t *rk);
rd_kafka_error_t *__wrap_rd_kafka_begin_transaction(rd_kafka_t *rk)
{
	rd_kafka_error_t *error = __real_rd_kafka_begin_transaction(rk);
	pthread_mutex_lock(&ledger_lock);
	memset(&transaction, 0, sizeof(transaction));
	transaction.open = error == NULL;
	record_set_bytes = set_bytes_of(rk);
	ledger.begun += error == NULL;
	pthread_mutex_unlock(&ledger_lock);
	return error;
}

rd_kafka_error_t *__real_rd_kafka_produceva(rd_kafka_t *rk, const rd_kafka_vu_t *vus, size_t count);
rd_kafka_error_t *__wrap_rd_kafka_produceva(rd_kafka_t *rk, const rd_kafka_vu_t *vus, size_t count);
rd_kafka_error_t *__wrap_rd_kafka_produceva(rd_kafka_t *rk, const rd_kafka_vu_t *vus, size_t count)
{
	rd_kafka_error_t *error = __real_rd_kafka_produceva(rk, vus, count);
	pthread_mutex_lock(&ledger_lock);
	for (size_t i = 0; i < count && error == NULL && transaction.open; i++) {
		if (vus[i].vtype != RD_KAFKA_VTYPE_OPAQUE)
			continue;
		const struct ing_emit_record *r = vus[i].u.ptr;
		transaction.produced[transaction.count++] = (unsigned)r->token.offset;
	}
	pthread_mutex_unlock(&ledger_lock);
	return error;
}

/* The metadata of a position are the numbers of its records. */
static void note_sent(const rd_kafka_topic_partition_t *at)
{
	const char *text = at->metadata;
	while (text != NULL && *text != '\0') {
		char *end;
		unsigned long n = strtoul(text, &end, 10);
		hold(end > text && n < RECORD_MAX && !transaction.sent[n], "a position is odd");
		transaction.sent[n] = true;
		text = end + (*end == ',');
	}
}

rd_kafka_error_t *__real_rd_kafka_send_offsets_to_transaction(rd_kafka_t *rk,
	const rd_kafka_topic_partition_list_t *list,
	const rd_kafka_consumer_group_metadata_t *group, int timeout_ms);
rd_kafka_error_t *__wrap_rd_kafka_send_offsets_to_transaction(rd_kafka_t *rk,
	const rd_kafka_topic_partition_list_t *list,
	const rd_kafka_consumer_group_metadata_t *group, int timeout_ms);
rd_kafka_error_t *__wrap_rd_kafka_send_offsets_to_transaction(rd_kafka_t *rk,
	const rd_kafka_topic_partition_list_t *list,
	const rd_kafka_consumer_group_metadata_t *group, int timeout_ms)
{
	rd_kafka_error_t *error =
		__real_rd_kafka_send_offsets_to_transaction(rk, list, group, timeout_ms);
	pthread_mutex_lock(&ledger_lock);
	for (int i = 0; i < list->cnt && error == NULL; i++)
		note_sent(&list->elems[i]);
	pthread_mutex_unlock(&ledger_lock);
	return error;
}

static void commit_ledger(void)
{
	hold(transaction.open, "nothing to commit");
	unsigned messages = 0;
	for (unsigned i = 0; i < RECORD_MAX; i++)
		messages += transaction.sent[i] && !silent[i];
	hold(messages == transaction.count, "positions are not those of the messages");
	for (unsigned i = 0; i < transaction.count; i++)
		hold(transaction.sent[transaction.produced[i]], "a message without its position");
	for (unsigned i = 0; i < RECORD_MAX; i++)
		ledger.committed_records[i] += transaction.sent[i];
	ledger.largest = ING_MAX(ledger.largest, transaction.count);
	ledger.committed++;
	transaction.open = false;
}

rd_kafka_error_t *__real_rd_kafka_commit_transaction(rd_kafka_t *rk, int timeout_ms);
rd_kafka_error_t *__wrap_rd_kafka_commit_transaction(rd_kafka_t *rk, int timeout_ms);
rd_kafka_error_t *__wrap_rd_kafka_commit_transaction(rd_kafka_t *rk, int timeout_ms)
{
	rd_kafka_error_t *error = __real_rd_kafka_commit_transaction(rk, timeout_ms);
	pthread_mutex_lock(&ledger_lock);
	if (error == NULL)
		commit_ledger();
	pthread_mutex_unlock(&ledger_lock);
	return error;
}

rd_kafka_error_t *__real_rd_kafka_abort_transaction(rd_kafka_t *rk, int timeout_ms);
rd_kafka_error_t *__wrap_rd_kafka_abort_transaction(rd_kafka_t *rk, int timeout_ms);
rd_kafka_error_t *__wrap_rd_kafka_abort_transaction(rd_kafka_t *rk, int timeout_ms)
{
	rd_kafka_error_t *error = __real_rd_kafka_abort_transaction(rk, timeout_ms);
	pthread_mutex_lock(&ledger_lock);
	ledger.aborted += error == NULL;
	if (error == NULL)
		transaction.open = false;
	pthread_mutex_unlock(&ledger_lock);
	return error;
}

/* ---- Intake ---- */

static void print_numbers(
	char *to, size_t room, const struct ing_token *tokens, size_t count, int partition)
{
	size_t used = 0;
	to[0] = '\0';
	for (size_t i = 0; i < count; i++)
		if (tokens[i].partition_index == partition)
			used += (size_t)snprintf(to + used, room - used, "%s%lld",
				used > 0 ? "," : "", (long long)tokens[i].offset);
	assert_true(used < room);
}

struct begun { /* behind struct ing_positions, which is its first member */
	struct ing_positions p;
	struct ing_position all[RECORD_PARTITIONS];
	char metadata[RECORD_PARTITIONS][16000];
	struct record_world *world;
	size_t count;
	struct ing_token tokens[RECORD_MAX];
};

static enum ing_positions_check check_positions(const struct ing_positions *p, int timeout_ms)
{
	struct record_world *w = ((const struct begun *)(const void *)p)->world;
	(void)timeout_ms;
	unsigned left = __atomic_load_n(&w->check_count, __ATOMIC_ACQUIRE);
	if (left == 0)
		return ING_POSITIONS_VALID;
	__atomic_store_n(&w->check_count, left - 1, __ATOMIC_RELEASE);
	return w->checks[left - 1];
}

static struct ing_positions *on_begin(void *ctx, const struct ing_token *tokens, size_t count)
{
	struct record_world *w = ctx;
	assert_false(w->positions_open);
	assert_true(count > 0 && count <= RECORD_MAX);
	if (w->no_positions)
		return NULL;
	struct begun *b = ing_alloc(sizeof(*b));
	b->world = w;
	b->count = count;
	memcpy(b->tokens, tokens, count * sizeof(*tokens));
	for (size_t i = 0; i < count; i++)
		assert_int_equal(w->records[tokens[i].offset].finished, 0);
	for (int i = 0; i < RECORD_PARTITIONS; i++) {
		char *metadata = b->metadata[b->p.count];
		print_numbers(metadata, sizeof(b->metadata[0]), tokens, count, i);
		if (metadata[0] == '\0')
			continue;
		b->all[b->p.count++] = (struct ing_position){
			.topic = "requests", .partition = i, .offset = 1, .metadata = metadata};
	}
	b->p.all = b->all;
	b->p.group_metadata = w->group_metadata;
	b->p.check = check_positions;
	w->positions_open = true;
	w->begun_positions++;
	return &b->p;
}

static void on_end(void *ctx, struct ing_positions *p, bool committed)
{
	struct record_world *w = ctx;
	struct begun *b = (struct begun *)(void *)p;
	assert_true(w->positions_open);
	w->positions_open = false;
	for (size_t i = 0; i < b->count && committed; i++)
		w->records[b->tokens[i].offset].finished++;
	free(b);
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

void record_world_init(struct record_world *w, int brokers)
{
	memset(w, 0, sizeof(*w));
	memset(&ledger, 0, sizeof(ledger));
	memset(&transaction, 0, sizeof(transaction));
	if (getenv("ING_TEST_KAFKA_LOG") != NULL)
		ing_log_init(ING_LOG_DEBUG);
	memset(silent, 0, sizeof(silent));
	broken = false;
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
	w->positions = (struct ing_positions_ops){
		.ctx = w, .begin = on_begin, .end = on_end, .finish = on_finish};
	w->group_metadata = rd_kafka_consumer_group_metadata_new("group");
	mock_kafka_init(&w->kafka, brokers);
	mock_kafka_topic(&w->kafka, RECORD_TOPIC, 1);
	mock_kafka_topic(&w->kafka, "requests", RECORD_PARTITIONS);
	uv_loop_init(&w->loop);
}

void record_world_open(struct record_world *w, enum ing_guarantee delivery, char *const *properties)
{
	struct ing_kafka_settings settings = {
		.brokers = w->kafka.brokers,
		.group = "group",
		.max_message_bytes = RECORD_VALUE_MAX,
		.delivery = delivery,
		.properties = {.values = properties},
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
	rd_kafka_consumer_group_metadata_destroy(w->group_metadata);
	assert_false(w->positions_open);
	assert_false(broken);
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

void record_set_silent(struct record_world *w, unsigned n)
{
	w->records[n].message.output = ING_OUTPUT_PDF_TEXT;
	silent[n] = true;
}

void record_set_bare(struct record_world *w, unsigned n)
{
	w->records[n].r.message = NULL;
	silent[n] = true;
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

void record_ledger_get(struct record_ledger *ret)
{
	pthread_mutex_lock(&ledger_lock);
	*ret = ledger;
	pthread_mutex_unlock(&ledger_lock);
}

void record_expect_committed(struct record_world *w, unsigned from, unsigned count)
{
	struct record_ledger got;
	record_ledger_get(&got);
	assert_false(broken);
	for (unsigned i = 0; i < RECORD_MAX; i++) {
		bool wanted = i >= from && i < from + count;
		assert_int_equal(got.committed_records[i], wanted);
		assert_int_equal(w->records[i].finished, wanted);
		assert_int_equal(w->records[i].ends[ING_EMIT_COMMITTED], wanted);
	}
}
