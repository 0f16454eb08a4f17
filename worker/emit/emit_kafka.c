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
#include "common/kafka/settings.h"
#include "common/kafka/wake.h"
#include "worker/emit/emit_priv.h"
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
/* librdkafka's default. */
#define BATCH_BYTES ((size_t)1000000)

struct put {
	struct put *prev, *next;
	enum ing_output topic;
	const struct ing_emit_user *user; /* NULL for a record */
	void *ctx;
	struct ing_emit_record *record; /* or NULL; the value is then its owner's */
	rd_kafka_headers_t *headers;    /* or NULL; librdkafka gets a copy */
	uint64_t since_ms;
	uint64_t sent_ms; /* while in flight */
	bool alone;       /* was refused once, is sent alone */
	bool ok;          /* once finished */
	bool has_key;
	char *value; /* or NULL */
	size_t key_bytes, value_bytes;
	char key[];
};

struct kafka_emit {
	struct ing_emit base;
	struct ing_topics topics;
	char *brokers, *instance;
	char **properties;
	rd_kafka_t *rk;
	rd_kafka_queue_t *events;
	rd_kafka_topic_t *handles[ING_OUTPUTS_];
	struct ing_kafka_wake *wake;
	size_t batch_bytes;

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
	return p->key_bytes + p->value_bytes;
}

static void free_put(struct put *p)
{
	if (p->headers != NULL)
		rd_kafka_headers_destroy(p->headers);
	if (p->record == NULL)
		free(p->value);
	free(p);
}

/* Takes a put that is in no list. */
static void finish_put(struct kafka_emit *e, struct put *p, bool ok)
{
	p->ok = ok;
	DL_APPEND(e->finished, p);
	ing_kafka_wake_kick(e->wake);
}

static bool fits(const struct kafka_emit *e, const struct put *p)
{
	size_t beside = p->key_bytes;
	const char *name;
	const void *value;
	size_t bytes;
	for (size_t i = 0; p->headers != NULL &&
			   rd_kafka_header_get_all(p->headers, i, &name, &value, &bytes) == 0;
		i++)
		beside += strlen(name) + bytes + 10; /* two lengths of at most 5 bytes */
	/* 512: a batch's and a record's own fields, with reserve. */
	return p->value_bytes <= ing_topics_max_value_bytes(&e->topics, p->topic) &&
	       beside + 512 <= ing_topics_room_bytes(&e->topics, p->topic);
}

/* ---- Sending ---- */

static rd_kafka_resp_err_t produce(struct kafka_emit *e, struct put *p)
{
	static char none[1]; /* an empty value, which is not the same as no value */
	rd_kafka_headers_t *headers = NULL;
	if (p->headers != NULL)
		headers = rd_kafka_headers_copy(p->headers);
	rd_kafka_vu_t vus[] = {
		{.vtype = RD_KAFKA_VTYPE_RKT, .u.rkt = e->handles[p->topic]},
		{.vtype = RD_KAFKA_VTYPE_VALUE,
			.u.mem = {p->value != NULL ? p->value : none, p->value_bytes}},
		{.vtype = RD_KAFKA_VTYPE_KEY, .u.mem = {p->has_key ? p->key : NULL, p->key_bytes}},
		{.vtype = RD_KAFKA_VTYPE_OPAQUE, .u.ptr = p},
		{.vtype = RD_KAFKA_VTYPE_HEADERS, .u.headers = headers},
	};
	size_t count = ING_ARRAY_LEN(vus) - (headers == NULL ? 1 : 0);
	rd_kafka_error_t *error = rd_kafka_produceva(e->rk, vus, count);
	if (error == NULL)
		return RD_KAFKA_RESP_ERR_NO_ERROR;
	rd_kafka_resp_err_t err = rd_kafka_error_code(error);
	rd_kafka_error_destroy(error);
	if (headers != NULL)
		rd_kafka_headers_destroy(headers); /* given away only on success */
	return err;
}

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
	if (!ing_topics_have(&e->topics, p->topic) && is_answered(p->topic)) {
		DL_DELETE(*from, p);
		finish_put(e, p, false);
		return true;
	}
	if (fits(e, p)) /* the topic's limit may have become known after it was put */
		err = produce(e, p);
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

/* The broker has refused the message or its batch for good. */
static bool is_refusal(rd_kafka_resp_err_t err)
{
	return err == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE ||
	       err == RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE || err == RD_KAFKA_RESP_ERR_INVALID_MSG ||
	       err == RD_KAFKA_RESP_ERR_INVALID_RECORD;
}

/* A fatal error is reported as an event, or by messages that come back purged. */
static void check_fatal(struct kafka_emit *e)
{
	e->fatal = e->fatal || rd_kafka_fatal_error(e->rk, NULL, 0) != RD_KAFKA_RESP_ERR_NO_ERROR;
}

