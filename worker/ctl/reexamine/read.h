/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * reexamine_read.h - the body of an answer out of our own WARC files. Blocks while it reads. Any thread;
 * the body is one thread's at a time.
 */
#pragma once
#include <stdbool.h>
#include "common/base/error.h"
#include "common/data/digest.h"
#include "worker/model/rows.h"

/* An answer's body as it was sent, without transfer coding. */
struct ing_reexamine_body {
	int fd; /* a sealed memfd; -1 when there is no byte */
	size_t bytes;
	struct ing_digests digests;
	bool gzip; /* it begins as gzip does */
	int http_status;
	char *content_type, *content_encoding; /* raw fields; heap, or NULL */
	char *url;                             /* WARC-Target-URI; heap, or NULL */
};

struct ing_reexamine_folders {
	const char *const *dirs; /* looked into in this order; NULL-terminated */
	size_t max_body_bytes;
};

/* Returns 0; -ING_FAIL_NOT_FOUND: no such file; -ING_FAIL_SYSTEM, -ING_FAIL_NO_DESCRIPTOR: it cannot be
 * read now; -ING_FAIL_INVALID: damage, no answer, or other bytes than the row says; -ING_FAIL_TOO_BIG;
 * -ING_FAIL_UNSUPPORTED: a transfer coding. The message names the file. */
int ing_reexamine_read(const struct ing_reexamine_folders *folders, const struct ing_row_cdx *row,
	struct ing_reexamine_body *ret, struct ing_error *err) ING_MUST_CHECK;
void ing_reexamine_body_done(struct ing_reexamine_body *b); /* done before is fine */
