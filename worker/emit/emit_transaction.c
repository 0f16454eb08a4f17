/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Batches of records, one after the other.
 *
 * When a batch is begun: with something to commit, when the oldest record has waited for four times
 * what a commit takes (so that transactions take a fifth of the time at low load), at most LINGER_MAX_MS;
 * or at once when a batch is full.
 *
 * Refused: a broker refuses a whole set of messages, so that one that is too large fails its
 * neighbours. The next batch has half of the records, until the one at fault is alone; only that one
 * ends as refused. The size doubles again with each commit.
 *
 * What surprises: end() of the positions is called before done() of the records, and done() may
 * commit and drop.
 */
#include "worker/emit/emit_transaction.h"

#include <stdlib.h>
#include <utlist.h>
#include <uv.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "worker/emit/topics.h"
#include "worker/emit/tx_producer.h"

/* Reached only when results come faster than some 10,000 a second. */
#define BATCH_MAX_RECORDS 4000
#define BATCH_MAX_BYTES ((size_t)8 << 20)
#define LINGER_MIN_MS 5
#define LINGER_MAX_MS 100
#define LINGER_COMMITS 4
/* After an aborted batch, doubled with each further one. */
#define BACKOFF_MIN_MS 100
#define BACKOFF_MAX_MS 2000
/* Intake has no positions to give while an assignment ends. */
#define NO_POSITIONS_MS 50
/* The oldest record uncommitted for this long: intake should stop. */
#define STALLED_MS 5000
#define LOG_EVERY_MS 30000

enum record_state { WAITING, IN_BATCH, ENDED_REFUSED, ENDED_DROPPED };

struct ing_transactions {
	struct ing_transactions_conf conf;
	struct ing_tx_producer *producer;
	uv_async_t wake;
	uv_timer_t timer;
	unsigned open_handles;

	struct ing_emit_record *waiting, *ended; /* oldest first */
	size_t waiting_count, waiting_bytes, waiting_urgent;
	struct ing_tx_batch *batch; /* the producer has it */
	unsigned outstanding;
	size_t bytes; /* of all records */

	size_t max_records;   /* of the next batch */
	uint64_t retry_at_ms; /* none is begun before */
	unsigned backoff_ms;  /* 0: the last one was committed */
	uint64_t commit_ms;   /* mean duration */
	bool open, closing, fatal_reported;
	struct ing_emit_stats stats;
	struct ing_log_throttle throttle;
	char trouble[640]; /* of the last batch that was not committed */
};

static size_t record_bytes(const struct ing_emit_record *r)
{
	const struct ing_output_message *m = r->message;
	return m == NULL ? 0 : m->value_bytes + (m->key != NULL ? m->key_bytes : 0);
}

static void add_waiting(struct ing_transactions *t, struct ing_emit_record *r)
{
	r->state = WAITING;
	t->waiting_count++;
	t->waiting_urgent += r->urgent;
	t->waiting_bytes += record_bytes(r);
	DL_APPEND(t->waiting, r);
}

static void remove_waiting(struct ing_transactions *t, struct ing_emit_record *r)
{
	t->waiting_count--;
	t->waiting_urgent -= r->urgent;
	t->waiting_bytes -= record_bytes(r);
	DL_DELETE(t->waiting, r);
}

/* Takes a record that is in no list. */
static void add_ended(
	struct ing_transactions *t, struct ing_emit_record *r, enum record_state state)
{
	r->state = (uint8_t)state;
	DL_APPEND(t->ended, r);
	uv_async_send(&t->wake);
}

static void finish_record(
	struct ing_transactions *t, struct ing_emit_record *r, enum ing_emit_end end)
{
	t->outstanding--;
	t->bytes -= record_bytes(r);
	r->done(r, end);
}

/* done() may commit and drop; what ends by that is called in the next turn. */
static void call_ended(struct ing_transactions *t)
{
	const struct ing_emit_record *last = t->ended != NULL ? t->ended->prev : NULL;
	for (bool more = last != NULL; more;) {
		struct ing_emit_record *r = t->ended;
		more = r != last;
		DL_DELETE(t->ended, r);
		finish_record(
			t, r, r->state == ENDED_REFUSED ? ING_EMIT_REFUSED : ING_EMIT_DROPPED);
	}
}

/* ---- Beginning a batch ---- */

/* No broker takes it: it is larger than its topic allows, or one of those topics that nobody waits for
 * is missing. */
