/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * url_preprocess.h - preprocessing of a URL for lexbor: bytes become ASCII, and hosts and paths, of
 * which lexbor 3.0 gets some wrong, are computed here. For url.c only; pure function.
 */
#pragma once
#include <stdbool.h>
#include "common/base/buf.h"

struct ing_url_base {
	const char *scheme; /* in lower case, without the colon */
	size_t scheme_len;
	const char *path; /* "" or from its first slash */
	size_t path_len;
	bool opaque; /* its path is no list of segments */
};

struct ing_url_preprocessed {
	struct ing_buf input; /* for lexbor */
	struct ing_buf host;  /* not empty: the domain in place of the one in the input */
	struct ing_buf path;  /* if has_path: in place of the one in the input */
	size_t segments;      /* of it */
	bool has_path;
};

/* Fill *m, whose buffers are initialised. base may be NULL. False: it is not a URL, as its host is
 * none. */
bool ing_url_preprocess(struct ing_url_preprocessed *m, const char *s, size_t bytes,
	const struct ing_url_base *base) ING_MUST_CHECK;
