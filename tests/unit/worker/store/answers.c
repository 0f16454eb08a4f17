/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/worker/store/answers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/base/clock.h"

const char *answers_open(struct bench *b, unsigned batch_rows)
{
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_open(b, dsn, batch_rows);
	return dsn;
}

static void count_claim(struct ing_claim *c)
{
	((struct partition *)(void *)c)->done++;
}

void claim_again(struct bench *b, struct partition *p)
{
	const struct ing_claim_ops ops = ing_store_claim_ops(b->store);
	p->done = 0;
	ops.claim(ops.ctx, &p->claim);
	await_claim(b, p, 1);
}

void start_claim(struct bench *b, struct partition *p, const char *topic, int32_t partition)
{
	const struct ing_claim_ops ops = ing_store_claim_ops(b->store);
	*p = (struct partition){.claim = {.group = "g",
					.topic = topic,
					.instance = "worker",
					.partition = partition,
					.done = count_claim}};
	ops.claim(ops.ctx, &p->claim);
}

void await_claim(struct bench *b, struct partition *p, unsigned done)
{
	uint64_t until = ing_now_ms() + WAIT_LIMIT_MS;
	while (p->done < done && ing_now_ms() < until)
		uv_run(&b->loop, UV_RUN_ONCE);
	assert_int_equal(p->done, done);
	assert_true(p->claim.fence >= 1);
}

void claim_partition(struct bench *b, struct partition *p, const char *topic, int32_t partition)
{
	start_claim(b, p, topic, partition);
	await_claim(b, p, 1);
}

void recover_partition(struct bench *b, struct partition *p)
{
	const struct ing_claim_ops ops = ing_store_claim_ops(b->store);
	unsigned before = p->done;
	ops.recover(ops.ctx, &p->claim);
	await_claim(b, p, before + 1);
}

void commit_position(struct bench *b, const struct partition *p, int64_t offset)
{
	const struct ing_claim_ops ops = ing_store_claim_ops(b->store);
	struct ing_position position = {.topic = p->claim.topic,
		.partition = p->claim.partition,
		.offset = offset,
		.metadata = "",
		.mark_offset = offset - 1,
		.mark_timestamp_ms = 1700000000000 + offset - 1,
		.fence = p->claim.fence};
	const struct ing_positions positions = {.all = &position, .count = 1};
	ops.committed(ops.ctx, &positions);
}

void fill_request(struct bench *b, const struct partition *p, struct request *r, unsigned offset,
	const char *value)
{
	static const struct ing_header headers[] = {{"lane", "daily"}, {"empty", ""}};
	*r = (struct request){0};
	bench_fill(b, &r->entry, offset);
	snprintf(r->key, sizeof(r->key), "k%u", offset);
	union {
		const char *given;
		char *own;
	} text = {value};
	r->source = (struct ing_source){.group = p->claim.group,
		.topic = p->claim.topic,
		.partition = p->claim.partition,
		.offset = offset,
		.timestamp_ms = 1700000000000 + offset,
		.digest = (uint64_t) - (int64_t)offset,
		.fence = p->claim.fence};
	r->message = (struct ing_output_message){.output = ING_OUTPUT_RESULTS,
		.key = r->key,
		.key_bytes = strlen(r->key),
		.value = text.own,
		.value_bytes = strlen(value),
		.headers = headers,
		.header_count = ING_ARRAY_LEN(headers)};
	r->entry.item.source = &r->source;
	r->entry.item.message = &r->message;
}

void put_request(struct bench *b, const struct partition *p, struct request *r, unsigned offset,
	const char *value)
{
	fill_request(b, p, r, offset, value);
	ing_store_put(b->store, &r->entry.item);
}

static void assert_bytes(const void *got, size_t got_bytes, const void *want, size_t want_bytes)
{
	assert_int_equal(got == NULL, want == NULL);
	assert_int_equal(got_bytes, want_bytes);
	if (want_bytes > 0)
		assert_memory_equal(got, want, want_bytes);
}

void assert_answers(const struct ing_answer *answer, const struct request *r)
{
	const struct ing_output_message *got = &answer->message;
	const struct ing_output_message *want = &r->message;
	assert_non_null(answer);
	assert_int_equal(answer->offset, r->source.offset);
	assert_int_equal(answer->timestamp_ms, r->source.timestamp_ms);
	assert_true(answer->digest == r->source.digest);
	assert_int_equal(got->output, want->output);
	assert_bytes(got->key, got->key_bytes, want->key, want->key_bytes);
	assert_bytes(got->value, got->value_bytes, want->value, want->value_bytes);
	assert_int_equal(got->header_count, want->header_count);
	for (size_t i = 0; i < want->header_count; i++) {
		assert_string_equal(got->headers[i].name, want->headers[i].name);
		assert_string_equal(got->headers[i].value, want->headers[i].value);
	}
}

void await_number(struct bench *b, const char *dsn, const char *sql, long want)
{
	uint64_t until = ing_now_ms() + WAIT_LIMIT_MS;
	long got = bench_number(dsn, sql);
	while (got != want && ing_now_ms() < until) {
		uv_run(&b->loop, UV_RUN_NOWAIT); /* until a timer is due would be too long */
		usleep(5000);
		got = bench_number(dsn, sql);
	}
	assert_int_equal(got, want);
}

struct ing_pg *lock_table(const char *dsn, const char *name)
{
	struct ing_error err = {0};
	struct ing_pg *pg = NULL;
	char sql[128];
	bench_check(ing_pg_open(dsn, -1, 30000, &pg, &err), &err);
	snprintf(sql, sizeof(sql), "BEGIN; LOCK TABLE %s IN ACCESS EXCLUSIVE MODE", name);
	bench_check((int)ing_pg_exec(pg, sql, &err), &err);
	return pg;
}
