/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Three things have to be known before a request is accepted: the partitions of its topic, the ends of the results', and
 * that a broker answers. The first two are asked for until they are there; the third is lost when librdkafka says that all
 * brokers are down, and asked for again.
 */
#include "worker/serve/broker.h"

#include <inttypes.h>
#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/kafka/settings.h"
#include "common/kafka/wake.h"
#include "worker/model/limits.h"

#define BROKER_MAGIC 0x73627264u
#define ASK_MS 5000 /* for an answer of a broker */
#define ASK_AGAIN_MS 1000
#define LOOK_AGAIN_MS 60000 /* for new partitions */
#define TICK_MS 200
/* Who waits for the answer has been told within this that there is none. */
#define DELIVERY_MS "10000"
#define MESSAGES_A_TURN 200
#define SAY_EVERY_MS 60000

/* What is asked for in the thread: it is the thread's from uv_queue_work() to its end. */
struct look {
	uv_work_t work;
	struct ing_broker *broker;
	bool use_other; /* the requests topic does not exist */
	int request_partitions, result_partitions;
	int64_t *ends; /* of the partitions from `from` on */
	int from;
	char why[256]; /* "": it is known */
};

struct ing_broker {
	uint32_t magic;
	struct ing_broker_conf conf;
	struct uv_loop_s *loop;
	rd_kafka_t *producer, *consumer;
	rd_kafka_topic_t *requests, *results;
	rd_kafka_queue_t *queue, *producer_queue, *consumer_queue;
	struct ing_kafka_wake *wake;
	struct look look;
	bool looking, freed;
	uint64_t look_ms; /* when to look next */
	int request_partitions, next_partition;
	int reading; /* partitions of the results that are read */
	bool away, broken, said;
	char why[256];
	struct ing_log_throttle gate;
};

/* --- in the thread --- */

static int ask_partitions(rd_kafka_t *rk, const char *name, char *why, size_t why_bytes)
{
	rd_kafka_topic_t *topic = rd_kafka_topic_new(rk, name, NULL);
	const struct rd_kafka_metadata *answer;
	int count = -1;
	if (topic == NULL) {
		snprintf(why, why_bytes, "%s: no name of a topic", name);
		return -1;
	}
	rd_kafka_resp_err_t rc = rd_kafka_metadata(rk, 0, topic, &answer, ASK_MS);
	if (rc != 0) {
		snprintf(why, why_bytes, "no broker answers: %s", rd_kafka_err2str(rc));
	} else {
		rd_kafka_resp_err_t of_topic =
			answer->topic_cnt == 1 ? answer->topics[0].err : RD_KAFKA_RESP_ERR__FAIL;
		if (of_topic == 0 && answer->topics[0].partition_cnt > 0)
			count = answer->topics[0].partition_cnt;
		else if (of_topic == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)
			count = 0;
		if (count <= 0)
			snprintf(why, why_bytes, "%s: %s", name, rd_kafka_err2str(of_topic));
		rd_kafka_metadata_destroy(answer);
	}
	rd_kafka_topic_destroy(topic);
	return count;
}

static bool ask_ends(struct look *l, rd_kafka_t *rk, const char *name)
{
	int count = l->result_partitions - l->from;
	l->ends = ing_alloc((size_t)ING_MAX(count, 1) * sizeof(*l->ends));
	for (int i = 0; i < count; i++) {
		int64_t low;
		rd_kafka_resp_err_t rc = rd_kafka_query_watermark_offsets(
			rk, name, l->from + i, &low, &l->ends[i], ASK_MS);
		if (rc != 0) {
			snprintf(l->why, sizeof(l->why), "%s: partition %d: %s", name, l->from + i,
				rd_kafka_err2str(rc));
			return false;
		}
		if (l->from > 0)
			l->ends[i] = low; /* new since we began */
	}
	return true;
}

