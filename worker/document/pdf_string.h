/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pdf_string.h - text strings and dates in a PDF (ISO 32000-1, 7.9.2.2 and 7.9.4). Pure.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* Valid UTF-8 on the heap (caller frees), of at most max_bytes. A byte order mark tells UTF-16 and
 * UTF-8. A string without one is UTF-8 if it is valid as such and not all ASCII, which some
 * producers write, else PDFDocEncoding. Control characters are spaces, those at the end are left
 * out. What cannot be decoded is U+FFFD; *undecodable is then set, if the string has a byte order
 * mark and so says itself what it ought to be. */
char *ing_pdf_string(const char *s, size_t bytes, size_t max_bytes, bool *undecodable);

/* A date, "D:20190422133000+02'00'" or less of it, as RFC 3339 with the offset that it has; without
 * one it is UTC. Heap, or NULL for what is no date. */
char *ing_pdf_date(const char *s);
