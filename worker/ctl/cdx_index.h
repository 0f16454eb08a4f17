/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * cdx_index.h - the index.cdx of `ingestctl run`: lines appended while running, put in order at the
 * end.
 */
#pragma once
#include "common/base/error.h"

/* Rewrites DIR/index.cdx with its header line and its lines in byte order (LC_ALL=C), each once,
 * through a new file and rename(2). The whole index is held in memory: about 300 bytes a line. A
 * missing file is no error. */
int ing_cdx_index_sort(const char *dir, struct ing_error *err) ING_MUST_CHECK;
