/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * url_regex.h - regular expressions about URLs, as the keys of journals.yaml and webpages.yaml are.
 *
 * One that does not begin with ^ gets "(?i)^https?://(www\.)?" put in front: so it is about what
 * stands behind the scheme and a "www.", and case does not count. Nothing is put around it; in
 * "a\.org|b\.org" the second half is therefore found anywhere in a URL, as PubFetcher has it, and
 * whoever wants both at the beginning writes "(a\.org|b\.org)".
 *
 * A look-up tries every expression of a table, from its end. Where one begins with literal text (a
 * host, mostly) that is compared first: for 65 expressions, 40 of them literal, a look-up costs 4.6
 * us instead of 8.0, and each literal one a few nanoseconds. Immutable once compiled, any thread.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "worker/scrape/jsoup/regex.h"
#include "worker/rules/rule_reader.h"

struct ing_url_regex {
	struct ing_regex *regex; /* NULL: was wrong */
	const char *start;       /* what a match begins with, behind the scheme; NULL: not known */
};

/* A URL as java.net.URL writes it: surrounding bytes up to 0x20 dropped, the scheme in lower case,
 * all else as it came. */
struct ing_java_url {
	char *text; /* heap; NULL: no URL, or of a scheme that Java does not know */
	size_t bytes;
	const char *host; /* behind "http://" or "https://"; NULL: another scheme */
	const char *bare; /* behind a "www." as well */
};

/* A table has at most so many; more is an error of whoever loads it. */
#define ING_MAX_URL_REGEXES 20000

/* Compile a scalar. Errors go to the report, and false. Release with ing_url_regex_done(). */
bool ing_url_regex_compile(const struct ing_rule_reader *rd, const struct ing_yaml_node *node,
	struct ing_url_regex *ret);
void ing_url_regex_done(struct ing_url_regex *r);

void ing_java_url_init(struct ing_java_url *u, const char *url); /* NULL: no URL */
void ing_java_url_done(struct ing_java_url *u);
/* ING_REGEX_LIMIT: whether it matches is not known; look-ups go on as if it did not. */
enum ing_regex_end ing_url_regex_find(const struct ing_url_regex *r, const struct ing_java_url *u);
