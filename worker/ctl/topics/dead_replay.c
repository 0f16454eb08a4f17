/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Letters as messages again. A transaction holds the messages and, beside them, the notes in the
 * dead-letter topic that they were replayed; so either both are there or neither is, and a replay
 * that is repeated, for whatever reason, goes on where the last one ended. The transactional
 * identifier is the group's, so that of two replays at the same time the earlier one fails at its
 * next transaction; it is taken before the notes are read.
 */
#include <inttypes.h>
#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "worker/conf/conf.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/topics/dead.h"
#include "worker/ctl/topics/kafka.h"
#include "worker/ctl/topics/kafka_tx.h"

#define BATCH_LETTERS 200 /* of a transaction */
#define WAIT_MS 30000     /* for a topic, or for the end of another replay's transaction */
#define HEADER_BYTES 65536

struct target { /* a topic that letters go to */
	struct target *next;
	rd_kafka_topic_t *topic;
	int partitions;
};

struct replay {
	const struct ing_dead_replay *conf;
	struct ing_ctl_tx *tx;
	struct target *targets;
	rd_kafka_topic_t *notes; /* the dead-letter topic */
	unsigned open;           /* letters in the transaction under way */
	uint64_t replayed, before, too_often, not_whole, nowhere;
	int code;
};

/* A step of a transaction. */
static bool check(struct replay *r, int rc, struct ing_error *err)
{
	if (rc != 0)
		r->code = ing_ctl_fail(ING_CTL_ENVIRONMENT, ING_DEAD_VERB, "%s", err->msg);
	return rc == 0;
}

static bool commit(struct replay *r)
{
	struct ing_error err = {0};
	if (r->open == 0)
		return true;
	unsigned letters = r->open;
	r->open = 0;
	if (!check(r, ing_ctl_tx_commit(r->tx, NULL, &err), &err))
		return false;
	r->replayed += letters;
	return true;
}

static struct target *find_target(struct replay *r, const char *name)
{
	for (struct target *t = r->targets; t != NULL; t = t->next) {
		if (strcmp(rd_kafka_topic_name(t->topic), name) == 0)
			return t;
	}
	struct ing_error err = {0};
	rd_kafka_t *rk = ing_ctl_tx_client(r->tx);
	struct target *t = ing_alloc(sizeof(*t));
	*t = (struct target){.next = r->targets, .topic = rd_kafka_topic_new(rk, name, NULL)};
	r->targets = t;
	if (ing_ctl_kafka_partitions(rk, t->topic, WAIT_MS, false, &t->partitions, &err) == 0)
		return t;
	ing_ctl_fail(ING_CTL_ENVIRONMENT, ING_DEAD_VERB,
		"%s; --topic names another for the letters", err.msg);
	r->code = ING_CTL_ENVIRONMENT;
	return NULL;
}

/* The message's own headers, and how often it has been replayed. */
static rd_kafka_headers_t *make_headers(const struct ing_dead_letter *l)
{
	rd_kafka_headers_t *headers = l->kafka_headers != NULL
					      ? rd_kafka_headers_copy(l->kafka_headers)
					      : rd_kafka_headers_new(1);
	char count[16];
	for (size_t i = 0; i < l->header_count; i++) {
		if (ing_letter_has_header(l->headers[i].name))
			rd_kafka_header_remove(headers, l->headers[i].name);
	}
	rd_kafka_header_remove(headers, ING_LETTER_REPLAYS);
	snprintf(count, sizeof(count), "%u", l->about.replays + 1);
	rd_kafka_header_add(headers, ING_LETTER_REPLAYS, -1, count, -1);
	return headers;
}

static rd_kafka_headers_t *make_note(const struct ing_dead_letter *l, const char *to)
{
	rd_kafka_headers_t *headers = rd_kafka_headers_new(3);
	char place[40];
	char now[ING_ISO8601_BYTES];
	snprintf(place, sizeof(place), "%" PRId32 ":%" PRId64, l->partition, l->offset);
	ing_format_iso8601(ing_wall_now(), 3, now);
	rd_kafka_header_add(headers, ING_LETTER_REPLAYED, -1, place, -1);
	rd_kafka_header_add(headers, ING_LETTER_REPLAYED ".to", -1, to, -1);
	rd_kafka_header_add(headers, ING_LETTER_REPLAYED ".time", -1, now, -1);
	return headers;
}

/* Takes the headers. l NULL: without key and value. */
static bool produce(struct replay *r, rd_kafka_topic_t *topic, int32_t partition,
	const struct ing_dead_letter *l, rd_kafka_headers_t *headers)
{
	static const struct ing_dead_letter nothing;
	struct ing_error err = {0};
	if (l == NULL)
		l = &nothing;
	const struct ing_ctl_tx_message m = {.topic = topic,
		.partition = partition,
		.key = l->key,
		.key_bytes = l->key_bytes,
		.value = l->value,
		.value_bytes = l->value_bytes,
		.headers = headers};
	return check(r, ing_ctl_tx_produce(r->tx, &m, &err), &err);
}

