/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Dates of HTTP fields in their three forms, and what is none; Retry-After in both of its forms.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants the three above first */
#include <cmocka.h>
#include "common/base/macros.h"
#include "common/net/http_date.h"

#define NOW 1792000000 /* 2026-10-14T17:46:40Z */
#define NONE INT64_MIN

static const struct {
	const char *text;
	int64_t want;
} dates[] = {
	{"Sun, 06 Nov 1994 08:49:37 GMT", 784111777},
	{"Sunday, 06-Nov-94 08:49:37 GMT", 784111777},
	{"Sun Nov  6 08:49:37 1994", 784111777},
	{" \tSun, 06 Nov 1994 08:49:37 GMT \t", 784111777},
	{"sun, 06 nov 1994 08:49:37 gmt", 784111777},
	{"Mon, 06 Nov 1994 08:49:37 GMT", 784111777}, /* was a Sunday */
	{"Thu, 01 Jan 1970 00:00:00 GMT", 0},
	{"Wed, 31 Dec 1969 23:59:59 GMT", -1},
	{"Mon, 01 Jan 0001 00:00:00 GMT", -62135596800},
	{"Fri, 31 Dec 9999 23:59:59 GMT", 253402300799},
	{"Tue, 29 Feb 2000 12:00:00 GMT", 951825600},
	{"Thu, 29 Feb 2024 00:00:00 GMT", 1709164800},
	{"Sat, 31 Dec 2016 23:59:60 GMT", 1483228800}, /* a leap second */
	{"Mon Nov 16 08:49:37 1994", 784975777},
	/* two digits of a year, seen from 2026 */
	{"Tuesday, 19-Jan-38 03:14:08 GMT", 2147483648},
	{"Wednesday, 01-Jan-76 00:00:00 GMT", 3345062400},
	{"Friday, 01-Jan-77 00:00:00 GMT", 220924800},
	{"Tuesday, 29-Feb-00 12:00:00 GMT", 951825600},
	/* none */
	{"", NONE},
	{" ", NONE},
	{"0", NONE},
	{"now", NONE},
	{"Sun, 06 Nov 1994 08:49:37", NONE},
	{"Sun, 06 Nov 1994 08:49:37 UTC", NONE},
	{"Sun, 06 Nov 1994 08:49:37 GMT+1", NONE},
	{"Sun, 06 Nov 1994 08:49:37 GMTx", NONE},
	{"Sun, 6 Nov 1994 08:49:37 GMT", NONE},
	{"Sun, 06 Nov 94 08:49:37 GMT", NONE},
	{"Sun, 06-Nov-94 08:49:37 GMT", NONE},
	{"Sunday, 06 Nov 1994 08:49:37 GMT", NONE},
	{"Sun 06 Nov 1994 08:49:37 GMT", NONE},
	{"Sun,  06 Nov 1994 08:49:37 GMT", NONE},
	{"06 Nov 1994 08:49:37 GMT", NONE},
	{"Sun, 06 Nov 1994 8:49:37 GMT", NONE},
	{"Sun, 06 Nov 1994 08:49 GMT", NONE},
	{"Sun, 06 Foo 1994 08:49:37 GMT", NONE},
	{"Foo, 06 Nov 1994 08:49:37 GMT", NONE},
	{"Sun, 00 Nov 1994 08:49:37 GMT", NONE},
	{"Sun, 31 Nov 1994 08:49:37 GMT", NONE},
	{"Wed, 29 Feb 2023 00:00:00 GMT", NONE},
	{"Mon, 29 Feb 2100 00:00:00 GMT", NONE},
	{"Wednesday, 29-Feb-23 00:00:00 GMT", NONE},
	{"Sun, 06 Nov 1994 24:00:00 GMT", NONE},
	{"Sun, 06 Nov 1994 08:60:37 GMT", NONE},
	{"Sun, 06 Nov 1994 08:49:61 GMT", NONE},
	{"Sun Nov 6 08:49:37 1994", NONE},
	{"Sun Nov  6 08:49:37 1994 GMT", NONE},
	{"Sun Nov   6 08:49:37 1994", NONE},
	{"Sun, 06 Nov -994 08:49:37 GMT", NONE},
	{"Sun, +6 Nov 1994 08:49:37 GMT", NONE},
};

static const struct {
	const char *text;
	int64_t want;
} delays[] = {
	{"0", 0},
	{"120", 120},
	{" 120\t", 120},
	{"007", 7},
	{"2147483647", 2147483647},
	{"2147483648", 2147483647},
	{"99999999999999999999999999999999999999", 2147483647},
	{"Wed, 14 Oct 2026 17:47:40 GMT", 60},
	{"Wednesday, 14-Oct-26 17:47:40 GMT", 60},
	{"Wed Oct 14 17:47:40 2026", 60},
	{"Wed, 14 Oct 2026 17:46:40 GMT", 0},
	{"Sun, 06 Nov 1994 08:49:37 GMT", 0},
	{"Fri, 31 Dec 9999 23:59:59 GMT", 2147483647},
	{"", NONE},
	{" ", NONE},
	{"-1", NONE},
	{"+1", NONE},
	{"1.5", NONE},
	{"1 2", NONE},
	{"120s", NONE},
	{"0x10", NONE},
	{"soon", NONE},
	{"120, 120", NONE},
	{"Sun, 31 Nov 1994 08:49:37 GMT", NONE},
};

static void test_dates(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(dates); i++) {
		int64_t got = NONE;
		if (ing_http_date_parse(dates[i].text, NOW, &got) != (dates[i].want != NONE) ||
			got != dates[i].want)
			fail_msg("%s: %lld", dates[i].text, (long long)got);
	}
}

/* The same two digits mean another year as time goes by. */
static void test_two_digit_years_follow_the_clock(void **state)
{
	static const struct {
		int64_t now;
		int64_t want;
	} years[] = {
		{-1000000000, -2208988800}, /* 1938: 1900 */
		{0, 946684800},             /* 1970: 2000 */
		{NOW, 946684800},           /* 2026: 2000 */
		{2000000000, 946684800},    /* 2033: 2000 */
		{3000000000, 4102444800},   /* 2065: 2100 */
		{32503680000, 32503680000}, /* 3000: 3000 */
	};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(years); i++) {
		int64_t got = NONE;
		assert_true(ing_http_date_parse(
			"Saturday, 01-Jan-00 00:00:00 GMT", years[i].now, &got));
		assert_int_equal(got, years[i].want);
	}
}

static void test_retry_after(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(delays); i++) {
		int64_t got = NONE;
		bool good = ing_http_retry_after_parse(delays[i].text, NOW, &got);
		if (good != (delays[i].want != NONE) || got != delays[i].want)
			fail_msg("%s: %lld", delays[i].text, (long long)got);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dates),
		cmocka_unit_test(test_two_digit_years_follow_the_clock),
		cmocka_unit_test(test_retry_after),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
