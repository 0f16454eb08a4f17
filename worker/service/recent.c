/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Counters in rings of slots. A slot knows of which minute (second) it is, and is emptied when it is
 * used for another one, so reading changes nothing and no timer is needed.
 */
#include "worker/service/recent.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/utf8.h"

#define RATE_SECONDS 60
#define SECOND_SLOTS (RATE_SECONDS + 1) /* the current second is not over */
#define KEY_BYTES 41

struct counts {
	uint32_t results, hits, parked, dead;
};

struct second {
	uint64_t number;
	struct counts counts;
	uint32_t lanes[ING_LANES_];
};

struct minute {
	uint64_t number;
	struct counts counts;
	uint32_t by_status[ING_STATUS_COUNT_];
	uint32_t lane_results[ING_LANES_], lane_hits[ING_LANES_];
};

struct failure {
	struct timespec at;
	uint64_t took_ms;
	enum ing_lane lane;
	enum ing_status status;
	char key[KEY_BYTES];
	char *type, *host, *url, *last_url, *message; /* heap; NULL: none */
};

struct ing_recent {
	uint64_t start_ms;
	struct second seconds[SECOND_SLOTS];
	struct minute minutes[ING_RECENT_MINUTES];
	struct failure failures[ING_RECENT_FAILURES];
	uint64_t failure_count; /* so far: the next one's place follows from it */
};

/* --- slots --- */

static uint64_t second_of(uint64_t now_ms)
{
	return now_ms / 1000;
}

static uint64_t minute_of(uint64_t now_ms)
{
	return now_ms / 60000;
}

static struct second *current_second(struct ing_recent *r, uint64_t now_ms)
{
	uint64_t number = second_of(now_ms);
	struct second *s = &r->seconds[number % SECOND_SLOTS];
	if (s->number != number)
		*s = (struct second){.number = number};
	return s;
}

static struct minute *current_minute(struct ing_recent *r, uint64_t now_ms)
{
	uint64_t number = minute_of(now_ms);
	struct minute *m = &r->minutes[number % ING_RECENT_MINUTES];
	if (m->number != number)
		*m = (struct minute){.number = number};
	return m;
}

/* The slot of the minute `ago` minutes before; NULL: nothing was counted in it. */
static const struct minute *minute_ago(const struct ing_recent *r, uint64_t now_ms, unsigned ago)
{
	uint64_t now = minute_of(now_ms);
	if (ago > now)
		return NULL;
	const struct minute *m = &r->minutes[(now - ago) % ING_RECENT_MINUTES];
	return m->number == now - ago ? m : NULL;
}

/* --- failures --- */

static char *copy_text(const char *s)
{
	if (s == NULL)
		return NULL;
	size_t bytes = ing_utf8_cut(s, strlen(s), ING_RECENT_TEXT_BYTES);
	char *copy = ing_utf8_clean(s, bytes, NULL);
	ing_must(copy != NULL);
	return copy;
}

static void free_texts(struct failure *f)
{
	free(f->type);
	free(f->host);
	free(f->url);
	free(f->last_url);
	free(f->message);
}

static void keep_failure(struct ing_recent *r, const struct ing_recent_result *result)
{
	struct failure *f = &r->failures[r->failure_count++ % ING_RECENT_FAILURES];
	free_texts(f);
	*f = (struct failure){
		.at = result->at,
		.took_ms = result->took_ms,
		.lane = result->lane,
		.status = result->status,
		.type = copy_text(result->type),
		.host = copy_text(result->host),
		.url = copy_text(result->url),
		.last_url = copy_text(result->last_url),
		.message = copy_text(result->message),
	};
	if (result->key != NULL)
		memcpy(f->key, result->key, ING_MIN(strlen(result->key), KEY_BYTES - 1));
}

static json_t *failure_json(const struct failure *f)
{
	char at[ING_ISO8601_BYTES];
	json_t *o = json_object();
	ing_format_iso8601(f->at, 0, at);
	ing_json_set_text(o, "at", at);
	ing_json_set_text(o, "id", f->key[0] != '\0' ? f->key : NULL);
	ing_json_set_text(o, "type", f->type);
	ing_json_set_text(o, "lane", ing_lane_name(f->lane));
	ing_json_set_text(o, "status", ing_status_slug(f->status));
	ing_json_set_text(o, "host", f->host);
	ing_json_set_text(o, "url", f->url);
	ing_json_set_text(o, "last_url", f->last_url);
	ing_json_set_text(o, "message", f->message);
	ing_json_set_count(o, "took_ms", f->took_ms);
	return o;
}

/* --- sums --- */

static void add_minute(struct minute *sum, const struct minute *m)
{
	sum->counts.results += m->counts.results;
	sum->counts.hits += m->counts.hits;
	sum->counts.parked += m->counts.parked;
	sum->counts.dead += m->counts.dead;
	for (int i = 0; i < ING_STATUS_COUNT_; i++)
		sum->by_status[i] += m->by_status[i];
	for (int i = 0; i < ING_LANES_; i++) {
		sum->lane_results[i] += m->lane_results[i];
		sum->lane_hits[i] += m->lane_hits[i];
	}
}

