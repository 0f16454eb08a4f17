/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A verb's tables as text for a terminal.
 */
#include "worker/ctl/usage.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "worker/ctl/usage_text.h"

#define MAX_HELP_BYTES ((size_t)256 << 10)
#define WIDTH 90 /* unless a terminal says another */
#define MIN_WIDTH 60
#define MAX_WIDTH 100
#define MAX_HEAD_COLUMNS 26 /* of an option with its value; longer ones have a line of their own */

struct help {
	struct ing_buf out;
	size_t width;
};

/* A paragraph of its own. */
static void add_text(struct help *h, const char *text)
{
	if (text == NULL || text[0] == '\0')
		return;
	ing_buf_add_char(&h->out, '\n');
	ing_usage_add_lines(&h->out, text, 0, h->width);
}

/* --- synopsis --- */

/* Bytes up to the next blank that stands in no brackets. */
static size_t synopsis_word(const char *at, size_t bytes)
{
	size_t depth = 0;
	size_t n = 0;
	for (; n < bytes && (at[n] != ' ' || depth > 0); n++) {
		depth += at[n] == '[' || at[n] == '(';
		depth -= (at[n] == ']' || at[n] == ')') && depth > 0;
	}
	return n;
}

static void add_form(struct help *h, const char *name, const char *form, size_t bytes)
{
	bool first = h->out.len == 0;
	ing_buf_printf(&h->out, "%s ingestctl %s", first ? "usage:" : "      ", name);
	size_t indent = sizeof("usage: ingestctl ") - 1 + strlen(name) + 1;
	size_t column = indent - 1;
	while (bytes > 0) {
		size_t n = synopsis_word(form, bytes);
		size_t columns = ing_usage_columns(form, n);
		if (column + 1 + columns > h->width && column > indent) {
			ing_buf_printf(&h->out, "\n%*s", (int)indent - 1, "");
			column = indent - 1;
		}
		ing_buf_printf(&h->out, " %.*s", (int)n, form);
		column += 1 + columns;
		form += n;
		bytes -= n;
		for (; bytes > 0 && *form == ' '; bytes--)
			form++;
	}
	ing_buf_add_char(&h->out, '\n');
}

static void add_forms(struct help *h, const struct ing_usage *u)
{
	for (const char *form = u->synopsis; form != NULL;) {
		size_t bytes = strcspn(form, "\n");
		add_form(h, u->name, form, bytes);
		form = form[bytes] == '\n' ? form + bytes + 1 : NULL;
	}
	for (const struct ing_usage *const *b = u->below; b != NULL && *b != NULL; b++)
		if ((*b)->parent != NULL)
			add_forms(h, *b);
}

/* --- options --- */

/* head, and behind it the text, on the same line where there is room. */
static void add_row(struct help *h, const char *head, size_t column, const char *text)
{
	struct ing_buf lines;
	size_t columns = ing_usage_columns(head, strlen(head));
	ing_buf_init(&lines, MAX_HELP_BYTES);
	ing_usage_add_lines(&lines, text, column, h->width);
	ing_buf_printf(&h->out, "%s", head);
	if (columns + 2 > column)
		ing_buf_printf(&h->out, "\n%s", ing_buf_str(&lines));
	else
		ing_buf_printf(&h->out, "%*s%s", (int)(column - columns), "",
			ing_buf_str(&lines) + column);
	ing_buf_done(&lines);
}

static void add_head(const struct ing_option *o, struct ing_buf *head)
{
	ing_buf_add_str(head, "  ");
	if (o->letter != '\0')
		ing_buf_printf(head, "-%c, ", o->letter);
	ing_buf_printf(head, "--%s%s%s", o->name, o->value != NULL ? " " : "",
		o->value != NULL ? o->value : "");
}

static size_t option_column(const struct ing_usage *u)
{
	size_t widest = 0;
	const struct ing_option *o;
	for (size_t i = 0; (o = ing_usage_option(u, i, NULL)) != NULL; i++) {
		struct ing_buf head;
		if (o->text == NULL)
			continue;
		ing_buf_init(&head, 1000);
		add_head(o, &head);
		size_t columns = ing_usage_columns(ing_buf_str(&head), head.len);
		if (columns <= MAX_HEAD_COLUMNS)
			widest = ING_MAX(widest, columns);
		ing_buf_done(&head);
	}
	return widest + 2;
}

