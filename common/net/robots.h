/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * robots.h - robots.txt (RFC 9309): parsed once for one product token, then asked about paths.
 *
 * Where the letter of the RFC and the field's reference parser (google/robotstxt) differ, the
 * parser's answer counts: colons that are missing, misspelt keys, bytes above 127, escapes,
 * over-long lines. ROBOTS.md lists the cases. Input is hostile: any bytes; parsing is linear in the
 * file, asking linear in pattern and path for each rule and bounded in all (a file that takes more
 * than some 3 ms for one URL forbids it), memory bounded by the file's size. A parsed file does
 * not change: any thread may ask.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/base/macros.h"

#define ING_ROBOTS_TXT_MAX_BYTES ((size_t)512 << 10) /* RFC 9309 2.5 wants 500 KiB at least */

/* A rule takes eight bytes of the file at least, and an index page may have a second one. */
#define ING_ROBOTS_TXT_MAX_RULES (ING_ROBOTS_TXT_MAX_BYTES / 8 * 2)
/* Of all patterns: three bytes for one that is escaped, and the second rules. */
#define ING_ROBOTS_TXT_MAX_PATTERN_BYTES (ING_ROBOTS_TXT_MAX_BYTES * 6)

struct ing_robots_txt;

/* The rules that a file has for a user agent: of all groups that name its product token (letters,
 * "-" and "_" at the beginning of `agent`; an agent without one is named by none), else of those
 * for "*". Of a file over ING_ROBOTS_TXT_MAX_BYTES, the whole lines before that count. Never NULL.
 * Free with ing_robots_txt_free(). */
struct ing_robots_txt *ing_robots_txt_parse(
	const char *text, size_t bytes, const char *agent) ING_MUST_CHECK;
void ing_robots_txt_free(struct ing_robots_txt *r); /* NULL is fine */

struct ing_robots_rule {
	const char *pattern; /* not terminated; bytes above 127 and escapes as URLs have them */
	uint32_t bytes;      /* of the pattern, which are its weight */
	uint32_t line;       /* of the file, from 1 */
	bool allow;
};
/* The order in which rules decide: longest pattern, Allow, line; <0, 0, >0. */
int ing_robots_rule_compare(const struct ing_robots_rule *a, const struct ing_robots_rule *b);
/* A parsed file out of its rules, which are copied, in the order above: as
 * ing_robots_txt_count(), _rule() and _crawl_delay_ms() give them for one parsed in another process.
 * Returns NULL when no file can have these rules (order, bounds, bytes in patterns). Linear. */
struct ing_robots_txt *ing_robots_txt_new(const struct ing_robots_rule *rules, uint32_t count,
	unsigned crawl_delay_ms) ING_MUST_CHECK;
struct ing_robots_txt *ing_robots_txt_copy(const struct ing_robots_txt *r) ING_MUST_CHECK;
uint32_t ing_robots_txt_count(const struct ing_robots_txt *r);
struct ing_robots_rule ing_robots_txt_rule(
	const struct ing_robots_txt *r, uint32_t i); /* pattern is borrowed */

/* May an absolute URL be fetched? Its path and query count, as they are written: the caller's URL
 * is one that ing_url_parse() wrote. /robots.txt itself always may. *ret_line: the line of the rule
 * that decided, 0 when none did; may be NULL. */
bool ing_robots_txt_allows(const struct ing_robots_txt *r, const char *url, unsigned *ret_line);
/* Crawl-delay of the group that applies, in milliseconds; the longest of several; 0: none (the
 * field is not the RFC's). The caller bounds it. */
unsigned ing_robots_txt_crawl_delay_ms(const struct ing_robots_txt *r);
size_t ing_robots_txt_bytes(const struct ing_robots_txt *r); /* of memory */
