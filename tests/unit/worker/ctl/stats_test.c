/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Statistics: what is asked of the database, how its rows are added up, and how they look.
 */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "worker/ctl/stats/queries.h"

static const struct ing_stats_query *query(const char *name)
{
	const struct ing_stats_query *q = ing_stats_queries;
	while (q->name != NULL && strcmp(q->name, name) != 0)
		q++;
	assert_non_null(q->name);
	return q;
}

/* Heap. */
static char *printed(const struct ing_stats_table *t, enum ing_stats_format format, bool terminal)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *f = open_memstream(&text, &bytes);
	assert_non_null(f);
	ing_stats_print(t, format, terminal, f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(strlen(text), bytes);
	return text;
}

static void assert_printed(const struct ing_stats_table *t, enum ing_stats_format format,
	bool terminal, const char *want)
{
	char *text = printed(t, format, terminal);
	assert_string_equal(text, want);
	free(text);
}

/* --- print --- */

static const struct ing_stats_column columns[] = {
	{"name", ING_FIGURE_TEXT},
	{"n", ING_FIGURE_COUNT},
	{"hit_ratio", ING_FIGURE_RATIO},
	{"bytes", ING_FIGURE_BYTES},
	{"left_s", ING_FIGURE_SECONDS},
	{"rate", ING_FIGURE_REAL},
	{"exact", ING_FIGURE_TRUTH},
};

static void make_table(struct ing_stats_table *t)
{
	static const char *const rows[][7] = {
		{"plain", "12345", "0.3333", "1536", "183900", "7.5", "t"},
		{NULL, NULL, NULL, NULL, NULL, NULL, NULL},
		{"", "7", "1.0000", "9", "0", "0", "f"},
	};
	ing_stats_table_init(t, columns, 7);
	for (size_t i = 0; i < 3; i++)
		ing_stats_table_add(t, rows[i]);
}

static void numbers_are_to_the_right(void **state)
{
	struct ing_stats_table t;
	(void)state;
	make_table(&t);
	assert_printed(&t, ING_PRINTED_FOR_PEOPLE, true,
		"name       n  hit ratio    bytes   left s  rate  exact\n"
		"plain  12345     33.3 %  1.5 KiB  2 d 3 h   7.5    yes\n"
		"-          -          -        -        -     -      -\n"
		"-          7    100.0 %      9 B     0 ms   0.0     no\n");
	ing_stats_table_done(&t);
}

static void csv_has_numbers_as_they_are(void **state)
{
	struct ing_stats_table t;
	(void)state;
	make_table(&t);
	assert_printed(&t, ING_PRINTED_AS_CSV, false,
		"name,n,hit_ratio,bytes,left_s,rate,exact\r\n"
		"plain,12345,0.3333,1536,183900,7.5,true\r\n"
		",,,,,,\r\n"
		",7,1.0000,9,0,0,false\r\n");
	ing_stats_table_done(&t);
}

static void json_has_a_line_for_each_row(void **state)
{
	struct ing_stats_table t;
	(void)state;
	make_table(&t);
	assert_printed(&t, ING_PRINTED_AS_JSON, false,
		"{\"name\":\"plain\",\"n\":12345,\"hit_ratio\":0.3333,\"bytes\":1536,\"left_s\":183900,"
		"\"rate\":7.5,\"exact\":true}\n"
		"{\"name\":null,\"n\":null,\"hit_ratio\":null,\"bytes\":null,\"left_s\":null,\"rate\":null,"
		"\"exact\":null}\n"
		"{\"name\":\"\",\"n\":7,\"hit_ratio\":1.0,\"bytes\":9,\"left_s\":0,\"rate\":0.0,"
		"\"exact\":false}\n");
	ing_stats_table_done(&t);
}