static void add_option(struct help *h, const struct ing_option *o, size_t column)
{
	struct ing_buf head;
	struct ing_buf text;
	ing_buf_init(&head, 1000);
	ing_buf_init(&text, MAX_HELP_BYTES);
	add_head(o, &head);
	ing_usage_add_option_text(o, &text);
	add_row(h, ing_buf_str(&head), column, ing_buf_str(&text));
	ing_buf_done(&text);
	ing_buf_done(&head);
}

static void add_notes(struct help *h, const struct ing_options *group)
{
	struct ing_buf text;
	ing_buf_init(&text, MAX_HELP_BYTES);
	if (group != NULL)
		ing_usage_add_notes(group, &text);
	add_text(h, ing_buf_str(&text));
	ing_buf_done(&text);
}

static bool has_notes(const struct ing_options *group)
{
	return group != NULL && (group->notes != NULL || group->add_notes != NULL);
}

static void add_options(struct help *h, const struct ing_usage *u)
{
	size_t column = option_column(u);
	const struct ing_options *last = NULL;
	const struct ing_options *group = NULL;
	const struct ing_option *o;
	bool begun = false; /* rows without a paragraph between */
	for (size_t i = 0; (o = ing_usage_option(u, i, &group)) != NULL; i++) {
		if (o->text == NULL)
			continue;
		if (group != last && has_notes(last)) {
			add_notes(h, last);
			begun = false;
		}
		if (group != last && group != NULL && group->title != NULL) {
			add_text(h, group->title);
			begun = false;
		}
		ing_buf_add_str(&h->out, begun ? "" : "\n");
		add_option(h, o, column);
		begun = true;
		last = group;
	}
	add_notes(h, last);
}

/* --- the rest --- */

/* As one line. */
static void add_joined(struct ing_buf *to, const char *text)
{
	for (; *text != '\0'; text++)
		ing_buf_add_char(to, *text != '\n' ? *text : ' ');
	ing_buf_add_char(to, '\n');
}

/* Of verbs that are no more than a word of this one, all that they do; of others, what they are for. */
static void add_below(struct help *h, const struct ing_usage *u)
{
	struct ing_buf rows;
	if (u->below == NULL)
		return;
	ing_buf_init(&rows, MAX_HELP_BYTES);
	for (const struct ing_usage *const *b = u->below; *b != NULL; b++) {
		bool is_part = (*b)->parent != NULL && (*b)->text != NULL;
		ing_buf_printf(&rows, "  %s\t", ing_usage_last_word(*b));
		add_joined(&rows, is_part ? (*b)->text : (*b)->summary);
	}
	add_text(h, ing_buf_str(&rows));
	ing_buf_done(&rows);
}

static void add_exits(struct help *h, const struct ing_usage *u)
{
	struct ing_buf text;
	ing_buf_init(&text, MAX_HELP_BYTES);
	ing_usage_add_exits(u, &text);
	add_text(h, ing_buf_str(&text));
	ing_buf_done(&text);
}

static void add_examples(struct help *h, const struct ing_usage *u)
{
	if (u->examples == NULL)
		return;
	add_text(h, "Examples:");
	add_text(h, u->examples);
}

/* -------------------------------------------------------------------------------------------- */

size_t ing_usage_width(FILE *to)
{
	struct winsize w = {0};
	if (!isatty(fileno(to)) || ioctl(fileno(to), TIOCGWINSZ, &w) != 0 || w.ws_col == 0)
		return WIDTH;
	return w.ws_col < MIN_WIDTH ? MIN_WIDTH : ING_MIN((size_t)w.ws_col, (size_t)MAX_WIDTH);
}

void ing_usage_print_help(const struct ing_usage *u, bool whole, FILE *to)
{
	struct help h = {.width = ing_usage_width(to)};
	struct ing_buf text;
	ing_buf_init(&h.out, MAX_HELP_BYTES);
	ing_buf_init(&text, MAX_HELP_BYTES);
	add_forms(&h, u);
	ing_usage_add_text(u, &text);
	add_text(&h, ing_buf_str(&text));
	if (whole)
		add_text(&h, u->details);
	add_below(&h, u);
	add_options(&h, u);
	add_text(&h, u->notes);
	add_text(&h, "--config FILE, --set KEY=VALUE and --help are options of every verb.");
	add_exits(&h, u);
	if (whole)
		add_examples(&h, u);
	ing_must(!h.out.failed && !text.failed);
	fputs(ing_buf_str(&h.out), to);
	ing_buf_done(&text);
	ing_buf_done(&h.out);
}
