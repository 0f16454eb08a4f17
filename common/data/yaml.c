/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The tree is built from libyaml's events, not from its own document loader, which follows aliases
 * without bound and forgets the style of scalars. Open lists and maps are kept in an array of fixed
 * size, so hostile nesting costs nothing.
 *
 * An alias becomes a copy of the node that it names, with the same items: memory grows by one node,
 * and the number of nodes that a walk would meet is counted as if they had been written out. So no
 * walk is longer than the limit, and no bomb is built.
 */
#include "common/data/yaml.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "common/base/arena.h"
#include "common/base/buf.h"
#include "common/base/hash.h"
#include "common/base/report.h"

#define MAX_POSITION 1000000000 /* of a line or column, so that it fits an int */

struct ing_yaml {
	struct ing_arena arena;
	struct ing_yaml_node **roots;
	size_t count, cap;
	bool part; /* entries were left out */
};

/* What an anchor (&name) names; whole once its end has come. */
struct anchor {
	UT_hash_handle hh;
	const char *name;
	const struct ing_yaml_node *node; /* NULL: its end has not come yet */
	size_t nodes;                     /* that a walk of it meets */
	int depth;                        /* lists and maps within one another */
};

/* A list or map whose end has not come yet. */
struct open {
	struct ing_yaml_node *node;
	struct ing_yaml_node *last; /* item, or key */
	bool key_waits;             /* map: last has no value yet */
	bool drops;                 /* map: the next node is the value of a key left out */
	bool merges;                /* map: has a key << */
	struct anchor *anchor;      /* of it; NULL: none */
	size_t nodes_before;
	int depth; /* of what is in it */
};

struct builder {
	const char *name; /* of a stream, for its report */
	const struct ing_yaml_limits *limits;
	struct ing_yaml *doc;
	struct ing_error *err;
	struct ing_report *report; /* of a stream; NULL: a configuration, which is read strictly */
	struct anchor *anchors;    /* of the document being read */
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
	return ing_error_at(b->err, code, line, column, "%s", text);
}

static int fail_at_mark(struct builder *b, enum ing_fail code, yaml_mark_t mark, const char *text)
{
	return fail_at(b, code, position(mark.line), position(mark.column), text);
}

static bool is_merge_key(const struct ing_yaml_node *key)
{
	return key->plain && strcmp(key->text, "<<") == 0;
}

/* A key that is a list or a map. A stream goes on without its entry, so that the rest is looked at
 * too: key and value are read, and hang nowhere. */
static int drop_key(struct builder *b, struct open *in, const struct ing_yaml_node *key)
{
	static const char words[] = "a key must be a text";
	if (b->report == NULL)
		return fail_at(b, ING_FAIL_INVALID, key->line, key->column, words);
	ing_report_error(b->report, b->name, key->line, key->column, "%s", words);
	in->drops = true;
	b->doc->part = true;
	return 0;
}