/* What a text becomes: for people, as CSV in a file, as CSV on a terminal, as JSON. */
static const struct {
	const char *text, *people, *csv, *csv_terminal, *json;
} hostile[] = {
	{"a,b", "a,b", "\"a,b\"", "\"a,b\"", "\"a,b\""},
	{"say \"x\"", "say \"x\"", "\"say \"\"x\"\"\"", "\"say \"\"x\"\"\"", "\"say \\\"x\\\"\""},
	{"a\nb", "a?b", "\"a\nb\"", "a?b", "\"a\\nb\""},
	{"a\r", "a?", "\"a\r\"", "a?", "\"a\\r\""},
	{"\x1b[2J", "?[2J", "\x1b[2J", "?[2J", "\"\\u001B[2J\""},
	{"\xc2\x9b"
	 "2J",
		"?2J",
		"\xc2\x9b"
		"2J",
		"?2J", "\"\\u009b2J\""},
	{"\x7f", "?", "\x7f", "?", "\"\\u007f\""},
	{"\xe2\x80\xae"
	 "x",
		"?x",
		"\xe2\x80\xae"
		"x",
		"?x",
		"\"\xe2\x80\xae"
		"x\""},
	{"\xe2\x80\xa8", "?", "\xe2\x80\xa8", "?", "\"\\u2028\""},
	{"\xff", "?", "\xff", "?", "\"\xef\xbf\xbd\""},
	{"\xc3\xa4", "\xc3\xa4", "\xc3\xa4", "\xc3\xa4", "\"\xc3\xa4\""},
};

static void hostile_texts_are_harmless(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		static const struct ing_stats_column one[] = {{"t", ING_FIGURE_TEXT}};
		struct ing_stats_table t;
		char want[200];
		print_message("text %zu\n", i);
		ing_stats_table_init(&t, one, 1);
		ing_stats_table_add(&t, &hostile[i].text);
		snprintf(want, sizeof(want), "t\n%s\n", hostile[i].people);
		assert_printed(&t, ING_PRINTED_FOR_PEOPLE, false, want);
		snprintf(want, sizeof(want), "t\r\n%s\r\n", hostile[i].csv);
		assert_printed(&t, ING_PRINTED_AS_CSV, false, want);
		snprintf(want, sizeof(want), "t\r\n%s\r\n", hostile[i].csv_terminal);
		assert_printed(&t, ING_PRINTED_AS_CSV, true, want);
		snprintf(want, sizeof(want), "{\"t\":%s}\n", hostile[i].json);
		assert_printed(&t, ING_PRINTED_AS_JSON, false, want);
		ing_stats_table_done(&t);
	}
}

static void long_texts_are_cut_for_people_alone(void **state)
{
	static const struct ing_stats_column one[] = {{"t", ING_FIGURE_TEXT}};
	char text[300];
	char want[400];
	const char *value = text;
	struct ing_stats_table t;
	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	ing_stats_table_init(&t, one, 1);
	ing_stats_table_add(&t, &value);
	snprintf(want, sizeof(want), "t\n%.59s…\n", text);
	assert_printed(&t, ING_PRINTED_FOR_PEOPLE, false, want);
	snprintf(want, sizeof(want), "t\r\n%s\r\n", text);
	assert_printed(&t, ING_PRINTED_AS_CSV, false, want);
	ing_stats_table_done(&t);
}

/* --- sums --- */

static void ask(struct ing_stats_question *q, const struct ing_stats_where *where, const char *name,
	const char *by)
{
	struct ing_error err = {0};
	*q = (struct ing_stats_question){
		.cube = query(name)->cube, .filter = where, .min = 1, .percent = 100};
	assert_int_equal(ing_stats_by(q, by, &err), 0);
}

static void assert_sums(const struct ing_stats_question *q, const char *const (*rows)[6],
	size_t count, size_t left_out, const char *want)
{
	struct ing_stats_table t;
	struct ing_stats_sums *sums = ing_stats_sums_new(q);
	for (size_t i = 0; i < count; i++)
		ing_stats_sums_add(sums, rows[i]);
	assert_int_equal(ing_stats_sums_table(sums, &t), left_out);
	assert_printed(&t, ING_PRINTED_AS_CSV, false, want);
	ing_stats_table_done(&t);
	ing_stats_sums_free(sums);
}

