/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Results and side products to Kafka through an idempotent producer (acks=all, lz4). Loop thread only;
 * librdkafka's threads write to an eventfd and read the values, which stay ours until the delivery
 * report.
 *
 * A put is in one list at any time: waiting, in_flight (given to librdkafka), refused, or finished
 * (done() is due). Messages are retried without limit: message.timeout.ms is 0, and what librdkafka
 * returns with a transient error is waiting again.
 *
 * librdkafka is given only what it can send now: at most MAX_IN_FLIGHT_MESSAGES or _BYTES, none while
 * the oldest is unacknowledged for MAX_UNACKED_MS, and a single message while the brokers are down.
 * The others wait here, where a message whose request was revoked meanwhile is dropped (`wanted`).
 * Messages in librdkafka cannot be recalled: rd_kafka_purge() leaves a gap in the idempotent
 * producer's sequence. Such results may be delivered twice.
 *
 * A broker refuses a whole batch, so that one message that is too large fails its neighbours. A message
 * that comes back refused is sent once more with nothing else in flight, hence alone in its batch;
 * only if that is refused too it fails.
 */
#include <librdkafka/rdkafka.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/kafka/wake.h"
#include "worker/emit/emit_priv.h"
#include "worker/emit/emit_transaction.h"
#include "worker/emit/producer.h"
#include "worker/emit/topics.h"
#include "worker/model/settings.h"

#define TICK_MS 1000
/* The oldest message unacknowledged for this long: intake should stop. */
#define STALLED_MS 5000
/* Delay before a retry after a transient error. */
#define RETRY_MS 1000
/* Delay before missing topics that we may not create are looked up again. */
#define MISSING_RETRY_MS 10000
/* How often topics that nobody waits for are looked up while they are missing. */
#define OPTIONAL_RETRY_MS 60000
#define FLUSH_MS 5000
#define END_TURN_MS 20
/* Events taken before the loop serves its other handles; one may have a whole batch of delivery
 * reports. */
#define EVENTS_PER_TURN 32
#define LOG_EVERY_MS 30000
/* Given to librdkafka and not acknowledged, at most: enough for more than 10,000 messages a second at
 * 50 ms to each acknowledgement. */
#define MAX_IN_FLIGHT_MESSAGES 1000
#define MAX_IN_FLIGHT_BYTES ((size_t)4 << 20)
/* While the oldest is not acknowledged for this long, no more are given. */
#define MAX_UNACKED_MS 500
struct put {
	struct put *prev, *next;
	const struct ing_emit_user *user; /* NULL for a record */
	void *ctx;
	struct ing_emit_record *record; /* or NULL; the value is then its owner's */
	struct ing_output_message m;    /* its key is ours; without headers */
	rd_kafka_headers_t *headers;    /* or NULL; librdkafka gets a copy */
	size_t beside_bytes;            /* of key and headers */
	uint64_t since_ms;
	uint64_t sent_ms; /* while in flight */
	bool alone;       /* was refused once, is sent alone */
	bool ok;          /* once finished */
	char key[];
};

struct kafka_emit {
	struct ing_emit base;
	struct ing_topics topics;
	struct ing_producer_conf conf;
	struct ing_producer producer;
	rd_kafka_queue_t *events;
	struct ing_kafka_wake *wake;
	struct ing_transactions *transactions; /* NULL: at least once */

	struct put *waiting, *in_flight, *refused, *finished; /* each oldest first */
	unsigned outstanding, in_flight_count;
	size_t bytes, in_flight_bytes; /* of all puts; of those in flight */
	size_t max_bytes;              /* over it intake should stop */

	bool ready;            /* the topics exist and their limits are known */
	bool admin_pending;    /* an admin request is pending */
	uint64_t admin_due_ms; /* of the next admin request, when not ready */
	uint64_t retry_at_ms;  /* nothing is sent before it */
	bool queue_full;       /* librdkafka's, at the last attempt */
	bool brokers_down;     /* since the last delivery */
	bool fatal, fatal_reported, closing;
	void (*on_fatal)(void *ctx, const struct ing_error *err);
	void *fatal_ctx;
	struct ing_log_throttle brokers_throttle, error_throttle;
	char brokers_error[300]; /* the last one */
};

