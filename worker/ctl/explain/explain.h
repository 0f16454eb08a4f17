/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * explain.h - the files of `ingestctl explain request`. Each source adds to one JSON object what it knows
 * of the request (README.md lists the members); `next` is concluded from all of it, and the whole is printed
 * as JSON or for people. One thread, blocking calls with time limits.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "common/data/json.h"

struct ing_conf;

#define ING_EXPLAIN_VERB "explain"
#define ING_EXPLAIN_ID_CHARS 40

struct ing_explain {
	char id[ING_EXPLAIN_ID_CHARS +
		1]; /* lower case; 32 digits only: the topics are not searched */
	const struct ing_conf *conf;
	const char *brokers;
	char *const *warc_dirs; /* NULL-terminated */
	bool all;               /* also topics that would only repeat what is known */
	uint64_t deadline_ms;   /* ing_now_ms() clock: of the topics */
	json_t *life;           /* what is known */
	bool found;             /* something is */
	bool answered;          /* by a server */
	bool without_database, without_brokers; /* it has been said */
};

/* A source could not be asked: in "missing", with the reason. */
void ing_explain_miss(struct ing_explain *e, const char *source, const char *why);
/* Member of life; NULL: there is none, or it is null. */
json_t *ing_explain_get(const struct ing_explain *e, const char *name);

/* request queued outbox, and for the request result captures document. A request without a link_source has no
 * row: what a topic has of it says which result is its, so the tables are asked once more after the topics. */
enum ing_explain_round { ING_EXPLAIN_FIRST, ING_EXPLAIN_AFTER_TOPICS };
void ing_explain_tables(struct ing_explain *e, enum ing_explain_round round);
void ing_explain_topics(struct ing_explain *e);  /* results waiting parked dead_letters looked */
void ing_explain_workers(struct ing_explain *e); /* workers */
void ing_explain_bytes(struct ing_explain *e);   /* "file" in captures; objects */

/* What to do: a list of {"say", "run"}; run may be null. Pure. */
json_t *ing_explain_next(const char *id, const json_t *life);
/* For people, on stdout. */
void ing_explain_print(const char *id, const json_t *life);
