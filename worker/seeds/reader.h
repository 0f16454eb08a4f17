/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * reader.h - what a format of lists consists of, and how its reader hands records to the converter.
 *
 * A record is a JSON object or a row of named columns. A reader is opened for each list; it is fed blocks of bytes,
 * and gives each record once, in order, as soon as it is complete. What it gives is borrowed for the call. A reader
 * that keeps bytes has a ceiling for them, and calls a record bad that does not fit. One thread.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "common/base/error.h"

struct json_t;
struct ing_seed_converter;
struct ing_seed_loader; /* source_priv.h */
struct ing_yaml_node;

/* A cell of a row; need not be UTF-8. NULL: empty. */
struct ing_seed_cell {
	const char *text;
	size_t bytes;
};

#define ING_SEED_MAX_COLUMNS 1000
/* A line, or a record that is collected before it is read. Crossref's largest have some 10 MB. */
#define ING_SEED_MAX_RECORD_BYTES ((size_t)32 << 20)

/* number: the line at which the record begins (or the record, where there are no lines), from 1. */
void ing_seed_give_object(
	struct ing_seed_converter *to, int64_t number, const struct json_t *object);
/* The same of its text: what the source does not read is not parsed. A text that is no object is bad. */
void ing_seed_give_json(
	struct ing_seed_converter *to, int64_t number, const char *text, size_t bytes);
/* Before the first row, and again when they change. Names are UTF-8 and borrowed for the call. */
void ing_seed_name_columns(
	struct ing_seed_converter *to, const struct ing_seed_cell *names, size_t count);
void ing_seed_give_row(struct ing_seed_converter *to, int64_t number,
	const struct ing_seed_cell *cells, size_t count);
/* A record that cannot be read, and is skipped. */
void ing_seed_bad(struct ing_seed_converter *to, int64_t number, const char *fmt, ...)
	ING_PRINTF(3, 4);
/* Whether nobody wants more: the reader may drop the rest of its block. */
bool ing_seed_is_stopped(const struct ing_seed_converter *to);

struct ing_seed_format {
	const char *name;
	bool reads_gzip; /* it is fed gzip as it is; what is compressed otherwise is not */
	/* Reads `reader` of the source's file (NULL: it is absent) into the loader's arena; errors go to its report.
	 * ing_seed_setting() reads a text, with options in it. */
	const void *(*settings)(const struct ing_seed_loader *l, const struct ing_yaml_node *map);
	/* Returns the reader's own state. settings: what the function above returned. */
	void *(*open)(const void *settings, struct ing_seed_converter *to);
	/* 0, or a failure when the rest cannot be read whatever it holds. */
	int (*feed)(void *reader, const char *bytes, size_t count, struct ing_error *err);
	int (*end)(void *reader, struct ing_error *err);
	void (*close)(void *reader); /* also before the end */
};

/* A text of the map (NULL: absent), with the values of the source's options in place of their names in braces; NULL: it is
 * absent, or its option is not given. */
const char *ing_seed_setting(
	const struct ing_seed_loader *l, const struct ing_yaml_node *map, const char *key);
/* The same for a choice: the index in `words`, or `fallback`. */
int ing_seed_setting_word(const struct ing_seed_loader *l, const struct ing_yaml_node *map,
	const char *key, const char *const *words, size_t count, int fallback);

/* By name; NULL: there is none. The table is in formats.c. */
const struct ing_seed_format *ing_seed_format_find(const char *name);
/* The names, NULL-terminated. */
const char *const *ing_seed_format_names(void);
