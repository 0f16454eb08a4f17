/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Counters in a hash table by name; each known set of rules is an array of pointers into it, by
 * rule number.
 */
#include "worker/rules/rule_stats.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/hash.h"
#include "common/data/json.h"
#include "common/data/json_text.h"

#define SETS 2 /* the current rules, and those before */
#define SECONDS_A_DAY 86400
#define DAY_BYTES sizeof("2026-01-31")

struct day {
	int64_t day; /* since 1970, UTC */
	uint32_t applied, matched, failed, led;
};

struct counter {
	UT_hash_handle hh;
	char *name;
	unsigned sets; /* that have it */
	uint64_t applied, matched, failed, led;
	struct day *
		days; /* ING_RULE_STATS_DAYS, a day at its number modulo that; NULL: never counted */
};

struct set {
	uint64_t digest;
	struct counter **by_number;
	size_t count;
};

struct ing_rule_stats {
	struct counter *counters;
	struct set sets[SETS];
	struct timespec since;
};

static struct counter *find_counter(const struct ing_rule_stats *rs, const char *name)
{
	struct counter *c;
	HASH_FIND_STR(rs->counters, name, c);
	return c;
}

static struct counter *get_counter(struct ing_rule_stats *rs, const char *name)
{
	struct counter *c = find_counter(rs, name);
	if (c != NULL)
		return c;
	c = ing_alloc(sizeof(*c));
	c->name = ing_strdup(name);
	HASH_ADD_KEYPTR(hh, rs->counters, c->name, strlen(c->name), c);
	return c;
}

static struct day *day_at(struct counter *c, int64_t day)
{
	if (c->days == NULL)
		c->days = ing_alloc(ING_RULE_STATS_DAYS * sizeof(*c->days));
	struct day *d = &c->days[day % ING_RULE_STATS_DAYS];
	if (d->day != day)
		*d = (struct day){.day = day};
	return d;
}

static int64_t today(void)
{
	return ing_wall_now().tv_sec / SECONDS_A_DAY;
}

static void drop_counter(struct ing_rule_stats *rs, struct counter *c)
{
	HASH_DEL(rs->counters, c);
	free(c->days);
	free(c->name);
	free(c);
}

static void drop_set(struct ing_rule_stats *rs, struct set *s)
{
	for (size_t i = 0; i < s->count; i++) {
		if (--s->by_number[i]->sets == 0)
			drop_counter(rs, s->by_number[i]);
	}
	free(s->by_number);
	*s = (struct set){0};
}

static struct counter *counter_of(const struct ing_rule_stats *rs, uint64_t digest, uint32_t rule)
{
	for (size_t i = 0; i < SETS; i++) {
		const struct set *s = &rs->sets[i];
		if (s->count > 0 && s->digest == digest)
			return rule < s->count ? s->by_number[rule] : NULL;
	}
	return NULL;
}

static int by_name(const void *a, const void *b)
{
	const struct counter *const *x = a;
	const struct counter *const *rs = b;
	return strcmp((*x)->name, (*rs)->name);
}

/* --- as JSON --- */

static void format_day(int64_t day, char ret[DAY_BYTES])
{
	char text[ING_ISO8601_BYTES];
	ing_format_iso8601((struct timespec){.tv_sec = day * SECONDS_A_DAY}, 0, text);
	memcpy(ret, text, DAY_BYTES - 1);
	ret[DAY_BYTES - 1] = '\0';
}

/* -1: it is none. */
static int64_t parse_day(const char *text)
{
	struct tm tm = {0};
	const char *end = strptime(text, "%Y-%m-%d", &tm);
	return end != NULL && *end == '\0' ? timegm(&tm) / SECONDS_A_DAY : -1;
}

static void add_day(
	const struct counter *const *sorted, size_t count, int64_t day, struct ing_buf *out)
{
	const char *between = "\n";
	for (size_t i = 0; i < count; i++) {
		const struct counter *c = sorted[i];
		const struct day *d = c->days != NULL ? &c->days[day % ING_RULE_STATS_DAYS] : NULL;
		if (d == NULL || d->day != day || (i > 0 && c == sorted[i - 1]))
			continue;
		ing_buf_add_str(out, between);
		ing_json_add_text(out, c->name, strlen(c->name));
		ing_buf_printf(out, ":[%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 "]",
			d->applied, d->matched, d->failed, d->led);
		between = ",\n";
	}
}

static void add_days(const struct counter *const *sorted, size_t count, struct ing_buf *out)
{
	int64_t last = today();
	for (int64_t day = last - ING_RULE_STATS_DAYS + 1; day <= last; day++) {
		char name[DAY_BYTES];
		format_day(day, name);
		ing_buf_printf(out, "%s\"%s\":{",
			day + ING_RULE_STATS_DAYS - 1 > last ? ",\n" : "\n", name);
		add_day(sorted, count, day, out);
		ing_buf_add_char(out, '}');
	}
}

