/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * clock.h - clocks, and the date formats of web archives. Any thread.
 */
#pragma once
#include <stdbool.h>
#include <time.h>
#include "common/base/macros.h"

#define ING_DT14_BYTES 15    /* "20261121110000" and NUL */
#define ING_ISO8601_BYTES 32 /* "2026-11-21T11:00:00.000000Z" and NUL */

uint64_t ing_now_ms(void);          /* monotonic: for deadlines and delays */
uint64_t ing_now_us(void);          /* the same clock: for durations */
struct timespec ing_wall_now(void); /* UTC: for records */
uint64_t ing_thread_cpu_ns(void);   /* CPU time of the calling thread: for budgets and statistics */

/* 14 digits, UTC, as Wayback tools write a capture time. */
void ing_format_dt14(struct timespec t, char ret_text[ING_DT14_BYTES]);
/* RFC 3339 in UTC with `digits` (0, 3 or 6) fraction digits, as WARC-Date and JSON want it. */
void ing_format_iso8601(struct timespec t, int digits, char ret_text[ING_ISO8601_BYTES]);
