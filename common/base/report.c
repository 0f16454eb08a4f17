/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An array of lines with a ceiling. Warnings may take half of it at most, so that no number of them
 * hides the errors.
 */
#include "common/base/report.h"

#include <stdlib.h>
#include <string.h>

#define MAX_TEXT_BYTES 1000
#define MAX_LINE_BYTES (MAX_TEXT_BYTES + 5000) /* with a path */

/* What a line is sorted by. */
struct sort_key {
	size_t file;  /* place of its file's first mention */
	size_t index; /* its own place: equal ones keep their order */
	struct ing_report_line line;
};

static bool has_room(const struct ing_report *r, bool warning)
{
	size_t kept_warnings = 0;
	if (!warning)
		return r->count < ING_REPORT_MAX_LINES;
	for (size_t i = 0; i < r->count; i++)
		kept_warnings += r->lines[i].warning;
	return kept_warnings < ING_REPORT_MAX_LINES / 2 && r->count < ING_REPORT_MAX_LINES;
}

/* Two loaders that read one file say the same about it. */
static bool is_known(const struct ing_report *r, bool warning, const char *file, int line,
	int column, const char *text)
{
	for (size_t i = 0; i < r->count; i++) {
		const struct ing_report_line *l = &r->lines[i];
		if (l->line == line && l->column == column && l->warning == warning &&
			strcmp(l->text, text) == 0 && strcmp(l->file, file) == 0)
			return true;
	}
	return false;
}

ING_PRINTF(6, 0)
static void add_line(struct ing_report *r, bool warning, const char *file, int line, int column,
	const char *fmt, va_list ap)
{
	char text[MAX_TEXT_BYTES];
	vsnprintf(text, sizeof(text), fmt, ap);
	if (is_known(r, warning, file, line, column, text))
		return;
	if (warning)
		r->warnings++;
	else
		r->errors++;
	if (!has_room(r, warning))
		return;
	if (r->count == r->cap) {
		r->cap = r->cap == 0 ? 16 : r->cap * 2;
		r->lines = ing_realloc(r->lines, r->cap * sizeof(*r->lines));
	}
	r->lines[r->count++] = (struct ing_report_line){.warning = warning,
		.file = ing_strdup(file),
		.line = line,
		.column = column,
		.text = ing_strdup(text)};
}

static int compare_lines(const void *a, const void *b)
{
	const struct sort_key *x = a;
	const struct sort_key *y = b;
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->line.line != y->line.line)
		return x->line.line < y->line.line ? -1 : 1;
	if (x->line.column != y->line.column)
		return x->line.column < y->line.column ? -1 : 1;
	return x->index < y->index ? -1 : 1;
}

/* How many lines were not kept. */
static void print_rest(const struct ing_report *r, bool warnings, FILE *to)
{
	size_t left = r->errors + (warnings ? r->warnings : 0);
	for (size_t i = 0; i < r->count; i++)
		left -= warnings || !r->lines[i].warning;
	if (left > 0)
		fprintf(to, "and %zu more\n", left);
}

/* -------------------------------------------------------------------------------------------- */

void ing_report_init(struct ing_report *r)
{
	*r = (struct ing_report){0};
}

void ing_report_done(struct ing_report *r)
{
	for (size_t i = 0; i < r->count; i++) {
		free((void *)(uintptr_t)r->lines[i].file);
		free((void *)(uintptr_t)r->lines[i].text);
	}
	free(r->lines);
	*r = (struct ing_report){0};
}

void ing_report_error(
	struct ing_report *r, const char *file, int line, int column, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	add_line(r, false, file, line, column, fmt, ap);
	va_end(ap);
}

void ing_report_warning(
	struct ing_report *r, const char *file, int line, int column, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	add_line(r, true, file, line, column, fmt, ap);
	va_end(ap);
}

void ing_report_sort(struct ing_report *r)
{
	if (r->count < 2)
		return;
	struct sort_key *keys = ing_alloc(r->count * sizeof(*keys));
	for (size_t i = 0; i < r->count; i++) {
		size_t first = 0;
		while (strcmp(r->lines[first].file, r->lines[i].file) != 0)
			first++;
		keys[i] = (struct sort_key){.file = first, .index = i, .line = r->lines[i]};
	}
	qsort(keys, r->count, sizeof(*keys), compare_lines);
	for (size_t i = 0; i < r->count; i++)
		r->lines[i] = keys[i].line;
	free(keys);
}

int ing_report_format_line(const struct ing_report_line *line, char *to, size_t bytes)
{
	if (line->line == 0)
		return snprintf(to, bytes, "%s: %s", line->file, line->text);
	return snprintf(
		to, bytes, "%s:%d:%d: %s", line->file, line->line, line->column, line->text);
}

void ing_report_print_errors(const struct ing_report *r, FILE *to)
{
	char line[MAX_LINE_BYTES];
	for (size_t i = 0; i < r->count; i++) {
		if (r->lines[i].warning)
			continue;
		ing_report_format_line(&r->lines[i], line, sizeof(line));
		fprintf(to, "%s\n", line);
	}
	print_rest(r, false, to);
}

void ing_report_print(const struct ing_report *r, bool warnings, FILE *to)
{
	for (size_t i = 0; i < r->count; i++) {
		const struct ing_report_line *l = &r->lines[i];
		if (l->warning && !warnings)
			continue;
		fprintf(to, "%s:", l->file);
		if (l->line > 0)
			fprintf(to, "%d:%d:", l->line, l->column);
		fprintf(to, " %s: %s\n", l->warning ? "warning" : "error", l->text);
	}
	print_rest(r, warnings, to);
}

int ing_report_to_error(const struct ing_report *r, struct ing_error *err)
{
	char words[sizeof(err->msg)];
	char line[MAX_LINE_BYTES];
	const struct ing_report_line *first = NULL;
	size_t used = 0;
	size_t said = 0;
	if (r->errors == 0)
		return 0;
	for (size_t i = 0; i < r->count; i++) {
		if (r->lines[i].warning)
			continue;
		int bytes = ing_report_format_line(&r->lines[i], line, sizeof(line));
		size_t room = sizeof(words) - used - sizeof("\n(1000000 more errors)");
		if (first != NULL && (size_t)bytes + 1 > room)
			break;
		used += (size_t)snprintf(words + used, room, "%s%.*s", first != NULL ? "\n" : "",
			(int)room - 2, line);
		if (first == NULL)
			first = &r->lines[i];
		said++;
	}
	if (said < r->errors)
		snprintf(words + used, sizeof(words) - used, "\n(%zu more error%s)",
			r->errors - said, ING_PLURAL_S(r->errors - said));
	ing_must(first != NULL);
	return ing_error_at(err, ING_FAIL_CONFIG, first->line, first->column, "%s", words);
}
