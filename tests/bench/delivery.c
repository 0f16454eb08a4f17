/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the end of a request's way costs, and how fast it is: messages of a topic are taken, each is
 * answered at once with a result, and that is delivered, through worker/intake, worker/deliver and
 * worker/emit as in the worker, without jobs, archive and database.
 *
 *	bench-delivery BROKERS GROUP REQUESTS RESULTS exactly-once|at-least-once COUNT RATE
 *
 * Ends when COUNT results are delivered and their positions committed. RATE: so many results a second
 * are begun; 0: as many as can be. Prints one JSON object; latency is from a
 * delivery's beginning to its end.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <uv.h>

#include "common/base/clock.h"
#include "worker/deliver/deliver.h"
#include "worker/emit/emit.h"
#include "worker/intake/intake.h"
#include "worker/model/metrics.h"

#define VALUE_BYTES 2000 /* of a result with a hit */
#define KEY_BYTES 40
/* Enough that results per second do not depend on how long one takes. */
#define UNDER_WAY 8192
#define QUEUE_MAX 16384
#define TICK_MS 5
#define MAX_MESSAGE_BYTES ((size_t)8 << 20)
#define LATENCY_MAX_MS 60000

struct bench {
	uv_loop_t loop;
	uv_timer_t tick;
	struct ing_intake *intake;
	struct ing_emit *emit;
	struct ing_deliver *deliver;
	unsigned long count, rate, begun, delivered;
	struct ing_message queue[QUEUE_MAX]; /* that wait for their time; values are not kept */
	size_t head, queued;
	uint64_t start_ms;
	struct rusage start_usage;
	unsigned latencies[LATENCY_MAX_MS + 1]; /* how many took so many ms */
	char words[1 << 16];
};

static void fail(const char *what)
{
	fprintf(stderr, "bench-delivery: %s\n", what);
	exit(1);
}

static void begin_next(struct bench *b);

/* --- one delivery --- */

/* Half of it can be compressed away. */
static char *make_value(const struct bench *b, unsigned long n)
{
	char *value = ing_alloc(VALUE_BYTES + 1);
	memcpy(value, b->words + n * 7919 % (sizeof(b->words) - VALUE_BYTES), VALUE_BYTES);
	snprintf(value, 24, "{\"n\": %lu ", n);
	return value;
}

static void on_delivered(void *ctx, const struct ing_delivery *delivery)
{
	struct bench *b = ctx;
	uint64_t ms = ing_now_ms() - delivery->accepted_ms;
	b->latencies[ING_MIN(ms, LATENCY_MAX_MS)]++;
	b->delivered++;
	begin_next(b);
}

static void deliver_one(struct bench *b, const struct ing_message *m)
{
	char key[KEY_BYTES + 1];
	if (b->begun++ == 0) {
		b->start_ms = ing_now_ms();
		getrusage(RUSAGE_SELF, &b->start_usage);
	}
	snprintf(key, sizeof(key), "%040lu", b->begun);
	struct ing_delivery *delivery = ing_delivery_new(ING_DELIVERY_RESULT);
	delivery->token = m->token;
	delivery->lane = m->lane;
	delivery->accepted_ms = ing_now_ms();
	delivery->status = ING_STATUS_SUCCESS;
	delivery->name = "bench";
	delivery->done = on_delivered;
	delivery->ctx = b;
	ing_delivery_add_message(delivery, &(struct ing_output_message){
						   .output = ING_OUTPUT_RESULTS,
						   .key = key,
						   .key_bytes = KEY_BYTES,
						   .value = make_value(b, b->begun),
						   .value_bytes = VALUE_BYTES,
					   });
	if (!ing_deliver_put(b->deliver, &delivery))
		fail("a partition was revoked");
}

/* --- how many --- */

static bool may_begin(const struct bench *b)
{
	if (b->begun - b->delivered >= UNDER_WAY || ing_deliver_blocked_by(b->deliver) != NULL)
		return false;
	return b->rate == 0 || b->begun == 0 ||
	       b->begun < (ing_now_ms() - b->start_ms) * b->rate / 1000 + 1;
}

static void begin_next(struct bench *b)
{
	while (b->queued > 0 && b->begun < b->count && may_begin(b)) {
		const struct ing_message *m = &b->queue[b->head];
		b->head = (b->head + 1) % QUEUE_MAX;
		b->queued--;
		deliver_one(b, m);
	}
	ing_intake_pause(b->intake, ING_LANE_REQUESTS, b->queued > QUEUE_MAX / 2);
}

static void on_message(void *ctx, const struct ing_message *m)
{
	struct bench *b = ctx;
	if (b->queued == QUEUE_MAX)
		fail("intake does not pause");
	b->queue[(b->head + b->queued++) % QUEUE_MAX] = *m;
	begin_next(b);
}

static void on_tick(uv_timer_t *tick)
{
	struct bench *b = tick->data;
	begin_next(b);
	if (b->delivered >= b->count)
		uv_stop(&b->loop);
}

