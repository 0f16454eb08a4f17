/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * kept_select.h - which publications or web pages a verb is about: its options, and their rows.
 *
 * One thread. A statement runs in a transaction of its own that only reads; its rows are fetched a few at a
 * time, so that any number of records costs the memory of a few.
 */
#pragma once
#include "common/data/pg.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/publication/kept_condition.h"

struct ing_options;

struct ing_kept_select {
	const char *verb; /* for messages: "publication list" */
	struct ing_condition condition;
	struct ing_buf order; /* "" : by key */
	uint64_t limit;       /* 0: none */
	bool by_key;          /* rows of the given keys alone */
};

void ing_kept_select_init(struct ing_kept_select *s, enum ing_kept_table table, const char *verb);
void ing_kept_select_done(struct ing_kept_select *s);

/* Options of every verb, for its table of usage, and what to do with one that was found. */
extern const struct ing_options *const ing_kept_publication_shared[];
extern const struct ing_options *const ing_kept_webpage_shared[];
#define ING_KEPT_PARTS ",pmid pmcid doi title keywords mesh efo go abstract fulltext"
#define ING_KEPT_KEYS "[PMID|PMCID|DOI|URL]..."
/* False after a message: it is not understood. */
bool ing_kept_select_option(struct ing_kept_select *s, int option, const char *value);
/* Only those with one of these identifiers (PMID, PMCID, DOI, or URL of any), or these URLs. False after a
 * message. */
bool ing_kept_select_keys(struct ing_kept_select *s, char *const *keys, size_t count);

/* Each row of "SELECT columns FROM the table WHERE … ORDER BY … LIMIT …" to the callback, which returns false
 * to end it. more: behind WHERE and before ORDER BY ("GROUP BY …": then no order of its own is added), or
 * "". An exit code, after a message unless it is OK. */
typedef bool ing_kept_row_f(void *ctx, const char *const *values);
int ing_kept_each(struct ing_kept_select *s, const struct ing_ctl *ctl, const char *columns,
	ing_kept_row_f *each, void *ctx);
/* A statement of aggregates: "SELECT columns FROM (SELECT * FROM table WHERE …) AS kept more". */
int ing_kept_sum(struct ing_kept_select *s, const struct ing_ctl *ctl, const char *columns,
	const char *more, ing_kept_row_f *each, void *ctx);

/* A connection to postgres.dsn with the right schema. An exit code, after a message unless it is OK. */
int ing_kept_open(const struct ing_ctl *ctl, const char *verb, struct ing_pg **ret);
