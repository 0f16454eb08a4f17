/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * template.h - texts with places for values in them, as sites.yaml has them: {name} is a value as
 * it is, {name|encode} the same with everything but unreserved characters (RFC 3986, 2.3)
 * percent-encoded, {url} the page's address, {host} its host name; {{ and }} are braces.
 *
 * A compiled template lives in the arena that it was made in; immutable, any thread.
 */
#pragma once
#include <stdbool.h>
#include "common/base/arena.h"
#include "common/base/buf.h"
#include "common/base/error.h"

/* Places of a template that are not among its caller's names. */
enum ing_template_place {
	ING_TEMPLATE_TEXT = -1, /* no place: text as it stands */
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

/* Compile. `names` are those that may stand in braces, beside url and host. -SYNTAX or -NOT_FOUND
 * with the character (1-based) as err->column. */
int ing_template_compile(const char *text, const char *const *names, size_t count,
	struct ing_arena *ar, struct ing_template *ret, struct ing_error *err) ING_MUST_CHECK;
/* Append it with values in their places, NULL being empty. False: out's ceiling was met. */
bool ing_template_expand(const struct ing_template *t, const char *const *values, const char *url,
	const char *host, struct ing_buf *out);
