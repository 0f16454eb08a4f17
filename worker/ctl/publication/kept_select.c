/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Options become conditions, conditions a cursor.
 */
#include "worker/ctl/publication/kept_select.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/arena.h"
#include "worker/conf/conf.h"
#include "worker/ctl/usage.h"
#include "worker/database/schema.h"
#include "worker/model/part_type.h"
#include "worker/publication/assembly.h"

#define MAX_SQL_BYTES ((size_t)512 << 10)
#define ROWS_AT_ONCE "50"
#define MAX_LIMIT 1000000000

#define CONDITIONS                                                                                           \
	"A CONDITION compares names with values (= != < <= > >= ~ ~* !~ !~* like, is null, in (…)), with " \
	"and, or, not and parentheses. The type of a part is one, or is better or worse than one "           \
	"(fulltext.type better than pdf_doi). What is unknown fulfils no comparison. Names:\n\n"

static void add_publication_names(struct ing_buf *to)
{
	ing_condition_add_names(ING_TABLE_PUBLICATION, to);
}

static void add_webpage_names(struct ing_buf *to)
{
	ing_condition_add_names(ING_TABLE_WEBPAGE, to);
}

static const struct ing_option publication_rows[] = {
	{"where", "CONDITION",
		"e.g. \"abstract.size > 200 and host = 'nature.com'\"; several must all hold",
		.code = 'w'},
	{"has", "LIST", "parts that must be there (commas between)", .code = 'H',
		.words = ING_KEPT_PARTS},
	{"not-has", "LIST", "parts that must not be there (commas between)", .code = 'N',
		.words = ING_KEPT_PARTS},
	{"host", "HOST", "one of the sites that were visited", .code = 'o'},
	{"order", "NAMES",
		"names with commas between, each with :desc behind it or not: citations:desc",
		.code = 'O'},
	{"limit", "N", "of these the first N", .code = 'l'},
	{0},
};

static const struct ing_option webpage_rows[] = {
	{"where", "CONDITION", "e.g. \"content.size > 200 and not broken\"; several must all hold",
		.code = 'w'},
	{"has", "LIST", "parts that must be there (commas between)", .code = 'H',
		.words = ",title content"},
	{"not-has", "LIST", "parts that must not be there (commas between)", .code = 'N',
		.words = ",title content"},
	{"host", "HOST", "of its last URL", .code = 'o'},
	{"order", "NAMES",
		"names with commas between, each with :desc behind it or not: fetch_time:desc",
		.code = 'O'},
	{"limit", "N", "of these the first N", .code = 'l'},
	{0},
};

static const struct ing_options publication_options = {.name = "Kept publications",
	.rows = publication_rows,
	.notes = CONDITIONS,
	.add_notes = add_publication_names};
static const struct ing_options webpage_options = {.name = "Kept web pages",
	.rows = webpage_rows,
	.notes = CONDITIONS,
	.add_notes = add_webpage_names};

static const char *table_name(const struct ing_kept_select *s)
{
	return s->condition.table == ING_TABLE_WEBPAGE ? "webpage" : "publication";
}

static bool refuse(const struct ing_kept_select *s, const char *option, const struct ing_error *err)
{
	(void)ing_ctl_fail(ING_CTL_USAGE, s->verb, "%s: %s", option, err->msg);
	return false;
}

static bool add_where(struct ing_kept_select *s, const char *option, const char *text)
{
	struct ing_error err = {0};
	return ing_condition_add(&s->condition, text, &err) == 0 || refuse(s, option, &err);
}

/* Each part of a comma list is there, or is not. */
static bool add_parts(struct ing_kept_select *s, const char *option, const char *list, bool has)
{
	while (*list != '\0') {
		char where[80];
		size_t n = strcspn(list, ",");
		snprintf(where, sizeof(where), "%s%.*s is not null%s", has ? "" : "not (",
			(int)ING_MIN(n, (size_t)40), list, has ? "" : ")");
		char name[48];
		snprintf(name, sizeof(name), "%.*s", (int)ING_MIN(n, sizeof(name) - 1), list);
		bool is_part = s->condition.table == ING_TABLE_WEBPAGE
				       ? strcmp(name, "title") == 0 || strcmp(name, "content") == 0
				       : ing_part_of_name(name) != ING_PARTS_;
		struct ing_error err = {0};
		if (!is_part) {
			ing_error_set(&err, ING_FAIL_SYNTAX, "there is no part \"%s\"", name);
			return refuse(s, option, &err);
		}
		if (s->condition.table == ING_TABLE_PUBLICATION &&
			ing_part_of_name(name) > ING_PART_TITLE)
			snprintf(where, sizeof(where), "%s%s", has ? "" : "not ", name);
		if (!add_where(s, option, where))
			return false;
		list += n;
		list += *list == ',';
	}
	return true;
}

