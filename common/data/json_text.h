/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * json_text.h - a long text as a JSON string, for where the JSON library's care for every character
 * shows: the text of a document. Pure.
 */
#pragma once
#include <stdbool.h>
#include "common/base/macros.h"

struct ing_buf;

/* Append `bytes` of valid UTF-8 as a JSON string with its quotation marks (RFC 8259 section 7:
 * quotation mark, reverse solidus and U+0000 to U+001F are escaped). False when the buffer's
 * ceiling was hit. */
bool ing_json_add_text(struct ing_buf *b, const char *text, size_t bytes);
