/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Recursion ends with the depth of the record, which its reader has limited. Every value is met once, so a walk costs no more
 * than its record has bytes.
 */
#include "worker/seeds/path.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

struct walk {
	ing_seed_leaf_f *fn;
	void *ctx;
};

static bool is_where(const json_t *object, const struct ing_seed_step *step)
{
	char number[ING_SEED_NUMBER_BYTES];
	const char *s;
	size_t bytes;
	return ing_seed_leaf_text(json_object_get(object, step->where), number, &s, &bytes) &&
	       strlen(step->is) == bytes && strncasecmp(step->is, s, bytes) == 0;
}

static bool walk(
	const struct walk *w, const json_t *at, const struct ing_seed_step *steps, size_t left)
{
	if (json_is_array(at)) {
		for (size_t i = 0; i < json_array_size(at); i++)
			if (walk(w, json_array_get(at, i), steps, left))
				return true;
		return false;
	}
	if (left == 0)
		return !json_is_null(at) && w->fn(w->ctx, at);
	const json_t *member = json_object_get(at, steps->name);
	if (member == NULL)
		return false;
	if (steps->where == NULL)
		return walk(w, member, steps + 1, left - 1);
	if (!json_is_array(member))
		return is_where(member, steps) && walk(w, member, steps + 1, left - 1);
	for (size_t i = 0; i < json_array_size(member); i++) {
		const json_t *entry = json_array_get(member, i);
		if (is_where(entry, steps) && walk(w, entry, steps + 1, left - 1))
			return true;
	}
	return false;
}

/* -------------------------------------------------------------------------------------------- */

bool ing_seed_walk(
	const struct ing_seed_path *path, const json_t *root, ing_seed_leaf_f *fn, void *ctx)
{
	const struct walk w = {fn, ctx};
	return walk(&w, root, path->steps, path->count);
}

bool ing_seed_leaf_text(const json_t *value, char number[ING_SEED_NUMBER_BYTES], const char **ret_s,
	size_t *ret_bytes)
{
	if (json_is_string(value)) {
		*ret_s = json_string_value(value);
		*ret_bytes = json_string_length(value);
		return strlen(*ret_s) == *ret_bytes;
	}
	if (json_is_integer(value))
		snprintf(number, ING_SEED_NUMBER_BYTES, "%" JSON_INTEGER_FORMAT,
			json_integer_value(value));
	else if (json_is_real(value))
		snprintf(number, ING_SEED_NUMBER_BYTES, "%.15g", json_real_value(value));
	else if (json_is_boolean(value))
		snprintf(number, ING_SEED_NUMBER_BYTES, "%s",
			json_is_true(value) ? "true" : "false");
	else
		return false;
	*ret_s = number;
	*ret_bytes = strlen(number);
	return true;
}