static struct kafka_emit *kafka_of(struct ing_emit *base)
{
	return ING_CONTAINER(base, struct kafka_emit, base);
}

static const struct kafka_emit *const_kafka_of(const struct ing_emit *base)
{
	return (const struct kafka_emit *)(const void *)base; /* base is the first member */
}

static size_t put_bytes(const struct put *p)
{
	return p->m.value_bytes + (p->m.key != NULL ? p->m.key_bytes : 0);
}

static void free_put(struct put *p)
{
	if (p->headers != NULL)
		rd_kafka_headers_destroy(p->headers);
	if (p->record == NULL)
		free(p->m.value);
	free(p);
}

/* Takes a put that is in no list. */
static void finish_put(struct kafka_emit *e, struct put *p, bool ok)
{
	p->ok = ok;
	DL_APPEND(e->finished, p);
	ing_kafka_wake_kick(e->wake);
}

/* ---- Sending ---- */

static void add_in_flight(struct kafka_emit *e, struct put *p)
{
	p->sent_ms = ing_now_ms();
	e->in_flight_count++;
	e->in_flight_bytes += put_bytes(p);
	DL_APPEND(e->in_flight, p);
}

static void remove_in_flight(struct kafka_emit *e, struct put *p)
{
	e->in_flight_count--;
	e->in_flight_bytes -= put_bytes(p);
	DL_DELETE(e->in_flight, p);
}

/* A refusal is not silent: its request gets a result. */
static bool is_answered(enum ing_output output)
{
	return ing_output_row(output)->refused == ING_OUTPUT_REFUSED_ANSWERED;
}

static bool is_wanted(const struct put *p)
{
	if (p->record != NULL)
		return !p->record->dropped;
	return p->user->wanted == NULL || p->user->wanted(p->ctx);
}

/* Takes a put out of `from` and gives it to librdkafka. False when nothing more can be sent now. */
static bool send_first(struct kafka_emit *e, struct put **from)
{
	struct put *p = *from;
	if (!is_wanted(p)) {
		DL_DELETE(*from, p);
		finish_put(e, p, false);
		return true;
	}
	rd_kafka_resp_err_t err = RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE;
	if (!ing_topics_have(&e->topics, p->m.output) && is_answered(p->m.output)) {
		DL_DELETE(*from, p);
		finish_put(e, p, false);
		return true;
	}
	/* The topic's limit may have become known after it was put. */
	if (ing_topics_fit(&e->topics, p->m.output, p->m.value_bytes, p->beside_bytes))
		err = ing_producer_send(&e->producer, &p->m, p->headers, p);
	e->queue_full = err == RD_KAFKA_RESP_ERR__QUEUE_FULL;
	if (e->queue_full)
		return false;
	if (err == RD_KAFKA_RESP_ERR__FATAL) {
		e->fatal = true;
		return false;
	}
	if (err != 0 && err != RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE) {
		/* The topic is not known to exist. */
		e->retry_at_ms = ing_now_ms() + RETRY_MS;
		return false;
	}
	DL_DELETE(*from, p);
	if (err == 0)
		add_in_flight(e, p);
	else
		finish_put(e, p, false);
	return true;
}

/* While the brokers are down, one message at a time tests whether they are back. */
static bool may_send(const struct kafka_emit *e)
{
	if (e->in_flight == NULL)
		return true;
	return !e->brokers_down && e->in_flight_count < MAX_IN_FLIGHT_MESSAGES &&
	       e->in_flight_bytes < MAX_IN_FLIGHT_BYTES &&
	       ing_now_ms() - e->in_flight->sent_ms < MAX_UNACKED_MS;
}

