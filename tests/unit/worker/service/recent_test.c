/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is remembered of results: counts by minute, lane and status, rates, and the last failures.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/utf8.h"
#include "worker/service/recent.h"

#define START_MS UINT64_C(100000000) /* any; a full minute is 99960000 */
#define MINUTE_MS UINT64_C(60000)

static void add(struct ing_recent *r, enum ing_lane lane, enum ing_status status, bool hit,
	const char *url, uint64_t now_ms)
{
	const struct ing_recent_result result = {
		.lane = lane,
		.status = status,
		.hit = hit,
		.at = {.tv_sec = 1700000000},
		.took_ms = 12,
		.key = "0123456789012345678901234567890123456789",
		.type = "pdf",
		.host = "a.example",
		.url = url,
		.message = "no such page",
	};
	ing_recent_add(r, &result, now_ms);
}

static json_int_t at(const json_t *o, const char *member, const char *key)
{
	const json_t *value = json_object_get(member != NULL ? json_object_get(o, member) : o, key);
	assert_true(json_is_integer(value));
	return json_integer_value(value);
}

static json_int_t minute(const json_t *hour, const char *of, size_t ago)
{
	const json_t *list = json_object_get(json_object_get(hour, "minutes"), of);
	assert_int_equal(json_array_size(list), ING_RECENT_MINUTES);
	return json_integer_value(json_array_get(list, ING_RECENT_MINUTES - 1 - ago));
}

static void an_hour_is_counted_by_minute_lane_and_status(void **state)
{
	(void)state;
	struct ing_recent *r = ing_recent_new(START_MS);
	add(r, ING_LANE_BULK, ING_STATUS_SUCCESS, true, NULL, START_MS);
	add(r, ING_LANE_BULK, ING_STATUS_NO_PDF_LINK, false, NULL, START_MS);
	add(r, ING_LANE_DAILY, ING_STATUS_SUCCESS, true, NULL, START_MS + MINUTE_MS);
	ing_recent_add_parked(r, START_MS + MINUTE_MS);
	ing_recent_add_dead(r, START_MS + MINUTE_MS);
	json_t *hour = ing_recent_hour_json(r, START_MS + 2 * MINUTE_MS);
	assert_int_equal(at(hour, NULL, "results"), 3);
	assert_int_equal(at(hour, NULL, "hits"), 2);
	assert_int_equal(at(hour, NULL, "parked"), 1);
	assert_int_equal(at(hour, NULL, "dead"), 1);
	assert_int_equal(at(hour, "by_status", "success"), 2);
	assert_int_equal(at(hour, "by_status", "no-pdf-link"), 1);
	assert_int_equal(json_object_size(json_object_get(hour, "by_status")), 2);
	const json_t *lanes = json_object_get(hour, "by_lane");
	assert_int_equal(at(lanes, "bulk", "results"), 2);
	assert_int_equal(at(lanes, "bulk", "hits"), 1);
	assert_int_equal(at(lanes, "daily", "hits"), 1);
	assert_int_equal(at(lanes, "priority", "results"), 0);
	assert_int_equal(minute(hour, "results", 0), 0);
	assert_int_equal(minute(hour, "results", 1), 1);
	assert_int_equal(minute(hour, "results", 2), 2);
	assert_int_equal(minute(hour, "hits", 2), 1);
	json_decref(hour);
	ing_recent_free(r);
}

static void what_is_older_than_an_hour_is_forgotten(void **state)
{
	(void)state;
	struct ing_recent *r = ing_recent_new(START_MS);
	add(r, ING_LANE_BULK, ING_STATUS_SUCCESS, true, NULL, START_MS);
	json_t *hour = ing_recent_hour_json(r, START_MS + 59 * MINUTE_MS);
	assert_int_equal(at(hour, NULL, "results"), 1);
	assert_int_equal(minute(hour, "results", 59), 1);
	json_decref(hour);
	hour = ing_recent_hour_json(r, START_MS + 60 * MINUTE_MS);
	assert_int_equal(at(hour, NULL, "results"), 0);
	json_decref(hour);
	/* Its slot is used again. */
	add(r, ING_LANE_BULK, ING_STATUS_SUCCESS, true, NULL, START_MS + 60 * MINUTE_MS);
	hour = ing_recent_hour_json(r, START_MS + 60 * MINUTE_MS);
	assert_int_equal(at(hour, NULL, "results"), 1);
	assert_int_equal(minute(hour, "results", 0), 1);
	json_decref(hour);
	ing_recent_free(r);
}

