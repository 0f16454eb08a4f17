/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * json.h - JSON values: jansson, with limits on what is parsed and valid UTF-8 in what is written.
 * The only file that includes jansson. Its accessors (json_object_get(), json_is_string() ...) and
 * json_pack() are used as they are; values are made, parsed and written by the functions here.
 * json_text.h does what needs no tree.
 *
 * Ownership is jansson's: "new reference" is released with json_decref(), "takes" means that the
 * caller's reference is given away. Pure functions; a value belongs to one thread at a time.
 * Memory that a value of ours needs is expected to be there (ing_must()); what input asks for may
 * fail.
 */
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include "common/base/macros.h"

struct ing_buf;
struct ing_error;

/* --- parsing --- */

enum ing_json_flag {
	ING_JSON_SCALAR = 1,        /* also a string, number, true, false or null by itself */
	ING_JSON_TAIL = 2,          /* what follows the first value is ignored */
	ING_JSON_NUL = 4,           /* strings may contain U+0000: use json_string_length() */
	ING_JSON_REPEATED_KEYS = 8, /* an object may repeat a key; the last one counts */
};

struct ing_json_limits {
	int depth;      /* of lists and objects in one another; 0: jansson's own, 2,048 */
	size_t values;  /* lists, objects and commas in all; 0: as many as there are */
	unsigned flags; /* of enum ing_json_flag */
};

/* For what this program wrote itself: every flag but ING_JSON_TAIL, no limits. */
extern const struct ing_json_limits ing_json_own;

/* Parse `bytes` of JSON; the limits are checked before the parser sees a byte. Returns a new
 * reference, or NULL with *err (NULL is fine) set: ING_FAIL_TOO_DEEP, ING_FAIL_TOO_BIG (too many
 * values), or ING_FAIL_SYNTAX with line and column, which bytes that are not UTF-8 are, too. */
json_t *ing_json_parse(
	const char *s, size_t bytes, const struct ing_json_limits *limits, struct ing_error *err);

/* --- reading members --- */

/* Member `key` of an object: its text (borrowed), or NULL when it is absent or not a string. */
const char *ing_json_get_text(const json_t *object, const char *key);
/* The same of an integer; 0 when it is absent or not an integer. */
int64_t ing_json_get_number(const json_t *object, const char *key);
/* Whether the member is there and true. */
bool ing_json_get_true(const json_t *object, const char *key);

/* --- making values --- */

/* A string of any bytes: what is not UTF-8 becomes U+FFFD. NULL gives JSON's null. New reference.
 */
json_t *ing_json_text(const char *s);
/* The same with a length. U+0000 stays where all of s is UTF-8, and becomes U+FFFD elsewhere. */
json_t *ing_json_textn(const char *s, size_t bytes);
/* An integer; past INT64_MAX it is INT64_MAX. New reference. */
json_t *ing_json_count(uint64_t n);
/* Another reference to a value that is only borrowed. NULL gives NULL. */
json_t *ing_json_ref(const json_t *value);

/* Set a member. Takes `value`; NULL is JSON's null. The key is valid UTF-8. */
void ing_json_set(json_t *object, const char *key, json_t *value);
void ing_json_set_text(json_t *object, const char *key, const char *s); /* ing_json_text() */
void ing_json_set_number(json_t *object, const char *key, int64_t n);
void ing_json_set_count(json_t *object, const char *key, uint64_t n); /* ing_json_count() */
void ing_json_set_bool(json_t *object, const char *key, bool value);
/* Append to a list. Takes `value`; NULL is JSON's null. */
void ing_json_append(json_t *list, json_t *value);

/* --- writing --- */

/* Append any value as compact JSON, as jansson does but for the case of hexadecimal digits, and several times
 * faster. Returns false when the buffer's ceiling was hit. */
bool ing_json_write(struct ing_buf *out, const json_t *value);
/* The same: a heap string (caller frees), never NULL. Reals have the 17 digits
 * that bring each double back. *ret_bytes may be NULL. */
char *ing_json_dump(const json_t *value, size_t *ret_bytes);
/* The same by jansson, with reals of at most `digits` significant digits (1 to 17). */
char *ing_json_dump_rounded(const json_t *value, unsigned digits);
/* Append a value as compact JSON by jansson. Returns false when the buffer's ceiling was hit. */
bool ing_json_add(struct ing_buf *out, const json_t *value);
