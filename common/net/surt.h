/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * surt.h - the sort-friendly key of a URL in Wayback indexes (CDX).
 *
 * The form is the one that the Wayback tools compute, pywb and the CDX servers among them:
 * "org,example)/path?query". It reads URLs by rules of its own, older than the WHATWG's and laxer,
 * because keys must match those already written. Pure function; any thread.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "common/base/macros.h"

struct ing_buf;

/* Append the key of url to ret; "-" for the empty string. False, with ret->failed set or ret as it
 * was, when the URL is over 64 KiB, has a port that is no number, or the ceiling of ret was hit.
 * Spaces are written "%20", so the key is always one word. */
bool ing_surt(const char *url, struct ing_buf *ret) ING_MUST_CHECK;

/* The same of any bytes, NUL included; false also for a "filedesc" with a NUL, which is kept as it
 * is. */
bool ing_surt_bytes(const char *url, size_t bytes, struct ing_buf *ret) ING_MUST_CHECK;
