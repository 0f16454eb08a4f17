/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * json_line.h - a line of a batch as JSON, read as leniently as can be: what a test or another
 * program writes is not ours to refuse; and a line of output, written for the strictest. Pure.
 */
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
struct ing_buf;

/* An object, a new reference; NULL: error->text says why. Bytes that are not UTF-8 become U+FFFD,
 * and so does half a surrogate pair in an escape, which is an error to the JSON library (Web IDL's
 * USVString). Nesting is bounded. */
json_t *ing_ctl_json_line(const char *line, size_t bytes, json_error_t *error);
/* A value that may be left out: NULL, null or a text. */
bool ing_ctl_is_text_or_none(const json_t *value);
/* Takes o and adds it as text, without an end of line. What many programs take for the end of a
 * line (U+0085, U+2028, U+2029) is escaped. All text in o must be UTF-8. */
void ing_ctl_json_add(json_t *o, struct ing_buf *out);
