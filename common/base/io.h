/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * io.h - complete reads and writes of blocking descriptors, restarted after a signal; whole files. Any thread.
 */
#pragma once
#include "common/base/error.h"
#include "common/base/macros.h"

/* Write all bytes. Returns 0, or the errno of the call that failed; how much has been written is
 * unknown then. A broken pipe is EPIPE where SIGPIPE is ignored, as our programs do. */
int ing_write_all(int fd, const void *data, size_t bytes) ING_MUST_CHECK;
/* Read exactly `bytes`. Returns 0, ENODATA when the input ends before, or the errno of the call
 * that failed. */
int ing_read_all(int fd, void *ret_data, size_t bytes) ING_MUST_CHECK;
/* Write a file, which is replaced atomically: who reads it has the old one or the new one. It is not synced. Returns 0,
 * or -SYSTEM, -TOO_BIG. */
int ing_replace_file(
	const char *path, const void *data, size_t bytes, struct ing_error *err) ING_MUST_CHECK;
