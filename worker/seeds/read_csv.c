/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Columns divided by a character: CSV (RFC 4180, quoted fields may have line breaks) and TSV (no quotes). A closing quote that is
 * missing would swallow the list: the row ends at the end of the line in which it is too long.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "worker/rules/rule_reader.h"
#include "worker/seeds/formats.h"
#include "worker/seeds/source_priv.h"

#define MAX_ROW_BYTES ((size_t)1 << 20)

struct settings {
	char separator;
	char comment; /* 0: none */
	bool quotes;
	bool header;                       /* the first row has the names */
	const struct ing_seed_cell *names; /* without it; NULL: only positions */
	size_t name_count;
};

enum state {
	BEGIN, /* of a field */
	PLAIN,
	QUOTED,
	QUOTE, /* one in a quoted field: its end, or the first of two */
	SKIP,  /* to the end of the line */
};

struct csv {
	const struct settings *settings;
	struct ing_seed_converter *to;
	enum state state;
	struct ing_buf text;                     /* of the row's fields */
	size_t starts[ING_SEED_MAX_COLUMNS + 1]; /* of each, and the last one's end */
	size_t count;                            /* of those that have ended */
	size_t columns;                          /* by the header; 0: it is not known */
	int64_t line, row_line;
	bool begun; /* a byte of the row has come */
	bool bad;   /* it has been said why */
	bool named;
	size_t bom; /* bytes of it that have been seen */
};

static void begin_row(struct csv *r)
{
	r->state = BEGIN;
	r->count = 0;
	r->starts[0] = 0;
	r->row_line = r->line;
	r->begun = r->bad = false;
	ing_buf_clear(&r->text);
}

static void say_bad(struct csv *r, const char *why)
{
	if (!r->bad)
		ing_seed_bad(r->to, r->row_line, "%s", why);
	r->bad = true;
}

static void end_field(struct csv *r)
{
	if (r->count == ING_SEED_MAX_COLUMNS) {
		say_bad(r, "too many columns");
		r->state = SKIP;
		return;
	}
	r->starts[++r->count] = r->text.len;
	r->state = BEGIN;
}

static void give_row(struct csv *r)
{
	struct ing_seed_cell cells[ING_SEED_MAX_COLUMNS];
	const char *text = ing_buf_str(&r->text);
	for (size_t i = 0; i < r->count; i++)
		cells[i] = (struct ing_seed_cell){
			text + r->starts[i], r->starts[i + 1] - r->starts[i]};
	if (r->settings->header && !r->named) {
		r->named = true;
		r->columns = r->count;
		ing_seed_name_columns(r->to, cells, r->count);
	} else if (r->columns > 0 && r->count > r->columns) {
		ing_seed_bad(r->to, r->row_line, "%zu columns, where there should be %zu", r->count,
			r->columns);
	} else {
		ing_seed_give_row(r->to, r->row_line, cells, r->count);
	}
}

/* At the end of a line, or of the list. */
static void end_row(struct csv *r)
{
	bool quoted = r->state == QUOTE;
	if (r->state != SKIP)
		end_field(r);
	size_t last = r->count > 0 ? r->starts[r->count - 1] : 0;
	if (!quoted && r->text.len > last && r->text.data[r->text.len - 1] == '\r') {
		r->text.len--;
		r->starts[r->count]--;
	}
	bool blank = r->count == 1 && r->text.len == 0 && !quoted;
	if (r->begun && !r->bad && !blank)
		give_row(r);
	begin_row(r);
}

static void add(struct csv *r, const char *s, size_t bytes)
{
	r->begun = true;
	if (ing_buf_add(&r->text, s, bytes))
		return;
	say_bad(r, r->state == QUOTED ? "too long; a quote may not be closed" : "too long");
	r->state = SKIP;
}

/* Bytes up to the next one that means something. */
static size_t run_bytes(const struct csv *r, const char *s, size_t bytes)
{
	size_t n = 0;
	if (r->state == QUOTED) {
		while (n < bytes && s[n] != '"' && s[n] != '\n')
			n++;
	} else {
		while (n < bytes && s[n] != r->settings->separator && s[n] != '\n')
			n++;
	}
	return n;
}

static void take_in_quotes(struct csv *r, char c)
{
	if (r->state == QUOTED && c == '"') {
		r->state = QUOTE;
	} else if (r->state == QUOTED || c == '"') {
		r->line += c == '\n';
		r->state = QUOTED;
		add(r, &c, 1);
	} else if (c == r->settings->separator) {
		end_field(r);
	} else if (c == '\n') {
		r->line++;
		end_row(r);
	} else if (c != '\r') { /* behind the closing quote; a CR is the line's end */
		r->state = PLAIN;
		add(r, &c, 1);
	}
}

static void take_byte(struct csv *r, char c)
{
	const struct settings *s = r->settings;
	if (r->state == QUOTED || r->state == QUOTE) {
		take_in_quotes(r, c);
	} else if (c == '\n') {
		r->line++;
		end_row(r);
	} else if (r->state == BEGIN && s->quotes && c == '"') {
		r->begun = true;
		r->state = QUOTED;
	} else if (r->state == BEGIN && c == s->comment && c != '\0' && r->count == 0) {
		r->state = SKIP;
	} else if (r->state != SKIP && c == s->separator) {
		r->begun = true;
		end_field(r);
	} else if (r->state != SKIP) {
		r->state = PLAIN;
		add(r, &c, 1);
	}
}

