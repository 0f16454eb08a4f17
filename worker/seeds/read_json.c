/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * JSON in whatever way objects are put into a file: a line each, or as the elements of a list, which may be a
 * member of an object. The front of the file tells; until enough of it has come it is kept.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/arena.h"
#include "common/base/buf.h"
#include "common/data/json_values.h"
#include "worker/rules/rule_reader.h"
#include "worker/seeds/formats.h"
#include "worker/seeds/source_priv.h"

#define FRONT_BYTES ((size_t)64 << 10)

struct settings {
	const char *list; /* the member; NULL: none */
};

enum form { UNKNOWN, LINES, VALUES };

struct json {
	const struct settings *settings;
	struct ing_seed_converter *to;
	enum form form;
	struct ing_buf front;
	struct ing_json_values values;
	void *lines;
};

static int take_values(struct json *r, struct ing_error *err)
{
	struct ing_json_value v;
	int rc = 0;
	while (ing_json_values_next(&r->values, &v)) {
		if (v.fault != NULL && v.bytes == 0)
			rc = ing_error_set(
				err, ING_FAIL_SYNTAX, "line %lld: %s", (long long)v.line, v.fault);
		else if (v.fault != NULL)
			ing_seed_bad(r->to, v.line, "%s", v.fault);
		else if (!ing_seed_is_stopped(r->to))
			ing_seed_give_json(r->to, v.line, v.text, v.bytes);
	}
	return rc;
}

static int pass(struct json *r, const char *bytes, size_t count, struct ing_error *err)
{
	if (r->form == LINES)
		return ing_seed_format_jsonl.feed(r->lines, bytes, count, err);
	ing_json_values_feed(&r->values, bytes, count);
	return take_values(r, err);
}

/* What has come of the front decides, and goes where it belongs. */
static int decide(struct json *r, struct ing_error *err)
{
	bool values = ing_json_values_is(ing_buf_str(&r->front), r->front.len, r->settings->list);
	r->form = values ? VALUES : LINES;
	if (r->form == LINES)
		r->lines = ing_seed_format_jsonl.open(NULL, r->to);
	int rc = pass(r, ing_buf_str(&r->front), r->front.len, err);
	ing_buf_done(&r->front);
	return rc;
}

/* A line, or as much as a line without an end needs. */
static bool is_enough(const struct ing_buf *front)
{
	const char *s = ing_buf_str(front);
	size_t blank = strspn(s, " \t\r\n");
	return front->len >= FRONT_BYTES || s[blank] == '[' || strchr(s + blank, '\n') != NULL;
}

static int feed(void *reader, const char *bytes, size_t count, struct ing_error *err)
{
	struct json *r = reader;
	if (r->form != UNKNOWN)
		return pass(r, bytes, count, err);
	size_t take = ING_MIN(count, FRONT_BYTES - r->front.len);
	ing_must(ing_buf_add(&r->front, bytes, take));
	if (!is_enough(&r->front))
		return 0;
	int rc = decide(r, err);
	return rc != 0 || take == count ? rc : pass(r, bytes + take, count - take, err);
}

static int end(void *reader, struct ing_error *err)
{
	struct json *r = reader;
	int rc = r->form == UNKNOWN ? decide(r, err) : 0;
	if (rc != 0)
		return rc;
	if (r->form == LINES)
		return ing_seed_format_jsonl.end(r->lines, err);
	ing_json_values_end(&r->values);
	return take_values(r, err);
}

static void close_json(void *reader)
{
	struct json *r = reader;
	if (r->lines != NULL)
		ing_seed_format_jsonl.close(r->lines);
	ing_json_values_done(&r->values);
	ing_buf_done(&r->front);
	free(r);
}

static void *open_json(const void *settings, struct ing_seed_converter *to)
{
	struct json *r = ing_alloc(sizeof(*r));
	r->settings = settings;
	r->to = to;
	ing_buf_init(&r->front, FRONT_BYTES);
	ing_json_values_init(&r->values, r->settings->list, ING_SEED_MAX_RECORD_BYTES);
	return r;
}

static const void *read_settings(const struct ing_seed_loader *l, const struct ing_yaml_node *map)
{
	static const char *const known[] = {"list"};
	struct settings *s = ing_arena_alloc(l->rd->arena, sizeof(*s));
	if (map != NULL)
		ing_rule_read_keys(l->rd, map, "reader", known, ING_ARRAY_LEN(known));
	s->list = ing_seed_setting(l, map, "list");
	return s;
}

/* -------------------------------------------------------------------------------------------- */

const struct ing_seed_format ing_seed_format_json = {
	.name = "json",
	.settings = read_settings,
	.open = open_json,
	.feed = feed,
	.end = end,
	.close = close_json,
};
