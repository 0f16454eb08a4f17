/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * warc_read.h - one record out of a .warc.gz file, by its offset.
 *
 * Only the bytes of its gzip member are read, in pieces; memory does not grow with the record. Blocks
 * while it reads. Any thread.
 */
#pragma once
#include <stdbool.h>
#include "common/base/error.h"

struct ing_warc_read_user {
	/* The record's header, borrowed for the call. NULL: not wanted. */
	void (*head)(void *ctx, const char *head, size_t head_bytes);
	/* A piece of the block, of which the last payload_bytes belong to the payload. */
	void (*block)(void *ctx, const void *data, size_t bytes, size_t payload_bytes);
};

/* Reads the record of which the member begins at `offset` and has csize bytes (0: not known). Returns 0
 * when it is whole and has the digests that its header gives; -ING_FAIL_SYSTEM when the file cannot be
 * read; -ING_FAIL_INVALID, when there is another thing, damage, or another digest: what was handed over
 * before is not to be used then. The message does not name the file. */
int ing_warc_read(int fd, uint64_t offset, uint64_t csize, const struct ing_warc_read_user *user,
	void *ctx, struct ing_error *err) ING_MUST_CHECK;
