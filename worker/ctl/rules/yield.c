/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Sums in a hash table by name.
 */
#include "worker/ctl/rules/yield.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/hash.h"
#include "common/data/json.h"
#include "worker/ctl/ctl.h"

#define VERB "rules yield"
#define MAX_FILE_BYTES ((size_t)64 << 20)
#define SECONDS_A_DAY 86400

struct sum {
	UT_hash_handle hh;
	char *name;
	struct ing_ctl_yield yield;
};

struct ing_ctl_yields {
	struct sum *sums;
};

static struct sum *get_sum(struct ing_ctl_yields *y, const char *name)
{
	struct sum *s;
	HASH_FIND_STR(y->sums, name, s);
	if (s != NULL)
		return s;
	s = ing_alloc(sizeof(*s));
	s->name = ing_strdup(name);
	HASH_ADD_KEYPTR(hh, y->sums, s->name, strlen(s->name), s);
	return s;
}

static uint64_t count_at(const json_t *counts, size_t i)
{
	json_int_t n = json_integer_value(json_array_get(counts, i));
	return n > 0 ? (uint64_t)n : 0;
}

static void add_day(struct ing_ctl_yields *y, json_t *rules)
{
	const char *name;
	const json_t *counts;
	json_object_foreach (rules, name, counts) {
		struct ing_ctl_yield *sum = &get_sum(y, name)->yield;
		sum->applied += count_at(counts, 0);
		sum->matched += count_at(counts, 1);
		sum->failed += count_at(counts, 2);
		sum->led += count_at(counts, 3);
	}
}

static bool is_within(const char *day, unsigned days)
{
	struct tm tm = {0};
	const char *end = strptime(day, "%Y-%m-%d", &tm);
	int64_t today = ing_wall_now().tv_sec / SECONDS_A_DAY;
	int64_t at = timegm(&tm) / SECONDS_A_DAY;
	return end != NULL && *end == '\0' && at <= today && at > today - (int64_t)days;
}

static bool add_days(struct ing_ctl_yields *y, const json_t *days, unsigned count)
{
	const char *day;
	json_t *rules;
	if (!json_is_object(days))
		return false;
	json_object_foreach ((json_t *)(uintptr_t)days, day, rules)
		if (is_within(day, count))
			add_day(y, rules);
	return true;
}

static int by_name(struct sum *a, struct sum *b)
{
	return strcmp(a->name, b->name);
}

/* -------------------------------------------------------------------------------------------- */

struct ing_ctl_yields *ing_ctl_yields_new(void)
{
	return ing_alloc(sizeof(struct ing_ctl_yields));
}

void ing_ctl_yields_free(struct ing_ctl_yields *y)
{
	struct sum *s, *next;
	if (y == NULL)
		return;
	HASH_ITER (hh, y->sums, s, next) {
		HASH_DEL(y->sums, s);
		free(s->name);
		free(s);
	}
	free(y);
}

bool ing_ctl_yields_read(struct ing_ctl_yields *y, const char *path, unsigned days)
{
	struct ing_buf text;
	struct ing_error err = {0};
	if (!ing_ctl_read_file(VERB, path, MAX_FILE_BYTES, &text))
		return false;
	json_t *o = ing_json_parse(ing_buf_str(&text), text.len, &ing_json_own, &err);
	bool good = o != NULL && add_days(y, json_object_get(o, "days"), days);
	if (!good)
		(void)ing_ctl_fail(ING_CTL_NEGATIVE, VERB, "%s: not the statistics of rules%s%s",
			path, err.msg[0] != '\0' ? ": " : "", err.msg);
	json_decref(o);
	ing_buf_done(&text);
	return good;
}

struct ing_ctl_yield ing_ctl_yields_of(const struct ing_ctl_yields *y, const char *name)
{
	struct sum *s = NULL;
	if (y != NULL)
		HASH_FIND_STR(y->sums, name, s);
	return s != NULL ? s->yield : (struct ing_ctl_yield){0};
}

void ing_ctl_yields_print(const struct ing_ctl_yields *y)
{
	struct sum *sums = y->sums;
	HASH_SORT(sums, by_name);
	puts("rule\tapplied\tmatched\tfailed\tled_to_document");
	for (const struct sum *s = sums; s != NULL; s = s->hh.next)
		printf("%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n", s->name,
			s->yield.applied, s->yield.matched, s->yield.failed, s->yield.led);
}