static void hosts_of_a_domain_are_added_up(void **state)
{
	static const struct ing_stats_where all = {0};
	static const char *const rows[][6] = {
		{"a.example.co.uk", "5", "1", "2", "2"},
		{"b.example.co.uk", "7", "0", "0", "7"},
		{"example.co.uk", "1", "0", "1", "0"},
		{"other.co.uk", "13", "13", "0", "0"},
		{"192.0.2.1", "3", "0", "3", "0"},
		{"co.uk", "2", "0", "2", "0"},
		{"", "1", "1", "0", "0"},
	};
	struct ing_stats_question q;
	(void)state;
	ask(&q, &all, "domain", "domain");
	assert_sums(&q, rows, 7, 0,
		"domain,requests,no_result,hits,failed,hit_ratio\r\n"
		"example.co.uk,13,1,3,9,0.2500\r\n"
		"other.co.uk,13,13,0,0,\r\n"
		"192.0.2.1,3,0,3,0,1.0000\r\n"
		"co.uk,2,0,2,0,1.0000\r\n"
		",1,1,0,0,\r\n");
	q.top = 2;
	q.min = 3;
	assert_sums(&q, rows, 7, 1,
		"domain,requests,no_result,hits,failed,hit_ratio\r\n"
		"example.co.uk,13,1,3,9,0.2500\r\n"
		"other.co.uk,13,13,0,0,\r\n");
}

static void totals_are_over_each_column_and_both(void **state)
{
	static const struct ing_stats_where all = {0};
	static const char *const rows[][6] = {
		{"a.example.org", "success", "5", "0", "0", "0"},
		{"b.example.org", "success", "4", "0", "0", "0"},
		{"b.example.org", "timeout", "2", "0", "0", "0"},
		{"*", "timeout", "1", "0", "0", "0"},
	};
	struct ing_stats_question q;
	(void)state;
	ask(&q, &all, "cube", "domain,status");
	q.totals = true;
	assert_sums(&q, rows, 4, 0,
		"domain,status,requests\r\n"
		"*,*,12\r\n"
		"example.org,*,11\r\n"
		"*,success,9\r\n"
		"example.org,success,9\r\n"
		"*,timeout,3\r\n"
		"example.org,timeout,2\r\n"
		"*,*,1\r\n"
		"*,timeout,1\r\n");
}

static void the_latest_time_is_first(void **state)
{
	static const struct ing_stats_where all = {0};
	static const char *const rows[][6] = {
		{"2026-11-21", "pdf", "9", "9", "0"},
		{"2026-11-22", "pdf", "1", "0", "1"},
		{"2026-11-22", "html", "3", "3", "0"},
	};
	struct ing_stats_question q;
	(void)state;
	ask(&q, &all, "day", "day,type");
	assert_sums(&q, rows, 3, 0,
		"day,type,results,hits,failed,hit_ratio\r\n"
		"2026-11-22,html,3,3,0,1.0000\r\n"
		"2026-11-22,pdf,1,0,1,0.0000\r\n"
		"2026-11-21,pdf,9,9,0,1.0000\r\n");
}

static void what_was_sampled_is_scaled_and_says_so(void **state)
{
	static const struct ing_stats_where all = {0};
	static const char *const rows[][6] = {{"404", "10", "0", "10"}, {"200", "2", "1", "1"}};
	struct ing_stats_question q;
	(void)state;
	ask(&q, &all, "codes", "code");
	assert_sums(&q, rows, 2, 0,
		"code,results,hits,failed,hit_ratio,exact\r\n"
		"404,10,0,10,0.0000,true\r\n200,2,1,1,0.5000,true\r\n");
	q.percent = 25;
	q.min = 9;
	assert_sums(&q, rows, 2, 0,
		"code,results,hits,failed,hit_ratio,exact\r\n404,40,0,40,0.0000,false\r\n");
}

