/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the topics have. Results have the ID as their key; requests, parked ones and dead letters have
 * whatever their senders gave them, so their values are read and their ID is computed. Topics are read in
 * order of time from where the request can be, until it is found or the time is up: "looked" says how far.
 *
 * Of requests and parked ones only what is behind the group's committed position counts, of which a few
 * messages may be finished already.
 */
#include "worker/ctl/explain/explain.h"

#include <librdkafka/rdkafka.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/arena.h"
#include "common/base/clock.h"
#include "worker/conf/conf.h"
#include "worker/ctl/topics/dead.h"
#include "worker/ctl/topics/topic_reader.h"
#include "worker/intake/lane_names.h"
#include "worker/model/mask.h"
#include "worker/model/parked.h"
#include "worker/model/request.h"
#include "worker/model/tier.h"

#define POLL_MS 100
/* Clocks of machines differ, and a row is written before its message. */
#define BEFORE_MS 60000

enum purpose { RESULTS, WAITING, PARKED, DEAD };

struct search {
	struct ing_explain *e;
	enum purpose purpose;
	const char *topic;
	json_t *found; /* list */
	uint64_t messages;
};

static json_t *time_json(int64_t ms)
{
	char text[ING_ISO8601_BYTES];
	if (ms <= 0)
		return NULL;
	ing_format_iso8601(
		(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, 3, text);
	return ing_json_text(text);
}

static json_t *place_json(const struct search *s, const rd_kafka_message_t *m)
{
	json_t *o = json_object();
	rd_kafka_timestamp_type_t type;
	ing_json_set_text(o, "topic", s->topic);
	ing_json_set_number(o, "partition", m->partition);
	ing_json_set_number(o, "offset", m->offset);
	ing_json_set(o, "time", time_json(rd_kafka_message_timestamp(m, &type)));
	return o;
}

/* --- whose a message is --- */

static bool has_key(const struct search *s, const void *key, size_t bytes)
{
	return key != NULL && bytes == ING_EXPLAIN_ID_CHARS && memcmp(key, s->e->id, bytes) == 0;
}

/* The request that a value is, if it is the one; the caller's. */
static struct ing_request *read_request(const struct search *s, const char *value, size_t bytes)
{
	struct ing_request *r = NULL;
	struct ing_error err = {0};
	if (value == NULL || ing_request_parse(value, bytes, &r, &err) != 0)
		return NULL;
	if (strcmp(r->key, s->e->id) == 0)
		return r;
	ing_request_free(r);
	return NULL;
}

static size_t headers_of(
	const rd_kafka_message_t *m, struct ing_header headers[ING_DEAD_MAX_HEADERS])
{
	rd_kafka_headers_t *list;
	const void *value;
	size_t bytes, n = 0;
	if (rd_kafka_message_headers(m, &list) != 0)
		return 0;
	while (n < ING_DEAD_MAX_HEADERS &&
		rd_kafka_header_get_all(list, n, &headers[n].name, &value, &bytes) == 0)
		headers[n++].value = value; /* librdkafka puts a zero byte behind it */
	return n;
}

/* Of a request that no table has. */
static void keep_request(struct ing_explain *e, const char *type, const char *base_url,
	const char *link_source, const char *link_source_id)
{
	if (ing_explain_get(e, "request") != NULL || base_url == NULL)
		return;
	struct ing_arena ar;
	ing_arena_init(&ar);
	json_t *o = json_object();
	ing_json_set_text(o, "ingest_type", type);
	ing_json_set_text(o, "base_url", ing_mask_url(&ar, base_url));
	ing_json_set_text(o, "link_source", ing_mask_url(&ar, link_source));
	ing_json_set_text(o, "link_source_id", ing_mask_url(&ar, link_source_id));
	ing_json_set(e->life, "request", o);
	ing_arena_done(&ar);
}

static void keep_parsed(struct ing_explain *e, const struct ing_request *r)
{
	keep_request(e, r->ingest_type, r->base_url, r->link_source, r->link_source_id);
}

static void take_result(struct search *s, const rd_kafka_message_t *m)
{
	if (!has_key(s, m->key, m->key_len) || m->payload == NULL)
		return;
	json_t *o = place_json(s, m);
	json_t *value = ing_json_parse(m->payload, m->len, &ing_json_own, NULL);
	ing_json_set_text(o, "status", ing_json_get_text(value, "status"));
	ing_json_set_bool(o, "hit", ing_json_get_true(value, "hit"));
	ing_json_set_text(o, "error_message", ing_json_get_text(value, "error_message"));
	const json_t *r = json_object_get(value, "request");
	keep_request(s->e, ing_json_get_text(r, "ingest_type"), ing_json_get_text(r, "base_url"),
		ing_json_get_text(r, "link_source"), ing_json_get_text(r, "link_source_id"));
	json_decref(value);
	ing_json_append(s->found, o);
}

static void take_request(struct search *s, const rd_kafka_message_t *m)
{
	struct ing_request *r = read_request(s, m->payload, m->len);
	if (r == NULL)
		return;
	json_t *o = place_json(s, m);
	if (s->purpose == PARKED) {
		struct ing_header headers[ING_DEAD_MAX_HEADERS];
		struct ing_parked p;
		ing_parked_parse(headers, headers_of(m, headers), &p);
		ing_json_set(o, "due", time_json(p.not_before_ms));
		ing_json_set(o, "first_seen", time_json(p.first_seen_ms));
		ing_json_set_text(o, "host", p.host);
		ing_json_set_text(o, "origin", p.origin);
		ing_json_set_number(o, "attempt", p.attempt);
		ing_json_set_number(o, "parked", p.parkings);
	}
	keep_parsed(s->e, r);
	ing_request_free(r);
	ing_json_append(s->found, o);
}

static void take_letter(struct search *s, const rd_kafka_message_t *m)
{
	struct ing_header headers[ING_DEAD_MAX_HEADERS];
	struct ing_dead_letter l;
	if (!ing_dead_letter_of(m, headers, &l))
		return;
	struct ing_request *r = read_request(s, l.value, l.value_bytes);
	if (r == NULL && !has_key(s, l.key, l.key_bytes))
		return;
	json_t *o = place_json(s, m);
	ing_json_set_text(o, "reason", l.about.reason);
	ing_json_set_text(o, "error", l.about.message);
	ing_json_set_text(o, "stage", l.about.stage);
	if (r != NULL)
		keep_parsed(s->e, r);
	ing_request_free(r);
	ing_json_append(s->found, o);
}

/* --- reading --- */

static void take(struct search *s, const rd_kafka_message_t *m)
{
	s->messages++;
	if (s->purpose == RESULTS)
		take_result(s, m);
	else if (s->purpose == DEAD)
		take_letter(s, m);
	else
		take_request(s, m);
}

/* What is known of where it looked: a topic may be too long for the time. */
static void say_looked(struct search *s, int64_t since_ms, const char *how)
{
	json_t *looked = json_object_get(s->e->life, "looked");
	json_t *o = json_object();
	ing_json_set_text(o, "topic", s->topic);
	ing_json_set(o, "since", time_json(since_ms));
	ing_json_set_count(o, "messages", s->messages);
	ing_json_set_text(o, "end", how);
	ing_json_append(looked, o);
}

/* Until the end of the topic; of requests, until the first that is found. */
static const char *read_all(struct search *s, struct ing_topic_reader *reader)
{
	for (;;) {
		rd_kafka_message_t *m = NULL;
		switch (ing_topic_reader_next(reader, POLL_MS, &m)) {
		case ING_TOPIC_MESSAGE:
			take(s, m);
			rd_kafka_message_destroy(m);
			break;
		case ING_TOPIC_END:
			return "all";
		case ING_TOPIC_FAILED:
			return "failed";
		case ING_TOPIC_WAITING:
			break;
		}
		if (s->purpose == WAITING && json_array_size(s->found) > 0)
			return "found";
		if (ing_now_ms() >= s->e->deadline_ms)
			return "time";
	}
}

static void search_topic(struct ing_explain *e, enum purpose purpose, const char *topic,
	int64_t since_ms, json_t *found)
{
	struct search s = {.e = e, .purpose = purpose, .topic = topic, .found = found};
	struct ing_topic_reader *reader = NULL;
	struct ing_error err = {0};
	const struct ing_topic_reader_conf conf = {.verb = ING_EXPLAIN_VERB,
		.brokers = e->brokers,
		.topic = topic,
		.conf = e->conf,
		.since_ms = since_ms,
		.group = purpose == WAITING || purpose == PARKED ? e->conf->kafka.group : NULL,
		.wait_ms = 5000};
	if (e->without_brokers)
		return;
	if (ing_now_ms() >= e->deadline_ms) {
		say_looked(&s, since_ms, "no time");
		return;
	}
	int rc = ing_topic_reader_new(&conf, &reader, &err);
	e->answered |= rc == 0 || rc == -ING_FAIL_NOT_FOUND;
	if (rc == -ING_FAIL_NOT_FOUND)
		return;
	if (rc != 0) {
		ing_explain_miss(e, topic, err.msg);
		e->without_brokers = rc == -ING_FAIL_UNAVAILABLE;
		return;
	}
	say_looked(&s, since_ms, read_all(&s, reader));
	ing_topic_reader_free(reader);
	e->found |= json_array_size(found) > 0;
}

/* --- where it can be --- */

/* Of a row, in UTC; 0: there is none. */
static int64_t time_of(const json_t *o, const char *name)
{
	const char *text = ing_json_get_text(o, name);
	struct tm tm = {0};
	return text != NULL && strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) != NULL
		       ? (int64_t)timegm(&tm) * 1000
		       : 0;
}

