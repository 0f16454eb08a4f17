/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * stream.h - for the tests of this folder: .warc.gz streams built record by record, right and wrong
 * ones.
 */
#pragma once
#include "common/base/buf.h"

/* Append `bytes` of text as one gzip member. */
void stream_add_member(struct ing_buf *b, const void *text, size_t bytes);
/* Append a whole record whose block is `block`. info_id: its WARC-Warcinfo-ID; with "warcinfo" as
 * type, its own id. */
void stream_add_record(
	struct ing_buf *b, const char *type, const char *info_id, const void *block, size_t bytes);
/* A temporary file with these bytes, removed already. */
int stream_to_fd(const struct ing_buf *b);