/* --- SQL --- */

static void assert_sql(
	const struct ing_stats_question *q, const char *const *parts, const char *const *params)
{
	struct ing_stats_sql sql;
	int n = 0;
	ing_stats_sql_init(&sql);
	ing_stats_add_question(&sql, q);
	print_message("%s\n", ing_buf_str(&sql.text));
	for (; *parts != NULL; parts++) {
		bool is_not = **parts == '!';
		bool found = strstr(ing_buf_str(&sql.text), *parts + is_not) != NULL;
		assert_int_equal(found, !is_not);
	}
	for (; params[n] != NULL; n++) {
		assert_true(n < sql.param_count);
		assert_string_equal(sql.params[n], params[n]);
	}
	assert_int_equal(sql.param_count, n);
	ing_stats_sql_done(&sql);
}

static void values_are_parameters(void **state)
{
	struct ing_stats_where where = {
		.list_id = 12, .has_since = true, .since = {.is_ago = true, .ago_s = 3600}};
	struct ing_stats_question q;
	(void)state;
	where.words[ING_STATS_BY_LIST] = (struct ing_stats_words){{"a list"}, 1};
	where.words[ING_STATS_BY_SOURCE] = (struct ing_stats_words){{"x\",\"y", "o'hara\\"}, 2};
	ask(&q, &where, "day", "day");
	assert_sql(&q,
		(const char *const[]){"c.list_id = $1::integer", "= ANY ($2::text[])",
			"make_interval(secs => $3::float8)", "!c.first", "!hara", NULL},
		(const char *const[]){"12", "{\"x\\\",\\\"y\",\"o'hara\\\\\"}", "3600", NULL});
}

static void domains_are_hosts_and_what_is_below(void **state)
{
	struct ing_stats_where where = {0};
	struct ing_stats_question q;
	(void)state;
	where.words[ING_STATS_BY_DOMAIN] = (struct ing_stats_words){{"a_b.org", "100%"}, 2};
	ask(&q, &where, "status", "status");
	assert_sql(&q,
		(const char *const[]){
			"(c.host = ANY ($1::text[]) OR c.host LIKE ANY ($2::text[]))", NULL},
		(const char *const[]){
			"{\"a_b.org\",\"100%\"}", "{\"%.a\\\\_b.org\",\"%.100\\\\%\"}", NULL});
}

static void requests_of_several_lists_count_once(void **state)
{
	static const struct ing_stats_where all = {0};
	struct ing_stats_question q;
	(void)state;
	ask(&q, &all, "status", "status");
	assert_sql(&q, (const char *const[]){"AND c.first", "HAVING", NULL},
		(const char *const[]){NULL});
	ask(&q, &all, "status", "list,status");
	assert_sql(&q, (const char *const[]){"!c.first", NULL}, (const char *const[]){NULL});
}

/* The server would leave out hosts whose domain has enough. */
static void what_is_added_up_here_is_not_left_out_there(void **state)
{
	static const struct ing_stats_where all = {0};
	struct ing_stats_question q;
	(void)state;
	ask(&q, &all, "domain", "domain");
	assert_sql(&q, (const char *const[]){"!HAVING", NULL}, (const char *const[]){NULL});
	ask(&q, &all, "cube", "host,status");
	q.totals = true;
	assert_sql(&q, (const char *const[]){"!HAVING", NULL}, (const char *const[]){NULL});
}

static void a_sample_is_of_pages_and_leaves_out_no_row(void **state)
{
	static const struct ing_stats_where all = {0};
	struct ing_stats_question q;
	(void)state;
	ask(&q, &all, "codes", "code,status");
	assert_sql(&q, (const char *const[]){"!TABLESAMPLE", "HAVING", NULL},
		(const char *const[]){NULL});
	q.percent = 12.5;
	assert_sql(&q,
		(const char *const[]){
			"FROM ingest_file_result TABLESAMPLE SYSTEM (12.500000) REPEATABLE (0)",
			"!HAVING", NULL},
		(const char *const[]){NULL});
}

