/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * cdx_line.h - lines of capture indexes as others write them: CDX with 11, 9 or 7 fields, or with those
 * that its header line names, and CDXJ.
 *
 * Every line is read by itself: a file may be of both kinds. Values are as in the line; nothing of them
 * is checked but that a capture has a date and a URL. Pure; one thread at a time.
 */
#pragma once
#include <stdbool.h>
#include "common/base/macros.h"

/* In the order of ing_cdx_names. */
enum ing_cdx_column {
	ING_CDX_SURT,
	ING_CDX_DATETIME,
	ING_CDX_URL,
	ING_CDX_MIME,
	ING_CDX_STATUS,
	ING_CDX_DIGEST,
	ING_CDX_REDIRECT,
	ING_CDX_ROBOTFLAGS,
	ING_CDX_LENGTH,
	ING_CDX_OFFSET,
	ING_CDX_FILENAME,
	ING_CDX_COLUMNS_
};
/* As CDXJ calls them: "urlkey", "timestamp", "url", "mime" … */
extern const char *const ing_cdx_names[ING_CDX_COLUMNS_];

struct ing_cdx_cell {
	const char *text; /* not NUL-terminated; NULL: "-", or not there */
	size_t bytes;
};

struct ing_cdx_reader;

struct ing_cdx_reader *ing_cdx_reader_new(void);
void ing_cdx_reader_free(struct ing_cdx_reader *r); /* NULL is fine */

enum ing_cdx_line {
	ING_CDX_CAPTURE,
	ING_CDX_NO_CAPTURE, /* a header line, or a line of data about the index */
	ING_CDX_BAD,
};

/* A line without its end. Cells are borrowed from the line and the reader until the next call; *ret_why
 * has static words about a bad line. */
enum ing_cdx_line ing_cdx_read_line(struct ing_cdx_reader *r, const char *line, size_t bytes,
	struct ing_cdx_cell ret[ING_CDX_COLUMNS_], const char **ret_why);
