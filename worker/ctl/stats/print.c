/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Texts of the tables are what requests said, which nobody has looked at: line ends would make rows of their
 * own, and escape sequences would be obeyed.
 */
#include "worker/ctl/stats/print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "common/base/buf.h"
#include "common/base/utf8.h"
#include "common/data/json.h"
#include "worker/ctl/hosts/words.h"

#define MAX_SHOWN_COLUMNS 60 /* of the terminal, for one text */
#define MAX_TEXT_BYTES ((size_t)1 << 20)
#define FIRST_ROWS 64
#define JSON_DIGITS 15

/* Of a character on a terminal; -1: it must not get there. */
static int width_of(uint32_t c)
{
	bool directs = (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
		       (c >= 0x2066 && c <= 0x2069) || c == 0xfeff || c == 0x061c;
	return directs || c < 0x20 || (c >= 0x7f && c < 0xa0) ? -1 : wcwidth((wchar_t)c);
}

/* Appends s as a terminal may have it, at most max_columns wide; returns its width. */
static size_t add_shown(struct ing_buf *out, const char *s, size_t max_columns)
{
	size_t width = 0;
	size_t bytes = strlen(s);
	while (bytes > 0) {
		uint32_t c;
		size_t n = ing_utf8_decode(s, bytes, &c);
		bool is_valid = ing_utf8_sequence(s, bytes) == n;
		int w = is_valid ? width_of(c) : -1;
		size_t columns = w < 0 ? 1 : (size_t)w;
		if (width + columns + (bytes > n) > max_columns) {
			ing_buf_add_str(out, "…");
			return width + 1;
		}
		if (w < 0)
			ing_buf_add_char(out, '?');
		else
			ing_buf_add(out, s, n);
		width += columns;
		s += n;
		bytes -= n;
	}
	return width;
}

static void add_bytes(struct ing_buf *out, const char *value)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double n = strtod(value, NULL);
	size_t unit = 0;
	while (n >= 1023.95 && unit + 1 < ING_ARRAY_LEN(units)) {
		n /= 1024;
		unit++;
	}
	ing_buf_printf(out, unit == 0 ? "%.0f %s" : "%.1f %s", n, units[unit]);
}

/* Appends the value as people read it; returns its width. */
static size_t add_value(struct ing_buf *out, enum ing_stats_kind kind, const char *value)
{
	size_t before = out->len;
	if (value == NULL) {
		ing_buf_add_char(out, '-');
		return 1;
	}
	switch (kind) {
	case ING_FIGURE_BYTES:
		add_bytes(out, value);
		break;
	case ING_FIGURE_SECONDS:
		ing_words_add_time(out, strtoll(value, NULL, 10) * 1000);
		break;
	case ING_FIGURE_RATIO:
		ing_buf_printf(out, "%.1f %%", strtod(value, NULL) * 100);
		break;
	case ING_FIGURE_REAL:
		ing_buf_printf(out, "%.1f", strtod(value, NULL));
		break;
	case ING_FIGURE_TRUTH:
		ing_buf_add_str(out, value[0] == 't' ? "yes" : "no");
		break;
	case ING_FIGURE_COUNT:
	case ING_FIGURE_TEXT:
		return add_shown(out, value[0] != '\0' ? value : "-", MAX_SHOWN_COLUMNS);
	}
	return out->len - before;
}

static size_t add_heading(struct ing_buf *out, const char *key)
{
	size_t before = out->len;
	for (; *key != '\0'; key++)
		ing_buf_add_char(out, *key == '_' ? ' ' : *key);
	return out->len - before;
}

static bool is_left(const struct ing_stats_table *t, size_t column)
{
	return t->columns[column].kind == ING_FIGURE_TEXT;
}

/* The value, or with row NULL the heading. */
static size_t add_cell(
	const struct ing_stats_table *t, const char *const *row, size_t column, struct ing_buf *out)
{
	return row == NULL ? add_heading(out, t->columns[column].key)
			   : add_value(out, t->columns[column].kind, row[column]);
}

static void print_blanks(FILE *out, size_t count)
{
	for (size_t i = 0; i < count; i++)
		putc(' ', out);
}

static void print_line(const struct ing_stats_table *t, const char *const *row,
	const size_t *widths, struct ing_buf *cell, FILE *out)
{
	for (size_t c = 0; c < t->column_count; c++) {
		ing_buf_clear(cell);
		size_t blanks = widths[c] - add_cell(t, row, c, cell);
		if (!is_left(t, c))
			print_blanks(out, blanks);
		fputs(ing_buf_str(cell), out);
		bool is_last = c + 1 == t->column_count;
		if (is_left(t, c) && !is_last)
			print_blanks(out, blanks);
		fputs(is_last ? "\n" : "  ", out);
	}
}

static void print_for_people(const struct ing_stats_table *t, FILE *out)
{
	size_t widths[ING_STATS_MAX_COLUMNS] = {0};
	struct ing_buf cell;
	ing_buf_init(&cell, MAX_TEXT_BYTES);
	for (size_t r = 0; r <= t->row_count; r++) {
		const char *const *row = r > 0 ? t->rows[r - 1] : NULL;
		for (size_t c = 0; c < t->column_count; c++) {
			ing_buf_clear(&cell);
			widths[c] = ING_MAX(widths[c], add_cell(t, row, c, &cell));
		}
	}
	for (size_t r = 0; r <= t->row_count; r++)
		print_line(t, r > 0 ? t->rows[r - 1] : NULL, widths, &cell, out);
	ing_buf_done(&cell);
}

