/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * json_lenient.h - JSON as pages contain it: mostly valid, often written by templates without
 * proper quoting.
 *
 * Pure; any thread.
 */
#pragma once
#include "common/base/buf.h"
#include "common/data/json.h"

/* Parse the JSON at the start of s; HTML comment and CDATA marks before it and whatever follows it
 * are ignored. Invalid JSON is repaired once: raw control characters in strings, invalid escapes,
 * unpaired surrogates, U+0000, trailing commas. Returns a new reference, with valid UTF-8 without
 * NUL in all strings; NULL when it cannot be repaired, is over max_bytes, nested over max_depth, or
 * has more than *values_left values, from which its own are subtracted. */
json_t *ing_json_parse_lenient(
	const char *s, size_t bytes, size_t max_bytes, unsigned max_depth, size_t *values_left);
