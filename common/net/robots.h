/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * robots.h - robots.txt (RFC 9309): parsed once for one product token, then asked about paths.
 *
 * Where the letter of the RFC and the field's reference parser (google/robotstxt) differ, the
 * parser's answer counts: colons that are missing, misspelt keys, bytes above 127, escapes,
 * over-long lines. README.md lists the cases. Input is hostile: any bytes; parsing is linear in the
 * file, asking linear in pattern and path for each rule and bounded in all (a file that costs more
 * than some 3 ms for one URL forbids it), memory bounded by the file's size. A parsed file does
 * not change: any thread may ask.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "common/base/macros.h"

#define ING_ROBOTS_TXT_MAX_BYTES ((size_t)512 << 10) /* RFC 9309 2.5 wants 500 KiB at least */

struct ing_robots_txt;

/* The rules that a file has for a user agent: of all groups that name its product token (letters,
 * "-" and "_" at the beginning of `agent`; an agent without one is named by none), else of those
 * for "*". Of a file over ING_ROBOTS_TXT_MAX_BYTES, the whole lines before that count. Never NULL.
 * Free with ing_robots_txt_free(). */
struct ing_robots_txt *ing_robots_txt_parse(
	const char *text, size_t bytes, const char *agent) ING_MUST_CHECK;
void ing_robots_txt_free(struct ing_robots_txt *r); /* NULL is fine */
/* May an absolute URL be fetched? Its path and query count, as they are written: the caller's URL
 * is one that ing_url_parse() wrote. /robots.txt itself always may. *ret_line: the line of the rule
 * that decided, 0 when none did; NULL: nobody asks. */
bool ing_robots_txt_allows(const struct ing_robots_txt *r, const char *url, unsigned *ret_line);
/* Crawl-delay of the group that applies, in milliseconds; the longest of several; 0: none (the
 * field is not the RFC's). The ceiling is the caller's. */
unsigned ing_robots_txt_crawl_delay_ms(const struct ing_robots_txt *r);
size_t ing_robots_txt_bytes(const struct ing_robots_txt *r); /* of memory */
