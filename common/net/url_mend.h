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

/* Append the input for lexbor to the empty buffer out. base may be NULL. When something is added to
 * the empty buffer host, that is the domain which the URL has in place of the one in out. False: it
 * is not a URL, as its host is none. */
bool ing_url_mend(struct ing_buf *out, struct ing_buf *host, const char *s, size_t bytes,
	const struct ing_url_base *base) ING_MUST_CHECK;
