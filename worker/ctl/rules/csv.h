/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * rules_csv.h - expectations in PubFetcher's CSV files: sizes of the parts that a resource, a site's
 * page or a web page gives. For `ingestctl rules test --csv`. One thread.
 *
 * A file is a header line, which is skipped, then a row for each page or identifier; empty lines and
 * those that begin with # are skipped. Columns are divided by commas, without quoting; a URL, in the last
 * one, may have commas. Sizes of text are UTF-16 code units, of lists entries.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "common/data/json.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/rules/rules.h"
#include "worker/model/found_publication.h"

struct ing_rules;
struct ing_scraper;

#define ING_CSV_MAX_COLUMNS 20
#define ING_CSV_MAX_ROW_BYTES 16384

enum ing_csv_key { ING_CSV_PMID, ING_CSV_PMCID, ING_CSV_DOI, ING_CSV_SITE, ING_CSV_WEBPAGE };

/* A kind of file. */
struct ing_csv_kind {
	const char *name;           /* "journals", "pubmed-xml" …: the file's name without .csv */
	const char *const *columns; /* labels, NULL-terminated; "id" is the first, "url" the last */
	enum ing_csv_key key;
	enum ing_publication_reader reader; /* of an answer */
	enum ing_part_type type;
	/* Kinds, one for each column behind the first, with that one alone; NULL-terminated. NULL: a row is
	 * about one answer. */
	const char *const *answers;
};

/* NULL: unknown. A row tells only kinds whose rows end with a URL. */
const struct ing_csv_kind *ing_csv_kind_of_name(const char *name);
const struct ing_csv_kind *ing_csv_kind_of_row(const char *row);
size_t ing_csv_columns(const struct ing_csv_kind *kind);
bool ing_csv_is_url_kind(const struct ing_csv_kind *kind);
/* Divides the row, which is changed. False: another number of columns. */
bool ing_csv_split(const struct ing_csv_kind *kind, char *row, char *ret[ING_CSV_MAX_COLUMNS]);

struct ing_csv_options {
	bool csv;                      /* the arguments are CSV files */
	bool live;                     /* pages are fetched, not read from a folder */
	const char *pages;             /* that folder; NULL: "pages" beside the CSV file */
	const char *kind;              /* of all files; NULL: of each by its name */
	struct ing_ctl_yields *yields; /* for the report; NULL: none */
};

/* Compare all rows of all files; mistakes and mismatches go to stdout, each with its place, and a
 * summary. An exit code. */
int ing_ctl_rules_csv(const struct ing_ctl *ctl, const struct ing_ctl_rules *rules,
	const struct ing_csv_options *o, char *const *files, size_t count);

/* rules_csv_read.c: what an answer has, {label: size or text, "site": name of the rule or null}; or
 * {"error": words}. In a child. key: the identifier or URL. A new reference. */
json_t *ing_csv_read(struct ing_scraper *s, const struct ing_rules *rules,
	const struct ing_csv_kind *kind, const char *key, const void *data, size_t bytes);
/* The same of a publication's JSON (worker/publication/README.md). */
json_t *ing_csv_of_publication(const json_t *publication);
