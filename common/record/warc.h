/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * warc.h - the header of a WARC 1.1 record (ISO 28500:2017): written, read, and its parts.
 *
 * Pure functions, but for record identifiers, which come from the kernel's random numbers.
 */
#pragma once
#include <stdbool.h>
#include <time.h>
#include "common/base/macros.h"

struct ing_buf;

/* A header holds a URL or two and some digests; past this it is not one. */
#define ING_WARC_MAX_HEAD_BYTES ((size_t)64 << 10)
/* "<urn:uuid:01234567-89ab-4def-8123-456789abcdef>" and NUL. */
#define ING_WARC_ID_BYTES 48

/* What a header is written from. Borrowed strings; NULL or "" leaves the field out. */
struct ing_warc_head {
	const char *type;     /* "warcinfo", "request", "response"…; needed */
	const char *id;       /* with its angle brackets; needed */
	struct timespec date; /* UTC, written with microseconds */
	const char *target_uri;
	const char *ip;            /* IPv4 or IPv6 address in text */
	const char *concurrent_to; /* id of the record of the same exchange */
	const char *warcinfo_id;
	const char *filename; /* of warcinfo */
	const char *profile;  /* of revisit: an address */
	/* Of revisit: the record that has the payload. The date as it stands there. */
	const char *refers_to, *refers_to_target_uri, *refers_to_date;
	const char *truncated; /* "length", "time", "disconnect", "unspecified" */
	const char *content_type;
	const char *block_sha1b32;
	const char *payload_sha1b32;
	uint64_t content_bytes; /* of the block */
};

/* A new random (version 4) identifier. */
void ing_warc_make_id(char ret_id[ING_WARC_ID_BYTES]);

/* Append version line, fields and blank line. Control bytes in a value become %XX: nothing can
 * forge a field. False when the result would be over ING_WARC_MAX_HEAD_BYTES or the ceiling of
 * ret. */
bool ing_warc_head_format(const struct ing_warc_head *head, struct ing_buf *ret) ING_MUST_CHECK;

/* Append "name: value" of an application/warc-fields block. Control bytes become %XX; nothing for
 * NULL or "". */
void ing_warc_fields_add(struct ing_buf *b, const char *name, const char *value);

/* Look a field up in a header as written (case does not matter, blanks around the value are not in
 * it). The first of that name; the value points into head. */
bool ing_warc_field(const char *head, size_t bytes, const char *name, const char **ret_value,
	size_t *ret_bytes);

/* Judge a whole header, its blank line included: a 1.0 or 1.1 version line, well-formed fields, the
 * four that are mandatory once each, Content-Length a number. 0 and the length of the block, or
 * -ING_FAIL_SYNTAX. */
int ing_warc_head_check(const char *head, size_t bytes, uint64_t *ret_content_bytes) ING_MUST_CHECK;
