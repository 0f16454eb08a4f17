/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Counters of rules: what is counted, what a lie is worth, and what a reload leaves.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/data/json.h"
#include "worker/rules/rule_stats.h"

static const char *const first[] = {"links.yaml pdf/b", "links.yaml pdf/a", "sites.yaml \"x\"\n"};
static const char *const second[] = {"sites.yaml new", "links.yaml pdf/a"};

static json_t *written(const struct ing_rule_stats *rs)
{
	struct ing_buf out;
	ing_buf_init(&out, 1 << 20);
	ing_rule_stats_json(rs, &out);
	json_t *o = json_loadb(ing_buf_str(&out), out.len, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(o);
	ing_buf_done(&out);
	return o;
}

static json_int_t count_of(const struct ing_rule_stats *rs, const char *rule, const char *what)
{
	json_t *o = written(rs);
	json_t *counters = json_object_get(json_object_get(o, "rules"), rule);
	json_int_t n = counters != NULL ? json_integer_value(json_object_get(counters, what)) : -1;
	json_decref(o);
	return n;
}

static void rules_are_counted_by_name(void **state)
{
	(void)state;
	struct ing_rule_stats *rs = ing_rule_stats_new();
	ing_rule_stats_set_rules(rs, 11, first, 3);
	const struct ing_rule_hit hits[] = {{1, ING_RULE_APPLIED | ING_RULE_MATCHED},
		{0, ING_RULE_APPLIED | ING_RULE_FAILED}, {1, ING_RULE_APPLIED}};
	ing_rule_stats_add(rs, 11, hits, 3);
	ing_rule_stats_add_document(rs, ing_rule_stats_name(rs, 11, 1));
	ing_rule_stats_add_document(rs, "no such rule");
	assert_int_equal(count_of(rs, first[1], "applied"), 2);
	assert_int_equal(count_of(rs, first[1], "matched"), 1);
	assert_int_equal(count_of(rs, first[1], "led_to_document"), 1);
	assert_int_equal(count_of(rs, first[0], "failed"), 1);
	assert_int_equal(count_of(rs, first[2], "applied"), 0); /* never applied, and there */
	ing_rule_stats_free(rs);
}

static void numbers_that_mean_nothing_are_ignored(void **state)
{
	(void)state;
	struct ing_rule_stats *rs = ing_rule_stats_new();
	const struct ing_rule_hit hits[] = {{3, ING_RULE_APPLIED}, {UINT32_MAX, ING_RULE_APPLIED}};
	const struct ing_rule_hit good = {1, ING_RULE_APPLIED};
	ing_rule_stats_add(rs, 0, &good, 1); /* no rules yet */
	ing_rule_stats_set_rules(rs, 11, first, 3);
	ing_rule_stats_add(rs, 11, hits, 2);
	ing_rule_stats_add(rs, 12, &good, 1); /* of other rules */
	assert_null(ing_rule_stats_name(rs, 11, 3));
	assert_null(ing_rule_stats_name(rs, 12, 1));
	assert_int_equal(count_of(rs, first[1], "applied"), 0);
	ing_rule_stats_add(NULL, 11, &good, 1); /* nobody counts */
	assert_null(ing_rule_stats_name(NULL, 11, 1));
	ing_rule_stats_free(rs);
}

static void a_reload_keeps_the_counters_of_what_stays(void **state)
{
	(void)state;
	struct ing_rule_stats *rs = ing_rule_stats_new();
	const struct ing_rule_hit use = {1, ING_RULE_APPLIED};
	ing_rule_stats_set_rules(rs, 11, first, 3);
	ing_rule_stats_add(rs, 11, &use, 1);
	ing_rule_stats_set_rules(rs, 22, second, 2);
	ing_rule_stats_add(rs, 11, &use, 1); /* an examiner that was still at it */
	ing_rule_stats_add(rs, 22, &use, 1);
	assert_int_equal(count_of(rs, second[1], "applied"), 3);
	assert_int_equal(count_of(rs, second[0], "applied"), 0);
	assert_int_equal(count_of(rs, first[0], "applied"), -1);
	ing_rule_stats_set_rules(rs, 33, NULL, 0);
	ing_rule_stats_set_rules(rs, 11, first, 3);
	ing_rule_stats_set_rules(rs, 33, NULL, 0);
	ing_rule_stats_set_rules(rs, 33, NULL, 0);
	ing_rule_stats_set_rules(rs, 11, first, 3);
	assert_int_equal(count_of(rs, first[1], "applied"), 0); /* it was gone in between */
	ing_rule_stats_free(rs);
}

static json_int_t count_of_day(
	const struct ing_rule_stats *rs, const char *day, const char *rule, size_t at)
{
	json_t *o = written(rs);
	const json_t *counts =
		json_object_get(json_object_get(json_object_get(o, "days"), day), rule);
	json_int_t n = counts != NULL ? json_integer_value(json_array_get(counts, at)) : -1;
	json_decref(o);
	return n;
}

static void format_day(long days_ago, char ret[16])
{
	time_t t = time(NULL) - days_ago * 86400;
	struct tm tm;
	strftime(ret, 16, "%Y-%m-%d", gmtime_r(&t, &tm));
}

static void days_before_are_taken_over_while_they_count(void **state)
{
	(void)state;
	char now[16], before[16], old[16], text[512];
	struct ing_error err = {0};
	struct ing_rule_stats *rs = ing_rule_stats_new();
	const struct ing_rule_hit hit = {1, ING_RULE_APPLIED | ING_RULE_MATCHED};
	format_day(0, now);
	format_day(ING_RULE_STATS_DAYS - 1, before);
	format_day(ING_RULE_STATS_DAYS, old);
	ing_rule_stats_set_rules(rs, 11, first, 3);
	snprintf(text, sizeof(text),
		"{\"days\":{\"%s\":{\"links.yaml pdf/a\":[5,4,1,2],\"gone\":[1,1,1,1]},\"%s\":{\"links.yaml "
		"pdf/a\":[7,-3,99999999999]},\"%s\":{\"links.yaml pdf/a\":[9,9,9,9]},\"no day\":{}}}",
		now, before, old);
	assert_int_equal(ing_rule_stats_load(rs, text, strlen(text), &err), 0);
	ing_rule_stats_add(rs, 11, &hit, 1);
	assert_int_equal(count_of_day(rs, now, first[1], 0), 6);
	assert_int_equal(count_of_day(rs, now, first[1], 1), 5);
	assert_int_equal(count_of_day(rs, now, first[1], 3), 2);
	assert_int_equal(count_of_day(rs, before, first[1], 0), 7);
	assert_int_equal(count_of_day(rs, before, first[1], 1), 0);
	assert_int_equal(count_of_day(rs, before, first[1], 2), UINT32_MAX);
	assert_int_equal(count_of_day(rs, old, first[1], 0), -1);
	assert_int_equal(count_of_day(rs, now, "gone", 0), -1);
	assert_int_equal(count_of(rs, first[1], "applied"), 1); /* of this process */
	assert_int_equal(ing_rule_stats_load(rs, "{", 1, &err), -ING_FAIL_SYNTAX);
	assert_int_equal(count_of_day(rs, before, first[1], 0), 7);
	ing_rule_stats_free(rs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_are_counted_by_name),
		cmocka_unit_test(numbers_that_mean_nothing_are_ignored),
		cmocka_unit_test(a_reload_keeps_the_counters_of_what_stays),
		cmocka_unit_test(days_before_are_taken_over_while_they_count),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
