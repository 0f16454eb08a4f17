/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * warc_blank.h - a record that says that one was erased, as a gzip member of exactly as many bytes as that one's: put in its
 * place, it leaves all others of the file where indexes say they are. Pure.
 */
#pragma once
#include <stdbool.h>
#include <time.h>
#include "common/base/macros.h"

struct ing_buf;

#define ING_WARC_BLANK_MIN 256 /* no member of a worker's files is smaller */

/* A metadata record without a target, whose block is text: `why`, cut if there is no room, and blanks. Appended.
 * Returns false when bytes is below ING_WARC_BLANK_MIN, or the buffer is full. */
bool ing_warc_blank(
	uint64_t bytes, struct timespec now, const char *why, struct ing_buf *ret) ING_MUST_CHECK;
