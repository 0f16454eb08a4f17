/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * url_mend.h - what url.c does to a URL before lexbor sees it: any bytes become ASCII, and what
 * lexbor 3.0 would get wrong is put in other words. For url.c only; pure function.
 */
#pragma once
#include <stdbool.h>
#include "common/base/macros.h"

struct ing_buf;

struct ing_url_base {
	const char *scheme; /* in lower case, without the colon */
	size_t scheme_len;
	bool opaque;  /* its path is no list of segments */
	bool doubled; /* its path has an empty segment within */
};

/* Append the input for lexbor to the empty buffer out. base may be NULL. */
void ing_url_mend(
	struct ing_buf *out, const char *s, size_t bytes, const struct ing_url_base *base);
