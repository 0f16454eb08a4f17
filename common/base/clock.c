/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * CLOCK_MONOTONIC and CLOCK_REALTIME, and their text forms.
 */
#include "common/base/clock.h"

#include <stdio.h>

uint64_t ing_now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

uint64_t ing_now_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

struct timespec ing_wall_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return t;
}

uint64_t ing_thread_cpu_ns(void)
{
	struct timespec t;
	ing_must(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void ing_format_dt14(struct timespec t, char ret_text[ING_DT14_BYTES])
{
	struct tm tm;
	gmtime_r(&t.tv_sec, &tm);
	strftime(ret_text, ING_DT14_BYTES, "%Y%m%d%H%M%S", &tm);
}

void ing_format_iso8601(struct timespec t, int digits, char ret_text[ING_ISO8601_BYTES])
{
	struct tm tm;
	gmtime_r(&t.tv_sec, &tm);
	size_t n = strftime(ret_text, ING_ISO8601_BYTES, "%Y-%m-%dT%H:%M:%S", &tm);
	size_t room = ING_ISO8601_BYTES - n;
	if (digits == 6)
		snprintf(ret_text + n, room, ".%06ldZ", (t.tv_nsec / 1000) % 1000000);
	else if (digits == 3)
		snprintf(ret_text + n, room, ".%03ldZ", (t.tv_nsec / 1000000) % 1000);
	else
		snprintf(ret_text + n, room, "Z");
}
