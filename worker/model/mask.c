/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Most texts have no '@' and are not copied.
 */
#include "worker/model/mask.h"

#include <stdint.h>
#include <string.h>

#include "common/base/arena.h"
#include "common/base/buf.h"
#include "common/net/url_mask.h"

#define GROWTH 4 /* a masked text is at most so many times as long */

/* Returns false when there is nothing to mask; else initialises *out with the masked text. */
static bool mask_text(const char *s, size_t bytes, struct ing_buf *out)
{
	if (memchr(s, '@', bytes) == NULL)
		return false;
	ing_buf_init(out, GROWTH * bytes);
	bool masked = ing_url_mask_text(s, bytes, out);
	ing_must(!out->failed);
	if (!masked)
		ing_buf_done(out);
	return masked;
}

static json_t *mask_string(const json_t *v)
{
	struct ing_buf out;
	if (!mask_text(json_string_value(v), json_string_length(v), &out))
		return ing_json_ref(v);
	json_t *masked = json_stringn_nocheck(ing_buf_str(&out), out.len);
	ing_buf_done(&out);
	return masked;
}

static json_t *mask_object(const json_t *v)
{
	json_t *o = json_object();
	const char *name;
	json_t *member;
	json_object_foreach ((json_t *)(uintptr_t)v, name, member) {
		struct ing_buf out;
		json_t *masked = ing_mask_json(member);
		if (!mask_text(name, strlen(name), &out)) {
			json_object_set_new_nocheck(o, name, masked);
			continue;
		}
		json_object_set_new_nocheck(o, ing_buf_str(&out), masked);
		ing_buf_done(&out);
	}
	return o;
}

static json_t *mask_array(const json_t *v)
{
	json_t *list = json_array();
	for (size_t i = 0; i < json_array_size(v); i++)
		ing_json_append(list, ing_mask_json(json_array_get(v, i)));
	return list;
}

/* -------------------------------------------------------------------------------------------- */

const char *ing_mask_url(struct ing_arena *ar, const char *s)
{
	if (s == NULL || strchr(s, '@') == NULL)
		return s;
	size_t bytes = strlen(s);
	struct ing_buf out;
	ing_buf_init(&out, GROWTH * bytes);
	bool masked = ing_url_mask(s, bytes, &out);
	ing_must(!out.failed);
	const char *copy = masked ? ing_arena_strndup(ar, ing_buf_str(&out), out.len) : s;
	ing_buf_done(&out);
	return copy;
}

const char *ing_mask_text(struct ing_arena *ar, const char *text)
{
	if (text == NULL)
		return NULL;
	json_t *value = ing_json_text(text);
	json_t *masked = mask_string(value);
	const char *copy = ing_arena_strdup(ar, json_string_value(masked));
	json_decref(value);
	json_decref(masked);
	return copy;
}

json_t *ing_mask_json(const json_t *v)
{
	if (json_is_string(v))
		return mask_string(v);
	if (json_is_object(v))
		return mask_object(v);
	if (json_is_array(v))
		return mask_array(v);
	return ing_json_ref(v);
}
