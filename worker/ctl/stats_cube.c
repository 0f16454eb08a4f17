/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * All sums are added up here once more, whether the server has done it or not: for domains and totals it must be,
 * and for the rest it changes nothing.
 */
#include "worker/ctl/stats_cube.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/hash.h"
#include "common/base/nearest.h"
#include "common/data/pg.h"
#include "common/net/psl.h"
#include "worker/ctl/stats_sample.h"

#define MAX_SQL_BYTES ((size_t)64 << 10)
#define MAX_PARAM_BYTES ((size_t)1 << 20)
#define MAX_KEY_BYTES ((size_t)1 << 20)
#define ALL "*"

/* --- what is asked --- */

static const struct ing_stats_dim *find_dim(
	const struct ing_stats_cube *cube, const char *name, size_t bytes)
{
	for (const struct ing_stats_dim *d = cube->dims; d->name != NULL; d++) {
		if (strlen(d->name) == bytes && memcmp(d->name, name, bytes) == 0)
			return d;
	}
	return NULL;
}

static int refuse_dim(
	const struct ing_stats_cube *cube, const char *name, size_t bytes, struct ing_error *err)
{
	struct ing_buf known;
	struct ing_nearest n = ing_nearest_of(name, bytes);
	ing_buf_init(&known, 1024);
	for (const struct ing_stats_dim *d = cube->dims; d->name != NULL; d++) {
		ing_nearest_try(&n, d->name);
		ing_buf_printf(&known, "%s%s", known.len > 0 ? ", " : "", d->name);
	}
	int rc = n.best != NULL
			 ? ing_error_set(err, ING_FAIL_USAGE, "--by %.*s: did you mean %s?",
				   (int)ING_MIN(bytes, (size_t)80), name, n.best)
			 : ing_error_set(err, ING_FAIL_USAGE, "--by %.*s: it can be by %s",
				   (int)ING_MIN(bytes, (size_t)80), name, ing_buf_str(&known));
	ing_buf_done(&known);
	return rc;
}

static bool is_by(const struct ing_stats_question *q, const char *name)
{
	for (size_t i = 0; i < q->by_count; i++) {
		if (strcmp(q->by[i]->name, name) == 0)
			return true;
	}
	return false;
}

static bool has_domain(const struct ing_stats_question *q)
{
	return is_by(q, "domain");
}

/* Whether the measure is asked for. */
static bool is_asked(const struct ing_stats_question *q, const struct ing_stats_measure *m)
{
	return m->with_status || !is_by(q, "status");
}

/* --- SQL --- */

/* Takes value. */
static int add_param(struct ing_stats_sql *sql, char *value)
{
	ing_must(sql->param_count < ING_STATS_PARAMS);
	sql->params[sql->param_count++] = value;
	return sql->param_count;
}

static char *array_of(const struct ing_stats_words *words)
{
	struct ing_buf array;
	ing_buf_init(&array, MAX_PARAM_BYTES);
	ing_pg_add_array(&array, words->words, words->count);
	ing_must(!array.failed);
	return ing_buf_steal(&array);
}

/* Patterns of LIKE for what is below each of the domains. */
static char *patterns_of(const struct ing_stats_words *domains)
{
	char *patterns[ING_STATS_WORDS];
	struct ing_buf array;
	for (size_t i = 0; i < domains->count; i++) {
		struct ing_buf pattern;
		ing_buf_init(&pattern, MAX_PARAM_BYTES);
		ing_buf_add_str(&pattern, "%.");
		for (const char *c = domains->words[i]; *c != '\0'; c++) {
			if (strchr("%_\\", *c) != NULL)
				ing_buf_add_char(&pattern, '\\');
			ing_buf_add_char(&pattern, *c);
		}
		patterns[i] = ing_buf_steal(&pattern);
	}
	ing_buf_init(&array, MAX_PARAM_BYTES);
	ing_pg_add_array(&array, (const char *const *)patterns, domains->count);
	ing_must(!array.failed);
	for (size_t i = 0; i < domains->count; i++)
		free(patterns[i]);
	return ing_buf_steal(&array);
}

static char *number_text(int64_t n)
{
	struct ing_buf text;
	ing_buf_init(&text, 32);
	ing_buf_printf(&text, "%" PRId64, n);
	return ing_buf_steal(&text);
}

/* The condition with "$" and "$$" as the parameter and that after it. */
static void add_condition(struct ing_stats_sql *sql, const char *condition, int param)
{
	ing_buf_add_str(&sql->text, " AND ");
	for (const char *c = condition; *c != '\0'; c++) {
		if (*c != '$') {
			ing_buf_add_char(&sql->text, *c);
			continue;
		}
		bool is_next = c[1] == '$';
		ing_buf_printf(&sql->text, "$%d", param + is_next);
		c += is_next;
	}
}

/* "@" of the condition is the moment. */
static void add_since(
	struct ing_stats_sql *sql, const char *condition, const struct ing_since *since)
{
	char moment[64];
	int param = add_param(sql, number_text(since->is_ago ? since->ago_s : since->at_s));
	snprintf(moment, sizeof(moment),
		since->is_ago ? "(now() - make_interval(secs => $%d::float8))"
			      : "to_timestamp($%d::float8)",
		param);
	ing_buf_add_str(&sql->text, " AND ");
	for (const char *c = condition; *c != '\0'; c++) {
		if (*c == '@')
			ing_buf_add_str(&sql->text, moment);
		else
			ing_buf_add_char(&sql->text, *c);
	}
}

/* What is to be added up here is not left out there. */
static void add_minimum(struct ing_stats_sql *sql, const struct ing_stats_question *q)
{
	if (!has_domain(q) && !q->totals && q->percent >= 100)
		ing_buf_printf(
			&sql->text, " HAVING %s >= %" PRId64, q->cube->measures[0].sql, q->min);
}

