/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reading the topics of parked requests. The partitions are assigned, not subscribed to, so that no
 * worker is disturbed; nothing is committed.
 */
#include "worker/ctl/topics/parked_read.h"

#include <inttypes.h>
#include <librdkafka/rdkafka.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/hash.h"
#include "worker/conf/conf.h"
#include "worker/ctl/topics/kafka.h"
#include "worker/intake/position_map.h"
#include "worker/model/parked.h"
#include "worker/model/tier.h"

#define POLL_MS 200

struct host {
	UT_hash_handle hh;
	struct ing_parked_host found;
	char name[];
};

struct part {
	int64_t end; /* as of the start */
	bool done;
	struct ing_position_map *map; /* NULL: nothing beyond the position is finished */
};

struct reading {
	const struct ing_parked_query *q;
	rd_kafka_t *rk;
	rd_kafka_topic_partition_list_t *list; /* their opaque is a struct part */
	int open_parts;
	unsigned topics;
	int64_t now_ms;
	struct host *hosts;
	uint64_t requests;
};

static const struct {
	const char *name;
	int64_t within_ms;
} whens[ING_PARKED_WHENS_] = {
	[ING_PARKED_NOW] = {"now", 0},
	[ING_PARKED_IN_1M] = {"1m", 60000},
	[ING_PARKED_IN_10M] = {"10m", 600000},
	[ING_PARKED_IN_1H] = {"1h", 3600000},
	[ING_PARKED_IN_6H] = {"6h", 21600000},
	[ING_PARKED_IN_1D] = {"1d", 86400000},
	[ING_PARKED_LATER] = {"later", INT64_MAX},
};

/* --- counting --- */

static struct host *host_of(struct reading *r, const char *name)
{
	struct host *h;
	HASH_FIND_STR(r->hosts, name, h);
	if (h != NULL)
		return h;
	size_t bytes = strlen(name);
	h = ing_alloc(sizeof(*h) + bytes + 1);
	memcpy(h->name, name, bytes + 1);
	h->found.host = h->name;
	HASH_ADD_KEYPTR(hh, r->hosts, h->name, bytes, h);
	return h;
}

static void count(struct reading *r, const struct ing_parked *p)
{
	const char *name = p->host != NULL ? p->host : "-";
	if (r->q->host != NULL && strcmp(r->q->host, name) != 0)
		return;
	struct ing_parked_host *h = &host_of(r, name)->found;
	int when = 0;
	while (p->not_before_ms - r->now_ms > whens[when].within_ms)
		when++;
	if (h->count == 0 || p->not_before_ms < h->next_due_ms)
		h->next_due_ms = p->not_before_ms;
	h->last_due_ms = ING_MAX(h->last_due_ms, p->not_before_ms);
	if (p->first_seen_ms > 0 && (h->oldest_ms == 0 || p->first_seen_ms < h->oldest_ms))
		h->oldest_ms = p->first_seen_ms;
	h->count++;
	h->by_when[when]++;
	h->tried += p->attempt > 0;
	r->requests++;
}

static void count_message(struct reading *r, const rd_kafka_message_t *m)
{
	rd_kafka_headers_t *list = NULL;
	struct ing_header headers[4 * ING_PARKED_HEADERS];
	size_t n = 0;
	struct ing_parked parked;
	const char *name;
	const void *value;
	size_t bytes;
	if (rd_kafka_message_headers(m, &list) == 0)
		while (n < ING_ARRAY_LEN(headers) &&
			rd_kafka_header_get_all(list, n, &name, &value, &bytes) == 0)
			headers[n++] = (struct ing_header){name, value}; /* ends with a NUL */
	ing_parked_parse(headers, n, &parked);
	count(r, &parked);
}

/* --- reading --- */

static int fail(struct ing_error *err, const char *what, rd_kafka_resp_err_t why)
{
	return ing_error_set(err, ING_FAIL_UNAVAILABLE, "%s: %s", what, rd_kafka_err2str(why));
}

