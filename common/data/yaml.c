/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The tree is built from libyaml's events, not from its own document loader, which follows aliases
 * without bound and forgets the style of scalars. Open lists and maps are kept in an array of fixed
 * size, so hostile nesting costs nothing.
 */
#include "common/data/yaml.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "common/base/arena.h"
#include "common/base/buf.h"
#include "common/base/utf8.h"

#define MAX_POSITION 1000000000 /* of a line or column, so that it fits an int */

struct ing_yaml {
	struct ing_arena arena;
	struct ing_yaml_node *root;
};

/* A list or map whose end has not come yet. */
struct open {
	struct ing_yaml_node *node;
	struct ing_yaml_node *last; /* item, or key */
	bool key_waits;             /* map: last has no value yet */
};

struct builder {
	const char *name;
	const struct ing_yaml_limits *limits;
	struct ing_yaml *doc;
	struct ing_error *err;
	size_t nodes;
	int depth;
	struct open stack[ING_YAML_MAX_DEPTH];
};

static int position(size_t zero_based)
{
	return (int)ING_MIN(zero_based, (size_t)MAX_POSITION) + 1;
}

static int fail_at(struct builder *b, enum ing_fail code, int line, int column, const char *text)
{
	return ing_error_at(
		b->err, code, line, column, "%s:%d:%d: %s", b->name, line, column, text);
}

static int fail_at_mark(struct builder *b, enum ing_fail code, yaml_mark_t mark, const char *text)
{
	return fail_at(b, code, position(mark.line), position(mark.column), text);
}

/* Hang a node into the innermost open list or map, or make it the root. */
static int attach_node(struct builder *b, struct ing_yaml_node *node)
{
	if (b->depth == 0) {
		b->doc->root = node;
		return 0;
	}
	struct open *in = &b->stack[b->depth - 1];
	if (in->key_waits) {
		in->last->value = node;
		in->key_waits = false;
		return 0;
	}
	if (in->node->kind == ING_YAML_MAP) {
		if (node->kind != ING_YAML_SCALAR)
			return fail_at(b, ING_FAIL_INVALID, node->line, node->column,
				"a key must be a text");
		in->key_waits = true;
	}
	if (in->last == NULL)
		in->node->first = node;
	else
		in->last->next = node;
	in->last = node;
	in->node->count++;
	return 0;
}

static struct ing_yaml_node *new_node(
	struct builder *b, enum ing_yaml_kind kind, const yaml_event_t *ev)
{
	if (++b->nodes > b->limits->nodes) {
		fail_at_mark(b, ING_FAIL_TOO_BIG, ev->start_mark, "too many values");
		return NULL;
	}
	struct ing_yaml_node *node = ing_arena_alloc(&b->doc->arena, sizeof(*node));
	node->kind = kind;
	node->line = position(ev->start_mark.line);
	node->column = position(ev->start_mark.column);
	return node;
}

static int add_scalar(struct builder *b, const yaml_event_t *ev)
{
	struct ing_yaml_node *node = new_node(b, ING_YAML_SCALAR, ev);
	if (node == NULL)
		return -ING_FAIL_TOO_BIG;
	node->plain = ev->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	node->bytes = ev->data.scalar.length;
	node->text =
		ing_arena_strndup(&b->doc->arena, (const char *)ev->data.scalar.value, node->bytes);
	return attach_node(b, node);
}

static int open_node(struct builder *b, enum ing_yaml_kind kind, const yaml_event_t *ev)
{
	struct ing_yaml_node *node = new_node(b, kind, ev);
	if (node == NULL)
		return -ING_FAIL_TOO_BIG;
	if (b->depth >= b->limits->depth)
		return fail_at_mark(b, ING_FAIL_TOO_DEEP, ev->start_mark, "nested too deep");
	int rc = attach_node(b, node);
	if (rc == 0)
		b->stack[b->depth++] = (struct open){.node = node};
	return rc;
}

