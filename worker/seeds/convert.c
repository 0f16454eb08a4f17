/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Records to requests. What is the same for all requests of a record is evaluated once, so that the work for a record is linear
 * in its bytes, and the requests of one are limited. Requests are written as text: no tree is made for them.
 */
#include "worker/seeds/convert.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/hash.h"
#include "common/base/utf8.h"
#include "common/data/json_text.h"
#include "common/data/unpack.h"
#include "common/net/url.h"
#include "worker/model/limits.h"
#include "worker/seeds/prune.h"
#include "worker/seeds/value.h"

#define MAX_REQUESTS 10000 /* of a record; OAI's have some hundred */
#define SEEN_SLOTS 32768   /* a power of two, over three times that */
/* Of a field but base_url: no row of a request may have more. */
#define MAX_FIELD_BYTES 1000
#define MAX_BAD_BYTES 400
/* A short text cannot have so many values, or so deep ones, that they matter. */
#define UNCHECKED_BYTES ((size_t)64 << 10)
#define MAX_VALUES 2000000
#define MAX_DEPTH 200
#define BLOCK_BYTES ((size_t)256 << 10)

/* An identity that the record has given. */
struct seen {
	uint64_t hash;
	uint64_t record; /* in which; another's is as good as empty */
};

struct ing_seed_converter {
	const struct ing_seed_source *source;
	struct ing_seed_sink sink;
	struct ing_seed_counts counts;
	struct ing_seed_left_out *left_out;
	void *reader;
	bool stopped, failed;
	struct ing_seed_scope scope;
	struct ing_buf fields[ING_SEED_MAX_FIELDS];
	bool present[ING_SEED_MAX_FIELDS];
	struct ing_buf line;
	struct ing_buf read; /* what is read of the record's text */
	/* of the record under way */
	int64_t number;
	const struct ing_seed_template *template;
	unsigned requests;
	struct seen *seen;
	char host[ING_URL_HOST_BYTES]; /* of the request's base_url */
};

static void leave_out(struct ing_seed_converter *c, unsigned reason)
{
	c->left_out[reason].count++;
}

/* The host of a serialised web URL. False: it is longer than DNS has it. */
static bool take_host(const char *authority, size_t bytes, char ret[ING_URL_HOST_BYTES])
{
	const char *end = authority[0] == '[' ? memchr(authority, ']', bytes) : NULL;
	const char *colon = memchr(end != NULL ? end : authority, ':',
		bytes - (end != NULL ? (size_t)(end - authority) : 0));
	size_t n = colon != NULL ? (size_t)(colon - authority) : bytes;
	if (n == 0 || n >= ING_URL_HOST_BYTES)
		return false;
	memcpy(ret, authority, n);
	ret[n] = '\0';
	return true;
}

/* Cleans base_url, and finds its host. Returns ING_SEED_REASONS_, or why it is none. */
static unsigned clean_url(struct ing_seed_converter *c, struct ing_buf *url)
{
	const char *s = ing_buf_str(url);
	size_t bytes = url->len;
	ing_url_trim(&s, &bytes);
	char *href = ing_url_parse(s, bytes);
	if (href == NULL)
		return ING_SEED_NOT_WEB;
	ing_buf_clear(url);
	ing_buf_add_str(url, href);
	free(href);
	const char *authority = strncmp(url->data, "http://", 7) == 0    ? url->data + 7
				: strncmp(url->data, "https://", 8) == 0 ? url->data + 8
									 : NULL;
	if (url->failed || authority == NULL)
		return ING_SEED_NOT_WEB;
	size_t n = strcspn(authority, "/?#");
	if (memchr(authority, '@', n) != NULL)
		return ING_SEED_WITH_USER;
	if (!take_host(authority, n, c->host))
		return ING_SEED_NOT_WEB;
	return url->len > ING_MAX_BASE_URL_BYTES ? ING_SEED_TOO_LONG : ING_SEED_REASONS_;
}

/* The reason for which a request without this field is left out, ING_SEED_REASONS_ if it is none. */
static unsigned missing_reason(const struct ing_seed_template *t, size_t i, bool *ret_needed)
{
	const struct ing_seed_field *f = &t->fields[i];
	*ret_needed = f->required || i == t->base_url || i == t->ingest_type;
	if (f->required)
		return f->reason;
	return i == t->base_url ? ING_SEED_NO_URL : ING_SEED_NO_TYPE;
}