static int open_client(struct reading *r, struct ing_error *err)
{
	const struct ing_kafka_setting settings[] = {
		{"group.id", r->q->conf->kafka.group, true},
		{"isolation.level", "read_committed", true},
		{"enable.partition.eof", "true", true},
		{"enable.auto.commit", "false", true},
		{"auto.offset.reset", "earliest", true},
		{NULL, NULL, false},
	};
	return ing_ctl_kafka_new(ING_KAFKA_CONSUMER, r->q->verb, r->q->brokers, r->q->conf,
		settings, NULL, &r->rk, err);
}

static int add_topic(struct reading *r, const char *name, struct ing_error *err)
{
	int partitions = 0;
	rd_kafka_topic_t *topic = rd_kafka_topic_new(r->rk, name, NULL);
	int rc = ing_ctl_kafka_partitions(r->rk, topic, r->q->timeout_ms, false, &partitions, err);
	rd_kafka_topic_destroy(topic);
	if (rc == -ING_FAIL_NOT_FOUND) {
		*err = (struct ing_error){0};
		return 0;
	}
	for (int i = 0; rc == 0 && i < partitions; i++)
		rd_kafka_topic_partition_list_add(r->list, name, i)->opaque =
			ing_alloc(sizeof(struct part));
	r->topics += rc == 0;
	return rc;
}

static int add_topics(struct reading *r, struct ing_error *err)
{
	const struct ing_kafka_settings *kafka = &r->q->conf->kafka;
	int rc = 0;
	for (int i = 0; i < ING_TIERS_ && rc == 0; i++) {
		char *name = ing_tier_topic_name((enum ing_tier)i,
			kafka->output_topics[ING_OUTPUT_OF_TIER(i)],
			kafka->lane_topics[ING_LANE_REQUESTS]);
		if (name != NULL)
			rc = add_topic(r, name, err);
		free(name);
	}
	return rc;
}

/* Where to read a partition from, and up to where. A map that cannot be read is left out: more is
 * counted then than will be done. */
static int place_part(struct reading *r, rd_kafka_topic_partition_t *elem, struct ing_error *err)
{
	struct part *part = elem->opaque;
	struct ing_error ignored = {0};
	int64_t low;
	rd_kafka_resp_err_t why = rd_kafka_query_watermark_offsets(
		r->rk, elem->topic, elem->partition, &low, &part->end, r->q->timeout_ms);
	if (why != 0)
		return fail(err, elem->topic, why);
	if (elem->offset >= 0 && elem->metadata_size > 0 &&
		ing_position_map_decode(elem->metadata,
			strnlen(elem->metadata, elem->metadata_size), &part->map, &ignored) != 0)
		part->map = NULL;
	if (elem->offset < low)
		elem->offset = low;
	part->done = elem->offset >= part->end;
	r->open_parts += !part->done;
	return 0;
}

static int place_parts(struct reading *r, struct ing_error *err)
{
	rd_kafka_resp_err_t why = 0;
	if (r->list->cnt > 0)
		why = rd_kafka_committed(r->rk, r->list, r->q->timeout_ms);
	if (why != 0)
		return fail(err, "the group's coordinator", why);
	int rc = 0;
	for (int i = 0; i < r->list->cnt && rc == 0; i++)
		rc = place_part(r, &r->list->elems[i], err);
	return rc;
}

static struct part *part_of(const struct reading *r, const rd_kafka_message_t *m)
{
	const rd_kafka_topic_partition_t *elem = rd_kafka_topic_partition_list_find(
		r->list, rd_kafka_topic_name(m->rkt), m->partition);
	ing_must(elem != NULL);
	return elem->opaque;
}

static void finish_part(struct reading *r, struct part *part)
{
	r->open_parts -= !part->done;
	part->done = true;
}