static int compare_keys(const void *a, const void *b)
{
	const struct ing_yaml_node *x = *(const struct ing_yaml_node *const *)a;
	const struct ing_yaml_node *y = *(const struct ing_yaml_node *const *)b;
	int order = memcmp(x->text, y->text, ING_MIN(x->bytes, y->bytes));
	if (order != 0)
		return order;
	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? -1 : 1;
	return x->line != y->line ? x->line - y->line : x->column - y->column;
}

static int check_keys(struct builder *b, const struct ing_yaml_node *map)
{
	if (map->count < 2)
		return 0;
	const struct ing_yaml_node **keys = ing_alloc(map->count * sizeof(*keys));
	size_t n = 0;
	for (const struct ing_yaml_node *key = map->first; key != NULL; key = key->next)
		keys[n++] = key;
	qsort(keys, n, sizeof(*keys), compare_keys);
	int rc = 0;
	for (size_t i = 1; i < n && rc == 0; i++) {
		const struct ing_yaml_node *was = keys[i - 1];
		const struct ing_yaml_node *is = keys[i];
		if (was->bytes == is->bytes && memcmp(was->text, is->text, is->bytes) == 0)
			rc = ing_error_at(b->err, ING_FAIL_INVALID, is->line, is->column,
				"%s:%d:%d: key \"%.100s\" was given before, at %d:%d", b->name,
				is->line, is->column, is->text, was->line, was->column);
	}
	free(keys);
	return rc;
}

static int close_node(struct builder *b)
{
	ing_must(b->depth > 0);
	b->depth--;
	const struct ing_yaml_node *node = b->stack[b->depth].node;
	return node->kind == ING_YAML_MAP ? check_keys(b, node) : 0;
}

static bool has_tag(const yaml_event_t *ev)
{
	switch (ev->type) {
	case YAML_SCALAR_EVENT:
		return ev->data.scalar.tag != NULL;
	case YAML_SEQUENCE_START_EVENT:
		return ev->data.sequence_start.tag != NULL;
	case YAML_MAPPING_START_EVENT:
		return ev->data.mapping_start.tag != NULL;
	default:
		return false;
	}
}

static int take_event(struct builder *b, const yaml_event_t *ev)
{
	if (has_tag(ev))
		return fail_at_mark(b, ING_FAIL_UNSUPPORTED, ev->start_mark,
			"tags (\"!\") are not supported here");
	switch (ev->type) {
	case YAML_ALIAS_EVENT:
		return fail_at_mark(b, ING_FAIL_UNSUPPORTED, ev->start_mark,
			"aliases (\"*\") are not supported here");
	case YAML_DOCUMENT_START_EVENT:
		return b->doc->root == NULL ? 0
					    : fail_at_mark(b, ING_FAIL_UNSUPPORTED, ev->start_mark,
						      "a second document begins here");
	case YAML_SCALAR_EVENT:
		return add_scalar(b, ev);
	case YAML_SEQUENCE_START_EVENT:
		return open_node(b, ING_YAML_LIST, ev);
	case YAML_MAPPING_START_EVENT:
		return open_node(b, ING_YAML_MAP, ev);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		return close_node(b);
	default:
		return 0;
	}
}

/* Line and column of a byte, for errors of the decoder, which does not say. */
static yaml_mark_t mark_of(const char *text, size_t offset)
{
	yaml_mark_t mark = {.index = offset};
	for (size_t i = 0; i < offset; i++) {
		if (text[i] == '\n') {
			mark.line++;
			mark.column = 0;
		} else if (((unsigned char)text[i] & 0xc0) != 0x80) {
			mark.column++;
		}
	}
	return mark;
}

