/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * source.h - a source of requests: how the records of one kind of list (Unpaywall's snapshot, a CSV file …) become
 * requests. It is a file deploy/seedlists/NAME.yaml, whose form is in deploy/seedlists/README.md.
 *
 * Owns what it has read. It does not change once loaded: any thread, any number of converters (convert.h).
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "common/base/error.h"

struct ing_report;
struct ing_seed_source;

/* Something that the user may say about the list: NAME=VALUE. */
struct ing_seed_option {
	const char *name, *about;
	const char *fallback;      /* NULL: none, and then it must be given unless it is optional */
	bool optional;             /* may be absent; what needs it is then left out */
	const char *const *values; /* NULL-terminated: one of these; NULL: any text */
};

/* Load a source of the folder, or the file itself when `name` has a slash. settings: "NAME=VALUE" of its options,
 * NULL-terminated; NULL (of the list) only describes the source: options that must be given need not be. Returns 0;
 * -NOT_FOUND (err names the nearest), -USAGE (settings), -SYSTEM; -CONFIG with every error in the report. Free with
 * ing_seed_source_free(). */
int ing_seed_source_load(const char *dir, const char *name, const char *const *settings,
	struct ing_seed_source **ret, struct ing_report *report,
	struct ing_error *err) ING_MUST_CHECK;
/* The same from text; `name` stands in messages. */
int ing_seed_source_parse(const char *name, const char *text, size_t bytes,
	const char *const *settings, struct ing_seed_source **ret, struct ing_report *report,
	struct ing_error *err) ING_MUST_CHECK;
void ing_seed_source_free(struct ing_seed_source *s); /* NULL is fine */

/* Borrowed, as long as the source. */
const char *ing_seed_source_name(const struct ing_seed_source *s);
const char *ing_seed_source_about(const struct ing_seed_source *s);  /* one line */
const char *ing_seed_source_format(const struct ing_seed_source *s); /* "jsonl", "csv" … */
/* Its lists are fed as they are where they are gzip: ing_unpack_keep_gzip(). */
bool ing_seed_source_reads_gzip(const struct ing_seed_source *s);
const struct ing_seed_option *ing_seed_source_options(
	const struct ing_seed_source *s, size_t *ret_count);

/* Names of the sources in a folder, sorted, NULL-terminated: one piece of heap to free(). NULL: it cannot be read. */
char **ing_seed_source_names(const char *dir, struct ing_error *err) ING_MUST_CHECK;
