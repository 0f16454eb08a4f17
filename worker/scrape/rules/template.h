/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * template.h - templates of sites.yaml: {name} is a value, {name|encode} the value with everything
 * but unreserved characters (RFC 3986, 2.3) percent-encoded, {url} the page's URL, {host} its host
 * name; {{ and }} are braces.
 *
 * A compiled template lives in the arena it was compiled into; immutable, any thread.
 */
#pragma once
#include <stdbool.h>
#include "common/base/arena.h"
#include "common/base/buf.h"
#include "common/base/error.h"

/* Kinds of a piece other than the index of a name. */
enum ing_template_place {
	ING_TEMPLATE_TEXT = -1, /* literal text */
	ING_TEMPLATE_URL = -2,
	ING_TEMPLATE_HOST = -3,
};

struct ing_template_piece {
	const struct ing_template_piece *next;
	const char *text; /* of TEXT */
	int place;        /* index of a name, or enum ing_template_place */
	bool encode;
};

struct ing_template {
	const struct ing_template_piece *first;
};

/* Compile. `names` are the values that may be used, beside url and host. Returns 0, -SYNTAX, or
 * -NOT_FOUND for an unknown value; err->column is the character, counted from 1. */
int ing_template_compile(const char *text, const char *const *names, size_t count,
	struct ing_arena *ar, struct ing_template *ret, struct ing_error *err) ING_MUST_CHECK;
/* Append the template with its values; a value that is NULL is empty. Returns false when out is
 * full. */
bool ing_template_expand(const struct ing_template *t, const char *const *values, const char *url,
	const char *host, struct ing_buf *out);