static void send_waiting(struct kafka_emit *e)
{
	if (!e->ready || e->fatal || ing_now_ms() < e->retry_at_ms)
		return;
	while (e->refused == NULL && e->waiting != NULL && may_send(e))
		if (!send_first(e, &e->waiting))
			return;
	if (e->refused != NULL && e->in_flight == NULL)
		send_first(e, &e->refused);
}

/* ---- Delivery reports and events ---- */

/* A fatal error is reported as an event, or by messages that come back purged. */
static void check_fatal(struct kafka_emit *e)
{
	e->fatal = e->fatal ||
		   rd_kafka_fatal_error(e->producer.rk, NULL, 0) != RD_KAFKA_RESP_ERR_NO_ERROR;
}

static void requeue(struct kafka_emit *e, struct put *p, rd_kafka_resp_err_t err)
{
	check_fatal(e);
	if (!e->fatal)
		ing_log_throttled(&e->error_throttle, LOG_EVERY_MS, ING_LOG_WARNING,
			"%s: delivery failed, retrying: %s", e->topics.names[p->m.output],
			rd_kafka_err2str(err));
	DL_PREPEND(e->waiting, p);
	uint64_t now = ing_now_ms();
	e->retry_at_ms = now + RETRY_MS;
	if (err == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC ||
		err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART) {
		e->ready = false; /* the topic was deleted: look it up, or create it */
		e->admin_due_ms = now;
	}
}

static void take_delivery_report(struct kafka_emit *e, const rd_kafka_message_t *m)
{
	struct put *p = m->_private;
	remove_in_flight(e, p);
	if (m->err == 0) {
		if (e->brokers_down)
			ing_log(ING_LOG_INFO, "%s: messages are delivered again",
				e->topics.names[p->m.output]);
		e->brokers_down = false;
		finish_put(e, p, true);
	} else if (ing_producer_is_refusal(m->err) && p->alone) {
		finish_put(e, p, false);
	} else if (ing_producer_is_refusal(m->err)) {
		p->alone = true;
		DL_APPEND(e->refused, p);
	} else {
		requeue(e, p, m->err);
	}
}

static void log_error(struct kafka_emit *e, rd_kafka_event_t *event)
{
	rd_kafka_resp_err_t err = rd_kafka_event_error(event);
	check_fatal(e);
	if (err == RD_KAFKA_RESP_ERR__FATAL)
		return;
	if (err == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN)
		e->brokers_down = true;
	snprintf(e->brokers_error, sizeof(e->brokers_error), "%s: %s", rd_kafka_err2str(err),
		rd_kafka_event_error_string(event));
	ing_log_throttled(&e->brokers_throttle, LOG_EVERY_MS, ING_LOG_WARNING, "results: %s: %s",
		rd_kafka_err2str(err), rd_kafka_event_error_string(event));
}

static int open_producer(struct kafka_emit *e, size_t batch_bytes, struct ing_error *err);
static void close_producer(struct kafka_emit *e);

/* A batch must fit the topic with the smallest limit. Nothing has been sent when the limits are first
 * known; a limit that is lowered later leads to refused messages, which are sent alone. */
static void fit_batches(struct kafka_emit *e)
{
	size_t smallest = ing_topics_smallest_limit(&e->topics);
	if (e->producer.batch_bytes <= smallest || e->in_flight != NULL)
		return;
	struct ing_error err = {0};
	close_producer(e);
	int rc = open_producer(e, smallest, &err);
	ing_must(rc == 0); /* the same settings were valid before */
}

static void take_topics(struct kafka_emit *e, rd_kafka_event_t *event)
{
	enum ing_topics_answer answer = ing_topics_take(&e->topics, event);
	uint64_t now = ing_now_ms();
	e->admin_pending = false;
	switch (answer) {
	case ING_TOPICS_READY:
		e->ready = true;
		e->admin_due_ms = now + OPTIONAL_RETRY_MS;
		break;
	case ING_TOPICS_MISSING:
		ing_topics_create(&e->topics, e->producer.rk, e->events);
		e->admin_pending = true;
		break;
	case ING_TOPICS_CREATED: /* until all brokers know them */
		e->admin_due_ms = now + RETRY_MS / 4;
		break;
	case ING_TOPICS_RETRY:
		e->admin_due_ms = now + MISSING_RETRY_MS;
		if (rd_kafka_event_type(event) == RD_KAFKA_EVENT_DESCRIBECONFIGS_RESULT)
			e->admin_due_ms = now + RETRY_MS;
		break;
	}
}