static void print_error(
	const struct ing_kept_select *s, enum ing_pg_rc rc, const struct ing_error *err)
{
	(void)ing_ctl_fail(rc == ING_PG_REFUSED ? ING_CTL_USAGE : ING_CTL_ENVIRONMENT, s->verb,
		"%s", err->msg);
}

struct rows {
	ing_kept_row_f *each;
	void *ctx;
	bool going;
	size_t count;
};

static void take_row(void *ctx, const char *const *values, int count)
{
	struct rows *r = ctx;
	(void)count;
	r->count++;
	if (r->going)
		r->going = r->each(r->ctx, values);
}

static int fetch_all(
	struct ing_kept_select *s, struct ing_pg *pg, const struct ing_buf *sql, struct rows *rows)
{
	struct ing_error err = {0};
	enum ing_pg_rc rc = ing_pg_exec(pg, "BEGIN READ ONLY", &err);
	if (rc == ING_PG_OK)
		rc = ing_pg_query(pg, NULL, ing_buf_str(sql),
			(const char *const *)s->condition.values, s->condition.value_count, NULL,
			NULL, &err);
	do {
		rows->count = 0;
		if (rc == ING_PG_OK)
			rc = ing_pg_query(pg, "rows", "FETCH " ROWS_AT_ONCE " FROM kept", NULL, 0,
				take_row, rows, &err);
	} while (rc == ING_PG_OK && rows->going && rows->count > 0);
	if (rc == ING_PG_OK)
		return ING_CTL_OK;
	print_error(s, rc, &err);
	return rc == ING_PG_REFUSED ? ING_CTL_USAGE : ING_CTL_ENVIRONMENT;
}

static int run(struct ing_kept_select *s, const struct ing_ctl *ctl, const struct ing_buf *sql,
	ing_kept_row_f *each, void *ctx)
{
	struct ing_pg *pg = NULL;
	struct rows rows = {.each = each, .ctx = ctx, .going = true};
	ing_must(!sql->failed);
	int code = ing_kept_open(ctl, s->verb, &pg);
	if (code == ING_CTL_OK)
		code = fetch_all(s, pg, sql, &rows);
	ing_pg_close(pg);
	return code;
}

/* -------------------------------------------------------------------------------------------- */

const struct ing_options *const ing_kept_publication_shared[] = {&publication_options, NULL};
const struct ing_options *const ing_kept_webpage_shared[] = {&webpage_options, NULL};

void ing_kept_select_init(struct ing_kept_select *s, enum ing_kept_table table, const char *verb)
{
	*s = (struct ing_kept_select){.verb = verb};
	ing_condition_init(&s->condition, table);
	ing_buf_init(&s->order, MAX_SQL_BYTES);
}

void ing_kept_select_done(struct ing_kept_select *s)
{
	ing_condition_done(&s->condition);
	ing_buf_done(&s->order);
}

bool ing_kept_select_option(struct ing_kept_select *s, int option, const char *value)
{
	struct ing_error err = {0};
	switch (option) {
	case 'w':
		return add_where(s, "--where", value);
	case 'H':
		return add_parts(s, "--has", value, true);
	case 'N':
		return add_parts(s, "--not-has", value, false);
	case 'o':
		return ing_condition_add_value(&s->condition, "host", "=", value, &err) == 0 ||
		       refuse(s, "--host", &err);
	case 'O':
		ing_buf_clear(&s->order);
		return ing_condition_order(s->condition.table, value, &s->order, &err) == 0 ||
		       refuse(s, "--order", &err);
	case 'l':
		if (ing_ctl_number(value, MAX_LIMIT, &s->limit))
			return true;
		(void)ing_ctl_fail(
			ING_CTL_USAGE, s->verb, "--limit must be a number from 1 to %d", MAX_LIMIT);
		return false;
	default:
		return false; /* it has been said why */
	}
}

