/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * cdx.h - lines of a capture index: eleven fields, " CDX N b a m s k r M S V g".
 *
 * An index is sorted in byte order (LC_ALL=C) before anyone looks things up in it; lines here are
 * made one by one. Pure functions.
 */
#pragma once
#include <stdbool.h>
#include "common/base/clock.h"
#include "common/base/macros.h"

struct ing_buf;

#define ING_CDX_HEADER " CDX N b a m s k r M S V g\n"
/* Longest line that is made, line end included: a URL and a key of 64 KiB each would be
 * hostile. */
#define ING_CDX_MAX_BYTES ((size_t)64 << 10)
#define ING_CDX_MIMETYPE_BYTES 128

/* Pointers are borrowed; NULL or "" is an absent field, written "-". */
struct ing_cdx {
	const char *surt;     /* N: sort-friendly key of the URL */
	const char *datetime; /* b: 14 digits, UTC */
	const char *url;      /* a */
	const char *mimetype; /* m: see ing_cdx_mimetype() */
	int status;           /* s: 100 to 999; 0 is absent */
	const char *sha1b32;  /* k: of the payload, without "sha1:" */
	const char *redirect; /* r */
	const char *meta;     /* M: robots flags */
	int64_t csize;        /* S: bytes of the record's gzip member; -1 is absent */
	int64_t offset;       /* V: where it begins in the file; -1 is absent */
	const char *filename; /* g: WARC file, no folder of ours in front */
};

/* Append one line with its line end. Blanks and control bytes within a field become %XX, so that no
 * content can make two fields or two lines of one. False when the line would be too long (ret then
 * has no part of it). */
bool ing_cdx_format(const struct ing_cdx *cdx, struct ing_buf *ret) ING_MUST_CHECK;

/* The index's idea of a Content-Type value (NULL is fine): type and subtype in lower case without
 * parameters, or "unk", as the field's indexers write it, when there is none or it is not one. */
void ing_cdx_mimetype(const char *content_type, char ret[ING_CDX_MIMETYPE_BYTES]);
