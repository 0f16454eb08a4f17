/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * publication_words.h - what is known of a publication's parts, in words for people: names of parts and
 * sources, how good what was found is, licences, times. Constant texts unless said otherwise. Pure.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "common/data/json.h"
#include "worker/model/part_type.h"

const char *ing_part_title(enum ing_part_key key); /* "Full text" */

enum ing_part_quality {
	ING_QUALITY_NONE,   /* it was not found */
	ING_QUALITY_POOR,   /* too short to be used */
	ING_QUALITY_USABLE, /* large enough, but from a source that may be better */
	ING_QUALITY_FINAL,
};

/* Of a part as a publication's JSON has it; anything else is NONE. */
enum ing_part_quality ing_part_quality(enum ing_part_key key, const json_t *part);
const char *ing_part_quality_name(enum ing_part_quality q); /* "good" "fair" "poor" "none" */
/* A sentence without its full stop. */
const char *ing_part_quality_words(
	enum ing_part_key key, enum ing_part_quality q, const json_t *part);

/* Label of a type by its name in JSON. Of an unknown name that of no type. */
const char *ing_part_source(const char *type);

/* "CC BY 4.0" of a URL of Creative Commons or of "cc-by 4.0", else the licence itself. to: room for it. */
const char *ing_licence_words(const char *licence, char *to, size_t bytes);
/* base and id, percent-encoded where a URL needs it. Heap. */
char *ing_id_url(const char *base, const char *id);
/* RFC 3339 of milliseconds since 1970, without a fraction of zero. NULL of what is before. */
const char *ing_words_time(int64_t ms, char *to, size_t bytes);