static json_t *new_list(struct ing_explain *e, const char *name)
{
	json_t *list = json_array();
	ing_json_set(e->life, name, list);
	return list;
}

static void search_results(struct ing_explain *e)
{
	const json_t *result = ing_explain_get(e, "result");
	int64_t stored_ms = time_of(result, "updated");
	if (stored_ms == 0)
		stored_ms = time_of(ing_explain_get(e, "request"), "created");
	search_topic(e, RESULTS, e->conf->kafka.output_topics[ING_OUTPUT_RESULTS],
		stored_ms > BEFORE_MS && !e->all ? stored_ms - BEFORE_MS : 0,
		new_list(e, "results"));
}

static void search_parked(struct ing_explain *e)
{
	const struct ing_kafka_settings *k = &e->conf->kafka;
	json_t *found = new_list(e, "parked");
	for (int i = 0; i < ING_TIERS_; i++) {
		char *topic = ing_tier_topic_name((enum ing_tier)i,
			k->output_topics[ING_OUTPUT_OF_TIER(i)], k->lane_topics[ING_LANE_REQUESTS]);
		if (topic != NULL)
			search_topic(e, PARKED, topic, 0, found);
		free(topic);
	}
}

static void search_lanes(struct ing_explain *e)
{
	json_t *found = new_list(e, "waiting");
	for (int i = 0; i < ING_LANES_ && json_array_size(found) == 0; i++) {
		char *topic = ing_lane_topic_name((enum ing_lane)i, e->conf->kafka.lane_topics);
		if (topic != NULL)
			search_topic(e, WAITING, topic, 0, found);
		free(topic);
	}
}

/* -------------------------------------------------------------------------------------------- */

void ing_explain_topics(struct ing_explain *e)
{
	new_list(e, "looked");
	if (strlen(e->id) < ING_EXPLAIN_ID_CHARS) {
		ing_explain_miss(e, "topics", "they are searched for an ID of 40 digits only");
		return;
	}
	if (e->brokers[0] == '\0') {
		ing_explain_miss(e, "topics", "kafka.brokers is empty");
		return;
	}
	search_results(e);
	bool is_answered = json_array_size(json_object_get(e->life, "results")) > 0;
	if (is_answered && !e->all)
		return;
	search_parked(e);
	search_lanes(e);
	const char *dead = e->conf->kafka.output_topics[ING_OUTPUT_DEAD];
	if (dead[0] != '\0')
		search_topic(e, DEAD, dead, 0, new_list(e, "dead_letters"));
}
