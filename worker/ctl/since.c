/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Digits are counted, so that nothing overflows before it is compared.
 */
#include "worker/ctl/since.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/base/macros.h"

#define MAX_DIGITS 11
#define MAX_AGO_S (INT64_C(1000) * 366 * 86400)

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* 0: it is no unit. */
static int64_t unit_seconds(char c)
{
	static const struct {
		char unit;
		int64_t seconds;
	} units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'w', INT64_C(7) * 86400}};
	for (size_t i = 0; i < ING_ARRAY_LEN(units); i++) {
		if (units[i].unit == c)
			return units[i].seconds;
	}
	return 0;
}

static bool parse_ago(const char *s, int64_t *ret)
{
	int64_t sum = 0;
	if (*s == '\0')
		return false;
	while (*s != '\0') {
		int64_t n = 0;
		int digits = 0;
		for (; is_digit(*s) && digits <= MAX_DIGITS; s++, digits++)
			n = n * 10 + (*s - '0');
		int64_t unit = unit_seconds(*s++);
		if (digits == 0 || digits > MAX_DIGITS || unit == 0 || n > MAX_AGO_S / unit)
			return false;
		sum += n * unit;
		if (sum > MAX_AGO_S)
			return false;
	}
	*ret = sum;
	return true;
}

/* `count` digits at *s, which is moved on; -1: they are not there. */
static int take_digits(const char **s, int count)
{
	int n = 0;
	for (int i = 0; i < count; i++, (*s)++) {
		if (!is_digit(**s))
			return -1;
		n = n * 10 + (**s - '0');
	}
	return n;
}

static bool take_char(const char **s, char c)
{
	if (**s != c)
		return false;
	(*s)++;
	return true;
}

static bool take_time(const char **s, struct tm *tm)
{
	tm->tm_hour = take_digits(s, 2);
	if (tm->tm_hour < 0 || !take_char(s, ':'))
		return false;
	tm->tm_min = take_digits(s, 2);
	if (tm->tm_min < 0)
		return false;
	if (take_char(s, ':')) {
		tm->tm_sec = take_digits(s, 2);
		if (tm->tm_sec < 0)
			return false;
	}
	(void)take_char(s, 'Z');
	return tm->tm_hour < 24 && tm->tm_min < 60 && tm->tm_sec < 60;
}

static bool parse_date(const char *s, int64_t *ret)
{
	struct tm tm = {0};
	int year = take_digits(&s, 4);
	if (year < 1970 || !take_char(&s, '-'))
		return false;
	int month = take_digits(&s, 2);
	if (month < 1 || month > 12 || !take_char(&s, '-'))
		return false;
	tm.tm_mday = take_digits(&s, 2);
	if (tm.tm_mday < 1 || tm.tm_mday > 31)
		return false;
	if (*s != '\0' && ((*s != 'T' && *s != ' ') || (s++, !take_time(&s, &tm))))
		return false;
	if (*s != '\0')
		return false;
	tm.tm_year = year - 1900;
	tm.tm_mon = month - 1;
	int day = tm.tm_mday;
	time_t at = timegm(&tm);
	if (tm.tm_mday != day) /* February 30 */
		return false;
	*ret = (int64_t)at;
	return true;
}

/* -------------------------------------------------------------------------------------------- */

bool ing_since_parse(const char *text, struct ing_since *ret)
{
	struct ing_since since = {.is_ago = true};
	if (!parse_ago(text, &since.ago_s)) {
		since.is_ago = false;
		if (!parse_date(text, &since.at_s))
			return false;
	}
	*ret = since;
	return true;
}