static void requeue(struct kafka_emit *e, struct put *p, rd_kafka_resp_err_t err)
{
	unsigned more;
	check_fatal(e);
	if (!e->fatal && ing_log_throttle_pass(&e->error_throttle, LOG_EVERY_MS, &more))
		ing_log(ING_LOG_WARNING, "%s: delivery failed, retrying: %s (%u more suppressed)",
			e->topics.names[p->topic], rd_kafka_err2str(err), more);
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
				e->topics.names[p->topic]);
		e->brokers_down = false;
		finish_put(e, p, true);
	} else if (is_refusal(m->err) && p->alone) {
		finish_put(e, p, false);
	} else if (is_refusal(m->err)) {
		p->alone = true;
		DL_APPEND(e->refused, p);
	} else {
		requeue(e, p, m->err);
	}
}

static void log_error(struct kafka_emit *e, rd_kafka_event_t *event)
{
	unsigned more;
	rd_kafka_resp_err_t err = rd_kafka_event_error(event);
	check_fatal(e);
	if (err == RD_KAFKA_RESP_ERR__FATAL)
		return;
	if (err == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN)
		e->brokers_down = true;
	if (ing_log_throttle_pass(&e->brokers_throttle, LOG_EVERY_MS, &more))
		ing_log(ING_LOG_WARNING, "results: %s: %s (%u more suppressed)",
			rd_kafka_err2str(err), rd_kafka_event_error_string(event), more);
}

static int open_producer(struct kafka_emit *e, size_t batch_bytes, struct ing_error *err);
static void close_producer(struct kafka_emit *e);

/* A batch must fit the topic with the smallest limit. Nothing has been sent when the limits are first
 * known; a limit that is lowered later leads to refused messages, which are sent alone. */