static void take_message(struct reading *r, const rd_kafka_message_t *m)
{
	struct part *part = part_of(r, m);
	bool finished = part->map != NULL && ing_position_map_has(part->map, m->offset);
	if (!part->done && m->offset < part->end && !finished)
		count_message(r, m);
	if (m->offset + 1 >= part->end)
		finish_part(r, part);
}

static int read_parts(struct reading *r, struct ing_error *err)
{
	rd_kafka_resp_err_t why = rd_kafka_assign(r->rk, r->list);
	if (why != 0)
		return fail(err, "assign", why);
	uint64_t silent_since_ms = ing_now_ms();
	while (r->open_parts > 0) {
		rd_kafka_message_t *m = rd_kafka_consumer_poll(r->rk, POLL_MS);
		if (m != NULL)
			silent_since_ms = ing_now_ms();
		if (m != NULL && m->err == 0)
			take_message(r, m);
		else if (m != NULL && m->err == RD_KAFKA_RESP_ERR__PARTITION_EOF)
			finish_part(r, part_of(r, m));
		if (m != NULL)
			rd_kafka_message_destroy(m);
		if (ing_now_ms() - silent_since_ms > (uint64_t)r->q->timeout_ms)
			return ing_error_set(err, ING_FAIL_UNAVAILABLE, "no broker answers");
	}
	return 0;
}

/* --- the end --- */

static int by_count(const void *a, const void *b)
{
	const struct ing_parked_host *one = a;
	const struct ing_parked_host *other = b;
	if (one->count != other->count)
		return one->count > other->count ? -1 : 1;
	return strcmp(one->host, other->host);
}

static void take_hosts(const struct reading *r, struct ing_parked_hosts *ret)
{
	*ret = (struct ing_parked_hosts){.requests = r->requests, .topics = r->topics};
	ret->all = ing_alloc((HASH_COUNT(r->hosts) + 1) * sizeof(*ret->all));
	for (const struct host *h = r->hosts; h != NULL; h = h->hh.next) {
		ret->all[ret->count] = h->found;
		ret->all[ret->count++].host = ing_strdup(h->name);
	}
	if (ret->count > 1)
		qsort(ret->all, ret->count, sizeof(*ret->all), by_count);
}

static void done_reading(struct reading *r)
{
	struct host *h;
	struct host *next;
	HASH_ITER (hh, r->hosts, h, next) {
		HASH_DEL(r->hosts, h);
		free(h);
	}
	for (int i = 0; r->list != NULL && i < r->list->cnt; i++) {
		struct part *part = ING_TAKE(r->list->elems[i].opaque);
		ing_position_map_free(part->map);
		free(part);
	}
	if (r->list != NULL)
		rd_kafka_topic_partition_list_destroy(r->list);
	if (r->rk != NULL) {
		rd_kafka_assign(r->rk, NULL);
		rd_kafka_destroy(r->rk);
	}
}

/* -------------------------------------------------------------------------------------------- */

int ing_parked_read(
	const struct ing_parked_query *q, struct ing_parked_hosts *ret, struct ing_error *err)
{
	struct timespec now = ing_wall_now();
	struct reading r = {.q = q, .now_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000};
	int rc = open_client(&r, err);
	if (rc == 0) {
		r.list = rd_kafka_topic_partition_list_new(64);
		rc = add_topics(&r, err);
	}
	if (rc == 0)
		rc = place_parts(&r, err);
	if (rc == 0)
		rc = read_parts(&r, err);
	if (rc == 0)
		take_hosts(&r, ret);
	done_reading(&r);
	return rc;
}

void ing_parked_hosts_done(struct ing_parked_hosts *h)
{
	for (size_t i = 0; i < h->count; i++)
		free((void *)(uintptr_t)h->all[i].host);
	free(h->all);
	*h = (struct ing_parked_hosts){0};
}

const char *ing_parked_when_name(enum ing_parked_when when)
{
	ing_must((unsigned)when < ING_PARKED_WHENS_);
	return whens[when].name;
}
