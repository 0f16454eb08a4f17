/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * json_lenient.h - JSON as pages carry it: mostly right, often written by a template that knew little
 * of quoting.
 *
 * Pure; any thread.
 */
#pragma once
#include "common/base/buf.h"
#include "common/data/json.h"

/* Read the JSON at the front of s; what stands behind it (a ';', the end of a CDATA section) is
 * passed over, and HTML comment and CDATA marks before it. What is not JSON is repaired once: raw
 * control characters in strings, escapes that do not exist, halves of surrogate pairs, U+0000,
 * commas before a closing bracket. NULL when that did not help, or when it is over max_bytes,
 * nested over max_depth or has more than *values_left values, which its own are taken from. New
 * reference; all strings are valid UTF-8 without NUL. */
json_t *ing_json_parse_lenient(
	const char *s, size_t bytes, size_t max_bytes, unsigned max_depth, size_t *values_left);
