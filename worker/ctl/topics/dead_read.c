/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The note that a letter was replayed stands behind it, perhaps far; so the notes are read first,
 * and only their places kept. What the two passes cost is the topic's size, which is that of things
 * gone wrong.
 */
#include <ctype.h>
#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/topics/dead.h"

#define POLL_MS 500
#define MAX_AGO_S 3650000000u

struct place {
	int32_t partition;
	int64_t offset;
};

struct reading {
	const struct ing_dead_filter *filter;
	struct place *notes; /* sorted after the first pass */
	size_t count, cap;
	ing_dead_each_f *each;
	void *ctx;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a;
	const struct place *y = b;
	if (x->partition != y->partition)
		return x->partition < y->partition ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

static void add_note(struct reading *r, const struct ing_letter *about)
{
	if (r->count == r->cap) {
		r->cap = r->cap ? r->cap * 2 : 64;
		r->notes = ing_realloc(r->notes, r->cap * sizeof(*r->notes));
	}
	r->notes[r->count++] = (struct place){about->replayed_partition, about->replayed_offset};
}

static bool has_note(const struct reading *r, const struct ing_dead_letter *l)
{
	const struct place p = {l->partition, l->offset};
	return r->count > 0 && bsearch(&p, r->notes, r->count, sizeof(p), compare_places) != NULL;
}

/* librdkafka puts a zero byte behind a header's value. */
static size_t list_headers(
	const rd_kafka_headers_t *from, struct ing_header to[ING_DEAD_MAX_HEADERS])
{
	size_t n = 0;
	const char *name;
	const void *value;
	size_t bytes;
	while (n < ING_DEAD_MAX_HEADERS && from != NULL &&
		rd_kafka_header_get_all(from, n, &name, &value, &bytes) == 0)
		to[n++] = (struct ing_header){name, value};
	return n;
}

static void set_time(struct ing_dead_letter *l, const rd_kafka_message_t *m)
{
	rd_kafka_timestamp_type_t type;
	int64_t ms = rd_kafka_message_timestamp(m, &type);
	char text[ING_ISO8601_BYTES];
	if (l->about.time != NULL) {
		snprintf(l->time, sizeof(l->time), "%.*s", (int)sizeof(l->time) - 1, l->about.time);
		return;
	}
	if (ms < 0)
		return;
	ing_format_iso8601(
		(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, 3, text);
	snprintf(l->time, sizeof(l->time), "%s", text);
}

static bool is(const char *wanted, const char *given)
{
	return wanted == NULL || (given != NULL && strcmp(wanted, given) == 0);
}

/* Times in one notation compare like texts, and so does the beginning of one. */
static bool passes(const struct ing_dead_filter *f, const struct ing_dead_letter *l)
{
	return f == NULL || (is(f->reason, l->about.reason) && is(f->stage, l->about.stage) &&
				    is(f->topic, l->about.topic) &&
				    (f->partition < 0 || f->partition == l->about.partition) &&
				    (f->since[0] == '\0' || strcmp(l->time, f->since) >= 0) &&
				    (f->until[0] == '\0' || strcmp(l->time, f->until) < 0));
}

/* False: enough has been read. */
static bool take_message(struct reading *r, bool second_pass, const rd_kafka_message_t *m)
{
	struct ing_header headers[ING_DEAD_MAX_HEADERS];
	struct ing_dead_letter l;
	bool is_letter = ing_dead_letter_of(m, headers, &l);
	if (!second_pass && !is_letter)
		add_note(r, &l.about);
	if (!second_pass || !is_letter)
		return true;
	l.replayed = has_note(r, &l);
	return !passes(r->filter, &l) || r->each(r->ctx, &l);
}

static int read_topic(const struct ing_topic_reader_conf *conf, struct reading *r, bool second_pass)
{
	struct ing_error err = {0};
	struct ing_topic_reader *reader = NULL;
	enum ing_topic_read read = ING_TOPIC_WAITING;
	bool going = true;
	int rc = ing_topic_reader_new(conf, &reader, &err);
	if (rc != 0)
		return ing_ctl_fail(rc == -ING_FAIL_CONFIG ? ING_CTL_USAGE : ING_CTL_ENVIRONMENT,
			conf->verb, "%s: %s", conf->brokers, err.msg);
	while (going && read != ING_TOPIC_END && read != ING_TOPIC_FAILED) {
		rd_kafka_message_t *m;
		read = ing_topic_reader_next(reader, POLL_MS, &m);
		if (read != ING_TOPIC_MESSAGE)
			continue;
		going = take_message(r, second_pass, m);
		rd_kafka_message_destroy(m);
	}
	ing_topic_reader_free(reader);
	return read == ING_TOPIC_FAILED ? ING_CTL_ENVIRONMENT : ING_CTL_OK;
}

/* "12h" before now. */
static bool read_ago(const char *text, char ret[ING_DEAD_TIME_BYTES])
{
	static const struct {
		char unit;
		unsigned seconds;
	} units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
	char *end;
	unsigned long n = strtoul(text, &end, 10);
	if (!isdigit((unsigned char)text[0]) || end[0] == '\0' || end[1] != '\0')
		return false;
	for (size_t i = 0; i < ING_ARRAY_LEN(units); i++) {
		if (end[0] != units[i].unit || n > MAX_AGO_S / units[i].seconds)
			continue;
		struct timespec t = ing_wall_now();
		t.tv_sec -= (time_t)(n * units[i].seconds);
		char text_now[ING_ISO8601_BYTES];
		ing_format_iso8601(t, 3, text_now);
		snprintf(ret, ING_DEAD_TIME_BYTES, "%s", text_now);
		return true;
	}
	return false;
}

/* -------------------------------------------------------------------------------------------- */

bool ing_dead_read_time(const char *text, char ret[ING_DEAD_TIME_BYTES])
{
	static const char shape[] = "dddd-dd-ddTdd:dd:dd.ddd";
	size_t n = strlen(text);
	if (read_ago(text, ret))
		return true;
	if (n > 10 && text[n - 1] == 'Z')
		n--;
	if (n < 10 || n >= sizeof(shape))
		return false;
	for (size_t i = 0; i < n; i++) {
		bool fits = shape[i] == 'd' ? isdigit((unsigned char)text[i]) != 0
					    : text[i] == shape[i];
		if (!fits)
			return false;
	}
	memcpy(ret, text, n);
	ret[n] = '\0';
	return isdigit((unsigned char)text[n - 1]) != 0;
}

bool ing_dead_letter_of(const struct rd_kafka_message_s *m,
	struct ing_header headers[ING_DEAD_MAX_HEADERS], struct ing_dead_letter *ret)
{
	*ret = (struct ing_dead_letter){.partition = m->partition,
		.offset = m->offset,
		.key = m->key,
		.key_bytes = m->key_len,
		.value = m->payload,
		.value_bytes = m->len,
		.headers = headers};
	if (rd_kafka_message_headers(m, &ret->kafka_headers) != 0)
		ret->kafka_headers = NULL;
	ret->header_count = list_headers(ret->kafka_headers, headers);
	ing_letter_parse(headers, ret->header_count, &ret->about);
	set_time(ret, m);
	return !ret->about.is_note;
}

bool ing_dead_is_whole(const struct ing_dead_letter *l)
{
	return l->about.value_bytes <= (int64_t)l->value_bytes &&
	       l->about.key_bytes <= (int64_t)l->key_bytes;
}

int ing_dead_read(const struct ing_topic_reader_conf *conf, const struct ing_dead_filter *filter,
	ing_dead_each_f *each, void *ctx)
{
	struct reading r = {.filter = filter, .each = each, .ctx = ctx};
	int code = read_topic(conf, &r, false);
	if (r.count > 0)
		qsort(r.notes, r.count, sizeof(*r.notes), compare_places);
	if (code == ING_CTL_OK)
		code = read_topic(conf, &r, true);
	free(r.notes);
	return code;
}
