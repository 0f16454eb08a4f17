/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * name.h - names of WARC files: PREFIX-TIMESTAMP-SERIAL-HOST.warc.gz, the timestamp of 17 digits
 * (UTC, milliseconds), the serial of 5 or more, counted from 0 by each process. Prefix and host are
 * the configuration's, made safe. Pure functions.
 */
#pragma once
#include <stdbool.h>
#include <time.h>
#include "common/base/error.h"
#include "worker/archive/archive.h"

/* A part of a name from any text: what is neither letter, digit, '.', '_' nor '-' becomes '_', and
 * so does a leading '.'. Heap string, caller frees. */
char *ing_warc_name_part(const char *text);
/* Whether names of these (safe) parts fit into ING_WARC_NAME_BYTES and a directory entry: 0 or
 * -ING_FAIL_CONFIG. */
int ing_warc_name_check(const char *prefix, const char *host, struct ing_error *err) ING_MUST_CHECK;
void ing_warc_name_make(const char *prefix, const char *host, struct timespec now, unsigned serial,
	char ret[ING_WARC_NAME_BYTES]);
/* Is `file` such a name of this prefix and host with ".open" behind it? Gives the name without
 * ".open". */
bool ing_warc_name_is_open(
	const char *file, const char *prefix, const char *host, char ret_name[ING_WARC_NAME_BYTES]);
