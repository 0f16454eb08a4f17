/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * charsets.h - the C library's character set converters, loaded before a sandbox closes.
 *
 * glib (for poppler) and libxml2 ask iconv(3) for the character set that a document names, and iconv
 * loads a library for it, which the sandbox refuses. lexbor decodes HTML by itself. One thread.
 */
#pragma once
#include <stddef.h>

/* The names, in iconv's spelling: first those that poppler asks for, then every encoding of the
 * WHATWG's standard, and others in which XML is found. */
#define ING_PDF_CHARSETS ((size_t)5)
extern const char *const ing_charsets[];
extern const size_t ing_charset_count;

/* Load and keep the first `count` of them. Those that the system does not have are skipped. */
void ing_charsets_warm(size_t count);
