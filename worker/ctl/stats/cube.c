/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Questions as SQL. No text of an option is ever part of a statement.
 */
#include "worker/ctl/stats/cube.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/nearest.h"
#include "common/data/pg.h"
#include "worker/ctl/stats/sample.h"

#define MAX_SQL_BYTES ((size_t)64 << 10)
#define MAX_PARAM_BYTES ((size_t)1 << 20)

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
	size_t measures = ing_stats_count_measures(q->cube);
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

bool ing_stats_is_asked(const struct ing_stats_question *q, const struct ing_stats_measure *m)
{
	return m->with_status || !is_by(q, "status");
}

size_t ing_stats_count_measures(const struct ing_stats_cube *cube)
{
	size_t n = 0;
	while (cube->measures[n].column.key != NULL)
		n++;
	ing_must(n <= ING_STATS_MEASURES);
	return n;
}