static int fail_parse(struct builder *b, const yaml_parser_t *ps, const char *text, size_t bytes)
{
	const char *problem = ps->problem != NULL ? ps->problem : "cannot be read";
	if (ps->error == YAML_MEMORY_ERROR)
		return ing_error_set(b->err, ING_FAIL_TOO_BIG, "%s: memory is short", b->name);
	if (ps->error == YAML_READER_ERROR)
		return fail_at_mark(b, ING_FAIL_ENCODING,
			mark_of(text, ING_MIN(ps->problem_offset, bytes)), problem);
	char words[300];
	if (ps->context != NULL)
		snprintf(words, sizeof(words), "%s %s (line %d)", problem, ps->context,
			position(ps->context_mark.line));
	else
		snprintf(words, sizeof(words), "%s", problem);
	return fail_at_mark(b, ING_FAIL_SYNTAX, ps->problem_mark, words);
}

static int build_tree(struct builder *b, const char *text, size_t bytes)
{
	yaml_parser_t ps;
	if (!yaml_parser_initialize(&ps))
		return ing_error_set(b->err, ING_FAIL_TOO_BIG, "%s: memory is short", b->name);
	yaml_parser_set_input_string(&ps, (const unsigned char *)text, bytes);
	int rc = 0;
	for (bool more = true; more && rc == 0;) {
		yaml_event_t ev;
		if (!yaml_parser_parse(&ps, &ev)) {
			rc = fail_parse(b, &ps, text, bytes);
			break;
		}
		more = ev.type != YAML_STREAM_END_EVENT;
		rc = take_event(b, &ev);
		yaml_event_delete(&ev);
	}
	yaml_parser_delete(&ps);
	return rc;
}

static int read_file(
	FILE *f, const char *path, size_t max_bytes, struct ing_buf *text, struct ing_error *err)
{
	char piece[8192];
	for (;;) {
		size_t n = fread(piece, 1, sizeof(piece), f);
		if (ferror(f))
			return ing_error_sys(err, errno, "%s", path);
		if (n == 0)
			return 0;
		if (!ing_buf_add(text, piece, n))
			return ing_error_set(err, ING_FAIL_TOO_BIG, "%s: larger than %zu bytes",
				path, max_bytes);
	}
}

/* Whether s can stand without quotes and be read back as text by any YAML reader: a careful subset.
 */
static bool is_plain_text(const char *s)
{
	static const char *const words[] = {
		"null", "true", "false", "yes", "no", "on", "off", "y", "n"};
	if (!((s[0] >= 'a' && s[0] <= 'z') || (s[0] >= 'A' && s[0] <= 'Z') || s[0] == '/'))
		return false;
	for (const char *p = s; *p != '\0'; p++) {
		bool fine = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
			    (*p >= '0' && *p <= '9') || strchr("_-./@+=", *p) != NULL;
		if (!fine)
			return false;
	}
	for (size_t i = 0; i < ING_ARRAY_LEN(words); i++) {
		if (strcasecmp(s, words[i]) == 0)
			return false;
	}
	return true;
}

/* ----------------------------------------------------------------------------------------------------------
 */

int ing_yaml_parse(const char *name, const char *text, size_t bytes,
	const struct ing_yaml_limits *limits, struct ing_yaml **ret, struct ing_error *err)
{
	ing_must(limits->depth >= 0 && limits->depth <= ING_YAML_MAX_DEPTH);
	if (bytes > limits->bytes)
		return ing_error_set(
			err, ING_FAIL_TOO_BIG, "%s: larger than %zu bytes", name, limits->bytes);
	struct ing_yaml *doc = ing_alloc(sizeof(*doc));
	ing_arena_init(&doc->arena);
	struct builder b = {.name = name, .limits = limits, .doc = doc, .err = err};
	int rc = build_tree(&b, text, bytes);
	if (rc != 0) {
		ing_yaml_free(doc);
		return rc;
	}
	if (doc->root == NULL) {
		doc->root = ing_arena_alloc(&doc->arena, sizeof(*doc->root));
		*doc->root = (struct ing_yaml_node){
			.kind = ING_YAML_SCALAR, .plain = true, .line = 1, .column = 1, .text = ""};
	}
	*ret = doc;
	return 0;
}

