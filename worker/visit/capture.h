/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * capture.h - one answer and its record in the archive, as a line of the capture index and as a row
 * of the cdx table. Pure. All pointers are borrowed.
 */
#pragma once
#include <stdbool.h>
#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/data/digest.h"
#include "common/record/cdx.h"
#include "worker/archive/archive.h"
#include "worker/model/rows.h"

struct ing_original;

struct ing_capture {
	const char *url;
	char datetime[ING_DT14_BYTES];
	char record_date[ING_ISO8601_BYTES]; /* WARC-Date */
	const char *mimetype;                /* ing_cdx_mimetype()'s, or NULL */
	int http_status;
	bool coded;               /* the body had a content coding */
	const char *body_sha1hex; /* of the decoded body, as an examiner said, which is believed
				     only of what can be decoded; NULL: nobody has looked */
	struct ing_archive_item archive;
	/* What the record refers to, which has the body; NULL: it is no revisit record. */
	const struct ing_original *original;
};

#define ING_REVISIT_MIMETYPE "warc/revisit"

/* As the index has it: ING_REVISIT_MIMETYPE of a revisit record. */
const char *ing_capture_mimetype(const struct ing_capture *c);

/* SHA-1 of the payload as sent: base32 (RFC 4648), or NULL; and as lower-case hex, false without.
 */
const char *ing_capture_sha1b32(const struct ing_capture *c);
bool ing_capture_sha1hex(const struct ing_capture *c, char ret_hex[ING_SHA1_HEX_BYTES]);
/* The index's line. Returns false when there is none, because nothing is in a WARC file, or the URL
 * has no SURT, which goes to *surt (an initialised buffer). */
bool ing_capture_line(const struct ing_capture *c, struct ing_buf *surt, struct ing_cdx *ret);
/* The table's row. Returns false when the answer is none for the table, which has those of status
 * 200 and 226. hex: room that lives as long as the row. */
bool ing_capture_row(
	const struct ing_capture *c, char hex[ING_SHA1_HEX_BYTES], struct ing_row_cdx *ret);
/* Of a revisit record with this row: the row of the record that it refers to, which may not be in the
 * table yet. Returns false when it is there, or the record is no revisit. */
bool ing_capture_original_row(
	const struct ing_capture *c, const struct ing_row_cdx *row, struct ing_row_cdx *ret);
#define ING_CAPTURE_ROWS 2 /* a capture has at most */
/* Both, appended to rows at *count; the original first: of two rows of the same second the table keeps
 * the first, and a revisit without it leads nowhere. */
void ing_capture_add_rows(const struct ing_capture *c, char hex[ING_SHA1_HEX_BYTES],
	struct ing_row_cdx *rows, size_t *count);