static void take_event(struct kafka_emit *e, rd_kafka_event_t *event)
{
	const rd_kafka_message_t *m;
	switch (rd_kafka_event_type(event)) {
	case RD_KAFKA_EVENT_DR:
		while ((m = rd_kafka_event_message_next(event)) != NULL)
			take_delivery_report(e, m);
		break;
	case RD_KAFKA_EVENT_ERROR:
		log_error(e, event);
		break;
	case RD_KAFKA_EVENT_DESCRIBECONFIGS_RESULT:
	case RD_KAFKA_EVENT_CREATETOPICS_RESULT:
		take_topics(e, event);
		break;
	default:
		break;
	}
}

/* True when there may be more. */
static bool take_events(struct kafka_emit *e, int timeout_ms)
{
	for (int i = 0; i < EVENTS_PER_TURN; i++) {
		rd_kafka_event_t *event = rd_kafka_queue_poll(e->events, timeout_ms);
		if (event == NULL)
			return false;
		take_event(e, event);
		rd_kafka_event_destroy(event);
		timeout_ms = 0;
	}
	return true;
}

static void request_topics(struct kafka_emit *e)
{
	if ((e->ready && !ing_topics_lack_optional(&e->topics)) || e->admin_pending || e->fatal ||
		ing_now_ms() < e->admin_due_ms)
		return;
	e->admin_pending = ing_topics_describe(&e->topics, e->producer.rk, e->events);
	e->ready |= !e->admin_pending;
}

/* At least once: its position is committed later, by intake. */
static void finish_record(struct kafka_emit *e, struct ing_emit_record *r, bool ok)
{
	enum ing_emit_end end = r->dropped ? ING_EMIT_DROPPED
				: ok       ? ING_EMIT_COMMITTED
					   : ING_EMIT_REFUSED;
	if (end == ING_EMIT_COMMITTED)
		e->base.positions.finish(e->base.positions.ctx, r->token);
	r->done(r, end);
}

/* done() may put more messages; those are finished in the next turn. */
static void call_done(struct kafka_emit *e)
{
	const struct put *last = e->finished != NULL ? e->finished->prev : NULL;
	for (bool more = last != NULL; more;) {
		struct put *p = e->finished;
		more = p != last;
		DL_DELETE(e->finished, p);
		e->outstanding--;
		e->bytes -= put_bytes(p);
		if (p->record != NULL)
			finish_record(e, p->record, p->ok);
		else
			p->user->done(p->ctx, p->ok);
		free_put(p);
	}
}

static void stop_for_good(struct kafka_emit *e, const struct ing_error *err)
{
	if (e->fatal_reported || e->closing)
		return;
	e->fatal = e->fatal_reported = true;
	e->on_fatal(e->fatal_ctx, err);
}

static void report_fatal(struct kafka_emit *e)
{
	char reason[256] = "";
	struct ing_error err = {0};
	if (!e->fatal || e->fatal_reported)
		return;
	rd_kafka_resp_err_t code = rd_kafka_fatal_error(e->producer.rk, reason, sizeof(reason));
	ing_error_set(&err, ING_FAIL_UNAVAILABLE, "fatal producer error: %s: %s",
		rd_kafka_err2name(code), reason);
	stop_for_good(e, &err);
}

/* ---- Transactions ---- */

static void on_transactions_fatal(void *ctx, const struct ing_error *err)
{
	stop_for_good(ctx, err);
}