static void fit_batches(struct kafka_emit *e)
{
	size_t smallest = ing_topics_smallest_limit(&e->topics);
	if (e->batch_bytes <= smallest || e->in_flight != NULL)
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
		ing_topics_create(&e->topics, e->rk, e->events);
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
	e->admin_pending = ing_topics_describe(&e->topics, e->rk, e->events);
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

static void report_fatal(struct kafka_emit *e)
{
	if (!e->fatal || e->fatal_reported || e->closing)
		return;
	e->fatal_reported = true;
	char reason[256] = "";
	rd_kafka_resp_err_t code = rd_kafka_fatal_error(e->rk, reason, sizeof(reason));
	struct ing_error err = {0};
	ing_error_set(&err, ING_FAIL_UNAVAILABLE, "fatal producer error: %s: %s",
		rd_kafka_err2name(code), reason);
	e->on_fatal(e->fatal_ctx, &err);
}

static bool serve(void *ctx)
{
	struct kafka_emit *e = ctx;
	bool was_ready = e->ready;
	bool more = take_events(e, 0);
	request_topics(e);
	if (e->ready && !was_ready)
		fit_batches(e);
	send_waiting(e);
	call_done(e);
	report_fatal(e);
	return more;
}

/* ---- Start and stop ---- */

static int make_settings(const struct kafka_emit *e, size_t batch_bytes, rd_kafka_conf_t **ret,
	struct ing_error *err)
{
	char message_bytes[24], batch[24], queue_kbytes[24], client_id[300];
	size_t largest = e->topics.max_message_bytes + ING_RECORD_ROOM_BYTES;
	size_t queue_bytes = ING_MAX(2 * largest, (size_t)64 << 20);
	snprintf(message_bytes, sizeof(message_bytes), "%zu", largest);
	snprintf(batch, sizeof(batch), "%zu", batch_bytes);
	snprintf(queue_kbytes, sizeof(queue_kbytes), "%zu", queue_bytes / 1024);
	snprintf(client_id, sizeof(client_id), "ingest-worker-%s", e->instance);
	const struct ing_kafka_setting settings[] = {
		{"enable.idempotence", "true", true},
		{"acks", "all", true},
		{"message.timeout.ms", "0", true},
		{"message.max.bytes", message_bytes, true},
		{"batch.size", batch, false},
		{"queue.buffering.max.kbytes", queue_kbytes, false},
		{"linger.ms", "20", false},
		/* Back soon after a broker's restart; the default waits for up to 10 s. */
		{"reconnect.backoff.max.ms", "2000", false},
		{"compression.codec", "lz4", false},
		/* As Java's clients: the same key goes to the same partition whoever produces
		 * it. */
		{"partitioner", "murmur2_random", false},
		{"socket.keepalive.enable", "true", false},
		{NULL, NULL, false},
	};
	return ing_kafka_settings_new(
		ING_KAFKA_PRODUCER, e->brokers, client_id, settings, e->properties, ret, err);
}

static int open_producer(struct kafka_emit *e, size_t batch_bytes, struct ing_error *err)
{
	rd_kafka_conf_t *settings;
	int rc = make_settings(e, batch_bytes, &settings, err);
	if (rc < 0)
		return rc;
	rd_kafka_conf_set_events(settings, RD_KAFKA_EVENT_DR | RD_KAFKA_EVENT_ERROR);
	char reason[256];
	e->rk = rd_kafka_new(RD_KAFKA_PRODUCER, settings, reason, sizeof(reason));
	if (e->rk == NULL) {
		rd_kafka_conf_destroy(settings);
		return ing_error_set(err, ING_FAIL_CONFIG, "Kafka producer: %s", reason);
	}
	e->batch_bytes = batch_bytes;
	e->events = rd_kafka_queue_get_main(e->rk);
	for (int i = 0; i < ING_OUTPUTS_; i++)
		if (e->topics.names[i] != NULL)
			e->handles[i] = rd_kafka_topic_new(e->rk, e->topics.names[i], NULL);
	ing_kafka_wake_watch(e->wake, e->events);
	return 0;
}

static void close_producer(struct kafka_emit *e)
{
	if (e->rk == NULL)
		return;
	ing_kafka_wake_unwatch(e->events);
	rd_kafka_queue_destroy(e->events);
	for (int i = 0; i < ING_OUTPUTS_; i++) {
		if (e->handles[i] != NULL)
			rd_kafka_topic_destroy(e->handles[i]);
		e->handles[i] = NULL;
	}
	rd_kafka_destroy(e->rk);
	e->rk = NULL;
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
	p->topic = m->output;
	p->has_key = m->key != NULL;
	p->key_bytes = key_bytes;
	p->value = m->value;
	p->value_bytes = m->value_bytes;
	if (key_bytes > 0)
		memcpy(p->key, m->key, key_bytes);
	if (m->header_count > 0)
		p->headers = rd_kafka_headers_new(m->header_count);
	for (size_t i = 0; i < m->header_count; i++)
		rd_kafka_header_add(p->headers, m->headers[i].name, -1, m->headers[i].value, -1);
	return p;
}

/* Only its done() is due. */
static bool is_done_at_once(const struct ing_emit *base, const struct ing_output_message *m)
{
	return const_kafka_of(base)->topics.names[m->output] == NULL ||
	       m->value_bytes > max_value_bytes(base, m->output);
}

static void add_put(struct kafka_emit *e, struct put *p, bool at_once)
{
	p->since_ms = ing_now_ms();
	e->outstanding++;
	e->bytes += put_bytes(p);
	if (at_once) {
		finish_put(e, p, e->topics.names[p->topic] == NULL && !is_answered(p->topic));
		return;
	}
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
	struct put *p = make_put(r->message);
	p->record = r;
	add_put(kafka_of(base), p, is_done_at_once(base, r->message));
}

/* What librdkafka has cannot be called back; it is dropped when it is acknowledged. */
static void drop_kafka(struct ing_emit *base, const struct ing_emit_range *range)
{
	struct kafka_emit *e = kafka_of(base);
	struct put *const lists[] = {e->in_flight, e->finished};
	struct put **const unsent[] = {&e->waiting, &e->refused};
	struct put *p, *next;
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
	return const_kafka_of(base)->outstanding;
}

static bool blocked_kafka(const struct ing_emit *base)
{
	const struct kafka_emit *e = const_kafka_of(base);
	uint64_t now = ing_now_ms();
	if (!e->ready || e->fatal || e->queue_full || e->bytes > e->max_bytes ||
		e->refused != NULL || now < e->retry_at_ms)
		return true;
	return e->in_flight != NULL &&
	       (e->brokers_down || now - e->in_flight->since_ms > STALLED_MS);
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
	for (char **p = e->properties; p != NULL && *p != NULL; p++)
		free(*p);
	free(e->properties);
	free(e->brokers);
	free(e->instance);
	ing_topics_done(&e->topics);
}

static void free_kafka(struct ing_emit *base)
{
	struct kafka_emit *e = kafka_of(base);
	e->closing = true;
	uint64_t deadline = ing_now_ms() + FLUSH_MS;
	while (e->outstanding > 0 && !e->fatal && ing_now_ms() < deadline) {
		take_events(e, 50);
		request_topics(e);
		send_waiting(e);
		call_done(e);
	}
	if (e->outstanding > 0)
		ing_log(ING_LOG_WARNING, "results: closing with %u unacknowledged messages",
			e->outstanding);
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
	.free = free_kafka,
};

/* NULL-terminated heap copy. */
static char **copy_properties(char *const *from)
{
	size_t count = 0;
	while (from != NULL && from[count] != NULL)
		count++;
	char **to = ing_alloc((count + 1) * sizeof(*to));
	for (size_t i = 0; i < count; i++)
		to[i] = ing_strdup(from[i]);
	return to;
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
	e->brokers = ing_strdup(settings->brokers);
	e->instance = ing_strdup(instance);
	e->properties = copy_properties(settings->properties);
	ing_topics_init(&e->topics, settings);
	/* Two of the largest, or 64 MiB. */
	e->max_bytes = ING_MAX(2 * settings->max_message_bytes, (size_t)64 << 20);
	int rc = ing_kafka_wake_new(loop, TICK_MS, serve, e, &e->wake, err);
	if (rc == 0)
		rc = open_producer(e, BATCH_BYTES, err);
	if (rc < 0) {
		ing_kafka_wake_free(e->wake);
		free_strings(e);
		free(e);
		return rc;
	}
	*ret = &e->base;
	return 0;
}