static void look(uv_work_t *work)
{
	struct look *l = ING_CONTAINER(work, struct look, work);
	struct ing_broker *b = l->broker;
	const struct ing_broker_conf *c = &b->conf;
	int n = ask_partitions(b->producer, c->requests_topic, l->why, sizeof(l->why));
	l->use_other = n == 0 && c->other_topic != NULL;
	if (l->use_other)
		n = ask_partitions(b->producer, c->other_topic, l->why, sizeof(l->why));
	if (n <= 0)
		return;
	l->request_partitions = n;
	l->result_partitions =
		ask_partitions(b->consumer, c->results_topic, l->why, sizeof(l->why));
	if (l->result_partitions > 0 && ask_ends(l, b->consumer, c->results_topic))
		l->why[0] = '\0';
}

/* --- on the loop --- */

static void say(struct ing_broker *b)
{
	const char *why = ing_broker_why_not(b);
	if (why == NULL && b->said)
		ing_log(ING_LOG_INFO, "Kafka: requests are accepted");
	else if (why != NULL)
		ing_log_throttled(&b->gate, SAY_EVERY_MS, ING_LOG_WARNING,
			"Kafka: no request is accepted: %s", why);
	b->said = why != NULL;
}

static void start_reading(struct ing_broker *b, const struct look *l)
{
	if (b->results == NULL)
		b->results = rd_kafka_topic_new(b->consumer, b->conf.results_topic, NULL);
	for (; b->reading < l->result_partitions; b->reading++) {
		int rc = rd_kafka_consume_start_queue(
			b->results, b->reading, l->ends[b->reading - l->from], b->queue);
		if (rc == 0)
			continue;
		snprintf(b->why, sizeof(b->why), "%s: %s", b->conf.results_topic,
			rd_kafka_err2str(rd_kafka_last_error()));
		return;
	}
}

static void use_requests_topic(struct ing_broker *b, const struct look *l)
{
	const char *name = l->use_other ? b->conf.other_topic : b->conf.requests_topic;
	b->request_partitions = l->request_partitions;
	if (b->requests != NULL && strcmp(rd_kafka_topic_name(b->requests), name) == 0)
		return;
	if (b->requests != NULL)
		rd_kafka_topic_destroy(b->requests);
	b->requests = rd_kafka_topic_new(b->producer, name, NULL);
	if (l->use_other)
		ing_log(ING_LOG_WARNING, "Kafka: there is no topic %s: requests go to %s",
			b->conf.requests_topic, name);
	else
		ing_log(ING_LOG_INFO, "Kafka: requests go to %s", name);
}

