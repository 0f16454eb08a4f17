/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Formats with a record a line: JSON objects, and plain lines.
 */
#include <stdlib.h>
#include <string.h>

#include "common/data/line_splitter.h"
#include "worker/rules/rule_reader.h"
#include "worker/seeds/formats.h"
#include "worker/seeds/source_priv.h"

#define MAX_LINE_BYTES ((size_t)64 << 10) /* of a plain line: URLs end before */

static const char bom[] = "\xef\xbb\xbf";

struct settings {
	char comment; /* lines that begin with it are none; 0: no such */
};

struct lines {
	const struct settings *settings;
	struct ing_seed_converter *to;
	struct ing_line_splitter splitter;
	void (*take)(struct lines *r, const struct ing_line *line);
};

static void take_json(struct lines *r, const struct ing_line *line)
{
	ing_seed_give_json(r->to, line->number, line->text, line->bytes);
}

static void take_text(struct lines *r, const struct ing_line *line)
{
	const struct ing_seed_cell cell = {line->text, line->bytes};
	if (r->settings->comment != '\0' && line->text[0] == r->settings->comment)
		return;
	ing_seed_give_row(r->to, line->number, &cell, 1);
}

static void take_lines(struct lines *r)
{
	struct ing_line line;
	while (ing_line_splitter_next(&r->splitter, &line)) {
		if (ing_seed_is_stopped(r->to))
			continue; /* the splitter must have given its chunk */
		if (line.number == 1 && line.bytes >= 3 && memcmp(line.text, bom, 3) == 0) {
			line.text += 3;
			line.bytes -= 3;
		}
		if (line.bytes > r->splitter.max_bytes)
			ing_seed_bad(
				r->to, line.number, "longer than %zu bytes", r->splitter.max_bytes);
		else
			r->take(r, &line);
	}
}

static int feed(void *reader, const char *bytes, size_t count, struct ing_error *err)
{
	struct lines *r = reader;
	(void)err;
	ing_line_splitter_feed(&r->splitter, bytes, count);
	take_lines(r);
	return 0;
}

static int end(void *reader, struct ing_error *err)
{
	struct lines *r = reader;
	(void)err;
	ing_line_splitter_end(&r->splitter);
	take_lines(r);
	return 0;
}

static void close_lines(void *reader)
{
	struct lines *r = reader;
	ing_line_splitter_done(&r->splitter);
	free(r);
}

static struct lines *open_lines(
	const void *settings, struct ing_seed_converter *to, size_t max_bytes)
{
	struct lines *r = ing_alloc(sizeof(*r));
	r->settings = settings;
	r->to = to;
	ing_line_splitter_init(&r->splitter, max_bytes);
	return r;
}

static void *open_json(const void *settings, struct ing_seed_converter *to)
{
	struct lines *r = open_lines(settings, to, ING_SEED_MAX_RECORD_BYTES);
	r->take = take_json;
	return r;
}

static void *open_text(const void *settings, struct ing_seed_converter *to)
{
	static const struct ing_seed_cell name = {"line", 4};
	struct lines *r = open_lines(settings, to, MAX_LINE_BYTES);
	r->take = take_text;
	ing_seed_name_columns(to, &name, 1);
	return r;
}

static const void *no_settings(const struct ing_seed_loader *l, const struct ing_yaml_node *map)
{
	if (map != NULL)
		ing_rule_read_error(l->rd, map, "this format needs no reader");
	return NULL;
}

static const void *text_settings(const struct ing_seed_loader *l, const struct ing_yaml_node *map)
{
	static const char *const known[] = {"comment"};
	struct settings *s = ing_arena_alloc(l->rd->arena, sizeof(*s));
	const char *comment = ing_seed_setting(l, map, "comment");
	if (map != NULL)
		ing_rule_read_keys(l->rd, map, "reader", known, ING_ARRAY_LEN(known));
	if (comment != NULL && strlen(comment) != 1)
		ing_rule_read_error(l->rd, map, "comment must be one character");
	else if (comment != NULL)
		s->comment = comment[0];
	return s;
}

/* -------------------------------------------------------------------------------------------- */

const struct ing_seed_format ing_seed_format_jsonl = {
	.name = "jsonl",
	.settings = no_settings,
	.open = open_json,
	.feed = feed,
	.end = end,
	.close = close_lines,
};

const struct ing_seed_format ing_seed_format_lines = {
	.name = "lines",
	.settings = text_settings,
	.open = open_text,
	.feed = feed,
	.end = end,
	.close = close_lines,
};
