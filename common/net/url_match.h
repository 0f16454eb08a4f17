/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * url_match.h - which URLs a rule is about: by host, path and query, each by itself.
 *
 * What is compared is what a reader of the URL sees: escapes undone, case of ASCII letters ignored,
 * a leading "www." and the port aside. A compiled pattern is immutable and lives in the arena it
 * was made in; a target is a URL made ready once to be compared with any number of patterns. Any
 * thread; a target by one at a time.
 */
#pragma once
#include <stdbool.h>
#include "common/base/arena.h"
#include "common/base/error.h"

struct ing_url_pattern {
	const char *host;                     /* bare, lower case, punycode; NULL: any */
	bool below;                           /* names below host too (".example.org") */
	const char *path;                     /* what the path begins with; NULL: any */
	const char *path_contains;            /* NULL: any */
	const char *path_ends;                /* NULL: any */
	const char *query_name, *query_value; /* a parameter; NULL: any */
	const char *contains; /* anywhere in the whole URL, escapes undone; NULL: any */
};

/* A host (lower case) as patterns have it: without a closing dot and a leading "www.", unless that
 * were all. Changes host, and answers a place in it. */
char *ing_url_bare_host(char *host);

/* Fill one part from a rule's text; the error has words but no position. host: "example.org", or
 * ".example.org" for names below as well. */
int ing_url_pattern_set_host(struct ing_url_pattern *p, struct ing_arena *ar, const char *text,
	struct ing_error *err) ING_MUST_CHECK;
void ing_url_pattern_set_path(struct ing_url_pattern *p, struct ing_arena *ar, const char *text);
void ing_url_pattern_set_path_contains(
	struct ing_url_pattern *p, struct ing_arena *ar, const char *text);
void ing_url_pattern_set_path_ends(
	struct ing_url_pattern *p, struct ing_arena *ar, const char *text);
void ing_url_pattern_set_contains(
	struct ing_url_pattern *p, struct ing_arena *ar, const char *text);
/* "name" or "name=value". */
void ing_url_pattern_set_query(struct ing_url_pattern *p, struct ing_arena *ar, const char *text);

struct ing_url_target; /* heap */
/* NULL when url is no absolute URL. */
struct ing_url_target *ing_url_target_new(const char *url);
void ing_url_target_free(struct ing_url_target *t);              /* NULL is fine */
const char *ing_url_target_host(const struct ing_url_target *t); /* bare; "" without */

/* All parts that are given match. */
bool ing_url_matches(const struct ing_url_pattern *p, const struct ing_url_target *t);
