/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * sniff.h - the media type of a body by its bytes.
 *
 * libmagic, with the refinements that fetched documents need; the Content-Type is not
 * considered. The only file that includes libmagic. Owns one database handle for the process, loaded
 * on first use and kept: one thread.
 */
#pragma once
#include <stdbool.h>
#include "common/base/macros.h"

#define ING_SNIFF_BYTES ((size_t)1 << 20) /* further bytes are ignored */
#define ING_MEDIA_TYPE_BYTES 96

/* Load the database; false when there is none; then every type that the refinements do not know is
 * application/octet-stream. */
bool ing_sniff_warm(void);
void ing_sniff_done(void); /* frees the handle; the next call loads it again */

/* The type, without parameters, NUL-terminated. "application/x-empty" for no bytes. */
void ing_sniff(const void *data, size_t bytes, char ret[ING_MEDIA_TYPE_BYTES]);

bool ing_sniff_is_html(const char *type); /* text/html or application/xhtml+xml */

/* A PDF starts within the first 1,024 bytes, as readers accept it (ISO 32000-1, annex H.3). */
bool ing_sniff_is_pdf(const void *data, size_t bytes);
