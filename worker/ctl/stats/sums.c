/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * All sums are added up here once more, whether the server has done it or not: for domains and totals it must be,
 * and for the rest it changes nothing.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/hash.h"
#include "common/data/pg.h"
#include "common/net/psl.h"
#include "worker/ctl/stats/cube.h"

#define MAX_KEY_BYTES ((size_t)1 << 20)
#define ALL "*"

struct group {
	const char *key; /* values, each with its NUL */
	int64_t sums[ING_STATS_MEASURES];
	UT_hash_handle hh;
};

struct ing_stats_sums {
	const struct ing_stats_question *q;
	struct group *groups;
	struct group **sorted;
	struct ing_arena arena;
	struct ing_buf key;
	struct ing_stats_column columns[ING_STATS_MAX_COLUMNS];
};

static struct group *find_group(struct ing_stats_sums *s)
{
	struct group *g;
	ing_must(!s->key.failed);
	HASH_FIND(hh, s->groups, s->key.data, s->key.len, g);
	if (g != NULL)
		return g;
	g = ing_arena_alloc(&s->arena, sizeof(*g));
	char *key = ing_arena_alloc(&s->arena, s->key.len + 1);
	memcpy(key, s->key.data, s->key.len);
	g->key = key;
	HASH_ADD_KEYPTR(hh, s->groups, g->key, s->key.len, g);
	return g;
}

static const char *dim_value(const struct ing_stats_dim *dim, const char *value)
{
	if (value == NULL)
		return "";
	const char *domain = dim->is_domain ? ing_psl_registered(value) : NULL;
	return domain != NULL ? domain : value; /* an address, or a suffix itself */
}

/* The group of the row in which the dimensions of the mask stand for all their values. */
static struct group *group_of(struct ing_stats_sums *s, const char *const *values, unsigned all)
{
	ing_buf_clear(&s->key);
	for (size_t i = 0; i < s->q->by_count; i++) {
		const char *v = (all >> i & 1) != 0 ? ALL : dim_value(s->q->by[i], values[i]);
		ing_buf_add(&s->key, v, strlen(v) + 1);
	}
	ing_buf_add_char(
		&s->key, (char)('a' + (int)all)); /* a value that is "*" is not all of them */
	return find_group(s);
}

/* Times from the latest on; else most first; what is left by name. */
static int compare(const void *a, const void *b, void *ctx)
{
	const struct ing_stats_question *q = ctx;
	const struct group *x = *(const struct group *const *)a;
	const struct group *y = *(const struct group *const *)b;
	const char *s = x->key;
	const char *t = y->key;
	for (size_t i = 0; i < q->by_count; i++) {
		if (!q->by[i]->is_time && x->sums[0] != y->sums[0])
			return x->sums[0] > y->sums[0] ? -1 : 1;
		int order = strcmp(s, t);
		if (order != 0)
			return q->by[i]->is_time ? -order : order;
		s += strlen(s) + 1;
		t += strlen(t) + 1;
	}
	return 0;
}

/* The columns of the answer, and which measure each is (behind the dimensions). */
static size_t list_columns(struct ing_stats_sums *s, size_t measures[ING_STATS_MEASURES])
{
	const struct ing_stats_question *q = s->q;
	size_t count = 0;
	size_t measure_count = ing_stats_count_measures(q->cube);
	for (size_t i = 0; i < q->by_count; i++)
		s->columns[count++] = (struct ing_stats_column){q->by[i]->name, ING_FIGURE_TEXT};
	for (size_t i = 0; i < measure_count; i++) {
		if (!ing_stats_is_asked(q, &q->cube->measures[i]))
			continue;
		measures[count - q->by_count] = i;
		s->columns[count++] = q->cube->measures[i].column;
	}
	if (q->cube->sampled != NULL)
		s->columns[count++] = (struct ing_stats_column){"exact", ING_FIGURE_TRUTH};
	return count;
}

