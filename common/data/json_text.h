/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * json_text.h - JSON as bytes, without a tree: a long text written as a JSON string (jansson is slow at
 * that), and bounds that are checked before a parser that recurses sees a byte. Pure.
 */
#pragma once
#include <stdbool.h>
#include "common/base/macros.h"

struct ing_buf;

/* Append `bytes` of valid UTF-8 as a JSON string with its quotation marks (RFC 8259 section 7:
 * quotation mark, reverse solidus and U+0000 to U+001F are escaped). Returns false when the
 * buffer's ceiling was hit. */
bool ing_json_add_text(struct ing_buf *b, const char *text, size_t bytes);
/* Whether lists and objects are nested at most `depth` deep. The bytes need not be valid JSON. */
bool ing_json_is_shallow(const char *json, size_t bytes, int depth);
/* The same, and whether there are at most about `values` values (each list, object and comma is
 * one): parsing a value takes a hundred times as long as the two bytes that make it. */
bool ing_json_is_small(const char *json, size_t bytes, int depth, size_t values);