static void free_all(struct ing_broker *b)
{
	for (int i = 0; i < b->reading; i++)
		rd_kafka_consume_stop(b->results, i);
	if (b->results != NULL)
		rd_kafka_topic_destroy(b->results);
	if (b->requests != NULL)
		rd_kafka_topic_destroy(b->requests);
	rd_kafka_queue_t *queues[] = {b->queue, b->producer_queue, b->consumer_queue};
	for (size_t i = 0; i < ING_ARRAY_LEN(queues); i++) {
		if (queues[i] != NULL)
			rd_kafka_queue_destroy(queues[i]);
	}
	if (b->producer != NULL) {
		rd_kafka_purge(b->producer, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
		rd_kafka_destroy_flags(b->producer, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
	}
	if (b->consumer != NULL)
		rd_kafka_destroy(b->consumer);
	b->magic = 0;
	free(b);
}

static void on_looked(uv_work_t *work, int status)
{
	struct look *l = ING_CONTAINER(work, struct look, work);
	struct ing_broker *b;
	ING_CAST_OBJ(b, l->broker, BROKER_MAGIC);
	b->looking = false;
	if (b->freed) {
		free(l->ends);
		free_all(b);
		return;
	}
	bool known = status == 0 && l->why[0] == '\0';
	if (known) {
		b->away = false;
		use_requests_topic(b, l);
		start_reading(b, l);
	} else if (b->reading == 0 || b->request_partitions == 0 || b->away) {
		snprintf(b->why, sizeof(b->why), "%s", l->why);
	}
	b->look_ms = ing_now_ms() + (known ? LOOK_AGAIN_MS : ASK_AGAIN_MS);
	free(ING_TAKE(l->ends));
	say(b);
}

static void start_look(struct ing_broker *b)
{
	b->looking = true;
	b->look = (struct look){.broker = b, .from = b->reading};
	snprintf(b->look.why, sizeof(b->look.why), "not known");
	ing_must(uv_queue_work(b->loop, &b->look.work, look, on_looked) == 0);
}

static void on_report(rd_kafka_t *rk, const rd_kafka_message_t *m, void *opaque)
{
	(void)rk;
	struct ing_broker *b;
	ING_CAST_OBJ(b, opaque, BROKER_MAGIC);
	if (b->freed)
		return;
	if (m->err != 0)
		ing_log(ING_LOG_DEBUG, "Kafka: a request was not delivered: %s",
			rd_kafka_err2str(m->err));
	b->conf.delivered(b->conf.ctx, m->_private, m->err == 0);
}

static void on_error(rd_kafka_t *rk, int err, const char *reason, void *opaque)
{
	struct ing_broker *b;
	ING_CAST_OBJ(b, opaque, BROKER_MAGIC);
	char why[256];
	if (b->freed)
		return;
	if (err == RD_KAFKA_RESP_ERR__FATAL && !b->broken) {
		rd_kafka_fatal_error(rk, why, sizeof(why));
		b->broken = true;
		snprintf(b->why, sizeof(b->why), "%s", why);
		b->conf.broken(b->conf.ctx, b->why);
	} else if (err == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN && rk == b->producer && !b->away) {
		b->away = true;
		b->look_ms = 0;
		snprintf(b->why, sizeof(b->why), "all brokers are down");
		say(b);
	} else {
		ing_log(ING_LOG_DEBUG, "Kafka: %s: %s", rd_kafka_err2str((rd_kafka_resp_err_t)err),
			reason);
	}
}

static size_t read_results(struct ing_broker *b)
{
	rd_kafka_message_t *messages[MESSAGES_A_TURN];
	ssize_t n = rd_kafka_consume_batch_queue(b->queue, 0, messages, MESSAGES_A_TURN);
	for (ssize_t i = 0; i < n; i++) {
		rd_kafka_message_t *m = messages[i];
		if (m->err != 0)
			ing_log(ING_LOG_DEBUG, "Kafka: %s: %s", b->conf.results_topic,
				rd_kafka_message_errstr(m));
		else
			b->conf.result(b->conf.ctx, m->key, m->key_len, m->payload, m->len);
		rd_kafka_message_destroy(m);
	}
	return n > 0 ? (size_t)n : 0;
}

static bool serve(void *ctx)
{
	struct ing_broker *b;
	ING_CAST_OBJ(b, ctx, BROKER_MAGIC);
	rd_kafka_poll(b->producer, 0);
	rd_kafka_poll(b->consumer, 0);
	size_t n = read_results(b);
	if (!b->looking && !b->broken && ing_now_ms() >= b->look_ms)
		start_look(b);
	return n == MESSAGES_A_TURN;
}

static int make_client(struct ing_broker *b, enum ing_kafka_role role,
	const struct ing_kafka_setting *settings, rd_kafka_t **ret, struct ing_error *err)
{
	rd_kafka_conf_t *made;
	char reason[256];
	int rc = ing_kafka_settings_new(
		role, b->conf.brokers, "ingest-api", settings, &b->conf.properties, &made, err);
	if (rc != 0)
		return rc;
	rd_kafka_conf_set_opaque(made, b);
	rd_kafka_conf_set_error_cb(made, on_error);
	if (role == ING_KAFKA_PRODUCER)
		rd_kafka_conf_set_dr_msg_cb(made, on_report);
	*ret = rd_kafka_new(role == ING_KAFKA_PRODUCER ? RD_KAFKA_PRODUCER : RD_KAFKA_CONSUMER,
		made, reason, sizeof(reason));
	if (*ret != NULL)
		return 0;
	rd_kafka_conf_destroy(made);
	return ing_error_set(err, ING_FAIL_CONFIG, "Kafka: %s", reason);
}

static int make_clients(struct ing_broker *b, struct ing_error *err)
{
	char message_bytes[24];
	/* The request, and the record's own fields. */
	snprintf(message_bytes, sizeof(message_bytes), "%zu", ING_MAX_REQUEST_BYTES + 65536);
	const struct ing_kafka_setting of_producer[] = {
		{"enable.idempotence", "true", true},
		{"message.max.bytes", message_bytes, false},
		{"message.timeout.ms", DELIVERY_MS, false},
		{"linger.ms", "0", false},
		{NULL, NULL, false},
	};
	static const struct ing_kafka_setting of_consumer[] = {
		{"isolation.level", "read_committed", true},
		/* The topic was made anew, or what was not read is gone: what there is comes next. */
		{"auto.offset.reset", "earliest", true},
		{"fetch.wait.max.ms", "200", false},
		{"fetch.error.backoff.ms", "100", false},
		/* For each partition. */
		{"queued.max.messages.kbytes", "4096", false},
		{NULL, NULL, false},
	};
	int rc = make_client(b, ING_KAFKA_PRODUCER, of_producer, &b->producer, err);
	if (rc == 0)
		rc = make_client(b, ING_KAFKA_CONSUMER, of_consumer, &b->consumer, err);
	return rc;
}

/* ------------------------------------------------------------------------------------------ */

int ing_broker_new(struct uv_loop_s *loop, const struct ing_broker_conf *conf,
	struct ing_broker **ret, struct ing_error *err)
{
	struct ing_broker *b = ing_alloc(sizeof(*b));
	*b = (struct ing_broker){
		.magic = BROKER_MAGIC, .conf = *conf, .loop = loop, .why = "not connected yet"};
	int rc = make_clients(b, err);
	if (rc == 0)
		rc = ing_kafka_wake_new(loop, TICK_MS, serve, b, &b->wake, err);
	if (rc != 0) {
		free_all(b);
		return rc;
	}
	b->queue = rd_kafka_queue_new(b->consumer);
	b->producer_queue = rd_kafka_queue_get_main(b->producer);
	b->consumer_queue = rd_kafka_queue_get_main(b->consumer);
	ing_kafka_wake_watch(b->wake, b->queue);
	ing_kafka_wake_watch(b->wake, b->producer_queue);
	ing_kafka_wake_watch(b->wake, b->consumer_queue);
	ing_kafka_wake_kick(b->wake);
	*ret = b;
	return 0;
}

void ing_broker_free(struct ing_broker *b)
{
	if (b == NULL)
		return;
	ing_kafka_wake_unwatch(b->queue);
	ing_kafka_wake_unwatch(b->producer_queue);
	ing_kafka_wake_unwatch(b->consumer_queue);
	ing_kafka_wake_free(ING_TAKE(b->wake));
	b->freed = true;
	if (!b->looking)
		free_all(b);
}

const char *ing_broker_why_not(const struct ing_broker *b)
{
	bool ready = b->request_partitions > 0 && b->reading > 0 && !b->away && !b->broken;
	return ready ? NULL : b->why;
}

bool ing_broker_produce(struct ing_broker *b, const char *message, size_t bytes, void *opaque)
{
	if (ing_broker_why_not(b) != NULL)
		return false;
	int partition = b->next_partition++ % b->request_partitions;
	/* librdkafka copies the bytes at once, whatever the type of its parameter says. */
	return rd_kafka_produce(b->requests, partition, RD_KAFKA_MSG_F_COPY,
		       (void *)(uintptr_t)message, bytes, NULL, 0, opaque) == 0;
}
