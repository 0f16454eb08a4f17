/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Values made fit and escaped for COPY's text format (PostgreSQL manual, COPY): backslash, newline,
 * carriage return and tab are escaped, NULL is \N. Nearly every value is short and clean, so that
 * is the path without a copy.
 */
#include "worker/store/cell.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/utf8.h"

#define MIN_DOI_BYTES 4 /* the column's own check */

static bool add_null(const struct ing_column *col, struct ing_buf *out)
{
	if (col->key)
		return false;
	return ing_buf_add(out, "\\N", 2);
}

static void add_escaped(const char *s, size_t n, struct ing_buf *out)
{
	static const char special[] = "\\\n\r\t";
	static const char letters[] = "\\nrt";
	while (n > 0) {
		size_t plain = 0;
		while (plain < n && (s[plain] > '\r' || s[plain] < '\t') && s[plain] != '\\')
			plain++;
		ing_buf_add(out, s, plain);
		s += plain;
		n -= plain;
		if (n == 0)
			return;
		const char *found = memchr(special, *s, sizeof(special) - 1);
		if (found != NULL) {
			ing_buf_add_char(out, '\\');
			ing_buf_add_char(out, letters[found - special]);
		} else {
			ing_buf_add_char(out, *s);
		}
		s++;
		n--;
	}
}

static bool add_text(const struct ing_column *col, const char *s, size_t n, struct ing_buf *out)
{
	if (n == 0)
		return col->kind == ING_CELL_TEXT_OR_EMPTY || add_null(col, out);
	if (col->max_bytes > 0 && n > col->max_bytes) {
		if (col->key || col->over == ING_OVER_NULL)
			return add_null(col, out);
		n = ing_utf8_cut(s, n, col->max_bytes);
	}
	add_escaped(s, n, out);
	return true;
}

static bool write_text(const struct ing_column *col, const char *s, struct ing_buf *out)
{
	size_t n = strlen(s);
	if (ing_utf8_valid(s, n))
		return add_text(col, s, n, out);
	char *clean ING_CLEANUP(ing_freep) = ing_utf8_clean(s, n, &n);
	return clean != NULL ? add_text(col, clean, n, out) : add_null(col, out);
}

static void add_lower(const char *s, size_t n, struct ing_buf *out)
{
	for (size_t i = 0; i < n; i++)
		ing_buf_add_char(out, (char)tolower((unsigned char)s[i]));
}

/* As many characters as the column has, all of a kind. */
static bool write_fixed(
	const struct ing_column *col, const char *s, int (*is_one)(int), struct ing_buf *out)
{
	size_t n = strnlen(s, col->max_bytes + 1);
	if (n != col->max_bytes)
		return add_null(col, out);
	for (size_t i = 0; i < n; i++) {
		if (!is_one((unsigned char)s[i]))
			return add_null(col, out);
	}
	add_lower(s, n, out);
	return true;
}

/* PostgreSQL's lower() of the C collation knows ASCII alone, too. */
static bool write_doi(const struct ing_column *col, const char *s, struct ing_buf *out)
{
	size_t n = strnlen(s, col->max_bytes + 1);
	if (n < MIN_DOI_BYTES || n > col->max_bytes)
		return add_null(col, out);
	struct ing_buf lower;
	ing_buf_init(&lower, col->max_bytes + 1);
	add_lower(s, n, &lower);
	bool ok = write_text(col, ing_buf_str(&lower), out);
	ing_buf_done(&lower);
	return ok;
}

static bool write_dt14(const struct ing_column *col, const char *s, struct ing_buf *out)
{
	if (strnlen(s, 15) != 14 || strspn(s, "0123456789") != 14)
		return add_null(col, out);
	return ing_buf_add(out, s, 14);
}

static bool write_json(const struct ing_column *col, const char *s, struct ing_buf *out)
{
	size_t n = 0;
	char *clean ING_CLEANUP(ing_freep) = ing_utf8_clean(s, strlen(s), &n);
	if (clean == NULL || n == 0)
		return add_null(col, out);
	struct ing_buf fit;
	ing_buf_init(&fit, out->max);
	ing_json_fit(clean, n, &fit);
	bool ok = !fit.failed;
	if (ok)
		add_escaped(ing_buf_str(&fit), fit.len, out);
	ing_buf_done(&fit);
	return ok || add_null(col, out);
}

