/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * charsets.h - the C library's character set converters, loaded while that can still be done.
 *
 * glib (for poppler) and libxml2 ask iconv(3) for whatever a document names, and iconv loads a
 * library for it, which a sandbox refuses. Pages are no concern of this: lexbor decodes them by
 * itself. One thread.
 */
#pragma once
#include <stddef.h>

/* The names, in iconv's spelling: every encoding of the WHATWG's standard, and others in which XML
 * and PDF are found. */
extern const char *const ing_charsets[];
extern const size_t ing_charset_count;

/* Load and keep them. What this system has not got is passed over. */
void ing_charsets_warm(void);