/* A topic was deleted: it is looked up, or created. */
static void on_no_topic(void *ctx)
{
	struct kafka_emit *e = ctx;
	e->ready = false;
	e->admin_due_ms = ing_now_ms();
	ing_kafka_wake_kick(e->wake);
}

static int open_transactions(struct kafka_emit *e, struct uv_loop_s *loop, struct ing_error *err)
{
	return ing_transactions_new(loop,
		&(struct ing_transactions_conf){
			.producer = &e->conf,
			.topics = &e->topics,
			.positions = &e->base.positions,
			.max_bytes = e->max_bytes,
			.ctx = e,
			.on_fatal = on_transactions_fatal,
			.on_no_topic = on_no_topic,
		},
		&e->transactions, err);
}

static void on_ready(struct kafka_emit *e)
{
	fit_batches(e);
	if (e->transactions != NULL)
		ing_transactions_open(e->transactions);
}

static bool serve(void *ctx)
{
	struct kafka_emit *e = ctx;
	bool was_ready = e->ready;
	bool more = take_events(e, 0);
	request_topics(e);
	if (e->ready && !was_ready)
		on_ready(e);
	send_waiting(e);
	call_done(e);
	report_fatal(e);
	return more;
}

/* ---- Start and stop ---- */

static int open_producer(struct kafka_emit *e, size_t batch_bytes, struct ing_error *err)
{
	int rc = ing_producer_open(
		&e->producer, ING_PRODUCER_IDEMPOTENT, &e->conf, batch_bytes, NULL, err);
	if (rc < 0)
		return rc;
	e->events = rd_kafka_queue_get_main(e->producer.rk);
	ing_kafka_wake_watch(e->wake, e->events);
	return 0;
}

static void close_producer(struct kafka_emit *e)
{
	if (e->producer.rk == NULL)
		return;
	ing_kafka_wake_unwatch(e->events);
	rd_kafka_queue_destroy(e->events);
	ing_producer_close(&e->producer);
}

static size_t max_value_bytes(const struct ing_emit *base, enum ing_output topic)
{
	return ing_topics_max_value_bytes(&const_kafka_of(base)->topics, topic);
}

/* Takes the value. */
static struct put *make_put(const struct ing_output_message *m)
{
	size_t key_bytes = m->key == NULL ? 0 : m->key_bytes;
	struct put *p = ing_alloc(sizeof(*p) + key_bytes);
	p->m = *m;
	p->m.headers = NULL;
	p->m.header_count = 0;
	p->m.key = m->key != NULL ? p->key : NULL;
	if (key_bytes > 0)
		memcpy(p->key, m->key, key_bytes);
	p->beside_bytes = ing_topics_beside_bytes(m);
	p->headers = ing_producer_headers(m);
	return p;
}

/* Only its done() is due. */
static bool is_done_at_once(const struct ing_emit *base, const struct ing_output_message *m)
{
	return const_kafka_of(base)->topics.names[m->output] == NULL ||
	       m->value_bytes > max_value_bytes(base, m->output);
}

static void finish_at_once(struct kafka_emit *e, struct put *p, bool ok)
{
	e->outstanding++;
	e->bytes += put_bytes(p);
	finish_put(e, p, ok);
}

static void add_put(struct kafka_emit *e, struct put *p, bool at_once)
{
	if (at_once) {
		finish_at_once(
			e, p, e->topics.names[p->m.output] == NULL && !is_answered(p->m.output));
		return;
	}
	p->since_ms = ing_now_ms();
	e->outstanding++;
	e->bytes += put_bytes(p);
	DL_APPEND(e->waiting, p);
	ing_kafka_wake_kick(e->wake);
}

static void put_kafka(struct ing_emit *base, const struct ing_output_message *m,
	const struct ing_emit_user *user, void *ctx)
{
	bool at_once = is_done_at_once(base, m);
	struct ing_output_message kept = *m;
	if (at_once) {
		free(m->value);
		kept = (struct ing_output_message){.output = m->output};
	}
	struct put *p = make_put(&kept);
	p->user = user;
	p->ctx = ctx;
	add_put(kafka_of(base), p, at_once);
}

