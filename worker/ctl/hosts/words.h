/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * hosts_words.h - members of JSON objects as `ingestctl hosts` shows them: numbers with their unit,
 * texts, which may come from outside, without control characters. A member that is missing, or not
 * of the kind asked for, is 0 or "". Pure.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "common/data/json.h"
struct ing_buf;

#define ING_WORDS_BYTES ((size_t)8192) /* of a line */

int64_t ing_words_number(const json_t *o, const char *key);
const char *ing_words_text(const json_t *o, const char *key); /* borrowed; as it is */

/* Control characters of ASCII and Latin-1, which terminals obey, become '?'. */
void ing_words_add_shown(struct ing_buf *out, const char *s);
void ing_words_add(struct ing_buf *out, const json_t *o, const char *key);
/* In two units at most: "850 ms", "8.5 s", "12 s", "3 min 5 s", "2 h 10 min", "4 d 3 h". */
void ing_words_add_time(struct ing_buf *out, int64_t ms);
/* "1 request", "2 requests" */
void ing_words_add_count(struct ing_buf *out, int64_t n, const char *what);
/* A last_answer: "503 (http-status), 2.0 s ago", and with `took` also ", took 120 ms". */
void ing_words_add_answer(struct ing_buf *out, const json_t *last, bool took);
/* A host_block: "WHY (BY, 3 h 2 min ago)". */
void ing_words_add_block(struct ing_buf *out, const json_t *block);
/* Why a host rests, of a delay (ing_rest_name()). */
void ing_words_add_rest(struct ing_buf *out, const json_t *delay);