static bool is_refused(const struct ing_transactions *t, const struct ing_emit_record *r)
{
	if (r->message == NULL)
		return false;
	enum ing_output output = r->message->output;
	bool answered = ing_output_row(output)->refused == ING_OUTPUT_REFUSED_ANSWERED;
	if (!ing_topics_have(t->conf.topics, output) && answered)
		return true;
	return t->conf.topics->names[output] != NULL &&
	       !ing_topics_fit(t->conf.topics, output, r->message->value_bytes,
		       ing_topics_beside_bytes(r->message));
}

/* The first of those that wait, as many as fit. */
static void take_records(struct ing_transactions *t, struct ing_tx_batch *b)
{
	struct ing_emit_record *r, *next;
	size_t bytes = 0;
	b->records = ing_alloc(ING_MIN(t->max_records, t->waiting_count) * sizeof(*b->records));
	DL_FOREACH_SAFE (t->waiting, r, next) {
		if (b->count >= t->max_records || bytes >= BATCH_MAX_BYTES)
			break;
		remove_waiting(t, r);
		if (is_refused(t, r)) {
			add_ended(t, r, ENDED_REFUSED);
			continue;
		}
		r->state = IN_BATCH;
		bytes += record_bytes(r);
		b->records[b->count++] = r;
	}
}

static struct ing_positions *begin_positions(
	const struct ing_transactions *t, const struct ing_tx_batch *b)
{
	const struct ing_positions_ops *ops = t->conf.positions;
	struct ing_token *tokens = ing_alloc(b->count * sizeof(*tokens));
	for (size_t i = 0; i < b->count; i++)
		tokens[i] = b->records[i]->token;
	struct ing_positions *positions = ops->begin(ops->ctx, tokens, b->count);
	free(tokens);
	return positions;
}

static void free_batch(struct ing_tx_batch *b)
{
	free(b->records);
	free(b);
}

/* Its records wait again, before the others, but for those that were dropped. */
static void return_records(struct ing_transactions *t, const struct ing_tx_batch *b)
{
	for (size_t i = b->count; i-- > 0;) {
		struct ing_emit_record *r = b->records[i];
		if (r->state != IN_BATCH)
			continue;
		if (r->dropped) {
			add_ended(t, r, ENDED_DROPPED);
			continue;
		}
		add_waiting(t, r);
		DL_DELETE(t->waiting, r);
		DL_PREPEND(t->waiting, r);
	}
}

static void begin_batch(struct ing_transactions *t)
{
	struct ing_tx_batch *b = ing_alloc(sizeof(*b));
	take_records(t, b);
	b->set_bytes = ing_topics_smallest_limit(t->conf.topics);
	if (b->count > 0)
		b->positions = begin_positions(t, b);
	if (b->positions == NULL) {
		return_records(t, b);
		t->retry_at_ms = ing_now_ms() + NO_POSITIONS_MS;
		free_batch(b);
		return;
	}
	t->batch = b;
	ing_tx_producer_give(t->producer, b);
}

static uint64_t linger_ms(const struct ing_transactions *t)
{
	if (t->closing || t->waiting_urgent > 0 || t->waiting_count >= t->max_records ||
		t->waiting_bytes >= BATCH_MAX_BYTES)
		return 0;
	uint64_t ms = LINGER_COMMITS * t->commit_ms;
	return ING_MIN(ING_MAX(ms, LINGER_MIN_MS), LINGER_MAX_MS);
}

/* When a batch is to be begun; UINT64_MAX when there is nothing to begin. */
static uint64_t due_ms(const struct ing_transactions *t)
{
	struct ing_error err;
	if (t->batch != NULL || t->waiting == NULL || !t->open ||
		ing_tx_producer_state(t->producer, &err) != ING_TX_READY)
		return UINT64_MAX;
	return ING_MAX(t->retry_at_ms, t->waiting->since_ms + linger_ms(t));
}

static void on_timer(uv_timer_t *timer);

static void begin_when_due(struct ing_transactions *t)
{
	uint64_t now = ing_now_ms();
	if (due_ms(t) <= now)
		begin_batch(t);
	uint64_t due = due_ms(t);
	if (due == UINT64_MAX || t->closing)
		uv_timer_stop(&t->timer);
	else
		uv_timer_start(&t->timer, on_timer, due > now ? due - now : 0, 0);
}

/* ---- The end of a batch ---- */