static void commit_kafka(struct ing_emit *base, struct ing_emit_record *r)
{
	static const struct ing_output_message none = {.output = ING_OUTPUT_RESULTS};
	struct kafka_emit *e = kafka_of(base);
	if (e->transactions != NULL) {
		ing_transactions_add(e->transactions, r);
		return;
	}
	struct put *p = make_put(r->message != NULL ? r->message : &none);
	p->record = r;
	if (r->message != NULL)
		add_put(e, p, is_done_at_once(base, r->message));
	else
		finish_at_once(e, p, true);
}

/* What librdkafka has cannot be called back; it is dropped when it is acknowledged. */
static void drop_kafka(struct ing_emit *base, const struct ing_emit_range *range)
{
	struct kafka_emit *e = kafka_of(base);
	struct put *const lists[] = {e->in_flight, e->finished};
	struct put **const unsent[] = {&e->waiting, &e->refused};
	struct put *p, *next;
	if (e->transactions != NULL)
		ing_transactions_drop(e->transactions, range);
	for (size_t i = 0; i < ING_ARRAY_LEN(lists); i++)
		DL_FOREACH (lists[i], p)
			if (p->record != NULL && ing_emit_in_range(range, p->record))
				p->record->dropped = true;
	for (size_t i = 0; i < ING_ARRAY_LEN(unsent); i++)
		DL_FOREACH_SAFE (*unsent[i], p, next) {
			if (p->record == NULL || !ing_emit_in_range(range, p->record))
				continue;
			p->record->dropped = true;
			DL_DELETE(*unsent[i], p);
			finish_put(e, p, false);
		}
}

static unsigned outstanding_kafka(const struct ing_emit *base)
{
	const struct kafka_emit *e = const_kafka_of(base);
	return e->outstanding +
	       (e->transactions != NULL ? ing_transactions_outstanding(e->transactions) : 0);
}

static bool blocked_kafka(const struct ing_emit *base)
{
	const struct kafka_emit *e = const_kafka_of(base);
	uint64_t now = ing_now_ms();
	if (!e->ready || e->fatal || e->queue_full || e->bytes > e->max_bytes ||
		e->refused != NULL || now < e->retry_at_ms)
		return true;
	if (e->transactions != NULL && ing_transactions_blocked(e->transactions))
		return true;
	return e->in_flight != NULL &&
	       (e->brokers_down || now - e->in_flight->since_ms > STALLED_MS);
}

static const char *trouble_of_kafka(const struct ing_emit *base)
{
	const struct kafka_emit *e = const_kafka_of(base);
	if (e->fatal)
		return "the producer has ended";
	if (e->brokers_down)
		return e->brokers_error;
	if (!e->ready)
		return e->brokers_error[0] != '\0'
			       ? e->brokers_error
			       : "the topics of results do not exist, or nothing has answered yet";
	if (e->transactions != NULL && ing_transactions_blocked(e->transactions))
		return ing_transactions_trouble(e->transactions);
	return e->bytes > e->max_bytes || e->queue_full
		       ? "messages that wait for it fill their memory"
		       : "messages are not acknowledged";
}

static void stats_of_kafka(const struct ing_emit *base, struct ing_emit_stats *ret)
{
	const struct kafka_emit *e = const_kafka_of(base);
	if (e->transactions != NULL)
		ing_transactions_stats(e->transactions, ret);
}

static void free_list(struct put *p)
{
	while (p != NULL) {
		struct put *next = p->next;
		free_put(p);
		p = next;
	}
}

static void free_strings(struct kafka_emit *e)
{
	ing_kafka_properties_done(&e->conf.properties);
	free(e->conf.brokers);
	free(e->conf.instance);
	free(e->conf.transactional_id);
	ing_topics_done(&e->topics);
}

