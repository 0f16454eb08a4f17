/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * url_regex.h - regular expressions about URLs: the keys of journals.yaml and webpages.yaml.
 *
 * One that does not begin with ^ is prefixed with "(?i)^https?://(www\.)?", so that it is matched
 * after the scheme and "www.", in any case. No group is put around it: in "a\.org|b\.org" the
 * second alternative matches anywhere in a URL, as in PubFetcher; "(a\.org|b\.org)" has both at the
 * start.
 *
 * A look-up tries every expression of a table, from its end. Where an expression begins with
 * literal text (usually a host name) that is compared first: with 65 expressions, 40 of them
 * literal, a look-up costs 4.6 us instead of 8.0. Immutable once compiled, any thread.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "worker/scrape/jsoup/regex.h"
#include "worker/rules/rule_reader.h"

struct ing_url_regex {
	struct ing_regex *regex; /* NULL: it was invalid */
	const char *start;       /* literal start of every match, after the scheme; NULL: unknown */
};

/* A URL as java.net.URL prints it: without bytes up to 0x20 around it, with the scheme in lower
 * case, otherwise unchanged. */
struct ing_java_url {
	char *text; /* heap; NULL: no URL, or of a scheme unknown to Java */
	size_t bytes;
	const char *host; /* what follows "http://" or "https://"; NULL: another scheme */
	const char *bare; /* the same without "www." */
};

/* Of a table; more is an error. */
#define ING_MAX_URL_REGEXES 20000

/* Compile a scalar. Returns false when it is invalid, with an error in the report. Release with
 * ing_url_regex_done(). */
bool ing_url_regex_compile(const struct ing_rule_reader *rd, const struct ing_yaml_node *node,
	struct ing_url_regex *ret);
void ing_url_regex_done(struct ing_url_regex *r);

void ing_java_url_init(struct ing_java_url *u, const char *url); /* NULL: no URL */
void ing_java_url_done(struct ing_java_url *u);
/* ING_REGEX_LIMIT: unknown; look-ups treat it as no match. */
enum ing_regex_end ing_url_regex_find(const struct ing_url_regex *r, const struct ing_java_url *u);
