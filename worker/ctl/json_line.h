/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * json_line.h - JSON lines of ingestctl: input is read as leniently as can be, because what a test
 * or another program writes is not ours to refuse; output is written for the strictest reader.
 * Pure, but for what prints.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "common/data/json.h"

/* An object or a list, a new reference; NULL: *error says why. Bytes that are not UTF-8 become
 * U+FFFD, and so does half a surrogate pair in an escape, which is an error to the JSON library
 * (Web IDL's USVString). Nesting is bounded. */
json_t *ing_ctl_json_line(const char *line, size_t bytes, struct ing_error *error);
/* A value that may be left out: NULL, null or a text. */
bool ing_ctl_is_text_or_none(const json_t *value);

/* Takes o and appends it as compact JSON, without an end of line. What many programs take for the
 * end of a line (U+0085, U+2028, U+2029) is escaped. */
void ing_ctl_json_add(json_t *o, struct ing_buf *out);
void ing_ctl_json_add_line(json_t *o, struct ing_buf *out); /* with an end of line */
void ing_ctl_json_print(json_t *o);                         /* the line, on standard output */