/* One turn, in place of the loop's. */
static void serve_end(struct kafka_emit *e)
{
	bool was_ready = e->ready;
	take_events(e, END_TURN_MS);
	request_topics(e);
	if (e->ready && !was_ready)
		on_ready(e);
	send_waiting(e);
	call_done(e);
	if (e->transactions != NULL)
		ing_transactions_serve_end(e->transactions);
}

static void free_kafka(struct ing_emit *base)
{
	struct kafka_emit *e = kafka_of(base);
	e->closing = true;
	uint64_t deadline = ing_now_ms() + FLUSH_MS;
	while (outstanding_kafka(base) > 0 && !e->fatal && ing_now_ms() < deadline)
		serve_end(e);
	ing_transactions_stop(e->transactions);
	unsigned left = outstanding_kafka(base);
	if (left > 0)
		ing_log(ING_LOG_WARNING, "results: closing with %u unacknowledged messages", left);
	ing_transactions_free(ING_TAKE(e->transactions));
	close_producer(e); /* the values are not used any more */
	free_list(e->waiting);
	free_list(e->in_flight);
	free_list(e->refused);
	free_list(e->finished);
	ing_kafka_wake_free(e->wake);
	free_strings(e);
	e->base.magic = 0;
	free(e);
}

static bool has_kafka(const struct ing_emit *base, enum ing_output output)
{
	const struct kafka_emit *e = const_kafka_of(base);
	return e->ready && ing_topics_have(&e->topics, output);
}

static const struct ing_emit_ops kafka_ops = {
	.has = has_kafka,
	.max_value_bytes = max_value_bytes,
	.put = put_kafka,
	.commit = commit_kafka,
	.drop = drop_kafka,
	.outstanding = outstanding_kafka,
	.blocked = blocked_kafka,
	.trouble = trouble_of_kafka,
	.stats = stats_of_kafka,
	.free = free_kafka,
};

/* The transactional id is the same after a restart, so that the new producer ends what the one before
 * has left open, and fences it. */
static void copy_conf(
	struct kafka_emit *e, const struct ing_kafka_settings *settings, const char *instance)
{
	struct ing_producer_conf *c = &e->conf;
	c->brokers = ing_strdup(settings->brokers);
	c->instance = ing_strdup(instance);
	c->properties = ing_kafka_properties_copy(&settings->properties);
	c->max_message_bytes = settings->max_message_bytes;
	if (settings->delivery != ING_GUARANTEE_EXACTLY_ONCE)
		return;
	size_t bytes = strlen(settings->group) + strlen(instance) + 2;
	c->transactional_id = ing_alloc(bytes);
	snprintf(c->transactional_id, bytes, "%s-%s", settings->group, instance);
}

/* -------------------------------------------------------------------------------------------- */

int ing_emit_kafka_new(struct uv_loop_s *loop, const struct ing_kafka_settings *settings,
	const char *instance, void (*on_fatal)(void *ctx, const struct ing_error *err),
	void *fatal_ctx, struct ing_emit **ret, struct ing_error *err)
{
	struct kafka_emit *e = ing_alloc(sizeof(*e));
	e->base = (struct ing_emit){.magic = ING_EMIT_MAGIC, .ops = &kafka_ops};
	e->on_fatal = on_fatal;
	e->fatal_ctx = fatal_ctx;
	copy_conf(e, settings, instance);
	ing_topics_init(&e->topics, settings);
	e->conf.topics = e->topics.names;
	/* Two of the largest, or 64 MiB. */
	e->max_bytes = ING_MAX(2 * settings->max_message_bytes, (size_t)64 << 20);
	int rc = ing_kafka_wake_new(loop, TICK_MS, serve, e, &e->wake, err);
	if (rc == 0)
		rc = open_producer(e, ING_PRODUCER_BATCH_BYTES, err);
	if (rc == 0 && settings->delivery == ING_GUARANTEE_EXACTLY_ONCE)
		rc = open_transactions(e, loop, err);
	if (rc < 0) {
		close_producer(e);
		ing_kafka_wake_free(e->wake);
		free_strings(e);
		free(e);
		return rc;
	}
	*ret = &e->base;
	return 0;
}
