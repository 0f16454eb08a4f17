/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * charsets.h - the C library's character set converters, loaded before a sandbox closes.
 *
 * glib (for poppler) and libxml2 ask iconv(3) for the character set that a document names, and iconv
 * loads a library for it, which the sandbox refuses. lexbor decodes HTML by itself. One thread.
 */
#pragma once
#include <stddef.h>

/* The names, in iconv's spelling: every encoding of the WHATWG's standard, and others in which XML
 * and PDF are found. */
extern const char *const ing_charsets[];
extern const size_t ing_charset_count;

/* Load and keep them. Those that the system does not have are skipped. */
void ing_charsets_warm(void);