static bool write_int(const struct ing_column *col, int64_t v, struct ing_buf *out)
{
	if (v < 0 || v > col->max)
		return add_null(col, out);
	return ing_buf_printf(out, "%lld", (long long)v);
}

static bool write_signed(const struct ing_column *col, int64_t v, struct ing_buf *out)
{
	if (v < INT32_MIN || v > INT32_MAX)
		return add_null(col, out);
	return ing_buf_printf(out, "%lld", (long long)v);
}

static bool write_real(const struct ing_column *col, double v, struct ing_buf *out)
{
	if (!isfinite(v) || v < (double)FLT_MIN || v > (double)FLT_MAX)
		return add_null(col, out);
	return ing_buf_printf(out, "%.9g", v);
}

/* Two digits, or -1. */
static int two_digits(const char *s)
{
	if (!isdigit((unsigned char)s[0]) || !isdigit((unsigned char)s[1]))
		return -1;
	return (s[0] - '0') * 10 + (s[1] - '0');
}

static bool in_range(int v, int min, int max)
{
	return v >= min && v <= max;
}

static bool offset_fits(const char *s)
{
	if (strcmp(s, "Z") == 0 || strcmp(s, "z") == 0)
		return true;
	return strlen(s) == 6 && (s[0] == '+' || s[0] == '-') && s[3] == ':' &&
	       in_range(two_digits(s + 1), 0, 15) && in_range(two_digits(s + 4), 0, 59);
}

/* -------------------------------------------------------------------------------------------- */

bool ing_time_fits(const char *s)
{
	static const char shape[] = "dddd-dd-ddTdd:dd:dd";
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	size_t n = sizeof(shape) - 1;
	for (size_t i = 0; i < n; i++) {
		bool ok = shape[i] == 'd'   ? isdigit((unsigned char)s[i]) != 0
			  : shape[i] == 'T' ? s[i] == 'T' || s[i] == 't' || s[i] == ' '
					    : s[i] == shape[i];
		if (!ok)
			return false;
	}
	int year = two_digits(s) * 100 + two_digits(s + 2);
	int month = two_digits(s + 5);
	if (year < 1 || !in_range(month, 1, 12))
		return false;
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
	int last = days[month - 1] + (month == 2 && leap ? 1 : 0);
	if (!in_range(two_digits(s + 8), 1, last) || !in_range(two_digits(s + 11), 0, 23) ||
		!in_range(two_digits(s + 14), 0, 59) || !in_range(two_digits(s + 17), 0, 60))
		return false;
	s += n;
	if (*s == '.') {
		size_t digits = strspn(s + 1, "0123456789");
		if (digits < 1 || digits > 9)
			return false;
		s += 1 + digits;
	}
	return offset_fits(s);
}

bool ing_cell_write(const struct ing_column *col, const struct ing_cell *cell, struct ing_buf *out)
{
	switch (col->kind) {
	case ING_CELL_INT:
		return write_int(col, cell->number, out);
	case ING_CELL_SIGNED:
		return write_signed(col, cell->number, out);
	case ING_CELL_REAL:
		return write_real(col, cell->real, out);
	case ING_CELL_BOOL:
		return ing_buf_add_char(out, cell->number != 0 ? 't' : 'f');
	default:
		break;
	}
	if (cell->text == NULL)
		return add_null(col, out);
	switch (col->kind) {
	case ING_CELL_HEX:
		return write_fixed(col, cell->text, isxdigit, out);
	case ING_CELL_WORD:
		return write_fixed(col, cell->text, isalnum, out);
	case ING_CELL_DOI:
		return write_doi(col, cell->text, out);
	case ING_CELL_DT14:
		return write_dt14(col, cell->text, out);
	case ING_CELL_JSON:
		return write_json(col, cell->text, out);
	case ING_CELL_TIME:
		if (!ing_time_fits(cell->text))
			return add_null(col, out);
		return ing_buf_add_str(out, cell->text);
	default:
		return write_text(col, cell->text, out);
	}
}