int ing_yaml_load(const char *path, const struct ing_yaml_limits *limits, struct ing_yaml **ret,
	struct ing_error *err)
{
	FILE *f = fopen(path, "rbe");
	if (f == NULL && errno == ENOENT)
		return ing_error_set(err, ING_FAIL_NOT_FOUND, "%s: there is no such file", path);
	if (f == NULL)
		return ing_error_sys(err, errno, "%s", path);
	struct ing_buf text;
	ing_buf_init(&text, limits->bytes);
	int rc = read_file(f, path, limits->bytes, &text, err);
	fclose(f);
	if (rc == 0)
		rc = ing_yaml_parse(path, ing_buf_str(&text), text.len, limits, ret, err);
	ing_buf_done(&text);
	return rc;
}

void ing_yaml_free(struct ing_yaml *doc)
{
	if (doc == NULL)
		return;
	ing_arena_done(&doc->arena);
	free(doc);
}

const struct ing_yaml_node *ing_yaml_root(const struct ing_yaml *doc)
{
	return doc->root;
}

const struct ing_yaml_node *ing_yaml_get(const struct ing_yaml_node *map, const char *key)
{
	if (map->kind != ING_YAML_MAP)
		return NULL;
	size_t bytes = strlen(key);
	for (const struct ing_yaml_node *k = map->first; k != NULL; k = k->next) {
		if (k->bytes == bytes && memcmp(k->text, key, bytes) == 0)
			return k->value;
	}
	return NULL;
}

bool ing_yaml_is_null(const struct ing_yaml_node *node)
{
	static const char *const words[] = {"", "~", "null", "Null", "NULL"};
	if (node->kind != ING_YAML_SCALAR || !node->plain)
		return false;
	for (size_t i = 0; i < ING_ARRAY_LEN(words); i++) {
		if (strcmp(node->text, words[i]) == 0)
			return true;
	}
	return false;
}

const char *ing_yaml_kind_name(const struct ing_yaml_node *node)
{
	switch (node->kind) {
	case ING_YAML_LIST:
		return "a list";
	case ING_YAML_MAP:
		return "a map";
	default:
		return "a text";
	}
}

void ing_yaml_add_text(struct ing_buf *out, const char *s)
{
	if (is_plain_text(s)) {
		ing_buf_add_str(out, s);
		return;
	}
	size_t left = strlen(s);
	ing_buf_add_char(out, '"');
	while (left > 0) {
		size_t n = ing_utf8_sequence(s, left);
		unsigned char c = (unsigned char)s[0];
		bool control = c < 0x20 || c == 0x7f;
		if (n == 0)
			ing_buf_add_str(out, "\\uFFFD");
		else if (n == 1 && control)
			ing_buf_printf(out, "\\x%02X", c);
		else if (n == 1 && (c == '"' || c == '\\'))
			ing_buf_printf(out, "\\%c", c);
		else if (n == 2 && c == 0xc2 && (unsigned char)s[1] < 0xa0)
			ing_buf_printf(out, "\\x%02X", (unsigned char)s[1]);
		else if (n == 3 && (memcmp(s, "\u2028", 3) == 0 || memcmp(s, "\u2029", 3) == 0))
			ing_buf_add_str(out, s[2] == "\u2028"[2] ? "\\u2028" : "\\u2029");
		else if (n == 3 && (memcmp(s, "\ufeff", 3) == 0 || memcmp(s, "\uffff", 3) == 0 ||
					   memcmp(s, "\ufffe", 3) == 0))
			ing_buf_add_str(out, "\\uFFFD");
		else
			ing_buf_add(out, s, n);
		s += ING_MAX(n, 1);
		left -= ING_MAX(n, 1);
	}
	ing_buf_add_char(out, '"');
}