static bool add_key(struct ing_kept_select *s, const char *key, struct ing_buf *where)
{
	struct ing_condition *c = &s->condition;
	struct ing_assembly_request id;
	struct ing_error err = {0};
	struct ing_arena ar;
	const char *column = "start_url";
	const char *value = key;
	ing_arena_init(&ar);
	if (c->table == ING_TABLE_PUBLICATION) {
		if (ing_assembly_parse_id(key, &ar, &id, &err) != 0) {
			ing_arena_done(&ar);
			(void)ing_ctl_fail(ING_CTL_USAGE, s->verb, "%s", err.msg);
			return false;
		}
		column = id.pmid != NULL    ? "pmid"
			 : id.pmcid != NULL ? "pmcid"
			 : id.doi != NULL   ? "doi"
					    : "url";
		value = id.pmid != NULL    ? id.pmid
			: id.pmcid != NULL ? id.pmcid
			: id.doi != NULL   ? id.doi
					   : id.url;
	}
	bool fits = c->value_count < ING_CONDITION_VALUES;
	if (fits) {
		c->values[c->value_count++] = ing_strdup(value);
		ing_buf_printf(
			where, "%s%s = $%d", where->len > 0 ? " OR " : "", column, c->value_count);
	} else {
		ing_error_set(
			&err, ING_FAIL_TOO_BIG, "no more than %d at once", ING_CONDITION_VALUES);
		(void)refuse(s, key, &err);
	}
	ing_arena_done(&ar);
	return fits;
}

bool ing_kept_select_keys(struct ing_kept_select *s, char *const *keys, size_t count)
{
	struct ing_buf where;
	bool good = true;
	ing_buf_init(&where, MAX_SQL_BYTES);
	for (size_t i = 0; i < count && good; i++)
		good = add_key(s, keys[i], &where);
	if (good && count > 0)
		ing_buf_printf(&s->condition.sql, " AND (%s)", ing_buf_str(&where));
	ing_buf_done(&where);
	return good;
}

int ing_kept_each(struct ing_kept_select *s, const struct ing_ctl *ctl, const char *columns,
	ing_kept_row_f *each, void *ctx)
{
	struct ing_buf sql;
	bool is_webpage = s->condition.table == ING_TABLE_WEBPAGE;
	ing_buf_init(&sql, MAX_SQL_BYTES);
	ing_buf_printf(&sql,
		"DECLARE kept NO SCROLL CURSOR FOR SELECT %s FROM %s WHERE %s ORDER BY %s", columns,
		table_name(s), ing_buf_str(&s->condition.sql),
		s->order.len > 0 ? ing_buf_str(&s->order)
		: is_webpage     ? "start_url"
				 : "id");
	if (s->limit > 0)
		ing_buf_printf(&sql, " LIMIT %" PRIu64, s->limit);
	int code = run(s, ctl, &sql, each, ctx);
	ing_buf_done(&sql);
	return code;
}

int ing_kept_sum(struct ing_kept_select *s, const struct ing_ctl *ctl, const char *columns,
	const char *more, ing_kept_row_f *each, void *ctx)
{
	struct ing_buf sql;
	ing_buf_init(&sql, MAX_SQL_BYTES);
	ing_buf_printf(&sql,
		"DECLARE kept NO SCROLL CURSOR FOR SELECT %s FROM (SELECT * FROM %s WHERE %s",
		columns, table_name(s), ing_buf_str(&s->condition.sql));
	if (s->order.len > 0)
		ing_buf_printf(&sql, " ORDER BY %s", ing_buf_str(&s->order));
	if (s->limit > 0)
		ing_buf_printf(&sql, " LIMIT %" PRIu64, s->limit);
	ing_buf_printf(&sql, ") AS kept %s", more);
	int code = run(s, ctl, &sql, each, ctx);
	ing_buf_done(&sql);
	return code;
}

int ing_kept_open(const struct ing_ctl *ctl, const char *verb, struct ing_pg **ret)
{
	struct ing_conf *conf = NULL;
	struct ing_error err = {0};
	int code = ing_ctl_conf_with_database(ctl, verb, &conf);
	if (code != ING_CTL_OK)
		return code;
	if (ing_schema_open(conf->postgres.dsn, ret, &err) != 0)
		code = ing_ctl_fail(ing_ctl_exit_of(&err), verb, "%s", err.msg);
	ing_conf_free(conf);
	return code;
}
