/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Dates of HTTP fields and Retry-After: eight bytes of clock, then the text.
 */
#include "tests/fuzz/target.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/macros.h"
#include "common/net/http_date.h"

FUZZ_BUDGET(.cpu_us = 200, .cpu_byte_ns = 20, .heap_kb = 20, .heap_byte = 5);

#define YEAR_10000 253402300801 /* a leap second behind the last second of 9999 */

void fuzz_target(const uint8_t *data, size_t size)
{
	int64_t now = 0, at = 0, delay = 0;
	if (size < sizeof(now))
		return;
	memcpy(&now, data, sizeof(now));
	now %= YEAR_10000 / 2;
	char *text = ing_strndup((const char *)data + sizeof(now), size - sizeof(now));
	bool date = ing_http_date_parse(text, now, &at);
	bool retry = ing_http_retry_after_parse(text, now, &delay);
	ing_must(!date || (at > -YEAR_10000 && at <= YEAR_10000));
	ing_must(!date || retry);
	ing_must(!retry || (delay >= 0 && delay <= INT32_MAX));
	ing_must(!date || at <= now ? true : delay > 0);
	free(text);
}