static void log_failure(struct ing_transactions *t, const struct ing_tx_batch *b)
{
	struct ing_error fatal; /* is reported */
	if (b->end == ING_TX_COMMITTED || b->called_off || b->code == RD_KAFKA_RESP_ERR_NO_ERROR ||
		ing_tx_producer_state(t->producer, &fatal) == ING_TX_FAILED)
		return;
	ing_log_throttled(&t->throttle, LOG_EVERY_MS, ING_LOG_WARNING,
		"results: a transaction of %zu messages %s: %s", b->count,
		b->end == ING_TX_UNKNOWN ? "has ended without an answer"
					 : "was aborted, trying again",
		b->err.msg);
}

static void back_off(struct ing_transactions *t)
{
	t->backoff_ms = ING_MIN(ING_MAX(2 * t->backoff_ms, BACKOFF_MIN_MS), BACKOFF_MAX_MS);
	t->retry_at_ms = ing_now_ms() + t->backoff_ms;
}

static void on_committed(struct ing_transactions *t, struct ing_tx_batch *b)
{
	if (t->backoff_ms > 0)
		ing_log(ING_LOG_INFO, "results: transactions are committed again");
	t->backoff_ms = 0;
	t->commit_ms = t->commit_ms == 0 ? b->took_ms : (3 * t->commit_ms + b->took_ms) / 4;
	t->max_records = ING_MIN(2 * t->max_records, (size_t)BATCH_MAX_RECORDS);
	t->stats.committed++;
	t->stats.records += b->count;
	t->stats.commit_ms += b->took_ms;
	ing_histogram_add(t->stats.commit_us, ING_METRIC_DURATION, b->took_ms * 1000);
	for (size_t i = 0; i < b->count; i++)
		finish_record(t, b->records[i], ING_EMIT_COMMITTED);
}

/* A refused set that had one message has shown which record is at fault. */
static void on_refused(struct ing_transactions *t, struct ing_tx_batch *b)
{
	struct ing_emit_record *at_fault = b->refused == 1 ? b->refused_record : NULL;
	if (b->count == 1)
		at_fault = b->records[0];
	if (at_fault == NULL)
		t->max_records = ING_MAX(b->count / 2, (size_t)1);
	else if (!at_fault->dropped)
		add_ended(t, at_fault, ENDED_REFUSED);
	return_records(t, b);
}

static void on_aborted(struct ing_transactions *t, struct ing_tx_batch *b)
{
	return_records(t, b);
	if (!b->called_off)
		back_off(t);
	if (b->code == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC ||
		(b->code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART && !b->recreated)) {
		t->open = false;
		t->conf.on_no_topic(t->conf.ctx);
	}
}

static void take_batch(struct ing_transactions *t)
{
	struct ing_tx_batch *b = ing_tx_producer_take(t->producer);
	if (b == NULL)
		return;
	const struct ing_positions_ops *ops = t->conf.positions;
	ing_must(b == t->batch);
	t->batch = NULL;
	log_failure(t, b);
	if (b->end != ING_TX_COMMITTED && b->code != RD_KAFKA_RESP_ERR_NO_ERROR)
		snprintf(
			t->trouble, sizeof(t->trouble), "transactions are aborted: %s", b->err.msg);
	t->stats.aborted += b->end == ING_TX_ABORTED || b->end == ING_TX_REFUSED;
	ops->end(ops->ctx, b->positions, b->end == ING_TX_COMMITTED);
	switch (b->end) {
	case ING_TX_COMMITTED:
		on_committed(t, b);
		break;
	case ING_TX_REFUSED:
		on_refused(t, b);
		break;
	case ING_TX_ABORTED:
		on_aborted(t, b);
		break;
	case ING_TX_UNKNOWN:
		break; /* we end: whoever comes next finds out */
	}
	free_batch(b);
}

static void report_fatal(struct ing_transactions *t)
{
	struct ing_error err;
	if (t->fatal_reported || t->closing ||
		ing_tx_producer_state(t->producer, &err) != ING_TX_FAILED)
		return;
	t->fatal_reported = true;
	t->conf.on_fatal(t->conf.ctx, &err);
}

static void turn(struct ing_transactions *t)
{
	take_batch(t);
	call_ended(t);
	begin_when_due(t);
	report_fatal(t);
}

static void on_wake(uv_async_t *wake)
{
	turn(wake->data);
}

static void on_timer(uv_timer_t *timer)
{
	turn(timer->data);
}