/* --- sums --- */

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

static size_t count_measures(const struct ing_stats_cube *cube)
{
	size_t n = 0;
	while (cube->measures[n].column.key != NULL)
		n++;
	ing_must(n <= ING_STATS_MEASURES);
	return n;
}

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
	size_t measure_count = count_measures(q->cube);
	for (size_t i = 0; i < q->by_count; i++)
		s->columns[count++] = (struct ing_stats_column){q->by[i]->name, ING_FIGURE_TEXT};
	for (size_t i = 0; i < measure_count; i++) {
		if (!is_asked(q, &q->cube->measures[i]))
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

static bool starts_with(const char *s, const char *word)
{
	return strncmp(s, word, strlen(word)) == 0;
}

/* name: behind the brace. */
static void add_placeholder(
	struct ing_stats_sql *sql, const struct ing_stats_template *t, const char *name)
{
	double percent = strchr(name, '}')[-1] == '1' ? t->percents[1] : t->percents[0];
	if (starts_with(name, "filters}"))
		ing_stats_add_filters(sql, t->filters, t->where);
	else if (starts_with(name, "top}"))
		ing_buf_printf(&sql->text, "%" PRIu64, t->top);
	else if (starts_with(name, "period}"))
		ing_buf_add_str(&sql->text, t->period);
	else if (starts_with(name, "sample"))
		ing_stats_add_sample(&sql->text, percent);
	else if (starts_with(name, "times"))
		ing_buf_printf(&sql->text, "%.6f", 100 / percent);
	else
		ing_buf_add_str(&sql->text, percent < 100 ? "false" : "true");
}

/* -------------------------------------------------------------------------------------------- */

int ing_stats_by(struct ing_stats_question *q, const char *list, struct ing_error *err)
{
	q->by_count = 0;
	for (;;) {
		size_t n = strcspn(list, ",");
		const struct ing_stats_dim *dim = find_dim(q->cube, list, n);
		if (dim == NULL)
			return refuse_dim(q->cube, list, n, err);
		if (q->by_count == ING_STATS_DIMS || is_by(q, dim->name))
			return ing_error_set(err, ING_FAIL_USAGE,
				"--by: at most %d columns, each once", ING_STATS_DIMS);
		q->by[q->by_count++] = dim;
		if (list[n] == '\0')
			return 0;
		list += n + 1;
	}
}

void ing_stats_sql_init(struct ing_stats_sql *sql)
{
	*sql = (struct ing_stats_sql){0};
	ing_buf_init(&sql->text, MAX_SQL_BYTES);
}

void ing_stats_sql_done(struct ing_stats_sql *sql)
{
	for (int i = 0; i < sql->param_count; i++)
		free(sql->params[i]);
	ing_buf_done(&sql->text);
	*sql = (struct ing_stats_sql){0};
}

void ing_stats_add_filters(struct ing_stats_sql *sql,
	const char *const conditions[ING_STATS_FILTERS_], const struct ing_stats_where *where)
{
	for (int f = 0; f < ING_STATS_FILTERS_; f++) {
		const struct ing_stats_words *words = &where->words[f];
		if (conditions[f] == NULL)
			continue;
		if (f == ING_STATS_BY_SINCE) {
			if (where->has_since)
				add_since(sql, conditions[f], &where->since);
			continue;
		}
		if (words->count == 0)
			continue;
		int param = add_param(sql,
			f == ING_STATS_BY_LIST ? number_text(where->list_id) : array_of(words));
		if (f == ING_STATS_BY_DOMAIN)
			(void)add_param(sql, patterns_of(words));
		add_condition(sql, conditions[f], param);
	}
}

void ing_stats_add_template(struct ing_stats_sql *sql, const struct ing_stats_template *t)
{
	const char *s = t->sql;
	for (const char *brace; (brace = strchr(s, '{')) != NULL; s = strchr(brace, '}') + 1) {
		ing_buf_add(&sql->text, s, (size_t)(brace - s));
		add_placeholder(sql, t, brace + 1);
	}
	ing_buf_add_str(&sql->text, s);
	ing_must(!sql->text.failed);
}

void ing_stats_add_question(struct ing_stats_sql *sql, const struct ing_stats_question *q)
{
	struct ing_buf *text = &sql->text;
	size_t measures = count_measures(q->cube);
	bool has_list = q->filter->words[ING_STATS_BY_LIST].count > 0 || is_by(q, "list");
	ing_buf_add_str(text, "SELECT ");
	for (size_t i = 0; i < q->by_count; i++)
		ing_buf_printf(text, "%s, ", q->by[i]->sql);
	for (size_t i = 0; i < measures; i++) {
		if (q->cube->measures[i].sql != NULL)
			ing_buf_printf(text, "%s%s", i > 0 ? ", " : "", q->cube->measures[i].sql);
	}
	ing_buf_printf(text, " FROM %s", q->cube->from);
	ing_stats_add_sample(text, q->percent);
	ing_buf_add_str(text, " WHERE true");
	if (q->cube->always != NULL)
		ing_buf_printf(text, " AND %s", q->cube->always);
	if (q->cube->no_list != NULL && !has_list)
		ing_buf_printf(text, " AND %s", q->cube->no_list);
	if (q->where != NULL)
		ing_buf_printf(text, " AND %s", q->where);
	ing_stats_add_filters(sql, q->cube->filters, q->filter);
	for (size_t i = 0; i < q->by_count; i++)
		ing_buf_printf(text, "%s%zu", i > 0 ? ", " : " GROUP BY ", i + 1);
	add_minimum(sql, q);
	ing_must(!text->failed);
}

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
		for (size_t i = 0; i < count_measures(s->q->cube); i++) {
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
