/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * yaml.h - YAML documents as a tree of nodes with their positions. On libyaml, which
 * only yaml.c includes.
 *
 * Scalars stay text with their style, so that the reader of a value decides what 5, "5", no and ~
 * mean for it. ing_yaml_parse() is for our own configuration and refuses aliases, tags, several
 * documents in a file, keys that are not scalars, and repeated keys. ing_yaml_stream_parse() accepts more. A document is plain data that belongs
 * to its loader; any thread.
 */
#pragma once
#include <stdbool.h>
#include "common/base/error.h"

struct ing_buf;
struct ing_report;

enum ing_yaml_kind { ING_YAML_SCALAR, ING_YAML_LIST, ING_YAML_MAP };

struct ing_yaml_node {
	enum ing_yaml_kind kind;
	bool plain; /* scalar without quotes, and no | or > block */
	char quote; /* of a scalar: ' or ", 0 when plain, | for both kinds of block */
	int line;   /* where it starts, 1-based; columns count characters */
	int column;
	int end_line; /* just behind a scalar; 0 for lists and maps */
	int end_column;
	const char *text; /* scalar: UTF-8 and a NUL that does not count; else NULL */
	size_t bytes;
	size_t count;                      /* items of a list, entries of a map */
	const struct ing_yaml_node *first; /* item of a list, or key of a map */
	const struct ing_yaml_node *next;  /* item or key after this one */
	const struct ing_yaml_node *value; /* of a key */
};

struct ing_yaml_limits {
	size_t bytes; /* of input */
	size_t nodes;
	int depth; /* lists and maps within one another; at most ING_YAML_MAX_DEPTH */
};

#define ING_YAML_MAX_DEPTH 32
/* For files that people write: a megabyte is some 20,000 lines. */
#define ING_YAML_LIMITS_DEFAULT                                                                    \
	((struct ing_yaml_limits){(size_t)1 << 20, 100000, ING_YAML_MAX_DEPTH})

struct ing_yaml; /* a document and all its nodes */

/* Parse text. err has the position and, without it, what is wrong: fit for ing_report_error().
 * -SYNTAX, -ENCODING, -INVALID, -UNSUPPORTED, -TOO_BIG, -TOO_DEEP. Free with ing_yaml_free(). */
int ing_yaml_parse(const char *text, size_t bytes, const struct ing_yaml_limits *limits,
	struct ing_yaml **ret, struct ing_error *err) ING_MUST_CHECK;
/* The same from a file; -NOT_FOUND or -SYSTEM when it cannot be read. The path is not in err. */
int ing_yaml_load(const char *path, const struct ing_yaml_limits *limits, struct ing_yaml **ret,
	struct ing_error *err) ING_MUST_CHECK;
void ing_yaml_free(struct ing_yaml *doc); /* NULL is fine */

/* --- streams: what other programs wrote --- */

/* Parse a stream of any number of documents, none included, as SnakeYAML (YAML 1.1) reads them but
 * for types: every plain scalar stays text. A key that comes twice in a map counts where it comes
 * last, with a warning. Anchors, aliases and merge keys (<<) work; what they expand to counts
 * against limits->nodes and limits->depth. An alias's node bears the position of what it stands
 * for. Entries that are merged in stand where the << stands, unless the map has the key itself.
 * Still refused: tags, keys that are not scalars, an alias inside what it names.
 *
 * What is wrong goes to the report; then the answer is NULL, unless it was only keys that are not
 * scalars: their entries are left out, and the caller can look for what else is wrong. Free with
 * ing_yaml_free(). */
struct ing_yaml *ing_yaml_stream_parse(const char *name, const char *text, size_t bytes,
	const struct ing_yaml_limits *limits, struct ing_report *report) ING_MUST_CHECK;
size_t ing_yaml_stream_count(const struct ing_yaml *stream);
/* False: entries were left out, and the report has an error of each. */
bool ing_yaml_stream_is_whole(const struct ing_yaml *stream);
/* The i-th document (0-based, below the count), a plain empty scalar when there is nothing in
 * it. */
const struct ing_yaml_node *ing_yaml_stream_get(const struct ing_yaml *stream, size_t i);

/* --- nodes --- */

/* Where the character (1-based) of a scalar's text stands in the file; where the scalar begins when
 * that cannot be told, because it has escapes or more than one line. */
void ing_yaml_position(
	const struct ing_yaml_node *scalar, int character, int *ret_line, int *ret_column);

/* Never NULL: an empty document is a plain empty scalar. Borrowed from doc, like all nodes. */
const struct ing_yaml_node *ing_yaml_root(const struct ing_yaml *doc);
/* Value of a map's key, or NULL; NULL too when map is no map. */
const struct ing_yaml_node *ing_yaml_get(const struct ing_yaml_node *map, const char *key);
/* Nothing, ~, null: unquoted. */
bool ing_yaml_is_null(const struct ing_yaml_node *node);
/* "a list", "a map", "a text", for messages. */
const char *ing_yaml_kind_name(const struct ing_yaml_node *node);

/* Append s, a scalar that reads back as the same text whatever it holds (invalid UTF-8 becomes
 * U+FFFD). */
void ing_yaml_add_text(struct ing_buf *out, const char *s);
