/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * url_path.h - paths of URLs by the URL Standard's "path state": dot segments, Windows drive
 * letters, percent-encoding. For url_preprocess.c only; pure functions.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "common/base/macros.h"

struct ing_buf;

/* What a path begins with. */
struct ing_url_path_start {
	const char *base; /* the base's path, "" or from its first slash */
	size_t base_len;
	bool folder;  /* the base's path without its last segment comes first */
	bool drive;   /* its drive letter does, if it has one */
	bool special; /* backslashes part segments */
	bool file;    /* drive letters count */
};

/* Append the path that an ASCII text without NUL, '?' and '#' stands for: "/segment/…". The text
 * begins behind the slash of an absolute path. The number of segments. */
size_t ing_url_path(
	struct ing_buf *out, const struct ing_url_path_start *start, const char *text, size_t len);

/* Whether a text begins with a Windows drive letter as a segment. */
bool ing_url_path_has_drive(const char *text, size_t len);