/* --- CSV --- */

static void print_field(const char *text, FILE *out)
{
	if (strpbrk(text, "\",\r\n") == NULL) {
		fputs(text, out);
		return;
	}
	putc('"', out);
	for (; *text != '\0'; text++) {
		if (*text == '"')
			putc('"', out);
		putc(*text, out);
	}
	putc('"', out);
}

static void print_csv_field(
	const struct ing_stats_column *column, const char *value, bool terminal, FILE *out)
{
	struct ing_buf shown;
	ing_buf_init(&shown, MAX_TEXT_BYTES);
	const char *text = value != NULL ? value : "";
	if (value != NULL && column->kind == ING_FIGURE_TRUTH)
		text = value[0] == 't' ? "true" : "false";
	if (terminal && value != NULL) {
		add_shown(&shown, text, MAX_TEXT_BYTES);
		text = ing_buf_str(&shown);
	}
	print_field(text, out);
	ing_buf_done(&shown);
}

static void print_csv(const struct ing_stats_table *t, bool terminal, FILE *out)
{
	for (size_t c = 0; c < t->column_count; c++)
		fprintf(out, "%s%s", c > 0 ? "," : "", t->columns[c].key);
	fputs("\r\n", out);
	for (size_t r = 0; r < t->row_count; r++) {
		for (size_t c = 0; c < t->column_count; c++) {
			if (c > 0)
				putc(',', out);
			print_csv_field(&t->columns[c], t->rows[r][c], terminal, out);
		}
		fputs("\r\n", out);
	}
}

/* --- JSON --- */

static json_t *json_of(enum ing_stats_kind kind, const char *value)
{
	if (value == NULL)
		return NULL;
	switch (kind) {
	case ING_FIGURE_COUNT:
	case ING_FIGURE_BYTES:
	case ING_FIGURE_SECONDS:
		return json_integer(strtoll(value, NULL, 10));
	case ING_FIGURE_RATIO:
	case ING_FIGURE_REAL:
		return json_real(strtod(value, NULL));
	case ING_FIGURE_TRUTH:
		return json_boolean(value[0] == 't');
	case ING_FIGURE_TEXT:
		break;
	}
	return ing_json_text(value);
}

/* What some terminals obey (DEL, U+0080 to U+009F) or programs take for the end of a line (U+0085, U+2028, U+2029) is
 * escaped, which JSON allows anywhere in a text. */
static void print_escaped(const char *s, FILE *out)
{
	size_t bytes = strlen(s);
	while (bytes > 0) {
		uint32_t c;
		size_t n = ing_utf8_decode(s, bytes, &c);
		if ((c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029)
			fprintf(out, "\\u%04" PRIx32, c);
		else
			fwrite(s, 1, n, out);
		s += n;
		bytes -= n;
	}
}

static void print_json_row(const struct ing_stats_table *t, const char *const *row, FILE *out)
{
	json_t *o = json_object();
	for (size_t c = 0; c < t->column_count; c++)
		ing_json_set(o, t->columns[c].key, json_of(t->columns[c].kind, row[c]));
	char *text = ing_json_dump_rounded(o, JSON_DIGITS);
	print_escaped(text, out);
	putc('\n', out);
	free(text);
	json_decref(o);
}

/* -------------------------------------------------------------------------------------------- */

void ing_stats_table_init(
	struct ing_stats_table *t, const struct ing_stats_column *columns, size_t column_count)
{
	ing_must(column_count <= ING_STATS_MAX_COLUMNS);
	*t = (struct ing_stats_table){.columns = columns, .column_count = column_count};
	ing_arena_init(&t->arena);
}

void ing_stats_table_done(struct ing_stats_table *t)
{
	free(t->rows);
	ing_arena_done(&t->arena);
	*t = (struct ing_stats_table){0};
}

void ing_stats_table_add(struct ing_stats_table *t, const char *const *values)
{
	const char **row = ing_arena_alloc(&t->arena, t->column_count * sizeof(*row));
	for (size_t c = 0; c < t->column_count; c++)
		row[c] = values[c] != NULL
				 ? ing_arena_strndup(&t->arena, values[c], strlen(values[c]))
				 : NULL;
	if (t->row_count == t->row_room) {
		t->row_room = t->row_room == 0 ? FIRST_ROWS : t->row_room * 2;
		t->rows = ing_realloc(t->rows, t->row_room * sizeof(*t->rows));
	}
	t->rows[t->row_count++] = row;
}

void ing_stats_print(
	const struct ing_stats_table *t, enum ing_stats_format format, bool terminal, FILE *out)
{
	switch (format) {
	case ING_PRINTED_FOR_PEOPLE:
		print_for_people(t, out);
		return;
	case ING_PRINTED_AS_CSV:
		print_csv(t, terminal, out);
		return;
	case ING_PRINTED_AS_JSON:
		for (size_t r = 0; r < t->row_count; r++)
			print_json_row(t, t->rows[r], out);
		return;
	}
}