static void rates_are_of_the_last_minute_without_the_current_second(void **state)
{
	(void)state;
	struct ing_recent *r = ing_recent_new(START_MS);
	struct ing_recent_rates rates;
	add(r, ING_LANE_BULK, ING_STATUS_SUCCESS, true, NULL, START_MS);
	ing_recent_rates(r, START_MS + 500, &rates);
	assert_true(rates.results == 0.0); /* the first second is not over */
	for (unsigned i = 1; i < 20; i++)
		add(r, ING_LANE_BULK, ING_STATUS_NO_PDF_LINK, false, NULL, START_MS + i * 500);
	ing_recent_rates(r, START_MS + 10000, &rates); /* 20 in 10 s */
	assert_true(rates.results == 2.0);
	assert_true(rates.hits == 0.1);
	ing_recent_rates(r, START_MS + 60000, &rates);
	assert_true(rates.results == 20 / 60.0);
	ing_recent_rates(r, START_MS + 64000, &rates); /* 8 of them were in the first 4 s */
	assert_true(rates.results == 12 / 60.0);
	ing_recent_rates(r, START_MS + 200000, &rates);
	assert_true(rates.results == 0.0);
	assert_int_equal(ing_recent_lane(r, ING_LANE_BULK, START_MS + 10000), 20);
	assert_int_equal(ing_recent_lane(r, ING_LANE_DAILY, START_MS + 10000), 0);
	assert_int_equal(ing_recent_lane(r, ING_LANE_BULK, START_MS + 61000), 16);
	ing_recent_free(r);
}

static void the_last_failures_are_kept_newest_first(void **state)
{
	(void)state;
	char url[64];
	struct ing_recent *r = ing_recent_new(START_MS);
	add(r, ING_LANE_BULK, ING_STATUS_SUCCESS, true, "https://hit.example/", START_MS);
	add(r, ING_LANE_BULK, ING_STATUS_EXISTING, false, "https://known.example/", START_MS);
	json_t *list = ing_recent_failures_json(r);
	assert_int_equal(json_array_size(list), 0);
	json_decref(list);
	for (unsigned i = 0; i < ING_RECENT_FAILURES + 7; i++) {
		snprintf(url, sizeof(url), "https://a.example/%u", i);
		add(r, ING_LANE_DAILY, ING_STATUS_NO_PDF_LINK, false, url, START_MS);
	}
	list = ing_recent_failures_json(r);
	assert_int_equal(json_array_size(list), ING_RECENT_FAILURES);
	const json_t *first = json_array_get(list, 0);
	const json_t *last = json_array_get(list, ING_RECENT_FAILURES - 1);
	assert_string_equal(ing_json_get_text(first, "url"), "https://a.example/56");
	assert_string_equal(ing_json_get_text(last, "url"), "https://a.example/7");
	assert_string_equal(
		ing_json_get_text(first, "id"), "0123456789012345678901234567890123456789");
	assert_string_equal(ing_json_get_text(first, "status"), "no-pdf-link");
	assert_string_equal(ing_json_get_text(first, "lane"), "daily");
	assert_string_equal(ing_json_get_text(first, "at"), "2023-11-14T22:13:20Z");
	assert_string_equal(ing_json_get_text(first, "message"), "no such page");
	assert_true(json_is_null(json_object_get(first, "last_url")));
	assert_int_equal(ing_json_get_number(first, "took_ms"), 12);
	json_decref(list);
	ing_recent_free(r);
}

static void texts_from_outside_are_cut_and_made_utf8(void **state)
{
	(void)state;
	char url[1000] = "https://a.example/\xff";
	size_t bytes = strlen(url);
	memset(url + bytes, 'x', sizeof(url) - 1 - bytes);
	url[sizeof(url) - 1] = '\0';
	struct ing_recent *r = ing_recent_new(START_MS);
	add(r, ING_LANE_BULK, ING_STATUS_READ_ERROR, false, url, START_MS);
	json_t *list = ing_recent_failures_json(r);
	const char *kept = ing_json_get_text(json_array_get(list, 0), "url");
	assert_non_null(kept);
	assert_true(ing_utf8_valid(kept, strlen(kept)));
	assert_true(strlen(kept) <= ING_RECENT_TEXT_BYTES + 2); /* U+FFFD has three bytes */
	json_decref(list);
	ing_recent_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_hour_is_counted_by_minute_lane_and_status),
		cmocka_unit_test(what_is_older_than_an_hour_is_forgotten),
		cmocka_unit_test(rates_are_of_the_last_minute_without_the_current_second),
		cmocka_unit_test(the_last_failures_are_kept_newest_first),
		cmocka_unit_test(texts_from_outside_are_cut_and_made_utf8),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