static json_t *by_status_json(const struct minute *sum)
{
	json_t *o = json_object();
	for (int i = 0; i < ING_STATUS_COUNT_; i++)
		if (sum->by_status[i] > 0)
			ing_json_set_count(
				o, ing_status_slug((enum ing_status)i), sum->by_status[i]);
	return o;
}

static json_t *by_lane_json(const struct minute *sum)
{
	json_t *o = json_object();
	for (int i = 0; i < ING_LANES_; i++) {
		json_t *lane = json_object();
		ing_json_set_count(lane, "results", sum->lane_results[i]);
		ing_json_set_count(lane, "hits", sum->lane_hits[i]);
		ing_json_set(o, ing_lane_name((enum ing_lane)i), lane);
	}
	return o;
}

/* -------------------------------------------------------------------------------------------- */

struct ing_recent *ing_recent_new(uint64_t now_ms)
{
	struct ing_recent *r = ing_alloc(sizeof(*r));
	r->start_ms = now_ms;
	return r;
}

void ing_recent_free(struct ing_recent *r)
{
	if (r == NULL)
		return;
	for (size_t i = 0; i < ING_RECENT_FAILURES; i++)
		free_texts(&r->failures[i]);
	free(r);
}

void ing_recent_add(struct ing_recent *r, const struct ing_recent_result *result, uint64_t now_ms)
{
	struct second *s = current_second(r, now_ms);
	struct minute *m = current_minute(r, now_ms);
	s->counts.results++;
	s->counts.hits += result->hit;
	s->lanes[result->lane]++;
	m->counts.results++;
	m->counts.hits += result->hit;
	m->by_status[result->status]++;
	m->lane_results[result->lane]++;
	m->lane_hits[result->lane] += result->hit;
	if (!result->hit && result->status != ING_STATUS_EXISTING)
		keep_failure(r, result);
}

void ing_recent_add_parked(struct ing_recent *r, uint64_t now_ms)
{
	current_second(r, now_ms)->counts.parked++;
	current_minute(r, now_ms)->counts.parked++;
}

void ing_recent_add_dead(struct ing_recent *r, uint64_t now_ms)
{
	current_second(r, now_ms)->counts.dead++;
	current_minute(r, now_ms)->counts.dead++;
}

void ing_recent_rates(const struct ing_recent *r, uint64_t now_ms, struct ing_recent_rates *ret)
{
	uint64_t now = second_of(now_ms), passed = now - second_of(r->start_ms);
	struct counts sum = {0};
	*ret = (struct ing_recent_rates){0};
	if (passed == 0)
		return;
	for (size_t i = 0; i < SECOND_SLOTS; i++) {
		const struct second *s = &r->seconds[i];
		if (s->number >= now || now - s->number > RATE_SECONDS)
			continue;
		sum.results += s->counts.results;
		sum.hits += s->counts.hits;
		sum.parked += s->counts.parked;
		sum.dead += s->counts.dead;
	}
	double seconds = (double)ING_MIN(passed, (uint64_t)RATE_SECONDS);
	ret->results = sum.results / seconds;
	ret->hits = sum.hits / seconds;
	ret->parked = sum.parked / seconds;
	ret->dead = sum.dead / seconds;
}

uint64_t ing_recent_lane(const struct ing_recent *r, enum ing_lane lane, uint64_t now_ms)
{
	uint64_t now = second_of(now_ms), sum = 0;
	for (size_t i = 0; i < SECOND_SLOTS; i++) {
		const struct second *s = &r->seconds[i];
		if (s->number <= now && now - s->number < RATE_SECONDS)
			sum += s->lanes[lane];
	}
	return sum;
}

json_t *ing_recent_hour_json(const struct ing_recent *r, uint64_t now_ms)
{
	struct minute sum = {0};
	json_t *o = json_object();
	json_t *minutes = json_object();
	json_t *results = json_array();
	json_t *hits = json_array();
	for (unsigned ago = ING_RECENT_MINUTES; ago-- > 0;) {
		const struct minute *m = minute_ago(r, now_ms, ago);
		if (m != NULL)
			add_minute(&sum, m);
		ing_json_append(results, ing_json_count(m != NULL ? m->counts.results : 0));
		ing_json_append(hits, ing_json_count(m != NULL ? m->counts.hits : 0));
	}
	ing_json_set_count(o, "results", sum.counts.results);
	ing_json_set_count(o, "hits", sum.counts.hits);
	ing_json_set_count(o, "parked", sum.counts.parked);
	ing_json_set_count(o, "dead", sum.counts.dead);
	ing_json_set(o, "by_status", by_status_json(&sum));
	ing_json_set(o, "by_lane", by_lane_json(&sum));
	ing_json_set(minutes, "results", results);
	ing_json_set(minutes, "hits", hits);
	ing_json_set(o, "minutes", minutes);
	return o;
}

json_t *ing_recent_failures_json(const struct ing_recent *r)
{
	json_t *list = json_array();
	uint64_t have = ING_MIN(r->failure_count, (uint64_t)ING_RECENT_FAILURES);
	for (uint64_t i = 0; i < have; i++)
		ing_json_append(list,
			failure_json(
				&r->failures[(r->failure_count - 1 - i) % ING_RECENT_FAILURES]));
	return list;
}