static int feed(void *reader, const char *bytes, size_t count, struct ing_error *err)
{
	static const char bom[] = "\xef\xbb\xbf";
	struct csv *r = reader;
	(void)err;
	for (size_t i = 0; i < count && !ing_seed_is_stopped(r->to);) {
		if (r->bom < 3) {
			if (bytes[i] == bom[r->bom]) {
				r->bom++;
				i++;
				continue;
			}
			if (r->bom > 0) { /* it was none */
				r->state = PLAIN;
				add(r, bom, r->bom);
			}
			r->bom = 3;
		}
		size_t n = r->state == PLAIN || r->state == QUOTED
				   ? run_bytes(r, bytes + i, count - i)
				   : 0;
		if (n > 0)
			add(r, bytes + i, n);
		i += n;
		if (i < count)
			take_byte(r, bytes[i++]);
	}
	return 0;
}

static int end(void *reader, struct ing_error *err)
{
	struct csv *r = reader;
	(void)err;
	if (r->state == QUOTED)
		say_bad(r, "a quoted field does not end");
	if (r->begun && !ing_seed_is_stopped(r->to))
		end_row(r);
	return 0;
}

static void close_csv(void *reader)
{
	struct csv *r = reader;
	ing_buf_done(&r->text);
	free(r);
}

static void *open_csv(const void *settings, struct ing_seed_converter *to)
{
	struct csv *r = ing_alloc(sizeof(*r));
	r->settings = settings;
	r->to = to;
	r->line = 1;
	ing_buf_init(&r->text, MAX_ROW_BYTES);
	begin_row(r);
	if (!r->settings->header) {
		r->columns = r->settings->name_count;
		ing_seed_name_columns(to, r->settings->names, r->settings->name_count);
	}
	return r;
}

/* --- settings --- */

static void read_columns(
	const struct ing_seed_loader *l, const struct ing_yaml_node *list, struct settings *s)
{
	struct ing_seed_cell *names =
		ing_arena_alloc(l->rd->arena, (list->count + 1) * sizeof(*names));
	for (const struct ing_yaml_node *n = list->first; n != NULL; n = n->next) {
		if (n->kind != ING_YAML_SCALAR || s->name_count == ING_SEED_MAX_COLUMNS) {
			ing_rule_read_error(l->rd, n, "columns must be a list of at most %d names",
				ING_SEED_MAX_COLUMNS);
			return;
		}
		const char *name = ing_arena_strdup(l->rd->arena, n->text);
		names[s->name_count++] = (struct ing_seed_cell){name, n->bytes};
	}
	s->names = names;
}

static char read_character(const struct ing_seed_loader *l, const struct ing_yaml_node *map,
	const char *key, char fallback)
{
	const char *text = ing_seed_setting(l, map, key);
	if (text == NULL)
		return fallback;
	if (strcmp(text, "tab") == 0)
		return '\t';
	if (strlen(text) == 1 && text[0] != '"' && text[0] != '\n' && text[0] != '\r')
		return text[0];
	ing_rule_read_error(l->rd, ing_yaml_get(map, key), "%s must be one character, or tab", key);
	return fallback;
}

static const struct settings *read_settings(
	const struct ing_seed_loader *l, const struct ing_yaml_node *map, struct settings fallback)
{
	static const char *const known[] = {"separator", "comment", "quotes", "header", "columns"};
	static const char *const words[] = {"no", "yes"};
	struct settings *s = ing_arena_alloc(l->rd->arena, sizeof(*s));
	*s = fallback;
	if (map == NULL)
		return s;
	ing_rule_read_keys(l->rd, map, "reader", known, ING_ARRAY_LEN(known));
	const struct ing_yaml_node *columns =
		ing_rule_read_node(l->rd, map, "columns", ING_YAML_LIST);
	s->separator = read_character(l, map, "separator", s->separator);
	s->comment = read_character(l, map, "comment", '\0');
	s->quotes = ing_seed_setting_word(
			    l, map, "quotes", words, ING_ARRAY_LEN(words), s->quotes) == 1;
	s->header = ing_seed_setting_word(
			    l, map, "header", words, ING_ARRAY_LEN(words), columns == NULL) == 1;
	if (columns != NULL)
		read_columns(l, columns, s);
	return s;
}

static const void *csv_settings(const struct ing_seed_loader *l, const struct ing_yaml_node *map)
{
	return read_settings(
		l, map, (struct settings){.separator = ',', .quotes = true, .header = true});
}

static const void *tsv_settings(const struct ing_seed_loader *l, const struct ing_yaml_node *map)
{
	return read_settings(l, map, (struct settings){.separator = '\t', .header = true});
}

/* -------------------------------------------------------------------------------------------- */

const struct ing_seed_format ing_seed_format_csv = {
	.name = "csv",
	.settings = csv_settings,
	.open = open_csv,
	.feed = feed,
	.end = end,
	.close = close_csv,
};

const struct ing_seed_format ing_seed_format_tsv = {
	.name = "tsv",
	.settings = tsv_settings,
	.open = open_csv,
	.feed = feed,
	.end = end,
	.close = close_csv,
};
