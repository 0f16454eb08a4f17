/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * json_text.h - what the JSON library is not asked to do: a long text as a JSON string, where the
 * library's care for every character shows, and a look at bytes before it recurses into them. Pure.
 */
#pragma once
#include <stdbool.h>
#include "common/base/macros.h"

struct ing_buf;

/* Append `bytes` of valid UTF-8 as a JSON string with its quotation marks (RFC 8259 section 7:
 * quotation mark, reverse solidus and U+0000 to U+001F are escaped). False when the buffer's
 * ceiling was hit. */
bool ing_json_add_text(struct ing_buf *b, const char *text, size_t bytes);
/* Whether lists and maps stand in one another at most `depth` deep: to be asked before a parser
 * that recurses sees a byte. Says nothing about whether the bytes are JSON. */
bool ing_json_is_shallow(const char *json, size_t bytes, int depth);
/* The same, and about how many values there are at most (each list, map and comma is one): parsed,
 * a value takes a hundred times as long as the two bytes that make it. */
bool ing_json_is_small(const char *json, size_t bytes, int depth, size_t values);
