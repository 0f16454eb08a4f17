/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The three forms of RFC 9110 5.6.7 are patterns of letters that stand for fields, read by one
 * function. Names are taken in any case, and a day of the week need not be the date's: what counts
 * is when, and servers that get these wrong mean what the rest says.
 */
#include "common/net/http_date.h"

#include <stddef.h>
#include <string.h>

#include "common/base/macros.h"

#define SECONDS_PER_DAY 86400
#define FIFTY_YEARS_S 1577847600 /* of 365.2425 days */

struct fields {
	int64_t year, month, day, hour, minute, second;
};

/* %a and %A are a short and a long name of a day, %b of a month, %d %H %M %S two digits, %e two
 * digits or a blank and one, %y two of a year, %Y four; anything else stands for itself. */
static const char *const patterns[] = {
	"%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"};

static const char *const day_names[] = {
	"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"};
static const char *const month_names[] = {
	"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Skips a name of the table, of its first max_len letters; its index, or -1. */
static int skip_name(const char **s, const char *const *names, size_t count, size_t max_len)
{
	for (size_t i = 0; i < count; i++) {
		size_t n = ING_MIN(strlen(names[i]), max_len);
		if (strncasecmp(*s, names[i], n) == 0) {
			*s += n;
			return (int)i;
		}
	}
	return -1;
}

static bool skip_number(const char **s, int digits, int64_t *ret)
{
	int64_t value = 0;
	for (int i = 0; i < digits; i++, (*s)++) {
		if (!is_digit(**s))
			return false;
		value = value * 10 + (**s - '0');
	}
	*ret = value;
	return true;
}

static bool skip_day_of_month(const char **s, int64_t *ret)
{
	int digits = **s == ' ' ? 1 : 2;
	*s += digits == 1;
	return skip_number(s, digits, ret);
}

static bool skip_field(const char **s, char field, struct fields *f)
{
	switch (field) {
	case 'a':
		return skip_name(s, day_names, ING_ARRAY_LEN(day_names), 3) >= 0;
	case 'A':
		return skip_name(s, day_names, ING_ARRAY_LEN(day_names), SIZE_MAX) >= 0;
	case 'b':
		f->month = skip_name(s, month_names, ING_ARRAY_LEN(month_names), 3) + 1;
		return f->month > 0;
	case 'd':
		return skip_number(s, 2, &f->day);
	case 'e':
		return skip_day_of_month(s, &f->day);
	case 'H':
		return skip_number(s, 2, &f->hour);
	case 'M':
		return skip_number(s, 2, &f->minute);
	case 'S':
		return skip_number(s, 2, &f->second);
	case 'y':
		return skip_number(s, 2, &f->year);
	case 'Y':
		return skip_number(s, 4, &f->year);
	default:
		return false;
	}
}

static const char *skip_blanks(const char *s)
{
	return s + strspn(s, " \t");
}

static bool read_fields(const char *s, const char *pattern, struct fields *f)
{
	for (; *pattern != '\0'; pattern++) {
		bool literal = *pattern != '%';
		if (literal ? strncasecmp(s, pattern, 1) != 0 : !skip_field(&s, pattern[1], f))
			return false;
		s += literal;
		pattern += !literal;
	}
	return *skip_blanks(s) == '\0';
}

static bool is_leap(int64_t year)
{
	return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* A second of 60 is a leap second, and means the next minute's first. */
static bool is_possible(const struct fields *f)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	int64_t last = days[f->month - 1] + (f->month == 2 && is_leap(f->year));
	return f->day >= 1 && f->day <= last && f->hour <= 23 && f->minute <= 59 && f->second <= 60;
}

/* Proleptic Gregorian, counted in years that begin in March, so that leap days come last. */
static int64_t seconds_of(const struct fields *f)
{
	int64_t year = f->year - (f->month <= 2) + 400; /* all that follows is positive */
	int64_t month = (f->month + 9) % 12;
	int64_t days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 +
		       f->day - 1 - 865565; /* 1970-01-01, and the 400 years */
	return days * SECONDS_PER_DAY + f->hour * 3600 + f->minute * 60 + f->second;
}

/* The latest year that ends so and is not more than fifty years ahead. */
static void add_century(struct fields *f, int64_t now_s)
{
	int64_t year = 1970 + now_s / 31556952; /* off by one at New Year, which does no harm */
	f->year += (year / 100 + 1) * 100;
	while (seconds_of(f) - now_s > FIFTY_YEARS_S)
		f->year -= 100;
}

/* -------------------------------------------------------------------------------------------- */

bool ing_http_date_parse(const char *text, int64_t now_s, int64_t *ret_s)
{
	struct fields f = {0};
	size_t form = 0;
	text = skip_blanks(text);
	while (form < ING_ARRAY_LEN(patterns) && !read_fields(text, patterns[form], &f))
		form++;
	if (form == ING_ARRAY_LEN(patterns))
		return false;
	if (form == 1)
		add_century(&f, now_s);
	if (!is_possible(&f))
		return false;
	*ret_s = seconds_of(&f);
	return true;
}

bool ing_http_retry_after_parse(const char *text, int64_t now_s, int64_t *ret_delay_s)
{
	int64_t at = 0;
	const char *s = skip_blanks(text);
	if (!is_digit(*s)) {
		if (!ing_http_date_parse(s, now_s, &at))
			return false;
		*ret_delay_s = at <= now_s ? 0 : ING_MIN(at - now_s, (int64_t)INT32_MAX);
		return true;
	}
	for (; is_digit(*s); s++)
		at = ING_MIN(at * 10 + (*s - '0'), (int64_t)INT32_MAX);
	if (*skip_blanks(s) != '\0')
		return false;
	*ret_delay_s = at;
	return true;
}