/* @locality producer's thread */
static void wake_loop(void *ctx)
{
	struct ing_transactions *t = ctx;
	uv_async_send(&t->wake);
}

static void on_closed(uv_handle_t *handle)
{
	struct ing_transactions *t = handle->data;
	if (--t->open_handles == 0)
		free(t);
}

static void close_handles(struct ing_transactions *t)
{
	uv_close((uv_handle_t *)&t->wake, on_closed);
	uv_close((uv_handle_t *)&t->timer, on_closed);
}

/* -------------------------------------------------------------------------------------------- */

int ing_transactions_new(struct uv_loop_s *loop, const struct ing_transactions_conf *conf,
	struct ing_transactions **ret, struct ing_error *err)
{
	struct ing_transactions *t = ing_alloc(sizeof(*t));
	*t = (struct ing_transactions){
		.conf = *conf, .max_records = BATCH_MAX_RECORDS, .open_handles = 2};
	uv_async_init(loop, &t->wake, on_wake);
	uv_timer_init(loop, &t->timer);
	t->wake.data = t->timer.data = t;
	int rc = ing_tx_producer_new(conf->producer, wake_loop, t, &t->producer, err);
	if (rc < 0) {
		close_handles(t);
		return rc;
	}
	*ret = t;
	return 0;
}

void ing_transactions_open(struct ing_transactions *t)
{
	t->open = true;
	uv_async_send(&t->wake);
}

void ing_transactions_add(struct ing_transactions *t, struct ing_emit_record *r)
{
	r->since_ms = ing_now_ms();
	t->outstanding++;
	t->bytes += record_bytes(r);
	add_waiting(t, r);
	if (t->batch == NULL && (t->waiting_count == 1 || linger_ms(t) == 0))
		uv_async_send(&t->wake);
}

void ing_transactions_drop(struct ing_transactions *t, const struct ing_emit_range *range)
{
	struct ing_emit_record *r, *next;
	DL_FOREACH_SAFE (t->waiting, r, next) {
		if (!ing_emit_in_range(range, r))
			continue;
		remove_waiting(t, r);
		add_ended(t, r, ENDED_DROPPED);
	}
	DL_FOREACH (t->ended, r)
		if (ing_emit_in_range(range, r))
			r->state = ENDED_DROPPED;
	for (size_t i = 0; t->batch != NULL && i < t->batch->count; i++) {
		if (!ing_emit_in_range(range, t->batch->records[i]))
			continue;
		t->batch->records[i]->dropped = true;
		__atomic_store_n(&t->batch->unwanted, true, __ATOMIC_RELAXED);
	}
}

unsigned ing_transactions_outstanding(const struct ing_transactions *t)
{
	return t->outstanding;
}

bool ing_transactions_blocked(const struct ing_transactions *t)
{
	struct ing_error err;
	/* Only a record that is tried again shows that transactions get through again. */
	bool failing = t->backoff_ms > 0 && t->outstanding > 0;
	if (ing_tx_producer_state(t->producer, &err) != ING_TX_READY || failing ||
		t->bytes > t->conf.max_bytes)
		return true;
	const struct ing_emit_record *oldest = t->batch != NULL ? t->batch->records[0] : t->waiting;
	return oldest != NULL && ing_now_ms() - oldest->since_ms > STALLED_MS;
}

const char *ing_transactions_trouble(const struct ing_transactions *t)
{
	struct ing_error err;
	if (ing_tx_producer_state(t->producer, &err) != ING_TX_READY)
		return "it has not accepted the transactional producer yet";
	if (t->backoff_ms > 0)
		return t->trouble;
	return t->bytes > t->conf.max_bytes ? "messages that wait for it fill their memory"
					    : "a transaction has not ended yet";
}

void ing_transactions_stats(const struct ing_transactions *t, struct ing_emit_stats *ret)
{
	*ret = t->stats;
}

void ing_transactions_serve_end(struct ing_transactions *t)
{
	t->closing = true;
	take_batch(t);
	call_ended(t);
	begin_when_due(t);
}

void ing_transactions_stop(struct ing_transactions *t)
{
	if (t == NULL)
		return;
	t->closing = true;
	ing_tx_producer_stop(t->producer);
	take_batch(t);
	call_ended(t);
}

void ing_transactions_free(struct ing_transactions *t)
{
	if (t == NULL)
		return;
	ing_tx_producer_free(t->producer);
	close_handles(t);
}
