/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a page or a style sheet refers to. Encoder and decoder field by field in the same order.
 */
#include <string.h>

#include "worker/examine/proto_parts.h"
#include "worker/model/found_resources.h"
#include "worker/model/limits.h"

/* A URL goes whole, or not at all. */
static uint32_t sendable(const struct ing_resources_found *found)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < found->count && count < ING_MAX_RESOURCES; i++)
		count += ing_proto_is_sendable_url(found->items[i].url);
	return count;
}

void ing_proto_put_resources(struct ing_buf *b, const struct ing_resources_found *found)
{
	uint32_t left = sendable(found);
	ing_wire_put_u32(b, ING_MAX(found->total, left));
	ing_wire_put_u32(b, found->filtered);
	ing_wire_put_u32(b, left);
	for (uint32_t i = 0; i < found->count && left > 0; i++) {
		if (!ing_proto_is_sendable_url(found->items[i].url))
			continue;
		ing_wire_put_whole(b, found->items[i].url, ING_MAX_URL_BYTES);
		ing_wire_put_u8(b, found->items[i].type);
		left--;
	}
}

static bool is_web_url(const char *s)
{
	return s != NULL && (strncmp(s, "http://", 7) == 0 || strncmp(s, "https://", 8) == 0);
}

void ing_proto_get_resources(struct ing_wire *w, struct ing_resources_found *found)
{
	found->total = ing_wire_u32(w);
	found->filtered = ing_wire_u32(w);
	uint32_t count = ing_wire_range(w, ING_MAX_RESOURCES);
	if (count > found->total)
		w->failed = true;
	if (w->failed || count == 0)
		return;
	found->items = ing_alloc(count * sizeof(*found->items));
	for (; found->count < count && !w->failed; found->count++) {
		struct ing_resource_found *item = &found->items[found->count];
		item->url = ing_wire_word(w, ING_MAX_URL_BYTES, ing_proto_is_url_char);
		item->type = ing_wire_u8(w);
		w->failed |= !is_web_url(item->url) || item->type >= ING_RESOURCE_TYPES_;
	}
}