/* Hang a node into the innermost open list or map, or make it the root. */
static int attach_node(struct builder *b, struct ing_yaml_node *node)
{
	if (b->depth == 0) {
		b->doc->roots[b->doc->count++] = node;
		return 0;
	}
	struct open *in = &b->stack[b->depth - 1];
	if (in->drops) {
		in->drops = false;
		return 0;
	}
	if (in->key_waits) {
		in->last->value = node;
		in->key_waits = false;
		return 0;
	}
	if (in->node->kind == ING_YAML_MAP) {
		if (node->kind != ING_YAML_SCALAR)
			return drop_key(b, in, node);
		in->key_waits = true;
		in->merges = in->merges || is_merge_key(node);
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

/* A name for the node to come, if it has one. In place of an earlier one of the same name. */
static struct anchor *name_anchor(struct builder *b, const yaml_char_t *name)
{
	struct anchor *a = NULL;
	if (name == NULL || b->report == NULL)
		return NULL; /* without aliases a name does no harm */
	HASH_FIND_STR(b->anchors, (const char *)name, a);
	if (a == NULL) {
		a = ing_arena_alloc(&b->doc->arena, sizeof(*a));
		a->name = ing_arena_strdup(&b->doc->arena, (const char *)name);
		HASH_ADD_KEYPTR(hh, b->anchors, a->name, strlen(a->name), a);
	}
	a->node = NULL;
	return a;
}

static char quote_of(yaml_scalar_style_t style)
{
	switch (style) {
	case YAML_SINGLE_QUOTED_SCALAR_STYLE:
		return '\'';
	case YAML_DOUBLE_QUOTED_SCALAR_STYLE:
		return '"';
	case YAML_LITERAL_SCALAR_STYLE:
	case YAML_FOLDED_SCALAR_STYLE:
		return '|';
	default:
		return '\0';
	}
}

static int add_scalar(struct builder *b, const yaml_event_t *ev)
{
	struct ing_yaml_node *node = new_node(b, ING_YAML_SCALAR, ev);
	if (node == NULL)
		return -ING_FAIL_TOO_BIG;
	node->plain = ev->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	node->quote = quote_of(ev->data.scalar.style);
	node->end_line = position(ev->end_mark.line);
	node->end_column = position(ev->end_mark.column);
	node->bytes = ev->data.scalar.length;
	node->text =
		ing_arena_strndup(&b->doc->arena, (const char *)ev->data.scalar.value, node->bytes);
	struct anchor *a = name_anchor(b, ev->data.scalar.anchor);
	if (a != NULL) {
		a->node = node;
		a->nodes = 1;
		a->depth = 0;
	}
	return attach_node(b, node);
}

static int open_node(struct builder *b, enum ing_yaml_kind kind, const yaml_event_t *ev)
{
	const yaml_char_t *name = kind == ING_YAML_MAP ? ev->data.mapping_start.anchor
						       : ev->data.sequence_start.anchor;
	size_t nodes_before = b->nodes;
	struct ing_yaml_node *node = new_node(b, kind, ev);
	if (node == NULL)
		return -ING_FAIL_TOO_BIG;
	if (b->depth >= b->limits->depth)
		return fail_at_mark(b, ING_FAIL_TOO_DEEP, ev->start_mark, "nested too deep");
	int rc = attach_node(b, node);
	if (rc == 0)
		b->stack[b->depth++] = (struct open){
			.node = node, .anchor = name_anchor(b, name), .nodes_before = nodes_before};
	return rc;
}

static int add_alias(struct builder *b, const yaml_event_t *ev)
{
	struct anchor *a = NULL;
	HASH_FIND_STR(b->anchors, (const char *)ev->data.alias.anchor, a);
	if (a == NULL)
		return fail_at_mark(b, ING_FAIL_INVALID, ev->start_mark,
			"an alias (\"*\") of something that was not named before");
	if (a->node == NULL)
		return fail_at_mark(b, ING_FAIL_INVALID, ev->start_mark,
			"an alias (\"*\") inside what it stands for");
	if (a->nodes > b->limits->nodes - b->nodes)
		return fail_at_mark(b, ING_FAIL_TOO_BIG, ev->start_mark,
			"too many values, once the aliases are written out");
	if (a->depth > b->limits->depth - b->depth)
		return fail_at_mark(b, ING_FAIL_TOO_DEEP, ev->start_mark, "nested too deep");
	struct ing_yaml_node *node = ing_arena_alloc(&b->doc->arena, sizeof(*node));
	*node = *a->node;
	node->next = NULL;
	node->value = NULL;
	b->nodes += a->nodes;
	if (b->depth > 0)
		b->stack[b->depth - 1].depth = ING_MAX(b->stack[b->depth - 1].depth, a->depth);
	return attach_node(b, node);
}

/* An entry of a map whose end has come. */
struct entry {
	const struct ing_yaml_node *key;
	size_t index;
	bool merged; /* came in by a << */
	bool dropped;
};

struct entries {
	struct entry *items;
	size_t count, cap;
};

static void add_entry(struct entries *es, const struct ing_yaml_node *key, bool merged)
{
	if (es->count == es->cap) {
		es->cap = es->cap == 0 ? 16 : es->cap * 2;
		es->items = ing_realloc(es->items, es->cap * sizeof(*es->items));
	}
	es->items[es->count] = (struct entry){.key = key, .index = es->count, .merged = merged};
	es->count++;
}

static int add_merged(struct builder *b, const struct ing_yaml_node *from, struct entries *es)
{
	const struct ing_yaml_node *map = from->kind == ING_YAML_LIST ? from->first : from;
	for (; map != NULL; map = from->kind == ING_YAML_LIST ? map->next : NULL) {
		if (map->kind != ING_YAML_MAP)
			return fail_at(b, ING_FAIL_INVALID, map->line, map->column,
				"<< needs a map, or a list of maps");
		for (const struct ing_yaml_node *key = map->first; key != NULL; key = key->next)
			add_entry(es, key, true);
	}
	return 0;
}

/* By text; of the same text, those of the map itself before merged ones, then in their order. */
static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a;
	const struct entry *y = b;
	int order = memcmp(x->key->text, y->key->text, ING_MIN(x->key->bytes, y->key->bytes));
	if (order != 0)
		return order;
	if (x->key->bytes != y->key->bytes)
		return x->key->bytes < y->key->bytes ? -1 : 1;
	if (x->merged != y->merged)
		return x->merged ? 1 : -1;
	return x->index < y->index ? -1 : 1;
}

static int compare_places(const void *a, const void *b)
{
	const struct entry *x = a;
	const struct entry *y = b;
	return x->index < y->index ? -1 : 1;
}

/* Two neighbours, sorted, have the same key: refuse that, or drop one. Of the map's own the last
 * counts, of merged ones the first, and own before merged. */
static int settle_pair(struct builder *b, struct entry *was, struct entry *is)
{
	if (b->report == NULL)
		return ing_error_at(b->err, ING_FAIL_INVALID, is->key->line, is->key->column,
			"key \"%.100s\" was given before, at %d:%d", is->key->text, was->key->line,
			was->key->column);
	if (is->merged) {
		/* Swapped, so that the one that counts is the neighbour of the next. */
		struct entry winner = *was;
		*was = *is;
		was->dropped = true;
		*is = winner;
		return 0;
	}
	was->dropped = true;
	ing_report_warning(b->report, b->name, was->key->line, was->key->column,
		"key \"%.100s\" comes again at %d:%d, which counts", was->key->text, is->key->line,
		is->key->column);
	return 0;
}

/* The map's items anew, without those dropped. Keys are copied, since merged ones stand in another
 * map too. */
static void relink_map(struct builder *b, struct ing_yaml_node *map, struct entries *es)
{
	struct ing_yaml_node *last = NULL;
	qsort(es->items, es->count, sizeof(*es->items), compare_places);
	map->first = NULL;
	map->count = 0;
	for (size_t i = 0; i < es->count; i++) {
		if (es->items[i].dropped)
			continue;
		struct ing_yaml_node *key = ing_arena_alloc(&b->doc->arena, sizeof(*key));
		*key = *es->items[i].key;
		key->next = NULL;
		if (last == NULL)
			map->first = key;
		else
			last->next = key;
		last = key;
		map->count++;
	}
}

/* Merges, and keys that come twice. */
static int settle_keys(struct builder *b, struct ing_yaml_node *map, bool merges)
{
	struct entries es = {0};
	bool changed = merges;
	int rc = 0;
	if (map->count < 2 && !merges)
		return 0;
	for (const struct ing_yaml_node *key = map->first; key != NULL && rc == 0;
		key = key->next) {
		if (merges && is_merge_key(key))
			rc = add_merged(b, key->value, &es);
		else
			add_entry(&es, key, false);
	}
	if (rc == 0 && es.count > 1)
		qsort(es.items, es.count, sizeof(*es.items), compare_entries);
	for (size_t i = 1; i < es.count && rc == 0; i++) {
		struct entry *was = &es.items[i - 1];
		struct entry *is = &es.items[i];
		if (was->key->bytes != is->key->bytes ||
			memcmp(was->key->text, is->key->text, is->key->bytes) != 0)
			continue;
		changed = true;
		rc = settle_pair(b, was, is);
	}
	if (rc == 0 && changed)
		relink_map(b, map, &es);
	free(es.items);
	return rc;
}

static int close_node(struct builder *b)
{
	ing_must(b->depth > 0);
	b->depth--;
	struct open *was = &b->stack[b->depth];
	if (b->depth > 0)
		b->stack[b->depth - 1].depth =
			ING_MAX(b->stack[b->depth - 1].depth, was->depth + 1);
	if (was->anchor != NULL) {
		was->anchor->node = was->node;
		was->anchor->nodes = b->nodes - was->nodes_before;
		was->anchor->depth = was->depth + 1;
	}
	if (was->node->kind != ING_YAML_MAP)
		return 0;
	return settle_keys(b, was->node, was->merges && b->report != NULL);
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

static int begin_document(struct builder *b, const yaml_event_t *ev)
{
	struct ing_yaml *doc = b->doc;
	if (b->report == NULL && doc->count > 0)
		return fail_at_mark(
			b, ING_FAIL_UNSUPPORTED, ev->start_mark, "a second document begins here");
	/* Bytes alone can make documents by the million. */
	if (b->report != NULL && ++b->nodes > b->limits->nodes)
		return fail_at_mark(b, ING_FAIL_TOO_BIG, ev->start_mark, "too many documents");
	if (doc->count == doc->cap) {
		doc->cap = doc->cap == 0 ? 4 : doc->cap * 2;
		doc->roots = ing_realloc(doc->roots, doc->cap * sizeof(*doc->roots));
	}
	return 0;
}

static int take_event(struct builder *b, const yaml_event_t *ev)
{
	if (has_tag(ev))
		return fail_at_mark(b, ING_FAIL_UNSUPPORTED, ev->start_mark,
			"tags (\"!\") are not supported here");
	switch (ev->type) {
	case YAML_ALIAS_EVENT:
		if (b->report == NULL)
			return fail_at_mark(b, ING_FAIL_UNSUPPORTED, ev->start_mark,
				"aliases (\"*\") are not supported here");
		return add_alias(b, ev);
	case YAML_DOCUMENT_START_EVENT:
		return begin_document(b, ev);
	case YAML_DOCUMENT_END_EVENT:
		HASH_CLEAR(hh, b->anchors);
		return 0;
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
		return ing_error_set(b->err, ING_FAIL_TOO_BIG, "memory is short");
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
		return ing_error_set(b->err, ING_FAIL_TOO_BIG, "memory is short");
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
	HASH_CLEAR(hh, b->anchors);
	return rc;
}

static struct ing_yaml *new_stream(void)
{
	struct ing_yaml *doc = ing_alloc(sizeof(*doc));
	ing_arena_init(&doc->arena);
	return doc;
}

static void add_empty_root(struct ing_yaml *doc)
{
	doc->roots = ing_realloc(doc->roots, sizeof(*doc->roots));
	doc->roots[0] = ing_arena_alloc(&doc->arena, sizeof(*doc->roots[0]));
	*doc->roots[0] = (struct ing_yaml_node){.kind = ING_YAML_SCALAR,
		.plain = true,
		.line = 1,
		.column = 1,
		.end_line = 1,
		.end_column = 1,
		.text = ""};
	doc->count = 1;
}

static int read_file(FILE *f, size_t max_bytes, struct ing_buf *text, struct ing_error *err)
{
	char piece[8192];
	for (;;) {
		size_t n = fread(piece, 1, sizeof(piece), f);
		if (ferror(f))
			return ing_error_sys(err, errno, "cannot be read");
		if (n == 0)
			return 0;
		if (!ing_buf_add(text, piece, n))
			return ing_error_set(
				err, ING_FAIL_TOO_BIG, "larger than %zu bytes", max_bytes);
	}
}

/* -------------------------------------------------------------------------------------------- */

int ing_yaml_parse(const char *text, size_t bytes, const struct ing_yaml_limits *limits,
	struct ing_yaml **ret, struct ing_error *err)
{
	ing_must(limits->depth >= 0 && limits->depth <= ING_YAML_MAX_DEPTH);
	if (bytes > limits->bytes)
		return ing_error_set(err, ING_FAIL_TOO_BIG, "larger than %zu bytes", limits->bytes);
	struct ing_yaml *doc = new_stream();
	struct builder b = {.limits = limits, .doc = doc, .err = err};
	int rc = build_tree(&b, text, bytes);
	if (rc != 0) {
		ing_yaml_free(doc);
		return rc;
	}
	if (doc->count == 0)
		add_empty_root(doc);
	*ret = doc;
	return 0;
}

struct ing_yaml *ing_yaml_stream_parse(const char *name, const char *text, size_t bytes,
	const struct ing_yaml_limits *limits, struct ing_report *report)
{
	struct ing_error err = {0};
	ing_must(limits->depth >= 0 && limits->depth <= ING_YAML_MAX_DEPTH);
	if (bytes > limits->bytes) {
		ing_report_error(report, name, 0, 0, "larger than %zu bytes", limits->bytes);
		return NULL;
	}
	struct ing_yaml *doc = new_stream();
	struct builder b = {
		.name = name, .limits = limits, .doc = doc, .err = &err, .report = report};
	if (build_tree(&b, text, bytes) == 0)
		return doc;
	ing_report_error(report, name, err.line, err.column, "%s", err.msg);
	ing_yaml_free(doc);
	return NULL;
}

size_t ing_yaml_stream_count(const struct ing_yaml *stream)
{
	return stream->count;
}

bool ing_yaml_stream_is_whole(const struct ing_yaml *stream)
{
	return !stream->part;
}

const struct ing_yaml_node *ing_yaml_stream_get(const struct ing_yaml *stream, size_t i)
{
	ing_must(i < stream->count);
	return stream->roots[i];
}

int ing_yaml_load(const char *path, const struct ing_yaml_limits *limits, struct ing_yaml **ret,
	struct ing_error *err)
{
	FILE *f = fopen(path, "rbe");
	if (f == NULL && errno == ENOENT)
		return ing_error_set(err, ING_FAIL_NOT_FOUND, "there is no such file");
	if (f == NULL)
		return ing_error_sys(err, errno, "cannot be opened");
	struct ing_buf text;
	ing_buf_init(&text, limits->bytes);
	int rc = read_file(f, limits->bytes, &text, err);
	fclose(f);
	if (rc == 0)
		rc = ing_yaml_parse(ing_buf_str(&text), text.len, limits, ret, err);
	ing_buf_done(&text);
	return rc;
}

void ing_yaml_free(struct ing_yaml *doc)
{
	if (doc == NULL)
		return;
	ing_arena_done(&doc->arena);
	free(doc->roots);
	free(doc);
}

const struct ing_yaml_node *ing_yaml_root(const struct ing_yaml *doc)
{
	ing_must(doc->count > 0);
	return doc->roots[0];
}