/* Evaluates a field. False: the request is left out, which has been counted. */
static bool fill_field(struct ing_seed_converter *c, size_t i)
{
	const struct ing_seed_template *t = c->template;
	const struct ing_seed_field *f = &t->fields[i];
	struct ing_buf *to = &c->fields[i];
	bool is_url = i == t->base_url;
	bool needed;
	unsigned reason = missing_reason(t, i, &needed);
	c->present[i] = ing_seed_first_value(&c->scope, &f->value, is_url, to);
	if (!c->present[i] || to->len == 0) {
		c->present[i] = false;
		if (needed)
			leave_out(c, reason);
		return !needed;
	}
	if (is_url)
		reason = clean_url(c, to);
	else
		reason = to->failed || to->len > MAX_FIELD_BYTES ? ING_SEED_TOO_LONG
								 : ING_SEED_REASONS_;
	if (reason == ING_SEED_REASONS_)
		return true;
	leave_out(c, reason);
	return false;
}

/* The fields of the item, or those that all items share. */
static bool fill_fields(struct ing_seed_converter *c, bool of_item)
{
	for (size_t i = 0; i < c->template->count; i++)
		if (c->template->fields[i].of_item == of_item && !fill_field(c, i))
			return false;
	return true;
}

static bool rule_matches(struct ing_seed_converter *c, const struct ing_seed_rule *r)
{
	if (!r->of_field)
		return ing_seed_rule_matches(&c->scope, r);
	const struct ing_buf *text = c->present[r->field] ? &c->fields[r->field] : NULL;
	return ing_seed_rule_matches_text(r, text != NULL ? ing_buf_str(text) : NULL,
		text != NULL ? text->len : 0, r->field == c->template->base_url ? c->host : NULL);
}

static bool pass_rules(struct ing_seed_converter *c, const struct ing_seed_rule *r, bool of_item)
{
	for (; r != NULL; r = r->next) {
		if (r->of_item != of_item || !rule_matches(c, r))
			continue;
		leave_out(c, r->reason);
		return false;
	}
	return true;
}

/* --- writing --- */

