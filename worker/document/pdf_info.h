/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pdf_info.h - the whole Info dictionary of a PDF. One thread.
 */
#pragma once
#include <stddef.h>

#include "common/data/json.h"

/* Add the dictionary's entries to the object `info`, which has those that poppler knows: keys as in
 * the file, strings, names, numbers and truth values as text, dates ("D:…") as RFC 3339. At most
 * ING_MAX_PDF_INFO_KEYS and little more than ING_MAX_PDF_INFO_SUM_BYTES, the ones that
 * bibliographies want first. The dates that are in `info`
 * already stay. Returns the first key whose name or value says what encoding it has and is wrong
 * about it (valid UTF-8, heap), or NULL.
 * A file that cannot be read adds nothing. */
char *ing_pdf_info_add(const void *data, size_t bytes, json_t *info);
