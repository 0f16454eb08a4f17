/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * http_date.h - dates of HTTP fields, and Retry-After (RFC 9110 5.6.7, 10.2.3). Pure functions.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* IMF-fixdate, RFC 850 and asctime forms, each with surrounding white space; two-digit years as the
 * RFC reads them (more than 50 years ahead of now_s is the past). Seconds since 1970 UTC. False for
 * anything else, impossible days included. */
bool ing_http_date_parse(const char *text, int64_t now_s, int64_t *ret_s);
/* Seconds to wait from now_s: delay-seconds as they are (huge ones INT32_MAX), dates that have
 * passed 0. False when it is neither. */
bool ing_http_retry_after_parse(const char *text, int64_t now_s, int64_t *ret_delay_s);
