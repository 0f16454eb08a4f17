/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * jansson refuses to make strings that are not UTF-8, returns NULL for them and passes NULL on: a
 * member would be missing without a word. Strings are cleaned here, and setting a member cannot
 * fail. Its parser recurses, and a value takes it a hundred times as long as the two bytes that
 * make one, so depth and values are counted in the text first.
 */
#include "common/data/json.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/error.h"
#include "common/base/utf8.h"
#include "common/data/json_text.h"

const struct ing_json_limits ing_json_own = {
	.flags = ING_JSON_SCALAR | ING_JSON_NUL | ING_JSON_REPEATED_KEYS,
};

static size_t jansson_flags(unsigned flags)
{
	return (flags & ING_JSON_SCALAR ? JSON_DECODE_ANY : 0u) |
	       (flags & ING_JSON_TAIL ? JSON_DISABLE_EOF_CHECK : 0u) |
	       (flags & ING_JSON_NUL ? JSON_ALLOW_NUL : 0u) |
	       (flags & ING_JSON_REPEATED_KEYS ? 0u : JSON_REJECT_DUPLICATES);
}

/* jansson has no const, although counting references is no change to a value. */
static json_t *borrow(const json_t *value)
{
	return (json_t *)(uintptr_t)value;
}

static int add_bytes(const char *s, size_t bytes, void *ctx)
{
	return ing_buf_add(ctx, s, bytes) ? 0 : -1;
}

static void add_integer(struct ing_buf *out, json_int_t n)
{
	char text[24];
	int bytes = snprintf(text, sizeof(text), "%" JSON_INTEGER_FORMAT, n);
	ing_buf_add(out, text, (size_t)bytes);
}

/* Recursion ends with the depth of the value, which its maker or the parser has limited. */
static void write_value(struct ing_buf *out, const json_t *value);

static void write_object(struct ing_buf *out, const json_t *object)
{
	const char *key;
	json_t *member;
	char before = '{';
	json_object_foreach (borrow(object), key, member) {
		ing_buf_add_char(out, before);
		ing_json_add_text(out, key, strlen(key));
		ing_buf_add_char(out, ':');
		write_value(out, member);
		before = ',';
	}
	ing_buf_add_str(out, before == '{' ? "{}" : "}");
}

static void write_list(struct ing_buf *out, const json_t *list)
{
	ing_buf_add_char(out, '[');
	for (size_t i = 0; i < json_array_size(list); i++) {
		if (i > 0)
			ing_buf_add_char(out, ',');
		write_value(out, json_array_get(list, i));
	}
	ing_buf_add_char(out, ']');
}

static void write_value(struct ing_buf *out, const json_t *value)
{
	if (out->failed)
		return;
	if (json_is_object(value))
		write_object(out, value);
	else if (json_is_array(value))
		write_list(out, value);
	else if (json_is_string(value))
		ing_json_add_text(out, json_string_value(value), json_string_length(value));
	else if (json_is_integer(value))
		add_integer(out, json_integer_value(value));
	else if (json_is_real(value))
		ing_json_add(out, value);
	else
		ing_buf_add_str(out, json_is_true(value)    ? "true"
				     : json_is_false(value) ? "false"
							    : "null");
}

/* ------------------------------------------------------------------------------------------ */

json_t *ing_json_parse(
	const char *s, size_t bytes, const struct ing_json_limits *limits, struct ing_error *err)
{
	if (limits->depth > 0 && !ing_json_is_shallow(s, bytes, limits->depth)) {
		ing_error_set(err, ING_FAIL_TOO_DEEP, "nested deeper than %d", limits->depth);
		return NULL;
	}
	if (limits->values > 0 && !ing_json_is_small(s, bytes, INT_MAX, limits->values)) {
		ing_error_set(err, ING_FAIL_TOO_BIG, "more than %zu values", limits->values);
		return NULL;
	}
	json_error_t at;
	json_t *value = json_loadb(s, bytes, jansson_flags(limits->flags), &at);
	if (value == NULL)
		ing_error_at(err, ING_FAIL_SYNTAX, at.line, at.column, "%s", at.text);
	return value;
}

const char *ing_json_get_text(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

int64_t ing_json_get_number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

bool ing_json_get_true(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

json_t *ing_json_text(const char *s)
{
	return s != NULL ? ing_json_textn(s, strlen(s)) : json_null();
}

json_t *ing_json_textn(const char *s, size_t bytes)
{
	json_t *value;
	if (ing_utf8_valid(s, bytes)) {
		value = json_stringn_nocheck(s, bytes);
	} else {
		char *clean = ing_utf8_clean(s, bytes, &bytes);
		ing_must(clean != NULL);
		value = json_stringn_nocheck(clean, bytes);
		free(clean);
	}
	ing_must(value != NULL);
	return value;
}

json_t *ing_json_count(uint64_t n)
{
	return json_integer(n < INT64_MAX ? (json_int_t)n : INT64_MAX);
}

json_t *ing_json_ref(const json_t *value)
{
	return json_incref(borrow(value));
}

void ing_json_set(json_t *object, const char *key, json_t *value)
{
	ing_must(json_object_set_new(object, key, value != NULL ? value : json_null()) == 0);
}

void ing_json_set_text(json_t *object, const char *key, const char *s)
{
	ing_json_set(object, key, ing_json_text(s));
}

void ing_json_set_number(json_t *object, const char *key, int64_t n)
{
	ing_json_set(object, key, json_integer(n));
}

void ing_json_set_count(json_t *object, const char *key, uint64_t n)
{
	ing_json_set(object, key, ing_json_count(n));
}

void ing_json_set_bool(json_t *object, const char *key, bool value)
{
	ing_json_set(object, key, json_boolean(value));
}

void ing_json_append(json_t *list, json_t *value)
{
	ing_must(json_array_append_new(list, value != NULL ? value : json_null()) == 0);
}

bool ing_json_write(struct ing_buf *out, const json_t *value)
{
	write_value(out, value);
	return !out->failed;
}

char *ing_json_dump(const json_t *value, size_t *ret_bytes)
{
	struct ing_buf out;
	ing_buf_init(&out, SIZE_MAX / 8);
	ing_must(ing_json_write(&out, value));
	if (ret_bytes != NULL)
		*ret_bytes = out.len;
	return ing_buf_steal(&out);
}

char *ing_json_dump_rounded(const json_t *value, unsigned digits)
{
	char *s = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(digits));
	ing_must(s != NULL);
	return s;
}

bool ing_json_add(struct ing_buf *out, const json_t *value)
{
	return json_dump_callback(value, add_bytes, out, JSON_COMPACT | JSON_ENCODE_ANY) == 0;
}