static uint32_t count_at(const json_t *counts, size_t i)
{
	json_int_t n = json_integer_value(json_array_get(counts, i));
	return n < 0 ? 0 : n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

static void load_day(struct ing_rule_stats *rs, int64_t day, json_t *rules)
{
	const char *name;
	const json_t *counts;
	json_object_foreach (rules, name, counts) {
		struct counter *c = find_counter(rs, name);
		if (c != NULL)
			*day_at(c, day) = (struct day){.day = day,
				.applied = count_at(counts, 0),
				.matched = count_at(counts, 1),
				.failed = count_at(counts, 2),
				.led = count_at(counts, 3)};
	}
}

/* -------------------------------------------------------------------------------------------- */

struct ing_rule_stats *ing_rule_stats_new(void)
{
	struct ing_rule_stats *rs = ing_alloc(sizeof(*rs));
	rs->since = ing_wall_now();
	return rs;
}

void ing_rule_stats_free(struct ing_rule_stats *rs)
{
	if (rs == NULL)
		return;
	for (size_t i = 0; i < SETS; i++)
		drop_set(rs, &rs->sets[i]);
	free(rs);
}

void ing_rule_stats_set_rules(
	struct ing_rule_stats *rs, uint64_t digest, const char *const *names, size_t count)
{
	struct set fresh = {.digest = digest, .count = count};
	fresh.by_number = ing_alloc((count + 1) * sizeof(*fresh.by_number));
	for (size_t i = 0; i < count; i++) {
		fresh.by_number[i] = get_counter(rs, names[i]);
		fresh.by_number[i]->sets++;
	}
	drop_set(rs, &rs->sets[SETS - 1]);
	rs->sets[1] = rs->sets[0];
	rs->sets[0] = fresh;
}

void ing_rule_stats_add(
	struct ing_rule_stats *rs, uint64_t digest, const struct ing_rule_hit *hits, size_t count)
{
	int64_t day = today();
	for (size_t i = 0; rs != NULL && i < count; i++) {
		struct counter *c = counter_of(rs, digest, hits[i].rule);
		if (c == NULL)
			continue;
		struct day *d = day_at(c, day);
		unsigned applied = (hits[i].flags & ING_RULE_APPLIED) != 0;
		unsigned matched = (hits[i].flags & ING_RULE_MATCHED) != 0;
		unsigned failed = (hits[i].flags & ING_RULE_FAILED) != 0;
		c->applied += applied;
		c->matched += matched;
		c->failed += failed;
		d->applied += applied;
		d->matched += matched;
		d->failed += failed;
	}
}

const char *ing_rule_stats_name(const struct ing_rule_stats *rs, uint64_t digest, uint32_t rule)
{
	const struct counter *c = rs != NULL ? counter_of(rs, digest, rule) : NULL;
	return c != NULL ? c->name : NULL;
}

void ing_rule_stats_add_document(struct ing_rule_stats *rs, const char *name)
{
	struct counter *c = rs != NULL ? find_counter(rs, name) : NULL;
	if (c == NULL)
		return;
	c->led++;
	day_at(c, today())->led++;
}

int ing_rule_stats_load(
	struct ing_rule_stats *rs, const char *json, size_t bytes, struct ing_error *err)
{
	json_t *o = ing_json_parse(json, bytes, &ing_json_own, err);
	if (o == NULL)
		return -ING_FAIL_SYNTAX;
	const char *name;
	json_t *rules;
	int64_t now = today();
	json_object_foreach (json_object_get(o, "days"), name, rules) {
		int64_t day = parse_day(name);
		if (day > now - ING_RULE_STATS_DAYS && day <= now)
			load_day(rs, day, rules);
	}
	json_decref(o);
	return 0;
}

void ing_rule_stats_json(const struct ing_rule_stats *rs, struct ing_buf *out)
{
	char since[ING_ISO8601_BYTES];
	const struct set *s = &rs->sets[0];
	struct counter **sorted = ing_alloc((s->count + 1) * sizeof(struct counter *));
	if (s->count > 0) {
		memcpy(sorted, s->by_number, s->count * sizeof(struct counter *));
		qsort(sorted, s->count, sizeof(struct counter *), by_name);
	}
	ing_format_iso8601(rs->since, 0, since);
	ing_buf_printf(out, "{\"since\":\"%s\",\"digest\":\"%016" PRIx64 "\",\"rules\":{", since,
		s->digest);
	for (size_t i = 0; i < s->count; i++) {
		const struct counter *c = sorted[i];
		if (i > 0 && c == sorted[i - 1])
			continue;
		ing_buf_add_str(out, i > 0 ? ",\n" : "\n");
		ing_json_add_text(out, c->name, strlen(c->name));
		ing_buf_printf(out,
			":{\"applied\":%" PRIu64 ",\"matched\":%" PRIu64 ",\"failed\":%" PRIu64
			",\"led_to_document\":%" PRIu64 "}",
			c->applied, c->matched, c->failed, c->led);
	}
	ing_buf_add_str(out, "},\n\"days\":{");
	add_days((const struct counter *const *)sorted, s->count, out);
	ing_buf_add_str(out, "}}\n");
	free(sorted);
}