static void placeholders_are_filled_in(void **state)
{
	static const char *const conditions[ING_STATS_FILTERS_] = {
		[ING_STATS_BY_TYPE] = "t = ANY ($::text[])"};
	struct ing_stats_where where = {0};
	struct ing_stats_sql sql;
	const struct ing_stats_template t = {
		.sql = "A{sample0} B{sample1} {times0} {times1} {exact0} {exact1} {top} {period}"
		       "{filters}{filters}",
		.filters = conditions,
		.where = &where,
		.top = 7,
		.period = "week",
		.percents = {100, 8},
	};
	(void)state;
	where.words[ING_STATS_BY_TYPE] = (struct ing_stats_words){{"pdf"}, 1};
	ing_stats_sql_init(&sql);
	ing_stats_add_template(&sql, &t);
	assert_string_equal(ing_buf_str(&sql.text),
		"A B TABLESAMPLE SYSTEM (8.000000) REPEATABLE (0) 1.000000 12.500000 true false 7 week"
		" AND t = ANY ($1::text[]) AND t = ANY ($2::text[])");
	assert_int_equal(sql.param_count, 2);
	assert_string_equal(sql.params[1], "{\"pdf\"}");
	ing_stats_sql_done(&sql);
}

static void unknown_columns_are_refused(void **state)
{
	static const char *const bad[] = {
		"", "hots", "host,", "host,host", "list,source,type,status,host"};
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct ing_error err = {0};
		struct ing_stats_question q = {.cube = query("status")->cube};
		assert_int_equal(ing_stats_by(&q, bad[i], &err), -ING_FAIL_USAGE);
	}
}

/* The tables of data: what the code takes for granted. */
static void queries_are_well_formed(void **state)
{
	(void)state;
	for (const struct ing_stats_query *q = ing_stats_queries; q->name != NULL; q++) {
		struct ing_error err = {0};
		struct ing_stats_question asked = {.cube = q->cube};
		print_message("%s\n", q->name);
		assert_non_null(q->sentence);
		assert_int_equal((q->cube != NULL) + (q->sql != NULL) + (q->fill != NULL), 1);
		if (q->cube != NULL)
			assert_int_equal(ing_stats_by(&asked, q->by, &err), 0);
		if (q->since_cube != NULL) {
			asked.cube = q->since_cube;
			assert_int_equal(ing_stats_by(&asked, q->by, &err), 0);
			assert_non_null(q->since_cube->filters[ING_STATS_BY_SINCE]);
			assert_null(q->cube->filters[ING_STATS_BY_SINCE]);
		}
		if (q->sql != NULL && strstr(q->sql, "{filters}") != NULL)
			assert_non_null(q->filters);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_to_the_right),
		cmocka_unit_test(csv_has_numbers_as_they_are),
		cmocka_unit_test(json_has_a_line_for_each_row),
		cmocka_unit_test(hostile_texts_are_harmless),
		cmocka_unit_test(long_texts_are_cut_for_people_alone),
		cmocka_unit_test(hosts_of_a_domain_are_added_up),
		cmocka_unit_test(totals_are_over_each_column_and_both),
		cmocka_unit_test(the_latest_time_is_first),
		cmocka_unit_test(what_was_sampled_is_scaled_and_says_so),
		cmocka_unit_test(values_are_parameters),
		cmocka_unit_test(domains_are_hosts_and_what_is_below),
		cmocka_unit_test(requests_of_several_lists_count_once),
		cmocka_unit_test(what_is_added_up_here_is_not_left_out_there),
		cmocka_unit_test(a_sample_is_of_pages_and_leaves_out_no_row),
		cmocka_unit_test(placeholders_are_filled_in),
		cmocka_unit_test(unknown_columns_are_refused),
		cmocka_unit_test(queries_are_well_formed),
	};
	setlocale(LC_CTYPE, "C.UTF-8"); /* as main.c does: widths of characters */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