/* --- others --- */

static void on_revoked(void *ctx, int32_t partition_index, uint32_t epoch)
{
	(void)ctx;
	(void)partition_index;
	(void)epoch;
	fail("a partition was revoked");
}

static void on_assigned(void *ctx, unsigned partitions)
{
	(void)ctx;
	(void)partitions;
}

static void on_end(void *ctx)
{
	(void)ctx;
}

static void on_fatal(void *ctx, const struct ing_error *err)
{
	(void)ctx;
	fail(err->msg);
}

static void open_stages(struct bench *b, char **argv)
{
	struct ing_kafka_settings settings = {
		.brokers = argv[1],
		.group = argv[2],
		.lane_topics = {[ING_LANE_REQUESTS] = argv[3]},
		.output_topics = {[ING_OUTPUT_RESULTS] = argv[4]},
		.max_message_bytes = MAX_MESSAGE_BYTES,
		.delivery = strcmp(argv[5], "exactly-once") == 0 ? ING_GUARANTEE_EXACTLY_ONCE
								 : ING_GUARANTEE_AT_LEAST_ONCE,
	};
	const struct ing_intake_events events = {.ctx = b,
		.on_message = on_message,
		.on_revoked = on_revoked,
		.on_assigned = on_assigned,
		.on_end = on_end,
		.on_fatal = on_fatal};
	const struct ing_claim_ops claims = {0};
	struct ing_error err = {0};
	for (int i = 0; i < ING_LANES_; i++)
		if (settings.lane_topics[i] == NULL)
			settings.lane_topics[i] = "";
	if (ing_emit_kafka_new(&b->loop, &settings, "bench", on_fatal, b, &b->emit, &err) != 0 ||
		ing_intake_kafka_new(
			&b->loop, &settings, "bench", &claims, &events, &b->intake, &err) != 0)
		fail(err.msg);
	const struct ing_positions_ops positions = ing_intake_positions_ops(b->intake);
	ing_emit_wire(b->emit, &positions);
	b->deliver = ing_deliver_new(MAX_MESSAGE_BYTES);
	ing_deliver_wire(
		b->deliver, &(struct ing_deliver_stages){.intake = b->intake, .emit = b->emit});
}

static double cpu_ms(const struct rusage *u)
{
	return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1e3 +
	       (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) / 1e3;
}

static unsigned percentile(const struct bench *b, unsigned percent)
{
	unsigned long seen = 0;
	for (unsigned ms = 0; ms <= LATENCY_MAX_MS; ms++) {
		seen += b->latencies[ms];
		if (seen * 100 >= b->delivered * percent)
			return ms;
	}
	return LATENCY_MAX_MS;
}

static void print_result(const struct bench *b)
{
	struct rusage usage;
	struct ing_emit_stats stats = {0};
	getrusage(RUSAGE_SELF, &usage);
	ing_emit_stats(b->emit, &stats);
	double ms = (double)ING_MAX(ing_now_ms() - b->start_ms, (uint64_t)1);
	double cpu = cpu_ms(&usage) - cpu_ms(&b->start_usage);
	printf("{\"results\": %lu, \"ms\": %.0f, \"results_per_second\": %.0f, "
	       "\"cpu_us_per_result\": %.1f, \"latency_ms\": {\"p50\": %u, \"p99\": %u}, "
	       "\"transactions\": %" PRIu64 ", \"aborted\": %" PRIu64 ", \"commit_ms\": %.1f}\n",
		b->delivered, ms, (double)b->delivered * 1e3 / ms, cpu * 1e3 / (double)b->delivered,
		percentile(b, 50), percentile(b, 99), stats.committed, stats.aborted,
		stats.committed > 0 ? (double)stats.commit_ms / (double)stats.committed : 0.0);
}

int main(int argc, char **argv)
{
	static struct bench b;
	if (argc != 8)
		fail("usage: bench-delivery BROKERS GROUP REQUESTS RESULTS MODE COUNT RATE");
	b.count = strtoul(argv[6], NULL, 10);
	b.rate = strtoul(argv[7], NULL, 10);
	if (b.count == 0)
		fail("COUNT is a number");
	for (size_t i = 0; i < sizeof(b.words); i++)
		b.words[i] = (char)('a' + rand() % 16);
	uv_loop_init(&b.loop);
	uv_timer_init(&b.loop, &b.tick);
	b.tick.data = &b;
	open_stages(&b, argv);
	ing_intake_start(b.intake);
	uv_timer_start(&b.tick, on_tick, TICK_MS, TICK_MS);
	uv_run(&b.loop, UV_RUN_DEFAULT);
	print_result(&b);
	uv_close((uv_handle_t *)&b.tick, NULL);
	ing_emit_free(b.emit);
	ing_intake_free(b.intake);
	uv_run(&b.loop, UV_RUN_DEFAULT);
	ing_deliver_free(b.deliver);
	return 0;
}