/* False: the ratio of nothing. */
static bool format_measure(const struct ing_stats_question *q, const struct group *g,
	const struct ing_stats_measure *m, size_t index, char *text, size_t bytes)
{
	if (m->sql == NULL) {
		int64_t whole = g->sums[m->part] + g->sums[m->rest];
		if (whole <= 0)
			return false;
		snprintf(text, bytes, "%.4f", (double)g->sums[m->part] / (double)whole);
		return true;
	}
	double n = (double)g->sums[index] * 100 / q->percent;
	if (q->percent < 100)
		snprintf(text, bytes, "%.0f", n);
	else
		snprintf(text, bytes, "%" PRId64, g->sums[index]);
	return true;
}

static void add_row(struct ing_stats_sums *s, const struct group *g, size_t count,
	const size_t measures[ING_STATS_MEASURES], struct ing_stats_table *t)
{
	const char *values[ING_STATS_MAX_COLUMNS];
	char numbers[ING_STATS_MEASURES][32];
	const char *key = g->key;
	const struct ing_stats_question *q = s->q;
	for (size_t i = 0; i < q->by_count; i++) {
		values[i] = *key != '\0' ? key : NULL;
		key += strlen(key) + 1;
	}
	size_t end = count - (q->cube->sampled != NULL);
	for (size_t i = q->by_count; i < end; i++) {
		size_t m = measures[i - q->by_count];
		values[i] = format_measure(q, g, &q->cube->measures[m], m, numbers[m], 32)
				    ? numbers[m]
				    : NULL;
	}
	if (end < count)
		values[end] = q->percent < 100 ? "f" : "t";
	ing_stats_table_add(t, values);
}

static bool is_wanted(const struct ing_stats_question *q, const struct group *g)
{
	return (double)g->sums[0] * 100 / q->percent >= (double)q->min;
}

/* -------------------------------------------------------------------------------------------- */

struct ing_stats_sums *ing_stats_sums_new(const struct ing_stats_question *q)
{
	struct ing_stats_sums *s = ing_alloc(sizeof(*s));
	*s = (struct ing_stats_sums){.q = q};
	ing_arena_init(&s->arena);
	ing_buf_init(&s->key, MAX_KEY_BYTES);
	return s;
}

void ing_stats_sums_free(struct ing_stats_sums *s)
{
	if (s == NULL)
		return;
	HASH_CLEAR(hh, s->groups);
	ing_arena_done(&s->arena);
	ing_buf_done(&s->key);
	free(s->sorted);
	free(s);
}

void ing_stats_sums_add(struct ing_stats_sums *s, const char *const *values)
{
	unsigned masks = s->q->totals ? 1u << s->q->by_count : 1;
	for (unsigned all = 0; all < masks; all++) {
		struct group *g = group_of(s, values, all);
		const char *const *numbers = values + s->q->by_count;
		for (size_t i = 0; i < ing_stats_count_measures(s->q->cube); i++) {
			if (s->q->cube->measures[i].sql != NULL)
				g->sums[i] += ing_pg_int64(*numbers++);
		}
	}
}

size_t ing_stats_sums_table(struct ing_stats_sums *s, struct ing_stats_table *t)
{
	size_t measures[ING_STATS_MEASURES];
	size_t columns = list_columns(s, measures);
	size_t n = 0;
	struct group *g;
	struct group *next;
	free(s->sorted);
	s->sorted = ing_alloc((HASH_COUNT(s->groups) + 1) * sizeof(struct group *));
	HASH_ITER (hh, s->groups, g, next) {
		if (is_wanted(s->q, g))
			s->sorted[n++] = g;
	}
	qsort_r(s->sorted, n, sizeof(struct group *), compare, (void *)(uintptr_t)s->q);
	ing_stats_table_init(t, s->columns, columns);
	size_t shown = s->q->top > 0 ? ING_MIN(n, (size_t)s->q->top) : n;
	for (size_t i = 0; i < shown; i++)
		add_row(s, s->sorted[i], columns, measures, t);
	return n - shown;
}