static bool is_group(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static void write_line(struct ing_seed_converter *c, const char *type, size_t type_bytes)
{
	const struct ing_seed_template *t = c->template;
	struct ing_buf *line = &c->line;
	const char *group = NULL;
	char before = '{';
	ing_buf_clear(line);
	for (size_t i = 0; i < t->count; i++) {
		const struct ing_seed_field *f = &t->fields[i];
		if (!c->present[i])
			continue;
		if (!is_group(f->group, group)) { /* the groups stand at the end */
			if (group != NULL)
				ing_buf_add_char(line, '}');
			ing_buf_printf(line, "%c\"%s\":", group != NULL ? ',' : before, f->group);
			group = f->group;
			before = '{';
		}
		ing_buf_add_char(line, before);
		ing_buf_add_str(line, f->key);
		if (i == t->ingest_type)
			ing_json_add_text(line, type, type_bytes);
		else
			ing_json_add_text(line, ing_buf_str(&c->fields[i]), c->fields[i].len);
		before = ',';
	}
	ing_buf_add_str(line, group != NULL ? "}}" : "}");
	ing_must(!line->failed); /* every field is limited */
}

/* --- requests --- */

static uint64_t identity(const struct ing_seed_converter *c, const char *type, size_t type_bytes)
{
	static const uint64_t key[2] = {0x736565642d6c6973ULL, 0x742d6964656e7469ULL};
	uint64_t hash = ing_siphash(key, type, type_bytes);
	for (size_t i = 0; i < c->template->count; i++) {
		const struct ing_seed_field *f = &c->template->fields[i];
		if (f->group != NULL)
			break;
		if (!c->present[i] ||
			(i != c->template->base_url && strncmp(f->name, "link_source", 11) != 0))
			continue;
		const uint64_t chain[2] = {hash, i};
		hash = ing_siphash(chain, ing_buf_str(&c->fields[i]), c->fields[i].len);
	}
	return hash;
}

/* Whether the record has given the request before. */
static bool is_repeated(struct ing_seed_converter *c, uint64_t hash)
{
	size_t i = hash & (SEEN_SLOTS - 1);
	for (; c->seen[i].record == c->counts.records; i = (i + 1) & (SEEN_SLOTS - 1))
		if (c->seen[i].hash == hash)
			return true;
	c->seen[i] = (struct seen){hash, c->counts.records};
	return false;
}

static void give_request(struct ing_seed_converter *c, const char *type, size_t type_bytes)
{
	if (is_repeated(c, identity(c, type, type_bytes))) {
		leave_out(c, ING_SEED_REPEATED);
		return;
	}
	write_line(c, type, type_bytes);
	c->requests++;
	c->counts.requests++;
	c->stopped = !c->sink.request(c->sink.ctx, c->number, ing_buf_str(&c->line), c->line.len);
}

/* One request of each type: "html,pdf". */
static void give_types(struct ing_seed_converter *c)
{
	const char *type = ing_buf_str(&c->fields[c->template->ingest_type]);
	for (bool more = true; more && !c->stopped;) {
		size_t n = strcspn(type, ",");
		give_request(c, type, n);
		more = type[n] == ',';
		type += n + 1;
	}
}

/* True: nothing more of this record. */
static bool take_item(void *ctx, const struct ing_seed_node *item)
{
	struct ing_seed_converter *c = ctx;
	if (c->requests >= MAX_REQUESTS) {
		leave_out(c, ING_SEED_TOO_MANY);
		return true;
	}
	c->scope.item = *item;
	if (fill_fields(c, true) && pass_rules(c, c->template->rules, true))
		give_types(c);
	return c->stopped;
}

static bool set_true(void *ctx, const char *s, size_t bytes)
{
	(void)s;
	(void)bytes;
	*(bool *)ctx = true;
	return true;
}

static bool has_value(struct ing_seed_converter *c, const struct ing_seed_value *v)
{
	bool has = false;
	ing_seed_each_value(&c->scope, v, set_true, &has);
	return has;
}

static void take_template(struct ing_seed_converter *c, const struct ing_seed_template *t)
{
	static const struct ing_seed_node none = {0};
	c->template = t;
	c->scope.item = none;
	if ((t->when != NULL && !has_value(c, t->when)) ||
		(t->unless != NULL && has_value(c, t->unless)))
		return;
	if (!fill_fields(c, false) || !pass_rules(c, t->rules, false))
		return;
	if (t->each == NULL) {
		give_types(c);
		return;
	}
	ing_seed_each_item(&c->scope, t->each, take_item, c);
	if (c->scope.item.json == NULL && c->scope.item.text == NULL)
		leave_out(c, t->no_item);
}

static void take_record(struct ing_seed_converter *c, int64_t number)
{
	c->number = number;
	c->requests = 0;
	c->counts.records++;
	c->scope.item = (struct ing_seed_node){0};
	if (!pass_rules(c, c->source->rules, false))
		return;
	const struct ing_seed_template *t = c->source->templates;
	for (; t != NULL && !c->stopped; t = t->next)
		take_template(c, t);
}

static void find_columns(struct ing_seed_converter *c, const struct ing_seed_rule *r,
	const struct ing_seed_cell *names, size_t count)
{
	for (; r != NULL; r = r->next)
		ing_seed_value_columns(&c->scope, &r->value, names, count);
}

static int stop(struct ing_seed_converter *c, int rc, struct ing_error *err)
{
	c->failed = true;
	if (c->stopped)
		return ing_error_set(err, ING_FAIL_CANCELLED, "no more is wanted");
	return rc;
}

static json_t *parse(const char *text, size_t bytes, struct ing_error *err)
{
	static const struct ing_json_limits limits = {
		.flags = ING_JSON_NUL | ING_JSON_REPEATED_KEYS};
	if (bytes > UNCHECKED_BYTES && !ing_json_is_small(text, bytes, MAX_DEPTH, MAX_VALUES)) {
		ing_error_set(err, ING_FAIL_TOO_BIG,
			"nested deeper than %d, or more than %d values", MAX_DEPTH, MAX_VALUES);
		return NULL;
	}
	return ing_json_parse(text, bytes, &limits, err);
}

/* --- for readers --- */

void ing_seed_give_object(struct ing_seed_converter *to, int64_t number, const json_t *object)
{
	if (to->stopped)
		return;
	to->scope.object = object;
	take_record(to, number);
}

void ing_seed_give_json(
	struct ing_seed_converter *to, int64_t number, const char *text, size_t bytes)
{
	struct ing_error err = {0};
	json_t *record = NULL;
	if (to->stopped)
		return;
	if (ing_seed_prune(to->source->members, text, bytes, &to->read))
		record = parse(ing_buf_str(&to->read), to->read.len, NULL);
	if (record == NULL)
		record = parse(text, bytes, &err); /* which can say what is wrong with it */
	if (record == NULL && err.column > 0)
		ing_seed_bad(to, number, "column %d: %s", err.column, err.msg);
	else if (record == NULL)
		ing_seed_bad(to, number, "%s", err.msg);
	else if (!json_is_object(record))
		ing_seed_bad(to, number, "not a JSON object");
	else
		ing_seed_give_object(to, number, record);
	json_decref(record);
}

void ing_seed_name_columns(
	struct ing_seed_converter *to, const struct ing_seed_cell *names, size_t count)
{
	find_columns(to, to->source->rules, names, count);
	for (const struct ing_seed_template *t = to->source->templates; t != NULL; t = t->next) {
		for (size_t i = 0; i < t->count; i++)
			ing_seed_value_columns(&to->scope, &t->fields[i].value, names, count);
		ing_seed_value_columns(&to->scope, t->when, names, count);
		ing_seed_value_columns(&to->scope, t->unless, names, count);
		ing_seed_path_columns(&to->scope, t->each, names, count);
		find_columns(to, t->rules, names, count);
	}
}

void ing_seed_give_row(struct ing_seed_converter *to, int64_t number,
	const struct ing_seed_cell *cells, size_t count)
{
	if (to->stopped)
		return;
	for (size_t i = 0; i < count; i++) {
		const struct ing_seed_cell *cell = &cells[i];
		if (cell->text == NULL)
			continue;
		if (!ing_utf8_valid(cell->text, cell->bytes) ||
			memchr(cell->text, '\0', cell->bytes) != NULL) {
			ing_seed_bad(to, number, "not valid UTF-8, or with a NUL");
			return;
		}
	}
	to->scope.object = NULL;
	to->scope.cells = cells;
	to->scope.cell_count = count;
	take_record(to, number);
}

void ing_seed_bad(struct ing_seed_converter *to, int64_t number, const char *fmt, ...)
{
	char why[MAX_BAD_BYTES];
	va_list ap;
	if (to->stopped)
		return;
	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	to->counts.bad++;
	why[ing_utf8_cut(why, strlen(why), sizeof(why) - 1)] = '\0';
	char *clean = ing_utf8_clean(why, strlen(why), NULL);
	ing_must(clean != NULL);
	to->sink.bad(to->sink.ctx, number, clean);
	free(clean);
}

bool ing_seed_is_stopped(const struct ing_seed_converter *to)
{
	return to->stopped;
}

/* -------------------------------------------------------------------------------------------- */

struct ing_seed_converter *ing_seed_converter_new(
	const struct ing_seed_source *source, const struct ing_seed_sink *sink)
{
	struct ing_seed_converter *c = ing_alloc(sizeof(*c));
	c->source = source;
	c->sink = *sink;
	c->left_out = ing_alloc(source->reason_count * sizeof(*c->left_out));
	for (unsigned i = 0; i < source->reason_count; i++)
		c->left_out[i].reason = source->reasons[i];
	c->counts.left_out = c->left_out;
	c->counts.reasons = source->reason_count;
	c->seen = ing_alloc(SEEN_SLOTS * sizeof(*c->seen));
	ing_seed_scope_init(&c->scope, source);
	for (size_t i = 0; i < ING_SEED_MAX_FIELDS; i++)
		ing_buf_init(&c->fields[i], ING_SEED_MAX_RECORD_BYTES);
	ing_buf_init(&c->line, ING_MAX_REQUEST_BYTES);
	ing_buf_init(&c->read, ING_SEED_MAX_RECORD_BYTES);
	c->reader = source->format->open(source->reader, c);
	return c;
}

void ing_seed_converter_free(struct ing_seed_converter *c)
{
	if (c == NULL)
		return;
	c->source->format->close(c->reader);
	ing_seed_scope_done(&c->scope);
	for (size_t i = 0; i < ING_SEED_MAX_FIELDS; i++)
		ing_buf_done(&c->fields[i]);
	ing_buf_done(&c->line);
	ing_buf_done(&c->read);
	free(c->seen);
	free(c->left_out);
	free(c);
}

int ing_seed_converter_feed(
	struct ing_seed_converter *c, const char *bytes, size_t count, struct ing_error *err)
{
	if (c->failed)
		return ing_error_set(err, ING_FAIL_CANCELLED, "the list has been given up");
	int rc = c->source->format->feed(c->reader, bytes, count, err);
	return rc != 0 || c->stopped ? stop(c, rc, err) : 0;
}

int ing_seed_converter_end(struct ing_seed_converter *c, struct ing_error *err)
{
	if (c->failed)
		return ing_error_set(err, ING_FAIL_CANCELLED, "the list has been given up");
	int rc = c->source->format->end(c->reader, err);
	return rc != 0 || c->stopped ? stop(c, rc, err) : 0;
}

int ing_seed_converter_read(struct ing_seed_converter *c, int fd, struct ing_error *err)
{
	struct ing_unpack *u = ing_unpack_new(fd);
	if (ing_seed_source_reads_gzip(c->source))
		ing_unpack_keep_gzip(u);
	char *block = ing_alloc(BLOCK_BYTES);
	ssize_t n;
	int rc = 0;
	do {
		n = ing_unpack_read(u, block, BLOCK_BYTES, err);
		if (n > 0)
			rc = ing_seed_converter_feed(c, block, (size_t)n, err);
	} while (n > 0 && rc == 0);
	free(block);
	ing_unpack_free(u);
	if (n < 0)
		return stop(c, (int)n, err);
	return rc != 0 ? rc : ing_seed_converter_end(c, err);
}

const struct ing_seed_counts *ing_seed_converter_counts(const struct ing_seed_converter *c)
{
	return &c->counts;
}