/* To the partition that it came from, if it goes back and that is still there. */
static int32_t choose_partition(
	const struct replay *r, const struct target *t, const struct ing_letter *about)
{
	bool back =
		r->conf->to == NULL && about->partition >= 0 && about->partition < t->partitions;
	return back ? about->partition : RD_KAFKA_PARTITION_UA;
}

static bool replay_letter(struct replay *r, const struct ing_dead_letter *l, const char *to)
{
	struct target *t = find_target(r, to);
	if (t == NULL)
		return false;
	struct ing_error err = {0};
	if (r->open == 0 && !check(r, ing_ctl_tx_begin(r->tx, &err), &err))
		return false;
	r->open++;
	if (!produce(r, t->topic, choose_partition(r, t, &l->about), l, make_headers(l)) ||
		!produce(r, r->notes, l->partition, NULL, make_note(l, to)))
		return false;
	ing_dead_print_line(l, r->conf->json);
	return r->open < BATCH_LETTERS || commit(r);
}

/* False: nothing more can be done. */
static bool take_letter(void *ctx, const struct ing_dead_letter *l)
{
	struct replay *r = ctx;
	const struct ing_dead_replay *conf = r->conf;
	const char *to = conf->to != NULL ? conf->to : l->about.topic;
	uint64_t *why_not = NULL;
	if (l->replayed && !conf->again)
		why_not = &r->before;
	else if (!ing_dead_is_whole(l))
		why_not = &r->not_whole;
	else if (l->about.replays >= conf->max_replays)
		why_not = &r->too_often;
	else if (to == NULL)
		why_not = &r->nowhere;
	if (why_not != NULL) {
		++*why_not;
		return true;
	}
	if (!conf->dry_run)
		return replay_letter(r, l, to);
	ing_dead_print_line(l, conf->json);
	r->replayed++;
	return true;
}

static int make_producer(struct replay *r, struct ing_error *err)
{
	const struct ing_conf *conf = r->conf->reader.conf;
	char id[300];
	snprintf(id, sizeof(id), "%.249s-dead-replay", conf->kafka.group);
	const struct ing_ctl_tx_conf tx = {.verb = ING_DEAD_VERB,
		.brokers = r->conf->reader.brokers,
		.conf = conf,
		.id = id,
		.message_bytes = conf->kafka.max_message_bytes + HEADER_BYTES};
	int rc = ing_ctl_tx_new(&tx, &r->tx, err);
	if (rc == 0)
		r->notes =
			rd_kafka_topic_new(ing_ctl_tx_client(r->tx), r->conf->reader.topic, NULL);
	return rc;
}

static int read_letters(struct replay *r)
{
	int code = ing_dead_read(&r->conf->reader, r->conf->filter, take_letter, r);
	if (code == ING_CTL_OK && r->code == ING_CTL_OK)
		commit(r);
	return code != ING_CTL_OK ? code : r->code;
}

static void add_count(uint64_t n, const char *what)
{
	if (n > 0)
		fprintf(stderr, ", %" PRIu64 " %s", n, what);
}

static int report(const struct replay *r, int code)
{
	fprintf(stderr, "ingestctl dead: %" PRIu64 " letter%s %s", r->replayed,
		ING_PLURAL_S(r->replayed), r->conf->dry_run ? "would be replayed" : "replayed");
	add_count(r->before, "replayed before");
	add_count(r->too_often, "replayed too often");
	add_count(r->not_whole, "not whole");
	add_count(r->nowhere, "without a source");
	fputc('\n', stderr);
	bool some_left = r->too_often + r->not_whole + r->nowhere > 0;
	return code == ING_CTL_OK && some_left ? ING_CTL_NEGATIVE : code;
}

static void close_all(struct replay *r)
{
	while (r->targets != NULL) {
		struct target *next = r->targets->next;
		rd_kafka_topic_destroy(r->targets->topic);
		free(r->targets);
		r->targets = next;
	}
	if (r->notes != NULL)
		rd_kafka_topic_destroy(r->notes);
	ing_ctl_tx_free(r->tx);
}

/* -------------------------------------------------------------------------------------------- */

int ing_dead_replay(const struct ing_dead_replay *conf)
{
	struct replay r = {.conf = conf};
	struct ing_error err = {0};
	int code;
	if (!conf->dry_run && make_producer(&r, &err) != 0)
		code = ing_ctl_fail(ING_CTL_USAGE, ING_DEAD_VERB, "%s", err.msg);
	else if (!conf->dry_run && !check(&r, ing_ctl_tx_init(r.tx, WAIT_MS, &err), &err))
		code = r.code;
	else
		code = report(&r, read_letters(&r));
	close_all(&r);
	return code;
}
